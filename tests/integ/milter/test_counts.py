"""Counts over the control socket: look-ups, and clients that misbehave."""
import json
import os
import re
import socket
import threading
import unittest

from daemon import Daemon, gillnet

D1, D2 = "00112233445566778899aabbccddeeff", "fedcba98765432100123456789abcdef"
MAIL = b"From: Joe <joe@evil.example>\r\nSubject: pills\r\n\r\nCheap pills for everyone.\r\n"
SENDER = "envelope_from:joe@evil.example"


def values(answer):
    lines = answer.splitlines()
    assert lines[0] == "ok", answer
    return [[int(n) for n in line.split()] for line in lines[1:]]


class Counts(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("").start()
        self.addCleanup(self.daemon.__exit__, None, None, None)
        refused = self.daemon.control(f"count-batch 00000000 {D1}=1")
        self.assertIn("digest keys differ", refused)
        line = re.search(r"^([0-9a-f]{32})$", self.ring(), re.M)[1]
        self.key = self.key_id(bytes.fromhex(line))

    def ring(self):
        with open(f"{self.daemon.state}/keys/digest.key", encoding="ascii") as f:
            return f.read()

    @staticmethod
    def key_id(key):
        import hashlib
        return hashlib.blake2b(key, digest_size=32).digest()[3::-1].hex()

    def batch(self, *items):
        return values(self.daemon.control(f"count-batch {self.key} " + " ".join(items)))

    def exact(self, digest):
        answer = self.daemon.control(f"count-exact {self.key} {digest}").splitlines()
        self.assertEqual(answer[0], "ok")
        return {line.split()[0]: [int(n) for n in line.split()[1:]] for line in answer[1:]}

    def test_batch_and_exact__agree(self):
        self.assertEqual(self.batch(f"{D1}=3", f"{D2}=0"), [[3] * 4, [0] * 4])
        self.assertEqual(self.batch(f"{D1}=0", f"{D2}=1"), [[3] * 4, [1] * 4])
        got = self.exact(D1)
        self.assertEqual((len(got["buckets"]), len(got["days"])), (145, 15))
        self.assertEqual((sum(got["buckets"]), sum(got["days"]), got["damaged"]), (3, 3, [0]))

    def test_largest_batch__answered__and_one_more_refused(self):
        items = [f"{i:016x}{i:016x}={1000000}" for i in range(1, 257)]
        self.assertEqual(self.batch(*items), [[1000000] * 4] * 256)
        more = self.daemon.control(f"count-batch {self.key} " + " ".join([*items, f"{D1}=1"]))
        self.assertTrue(more.startswith("error "), more)
        self.assertEqual(self.batch(f"{1:016x}{1:016x}=0"), [[1000000] * 4])  # nothing of it was counted

    def test_bad_requests__refused(self):
        for bad in (f"{D1}", f"{D1}=", f"{D1}=x", f"{D1}=-1", f"{D1}=1000001", f"{D1[:-1]}=1",
                    f"{D1}+{D2}=1", f"{D1}=1 {D2}", "=1", f"{D1.upper()}=1"):
            answer = self.daemon.control(f"count-batch {self.key} {bad}")
            self.assertTrue(answer.startswith("error "), (bad, answer))
        for request in ("count-", "count-batch", "count-exact", "count-drop", f"count-exact {self.key}",
                        f"count-exact {self.key} {D1}=1", "count-batch \xff"):
            self.assertTrue(self.daemon.control(request).startswith("error "), request)
        self.assertEqual(self.batch(f"{D1}=0"), [[0] * 4])

    def test_clients_that_leave_early__others_are_counted_once(self):
        request = f"count-batch {self.key} {D1}=1\n".encode()
        for cut in (1, len(request) // 2, len(request) - 1):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
                s.connect(f"{self.daemon.state}/gillnetd.ctl")
                s.sendall(request[:cut])
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        threads = [threading.Thread(target=self.batch, args=(f"{D2}=1",)) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(self.batch(f"{D2}=0"), [[40] * 4])

    def check(self, *options):
        path = f"{self.daemon.folder}/m.eml"
        with open(path, "wb") as f:
            f.write(MAIL)
        p = gillnet("-c", self.daemon.conf, "--json", "check", *options, "--from",
                    "joe@evil.example", "--rcpt", "r@rcpt.example", path)
        return {c["type"]: c for c in json.loads(p.stdout)["counts"]}

    def looked_up(self):
        p = gillnet("-c", self.daemon.conf, "--json", "lookup", SENDER)
        rows = [json.loads(line) for line in p.stdout.splitlines()]
        return next(r for r in rows if "counted_as" in r)

    def test_check__counts_here__also_over_a_kill(self):
        self.assertEqual(self.check(), {})
        for n in range(1, 4):
            self.assertEqual(self.check("--count")["envelope_from"]["w1d"], n)
        self.assertEqual(self.check()["envelope_from"]["w1d"], 3)
        row = self.looked_up()
        self.assertEqual((row["w10m"], sum(row["days"])), (3, 3))
        self.assertEqual(row["distinct"]["recipients"][0], 1)
        self.daemon.kill()
        self.assertEqual(self.looked_up()["w1d"], 3)
        self.assertTrue(self.check()["envelope_from"]["exact"])
        self.assertEqual(self.check("--count")["envelope_from"]["w1d"], 4)  # by itself
        self.daemon.start()
        self.assertEqual(self.looked_up()["w1d"], 4)
        self.assertEqual(self.check("--count")["envelope_from"]["w1d"], 5)
        self.assertEqual(self.looked_up()["w10m"], 5)

    def test_stat__shows_the_counts(self):
        self.check("--count")
        p = gillnet("-c", self.daemon.conf, "--json", "count", "stat")
        self.assertEqual(json.loads(p.stdout)["messages_per_day"], 10000)
        self.assertIn("counting: sized for 10,000 messages a day",
                      gillnet("-c", self.daemon.conf, "stat").stdout)

    def test_import__while_gillnetd_counts__refused(self):
        p = gillnet("-c", self.daemon.conf, "count", "import", "-", input="", check=False)
        self.assertEqual(p.returncode, 75)
        self.assertIn("stop it for the import", p.stderr)


class Off(unittest.TestCase):
    def test_counting_is_off__said(self):
        with Daemon("count = { messages_per_day = 0; };") as d:
            self.assertIn("does not count", d.control(f"count-exact 00000000 {D1}"))
            p = gillnet("-c", d.conf, "check", "--count", os.devnull, check=False)
            self.assertEqual(p.returncode, 69)
            self.assertIn("messages_per_day is 0", p.stderr)
            self.assertIn("counting: off", gillnet("-c", d.conf, "stat").stdout)


if __name__ == "__main__":
    unittest.main()
