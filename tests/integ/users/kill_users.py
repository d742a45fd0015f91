#!/usr/bin/env python3
"""`gillnet user set` and `gillnet user compile` are killed at random points: no change that was
acknowledged is lost, the file and the table stay whole, and the next change works.

Usage: kill_users.py GILLNET ROUNDS     GILLNET_SEED repeats a run.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ["u%d@b.example" % i for i in range(40)] + ["@d%d.example" % i for i in range(10)]
MOST_S = 1.0  # a command takes some milliseconds


class Site:
    def __init__(self, gillnet, folder):
        self.gillnet = gillnet
        self.state = pathlib.Path(folder) / "state"
        self.conf = pathlib.Path(folder) / "gillnet.conf"
        self.conf.write_text('state_dir = "%s"; shipped_rules = false;\n' % self.state)
        self.wanted = {}  # name -> threshold that the file must have
        self.unsure = {}  # name -> [all that the table may have], since the last command that ended
        self.killed = 0
        self.took = 0.05  # seconds of a whole command, about

    def argv(self, *words):
        return [self.gillnet, "-c", str(self.conf), "user", *words]

    def lines(self, *words):
        done = subprocess.run(self.argv(*words, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60)
        assert done.returncode == 0, (words, done)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def run_and_kill(self, rng, *words):
        """True: the command ended by itself, with success."""
        began = time.monotonic()
        child = subprocess.Popen(self.argv(*words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            child.wait(timeout=min(rng.uniform(0, 2 * self.took), MOST_S))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        errors = child.communicate()[1]
        if child.returncode == -signal.SIGKILL:
            self.killed += 1
            self.took *= 1.02  # else a fast command would end the changes that succeed
            return False
        assert child.returncode == 0, (words, child.returncode, errors)
        self.took += 0.2 * (time.monotonic() - began - self.took)
        return True

    def step(self, rng):
        name = rng.choice(NAMES)
        value = round(rng.uniform(1, 9), 2)
        if rng.random() < 0.2:
            if self.run_and_kill(rng, "compile"):
                self.unsure.clear()
        elif self.run_and_kill(rng, "set", name, "thresholds.header=%s" % value):
            self.wanted[name] = value
            self.unsure.clear()  # the table is of the whole text again
        else:
            self.unsure.setdefault(name, [self.wanted.get(name)]).append(value)
        return name

    def check_file(self):
        """Every line is whole, and has what was acknowledged, or what was killed."""
        rows, errors = self.lines("list")
        assert errors == b"", errors
        found = {row["name"]: float(row["set"][0].split("=")[1]) for row in rows}
        assert all(len(row["set"]) == 1 for row in rows), rows
        for name in set(found) | set(self.wanted):
            if found.get(name) == self.unsure.get(name, [None])[-1] is not None:
                self.wanted[name] = found[name]
            assert found.get(name) == self.wanted.get(name), (name, found.get(name), self.wanted.get(name))

    def check_table(self, name):
        rows, _ = self.lines("show", name)
        header = rows[-1]["thresholds"]["header"]
        allowed = [value or 5.0 for value in self.unsure.get(name, [self.wanted.get(name)])]
        assert header in allowed, (name, header, allowed)


def main(gillnet, rounds):
    seed = int(os.environ.get("GILLNET_SEED") or random.randrange(1 << 32))
    print("GILLNET_SEED=%d" % seed, flush=True)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="gillnet-users.") as folder:
        site = Site(gillnet, folder)
        for _ in range(rounds):
            name = site.step(rng)
            site.check_file()
            for one in {name, rng.choice(NAMES)}:
                site.check_table(one)
        subprocess.run(site.argv("compile"), check=True, stdout=subprocess.DEVNULL, timeout=60)
        site.unsure.clear()
        for name in NAMES:
            site.check_table(name)
    assert site.killed >= rounds // 10, "only %d of %d were killed in time" % (site.killed, rounds)
    print("%d rounds, %d killed, %d names, nothing lost or damaged" % (rounds, site.killed, len(site.wanted)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
