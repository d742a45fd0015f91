#!/usr/bin/env python3
"""Filters whose lines are in a store: the answers of a copy, and no opinion where a line does not come.

Usage: test_lines.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "redis"), str(HERE.parent / "peers")]
from ring import BUILD, Server, until  # noqa: E402
from servers import Folder, free_port  # noqa: E402
from test_cluster import Cluster  # noqa: E402

COMPARE = os.environ.get("LINE_COMPARE", f"{BUILD}/tests/integ/lines/line_compare")
LISTED = 600000  # a filter of 1.2 MB: above what is copied in any case
PARTS = 78  # of it
LONG_US = 60 * 10**6
STORE = "peers/lines.ctl"


def config(servers, mode="single", deadline="1s"):
    names = ", ".join(f'"{s}"' for s in servers)
    return (f'store = {{ kind = "redis"; mode = "{mode}"; servers = [ {names} ]; deadline = "{deadline}"; }};\n'
            'lists = ( { name = "big"; filter_memory = "store"; weight = 7.0; } );\n'
            'thresholds = { header = 3.0; };\n')


def text(first, last):
    return "".join(f"value-{i}.example\n" for i in range(first, last))


def server(folder, name, settings, first=0, last=LISTED):
    s = Server(folder, name, config=settings)
    s.run("list", "import", "big", "-", text=text(first, last))
    return s


def completed(s):
    return len(s.hub_lines("event=store_filter", "result=complete"))


def put(s):
    """Parts that the last whole look had to put."""
    return int(re.search(r"put=(\d+)", s.hub_lines("event=store_filter", "result=complete")[-1])[1])


def compare(s, first, last, batch=400, budget_us=LONG_US):
    done = subprocess.run([COMPARE, s.state, "big", str(first), str(last), str(batch), str(budget_us)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["remote"] and got["differ"] == 0, got  # whatever happens to the lines
    return got


def whole(s, first=0, last=4000):
    got = compare(s, first, last)
    return got["silent"] == 0


class Proxy:
    """Between the hub and a server; answers can be kept back for some time."""

    def __init__(self, port):
        self.to, self.delay_s, self.open = port, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                one = self.listener.accept()[0]
            except OSError:
                return
            other = socket.create_connection(("127.0.0.1", self.to))
            self.open += [one, other]
            threading.Thread(target=self.pass_on, args=(one, other, lambda: 0), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(other, one, lambda: self.delay_s), daemon=True).start()

    @staticmethod
    def pass_on(one, other, delay):
        try:
            while got := one.recv(65536):
                time.sleep(delay())
                other.sendall(got)
        except OSError:
            pass

    def close(self):
        for s in [self.listener, *self.open]:
            s.close()


class Single(unittest.TestCase):
    """One server and one list for all; each test leaves the store whole."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Folder().__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        cls.redis = cls.folder.redis().wait()
        cls.proxy = Proxy(cls.redis.port)
        cls.addClassCleanup(cls.proxy.close)
        cls.s = server(cls.folder.path, "a", config([f"127.0.0.1:{cls.proxy.port}"]))
        cls.addClassCleanup(cls.s.kill)
        cls.s.hub()
        until(lambda: completed(cls.s), "the filter in the store", log=cls.s.logs)

    def tearDown(self):
        self.proxy.delay_s = 0
        if not self.s.hub_proc:
            self.s.hub()
        until(lambda: whole(self.s), "all lines again", log=self.s.logs)

    def restart_hub(self):  # whose cache is empty then
        self.s.kill_hub()
        before = completed(self.s)
        self.s.hub()
        until(lambda: completed(self.s) > before, "a look at all parts", log=self.s.logs)

    def test_lines__a_million_keys__as_a_copy(self):
        got = compare(self.s, LISTED - 500000, LISTED + 500000)
        self.assertEqual(got["keys"], 1000000)
        self.assertEqual(got["silent"], 0)
        self.assertTrue(500100 < got["hits"] < 501000, got)

    def test_parts__in_the_store__for_an_hour(self):
        self.assertEqual(int(self.redis.command("DBSIZE")), PARTS)
        key = self.redis.command("RANDOMKEY")
        self.assertRegex(key, r"^g\{l:[0-9a-f]{32}:[0-9a-f]+\}$")
        self.assertTrue(1800 < int(self.redis.command("TTL", key)) <= 3600)

    def test_parts__lost_or_damaged__no_wrong_answer_and_put_again(self):
        digest = self.redis.command("DEBUG", "DIGEST")
        one, two = sorted(self.redis.command("KEYS", "*").split("\n"))[10:12]
        for damage in (["FLUSHALL"], ["DEL", one, two], ["SETRANGE", one, 0, "x" * 5000], ["COPY", one, two, "REPLACE"],
                       ["SET", one, "x", "EX", 3600], ["SETRANGE", one, 60, "\\x00" * 68]):
            self.restart_hub()
            self.redis.command(*damage)
            self.assertNotEqual(self.redis.command("DEBUG", "DIGEST"), digest, damage)
            got = compare(self.s, 0, 40000)
            until(lambda: whole(self.s, 0, 40000), f"all lines after {damage}, {got}", log=self.s.logs)
            until(lambda: self.redis.command("DEBUG", "DIGEST") == digest, f"all parts after {damage}", log=self.s.logs)

    def test_store__slow_then_stopped_then_dead__no_opinion_within_the_bound(self):
        self.restart_hub()
        self.proxy.delay_s = 2
        got = compare(self.s, 100000, 100400)
        self.assertEqual(got["silent"], 400)
        self.proxy.delay_s = 0
        until(lambda: whole(self.s, 101000, 101400), "answers again", log=self.s.logs)
        time.sleep(2)  # a probe that was slow may come now, and counts
        until(lambda: "up=1" in self.s.hub_lines("event=store_lines")[-1], "the next probe", log=self.s.logs)
        downs = len(self.s.hub_lines("up=0 why=late"))
        self.redis.stop()
        until(lambda: len(self.s.hub_lines("up=0 why=late")) > downs, "the probe to be missed", log=self.s.logs)
        got = compare(self.s, 110000, 118000, batch=40)
        self.assertEqual(got["silent"], 8000)
        self.assertLess(got["longest_us"], LONG_US / 2)  # 1 s by store.deadline
        self.redis.go_on()
        until(lambda: whole(self.s, 119000, 119400), "answers again", log=self.s.logs)
        self.redis.kill()
        got = compare(self.s, 120000, 120400)
        self.assertEqual(got["silent"], 400)
        self.redis.start()
        self.redis.wait()
        until(lambda: whole(self.s, 121000, 121400), "answers again", log=self.s.logs)
        until(lambda: int(self.redis.command("DBSIZE")) == PARTS, "all parts again", log=self.s.logs)

    def test_hub__dead_or_hostile_clients__no_opinion_then_answers(self):
        self.s.kill_hub()
        got = compare(self.s, 0, 400)
        self.assertEqual(got["silent"], 400)
        self.s.hub()
        until(lambda: whole(self.s), "answers again", log=self.s.logs)
        head = b"GNLQ"
        for bad in b"GET / HTTP/1.1\r\n\r\n", head + b"\xff" * 4, head + b"\x0a\0\0\0" + b"\xff" * 10, \
                head + b"\x0a\0\0\0" + b"\0" * 10 + b"more", head + b"\x0b\0\0\0" + b"\0" * 11:
            with socket.socket(socket.AF_UNIX) as x:
                x.connect(str(self.s.state / STORE))
                x.sendall(bad)
                self.assertEqual(x.recv(100), b"", bad)  # closed
        held = [socket.socket(socket.AF_UNIX) for _ in range(300)]
        for x in held:
            x.connect(str(self.s.state / STORE))
            x.sendall(head + b"\x0a\0\0\0")  # and nothing more
        self.assertEqual(compare(self.s, 0, 400)["silent"], 400)
        for x in held:
            x.close()
        until(lambda: whole(self.s), "answers again", log=self.s.logs)


class Servers(unittest.TestCase):
    def test_lines__two_servers_with_the_same_entries__put_once(self):
        with Folder() as f:
            redis = f.redis().wait()
            settings = config([f"127.0.0.1:{redis.port}"])
            a = server(f.path, "a", settings)
            (pathlib.Path(f.path) / "b/keys").mkdir(parents=True)
            key = "keys/digest.key"  # as a ring gives it to its members; keys/filter.key differs
            (pathlib.Path(f.path) / "b" / key).write_bytes((a.state / key).read_bytes())
            os.chmod(pathlib.Path(f.path) / "b" / key, 0o640)
            b = server(f.path, "b", settings, 0, LISTED // 2)
            b.run("list", "import", "big", "-", text=text(LISTED // 3, LISTED))
            self.addCleanup(a.kill)
            self.addCleanup(b.kill)
            a.hub()
            until(lambda: completed(a), "the filter in the store", log=a.logs)
            self.assertEqual(put(a), PARTS)
            b.hub()
            until(lambda: completed(b), "the look of the other", log=b.logs)
            self.assertEqual(put(b), 0)
            self.assertTrue(whole(a) and whole(b))
            a.stop()
            b.stop()

    def test_lines__cluster_that_loses_a_master__lines_again(self):
        with Folder() as f:
            c = Cluster(f, 1500)
            s = server(f.path, "a", config(c.seeds, "cluster"))
            self.addCleanup(s.kill)
            s.hub()
            until(lambda: completed(s), "the filter in the store", log=s.logs)
            self.assertEqual(sum(int(n.command("DBSIZE")) for n in c.nodes[:3]), PARTS)
            self.assertTrue(all(int(n.command("DBSIZE")) > 5 for n in c.nodes[:3]))
            self.assertTrue(whole(s))
            c.nodes[2].kill()
            compare(s, 50000, 60000, batch=200, budget_us=50000)
            until(lambda: whole(s, 60000, 64000), "all lines after the failover", log=s.logs)
            s.stop()


class Mail(unittest.TestCase):
    """Messages that gillnetd judges with such a list."""

    def setUp(self):
        self.folder = Folder().__enter__()
        self.addCleanup(self.folder.__exit__)
        self.redis = self.folder.redis().wait()
        self.s = server(self.folder.path, "a", config([f"127.0.0.1:{self.redis.port}"]))
        self.addCleanup(self.s.kill)
        self.s.hub()
        until(lambda: completed(self.s), "the filter in the store", log=self.s.logs)
        self.s.daemon()

    def scan(self, number):
        message = f"From: a@b.example\r\nSubject: x\r\n\r\nhttp://value-{number}.example/\r\n".encode()
        with socket.socket(socket.AF_UNIX) as x:
            x.settimeout(120)
            x.connect(str(self.s.state / "gillnetd.ctl"))
            x.sendall(f"scan {len(message)}\n".encode() + message)
            answer = b"".join(iter(lambda: x.recv(65536), b""))
        head, rest = answer.split(b"\n", 1)
        self.assertEqual(head, b"ok", answer)
        got = json.loads(rest)
        return got["action"], "lines" in str(got["limits"])

    def faults(self):
        return [row["text"] for row in self.s.json("stat") if row["type"] == "fault" and row["text"].startswith("lines")]

    def test_mail__hub_gone_store_gone__no_opinion_with_a_fault(self):
        self.assertEqual(self.scan(5), ("header", False))
        self.assertEqual(self.scan(LISTED + 5), ("accept", False))
        self.assertEqual(self.faults(), [])
        self.s.kill_hub()
        self.assertEqual(self.scan(6), ("accept", True))
        self.assertRegex(self.faults()[0], "lines: gillnet-hub does not run")
        self.assertEqual(self.scan(LISTED + 5), ("accept", True))
        self.s.run("list", "add", "big", f"value-{LISTED + 5}.example")  # what is new needs no line
        until(lambda: self.scan(LISTED + 5)[0] == "header", "the new entry", log=self.s.logs)
        self.redis.kill()
        self.s.hub()
        until(lambda: "the store does not answer" in str(self.faults()) or not self.scan(7), "its fault", log=self.s.logs)
        self.assertEqual(self.scan(7), ("accept", True))
        self.redis.start()
        until(lambda: self.scan(8) == ("header", False), "the list again", log=self.s.logs)
        until(lambda: self.scan(9) == ("header", False) and not self.faults(), "the end of the fault", log=self.s.logs)
        self.s.stop()

    def test_mail__new_generations_meanwhile__every_message_judged(self):
        ends, got = threading.Event(), []

        def judge():
            while not ends.is_set():
                got.append((self.scan(len(got) * 37 % LISTED), self.scan(10 * LISTED + len(got))))

        judging = threading.Thread(target=judge)
        judging.start()
        for i in range(3):  # each takes in the former level
            n = len(got)
            until(lambda n=n: len(got) > n + 20, "messages", log=self.s.logs)
            self.s.run("list", "import", "big", "-", text=text(LISTED * (i + 1), LISTED * (i + 2)))
            until(lambda i=i: self.scan(LISTED * (i + 1) + 7)[0] == "header", "the new entries", log=self.s.logs)
        until(lambda: completed(self.s) >= 4, "the last filter in the store", log=self.s.logs)
        n = len(got)
        until(lambda: len(got) > n + 20, "messages", log=self.s.logs)
        ends.set()
        judging.join()
        wrong = [x for x in got if x != (("header", False), ("accept", False))]
        self.assertEqual(wrong, [], f"of {len(got)}\n{self.s.logs()}")
        self.s.stop()


if __name__ == "__main__":
    unittest.main()
