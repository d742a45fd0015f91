#!/usr/bin/env python3
"""How soon a copy on one server counts on another that shares its store, for keys past half of a threshold.

Usage: bench_shared_freshness.py [SAMPLES]     GILLNET_BUILD names the build folder; needs contrib/install-deps test.

Two servers, each with gillnetd and hub, and one Redis. A sample: a sender's copies come to the first server until there
are eleven, at any moment; the time is that from the reply to the last one to the second server's knowledge of all
eleven, before it has seen a copy itself. Prints one JSON line. Exit status: 0 if 99 % took at most 2 s.
"""
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integ/shared"))
from hosts import Hosts, seen, send  # noqa: E402

COPIES, THREADS, POLL_S = 11, 4, 0.03


def sample(a, b, name):
    sender = f"{name}@evil.example"
    for _ in range(COPIES):
        send(a, sender)
    begin = time.monotonic()
    while seen(b, sender) < COPIES:
        if time.monotonic() - begin > 60:
            return 60.0
        time.sleep(POLL_S)
    return time.monotonic() - begin


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    times, lock, left = [], threading.Lock(), iter(range(samples))

    def work(a, b):
        while True:
            with lock:
                i = next(left, None)
            if i is None:
                return
            time.sleep(random.random())
            took = sample(a, b, f"s{i}")
            with lock:
                times.append(took)

    with Hosts("alpha", "beta") as h:
        threads = [threading.Thread(target=work, args=h.servers) for _ in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    times.sort()
    at = {f"p{p}": round(times[min(len(times) - 1, len(times) * p // 100)], 3) for p in (50, 90, 99)}
    print(json.dumps({"bench": "shared-freshness", "samples": len(times), **at, "max": round(times[-1], 3)}))
    return at["p99"] > 2


if __name__ == "__main__":
    sys.exit(main())
