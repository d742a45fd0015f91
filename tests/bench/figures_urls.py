#!/usr/bin/env python3
"""Figures of the model of URLs: unseen registrable domains, and sources left out of the training.

Usage: figures_urls.py [--share S[,S]...] [DATA]

URLs are those of the mail in DATA (GILLNET_DATA or ../shared/data), labelled as their mail, with at most
DOMAIN_MOST of one registrable domain in a source; major domains and shared hosts are left out, as gillnetd
leaves them out.  "half": learns one half of the registrable domains, judges the other, both ways.  "source":
learns all other sources and judges this source of spam and this of ham, whose domains are not learnt either.
Printed are the area under the ROC curve, the spam above the highest 0.1 % and 1 % of the ham judged, and what
is SUSPICIOUS and MALICIOUS with the target S of ham URLs (model.url_false_positives).
Learns with build/release/tests/bench/bench_rounds, reads with build/release/gillnet.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.path.join(TOP, "build/release")
DOMAIN_MOST = 5
SPAM = {"sa-spam": ("mail/spam/sa-",), "phishing": ("mail-modern/spam/phishing",)}
HAM = {"sa-ham": ("mail/ham/sa-",), "real": ("mail-modern/ham-real/",), "synthetic": ("mail-modern/ham-synthetic/",)}


def extract(folder):
    """[(registrable domain, URL)] of the mail in a folder."""
    with tempfile.TemporaryDirectory() as work:
        conf = os.path.join(work, "gillnet.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(f'state_dir = "{work}";\n')
        run = subprocess.run([os.path.join(BUILD, "gillnet"), "-c", conf, "--json", "extract", folder],
                             stdout=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    rows = []
    for line in run.stdout.splitlines():
        features = json.loads(line)["features"]
        domains = [f["value"] for f in features if f["type"] == "url_domain"]
        for url in (f["value"] for f in features if f["type"] == "url"):
            host = url.split("/")[0].split("?")[0].split(":")[0]
            below = [d for d in domains if host == d or host.endswith("." + d)]
            rows.append((max(below, key=len, default=host), url))
    return rows


def read_source(data, prefixes):
    """The URLs of a source: each once, few of one domain."""
    seen, count, kept = set(), collections.Counter(), []
    for top in sorted({os.path.dirname(p.rstrip("/") + "/x") if p.endswith("/") else os.path.dirname(p) for p in prefixes}):
        for name in sorted(os.listdir(os.path.join(data, top))):
            path = os.path.join(top, name)
            if os.path.isdir(os.path.join(data, path)) and path.startswith(prefixes):
                for domain, url in extract(os.path.join(data, path)):
                    if url not in seen and count[domain] < DOMAIN_MOST and "\n" not in url:
                        seen.add(url)
                        count[domain] += 1
                        kept.append((domain, url))
    return kept


def half(rows, number):
    return [r for r in rows if zlib.crc32(r[0].encode()) % 2 == number]


def without(rows, tested):
    domains = {d for d, _ in tested}
    return [r for r in rows if r[0] not in domains]


def judge(spam, ham, tested, share):
    """[(score, margin)] of each tested group, without known hosts."""
    number, urls, said = {}, [], ["R"]

    def index(url):
        if url not in number:
            number[url] = len(number)
            urls.append("U " + url)
        return number[url]
    said += [f"T {index(u)} spam 1" for _, u in spam] + [f"T {index(u)} ham 1" for _, u in ham]
    said += ["B", f"M {share}"] + [f"Q {index(u)}" for group in tested for _, u in group]
    run = subprocess.run([os.path.join(BUILD, "tests/bench/bench_rounds")], input="\n".join(urls + said) + "\n",
                         stdout=subprocess.PIPE, encoding="utf-8", check=True)
    answers = [line.split()[9:] for line in run.stdout.splitlines()]
    groups, at = [], 0
    for group in tested:
        groups.append([(float(a[1]), float(a[2])) for a in answers[at:at + len(group)] if a[0] == "1"])
        at += len(group)
    return groups


def auc(spam, ham):
    """The share of pairs in which the spam is higher; ties count half."""
    rows = sorted([(m, 1) for m in spam] + [(m, 0) for m in ham])
    ranks, i = 0.0, 0
    while i < len(rows):
        j = i
        while j < len(rows) and rows[j][0] == rows[i][0]:
            j += 1
        ranks += sum(x[1] for x in rows[i:j]) * (i + j + 1) / 2
        i = j
    return (ranks - len(spam) * (len(spam) + 1) / 2) / (len(spam) * len(ham))


def above(spam, ham, share):
    limit = sorted(ham, reverse=True)[int(len(ham) * share)]
    return 100 * sum(m > limit for m in spam) / len(spam)


def percent(rows, least):
    return 100 * sum(s >= least for s, _ in rows) / len(rows)


def show(name, spam, ham, share):
    s, h = [m for _, m in spam], [m for _, m in ham]
    print(f"{name:34} {len(s):5} {len(h):5}  {auc(s, h):.3f}  {above(s, h, .001):5.1f} {above(s, h, .01):5.1f}   "
          f"{percent(spam, .3001):5.1f} {percent(ham, .3001):5.2f}   {percent(spam, .8):5.1f} {percent(ham, .8):5.2f}   {share}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--share", default="0.001,0.01")
    parser.add_argument("data", nargs="?", default=os.environ.get("GILLNET_DATA", os.path.join(TOP, "../shared/data")))
    options = parser.parse_args()
    spam = {n: read_source(options.data, p) for n, p in SPAM.items()}
    ham = {n: read_source(options.data, p) for n, p in HAM.items()}
    print(f"{'':34}  spam   ham    AUC  0.1 %   1 %   SUSPICIOUS s/h  MALICIOUS s/h  target")
    for share in (float(s) for s in options.share.split(",")):
        for number in (0, 1):
            names = list(SPAM) + list(HAM)
            groups = judge([r for x in spam.values() for r in half(x, number)],
                           [r for x in ham.values() for r in half(x, number)],
                           [half(x, 1 - number) for x in [*spam.values(), *ham.values()]], share)
            by_name = dict(zip(names, groups))
            for s in SPAM:
                for h in HAM:
                    show(f"half {number}: {s} against {h}", by_name[s], by_name[h], share)
        for s in SPAM:
            for h in HAM:
                tested = spam[s] + ham[h]
                groups = judge(without([r for n in SPAM if n != s for r in spam[n]], tested),
                               without([r for n in HAM if n != h for r in ham[n]], tested), [spam[s], ham[h]], share)
                show(f"source: {s} against {h}", *groups, share)


if __name__ == "__main__":
    sys.exit(main())
