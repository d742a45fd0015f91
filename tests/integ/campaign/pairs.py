#!/usr/bin/env python3
"""Campaigns of real mail against the near-replica groups that the collector of the mail found.

Usage: pairs.py --dump PROGRAM [--show N] [FOLDER]
Folder: a data folder (environment GILLNET_DATA, else shared/data beside the tree) with mail, and mail-modern if it is
there; without one, the corpus of contrib/fetch-corpus.  A pair is two messages of one campaign.  Precision is the share
of found pairs that the
collector has, too; recall the share of the collector's pairs that are found.  The collector compares whole texts only, so a
pair that shares the sender's domain or the words of the subject is counted apart: "strange" pairs share neither.
"""
import argparse
import collections
import email.parser
import email.policy
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import maildata  # noqa: E402

# name, folders, groups; the least precision and recall, the highest share of strange pairs
SETS = (
    ("spam", "mail", ("spam",), "CAMPAIGNS.tsv", 0.90, 0.94, 0.06),
    ("ham", "mail", ("ham",), "CAMPAIGNS-ham.tsv", 0.40, 0.90, 0.02),
    ("modern spam", "mail-modern", ("spam",), "CAMPAIGNS.tsv", 0.99, 0.96, 0.01),
    ("modern ham", "mail-modern", ("ham-real", "ham-synthetic"), None, None, None, None),
)
# Without a data folder: the corpus of contrib/fetch-corpus, for which nobody gives groups. The least number of pairs
# and the highest share of strange ones.
CORPUS = (
    ("spam of the corpus", "", ("spam-1", "spam-2"), None, 1900, None, None),
    ("ham of the corpus", "", ("easy-ham-1", "easy-ham-2", "hard-ham-1"), None, 800, None, 0.02),
)


def groups(tsv):
    out = {}
    for line in tsv.read_text().splitlines():
        if line and not line.startswith("#"):
            row = line.split("\t")
            out[tsv.parent / row[3]] = row[0]
    return out


def pairs(values):
    return sum(n * (n - 1) // 2 for n in collections.Counter(values).values())


def marks(path):
    """Sender's domain and the words of the subject, without numbers."""
    with open(path, "rb") as file:
        head = email.parser.BytesHeaderParser(policy=email.policy.compat32).parse(file)
    domain = str(head.get("from", "")).rpartition("@")[2].strip(" >\t\r\n").lower()
    subject = re.sub(r"^(\s*(re|fwd?|aw)\s*:|\s*\[[^\]]*\])+", "", str(head.get("subject", "")).lower())
    return {("domain", domain), ("subject", re.sub(r"[\d\W]+", " ", subject).strip())}


def strange(campaigns, truth):
    """Pairs that the collector does not have and that share nothing visible."""
    n = 0
    for members in campaigns.values():
        if len({truth.get(p, p) for p in members}) == 1:
            continue
        seen = [(truth.get(p, p), marks(p)) for p in members]
        n += sum(a[0] != b[0] and not a[1] & b[1] for i, a in enumerate(seen) for b in seen[:i])
    return n


def group(program, paths):
    """{path: id of the campaign}, and microseconds of each message."""
    with tempfile.TemporaryDirectory(prefix="gncampaign") as state:
        run = subprocess.run([program, state], input="".join(f"{p}\n" for p in paths).encode(),
                             capture_output=True, check=True)
    rows = [line.split("\t") for line in run.stdout.decode().splitlines()]
    return {pathlib.Path(p): c for p, c, _ in rows}, [int(ns) / 1000 for _, _, ns in rows]


def check(program, place, row, show):
    name, top, folders, tsv, least, least_found, most_strange = row
    paths = [p for f in folders for p in maildata.mail_in(place / top / f)]
    truth = groups(place / top / tsv) if tsv else {}
    found, us = group(program, paths)
    campaigns = collections.defaultdict(list)
    for path, campaign in found.items():
        campaigns[campaign].append(path)
    both = pairs((truth.get(p, p), c) for p, c in found.items())
    all_found, all_true = pairs(found.values()), pairs(truth.get(p, p) for p in paths)
    odd = strange(campaigns, truth)
    several = [m for m in campaigns.values() if len(m) > 1]
    print(f"{name}: {len(paths)} messages, {len(several)} campaigns; pairs found {all_found}, collector's {all_true}, in both {both}; "
          f"strange {odd}; {statistics.mean(us):.1f} us a message")
    for members in sorted(several, key=len, reverse=True)[:show]:
        print(f"  {len(members)}: " + "; ".join(str(p.relative_to(place)) for p in members[:4]))
    if not tsv:
        return (least is None or all_found >= least) and (most_strange is None or odd <= most_strange * all_found)
    precision, recall = both / all_found, both / all_true
    print(f"{name}: precision {precision:.3f} (at least {least}), recall {recall:.3f} (at least {least_found}), "
          f"strange {odd / all_found:.4f} (at most {most_strange})")
    return precision >= least and recall >= least_found and odd / all_found <= most_strange


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("folder", nargs="?")
    args = parser.parse_args()
    place = pathlib.Path(args.folder) if args.folder else maildata.folder(TOP)
    rows = [row for row in SETS if (place / row[1] / row[2][0]).is_dir()]
    if not rows and not args.folder and not maildata.is_given():
        place, rows = TOP / "build/corpus/spamassassin", CORPUS
    if not rows or not place.is_dir():
        print(f"{place}: has no mail; contrib/fetch-corpus fetches some")
        return 66
    results = [check(args.dump, place, row, args.show) for row in rows]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
