#!/usr/bin/env python3
"""Kill `gillnet list add|revoke|import|rebuild` at random points; nothing acknowledged is lost.

Usage: crash.py --gillnet PROGRAM [--kills N] [--seed N] [--keep]

Every fourth value is a URL, and `reform` changes url_match: the list is rebuilt, and killed meanwhile.

An outside ledger knows for each value which states are possible. A printed "ok VALUE" (add,
revoke) or exit status 0 (import, rebuild) is an acknowledgement and leaves one state. An operation in
flight when the process died may be in its old or its new state; of an import either every new
value or none. After each kill the list must verify clean and every value be in a possible state. Prints one JSON line; exit 1 when anything was lost.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

LIST = "crash"
ABSENT, LISTED, REVOKED = "absent", "listed", "revoked"
SHOWN = {"confirmed": LISTED, "revoked": REVOKED, "not_listed": ABSENT}
ADD_VALUES = 1500  # a few of these fill the recent table, so that merges are hit as well
IMPORT_VALUES = 5000
SAMPLE_VALUES = 1000
FULL_CHECK_EVERY = 25
WARM_UP = 3  # runs of each operation that are not killed: they give its duration


class Ledger:
    """Possible states of every value ever handed in."""

    def __init__(self):
        self.states = {}
        self.touched = set()  # by the last operation
        self.groups = []  # values of which all or none may have appeared

    def may_be(self, value):
        return self.states.get(value, {ABSENT})

    def is_now(self, value, state):
        self.touched.add(value)
        self.states[value] = {state}

    def in_flight(self, value, state):
        self.touched.add(value)
        self.states[value] = self.may_be(value) | {state}

    def imported(self, values, acknowledged):
        fresh = []
        self.touched.update(values)
        for value in values:
            before = self.may_be(value)
            after = {REVOKED if state == REVOKED else LISTED for state in before}
            self.states[value] = after if acknowledged else before | after
            if before == {ABSENT}:
                fresh.append(value)
        if not acknowledged:
            self.groups.append(fresh)


class Crash:
    def __init__(self, program, folder, rng):
        self.program = program
        self.folder = folder
        self.rng = rng
        self.conf = folder / "gillnet.conf"
        self.set_match("normal")
        (folder / "state").mkdir(mode=0o750)
        self.ledger = Ledger()
        self.number = 0
        self.duration = {}
        self.killed = {}
        self.acknowledged = 0
        self.lost = []

    def set_match(self, match):
        self.conf.write_text(f'state_dir = "{self.folder}/state"; shipped_rules = false;\n'
                             f'list_defaults = {{ url_match = "{match}"; }};\n')

    def command(self, *words):
        return [self.program, "-c", str(self.conf), *words]

    def fresh(self, count):
        first = self.number
        self.number += count
        return [f"http://www.value-{n}.example/Page/" if n % 4 == 0 else f"value-{n}.example"
                for n in range(first, first + count)]

    def known(self, count):
        values = list(self.ledger.states)
        return self.rng.sample(values, min(count, len(values)))

    def run(self, name, words, text, kill):
        """Runs a command, perhaps killing it; returns (exit status or None, its output)."""
        with open(self.folder / "input", "w+", encoding="ascii") as stdin, \
                open(self.folder / "output", "w+", encoding="ascii") as stdout:
            stdin.write(text)
            stdin.seek(0)
            start = time.monotonic()
            child = subprocess.Popen(self.command(*words), stdin=stdin, stdout=stdout,
                                     stderr=subprocess.PIPE)
            if kill:
                try:
                    child.wait(self.rng.uniform(0, 1.05 * self.duration[name]))
                except subprocess.TimeoutExpired:
                    child.kill()
            error = child.communicate()[1].decode(errors="replace")
            taken = time.monotonic() - start
            stdout.seek(0)
            lines = stdout.read().split("\n")
        was_killed = child.returncode == -9
        if was_killed:
            self.killed[name] = self.killed.get(name, 0) + 1
        elif child.returncode not in ((0, 1) if name == "revoke" else (0,)):  # 1: was not listed
            self.lost.append(f"{name}: exit {child.returncode}: {error.strip()}")
        else:
            self.duration[name] = max(taken, self.duration.get(name, 0))
        return (None if was_killed else child.returncode), lines[:-1]

    def edit(self, name, values, state, kill):
        create = ["--create"] if name == "add" else []
        status, lines = self.run(name, ["list", name, LIST, "-", *create],
                                 "\n".join(values) + "\n", kill)
        acknowledged = [line[3:] for line in lines if line.startswith("ok ")]
        if acknowledged != values[:len(acknowledged)]:
            self.lost.append(f"{name}: acknowledgements out of order")
        if status == 0 and len(acknowledged) != len(values):
            self.lost.append(f"{name}: {len(values) - len(acknowledged)} not acknowledged")
        for value in acknowledged:
            self.ledger.is_now(value, state)
        self.acknowledged += len(acknowledged)
        for value in values[len(acknowledged):]:  # they are synced together
            self.ledger.in_flight(value, state)

    def add(self, kill):
        self.edit("add", self.fresh(ADD_VALUES - 50) + self.known(50), LISTED, kill)

    def revoke(self, kill):
        self.edit("revoke", list(dict.fromkeys(self.known(450) + self.fresh(50))), REVOKED,
                  kill)

    def import_(self, kill):
        values = self.fresh(IMPORT_VALUES - 1000) + self.known(1000)
        self.rng.shuffle(values)
        feed = self.folder / "feed.txt"
        feed.write_text("\n".join(values) + "\n")
        status, _ = self.run("import", ["list", "import", LIST, str(feed)], "", kill)
        self.ledger.imported(values, status == 0)
        self.acknowledged += len(values) if status == 0 else 0

    def rebuild(self, kill):
        self.run("rebuild", ["list", "rebuild", LIST], "", kill)

    def reform(self, kill):
        self.set_match(self.rng.choice(["exact", "normal", "folded"]))
        self.run("reform", ["list", "rebuild", LIST], "", kill)

    def check(self, after, everything=True):
        """Verifies the list and looks up the values of the last operation and a sample of the rest, or all values."""
        verify = subprocess.run(self.command("list", "verify", LIST), capture_output=True,
                                text=True, check=False)
        if verify.returncode != 0:
            self.lost.append(f"after {after}: verify: {verify.stdout}{verify.stderr}")
        values = list(self.ledger.states) if everything else list(
            self.ledger.touched | set(self.known(SAMPLE_VALUES)))
        self.ledger.touched.clear()
        asked = self.folder / "asked"
        asked.write_text("\n".join(values) + "\n")
        lookup = subprocess.run(
            self.command("lookup", "--all", "--json", "--file", str(asked)),
            capture_output=True, text=True, check=False)
        found = {}
        for line in lookup.stdout.splitlines():
            row = json.loads(line)
            found[row["value"]] = SHOWN.get(row["status"], row["status"])
        for value in values:
            state = found.get(value, "not answered")
            if state not in self.ledger.may_be(value):
                self.lost.append(f"after {after}: {value} is {state}, not one of "
                                 f"{sorted(self.ledger.may_be(value))}")
            else:
                self.ledger.states[value] = {state}
        for group in self.ledger.groups:
            states = {found.get(value) for value in group}
            if len(states) > 1:
                self.lost.append(f"after {after}: half an import: {states}")
        self.ledger.groups.clear()

    def one(self, kill):
        operation = self.rng.choice([self.add, self.revoke, self.import_, self.rebuild,
                                     self.reform])
        operation(kill)
        return operation.__name__.strip("_")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gillnet", required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="leave the state folder")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(2**32)
    print(f"seed {seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-crash-"))
    os.chmod(folder, 0o700)
    crash = Crash(args.gillnet, folder, random.Random(seed))
    for _ in range(WARM_UP):
        for operation in (crash.add, crash.import_, crash.revoke, crash.rebuild, crash.reform):
            operation(False)
    crash.check("the warm-up")
    runs = 0
    while sum(crash.killed.values()) < args.kills and not crash.lost:
        runs += 1
        crash.check(f"run {runs}, {crash.one(True)}", runs % FULL_CHECK_EVERY == 0)
    crash.rebuild(False)
    crash.check("the last rebuild")
    print(json.dumps({"seed": seed, "kills": crash.killed, "runs": runs,
                      "acknowledged": crash.acknowledged,
                      "values": len(crash.ledger.states), "lost": len(crash.lost)}))
    for line in crash.lost[:20]:
        print(line, file=sys.stderr)
    if not args.keep and not crash.lost:
        shutil.rmtree(folder)
    elif crash.lost:
        print(f"the state is left in {folder}", file=sys.stderr)
    return 1 if crash.lost else 0


if __name__ == "__main__":
    sys.exit(main())
