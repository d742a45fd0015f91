#!/usr/bin/env python3
"""bench_spike - mail while the HTTP API of its host is asked for ten times the usual.

    bench_spike.py [--seconds S] [--turns N] [--mail DIR] [--messages N] [--usual N] [--apart]

Workload: gillnetd and gillnet hub on one state folder with a list of 200,000 URLs; milterload plays the messages of
--mail on a fixed schedule of --messages a second over a Unix socket, in turns of S seconds: one while the API is
asked --usual times a second (POST /check-urls, 10 URLs, 100 connections), one while it is asked ten times that.
The hub has the niceness that its unit gives it; the program that asks is idle to the scheduler, as it stands for other
machines. --apart: gillnetd and its mail have the first CPU, the hub and who asks it the others, so that what is left
is what the two programs share.
Prints one JSON line: p99 of a message in each turn (us), the median of the turns of each kind and their ratio;
errors and refusals of the API; mail that got no verdict. Targets: 0 errors, mail's p99 within 10 %.
Needs the targets gillnetd, gillnet, gillnet-hub, apiload and milterload (build/release).
"""
import argparse
import json
import os
import pathlib
import platform
import re
import socket
import statistics
import subprocess
import sys

from bench_api import BUILD, CONNECTIONS, TOP, URLS, make_urls

import hub as api

UNIT = TOP / "systemd/gillnet-hub.service"
LISTED, SPIKE = 200000, 10
WARM_UP = 200


def as_installed(pid):
    nice = int(re.search(r"^Nice=(\d+)$", UNIT.read_text(), re.M).group(1))
    for task in os.listdir(f"/proc/{pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(task), nice)


def pin(pid, cpus):
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), cpus)


def ask(port, asked, seconds, rate):
    return subprocess.Popen(["chrt", "-i", "0", BUILD / "tests/bench/apiload", str(port), str(CONNECTIONS), str(seconds),
                             asked, str(URLS), "/check-urls", str(rate)], stdout=subprocess.PIPE, text=True)


def takes_mail(path):
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


def mail(h, options, log):
    """Plays the mail of one turn; the latencies in us, and how many messages had no verdict."""
    n = int(options.messages * options.seconds)
    p = subprocess.run([BUILD / "tests/bench/milterload", "-q", "-d", options.mail.resolve(), "-c", "4", "-w", str(WARM_UP), "-n",
                        str(n), "-r", str(options.messages), "-l", log, f"unix:{h.top}/gillnetd.sock"],
                       stdout=subprocess.DEVNULL, check=False)
    took = sorted(float(line.split()[0]) for line in log.read_text(errors="replace").splitlines())
    return took, max(n - len(took), 1 if p.returncode else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--mail", type=pathlib.Path, default=TOP / "build/corpus")
    parser.add_argument("--messages", type=float, default=100)
    parser.add_argument("--usual", type=int, default=2000)
    parser.add_argument("--apart", action="store_true")
    options = parser.parse_args()
    h = api.Hub(api="requests_per_second = 1000000;")
    try:
        listed, asked = make_urls(h.top, LISTED)
        h.run("list", "import", "phish", listed)
        h.start()
        h.start_gillnetd()
        api.until(lambda: takes_mail(f"{h.top}/gillnetd.sock"), "gillnetd takes no mail")
        as_installed(h.process.pid)
        if options.apart:
            mail_side, asking_side = {0}, set(range(1, os.cpu_count()))
            pin(h.daemon.pid, mail_side)
            pin(h.process.pid, asking_side)
            os.sched_setaffinity(0, mail_side)
        turns = []
        for turn in range(2 * options.turns):
            rate = options.usual * (SPIKE if turn % 2 else 1)
            load = ask(h.port, asked, options.seconds + 2, rate)
            if options.apart:
                pin(load.pid, asking_side)
            took, lost = mail(h, options, h.top / "latencies")
            api_side = json.loads(load.communicate()[0])
            turns.append({"asked_per_s": rate, "mail_p50_us": took[len(took) // 2], "mail_p99_us": took[len(took) * 99 // 100],
                          "mail": len(took), "mail_lost": lost, "requests_per_s": api_side["requests_per_s"],
                          "api_p99_us": api_side["p99_us"], "errors": api_side["errors"],
                          "refused": api_side["answers_503_429"]})
        usual, spike = (statistics.median(t["mail_p99_us"] for t in turns[kind::2]) for kind in (0, 1))
        print(json.dumps({"bench": "spike", "usual_p99_us": usual, "spike_p99_us": spike, "ratio": round(spike / usual, 3),
                          "errors": sum(t["errors"] for t in turns), "refused": sum(t["refused"] for t in turns),
                          "mail_lost": sum(t["mail_lost"] for t in turns), "turns": turns, "build": BUILD.name,
                          "machine": f"{platform.machine()} {os.cpu_count()} cpus, load {os.getloadavg()[0]:.1f}"}))
    finally:
        h.close()


if __name__ == "__main__":
    main()
