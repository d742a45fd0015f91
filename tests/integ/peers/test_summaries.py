#!/usr/bin/env python3
"""What servers of one owner tell each other of themselves: real hubs and gillnetd over TLS, real mail, the API.

Usage: test_summaries.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import json
import unittest
import urllib.error
import urllib.request

from ring import Ring, free_port, until
from mta import Mta

PERIODS = {"day": (145, 600), "week": (169, 3600), "month": (745, 3600), "year": (367, 86400), "years": (733, 86400)}
LISTS = 'lists = ( { name = "bad"; category = "phish"; weight = 20.0; } ); thresholds = { header = 5.0; reject = 10.0; };\n'


def send(server, n, url="http://www.example.org/"):
    m = Mta(f"unix:{server.top}/{server.name}.sock")
    m.hello()
    for i in range(n):
        m.message((("Subject", "Hello"), ("From", f"a{i}@sender.example")), f"See {url} please.\r\n".encode())
    m.quit()


class Summaries(unittest.TestCase):
    def ring(self, *names, kind="own"):
        self.ports = {n: free_port() for n in names}
        ring = Ring(*names, kind=kind,
                    config={n: f'{LISTS}api = {{ listen = [ "127.0.0.1:{p}" ]; }};' for n, p in self.ports.items()})
        servers = ring.__enter__()
        self.addCleanup(ring.__exit__, None, None, None)
        for s in servers:
            s.run("list", "add", "--create", "bad", "--type", "url_host", "evil.example")
            s.daemon()
        until(lambda: all(len(s.connected()) == len(names) - 1 for s in servers), "all", log=servers[0].logs)
        return servers

    def get(self, server, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[server.name]}{path}", timeout=30) as r:
            return json.load(r)

    def servers(self, server):
        return {r["name"]: r for r in self.get(server, "/v1/servers")["servers"]}

    def today(self, server):
        """Messages today by server, as this one has it."""
        return {n: (r["headline"] or {"today": {"messages": None}})["today"]["messages"]
                for n, r in self.servers(server).items()}

    def are_well(self, server):
        """A summary may still have the state of the second before its mail."""
        return {r["headline"]["state"] for r in self.servers(server).values()} == {"well"}

    def again(self, server):
        """A hub publishes at its start, and then each minute."""
        server.kill_hub()
        server.hub()

    def test_three_servers__each_has_the_mail_of_all_and_the_totals(self):
        a, b, c = self.ring("alpha", "beta", "gamma")
        send(a, 3)
        send(b, 5)
        send(b, 2, "http://evil.example/x")
        send(c, 1)
        for s in (a, b, c):
            self.again(s)
        want = {"alpha": 3, "beta": 7, "gamma": 1}
        for s in (a, b, c):
            until(lambda s=s: self.today(s) == want and self.are_well(s), f"the mail of all at {s.name}",
                  log=lambda s=s: f"{self.servers(s)}\n{s.logs()}")
        found = self.get(a, "/v1/servers")
        self.assertEqual((found["total"]["messages"], found["total"]["reject"], found["missing"]), (11, 2, []))
        rows = found["servers"]
        self.assertEqual(([r["name"] for r in rows][0], [r["self"] for r in rows]), ("alpha", [True, False, False]))
        self.assertEqual({r["summary"] for r in rows}, {"current"})
        self.assertEqual(self.servers(a)["beta"]["headline"]["refused"], 2)
        self.assertEqual(self.servers(a)["beta"]["headline"]["version"], self.get(b, "/v1/now")["version"])
        for period, (n, bucket_s) in PERIODS.items():
            for server, messages, reject in ("all", 11, 2), ("beta", 7, 2), ("alpha", 3, 0):
                h = self.get(a, f"/v1/history?period={period}&server={server}")
                self.assertEqual((len(h["buckets"]), h["bucket_s"], h["missing"]), (n, bucket_s, []))
                self.assertEqual(sum(r["messages"] for r in h["buckets"]), messages, (period, server))
                self.assertEqual(sum(r["reject"] for r in h["buckets"]), reject, (period, server))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get(a, "/v1/history?period=week&server=nobody")
        self.assertEqual(refused.exception.code, 404)
        # the command says the same, also while no hub runs
        for hub in (True, False):
            if not hub:
                a.kill_hub()
            lines = a.json("stat", "--server", "all")
            self.assertEqual({r["name"]: r["headline"]["today"]["messages"] for r in lines if r["type"] == "server"}, want)
            self.assertEqual([r["today"]["messages"] for r in lines if r["type"] == "total"], [11])
            buckets = a.json("stat", "--history", "month", "--server", "all")
            self.assertEqual((len(buckets), sum(r["messages"] for r in buckets)), (745, 11))
        self.assertRegex(a.run("stat", "--server", "beta"), r"\Abeta: well, 0 needs; 7 messages today, 2 refused, 0 marked; gillnet ")
        self.assertIn("no server of this owner has the name nobody", a.run("stat", "--server", "nobody", rc=66))
        self.assertIn("all current servers: 11 messages today", a.run("stat", "--server", "all"))
        self.assertRegex(a.run("stat", "--history", "week", "--server", "all"), r"\A2\S+ \d+ messages")
        a.hub()
        # a server whose gillnetd ended says so
        b.daemon_proc.kill()
        b.daemon_proc.wait()
        b.daemon_proc = None
        until(lambda: self.servers(a)["beta"]["headline"]["state"] == "down", "beta's end at alpha", log=b.logs)
        # one that is dropped is gone
        a.run("peer", "drop", "gamma")
        until(lambda: set(self.servers(a)) == {"alpha", "beta"}, "gamma's end", log=a.logs)

    def test_federation__nothing_is_told(self):
        a, b = self.ring("alpha", "beta", kind="federation")
        send(b, 2)
        self.again(b)
        until(lambda: self.today(b) == {"beta": 2} and b.hub_lines("event=publish state=begins"), "its own mail", log=b.logs)
        until(lambda: a.connected() == {"beta"}, "beta", log=a.logs)
        self.assertEqual(set(self.servers(a)), {"alpha"})
        self.assertEqual([p for s in (a, b) for p in s.state.rglob("gillnet-summary*")], [])


if __name__ == "__main__":
    unittest.main()
