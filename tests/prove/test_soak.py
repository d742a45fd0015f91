#!/usr/bin/env python3
"""A short soak of everything real, in which faults are planted: the ledger notices each of them, and nothing else.

Usage: test_soak.py      ends like unittest. GILLNET_BUILD names the build; needs root.
"""
import unittest

import ledger
import soak
from traffic import RecordingSink

ARGUMENTS = ["--hours", "0.0055", "--day", "60", "--rate", "5"]


class FaultySink(RecordingSink):
    """Loses a message and doubles another."""

    def __init__(self, book):
        super().__init__(book)
        self.count = 0

    def keep(self, sender, rcpts, raw):
        with self.lock:
            self.count += 1
            count = self.count
        for _ in range({5: 0, 9: 2}.get(count, 1)):
            super().keep(sender, rcpts, raw)


class FaultyRun(soak.Run):
    """Behind the ledger's back the entry goes that all mail with a listed URL names, and at the end another one goes,
    one that was removed comes back, and a report that nobody made is acknowledged."""

    PLANTED = 3  # entries, on both sites

    def work(self):
        self.planted = 2 * self.PLANTED
        self.unlisted, self.gone, self.kept = self.lists.leaving(self.changes.chooser, "phish", self.PLANTED)
        for site in self.pair.sites:
            site.run("list", "revoke", "phish", self.unlisted, rc=None)
        usual = self.lists.value
        self.lists.value = lambda chooser, listed: ("phish", self.unlisted) if listed else usual(chooser, listed)
        super().work()
        self.changes.change("a", "phish", "remove", [self.kept])
        self.pair.a.run("list", "add", "phish", self.kept)
        self.pair.a.run("list", "revoke", "phish", self.gone, rc=None)
        self.ledger.write("report", n="planted", site="a")
        self.ledger.write("reported", n="planted", ok=True, report="never")


class Soak(unittest.TestCase):
    def test_planted_faults__are_noticed_and_no_other_is(self):
        run = FaultyRun(soak.parser_of(soak.__doc__).parse_args(ARGUMENTS), FaultySink)
        run.run()
        found = ledger.judge(ledger.read(run.top / "ledger.jsonl"))
        self.assertEqual((len(found.lost), len(found.doubled)), (1, 1), (found.lost, found.doubled))
        self.assertTrue(found.wrong)
        self.assertEqual([w for w in found.wrong if run.unlisted not in w], [])
        for value in (run.unlisted, run.gone, run.kept):
            self.assertEqual(sum(value in text for text in found.entries_lost), 2, found.entries_lost)
        self.assertEqual(len(found.entries_lost), run.planted, found.entries_lost)
        self.assertEqual(found.reports_lost, ["a: report never is gone"])
        self.assertEqual(found.reports_doubled, [])
        self.assertGreater(found.tried["changes"], 10)
        self.assertGreater(found.tried["mail"], 20)
        self.assertEqual(found.notes["cut"], 0)


if __name__ == "__main__":
    unittest.main()
