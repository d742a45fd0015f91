#!/usr/bin/env python3
"""What lists and rules did, and the entries of a list, with real hub, gillnetd and mail. Usage: test_worth.py [TEST...]"""
import json
import signal
import sys
import unittest
import urllib.parse

import openapi
from hub import TOP, Hub, until

sys.path.insert(0, str(TOP / "tests/integ/milter"))

from mta import Mta  # noqa: E402

Hub.checker = staticmethod(openapi.check)
RULES = """rules = (
  { name = "hello"; description = "<script>say</script>"; all = ( { text = "hello"; } ); score = 0.5; },
  { name = "watch"; all = ( { text = "hello"; } ); score = 1.0; shadow = true; },
  { name = "never"; all = ( { text = "xyzzy"; } ); score = 1.0; },
  { name = "helper"; all = ( { text = "xyzzy"; } ); score = 0.0; },
  { name = "mode"; all = ( { feature = "url"; pattern = "q"; } ); score = 1.0; emergency = true; },
  { name = "off"; all = ( { text = "hello"; } ); score = 1.0; enabled = false; } );
"""
NUMBERS = ("hits_today", "hits_7d", "hits", "scored", "alone", "reported_spam", "reported_ham", "last_hit_s", "useless")
HOSTILE = ["subject:<script>alert(1)</script> \u202eabc", "subject:" + "x" * 4096, "attachment_name:\"><img src=x onerror=alert(1)>"]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def quoted(**parameters):
    return urllib.parse.urlencode(parameters)


class Worth(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(api='local_role = "read";', more=RULES)
        self.addCleanup(self.hub.close)
        self.head = bearer(self.hub.token("boss", "admin"))
        (self.hub.top / "twin").write_text("bad2.example\n")
        self.hub.run("list", "import", "twin", self.hub.top / "twin")
        self.hub.start()

    # ---- numbers ----

    def send(self, words):
        m = Mta(f"unix:{self.hub.top}/gillnetd.sock")
        m.hello(address="192.0.2.7")
        m.mail("<joe@sender.example>")
        m.rcpt("<anna@here.example>")
        m.data()
        m.header("From", "joe@sender.example")
        m.header("Subject", "offer")
        m.end_headers()
        m.body(words.encode() + b"\r\n")
        answer = m.end()
        m.quit()
        return answer.case()

    def rows(self, what, **parameters):
        a = self.hub.get(f"/v1/{what}?" + quoted(**parameters))
        self.assertEqual(a.status, 200, a.body)
        self.assertTrue(a.json()["counted"]["complete"])
        return a.json()[what]

    def row(self, what, name):
        key = "rule" if what == "rules" else "name"
        return next(r for r in self.rows(what) if r[key] == name)

    def await_judged(self, n):
        until(lambda: self.hub.get("/v1/rules").json()["counted"]["judged"] == n, f"not {n} messages")

    def assert_row(self, what, name, **want):
        got = self.row(what, name)
        self.assertEqual({k: got[k] for k in want}, want, name)

    def assert_as_commands(self):
        """The commands print the numbers of the API."""
        for what, key, command in (("rules", "rule", ["rules"]), ("lists", "name", ["list", "worth"])):
            printed = [json.loads(line) for line in self.hub.run("--json", *command).splitlines()]
            shown = self.rows(what)
            self.assertEqual([r.get("rule", r.get("list")) for r in printed], [r[key] for r in shown])
            for p, s in zip(printed, shown):
                self.assertEqual({k: p[k] for k in NUMBERS}, {k: s[k] for k in NUMBERS})

    def test_worth__counts_hits_alone_and_reports_as_the_commands_do(self):
        self.hub.start_gillnetd()
        both = self.send("see http://bad2.example/x")
        self.send("see http://evil1.example/pay?x=1")
        third = self.send("hello, see http://evil1.example/pay?x=1")
        self.send("hello")
        self.send("nothing")
        self.await_judged(5)
        self.assert_row("lists", "phish", hits_today=3, hits_7d=3, hits=3, scored=3, alone=1, useless=None)
        self.assert_row("lists", "twin", hits_today=1, hits=1, alone=0, useless="never alone")
        self.assert_row("rules", "hello", symbol="RULE_HELLO", hits=2, scored=2, alone=1, state="live", useless=None)
        self.assert_row("rules", "watch", hits=2, scored=0, alone=0, state="shadow", useless="never alone")
        self.assert_row("rules", "never", hits=0, useless="no hit", last_hit_s=None)
        for name in ("helper", "mode", "off"):  # they cannot hit by themselves
            self.assert_row("rules", name, useless=None)
        self.assert_as_commands()

        a = self.hub.post("/v1/report?" + quoted(kind="ham", id=third), b"", {"Content-Type": "message/rfc822", **self.head})
        self.assertEqual(a.status, 202, a.body)
        self.hub.run("report", "spam", "--id", both, "--reporter", "anna@here.example")
        until(lambda: self.row("lists", "phish")["reported_ham"] == 1 and self.row("lists", "twin")["reported_spam"] == 1,
              "the reports are not counted")
        self.assert_row("rules", "hello", reported_ham=1, reported_spam=0)
        self.assert_as_commands()

        self.hub.kill(signal.SIGTERM)
        self.hub.start()
        self.await_judged(5)
        self.assert_row("lists", "phish", hits=3, alone=1, reported_ham=1, reported_spam=1)
        self.assert_as_commands()
        text = self.hub.run("rules")
        self.assertTrue(text.startswith("5 judged messages; 0 more are outgoing or were not examined; the oldest is of "), text)
        self.assertRegex(text, r"\nhello +live +0\.50 +2 +2 +2 +2 +1 +0 +1\n")
        self.assertEqual(self.hub.run("rules", "--since", "1h").splitlines()[1:], text.splitlines()[1:])

    def test_useless__is_one_sort_and_one_flag(self):
        self.hub.start_gillnetd()
        self.send("hello, see http://bad2.example/x")
        self.await_judged(1)
        order = [(r["name"], r["useless"]) for r in self.rows("lists", sort="-useless", limit=10)]
        self.assertEqual(order, [("phish", "never alone"), ("twin", "never alone")])
        order = [(r["rule"], r["useless"]) for r in self.rows("rules", sort="-useless", limit=3)]
        self.assertEqual(order, [("never", "no hit"), ("hello", "never alone"), ("watch", "never alone")])
        self.assertEqual([line.split()[0] for line in self.hub.run("rules", "--useless").splitlines()[2:]],
                         ["hello", "watch", "never"])
        self.assertEqual([line.split()[0] for line in self.hub.run("list", "worth", "--useless", "twin").splitlines()[2:]], ["twin"])

    def test_rules__come_page_by_page(self):
        whole = [r["rule"] for r in self.rows("rules")]
        self.assertEqual(whole, ["hello", "watch", "never", "helper", "mode", "off"])
        for sort in ("rule", "-rule", "-score", "hits", "-useless", "state", "last_hit_s"):
            seen, cursor = [], {}
            while cursor is not None:
                a = self.hub.get("/v1/rules?" + quoted(sort=sort, limit=4, **cursor)).json()
                self.assertEqual((a["total"], a["found"]), (6, 6))
                seen += [r["rule"] for r in a["rules"]]
                cursor = {"cursor": a["next"]} if a["next"] else None
            self.assertEqual(sorted(seen), sorted(whole), sort)
        self.assertEqual([r["rule"] for r in self.rows("rules", q="SCRIPT")], ["hello"])
        self.assertEqual(self.hub.get("/v1/rules?sort=nosuch").status, 400)

    # ---- the entries of a list ----

    def entries(self, name, **parameters):
        a = self.hub.get("/v1/list?" + quoted(name=name, **parameters), self.head)
        self.assertEqual(a.status, 200, a.body)
        return a.json()

    def change(self, what, list_, *values, reason="because", head=None, **more):
        return self.hub.post(f"/v1/list/{what}", {"list": list_, "values": list(values), "reason": reason, **more},
                             head if head is not None else self.head)

    def test_roles__of_lists_and_their_entries(self):
        tokens = {r: bearer(self.hub.token("t-" + r, r)) for r in ("read", "report", "messages", "admin")}
        for unix in (False, True):
            self.assertEqual(self.hub.get("/v1/list?name=phish", unix=unix).status, 401)
            self.assertEqual(self.hub.get("/v1/rules", unix=unix).status, 200)
        for role, head in tokens.items():
            self.assertEqual(self.hub.get("/v1/rules", head).status, 200)
            self.assertEqual(self.hub.get("/v1/list?name=phish", head).status, 200 if role in ("messages", "admin") else 403)
            for what in ("add", "revoke"):
                a = self.change(what, "phish", f"{role}.example.net", head=head)
                self.assertEqual(a.status, 200 if role == "admin" else 403, a.body)
        for what in ("add", "revoke"):
            self.assertEqual(self.change(what, "phish", "x.example.net", head={}).status, 401)

    def test_entries__are_added_and_revoked_with_who_when_and_why(self):
        a = self.change("add", "phish", "new.example.net", "joe@new.example.net", reason="asked by Ünal \u202e", expires="7d")
        self.assertEqual(a.status, 200, a.body)
        self.assertEqual([(r["value"], r["status"]) for r in a.json()["changed"]],
                         [("new.example.net", "added"), ("joe@new.example.net", "added")])
        listed = self.entries("phish")
        newest = listed["entries"][0]
        self.assertEqual((newest["value"], newest["who"], newest["reason"], newest["status"], newest["explicit"]),
                         ("joe@new.example.net", "api:boss", "asked by Ünal \u202e", "listed", True))
        self.assertAlmostEqual(newest["expires_s"] - newest["changed_s"], 7 * 86400, delta=2)
        self.assertEqual((len(listed["entries"]), listed["listed"], listed["revoked"], listed["share"]), (6, 6, 0, 1))
        self.assertEqual(self.hub.run("lookup", "new.example.net", rc=1).count("api:boss: asked by"), 1)
        a = self.change("revoke", "phish", "bad2.example", reason="a customer")
        self.assertEqual(a.json()["changed"][0]["status"], "revoked")
        row = self.entries("phish", q="bad2.example")["entries"]
        self.assertEqual([(r["value"], r["status"], r["reason"], r["who"]) for r in row],
                         [("bad2.example", "revoked", "a customer", "api:boss")])
        self.assertEqual(self.row("lists", "phish")["revoked"], 1)
        self.hub.run("list", "add", "phish", "--reason", "by hand", "cli.example.net")
        until(lambda: self.entries("phish")["entries"][0]["value"] == "cli.example.net", "a change by a command is not seen")
        self.assertEqual(self.entries("phish")["entries"][0]["reason"], "by hand")
        shown = [json.loads(line) for line in self.hub.run("--json", "list", "show", "phish").splitlines()]
        self.assertEqual(shown, self.entries("phish")["entries"])
        self.assertRegex(self.hub.run("list", "show", "phish", "--search", "LI.EXA"),
                         r"^\S+Z listed  \S+:cli\.example\.net  by cli: by hand\n$")

    def test_changes__are_noted_with_the_reason_and_undone(self):
        self.assertEqual(self.change("add", "phish", "wrong.example.net", reason="a mistake").status, 200)
        self.hub.run("list", "revoke", "phish", "bad2.example", "--reason", "it is good")
        rows = self.hub.get("/v1/changes?limit=2", self.head).json()["changes"]
        self.assertEqual([(r["kind"], r["object"], r["reason"]) for r in rows],
                         [("list-revoke", "phish", "it is good"), ("list-add", "phish", "a mistake")])
        self.assertEqual(rows[1]["who"], "boss")
        self.assertEqual(self.hub.post("/v1/changes/undo", {"id": rows[1]["id"]}, self.head).status, 200)
        self.assertEqual([r["status"] for r in self.entries("phish", q="wrong.example.net")["entries"]], ["revoked"])

    def test_entries__come_page_by_page_and_by_search_while_the_list_changes(self):
        (self.hub.top / "many").write_text("".join(f"host{i}.example.org\n" for i in range(500)))
        self.hub.run("list", "import", "many", self.hub.top / "many")
        until(lambda: (a := self.hub.get("/v1/list?name=many", self.head)).status == 200 and a.json()["listed"] == 500, "the list is not there")
        seen, page, n = [], {"next": ""}, 0
        while page["next"] is not None:
            page = self.entries("many", limit=90, **({"cursor": page["next"]} if page["next"] else {}))
            seen += [r["value"] for r in page["entries"]]
            self.assertEqual(self.change("add", "many", f"more{n}.example.org").status, 200)
            n += 1
        self.assertEqual(sorted(seen), sorted(f"host{i}.example.org" for i in range(500)))
        found = self.entries("many", q="OST7", limit=1000)["entries"]
        self.assertEqual(len(found), 11)  # host7 and host70 to host79
        found = self.entries("many", q="host7.example.org")["entries"]  # the value itself first
        self.assertEqual(found[0]["value"], "host7.example.org")
        self.assertEqual(len({r["value"] for r in found}), len(found))
        self.assertEqual(self.entries("many", q="nothing like it")["entries"], [])

    def test_hostile__values_reasons_and_parameters(self):
        self.assertEqual(self.change("add", "phish", *HOSTILE).status, 200)
        texts = [r["value"] for r in self.entries("phish")["entries"]]
        self.assertTrue(any("alert(1)" in t for t in texts), texts)
        self.assertTrue(any(t == "x" * 4096 for t in texts))
        self.assertEqual(len(self.entries("phish", q="ONERROR=")["entries"]), 1)
        for reason in ("", "a\nb", "x" * 81, "a\x1bb"):
            self.assertEqual(self.change("add", "phish", "y.example.net", reason=reason).status, 422, reason)
        self.assertEqual(self.change("add", "nosuch", "y.example.net").status, 404)
        self.assertEqual(self.change("revoke", "../phish", "y.example.net").status, 422)
        self.assertEqual(self.change("add", "phish", "y.example.net", "no such value").status, 422)
        self.assertEqual(self.entries("phish", q="y.example.net")["entries"], [])  # all or none
        for more in ({"expires": "soon"}, {"expires": "0s"}, {"expires": "9" * 70}, {"type": "nosuch"}):
            self.assertEqual(self.change("add", "phish", "y.example.net", **more).status, 422, more)
        self.assertEqual(self.change("revoke", "phish", "y.example.net", expires="7d").status, 422)
        for bad in ("", "name=", "name=..", "name=phish&limit=0", "name=phish&limit=1001", "name=phish&cursor=x",
                    "name=phish&cursor=l1-2", "name=phish&cursor=l1-2-3-4", "name=phish&cursor=l0-0-0",
                    "name=phish&cursor=l1-fffffffff-1", "name=phish&q=" + "a" * 257):
            self.assertEqual(self.hub.get("/v1/list?" + bad, self.head).status, 422, bad)
        self.assertEqual(self.hub.get("/v1/list?name=phish&cursor=l1-1-1", self.head).status, 410)
        self.assertEqual(self.hub.get("/v1/list?name=nosuch", self.head).status, 404)
        self.assertEqual(self.hub.get("/v1/list?name=phish&origin=nosuch", self.head).status, 404)
        self.assertEqual(self.hub.get("/v1/list?name=phish&x=1", self.head).status, 400)


if __name__ == "__main__":
    unittest.main(verbosity=1)
