#!/usr/bin/env python3
"""Three servers in three network namespaces, and their store behind a bridge that loses packets and cuts one off; then the
counts in the store are exact.

Usage: test_weather.py [TEST...]      ends like unittest; root. Needs contrib/install-deps test.
"""
import os
import time
import unittest

from store import Feeder, Folder, Ring, config, differences, until
import spaces

NAMES = ("alpha", "beta", "gamma")
PORT = 4443
LOSS = int(os.environ.get("GILLNET_LOSS", 20))
STEPS = int(os.environ.get("GILLNET_STEPS", 12))
SETTLE_S = 60  # far above what it takes


class Weather(unittest.TestCase):
    def test_loss_and_a_server_cut_off__when_it_clears__exact(self):
        net = spaces.Spaces(NAMES)
        self.addCleanup(net.remove)
        net.weather()
        folder = Folder().__enter__()
        self.addCleanup(folder.__exit__)
        here = f"{spaces.NET}.{spaces.HERE}"
        redis = folder.redis(f"bind 127.0.0.1 {here}", "protected-mode no", "appendonly yes", "appendfsync always").wait()
        with Ring(*NAMES, kind="own", config={n: config([f"{here}:{redis.port}"]) for n in NAMES},
                  addresses={n: f"{net.host(n)}:{PORT}" for n in NAMES}, enter={n: net.enter(n) for n in NAMES}) as servers:
            feeders = [Feeder(s.state, s.name) for s in servers]
            for f in feeders:
                self.addCleanup(f.close)
            for step in range(STEPS):
                net.weather(percent=LOSS, cut_from_here=["gamma"] if step * 2 >= STEPS else [])
                for f in feeders:
                    f.count(300)
                time.sleep(1)
            low, high = differences(feeders, [redis.port])
            self.assertEqual(high, 0)
            self.assertGreater(low, 0, "nothing waited, so the weather was not bad")
            net.weather()
            self.assertGreater(net.lost, 0)
            self.assertGreater(net.cut, 0)
            until(lambda: differences(feeders, [redis.port]) == (0, 0), "the same counts", seconds=SETTLE_S, step=0.5,
                  log=lambda: f"{differences(feeders, [redis.port])} {servers[2].logs()}")


if __name__ == "__main__":
    spaces.enter()
    unittest.main(verbosity=2)
