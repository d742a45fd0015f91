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

    def test_id__that_is_none__is_refused(self):
        with Daemon(CONFIG) as d:
            for word, status in (("xyz", 64), ("0123456789ab", 65)):
                self.assertEqual(ask(d, "campaign", "show", word, check=False).returncode, status)


if __name__ == "__main__":
    unittest.main()
