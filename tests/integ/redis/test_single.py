#!/usr/bin/env python3
"""The client of Redis with one server: plain, by a Unix socket, with TLS, users and passwords; restarts and deadlines.

Usage: test_single.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import subprocess
import time
import unittest

from servers import Folder, Talk, free_port, until


def certificates(folder):
    """ca.pem, and certificates of localhost (with 127.0.0.1) and of other.example."""
    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True, timeout=60, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in "ca", "strange":
        openssl("req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
    for name, names in ("local", "DNS:localhost,IP:127.0.0.1"), ("other", "DNS:other.example"):
        openssl("req", "-x509", *key, "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                "-subj", "/CN=x", "-addext", f"subjectAltName={names}", "-addext", "basicConstraints=critical,CA:FALSE")


class Plain(unittest.TestCase):
    def test_call__all_kinds_of_replies__as_the_server_gave_them(self):
        with Folder() as f:
            s = f.redis(f"unixsocket {f.path}/sock").wait()
            for server in f"127.0.0.1:{s.port}", f"localhost:{s.port}", f"{f.path}/sock":
                with Talk(server) as t:
                    self.assertEqual(t.call("once", "k", "SET", "k", "v"), "ok 'OK'")
                    self.assertEqual(t.call("once", "k", "GET", "k"), "ok 'v'")
                    self.assertEqual(t.call("once", "-", "GET", "absent"), "ok null")
                    self.assertEqual(t.call("once", "h", "HSET", "h", "a", "1"), "ok 1")
                    self.assertEqual(t.call("once", "h", "HGETALL", "h"), "ok {'a' '1'}")
                    self.assertEqual(t.call("once", "k", "INCR", "k"),
                                     "ok !'ERR value is not an integer or out of range'")
                    for kind, want in ("double", "'3.141'"), ("true", "true"), ("bignum", "'1234567999999999999999999999999999999'"), \
                            ("verbatim", "'This is a verbatim\\x0astring'"), ("attrib", "'Some real reply following the attribute'"):
                        self.assertEqual(t.call("once", "-", "DEBUG", "PROTOCOL", kind), f"ok {want}")
                    t.call("once", "-", "FLUSHALL")

    def test_call__many_at_once__answers_in_order(self):
        with Folder() as f:
            s = f.redis().wait()
            with Talk(f"127.0.0.1:{s.port}") as t:
                numbers = [t.send("once", "n", "INCR", "n") for _ in range(20000)]
                self.assertEqual([t.answer(i) for i in numbers], [f"ok {i + 1}" for i in range(20000)])
                big = "x" * 900000
                t.call("once", "b", "SET", "b", big)
                self.assertEqual(t.call("once", "b", "STRLEN", "b"), "ok 900000")

    def test_call__too_many_open__refused_at_once(self):
        with Talk("deadline=60000", f"127.0.0.1:{free_port()}") as t:
            t.proc.stdin.write("".join(f"{i} once n INCR n\n" for i in range(65540)) + "free\n")
            got = [t.answer(i) for i in range(65540)]
        self.assertEqual(set(got[:65536]), {"fault closed undone the client ends"})
        self.assertTrue(all(a.startswith("refused") for a in got[65536:]), got[-1])

    def test_options__of_no_use__refused_with_the_reason(self):
        with Folder() as f:
            f.secret("open", "word").chmod(0o644)
            for words, want in (["nothing"], "must be HOST:PORT"), (["a:1", "b:2"], "must have 1 to 1"), ([], "must have"), \
                    ([f"password={f.path}/none", "a:1"], "cannot be read"), (["ca=/dev/null", "a:1"], "certificates"), \
                    ([f"password={f.path}/open", "a:1"], "everybody may read"), (["host name:1"], "must be HOST:PORT"):
                t = Talk(*words)
                self.assertIn(want, t.came.get(timeout=60))
                self.assertEqual(t.proc.wait(60), 1)


class Trouble(unittest.TestCase):
    def test_call_of_one_server__that_ends__waits_for_it_and_its_fault_shows_meanwhile(self):
        with Folder() as f:
            s = f.redis().wait()
            address = f"127.0.0.1:{s.port}"
            with Talk("deadline=30000", address) as t:
                self.assertEqual(t.servers(), {address: ("master", "none")})
                self.assertEqual(t.call("once", f"@{address}", "SET", "k", "1"), "ok 'OK'")
                s.kill()
                number = t.send("once", f"@{address}", "PING")
                until(lambda: t.servers()[address] == ("master", "connect"), "the fault")
                s.start()
                self.assertEqual(t.answer(number), "ok 'PONG'")
                self.assertEqual(t.servers(), {address: ("master", "none")})
            with Talk("deadline=500", f"127.0.0.1:{free_port()}") as t:
                self.assertRegex(t.call("once", f"@{next(iter(t.servers()))}", "PING"), "^fault connect undone ")

    def test_call__while_the_server_restarts__waits_and_is_done_once(self):
        with Folder() as f:
            s = f.redis().wait()
            with Talk("deadline=30000", f"127.0.0.1:{s.port}") as t:
                self.assertEqual(t.call("once", "n", "INCR", "n"), "ok 1")
                s.kill()
                number = t.send("once", "n", "INCR", "n")
                time.sleep(0.3)
                s.start()
                self.assertEqual(t.answer(number), "ok 1")  # nothing was saved

    def test_call__sent_to_a_server_that_dies__fate_is_unknown_unless_it_may_repeat(self):
        with Folder() as f:
            s = f.redis().wait()
            with Talk("answer=20000", "deadline=30000", f"127.0.0.1:{s.port}") as t:
                t.call("once", "-", "PING")
                once = t.send("once", "-", "DEBUG", "SLEEP", "20")
                again = t.send("repeat", "n", "INCR", "n")
                time.sleep(0.5)
                s.kill()
                self.assertRegex(t.answer(once), "^fault closed done .* ended the connection$")
                s.start()
                self.assertEqual(t.answer(again), "ok 1")

    def test_call__server_stands_still__timeout_names_it_and_nothing_is_done_later(self):
        with Folder() as f:
            s = f.redis().wait()
            with Talk("answer=500", "connect=500", "deadline=2000", f"127.0.0.1:{s.port}") as t:
                t.call("once", "-", "PING")
                s.stop()
                self.assertEqual(t.call("once", "n", "INCR", "n"),
                                 f"fault timeout done 127.0.0.1:{s.port} does not answer in time")
                self.assertRegex(t.call("repeat", "m", "INCR", "m"), "^fault timeout undone")
                s.go_on()
            with Talk("deadline=30000", f"127.0.0.1:{s.port}") as t:
                self.assertEqual(t.call("once", "m", "INCR", "m"), "ok 1")

    def test_call__deadline_before_the_answer__unknown_and_the_next_answers_are_right(self):
        with Folder() as f:
            s = f.redis().wait()
            with Talk("answer=20000", "deadline=2000", f"127.0.0.1:{s.port}") as t:
                t.call("once", "-", "PING")
                late = t.send("once", "-", "DEBUG", "SLEEP", "2.5")
                self.assertRegex(t.answer(late), "^fault timeout done")
                self.assertEqual(t.call("once", "-", "ECHO", "mine"), "ok 'mine'")

    def test_free__calls_are_open__each_is_answered(self):
        with Talk(f"127.0.0.1:{free_port()}") as t:
            number = t.send("once", "n", "INCR", "n")
            t.proc.stdin.write("free\n")
            self.assertEqual(t.answer(number), "fault closed undone the client ends")


class Secured(unittest.TestCase):
    def test_tls__user_of_the_acl__speaks_only_with_the_right_names_and_words(self):
        with Folder() as f:
            certificates(f.path)
            cert = [f"tls-cert-file {f.path}/local.pem", f"tls-key-file {f.path}/local.key", f"tls-ca-cert-file {f.path}/ca.pem"]
            port = free_port()
            cli = ["--tls", "--cacert", f"{f.path}/ca.pem", "--cert", f"{f.path}/local.pem", "--key", f"{f.path}/local.key",
                   "--user", "hub", "-a", "a b", "--no-auth-warning"]
            f.redis("port 0", f"tls-port {port}", *cert, "user default off", 'user hub on ">a b" ~g:* +@all -@dangerous',
                    port=port, cli=cli).wait()
            good, bad = f.secret("good", "a b"), f.secret("bad", "ab")
            own = [f"cert={f.path}/local.pem", f"key={f.path}/local.key"]
            ca, login, server = f"ca={f.path}/ca.pem", ["user=hub", f"password={good}"], f"127.0.0.1:{port}"
            ends = ["deadline=700", "connect=700"]
            with Talk(ca, *own, *login, server) as t:
                self.assertEqual(t.call("once", "g:1", "SET", "g:1", "v"), "ok 'OK'")
                self.assertRegex(t.call("once", "x", "SET", "x", "v"), "^ok !'NOPERM ")
            with Talk(ca, *own, *login, "name=localhost", server) as t:
                self.assertEqual(t.call("once", "g:1", "STRLEN", "g:1"), "ok 1")
                big = "x" * 700000  # many records
                t.call("once", "g:1", "SET", "g:1", big)
                self.assertEqual(t.call("once", "g:1", "GET", "g:1"), f"ok '{big}'")
            for words, want in ([ca, *own, "user=hub", f"password={bad}"], "login undone .*WRONGPASS"), \
                    ([ca, *own], "login undone .*NOAUTH"), ([ca, *login], "(tls|closed) undone"), \
                    ([ca, *own, *login, "name=other.example"], "tls undone .*hostname mismatch"), \
                    ([f"ca={f.path}/strange.pem", *own, *login], "tls undone .*self-signed certificate"), \
                    (login, "(closed|protocol|timeout) undone"):
                with Talk(*words, *ends, server) as t:
                    self.assertRegex(t.call("once", "g:1", "GET", "g:1"), f"^fault {want}")


if __name__ == "__main__":
    unittest.main()
