#!/usr/bin/env python3
"""Servers that share a store judge with what the others saw; without the store, with what they know.

Usage: test_view.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import os
import sys
import time
import unittest

from hosts import Hosts, harmful, row, seen, send, until, wait_seen

RULES = ('rules = ( { name = "same"; type = "envelope_from"; count = 12; score = 20.0; newsletter = false; },\n'
         '  { name = "wide"; type = "envelope_from"; count = 10; networks = 3; score = 1.0; newsletter = false; } );\n')

CUT_S = float(os.environ.get("GILLNET_CUT_S", 8))


class View(unittest.TestCase):
    def test_many_on_a__the_first_on_b_is_judged_with_them(self):
        with Hosts("alpha", "beta", text=RULES) as h:
            a, b = h.servers
            for _ in range(15):
                send(a, "many@evil.example")
            wait_seen(b, "many@evil.example", 15, "before its first copy")
            got = row(b, "many@evil.example")
            self.assertEqual(([p["name"] for p in got["peers"]], got["own"]["w1d"]), (["store"], 0))
            self.assertEqual([got[w] for w in ("w10m", "w1h", "w14d")], [15, 15, 15])
            self.assertIn("BULK_SAME(20.0)", send(b, "many@evil.example"))
            said = b.run("check", "--from", "many@evil.example", "-", text="From: <many@evil.example>\n\npills\n", rc=None)
            self.assertRegex(said, r"BULK_SAME .*seen 16 times in 1d \(own 1, store 15\)")
            wait_seen(a, "many@evil.example", 16)

    def test_few_on_a__b_knows_from_its_second_copy_on(self):
        with Hosts("alpha", "beta", text=RULES) as h:
            a, b = h.servers
            for _ in range(4):
                send(a, "few@evil.example")
            time.sleep(7)  # published, and no reason to tell all
            self.assertEqual(seen(b, "few@evil.example"), 0)
            send(b, "few@evil.example")
            wait_seen(b, "few@evil.example", 5)
            send(b, "few@evil.example")
            self.assertEqual(seen(b, "few@evil.example"), 6)

    def test_restarts_of_all_programs__nothing_is_counted_twice_or_lost(self):
        with Hosts("alpha", "beta", text=RULES) as h:
            a, b = h.servers
            n = 0
            for i in range(4):
                for s in (a, b):
                    for _ in range(6):
                        send(s, "again@evil.example")
                        n += 1
                if i == 1:
                    a.kill_hub()
                    a.hub()
                if i == 2:
                    b.kill()
                    b.hub()
                    b.daemon()
                for s in (a, b):
                    self.assertLessEqual(seen(s, "again@evil.example"), n)
            for s in (a, b):
                send(s, "again@evil.example")  # each hears the last totals with it
            for s in (a, b):
                until(lambda s=s: seen(s, "again@evil.example") >= n + 1, f"all at {s.name}",
                      log=lambda s=s: str(row(s, "again@evil.example")))
                self.assertLessEqual(seen(s, "again@evil.example"), n + 2)

    def test_store_killed_and_stopped__own_counts_and_the_last_view(self):
        with Hosts("alpha", "beta", text=RULES, extra='fresh = "4s";') as h:
            a, b = h.servers
            for _ in range(15):
                send(a, "last@evil.example")
            wait_seen(b, "last@evil.example", 15)
            for end in (h.redis.kill, h.redis.stop):
                end()
                self.assertIn("BULK_SAME", send(b, "last@evil.example"))
                until(lambda: harmful(b, "last@evil.example") < 12, "an old view")
                self.assertGreaterEqual(seen(b, "last@evil.example"), 15)
                self.assertNotIn("BULK_SAME", send(b, "last@evil.example"))
                if end == h.redis.kill:
                    h.redis.start()
                    h.redis.wait()
                else:
                    h.redis.go_on()
                until(lambda: harmful(b, "last@evil.example") >= 15, "the store's counts again", log=b.logs)
                self.assertIn("BULK_SAME", send(b, "last@evil.example"))

    def test_slow_store__late_counts_and_no_late_mail(self):
        with Hosts("alpha", "beta", text=RULES, delay={"beta": 1.0}) as h:
            a, b = h.servers
            for _ in range(15):
                send(a, "slow@evil.example")
            wait_seen(b, "slow@evil.example", 15)
            self.assertIn("BULK_SAME", send(b, "slow@evil.example"))
            wait_seen(a, "slow@evil.example", 16)  # the sixteenth is told, a second late

    def test_cut_off__then_healed__all_know_all(self):
        with Hosts("alpha", "beta", "gamma", text=RULES, delay={"beta": 0}) as h:
            for s in h.servers:
                send(s, "cut@evil.example")
            h.slow["beta"].is_cut = True
            begin, n = time.monotonic(), len(h.servers)
            while time.monotonic() - begin < CUT_S or n < 60:
                for s in h.servers:
                    send(s, "cut@evil.example")
                    n += 1
                    self.assertLessEqual(seen(s, "cut@evil.example"), n)
                time.sleep(CUT_S / 25)
            h.slow["beta"].is_cut = False
            healed = time.monotonic()
            for s in h.servers:
                until(lambda s=s: seen(s, "cut@evil.example") == n, f"{n} at {s.name}",
                      log=lambda s=s: f"{seen(s, 'cut@evil.example')} {row(s, 'cut@evil.example')['peers']} {s.logs()}")
                self.assertLessEqual(seen(s, "cut@evil.example"), n)
            print(f"after {CUT_S} s all know {[seen(s, 'cut@evil.example') for s in h.servers]} of {n} in "
                  f"{time.monotonic() - healed:.1f} s", file=sys.stderr)

    def test_cluster__a_master_is_killed__then_all_know_all(self):
        with Hosts("alpha", "beta", text=RULES, is_cluster=True) as h:
            a, b = h.servers
            senders = [f"c{i}@evil.example" for i in range(12)]
            n = 0
            for i in range(24):
                if i == 8:
                    h.cluster.nodes[0].kill()
                for s in (a, b):
                    n += 1
                    for sender in senders:
                        send(s, sender, network=i % 3)
                        self.assertLessEqual(seen(s, sender), n)
            for s in (a, b):
                for sender in senders:
                    wait_seen(s, sender, n)
                    self.assertIn("BULK_WIDE", send(s, sender))
                n += 1

    def test_copies_at_both_in_turn__the_last_total_is_told(self):
        with Hosts("alpha", "beta", text=RULES) as h:
            senders = [f"turn{i}@evil.example" for i in range(12)]
            for s in h.servers * 20:
                for sender in senders:
                    send(s, sender)
            for s in h.servers:  # the second hears the last total; the first must be told, though it is below its step
                for sender in senders:
                    send(s, sender)
                    time.sleep(0.1)
            for s in h.servers:
                for sender in senders:
                    wait_seen(s, sender, 42)

    def test_networks__those_of_both_count_once(self):
        with Hosts("alpha", "beta", text=RULES) as h:
            a, b = h.servers
            for sender, nets_a, nets_b in (("two@evil.example", (1, 2), (1, 2)), ("four@evil.example", (1, 2), (3, 4))):
                for i in range(10):
                    send(a, sender, network=nets_a[i % 2])
                    send(b, sender, network=nets_b[i % 2])
            for s in (a, b):
                until(lambda s=s: "BULK_WIDE" in send(s, "four@evil.example", network=1 if s is a else 3),
                      f"four networks at {s.name}", step=0.5, log=s.logs)
                self.assertNotIn("BULK_WIDE", send(s, "two@evil.example", network=1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
