#!/usr/bin/env python3
"""`gillnet messages` with a real gillnetd: each form of a term finds the messages that it says, newest first; --follow prints
each message that comes, once; errors say where; what the journal may not keep is not shown."""
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import unittest

from daemon import BUILD, Daemon, gillnet
from mta import Mta
from test_journal import CONFIG, LISTS, ask, send, some_mail

SUBJECTS = "journal = { subjects = true; };\n"


def find(d, *query):
    return [json.loads(line) for line in ask(d, "--json", "messages", *query).stdout.splitlines()]


def cases(d, *query):
    return [row["case"] for row in find(d, *query)]


class Follower:
    """`gillnet messages --follow`, and its rows."""

    def __init__(self, d, *args):
        self.proc = subprocess.Popen([f"{BUILD}/gillnet", "-c", d.conf, "--json", "messages", "--follow", *args],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.rows = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.proc.stdout:
            self.rows.put(json.loads(line))
        self.rows.put(None)

    def wait_until_it_reads(self, m, body=b"good words\r\n"):
        """Sends messages until one is printed: from then on none is missed."""
        for i in range(1000):
            answer = send(m, 5000 + i, body)
            try:
                row = self.rows.get(timeout=0.3)
                break
            except queue.Empty:
                pass
        while row["case"] != answer.case():
            row = self.rows.get(timeout=60)

    def take(self, n):
        return [self.rows.get(timeout=60) for _ in range(n)]

    def end(self, number):
        if number:
            self.proc.send_signal(number)
        status = self.proc.wait(60)
        errors = self.proc.stderr.read()
        self.proc.stderr.close()
        return status, errors


class Search(unittest.TestCase):
    def test_terms__each_form__finds_what_explain_says(self):
        with Daemon(CONFIG + SUBJECTS, lists=LISTS) as d:
            sent = {answer.case(): (i, qid) for i, answer, qid in some_mail(d, 30)}
            rows = find(d)
            self.assertEqual(set(cases(d)), set(sent))
            self.assertEqual([sent[row["case"]][0] for row in rows], list(range(29, -1, -1)))
            for row in rows:
                i, qid = sent[row["case"]]
                told = json.loads(ask(d, "--json", "explain", row["case"]).stdout)
                self.assertEqual((row["id"], row["from"], row["subject"]), (qid, f"a{i}@sender.example", f"hello {i}"))
                self.assertEqual((row["client"], row["to"], row["recipients"]),
                                 ({"address": told["client"]}, told["to"], len(told["to"])))
                for name in ("time", "action", "score", "header_from", "subject", "outgoing"):
                    self.assertEqual(row.get(name, ""), told[name], name)
                self.assertEqual(row["size"], told["bytes"])
                self.assertEqual(row["symbols"], [{"name": s["name"], "score": s["score"]} for s in told["symbols"]])
            by = {i: case for case, (i, _) in sent.items()}
            one = [row for row in rows if row["case"] == by[3]][0]
            for query in (["id:" + by[3]], ["id:" + by[3].upper()], ["id:" + one["id"]], ["id:<3@sender.example>"],
                          ["id:3@sender.example"], ["from:a3@"], ["FROM:A3@SENDER.example"], ['subject:"hello 3"', "-from:a"],
                          [by[3]], ["a3@sender"], ["from:a3@ to:b0@rcpt", "-action:reject"]):
                want = [] if "-from:a" in query else [by[3]]
                self.assertEqual(cases(d, "--", *query), want, query)
            for query, wanted in (("symbol:LIST_PHISH", lambda r: any(s["name"] == "LIST_PHISH" for s in r["symbols"])),
                                  ("symbol:list_*", lambda r: any(s["name"].startswith("LIST_") for s in r["symbols"])),
                                  ("-symbol:list_*", lambda r: not any(s["name"].startswith("LIST_") for s in r["symbols"])),
                                  ("action:reject", lambda r: r["action"] == "reject"),
                                  ("-action:rej*", lambda r: r["action"] != "reject"),
                                  ("score:>6", lambda r: r["score"] > 6), ("score:6", lambda r: r["score"] >= 6),
                                  ("score:<6", lambda r: r["score"] < 6), ("score:<=6", lambda r: r["score"] <= 6),
                                  ("since:1h", lambda r: True), ("until:1h", lambda r: False),
                                  ("client:" + one["client"]["address"], lambda r: True),
                                  ("score:>5 -symbol:LIST_PHISH from:sender", lambda r: r["score"] > 5 and not any(
                                      s["name"] == "LIST_PHISH" for s in r["symbols"]))):
                self.assertEqual(cases(d, "--", query), [r["case"] for r in rows if wanted(r)], query)
            self.assertGreater(len(cases(d, "symbol:LIST_PHISH")), 0)
            self.assertEqual(cases(d, "-n", "4"), [r["case"] for r in rows[:4]])
            self.assertEqual(cases(d, "-n", "2", "action:reject"), [r["case"] for r in rows if r["action"] == "reject"][:2])
            table = ask(d, "messages", "from:a0@").stdout.splitlines()
            self.assertEqual(len(table), 1)
            self.assertRegex(table[0], rf"^20\S+Z {by[0]} reject  +1\d\.\d a0@sender\.example -> b0@rcpt\.example( \+ \d more)?"
                                       r"  LIST_PHISH 12\.0")

    def test_errors__say_where_and_what_to_write(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            for args, why in ((["from:x", "form:y"], "gillnet: column 8: form:y: there is no such field; write one of from:"),
                              (["score:"], "quotes around < and >"), (["-n", "0"], "-n takes a number of messages"),
                              (["-n", "x"], "-n takes a number of messages"), (["x" * 2000], "at most 1024 bytes")):
                p = ask(d, "messages", *args, check=False)
                self.assertEqual(p.returncode, 64, args)
                self.assertIn(why, p.stderr)
                self.assertEqual(p.stdout, "")

    def test_addresses_and_subjects__that_are_not_kept__are_not_found(self):
        with Daemon(CONFIG + "journal = { addresses = false; };", lists=LISTS) as d:
            some_mail(d, 3)
            rows = find(d)
            self.assertEqual([(r["from"], r["to"]) for r in rows], [("", [])] * 3)
            self.assertNotIn("subject", rows[0])
            self.assertEqual(find(d, "from:a"), [])
            self.assertEqual(len(find(d, "id:<1@sender.example>")), 1)

    def test_follow__prints_each_message_that_comes_once_and_in_order(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            some_mail(d, 5)
            every, rejected, one = Follower(d), Follower(d, "action:reject"), Follower(d, "-n", "1", "--", "from:a7@", "-from:b")
            self.addCleanup(lambda: [f.proc.kill() for f in (every, rejected, one)])
            m = Mta(d.target)
            m.hello()
            every.wait_until_it_reads(m)
            rejected.wait_until_it_reads(m, b"http://evil.example/a\r\n")
            answer = send(m, 200, b"end of the start\r\n")
            while every.take(1)[0]["case"] != answer.case():
                pass
            bodies = [b"http://evil.example/a\r\n", b"good words\r\n"]
            wanted = [send(m, i, bodies[i % 2]).case() for i in range(100, 140)]
            self.assertEqual([row["case"] for row in every.take(40)], wanted)
            self.assertEqual([row["case"] for row in rejected.take(20)], wanted[::2])
            while one.proc.poll() is None:
                send(m, 7, b"good words\r\n")
            self.assertEqual(one.end(None), (0, ""))
            self.assertEqual([row and row["from"] for row in one.take(2)], ["a7@sender.example", None])
            self.assertEqual(every.end(signal.SIGINT), (0, ""))
            self.assertEqual(rejected.end(signal.SIGTERM), (0, ""))
            m.quit()

    def test_follow__when_its_reader_goes__then_it_ends(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            f = subprocess.Popen([f"{BUILD}/gillnet", "-c", d.conf, "messages", "--follow"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            f.stdout.close()
            f.wait(60)
            self.assertEqual(f.stderr.read(), b"")
            f.stderr.close()

    def test_follow__when_the_journal_begins_again__then_it_goes_on(self):
        with Daemon(CONFIG, lists=LISTS) as d:
            f = Follower(d)
            self.addCleanup(f.proc.kill)
            m = Mta(d.target)
            m.hello()
            f.wait_until_it_reads(m)
            m.quit()
            d.stop()
            shutil.rmtree(f"{d.state}/journal")
            d.start()
            m = Mta(d.target)
            m.hello()
            case = send(m, 1, b"good words\r\n").case()
            m.quit()
            self.assertEqual(f.take(1)[0]["case"], case)
            self.assertEqual(f.end(signal.SIGINT), (0, ""))


if __name__ == "__main__":
    assert gillnet and os.path.exists(BUILD)
    unittest.main()
