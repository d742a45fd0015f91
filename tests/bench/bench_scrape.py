#!/usr/bin/env python3
"""Time of GET /metrics: a hub with many lists and peers, beside gillnetd.

Usage: bench_scrape.py [LISTS [PEERS]]   (default 50 and 30). One JSON line. Each list holds 10,000 hosts; the other
members of the ring have joined and do not run. Timed: 300 scrapes, one after the other over one connection, first byte
asked to last byte read; in milliseconds. `changed`: the same while a list changes before each, so that its filters are
measured anew. GILLNET_BUILD: where the programs are.
"""
import http.client
import json
import os
import pathlib
import platform
import statistics
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "integ/peers")]
from ring import BUILD, Ring, free_port, until  # noqa: E402

ENTRIES, SCRAPES, CHANGES = 10000, 300, 50


def scrape(connection):
    start = time.perf_counter()
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    body = answer.read()
    took = (time.perf_counter() - start) * 1000
    assert answer.status == 200, body
    return took, body.decode()


def figures(times):
    return {"p50_ms": round(statistics.median(times), 2),
            "p99_ms": round(sorted(times)[int(len(times) * 0.99)], 2)}


def main(nlists=50, npeers=30):
    names = ["one", *(f"peer{i}" for i in range(npeers))]
    with Ring(*names, hubs=False) as (one, *_):
        port = free_port()
        one.conf.write_text(one.conf.read_text().replace(
            "listen = [];", f'listen = [ "127.0.0.1:{port}" ];'))
        for n in range(nlists):
            feed = one.top / "feed.txt"
            feed.write_text("".join(f"host{i}.list{n}.example\n" for i in range(ENTRIES)))
            one.run("list", "import", f"list{n}", feed)
        one.daemon()
        one.hub()
        connection = http.client.HTTPConnection("127.0.0.1", port)

        def is_whole():
            _, text = scrape(connection)
            return (text.count("gillnet_list_entries{") == nlists and
                    text.count("gillnet_peer_called{") == npeers)
        until(is_whole, "all lists and peers", log=one.logs)
        still = [scrape(connection) for _ in range(SCRAPES)]
        changed = []
        for i in range(CHANGES):
            one.run("list", "add", f"list{i % nlists}", f"new{i}.example")
            time.sleep(0.3)  # the hub looks four times a second
            changed.append(scrape(connection)[0])
        print(json.dumps({"bench": "scrape", "lists": nlists, "peers": npeers, "bytes": len(still[-1][1]),
                          **figures([t for t, _ in still]), "changed": figures(changed),
                          "build": os.path.basename(BUILD), "machine":
                          f"{platform.machine()} {os.cpu_count()} cpus, load {os.getloadavg()[0]:.1f}"}))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
