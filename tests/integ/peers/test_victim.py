#!/usr/bin/env python3
"""A victim's newsletter, and a server with eight peers of which three want to harm it: the verdict is what it was.

Usage: test_victim.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder; GILLNET_LIARS says how many
of the eight lie: with five the test must fail.
"""
import os
import unittest

from ring import MAIL, Ring, until
from mta import Mta

PEERS = [f"p{i}" for i in range(8)]
LIARS = PEERS[:int(os.environ.get("GILLNET_LIARS", 3))]
SENDER = "joe@evil.example"  # of MAIL, whose copies are the newsletter
HOST = "login.evil.example"
LIES = 60  # copies that a liar pretends to have seen: six times the cap
LISTS = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );\n'
# the harshest case: bulk alone rejects, and nothing is spared as a newsletter
RULES = ('thresholds = { header = 5.0; quarantine = 8.0; reject = 9.0; };\nbulk_alone = "reject";\n'
         'rules = ( { name = "same"; type = "body"; count = 20; score = 20.0; newsletter = false; } );\n')


class Victim(unittest.TestCase):
    def send(self, server):
        """Symbols and answer for a copy of the newsletter that comes over SMTP."""
        head, _, body = MAIL.read_bytes().partition(b"\n\n")
        m = Mta(f"unix:{server.top}/{server.name}.sock")
        self.assertEqual(m.hello(), "c")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().splitlines() if ": " in line]
        answer = m.message(headers=fields, body=body.replace(b"\n", b"\r\n"), sender=f"<{SENDER}>")
        m.quit()
        return dict(answer.headers()).get("X-Gillnet-Symbols", ""), answer.code

    def row(self, server):
        rows = server.json("lookup", f"envelope_from:{SENDER}", rc=None)
        return next((r for r in rows if "counted_as" in r), {})

    def hits(self, server):
        return [r for r in server.json("lookup", f"url_host:{HOST}", rc=None) if r.get("origin")]

    def is_listed(self, server, value):
        rows = server.json("lookup", f"url_host:{value}", rc=None)
        return any(r.get("status") == "confirmed" for r in rows)

    def configure(self, server, more):
        server.write(RULES + LISTS + more)
        self.assertIn("reloaded", server.run("reload"))

    def test_newsletter__under_three_of_eight__is_judged_as_before(self):
        config = {n: LISTS for n in PEERS}
        config["self"] = RULES + LISTS
        with Ring("self", *PEERS, config=config) as (me, *peers):
            for s in (me, *peers):
                s.daemon()
            before, code = self.send(me)
            self.assertNotIn("BULK", before)
            self.assertNotIn("PHISH", before.upper())
            for s in peers:  # honest ones saw a copy or two
                s.count(LIES if s.name in LIARS else 1)
            for s in peers:
                if s.name in LIARS:
                    s.run("list", "add", "phish", "--type", "url_host", HOST)
            want = {s.name: LIES if s.name in LIARS else 1 for s in peers}
            until(lambda: {p["name"]: p["w1d"] for p in self.row(me).get("peers", [])} == want, "what peers counted",
                  seconds=120, log=lambda: f"{self.row(me)}\n{me.logs()}")
            until(lambda: {h["origin"] for h in self.hits(me)} >= set(LIARS), "what liars listed", seconds=120,
                  log=lambda: f"{self.hits(me)}\n{me.logs()}")
            self.assertGreater(self.row(me)["w1d"], 20, "what is seen is far above the rule")
            self.assertLess(self.row(me)["counts"]["w1d"], 20, "what counts is not")
            # a peer that revokes everything removes no entry of another server
            peers[-1].run("list", "add", "phish", "--type", "url_host", "bad.example")
            until(lambda: self.is_listed(me, "bad.example"), "what an honest one listed", seconds=120, log=me.logs)
            me.run("list", "add", "phish", "--type", "url_host", "worse.example")
            for s in peers:
                if s.name in LIARS:
                    for value in ("bad.example", "worse.example"):
                        s.run("list", "revoke", "phish", "--type", "url_host", value)
                    s.run("list", "add", "phish", "--type", "url_host", "after.example")
            until(lambda: self.is_listed(me, "after.example"), "what liars said after it", seconds=120, log=me.logs)
            self.assertTrue(self.is_listed(me, "bad.example") and self.is_listed(me, "worse.example"))
            # what they say of the host scores, so that the test sees something
            self.assertNotEqual(self.send(me)[1], code)
            # a protected name gets no score; with a quorum the message is only marked
            self.configure(me, 'protected = [ "evil.example" ];')
            until(lambda: self.send(me)[1] == code, "the new configuration", log=me.logs)
            symbols = self.send(me)[0]
            self.assertIn("LIST_PHISH(0.0)[protected here", symbols)
            self.assertNotIn("BULK", symbols)
            self.configure(me, "peers = { quorum_lists = 4; };")
            until(lambda: "LIST_PHISH(9.0)" in self.send(me)[0], "the new configuration", log=me.logs)
            symbols, answer = self.send(me)
            self.assertEqual(answer, code, symbols)
            self.assertNotIn("BULK", symbols)


if __name__ == "__main__":
    unittest.main(verbosity=2)
