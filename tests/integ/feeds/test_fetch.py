#!/usr/bin/env python3
"""Feeds fetched by gillnet-hub from servers that are honest, broken or evil; loopback only.

Usage: test_fetch.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest
import zipfile
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "peers")]
from ring import Server, until  # noqa: E402
from site_of_feeds import Proxy, Site, basic, certificates  # noqa: E402

NAMES = "".join(f"bad{i}.example\n" for i in range(200))


def names(*v):
    return "".join(f"{n}\n" for n in v)


class Feeds(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="gillnet-feeds-")
        self.site = Site()
        self.sites = [self.site]
        self.feeds = {}
        self.updated = set()
        self.s = Server(self.top, "one")

    def tearDown(self):
        self.s.kill()
        for site in self.sites:
            site.close()
        shutil.rmtree(self.top, ignore_errors=True)

    # ---- hands ----

    def feed(self, name, url=None, **keys):
        """Another feed; its keys as in the configuration, text in quotes by itself."""
        keys = {"private": True, "interval": "1h", "format": "plain", "url": url or self.site.url(), **keys}
        self.feeds[name] = keys
        self.write()

    def write(self):
        def value(v):
            return (str(v).lower() if isinstance(v, (bool, int, float)) else
                    "[" + ", ".join(json.dumps(x) for x in v) + "]" if isinstance(v, list) else json.dumps(str(v)))
        groups = ",\n".join("{ name = \"%s\"; %s }" % (n, " ".join(f"{k} = {value(v)};" for k, v in keys.items()))
                            for n, keys in self.feeds.items())
        self.s.write(f"hub = {{ listen = \"off\"; }};\nfeeds = (\n{groups}\n);\nlog = {{ level = \"debug\"; }};\n")

    def hub(self):
        self.s.hub()
        return self

    def row(self, name="f"):
        return {r["name"]: r for r in self.s.json("feed", "list")}[name]

    def update(self, name="f", *more):
        """Result of a request now, or of the hub's own first request if that came before."""
        rows = self.s.json("feed", "update", *more, name, rc=None)
        self.assertEqual(len(rows), 1, self.s.logs())
        first = self.s.hub_lines(f"event=feed name={name} result=ok ")
        if rows[0]["result"] == "same" and name not in self.updated and first:
            rows[0].update(result="ok", **{k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", first[0])})
        self.updated.add(name)
        return rows[0]

    def fails(self, why, name="f"):
        was = self.row(name)["entries"]
        r = self.update(name)
        self.assertEqual(r["result"], "failed", r)
        self.assertRegex(r["text"], why)
        row = self.row(name)
        self.assertEqual(row["state"], "failing")
        self.assertRegex(row["trouble"], why)
        self.assertEqual(row["entries"], was)
        folder = self.s.state / "feeds" / name
        self.assertEqual([p.name for p in folder.glob("incoming*")], [])
        return r

    def is_listed(self, value):
        return "confirmed" in self.s.run("lookup", value, rc=None)


class Conditions(Feeds):
    def test_etag__nothing_new__304_and_nothing_done(self):
        self.site.text(NAMES, tag='"one"')
        self.feed("f")
        self.hub()
        self.assertEqual(self.update()["result"], "ok")
        self.assertTrue(self.is_listed("bad7.example"))
        self.assertEqual(self.update()["result"], "same")
        self.assertEqual(self.site.asked[-1][1].get("If-None-Match"), '"one"')
        self.site.text(NAMES + "new.example\n", tag='"two"')
        r = self.update()
        self.assertEqual((r["result"], r["added"], r["removed"]), ("ok", 1, 0))
        self.assertTrue(self.is_listed("new.example"))
        row = self.row()
        self.assertEqual((row["state"], row["entries"], row["failures"], row["trouble"]), ("ok", 201, 0, None))
        self.assertGreater(row["next_s"], time.time() + 3000)
        self.assertLessEqual(row["next_s"], time.time() + 3600 * 1.1 + 5)

    def test_last_modified__alone__304(self):
        self.site.text(NAMES, modified="Sat, 21 Nov 2026 10:00:00 GMT")
        self.feed("f")
        self.hub()
        self.update()
        self.assertEqual(self.update()["result"], "same")
        self.assertEqual(self.site.asked[-1][1].get("If-Modified-Since"), "Sat, 21 Nov 2026 10:00:00 GMT")

    def test_no_validators__same_body__nothing_changed(self):
        self.site.text(NAMES)
        self.feed("f")
        self.hub()
        self.update()
        self.assertEqual(self.update()["result"], "same")

    def test_a_304_that_nobody_asked_for__fails(self):
        self.site.pages["/feed.txt"] = lambda h: h.say(304)
        self.feed("f")
        self.hub()
        self.fails("304")

    def test_restart__knows_what_it_has(self):
        self.site.text(NAMES, tag='"one"')
        self.feed("f")
        self.hub().update()
        self.s.stop()
        self.s.hub()
        self.assertEqual(self.update()["result"], "same")

    def test_refused__once_downloaded__the_good_one_serves(self):
        self.site.text(NAMES, tag='"one"')
        self.feed("f")
        self.hub().update()
        self.site.text("<!DOCTYPE html><html><body>login</body></html>\n", tag='"two"')
        r = self.update()
        self.assertEqual(r["result"], "refused", r)
        row = self.row()
        self.assertEqual((row["state"], row["entries"]), ("refused", 200))
        self.assertEqual(sum(row["refused"].values()), 1)
        self.assertTrue(self.is_listed("bad7.example"))
        self.assertEqual(self.update()["result"], "same")  # 304 to what was refused
        self.assertEqual(self.row()["state"], "refused")
        self.site.text(NAMES + "new.example\n", tag='"three"')
        self.assertEqual(self.update()["result"], "ok")
        self.assertEqual(self.row()["state"], "ok")


class Packed(Feeds):
    def test_encodings_and_files__each__unpacked(self):
        self.feed("f")
        body = NAMES.encode()
        z = io.BytesIO()
        with zipfile.ZipFile(z, "w", zipfile.ZIP_DEFLATED) as f:
            f.writestr("feed.txt", body)
        raw = zlib.compress(body)
        pages = [(gzip.compress(body), {"Content_Encoding": "gzip"}), (raw, {"Content_Encoding": "deflate"}),
                 (gzip.compress(body), {}), (gzip.compress(body[:1000]) + gzip.compress(body[1000:]), {}),
                 (lzma.compress(body), {}), (bz2.compress(body), {}), (z.getvalue(), {})]
        if shutil.which("zstd"):
            import subprocess
            pages.append((subprocess.run(["zstd", "-c"], input=body, capture_output=True, check=True).stdout, {}))
        self.hub()
        for i, (data, fields) in enumerate(pages):
            self.site.text(b"other%d.example\n" % i + b"x.example\n" * 200)  # another body between
            self.site.text(data, **fields)
            r = self.update("f", "--force")
            self.assertIn(r["result"], ("ok", "same"), (i, r))
            self.assertEqual(r["entries"], 200, (i, r))

    def test_damaged__fails_and_says_so(self):
        self.feed("f")
        body = NAMES.encode()
        two = io.BytesIO()
        with zipfile.ZipFile(two, "w") as f:
            f.writestr("a", body)
            f.writestr("b", body)
        self.hub()
        for data, why in ((gzip.compress(body)[:-300], "compressed data"), (lzma.compress(body)[:-40], "compressed data"),
                          (two.getvalue(), "more than one file")):
            self.site.text(data)
            self.fails(why)
        self.site.text(b"not gzip", Content_Encoding="gzip")
        self.fails("(?i)encod|error|header")

    def test_bombs__stop_at_the_bound(self):
        self.feed("f", decompressed_bytes="100000B", download_bytes="1M")
        zeros = b"a.example\n" * 3_000_000
        self.hub()
        for data, fields in ((gzip.compress(zeros), {"Content_Encoding": "gzip"}), (gzip.compress(zeros), {}),
                             (bz2.compress(zeros), {}), (lzma.compress(zeros), {})):
            self.site.text(data, **fields)
            self.fails("decompressed_bytes")


class Evil(Feeds):
    def test_endless__stops_at_the_bound(self):
        def body(h):
            h.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            h.close_connection = True
            while not self.site.end.is_set():
                h.raw(b"bad.example\n" * 1000)

        def head(h):
            h.raw(b"HTTP/1.1 200 OK\r\n")
            h.close_connection = True
            while not self.site.end.is_set():
                h.raw(b"X-More: " + b"y" * 1000 + b"\r\n")

        self.feed("f", download_bytes="200000B")
        self.hub()
        self.site.pages["/feed.txt"] = body
        self.fails("`download_bytes`")
        self.site.pages["/feed.txt"] = head
        self.fails("header")
        self.site.pages["/feed.txt"] = lambda h: h.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        self.fails("`download_bytes`")

    def test_slow__ends_with_its_timeout__others_go_on(self):
        def slow(h):
            h.raw(b"HTTP/1.1 200 OK\r\n\r\n")
            h.close_connection = True
            while not self.site.end.wait(1):
                h.raw(b"a")

        def hangs(h):
            h.close_connection = True
            self.site.end.wait()

        self.site.pages["/slow.txt"] = slow
        self.site.pages["/hangs.txt"] = hangs
        self.site.text(NAMES)
        self.feed("slow", self.site.url("/slow.txt"), timeout="3s")
        for i in range(20):
            self.feed(f"hangs{i}", self.site.url("/hangs.txt"), timeout="1h", interval="1s")
        self.feed("f", interval="1s")
        self.hub()
        until(lambda: self.row("hangs19")["state"] == "fetching", "those that hang", log=self.s.logs)
        until(lambda: self.row()["rounds"] >= 3, "the good one", log=self.s.logs)
        self.assertEqual(self.row()["entries"], 200)
        self.fails("(?i)time", "slow")
        self.s.stop()  # at once, though twenty hang

    def test_broken_off__fails(self):
        self.feed("f")
        self.hub()

        def page(data):
            def say(h):
                h.raw(data)
                h.close_connection = True
            return say
        for data in (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbad.example\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbad.e\r\nzz\r\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nbad.e\r\n",
                     b"", b"bad.example\nno http\n"):
            self.site.pages["/feed.txt"] = page(data)
            self.fails(".")

    def test_status__failures__asked_later_and_later(self):
        self.feed("f", interval="10m")
        self.hub()
        for status in (404, 500, 206, 204):
            self.site.pages["/feed.txt"] = lambda h, status=status: h.say(status, b"bad.example\n" if status != 204 else b"")
            self.fails(f"answers {status}")
        row = self.row()
        self.assertGreaterEqual(row["failures"], 4)
        self.assertGreater(row["next_s"], time.time() + 400)
        self.site.pages["/feed.txt"] = lambda h: h.say(503, b"", Retry_After=7200)
        self.fails("answers 503")
        self.assertGreater(self.row()["next_s"], time.time() + 7000)
        self.assertLess(self.row()["next_s"], time.time() + 7200 * 1.1 + 10)
        self.site.pages["/feed.txt"] = lambda h: h.say(429, b"", Retry_After=10 ** 15)
        self.fails("answers 429")
        self.assertLess(self.row()["next_s"], time.time() + 86400 * 1.1 + 10)
        self.site.text(NAMES)
        self.assertEqual(self.update()["result"], "ok")
        self.assertEqual(self.row()["failures"], 0)
        warned = self.s.hub_lines("event=feed name=f result=failed")
        self.assertEqual(len(warned), len(set(re.sub(r"^.*event", "event", w) for w in warned)), warned)


class Reach(Feeds):
    def test_redirects__few_and_to_the_same_or_better(self):
        def to(where, status=302):
            return lambda h: h.say(status, Location=where)
        self.site.text(NAMES, "/end.txt")
        self.feed("f")
        self.hub()
        self.site.pages["/feed.txt"] = to("/1")
        self.site.pages["/1"] = to("2", 307)
        self.site.pages["/2"] = to(self.site.url("/end.txt"), 308)
        self.assertEqual(self.update()["result"], "ok")
        self.site.pages["/2"] = to("/3")
        self.site.pages["/3"] = to("/end.txt")
        self.fails("redirects")
        self.site.pages["/feed.txt"] = to("/feed.txt")
        self.fails("redirects")
        for where in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1:25/x", "dict://127.0.0.1/x",
                      "javascript:1", "http://", ""):
            self.site.pages["/feed.txt"] = to(where)
            self.fails("redirects|answers|answer|URL")
        for where in ("http://169.254.169.254/latest/", "http://[fe80::1]/", "http://[::ffff:169.254.1.1]/"):  # private is said
            self.site.pages["/feed.txt"] = to(where)
            self.fails("redirects to an address of this machine or its link")

    def test_private_addresses__refused_unless_said(self):
        self.site.text(NAMES)
        self.feed("f", private=False)
        self.hub()
        for url in (self.site.url(), self.site.url(host="localhost"), self.site.url(host="2130706433"),
                    self.site.url(host="[::1]"), self.site.url(host="[::ffff:127.0.0.1]"), "http://169.254.169.254/latest",
                    "http://10.1.2.3/", "http://0.0.0.0/", "http://100.64.0.1/", "http://[fe80::1]/", "http://x.localhost/"):
            self.feed("f", url, private=False)
            self.s.run("reload", rc=None)
            self.s.control("reload")
            self.fails("not public")
        self.assertEqual(self.site.asked, [])

    def test_a_name_that_dns_says_is_private__refused_where_it_connects(self):
        """The system's resolver knows this machine's own name as one of loopback, or not at all."""
        self.site.text(NAMES)
        with open("/etc/hosts") as f:
            mine = [w for line in f if line.startswith(("127.", "10.", "172.", "192.168."))
                    for w in line.split("#")[0].split()[1:] if w.lower() != "localhost" and not w.endswith(".localhost")]
        if not mine:
            self.skipTest("no name of a private address in /etc/hosts")
        self.feed("f", self.site.url(host=mine[0]), private=False)
        self.hub()
        self.fails("not public")
        self.assertEqual(self.site.asked, [])

    def test_secrets__go_to_the_host_that_is_named_alone(self):
        other = Site()
        self.sites.append(other)
        other.text(NAMES)
        password = pathlib.Path(self.top) / "password"
        headers = pathlib.Path(self.top) / "headers"
        password.write_text("wort\n")
        headers.write_text("# keys\nAuth-Key: schluessel\n\nX-Two: zwei\n")
        for p in (password, headers):
            p.chmod(0o640)

        def page(h):
            if h.headers.get("Authorization") != basic("ich", "wort") or h.headers.get("Auth-Key") != "schluessel":
                return h.say(401)
            return h.say(302, Location="/second") if h.path == "/feed.txt" else h.say(302, Location=other.url())
        self.site.pages["/feed.txt"] = self.site.pages["/second"] = page
        self.feed("f", user="ich", password_file=password, headers_file=headers, headers=["X-One: eins"])
        self.hub()
        self.assertEqual(self.update()["result"], "ok")
        self.assertEqual(self.site.asked[-1][0], "/second")
        self.assertEqual(self.site.asked[-1][1].get("X-One"), "eins")
        self.assertEqual(self.site.asked[-1][1].get("X-Two"), "zwei")
        for field in ("Authorization", "Auth-Key", "X-One", "X-Two"):
            self.assertNotIn(field, other.asked[-1][1])
        password.chmod(0o644)
        self.fails("chmod 640")
        self.assertEqual(self.update()["result"], "failed")
        headers.write_text("no field\n")
        password.chmod(0o640)
        self.fails("header field")
        for secret in ("wort", "schluessel", "zwei"):
            self.assertNotIn(secret, self.s.logs() + json.dumps(self.s.json("feed", "list")))

    def test_secrets_of_the_address__are_used_and_never_shown(self):
        key = "4f2a9c01d77b4e6fa9b1c2d3e4f50617"
        seen = []

        def page(h):
            seen.append((h.path, h.headers.get("Authorization")))
            h.say(500)
        self.site.pages[f"/data/{key}/feed.txt"] = page
        place = f"127.0.0.1:{self.site.port}"
        self.feed("f", f"http://ich:geheim@{place}/data/{key}/feed.txt?token=abcdef&x=1")
        self.hub()
        r = self.fails("answers 500")
        self.assertEqual(seen[-1], (f"/data/{key}/feed.txt?token=abcdef&x=1", basic("ich", "geheim")))
        self.assertIn("/data/***/feed.txt?token=***&x=***", r["text"])
        everything = self.s.logs() + json.dumps(self.s.json("feed", "list")) + self.s.run("feed", "list")
        for secret in (key, "geheim", "abcdef"):
            self.assertNotIn(secret, everything)

    def test_certificates__verified_always(self):
        made = certificates(self.top)
        for name in ("good", "wrong_name", "expired", "unknown"):
            site = Site(made[name])
            site.text(NAMES)
            self.sites.append(site)
            self.feed(name, site.url(), ca_file=made["ca"])
        self.feed("system", self.sites[1].url())  # the system's authorities do not know ours
        self.site.text(NAMES)
        down = Site(made["good"])
        down.pages["/feed.txt"] = lambda h: h.say(302, Location=self.site.url())
        self.sites.append(down)
        self.feed("down", down.url(), ca_file=made["ca"])
        self.hub()
        self.assertEqual(self.update("good")["result"], "ok")
        for name, why in (("wrong_name", "(?i)name|subject"), ("expired", "(?i)expired"), ("unknown", "(?i)self|issuer|verif"),
                          ("system", "(?i)issuer|verif|self"), ("down", "https to http")):
            self.fails(why, name)

    def test_proxy__plain_and_connect(self):
        proxy = Proxy()
        made = certificates(self.top)
        tls = Site(made["good"])
        self.sites.append(tls)
        tls.text(NAMES)
        self.site.text(NAMES)
        through = {"proxy": f"http://127.0.0.1:{proxy.port}", "private": False}
        self.feed("plain", self.site.url(host="feeds.example"), **through)
        self.feed("tls", tls.url(host="feeds.example"), ca_file=made["ca"], **through)
        self.feed("inner", "http://127.0.0.1:1/", **through)
        self.hub()
        self.assertEqual(self.update("plain")["result"], "ok")
        self.assertEqual(self.update("tls")["result"], "ok")
        self.assertIn("CONNECT", [m for m, _ in proxy.asked])
        self.assertEqual({t.split("/")[2].split(":")[0] for m, t in proxy.asked if m == "GET"}, {"feeds.example"})
        self.fails("not public", "inner")
        proxy.close()


if __name__ == "__main__":
    unittest.main(verbosity=1)
