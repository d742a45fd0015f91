#!/usr/bin/env python3
"""Rebuild a list again and again while it grows and is killed; a reader looks on all the time.

Usage: rebuild.py --gillnet PROGRAM --watch PROGRAM --kill-at LIBRARY
                  [--rebuilds N] [--kills N] [--base N] [--seed N] [--keep]

In each round `gillnet list rebuild` runs while `gillnet list add -` is tried again until it has
the list's lock; the stream adds more than the recent table holds, so that it is folded into the
list meanwhile, and some entries are revoked. In some rounds the rebuild or the stream is killed
with SIGKILL before or after a call that changes a file: the N-th rename, unlink, sync or write,
spread over all there are, most of
them renames and unlinks. list_watch opens the list as gillnetd does and asks for every
acknowledged entry without end: each answer must be the acknowledged one. Prints one JSON line;
exit 1 when an answer was wrong or missing.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIST = "rebuilt"
STREAM = 6500  # more than the recent table holds
REVOKE_EVERY = 50
LOCKED = 75  # EX_TEMPFAIL


class Ledger:
    """Tells the watch what was acknowledged."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="ascii")

    def say(self, mark, first, end):
        self.file.write(f"{mark}{first} {end}\n")
        self.file.flush()


class Rebuild:
    def __init__(self, args, folder, rng):
        self.args = args
        self.folder = folder
        self.rng = rng
        self.conf = folder / "gillnet.conf"
        self.conf.write_text(f'state_dir = "{folder}/state"; shipped_rules = false;\n')
        (folder / "state").mkdir(mode=0o750)
        self.ledger = Ledger(folder / "ledger")
        self.next = 0
        self.calls = {}  # that change files, in a run of each kind
        self.names = {}  # of these, that change names
        self.killed = {}
        self.rebuilds = 0
        self.locked = 0
        self.acknowledged = 0
        self.faults = []
        self.watch = None

    def command(self, *words):
        return [self.args.gillnet, "-c", str(self.conf), "list", *words]

    def start(self, words, env=None, **more):
        return subprocess.Popen(self.command(*words), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **(env or {})}, **more)

    def import_base(self, count):
        feed = self.folder / "feed"
        feed.write_text("".join(f"value-{n}.example\n" for n in range(count)))
        subprocess.run(self.command("import", LIST, str(feed)), check=True,
                       stdout=subprocess.DEVNULL)
        self.ledger.say("+", 0, count)
        self.next = count

    def start_watch(self, size):
        self.watch = subprocess.Popen(
            [self.args.watch, self.folder / "state", LIST, self.folder / "ledger", str(size)],
            stdout=subprocess.PIPE, text=True)
        if self.watch.stdout.readline() != "ready\n":
            raise SystemExit("rebuild.py: list_watch did not start")

    def kill_env(self, kind, kill):
        """Where the process is to die; without kill, its calls are counted."""
        if not kill:
            path = self.folder / f"calls.{kind}"
            path.unlink(missing_ok=True)
            return {"LD_PRELOAD": self.args.kill_at, "KILL_COUNT": str(path)}
        most = self.calls[kind]
        env = {"LD_PRELOAD": self.args.kill_at}
        if self.rng.random() < 0.75:  # most calls only append
            most = self.names[kind]
            env["KILL_NAMES"] = "1"
        env["KILL_AT"] = str(self.rng.randrange(1, most + 1))
        if self.rng.random() < 0.5:
            env["KILL_AFTER"] = "1"
        return env

    def ended(self, kind, kill, status, error, fine=(0,)):
        if status == -signal.SIGKILL and kill:
            self.killed[kind] = self.killed.get(kind, 0) + 1
        elif status not in fine:
            self.faults.append(f"{kind}: exit {status}: {error.strip()[-300:]}")
        path = self.folder / f"calls.{kind}"
        if not kill and status == 0 and path.exists():
            calls = path.read_text()
            self.calls[kind] = len(calls)
            self.names[kind] = max(calls.count("n"), 1)

    def stream(self, kind, words, first, count, mark, kill):
        """Adds or revokes entries; returns whether the lock was to be had."""
        for value in range(first, first + count):
            if mark == "-":  # in flight it may be either
                self.ledger.say("?", value, value + 1)
        child = self.start(words, self.kill_env(kind, kill))
        text = "".join(f"value-{n}.example\n" for n in range(first, first + count))
        try:
            out, error = child.communicate(text, timeout=600)
        except subprocess.TimeoutExpired:
            child.kill()
            out, error = child.communicate()
            self.faults.append(f"{kind}: did not end")
        good = sum(line.startswith("ok ") for line in out.split("\n")[:-1])
        if good:
            self.ledger.say(mark, first, first + good)
            self.acknowledged += good
        if child.returncode == LOCKED and good == 0:
            return False
        # status 1: the list did not have some of the revoked values, but they are revoked now
        self.ended(kind, kill, child.returncode, error, (0, 1) if kind == "revoke" else (0,))
        if child.returncode == 0 and good != count:
            self.faults.append(f"{kind}: {count - good} not acknowledged")
        return True

    def add(self, kill):
        first = self.next
        self.next += STREAM
        return self.retry(lambda: self.stream("add", ["add", LIST, "-"], first, STREAM, "+",
                                              kill))

    def revoke(self):
        first = self.rng.randrange(self.next - STREAM, self.next - REVOKE_EVERY)
        self.retry(lambda: self.stream("revoke", ["revoke", LIST, "-"], first, REVOKE_EVERY, "-",
                                       False))

    def retry(self, run):
        until = time.monotonic() + 120
        while not run():
            self.locked += 1
            if time.monotonic() > until:
                self.faults.append("the lock was never to be had")
                return
            time.sleep(0.02)

    def one(self, kill):
        """A rebuild beside a stream; kill: which of them dies, or None."""
        rebuild = self.start(["rebuild", LIST], self.kill_env("rebuild", kill == "rebuild"))
        self.add(kill == "add")
        error = rebuild.communicate()[1]
        if rebuild.returncode == LOCKED:  # the stream was first
            self.locked += 1
            rebuild = self.start(["rebuild", LIST],
                                 self.kill_env("rebuild", kill == "rebuild"))
            error = rebuild.communicate()[1]
        self.ended("rebuild", kill == "rebuild", rebuild.returncode, error)
        self.rebuilds += 1
        self.revoke()
        if self.watch.poll() is not None:
            self.faults.append("list_watch ended")

    def finish(self):
        verify = subprocess.run(self.command("verify", LIST), capture_output=True, text=True,
                                check=False)
        if verify.returncode != 0:
            self.faults.append(f"verify: {verify.stdout}{verify.stderr}")
        self.watch.send_signal(signal.SIGTERM)
        out = self.watch.communicate(timeout=600)[0]
        seen = json.loads(out) if out else {"wrong": -1, "failed": -1}
        if self.watch.returncode != 0:
            self.faults.append(f"list_watch: exit {self.watch.returncode}")
        return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gillnet", required=True)
    parser.add_argument("--watch", required=True, help="the program list_watch")
    parser.add_argument("--kill-at", required=True, help="the library kill_at")
    parser.add_argument("--rebuilds", type=int, default=12)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--base", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="leave the state folder")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(2**32)
    print(f"seed {seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-rebuild-"))
    os.chmod(folder, 0o700)
    test = Rebuild(args, folder, random.Random(seed))
    test.import_base(args.base)
    test.start_watch(args.base + (args.rebuilds + args.kills + 2) * STREAM)
    try:
        test.one(None)  # counts the calls
        while not test.faults and (test.rebuilds < args.rebuilds or
                                   sum(test.killed.values()) < args.kills):
            left = args.kills - sum(test.killed.values())
            rounds = max(args.rebuilds - test.rebuilds, 1)
            kill = test.rng.choice(["rebuild", "add"]) if \
                test.rng.random() < left / rounds else None
            test.one(kill)
        seen = test.finish()
    finally:
        if test.watch.poll() is None:
            test.watch.kill()
    bad = test.faults or seen["wrong"] or seen["failed"]
    print(json.dumps({"seed": seed, "rebuilds": test.rebuilds, "kills": test.killed,
                      "calls": test.calls, "names": test.names, "acknowledged": test.acknowledged,
                      "lock_waits": test.locked, "false_negatives": seen["wrong"],
                      "failed_lookups": seen["failed"], "watch": seen,
                      "faults": len(test.faults)}))
    for line in test.faults[:20]:
        print(line, file=sys.stderr)
    if bad or args.keep:
        print(f"the state is left in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
