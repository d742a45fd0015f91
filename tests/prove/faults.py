#!/usr/bin/env python3
"""The fault matrix: every fault, tried on a whole installation, beside a ledger that knows what was acknowledged.

Usage: faults.py [--only NAME] [--seed N] [--quick] [--sample N] [--jobs N] [--told] [--list]

A row is a fault, a cell of it one try: a file, the n-th call, a limit. Standard output has one JSON line for each
row, standard error the progress. --only takes the rows whose name has this text, --quick the planted losses and a random sample,
--sample at most N cells of each row. Exit status: 0 all figures are 0, 1 some are not, 2 the place cannot run it.
Needs root (the daemons run as another user, and disks are mounted) and the built programs (GILLNET_BUILD).
"""
import argparse
import json
import multiprocessing
import random
import sys
import time
import traceback

import fault_calls
import fault_files
import fault_limits
import fault_planted
from fault_ledger import KINDS, Findings
from fault_site import Broken, base, scratch
from fault_world import World

PARTS = (fault_planted, fault_files, fault_calls, fault_limits)
QUICK_CELLS = 8
NOTES_SHOWN = 12
_world = None


def build_world(top):
    global _world
    _world = None  # a worker has its parent's
    _world = World(base(top)).build()


def build_world_of_worker(top):
    """A pool would start a worker that fails again and again; here its cells fail."""
    try:
        build_world(top)
    except Broken as why:
        print(f"faults: {why}", file=sys.stderr)


def all_cells(world):
    return [cell for part in PARTS for cell in part.cells(world)]


def run_cell(task):
    """Row, name, findings and seconds of a cell; one that cannot run is a finding, too."""
    seed, (row, function, arguments) = task
    began = time.monotonic()
    try:
        found = function(_world, seed, *arguments)
    except Exception:  # noqa: BLE001: whatever it is, the other cells go on
        found = Findings()
        found.found("wrong_verdicts", "the test itself failed: " + traceback.format_exc().strip().splitlines()[-1])
        print(traceback.format_exc(), file=sys.stderr)
    finally:
        if _world:
            _world.site.kill()
    if found is None:  # a call that there is not
        return row, "", Findings(), 0
    found.tried += 1
    name = " ".join(str(a) for a in arguments)
    found.notes = [f"{name}: {note}" for note in found.notes]
    return row, name, found, time.monotonic() - began


def line_of(row, found):
    text = f"{found.told} told" if found.told else ""
    more = len(found.notes) - NOTES_SHOWN
    notes = "; ".join([text] * bool(text) + found.notes[:NOTES_SHOWN] + [f"and {more} more"] * (more > 0))
    return {"part": "faults", "fault": row, "tried": found.tried, **{kind: getattr(found, kind) for kind in KINDS}, "note": notes}


def chosen(cells, options):
    """The cells to run."""
    rng = random.Random(options.seed)
    tasks = [cell for cell in cells if not options.only or options.only in f"{cell[0]}: {cell[2]}"]
    if options.quick:
        tasks = tasks[:1] + rng.sample(tasks[1:], min(QUICK_CELLS, len(tasks) - 1))
    if options.sample:
        by_row = {}
        for task in rng.sample(tasks, len(tasks)):
            by_row.setdefault(task[0], []).append(task)
        tasks = [task for some in by_row.values() for task in some[:options.sample]]
    return tasks


def results(tasks, options, top):
    """What each cell found, as it comes; each process has a world of its own."""
    if options.quick or options.jobs == 1:
        return map(run_cell, tasks)
    return multiprocessing.Pool(options.jobs, build_world_of_worker, [top]).imap_unordered(run_cell, tasks)


def run(options):
    top = scratch()
    build_world(top)
    tasks = chosen(all_cells(_world), options)
    left = {}
    for row, *_ in tasks:
        left[row] = left.get(row, 0) + 1
    rows = {row: Findings() for row in left}
    for row, name, found, seconds in results([(options.seed, task) for task in tasks], options, top):
        left[row] -= 1
        state = "ok" if found.is_clean() else "FAILED"
        print(f"{state} {row}: {name} {seconds:.1f} s {found.told or ''} {'; '.join(found.notes)}", file=sys.stderr, flush=True)
        for proof in found.proofs if options.told else ():
            print(f"   told: {proof}", file=sys.stderr)
        rows[row].add(found)
        if left[row] == 0:
            print(json.dumps(line_of(row, rows[row])), flush=True)
    return 0 if all(found.is_clean() for found in rows.values()) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--told", action="store_true", help="show what was missing, and the line that said so")
    parser.add_argument("--list", action="store_true", help="print the rows and the number of their cells")
    options = parser.parse_args()
    print(f"seed {options.seed}", file=sys.stderr)
    try:
        if options.list:
            build_world(scratch())
            rows = [row for row, *_ in all_cells(_world)]
            print("\n".join(f"{rows.count(row):5} {row}" for row in dict.fromkeys(rows)))
            return 0
        return run(options)
    except Broken as why:
        print(f"faults: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
