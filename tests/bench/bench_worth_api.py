#!/usr/bin/env python3
"""GET /v1/lists, /v1/rules and /v1/list in a real hub with many lists, rules, messages and entries.

Usage: bench_worth_api.py [MESSAGES [LISTS [RULES [ENTRIES [RUNS]]]]]   (default 100000, 1000, 1000, 1000000 and 40). One JSON line.
The journal is written by bench_message_tail --write; the lists are copies of one, and another has ENTRIES. counted_s: from the
hub's start until all of the journal is counted. GILLNET_BUILD: where the programs are.
"""
import http.client
import json
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/integ/peers")]
from ring import BUILD, Server, free_port, until  # noqa: E402

PATHS = ["lists?limit=50", "lists?limit=50&sort=-useless", "lists?limit=50&sort=-hits_today", "rules?limit=50&sort=-useless", "rules",
         "list?name=large", "list?name=large&q=host77777.example", "list?name=large&q=nothing-like-it"]


def ask(connection, path, token):
    start = time.perf_counter()
    connection.request("GET", f"/v1/{path}", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    took = (time.perf_counter() - start) * 1000
    assert answer.status == 200, body
    return took, json.loads(body)


def figures(times):
    return {"p50_ms": round(statistics.median(times), 1), "most_ms": round(max(times), 1)}


def fill(server, top, lists, entries):
    server.run("list", "add", "--create", "copy0", "host.example")
    for i in range(1, lists):
        shutil.copytree(f"{server.state}/lists/copy0", f"{server.state}/lists/copy{i}")
    values = pathlib.Path(top) / "values"
    values.write_text("".join(f"host{i}.example\n" for i in range(entries)))
    server.run("list", "import", "large", values)


def main(messages=100000, lists=1000, rules=1000, entries=1000000, runs=40):
    with tempfile.TemporaryDirectory(prefix="gillnet-bench-") as top:
        port = free_port()
        named = ",".join(f'{{ name = "number_{i}"; all = ( {{ text = "word{i}"; }} ); score = 1.0; }}' for i in range(rules))
        server = Server(top, "worth", f'api = {{ listen = [ "127.0.0.1:{port}" ]; tokens_file = "{top}/tokens"; }}; rules = ( {named} );')
        token = server.run("hub", "token", "bench", "admin").split()[-1]
        subprocess.run([f"{BUILD}/tests/bench/bench_message_tail", "--messages", str(messages), "--write", server.state], check=True)
        fill(server, top, lists, entries)
        begun = time.monotonic()
        server.hub()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            until(lambda: ask(connection, "rules?limit=1", token)[1]["counted"]["judged"] >= messages * 0.99, "the messages")
            counted = time.monotonic() - begun
            until(lambda: ask(connection, "lists?limit=1", token)[1]["total"] > lists, "the lists")
            times = {path: figures([ask(connection, path, token)[0] for _ in range(runs)]) for path in PATHS}
            last = ask(connection, PATHS[-1], token)[1]
        finally:
            server.kill()
    print(json.dumps({"bench": "worth_api", "messages": messages, "lists": lists, "rules": rules, "entries": entries, "runs": runs,
                      "machine": platform.processor() or platform.machine(), "build": str(BUILD), "counted_s": round(counted, 2),
                      "searched": last["searched"], "share": last["share"], "paths": times}))


main(*map(int, sys.argv[1:]))
