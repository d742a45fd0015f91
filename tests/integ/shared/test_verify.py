#!/usr/bin/env python3
"""gillnet store verify and repair: what the store lacks is seen, and sent again if that cannot count twice.

Usage: test_verify.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import unittest

from store import Client, Feeder, Folder, Ring, config, differences, until


class Verify(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(Folder())
        self.redis = self.folder.redis("appendonly no").wait()
        ring = Ring("alpha", kind="own", config={"alpha": config([f"127.0.0.1:{self.redis.port}"])})
        self.server, = self.enterContext(ring)
        self.feeder = Feeder(self.server.state, 1)
        self.addCleanup(self.feeder.close)
        self.client = self.enterContext(Client(self.redis.port))

    def settle(self):
        """Until the store has all that was counted, and the hub knows."""
        until(lambda: differences([self.feeder], [self.redis.port]) == (0, 0), "all counts", log=self.server.logs)
        until(lambda: (c := self.server.json("store", "status", rc=None)[0]["counts"])["flow"] == "sending"
              and c["lag_s"] == 0 and c["cells_behind"] == 0, "the hub", log=self.server.logs)

    def verify(self, command="verify", rc=0):
        self.server.run("store", "verify", rc=rc) if command == "verify" else None
        rows = self.server.json("store", command)
        return rows[0], [r["text"] for r in rows[1:]]

    def parts(self, kind=b"t"):
        keys = self.client.call("KEYS", b"g{*}" + kind + b":*:*:*")
        return sorted(k for k in keys if int(self.client.call("HLEN", k)) > 1)

    def test_all_is_there__then_well(self):
        self.feeder.count(4000)
        self.settle()
        summary, texts = self.verify()
        self.assertEqual(texts, [])
        self.assertEqual((summary["cells"], summary["cells_behind"], summary["keys_low"], summary["parts_missing"],
                          summary["parts_endless"], summary["failed"]), (128, 0, 0, 0, 0, 0))
        self.assertEqual(summary["keys"], len(self.feeder.truth))
        self.assertGreaterEqual(summary["parts"], len(self.parts(b"t")) + len(self.parts(b"d")))
        self.assertGreater(summary["largest_part"], 1)
        self.assertIn(f"{summary['keys']:,} keys of 1 buckets compared; 0 too low", self.server.run("store", "verify"))

    def test_a_total_was_lowered_and_a_part_deleted__then_named_and_not_repaired_twice(self):
        self.feeder.count(4000)
        self.settle()
        name = self.parts()[0]
        field = next(f for f in self.client.call("HKEYS", name) if f)
        self.client.call("HINCRBY", name, field, -1)
        summary, texts = self.verify(rc=1)
        self.assertEqual((summary["keys_low"], summary["lacking"]), (1, 1))
        self.assertRegex(texts[0], "1 of [0-9]+ keys have less than this server added, by 1 in all")
        self.client.call("HINCRBY", name, field, 1)
        other = self.parts(b"d")[-1]
        self.client.call("PERSIST", other)
        gone = self.parts()[-1]
        lost = sum(int(n) for n in self.client.call("HVALS", gone) if n)
        self.client.call("DEL", gone)
        summary, texts = self.verify(rc=1)
        self.assertEqual((summary["parts_missing"], summary["parts_endless"], summary["lacking"]), (1, 1, lost))
        self.assertIn(gone.decode(), texts[0])
        self.verify("repair", rc=1)
        self.assertEqual(differences([self.feeder], [self.redis.port]), (lost, 0))

    def test_counts_of_another_ring__then_its_server_is_named(self):
        self.feeder.count(500)
        self.settle()
        self.client.call("HSET", b"g{00}", bytes(range(1, 25)), 7)
        summary, texts = self.verify(rc=1)
        self.assertEqual(summary["strangers"], 1)
        self.assertRegex(texts[0], '^server 0102030405060708090a0b0c0d0e0f10 has counts under the prefix "g" and is no member')

    def test_cells_went_back__then_repair_sends_what_they_lack_once(self):
        self.feeder.count(4000)
        self.settle()
        before = {k: self.client.call("DUMP", k) for k in self.client.call("KEYS", b"g{[0-7]*")}
        self.feeder.count(4000)
        self.settle()
        for key, bytes_ in before.items():  # with the position, as a replica that lags has it
            ttl = self.client.call("PTTL", key)
            self.client.call("RESTORE", key, ttl.decode(), bytes_, "REPLACE")
        low, high = differences([self.feeder], [self.redis.port])
        self.assertGreater(low, 0)
        summary, texts = self.verify(rc=1)
        self.assertGreater(summary["cells_behind"], 20)
        self.assertEqual(summary["keys_low"], 0)  # the cell says itself that it lacks them
        self.assertRegex(texts[0], "stands at record [0-9]+, and [0-9]+ was acknowledged: what is missing is sent again")
        summary, texts = self.verify("repair")
        self.assertEqual((summary["cells_behind"], texts), (0, []))
        self.assertEqual(differences([self.feeder], [self.redis.port]), (0, 0))

    def test_the_store_is_down__then_it_is_said(self):
        self.feeder.count(100)
        self.settle()
        self.redis.kill()
        summary, texts = self.verify(rc=1)
        self.assertGreater(summary["failed"], 0)
        self.assertIn("cannot be compared", texts[0])
        self.assertIn("nothing is known", self.server.control("store-job 99"))
        self.assertIn("unknown request", self.server.control("store-nonsense"))


if __name__ == "__main__":
    unittest.main()
