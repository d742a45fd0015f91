#!/usr/bin/env python3
"""Upgrade and downgrade under load: an older gillnet is replaced by this build and comes back, again and again.

Usage: upgrade.py [--hours H] [--seed N] [--keep FOLDER] [--rate N] [--day SECONDS] [--from REV | --old BUILD]

First both sites run the old version. Then, at each step, one site gets the other version: the programs first, then
gillnetd restarts and then its hub, as the packages do it, with the socket in the hands of the service manager. Between
the two sites there are two versions for the time of a step. contrib/prove says what the options are.
"""
import os
import pathlib
import subprocess
import sys
import types

from sites import Site, TOP, copy_programs, proc, ring
import soak
from ledger import read
import table
from test_12_upgrade import Unit

STEPS = 8  # a and b in turn: new, old, new, old
OLD = TOP / "build/prove/old"
BACK = 200  # commits, where there is no tag


class ManagedSite(Site):
    """gillnetd under a service manager that keeps its socket."""

    unit = None

    def daemon(self):
        self.unit = Unit(types.SimpleNamespace(folder=self.run_folder, config=self.conf, log_file=self.daemon_log,
                                               log=self.logs), self.programs)
        self.daemon_proc = self.unit.child
        return self

    def replace(self, programs):
        """The programs of another version, as their packages bring them."""
        self.programs = programs
        self.unit.restart(programs)
        self.daemon_proc = self.unit.child
        hub, self.hub_proc = self.hub_proc, None
        hub.terminate()
        hub.wait(120)
        self.hub()

    def stop(self):
        super().stop()
        if self.unit:
            self.unit.stop()


class Upgrade(soak.Run):
    """The traffic and the changes of a soak, while versions change."""

    def __init__(self, arguments, old):
        super().__init__(arguments, build=old, site=ManagedSite)
        self.versions = (self.pair.programs, copy_programs(ring.BUILD, pathlib.Path(proc.scratch("bin"))))
        self.steps = 0
        self.changes.next.pop("hub")  # hubs restart with their versions

    def each(self, now):
        if self.steps < STEPS and now > (self.steps + 1) * self.arguments.hours * 3600 / (STEPS + 1):
            site = self.pair.sites[self.steps % 2]
            is_new = self.steps // 2 % 2 == 0
            print(f"upgrade: site {site.name} gets the {'new' if is_new else 'old'} version", file=sys.stderr, flush=True)
            site.replace(self.versions[is_new])
            self.steps += 1
            self.ledger.write("version", site=site.name, new=is_new)


def git(*args):
    return subprocess.run(["git", "-C", TOP, *args], check=True, capture_output=True, text=True).stdout.strip()


def old_revision():
    """The newest tag, or where there is none yet the commit BACK commits ago."""
    found = subprocess.run(["git", "-C", TOP, "describe", "--tags", "--abbrev=0"], capture_output=True, text=True)
    return found.stdout.strip() or git("rev-parse", f"HEAD~{BACK}")


def build_old(revision):
    """The programs of a revision, in a tree of its own that the next run finds."""
    if not OLD.exists():
        OLD.parent.mkdir(parents=True, exist_ok=True)
        git("worktree", "prune")
        git("worktree", "add", "--detach", str(OLD), revision)
    subprocess.run(["git", "-C", OLD, "checkout", "--quiet", "--detach", git("rev-parse", revision)], check=True)
    names = [n for n in ("gillnet", "gillnetd", "gillnet-hub", "gillnet-reader")
             if n in (OLD / "CMakeLists.txt").read_text()]
    with open(OLD.parent / "old.log", "wb") as log:
        for argv in (["cmake", "--preset", "release"],
                     ["cmake", "--build", "--preset", "release", "-j", str(os.cpu_count()), "--target", *names]):
            subprocess.run(argv, cwd=OLD, check=True, stdout=log, stderr=log)
    return OLD / "build/release"


def main(argv):
    parser = soak.parser_of(__doc__)
    parser.set_defaults(hours=0.1)
    parser.add_argument("--from", dest="revision")
    parser.add_argument("--old", help="a build of the old version")
    arguments = parser.parse_args(argv)
    try:
        revision = arguments.revision or ("" if arguments.old else old_revision())
        old = arguments.old or build_old(revision)
    except subprocess.CalledProcessError as why:
        sys.exit(f"upgrade: no older version: {why}; name its programs with --old ({OLD.parent}/old.log)")
    soak.end_in_order()
    run = Upgrade(arguments, old)
    run.run()
    soak.ledger_rows("upgrade", run, "mail while versions change")
    table.say("upgrade", "versions changed", sum(line["kind"] == "version" for line in read(run.top / "ledger.jsonl")),
              f"from and to {revision[:12] or arguments.old}", over_bound=[] if run.steps == STEPS else ["steps are missing"])


if __name__ == "__main__":
    main(sys.argv[1:])
