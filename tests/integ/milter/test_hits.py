"""Look-up statistics of each list; a filter with too many errors is reported, and the list stays exact."""
import json
import re
import time
import unittest

from daemon import Daemon, gillnet
from mta import Mta


class Hits(unittest.TestCase):
    def rows(self, d, *args):
        p = gillnet("--json", *args, "-c", d.conf, check=False)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def seen(self, d, name="phish"):
        row, = self.rows(d, "list", "stat", name)
        return row

    def send(self, d, urls):
        m = Mta(d.target)
        m.hello()
        a = m.message(body=("\r\n".join(f"http://{u}/" for u in urls) + "\r\n").encode())
        m.quit()
        return a

    def test_each_outcome__counted_and_shown(self):
        with Daemon(lists={"phish": ["evil.example", "back.example"]}) as d:
            self.assertRegex(gillnet("stat", "-c", d.conf).stdout, r"\AWell\. 0 messages today, 0 refused, 0 marked\.\ngillnetd runs .*\nno MTA has connected yet \(")
            gillnet("list", "revoke", "phish", "back.example", "-c", d.conf)
            self.assertEqual(self.send(d, ["evil.example"]).status()[:3], "Yes")
            self.send(d, ["good.example", "back.example"])
            row = self.seen(d)
            seen = row["seen"]
            self.assertEqual(seen["confirmed"], 1)
            self.assertEqual(seen["revoked_hits"], 1)
            self.assertGreater(seen["tested"], 4)
            self.assertEqual(seen["filter_hits"], 2 + seen["false_positives"])
            self.assertNotEqual(seen["last_hit"], "never")
            self.assertIsNone(row["alarm"])
            self.assertGreater(row["memory_bytes"], row["filter_bytes"])
            d.wait_for(lambda: self.seen(d)["seen"]["canaries"] > 0, "canaries")
            text = gillnet("list", "stat", "-c", d.conf).stdout
            self.assertRegex(text, r"seen by gillnetd: \d+ keys tested, \d+ filter hits, 1 confirmed")
            short = gillnet("stat", "-c", d.conf).stdout
            self.assertRegex(short, rf"\AWell\. 2 messages today, 0 refused, 1 marked\.\ngillnetd runs as process {d.proc.pid} since 2\d+-")
            self.assertRegex(short, r"\nlists: 1 with 1 entries, last changed 2")
            for word in ("in the last day: 2 messages", "\nfeeds: none\n", "\ncounting: ", "\npeers: none\n", "--all"):
                self.assertIn(word, short)
            self.assertLess(short.count("\n"), 12)
            self.assertNotIn("sessions_open", short)
            text = gillnet("stat", "--all", "-c", d.conf).stdout
            self.assertTrue(text.startswith("Well. 2 messages today"), text)
            self.assertRegex(text, r"(?m)^sessions_open +\d+ ")
            self.assertRegex(text, r"seen by gillnetd: \d+ keys tested, \d+ filter hits, 1 confirmed")
            before = self.seen(d)["seen"]
            d.stop()
            self.assertTrue(gillnet("stat", "-c", d.conf).stdout.startswith("gillnetd does not run. 2 messages today"))
            d.start()
            self.send(d, ["evil.example"])
            after = self.seen(d)["seen"]
            self.assertEqual(after["confirmed"], 2)
            self.assertEqual(after["counted_since"], before["counted_since"])

    def test_cached_entry__revoked_and_imported__next_message_sees_it(self):
        with Daemon(lists={"phish": ["evil.example"]}) as d:
            for _ in range(3):
                self.assertEqual(self.send(d, ["evil.example"]).status()[:3], "Yes")
            gillnet("list", "revoke", "phish", "evil.example", "-c", d.conf)
            self.assertEqual(self.send(d, ["evil.example"]).status()[:2], "No")
            gillnet("list", "add", "phish", "evil.example", "-c", d.conf)
            self.assertEqual(self.send(d, ["evil.example"]).status()[:3], "Yes")
            for _ in range(3):
                self.assertEqual(self.send(d, ["new.example"]).status()[:2], "No")
            gillnet("list", "import", "phish", "-", "-c", d.conf, input="new.example\n")
            start = time.monotonic()
            d.wait_for(lambda: self.send(d, ["new.example"]).status()[:3] == "Yes", "the import")
            self.assertLess(time.monotonic() - start, 10)  # without being told; a loaded machine
            self.assertGreater(d.stat("confirm_cache_hits") + d.stat("confirm_cache_misses"), 0)

    def test_filter_above_its_target__told_everywhere(self):
        with Daemon() as d:
            names = "\n".join(f"host{i}.example" for i in range(20000))
            gillnet("list", "import", "phish", "-", "-c", d.conf, input=names)
            d.wait_for(lambda: d.stat("list_entries") == 20000, "the list")
            d.write('lists = ( { name = "phish"; filter_error = 0.00001; } );')
            gillnet("reload", "-c", d.conf)
            d.wait_for(lambda: d.stat("filter_alarms") == 1, "the alarm", 90)
            told = re.compile(r"event=filter_alarm list=phish canary=. traffic=0 target=1: ")
            d.wait_for(lambda: told.search(d.log()), "the log line, written after the count")
            faults = [r["text"] for r in self.rows(d, "stat") if r["type"] == "fault"]
            self.assertTrue(any(f.startswith("filter:phish: ") for f in faults), faults)
            self.assertIsNotNone(self.seen(d)["alarm"])
            doctor = self.rows(d, "doctor")
            self.assertTrue(any(r["check"] == "list phish" and r["status"] == "warn" and
                                r["advice"] == "gillnet list rebuild phish" for r in doctor), doctor)
            # mail is examined as before, and not called degraded
            self.assertEqual(self.send(d, ["host7.example"]).status()[:3], "Yes")
            self.assertEqual(self.send(d, ["other.example"]).status()[:2], "No")


if __name__ == "__main__":
    unittest.main()
