#!/usr/bin/env python3
"""What people change by commands and the API is noted, found and taken back, with a real hub and gillnetd.

Usage: test_changes.py      ends like unittest. GILLNET_BUILD names the build.
"""
import contextlib
import getpass
import json
import os
import signal
import subprocess
import threading
import unittest

from hub import BUILD, LISTED, Hub, until
import openapi

SPAM = b"From: a@spam.example\r\nTo: b@here.example\r\nSubject: buy\r\n\r\n" + b"cheap pills at a shop for you today \r\n" * 40


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hub = Hub(more='users = ( { name = "@conf.example"; set = [ "sensitivity=high" ]; } );')
        cls.addClassCleanup(cls.hub.close)
        cls.hub.start()
        cls.hub.start_gillnetd()
        cls.hub.checker = openapi.check
        cls.bearer = {role: {"Authorization": "Bearer " + cls.hub.token(f"the-{role}", role)}
                      for role in ("read", "report", "messages", "admin")}

    def post(self, path, value, role="admin", status=(200, 202), **headers):
        a = self.hub.post(path, value, {**self.bearer[role], **headers})
        self.assertIn(a.status, status if isinstance(status, tuple) else (status,), a.body)
        return a.json()

    def rows(self, q="", role="messages", **more):
        query = "&".join(f"{k}={v}" for k, v in {"q": q.replace(" ", "%20"), **more}.items())
        a = self.hub.get(f"/v1/changes?{query}", self.bearer[role])
        self.assertEqual(a.status, 200, a.body)
        return a.json()["changes"]

    def command_rows(self, *words):
        return [json.loads(x) for x in self.hub.run("--json", "changes", *words).splitlines()]

    def undo(self, row, status=(200, 202)):
        return self.post("/v1/changes/undo", {"id": row["id"]}, status=status)

    def is_listed(self, value):
        return self.hub.post("/v1/check", {"values": [value]}).json()["results"][0]["status"] != "CLEAN"

    # ---- roles ----

    def test_roles(self):
        for role, wanted in (("read", 403), ("report", 403), ("messages", 200), ("admin", 200)):
            self.assertEqual(self.hub.get("/v1/changes", self.bearer[role]).status, wanted, role)
        self.assertEqual(self.hub.get("/v1/changes").status, 401)
        self.assertEqual(self.hub.post("/v1/changes/undo", {"id": "1-0"}, self.bearer["messages"]).status, 403)
        for id in ("1-99999999", "no-id", "", "0-0"):
            self.post("/v1/changes/undo", {"id": id}, status=404)
        for query in ("limit=0", "limit=1001", "before=x", "q=" + "x" * 300):
            self.assertEqual(self.hub.get("/v1/changes?" + query, self.bearer["admin"]).status, 422, query)

    def test_local_role_admin__then_no_settings_of_users_without_a_token(self):
        hub = Hub(api='local_role = "admin";')
        self.addCleanup(hub.close)
        hub.start()
        admin = {"Authorization": "Bearer " + hub.token("the-admin", "admin")}
        body = {"name": "secret@here.example", "set": ["block.domains=secret.example"]}
        self.assertEqual(hub.post("/v1/user/set", body, admin).status, 200)
        self.assertEqual(hub.post("/v1/allow", {"values": ["local.example"]}).status, 200)  # it is admin
        change = hub.get("/v1/changes?q=kind:user-set", admin).json()["changes"][0]
        for unix in (False, True):
            for path, body in (("user/set", {"name": "secret@here.example", "set": ["sensitivity=low"]}), ("changes/undo", {"id": change["id"]}),
                               ("changes/undo", {"id": "1-0"})):
                a = hub.post("/v1/" + path, body, unix=unix)
                self.assertEqual(a.status, 401, (path, a.body))
                self.assertIn("local_role", a.json()["detail"])
                self.assertNotIn(b"secret", a.body)
        self.assertEqual(hub.get("/v1/user?name=secret@here.example", admin).json()["settings"][0]["set"], ["block.domains=secret.example"])
        self.assertEqual(hub.post("/v1/changes/undo", {"id": change["id"]}, admin).status, 200)

    # ---- lists ----

    def test_allow__by_a_page__then_noted_with_token_and_way_and_taken_back(self):
        self.post("/v1/allow", {"values": ["friend.example"]}, **{"Sec-Fetch-Site": "same-origin"})
        row = self.rows("friend.example")[0]
        self.assertEqual((row["who"], row["way"], row["kind"], row["object"], row["values"], row["undo"]),
                         ("the-admin", "page", "list-add", "allow", ["domain:friend.example"], "possible"))
        self.assertEqual(self.command_rows("friend.example")[0], row)
        self.undo(row)
        back, first = self.rows("friend.example")
        self.assertEqual((back["kind"], back["undoes"], first["undo"]), ("list-revoke", row["id"], "done"))
        self.assertIn("undone before", self.undo(first, status=422)["detail"])
        self.undo(back)
        self.assertEqual([r["undo"] for r in self.rows("friend.example")], ["possible", "done", "possible"])

    def test_revoke__then_the_undo_lists_it_again(self):
        value = LISTED[1]
        self.post("/v1/revoke", {"values": [value]})
        until(lambda: not self.is_listed(value), "it stays listed")
        row = self.rows("kind:list-revoke who:the-admin " + value)[0]
        self.undo(row)
        until(lambda: self.is_listed(value), "it is not listed again")

    def test_revoke__of_what_was_not_listed__then_nothing_is_put_back(self):
        self.post("/v1/revoke", {"values": ["never.example"], "list": "phish"})
        row = self.rows("never.example")[0]
        stays = "not listed before; the revocation stays: gillnet list add LIST VALUE lists it"
        self.assertEqual((row["result"], row["undo"]), (stays, "none"))
        self.assertIn("it was " + stays, self.undo(row, status=422)["detail"])
        self.hub.run("list", "revoke", "phish", "never2.example", rc=1)
        self.assertEqual(self.command_rows("never2.example")[0]["result"], stays)
        self.hub.run("changes", "undo", self.command_rows("never2.example")[0]["id"], rc=65)
        self.assertFalse(self.is_listed("never.example"))

    def test_a_command__then_noted_with_its_login_and_undone_by_a_command(self):
        self.hub.run("list", "add", "phish", "c1.example", "c2.example")
        row = self.command_rows("c1.example")[0]
        login = getpass.getuser()
        self.assertEqual((row["who"].partition("/")[0], row["way"], row["object"], row["values"]),
                         (login, "command", "phish", ["domain:c1.example", "domain:c2.example"]))
        until(lambda: self.is_listed("c1.example"), "it is not listed")
        self.hub.run("changes", "undo", row["id"])
        until(lambda: not self.is_listed("c1.example"), "it stays listed")
        self.assertIn("was undone", self.hub.run("changes", "c1.example"))
        self.hub.run("changes", "undo", row["id"], rc=65)
        self.hub.run("changes", "undo", "no-id", rc=66)

    def test_many_values__then_counted_and_not_put_back(self):
        self.hub.run("list", "add", "phish", "-", stdin="".join(f"m{i}.example\n" for i in range(150)))
        row = self.command_rows("m0.example")[0]
        self.assertEqual((len(row["values"]), row["count"], row["undo"]), (100, 150, "none"))

    def test_sudo__then_both_names(self):
        if os.getuid() != 0:
            self.skipTest("needs root")
        subprocess.run([f"{BUILD}/gillnet", "-c", self.hub.conf, "list", "add", "phish", "sudo.example"], check=True,
                       env={**os.environ, "SUDO_USER": "anna"}, capture_output=True)
        self.assertEqual(self.command_rows("sudo.example")[0]["who"], "root/anna")

    def test_import_rename_delete__then_noted(self):
        self.hub.run("list", "import", "once", self.hub.top / "feed")
        self.hub.run("list", "rename", "once", "twice")
        self.hub.run("list", "delete", "--force", "twice")
        self.assertEqual([r["kind"] for r in self.command_rows("object:twice")], ["list-delete"])
        self.assertEqual([r["kind"] for r in self.command_rows("object:once")], ["list-rename", "list-import"])

    # ---- reports ----

    def test_report__then_its_undo(self):
        a = self.hub.post("/v1/report?kind=spam", SPAM, {**self.bearer["report"], "Content-Type": "message/rfc822"})
        self.assertEqual(a.status, 202, a.body)
        row = self.rows("kind:report who:the-report")[0]
        self.assertEqual((row["after"], row["values"]), ("spam, 0 revoked", [a.json()["id"]]))
        self.undo(row)
        self.assertEqual(self.rows("kind:report-undo")[0]["undoes"], row["id"])
        reports = self.hub.get("/v1/reports", self.bearer["messages"]).json()["reports"]
        self.assertTrue(next(r for r in reports if r["id"] == a.json()["id"])["undone"])

    # ---- users ----

    def test_user__then_set_shown_listed_and_put_back(self):
        a = self.post("/v1/user/set", {"name": "Anna@Here.Example", "set": ["sensitivity=low", "allow.domains=x.example"]})
        self.assertEqual((a["name"], a["before"], a["set"]),
                         ("anna@here.example", [], ["sensitivity=low", "allow.domains=x.example"]))
        shown = json.loads(self.hub.run("--json", "user", "show", "anna@here.example").splitlines()[0])
        self.assertEqual(shown["set"], a["set"])
        self.post("/v1/user/set", {"name": "anna@here.example", "set": ["sensitivity=high", "allow.domains="]})
        got = self.hub.get("/v1/user?name=anna@here.example", self.bearer["messages"]).json()
        self.assertEqual(got["settings"], [{"name": "anna@here.example", "source": "file", "set": ["sensitivity=high"]}])
        self.assertLess(got["thresholds"]["header"], self.hub.get("/v1/user?name=@none.example",
                                                                  self.bearer["messages"]).json()["thresholds"]["header"])
        first = self.rows("kind:user-set anna")[0]
        self.assertEqual((first["before"], first["after"]), ("sensitivity=low allow.domains=x.example", "sensitivity=high"))
        self.undo(first)
        got = self.hub.get("/v1/user?name=anna@here.example", self.bearer["messages"]).json()
        self.assertEqual(got["settings"][0]["set"], a["set"])
        self.hub.run("changes", "undo", self.rows("kind:user-set anna")[2]["id"])  # to no settings
        got = self.hub.get("/v1/user?name=anna@here.example", self.bearer["messages"]).json()
        self.assertEqual(got["settings"], [])

    def test_user__changed_again__then_the_older_change_is_not_undone(self):
        name = "carol@here.example"

        def now():
            settings = self.hub.get(f"/v1/user?name={name}", self.bearer["messages"]).json()["settings"]
            return settings[0]["set"] if settings else []

        self.post("/v1/user/set", {"name": name, "set": ["sensitivity=low"]})
        self.post("/v1/user/set", {"name": name, "set": ["block.domains=x.example"]})
        second, first = self.rows("kind:user-set carol")
        before = self.rows("kind:user-set carol")
        self.assertIn("other settings by now", self.undo(first, status=409)["detail"])
        self.hub.run("changes", "undo", first["id"], rc=75)
        self.assertEqual(now(), ["sensitivity=low", "block.domains=x.example"])
        self.assertEqual(self.rows("kind:user-set carol"), before)
        self.undo(second)  # in their order they all go
        self.hub.run("changes", "undo", first["id"])
        self.assertEqual(now(), [])

    def test_user__set_to_what_it_has__then_nothing_is_noted(self):
        body = {"name": "dave@here.example", "set": ["sensitivity=low"]}
        self.post("/v1/user/set", body)
        a = self.post("/v1/user/set", body)
        self.assertEqual(a["before"], a["set"])
        self.hub.run("user", "set", "dave@here.example", "sensitivity=low")
        self.assertEqual(len(self.rows("kind:user-set dave")), 1)

    def test_users__page_by_page_and_searched(self):
        for i in range(7):
            self.post("/v1/user/set", {"name": f"@page{i}.example", "set": ["sensitivity=low"]})
        names, after = [], "0"
        while after is not None:
            a = self.hub.get(f"/v1/users?q=@PAGE&limit=3&after={after}", self.bearer["messages"]).json()
            names += [r["name"] for r in a["users"]]
            after = a["next"]
        self.assertEqual(names, [f"@page{i}.example" for i in range(7)])
        a = self.hub.get("/v1/users?q=conf.example", self.bearer["messages"]).json()
        self.assertEqual(a["users"], [{"name": "@conf.example", "source": "configuration", "set": ["sensitivity=high"]}])

    def test_user__wrong__then_refused_and_nothing_changed(self):
        file = self.hub.state / "users/users"
        self.post("/v1/user/set", {"name": "@b.example", "set": ["sensitivity=low"]})
        before = file.read_bytes()
        for name, words in (("b.example", ["sensitivity=low"]), ("a b@c.example", ["sensitivity=low"]), ("#x@b.example", ["sensitivity=low"]),
                            ("a@b.example", ["sensitivity=12345"]), ("a@b.example", ["score=1"]), ("a@b.example", [""]),
                            ("a@b.example", ["allow.domains=x.example\n@evil.example"]), ("a@b.example", ["x\ny="]),
                            ("a@b.example\n@c.example", ["sensitivity=low"]), ("a@b.example", ["rules.none.score=1"]),
                            ("a@b.example", ["sensitivity=low", "sensitivity=high"]), ("a@b.example", [])):
            self.post("/v1/user/set", {"name": name, "set": words}, status=422)
        self.assertEqual(file.read_bytes(), before)
        for role in ("read", "report", "messages"):
            self.post("/v1/user/set", {"name": "@b.example", "set": ["sensitivity=low"]}, role=role, status=403)

    # ---- hostile, crashes, trouble ----

    def test_hostile_query__then_only_text(self):
        q = "%3Cscript%3E%22%27%60%00"
        self.assertIn(self.hub.get(f"/v1/changes?q={q}", self.bearer["admin"]).status, (200, 400, 422))

    def test_log_that_cannot_be_written__then_the_change_is_made_and_told(self):
        log = self.hub.state / "changes"
        aside = self.hub.state / "aside"
        log.rename(aside)
        log.write_text("no folder")
        try:
            self.post("/v1/allow", {"values": ["unnoted.example"]})
            p = subprocess.run([f"{BUILD}/gillnet", "-c", self.hub.conf, "list", "add", "phish", "unnoted2.example"],
                               capture_output=True, text=True)
            self.assertEqual(p.returncode, 0)
            self.assertIn("not in the log of changes", p.stderr)
            until(lambda: self.is_listed("unnoted2.example"), "it is not listed")
            self.hub.wait_log("event=changes")
            self.assertEqual(self.hub.get("/v1/changes", self.bearer["admin"]).status, 503)
        finally:
            log.unlink()
            aside.rename(log)

    def test_killed_commands__then_the_log_is_whole(self):
        for i in range(15):
            p = subprocess.Popen([f"{BUILD}/gillnet", "-c", self.hub.conf, "list", "add", "phish", "-"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
            stop = threading.Timer(0.02 * i, p.send_signal, [signal.SIGKILL])
            stop.start()
            acked = []
            try:
                for k in range(1000):
                    p.stdin.write(f"k{i}-{k}.example\n".encode())
                    p.stdin.flush()
                    line = p.stdout.readline()
                    if not line:
                        break
                    acked.append(line)
            except BrokenPipeError:
                pass
            stop.join()
            with contextlib.suppress(BrokenPipeError):
                p.stdin.close()
            p.stdout.close()
            p.wait()
            noted = self.command_rows("-n", "5000", f"k{i}-")
            self.assertGreaterEqual(len(noted), len(acked))
        self.hub.run("list", "add", "phish", "after.example")
        self.assertEqual(len(self.command_rows("after.example")), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
