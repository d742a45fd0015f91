#!/usr/bin/env python3
"""Thirty servers see one copy of a mailing each: bulk on every one of them, counted exactly.

Usage: test_thirty.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder, GILLNET_SERVERS says how many.
Each hub calls four or five others; the counts of the rest come through these.
"""
import os
import sys
import time
import unittest

from ring import MAIL, Ring, until

N = int(os.environ.get("GILLNET_SERVERS", 30))
THRESHOLD = N * 2 // 3
INTERVAL_S = 5
SENDER = "envelope_from:joe@evil.example"
RULE = ('rules = ( { name = "same"; type = "body"; '
        f'count = {THRESHOLD}; score = 7.0; newsletter = false; }} );')


def called(i):
    """Four others, and the one that invited all: from it the manifest comes that names the four."""
    return sorted(({f"s{(i + step) % N}" for step in (1, 2, 5, 11)} | {"s0"}) - {f"s{i}"})


def config(i):
    names = called(i)
    return f'hub = {{ connect = [ {", ".join(chr(34) + n + chr(34) for n in names)} ]; }};\n{RULE}'


class Thirty(unittest.TestCase):
    def counted(self, server):
        rows = [r for r in server.json("lookup", SENDER) if "counted_as" in r]
        return rows[0]["w1d"] if rows else 0

    def symbols(self, server):
        row = server.json("check", "--from", "joe@evil.example", MAIL)[0]
        return [x["name"] for x in row["symbols"]]

    def test_one_copy_each__then_bulk_everywhere_and_the_count_is_exact(self):
        names = [f"s{i}" for i in range(N)]
        with Ring(*names, config={n: config(i) for i, n in enumerate(names)}) as servers:
            for s in servers:
                s.daemon()
            for i, s in enumerate(servers):
                until(lambda: len(s.status()) == N and s.connected() == set(called(i)), "the ring",
                      seconds=120, log=lambda: f"{s.name} {len(s.status())} {sorted(s.connected())} {called(i)}\n{s.logs()}")
            for s in servers:
                s.count(1)
            begun = time.monotonic()
            for s in servers:
                until(lambda: self.counted(s) == N, f"{N} counted at {s.name}", seconds=120,
                      log=lambda: f"{self.counted(s)}\n{s.logs()}")
            print(f"{N} servers: {N} everywhere {time.monotonic() - begun:.1f} s after the last copy "
                  f"(two intervals are {2 * INTERVAL_S} s)", file=sys.stderr)
            for s in servers:
                self.assertIn("BULK_SAME", self.symbols(s), s.name)
                self.assertFalse(any(r.get("is_distrusted") or r.get("refused") for r in s.status().values()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
