"""The hub hands messages to gillnetd, and shows the day that gillnetd had: /v1/scan and /v1/history."""
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "api"), str(HERE.parent / "milter")]
from hub import Hub, until  # noqa: E402
from mta import Mta  # noqa: E402

MAIL = {"Content-Type": "message/rfc822"}
CONF = 'thresholds = { header = 5.0; reject = 20.0; };\n' \
       'rules = ( { name = "text"; type = "text"; count = 5; score = 0.5; } );'
TEXT = b"Buy ten of these wonderful things today, and get an eleventh one for nothing at all.\r\n"
LISTED = b"From: a@b.example\r\nSubject: pay\r\n\r\nhttp://evil1.example/pay?x=1\r\n"


class Day(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(more=CONF).start()
        self.addCleanup(self.hub.close)

    def send(self, body):
        m = Mta(f"unix:{self.hub.top}/gillnetd.sock")
        m.hello()
        m.message(body=body)
        m.quit()

    def history(self):
        return self.hub.get("/v1/history").json()

    def scan(self, message, query=""):
        return self.hub.post(f"/v1/scan{query}", message, headers=MAIL)

    def test_scan__allowed_but_unproved__says_who(self):
        self.hub.configure("", CONF + 'allow = { domains = [ "b.example" ]; };')
        self.hub.start_gillnetd()
        self.assertEqual(self.scan(LISTED).json()["unproved"], "a@b.example")

    def test_scan__as_check(self):
        answer = self.scan(LISTED)
        self.assertEqual(answer.status, 503, "gillnetd does not run")
        self.assertEqual(answer.json()["status"], 503)
        self.hub.start_gillnetd()
        path = self.hub.top / "mail.eml"
        for message in (LISTED, b"", TEXT * 50, LISTED * 1000):
            path.write_bytes(message)
            options = ["--client", "192.0.2.9", "--from", "x y@z.example", "--rcpt", "r@s.example", "--rcpt", "t@u.example"]
            listed = 1 if b"evil1" in message else 0
            want = json.loads(self.hub.run("--json", "check", *options, path, rc=listed))
            got = self.scan(message, "?client=192.0.2.9&from=x%20y%40z.example&rcpt=r@s.example&rcpt=t@u.example").json()
            for key in ("file", "time_us"):
                want.pop(key)
                got.pop(key)
            self.assertEqual(got, want)
        self.assertEqual(self.scan(LISTED, "?client=nonsense").status, 422)
        self.assertEqual(self.scan(LISTED, "?what=1").status, 400)

    def test_history__the_day_that_was(self):
        day = self.history()
        self.assertEqual((len(day["buckets"]), day["bulk"], day["symbols"]), (145, [], []))
        self.hub.start_gillnetd()
        for _ in range(20):
            self.send(TEXT)
        self.send(LISTED.split(b"\r\n\r\n")[1])
        until(lambda: sum(b["messages"] for b in self.history()["buckets"]) == 21, "the messages")
        day = self.history()
        self.assertEqual(sum(b["accept"] for b in day["buckets"]), 20)
        self.assertEqual(sum(b["header"] for b in day["buckets"][-2:]), 1)
        self.assertEqual(sum(day["scores"]["counts"]), 21)
        self.assertEqual(day["scores"]["thresholds"],
                         {"header": 5.0, "quarantine": None, "defer": None, "reject": 20.0, "discard": None})
        names = [s["name"] for s in day["symbols"]]
        self.assertIn("LIST_PHISH", names)
        self.assertEqual(names[0], "BULK_TEXT")
        for stage in ("parse", "lookup", "count", "verdict", "message"):
            t = day["latency"][stage]
            self.assertEqual((t["count"], sum(t["counts"]), len(t["counts"])), (21, 21, len(t["le_us"]) + 1))
        until(lambda: self.history()["bulk"][0]["spark"], "counts of the key")
        key = self.history()["bulk"][0]
        self.assertEqual((key["type"], key["w10m"], key["w1d"], key["w14d"]), ("text", 20, 20, 20))
        self.assertEqual((len(key["spark"]), sum(key["spark"])), (48, 20))


if __name__ == "__main__":
    unittest.main()
