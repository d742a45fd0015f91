#!/usr/bin/env python3
"""The journal of real gillnetds: each case id that a client got can be explained, also after kill -9; a full disk delays
no mail; a replay without changes gives the actions that were taken; a person is forgotten while gillnetd runs."""
import json
import os
import random
import re
import subprocess
import tempfile
import threading
import time
import unittest

from daemon import BUILD, Daemon, gillnet
from mta import Closed, Mta
from test_correspondents import play

ROUNDS = int(os.environ.get("GILLNET_ROUNDS", "30"))
SEED = int(os.environ.get("GILLNET_SEED", str(random.randrange(1 << 30))))
CONFIG = """shipped_rules = false;
thresholds = { header = 5.0; quarantine = 8.0; reject = 10.0; };
lists = ( { name = "phish"; weight = 12.0; }, { name = "promo"; weight = 6.0; }, { name = "test"; weight = 3.0; shadow = true; } );
rules = ( { name = "replica"; type = "text"; window = "1d"; count = 3; score = 2.0; },
          { name = "cut"; trait = "html_form"; score = 1.5; },
          { name = "reply"; all = ( { feature = "reply_to"; } ); score = 6.0; } );
"""
LISTS = {"phish": ["evil.example"], "promo": ["promo.example"], "test": ["test.example"]}


def ask(d, *args, check=True):
    return gillnet("-c", d.conf, *args, check=check)


def explain(d, name):
    return json.loads(ask(d, "--json", "explain", name).stdout)


def send(m, i, body, sender=None, headers=()):
    return m.message(body=body, sender=sender or f"<a{i}@sender.example>",
                     headers=(("Subject", f"hello {i}"), ("Message-ID", f"<{i}@sender.example>"), *headers))


def some_mail(d, n=24):
    """Messages of every kind, as (number, answer)."""
    m = Mta(d.target)
    m.hello()
    bodies = [b"http://evil.example/a\r\n", b"http://promo.example/b\r\n", b"http://test.example/c\r\n", b"good words here\r\n",
              b"one two three four five six seven eight nine ten eleven twelve\r\n"]
    answers = []
    for i in range(n):
        headers = (("Reply-To", "x@free.example"),) if i % 7 == 3 else ()
        answers.append((i, send(m, i, bodies[i % len(bodies)], headers=headers), m.qid))
    m.quit()
    d.wait_line(answers[-1][2])
    return answers


def taken(d):
    return [line["action"] for line in d.lines()]


class Journal(unittest.TestCase):
    def test_message__when_it_is_judged__then_every_id_explains_it(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            for i, answer, qid in some_mail(d):
                case = answer.case()
                self.assertRegex(case, "^[0-9a-z]{12}$")
                self.assertEqual(d.wait_line(qid)["case"], case)
                found = explain(d, case)
                self.assertEqual((found["case"], found["queue_id"]), (case, qid))
                self.assertEqual(found["from"], f"a{i}@sender.example")
                for other in (qid, f"<{i}@sender.example>", f"{i}@sender.example", case.upper()):
                    self.assertEqual(explain(d, other)["case"], case)
                wanted = {"y": "reject", "c": None}[answer.code]
                if wanted:
                    self.assertEqual(found["action"], wanted)
                    self.assertRegex(found["sentence"], r"^Rejected: 1[0-9.]+ of 10.0; .*12.0 from list phish \(url_domain "
                                                        r"evil.example, listed since 20")
            missing = ask(d, "explain", "nosuchid", check=False)
            self.assertEqual(missing.returncode, 66, missing.stderr)

    def test_file__when_it_is_explained__then_it_is_judged_as_check_does(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            path = f"{d.folder}/mail"
            with open(path, "w", encoding="ascii") as f:
                f.write("From: a@b.example\nReply-To: x@free.example\n\nhttp://promo.example/\n")
            got = json.loads(ask(d, "--json", "explain", "--file", path).stdout)
            want = json.loads(ask(d, "--json", "check", path, check=False).stdout)
            self.assertEqual((got["wanted"], got["score"]), (want["action"], want["score"]))
            self.assertEqual(got["symbols"], want["symbols"])
            text = ask(d, "explain", "--file", path).stdout
            self.assertIn("what would change the verdict:\n", text)
            self.assertRegex(text, r"without LIST_PROMO \(6.0\): header\n")

    def test_replay__without_changes__then_every_message_keeps_its_action(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            answers = some_mail(d, 60)
            out = json.loads(ask(d, "--json", "replay").stdout)
            self.assertEqual((out["messages"], out["changed"], out["undecided"]), (len(answers), 0, 0))
            for action, n in out["actions"].items():
                want = taken(d).count(action)
                self.assertEqual(n, {"before": want, "after": want}, action)

    def test_replay__with_changes__then_it_is_what_gillnetd_does_with_them(self):
        changes = {"thresholds.header=7": ('header = 5.0', 'header = 7.0'), "thresholds.reject=13": ("reject = 10.0", "reject = 13.0"),
                   "lists.promo.weight=9": ('name = "promo"; weight = 6.0', 'name = "promo"; weight = 9.0'),
                   "lists.test.shadow=false": ('weight = 3.0; shadow = true', 'weight = 3.0; shadow = false'),
                   "rules.reply.score=1": ("score = 6.0", "score = 1.0"), "rules.replica.count=6": ("count = 3", "count = 6"),
                   "rules.replica.enabled=false": ("count = 3;", "count = 3; enabled = false;")}
        with Daemon(CONFIG, lists=LISTS) as d:
            some_mail(d, 60)
            for change, (old, new) in changes.items():
                with self.subTest(change), Daemon(CONFIG.replace(old, new), lists=LISTS) as other:
                    some_mail(other, 60)
                    out = json.loads(ask(d, "--json", "replay", "--set", change).stdout)
                    self.assertEqual(out["undecided"], 0, out)
                    for action, n in out["actions"].items():
                        self.assertEqual(n["after"], taken(other).count(action), (change, action, out))

    def test_replay__when_the_journal_cannot_tell__then_it_is_refused(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            some_mail(d, 5)
            for change, why in (("rules.nosuch.score=1", "no rule of this name"), ("rules.reply.pattern=x", "need the message"),
                                ("rules.reply.count=3", "conditions of this rule are not in it"),
                                ("lists.phish.types=url", "look-ups of another key"), ("trusted_networks=[]", "cannot tell"),
                                ("thresholds.header=nan", "0.01 to 100000"), ("thresholds.reject=1", "is below thresholds.header (5)"),
                                ("thresholds.header", "KEY=VALUE")):
                p = ask(d, "replay", "--set", change, check=False)
                self.assertGreaterEqual(p.returncode, 64, change)
                self.assertIn(why, p.stderr)
            p = ask(d, "replay", "--since", "1h", "--until", "2h", check=False)
            self.assertEqual(p.returncode, 64)
            self.assertIn("--since is later than --until", p.stderr)

    def test_user__address_with_an_extension__shows_the_settings_of_the_user(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            ask(d, "user", "set", "anna@b.example", "thresholds.header=4")
            said = ask(d, "user", "show", "anna+x@b.example").stdout
            self.assertIn("anna@b.example thresholds.header=4", said)
            self.assertNotIn("settings of the site", said)

    def test_reports__when_messages_are_reported__then_replay_and_rules_use_them(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            answers = some_mail(d, 20)
            for i, answer, _ in answers:
                ask(d, "report", "spam" if i % 5 < 2 else "ham", "--id", answer.case(), "--reporter", "joe@rcpt.example")
            out = json.loads(ask(d, "--json", "replay", "--set", "thresholds.header=7").stdout)
            self.assertEqual(out["before"]["spam_marked"] + out["before"]["spam_passed"], 8)
            self.assertEqual(out["before"]["recall"], 1.0)
            self.assertLess(out["after"]["recall"], 1.0)
            rows = {r["rule"]: r for r in map(json.loads, ask(d, "--json", "rules").stdout.splitlines())}
            self.assertEqual(rows["reply"]["hits"], 3)
            self.assertEqual(rows["reply"]["reported_spam"] + rows["reply"]["reported_ham"], 3)
            self.assertGreater(rows["replica"]["hits"], 0)
            self.assertEqual(rows["cut"]["hits"], 0)
            plot = ask(d, "replay", "--plot").stdout
            self.assertRegex(plot, r"<- header from 5")
            self.assertEqual(explain(d, answers[0][1].case())["reported"], "spam")

    def test_forget__while_gillnetd_runs__then_no_file_has_the_address(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            some_mail(d, 20)
            out = json.loads(ask(d, "--json", "journal", "forget", "A3@sender.example").stdout)
            self.assertEqual(out["records"], 1)
            some_mail(d, 2)
            out = json.loads(ask(d, "--json", "journal", "forget", "b0@rcpt.example").stdout)
            self.assertEqual(out["records"], 22)
            for name in os.listdir(f"{d.state}/journal"):
                with open(f"{d.state}/journal/{name}", "rb") as f:
                    self.assertNotIn(b"b0@rcpt.example", f.read(), name)
            stat = json.loads(ask(d, "--json", "journal", "stat").stdout)
            self.assertEqual((stat["records"], stat["damaged"]), (22, 0))

    def test_addresses__when_they_are_not_to_be_kept__then_none_is(self):
        with Daemon(CONFIG + "journal = { addresses = false; };", lists={**LISTS, "promo": ["a3@sender.example"]}) as d:
            some_mail(d, 10)
            time.sleep(0.5)
            for name in os.listdir(f"{d.state}/journal"):
                with open(f"{d.state}/journal/{name}", "rb") as f:
                    self.assertNotIn(b"@", re.sub(rb"[^\x20-\x7e]*", b"", b"".join(re.findall(rb"[a-z0-9]{2,}@[a-z.]{3,}", f.read()))))

    def test_off__when_keep_is_0__then_nothing_is_kept_and_mail_flows(self):
        with Daemon(CONFIG + 'journal = { keep = "0s"; };', lists=LISTS) as d:
            answers = some_mail(d, 5)
            self.assertTrue(all(a.case() for _, a, _ in answers))
            self.assertFalse([n for n in os.listdir(f"{d.state}/journal") if n.startswith("messages")])


class Unjudged(unittest.TestCase):
    """Outgoing mail, and mail that was not examined."""

    LIMITS = 'account = { recipients = 1; action = "defer"; };\ntrusted_networks = [ "198.51.100.0/24" ];\n'

    def outgoing(self, d, i, user="ann", address="192.0.2.10"):
        m = Mta(d.target)
        m.hello(address=address)
        answer = play(m, "ann@our.example", [f"p{i}@s{i}.example"],
                      [("From", "ann@our.example"), ("Message-ID", f"<out{i}@our.example>")],
                      b"http://evil.example/a\r\n", user)
        qid = m.qid
        m.quit()
        return answer, qid

    def test_outgoing__is_explained_and_never_counts_as_judged(self):
        with Daemon(CONFIG + self.LIMITS, lists=LISTS) as d:
            for user, address, whose in [("ann", "192.0.2.10", "of a login"),
                                         (None, "198.51.100.7", "from a network of trusted_networks")]:
                answer, qid = self.outgoing(d, 1, user, address)
                self.assertEqual((answer.code, answer.headers()), ("c", []))
                line = d.wait_line(qid)
                for name in (line["case"], qid):
                    found = explain(d, name)
                    self.assertEqual((found["case"], found["outgoing"], found["action"]), (line["case"], True, "accept"))
                    self.assertEqual(found["sentence"], f"Accepted: outgoing mail {whose} is never judged")
                    self.assertEqual((found["to"], found["from"]), (["p1@s1.example"], "ann@our.example"))
                    self.assertEqual((found["changes"], found["symbols"]), ([], []))
                    self.assertNotEqual(found["counts"], [])
            self.assertEqual(explain(d, "out1@our.example")["case"], line["case"])
            answer, qid = self.outgoing(d, 2)
            answer, qid = self.outgoing(d, 3)
            self.assertEqual(answer.code, "y")
            self.assertIn("too many new recipients", answer.text)
            self.assertEqual(explain(d, answer.case())["sentence"],
                             "Deferred: outgoing mail of a login is never judged; the login wrote to more strangers than "
                             "account.recipients")
            got = json.loads(ask(d, "--json", "replay", "--set", "thresholds.header=0.01").stdout)
            self.assertEqual((got["messages"], got["changed"], got["undecided"], got["outgoing"]), (0, 0, 0, 4))
            self.assertIn("besides 4 outgoing messages", ask(d, "replay").stdout)
            self.assertTrue(ask(d, "rules").stdout.startswith("0 judged messages; 4 more are outgoing or "))
            shown = [json.loads(line) for line in ask(d, "--json", "messages").stdout.splitlines()]
            self.assertEqual([(row["outgoing"], row["score"]) for row in shown], [(True, None)] * 4)

    def test_limit__the_message_is_explained_and_not_replayed(self):
        with Daemon(CONFIG + "limits = { sessions = 1; };\n", lists=LISTS) as d:
            first, m = Mta(d.target), Mta(d.target)
            first.hello()
            m.hello()
            answer = send(m, 1, b"http://evil.example/a\r\n")
            self.assertEqual((answer.code, answer.headers()), ("c", []))
            found = explain(d, d.wait_line(m.qid)["case"])
            self.assertEqual(found["sentence"], "Accepted: it was not examined, because limits.sessions was met")
            self.assertEqual((found["reason"], found["from"], found["outgoing"]), ("sessions", "a1@sender.example", False))
            m.quit()
            first.quit()
            got = json.loads(ask(d, "--json", "replay", "--set", "thresholds.header=0.01").stdout)
            self.assertEqual((got["messages"], got["changed"], got["undecided"]), (1, 0, 1))
            self.assertEqual(got["actions"]["accept"], {"before": 0, "after": 0})
            self.assertIn("not examined", list(got["undecided_by_reason"])[0])

    def test_fault__the_message_has_a_case_and_is_explained(self):
        hosts = [f"h{i}.example" for i in range(500)]
        config = ('thresholds = { header = 50.0; };\ndeadline = "1ms";\non_error = "defer";\n'
                  'lists = ( { name = "test"; weight = 3.0; shadow = true; } );\n')
        with Daemon(config, lists={"test": hosts}) as d:
            m = Mta(d.target)
            m.hello()
            answer = send(m, 1, b"".join(f"http://{host}/a\r\n".encode() for host in hosts))
            self.assertIn("could not be examined", answer.text)
            found = explain(d, answer.case())
            self.assertEqual(d.wait_line(m.qid)["case"], answer.case())
            m.quit()
            self.assertEqual(found["sentence"], "Deferred: it was not examined (deadline), so on_error decided")
            self.assertEqual(found["action"], "defer")
            self.assertEqual(explain(d, "1@sender.example")["case"], found["case"])


class Killed(unittest.TestCase):
    """A client keeps the case ids of the replies that it got, while gillnetd is killed at random points."""

    def client(self, d, stop, cases):
        m = None
        i = 0
        while not stop.is_set():
            try:
                if m is None:
                    m = Mta(d.target, timeout=5)
                    m.hello()
                i += 1
                cases.append(send(m, i, b"http://evil.example/a\r\n" if i % 2 else b"hello\r\n").case())
            except (Closed, OSError, AssertionError):
                if m:
                    m.close()
                m = None
                time.sleep(0.002)

    def test_gillnetd__when_it_is_killed__then_every_acknowledged_case_is_there(self):
        print(f"GILLNET_SEED={SEED}")
        rng = random.Random(SEED)
        d = Daemon(CONFIG + 'journal = { size = "64M"; };', lists=LISTS)
        cases = []
        stop = threading.Event()
        clients = [threading.Thread(target=self.client, args=(d, stop, cases)) for _ in range(2)]
        d.start()
        for c in clients:
            c.start()
        try:
            for _ in range(ROUNDS):
                known = len(cases)
                if rng.random() < 0.75:  # else perhaps before the first answer
                    d.wait_for(lambda: len(cases) > known, "the first answer")
                time.sleep(rng.uniform(0.01, 0.35))
                d.kill()
                d.start()
        finally:
            stop.set()
            for c in clients:
                c.join()
            d.kill()
        with d:
            stat = json.loads(ask(d, "--json", "journal", "stat").stdout)
            self.assertEqual(stat["damaged"], 0, stat)
            self.assertGreater(len(cases), ROUNDS // 2)
            self.assertGreaterEqual(stat["records"], len(cases))
            known = self.dump(d)
            self.assertEqual([c for c in cases if c not in known], [], f"dropped {d.stat('journal_dropped')}")
            for case in rng.sample(cases, 10):
                self.assertEqual(explain(d, case)["case"], case)

    def dump(self, d):
        """All case ids of the journal."""
        out = ask(d, "--json", "messages", "-n", "1000000").stdout
        rows = [json.loads(line)["case"] for line in out.splitlines()]
        self.assertEqual(len(rows), len(set(rows)), "a record is there twice")
        return set(rows)


@unittest.skipUnless(os.geteuid() == 0, "needs root to mount a tmpfs")
class Full(unittest.TestCase):
    def test_disk__when_it_is_full__then_mail_flows_and_a_fault_says_so(self):
        folder = tempfile.mkdtemp(prefix="gillnet-full-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m,mode=750", "tmpfs", folder], check=True)
        try:
            with Daemon(CONFIG + "count = { messages_per_day = 0; };", lists=LISTS, state=folder) as d:
                before = some_mail(d, 3)
                # without a buffer, whose rest would fail again at the close
                with open(f"{folder}/fill", "wb", buffering=0) as f:
                    try:
                        while True:
                            f.write(b"x" * 65536)
                    except OSError:
                        pass
                begin = time.monotonic()
                during = some_mail(d, 200)
                self.assertLess(time.monotonic() - begin, 60)
                self.assertTrue(all(a.code in "cy" for _, a, _ in during))
                d.wait_for(lambda: "journal" in ask(d, "stat", check=False).stdout, "the fault")
                for _, a, _ in before + during[:5] + during[-5:]:  # from the ring
                    self.assertEqual(explain(d, a.case())["case"], a.case())
                os.unlink(f"{folder}/fill")
                d.wait_for(lambda: "event=journal result=writable" in d.log(), "the end of the fault")
                stat = json.loads(ask(d, "--json", "journal", "stat").stdout)
                self.assertEqual((stat["records"], stat["damaged"]), (203, 0))
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
            os.rmdir(folder)


if __name__ == "__main__":
    assert BUILD
    unittest.main()
