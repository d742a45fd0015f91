#!/usr/bin/env python3
"""Campaigns of real gillnetds: mailings are grouped with a sample, survive kill -9, and texts are kept only as the journal's are."""
import json
import random
import unittest

from daemon import Daemon, gillnet
from mta import Mta

CONFIG = """shipped_rules = false;
lists = ( { name = "phish"; weight = 12.0; } );
thresholds = { header = 5.0; reject = 10.0; };
journal = { subjects = true; };
"""
WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "ne", "pu", "ra", "so", "ti") for b in ("ban", "dor", "fil", "gam", "hux", "jev", "kol", "lim")]


def ask(d, *args, check=True):
    return gillnet("-c", d.conf, *args, check=check)


def campaigns(d):
    return [json.loads(line) for line in ask(d, "--json", "campaign", "list").stdout.splitlines()]


def text_of(seed, n=120):
    """Words of a text; another seed has another text."""
    r = random.Random(seed)
    return [r.choice(WORDS) for _ in range(n)]


def send(d, words, subject, sender="<a@sender.example>", addr="192.0.2.7", more=""):
    m = Mta(d.target)
    m.hello(address=addr)
    body = " ".join(words).encode() + b"\r\n" + more.encode() + b"\r\n"
    answer = m.message(body=body, sender=sender, headers=(("From", sender), ("Subject", subject)))
    qid = m.qid
    m.quit()
    d.wait_line(qid)
    return answer


class Campaign(unittest.TestCase):
    def test_mailings__when_copies_differ_a_little__then_each_is_one_campaign(self):
        with Daemon(CONFIG) as d:
            for i in range(6):
                first, second = text_of(1), text_of(2)
                first[3 + i] = "changed"
                send(d, first, f"offer {i}", f"<a@s{i}.example>", f"192.0.{i}.7")
                if i < 3:
                    send(d, second, "letter", "<b@letter.example>")
            send(d, text_of(3), "alone", "<c@alone.example>")
            rows = sorted(campaigns(d), key=lambda row: -row["messages"])
            self.assertEqual([(r["messages"], r["networks"], r["senders"], r["subject"], r["sender"]) for r in rows],
                             [(6, 6, 6, "offer 0", "a@s0.example"), (3, 1, 1, "letter", "b@letter.example")])
            self.assertEqual([r["accepted"] for r in rows], [6, 3])
            self.assertLessEqual(rows[0]["first"], rows[0]["last"])
            shown = ask(d, "campaign", "show", rows[0]["id"]).stdout
            self.assertIn("messages 6, about 6 networks and 6 sender domains", shown)
            self.assertIn("subject offer 0", shown)
            self.assertEqual(len(ask(d, "campaign", "list", "--limit", "1").stdout.splitlines()), 1)
            d.wait_for(lambda: d.stat("campaigns") == 2)

    def test_campaigns__after_kill_9__are_all_there_and_grow(self):
        with Daemon(CONFIG) as d:
            for i in range(4):
                send(d, text_of(i % 2), f"subject {i % 2}")
            before = campaigns(d)
            d.kill()
            self.assertEqual(campaigns(d), before)
            self.assertEqual([r["messages"] for r in before], [2, 2])
            d.start()
            send(d, text_of(0), "subject 0")
            self.assertEqual(sorted(r["messages"] for r in campaigns(d)), [2, 3])

    def test_texts__when_the_journal_keeps_none__then_samples_have_none(self):
        with Daemon(CONFIG.replace("subjects = true", "addresses = false")) as d:
            for _ in range(2):
                send(d, text_of(1), "secret subject")
            self.assertEqual([(r["messages"], r["subject"], r["sender"]) for r in campaigns(d)], [(2, None, None)])
            with open(f"{d.state}/campaigns/table", "rb") as file:
                self.assertNotIn(b"secret", file.read())

    def test_person__when_forgotten__then_no_sample_names_her(self):
        with Daemon(CONFIG) as d:
            for _ in range(2):
                send(d, text_of(1), "for anna", "<anna@home.example>")
                send(d, text_of(2), "for joanna", "<joanna@home.example>")
            ask(d, "journal", "forget", "Anna@home.example")
            self.assertEqual(sorted(str(r["sender"]) for r in campaigns(d)), ["None", "joanna@home.example"])

    def test_messages__by_what_was_done__are_counted_apart(self):
        with Daemon(CONFIG, lists={"phish": ["evil.example"]}) as d:
            send(d, text_of(1), "x")
            send(d, text_of(1), "x", more="http://evil.example/a")
            self.assertEqual([(r["accepted"], r["refused"]) for r in campaigns(d)], [(1, 1)])

    def test_mark__spam__then_the_next_copy_says_so_until_it_is_undone(self):
        with Daemon(CONFIG) as d:
            for i in range(3):
                send(d, text_of(1), "offer", f"<a@s{i}.example>")
                send(d, text_of(2), "letter")
            row = next(r for r in campaigns(d) if r["subject"] == "offer")
            self.assertEqual((row["standing"], row["reported_spam"]), ("open", 0))
            said = json.loads(ask(d, "--json", "campaign", "mark", "spam", row["id"]).stdout)
            self.assertEqual((said["kind"], said["standing"]), ("spam", "spam"))
            varied = text_of(1)
            varied[7] = "changed"
            self.assertIn("REPORTED_SPAM", str(send(d, varied, "offer", "<a@new.example>").headers()))
            self.assertNotIn("REPORTED", str(send(d, text_of(2), "letter").headers()))
            row = next(r for r in campaigns(d) if r["subject"] == "offer")
            self.assertEqual((row["standing"], row["reported_spam"], row["messages"]), ("spam", 1, 4))
            self.assertIn("spam", ask(d, "campaign", "list").stdout)
            ask(d, "report", "undo", said["id"])
            self.assertNotIn("REPORTED", str(send(d, varied, "offer").headers()))
            self.assertEqual([r["standing"] for r in campaigns(d)], ["open", "open"])

    def test_mark__while_gillnetd_is_down__then_it_holds_when_it_starts(self):
        with Daemon(CONFIG) as d:
            for _ in range(2):
                send(d, text_of(1), "offer")
            d.stop()
            ask(d, "campaign", "mark", "ham", campaigns(d)[0]["id"])
            self.assertEqual([(r["standing"], r["reported_ham"]) for r in campaigns(d)], [("ham", 1)])
            d.start()
            self.assertIn("REPORTED_HAM", str(send(d, text_of(1), "offer").headers()))

    def test_mark__what_is_no_campaign__is_refused(self):
        with Daemon(CONFIG) as d:
            self.assertIn("no campaign", ask(d, "campaign", "mark", "spam", "0123456789ab", check=False).stderr)
            self.assertEqual(ask(d, "campaign", "mark", "maybe", "0123456789ab", check=False).returncode, 64)

    def test_id__that_is_none__is_refused(self):
        with Daemon(CONFIG) as d:
            for word, status in (("xyz", 64), ("0123456789ab", 65)):
                self.assertEqual(ask(d, "campaign", "show", word, check=False).returncode, status)


if __name__ == "__main__":
    unittest.main()
