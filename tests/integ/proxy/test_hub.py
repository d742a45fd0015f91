#!/usr/bin/env python3
"""A hub behind nginx with contrib/nginx/hub.conf: joining, held requests, cached objects, access to them; a proxy
that lies; TCP passed on.

Usage: test_hub.py [TEST...]      ends like unittest. Needs the openssl program and contrib/install-deps test.
"""
import http.client
import pathlib
import re
import sys
import tempfile
import threading
import unittest
import urllib.parse

import nginx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
# pylint: disable=wrong-import-position
import test_handshakes  # noqa: E402
from ring import Server, free_port, invite, until  # noqa: E402
from test_handshakes import context  # noqa: E402

LIST = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; },\n' \
       '  { name = "other"; category = "phish"; weight = 1.0; share = "entries"; } );\n'
CLIENT = "Gillnet-Client-Cert"


class Proxied(unittest.TestCase):
    """alpha behind nginx; others call it alone."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gillnet-proxy-")
        self.addCleanup(self.folder.cleanup)
        self.top = pathlib.Path(self.folder.name)
        self.make = test_handshakes.Maker(self.top)
        self.servers = []
        self.port = free_port()
        self.hub_port = free_port()
        self.alpha = self.server("alpha", f'hub = {{ listen = "127.0.0.1:{self.hub_port}"; connect = []; }};\n' + LIST,
                                 self.port)
        self.alpha.run("peer", "ring", "create", "--name", "alpha", "--address", self.alpha.address)
        self.alpha.hub()
        self.nginx = nginx.Nginx(self.top / "nginx", self.port)
        self.nginx.write(self.site())
        self.nginx.start()
        self.addCleanup(self.nginx.stop)

    def tearDown(self):
        for s in self.servers:
            s.stop()  # with 0: a sanitizer's finding does not

    def server(self, name, config, port=None):
        s = Server(self.top, name, config, port)
        self.servers.append(s)
        self.addCleanup(s.kill)
        return s

    def guest(self, name):
        s = self.server(name, 'hub = { connect = [ "alpha" ]; };\n' + LIST)
        invite(self.alpha, s)
        return s.hub()

    def site(self, edit=lambda text: text):
        text = (nginx.ROOT / "contrib/nginx/hub.conf").read_text()
        for line in (r"    listen \[::\].*\n", r" default_server"):
            text = re.sub(line, "", text)
        for old, new in (("listen 8894", f"listen 127.0.0.1:{self.port}"), ("127.0.0.1:8895", f"127.0.0.1:{self.hub_port}"),
                         ("/var/lib/gillnet", str(self.alpha.state)), ("/var/cache/nginx", str(self.nginx_top())),
                         ("proxy_ssl_name ORIGIN", f"proxy_ssl_name {self.alpha.origin()}")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        return edit(text)

    def nginx_top(self):
        top = self.top / "nginx"
        top.mkdir(exist_ok=True)
        return top

    def logs(self):
        return self.nginx.logs() + "".join(s.logs() for s in self.servers)

    def key_of(self, server):
        return context(self.make.certificate(server.state / "peers/signing.key"))

    def get(self, path, ctx, port=None, headers=None):
        """(status, X-Cache-Status, body); (0, "", why): no answer."""
        c = http.client.HTTPSConnection("127.0.0.1", port or self.port, timeout=60, context=ctx)
        try:
            c.request("GET", path, headers=headers or {})
            answer = c.getresponse()
            return answer.status, answer.headers.get("X-Cache-Status"), answer.read()
        except (OSError, http.client.HTTPException) as e:
            return 0, "", str(e).encode()
        finally:
            c.close()

    def listed(self, server, value="url_host:bad.example"):
        return [r for r in server.json("lookup", value, rc=None) if r.get("status") == "confirmed"]

    def wait_listed(self, server, value="url_host:bad.example"):
        until(lambda: self.listed(server, value), f"{value} at {server.name}", seconds=60, log=self.logs)

    # ---- the way it should go ----

    def test_a_ring_through_nginx__joins_holds_caches_and_drops(self):
        beta = self.guest("beta")  # its POST /v1/join came through nginx
        self.alpha.run("list", "add", "--create", "phish", "--type", "url_host", "bad.example")
        self.wait_listed(beta)
        until(lambda: self.alpha.stat("requests_held") == 1, "a request that is held", log=self.logs)
        path = self.nginx.lines("200 MISS GET /v1/chain/")[0].split()[3]
        # whoever comes later has what the cache has
        gamma = self.guest("gamma")
        self.wait_listed(gamma)
        self.assertTrue(self.nginx.lines("200 HIT GET /v1/chain/"), self.logs())
        self.assertEqual(gamma.status()["alpha"]["refused"], {})
        beta_key, gamma_key = self.key_of(beta), self.key_of(gamma)
        first, second = (self.get(path, key) for key in (beta_key, gamma_key))
        self.assertEqual((first[0], first[1], second[:2]), (200, "HIT", (200, "HIT")))
        self.assertEqual(first[2], second[2])
        beyond = path.rsplit("-", 1)[0] + "-999"  # what will grow is not kept
        self.assertEqual([self.get(beyond, beta_key)[:2] for _ in range(2)], [(200, "MISS")] * 2)
        # the hub knows the peer of each request, also behind the proxy
        self.assertGreater(self.alpha.status()["beta"]["came_ms"], 0)
        self.assertGreater(self.alpha.status()["gamma"]["bytes_out"], 0)
        # a dropped one gets nothing, of the cache neither
        self.alpha.run("peer", "drop", "gamma")
        until(lambda: self.get(path, gamma_key)[0] == 403, "gamma at the door", log=self.logs)
        self.assertEqual(self.get("/v1/heads?after=0", gamma_key)[0], 403)
        self.assertEqual(self.get(path, beta_key)[:2], (200, "HIT"))
        self.alpha.run("list", "revoke", "phish", "--type", "url_host", "bad.example")
        until(lambda: not self.listed(beta), "the revocation at beta", seconds=60, log=self.logs)
        self.assertTrue(self.listed(gamma))

    def test_tcp_passed_on__is_as_without_a_proxy(self):
        module = nginx.UNPACKED / "usr/lib/nginx/modules/ngx_stream_module.so"
        self.nginx.stop()
        self.nginx.write_main(f"load_module {module};",
                              f"stream {{ server {{ listen 127.0.0.1:{self.port}; proxy_timeout 120s;\n"
                              f"  proxy_pass 127.0.0.1:{self.hub_port}; }} }}")
        self.nginx.start()
        beta = self.guest("beta")
        self.alpha.run("list", "add", "--create", "phish", "--type", "url_host", "bad.example")
        self.wait_listed(beta)
        self.assertEqual(self.get("/v1/member", self.key_of(beta))[0], 200)

    # ---- who may ask ----

    def test_who_asks__is_whom_the_proxy_names_and_nobody_else_names_anybody(self):
        beta = self.guest("beta")
        stranger = self.make.certificate(self.make.key())
        text = urllib.parse.quote(pathlib.Path(self.make.certificate(beta.state / "peers/signing.key")).read_text()
                                  .split("-----BEGIN PRIVATE")[0], safe="")
        other = urllib.parse.quote(stranger.read_text().split("-----BEGIN PRIVATE")[0], safe="")
        own, member = self.key_of(self.alpha), self.key_of(beta)
        rows = [  # through nginx
                ("a member", self.port, member, {}, 200),
                ("a member that names another", self.port, member, {CLIENT: other}, 200),
                ("a stranger", self.port, context(stranger), {}, 403),
                ("a stranger that names a member", self.port, context(stranger), {CLIENT: text}, 403),
                ("no certificate", self.port, context(), {CLIENT: text}, 403),
                # straight to the hub
                ("the proxy for a member", self.hub_port, own, {CLIENT: text}, 200),
                ("the proxy for nobody", self.hub_port, own, {}, 403),
                ("the proxy for a stranger", self.hub_port, own, {CLIENT: other}, 403),
                ("no text of a certificate", self.hub_port, own, {CLIENT: "%zz"}, 403),
                ("a text cut short", self.hub_port, own, {CLIENT: text[:-20]}, 403),
                ("a text of two", self.hub_port, own, {CLIENT: text + text}, 403),
                ("a text too long", self.hub_port, own, {CLIENT: "a" * 5000}, 403),
                ("a member that says to be a proxy", self.hub_port, member, {CLIENT: other}, 200)]
        for what, port, ctx, headers, want in rows:
            for path in ("/v1/manifest", "/v1/heads?after=0"):
                got = self.get(path, ctx, port, headers)
                self.assertEqual(got[0], want, (what, path, got, self.logs()))
        # joining: the name in TLS alone opens nothing, and a proxy must name a key
        for request, ctx in (("GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n", own),
                             ("GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n", member),
                             ("POST /v1/join HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", own)):
            said = test_handshakes.ask(self.hub_port, ctx, "join.gillnet", request)
            self.assertTrue(said == "" or said.startswith("HTTP/1.1 403"), said)
        # strangers that nginx lets in cost the hub no handshakes of members
        before = self.alpha.stat("connections")
        for _ in range(40):
            self.assertEqual(self.get("/v1/manifest", context(stranger))[0], 403)
        self.assertLess(self.alpha.stat("connections") - before, 20)

    def test_requests_that_one_member_lets_wait__are_few(self):
        beta = self.guest("beta")
        beta.kill_hub()
        key = self.key_of(beta)
        version = int.from_bytes(self.get("/v1/heads?after=0", key)[2][8:16], "little")
        got = []
        waiting = [threading.Thread(target=lambda: got.append(self.get(f"/v1/heads?after={version}", key)), daemon=True)
                   for _ in range(12)]
        for t in waiting:
            t.start()
        until(lambda: len(got) >= 8, "eight that are answered at once", seconds=20, log=self.logs)
        self.assertLessEqual(self.alpha.stat("requests_held"), 4)
        for t in waiting:
            t.join(60)
        self.assertLessEqual({g[0] for g in got}, {200, 304})  # 200: its heartbeat came meanwhile

    # ---- a proxy that lies ----

    def test_a_proxy_that_alters_or_mixes_up__is_refused_and_harms_nothing(self):
        beta = self.guest("beta")
        self.alpha.run("list", "add", "--create", "other", "--type", "url_host", "other.example")
        self.wait_listed(beta, "url_host:other.example")
        path = self.nginx.lines("GET /v1/chain/")[0].split()[3]
        saved = self.top / "saved"
        saved.write_bytes(self.get(path, self.key_of(beta))[2])
        filters = "        sub_filter_types *; sub_filter_once off; gzip off; sub_filter '{}' '{}';\n"
        where = "        auth_request /v1/member;\n        proxy_cache gillnet;\n"

        def alter(old, new):
            return lambda text: text.replace(where, filters.format(old, new))

        def mix(text):
            return text.replace(where, f"        alias {saved};\n").replace(
                "        add_header X-Cache-Status $upstream_cache_status;\n        proxy_pass https://gillnet_hub;\n", "")

        added = 0
        for edit in (alter("phish", "phisi"), alter("GNX", "GN"), mix):
            self.nginx.restart(self.site(edit))
            value = f"bad{added}.example"
            added += 1
            self.alpha.run("list", "add", "--create", "phish", "--type", "url_host", value)
            beta.kill_hub()
            beta.hub()
            until(lambda: beta.status()["alpha"].get("last_failure") or beta.status()["alpha"].get("last_refusal"),
                  "a refusal", seconds=60, log=self.logs)
            self.assertFalse(self.listed(beta, "url_host:" + value))
            self.assertTrue(self.listed(beta, "url_host:other.example"))
            self.assertFalse(beta.status()["alpha"]["is_distrusted"])
        self.nginx.restart(self.site())
        beta.kill_hub()
        beta.hub()
        for i in range(added):
            self.wait_listed(beta, f"url_host:bad{i}.example")


if __name__ == "__main__":
    unittest.main(verbosity=2)
