#!/usr/bin/env python3
"""/v1/replay and /v1/tuning with real hub, gillnetd and mail. Usage: test_tuning.py [TEST...]"""
import concurrent.futures
import http.client
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import openapi
from hub import BUILD, TOP, Hub, until

sys.path.insert(0, str(TOP / "tests/integ/milter"))

from mta import Mta  # noqa: E402

Hub.checker = staticmethod(openapi.check)
RULE = 'rules = ( { name = "offer"; all = ( { feature = "subject"; pattern = "offer"; } ); score = 2.0; } );\n'
SETTINGS = (["thresholds.header=9"], ["thresholds.header=8", "thresholds.reject=10"], ["lists.phish.weight=3"],
            ["lists.phish.shadow=true"], ["rules.offer.score=-4"], ["rules.offer.shadow=true", "lists.phish.weight=5.5"], [])


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


class Tuning(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(api='local_role = "read";', more="journal = { subjects = true; };\n" + RULE)
        self.addCleanup(self.hub.close)
        self.roles = {r: bearer(self.hub.token("t-" + r, r)) for r in ("read", "report", "messages", "admin")}
        self.admin = self.roles["admin"]
        self.hub.start()

    def send(self, n, subject="hello", body=b"see http://evil1.example/pay?x=1\r\n"):
        """The last reply, or the headers that gillnetd added."""
        m = Mta(f"unix:{self.hub.top}/gillnetd.sock")
        m.hello(address="192.0.2.7")
        for i in range(n):
            m.mail(f"<s{i}@sender.example>")
            m.rcpt("<r@here.example>")
            m.data()
            m.header("From", f"s{i}@sender.example")
            m.header("Subject", subject)
            m.end_headers()
            m.body(body)
            got = m.end()
        m.quit()
        return got

    def marks(self, **more):
        """Whether gillnetd marks the next message."""
        self.send(1, **more)
        rows = self.hub.run("--json", "messages", "-n", "1")
        return json.loads(rows)["action"]

    def replay(self, settings, head=None, **more):
        a = self.hub.post("/v1/replay", {"settings": settings, **more}, head or self.admin)
        self.assertEqual(a.status, 200, a.body)
        return a.json()

    def tuning(self):
        return self.hub.get("/v1/tuning", self.roles["read"]).json()

    def set(self, settings, version=None, why="", head=None):
        version = self.tuning()["version"] if version is None else version
        return self.hub.post("/v1/tuning/set", {"settings": settings, "version": version, "why": why}, head or self.admin)

    def undo(self, version=None):
        return self.hub.post("/v1/tuning/undo", {"version": self.tuning()["version"] if version is None else version}, self.admin)

    # ---- replay ----

    def test_replay__says_what_the_command_says(self):
        self.hub.start_gillnetd()
        self.send(12)
        self.send(7, subject="an offer")
        self.send(5, subject="an offer", body=b"nothing\r\n")
        for settings in SETTINGS:
            command = json.loads(self.hub.run("--json", "replay", *(w for s in settings for w in ("--set", s))))
            for more in ({}, {"sample": 24}, {"sample": 1000}):
                answer = self.replay(settings, **more)
                same = {k: answer[k] for k in command if k in answer}
                self.assertEqual(same, {k: command[k] for k in same}, (settings, more))
                self.assertEqual((answer["messages"], answer["complete"]), (24, True))
                self.assertEqual(sum(m["messages"] for m in answer["moved"]), answer["changed"])
        answer = self.replay(["thresholds.header=9"])
        self.assertEqual(answer["moved"], [{"from": "header", "to": "accept", "messages": 12}])
        self.assertEqual(len(answer["examples"]), 12)
        example = answer["examples"][0]
        self.assertEqual((example["from_action"], example["to_action"], example["score"], example["subject"]),
                         ("header", "accept", 8.0, "hello"))
        symbols = {s["symbol"]: s for s in answer["symbols"]}
        self.assertEqual((symbols["LIST_PHISH"]["messages"], symbols["LIST_PHISH"]["score"]), (19, 152.0))
        self.assertEqual(len(self.replay(["lists.phish.shadow=true"])["examples"]), 19)

    def test_sample__then_the_newest_alone_and_it_says_so(self):
        self.hub.start_gillnetd()
        self.send(10)
        self.send(5, body=b"nothing\r\n")
        answer = self.replay(["thresholds.header=9"], sample=8)
        self.assertEqual((answer["messages"], answer["changed"], answer["sample"], answer["complete"]), (8, 3, True, False))
        self.assertEqual(self.replay(["thresholds.header=9"], sample=15)["complete"], True)

    def test_replay__when_a_setting_is_wrong__then_422_and_why(self):
        self.hub.start_gillnetd()
        self.send(1)
        for bad, why in (("thresholds.rejct=8", "thresholds.header"), ("rules.gone.score=1", "no rule"), ("lists.allow.shadow=true", "allow"),
                         ("thresholds.reject=nan", "0.01"), ("x", "KEY=VALUE"), ("state_dir=/", "cannot tell"),
                         ("thresholds.reject=1", "below"), ("lists.<script>.weight=1", "no name")):
            a = self.hub.post("/v1/replay", {"settings": ["thresholds.header=6", bad]}, self.admin)
            self.assertEqual(a.status, 422, bad)
            self.assertIn(why, a.json()["detail"])
        for body in ({"settings": "x"}, {"settings": [], "sample": -1}, {"settings": [], "sample": 1.5}, {"settings": [], "sample": "5"},
                     {"settings": [], "sample": 10**7}, {"settings": [], "more": 1}, {}):
            self.assertIn(self.hub.post("/v1/replay", body, self.admin).status, (400, 422), body)
        self.assertEqual(self.hub.post("/v1/replay", {"settings": ["thresholds.header=6"] * 129}, self.admin).status, 413)
        self.assertEqual(self.hub.post("/v1/replay", '{"settings": [], "sample": 007}', self.admin).status, 422)

    def test_replay__without_a_journal__then_404(self):
        self.assertEqual(self.hub.post("/v1/replay", {"settings": []}, self.admin).status, 404)

    def test_roles(self):
        self.hub.start_gillnetd()
        self.send(2)
        for role, head in {**self.roles, None: {}}.items():
            answer = self.hub.post("/v1/replay", {"settings": ["thresholds.header=9"]}, head)
            self.assertEqual((answer.status, answer.json()["changed"]), (200, 2))
            self.assertEqual("examples" in answer.json(), role in ("messages", "admin"), role)
            self.assertEqual(self.hub.get("/v1/tuning", head).status, 200)
            for path, body in (("set", {"settings": ["thresholds.header=9"], "version": 7}), ("undo", {"version": 7})):
                wanted = 409 if role == "admin" else 401 if role is None else 403
                self.assertEqual(self.hub.post("/v1/tuning/" + path, body, head).status, wanted, (role, path))

    # ---- in force ----

    def test_set__then_the_next_message_gets_the_other_action__and_undo_leads_back(self):
        self.hub.start_gillnetd()
        self.assertEqual(self.marks(), "header")
        a = self.set(["thresholds.header=9"], why="too much is marked – ü")
        self.assertEqual((a.status, a.json()["version"], a.json()["reload"]), (200, 1, "reloaded"), a.body)
        self.assertEqual(self.marks(), "accept")
        now = self.tuning()
        self.assertEqual((now["version"], now["who"], now["why"], now["former"]), (1, "t-admin", "too much is marked – ü", 0))
        self.assertEqual(now["settings"], [{"key": "thresholds.header", "value": "9", "configured": "5", "gone": False}])
        self.assertEqual(now["lines"], "thresholds = { header = 9.0; };\n")
        self.assertIn({"action": "header", "value": 9.0}, now["thresholds"])
        self.assertIn(f"thresholds.header = 9.0  # {self.hub.state}/tuning/current:9\n", self.hub.run("config", "dump"))
        self.assertEqual(self.set(["lists.phish.weight=10", "thresholds.header="]).json()["version"], 2)
        self.assertEqual(self.marks(), "header")
        a = self.undo().json()
        self.assertEqual((a["version"], a["of_version"]), (3, 1))
        self.assertEqual(self.marks(), "accept")
        a = self.undo().json()
        self.assertEqual((a["version"], a["of_version"]), (4, 0))
        self.assertEqual(self.marks(), "header")
        self.assertEqual(self.undo().status, 404)
        self.assertEqual(self.tuning()["settings"], [])
        changes = self.hub.get("/v1/changes?q=object:tuning", self.admin).json()["changes"]
        self.assertEqual([(c["kind"], c.get("after"), c["undo"]) for c in changes],
                         [("tuning-undo", "version 4", "none"), ("tuning-undo", "version 3", "none"), ("tuning", "version 2", "possible"),
                          ("tuning", "version 1", "possible")])
        self.assertEqual((changes[3]["who"], changes[3]["reason"], changes[3]["values"]), ("t-admin", "too much is marked – ü", ["thresholds.header=9"]))
        self.assertEqual(self.hub.run("doctor", rc=(0, 1)).count("runs another configuration"), 0)

    def test_shadow_of_a_rule_and_the_command(self):
        self.hub.start_gillnetd()
        self.hub.run("tune", "set", "thresholds.header=10", "--why", "from the command line")
        self.assertEqual(self.marks(subject="an offer"), "header")
        self.hub.run("tune", "set", "rules.offer.shadow=true")
        self.assertEqual(self.marks(subject="an offer"), "accept")
        self.assertEqual(self.tuning()["version"], 2)  # the hub loaded it, too
        self.assertIn("(gillnet.conf: false)", self.hub.run("tune", "show"))
        self.hub.run("tune", "undo", "--if-version", "1", rc=75)
        self.hub.run("tune", "undo", "--if-version", "2")
        self.assertEqual(self.marks(subject="an offer"), "header")

    def test_undo_of_a_change__by_its_id__while_it_is_the_last_one(self):
        def last():
            return self.hub.get("/v1/changes?limit=1", self.admin).json()["changes"][0]["id"]

        self.assertEqual(self.set(["thresholds.header=9"]).status, 200)
        first = last()
        self.hub.run("tune", "set", "thresholds.header=8")
        second = last()
        self.assertEqual(self.hub.post("/v1/changes/undo", {"id": first}, self.admin).status, 409)
        self.hub.run("changes", "undo", first, rc=75)
        self.hub.run("changes", "undo", second)
        self.assertEqual(self.tuning()["settings"][0]["value"], "9")
        self.assertEqual(self.set(["thresholds.header=7"]).status, 200)
        self.assertEqual(self.hub.post("/v1/changes/undo", {"id": last()}, self.admin).status, 200)
        self.assertEqual(self.tuning()["settings"][0]["value"], "9")

    def test_two_writers__then_the_second_gets_409(self):
        self.assertEqual(self.set(["thresholds.header=6"], version=0).status, 200)
        a = self.set(["thresholds.header=7"], version=0)
        self.assertEqual(a.status, 409)
        self.assertIn("version 1", a.json()["detail"])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda i: self.set([f"thresholds.header={7 + i}"], version=1).status, range(8)))
        self.assertEqual(sorted(got), [200] + [409] * 7)
        self.assertEqual(self.tuning()["version"], 2)

    def test_wrong_settings__then_refused_and_nothing_changes(self):
        bad = ["state_dir=/x", "rules.offer.enabled=false", "api.listen=x", "thresholds.reject=-1", "thresholds.reject=1e9", "rules.gone",
               "lists.-x.weight=1", "lists.x.weight=1\nend", "thresholds.header=6\u0000", "sensitivity=low", "allow.domains=x.example", "",
               "thresholds.reject=", "lists." + "x" * 33 + ".weight=1"]
        for setting in bad:
            a = self.set(["thresholds.header=6", setting], version=0)
            self.assertIn(a.status, (400, 404, 422), (setting, a.body))
        self.assertEqual(self.set([], version=0).status, 422)
        for why in ("x" * 401, "a\nb", "a\u202eb"):
            self.assertEqual(self.set(["thresholds.header=6"], version=0, why=why).status, 422, why)
        self.assertEqual(self.set(["thresholds.header=6", "thresholds.reject=5"], version=0).status, 422)  # the checker of the configuration
        self.assertEqual(self.tuning()["version"], 0)
        self.assertFalse((self.hub.state / "tuning/current").exists())

    def test_rule_that_is_not_there__then_refused_as_by_the_other_ways(self):
        for setting, words in (("rules.nosuch.score=1", 'there is no rule "nosuch"'), ("rules.nosuch.shadow=true", 'there is no rule "nosuch"'),
                               ("rules.RULE_OFFER.score=1", "in lower case, without RULE_"), ("rules.Offer.shadow=true", "in lower case")):
            a = self.set(["thresholds.header=6", setting], version=0)
            self.assertEqual(a.status, 422, a.body)
            self.assertIn(words, a.json()["detail"])
            user = self.hub.post("/v1/user/set", {"name": "@b.example", "set": [setting]}, self.admin)
            self.assertEqual((user.status, user.json()["detail"]), (422, a.json()["detail"]))
            p = subprocess.run([f"{BUILD}/gillnet", "-c", self.hub.conf, "tune", "set", setting], capture_output=True, text=True)
            self.assertNotEqual(p.returncode, 0)
            self.assertIn(words, p.stderr)
        self.assertEqual(self.tuning()["version"], 0)
        self.assertEqual(self.set(["rules.offer.score=1"], version=0).status, 200)

    def test_gillnetd_refuses__then_the_former_settings_are_back(self):
        self.hub.start_gillnetd()
        self.assertEqual(self.set(["thresholds.header=9"]).status, 200)
        before = (self.hub.state / "tuning/current").read_text()
        # an error that only gillnetd finds, as it compiles the rules
        self.hub.conf.write_text(self.hub.conf.read_text().replace('pattern = "offer"', 'pattern = "offer("'))
        a = self.set(["thresholds.header=6"])
        self.assertEqual(a.status, 422, a.body)
        self.assertIn("refused", a.json()["detail"])
        self.assertEqual((self.hub.state / "tuning/current").read_text(), before)
        self.assertEqual(self.marks(), "accept")
        self.hub.conf.write_text(self.hub.conf.read_text().replace('pattern = "offer("', 'pattern = "offer"'))
        self.assertEqual(self.set(["thresholds.header=6"]).json()["version"], 2)
        self.assertEqual(self.marks(), "header")

    # ---- a damaged file ----

    def damage(self, text=None):
        place = self.hub.state / "tuning/current"
        whole = place.read_text()
        place.write_text(whole[:-4] if text is None else text)
        return whole

    def test_damaged__then_gillnetd_starts_without_it_and_says_so(self):
        self.assertEqual(self.set(["thresholds.header=9"]).status, 200)
        self.damage()
        self.hub.start_gillnetd()
        self.assertEqual(self.marks(), "header")
        self.assertIn("event=tuning result=ignored", (self.hub.top / "gillnetd.log").read_text())
        self.assertIn("tuning/current", self.hub.run("--json", "stat"))
        p = subprocess.run([f"{BUILD}/gillnet", "-c", self.hub.conf, "config", "check"], capture_output=True, text=True)
        self.assertEqual(p.returncode, 78)
        self.assertIn("tuning/current:9: the file ends before its last line", p.stderr)
        # the hub still has the former settings: its reload is refused
        self.hub.run("reload", rc=78)
        self.assertEqual(self.set(["thresholds.header=6"], version=1).status, 422)
        a = self.undo(1)
        self.assertEqual((a.status, a.json()["of_version"]), (200, 1), a.body)
        self.assertEqual(self.marks(), "accept")
        self.hub.run("config", "check")
        self.assertNotIn("tuning", self.hub.run("--json", "stat"))

    def test_damaged__while_they_run__then_a_reload_keeps_what_was(self):
        self.hub.start_gillnetd()
        self.assertEqual(self.set(["thresholds.header=9"]).status, 200)
        whole = self.damage("gillnet-tuning 1\nversion 1\nstate_dir=/x\nend\n")
        p = subprocess.run([f"{BUILD}/gillnet", "-c", self.hub.conf, "reload"], capture_output=True, text=True)
        self.assertEqual(p.returncode, 78)
        self.assertIn("tuning/current:3: ", p.stderr)
        self.assertEqual(self.marks(), "accept")
        self.hub.kill(signal.SIGTERM)
        self.hub.start()
        self.assertIn("tuning/current:3: ", self.tuning()["fault"])
        (self.hub.state / "tuning/current").write_text(whole)
        self.hub.run("reload")
        self.assertEqual((self.tuning()["fault"], self.tuning()["version"]), (None, 1))

    def test_file_that_others_may_write__then_refused(self):
        self.assertEqual(self.set(["thresholds.header=9"]).status, 200)
        place = self.hub.state / "tuning/current"
        for mode in (0o660, 0o642):
            place.chmod(mode)
            self.hub.run("config", "check", rc=78)
        place.chmod(0o640)
        self.hub.run("config", "check")
        (self.hub.state / "tuning").chmod(0o2770)
        self.hub.run("config", "check", rc=78)
        (self.hub.state / "tuning").chmod(0o2750)
        os.rename(place, place.with_name("x"))
        place.symlink_to(place.with_name("x"))
        self.hub.run("config", "check", rc=78)

    def test_rule_that_is_gone__then_a_warning_alone(self):
        self.hub.start_gillnetd()
        self.assertEqual(self.set(["thresholds.header=9", "rules.offer.score=5", "lists.phish.weight=8.5"]).status, 200)
        text = self.hub.conf.read_text()
        self.hub.conf.write_text(text.replace(RULE, "").replace(', { name = "phish"; weight = 8.0; }', ""))
        self.hub.run("reload")
        self.assertEqual(self.marks(), "accept")
        self.assertIn("no such rule", (self.hub.top / "gillnetd.log").read_text())
        gone = {s["key"]: s["gone"] for s in self.tuning()["settings"]}
        self.assertEqual(gone, {"thresholds.header": False, "rules.offer.score": True, "lists.phish.weight": False})
        p = subprocess.run([f"{BUILD}/gillnet", "-c", self.hub.conf, "config", "check"], capture_output=True, text=True)
        self.assertEqual(p.returncode, 0)
        self.assertIn("rules.offer.score=5", p.stderr)
        self.assertEqual(self.set(["thresholds.header=6"]).status, 200)  # a change keeps it
        self.hub.conf.write_text(text)
        self.hub.run("reload")
        self.assertEqual({r["name"]: r["score"] for r in self.tuning()["rules"]}["offer"], 5.0)

    def test_many_changes__then_the_newest_versions_are_kept(self):
        for i in range(40):
            self.assertEqual(self.set([f"thresholds.header={i + 1}"], version=i).status, 200)
        kept = sorted(int(p.name.split("-")[1]) for p in (self.hub.state / "tuning").glob("version-*"))
        self.assertEqual(kept, list(range(9, 41)))
        self.assertEqual(self.undo().json()["of_version"], 39)

    # ---- under load ----

    def test_client_that_goes__then_its_replay_ends_and_another_runs(self):
        self.hub.start_gillnetd()
        self.send(50)
        body = json.dumps({"settings": ["thresholds.header=9"]})
        for _ in range(30):
            c = http.client.HTTPConnection("127.0.0.1", self.hub.port, timeout=20)
            c.request("POST", "/v1/replay", body, {"Content-Type": "application/json", **self.admin})
            c.close()
        until(lambda: self.hub.post("/v1/replay", {"settings": []}, self.admin).status == 200, "no place comes back")
        statuses = set()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for a in pool.map(lambda _: self.hub.ask_once("POST", "/v1/replay", body, {"Content-Type": "application/json", **self.admin}), range(64)):
                statuses.add(a.status)
                if a.status == 503:
                    self.assertEqual(a.headers["Retry-After"], "1")
        self.assertLessEqual(statuses, {200, 503})
        self.assertIn(200, statuses)
        self.assertTrue(self.hub.is_up())


if __name__ == "__main__":
    time.tzset()
    unittest.main(verbosity=2)
