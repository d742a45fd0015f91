#!/usr/bin/env python3
"""Near-duplicate keys on real mail: copies share a key, different messages do not.

Usage: replicas.py --dump PROGRAM [--show N] [FOLDER]
Folder: a data folder (environment GILLNET_DATA, else shared/data beside the tree; tests/maildata.py
says how it is laid out), or the SpamAssassin corpus (GILLNET_SA_CORPUS, else
build/corpus/spamassassin); 77 when neither is there and none was named.  Figures and their bounds: ADR 0015.  One epoch: the keys of the older one only, as between
two messages a month apart; both: as between messages of the same month.
"""
import argparse
import collections
import email
import email.utils
import hashlib
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import maildata  # noqa: E402

WORDS, PAIRS, GROUP, KEYS_MAX, SENDERS_MAX = 100, 6000, 5, 24, 3
LISTS = ("list-id", "list-post", "x-mailing-list", "mailing-list", "x-beenthere",
         "list-unsubscribe", "errors-to", "return-path")
THREADS = ("message-id", "in-reply-to", "references")
PREFIX = re.compile(r"^(\s*(re|fwd?|aw)\s*(\[\d+\])?:|\s*\[[^\]]*\])+", re.I)


class Figures:
    def __init__(self):
        self.bad = 0

    def check(self, what, value, good, bound):
        self.bad += not good
        print(f"{what}: {value} ({'must be' if good else 'NOT REACHED:'} {bound})")


def dump(program, lines):
    """Near-replica keys of each P and T line, in order."""
    run = subprocess.run([program], input="".join(line + "\n" for line in lines).encode(),
                         capture_output=True, check=True)
    return [{key for key in row.split("\t")[1:] if key != "text_folded"}
            for row in run.stdout.decode().splitlines()]


def keys_of(program, paths, learnt=()):
    lines = [f"L {path}" for path in learnt] + [f"P {path}" for path in paths]
    return dict(zip(paths, dump(program, lines)))


def of_one_epoch(keys):
    epochs = {key.split(".")[0] for key in keys}
    return {key for key in keys if key.startswith(min(epochs) + ".")} if epochs else set()


def share(a, b):
    return bool(a & b)


def relations(path):
    """Marks of messages that belong together: sender, list, thread, subject."""
    message = email.message_from_bytes(path.read_bytes())
    out = set()
    fields = [str(v) for name in ("from", "sender", "reply-to") for v in message.get_all(name, [])]
    out |= {("sender", a.lower()) for _, a in email.utils.getaddresses(fields) if a}
    for name in LISTS:
        out |= {("list", str(v).lower().strip()) for v in message.get_all(name, [])}
    for name in THREADS:
        for value in message.get_all(name, []):
            out |= {("thread", i) for i in re.findall("<[^>]+>", str(value))}
    subject = re.sub(r"\d+", "0", PREFIX.sub("", str(message.get("subject", ""))).strip().lower())
    return out | ({("thread", subject)} if subject else set())


def senders(paths, related):
    """How many groups of mail that has nothing in common these are."""
    groups = []
    for path in paths:
        mine = set(related[path])
        for group in [g for g in groups if g & mine]:
            groups.remove(group)
            mine |= group
        groups.append(mine)
    return len(groups)


def by_key(keys):
    out = collections.defaultdict(list)
    for path, own in keys.items():
        for key in own:
            out[key].append(path)
    return out


def real_words(ham):
    out = []
    for path in ham:
        message = email.message_from_bytes(path.read_bytes())
        if message.get_content_type() == "text/plain":
            words = re.findall("[a-z]+", str(message.get_payload()).lower())
            out.append([w for w in words if 1 < len(w) < 20])
    return out


def changed_texts(program, ham, figures):
    rng = random.Random(3)
    texts = [t for t in real_words(ham) if len(t) >= WORDS + 20]
    vocabulary = [word for text in texts for word in text]  # as often as they are used
    pairs = {"replaced": [], "doubled": []}
    for i in range(PAIRS):
        text = texts[i % len(texts)]
        at = rng.randrange(len(text) - WORDS)
        text = text[at:at + WORDS]
        other = list(text)
        for k in rng.sample(range(WORDS), WORDS // 10):
            other[k] = rng.choice([w for w in rng.choices(vocabulary, k=9) if w != text[k]])
        pairs["replaced"].append((text, other))
        pairs["doubled"].append((text, text + rng.choices(vocabulary, k=WORDS)))
    for name, bound in (("replaced", 0.90), ("doubled", 0.75)):
        lines = ["T " + " ".join(text) for pair in pairs[name] for text in pair]
        keys = dump(program, lines)
        both = [share(a, b) for a, b in zip(keys[::2], keys[1::2])]
        one = [share(of_one_epoch(a), b) for a, b in zip(keys[::2], keys[1::2])]
        print(f"{name}: both epochs {sum(both) / PAIRS:.3f}")
        what = "a tenth of 100 words replaced" if name == "replaced" else "100 words doubled"
        figures.check(f"{what}, {PAIRS} pairs, one epoch", f"{sum(one) / PAIRS:.3f}",
                      sum(one) >= bound * PAIRS, f"at least {bound}")


def unrelated(keys, related, figures, show):
    pairs = {tuple(sorted(pair)) for paths in by_key(keys).values()
             for pair in itertools.combinations(paths, 2)}
    alien = sorted(p for p in pairs if not related[p[0]] & related[p[1]])
    total = len(keys) * (len(keys) - 1) // 2
    for a, b in alien[:show]:
        print(f"    {a} {b}")
    rate = len(alien) / total
    figures.check("unrelated ham pairs sharing a key of either epoch",
                  f"{len(alien)} of {total}, {rate * 1e4:.2f} in 10,000", rate < 1e-4,
                  "below 1 in 10,000")


def campaigns(program, mail, figures, show):
    groups = maildata.groups(mail)
    paths = [p for own in groups.values() for p in own]
    keys = keys_of(program, paths)
    fives = [own[i:i + GROUP] for own in groups.values() for i in range(0, len(own) - GROUP + 1, GROUP)]
    both = [bool(set.intersection(*(keys[p] for p in five))) for five in fives]
    one = [bool(set.intersection(*(of_one_epoch(keys[p]) for p in five))) for five in fives]
    for five, good in zip(fives, one):
        if not good and show:
            print("   ", *five)
    print(f"groups of {GROUP}, both epochs: {sum(both)} of {len(fives)}")
    figures.check(f"groups of {GROUP} of CAMPAIGNS.tsv sharing a key, one epoch",
                  f"{sum(one)} of {len(fives)}", sum(one) >= 0.95 * len(fives), "at least 95 %")


def guard(program, ham, related, figures, show):
    half = [p for p in ham if hashlib.sha256(p.name.encode()).digest()[0] & 1]
    rest = sorted(set(ham) - set(half))
    for learnt in ([], half):
        keys = keys_of(program, rest, learnt)
        found = {key: senders(paths, related) for key, paths in by_key(keys).items() if len(paths) > 1}
        for key, n in sorted(found.items(), key=lambda row: -row[1])[:show]:
            print(f"    {n} {key}", *by_key(keys)[key][:8])
        most = max(found.values(), default=0)
        with_keys = sum(bool(own) for own in keys.values())
        print(f"guard taught {len(learnt)} messages: {with_keys} of {len(rest)} others have keys, "
              f"the most unrelated senders of one key are {most}")
    figures.check("unrelated senders of one key, half of the ham learnt", most,
                  most <= SENDERS_MAX, f"at most {SENDERS_MAX}")
    figures.check("others that still have keys", f"{with_keys / len(rest):.3f}",
                  with_keys >= 0.8 * len(rest), "at least 0.8")


def find_mail(folder, work):
    """(folder with groups or None, ham, spam); (None, [], []): nowhere."""
    data = pathlib.Path(folder) if folder else maildata.folder(TOP)
    corpus = pathlib.Path(os.environ.get("GILLNET_SA_CORPUS", TOP / "build/corpus/spamassassin"))
    if folder or maildata.is_given() or data.is_dir():
        return maildata.read(data / "mail", work)
    mail = maildata.mail_in(corpus) if corpus.is_dir() else []
    ham = [p for p in mail if "ham" in p.parent.name]
    return None, ham, [p for p in mail if "spam" in p.parent.name]


def check(args, figures, mail, ham, spam):
    keys = keys_of(args.dump, ham + spam)
    print(f"{len(ham)} ham, {sum(bool(keys[p]) for p in ham)} with keys; "
          f"{len(spam)} spam, {sum(bool(keys[p]) for p in spam)} with keys")
    most = max(map(len, keys.values()))
    figures.check("keys of a message, both epochs", most, 0 < most <= KEYS_MAX, f"at most {KEYS_MAX}")
    related = {path: relations(path) for path in ham}
    changed_texts(args.dump, ham, figures)
    unrelated({p: keys[p] for p in ham}, related, figures, args.show)
    if mail is not None:
        campaigns(args.dump, mail, figures, args.show)
    guard(args.dump, ham, related, figures, args.show)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("folder", nargs="?")
    args = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as work:
        try:
            mail, ham, spam = find_mail(args.folder, work)
            if not ham:
                print("replicas: no mail; contrib/fetch-corpus fetches some")
                return 77
            check(args, figures, mail, ham, spam)
        except maildata.Unusable as why:
            print(f"replicas: {why}")
            return 1
    return 1 if figures.bad else 0


if __name__ == "__main__":
    sys.exit(main())
