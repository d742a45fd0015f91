#!/usr/bin/env python3
"""What a process for each file costs, and what plain mail pays for a reader that it does not need.

  tests/bench/bench_reader.py [FILES]      default 300

Two lines of JSON:
  reader_ask    p50 and p99 of an ask for a small QR code, beside starting /bin/true in the same run, and files a second
                with two at a time
  reader_plain  instructions of `gillnet extract` over plain messages with the reader on and off (callgrind; a figure
                that does not depend on the load)
"""
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/integ/reader"))
import reader  # noqa: E402

FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 300
MACHINE = {"build": reader.BUILD.name, "cores": os.cpu_count(), "machine": platform.machine()}
PLAIN = "From: a@b.example\nTo: c@d.example\nSubject: hello {0}\n\n" + "A line of text with http://w{0}.example/{0} in it.\n" * 40


def milliseconds(times, share):
    return round(sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000, 2)


def timed(what, n):
    times = []
    for _ in range(n):
        begun = time.monotonic()
        what()
        times.append(time.monotonic() - begun)
    return times


def bench_ask():
    code = subprocess.run(["qrencode", "-o", "-", "https://evil.example/x"], capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as top, reader.Reader(top, "--processes", "2") as r:
        one = lambda: reader.ask(r.path, code)  # noqa: E731
        asks = timed(one, FILES)
        starts = timed(lambda: subprocess.run(["/bin/true"], check=True), FILES)
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: one(), range(FILES)))
        rate = FILES / (time.monotonic() - begun)
    p50, p99 = milliseconds(asks, 0.5), milliseconds(asks, 0.99)
    print(json.dumps({"bench": "reader_ask", "files": FILES, "p50_ms": p50, "p99_ms": p99,
                      "true_p50_ms": milliseconds(starts, 0.5), "ratio": round(p50 / milliseconds(starts, 0.5), 2),
                      "per_second": round(rate), **MACHINE}))


def instructions(conf, folder):
    p = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", reader.BUILD / "gillnet",
                        "-c", conf, "extract", folder], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", p.stderr)[1])


def bench_plain():
    with tempfile.TemporaryDirectory() as top:
        mail = pathlib.Path(top, "mail")
        mail.mkdir()
        for i in range(100):
            (mail / f"{i}.eml").write_text(PLAIN.format(i))
        counts = {}
        for name, time_s in (("on", "2s"), ("off", "0s")):
            conf = pathlib.Path(top, f"{name}.conf")
            conf.write_text(f'state_dir = "{top}"; limits = {{ reader = "{time_s}"; }};')
            counts[name] = instructions(conf, mail)
    print(json.dumps({"bench": "reader_plain", "messages": 100, **counts, "ratio": round(counts["on"] / counts["off"], 4),
                      **MACHINE}))


bench_ask()
bench_plain()
