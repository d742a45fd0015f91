#!/usr/bin/env python3
"""Counts of real hubs in a real store of one server: exact after kills, restores, a full memory, an empty store.

Usage: test_counts.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import shutil
import time
import unittest

from store import Client, Feeder, Folder, Ring, config, content, differences, until

SETTLE_S = 60  # far above the 10 s that it takes


def settled(feeders, ports):
    return until(lambda: differences(feeders, ports) == (0, 0), "the same counts", seconds=SETTLE_S, step=0.5,
                 log=lambda: str(differences(feeders, ports)))


class Counts(unittest.TestCase):
    def setUp(self):
        self.folder = Folder().__enter__()
        self.addCleanup(self.folder.__exit__)
        self.redis = self.folder.redis("appendonly yes", "appendfsync always").wait()

    def ring(self, *names):
        ring = Ring(*names, kind="own", config={n: config([f"127.0.0.1:{self.redis.port}"]) for n in names})
        servers = ring.__enter__()
        self.addCleanup(ring.__exit__, None, None, None)
        feeders = [Feeder(s.state, s.name) for s in servers]
        for f in feeders:
            self.addCleanup(f.close)
        return servers, feeders

    def test_two_hubs__all_counts_are_in_the_store_and_none_in_the_ring(self):
        servers, feeders = self.ring("alpha", "beta")
        for _ in range(5):
            for f in feeders:
                f.count(500)
            time.sleep(0.3)
        self.assertTrue(settled(feeders, [self.redis.port]))
        for s in servers:
            self.assertEqual(list((s.state / "peers/own").glob("*.stream")), [])
            self.assertEqual(list((s.state / "peers/counts").glob("*/*.stream")), [])
        self.assertEqual({o: len(i) for o, i in content([self.redis.port])[1].items()},
                         {s.origin(): 1 for s in servers})

    def test_a_hub_killed_again_and_again__exact(self):
        (alpha,), feeders = self.ring("alpha")
        for _ in range(6):
            feeders[0].count(800)
            time.sleep(1.2)
            alpha.kill_hub()
            feeders[0].count(300)
            alpha.hub()
        self.assertTrue(settled(feeders, [self.redis.port]))
        self.assertEqual(len(content([self.redis.port])[1][alpha.origin()]), 1)

    def test_the_store_killed_stopped_and_emptied__exact(self):
        (alpha,), feeders = self.ring("alpha")
        for what in ("kill", "stop", "empty", "script"):
            feeders[0].count(800)
            time.sleep(1.5)
            if what == "kill":
                self.redis.kill()
                feeders[0].count(500)
                self.redis.start()
                self.redis.wait()
            elif what == "stop":
                self.redis.stop()
                feeders[0].count(500)
                time.sleep(4)
                self.redis.go_on()
            elif what == "empty":
                self.redis.command("FLUSHALL")
            else:
                self.redis.command("SCRIPT", "FLUSH")
            feeders[0].count(500)
        until(lambda: differences(feeders, [self.redis.port]) == (0, 0), "the same counts", seconds=120, step=0.5,
              log=lambda: str(differences(feeders, [self.redis.port])))

    def test_an_anchor_is_deleted__its_counts_come_again_and_none_twice(self):
        (alpha,), feeders = self.ring("alpha")
        feeders[0].count(3000)
        self.assertTrue(settled(feeders, [self.redis.port]))
        with Client(self.redis.port) as c:
            for cell in range(0, 128, 3):
                c.call("DEL", b"g{%02x}" % cell)
            parts = [k for k in c.call("KEYS", "g{01}*:*")]
            c.call("DEL", *parts)
        alpha.kill_hub()
        alpha.hub()
        until(lambda: content([self.redis.port])[1][alpha.origin()], "it comes again")
        feeders[0].count(200)
        time.sleep(8)
        low, high = differences(feeders, [self.redis.port])
        self.assertEqual(high, 0)
        self.assertLess(low, 3000 * 3 * 2 / 20)  # what the deleted parts had

    def test_restored_from_a_copy__a_new_incarnation_and_nothing_twice(self):
        (alpha,), feeders = self.ring("alpha")
        feeders[0].count(1000)
        self.assertTrue(settled(feeders, [self.redis.port]))
        alpha.kill_hub()
        copy = alpha.state.parent / "copy"
        shutil.copytree(alpha.state / "peers/shared", copy)
        alpha.hub()
        feeders[0].count(1000)
        self.assertTrue(settled(feeders, [self.redis.port]))
        alpha.kill_hub()
        shutil.rmtree(alpha.state / "peers/shared")
        shutil.copytree(copy, alpha.state / "peers/shared")
        alpha.hub()
        until(lambda: alpha.hub_lines("state=incarnation"), "a new incarnation", log=alpha.logs)
        feeders[0].count(1000)
        time.sleep(8)
        self.assertEqual(differences(feeders, [self.redis.port])[1], 0)

    def test_out_of_memory__counts_wait_and_come_later(self):
        (alpha,), feeders = self.ring("alpha")
        feeders[0].count(1000)
        self.assertTrue(settled(feeders, [self.redis.port]))
        self.redis.command("CONFIG", "SET", "maxmemory", "1mb")
        feeders[0].count(1000)
        until(lambda: alpha.hub_lines("state=refused", "OOM"), "a refusal", log=alpha.logs)
        self.assertGreater(differences(feeders, [self.redis.port])[0], 0)
        self.redis.command("CONFIG", "SET", "maxmemory", "0")
        self.assertTrue(settled(feeders, [self.redis.port]))
        self.assertTrue(alpha.hub_lines("state=sending"))


if __name__ == "__main__":
    unittest.main()
