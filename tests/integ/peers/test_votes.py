#!/usr/bin/env python3
"""Votes and trust between the servers of a ring: each with hub and gillnetd, over TLS; killed, restarted, restored.

Usage: test_votes.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import pathlib
import shutil
import time
import unittest

from ring import Ring, until
from mta import Mta

WORDS = ("Dear friend, we have the very best offers of the whole year for you today, come and see %s because only this "
         "week there is a discount of ninety percent on everything that you ever wanted to purchase from the finest online "
         "merchants in all of the known world and beyond it, so hurry and order while our small stock lasts.\r\n")
LINK = "http://pills.shop-evil.example/buy/now?x=1"
HEAD = "From: Bob <bob@shop.example>\r\nTo: x@rcpt.example\r\nSubject: %s\r\nMessage-ID: <%s@shop.example>\r\n\r\n"


class Votes(unittest.TestCase):
    def mail(self, server, name, words=WORDS, link=LINK):
        path = pathlib.Path(server.top) / f"{name}.eml"
        path.write_bytes((HEAD % (name, name) + words % link).encode())
        return path

    def report(self, server, kind, path, *args):
        return server.json("report", kind, *args, path)[0]

    def trust(self, server, path, who):
        """Of a reporter, by saying again what it said."""
        return round(self.report(server, "spam", path, "--reporter", who)["trust"], 4)

    def symbols(self, server, path):
        """Of a copy that comes over SMTP."""
        head, _, body = path.read_bytes().partition(b"\r\n\r\n")
        m = Mta(f"unix:{server.top}/{server.name}.sock")
        m.hello()
        fields = [tuple(line.split(": ", 1)) for line in head.decode().splitlines() if ": " in line]
        answer = m.message(headers=fields, body=body, sender="<a@sender.example>")
        m.quit()
        return dict(answer.headers()).get("X-Gillnet-Symbols", "")

    def said(self, server, path):
        """What reports say about it, as a command reads them from the disk: the detail of the symbol."""
        verdict = server.json("check", path, rc=None)[0]
        return next((s["detail"] for s in verdict["symbols"] if s["name"].startswith("REPORTED")), None)

    def wait(self, server, what, path, want):
        until(lambda: (want in (what(server, path) or "")) if want else not what(server, path),
              f"{want} at {server.name}", log=lambda: f"{what(server, path)}\n{server.logs()}")

    def both(self, kind="own"):
        ring = Ring("alpha", "beta", kind=kind)
        self.addCleanup(ring.__exit__, None, None, None)
        a, b = ring.__enter__()
        for s in (a, b):
            s.daemon()
        until(lambda: a.connected() == {"beta"} and b.connected() == {"alpha"}, "both", log=a.logs)
        return a, b

    def restart(self, server):
        server.kill()
        server.hub()
        server.daemon()

    def test_own__a_report__counts_on_the_other_once_through_kills_until_it_is_undone(self):
        a, b = self.both()
        path, near = self.mail(a, "one"), self.mail(a, "two", WORDS.replace("only this week", "just this very week"))
        for name in "gillnet-votes", "gillnet-summary":
            self.assertIn("take another name", a.run("list", "add", "--create", name, "x.example", rc=65))
        given = self.report(a, "spam", path)
        self.assertEqual(given["standing"], "spam")
        self.wait(b, self.said, near, "1 as spam, 0 as ham, by the administrator")
        self.wait(b, self.symbols, near, "REPORTED_SPAM")
        # the same word of the same person, said on both, is one vote
        self.report(b, "spam", path)
        self.restart(b)
        self.wait(a, self.said, near, "1 as spam")
        for s in (a, b):
            self.assertIn("1 as spam, 0 as ham", self.said(s, near))
        self.restart(a)
        self.assertIn("1 as spam, 0 as ham", self.said(a, near))
        other = self.mail(a, "three", " ".join(f"other{i}words" for i in range(60)) + " %s", "http://fine.example/a/b")
        last = self.report(b, "spam", other)["id"]
        self.wait(a, self.symbols, other, "REPORTED_SPAM")
        b.kill()
        b.hub()
        b.daemon()
        b.json("report", "undo", last)
        self.wait(a, self.said, other, None)
        until(lambda: "REPORTED" not in self.symbols(a, other), "the end at gillnetd", log=a.logs)
        # undone on one, the other's own report still holds
        a.json("report", "undo", given["id"])
        time.sleep(8)  # more than an exchange takes
        self.assertIn("1 as spam, 0 as ham", self.said(b, near))

    def test_own__trust_by_the_other_servers_evidence__is_the_same_on_both_and_never_doubled(self):
        a, b = self.both()
        path = self.mail(a, "one")
        self.assertEqual(self.trust(a, path, "ann@here.example"), 0.05)
        self.report(b, "spam", path)  # the administrator, on the other
        until(lambda: self.trust(a, path, "ann@here.example") == 0.0625, "ann's trust on alpha", log=a.logs)
        elsewhere = self.mail(a, "four", " ".join(f"more{i}words" for i in range(60)) + " %s", "http://fine.example/c/d")
        until(lambda: self.trust(b, elsewhere, "ann@here.example") == 0.0625, "ann's trust on beta", log=b.logs)
        for s in (a, b, a):
            self.restart(s)
            self.assertEqual(self.trust(s, path if s is a else elsewhere, "ann@here.example"), 0.0625)
        # what a list of one confirms is known on both
        listed = self.mail(a, "five", " ".join(f"list{i}words" for i in range(60)) + " %s", "http://pills.ring-evil.example/x/y")
        self.assertEqual(self.trust(a, listed, "bob@here.example"), 0.05)
        time.sleep(1.1)
        a.run("list", "add", "--create", "manual", "ring-evil.example")
        until(lambda: "LIST_MANUAL" in self.symbols(a, listed), "the list", log=a.logs)
        until(lambda: self.trust(a, listed, "bob@here.example") == 0.0625, "bob's trust on alpha", log=a.logs)
        until(lambda: self.trust(b, elsewhere, "bob@here.example") == 0.0625, "bob's trust on beta", log=b.logs)
        a.run("list", "revoke", "manual", "ring-evil.example")
        for s, where in ((a, listed), (b, elsewhere)):
            until(lambda: self.trust(s, where, "bob@here.example") == 0.05, f"its end on {s.name}", log=s.logs)

    def test_own__a_disk_that_was_restored__doubles_nothing_and_takes_back_what_it_lost(self):
        a, b = self.both()
        path = self.mail(a, "one")
        self.report(b, "spam", path, "--reporter", "eve@here.example")
        until(lambda: self.report(a, "spam", path, "--reporter", "joe@here.example") and
              "2 as spam" in self.opinion(a, path), "two reporters", log=a.logs)
        b.stop()
        shutil.copytree(b.state, f"{b.state}.saved", ignore=shutil.ignore_patterns("*.ctl", "*.sock"))
        b.hub()
        b.daemon()
        lost = self.mail(a, "six", " ".join(f"lost{i}words" for i in range(60)) + " %s", "http://fine.example/e/f")
        self.report(b, "spam", lost)
        self.wait(a, self.said, lost, "1 as spam")
        b.kill()
        shutil.rmtree(b.state)
        shutil.move(f"{b.state}.saved", b.state)
        b.hub()
        b.daemon()
        self.wait(a, self.said, lost, None)
        self.assertIn("2 as spam", self.opinion(a, path))
        self.report(b, "spam", lost)
        self.wait(a, self.said, lost, "1 as spam")

    def opinion(self, server, path):
        """The administrator's word shows what is there, and is taken back."""
        given = self.report(server, "spam", path)
        said = self.said(server, path)
        server.json("report", "undo", given["id"])
        n = int(said.split(" ", 1)[0]) - 1
        return f"{n} as spam"

    def test_federation__a_peer__is_one_newcomer_and_only_for_spam(self):
        a, b = self.both("federation")
        path = self.mail(a, "one")
        self.report(a, "spam", path)
        for i in range(5):
            self.report(a, "spam", path, "--reporter", f"user{i}@here.example")
        until(lambda: self.opinion(b, path) == "1 as spam", "alpha as one reporter", log=b.logs)
        self.assertIsNone(self.said(b, path))
        self.assertNotIn("REPORTED", self.symbols(b, path))
        # its ham takes nothing from the reports here
        self.report(b, "spam", path)
        self.report(a, "ham", path)
        time.sleep(8)
        self.assertIn("by the administrator", self.said(b, path))
        # one owner now: the administrator is one
        a.run("peer", "set", "--ring", "--kind", "own")
        given = self.report(a, "spam", self.mail(a, "seven", WORDS.replace("friend", "neighbour")))
        self.assertFalse(given["again"])
        other = self.mail(a, "eight", " ".join(f"own{i}words" for i in range(60)) + " %s", "http://fine.example/g/h")
        self.report(a, "spam", other)
        self.wait(b, self.said, other, "by the administrator")
        # its own cap bounds a member in either kind
        a.run("peer", "set", "alpha", "--cap", 5)
        self.wait(b, self.said, other, None)


if __name__ == "__main__":
    unittest.main(verbosity=2)
