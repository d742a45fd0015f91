#!/usr/bin/env python3
"""`gillnet train`, `eval` and `model` on made-up mail: learnt, judged, explained, forgotten."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

GILLNET = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else "build/release/gillnet"
SPAM = "casino bonus winner claim prize lottery million transfer urgent fee".split()
HAM = "meeting garden budget report lunch train school holiday dinner music".split()
BOTH = "please today thanks regards week letter friend morning evening house".split()


def message(is_spam, number):
    """A short mail of a person."""
    chance = random.Random(number * 2 + is_spam)
    words = [chance.choice(SPAM if is_spam else HAM) for _ in range(12)] + [chance.choice(BOTH) for _ in range(12)]
    chance.shuffle(words)
    return ("From: Anna <anna%d@site%d.example>\nTo: bert@garden.example\nSubject: %s\nMessage-ID: <%d.%d@site%d.example>\n"
            "Date: Mon, 5 Jan 2026 10:00:00 +0000\n\n%s\nthe and of to you for is that with your\n"
            % (number, number, " ".join(words[:3]), number, is_spam, number, " ".join(words[3:])))


class Learning(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.top = pathlib.Path(self.folder.name)
        (self.top / "gillnet.conf").write_text('state_dir = "%s/state";\nmodel = { prior = ""; };\n' % self.top)
        for name, first, n in (("train", 0, 300), ("test", 5000, 60)):
            for is_spam in (0, 1):
                folder = self.top / name / ("spam" if is_spam else "ham")
                folder.mkdir(parents=True)
                for i in range(first, first + n):
                    (folder / ("%d.eml" % i)).write_text(message(is_spam, i))

    def tearDown(self):
        self.folder.cleanup()

    def run_gillnet(self, *words, status=0):
        run = subprocess.run([GILLNET, "-c", str(self.top / "gillnet.conf")] + [str(w) for w in words],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout

    def train(self):
        return self.run_gillnet("train", "--spam", self.top / "train/spam", "--ham", self.top / "train/ham")

    def rows(self, *words):
        return [json.loads(line) for line in self.run_gillnet("--json", *words).splitlines()]

    def person(self):
        return next(r for r in self.rows("model", "show") if r["kind"] == "person")

    def test_train__of_folders__is_learnt_once(self):
        self.assertIn("300 spam and 300 ham learnt", self.train())
        self.train()
        self.assertEqual((self.person()["spam"], self.person()["ham"]), (300, 300))
        self.assertTrue(self.person()["speaks"])

    def test_train__of_links__learns_their_files__and_of_nothing_says_so(self):
        links = self.top / "links"
        links.mkdir()
        for path in (self.top / "train/spam").iterdir():
            (links / path.name).symlink_to(path)
        self.assertIn("300 spam and 300 ham learnt", self.run_gillnet("train", "--spam", links, "--ham", self.top / "train/ham"))
        empty = self.top / "empty"
        empty.mkdir()
        for says in ("no message", "passed over"):
            run = subprocess.run([GILLNET, "-c", str(self.top / "gillnet.conf"), "train", "--spam", str(empty), "--ham", str(empty)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
            self.assertEqual(run.returncode, 66, run.stderr)
            self.assertIn(says, run.stderr)
            if not (empty / "folder").exists():
                (empty / "folder").symlink_to(links)

    def test_check__after_train__has_the_symbol_and_no_action_beyond_header(self):
        self.train()
        rows = [json.loads(line) for line in subprocess.run(
            [GILLNET, "-c", str(self.top / "gillnet.conf"), "--json", "check", str(self.top / "test/spam")],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.splitlines()]
        scores = [s["score"] for r in rows for s in r["symbols"] if s["name"] == "MODEL"]
        self.assertGreater(len(scores), 50)
        self.assertGreater(max(scores), 2)
        self.assertLessEqual(max(scores), 4.5)

    def test_eval__on_other_mail__counts_and_names_mistakes(self):
        self.train()
        rows = self.rows("eval", "--spam", self.top / "test/spam", "--ham", self.top / "test/ham",
                         "--plot", self.top / "plot.svg")
        total = next(r for r in rows if r["type"] == "total")
        self.assertEqual((total["spam"], total["ham"], total["ham_marked"]), (60, 60, 0))
        self.assertGreater(next(r for r in rows if r["type"] == "curve")["area"], 0.95)
        self.assertTrue(any(r["type"] == "mistake" and r["is_spam"] for r in rows))
        self.assertIn("</svg>", (self.top / "plot.svg").read_text())

    def test_eval__by_source__judges_each_folder_without_having_learnt_it(self):
        rows = self.rows("eval", "--by-source", "--spam", self.top / "train/spam", self.top / "test/spam",
                         "--ham", self.top / "train/ham", self.top / "test/ham")
        self.assertEqual([r["source"].split("/")[-1] for r in rows if r["type"] == "source"], ["ham", "ham", "spam", "spam"])
        self.assertEqual(self.person_or_none(), None)

    def person_or_none(self):
        run = subprocess.run([GILLNET, "-c", str(self.top / "gillnet.conf"), "model", "show"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return None if run.returncode != 0 else run.stdout

    def test_model_explain__of_a_message__names_its_words(self):
        self.train()
        row = self.rows("model", "explain", self.top / "test/spam/5000.eml")[0]
        self.assertGreater(row["margin"], 0)
        self.assertTrue({t["term"] for t in row["terms"]} & set(SPAM), row)

    def test_model_forget__of_train__leaves_nothing(self):
        self.train()
        self.run_gillnet("model", "forget", "train")
        self.assertEqual((self.person()["spam"], self.person()["ham"]), (0, 0))
        self.run_gillnet("model", "forget", "nonsense", status=64)

    def test_train__with_prior__writes_a_file_that_speaks_up_to_two(self):
        self.run_gillnet("train", "--prior", self.top / "prior", "--spam", self.top / "train/spam", "--ham", self.top / "train/ham")
        (self.top / "gillnet.conf").write_text('state_dir = "%s/state";\nmodel = { prior = "%s/prior"; };\n' % (self.top, self.top))
        row = self.rows("model", "explain", self.top / "test/spam/5000.eml")[0]
        self.assertFalse(row["is_local"])
        self.assertGreater(row["score"], 0)
        self.assertLessEqual(row["score"], 2)

    def test_words__without_folders_or_wrong__are_refused(self):
        for words in (("train",), ("train", "--spam", self.top), ("train", "x"), ("eval", "--ham", self.top),
                      ("train", "--spma", self.top), ("model",), ("model", "shwo")):
            self.run_gillnet(*words, status=64)


if __name__ == "__main__":
    unittest.main()
