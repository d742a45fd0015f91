#!/usr/bin/env python3
"""Bulk rules on real mail: spam is called bulk at its fifth copy, ham is not at twenty.

Usage: replay.py --replay PROGRAM [--show] [FOLDER]
Folder: a data folder (environment GILLNET_DATA, else shared/data beside the tree; tests/maildata.py
says how it is laid out).  Ham also of the SpamAssassin corpus (GILLNET_SA_CORPUS, else
build/corpus/spamassassin); 77 when neither is there and none was named.  Ham comes in order of time,
without any authentication result, all of it within one window.  Bounds: ADR 0027 and 0050.
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
sys.path.insert(0, str(TOP / "tests"))
import maildata  # noqa: E402

GROUP, HAM, REACHED, DAYS = 5, 20, 0.95, 3
HAM_BULK = 0.001  # of all ham but the letters that are named
RINGS = [f"{i:032x}" for i in (0x11, 0x5eed, 0xc0ffee)]
# Types of the keys that copies of a message share, but other mail does not.
KEYS = ("text_band", "text", "body", "link_set", "attachment", "template_sender", "html_structure",
        "subject_skeleton")
NEAR = ("text_band",)
HERE = pathlib.Path(__file__).resolve().parent


def conf(folder, threshold, types):
    path = pathlib.Path(folder) / f"{threshold}-{len(types)}.conf"
    rules = ",\n".join(f'{{ name = "{t}"; type = "{t}"; count = {threshold}; newsletter = false; }}'
                       for t in types)
    path.write_text(f'state_dir = "{folder}/state"; shipped_rules = false;\ntrusted_authserv = ["replay.example"];\n'
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


class Figures:
    def __init__(self):
        self.bad = 0

    def check(self, what, value, good, bound):
        self.bad += not good
        print(f"{what}: {value} ({'must be' if good else 'NOT REACHED:'} {bound})")


def check_spam(figures, args, data, paths, work):
    """Each group of five or more is bulk at its fifth message, and not only because of other senders' messages."""
    groups = maildata.groups(data)
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
    """Bulk among ham is a named letter, or nearly empty."""
    letters = names_of("mailings.tsv")
    config = conf(work, HAM, NEAR)
    paths = maildata.in_order_of_time(paths)
    sources = collections.Counter(p.parent.name for p in paths)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda r: replay(args.replay, config, r, paths), RINGS))
    for ring, result in zip(RINGS, results):
        bulk = [p for p, found in zip(paths, result) if found]
        who = collections.Counter(mailing(p) for p in bulk)
        print(f"ring {ring[-6:]}: {len(paths)} {name}, bulk {who.total()}: "
              + ", ".join(f"{w} {n}" for w, n in who.most_common()))
        wrong = [p for p in bulk if mailing(p) not in letters]
        by_source = collections.Counter(p.parent.name for p in wrong)
        for path in wrong if args.show else []:
            print("  ", path)
        print(f"   by source, of {len(sources)}:",
              ", ".join(f"{s} {n} of {sources[s]}" for s, n in by_source.items()) or "none")
        figures.check("   of no letter that is named", len(wrong), len(wrong) <= HAM_BULK * len(paths),
                      f"at most {HAM_BULK * len(paths):.1f}")


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


def run(args, figures, work):
    """False: there is no mail and nobody said that there is."""
    data = args.folder or maildata.folder(TOP)
    corpus = pathlib.Path(os.environ.get("GILLNET_SA_CORPUS", TOP / "build/corpus/spamassassin"))
    if args.folder or maildata.is_given() or data.is_dir():
        mail, ham, spam = maildata.read(data / "mail", work)
        check_spam(figures, args, mail, spam, work)
        check_ham(figures, args, "ham of the data folder", ham, work)
    elif not corpus.is_dir():
        return False
    if corpus.is_dir():
        paths = [p for p in maildata.mail_in(corpus.resolve()) if "ham" in p.parent.name]
        check_ham(figures, args, "ham of the corpus", paths, work)
        check_guard(figures, args, paths, work)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replay", required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    args = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as work:
        try:
            if not run(args, figures, work):
                print("neither mail of the data folder nor the SpamAssassin corpus is there")
                return 77
        except maildata.Unusable as why:
            print(f"replay: {why}")
            return 1
    return 1 if figures.bad else 0


if __name__ == "__main__":
    sys.exit(main())
