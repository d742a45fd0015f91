#!/usr/bin/env python3
"""bench_lines - what a list with filter_memory = "store" costs: time of a message, memory of gillnetd and of the store.

    bench_lines.py [--entries N] [--rate N] [--messages N] [--rounds N] FOLDER

FOLDER: messages, one a file. The list has N entries that no message has. Ways in turn, round by round: the filter as a copy, as
a map, in a store that is up, and in one that is stopped (SIGSTOP); messages start on a schedule, RATE a second. Prints one
JSON line: p50 and p99 of a message in ms (the median of the rounds, and all of them), memory of gillnetd before the first message
in MB (its own, and of files), bytes a key in the store and in the filter's file, time to put it there. Needs build/release with tests/bench, and build/redis.
"""
import argparse
import atexit
import glob
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests/integ/redis"), str(TOP / "tests/integ/peers")]
from ring import BUILD, Server, until  # noqa: E402
from servers import Folder  # noqa: E402

WAYS = ["copy", "map", "store", "stopped"]


def config(port, memory):
    return (f'store = {{ kind = "redis"; mode = "single"; servers = [ "127.0.0.1:{port}" ]; }};\n'
            f'lists = ( {{ name = "big"; filter_memory = "{memory}"; }} );\n')


def bytes_used(redis):
    return int(re.search(r"used_memory:(\d+)", redis.command("INFO", "memory"))[1])


def memory(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return {name: int(re.search(rf"{name}:\s+(\d+)", text)[1]) // 1024 for name in ("RssAnon", "RssFile")}


def load(s, arguments):
    done = subprocess.run([f"{BUILD}/tests/bench/milterload", "-q", "-d", arguments.folder, "-c", "4", "-n", str(arguments.messages),
                           "-w", "200", "-r", str(arguments.rate), f"unix:{s.top}/{s.name}.sock"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=10 * 10**6)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--messages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    figures = {way: {"p50_ms": [], "p99_ms": []} for way in WAYS}
    with Folder() as f:
        redis = f.redis().wait()
        empty = bytes_used(redis)
        s = Server(f.path, "a", config=config(redis.port, "store"))
        atexit.register(s.kill)
        data = pathlib.Path(f.path, "entries")
        with data.open("w") as out:
            out.writelines(f"value-{i}.example\n" for i in range(arguments.entries))
        s.run("list", "import", "big", str(data))
        start = time.monotonic()
        s.hub()
        until(lambda: s.hub_lines("result=complete"), "the filter in the store", 600, log=s.logs)
        put_s = time.monotonic() - start
        in_store = bytes_used(redis) - empty
        for _ in range(arguments.rounds):
            for way in WAYS:
                s.write(config(redis.port, "store" if way == "stopped" else way))
                s.daemon()
                time.sleep(1)
                figures[way]["memory_mb"] = memory(s.daemon_proc.pid)
                if way == "stopped":
                    redis.stop()
                out = load(s, arguments)
                figures[way]["p50_ms"].append(float(re.search(r"p50[^0-9]+([0-9.]+)", out)[1]))
                figures[way]["p99_ms"].append(float(re.search(r"p99[^0-9]+([0-9.]+)", out)[1]))
                if way == "stopped":
                    redis.go_on()
                    time.sleep(4)
                s.daemon_proc.terminate()
                s.daemon_proc.wait()
                s.daemon_proc = None
        base = sum(os.path.getsize(p) for p in glob.glob(f"{s.state}/lists/big/base.*"))
        s.stop()
    for way in WAYS:
        for name in "p50_ms", "p99_ms":
            figures[way][name] = [round(statistics.median(figures[way][name]), 3), sorted(figures[way][name])]
    print(json.dumps({"bench": "lines", "entries": arguments.entries, "rate": arguments.rate, "ways": figures,
                      "file_bytes_a_key": round(base / arguments.entries, 3), "store_bytes_a_key": round(in_store / arguments.entries, 3),
                      "put_s": round(put_s, 1)}))


if __name__ == "__main__":
    main()
