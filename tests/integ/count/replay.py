#!/usr/bin/env python3
"""Bulk rules on real mail: spam is called bulk at its fifth copy, ham is not at twenty.

Usage: replay.py --replay PROGRAM [--show] [FOLDER]
Folder: mail of the data folder (environment GILLNET_DATA, else shared/data beside the tree) with its
groups in CAMPAIGNS.tsv.  Ham also of the SpamAssassin corpus (GILLNET_SA_CORPUS, else
build/corpus/spamassassin); 77 when neither is there.  Figures and their bounds: ADR 0027.
"""
import argparse
import collections
import concurrent.futures
import email
import email.utils
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
GROUP, HAM, REACHED, DAYS = 5, 20, 0.95, 3
RINGS = [f"{i:032x}" for i in (0x11, 0x5eed, 0xc0ffee)]
# Keys of a copy: what it has in common with other copies, and not with all mail.
KEYS = ("text_band", "text", "body", "link_set", "attachment", "template_sender", "html_structure",
        "subject_skeleton")
NEAR = ("text_band",)
HERE = pathlib.Path(__file__).resolve().parent


def conf(folder, threshold, types):
    path = pathlib.Path(folder) / f"{threshold}-{len(types)}.conf"
    rules = ",\n".join(f'{{ name = "{t}"; type = "{t}"; count = {threshold}; newsletter = false; }}'
                       for t in types)
    path.write_text(f'state_dir = "{folder}/state";\ntrusted_authserv = ["replay.example"];\n'
                    f'rules = ({rules});\n')
    return path


def replay(program, conf_file, ring, paths, learnt=()):
    """Of each path the features that were bulk at that moment: {type: (value, count)}."""
    days = "".join("".join(f"L {p}\n" for p in learnt) + "D\n" for _ in range(DAYS)) if learnt else ""
    folder = tempfile.mkdtemp(dir=conf_file.parent)
    run = subprocess.run([program, conf_file, ring, folder], check=True, stdout=subprocess.PIPE,
                         input=(days + "".join(f"M {p}\n" for p in paths)).encode())
    out = []
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        found = {}
        for symbol in line.split("\t")[1:]:
            name, _, detail = symbol.partition("=")
            if name.startswith("BULK_"):
                kind, _, rest = detail.partition("=")
                value, _, seen = rest.rpartition(" seen ")
                found[kind] = (value, int(seen.split()[0]))
        out.append(found)
    return out


def names_of(file):
    """The names listed in a file beside this one: NAME, white space, why."""
    rows = [line.split(None, 1) for line in (HERE / file).read_text().splitlines()
            if line and not line.startswith("#")]
    return {name: why for name, why in rows}


def groups_of(tsv):
    groups = collections.defaultdict(list)
    for line in tsv.read_text().splitlines():
        if not line.startswith("#"):
            group, _, _, file = line.split("\t")
            groups[group].append(file)
    return groups


def mail_in(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in ("cmds", "ORIGIN.md", "complete"))


class Figures:
    def __init__(self):
        self.bad = 0

    def check(self, what, value, good, bound):
        self.bad += not good
        print(f"{what}: {value} ({'must be' if good else 'NOT REACHED:'} {bound})")


def check_spam(figures, args, folder, work):
    """Each group of five or more is bulk at its fifth message, and not just by what others sent."""
    data = folder / "mail"
    groups = {g: [data / f for f in files] for g, files in groups_of(data / "CAMPAIGNS.tsv").items()}
    paths = mail_in(data / "spam")
    big = {g: sorted(set(files)) for g, files in groups.items() if len(set(files)) >= GROUP}
    known = names_of("misses.tsv")
    config = conf(work, GROUP, KEYS)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda r: replay(args.replay, config, r, paths), RINGS))
    for ring, result in zip(RINGS, results):
        bulk = dict(zip(paths, result))
        by = collections.Counter()
        missed = []
        for group, files in big.items():
            fifth = bulk[files[GROUP - 1]]
            by.update(fifth.keys())
            if not fifth:
                missed.append(group)
                if args.show:
                    print("  missed", group, len(files), *[f.relative_to(data) for f in files[:GROUP]])
        share = 1 - len(missed) / len(big)
        figures.check(f"ring {ring[-6:]}: groups bulk at their fifth message",
                      f"{len(big) - len(missed)} of {len(big)}", share >= REACHED, f"at least {REACHED:.0%}")
        print("   by", ", ".join(f"{k} {n}" for k, n in by.most_common()))
        unexplained = [g for g in missed if g not in known]
        figures.check("   misses without a reason in misses.tsv", len(unexplained), not unexplained, 0)


def mailing(path):
    """Name of the list that a message came through, else its author."""
    message = email.message_from_bytes(path.read_bytes())
    for field in ("list-id", "mailing-list"):
        words = re.findall(r"<?[\w.-]+[.@][\w.-]+", str(message.get(field, "")).lower())
        if words:
            return next((w for w in words if w[0] == "<"), words[0]).lstrip("<")
    return email.utils.parseaddr(str(message.get("from", "")))[1].lower()


def check_ham(figures, args, name, paths, work):
    """What is bulk among ham must be a mailing that is named."""
    mailings = names_of("mailings.tsv")
    config = conf(work, HAM, NEAR)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda r: replay(args.replay, config, r, paths), RINGS))
    for ring, result in zip(RINGS, results):
        who = collections.Counter(mailing(p) for p, found in zip(paths, result) if found)
        print(f"ring {ring[-6:]}: {len(paths)} {name}, bulk {who.total()}: "
              + ", ".join(f"{w} {n}" for w, n in who.most_common()))
        wrong = {w: n for w, n in who.items() if w not in mailings}
        figures.check("   of no mailing that is named", wrong or 0, not wrong, 0)


def check_guard(figures, args, paths, work):
    """A guard that learnt one half of the ham, its senders proved, takes footers from the other."""
    mailings = names_of("mailings.tsv")
    config = conf(work, HAM // 2, NEAR)
    halves = [paths[::2], paths[1::2]]
    for half in (0, 1):
        def run(learnt):
            found = replay(args.replay, config, RINGS[0], halves[half], learnt)
            return collections.Counter(mailing(p) for p, f in zip(halves[half], found) if f)
        without, taught = run(()), run(halves[1 - half])
        print(f"half {half} at {HAM // 2}: bulk {without.total()}, with a guard that knows the other half "
              f"{taught.total()}: " + ", ".join(f"{w} {n}" for w, n in taught.most_common()))
        figures.check("   through lists that many write to", sum(n for w, n in taught.items() if mailings.get(w, "list").startswith("list")),
                      all(not mailings.get(w, "list").startswith("list") for w in taught), 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replay", required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    args = parser.parse_args()
    data = args.folder or pathlib.Path(os.environ.get("GILLNET_DATA", TOP / "../shared/data"))
    corpus = pathlib.Path(os.environ.get("GILLNET_SA_CORPUS", TOP / "build/corpus/spamassassin"))
    figures = Figures()
    seen = 0
    with tempfile.TemporaryDirectory() as work:
        if (data / "mail/CAMPAIGNS.tsv").is_file():
            seen += 1
            check_spam(figures, args, data.resolve(), work)
            check_ham(figures, args, "ham of the data folder", mail_in(data.resolve() / "mail/ham"), work)
        if corpus.is_dir():
            seen += 1
            paths = [p for p in mail_in(corpus) if "ham" in p.parent.name]
            check_ham(figures, args, "ham of the corpus", paths, work)
            check_guard(figures, args, paths, work)
    if not seen:
        print("neither mail of the data folder nor the SpamAssassin corpus is there")
        return 77
    return 1 if figures.bad else 0


if __name__ == "__main__":
    sys.exit(main())
