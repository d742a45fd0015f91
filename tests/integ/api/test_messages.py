#!/usr/bin/env python3
"""/v1/messages with real hub, gillnetd and mail: roles, search, pages, live tail, erasure. Usage: test_messages.py [TEST...]"""
import http.client
import json
import signal
import socket
import sys
import threading
import unittest
import urllib.parse

import openapi
from hub import TOP, Hub, until

sys.path.insert(0, str(TOP / "tests/integ/milter"))

from mta import Mta  # noqa: E402

Hub.checker = staticmethod(openapi.check)
LIVE_MAX = 16  # API_LIVE_MAX


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


class Live:
    """A client of the live tail: its events, and the end of the connection."""

    def __init__(self, hub, head, q=""):
        self.events, self.ended = [], False
        self.connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
        self.connection.connect()
        self.socket = self.connection.sock
        self.connection.request("GET", "/v1/messages/live?q=" + urllib.parse.quote(q), headers=head)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        if self.status == 200:
            self.thread = threading.Thread(target=self.read, daemon=True)
            self.thread.start()

    def read(self):
        for line in self.answer:
            kind, _, value = line.decode().rstrip("\n").partition(": ")
            if kind == "data":
                self.events.append(json.loads(value))
        self.ended = True

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # closing alone does not wake the reader
        except OSError:
            pass


class Messages(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(api='local_role = "admin";', more="journal = { subjects = true; messages = 1000; };\n")
        self.addCleanup(self.hub.close)
        self.head = bearer(self.hub.token("desk", "messages"))
        self.hub.start()
        self.hub.start_gillnetd()

    def test_errors__of_both_programs__are_rows_for_those_who_may_see_mail(self):
        self.assertEqual(self.hub.get("/v1/errors").status, 401)
        answer = self.hub.get("/v1/errors", headers=self.head).json()
        self.assertIsNone(answer["missing"])
        conf = self.hub.conf.read_text()
        self.hub.conf.write_text(conf + "thresholds = { header = \"x\"; };\n")
        self.addCleanup(self.hub.conf.write_text, conf)
        self.hub.daemon.send_signal(signal.SIGHUP)
        row = until(lambda: next((r for r in self.hub.get("/v1/errors", headers=self.head).json()["errors"]
                                  if r["program"] == "gillnetd" and "thresholds" in r["text"]), None), "gillnetd's error")
        self.assertIn(row["level"], ("warn", "error"))
        self.hub.conf.write_text(conf)
        self.assertIn("thresholds", self.hub.run("errors"))

    def test_gillnetd_hangs__then_others_are_answered_and_the_hub_s_own_errors_are_there(self):
        self.hub.daemon.send_signal(signal.SIGSTOP)
        self.addCleanup(self.hub.daemon.send_signal, signal.SIGCONT)
        answers = []
        asking = [threading.Thread(target=lambda: answers.append(self.hub.get("/v1/errors", headers=self.head).json())) for _ in range(6)]
        for t in asking:
            t.start()
        self.assertEqual(self.hub.get("/metrics").status, 200)
        self.assertTrue(any(t.is_alive() for t in asking), "those that wait for gillnetd hold nobody up")
        for t in asking:
            t.join(60)
        self.assertEqual(len(answers), 6)
        for a in answers:
            self.assertTrue(a["missing"])

    def send(self, first, n):
        m = Mta(f"unix:{self.hub.top}/gillnetd.sock")
        m.hello(address="192.0.2.7")
        for i in range(first, first + n):
            m.mail(f"<s{i}@sender.example>")
            m.rcpt(f"<r{i % 3}@here.example>")
            m.data()
            m.header("From", f"s{i}@sender.example")
            m.header("Subject", f"offer {i}")
            m.end_headers()
            m.body(b"hello\r\n")
            m.end()
        m.quit()

    def ask(self, q="", head=None, **more):
        a = self.hub.get("/v1/messages?" + urllib.parse.urlencode({"q": q, **more}), head or self.head)
        self.assertEqual(a.status, 200, a.body)
        return a.json()

    def subjects(self, q="", **more):
        return [r["subject"] for r in self.ask(q, **more)["messages"]]

    def await_messages(self, n):
        until(lambda: self.ask(limit=1)["searched"] and len(self.ask(limit=1000)["messages"]) == n, f"not {n} messages")

    def test_roles__without_a_token_nobody_sees_mail(self):
        tokens = {r: bearer(self.hub.token("t-" + r, r)) for r in ("read", "report", "messages", "admin")}
        paths = ("/v1/messages", "/v1/messages/live", "/v1/campaigns", "/v1/campaign?id=000000000000", "/v1/reports",
                 "/v1/explain?id=x", "/v1/quarantine", "/v1/quarantine/message?id=4XnYx31tq8z1FgJ")
        for path in paths:
            for unix in (False, True):  # local_role is admin
                self.assertEqual(self.hub.get(path, unix=unix).status, 401, path)
            self.assertEqual(self.hub.get(path, bearer("gnt-wrong")).status, 401, path)
            for role, head in tokens.items():
                status = self.hub.ask("HEAD", path, headers=head).status
                self.assertEqual(status == 403, role in ("read", "report"), (path, role, status))
                self.assertNotEqual(status, 401)
        for path in ("/v1/quarantine/release", "/v1/quarantine/delete"):
            for role, head in tokens.items():
                status = self.hub.post(path, {"id": "4XnYx31tq8z1FgJ"}, head).status
                self.assertEqual(status == 403, role in ("read", "report"), (path, role, status))
            self.assertEqual(self.hub.post(path, {"id": "4XnYx31tq8z1FgJ"}).status, 401)
        self.assertEqual(self.hub.get("/v1/stats").status, 200)

    def test_local_role__cannot_be_messages(self):
        self.hub.conf.write_text(self.hub.conf.read_text().replace('local_role = "admin"', 'local_role = "messages"'))
        with self.assertRaisesRegex(AssertionError, "local_role"):
            self.hub.run("config", "check")

    def test_search__finds_what_the_grammar_says(self):
        self.send(0, 12)
        self.await_messages(12)
        self.assertEqual(self.subjects(), [f"offer {i}" for i in range(11, -1, -1)])
        self.assertEqual(self.subjects("from:s7@sender.example"), ["offer 7"])
        self.assertEqual(self.subjects("to:r1@ limit", limit=5), [])
        self.assertEqual(self.subjects("to:r1@", limit=2), ["offer 10", "offer 7"])
        self.assertEqual(self.subjects('subject:"offer 3"'), ["offer 3"])
        row = self.ask("subject:\"offer 3\"")["messages"][0]
        self.assertEqual((row["from"], row["to"], row["action"]), ("s3@sender.example", ["r0@here.example"], "accept"))
        self.assertEqual(self.subjects("id:" + row["case"]), ["offer 3"])
        for bad in ("q=unknown%3Ax", "q=from%3A", "limit=0", "limit=1001", "limit=x", "before=7", "before=m", "before=m0",
                    "before=mxyz", "q=" + "a" * 1025, "q=%0a"):
            self.assertEqual(self.hub.get("/v1/messages?" + bad, self.head).status, 422, bad)
        self.assertEqual(self.hub.get("/v1/messages?cursor=1", self.head).status, 400)
        self.assertIn("q: ", self.hub.get("/v1/messages?q=fron%3Ax", self.head).json()["detail"])

    def explain(self, text, status=200):
        a = self.hub.get("/v1/explain?id=" + urllib.parse.quote(text), self.head)
        self.assertEqual(a.status, status, a.body)
        return a.json()

    def test_explain__by_any_id__says_what_the_command_says(self):
        m = Mta(f"unix:{self.hub.top}/gillnetd.sock")
        m.hello(address="192.0.2.7")
        for i in range(3):
            m.message(queue_id=f"4XnYx31tq8z1Fg{i}", headers=(("From", f"a{i}@sender.example"), ("Subject", f"bill {i}"), ("Message-ID", f"<id.{i}@sender.example>")),
                      body=f"Pay at http://evil1.example/pay?x={i} now\r\n".encode())
        m.quit()
        self.await_messages(3)
        rows = {r["subject"]: r for r in self.ask()["messages"]}
        why = self.explain(rows["bill 1"]["case"])
        self.assertEqual(why["subject"], "bill 1")
        self.assertRegex(why["sentence"], "^[A-Z][a-z]+: [0-9.]+ of ")
        for text in ("<id.1@sender.example>", "id.1@sender.example", rows["bill 1"]["id"]):
            self.assertEqual(self.explain(text)["case"], why["case"], text)
        printed = json.loads(self.hub.run("explain", "--json", why["case"]))
        own = {name: why.pop(name) for name in ("reports", "campaign", "held")}
        self.assertEqual(why, printed)
        self.assertEqual((own["reports"], own["held"]), ([], False))
        self.assertEqual([(s["of"], s["domain"], s["proved"]) for s in why["senders"]][0], ("from", "sender.example", None))
        said = self.hub.post("/v1/report?kind=spam&id=" + why["case"], b"Subject: x\r\n\r\ny\r\n", {**self.head, "Content-Type": "message/rfc822"})
        self.assertEqual(said.status, 202, said.body)
        why = self.explain(why["case"])
        self.assertEqual((why["reported"], [(r["kind"], r["reporter"]) for r in why["reports"]]), ("spam", [("spam", "api:desk")]))
        self.assertEqual(self.explain(rows["bill 2"]["case"])["reports"], [])
        self.explain("nothing", 404)
        self.explain('a"b', 404)
        for bad in ("", "?id=", "?id=a&id=b", "?id=" + "a" * 1001):
            self.assertEqual(self.hub.get("/v1/explain" + bad, self.head).status, 422, bad)

    def test_explain__no_longer_kept_by_the_hub__is_found_in_the_journal(self):
        self.send(0, 60)
        self.await_messages(60)
        case = self.ask("from:s3@sender.example")["messages"][0]["case"]
        conf = self.hub.conf.read_text()
        for most in (20, 0):
            self.hub.conf.write_text(conf.replace("messages = 1000", f"messages = {most}"))
            self.hub.kill(signal.SIGTERM)
            self.hub.start()
            if most > 0:
                self.await_messages(most)
                self.assertEqual(self.ask("id:" + case)["messages"], [])
            self.assertEqual(self.explain(case)["subject"], "offer 3")

    def test_pages__while_mail_comes__then_each_once(self):
        self.send(0, 60)
        self.await_messages(60)
        seen, page, sent = [], {"next": None}, 60
        while True:
            page = self.ask("offer", limit=7, **({"before": page["next"]} if page["next"] else {}))
            seen += [r["subject"] for r in page["messages"]]
            if page["next"] is None:
                break
            self.send(sent, 3)
            sent += 3
            until(lambda: self.subjects(limit=1) == [f"offer {sent - 1}"], "new mail does not come")
        self.assertEqual(seen, [f"offer {i}" for i in range(59, -1, -1)])

    def test_a_hub_that_starts__then_the_journal_is_there_again_and_cursors_hold(self):
        self.send(0, 20)
        self.await_messages(20)
        page = self.ask(limit=5)
        self.hub.kill(signal.SIGTERM)
        self.hub.start()
        self.await_messages(20)
        self.assertEqual(self.subjects(limit=2, before=page["next"]), ["offer 14", "offer 13"])

    def test_bound__then_the_newest_alone(self):
        self.hub.conf.write_text(self.hub.conf.read_text().replace("messages = 1000", "messages = 10"))
        self.hub.process.send_signal(signal.SIGHUP)
        self.send(0, 25)
        until(lambda: self.subjects(limit=1000) == [f"offer {i}" for i in range(24, 14, -1)], "not the newest ten")
        self.hub.conf.write_text(self.hub.conf.read_text().replace("messages = 10", "messages = 0"))
        self.hub.process.send_signal(signal.SIGHUP)
        until(lambda: self.hub.get("/v1/messages", self.head).status == 404, "they are still kept")

    def test_forgotten__then_found_no_more_at_once(self):
        self.send(0, 9)
        self.await_messages(9)
        self.assertEqual(len(self.subjects("to:r1@here.example")), 3)
        self.hub.run("journal", "forget", "r1@here.example")
        self.assertEqual(self.subjects("r1@here.example"), [])
        until(lambda: self.ask()["complete"], "it is not read again")
        self.assertEqual(self.subjects("r1@here.example"), [])
        self.assertEqual(len(self.subjects("to:r2@here.example")), 3)

    # ---- the live tail ----

    def live(self, q="", head=None):
        client = Live(self.hub, head or self.head, q)
        self.addCleanup(client.close)
        return client

    def test_live__then_what_matches_and_comes_after(self):
        self.send(0, 3)
        self.await_messages(3)
        client, other = self.live("to:r1@"), self.live()
        self.assertEqual((client.status, client.answer.headers["Content-Type"]), (200, "text/event-stream"))
        self.send(3, 9)
        until(lambda: len(other.events) >= 9, "the tail is silent")
        until(lambda: len(client.events) >= 3, "the tail is silent")
        self.assertEqual([r["subject"] for r in client.events], ["offer 4", "offer 7", "offer 10"])
        self.assertEqual([r["subject"] for r in other.events], [f"offer {i}" for i in range(3, 12)])
        self.assertEqual(sorted(other.events[0]), sorted(self.ask("subject:\"offer 3\"")["messages"][0]))
        self.assertEqual(self.hub.get("/v1/messages/live?q=fron%3Ax", self.head).status, 422)
        self.assertEqual(self.hub.get("/v1/messages/live?limit=1", self.head).status, 400)

    def test_live__when_the_token_is_revoked__then_it_ends(self):
        head = bearer(self.hub.token("short", "messages"))
        client, other = self.live(head=head), self.live()
        self.hub.run("hub", "token", "--revoke", "short")
        until(lambda: client.ended, "a revoked token still sees mail")
        self.assertFalse(other.ended)

    def test_live__when_there_are_too_many__then_503_and_room_again(self):
        clients = [self.live() for _ in range(LIVE_MAX)]
        self.assertEqual({c.status for c in clients}, {200})
        a = self.hub.get("/v1/messages/live", self.head)
        self.assertEqual((a.status, a.headers["Retry-After"]), (503, "5"))
        self.assertEqual(self.hub.get("/v1/messages", self.head).status, 200)
        clients[0].close()
        until(lambda: self.live().status == 200, "no room comes back")

    def test_live__when_the_hub_ends__then_the_client_sees_it(self):
        client = self.live()
        self.hub.kill(signal.SIGTERM)
        until(lambda: client.ended, "the connection stays")


if __name__ == "__main__":
    unittest.main(verbosity=2)
