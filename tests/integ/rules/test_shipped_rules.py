#!/usr/bin/env python3
"""The shipped rules of conf/rules.d: their form, and what they mark.

Usage: test_shipped_rules.py form|corpus|data

form    no rule and no group alone reaches thresholds.header; each rule has a group; no rule needs a list
corpus  figures on the SpamAssassin corpus (contrib/fetch-corpus)
data    figures on the data folder, as contrib/tune-rules prints them
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import datafolder  # noqa: E402

GILLNET = os.environ.get("GILLNET", str(TOP / "build/release/gillnet"))
HEADER = 5.0
TAKEN = 1.5  # that a rule may take away
# Least share of spam and largest share of ham that is marked, by family of sources: with the shipped scores,
# and with scores that were fitted to the other sources.
SHIPPED = {"sa-spam": 0.6, "glitchy-2023": 0.5, "phishing": 0.68, "other-spam": 0.5}
LEFT_OUT = {"sa-spam": 0.5, "glitchy-2023": 0.5, "phishing": 0.5, "other-spam": 0.5}
HAM_MOST = {"easy-ham": 0.001, "hard-ham": 0.01, "real": 0.01, "synthetic": 0.01}


def load_tuner():
    """contrib/tune-rules as a module."""
    loader = importlib.machinery.SourceFileLoader("tune_rules", str(TOP / "contrib/tune-rules"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tune_rules", loader))
    loader.exec_module(module)
    return module


def check(is_so, text):
    """End the test unless is_so."""
    if not is_so:
        sys.exit(f"test_shipped_rules: {text}")


def test_form():
    """Scores, groups, and conditions of the files."""
    tuner = load_tuner()
    rules, caps = tuner.read_rules(str(TOP / "conf/rules.d"))
    check(len(rules) >= 100, f"{len(rules)} rules were read, at least 100 were expected")
    for rule in rules.values():
        check(-TAKEN <= rule.score < HEADER, f"rule {rule.name} alone scores {rule.score}")
        check(rule.group in caps, f"rule {rule.name}: no cap for group {rule.group}")
    for group, cap in caps.items():
        check(0 < cap < HEADER, f"group {group} alone scores {cap}")
    for path in sorted((TOP / "conf/rules.d").glob("*.conf")):
        text = re.sub(r'"(\\.|[^"\\])*"', '""', re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8")))
        check(not re.search(r"\b(list|category) *=", text), f"{path.name}: a rule needs a list")
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "gillnet.conf")
        config.write_text(f'state_dir = "{folder}";\n', encoding="utf-8")
        mail = pathlib.Path(folder, "message.eml")
        mail.write_text("From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: lunch\n\nAt noon?\n", encoding="utf-8")
        run = subprocess.run([GILLNET, "-c", str(config), "--json", "check", str(mail)], capture_output=True, check=True)
    answer = json.loads(run.stdout)
    check(answer["action"] == "accept", f"a plain message: {answer['action']} with {answer['symbols']}")


def measure(data, of, *options):
    """{family: (spam, messages, marked, rejected)} by contrib/tune-rules."""
    tuner = str(TOP / "contrib/tune-rules")
    run = subprocess.run([sys.executable, tuner, "--gillnet", GILLNET, "--json", *options, str(data)],
                         stdout=subprocess.PIPE, check=True, text=True)
    print(run.stdout[:run.stdout.rindex("\n{")])
    families = {}
    for source, r in json.loads(run.stdout.splitlines()[-1])[of].items():
        family = source.split("/")[0]
        spam, *sums = families.get(family, (r["spam"], 0, 0, 0))
        families[family] = (spam, *(a + r[k] for a, k in zip(sums, ("messages", "marked", "rejected"))))
    return families


def assert_figures(families, least):
    """The figures hold for the families that are there."""
    for family, (spam, messages, hits, rejected) in families.items():
        if spam:
            check(hits >= least[family] * messages, f"{family}: {hits} of {messages} spam messages marked")
        else:
            check(hits <= HAM_MOST[family] * messages, f"{family}: {hits} of {messages} ham messages marked")
            check(rejected == 0, f"{family}: {rejected} ham messages would be rejected")


def test_corpus():
    """Figures on the corpus that contrib/fetch-corpus unpacked."""
    corpus = datafolder.corpus()
    if corpus is None:
        print("no corpus: run contrib/fetch-corpus")
        return
    with tempfile.TemporaryDirectory() as folder:
        for label, groups in {"ham": ("easy-ham-1", "easy-ham-2", "hard-ham-1"), "spam": ("spam-1", "spam-2")}.items():
            place = pathlib.Path(folder, "mail", label)
            place.mkdir(parents=True)
            for group in groups:
                (place / ("sa-" + group)).symlink_to(corpus / group)
        families = measure(folder, "all", "--shipped")
    check(len(families) == 3, f"the corpus has sources {sorted(families)}")
    assert_figures(families, SHIPPED)


def test_data():
    """Figures on the data folder."""
    data = datafolder.folder()
    if data is None:
        print("no data folder")
        return
    with tempfile.TemporaryDirectory() as folder:
        hits = ("--hits", str(pathlib.Path(folder, "hits")))
        assert_figures(measure(data, "left_out", *hits), LEFT_OUT)
        assert_figures(measure(data, "all", "--shipped", *hits), SHIPPED)


if __name__ == "__main__":
    {"form": test_form, "corpus": test_corpus, "data": test_data}[sys.argv[1]]()
