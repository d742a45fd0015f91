#!/usr/bin/env python3
"""The client of Redis with servers that lie, drip, flood or refer to each other: each ends in a named fault.

Usage: test_liars.py [TEST...]      ends like unittest.
"""
import socket
import threading
import time
import unittest

from servers import Talk

HELLO = {kind: b"%%2\r\n+mode\r\n+%s\r\n+role\r\n+master\r\n" % kind for kind in (b"standalone", b"cluster", b"sentinel")}
SLOTS = b"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+127.0.0.1\r\n:%d\r\n"


class Liar:
    """Answers each command by a function of its words; bytes, or None: nothing."""

    def __init__(self, answer, kind=b"standalone"):
        self.answer, self.kind, self.seen = answer, kind, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def accept(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with s, s.makefile("rb") as f:
            try:
                while head := f.readline():
                    words = [f.read(int(f.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
                    self.seen.append(words)
                    got = HELLO[self.kind] if words[0] == b"HELLO" and self.answer(words) is None else self.answer(words)
                    for part in got if isinstance(got, list) else [got or b""]:
                        s.sendall(part)
                        time.sleep(0.02 if isinstance(got, list) else 0)
                    if got == b"":
                        return
            except OSError:
                pass


class Single(unittest.TestCase):
    def fault(self, answer, *words, how="once"):
        with Liar(answer) as liar, Talk("deadline=700", "answer=400", "connect=400", *words, f"127.0.0.1:{liar.port}") as t:
            self.liar = liar
            return t.call(how, "k", "GET", "k")

    def test_reply__hostile__protocol_fault_with_the_reason(self):
        for got, want in (b"HTTP/1.1 200 OK\r\n", "a byte that begins no reply"), (b"$99999999999\r\n", "too many bytes"), \
                (b"*1\r\n" * 20, "nested too deep"), (b"+" + b"x" * 70000, "a line that is too long"), \
                (b"*1048577\r\n", "too many elements"):
            answer = self.fault(lambda w, got=got: got if w[0] == b"GET" else None)
            self.assertRegex(answer, f"^fault protocol done 127.0.0.1:[0-9]+ sent .*{want}")

    def test_reply__to_nothing__protocol_fault(self):
        with Liar(lambda w: HELLO[b"standalone"] + b"+more\r\n" if w[0] == b"HELLO" else b"+x\r\n") as liar, \
                Talk("deadline=1000", f"127.0.0.1:{liar.port}") as t:
            self.assertRegex(t.call("once", "k", "GET", "k"), "^fault protocol undone .*a reply to nothing")
        self.assertLess(liar.connections, 12)  # back-off

    def test_login__text_of_the_server__no_control_characters(self):
        answer = self.fault(lambda w: b"-NOAUTH \x1b[2J\xff\r\n")
        self.assertRegex(answer, r"^fault login undone .*HELLO: NOAUTH \?\[2J\?$")

    def test_login__no_answer__timeout(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, \
                Talk("deadline=1500", "connect=300", f"127.0.0.1:{silent.getsockname()[1]}") as t:
            self.assertRegex(t.call("once", "k", "GET", "k"), "^fault timeout undone .* does not answer in time$")

    def test_login__an_old_server__protocol_fault(self):
        self.assertRegex(self.fault(lambda w: b"-ERR unknown command `HELLO`\r\n"), "^fault protocol undone .*unknown command")
        self.assertRegex(self.fault(lambda w: b"*0\r\n"), "^fault protocol undone .*refuses HELLO")

    def test_reply__one_byte_at_a_time__timeout(self):
        drip = [b"$4000\r\n"] + [b"x"] * 4000
        self.assertRegex(self.fault(lambda w: drip if w[0] == b"GET" else None), "^fault timeout done ")

    def test_connection__ends_at_each_command__few_tries(self):
        answer = self.fault(lambda w: b"" if w[0] == b"GET" else None, "deadline=2000", how="repeat")
        self.assertRegex(answer, "^fault closed done ")
        self.assertLess(self.liar.connections, 9)  # each wait is twice as long as the one before

    def test_error__that_passes__asked_again_also_when_it_must_not_be_done_twice(self):
        for code in b"TRYAGAIN", b"CLUSTERDOWN", b"MASTERDOWN", b"LOADING", b"READONLY":
            gets = []

            def answer(words, code=code, gets=gets):
                if words[0] != b"GET":
                    return None
                gets.append(1)
                return b"-" + code + b" for now\r\n" if len(gets) < 3 else b"+v\r\n"

            self.assertEqual(self.fault(answer, "deadline=10000"), "ok 'v'")
        self.assertRegex(self.fault(lambda w: b"-READONLY of itself\r\n" if w[0] == b"GET" else None),
                         "^fault topology undone .*: READONLY of itself$")

    def test_push__between_answers__ignored(self):
        self.assertEqual(self.fault(lambda w: b">2\r\n+invalidate\r\n_\r\n+v\r\n" if w[0] == b"GET" else None), "ok 'v'")

    def test_moved__from_a_single_server__is_the_answer(self):
        self.assertEqual(self.fault(lambda w: b"-MOVED 1 127.0.0.1:1\r\n" if w[0] == b"GET" else None),
                         "ok !'MOVED 1 127.0.0.1:1'")


class Many(unittest.TestCase):
    def test_cluster__endless_redirections__topology_and_not_at_full_speed(self):
        ports = []

        def answer(words):
            if words[0] == b"CLUSTER":
                return SLOTS % ports[0]
            return b"-MOVED 7629 127.0.0.1:%d\r\n" % ports[len(seen) % 2] if words[0] == b"GET" and not seen.append(1) else None

        seen = []
        with Liar(answer, b"cluster") as a, Liar(answer, b"cluster") as b:
            ports += [a.port, b.port]
            with Talk("kind=cluster", "deadline=1500", f"127.0.0.1:{a.port}") as t:
                self.assertEqual(t.call("once", "k", "GET", "k"),
                                 "fault topology undone the servers refer to each other for slot 7629")
        self.assertLess(len(seen), 30)
        self.assertGreater(len(seen), 5)

    def test_cluster__malformed_redirections__are_the_answer(self):
        for got in b"MOVED", b"MOVED 16384 127.0.0.1:7", b"MOVED 1 127.0.0.1:65536", b"MOVED 1 /tmp/sock", b"MOVED 1 a b:1", \
                b"ASK x 127.0.0.1:7", b"MOVED 1 127.0.0.1", b"ASK 1 %s:1" % (b"x" * 300):
            def answer(words, got=got):
                return SLOTS % port[0] if words[0] == b"CLUSTER" else b"-" + got + b"\r\n" if words[0] == b"GET" else None

            port = []
            with Liar(answer, b"cluster") as a:
                port.append(a.port)
                with Talk("kind=cluster", f"127.0.0.1:{a.port}") as t:
                    self.assertEqual(t.call("once", "k", "GET", "k"), f"ok !'{got.decode()}'")

    def test_cluster__tables_of_slots_that_are_none__topology(self):
        row = b"*3\r\n:%d\r\n:%d\r\n*2\r\n%s\r\n:%d\r\n"
        for table in b"+OK\r\n", b"*1\r\n:1\r\n", b"*1\r\n" + row % (0, 16384, b"+h", 1), b"*1\r\n" + row % (5, 4, b"+h", 1), \
                b"*1\r\n" + row % (-1, 4, b"+h", 1), b"*1\r\n" + row % (0, 4, b"+h", 70000), b"*1\r\n" + row % (0, 4, b":4", 1), \
                b"*2\r\n" + 2 * (row % (0, 16383, b"+h", 1)), b"*1\r\n" + row % (0, 4, b"+/tmp/sock", 1), b"*1\r\n*0\r\n":
            with Liar(lambda w, table=table: table if w[0] == b"CLUSTER" else None, b"cluster") as a, \
                    Talk("kind=cluster", "deadline=200", f"127.0.0.1:{a.port}") as t:
                self.assertRegex(t.call("once", "k", "GET", "k"), "^fault topology undone .* gives no table of slots")

    def test_cluster__no_table_at_first__asked_again_soon(self):
        for first in b"*0\r\n", b"+OK\r\n", b"-NOPERM not yet\r\n":
            asked, port = [], []

            def answer(words, first=first, asked=asked, port=port):
                if words[0] == b"CLUSTER":
                    asked.append(1)
                    return first if len(asked) < 3 else SLOTS % port[0]
                return b"+v\r\n" if words[0] == b"GET" else None

            with Liar(answer, b"cluster") as a:
                port.append(a.port)
                with Talk("kind=cluster", f"127.0.0.1:{a.port}") as t:
                    self.assertEqual(t.call("once", "k", "GET", "k"), "ok 'v'")

    def test_cluster__user_without_the_right__the_text_of_the_server(self):
        with Liar(lambda w: b"-NOPERM no right to run cluster|slots\r\n" if w[0] == b"CLUSTER" else None, b"cluster") as a, \
                Talk("kind=cluster", "deadline=200", f"127.0.0.1:{a.port}") as t:
            self.assertRegex(t.call("once", "k", "GET", "k"), "^fault topology undone 127.0.0.1:[0-9]+: NOPERM no right to run")

    def test_cluster__more_servers_than_allowed__the_others_work(self):
        rows = [b"*3\r\n:%d\r\n:%d\r\n*2\r\n+127.0.0.1\r\n:%d\r\n" % (i, i, 1 + i) for i in range(600)]
        port = []
        with Liar(lambda w: b"*601\r\n" + b"*3\r\n:600\r\n:16383\r\n*2\r\n_\r\n:%d\r\n" % port[0] + b"".join(rows)
                  if w[0] == b"CLUSTER" else b"+v\r\n" if w[0] == b"GET" else None, b"cluster") as a:
            port.append(a.port)
            with Talk("kind=cluster", "deadline=600", f"127.0.0.1:{a.port}") as t:
                self.assertEqual(t.call("once", "k", "GET", "k"), "ok 'v'")
                self.assertEqual(t.call("once", "absent:54", "GET", "x"), "fault topology undone no server is known to have the key")

    def test_sentinel__addresses_that_are_none__topology(self):
        for got in b"+x\r\n", b"*1\r\n+h\r\n", b"*2\r\n+h\r\n+0\r\n", b"*2\r\n+/tmp/sock\r\n+1\r\n", b"*2\r\n+\r\n+1\r\n", b"*2\r\n+h\r\n+x\r\n":
            with Liar(lambda w, got=got: got if w[0] == b"SENTINEL" else None, b"sentinel") as a, \
                    Talk("kind=sentinel", "master=m", "deadline=200", f"127.0.0.1:{a.port}") as t:
                self.assertRegex(t.call("once", "k", "GET", "k"), "^fault topology undone .* gives no address of a master")

    def test_sentinel__names_a_replica__topology(self):
        replica = HELLO[b"standalone"].replace(b"master", b"slave")
        with Liar(lambda w: replica if w[0] == b"HELLO" else b"+v\r\n") as data, \
                Liar(lambda w: b"*2\r\n+127.0.0.1\r\n+%d\r\n" % data.port if w[0] == b"SENTINEL" else None, b"sentinel") as a, \
                Talk("kind=sentinel", "master=m", "deadline=1000", f"127.0.0.1:{a.port}") as t:
            self.assertRegex(t.call("once", "k", "GET", "k"), "^fault topology undone .* is no master")

    def test_name__that_has_no_address__named(self):
        with Talk("deadline=1500", "no-such-host.invalid:6379") as t:
            self.assertRegex(t.call("once", "k", "GET", "k"), "^fault name undone no-such-host.invalid: ")


if __name__ == "__main__":
    unittest.main()
