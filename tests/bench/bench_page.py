#!/usr/bin/env python3
"""The page in Chromium beside a real hub with many messages and lists.

Usage: bench_page.py [MESSAGES [LISTS [ROUNDS]]]   (default 100000, 256 - all that a configuration may name - and 15). One JSON line: median of the first paint,
and for each view the script and the main thread's work of a refresh, by the browser's own measure. The journal is written by
bench_message_tail --write; the lists hold one entry each. Needs contrib/fetch-browser. GILLNET_BUILD: where the programs are.
"""
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/integ/peers")]
from ring import BUILD, Server, free_port  # noqa: E402


def main(messages=100000, lists=256, rounds=15):
    with tempfile.TemporaryDirectory(prefix="gillnet-bench-") as top:
        port = free_port()
        names = ",".join(f'{{ name = "list{i:03}"; }}' for i in range(lists))
        server = Server(top, "page", f'''journal = {{ messages = {messages}; }}; lists = ( {names} );
            api = {{ listen = [ "127.0.0.1:{port}" ]; tokens_file = "{top}/tokens"; }};''')
        token = server.run("hub", "token", "bench", "admin").split()[-1]
        subprocess.run([f"{BUILD}/tests/bench/bench_message_tail", "--messages", str(messages), "--write", server.state], check=True)
        for i in range(lists):
            server.run("list", "add", f"list{i:03}", f"host{i}.example")
        server.hub()
        try:
            env = dict(os.environ, GILLNET_BROWSER=os.environ.get("GILLNET_BROWSER", str(ROOT / "build/browser")), GILLNET_TOKEN=token)
            p = subprocess.run(["node", pathlib.Path(__file__).with_suffix(".mjs"), f"http://127.0.0.1:{port}/", str(rounds)],
                               env=env, check=True, capture_output=True, text=True)
        finally:
            server.kill()
    print(json.dumps({"bench": "page", "messages": messages, "lists": lists, "rounds": rounds,
                      "machine": platform.processor() or platform.machine(), "build": str(BUILD), **json.loads(p.stdout)}))


main(*map(int, sys.argv[1:]))
