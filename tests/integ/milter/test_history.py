"""The history of a day: messages, actions, symbols, URLs, times; kept over restarts."""
import json
import os
import unittest

from daemon import Daemon, gillnet
from mta import Mta

CONF = """
trusted_networks = [ "198.51.100.0/24" ];
thresholds = { header = 5.0; reject = 10.0; };
lists = ( { name = "phish"; weight = 6.0; }, { name = "bad"; weight = 12.0; } );
shipped_rules = false;
rules = ( { name = "text"; type = "text"; count = 5; score = 0.5; } );
"""
TEXT = "Buy ten of these wonderful things today, and get an eleventh one for nothing at all.\r\n"


class History(unittest.TestCase):
    def rows(self, d):
        out = gillnet("--json", "stat", "-c", d.conf).stdout
        return [json.loads(line) for line in out.splitlines()]

    def day(self, d):
        row, = [r for r in self.rows(d) if r["type"] == "day"]
        return row

    def symbols(self, d):
        return {r["name"]: r for r in self.rows(d) if r["type"] == "symbol"}

    def send(self, d, body, addr=None):
        m = Mta(d.target)
        m.hello(**({"address": addr} if addr else {}))
        m.message(body=body.encode())
        m.quit()

    def test_messages_of_each_kind__noted_and_kept(self):
        with Daemon(CONF, lists={"phish": ["evil.example", "gone.example"], "bad": ["worst.example"]}) as d:
            gillnet("list", "revoke", "phish", "gone.example", "-c", d.conf)
            self.assertTrue(d.control("reload").startswith("ok"))
            self.send(d, "http://good.example/ http://other.example/\r\n")
            self.send(d, "http://www.evil.example/x http://good.example/ http://gone.example/a\r\n")
            self.send(d, "http://worst.example/ http://worst.example/2\r\n")
            self.send(d, "hello\r\n", addr="198.51.100.7")
            for _ in range(12):
                self.send(d, TEXT)
            d.wait_for(lambda: self.day(d)["messages"] == 16, "all messages")
            day = self.day(d)
            self.assertEqual((day["accept"], day["header"], day["reject"]), (14, 1, 1))
            self.assertEqual((day["skipped"], day["on_error"], day["quarantine"]), (1, 0, 0))
            self.assertGreater(day["bytes"], 12 * len(TEXT))
            urls = {r["rating"]: r["count"] for r in self.rows(d) if r["type"] == "urls"}
            self.assertEqual(urls, {"CLEAN": 4, "FALSE_POSITIVE": 0, "SUSPICIOUS": 0,
                                    "BLOCKED_PATTERN": 0, "MALICIOUS": 0, "ML_DETECTED_MALICIOUS": 0, "KNOWN_MALICIOUS": 3})
            times = {r["stage"]: r for r in self.rows(d) if r["type"] == "time"}
            self.assertEqual({s: r["count"] for s, r in times.items()},
                             {"parse": 15, "lookup": 15, "count": 15, "verdict": 15, "message": 16,
                              "url": 7})
            parts = sum(times[s]["sum_us"] for s in ("lookup", "count", "verdict"))
            self.assertGreaterEqual(times["message"]["sum_us"], parts)
            found = self.symbols(d)
            self.assertEqual((found["LIST_PHISH"]["day"], found["LIST_BAD"]["total"]), (1, 1))
            self.assertGreaterEqual(found["BULK_TEXT"]["day"], 1)
            text = gillnet("stat", "-c", d.conf).stdout
            self.assertRegex(text, r"in the last day: 16 messages: accept 14, header 1, reject 1, "
                                   r"skipped 1; a message took .* on average\n  symbols: ")
            page = f"{d.state}/counts/gillnetd.history"
            self.assertEqual(os.stat(page).st_mode & 0o777, 0o640)
            d.stop()
            d.start()
            self.send(d, "http://evil.example/\r\n")
            d.wait_for(lambda: self.day(d)["messages"] == 17, "one more")
            self.assertEqual(self.symbols(d)["LIST_PHISH"]["day"], 2)

    def past(self, d, period):
        """Messages of a period, and those that were refused."""
        p = gillnet("--json", "stat", "--history", period, "-c", d.conf)
        rows = [json.loads(line) for line in p.stdout.splitlines()]
        return sum(r["messages"] for r in rows), sum(r["reject"] for r in rows)

    def assert_past(self, d, want):
        d.wait_for(lambda: self.past(d, "day") == want, f"{want} today")
        self.assertEqual({p: self.past(d, p) for p in ("week", "month", "year", "years")},
                         dict.fromkeys(("week", "month", "year", "years"), want))

    def test_long_history__survives_kills_damage_and_comes_from_the_day(self):
        with Daemon(CONF, lists={"bad": ["worst.example"]}) as d:
            file = f"{d.state}/counts/gillnetd.periods"
            self.send(d, "hello\r\n")
            self.send(d, "http://worst.example/\r\n")
            self.assert_past(d, (2, 1))
            self.assertEqual(os.stat(file).st_mode & 0o777, 0o640)
            d.proc.kill()
            d.proc.wait()
            d.start()
            self.send(d, "hello\r\n")
            self.assert_past(d, (3, 1))
            now, = [r for r in self.rows(d) if r["type"] == "now"]
            self.assertEqual((now["today"]["messages"], now["refused"], now["state"]), (3, 1, "well"))
            self.assertIn("Well. 3 messages today, 1 refused, 0 marked.\n", gillnet("stat", "-c", d.conf).stdout)
            d.stop()
            os.remove(file)  # as the release before had none
            d.start()
            self.assert_past(d, (3, 1))
            d.stop()
            with open(file, "r+b") as f:
                f.write(b"nonsense")
            d.start()
            d.wait_log("event=periods")
            d.wait_log("this is not a file of gillnet's hours and days")
            self.send(d, "hello\r\n")
            self.assert_past(d, (4, 1))

    def test_damaged_page__begun_anew_and_mail_flows(self):
        with Daemon(CONF) as d:
            self.send(d, "hello\r\n")
            d.stop()
            with open(f"{d.state}/counts/gillnetd.history", "r+b") as f:
                f.write(b"nonsense")
            p = gillnet("stat", "-c", d.conf)
            self.assertIn("this is not a page of gillnet's history", p.stderr)
            self.assertNotIn("in the last day", p.stdout)
            d.start()
            self.send(d, "hello\r\n")
            d.wait_for(lambda: self.day(d)["messages"] == 1, "the message")

    def test_no_folder_for_the_page__a_fault_and_mail_flows(self):
        with Daemon(CONF) as d:
            d.stop()
            page = f"{d.state}/counts/gillnetd.history"
            os.remove(page)
            os.mkdir(page)
            d.start()
            self.send(d, "hello\r\n")
            d.wait_for(lambda: d.lines(), "the message")
            faults = [r["text"] for r in self.rows_of_stat(d) if r["type"] == "fault"]
            self.assertTrue(any(f.startswith("history: ") for f in faults), faults)

    def rows_of_stat(self, d):
        p = gillnet("--json", "stat", "-c", d.conf, check=False)
        return [json.loads(line) for line in p.stdout.splitlines()]


if __name__ == "__main__":
    unittest.main()
