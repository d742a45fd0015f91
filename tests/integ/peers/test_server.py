#!/usr/bin/env python3
"""Attacks of peers and strangers on a hub's server: slow readers, idle connections, odd and large requests.

Usage: test_server.py [TEST...]      ends like unittest. Needs the openssl program.
"""
import pathlib
import socket
import ssl
import tempfile
import time
import unittest

import test_handshakes
from ring import Ring, until
from test_handshakes import ask, context


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gillnet-tls-")
        self.make = test_handshakes.Maker(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def peer(self, server):
        return context(self.make.certificate(server.state / "peers/signing.key"))

    def connect(self, ctx, port):
        return ctx.wrap_socket(socket.create_connection(("127.0.0.1", port), 20))

    def exchange_goes_on(self, a, b):
        before = b.status()["alpha"]["answered_ms"]
        b.control("reload")  # connects anew
        until(lambda: b.status().get("alpha", {}).get("answered_ms", 0) > before, "an answer of alpha", log=a.logs)

    def rss(self, server):
        text = pathlib.Path(f"/proc/{server.hub_proc.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0])

    def test_200_idle_connections__give_way(self):
        with Ring("alpha", "beta") as (a, b):
            until(lambda: b.connected() == {"alpha"}, "alpha", log=b.logs)
            time.sleep(2)  # the bucket of the address fills again
            idle = [socket.create_connection(("127.0.0.1", a.port), 10) for _ in range(200)]
            self.exchange_goes_on(a, b)
            self.assertLessEqual(a.stat("connections_open"), 150)
            until(lambda: a.stat("connections_open") <= 4, "their time to be over", seconds=30, log=a.logs)
            self.assertGreaterEqual(a.stat("timeouts") + a.stat("connections_evicted") +
                                    a.stat("connections_refused"), 196)
            for s in idle:
                s.close()

    def test_a_flood_of_one_address__is_refused_before_tls(self):
        with Ring("alpha", "beta") as (a, b):
            until(lambda: b.connected() == {"alpha"}, "alpha", log=b.logs)
            for _ in range(600):
                socket.create_connection(("127.0.0.1", a.port), 10).close()
            self.assertGreater(until(lambda: a.stat("connections_refused"), "refusals"), 100)
            self.assertTrue(a.control("ping").startswith("ok"))
            until(lambda: b.connected() == {"alpha"}, "the exchange to go on", log=b.logs)

    def test_odd_requests__are_refused_and_the_connection_closed(self):
        with Ring("alpha", "beta") as (a, b):
            ctx = self.peer(b)
            get = "GET /v1/manifest HTTP/1.1\r\nHost: x\r\n"
            rows = [("GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n", "404"),
                    ("POST /v1/join HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "403"),
                    (get + "Content-Length: 4\r\n\r\nabcd", "400"),
                    (get + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "501"),
                    (get + "A: " + "a" * 9000 + "\r\n\r\n", "431"),
                    (get + "A: b\r\n" * 100 + "\r\n", "431"),
                    ("\x16\x03\x01" + "A" * 20 + "\r\n\r\n", "400"),
                    ("GET /v1/chain/" + "0" * 32 + "/1-2 HTTP/1.1\r\nHost: x\r\n\r\n", "404"),
                    ("GET /v1/snap/" + "0" * 32 + "/1 HTTP/1.1\r\nHost: x\r\n\r\n", "404"),
                    ("GET /v1/ringkey/1 HTTP/1.1\r\nHost: x\r\n\r\n", "404")]
            for request, status in rows:
                got = ask(a.port, ctx, request=request)
                self.assertTrue(got.startswith(f"HTTP/1.1 {status}"), (request[:60], got[:100]))
            self.assertIn("200", ask(a.port, ctx))

    def test_many_requests_at_once__one_after_the_other(self):
        with Ring("alpha", "beta") as (a, b):
            with self.connect(self.peer(b), a.port) as s:
                s.sendall(b"GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
                out = b""
                s.settimeout(20)
                while out.count(b"HTTP/1.1 200 OK") < 50:
                    got = s.recv(65536)
                    self.assertTrue(got, out[-200:])
                    out += got

    def test_slow_ones__are_dropped(self):
        with Ring("alpha", "beta") as (a, b):
            ctx = self.peer(b)
            drip = self.connect(ctx, a.port)
            begun = time.monotonic()
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                for c in b"GET /v1/manifest HTTP/1.1\r\nHost: xxxxxxxxxxxxxxxxxxxxxxxxxxxx" * 2:
                    drip.sendall(bytes([c]))
                    time.sleep(0.2)
            self.assertLess(time.monotonic() - begun, 20)
            # a reader that never reads: many answers wait, then it is gone
            reader = self.connect(ctx, a.port)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            before = self.rss(a)
            reader.settimeout(1)
            try:
                for _ in range(5000):
                    reader.sendall(b"GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            except (ssl.SSLError, ConnectionError, TimeoutError, socket.timeout):
                pass
            if "libasan" not in pathlib.Path(f"/proc/{a.hub_proc.pid}/maps").read_text():  # it keeps what is freed
                self.assertLess(self.rss(a) - before, 20 * 1024)
            timeouts = a.stat("timeouts")
            until(lambda: a.stat("timeouts") > timeouts, "the reader's end", seconds=60, log=a.logs)
            drip.close()
            reader.close()
            self.exchange_goes_on(a, b)

    def test_a_peer__has_four_connections(self):
        with Ring("alpha", "beta") as (a, b):
            b.stop()
            ctx = self.peer(b)
            held = [self.connect(ctx, a.port) for _ in range(12)]
            for s in held[-4:]:
                s.sendall(b"GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertIn(b"200", s.recv(65536))
            self.assertLessEqual(a.stat("connections_open"), 4)
            for s in held:
                s.close()

    def test_heads__are_held_until_something_changes(self):
        with Ring("alpha", "beta") as (a, b):
            b.stop()
            time.sleep(1)
            with self.connect(self.peer(b), a.port) as s:
                s.settimeout(60)
                s.sendall(b"GET /v1/heads?after=0 HTTP/1.1\r\nHost: x\r\n\r\n")
                head, _, body = s.recv(65536).partition(b"\r\n\r\n")
                length = int(head.split(b"Content-Length: ")[1].split()[0])
                while len(body) < length:
                    body += s.recv(65536)
                self.assertEqual(body[:4], b"GNXH")
                version = int.from_bytes(body[8:16], "little")
                for _ in range(3):  # heartbeats are news as well: some rounds until one is quiet for long
                    begun = time.monotonic()
                    s.sendall(b"GET /v1/heads?after=%d HTTP/1.1\r\nHost: x\r\n\r\n" % version)
                    head, _, body = s.recv(65536).partition(b"\r\n\r\n")
                    if b"304" in head:
                        self.assertGreater(time.monotonic() - begun, 20)
                        return
                    self.assertIn(b"200", head)
                    version = int.from_bytes(body[8:16], "little")
                    self.assertGreater(time.monotonic() - begun, 0.2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
