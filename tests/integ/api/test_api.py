#!/usr/bin/env python3
"""The HTTP API: look-ups, tables, roles, reports. Usage: test_api.py [TEST...]"""
import concurrent.futures
import hashlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import sys
import time
import unittest

import jsonschema

import openapi
from hub import LISTED, TOP, Hub, hold_lock, until

sys.path.insert(0, str(TOP / "tests/integ/milter"))

from mta import Mta  # noqa: E402

Hub.checker = staticmethod(openapi.check)

MAIL = b"From: a@sender.example\r\nTo: b@here.example\r\nSubject: x\r\n\r\nSee http://evil1.example/pay?x=1 now\r\n"


def statuses(answer):
    return [r["status"] for r in answer.json()["results"]]


class Api(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(api='local_role = "admin";')
        self.addCleanup(self.hub.close)
        self.hub.start()

    # ---- look-ups ----

    def test_check_urls__as_the_source_document_has_it(self):
        urls = ["http://evil1.example/pay?x=1", "https://www.bad2.example/any", "http://good.example.net/", "no url"]
        a = self.hub.post("/check-urls", {"urls": urls})
        self.assertEqual(a.status, 200)
        self.assertEqual([r["url"] for r in a.json()["results"]], urls)
        self.assertEqual(statuses(a), ["MALICIOUS", "MALICIOUS", "CLEAN", "INVALID"])
        self.assertEqual([r["requires_blocking"] for r in a.json()["results"]], [True, True, False, False])
        self.assertGreaterEqual(a.json()["processing_time_ms"], 0)
        self.hub.post("/v1/check", {"values": ["bad2.example", "http://good.example.net/"]})
        shown = self.hub.get("/metrics").body.decode()
        for status, n in (("MALICIOUS", 2), ("CLEAN", 2), ("KNOWN_MALICIOUS", 0)):
            self.assertIn(f'gillnet_url_checks_total{{status="{status}",via="api"}} {n}\n', shown)

    def test_check__values_of_any_type__then_statuses_with_provenance(self):
        self.hub.run("list", "add", "--create", "manual", "mine@evil.example")
        until(lambda: statuses(self.hub.post("/v1/check", {"values": ["mine@evil.example"]})) == ["KNOWN_MALICIOUS"],
              "a person's entry is not seen")
        a = self.hub.post("/v1/check", {"values": LISTED + ["sub.bad2.example", "nobody.example", "x"]})
        self.assertEqual(statuses(a), ["MALICIOUS"] * 5 + ["CLEAN", "INVALID"])
        match = a.json()["results"][1]["matches"][0]
        self.assertEqual((match["list"], match["origin"], match["type"], match["key"], match["source"], match["status"]),
                         ("phish", None, "domain", "bad2.example", "feed", "confirmed"))
        self.assertLess(abs(match["first_seen_s"] - time.time()), 600)

    def test_blocking__then_by_weights_thresholds_and_what_is_allowed_everywhere(self):
        hub = Hub(more="""protected = [ "ours.example" ];
            allow = { networks = [ "192.0.2.0/24" ]; domains = [ "partner.example" ]; };""")
        self.addCleanup(hub.close)
        hub.conf.write_text(hub.conf.read_text().replace(
            '{ name = "phish"; weight = 8.0; }',
            '{ name = "phish"; weight = 8.0; }, { name = "light"; weight = 1.0; }, { name = "half"; weight = 4.0; }'))
        for name, values in {"heavy": "a", "light": "b both", "half": "both"}.items():
            hub.run("list", "import", "phish" if name == "heavy" else name, "-",
                    stdin="".join(f"{v}.example\n" for v in values.split()))
        ours = ["ours.example", "x.partner.example", "192.0.2.7", "nice.example", "http://nice.example/"]
        hub.run("list", "import", "own", "-", stdin="\n".join(ours) + "\n")
        hub.run("list", "import", "allow", "-", stdin="nice.example\nhttp://nice.example/\n")
        hub.start()
        want = {"a.example": True, "b.example": False, "both.example": True, "nobody.example": False,
                **dict.fromkeys(ours, False)}
        until(lambda: hub.post("/v1/check", {"values": ["nice.example"]}).json()["results"][0]["matches"],
              "the lists are not seen")
        a = hub.post("/v1/check", {"values": list(want)}).json()["results"]
        self.assertEqual({r["value"]: r["requires_blocking"] for r in a}, want)
        said = hub.run("--json", "lookup", *want, rc=1).splitlines()
        said = {r["value"]: r["requires_blocking"] for r in map(json.loads, said) if "rating" in r}
        self.assertEqual(said, want)
        urls = {f"http://{v}/": b for v, b in want.items() if v.endswith(".example")}
        a = hub.post("/check-urls", {"urls": list(urls)}).json()["results"]
        self.assertEqual({r["url"]: r["requires_blocking"] for r in a}, urls)
        mail = hub.top / "m.eml"
        mail.write_text("From: x@y.example\n\n" + "\n".join(urls) + "\n")
        rows = json.loads(hub.run("--json", "check", mail, rc=(0, 1)))["lists"]
        for row in rows:
            if row["status"] == "confirmed" and row["value"] in want:
                self.assertEqual(row["requires_blocking"], want[row["value"]], row)

    def test_check__what_the_command_says(self):
        values = LISTED + ["http://www.evil1.example/pay?x=1", "198.51.100.7", "a@bad2.example"]
        said = self.hub.run("--json", "lookup", *values, rc=1).splitlines()
        said = {r["value"]: r["rating"] for r in map(json.loads, said) if "rating" in r}
        a = self.hub.post("/v1/check", {"values": values})
        self.assertEqual({r["value"]: r["status"] for r in a.json()["results"]}, said)

    def test_counts__of_gillnetd__and_null_while_it_is_down(self):
        ask = {"values": ["http://evil1.example/pay?x=1"], "counts": True}
        self.assertIsNone(self.hub.post("/v1/check", ask).json()["results"][0]["counts"])
        self.hub.start_gillnetd()
        a = self.hub.ask("POST", "/v1/scan?client=192.0.2.9&from=a%40sender.example&rcpt=b%40here.example", MAIL,
                         {"Content-Type": "message/rfc822"})
        self.assertEqual(a.status, 200, a.body)
        a = self.hub.post("/v1/check", ask)
        self.assertEqual(statuses(a), ["MALICIOUS"])
        self.assertIsInstance(a.json()["results"][0]["counts"], list)
        self.assertEqual(self.hub.post("/v1/check", {"values": ["a.example.net"] * 21, "counts": True}).status, 413)
        self.assertEqual(self.hub.get("/v1/history").json()["bucket_s"], 600)
        week = self.hub.get("/v1/history?period=week").json()
        self.assertEqual((week["period"], week["bucket_s"], len(week["buckets"]), week["missing"]), ("week", 3600, 169, []))
        for query in ("period=decade", "period=", "server=", "server=nobody&period=", "period=%zz"):
            self.assertEqual(self.hub.get(f"/v1/history?{query}").status, 400, query)
        self.assertEqual(self.hub.get("/v1/history?server=nobody").status, 404)
        now = self.hub.get("/v1/now").json()
        self.assertEqual((now["today"]["messages"], now["feeds"]), (0, None))
        servers = self.hub.get("/v1/servers").json()
        self.assertEqual([(r["name"], r["self"], r["summary"]) for r in servers["servers"]], [("this", True, "current")])

    def test_more_values_than_a_batch__then_all_in_order(self):
        hub = Hub(api="values = 5000;")
        self.addCleanup(hub.close)
        hub.start()
        values = [f"h{i}.bad2.example" if i % 7 == 0 else f"h{i}.good.example.net" for i in range(5000)]
        a = hub.post("/v1/check", {"values": values})
        self.assertEqual([r["value"] for r in a.json()["results"]], values)
        self.assertEqual(statuses(a), ["MALICIOUS" if i % 7 == 0 else "CLEAN" for i in range(5000)])
        self.assertEqual(hub.post("/v1/check", {"values": values + ["x.example.net"]}).status, 413)

    def test_a_list_that_changes__then_answers_follow(self):
        ask = {"values": ["new.evil.example"]}
        self.assertEqual(statuses(self.hub.post("/v1/check", ask)), ["CLEAN"])
        self.hub.run("list", "add", "--create", "phish", "new.evil.example")
        until(lambda: statuses(self.hub.post("/v1/check", ask)) == ["KNOWN_MALICIOUS"], "the entry is not seen")
        self.hub.run("list", "add", "--create", "fresh", "other.evil.example")
        until(lambda: statuses(self.hub.post("/v1/check", {"values": ["other.evil.example"]})) == ["KNOWN_MALICIOUS"],
              "the new list is not seen")

    # ---- what is shown ----

    def test_shown__every_section(self):
        lists = self.hub.get("/v1/lists").json()["lists"]
        self.assertEqual([(r["name"], r["entries"]) for r in lists], [("phish", len(LISTED))])
        none = {"total": 0, "found": 0, "next": None}
        self.assertEqual(self.hub.get("/v1/feeds").json(), {"feeds": [], "sums": {"enabled": 0, "well": 0}, **none})
        self.assertEqual(self.hub.get("/v1/peers").json(), {"ring": None, "store": None, "peers": [], "subscriptions": [],
                                                            "sums": {"others": 0, "connected": 0}, **none})
        self.assertEqual(self.hub.get("/v1/progress").json(), {"tasks": []})
        self.assertIn("alerts", self.hub.get("/v1/alerts").json())
        self.assertEqual(self.hub.get("/stats").json()["filter"]["entries"], len(LISTED))
        self.assertFalse(self.hub.get("/v1/stats").json()["gillnetd"]["running"])
        self.assertIn(b"# TYPE", self.hub.get("/metrics").body)
        page = self.hub.get("/")
        self.assertEqual((page.status, page.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertEqual(self.hub.get("/", {"If-None-Match": page.headers["ETag"]}).status, 304)

    def test_ready__when_gillnetd_works_and_lists_are_whole(self):
        a = self.hub.get("/readyz")
        self.assertEqual(a.status, 503)
        self.assertEqual(a.json()["status"], "unready")
        self.hub.start_gillnetd()
        self.assertEqual(self.hub.get("/readyz").json(), {"status": "ready", "reasons": []})
        self.assertTrue(self.hub.get("/v1/stats").json()["gillnetd"]["running"])
        self.hub.daemon.kill()
        self.hub.daemon.wait()
        sign = self.hub.get("/v1/stats").json()["gillnetd"]["stats"]["alive_time"]
        until(lambda: time.time() >= sign + 3, "the clock stands still")
        self.assertEqual(self.hub.get("/readyz").status, 503)
        self.assertFalse(self.hub.get("/v1/stats").json()["gillnetd"]["running"])

    def test_tables__page_by_page__each_row_once(self):
        for name in ("one", "two", "three", "four"):
            (self.hub.top / "entry.txt").write_text(f"{name}.example\n")
            self.hub.run("list", "import", name, self.hub.top / "entry.txt")
        until(lambda: self.hub.get("/v1/lists").json()["sums"]["entries"] == len(LISTED) + 4, "the lists are not seen")
        for sort in ("name", "-name", "entries", "-entries"):
            want = [r["name"] for r in self.hub.get(f"/v1/lists?sort={sort}").json()["lists"]]
            found, answer = [], {"next": ""}
            while answer["next"] is not None:
                cursor = f"&cursor={answer['next']}" if answer["next"] else ""
                answer = self.hub.get(f"/v1/lists?limit=2&sort={sort}{cursor}").json()
                self.assertLessEqual(len(answer["lists"]), 2)
                self.assertEqual((answer["total"], answer["sums"]["entries"]), (5, len(LISTED) + 4))
                found += [r["name"] for r in answer["lists"]]
            self.assertEqual(found, want)
        self.assertEqual([r["name"] for r in self.hub.get("/v1/lists?q=HRE").json()["lists"]], ["three"])
        for query in ("limit=0", "limit=1001", "sort=nothing", "cursor=00", "page=2", "q=%zz"):
            for table in ("lists", "feeds", "peers"):
                self.assertEqual(self.hub.get(f"/v1/{table}?{query}").status, 400, query)

    def test_methods(self):
        a = self.hub.ask("HEAD", "/v1/lists")
        self.assertEqual((a.status, a.body), (200, b""))
        self.assertGreater(int(a.headers["Content-Length"]), 10)
        a = self.hub.ask("OPTIONS", "/check-urls")
        self.assertEqual((a.status, a.headers["Allow"]), (204, "POST, OPTIONS"))
        a = self.hub.get("/check-urls")
        self.assertEqual((a.status, a.headers["Allow"], a.headers["Content-Type"]),
                         (405, "POST, OPTIONS", "application/problem+json"))
        self.assertEqual(self.hub.ask("DELETE", "/v1/lists").status, 405)
        for method, body in (("PUT", b"{}"), ("PATCH", b"{}"), ("DELETE", None), ("TRACE", None)):
            a = self.hub.ask(method, "/v1/lists", body)
            self.assertEqual((a.status, a.headers["Allow"]), (405, "GET, HEAD, OPTIONS"), method)
        self.assertEqual(self.hub.ask("PUT", "/v1/none", b"{}").status, 404)
        self.assertEqual(self.hub.get("/v1/none").status, 404)
        self.assertEqual(self.hub.get("/v1/lists", {"Accept": "text/html"}).status, 406)
        self.assertEqual(self.hub.get("/v1/lists", {"Accept": "text/html, application/*;q=0.5"}).status, 200)
        self.assertEqual(self.hub.post("/check-urls", {"urls": []}, {"Content-Type": "text/plain"}).status, 415)

    def test_packed_bodies__then_refused(self):
        for coding, status in (("gzip", 415), ("br", 415), ("identity", 200)):
            a = self.hub.post("/check-urls", {"urls": ["http://a.example/"]}, {"Content-Encoding": coding})
            self.assertEqual(a.status, status, coding)

    def test_a_parameter_that_is_not_known__then_refused_and_those_that_are_named(self):
        for path in ("/v1/stats?x=1", "/healthz?", "/v1/history?day", "/metrics?name[]=a"):
            self.assertEqual(self.hub.get(path).status, 200 if path.endswith("?") else 400, path)
        a = self.hub.ask("POST", "/v1/scan?klient=1", b"A: b\r\n\r\n", {"Content-Type": "message/rfc822"})
        self.assertEqual(a.status, 400)
        self.assertIn("client helo from rcpt", a.json()["detail"])

    # ---- who may what ----

    def test_roles__each_may_what_its_role_says(self):
        hub = Hub(api='local_role = "none";')
        self.addCleanup(hub.close)
        tokens = {r: hub.token(f"t-{r}", r) for r in ("read", "report", "messages", "admin")}
        self.assertEqual(os.stat(hub.tokens).st_mode & 0o777, 0o640)
        self.assertNotIn(tokens["admin"], hub.tokens.read_text())
        hub.start()
        calls = {"read": lambda h: hub.get("/v1/lists", h),
                 "report": lambda h: hub.post("/v1/report", {"kind": "spam", "values": ["x.example.net"]}, h),
                 "messages": lambda h: hub.get("/v1/reports", h),
                 "admin": lambda h: hub.post("/v1/allow", {"values": ["ok.example.net"]}, h)}
        order = ["read", "report", "messages", "admin"]
        for has in order:
            for needs in order:
                may = order.index(has) >= order.index(needs)
                a = calls[needs]({"Authorization": f"Bearer {tokens[has]}"})
                self.assertEqual(a.status in (200, 202), may, (has, needs, a.body))
                self.assertTrue(may or a.status == 403)
        for needs in order:
            self.assertEqual(calls[needs]({}).status, 401)
            self.assertEqual(calls[needs]({"Authorization": "Bearer gnt-wrong"}).status, 401)
        self.assertEqual(hub.get("/healthz").status, 200)
        self.assertEqual(hub.get("/healthz", {"Authorization": "Bearer gnt-wrong"}).status, 200)
        self.assertEqual(hub.get("/").status, 200)
        self.assertEqual(hub.get("/v1/lists", unix=True).status, 401)

    def test_tokens__when_the_file_changes__then_it_holds_at_once_and_unsafe_ones_do_not(self):
        hub = Hub(api='local_role = "none";')
        self.addCleanup(hub.close)
        hub.start()
        head = {"Authorization": "Bearer " + hub.token("one", "read")}
        until(lambda: hub.get("/v1/lists", head).status == 200, "the new token is not accepted")
        os.chmod(hub.tokens, 0o644)
        until(lambda: hub.get("/v1/lists", head).status == 401, "a file that others may read is used")
        os.chmod(hub.tokens, 0o600)
        until(lambda: hub.get("/v1/lists", head).status == 200, "the mended file is not used")
        hub.tokens.write_text("")
        until(lambda: hub.get("/v1/lists", head).status == 401, "a token that is gone is accepted")

    def test_behind_a_proxy__then_nobody_is_local(self):
        self.assertEqual(self.hub.get("/v1/lists", {"X-Forwarded-For": "192.0.2.1"}).status, 401)

    def test_browsers_that_others_sent__then_refused(self):
        host = f"127.0.0.1:{self.hub.port}"
        for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{self.hub.port}"},
                        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"http://localhost:{self.hub.port}"},
                        {"Sec-Fetch-Site": "cross-site"}):
            self.assertEqual(self.hub.get("/v1/lists", headers).status, 403, headers)
            self.assertEqual(self.hub.post("/v1/allow", {"values": ["a.example.net"]}, headers).status, 403, headers)
        for headers in ({"Host": host, "Origin": f"http://{host}"}, {"Host": "localhost"}, {"Host": "[::1]:8896"},
                        {"Sec-Fetch-Site": "same-origin"}):
            self.assertEqual(self.hub.get("/v1/lists", headers).status, 200, headers)

    def test_unix_socket__is_the_groups_and_local(self):
        self.assertEqual(os.stat(self.hub.unix).st_mode & 0o777, 0o660)
        self.assertEqual(self.hub.get("/v1/lists", unix=True).status, 200)

    # ---- changes ----

    def test_a_list__is_shown_and_changed_with_a_reason(self):
        self.assertEqual(self.hub.get("/v1/rules").json()["rules"], [])
        head = {"Authorization": "Bearer " + self.hub.token("keeper", "admin")}
        for what in ("add", "revoke"):
            a = self.hub.post(f"/v1/list/{what}", {"list": "phish", "values": ["kept.example.net"], "reason": "a test"}, head)
            self.assertEqual(a.status, 200, a.body)
        first = self.hub.get("/v1/list?name=phish&limit=1", head).json()["entries"][0]
        self.assertEqual((first["value"], first["status"], first["reason"]), ("kept.example.net", "revoked", "a test"))

    def test_ham__then_taken_back_within_a_second_and_in_the_spool(self):
        value = LISTED[0]
        begun = time.monotonic()
        a = self.hub.post("/v1/report", {"kind": "ham", "values": [value]})
        self.assertEqual(a.status, 202)
        self.assertEqual([(r["value"], r["list"], r["status"]) for r in a.json()["changed"]], [(value, "phish", "revoked")])
        until(lambda: statuses(self.hub.post("/v1/check", {"values": [value]})) == ["CLEAN"], "it is still listed")
        print(f'{{"bench": "api_ham", "effective_ms": {(time.monotonic() - begun) * 1000:.0f}}}')
        self.hub.run("lookup", value)  # not listed: exit status 0
        self.assertIn("spool", a.json()["detail"])  # gillnetd does not run
        self.assertIsNone(a.json()["id"])
        self.assertEqual(len(self.spooled("ham")), 1)
        self.assertTrue(self.spooled("ham")[0].startswith("report "))
        self.hub.wait_log("write=report values=0 result=202 who=local")

    def test_ham__of_a_page_below_a_listed_domain__then_the_domain_stays(self):
        a = self.hub.post("/v1/report", {"kind": "ham", "values": ["http://www.bad2.example/fine"]})
        self.assertEqual((a.status, a.json()["changed"]), (202, []))
        self.assertEqual(statuses(self.hub.post("/v1/check", {"values": ["bad2.example"]})), ["MALICIOUS"])

    def spooled(self, kind):
        folder = self.hub.state / "reports/spool" / kind
        files = [f for f in folder.iterdir() if f.suffix != ".tmp"] if folder.exists() else []
        return [f.read_text(errors="replace") for f in files]

    def test_ham__when_killed_before_it_was_done__then_the_client_may_say_it_again(self):
        lock = hold_lock(self.hub.state / "lists/LOCK")
        try:
            c = subprocess.Popen(["curl", "-sS", "-H", "Content-Type: application/json", "-d",
                                  json.dumps({"kind": "ham", "values": ["bad2.example"]}),
                                  f"http://127.0.0.1:{self.hub.port}/v1/report"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            until(lambda: len(self.spooled("ham")) == 1, "the report is not in the spool")
            self.assertIsNone(c.poll())  # not acknowledged yet
            self.hub.kill()
            c.wait(30)
        finally:
            lock.kill()
            lock.wait()
        self.hub.start()
        self.assertEqual(self.hub.post("/v1/report", {"kind": "ham", "values": ["bad2.example"]}).status, 202)
        until(lambda: statuses(self.hub.post("/v1/check", {"values": ["bad2.example"]})) == ["CLEAN"],
              f"it is still listed\n{self.hub.logs()}", seconds=90)
        self.hub.start_gillnetd()  # takes both, which are one report
        until(lambda: not self.spooled("ham"), "gillnetd does not take the spool")
        boss = {"Authorization": "Bearer " + self.hub.token("boss", "admin")}
        rows = self.hub.get("/v1/reports", boss).json()["reports"]
        self.assertEqual([(r["kind"], r["way"], r["reporter"]) for r in rows], [("ham", "api", "administrator")])

    def report_message(self, kind, mail=MAIL):
        return self.hub.ask("POST", f"/v1/report?kind={kind}", mail, {"Content-Type": "message/rfc822"})

    def test_ham__a_message__then_entries_of_itself_alone_are_revoked(self):
        self.hub.run("list", "add", "--create", "allow", "friend.example")
        self.hub.run("list", "add", "--create", "manual", LISTED[0])
        mail = MAIL.replace(b" now", b" http://www.bad2.example/fine http://friend.example/")
        a = self.report_message("ham", mail)
        self.assertEqual((a.status, a.headers["Retry-After"]), (503, "1"))  # no gillnetd: nobody can tell
        self.assertEqual(self.spooled("ham"), [])
        self.hub.start_gillnetd()
        until(lambda: statuses(self.hub.post("/v1/check", {"values": LISTED[:1]})) == ["KNOWN_MALICIOUS"],
              "a person's entry is not seen")
        a = self.report_message("ham", mail)
        self.assertEqual(a.status, 202, a.body)
        taken = ["url:evil1.example/pay?x=1"]
        self.assertEqual(sorted((r["value"], r["list"], r["status"]) for r in a.json()["changed"] if "list" in r),
                         [(taken[0], "manual", "revoked"), (taken[0], "phish", "revoked")])
        until(lambda: statuses(self.hub.post("/v1/check", {"values": LISTED[:3]})) == ["CLEAN", "MALICIOUS", "MALICIOUS"],
              "it is still listed, or the domain that others have too is not")
        again = self.report_message("ham", mail).json()
        self.assertEqual((again["id"], again["again"], again["changed"]), (a.json()["id"], True, []))
        undone = self.hub.post("/v1/reports/undo", {"id": a.json()["id"]})
        self.assertEqual((undone.status, [r["status"] for r in undone.json()["changed"]]), (200, ["added", "added"]), undone.body)
        until(lambda: statuses(self.hub.post("/v1/check", {"values": LISTED[:1]})) == ["KNOWN_MALICIOUS"], "it is not listed again")
        boss = {"Authorization": "Bearer " + self.hub.token("boss", "admin")}
        row = self.hub.get("/v1/reports", boss).json()["reports"][0]
        self.assertEqual((row["undone"], len(row["changed"])), (True, 2))

    def judged(self, value, kind):
        rows = [json.loads(line) for line in self.hub.run("lookup", "--json", value, rc=(0, 1)).splitlines()]
        return [r["judged"][kind]["w14d"] for r in rows if "counted_as" in r]

    def test_reports__then_counted_for_the_values_of_the_message(self):
        self.hub.start_gillnetd()
        self.hub.run("check", "--count", "-", rc=(0, 1), stdin=MAIL.decode())  # seen once, and judged bad by the list
        self.assertEqual(self.judged("from:a@sender.example", "bad"), [1])
        for kind in ("spam", "spam"):  # by one reporter: once
            self.assertEqual(self.report_message(kind).status, 202)
        self.assertEqual(self.judged("from:a@sender.example", "called_spam"), [1])
        self.assertEqual(self.judged("url:evil1.example/pay?x=1", "called_spam"), [1])
        a = self.hub.post("/v1/check", {"values": ["from:a@sender.example"], "counts": True})
        self.assertEqual(a.json()["results"][0]["counts"][0]["judged"]["called_spam"]["w10m"], 1, a.body)
        self.assertEqual(self.report_message("ham").status, 202)  # the last word counts
        self.assertEqual(self.judged("from:a@sender.example", "called_spam"), [0])
        self.assertEqual(self.judged("from:a@sender.example", "called_good"), [1])
        a = self.hub.post("/v1/report", {"kind": "spam", "values": ["from:a@sender.example"]})
        self.assertEqual(a.status, 202, a.body)
        self.assertEqual(self.judged("from:a@sender.example", "called_spam"), [1])

    def test_reports__of_tokens__are_of_reporters_of_their_own(self):
        self.hub.start_gillnetd()
        headers = {"Authorization": f"Bearer {self.hub.token('webmail', 'report')}"}
        a = self.hub.post("/v1/report", {"kind": "spam", "values": ["from:a@sender.example"]}, headers)
        self.assertEqual((a.status, a.json()["reporter"]), (202, "api:webmail"), a.body)
        self.assertEqual(self.hub.get("/v1/reports", headers).status, 403)
        self.assertEqual(self.hub.post("/v1/reports/undo", {"id": a.json()["id"]}, headers).status, 200)
        b = self.hub.post("/v1/report", {"kind": "spam", "values": ["from:b@sender.example"]})
        self.assertEqual(b.json()["reporter"], "administrator")
        self.assertEqual(self.hub.post("/v1/reports/undo", {"id": b.json()["id"]}, headers).status, 422)
        self.assertEqual(self.hub.post("/v1/reports/undo", {"id": "slip"}).status, 422)
        unknown = self.hub.post("/v1/reports/undo", {"id": "1" * 12})
        self.assertEqual(unknown.status, 404, unknown.body)
        self.assertIn("no report with this id", unknown.json()["detail"])

    def test_report_of_a_message__then_its_name_alone_is_kept(self):
        a = self.report_message("spam")
        self.assertEqual(a.status, 202)
        self.hub.start_gillnetd()
        until(lambda: not self.spooled("spam"), "gillnetd does not take the spool")
        text = (self.hub.state / "reports/log.1").read_bytes()
        self.assertIn(b"administrator", text)
        self.assertNotIn(b"evil1", text)
        for path in ("/v1/report", "/v1/report?kind=x", "/v1/report?kind=%ff%"):
            self.assertEqual(self.hub.ask("POST", path, MAIL, {"Content-Type": "message/rfc822"}).status, 422, path)

    def test_revoke_and_allow__then_the_lists_have_it(self):
        a = self.hub.post("/v1/revoke", {"values": ["bad2.example"], "list": "phish"})
        self.assertEqual((a.status, a.json()["changed"][0]["status"]), (200, "revoked"))
        a = self.hub.post("/v1/allow", {"values": ["fine.example.net"]})
        self.assertEqual((a.status, a.json()["changed"][0]["list"]), (200, "allow"))
        self.assertIn("allow: confirmed", self.hub.run("lookup", "fine.example.net", rc=1))
        self.assertEqual(self.hub.post("/v1/allow", {"values": ["a.example.net"], "list": "phish"}).status, 422)
        self.assertEqual(self.hub.post("/v1/revoke", {"values": ["a.example.net"], "list": "slip"}).status, 404)
        self.assertEqual(self.hub.post("/v1/revoke", {"values": ["a.example.net"], "list": "../x"}).status, 422)
        self.assertFalse((self.hub.state / "lists/slip").exists())

    def test_values_that_cannot_be_read__then_nothing_is_changed(self):
        a = self.hub.post("/v1/report", {"kind": "ham", "values": ["bad2.example", "localhost"]})
        self.assertEqual(a.status, 422)
        self.assertIn("localhost", a.json()["detail"])
        self.assertFalse((self.hub.state / "reports").exists())
        self.assertEqual(statuses(self.hub.post("/v1/check", {"values": ["bad2.example"]})), ["MALICIOUS"])

    def test_stop__while_work_waits__then_the_hub_ends(self):
        lock = hold_lock(self.hub.state / "lists/LOCK")
        try:
            c = subprocess.Popen(["curl", "-s", "-H", "Content-Type: application/json", "-d",
                                  json.dumps({"values": ["bad2.example"], "list": "phish"}),
                                  f"http://127.0.0.1:{self.hub.port}/v1/revoke"], stdout=subprocess.DEVNULL)
            time.sleep(0.3)
            self.hub.process.terminate()
            self.assertEqual(self.hub.process.wait(20), 0)
            c.wait(20)
        finally:
            lock.kill()
            lock.wait()

    def test_reload__then_another_role_holds(self):
        self.hub.configure('local_role = "none";')
        self.hub.process.send_signal(1)
        until(lambda: self.hub.get("/v1/lists").status == 401, "the former role is in force")


class Emergency(unittest.TestCase):
    """Emergency mode of gillnetd as the API shows it; look-ups of the API bring it about."""

    def setUp(self):
        more = (TOP / "conf/rules.d/emergency.conf").read_text() + \
            'emergency = { enter = 1.0; escalate = 3; };\nallow = { domains = [ "mine.12345678901.tk" ]; };\n'
        self.hub = Hub(api="values = 5000;", more=more)
        self.addCleanup(self.hub.close)
        self.hub.start()
        self.hub.start_gillnetd()

    def enter(self):
        def is_on():
            self.hub.post("/check-urls", {"urls": [f"http://h{n}.example.net/" for n in range(500)]})
            return self.hub.get("/v1/emergency").json()["active"]
        until(is_on, "emergency mode", seconds=60, step=0.3)

    def test_patterns__only_in_the_mode__then_a_rating_and_a_counter(self):
        urls = ["http://bit.ly/aB3dE6", "http://x.12345678901.tk/", "http://mine.12345678901.tk/",
                "http://bit.ly/abcdefg", "http://www.evil1.example/pay?x=1"]
        before = ["CLEAN"] * 4 + ["MALICIOUS"]
        self.assertEqual(statuses(self.hub.post("/check-urls", {"urls": urls})), before)
        self.assertFalse(self.hub.get("/v1/emergency").json()["active"])
        self.enter()
        want = ["BLOCKED_PATTERN"] * 2 + before[2:]
        until(lambda: statuses(self.hub.post("/check-urls", {"urls": urls})) == want, "the patterns")
        rows = self.hub.post("/v1/check", {"values": urls}).json()["results"]
        self.assertEqual([r["status"] for r in rows], want)
        self.assertEqual([r.get("pattern") for r in rows], ["short_bitly", "digits_tk", None, None, None])
        self.assertEqual([r["requires_blocking"] for r in rows], [False] * 4 + [True])
        shown = self.hub.get("/metrics").body.decode()
        found = re.search(r'gillnet_url_checks_total{status="BLOCKED_PATTERN",via="api"} (\d+)\n', shown)
        self.assertGreaterEqual(int(found[1]), 4)
        self.assertIn("gillnet_emergency 1\n", shown)

    def test_escalated__then_shown_and_lifted(self):
        self.hub.run("list", "import", "phish", "-", stdin="".join(f"http://many.example/{n}\n" for n in range(9)))
        self.enter()
        for n in range(4):
            self.hub.ask("POST", "/v1/scan", f"Subject: x\r\n\r\nhttp://many.example/{n}\r\n".encode(),
                         {"Content-Type": "message/rfc822"})
        said = self.hub.get("/v1/emergency").json()
        self.assertTrue(said["active"])
        self.assertEqual(said["level"], 1)
        row = said["escalated"][0]
        self.assertEqual((row["domain"], row["urls"], row["list"]), ("many.example", 3, "phish"))
        self.assertEqual(row["until_s"] - row["from_s"], 3600)
        lift = "/v1/emergency/lift"
        self.assertEqual(self.hub.post(lift, {"domain": "many.example"}).status, 401)
        head = {"Authorization": "Bearer " + self.hub.token("boss", "admin")}
        until(lambda: self.hub.post(lift, {"domain": "other.example"}, head).status == 404, "the token")
        self.assertEqual(self.hub.post(lift, {"domain": "a\nreload"}, head).status, 422)
        self.assertEqual(self.hub.post(lift, {"domain": "many.example"}, head).json(), {"domain": "many.example", "state": "lifted"})
        self.assertEqual(self.hub.get("/v1/emergency", head).json()["escalated"], [])


HELD = {"id": "2283EA820FA", "time_s": 1795833447, "bytes": 384, "sender": "a@sender.example",
        "recipients": ["b@here.example"], "nrcpt": 1, "from": "A <a@sender.example>", "subject": "pay <now>",
        "reason": "", "symbols": "LIST_PHISH(5.0)", "case": "1kz5tszkk2t3", "score": 5.0, "gillnet": True}


class Queue:
    """Answers as gillnet-queue does; held: the rows."""

    def __init__(self, path, held):
        self.held, self.asked = held, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def answer(self, word, queue_id):
        if word == "list":
            return "ok\n" + "".join(json.dumps(row) + "\n" for row in self.held)
        if queue_id not in [row["id"] for row in self.held]:
            return "error no message %s is held\n" % queue_id
        if word != "show":
            self.held = [row for row in self.held if row["id"] != queue_id]
        return "ok\n" + (MAIL.decode().replace("\r\n", "\n") if word == "show" else "")

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                line = connection.makefile().readline().rstrip("\n")
                self.asked.append(line)
                connection.sendall(self.answer(*line.partition(" ")[::2]).encode())


class Held(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(api='local_role = "admin";', more="count = { messages_per_day = 0; };")
        self.addCleanup(self.hub.close)
        self.hub.conf.write_text(self.hub.conf.read_text()
                                 + f'quarantine = {{ socket = "{self.hub.top}/queue"; }};')
        other = {**HELD, "id": "3CF1CA820FB", "gillnet": False, "nrcpt": 2, "recipients": ["c@here.example", "b@here.example"]}
        self.queue = Queue(f"{self.hub.top}/queue", [HELD, other])
        self.head = {"Authorization": "Bearer " + self.hub.token("boss", "admin")}
        self.desk = {"Authorization": "Bearer " + self.hub.token("desk", "messages")}
        self.hub.start()
        self.hub.start_gillnetd()

    def link(self, row, action="release", expires=2 ** 40):
        token = os.urandom(16).hex()
        folder = self.hub.state / "quarantine/links"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (hashlib.sha256(token.encode()).hexdigest() + ".link")).write_text(json.dumps(
            {"id": row["id"], "time_s": row["time_s"], "recipient": "b@here.example", "action": action,
             "expires_s": expires, "from": row["from"], "subject": row["subject"]}))
        return "/q/" + token

    def test_held__then_listed_released_and_deleted_by_id_alone(self):
        hub = self.hub
        row = {name: value for name, value in HELD.items() if name != "subject"}
        self.assertEqual(hub.get("/v1/quarantine", self.desk).json(), {"held": [row], "total": 1, "found": 1, "next": None})
        self.assertEqual(len(hub.get("/v1/quarantine?all=1", self.desk).json()["held"]), 2)
        self.assertEqual(len(hub.get("/v1/quarantine?all=1&rcpt=C%40here.example", self.desk).json()["held"]), 1)
        self.assertEqual(hub.get("/v1/quarantine?all=x", self.desk).status, 422)
        for word in ("release", "delete"):
            for queue_id, status in (("ALL", 422), ("-h12345", 422), ("a\nb12345", 422), ("99999", 404)):
                self.assertEqual(hub.post("/v1/quarantine/" + word, {"id": queue_id}, self.desk).status, status)
        self.assertNotIn("ALL", " ".join(self.queue.asked))
        done = hub.post("/v1/quarantine/release", {"id": HELD["id"]}, self.desk).json()
        self.assertEqual((done["id"], done["state"], done["reported"]), (HELD["id"], "released", True))
        self.assertEqual(self.queue.asked[-2:], ["show " + HELD["id"], "release " + HELD["id"]])
        (row,) = hub.get("/v1/reports", self.desk).json()["reports"]
        self.assertEqual((row["reporter"], row["id"], row["kind"]), ("api:desk", done["report"]["id"], "ham"))
        self.assertGreater(row["trust"], 0)
        self.assertLess(row["trust"], 0.1)  # nobody knows this reporter yet
        self.assertEqual(hub.post("/v1/quarantine/delete", {"id": "3CF1CA820FB"}, self.desk).status, 200)
        self.assertEqual(self.queue.held, [])

    def test_many__then_page_by_page_found_by_words_and_shown(self):
        hub = self.hub
        rows = [{**HELD, "id": f"4{i:04}AAAA", "time_s": HELD["time_s"] + i, "sender": f"s{i}@x.example", "subject": "=?utf-8?q?gr=C3=BC=C3=9Fe?=",
                 "recipients": [f"r{i}@here.example"]} for i in range(7)]
        self.queue.held = rows
        hub.conf.write_text(hub.conf.read_text() + "journal = { subjects = true; };")
        hub.kill(signal.SIGTERM)
        hub.start()
        ask = lambda query: hub.get("/v1/quarantine?" + query, self.desk).json()
        first = ask("limit=3&sort=-time_s")
        self.assertEqual([r["sender"] for r in first["held"]], ["s6@x.example", "s5@x.example", "s4@x.example"])
        self.assertEqual((first["total"], first["found"]), (7, 7))
        self.assertEqual([r["sender"] for r in ask("limit=3&sort=-time_s&cursor=" + first["next"])["held"]],
                         ["s3@x.example", "s2@x.example", "s1@x.example"])
        self.assertEqual([r["id"] for r in ask("q=S5%40x")["held"]], [rows[5]["id"]])
        self.assertEqual([r["id"] for r in ask("q=r2%40here")["held"]], [rows[2]["id"]])
        self.assertEqual(len(ask("q=gr%C3%BC%C3%9Fe")["held"]), 7)
        self.assertEqual(ask("q=r2%40here&rcpt=r3%40here.example")["held"], [])
        shown = hub.get("/v1/quarantine/message?id=" + rows[0]["id"], self.desk).json()
        self.assertEqual((shown["text"], shown["bytes"], shown["cut"]), (MAIL.decode().replace("\r\n", "\n"), len(MAIL.replace(b"\r\n", b"\n")), False))
        self.assertEqual(hub.get("/v1/quarantine/message?id=40000BBBB", self.desk).status, 404)
        for bad in ("", "?id=", "?id=ALL", "?id=-h12345", "?id=4%0A0000", f"?id={rows[0]['id']}&id={rows[1]['id']}"):
            self.assertEqual(hub.get("/v1/quarantine/message" + bad, self.desk).status, 422, bad)

    def test_bulk__one_is_gone__then_a_result_for_each(self):
        hub = self.hub
        ids = [f"4{i:04}AAAA" for i in range(4)]
        self.queue.held = [{**HELD, "id": one} for one in ids]
        done = hub.post("/v1/quarantine/release", {"ids": [ids[0], "40000BBBB", ids[1]]}, self.desk).json()["results"]
        self.assertEqual([(r["id"], r["state"]) for r in done],
                         [(ids[0], "released"), ("40000BBBB", "failed"), (ids[1], "released")])
        self.assertIn("40000BBBB", done[1]["detail"])
        self.assertEqual((done[0]["reported"], done[1]["reported"]), (True, False))
        self.assertEqual([r["state"] for r in hub.post("/v1/quarantine/delete", {"ids": ids[2:]}, self.desk).json()["results"]],
                         ["deleted", "deleted"])
        self.assertEqual(self.queue.held, [])
        asked = len(self.queue.asked)
        for body in ({}, {"ids": []}, {"id": ids[0], "ids": [ids[1]]}, {"ids": [ids[0], "ALL"]},
                     {"ids": ids[0]}, {"id": ""}):
            for word in ("release", "delete"):
                self.assertEqual(hub.post("/v1/quarantine/" + word, body, self.desk).status, 422, body)
        for word in ("release", "delete"):
            self.assertEqual(hub.post("/v1/quarantine/" + word, {"ids": [ids[0]] * 51}, self.desk).status, 413)
        self.assertEqual(len(self.queue.asked), asked)  # nothing is done by halves

    def test_link__then_the_page_changes_nothing_and_the_button_once(self):
        hub, path = self.hub, self.link(HELD)
        for method in ("GET", "HEAD", "OPTIONS"):
            hub.ask(method, path)
        page = hub.get(path)
        self.assertEqual(page.status, 200)
        self.assertIn(b"pay &lt;now&gt;", page.body)
        self.assertEqual(self.queue.asked, [])
        done = [hub.ask("POST", path + "/use").status for _ in range(3)]
        self.assertEqual(done, [200, 410, 410])
        self.assertEqual([line for line in self.queue.asked if line != "list"],
                         ["show " + HELD["id"], "release " + HELD["id"]])
        self.assertIn(LISTED[0][7:], hub.run("list", "export", "phish"))  # a user takes nothing off the lists
        self.queue.held.append(HELD)
        self.assertEqual(hub.post("/v1/quarantine/release", {"id": HELD["id"]}, self.head).status, 200)
        self.assertNotIn(LISTED[0][7:], hub.run("list", "export", "phish"))  # the administrator does

    def test_two_buttons_at_once__then_one_is_refused(self):
        path = self.link(HELD)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = sorted(pool.map(lambda _: self.hub.ask("POST", path + "/use").status, range(8)))
        self.assertEqual(done[0], 200)
        self.assertEqual(set(done[1:]) - {503}, {410})
        self.assertEqual(self.queue.asked.count("release " + HELD["id"]), 1)

    def test_links_of_others__then_refused(self):
        hub, other = self.hub, self.queue.held[1]
        rows = [(self.link(other), 403),  # two recipients
                (self.link({**HELD, "time_s": 1}), 410),  # another message had the id
                (self.link({**HELD, "id": "44444"}), 410),
                (self.link(HELD, expires=1), 410),
                ("/q/" + "0" * 32, 404), ("/q/..%2f..", 404), ("/q/x", 404)]
        for path, status in rows:
            self.assertEqual(hub.ask("POST", path + "/use").status, status, path)
        self.assertEqual(hub.ask("POST", self.link(other, "spam") + "/use").status, 200)
        self.assertEqual([line.split()[0] for line in self.queue.asked if line != "list"], ["show"])
        self.assertIsNone(re.search("[0-9a-f]{32}", hub.logs()))  # a token is a right


class Campaigns(unittest.TestCase):
    """Mailings that went through gillnetd."""

    def setUp(self):
        self.hub = Hub(more='journal = { subjects = true; };\n')
        self.addCleanup(self.hub.close)
        self.head = {"Authorization": "Bearer " + self.hub.token("desk", "messages")}
        self.hub.start()
        self.hub.start_gillnetd()

    def send(self, n, copies):
        r = random.Random(n)
        words = [f"{r.choice('bdfgkl')}{r.choice('aeiou')}{r.choice('mnprst')}{r.choice('aeiou')}ck" for _ in range(90)]
        for i in range(copies):
            m = Mta(f"unix:{self.hub.top}/gillnetd.sock")
            m.hello(address=f"192.0.{i}.7")
            m.message(headers=(("From", f"a@s{n}.example"), ("Subject", f"offer {n}")), body=" ".join(words).encode() + b"\r\n")
            m.quit()

    def test_campaigns__of_mail__page_by_page_and_one_by_one(self):
        for n, copies in enumerate((2, 3, 5)):
            self.send(n, copies)
        self.assertEqual(self.hub.get("/v1/campaigns").status, 401)  # not without a token
        got = until(lambda: (a := self.hub.get("/v1/messages", self.head).json())["messages"][9:] and a, "no messages")
        self.assertEqual((len(got["messages"]), got["next"]), (10, None))
        said = self.hub.get("/v1/campaigns", self.head).json()
        self.assertEqual(sorted(r["messages"] for r in said["campaigns"]), [2, 3, 5])
        found, answer = [], {"next": ""}
        while answer["next"] is not None:
            cursor = f"&cursor={answer['next']}" if answer["next"] else ""
            answer = self.hub.get(f"/v1/campaigns?limit=1&sort=-messages{cursor}", self.head).json()
            found += answer["campaigns"]
        self.assertEqual([(r["messages"], r["networks"], r["subject"], r["sender"]) for r in found],
                         [(5, 5, "offer 2", "a@s2.example"), (3, 3, "offer 1", "a@s1.example"), (2, 2, "offer 0", "a@s0.example")])
        self.assertEqual(self.hub.get("/v1/campaigns?q=S1.example", self.head).json()["found"], 1)
        one = self.hub.get(f"/v1/campaign?id={found[0]['id']}", self.head).json()
        self.assertIn(("text_band", 5), [(k["type"], k["messages"]) for k in one.pop("keys")])
        self.assertEqual(one, found[0])
        self.assertEqual(one["picture"], {"step_s": 600, "messages": [5]})
        row = self.hub.get("/v1/messages?q=subject%3A%22offer%201%22", self.head).json()["messages"][0]
        why = self.hub.get("/v1/explain?id=" + row["case"], self.head).json()
        self.assertEqual((why["case"], why["campaign"]["id"], why["held"]), (row["case"], found[1]["id"], False))
        self.assertEqual(self.hub.get("/v1/campaign?id=000000000000", self.head).status, 404)
        mark = {"id": found[0]["id"], "kind": "spam"}
        self.assertEqual(self.hub.post("/v1/campaigns/mark", mark, self.head).status, 403)
        boss = {"Authorization": "Bearer " + self.hub.token("boss", "admin")}
        said = until(lambda: (a := self.hub.post("/v1/campaigns/mark", mark, boss)).status == 202 and a.json(), "the token")
        self.assertEqual((said["kind"], said["standing"], said["reporter"]), ("spam", "spam", "administrator"))
        rows = self.hub.get("/v1/campaigns?sort=-messages", self.head).json()["campaigns"]
        self.assertEqual([(r["standing"], r["reported_spam"]) for r in rows], [("spam", 1), ("open", 0), ("open", 0)])
        found[0] = rows[0]
        self.assertEqual(self.hub.post("/v1/campaigns/mark", {**mark, "id": "000000000000"}, boss).status, 422)
        self.assertEqual(self.hub.post("/v1/campaigns/mark", {**mark, "id": "../x"}, boss).status, 422)
        for query in ("", "?id=x", "?id=1234567890abcdef", f"?id={found[0]['id']}&id={found[0]['id']}"):
            self.assertEqual(self.hub.get(f"/v1/campaign{query}", self.head).status, 422, query)


class Changed(unittest.TestCase):
    def test_changes_and_users__then_as_documented(self):
        hub = Hub('local_role = "admin";')
        self.addCleanup(hub.close)
        hub.start()
        boss = {"Authorization": "Bearer " + hub.token("boss", "admin")}
        self.assertEqual(hub.post("/v1/user/set", {"name": "@a.example", "set": ["sensitivity=low"]}, boss).status, 200)
        self.assertEqual(hub.get("/v1/users", boss).json()["users"][0]["name"], "@a.example")
        self.assertEqual(hub.get("/v1/user?name=@a.example", boss).status, 200)
        row = hub.get("/v1/changes?q=a.example", boss).json()["changes"][0]
        self.assertEqual(hub.post("/v1/changes/undo", {"id": row["id"]}, boss).status, 200)
        self.assertEqual(hub.get("/v1/users", boss).json(), {"users": [], "next": None})
        self.assertEqual(hub.get("/v1/whoami", boss).json(), {"name": "boss", "role": "admin", "proof": "token"})
        self.assertEqual(hub.get("/v1/whoami").json(), {"name": "local", "role": "admin", "proof": "none"})


class Tuned(unittest.TestCase):
    def test_replay_and_tuning__then_as_documented(self):
        hub = Hub('local_role = "admin";')
        self.addCleanup(hub.close)
        hub.start()
        hub.start_gillnetd()
        until(lambda: hub.post("/v1/replay", {"settings": ["thresholds.header=8"]}).status == 200, "there is no journal")
        for path, body in (("set", {"settings": ["thresholds.header=8"], "version": 0}), ("undo", {"version": 1})):
            self.assertEqual(hub.post("/v1/tuning/" + path, body).status, 200)
        self.assertEqual(hub.get("/v1/tuning").json()["version"], 2)


class Openapi(unittest.TestCase):
    def test_document__names_every_route_and_no_other(self):
        text = (TOP / "core/hub/api/api_route.def").read_text()
        routes = {(m[1].lower(), m[0]) for m in re.findall(r'^API_ROUTE\("([^"]+)", (\w+)', text, re.M)}
        named = {(method, path) for path, row in openapi.PATHS.items() for method in row}
        self.assertEqual(named, routes)

    def test_schemas__are_sound(self):
        for path in openapi.PATHS.values():
            for operation in path.values():
                for response in operation["responses"].values():
                    for media in openapi.resolved(response)["content"].values():
                        jsonschema.Draft202012Validator.check_schema(openapi.schema_of(media["schema"]))


class ZAll(unittest.TestCase):
    def test_all_together__then_every_route_was_answered_well(self):
        missing = {(m, p) for p, row in openapi.PATHS.items() for m in row} - openapi.seen
        self.assertLessEqual(missing, {("get", "/v1/errors"), ("post", "/v1/feeds/update"), ("post", "/v1/feeds/rollback"),
                                       ("get", "/own"), ("post", "/own/change"),  # test_own.py
                                       ("get", "/v1/messages/live")})  # no answer that ends


class Tls(unittest.TestCase):
    def test_tls__then_1_2_and_later_and_nothing_plain(self):
        hub = Hub()
        self.addCleanup(hub.close)
        key, cert = hub.top / "key.pem", hub.top / "cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        hub.configure(f'certificate = "{cert}"; key = "{key}";')
        is_up = hub.is_up
        hub.is_up = lambda: os.path.exists(hub.unix) and is_up(unix=True)
        hub.start()
        url = f"https://localhost:{hub.port}/check-urls"
        body = json.dumps({"urls": ["http://evil1.example/pay?x=1"] * 300})
        for version in ("--tlsv1.2", "--tlsv1.3"):
            p = subprocess.run(["curl", "-sS", version, "--cacert", cert, "-H", "Content-Type: application/json", "-d", body,
                                url, "--next", "-sS", "--cacert", cert, f"https://localhost:{hub.port}/healthz"],
                               capture_output=True, text=True, timeout=60)
            self.assertEqual(p.stdout.count('"MALICIOUS"'), 300, p.stderr)
            self.assertIn('"ok"', p.stdout)
        old = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{hub.port}", "-tls1_1"], input=b"",
                             capture_output=True, timeout=60)
        self.assertNotEqual(old.returncode, 0)
        self.assertEqual(hub.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")[:4] == b"HTTP", False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
