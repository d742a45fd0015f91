"""Odd orders over real libmilter: nothing crashes, leaks or mixes messages up."""
import itertools
import struct
import unittest

from daemon import Daemon
from mta import Closed, Mta

LISTS = {"phish": ["http://evil.example/x"]}
WEIGHT = 'rules = ();\nlists = ( { name = "phish"; weight = 6.0; } );\n'
BODY = b"see http://evil.example/x\r\n"


class Orders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(WEIGHT, lists=LISTS).start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.wait_for(lambda: cls.daemon.stat("sessions_open") == 0, "sessions to close")
        assert cls.daemon.stat("messages_open") == 0
        cls.daemon.__exit__(None, None, None)

    def open(self, **kw):
        return Mta(self.daemon.target, **kw)

    def check(self, m):
        self.assertEqual(m.message(body=BODY).status(), "Yes, action=header score=6.0 required=5.0")

    def test_close_only__fine(self):
        self.open(negotiate=False).close()
        self.open(negotiate=False).quit()
        self.open().close()
        self.open().quit()
        m = self.open()
        m.hello()
        m.close()

    def test_abort_and_close_at_each_stage__next_message_is_clean(self):
        stages = [lambda m: m.mail(), lambda m: m.rcpt(), lambda m: m.data(),
                  lambda m: m.header("Subject", "x"), lambda m: m.header("X-Gillnet-Score", "1"),
                  lambda m: m.end_headers(), lambda m: m.body(BODY)]
        keep = self.open()
        keep.hello()
        for n in range(len(stages) + 1):
            gone = self.open()
            gone.hello()
            for stage in stages[:n]:
                stage(keep)
                stage(gone)
            keep.abort()
            gone.close()
            a = keep.message(body=b"clean\r\n")
            self.assertEqual((a.code, a.deleted), ("c", []))
            self.assertEqual(a.status()[:2], "No")
        self.check(keep)
        keep.quit()

    def test_two_mails__the_second_counts(self):
        m = self.open()
        m.hello()
        m.mail()
        m.rcpt()
        m.data()
        m.header("X-Gillnet-Status", "x")
        m.end_headers()
        m.body(BODY)
        a = m.message(body=b"clean\r\n")
        self.assertEqual((a.status()[:2], a.deleted), ("No", []))
        m.quit()

    def test_quit_and_new_client__goes_on_without_negotiation(self):
        m = self.open()
        for i in range(5):
            self.assertEqual(m.hello(f"192.0.2.{i + 1}"), "c")
            self.check(m)
            self.assertEqual(self.daemon.wait_line(m.qid)["client"], f"client.example[192.0.2.{i + 1}]")
            m.quit_new_client()
        m.close()
        self.assertNotIn("private data", self.daemon.log())

    def test_missing_steps__still_answered(self):
        for steps in ("", "L", "LN", "B", "NB", "LB", "BN", "LNBLNB", "NNN"):
            m = self.open(timeout=2)
            m.hello()
            m.mail()
            m.rcpt()
            m.data()
            for s in steps:
                {"L": lambda: m.header("Subject", "x"), "N": m.end_headers,
                 "B": lambda: m.body(BODY)}[s]()
            try:
                self.assertIn(m.end().code, "c")
            except (Closed, TimeoutError):
                pass  # libmilter ignores a step out of order; the daemon must live
            m.close()
        m = self.open()
        m.hello()
        self.check(m)
        m.quit()

    def test_random_orders__no_crash(self):
        for order in itertools.product("MLBEA", repeat=4):
            m = self.open(timeout=5)
            m.qid = "q"
            try:
                for s in order:
                    m.sock.sendall({"M": b"\0\0\0\x05M<a>\0", "L": b"\0\0\0\x05La\0b\0",
                                    "B": b"\0\0\0\x03Bx\n", "E": b"\0\0\0\x01E",
                                    "A": b"\0\0\0\x01A"}[s])
            except (OSError, Closed):
                pass
            m.close()
        m = self.open()
        m.hello()
        self.check(m)
        m.quit()

    def test_broken_packets__connection_ends_daemon_lives(self):
        for junk in (b"\0", b"\0\0\0\0", b"\xff\xff\xff\xffM", b"GET / HTTP/1.0\r\n\r\n",
                     struct.pack("!I", 70000) + b"B" + b"x" * 70000, b"\0\0\0\x02?x",
                     b"\0\0\0\x05O\0\0\0\6", b"\0\0\0\x02Mx", b"\0\0\0\x03Lab"):
            m = self.open(negotiate=False)
            try:
                m.sock.sendall(junk)
            except OSError:
                pass
            m.close()
            m = self.open()
            m.hello()
            try:
                m.mail()
                m.sock.sendall(junk)
            except OSError:
                pass
            m.close()
        m = self.open()
        m.hello()
        self.check(m)
        m.quit()

    def test_many_connections_interleaved__each_its_own(self):
        many = [self.open() for _ in range(50)]
        for i, m in enumerate(many):
            m.hello(f"192.0.2.{i + 1}")
        for stage in ("mail", "rcpt", "data", "head", "body", "end"):
            for i, m in enumerate(many):
                if stage == "mail":
                    m.mail(f"<u{i}@sender.example>")
                elif stage == "rcpt":
                    m.rcpt()
                elif stage == "data":
                    m.data()
                elif stage == "head":
                    m.header("Subject", "x")
                    m.end_headers()
                elif stage == "body":
                    m.body(BODY if i % 2 else b"clean\r\n")
                else:
                    self.assertEqual(m.end().status()[:3], "Yes" if i % 2 else "No,")
                    line = self.daemon.wait_line(m.qid)
                    self.assertEqual((line["client"], line["from"]),
                                     (f"client.example[192.0.2.{i + 1}]", f"<u{i}@sender.example>"))
        for m in many:
            m.quit()


if __name__ == "__main__":
    unittest.main()
