#!/usr/bin/env python3
"""Figures of the model: sources left out of the training, with and without reports.

Usage: figures_learn.py [--rules FILE.tsv] [--reports N[,N]...] [--names] [--half] [DATA]

Learns with build/release/tests/bench/bench_rounds, adds the score of the shipped rules, and counts
messages at thresholds.header (5.0) and thresholds.reject (10.0). Each family of spam (SPAM) and of
ham (HAM) is left out of the training by turns; reports are of campaigns (CAMPAIGNS*.tsv) that are
not tested. Rules' scores come from `gillnet check`, without rules that redaction makes hit
(contrib/tune-rules.sources), and are kept in FILE.
"""
import argparse
import collections
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
HEADER, REJECT = 5.0, 10.0
SPAM = ("sa-spam", "glitchy-2023", "phishing", "other-spam")
HAM = ("easy-ham", "hard-ham", "real", "synthetic")
REPORT_WEIGHT = 6  # LEARNER_REPORT
NEWCOMER_WEIGHT = 0.3  # REPORT_WEIGHT times TRUST_NEW (core/report/trust.h)
LESSONS = 20  # as in core/report/trust.c
LIES = 1000  # of one liar; 200 a day are taken


def tune_rules():
    """contrib/tune-rules as a module: it reads sources, campaigns and rules."""
    loader = importlib.machinery.SourceFileLoader("tune_rules", os.path.join(TOP, "contrib/tune-rules"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tune_rules", loader))
    loader.exec_module(module)
    return module


def read_messages(options):
    """Labelled messages with family, campaign and the score of the rules."""
    tune = tune_rules()
    messages, redacted = tune.read_sources(options.data)
    rules, caps = tune.read_rules(os.path.join(TOP, "conf/rules.d"))
    score = {n: r.score for n, r in rules.items()}
    options.hits, options.rules, options.proved = options.rules_file, os.path.join(TOP, "conf/rules.d"), False
    hits = tune.find_hits(options, messages)
    campaign = read_campaigns(options.data)
    for n, m in enumerate(messages):
        m.number, m.family = n, tune.family(m.source)
        m.campaign = campaign.get(m.path, m.path)
        names = [x for x in hits[m.path] if x in rules and x not in redacted.get(m.source, ())]
        m.rule_score = tune.total(names, score, rules, caps)
    return messages


def read_campaigns(data):
    """{path: name of its campaign}."""
    result = {}
    for folder in ("mail", "mail-modern"):
        for name in sorted(os.listdir(os.path.join(data, folder))):
            if name.startswith("CAMPAIGNS"):
                with open(os.path.join(data, folder, name), encoding="utf-8") as file:
                    for line in file:
                        if line[0] != "#":
                            number, _, _, path = line.rstrip("\n").split("\t")
                            result[os.path.join(folder, path)] = name + folder + number
    return result


class Rounds:
    """The program that learns and judges."""

    def __init__(self, program, data, messages):
        self.lines, self.asked = ["P " + os.path.join(data, m.path) + ("\t" + m.source if "/" in m.source else "") for m in messages], []
        self.program = program

    def say(self, line):
        self.lines.append(line)

    def train(self, messages):
        """As `gillnet train`: near replicas weigh less."""
        size = collections.Counter(m.campaign for m in messages)
        for m in messages:
            self.say("T %d %s %g" % (m.number, "spam" if m.spam else "ham", size[m.campaign] ** -.5))

    def report(self, messages):
        for m in messages:
            self.say("A %d %s %g" % (m.number, "spam" if m.spam else "ham", REPORT_WEIGHT))

    def ask(self, messages, key, how="Q"):
        for m in messages:
            self.say("%s %d" % (how, m.number))
            self.asked.append((key, m))

    def run(self):
        """[(key, message, answer)] in the order of asking."""
        run = subprocess.run([self.program], input="\n".join(self.lines) + "\n", stdout=subprocess.PIPE,
                             encoding="utf-8", check=True)
        answers = run.stdout.splitlines()
        return [(key, m, a.split()) for (key, m), a in zip(self.asked, answers)]


def take_campaigns(messages, most, seed):
    """Whole campaigns of at most `most` messages together: (taken, the rest)."""
    groups = collections.defaultdict(list)
    for m in messages:
        groups[m.campaign].append(m)
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    taken = []
    for name in names:
        if len(taken) + len(groups[name]) <= most:
            taken += groups[name]
    ids = {m.number for m in taken}
    return taken, [m for m in messages if m.number not in ids]


def add_round(rounds, messages, spam, ham, reports):
    """Train without the two families, report, judge both."""
    tested_spam = [m for m in messages if m.family == spam]
    tested_ham = [m for m in messages if m.family == ham]
    local = [m for m in messages if m.family == "easy-ham"]
    reported, tested_spam = take_campaigns(tested_spam, min(reports // 2, len(tested_spam) // 2), 7)
    ham_reported, local = take_campaigns(local, reports // 2, 3)
    if ham == "easy-ham":
        tested_ham = local
    out = {m.number for m in ham_reported}
    train = [m for m in messages if m.family not in (spam, ham) and m.number not in out]
    if reports == 0:
        prior = "/tmp/figures-learn-%d.prior" % os.getpid()
        rounds.say("R")
        rounds.train(train)
        rounds.say("B")
        rounds.say("W " + prior)
        rounds.say("R " + prior)
    else:
        rounds.say("R")
        rounds.train(train)
        rounds.say("B")
        both = reported + ham_reported
        random.Random(5).shuffle(both)
        rounds.report(both)
        rounds.say("C")
    rounds.ask(tested_spam, (reports, spam, ham))
    rounds.ask(tested_ham, (reports, spam, ham))


def add_half(rounds, messages):
    """Train on a random half of the campaigns, judge the other; its spam again with 200 hamlike words added, all after lies."""
    half = sum(1 for m in messages) // 2
    train, test = take_campaigns(messages, half, 11)
    rounds.say("R")
    rounds.train(train)
    rounds.say("B")
    rounds.ask(test, ("half", "", ""))
    rounds.say("K")
    rounds.ask([m for m in test if m.spam][:1000], ("half", "", ""))
    rounds.ask([m for m in test if m.spam][:1000], ("padded", "", ""), "X")
    for lie in ("spam", "ham"):  # a newcomer's reports of what others want, and of what nobody wants
        rounds.say("R")
        rounds.train(train)
        rounds.say("B")
        for n, m in enumerate([m for m in train if m.spam == (lie == "ham")][:LIES]):
            rounds.say("A %d %s %g" % (m.number, lie, NEWCOMER_WEIGHT * LESSONS / (LESSONS + n)))
        rounds.say("C")
        rounds.ask(test, ("%d lies of %s" % (LIES, lie), "", ""))


def group_of(m):
    """Where a message counts."""
    return m.family if m.spam or m.family != "easy-ham" else m.path.split("/")[2]


def print_shares(answers, names):
    """Marked and rejected by group and number of reports."""
    seen = collections.defaultdict(lambda: [0, 0, 0, 0])
    for (reports, _, _), m, a in answers:
        total = m.rule_score + float(a[1])
        g = seen[reports, m.spam, group_of(m)]
        g[0] += 1
        g[1] += total >= HEADER - 1e-9
        g[2] += m.rule_score >= REJECT - 1e-9  # MODEL marks at most
        g[3] += float(a[1]) >= HEADER - 1e-9
        if names and not m.spam and total >= HEADER - 1e-9:
            print("  %s reports=%s rules=%.1f model=%s margin=%s of %s local=%s %s" % (m.path, reports, m.rule_score, a[1], a[2], a[3], a[4], a[7]))
    for (reports, spam, group), (n, marked, rejected, alone) in sorted(seen.items(), key=lambda x: (str(x[0][0]), not x[0][1], x[0][2])):
        print("reports %3s %-4s %-16s %6d judged, marked %5.2f %%, by the model alone %5.2f %%, rejected %d"
              % (reports, "spam" if spam else "ham", group, n, 100 * marked / n, 100 * alone / n, rejected))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.path.join(TOP, "../shared/data"))
    parser.add_argument("--gillnet", default=os.path.join(TOP, "build/release/gillnet"))
    parser.add_argument("--program", default=os.path.join(TOP, "build/release/tests/bench/bench_rounds"))
    parser.add_argument("--rules", dest="rules_file", default="/tmp/figures-learn-hits.json")
    parser.add_argument("--reports", default="0,50,200")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--half", action="store_true", help="half of the campaigns to the other half, and the attack")
    options = parser.parse_args()
    messages = read_messages(options)
    rounds = Rounds(options.program, options.data, messages)
    if options.half:
        add_half(rounds, messages)
    for reports in (int(x) for x in options.reports.split(",") if not options.half):
        for spam in SPAM:
            for ham in HAM:
                add_round(rounds, messages, spam, ham, reports)
    print_shares(rounds.run(), options.names)


if __name__ == "__main__":
    sys.exit(main())
