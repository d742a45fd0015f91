#!/usr/bin/env python3
"""bench_api - POST /check-urls of gillnet hub beside a FastAPI program.

    bench_api.py [--seconds S] [--urls N] [--only hub|fastapi]

Workload: 100 connections, each with one request of 10 URLs under way, from one process on the same machine
(apiload); a list of N URLs (default 200,000), one URL in ten listed. Beside it, in the same run, the program
of the source document (api_fastapi.py: one uvicorn worker, a Bloom filter in Python with SHA-256 in the place of
MurmurHash, an exact set behind it), with the same URLs. Prints one JSON line.
Targets: 30,000 requests/s, p99 below 10 ms, 20 times FastAPI. For a spike with mail beside it see bench_spike.py. Needs
Debian's python3-fastapi and python3-uvicorn, and the targets gillnet, gillnet-hub and apiload (build/release).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", TOP / "build/release"))
sys.path.insert(0, str(TOP / "tests/integ/api"))
sys.path.insert(0, str(TOP / "tests"))

import hub as api  # noqa: E402
import ports  # noqa: E402

CONNECTIONS, URLS = 100, 10


def make_urls(folder, n):
    """Files of listed URLs, and of URLs to ask for."""
    def gen(count, seed):
        return subprocess.run([sys.executable, TOP / "tests/bench/gen_urls.py", str(count), str(seed)], check=True,
                              capture_output=True, text=True).stdout.splitlines()
    listed, others = gen(n, 1), gen(40000, 2)
    asked = [listed[i * 7 % n] if i % 10 == 0 else url for i, url in enumerate(others)]
    (folder / "listed").write_text("\n".join(listed) + "\n")
    (folder / "asked").write_text("\n".join(asked) + "\n")
    return folder / "listed", folder / "asked"


def load(port, seconds, asked):
    p = subprocess.run([BUILD / "tests/bench/apiload", str(port), str(CONNECTIONS), str(seconds), asked, str(URLS),
                        "/check-urls"], capture_output=True, text=True, check=True)
    return json.loads(p.stdout)


def cpu_us(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


def fastapi(listed, asked, seconds):
    port = ports.free_port()
    env = {**os.environ, "API_LISTED": str(listed), "PYTHONPATH": str(TOP / "tests/bench")}
    p = subprocess.Popen(["/usr/bin/python3", "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port), "--log-level",
                          "critical", "--workers", "1", "api_fastapi:app"], env=env)
    try:
        import socket
        end = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if time.monotonic() > end or p.poll() is not None:
                    raise
                time.sleep(0.2)
        return load(port, seconds, asked)
    finally:
        p.terminate()
        p.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--urls", type=int, default=200000)
    parser.add_argument("--only", choices=["hub", "fastapi"])
    options = parser.parse_args()
    h = api.Hub(api="requests_per_second = 1000000;")
    try:
        listed, asked = make_urls(h.top, options.urls)
        h.run("list", "import", "phish", listed)
        h.start()
        row = {"bench": "api", "urls_listed": options.urls, "load_average": os.getloadavg()[0], "cores": os.cpu_count()}
        load(h.port, 1, asked)
        if options.only in (None, "hub"):
            before = cpu_us(h.process.pid)
            ours = load(h.port, options.seconds, asked)
            row["hub"] = ours
            row["cpu_us_per_request"] = round((cpu_us(h.process.pid) - before) / ours["requests"], 1)
            row["memory_mb"] = round(h.memory() / 1e6)
        if options.only in (None, "fastapi"):
            row["fastapi"] = fastapi(listed, asked, options.seconds)
        if "hub" in row and "fastapi" in row:
            row["times"] = round(row["hub"]["requests_per_s"] / row["fastapi"]["requests_per_s"], 1)
        print(json.dumps(row))
    finally:
        h.close()


if __name__ == "__main__":
    main()
