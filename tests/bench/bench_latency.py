#!/usr/bin/env python3
"""bench_latency - what gillnetd adds to one SMTP transaction through real Postfix.

    bench_latency.py [--messages N] [--rounds N]

Workload: one connection to Postfix, one message of 2 KB with five URLs a transaction, MAIL to the
reply to the end of DATA, timed by the client; Postfix relays to a sink. Five set-ups in turn,
round by round, so that noise falls on all alike: no milter; the do-nothing program over a Unix
socket (nr) and over inet (nrd and TCP_NODELAY); gillnetd over both, with a list of 100,000 URLs.
Prints one JSON line: p50 and p99 in ms of each, and what gillnetd adds at p50. Targets: 0.8 ms over
a Unix socket, 1.5 ms over inet. Needs root and build/release with tests/bench built.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "e2e"))

import gillnet  # noqa: E402
import message  # noqa: E402
import mta  # noqa: E402
import proc  # noqa: E402
from smtp import dot_stuff  # noqa: E402


def noop(kind):
    """Starts the do-nothing program; its socket."""
    if kind == "unix":
        path = os.path.join(proc.socket_folder(), "noop.sock")
        argv, env = ["local:" + path, "nr"], {}
    else:
        port = proc.free_port()
        argv, env = ["inet:%d@127.0.0.1" % port, "nrd"], {"NODELAY": "1"}
    proc.spawn([os.path.join(proc.BUILD, "tests", "bench", "noop"), *argv], env=env)
    if kind == "unix":
        proc.wait_for("noop", lambda: os.path.exists(path))
        os.chmod(path, 0o666)
        return "unix:" + path
    proc.wait_for("noop", lambda: proc.listens(port))
    return "inet:%d@127.0.0.1" % port


def body():
    lines = ["see http://www%d.unlisted.example/path/%d?x=%d for more of it" % (i, i, i)
             for i in range(5)]
    lines += ["the quick brown fox jumps over the lazy dog, line %d of this text" % i
              for i in range(25)]
    return "\r\n".join(lines) + "\r\n"


def transactions(client, stuffed, n):
    """Seconds that each of n transactions took."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        client.expect("MAIL FROM:<alice@sender.example>")
        client.expect("RCPT TO:<bob@rcpt.example>")
        client.expect("DATA", "354")
        client.sock.sendall(stuffed)
        reply = client.reply()
        times.append(time.perf_counter() - start)
        assert reply.startswith("250"), reply
    return times


def gillnetd(kind):
    g = gillnet.Gillnet(kind, lists=[("phish", 6.5, [])])
    urls = "".join("http://h%d.example/p/%d\n" % (i, i) for i in range(100000))
    g.cli("list", "import", "phish", "-", data=urls.encode())
    return g.start()


def measure(servers, rounds, per_round):
    stuffed = dot_stuff(message.build(body=body()))
    clients = {name: server.client() for name, server in servers.items()}
    for client in clients.values():
        transactions(client, stuffed, 20)
    times = {name: [] for name in servers}
    for _ in range(rounds):
        for name, client in clients.items():
            times[name] += transactions(client, stuffed, per_round)
    for client in clients.values():
        client.close()
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=2000, help="of each set-up")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    daemons = [gillnetd("unix"), gillnetd("inet")]
    sockets = {"none": None, "noop_unix": noop("unix"), "noop_inet": noop("inet"),
               "gillnetd_unix": daemons[0].socket, "gillnetd_inet": daemons[1].socket}
    servers = {name: mta.Postfix(milter=socket) for name, socket in sockets.items()}
    for server in servers.values():
        server.start()
    times = measure(servers, arguments.rounds, max(1, arguments.messages // arguments.rounds))
    for server in servers.values():
        server.stop()
    for daemon in daemons:
        daemon.stop()
    p50 = {name: statistics.median(t) * 1000 for name, t in times.items()}
    p99 = {name: statistics.quantiles(t, n=100)[98] * 1000 for name, t in times.items()}
    print(json.dumps({
        "bench": "latency", "messages": len(times["none"]), "bytes": len(body()),
        "p50_ms": {name: round(v, 3) for name, v in p50.items()},
        "p99_ms": {name: round(v, 3) for name, v in p99.items()},
        "added_unix_ms": round(p50["gillnetd_unix"] - p50["none"], 3),
        "added_inet_ms": round(p50["gillnetd_inet"] - p50["none"], 3),
        "machine": platform.machine(), "cpus": os.cpu_count(), "build": os.path.basename(proc.BUILD)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
