#!/usr/bin/env python3
"""Searches of GET /v1/messages in a real hub, and what its memory grows by.

Usage: bench_messages_api.py [MESSAGES [RUNS]]   (default 100000 and 300). One JSON line. The journal is written by
bench_message_tail --write. memory_bytes: resident memory of a hub with MESSAGES less that of one with a single one, both
after the same requests, one at a time over one connection. explain: GET /v1/explain of one message of each thousand. Beside
them in the same run: /v1/stats of the same hub. GILLNET_BUILD: where the programs are.
"""
import http.client
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from urllib.parse import quote

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/integ/peers")]
from ring import BUILD, Server, free_port, until  # noqa: E402

SEARCHES = ["", "nowhere-at-all", "from:nobody@x to:nowhere", "symbol:RULE_NUMBER_299*", "deadbeef", "203.0.113.", "sender.example"]
ROWS = 100  # of a page


def ask(connection, path, token):
    start = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    took = (time.perf_counter() - start) * 1000
    assert answer.status == 200, body
    return took, json.loads(body)


def figures(times):
    return {"p50_ms": round(statistics.median(times), 2), "p99_ms": round(sorted(times)[int(len(times) * 0.99)], 2)}


def resident(process):
    return 1024 * int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def cases_of(connection, token):
    """One message of each thousand, the newest first."""
    cases, before = [], ""
    while before is not None:
        page = ask(connection, "/v1/messages?limit=1000" + before, token)[1]
        cases += [page["messages"][0]["case"]]
        before = page["next"] and "&before=" + page["next"]
    return cases


def measure(top, name, keep, messages, runs):
    port = free_port()
    server = Server(top, name, f'journal = {{ messages = {keep}; }}; api = {{ listen = [ "127.0.0.1:{port}" ]; tokens_file = "{top}/{name}.tokens"; }};')
    token = server.run("hub", "token", "bench", "messages").split()[-1]
    subprocess.run([f"{BUILD}/tests/bench/bench_message_tail", "--messages", str(messages), "--write", server.state], check=True)
    server.hub()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        until(lambda: ask(connection, "/v1/messages?q=nowhere", token)[1]["searched"] >= min(keep, messages) * 0.99, "the messages")
        times = {q: [ask(connection, f"/v1/messages?limit={ROWS}&q={quote(q)}", token)[0] for _ in range(runs)] for q in SEARCHES}
        stats = [ask(connection, "/v1/stats", token)[0] for _ in range(runs)]
        memory = resident(server.hub_proc)
        explain = [ask(connection, f"/v1/explain?id={case}", token)[0] for case in cases_of(connection, token)]
        return memory, times, stats, explain
    finally:
        server.kill()


def main(messages=100000, runs=300):
    with tempfile.TemporaryDirectory(prefix="gillnet-bench-") as top:
        before, *_ = measure(top, "one", messages, 1, runs)
        after, times, stats, explain = measure(top, "all", messages, messages, runs)
    print(json.dumps({"bench": "messages_api", "messages": messages, "runs": runs, "machine": platform.processor() or platform.machine(),
                      "build": str(BUILD), "memory_bytes": after - before, "resident_bytes": after, "stats": figures(stats), "explain": figures(explain),
                      "searches": {q or "all": figures(t) for q, t in times.items()}}))


main(*map(int, sys.argv[1:]))
