#!/usr/bin/env python3
"""The page of contrib/compare from given figures: ratios, rows in which gillnet is behind, pictures.

Usage: test_page.py [TEST...]      ends like unittest
"""
import pathlib
import sys
import unittest
import xml.etree.ElementTree as tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import page  # noqa: E402


def by_name(ours, rspamd, spamassassin):
    return dict(zip(page.NAMES, (ours, rspamd, spamassassin)))


def figures():
    """A run in which gillnet is ahead in each row, ten times rspamd and a thousand times SpamAssassin."""
    both = {"p50": 1.0, "p99": 2.0}
    slower = {"p50": 10.0, "p99": 20.0}
    memory = {"idle": 100e6, "after": 110e6}
    more = {"idle": 200e6, "after": 210e6}
    columns = {c: {"spam a": [100, 90], "ham b": [100, 1], "newsletters c": [50, 2]} for c, _ in page.COLUMNS}
    row = {"1": {"bytes": 1e8, "seconds": 1.0}, "1000": {"bytes": 2e8, "seconds": 2.0, "prepared": 3.0}}
    slow = {"1": {"bytes": 1e9, "seconds": 10.0}, "1000": {"bytes": 2e9, "seconds": 20.0}}
    return {
        "machine": "a machine", "date": "2026-01-05", "commit": "abc", "seconds": 60, "versions": by_name("1", "2", "3"),
        "messages": 10, "rounds": 2, "cores": 2, "connections": 4, "sizes": [1000],
        "speed": {"cpu_ms": by_name(0.4, 4.0, 400.0), "cpu_alone_ms": by_name(0.3, 3.0, 300.0),
                  "rate": {**by_name(3000, 300, 3), "nothing": 9000}, "smtp_ms": both, "memory": by_name(memory, more, more),
                  "added_ms": {n: {"unix": t, "inet": t} for n, t in (("gillnet", both), ("nothing", both), ("rspamd", slower),
                                                                     ("SpamAssassin", slower))},
                  "starts": by_name(*[{"first": t, "again": t} for t in (1.0, 2.0, 3.0)])},
        "lists": by_name(row, slow, slow), "changes": by_name(*[{"median": t, "max": t} for t in (1.0, 20.0, 9.0)]),
        "catch": {"rounds": ["one", "two"], "train": 10, "table": columns},
    }


class Page(unittest.TestCase):
    def test_ratio__when_less_is_better_and_when_more_is__then_above_one_means_gillnet(self):
        self.assertEqual(page.Row("cpu", by_name(0.5, 5.0, 50.0)).ratio("rspamd"), 10)
        self.assertEqual(page.Row("rate", by_name(100, 10, 1), less=False).ratio("SpamAssassin"), 100)
        self.assertIsNone(page.Row("list", by_name(1, 2, None)).ratio("SpamAssassin"))

    def test_ahead_in_all__then_nothing_is_behind_or_missed(self):
        rows = page.plain_rows(figures())
        self.assertEqual((page.behind(rows), page.missed(rows)), ([], []))
        self.assertIn("No row: gillnet is ahead in each", page.text(figures()))

    def test_behind_in_one_row__then_the_page_says_so(self):
        result = figures()
        result["changes"]["rspamd"]["median"] = 0.5
        self.assertEqual(page.behind(page.plain_rows(result)), ["change of a list until it counts, s: rspamd 0.5, gillnet 1"])
        self.assertIn("- change of a list until it counts, s: rspamd 0.5, gillnet 1.", page.text(result))

    def test_cpu_below_the_target__then_it_is_missed(self):
        result = figures()
        result["speed"]["cpu_ms"] = by_name(1.0, 3.9, 249.0)
        missed = page.missed(page.plain_rows(result))
        self.assertEqual([line.split(": ")[1].split(" ")[0] for line in missed], ["rspamd", "SpamAssassin"])

    def test_not_measured__then_said_and_no_ratio(self):
        result = figures()
        del result["lists"]["rspamd"]["1000"]
        line = next(x for x in page.text(result).splitlines() if x.startswith("| memory with a list of 1,000"))
        self.assertEqual(line, "| memory with a list of 1,000 URLs, MB | 200 | not measured | not measured |  |  |")

    def test_page__then_each_placeholder_is_filled(self):
        self.assertNotRegex(page.text(figures()), "@[A-Z]")

    def test_pictures__then_each_bar_has_its_figure(self):
        result = figures()
        found = page.pictures(result, page.plain_rows(result))
        self.assertEqual(set(found), {"cpu.svg", "added.svg", "memory.svg", "catch.svg"})
        for picture in found.values():
            tree.fromstring(picture)
        bars = tree.fromstring(found["cpu.svg"]).findall("{http://www.w3.org/2000/svg}rect")
        widths = [float(bar.get("width")) for bar in bars]
        self.assertEqual(widths[:3], sorted(widths[:3]))
        self.assertIn("400 ms", found["cpu.svg"])
        self.assertAlmostEqual(widths[4] - widths[3], widths[1] - widths[0], delta=1)  # a factor of ten is as wide wherever it is

    def test_catch__then_kinds_are_summed_and_newsletters_stand_apart(self):
        lines = page.catch_table(figures()["catch"]).splitlines()
        self.assertTrue(any(x.startswith("| **spam** | 100 | **90.0** |") for x in lines))
        self.assertTrue(any(x.startswith("| **newsletters** | 50 | **4.0** |") for x in lines))


if __name__ == "__main__":
    unittest.main(verbosity=2)
