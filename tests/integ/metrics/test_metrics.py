#!/usr/bin/env python3
"""GET /metrics of a real hub beside a real gillnetd; alerts in API, log and `gillnet stat`; metrics of rules and dashboard."""
import json
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import promtool

sys.path[:0] = [str(promtool.ROOT / "tests/integ/peers"), str(promtool.ROOT / "tests/integ/milter")]
from mta import Mta  # noqa: E402
from ring import Ring, free_port, until  # noqa: E402

DASHBOARD = promtool.ROOT / "contrib/grafana/gillnet.json"
# promtool's one remark: the source document's name has a unit that Prometheus would not choose.
KNOWN = ['bloom_filter_size_bits use base unit "bytes" instead of "bits"']
SOURCE_NAMES = {  # requirement 152
    "spam_url_checks_total": "counter", "spam_url_check_duration_seconds": "histogram",
    "bloom_filter_hits_total": "counter", "bloom_filter_size_bits": "gauge",
    "bloom_filter_false_positive_rate": "gauge", "store_memory_bytes": "gauge",
    "new_threats_added_total": "counter", "feed_update_duration_seconds": "histogram",
    "messages_blocked_total": "counter", "false_positive_reports_total": "counter"}
ROW = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Scrape:
    def __init__(self, text):
        self.text = text
        self.types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
        self.help = dict(re.findall(r"^# HELP (\w+) (.+)$", text, re.M))
        self.rows = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, labels, value = ROW.match(line).groups()
                self.rows[name, tuple(sorted(LABEL.findall(labels or "")))] = float(value)

    def get(self, name, **labels):
        return self.rows[name, tuple(sorted(labels.items()))]

    def names(self):
        return {name for name, _ in self.rows} | set(self.types) | {
            name + part for name, kind in self.types.items() if kind == "histogram"
            for part in ("_bucket", "_sum", "_count")}  # a feed's come with its first update


def queries():
    """(where it stands, expression) of all rules and panels; variables of Grafana have a value."""
    out = [(name, rule["expr"]) for name, rule in promtool.rules().items()]
    board = json.loads(DASHBOARD.read_text())
    panels = [p for row in board["panels"] for p in [row, *row.get("panels", [])]]
    for panel in panels:
        out += [(panel["title"], t["expr"]) for t in panel.get("targets", [])]
    out += [(v["name"], re.sub(r"^label_values\((.*), *\w+\)$", r"\1", v["query"]["query"]))
            for v in board["templating"]["list"] if v["type"] == "query"]
    return [(where, e.replace("$__rate_interval", "5m").replace("$instance", ".*")) for where, e in out]


def names_in(expr):
    return set(re.findall(r"\b((?:gillnet|spam|bloom|store|new_threats|feed_update|messages|false_positive|process)_\w+)",
                          re.sub(r"\{[^}]*\}", "", expr)))


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ring = Ring("one", "two")
        cls.addClassCleanup(lambda: cls.ring.__exit__(None, None, None))
        cls.one, _ = cls.ring.__enter__()
        cls.port = free_port()
        one = cls.one
        one.kill_hub()
        text = one.conf.read_text().replace("api = { listen = []; };", f"""
            api = {{ listen = [ "127.0.0.1:{cls.port}" ]; }};
            alerts = {{ interval = "1s"; }};
            thresholds = {{ header = 5.0; reject = 10.0; }};
            lists = ( {{ name = "phish"; weight = 6.0; max_age = "365d"; }}, {{ name = "bad"; weight = 12.0; }} );""")
        one.conf.write_text(text)
        one.run("list", "add", "--create", "phish", "evil.example")
        one.run("list", "add", "--create", "bad", "worst.example")
        one.daemon()
        one.hub()
        until(lambda: cls.scrape().rows.get(("gillnet_peer_connected", (("peer", "two"),))) == 1,
              "the other server", log=one.logs)

    @classmethod
    def fetch(cls, path):
        def get():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{cls.port}{path}", timeout=30) as answer:
                    return answer.read().decode()
            except ConnectionError:
                return None
        return until(get, path, log=cls.one.logs)

    @classmethod
    def scrape(cls):
        return Scrape(cls.fetch("/metrics"))

    def send(self, body):
        m = Mta(f"unix:{self.one.top}/{self.one.name}.sock")
        m.hello()
        m.message(body=body.encode())
        m.quit()

    def test_format__when_linted__then_one_known_remark(self):
        self.assertEqual(promtool.run("check", "metrics", text=self.scrape().text), (0, ""))
        status, said = promtool.run("check", "metrics", text=self.fetch("/metrics?names=all"))
        self.assertEqual((status, said.splitlines()), (3, KNOWN))

    def test_names__of_the_source_document__then_all_there(self):
        s = Scrape(self.fetch("/metrics?names=all"))
        self.assertEqual({n: s.types.get(n) for n in SOURCE_NAMES}, SOURCE_NAMES)
        few = self.scrape()
        self.assertEqual([n for n in few.types if not n.startswith("gillnet_")], [])
        self.assertEqual(set(few.types) - set(s.types), set())
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.fetch("/metrics?names=some")
        self.assertEqual(refused.exception.code, 400)

    def test_each_name__then_it_has_help_and_type(self):
        s = self.scrape()
        base = {re.sub(r"_(bucket|sum|count)$", "", n) if n not in s.types else n for n, _ in s.rows}
        self.assertEqual(base - set(s.types), set())
        self.assertEqual(set(s.types), set(s.help))

    def test_each_number_of_gillnetd__then_it_is_there(self):
        table = (promtool.ROOT / "core/telemetry/stats.def").read_text()
        names = self.scrape().names()
        missing = []
        for ours, kind in re.findall(r"^STAT\((\w+), (\w+),", table, re.M):
            name = re.sub(r"^list_", "lists_", ours)
            for end, unit in (("_us", "_seconds"), ("_ppb", "_ratio"), ("_bits", "_bytes"),
                              ("_time", "_time_seconds"), ("count_oldest", "count_oldest_time_seconds")):
                name = re.sub(f"{end}$", unit, name)
            name = re.sub(r"^action_\w+", "actions", re.sub(r"_(10m|1h|1d|14d)_ratio$", "_ratio", name))
            name = re.sub(r"^limit_\w+", "limit_met", name)
            name = re.sub(r"^(count_cells_over)_\w+", r"\1_threshold", name)
            name = f"gillnet_{name}{'_total' if kind == 'COUNTER' else ''}"
            if name not in names and ours != "pid":
                missing.append(name)
        self.assertEqual(missing, [])

    def test_each_number_of_the_hub__then_it_is_there(self):
        numbers = self.one.control("stat").splitlines()[1:]
        shown = [n for n in self.scrape().types if n.startswith("gillnet_hub_")]
        self.assertGreater(len(numbers), 10)
        self.assertEqual(len(shown), len(numbers), (numbers, shown))

    def test_messages__when_they_come__then_counters_rise(self):
        before = self.scrape()
        self.send("http://evil.example/a http://good.example/\r\n")
        self.send("http://worst.example/\r\n")
        now = until(lambda: (s := self.scrape()).get("gillnet_messages_total") ==
                    before.get("gillnet_messages_total") + 2 and s, "two messages", log=self.one.logs)

        def rise(name, **labels):
            return now.get(name, **labels) - before.get(name, **labels)
        self.assertEqual(rise("gillnet_url_checks_total", status="KNOWN_MALICIOUS", via="mail"), 2)
        self.assertEqual(rise("gillnet_url_checks_total", status="CLEAN", via="mail"), 1)
        self.assertEqual(rise("gillnet_url_checks_total", status="CLEAN", via="api"), 0)
        self.assertEqual(rise("gillnet_url_check_duration_seconds_count"), 3)
        self.assertEqual(rise("gillnet_url_check_duration_seconds_bucket", le="+Inf"), 3)
        self.assertGreater(rise("gillnet_url_check_duration_seconds_sum"), 0)
        self.assertEqual(rise("gillnet_messages_blocked_total"), 1)
        self.assertEqual(rise("gillnet_actions_total", action="header"), 1)
        self.assertEqual(rise("gillnet_stage_duration_seconds_count", stage="message"), 2)
        self.assertGreaterEqual(rise("gillnet_lists_confirmed_total"), 2)
        self.assertEqual(now.get("gillnet_symbol_hits_total", symbol="LIST_BAD"), 1)

    def test_lists_and_peers__then_each_has_its_rows(self):
        s = self.scrape()
        self.assertEqual(s.get("gillnet_list_entries", list="phish"), 1)
        self.assertEqual(s.get("gillnet_list_fault", list="bad"), 0)
        self.assertEqual(s.get("gillnet_list_max_age_seconds", list="phish"), 365 * 86400)
        self.assertEqual(s.get("gillnet_peer_connected", peer="two"), 1)
        self.assertGreater(s.get("gillnet_memory_limit_bytes"), s.get("gillnet_memory_bytes"))
        self.assertGreater(s.get("gillnet_memory_bytes"), 1 << 20)
        self.assertGreater(s.get("gillnet_api_requests_total", route="/metrics", code="2xx"), 0)
        self.assertNotIn("gillnet_peer_connected", [n for n, labels in s.rows if ("peer", "one") in labels])

    def test_queries__of_rules_and_dashboard__then_their_names_are_there(self):
        names = self.scrape().names()
        for where, expr in queries():
            wanted = names_in(expr)
            self.assertTrue(wanted or "up{" in expr or "ALERTS" in expr, f"{where}: {expr}")
            self.assertEqual(wanted - names, set(), f"{where}: {expr}")

    def test_dashboard__then_promtool_reads_every_query(self):
        found = queries()
        rules = [{"record": f"test:query{i}", "expr": expr} for i, (_, expr) in enumerate(found)]
        with tempfile.TemporaryDirectory() as top:
            path = pathlib.Path(top) / "rules.yml"
            path.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
            status, said = promtool.run("check", "rules", path)
        self.assertEqual(status, 0, said)
        self.assertIn(f"{len(found)} rules found", said)

    def test_dashboard__then_panels_have_titles_places_and_units(self):
        board = json.loads(DASHBOARD.read_text())
        panels = [p for p in board["panels"] if p["type"] != "row"]
        ids = [p["id"] for p in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(len({p["title"] for p in panels}), len(panels))
        taken = set()
        for p in board["panels"]:
            g = p["gridPos"]
            cells = {(x, y) for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])}
            self.assertTrue(g["x"] + g["w"] <= 24 and not cells & taken, p["title"])
            taken |= cells
        for p in panels:
            self.assertIn("unit", p["fieldConfig"]["defaults"], p["title"])
            self.assertEqual(p["datasource"]["uid"], "${datasource}", p["title"])

    def test_xalerts__gillnetd_ends__then_it_fires_in_every_place_and_is_over(self):
        one = self.one

        def alert():
            rows = json.loads(self.fetch("/v1/alerts"))["alerts"]
            return next((r for r in rows if r["name"] == "GillnetDown"), None)
        self.assertFalse(until(alert, "a first look", log=one.logs)["firing"])
        self.assertNotIn("GillnetDown", one.run("stat"))
        one.daemon_proc.terminate()
        one.daemon_proc.wait()
        row = until(lambda: (r := alert())["firing"] and r, "the alert", log=one.logs)
        self.assertEqual((row["severity"], row["value"], row["threshold"]), ("critical", 1, 0))
        self.assertIn("systemctl start gillnetd", row["action"])
        self.assertEqual(self.scrape().get("gillnet_alert_firing", alert="GillnetDown", severity="critical"), 1)
        self.assertEqual(self.scrape().get("gillnet_gillnetd_up"), 0)
        self.assertIn("alert GillnetDown (critical): gillnetd does not run", one.run("stat"))
        self.assertEqual([r["name"] for r in one.json("stat") if r["type"] == "alert"], ["GillnetDown"])
        one.daemon()
        until(lambda: not alert()["firing"], "its end", log=one.logs)
        self.assertEqual(len(one.hub_lines("event=alert state=firing name=GillnetDown severity=critical")), 1)
        self.assertEqual(len(one.hub_lines("event=alert state=over name=GillnetDown")), 1)
        self.assertNotIn("GillnetDown", one.run("stat"))


if __name__ == "__main__":
    sys.exit(unittest.main())
