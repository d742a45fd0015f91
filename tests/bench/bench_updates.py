#!/usr/bin/env python3
"""bench_updates - mail is checked while a large list grows by 5 million entries an hour.

    bench_updates.py [--build DIR] [--mail DIR] [--base N] [--rate N] [--messages N] [--seconds N]

Workload: gillnetd with a list of --base URLs; milterload plays the messages of --mail on a fixed
schedule of --messages a second over a Unix socket, in slices of 5 seconds, in turn without and
with updates, so that noise falls on both alike, --seconds of each. Updates: one
`gillnet list add LIST -` as it is, into which --rate domains a second are written 20 times a
second. Meanwhile list_watch (tests/integ/list) opens the list as gillnetd does and asks for every
acknowledged entry. Prints one JSON line: p50 and p99 of a message in ms, with and without, of all
messages and (slice_) the median of the slices, which one burst of somebody else does not move; how
many acknowledged entries were hit later than 1 s after the acknowledgement was read; answers that
were wrong; bytes of index an entry before and after. Targets: 0 late, 0 wrong, p99 within 20 %,
at most 80 bytes an entry.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
LIST = "growing"
SLICE_S = 5
WRITES_S = 20
PACE_MS = 20
START_S = 600
CONNECTIONS = 8


def cpu_s(pid):
    """CPU time that a process has used, its threads together."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Stream:
    """`gillnet list add LIST -` with a ledger of what it acknowledged."""

    def __init__(self, command, ledger):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, bufsize=1 << 16)
        self.ledger = open(ledger, "a", encoding="ascii")
        self.given = self.acknowledged = 0
        self.slowest = 0.0  # from writing an entry to its acknowledgement
        self.written = []  # (entries given so far, when)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def give(self, count):
        text = "".join(f"value-{n}.example\n" for n in range(self.given, self.given + count))
        self.given += count
        self.written.append((self.given, time.monotonic()))
        self.child.stdin.write(text)
        self.child.stdin.flush()

    def read(self):
        at = 0
        fd = self.child.stdout.fileno()
        rest = b""
        while True:
            data = os.read(fd, 1 << 20)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            good = sum(line.startswith(b"ok ") for line in lines)
            if not good:
                continue
            self.ledger.write(f"+{self.acknowledged} {self.acknowledged + good}\n")
            self.ledger.flush()
            self.acknowledged += good
            now = time.monotonic()
            while at < len(self.written) and self.written[at][0] <= self.acknowledged:
                self.slowest = max(self.slowest, now - self.written[at][1])
                at += 1

    def settle(self, seconds=30):
        until = time.monotonic() + seconds
        while self.acknowledged < self.given and time.monotonic() < until:
            time.sleep(0.05)

    def end(self):
        self.child.stdin.close()
        status = self.child.wait()
        self.reader.join()
        return status


class Bench:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.conf = folder / "gillnet.conf"
        self.socket = folder / "gillnetd.sock"
        (folder / "state").mkdir(mode=0o750)
        self.conf.write_text(f'state_dir = "{folder}/state";\nsocket = "unix:{self.socket}";\n'
                             f'lists = ( {{ name = "{LIST}"; weight = 6.0; }} );\n')
        self.latency = {False: [], True: []}
        self.errors = 0
        self.children = []

    def command(self, *words):
        return [self.args.build / "gillnet", "-c", self.conf, *words]

    def import_base(self):
        importer = subprocess.Popen(self.command("list", "import", LIST, "-"),
                                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        step = 10000
        for first in range(0, self.args.base, step):
            importer.stdin.write("".join(
                f"http://host-{n % 65521}.example/page/{n:x}/index.html\n"
                for n in range(first, min(first + step, self.args.base))))
        importer.stdin.close()
        if importer.wait() != 0:
            raise SystemExit("bench_updates: the import failed")
        # the ledger and its reader begin with one entry
        subprocess.run(self.command("list", "add", "--create", LIST, "first.example"), check=True,
                       stdout=subprocess.DEVNULL)

    def stat(self):
        out = subprocess.run(self.command("--json", "list", "stat", LIST), check=True,
                             capture_output=True, text=True).stdout
        return json.loads(out.splitlines()[0])

    def start(self, command, **more):
        self.children.append(subprocess.Popen(command, **more))
        return self.children[-1]

    def start_gillnetd(self):
        log = open(self.folder / "gillnetd.log", "w", encoding="ascii")
        daemon = self.start([self.args.build / "gillnetd", "-f", "-c", self.conf], stdout=log,
                            stderr=log)
        until = time.monotonic() + START_S
        while not self.socket.exists() and time.monotonic() < until:
            if daemon.poll() is not None:
                raise SystemExit("bench_updates: gillnetd did not start")
            time.sleep(0.05)
        return daemon

    def slice(self, seconds, stream):
        """Plays mail for some seconds, beside updates where stream is given."""
        log = self.folder / "latency"
        count = int(self.args.messages * seconds)
        load = self.start(
            [self.args.build / "tests/bench/milterload", "-q", "-d", self.args.mail, "-c",
             str(CONNECTIONS), "-r", str(self.args.messages), "-n", str(count), "-l", str(log),
             f"unix:{self.socket}"], stdout=subprocess.DEVNULL)
        start = time.monotonic()
        first = stream.given if stream else 0
        while load.poll() is None:
            time.sleep(1 / WRITES_S)
            if stream:
                due = first + int((time.monotonic() - start) * self.args.rate)
                if due > stream.given:
                    stream.give(due - stream.given)
        self.errors += load.returncode != 0
        with open(log, encoding="ascii", errors="replace") as lines:
            self.latency[stream is not None].append([float(line.split()[0]) for line in lines])
        if stream:
            stream.settle()


def percentile(values, share):
    """In ms."""
    return round(sorted(values)[int(len(values) * share)] / 1000, 3)


def latencies(slices, name):
    values = [value for part in slices for value in part]
    return {f"p50{name}_ms": percentile(values, 0.5), f"p99{name}_ms": percentile(values, 0.99),
            f"slice_p99{name}_ms": round(statistics.median(
                percentile(part, 0.99) for part in slices), 3)}


def gillnetd_of(daemon):
    """The process that checks mail."""
    children = pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split()
    return int(children[0]) if children else daemon.pid


def run(bench, args, folder):
    bench.import_base()
    before = bench.stat()
    ledger = folder / "ledger"
    ledger.touch()
    most = int(args.rate * (args.seconds + 60)) + 1000
    daemon = bench.start_gillnetd()
    watch = bench.start([args.build / "tests/integ/list/list_watch", folder / "state", LIST,
                         ledger, str(most), str(PACE_MS)], stdout=subprocess.PIPE, text=True)
    if watch.stdout.readline() != "ready\n":
        raise SystemExit("bench_updates: list_watch did not start")
    stream = Stream(bench.command("list", "add", "--create", LIST, "-"), ledger)
    bench.children.append(stream.child)
    bench.slice(min(SLICE_S, args.seconds) / 3, None)  # warm-up
    bench.latency[False].clear()
    slices = max(1, round(args.seconds / SLICE_S))
    for _ in range(slices):
        bench.slice(args.seconds / slices, None)
        bench.slice(args.seconds / slices, stream)
    cpu = {"add": cpu_s(stream.child.pid), "gillnetd": cpu_s(gillnetd_of(daemon)),
           "watch": cpu_s(watch.pid)}
    generations = bench.stat()["generation"] - before["generation"]
    status = stream.end()
    watch.send_signal(signal.SIGTERM)
    seen = json.loads(watch.communicate()[0])
    after = bench.stat()
    daemon.terminate()
    daemon.wait()
    return before, after, stream, status, seen, cpu, generations


def report(bench, args, results):
    before, after, stream, status, seen, cpu, generations = results
    took = {**latencies(bench.latency[False], ""), **latencies(bench.latency[True], "_with")}
    row = {
        "bench": "updates",
        "workload": f"{args.base} URLs; {args.rate} entries/s beside {args.messages} messages/s "
                    f"of {args.mail.name}, {args.seconds} s",
        "build": args.build.name,
        "machine": f"{platform.machine()} {os.cpu_count()} cpus, load {os.getloadavg()[0]:.1f}",
        "added": stream.acknowledged, "given": stream.given, "stream_status": status,
        "slowest_ack_ms": round(stream.slowest * 1000, 1),
        "slowest_hit_ms": seen["slowest_ms"], "late": seen["late"], "wrong": seen["wrong"],
        "failed": seen["failed"], "messages": sum(map(len, bench.latency[True])),
        "errors": bench.errors, **took,
        "p99_ratio": round(took["p99_with_ms"] / took["p99_ms"], 3),
        "slice_p99_ratio": round(took["slice_p99_with_ms"] / took["slice_p99_ms"], 3),
        "cpu_s": {name: round(value, 2) for name, value in cpu.items()},
        "generations": generations,
        "index_bytes_per_entry": round(before["index_bytes"] / max(before["entries"], 1), 1),
        "index_bytes_per_entry_after": round(after["index_bytes"] / max(after["entries"], 1), 1),
    }
    row["ok"] = (row["late"] + row["wrong"] + row["failed"] + row["errors"] + status == 0 and
                 row["added"] == row["given"] and row["slice_p99_ratio"] <= 1.2 and
                 row["index_bytes_per_entry_after"] <= 80)
    print(json.dumps(row))
    return 0 if row["ok"] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build/release")
    parser.add_argument("--mail", type=pathlib.Path, default=TOP / "build/corpus")
    parser.add_argument("--base", type=int, default=10000000, help="entries of the list before")
    parser.add_argument("--rate", type=int, default=1389, help="entries added a second")
    parser.add_argument("--messages", type=int, default=200, help="messages a second")
    parser.add_argument("--seconds", type=int, default=120, help="with and without updates, each")
    args = parser.parse_args()
    args.build, args.mail = args.build.resolve(), args.mail.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-updates-"))
    bench = Bench(args, folder)
    try:
        return report(bench, args, run(bench, args, folder))
    finally:
        for child in bench.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
