#!/usr/bin/env python3
"""No padding hides a link: every generator of padding, at every size, beside one listed link.

Usage: padding.py --gillnet PROGRAM [--full] [--only TEXT]... [--position P]... [--size N]... [--rows]
                  [--keep FOLDER] [--jobs N] | --list
A case is a generator, a position (before, amid, after the link) and a size in bytes.  It is
  found    a confirmed hit of the list is in what `gillnet check --json` says,
  limit    no hit, but signs of limits (symbols LIMIT_*) score 3.0 or more together,
  SILENT   neither,
  ENDED    the program ended badly.
The suite fails when fewer than 95 % of the cases are found, when one is silent or ended badly, when a message
without padding is not found, when a message costs more than twice limits.cpu, or when a padding of
more bytes costs more than in proportion.  Without --full: the small sizes of all generators, one
position of each at a megabyte, and a few messages of 25 MB.  --only takes those whose name contains
the text; --rows shows all cases; --keep leaves the messages in a folder, named after their case.
The limits are the defaults; files are read and processor time is measured by the kernel.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import pads_header
import pads_html
import pads_parts
import pads_text
import pads_url
import pads_value
from frames import LINKS, Pick, POSITIONS

SMALL = (100, 3000, 60000)
LARGE = 1000000
LARGEST = 25000000
ALONE = 200000       # messages from this size run alone: their processor time is measured
BATCH = 120          # smaller ones that one program reads
FOUND_LEAST = 0.95
LIMIT_SCORE = 3.0
CPU_LIMIT_S = 0.25   # limits.cpu
COST_MOST_S = 2 * CPU_LIMIT_S
TRIES = 4            # before a cost is believed: the machine does other work too
GROWTH_MOST = 2.0    # cost for a byte beside that of the next smaller size
GROWTH_FLOOR_S = 0.03  # less says nothing
# Every so many-th generator at 25 MB in the everyday run: 25 MB take long to make.
EVERYDAY_LARGEST = 23
LIST = "padding"


def generators():
    """{name: (why, build)}"""
    rows = {}
    for module in (pads_text, pads_html, pads_url, pads_parts, pads_header, pads_value):
        for name, why, build in module.rows():
            assert name not in rows and why, name
            rows[name] = (why, build)
    return rows


def case_name(case):
    return "%s, %s, %d" % case


def cases_of(names, args):
    """(generator, position, size), the unpadded message of each generator first."""
    cases = [(name, "before", 0) for name in names]
    for i, name in enumerate(names):
        for j, position in enumerate(POSITIONS):
            sizes = list(SMALL)
            if args.full or i % len(POSITIONS) == j:
                sizes.append(LARGE)
            if args.full or (i % EVERYDAY_LARGEST == 0 and j == 0):
                sizes.append(LARGEST)
            cases += [(name, position, size) for size in args.size or sizes]
    return [case for case in cases if not args.position or case[1] in args.position]


def verdict(row):
    """found, limit or SILENT; and the names of the limits that were met."""
    limits = sum(s["score"] for s in row["symbols"] if s["name"].startswith("LIMIT_"))
    hit = any(entry["list"] == LIST and entry["status"] == "confirmed" for entry in row["lists"])
    return "found" if hit else "limit" if limits >= LIMIT_SCORE else "SILENT", row["limits"]


class Checker:
    """Makes the messages of some cases and has them checked."""

    def __init__(self, gillnet, conf, keep):
        self.gillnet, self.conf, self.keep = gillnet, conf, keep
        self.rows = generators()

    def run(self, files, conf=None):
        """Results of gillnet for the files, and its processor seconds; those of its reader count."""
        with tempfile.TemporaryFile() as out:
            started = subprocess.Popen([self.gillnet, "-c", conf or self.conf, "--json", "check", *files], stdout=out)
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            lines = out.read().decode("utf-8", "replace").splitlines()
        if started.returncode not in (0, 1) or len(lines) < len(files) or not lines[-1].endswith("}"):
            return None, 0  # sanitizers end with 1 too, and what was written so far stays
        rows = [json.loads(line) for line in lines]
        assert [row["file"] for row in rows] == [str(f) for f in files], files
        return rows, used.ru_utime + used.ru_stime

    def cost(self, file, first):
        """Processor seconds of one message: the least of a few runs when it seems too much.

        What the reader costs is bounded by limits.reader; then only gillnet's own time is looked at."""
        conf = self.conf.with_name("without-reader.conf") if first > COST_MOST_S else None
        for _ in range(TRIES - 1):
            if first <= COST_MOST_S:
                break
            first = min(first, self.run([file], conf)[1])
        return first

    def check(self, cases):
        """[(case, verdict, limits, seconds or None, bytes)]"""
        results = []
        with tempfile.TemporaryDirectory(prefix="gillnet-padding-") as made:
            folder = pathlib.Path(self.keep or made)
            files = [folder / (re.sub(r"\W+", "-", case_name(case)) + ".eml") for case in cases]
            for file, case in zip(files, cases):
                file.write_bytes(self.rows[case[0]][1](case[1], case[2], Pick(*case)))
            rows, used = self.run(files)
            if rows is None:  # which of them it is
                rows = [(self.run([file])[0] or [None])[0] for file in files]
            for file, case, row in zip(files, cases, rows):
                if row is None:
                    results.append((case, "ENDED", [], None, file.stat().st_size))
                    continue
                seconds = None
                if len(cases) == 1:
                    seconds = self.cost(file, used)
                elif row["time_us"] > COST_MOST_S * 1e6:  # of the clock: perhaps
                    seconds = self.cost(file, self.run([file])[1])
                results.append((case, *verdict(row), seconds, file.stat().st_size))
        return results


def check_some(gillnet, conf, keep, cases):
    return Checker(gillnet, conf, keep).check(cases)


def make_list(gillnet, folder):
    """The list with one entry of each way to be listed; and the configuration's path."""
    conf = folder / "gillnet.conf"
    text = f'state_dir = "{folder}/state"; shipped_rules = false;\n'
    conf.write_text(text)
    conf.with_name("without-reader.conf").write_text(text + 'limits = { reader = "0s"; };\n')
    for listed in LINKS + pads_value.VALUES:
        kind = ["--type", listed.type] if listed.type else []
        subprocess.run([gillnet, "-c", conf, "list", "add", "--create", LIST, *kind, listed.entry], check=True,
                       stdout=subprocess.DEVNULL)
    return conf


def groups_of(cases):
    """Large messages by themselves, the longest first; small ones together."""
    alone = sorted((c for c in cases if c[2] >= ALONE), key=lambda c: -c[2])
    small = [c for c in cases if c[2] < ALONE]
    return [[c] for c in alone] + [small[i:i + BATCH] for i in range(0, len(small), BATCH)]


def too_steep(results):
    """Cases that cost more for a byte than the next smaller size did."""
    cost = {case: (seconds, length) for case, _, _, seconds, length in results if seconds}
    for (name, position, size), (seconds, length) in cost.items():
        smaller = [cost[c] for c in cost if c[0] == name and c[1] == position and c[2] < size]
        if smaller:
            before, bytes_before = max(smaller, key=lambda c: c[1])
            if seconds > GROWTH_FLOOR_S + GROWTH_MOST * before * length / bytes_before:
                yield (name, position, size), seconds, before


def report(results, everything):
    """Prints the table and the failures; True: there were no failures."""
    bad = 0
    for case, what, limits, seconds, _ in sorted(results, key=lambda r: (r[0][0], r[0][2], r[0][1])):
        is_dear = seconds is not None and seconds > COST_MOST_S
        bad += is_dear or what in ("SILENT", "ENDED") or (case[2] == 0 and what != "found")
        if everything or what != "found" or is_dear:
            print("%-6s %-44s %-7s %9d  %s%s%s" % (
                what, *case, " ".join(limits), f"  {seconds * 1000:.0f} ms" if seconds else "",
                "  TOO DEAR" if is_dear else ""))
    for case, seconds, before in too_steep(results):
        bad += 1
        print(f"STEEP  {case_name(case)}: {seconds * 1000:.0f} ms, the smaller one {before * 1000:.0f} ms")
    padded = [r for r in results if r[0][2] > 0]
    count = {what: sum(r[1] == what for r in padded) for what in ("found", "limit", "SILENT", "ENDED")}
    share = count["found"] / len(padded) if padded else 1
    most = max((r[3] for r in results if r[3]), default=0)
    print(f"padding: {len({r[0][0] for r in results})} generators, {len(padded)} cases, {share:.2%} found, "
          f"{count['limit']} by a limit's sign, {count['SILENT']} silent, {count['ENDED']} ended badly; the dearest {most * 1000:.0f} ms")
    return bad == 0 and share >= FOUND_LEAST


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gillnet")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append")
    parser.add_argument("--position", action="append", choices=POSITIONS)
    parser.add_argument("--size", action="append", type=int)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    rows = generators()
    names = [name for name in rows if not args.only or any(text in name for text in args.only)]
    if args.list:
        for name in names:
            print(f"{name:44} {rows[name][0]}")
        return 0
    if not args.gillnet or not names:
        parser.error("--gillnet and at least one generator are needed")
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    since, results = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="gillnet-padding-") as folder, \
            concurrent.futures.ProcessPoolExecutor(args.jobs) as workers:
        conf = make_list(args.gillnet, pathlib.Path(folder))
        waiting = [workers.submit(check_some, args.gillnet, conf, args.keep, group)
                   for group in groups_of(cases_of(names, args))]
        for done in concurrent.futures.as_completed(waiting):
            results += done.result()
    good = report(results, args.rows)
    print(f"padding: {time.monotonic() - since:.0f} s", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
