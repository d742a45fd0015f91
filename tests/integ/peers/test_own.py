#!/usr/bin/env python3
"""A ring of kind own: two servers of one owner, each with hub and gillnetd, whose counts add up. And the other kind.

Usage: test_own.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import unittest

from ring import MAIL, Ring, until
from mta import Mta

SENDER = "joe@evil.example"  # of MAIL
RULES = 'rules = ( { name = "same"; type = "body"; count = 25; score = 20.0; newsletter = false; } );\n'


class Own(unittest.TestCase):
    def send(self, server):
        """Symbols of a copy that comes over SMTP."""
        head, _, body = MAIL.read_bytes().partition(b"\n\n")
        m = Mta(f"unix:{server.top}/{server.name}.sock")
        self.assertEqual(m.hello(), "c")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().splitlines() if ": " in line]
        answer = m.message(headers=fields, body=body.replace(b"\n", b"\r\n"), sender=f"<{SENDER}>")
        m.quit()
        return dict(answer.headers()).get("X-Gillnet-Symbols", "")

    def against(self, server):
        """Messages of one day that count against the sender."""
        rows = server.json("lookup", f"envelope_from:{SENDER}", rc=None)
        row = next((r for r in rows if "counted_as" in r), {})
        return row.get("counts", row).get("w1d")

    def wait(self, server, n, what):
        until(lambda: self.against(server) == n, f"{n} at {server.name}: {what}", log=lambda: f"{self.against(server)}")

    def test_two_servers__fifteen_and_ten__both_judge_with_twenty_five(self):
        with Ring("alpha", "beta", kind="own", config={"alpha": RULES, "beta": RULES}) as (a, b):
            for s in (a, b):
                s.daemon()
            until(lambda: a.connected() == {"beta"} and b.connected() == {"alpha"}, "both", log=a.logs)
            self.assertEqual(a.json("peer", "list")[0]["kind"], "own")
            self.assertEqual({r["cap"] for r in a.json("peer", "list")[1:]}, {None})
            a.count(15)
            b.count(10, start=100)
            for s in (a, b):
                self.wait(s, 25, "fifteen and ten")
                said = s.run("check", "--from", SENDER, MAIL, rc=None)
                self.assertRegex(said, r"BULK_SAME .*seen 25 times in 1d \(own 1[05], (alpha|beta) 1[05]")
                self.assertIn("kind own", s.run("peer", "status"))
                self.assertIn("kind own, 2 active members", s.run("doctor", rc=None))
            for s in (a, b):
                self.assertIn("BULK_SAME(20.0)", self.send(s))
            both = {"alpha": 16, "beta": 11}
            self.wait(a, 27, "a copy more on each")
            # of several owners: one other server is no quorum of two, and doctor says that it never will be
            a.run("peer", "set", "--ring", "--kind", "federation")
            for s in (a, b):
                self.wait(s, both[s.name], "federation")
                self.assertIn("the quorum of 2 other members can never be met", s.run("doctor", rc=None))
                self.assertIn("kind federation", s.run("peer", "status"))
            self.assertNotIn("BULK", self.send(b))
            both["beta"] += 1
            a.run("peer", "set", "--ring", "--kind", "own")
            self.wait(b, 28, "own again")
            # a member's own cap holds in either kind; the configuration may only bound further
            a.run("peer", "set", "beta", "--cap", 5)
            self.wait(a, 21, "a cap for beta")
            for bound, want in (("cap = 3", 19), ("quorum = 2", 16)):
                a.write(f"{RULES}peers = {{ {bound}; }};")
                self.wait(a, want, bound)


if __name__ == "__main__":
    unittest.main(verbosity=2)
