#!/usr/bin/env python3
"""The HTTP API with clients that are broken, slow, greedy or hostile. Usage: test_hostile.py [TEST...]"""
import json
import os
import random
import select
import socket
import time
import unittest

from hub import ROOM, Hub, hold_lock, until

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
BODY = b'{"urls": ["http://evil1.example/pay?x=1"]}'


def post(body, *fields, path="/check-urls"):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def heads(data):
    """The status of every answer in a stream of them."""
    got = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        got.append(int(head.split(b" ", 2)[1]))
        length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        data = data[length[0] if length else 0:]
    return got


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hub = Hub().start()
        cls.hub.get("/v1/lists")

    @classmethod
    def tearDownClass(cls):
        cls.hub.close()

    def tearDown(self):
        self.assertEqual(self.hub.post("/check-urls", {"urls": ["http://evil1.example/pay?x=1"]}).status, 200)

    def refused(self, data, status, **more):
        got = self.hub.raw(data, **more)
        self.assertEqual(heads(got), [status], (data[:200], got[:300]))
        self.assertIn(b"Connection: close\r\n", got)
        self.assertIn(b"application/problem+json", got)

    # ---- heads ----

    def test_heads_that_two_readers_could_take_for_two_things__then_refused(self):
        n = len(BODY)
        for fields, status in (
                ((f"Content-Length: {n}", "Transfer-Encoding: chunked"), 411),
                (("Transfer-Encoding: chunked", f"Content-Length: {n}"), 411),
                (("Transfer-Encoding: chunked",), 411), (("Transfer-Encoding: identity",), 411),
                (("Transfer-Encoding: xchunked",), 411), (("Transfer-Encoding:\tchunked",), 411),
                ((f"Content-Length: {n}", f"Content-Length: {n}"), 400), ((f"Content-Length: {n}, {n}",), 400),
                ((f"Content-Length: +{n}",), 400), ((f"Content-Length: 0{n}",), 400), ((f"Content-Length: {n}x",), 400),
                ((f"Content-Length: {n:#x}",), 400), (("Content-Length: -1",), 400), (("Content-Length:",), 400),
                (("Content-Length: 99999999999999999999999",), 400), (("Content-Length: 18446744073709551615",), 413),
                ((f"Content-Length : {n}",), 400), ((f" Content-Length: {n}",), 400),
                ((f"Content-Length: {n}", " folded: x"), 400), ((f"X: a\nContent-Length: {n}",), 400),
                ((f"X: a\rContent-Length: {n}",), 400), ((f"X: a\0b", f"Content-Length: {n}"), 400),
                ((f"Content-Length: {n}", "Host: other"), 400), ((f"Content-Length: {n}", "no colon"), 400),
                ((f"Content-Length: {n}", "Expect: 200-ok"), 417), ((), 411)):
            self.refused(post(BODY, *fields) + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", status)

    def test_a_chunked_body__then_what_is_in_it_is_no_request(self):
        inner = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.refused(post(b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner), "Transfer-Encoding: chunked"), 411)
        self.refused(post(b"zz\r\n%s" % inner, "Transfer-Encoding: chunked"), 411)

    def test_odd_lines__then_refused(self):
        for line, status in ((b"GET /healthz", 400), (b"GET  /healthz HTTP/1.1", 400), (b"GET /healthz HTTP/1.1 ", 400),
                             (b"GET healthz HTTP/1.1", 400), (b"GET http://localhost/healthz HTTP/1.1", 400),
                             (b"GET /healthz HTTP/2.0", 505), (b"GET /a b HTTP/1.1", 400), (b"G@T / HTTP/1.1", 400),
                             (b"BREW / HTTP/1.1", 501), (b"CONNECT x:1 HTTP/1.1", 400), (b"GET /\xff HTTP/1.1", 400),
                             (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400), (b"get / HTTP/1.1", 501)):
            self.refused(line + b"\r\nHost: localhost\r\n\r\n", status)
        self.refused(b"GET / HTTP/1.1\r\n\r\n", 400)
        self.refused(GET + b"Content-Length: 3\r\n\r\nabc", 400)
        self.refused(GET + b"A: b\r\n" * 65 + b"\r\n", 431)

    def test_a_head_of_ten_megabytes__then_refused_and_memory_is_flat(self):
        before = self.hub.memory()
        for _ in range(5):
            try:
                got = self.hub.raw(GET + b"X: " + b"a" * (10 << 20))
            except (BrokenPipeError, ConnectionResetError):
                continue
            self.assertEqual(heads(got)[:1], [431])
        self.assertLess(self.hub.memory(), before + ROOM * (16 << 20))

    def test_pipelined__then_answered_in_order(self):
        one = post(BODY, f"Content-Length: {len(BODY)}")
        many = (one + GET + b"\r\n") * 100 + GET + b"Connection: close\r\n\r\n"
        got = self.hub.raw(many)
        said = heads(got)
        self.assertEqual(said[1::2] + said[-1:], [200] * 101)  # health is always told
        looked_up = said[:200:2]
        self.assertEqual(looked_up[0], 200)
        self.assertLessEqual(set(looked_up), {200, 503})  # the last ones may come too late
        self.assertEqual(got.count(b'"MALICIOUS"'), looked_up.count(200))

    def test_half_closed__then_still_answered(self):
        got = self.hub.raw(post(BODY, f"Content-Length: {len(BODY)}"), wait=False)
        self.assertIn(b'"MALICIOUS"', got)
        self.assertEqual(self.hub.raw(GET, wait=False), b"")

    def test_byte_by_byte__then_answered(self):
        with socket.create_connection(("127.0.0.1", self.hub.port), timeout=20) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for c in post(BODY, f"Content-Length: {len(BODY)}"):
                s.sendall(bytes([c]))
            self.assertIn(b"200 OK", s.recv(65536))

    def test_expect__then_told_to_go_on(self):
        with socket.create_connection(("127.0.0.1", self.hub.port), timeout=20) as s:
            s.sendall(post(b"", f"Content-Length: {len(BODY)}", "Expect: 100-continue"))
            self.assertEqual(s.recv(65536), b"HTTP/1.1 100 Continue\r\n\r\n")
            s.sendall(BODY)
            self.assertIn(b'"MALICIOUS"', s.recv(65536))
        self.refused(post(b"", "Content-Length: 99999999", "Expect: 100-continue"), 413)

    # ---- bodies ----

    def test_bodies_that_are_no_json__then_refused(self):
        for body, status in (
                (b"", 400), (b"{", 400), (b"[]", 400), (b"{}", 422), (b"null", 400), (b'{"urls": "x"}', 422),
                (b'{"urls": [1]}', 422), (b'{"urls": [null]}', 422), (b'{"urls": {"a": 1}}', 422), (b'{"urls": [["x"]]}', 422),
                (b'{"urls": ["x"], "urls": []}', 422), (b'{"urls": ["x"], "more": 1}', 422), (b'{"urls": ["x"]} {}', 400),
                (b'{"urls": ["x"],}', 400), (b'{"urls": ["x",]}', 422), (b'{"urls": ["x"}', 400), (b"{'urls': []}", 400),
                (b'{"urls": ["\xff"]}', 400), (b'{"urls": ["\xc0\xaf"]}', 400), (b'{"urls": ["\xed\xa0\x80"]}', 400),
                (b'{"urls": ["\\ud800"]}', 400), (b'{"urls": ["\\u0000"]}', 400), (b'{"urls": ["\\x41"]}', 400),
                (b'{"urls": ["a\nb"]}', 400), (b'{"urls": ["a\0b"]}', 400), (b'{"urls": ["x', 400), (b'{"urls": ["\\', 400),
                (b'{"urls": ' + b"[" * 100000 + b"]" * 100000 + b"}", 422), (b"[" * 500000, 400),
                (b'{"urls": 1e999999999}', 422), (b'{"urls": ' + b"9" * 100000 + b"}", 422), (b"\xef\xbb\xbf{}", 400),
                (b'{"a' + b"a" * 100000 + b'": 1}', 422), (b'{"urls": [' + b'"x",' * 200000 + b'"x"]}', 413)):
            got = self.hub.post("/check-urls", body)
            self.assertEqual(got.status, status, (body[:80], got.body))
            self.assertIn("detail", got.json())

    def test_escapes__then_the_text_that_is_meant(self):
        a = self.hub.post("/check-urls", b'{"urls": ["http:\\/\\/evil1.example\\u002fpay?\\u0078=1", "\\ud83d\\ude00\\"\\\\"]}')
        self.assertEqual([r["url"] for r in a.json()["results"]], ["http://evil1.example/pay?x=1", '\U0001f600"\\'])
        self.assertEqual(a.json()["results"][0]["status"], "MALICIOUS")

    def test_a_body_too_long__then_refused_before_it_is_read(self):
        self.refused(post(b"{", "Content-Length: 1048577"), 413)
        a = self.hub.post("/check-urls", {"urls": ["http://evil1.example/" + "a" * 500000]})
        self.assertEqual((a.status, a.json()["results"][0]["status"]), (200, "INVALID"))

    def test_random_bytes__then_the_hub_lives(self):
        dice = random.Random(7)
        good = post(BODY, f"Content-Length: {len(BODY)}")
        for i in range(300):
            data = bytearray(good)
            for _ in range(dice.randrange(1, 8)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            if i % 3 == 0:
                data = bytearray(dice.randbytes(dice.randrange(1, 4000)))
            try:
                got = self.hub.raw(bytes(data), wait=False)
            except (BrokenPipeError, ConnectionResetError):
                continue
            self.assertTrue(got == b"" or got.startswith(b"HTTP/1.1 "), got[:50])

    # ---- time ----

    def test_slow_heads_and_silence__then_closed_in_time(self):
        with socket.create_connection(("127.0.0.1", self.hub.port)) as silent, \
                socket.create_connection(("127.0.0.1", self.hub.port)) as slow, \
                socket.create_connection(("127.0.0.1", self.hub.port)) as body:
            begun = time.monotonic()
            body.sendall(post(b"{", "Content-Length: 1000"))
            open_ones = {silent, slow, body}
            ended = {}
            while open_ones and time.monotonic() < begun + 30:
                if slow in open_ones:
                    try:
                        slow.send(b"G" if time.monotonic() < begun + 0.3 else b"E")
                    except OSError:
                        pass
                for s in select.select(list(open_ones), [], [], 0.3)[0]:
                    try:
                        data = s.recv(100)
                    except ConnectionResetError:
                        data = b""
                    if not data:
                        ended[s] = time.monotonic() - begun
                        open_ones.discard(s)
            self.assertFalse(open_ones)
            self.assertTrue(4 < ended[silent] < 25 and 4 < ended[slow] < 25 and 9 < ended[body] < 25, ended.values())

    def test_a_reader_that_does_not_read__then_memory_is_bounded(self):
        before = self.hub.memory()
        body = json.dumps({"values": ["http://evil1.example/" + "a" * 900] * 1000}).encode()
        ask = post(body, f"Content-Length: {len(body)}", path="/v1/check")
        socks = []
        for _ in range(20):
            s = socket.create_connection(("127.0.0.1", self.hub.port))
            s.setblocking(False)
            socks.append(s)
            try:
                for _ in range(8):
                    s.send(ask)
            except BlockingIOError:
                pass
        self.assertEqual(self.hub.get("/healthz").status, 200)
        self.assertLess(self.hub.memory(), before + ROOM * (128 << 20))
        for s in socks:
            s.close()


class Crowd(unittest.TestCase):
    def test_a_thousand_slow_ones__then_others_are_answered_and_mail_is_too(self):
        hub = Hub(api="connections = 256;")
        self.addCleanup(hub.close)
        hub.start()
        hub.start_gillnetd()
        before = hub.memory()
        slow = []
        for i in range(1000):
            s = socket.create_connection(("127.0.0.1", hub.port))
            s.setblocking(False)
            s.send(b"" if i % 3 == 0 else GET if i % 3 == 1 else post(b"{", "Content-Length: 1000"))
            slow.append(s)
        for _ in range(50):
            self.assertEqual(hub.post("/check-urls", {"urls": ["http://evil1.example/pay?x=1"]}).status, 200)
        self.assertLess(hub.memory(), before + ROOM * (64 << 20))
        hub.run("reload")  # gillnetd is at work
        for s in slow:
            s.close()
        self.assertLess(len(os.listdir(f"/proc/{hub.process.pid}/fd")), 400)

    def test_too_many_at_once_of_what_waits__then_503_with_a_time(self):
        hub = Hub(api='local_role = "admin";')
        self.addCleanup(hub.close)
        hub.start()
        lock = hold_lock(hub.state / "lists/LOCK")
        body = b'{"values": ["bad2.example"], "list": "phish"}'
        ask = post(body, f"Content-Length: {len(body)}", path="/v1/revoke")
        socks = [socket.create_connection(("127.0.0.1", hub.port), timeout=30) for _ in range(100)]
        try:
            for s in socks:
                s.sendall(ask)
            ready = until(lambda: select.select(socks, [], [], 0)[0], "nobody was turned away")
            got = ready[0].recv(65536)
            self.assertEqual(heads(got), [503])
            self.assertIn(b"Retry-After: ", got)
            self.assertEqual(hub.post("/check-urls", {"urls": ["http://evil1.example/pay?x=1"]}).status, 200)
            self.assertEqual(hub.get("/v1/lists").status, 200)
        finally:
            lock.kill()
            lock.wait()
            for s in socks:
                s.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
