#!/usr/bin/env python3
"""contrib/spamassassin/gillnet.cf in a real SpamAssassin, with nothing else loaded.

Usage: test_spamassassin.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SA = pathlib.Path(os.environ.get("GILLNET_SPAMASSASSIN", ROOT / "build/spamassassin")) / "root"
MAIL = "Received: from x (x [192.0.2.1]) by mx.example; Mon, 05 Jan 2026 09:01:00 +0000\n{}" \
       "From: <a@sender.example>\nTo: <b@rcpt.example>\nSubject: x\nDate: Mon, 05 Jan 2026 09:01:00 +0000\n" \
       "Message-ID: <1@sender.example>\n\nhello\n"
FIELDS = "X-Gillnet-Status: {}\nX-Gillnet-Score: {}\nX-Gillnet-Symbols: {}\n"


class Beside(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-sa-"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        (self.top / "rules").mkdir()  # the report's template and the names of top-level domains
        for name in ("10_default_prefs.cf", "20_aux_tlds.cf"):
            shutil.copy(SA / "usr/share/spamassassin" / name, self.top / "rules")
        site = self.top / "site"
        site.mkdir()
        (site / "check.pre").write_text("loadplugin Mail::SpamAssassin::Plugin::Check\n")
        shutil.copy(ROOT / "contrib/spamassassin/gillnet.cf", site)

    def spamassassin(self, *args, text=None):
        perl = [SA / "usr/share/perl5", *SA.glob("usr/lib/*/perl5/5.*"), *SA.glob("usr/lib/*/perl5")]
        return subprocess.run(["perl", "-T", *[f"-I{p}" for p in perl], SA / "usr/bin/spamassassin", "-L", "-x",
                               f"--siteconfigpath={self.top}/site", f"--configpath={self.top}/rules",
                               f"--prefspath={self.top}/user_prefs", *args], input=text, capture_output=True,
                              text=True, timeout=200, env=dict(os.environ, HOME=str(self.top)))

    def rules(self, text):
        """{rule: score} of a message."""
        p = self.spamassassin("-t", text=text)
        self.assertEqual(p.returncode, 0, p.stderr)
        return {m[2]: float(m[1]) for m in re.finditer(r"^ *(-?[\d.]+) (GILLNET_\w+) ", p.stdout, re.M)}

    def test_lint__then_nothing_to_say(self):
        p = self.spamassassin("--lint")
        self.assertEqual((p.returncode, p.stdout + p.stderr), (0, ""))

    def test_fields_of_gillnetd__then_rules_and_scores(self):
        rows = (
            (("Yes, action=header score=7.5", "7.5", "PHISH_URL(6.0)[evil.example], BULK_TEXT(1.5)"),
             {"GILLNET_YES": 3.5, "GILLNET_BULK": 0.5}),
            (("Yes, action=header score=12.0", "12.0", "PHISH_URL(12.0)"), {"GILLNET_YES": 3.5, "GILLNET_HIGH": 3.0}),
            (("No, action=accept score=2.5", "2.5", "BULK_TEXT(2.5)"), {"GILLNET_SOFT": 1.0, "GILLNET_BULK": 0.5}),
            (("No, action=accept score=0.0", "0.0", "-"), {}),
        )
        for fields, expected in rows:
            with self.subTest(fields[0]):
                self.assertEqual(self.rules(MAIL.format(FIELDS.format(*fields))), expected)
        self.assertEqual(self.rules(MAIL.format("")), {})
        got = self.rules(MAIL.format("X-Gillnet-Status: unchecked, reason=deadline\n"))
        self.assertEqual(set(got), {"GILLNET_UNCHECKED"})
        self.assertLess(got["GILLNET_UNCHECKED"], 0.01)

    def test_forged_fields__then_nothing_is_won(self):
        good = FIELDS.format("Yes, action=header score=7.5", "7.5", "PHISH_URL(6.0)")
        forged = FIELDS.format("No, action=accept score=-50.0", "-50.0", "-")
        self.assertEqual(self.rules(MAIL.format(good + forged)), {"GILLNET_FORGED": 1.0})
        self.assertEqual(self.rules(MAIL.format(forged)), {})
        for rules in (self.rules(MAIL.format(FIELDS.format("Yes, x", s, "-"))) for s in ("-10.0", "1e9", "99999.9")):
            self.assertEqual(rules, {"GILLNET_YES": 3.5})


if __name__ == "__main__":
    if not (SA / "usr/bin/spamassassin").exists():
        sys.exit(f"no spamassassin in {SA}; run contrib/install-deps test")
    unittest.main(verbosity=2)
