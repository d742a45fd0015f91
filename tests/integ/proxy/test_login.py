#!/usr/bin/env python3
"""A real nginx that logs users in and names them to the hub; nobody else can name one.

Usage: test_login.py      ends like unittest. GILLNET_BUILD names the build folder.
"""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import pwd
import re
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
from hub import TOP, Hub, ports, until  # noqa: E402
from nginx import Nginx  # noqa: E402

EXAMPLE = (TOP / "contrib/nginx/admin.conf").read_text()
LOGIN = pwd.getpwuid(os.geteuid()).pw_name
# logins of a machine: the proxy's, and one that has the uid of logins whom a user namespace hides
PASSWD = "root:x:0:0::/:/bin/sh\ntheproxy:x:12345:12345::/:/bin/sh\nhidden:x:65534:65534::/:/bin/sh\n"
OWN_PASSWD = 'mount --bind "$0" /etc/passwd && exec "$@"'
CLIENT = """import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /v1/lists HTTP/1.1\\r\\nHost: localhost\\r\\nGillnet-User: anna@example.org\\r\\n\\r\\n")
print(s.recv(4096).split()[1].decode())"""
USERS = ["anna@example.org=admin", "bert=messages", "carl=read"]


def basic(name):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:secret".encode()).decode()}


class Login(unittest.TestCase):
    def hub(self, proxies, more=""):
        listed = ", ".join(f'"{u}"' for u in USERS)
        hub = Hub(api=f'names = [ "mail.example" ]; local_role = "admin"; proxies = [ {proxies} ]; proxy_users = [ {listed} ];', more=more)
        self.addCleanup(hub.close)
        return hub

    def start(self, proxies):
        return self.hub(proxies).start()

    def nginx(self, hub, server):
        nginx = Nginx(hub.top / "nginx", ports.free_port())
        self.addCleanup(nginx.stop)
        nginx.write(server.replace("PORT", str(nginx.port)))
        nginx.start()
        return nginx

    def answer(self, port, path, headers=None, body=None):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        c.request("POST" if body is not None else "GET", path, body=body, headers={"Host": "mail.example", **(headers or {})})
        r = c.getresponse()
        got = r.status, r.read(), r.headers
        c.close()
        return got

    def ask(self, *words):
        return self.answer(*words)[:2]

    def logged_in(self, hub):
        """nginx with users of its own, instead of a provider of OpenID Connect, over the hub's Unix socket."""
        (hub.top / "users").write_text("".join(f"{u}:{{PLAIN}}secret\n" for u in ("anna@example.org", "bert", "carl", "dora", "x" * 65)))
        return self.nginx(hub, f"""server {{ listen 127.0.0.1:PORT; location / {{
            auth_basic gillnet; auth_basic_user_file {hub.top}/users;
            proxy_pass http://unix:{hub.unix}:; proxy_http_version 1.1; proxy_set_header Host $host;
            proxy_set_header Authorization ""; proxy_set_header Gillnet-User $remote_user; }} }}""")

    def test_replay__then_the_messages_of_those_who_may_see_them(self):
        hub = self.start(f'"unix:{LOGIN}"')
        (hub.state / "journal").mkdir(exist_ok=True)
        nginx = self.logged_in(hub)
        for name, sees in (("anna@example.org", True), ("bert", True), ("carl", False)):
            status, body = self.ask(nginx.port, "/v1/replay", {**basic(name), "Content-Type": "application/json"}, '{"settings": []}')
            self.assertEqual((status, "examples" in json.loads(body)), (200, sees), body)

    def test_users__then_their_roles_and_no_other(self):
        hub = self.start(f'"unix:{LOGIN}"')
        nginx = self.logged_in(hub)
        for name, role, lists, messages in (("anna@example.org", "admin", 200, 200), ("bert", "messages", 200, 200),
                                            ("carl", "read", 200, 403), ("dora", "none", 403, 403)):
            status, body = self.ask(nginx.port, "/v1/whoami", basic(name))
            self.assertEqual((status, json.loads(body)), (200, {"name": name, "role": role, "proof": "proxy"}))
            self.assertEqual(self.ask(nginx.port, "/v1/lists", basic(name))[0], lists, name)
            self.assertEqual(self.ask(nginx.port, "/v1/changes", basic(name))[0], messages, name)
        self.assertEqual(self.ask(nginx.port, "/v1/lists", basic("x" * 65))[0], 403)
        self.assertEqual(self.ask(nginx.port, "/v1/lists")[0], 401)  # of nginx
        self.ask(nginx.port, "/v1/allow", {**basic("anna@example.org"), "Content-Type": "application/json"},
                 '{"values": ["ok.example"]}')
        row = json.loads(self.ask(nginx.port, "/v1/changes?q=ok.example", basic("bert"))[1])["changes"][0]
        self.assertEqual(row["who"], "anna@example.org")

    def test_a_client_that_names_itself__then_nginx_says_who_it_is(self):
        hub = self.start(f'"unix:{LOGIN}"')
        nginx = self.logged_in(hub)
        for field in ("Gillnet-User", "gillnet-user", "GILLNET-USER"):
            status, body = self.ask(nginx.port, "/v1/whoami", {**basic("carl"), field: "anna@example.org"})
            self.assertEqual((status, json.loads(body)["name"]), (200, "carl"))
        # nginx drops names with an underscore, and the hub reads them as another field
        status, body = self.ask(nginx.port, "/v1/whoami", {**basic("carl"), "Gillnet_User": "anna@example.org"})
        self.assertEqual(json.loads(body)["name"], "carl")

    def test_a_client_of_another_way__then_refused(self):
        hub = self.start(f'"unix:{LOGIN}"')
        forged = {"Gillnet-User": "anna@example.org"}
        for path in ("/v1/whoami", "/v1/lists", "/healthz", "/v1/changes"):
            self.assertEqual(hub.get(path, forged).status, 403, path)
        self.assertEqual(hub.post("/v1/allow", {"values": ["a.example"]}, forged).status, 403)
        twice = hub.raw(b"GET /v1/whoami HTTP/1.1\r\nHost: localhost\r\nGillnet-User: a\r\nGillnet-User: b\r\n\r\n")
        self.assertTrue(twice.startswith(b"HTTP/1.1 400"), twice)
        hub.wait_log("Gillnet-User, but this is none of api.proxies")

    def test_another_login_on_the_socket__then_refused(self):
        hub = self.start('"unix:daemon"')
        self.assertEqual(hub.get("/v1/lists", {"Gillnet-User": "anna@example.org"}, unix=True).status, 403)
        self.assertEqual(hub.get("/v1/lists", unix=True).status, 200)  # still local

    def status_for(self, uid, *before):
        """What a hub that is started by these words answers to a login that names an administrator."""
        hub = self.hub('"unix:theproxy", "unix:hidden"')
        (hub.top / "passwd").write_text(PASSWD)
        hub.start("unshare", "--mount", "sh", "-c", OWN_PASSWD, str(hub.top / "passwd"), *before)
        hub.top.chmod(0o711)
        os.chmod(hub.unix, 0o666)
        status = subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", sys.executable, "-c", CLIENT, hub.unix],
                                check=True, capture_output=True, text=True).stdout.strip()
        return status, hub

    def test_a_login_that_a_user_namespace_hides__then_never_trusted(self):
        self.assertEqual(self.status_for(12345)[0], "200")
        self.assertEqual(self.status_for(65534)[0], "403")
        for uid in (12345, 12346):
            status, hub = self.status_for(uid, "unshare", "--user", "--map-current-user")
            self.assertEqual(status, "403")
            until(lambda h=hub: "gillnet-hub-proxy.conf" in h.logs(), "the log does not name the drop-in")

    def test_a_proxy_that_names_nobody__then_nobody_is_local(self):
        hub = self.start(f'"unix:{LOGIN}"')
        for headers in ({}, {"Gillnet-User": ""}):
            self.assertEqual(hub.get("/v1/lists", headers, unix=True).status, 401)
        self.assertEqual(hub.get("/v1/lists").status, 200)  # over TCP

    def test_an_address__then_its_header_counts_and_no_other_address(self):
        hub = self.start('"127.0.0.1"')
        self.assertEqual(hub.get("/v1/lists", {"Gillnet-User": "anna@example.org"}).status, 200)
        self.assertEqual(hub.get("/v1/lists").status, 401)  # through a proxy, so it is not local
        self.assertEqual(hub.get("/v1/lists", {"Gillnet-User": "anna@example.org"}, unix=True).status, 403)
        again = self.start('"::ffff:7f00:1"')  # the same address in another form
        self.assertEqual(again.get("/v1/lists", {"Gillnet-User": "anna@example.org"}).status, 200)
        other = self.start('"127.0.0.2", "::ffff:7f00:3", "::7f00:1"')
        self.assertEqual(other.get("/v1/lists", {"Gillnet-User": "anna@example.org"}).status, 403)
        c = http.client.HTTPConnection("127.0.0.1", other.port, timeout=20, source_address=("127.0.0.2", 0))
        self.addCleanup(c.close)
        c.request("GET", "/v1/lists", headers={"Gillnet-User": "anna@example.org"})
        self.assertEqual(c.getresponse().status, 200)

    def example(self, hub):
        """nginx with the example, and a provider that knows everybody whose cookie names him."""
        nginx = Nginx(hub.top / "nginx", ports.free_port())
        self.addCleanup(nginx.stop)
        provider = ports.free_port()
        site = EXAMPLE.replace("listen 443 ssl;", f"listen 127.0.0.1:{nginx.port};").replace("listen [::]:443 ssl;", "")
        site = re.sub(r"ssl_certificate(_key)? .*;", "", site).replace("127.0.0.1:4180", f"127.0.0.1:{provider}")
        site = site.replace("/run/gillnet-hub/api.sock", hub.unix)
        site += (f"server {{ listen 127.0.0.1:{provider}; location /oauth2/auth {{ if ($cookie_user = '') {{ return 401; }} "
                 "add_header X-Auth-Request-Email $cookie_user always; return 202; } location /oauth2/sign_in { return 403 'sign in'; } }")
        nginx.write(site)
        return nginx.start()

    def test_example__then_the_link_of_a_digest_opens_the_users_page(self):
        hub = self.hub(f'"unix:{LOGIN}"', 'quarantine = { url = "https://mail.example"; };').start()
        token = os.urandom(16).hex()
        links = hub.state / "quarantine/links"
        links.mkdir(parents=True)
        (links / (hashlib.sha256(token.encode()).hexdigest() + ".link")).write_text(json.dumps(
            {"id": "", "time_s": 0, "recipient": "bob@here.example", "action": "page", "expires_s": 2 ** 40, "from": "", "subject": ""}))
        port = self.example(hub).port
        self.assertEqual(self.ask(port, "/q/" + token)[0], 200)
        status, _, headers = self.answer(port, f"/q/{token}/use", {}, "")
        self.assertEqual((status, headers["Location"]), (303, "/own"))
        cookie = {"Cookie": headers["Set-Cookie"].partition(";")[0]}
        status, body = self.ask(port, "/own", cookie)
        self.assertEqual(status, 200)
        self.assertIn(b"bob@here.example", body)
        form = {"key": re.search(b'name="key" value="([0-9a-f]{64})"', body)[1].decode(), "do": "add", "list": "block", "value": "x.example"}
        status, body = self.ask(port, "/own/change", {**cookie, "Content-Type": "application/x-www-form-urlencoded"},
                                urllib.parse.urlencode(form))
        self.assertEqual(status, 200, body)
        self.assertIn(b"x.example", body)
        status, body = self.ask(port, "/own", {"Gillnet-User": "anna@example.org"})  # no cookie: the session has ended
        self.assertEqual(status, 403)
        self.assertNotEqual(body, b"sign in")
        for path in ("/owner", "/own/", "/own/x", "/q", "/v1/whoami"):
            self.assertEqual(self.ask(port, path, cookie), (403, b"sign in"), path)

    def test_example__then_nginx_reads_it_and_the_client_cannot_name_itself(self):
        hub = self.start(f'"unix:{LOGIN}"')
        nginx = self.example(hub)
        for path in ("/v1/whoami", "/v1/lists"):
            self.assertEqual(self.ask(nginx.port, path, {"Gillnet-User": "anna@example.org"})[0], 403)
        anna = {"Cookie": "user=anna@example.org"}
        status, body = self.ask(nginx.port, "/v1/whoami", anna)
        self.assertEqual((status, json.loads(body)), (200, {"name": "anna@example.org", "role": "admin", "proof": "proxy"}))
        status, body = self.ask(nginx.port, "/v1/whoami", {"Cookie": "user=carl", "Gillnet-User": "anna@example.org",
                                                           "Authorization": "Bearer nothing"})
        self.assertEqual(json.loads(body)["name"], "carl")


if __name__ == "__main__":
    unittest.main(verbosity=2)
