#!/usr/bin/env python3
"""engines - gillnet's lists, RocksDB and plain LMDB under the same work (ADR 0057).

    engines.py [--build DIR] [--entries N] [--rounds N] [--seconds N] [--folder DIR] [MEASURE...]

Needs root, for two users: `news` writes, `uucp` in the group news reads, with the right to read
alone but where a measure says so. Each MEASURE (default: all) runs the stores in turn, --rounds
times, and prints one JSON line for each run, with workload, build and machine; then one line with the
median of each store and its ratio to gillnet's in the same run.

    load    --entries into a new store; bytes a key; bytes that the process wrote
    quiet   look-ups by the other user: 99.9 % of absent entries, then of listed ones alone
    busy    99.9 % absent while --rate changes a second are written, in twenty batches, each synced
    limit   as quiet, in a control group of --limit MiB, with the store's files not cached
    rights  what a reader without any right to write gets, also one that is stopped for 0.3 s at a time
    stall   growth of the store while a reader is stopped, beside 1,400 changes a second
    kill    kill -9 of the writer, 20 times; every acknowledged entry, by a reader and after recovery
    flip    one flipped bit at random places of each file, --flips for each kind of file
    puts    entries a second in batches of a thousand, not synced: a bound for counts
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[2]
LIBRARIES = {"rocksdb": ("rocksdb", "librocksdb-dev"), "lmdb": ("lmdb", "liblmdb-dev")}
RATE = 1400
CHANGES = 1 << 41  # numbers of the entries that are written later
KILLS = 20
KILL_RATE = 20000
SMALL = 200000  # entries of the measures that go through all of them


def build(engine, out):
    """Compiles a store of others; gillnet's is built by CMake (target engines_gillnet)."""
    library, package = LIBRARIES[engine]
    out.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-std=gnu17", "-O2", "-D_GNU_SOURCE", "-o", out / engine, HERE / "engines.c",
               HERE / "engine_sorted.c", HERE / f"engine_{engine}.c", f"-l{library}", "-lsodium",
               "-lpthread"]
    if subprocess.run(command, check=False).returncode != 0:
        raise SystemExit(f"engines: {engine} cannot be built: apt-get install {package} "
                         "libsodium-dev")
    return out / engine


class Store:
    """One store of one engine in a folder of its own."""

    def __init__(self, bench, engine, name):
        self.bench, self.engine = bench, engine
        self.home = bench.folder / f"{engine}.{name}"
        self.dir = self.home / "state"
        self.scratch = self.home / "scratch"
        self.ledger = self.home / "ledger"
        shutil.rmtree(self.home, ignore_errors=True)
        self.dir.mkdir(parents=True)
        self.scratch.mkdir()
        shutil.chown(self.dir, "news", "news")
        self.dir.chmod(0o2750)
        shutil.chown(self.scratch, "uucp")
        self.ledger.touch()
        (self.home / "gillnet.conf").write_text(
            f'state_dir = "{self.dir}";\nlists = ( {{ name = "bench"; weight = 6.0; }} );\n')
        self.written = CHANGES

    def command(self, *words, **env):
        env = {**os.environ, "ENGINES_SCRATCH": str(self.scratch), **env}
        return {"args": [self.bench.program[self.engine], words[0], self.dir,
                         *map(str, words[1:])], "env": env, "umask": 0o027}

    def as_writer(self):
        return {"user": "news", "group": "news", "extra_groups": []}

    def as_reader(self):
        return {"user": "uucp", "group": "uucp", "extra_groups": ["news"]}

    def run(self, who, *words, prefix=(), **env):
        how = self.command(*words, **env)
        done = subprocess.run([*prefix, *how.pop("args")], **how, **who, capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def must(self, who, *words, **more):
        status, out, err = self.run(who, *words, **more)
        if status != 0:
            raise SystemExit(f"engines: {self.engine} {words}: {status} {err}")
        return json.loads(out)

    def start_writer(self, rate, seconds):
        how = self.command("write", self.written, rate, seconds)
        self.written += rate * (seconds + 1)
        with open(self.ledger, "a", encoding="ascii") as ledger:
            child = subprocess.Popen(**how, **self.as_writer(), stdout=ledger,
                                     stderr=subprocess.PIPE, text=True)
        self.bench.children.append(child)
        return child

    def bytes(self):
        total = 0
        for path in self.dir.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                total += path.stat().st_blocks * 512 if path.is_file() else 0
        return total

    def files(self):
        return sorted(p for p in self.dir.rglob("*") if p.is_file() and p.stat().st_size > 0)

    def warm_cache(self):
        """RocksDB's loader drops what it wrote from the page cache; the others leave it there."""
        for path in self.files():
            with open(path, "rb") as file:
                while file.read(1 << 20):
                    pass

    def forget_cache(self):
        for path in self.files():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def copy_from(self, other):
        subprocess.run(["cp", "-a", f"{other.dir}/.", self.dir], check=True)
        shutil.copy(other.ledger, self.ledger)


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.program = {"gillnet": args.build / "tests/bench/engines_gillnet"}
        for engine in LIBRARIES:
            self.program[engine] = build(engine, args.build / "tests/bench/engines")
        if not self.program["gillnet"].exists():
            raise SystemExit(f"engines: build it: cmake --build {args.build} --target "
                             "engines_gillnet")
        self.children = []
        self.stores = {}
        self.rows = []

    def say(self, measure, engine, workload, **values):
        row = {"bench": "engines", "measure": measure, "engine": engine, "workload": workload,
               "build": self.args.build.name,
               "machine": f"{platform.machine()} {os.cpu_count()} cpus, load "
                          f"{os.getloadavg()[0]:.1f}", **values}
        self.rows.append(row)
        print(json.dumps(row), flush=True)

    def compare(self, measure, key):
        """Median of each store, and its ratio to gillnet's."""
        found = {engine: statistics.median(row[key] for row in self.rows if key in row and
                                           (row["measure"], row["engine"]) == (measure, engine))
                 for engine in self.program}
        base = found["gillnet"] or 1
        print(json.dumps({"bench": "engines", "measure": f"{measure}.{key}", "median": found,
                          "ratio": {e: round(v / base, 3) for e, v in found.items()}}), flush=True)

    def each(self):
        for _ in range(self.args.rounds):
            yield from self.program

    def filled(self, engine):
        """The large store of an engine."""
        if engine not in self.stores:
            self.load_one(engine)
        return self.stores[engine]

    def load_one(self, engine):
        n = self.args.entries
        store = Store(self, engine, "large")
        took = store.must(store.as_writer(), "load", n)
        self.stores[engine] = store
        store.warm_cache()
        self.say("load", engine, f"{n} entries, digests alone", **took,
                 bytes_per_key=round(store.bytes() / n, 1),
                 index_bytes_per_key=round(sum(
                     p.stat().st_blocks * 512 for p in store.files()
                     if not p.name.startswith("log.")) / n, 1))

    def load(self):
        for engine in self.each():
            self.load_one(engine)
        for key in ("load_s", "bytes_per_key", "written"):
            self.compare("load", key)

    def quiet(self):
        for engine in self.each():
            store = self.filled(engine)
            for permille, name in ((1, "miss"), (1000, "hit")):
                took = store.must(store.as_reader(), "look", self.args.entries, self.args.seconds,
                                  permille, "-")
                self.say(name, engine, f"{self.args.entries} entries, {permille / 10} % listed",
                         **took)
        for name in ("miss", "hit"):
            self.compare(name, "per_s")
            self.compare(name, "anon_kib")

    def busy(self):
        for engine in self.each():
            store = self.filled(engine)
            before = store.bytes()
            store.ledger.write_text("")
            writer = store.start_writer(self.args.rate, self.args.seconds + 5)
            took = store.must(store.as_reader(), "look", self.args.entries, self.args.seconds, 1,
                              store.ledger)
            wrote = json.loads(writer.communicate()[1].strip().splitlines()[-1])
            self.say("busy", engine, f"{self.args.entries} entries, 0.1 % listed, "
                     f"{self.args.rate} changes/s", **took,
                     write_amplification=round(wrote["written"] / wrote["changes"] / 28, 1),
                     grown_bytes_per_change=round((store.bytes() - before) / wrote["changes"], 1),
                     **{f"writer_{k}": v for k, v in wrote.items()})
        for key in ("per_s", "batch_p999_us", "slowest_seen_ms", "write_amplification"):
            self.compare("busy", key)

    def limit(self):
        group = pathlib.Path("/sys/fs/cgroup/memory/engines")
        group.mkdir(exist_ok=True)
        (group / "memory.limit_in_bytes").write_text(str(self.args.limit << 20))
        join = ["sh", "-c", f"echo $$ > {group}/tasks; exec setpriv --reuid uucp --regid uucp "
                "--groups news \"$@\"", "sh"]
        try:
            for engine in self.each():
                store = self.filled(engine)
                store.forget_cache()
                took = store.must({}, "look", self.args.entries, self.args.seconds, 1, "-",
                                  prefix=join)
                self.say("limit", engine, f"{self.args.entries} entries, 0.1 % listed, "
                         f"{self.args.limit} MiB of memory", **took)
        finally:
            group.rmdir()
        self.compare("limit", "per_s")

    def small(self, engine, name):
        store = Store(self, engine, name)
        store.must(store.as_writer(), "load", SMALL)
        return store

    def rights(self):
        for engine in self.program:
            store = self.small(engine, "rights")
            cases = [("as it is", {})]
            if engine == "lmdb":
                cases += [("lock.mdb not writable", {}), ("MDB_NOLOCK", {"ENGINES_LMDB": "nolock"})]
            for what, env in cases:
                if what != "as it is":
                    (store.dir / "lock.mdb").chmod(0o640)
                store.ledger.write_text("")
                writer = store.start_writer(KILL_RATE, self.args.seconds * 2 + 3)
                for is_stopped in (False, True):
                    status, out, err = self.halting(store, is_stopped, env)
                    self.say("rights", engine, f"{SMALL} entries, half listed, {KILL_RATE} "
                             f"changes/s, {what}{', reader stops' if is_stopped else ''}",
                             status=status, says=err[-200:], **(json.loads(out) if out else {}),
                             writable=[p.name for p in store.files() if p.stat().st_mode & 0o022])
                writer.communicate()

    def halting(self, store, is_stopped, env):
        """A reader that stands still now and then, as one that waits for a disk or a processor."""
        reader = subprocess.Popen(**store.command("look", SMALL, self.args.seconds, 500,
                                                  store.ledger, **env), **store.as_reader(),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(reader)
        while is_stopped and reader.poll() is None:
            time.sleep(0.1)
            reader.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            reader.send_signal(signal.SIGCONT)
        out, err = reader.communicate()
        return reader.returncode, out.strip(), err.strip()

    def stall(self):
        for engine in self.program:
            for is_stopped in (False, True):
                store = self.small(engine, "stall")
                writer = store.start_writer(RATE, self.args.seconds * 2)
                reader = subprocess.Popen(**store.command("look", SMALL, self.args.seconds * 3, 1,
                                                          "-"), **store.as_reader(),
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.children.append(reader)
                time.sleep(2)
                before = store.bytes()
                if is_stopped:
                    reader.send_signal(signal.SIGSTOP)
                wrote = json.loads(writer.communicate()[1].strip().splitlines()[-1])
                self.say("stall", engine, f"{SMALL} entries, {RATE} changes/s, reader "
                         f"{'stopped' if is_stopped else 'runs'}",
                         grown_mb=round((store.bytes() - before) / 1e6, 1), **wrote)
                reader.kill()
                reader.wait()

    def kill(self):
        for engine in self.program:
            store = self.small(engine, "kill")
            bad = collections.Counter()
            took = {}
            for _ in range(KILLS):
                writer = store.start_writer(KILL_RATE, 5)
                time.sleep(random.uniform(0.3, 1.5))
                writer.kill()
                bad["writers that refused"] += writer.wait() != -signal.SIGKILL
                status, out, err = store.run(store.as_reader(), "check", SMALL, store.ledger)
                if status != 0:
                    bad["readers that refused"] += 1
                    print(err, file=sys.stderr)
                    continue
                took = json.loads(out)
                for key in ("missing", "acked_missing", "wrong", "errors"):
                    bad[key] += took[key]
            self.say("kill", engine, f"{SMALL} entries, {KILL_RATE} changes/s, {KILLS} times",
                     acked=took.get("acked"), **bad)

    @staticmethod
    def kind(path):
        return re.sub(r"[0-9]{2,}|\.[0-9]+(?=$|\.)", "N", path.name)

    def outcome(self, store):
        status, out, _ = store.run(store.as_reader(), "check", SMALL, store.ledger)
        if status == 3:
            return "noticed"
        if status != 0:
            return "crash"
        took = json.loads(out)
        if took["errors"] or took["fault"]:
            return "noticed"
        return "SILENT" if took["missing"] + took["acked_missing"] + took["wrong"] else "harmless"

    def flip(self):
        for engine in self.program:
            origin = self.small(engine, "whole")
            for _ in range(2):  # the second goes through recovery; it leaves a log
                writer = origin.start_writer(RATE, 60)
                time.sleep(10)
                writer.kill()
                writer.wait()
            kinds = collections.defaultdict(list)
            for path in origin.files():
                kinds[self.kind(path)].append(path.relative_to(origin.dir))
            for kind, paths in kinds.items():
                first, later = collections.Counter(), collections.Counter()
                for _ in range(self.args.flips):
                    store = Store(self, engine, "flip")
                    store.copy_from(origin)
                    path = store.dir / random.choice(paths)
                    at = random.randrange(path.stat().st_size)
                    with open(path, "r+b") as file:
                        file.seek(at)
                        byte = file.read(1)[0]
                        file.seek(at)
                        file.write(bytes([byte ^ 1 << random.randrange(8)]))
                    first[self.outcome(store)] += 1
                    status = store.run(store.as_writer(), "write", store.written, 20, 0)[0]
                    later["noticed" if status == 3 else "crash" if status else
                          self.outcome(store)] += 1
                self.say("flip", engine, f"{SMALL} entries and 20 s of changes; {self.args.flips} bits in "
                         f"{kind}", bytes=sum((origin.dir / p).stat().st_size for p in paths),
                         reader=first, after_writer=later)

    def puts(self):
        for engine in self.each():
            if engine != "gillnet":  # its counts have another store: bench_count
                store = self.small(engine, "puts")
                took = store.must(store.as_writer(), "puts", self.args.seconds)
                self.say("puts", engine, f"{SMALL} entries before, batches of 1000", **took)


def main():
    measures = ["load", "quiet", "busy", "limit", "rights", "stall", "kill", "flip", "puts"]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build/release")
    parser.add_argument("--entries", type=int, default=10000000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10, help="of each run")
    parser.add_argument("--rate", type=int, default=RATE, help="changes a second, of busy")
    parser.add_argument("--limit", type=int, default=512, help="MiB, of the measure limit")
    parser.add_argument("--flips", type=int, default=10, help="of the measure flip")
    parser.add_argument("--folder", type=pathlib.Path, help="where the stores go (default: /tmp)")
    parser.add_argument("measure", nargs="*", default=measures)
    args = parser.parse_args()
    if os.geteuid() != 0 or not set(args.measure) <= set(measures):
        parser.error(f"needs root; measures: {' '.join(measures)}")
    args.build = args.build.resolve()
    os.umask(0o022)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-engines-", dir=args.folder))
    folder.chmod(0o755)
    bench = Bench(args, folder)
    try:
        for measure in args.measure:
            getattr(bench, measure)()
    finally:
        for child in bench.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
