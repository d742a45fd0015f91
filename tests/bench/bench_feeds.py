#!/usr/bin/env python3
"""How soon an entry of a feed is found after its download, and the memory of the hub, over many small updates.

Usage: bench_feeds.py [UPDATES]     prints one JSON line; GILLNET_BUILD names the build folder. A feed of 20,000 names, asked
every second, gains one name and loses one each time. Timed: from the last byte that the server sent to the first
`gillnet lookup` that finds the new name (each costs some ms itself).
"""
import json
import pathlib
import re
import statistics
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "integ" / "feeds")]
import test_fetch  # noqa: E402
from ring import until  # noqa: E402


class Bench(test_fetch.Feeds):
    def runTest(self):
        pass

    def memory(self, what="VmRSS"):
        text = pathlib.Path(f"/proc/{self.s.hub_proc.pid}/status").read_text()
        return int(re.search(rf"^{what}:\s+(\d+) kB", text, re.M).group(1)) / 1024

    def run_updates(self, n):
        names = [f"bad{i}.example\n" for i in range(20000)]
        sent = {}

        def serve(name, body):
            def page(h):
                h.say(200, body)
                sent.setdefault(name, time.monotonic())
            self.site.pages["/feed.txt"] = page

        self.feed("f", interval="1s", keep="0s")
        serve("first", "".join(names).encode())
        self.hub()
        until(lambda: self.row()["entries"] == len(names), "the first", log=self.s.logs)
        took, memory = [], []
        for i in range(n):
            names[i] = name = f"fresh{i}.example\n"
            serve(name, "".join(names).encode())
            until(lambda: name in sent, "the download", step=0.01, log=self.s.logs)
            until(lambda: self.is_listed(name.strip()), "the entry", step=0.01, log=self.s.logs)
            took.append(time.monotonic() - sent[name])
            memory.append(self.memory())
        tenth = max(1, n // 10)
        return {"bench": "feeds", "updates": n, "entries": len(names), "median_s": round(statistics.median(took), 3),
                "max_s": round(max(took), 3), "memory_first_mib": round(max(memory[tenth:2 * tenth] or memory), 1),
                "memory_last_mib": round(max(memory[-tenth:]), 1), "memory_most_mib": round(self.memory("VmHWM"), 1)}


if __name__ == "__main__":
    bench = Bench()
    bench.setUp()
    try:
        print(json.dumps(bench.run_updates(int(sys.argv[1]) if len(sys.argv) > 1 else 120)))
    finally:
        bench.tearDown()
