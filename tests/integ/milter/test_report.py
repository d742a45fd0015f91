#!/usr/bin/env python3
"""Reports of people: what they change for the next message, with and without gillnetd; the spool; undo; hostile
requests; none lost or doubled by kill -9. GILLNET_REPORTS says how many."""
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import unittest

from daemon import BUILD, Daemon, gillnet
from mta import Mta

WORDS = ("Dear friend, we have the very best offers of the whole year for you today, come and see %s because only this "
         "week there is a discount of ninety percent on everything that you ever wanted to purchase from the finest online "
         "merchants in all of the known world and beyond it, so hurry and order while our small stock lasts.\r\n")
LINK = "http://pills.shop-evil.example/buy/now?x=1"


def mail(words=WORDS, link=LINK, sender="bob@shop.example", subject="buy now", mid="1"):
    return (f"From: Bob <{sender}>\r\nTo: x@rcpt.example\r\nSubject: {subject}\r\nMessage-ID: <{mid}@shop.example>\r\n\r\n"
            + words % link).encode()


def other_words(n):
    """A text of its own."""
    r = random.Random(n)
    return " ".join("".join(r.choice("abcdefghijklmnoprstuvwy") for _ in range(r.randint(3, 9))) for _ in range(60)) + " %s\r\n"


def judge(daemon, message):
    """A message through the milter: its answer."""
    head, body = message.split(b"\r\n\r\n", 1)
    m = Mta(daemon.target)
    m.hello()
    answer = m.message(headers=[tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")], body=body,
                       sender="<a@sender.example>")
    m.quit()
    return answer


def symbols(answer):
    return dict(answer.headers())["X-Gillnet-Symbols"]


class Reports(unittest.TestCase):
    def daemon(self, config="", start=True):
        d = Daemon(config)
        self.addCleanup(d.__exit__, None, None, None)
        return d.start() if start else d

    def report(self, d, *args, stdin=None, rc=0):
        p = gillnet("-c", d.conf, "--json", "report", *args, check=False, input=stdin)
        self.assertEqual(p.returncode, rc, p.stdout + p.stderr)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def file(self, d, message, name="a.eml"):
        path = pathlib.Path(d.folder) / name
        path.write_bytes(message)
        return str(path)

    # ---- effect ----

    def test_spam__by_the_administrator__marks_near_replicas_of_the_next_message_alone(self):
        d = self.daemon('thresholds = { header = 5.0; reject = 6.0; };\n')
        a = self.report(d, "spam", self.file(d, mail()))[0]
        self.assertEqual((a["kind"], a["reporter"], a["standing"], a["again"]), ("spam", "administrator", "spam", False))
        near = mail(WORDS.replace("only this week", "just this very week"), LINK + "9", "eve@other.example", "look", "2")
        answer = judge(d, near)
        self.assertIn("REPORTED_SPAM(5.0)", symbols(answer))
        self.assertTrue(answer.status().startswith("Yes, action=header"), answer.status())
        # the same sender with another text, and the same domain in a link, are not reported
        for other in (mail(other_words(1), "http://fine.example/1", mid="3"),
                      mail(other_words(2), "http://pills.shop-evil.example/about/us", "x@y.example", "hello", "4")):
            self.assertNotIn("REPORTED", symbols(judge(d, other)))

    def test_spam__with_other_evidence__never_rejects_by_its_own_score(self):
        d = self.daemon('thresholds = { header = 5.0; reject = 6.0; };\n'
                        'rules = ( { name = "two"; score = 2.0; all = ( { feature = "subject"; pattern = "buy now"; } ); } );\n')
        self.report(d, "spam", self.file(d, mail()))
        answer = judge(d, mail())
        self.assertTrue(answer.status().startswith("Yes, action=header score=7.0"), answer.status())

    def test_spam__of_newcomers__does_nothing(self):
        d = self.daemon()
        path = self.file(d, mail())
        for i in range(50):
            a = self.report(d, "spam", "--reporter", f"user{i}@here.example", path)[0]
            self.assertEqual(a["standing"], "open")
        self.assertNotIn("REPORTED", symbols(judge(d, mail())))

    # ---- lists that confirm ----

    def trust(self, d, path, who="ann@here.example", kind="spam"):
        return round(self.report(d, kind, "--reporter", who, path)[0]["trust"], 4)

    def listed(self, d, value, other=False):
        """Lists the value, and lets a message with it come: another text when the value alone is to match."""
        gillnet("list", "add", "--create", "manual", value, "-c", d.conf)
        words = other_words(7) if other else WORDS
        d.wait_for(lambda: "LIST_MANUAL" in symbols(judge(d, mail(words, mid="l"))), "the list")

    def test_list__that_names_later_what_was_reported__gives_the_reporter_trust_once(self):
        d = self.daemon()
        path = self.file(d, mail())
        self.assertEqual(self.trust(d, path), 0.05)
        time.sleep(1.1)  # the list is later
        self.listed(d, "shop-evil.example", other=True)
        d.wait_for(lambda: self.trust(d, path) == 0.0625, "the trust")
        for _ in range(3):
            judge(d, mail())
        time.sleep(2.5)  # two looks of the thread
        self.assertEqual(self.trust(d, path), 0.0625)
        self.assertEqual(d.log().count("kind=listed"), 1)
        # who reports now repeats what the list says
        self.assertEqual(self.trust(d, path, "bob@here.example"), 0.05)
        judge(d, mail())
        time.sleep(2.5)
        self.assertEqual(self.trust(d, path, "bob@here.example"), 0.05)
        d.stop()
        d.start()
        self.assertEqual(self.trust(d, path), 0.0625)

    def test_list__that_takes_its_entry_back__leaves_the_reporter_as_before(self):
        d = self.daemon('lists = ( { name = "good"; category = "allow"; } );\n')
        path = self.file(d, mail())
        for list_again in (lambda: gillnet("list", "revoke", "manual", LINK, "-c", d.conf),
                           lambda: gillnet("list", "add", "--create", "good", LINK, "-c", d.conf)):
            self.assertEqual(self.trust(d, path), 0.05)
            time.sleep(2 - time.time() % 1)  # both changes of the list in one second, if they are quick enough
            self.listed(d, LINK)
            d.wait_for(lambda: self.trust(d, path) == 0.0625, "the trust")
            list_again()
            d.wait_for(lambda: self.trust(d, path) == 0.05, "the end of the trust")
            path = self.file(d, mail(other_words(3), LINK + "more"), "b.eml")

    def test_list__whose_value_only_a_near_replica_has__gives_no_trust(self):
        """Else a liar would send the reported newsletter with a link that was just listed."""
        d = self.daemon()
        path = self.file(d, mail(link="http://news.paper-fine.example/issue/12"))
        self.assertEqual(self.trust(d, path), 0.05)
        time.sleep(1.1)
        self.listed(d, "shop-evil.example")
        time.sleep(2.5)
        self.assertEqual(self.trust(d, path), 0.05)
        self.assertNotIn("kind=listed", d.log())

    def test_list__that_names_what_the_administrator_called_ham__teaches_nothing(self):
        d = self.daemon()
        path = self.file(d, mail())
        self.assertEqual(self.trust(d, path), 0.05)
        self.report(d, "ham", path)
        refuted = self.trust(d, path)
        time.sleep(1.1)
        self.listed(d, "shop-evil.example", other=True)
        d.wait_for(lambda: "kind=listed" in d.log(), "the list")
        self.assertEqual(self.trust(d, path), refuted)

    def test_ham__then_marks_end_and_undo_brings_them_back(self):
        d = self.daemon()
        path = self.file(d, mail())
        self.report(d, "spam", path)
        gillnet("list", "add", "--create", "manual", LINK, "-c", d.conf)
        d.wait_for(lambda: "LIST_MANUAL" in symbols(judge(d, mail())), "the list")
        a = self.report(d, "ham", path)[0]
        changed = {c["status"]: c for c in a["changed"]}
        self.assertEqual(changed["revoked"]["list"], "manual")
        self.assertIn("replaced", changed)
        d.wait_for(lambda: "LIST_MANUAL" not in symbols(judge(d, mail())), "the end of the entry")
        self.assertIn("REPORTED_HAM(-3.0)", symbols(judge(d, mail())))
        shown = self.report(d, "show", a["id"])[0]
        self.assertEqual([c["status"] for c in shown["changed"]], ["revoked"])
        undone = self.report(d, "undo", a["id"])[0]
        self.assertEqual([c["status"] for c in undone["changed"]], ["added"])
        d.wait_for(lambda: "LIST_MANUAL" in symbols(judge(d, mail())), "the entry again")
        self.assertIn("REPORTED_SPAM", symbols(judge(d, mail())))
        self.assertTrue(self.report(d, "show", a["id"])[0]["undone"])
        self.report(d, "undo", a["id"], rc=65)

    def test_ham__beside_a_phish_list__takes_no_score_away(self):
        d = self.daemon('lists = ( { name = "bad"; category = "phish"; weight = 4.0; } );\n')
        gillnet("list", "add", "--create", "bad", "shop-evil.example", "-c", d.conf)
        d.wait_for(lambda: "LIST_BAD" in symbols(judge(d, mail())), "the list")
        self.report(d, "ham", self.file(d, mail()))  # a domain stays listed
        got = symbols(judge(d, mail()))
        self.assertIn("LIST_BAD(4.0)", got)
        self.assertIn("REPORTED_HAM(0.0)", got)

    # ---- without gillnetd, ids, ways in ----

    def test_report__without_gillnetd__is_the_same_and_gillnetd_reads_it(self):
        d = self.daemon(start=False)
        a = self.report(d, "spam", "-", stdin=mail().decode())[0]
        again = self.report(d, "spam", "-", stdin=mail(mid="5").decode())[0]
        self.assertEqual((again["id"], again["again"]), (a["id"], True))
        d.start()
        self.assertIn("REPORTED_SPAM", symbols(judge(d, mail())))
        self.report(d, "undo", a["id"])
        self.assertNotIn("REPORTED_SPAM", symbols(judge(d, mail())))

    def test_log__cut_in_half__doctor_says_so(self):
        d = self.daemon(start=False)
        self.report(d, "spam", self.file(d, mail()))
        self.assertIn("reports: 1 entries", gillnet("-c", d.conf, "doctor", check=False).stdout)
        log = pathlib.Path(d.state) / "reports/log.1"
        os.truncate(log, log.stat().st_size // 2)
        said = gillnet("-c", d.conf, "doctor", check=False)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("warn  reports: damaged places in the log of reports: 1", said.stdout)

    def test_report__by_id__is_seen_by_explain(self):
        d = self.daemon()
        case = judge(d, mail()).case()
        a = self.report(d, "ham", "--id", case)[0]
        self.assertEqual([c["status"] for c in a["changed"]], ["voted"])
        p = gillnet("-c", d.conf, "--json", "explain", case)
        self.assertEqual(json.loads(p.stdout)["reported"], "ham")
        self.report(d, "undo", a["id"])
        p = gillnet("-c", d.conf, "--json", "explain", case)
        self.assertIsNone(json.loads(p.stdout).get("reported"))

    def test_report__by_id__votes_as_one_with_the_message(self):
        d = self.daemon()
        case = judge(d, mail()).case()
        a = self.report(d, "spam", "--id", case)[0]
        self.assertEqual((a["standing"], a["again"]), ("spam", False))
        near = mail(WORDS.replace("only this week", "just this very week"), LINK + "9", "eve@other.example", "look", "2")
        self.assertIn("REPORTED_SPAM", symbols(judge(d, near)))
        self.assertTrue(self.report(d, "spam", "--id", case)[0]["again"])
        self.report(d, "undo", a["id"])
        self.assertNotIn("REPORTED", symbols(judge(d, near)))
        d.stop()  # the command reads the journal itself
        b = self.report(d, "spam", "--id", case)[0]
        self.assertEqual(b["standing"], "spam")
        d.start()
        self.assertIn("REPORTED_SPAM", symbols(judge(d, near)))
        unknown = self.report(d, "spam", "--id", "0" * 12)[0]
        self.assertIn("without the message", unknown["detail"])

    def test_report__of_a_delivered_message__is_of_its_case(self):
        d = self.daemon()
        case = judge(d, mail()).case()
        self.report(d, "spam", self.file(d, f"X-Gillnet-Status: No, score=0.0 case={case}\r\n".encode() + mail()))
        self.assertEqual(self.report(d, "list")[-1]["case"], case)

    def test_mailbox__of_many__each_is_a_report(self):
        d = self.daemon()
        box = b"".join(b"From a@b.example Thu Aug 22 12:36:23 2002\n" + mail(other_words(i), mid=str(i)).replace(b"\r\n", b"\n") + b"\n"
                       for i in range(20))
        self.assertEqual(len(self.report(d, "spam", self.file(d, box, "box"))), 20)
        self.assertEqual(len({r["id"] for r in self.report(d, "list")}), 20)

    def test_spool__temporaries_of_killed_writers__go_at_the_next_start(self):
        d = self.daemon()
        spool = pathlib.Path(d.state) / "reports/spool/ham"
        d.wait_for(spool.is_dir, "the spool")
        d.stop()
        for name, age in (("old.tmp", 7200), ("new.tmp", 0)):
            (spool / name).write_bytes(b"half")
            os.utime(spool / name, (time.time() - age,) * 2)
        d.start()
        d.wait_for(lambda: not (spool / "old.tmp").exists(), "the old one")
        self.assertTrue((spool / "new.tmp").exists())

    def test_spool__files__become_reports_and_go(self):
        d = self.daemon()
        spool = pathlib.Path(d.state) / "reports/spool"
        d.wait_for(lambda: all((spool / word).is_dir() for word in ("spam", "ham", "failed")), "the spool")
        (spool / "spam/one").write_bytes(mail())
        (spool / "spam/.begun").write_bytes(b"half")
        (spool / "spam/empty").write_bytes(b"")
        (spool / "ham/link").symlink_to("/etc/passwd")
        os.mkfifo(spool / "ham/fifo")
        os.link(self.file(d, mail(), "mine"), spool / "ham/hard")
        d.wait_for(lambda: not (spool / "spam/one").exists(), "the report")
        d.wait_for(lambda: len(list((spool / "failed").iterdir())) == 4, "the failures")
        self.assertEqual({f.name for f in (spool / "failed").iterdir()}, {"empty", "fifo", "hard", "link"})
        rows = self.report(d, "list")
        self.assertEqual([(r["reporter"], r["way"], r["kind"]) for r in rows], [("administrator", "spool", "spam")])
        self.assertTrue((spool / "spam/.begun").exists())
        self.assertIn("REPORTED_SPAM", symbols(judge(d, mail())))

    def test_user__who_is_not_the_administrator__speaks_as_itself(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        d = self.daemon(f'control_socket = "/tmp/gillnet-report-{os.getpid()}.sock";\n')
        path = f"/tmp/gillnet-report-{os.getpid()}.sock"
        os.chmod(path, 0o666)
        code = ("import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nm=sys.stdin.buffer.read()\n"
                "s.sendall(b'report %d say=%s %s\\n' % (len(m), sys.argv[2].encode(), sys.argv[3].encode())+m if sys.argv[3] else b'report %d say=spam\\n' % len(m)+m)\n"
                "sys.stdout.write(s.makefile().read())")

        def ask(say, args, body=mail()):
            return subprocess.run(["setpriv", "--reuid=mail", "--regid=mail", "--clear-groups", "python3", "-c", code, path, say,
                                   args], input=body, capture_output=True, check=True).stdout.decode()
        self.assertIn('"reporter":"mail"', ask("spam", ""))
        self.assertIn('"reporter":"mail/administrator"', ask("spam", "reporter=administrator"))
        self.assertIn('"reporter":"mail/anna"', ask("ham", "reporter=anna seal=" + 32 * "0"))
        self.assertNotIn("REPORTED", symbols(judge(d, mail())))
        rows = self.report(d, "list")
        self.assertTrue(ask("undo", f"id={rows[1]['id']}", b"").startswith("error another reporter"))
        self.assertTrue(ask("undo", f"id={rows[0]['id']}", b"").startswith("ok"))
        self.assertTrue(ask("changed", f"id={rows[1]['id']}", b"[]").startswith("error only the administrator"))

    def test_requests__that_make_no_sense__are_refused(self):
        d = self.daemon()
        for line in ("report", "report x", "report 0 say=spam", "report 0 say=", "report 4 say=maybe\nabcd", "scan 1 say=spam\nx",
                     "report 0 say=undo", "report 0 say=undo id=zzz", "report 2 say=changed id=1kz65ekbd58f\n{}",
                     "report 5 say=spam values=1\n\x01\x02...", "report 1 say=spam values=2\nx", "report 1\nx"):
            self.assertTrue(d.control(line.encode() + b"\n").startswith("error"), line)
        self.assertEqual(self.report(d, "list"), [])

    # ---- kill -9 ----

    def test_kill__at_random_points__loses_and_doubles_no_report(self):
        n = int(os.environ.get("GILLNET_REPORTS", "1000"))
        d = self.daemon()
        seed = int(os.environ.get("GILLNET_SEED", time.time_ns() % 100000))
        print(f"GILLNET_SEED={seed}")
        r = random.Random(seed)
        acknowledged = {}
        state = {"next": 0, "end": False, "failed": ""}
        lock = threading.Lock()

        def send():
            while True:
                with lock:
                    i = state["next"]
                    state["next"] += 1
                if i >= n:
                    return
                message = mail(other_words(i), mid=str(i))
                while True:
                    try:
                        answer = d.control(b"report %d say=spam reporter=u%d\n" % (len(message), i % 97) + message)
                    except OSError:
                        time.sleep(0.01)
                        continue
                    if answer.startswith("ok"):
                        break
                    if answer.startswith("error") and "busy" not in answer:
                        state["failed"] = answer
                acknowledged[i] = json.loads(answer.splitlines()[1])["id"]

        threads = [threading.Thread(target=send) for _ in range(4)]
        for t in threads:
            t.start()
        kills = 0
        while any(t.is_alive() for t in threads):
            time.sleep(r.uniform(0.01, 0.3))
            if len(acknowledged) < n:
                d.proc.send_signal(signal.SIGKILL)
                d.proc.wait()
                d.start()
                kills += 1
        for t in threads:
            t.join()
        self.assertEqual(state["failed"], "")
        rows = self.report(d, "list")
        ids = [row["id"] for row in rows]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(set(ids), set(acknowledged.values()))  # none lost
        self.assertEqual(len(ids), n)  # none doubled
        print(f'{{"bench": "reports_killed", "reports": {n}, "kills": {kills}, "lost": 0, "doubled": 0}}')


if __name__ == "__main__":
    assert BUILD
    unittest.main()
