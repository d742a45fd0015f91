#!/usr/bin/env python3
"""gillnetd's p99 with a shared store that is up, killed, stopped, and answers after 1 s, beside without one.

Usage: bench_shared_latency.py FOLDER [ROUNDS]     FOLDER: messages, one a file. GILLNET_BUILD names the build folder.

Two rings of two servers on one machine, one with a store, one without; each server has gillnetd and hub. The same
messages go at the same time and rate to a gillnetd without and to one with the store, in each of its states, so that
what else the machine does falls on both; the figure is the median of the rounds' ratios. Prints one JSON line. Exit
status: 0 if all are at most 1.05.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integ/shared"))
from hosts import BUILD, Hosts, Ring  # noqa: E402

MESSAGES, RATE, CONNECTIONS, PER_DAY = 4000, 200, 4, 200000
STATES = ("up", "killed", "stopped", "slow")


def load(*servers, folder):
    """(p50, p99) in ms of each, all at once."""
    runs = [subprocess.Popen([f"{BUILD}/tests/bench/milterload", "-q", "-d", folder, "-c", str(CONNECTIONS), "-n",
                              str(MESSAGES), "-r", str(RATE), "-w", "50", f"unix:{s.top}/{s.name}.sock"],
                             stdout=subprocess.PIPE, text=True) for s in servers]
    return [tuple(float(re.search(rf"{p} ([\d.]+)", out).group(1)) for p in ("p50", "p99"))
            for out in (r.communicate()[0] for r in runs)]


def enlarge(server):
    server.conf.write_text(server.conf.read_text().replace("messages_per_day = 1000", f"messages_per_day = {PER_DAY}"))
    server.kill()
    server.hub()
    server.daemon()


def pairs_of(state, h, without, folder, n):
    with_store = h.servers[1 if state == "slow" else 0]
    if state == "killed":
        h.redis.kill()
    elif state == "stopped":
        h.redis.stop()
    rows = []
    for i in range(n):
        order = (without, with_store) if i % 2 == 0 else (with_store, without)
        got = dict(zip(order, load(*order, folder=folder)))
        rows.append((got[without], got[with_store]))
    if state == "killed":
        h.redis.start()
        h.redis.wait()
    elif state == "stopped":
        h.redis.go_on()
    return rows


def main():
    folder, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    result = {"bench": "shared-latency", "rounds": n, "rate": RATE}
    with Ring("gamma", "delta", kind="own") as (without, other), Hosts("alpha", "beta", delay={"beta": 1.0}) as h:
        for s in (without, other):
            s.daemon()
        for s in (without, other, *h.servers):
            enlarge(s)
        load(without, *h.servers, folder=folder)
        for state in STATES:
            rows = pairs_of(state, h, without, folder, n)
            result[state] = {f"p{p}": {"without": statistics.median(r[0][k] for r in rows),
                                       "with": statistics.median(r[1][k] for r in rows),
                                       "ratio": round(statistics.median(r[1][k] / r[0][k] for r in rows), 3)}
                             for k, p in enumerate((50, 99))}
            print(state, rows, file=sys.stderr)
    print(json.dumps(result))
    return any(result[s]["p99"]["ratio"] > 1.05 for s in STATES)


if __name__ == "__main__":
    sys.exit(main())
