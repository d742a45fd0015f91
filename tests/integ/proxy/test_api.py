#!/usr/bin/env python3
"""The HTTP API behind a real nginx, however that is configured: its clients are not local, those of this machine are.

Usage: test_api.py      ends like unittest. GILLNET_BUILD names the build folder.
"""
import http.client
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
from hub import Hub, ports  # noqa: E402
from nginx import Nginx  # noqa: E402

WAYS = {"no word of it": "", "X-Real-IP alone": "proxy_http_version 1.1; proxy_set_header X-Real-IP $remote_addr;",
        "its own name": "proxy_http_version 1.1; proxy_set_header Host $host;",
        "X-Forwarded-Proto": "proxy_http_version 1.1; proxy_set_header X-Forwarded-Proto $scheme;",
        "CF-Connecting-IP": "proxy_http_version 1.1; proxy_set_header CF-Connecting-IP $remote_addr;"}


class Api(unittest.TestCase):
    def test_behind_nginx__in_every_way__then_nobody_is_local(self):
        hub = Hub(api='names = [ "mail.example" ];')
        self.addCleanup(hub.close)
        hub.start()
        port = ports.free_port()
        nginx = Nginx(hub.top / "nginx", port)
        self.addCleanup(nginx.stop)
        self.assertEqual(hub.get("/v1/lists").status, 200)
        self.assertEqual(hub.get("/v1/lists", unix=True).status, 200)
        token = {"Authorization": f"Bearer {hub.token('one', 'read')}"}
        for to in (f"http://127.0.0.1:{hub.port}", f"http://unix:{hub.unix}:"):
            for name, words in WAYS.items():
                nginx.restart(f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {to}; {words} }} }}")
                for headers, want in (({}, 401), (token, 200)):
                    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                    c.request("GET", "/v1/lists", headers={"Host": "mail.example", **headers})
                    answer = c.getresponse()
                    body = answer.read()
                    c.close()
                    self.assertEqual(answer.status, want, (to, name, body))
                    self.assertTrue(want == 200 or b"proxy" in body, body)


if __name__ == "__main__":
    unittest.main(verbosity=2)
