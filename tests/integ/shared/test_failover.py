#!/usr/bin/env python3
"""Counts of real hubs in a real cluster of six nodes: masters that are killed while their replica lags, one that stands
still, slots that move, a network that is cut.

Usage: test_failover.py [TEST...]      ends like unittest. GILLNET_ROUNDS: kills, 3 without it; GILLNET_CUT_S: seconds
of the cut. Needs contrib/install-deps test.
"""
import os
import random
import socket
import sys
import threading
import time
import unittest

from store import CELLS, Client, Feeder, Folder, Ring, config, differences, free_port, until
from test_cluster import Cluster

KILLS = int(os.environ.get("GILLNET_ROUNDS", 3))
CUT_S = int(os.environ.get("GILLNET_CUT_S", 6))
SEED = int(os.environ.get("GILLNET_SEED", random.SystemRandom().randrange(1 << 32)))
HEAL_S = 10  # after which all is exact again


class Counting:
    """Counts all the time, until it is stopped."""

    def __init__(self, feeders):
        self.feeders, self.ends = feeders, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends.wait(0.1):
            for f in self.feeders:
                f.count(60)

    def stop(self):
        self.ends.set()
        self.thread.join()


class Proxy:
    """Connections to a server that can be cut: bytes wait, nothing is closed."""

    def __init__(self, port):
        self.port, self.to, self.is_cut = free_port(), port, False
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                one = self.listener.accept()[0]
            except OSError:
                return
            other = socket.create_connection(("127.0.0.1", self.to))
            for a, b in ((one, other), (other, one)):
                threading.Thread(target=self.forward, args=(a, b), daemon=True).start()

    def forward(self, a, b):
        try:
            while got := a.recv(65536):
                while self.is_cut:
                    time.sleep(0.05)
                b.sendall(got)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def hubs(test, names, store):
    ring = Ring(*names, kind="own", config={n: store(n) for n in names})
    servers = ring.__enter__()
    test.addCleanup(ring.__exit__, None, None, None)
    feeders = [Feeder(s.state, s.name) for s in servers]
    for f in feeders:
        test.addCleanup(f.close)
    return servers, feeders


class InCluster(unittest.TestCase):
    def setUp(self):
        self.folder = Folder().__enter__()
        self.addCleanup(self.folder.__exit__)
        self.cluster = Cluster(self.folder, 1500)
        self.servers, self.feeders = hubs(self, ["alpha", "beta"], lambda _: config(self.cluster.seeds, "cluster"))
        self.counting = Counting(self.feeders)
        self.addCleanup(lambda: self.counting.stop())

    def masters(self):
        return [n for n in self.cluster.nodes
                if n.proc.poll() is None and "role:master" in n.command("INFO", "replication")]

    def exact(self, what, seconds=HEAL_S):
        """All is in the store so many seconds after the counting stopped."""
        self.counting.stop()
        begun = time.monotonic()
        ports = [n.port for n in self.masters()]
        until(lambda: differences(self.feeders, ports) == (0, 0), f"exact counts after {what}", seconds=seconds, step=0.3,
              log=lambda: f"{differences(self.feeders, ports)} {self.servers[0].logs()}")
        return time.monotonic() - begun

    def go_on(self):
        self.counting = Counting(self.feeders)

    def kill(self, master, lags):
        replica = next(n for n in self.cluster.nodes if n.proc.poll() is None and n is not master and
                       f"master_port:{master.port}" in n.command("INFO", "replication"))
        if lags:  # what the master acknowledges from here on is lost
            replica.stop()
            master.command("CLIENT", "KILL", "TYPE", "replica")
            time.sleep(1.5)
        master.kill()
        if lags:
            time.sleep(0.3)
            replica.go_on()
        until(lambda: "role:master" in replica.command("INFO", "replication"), "the replica takes over")
        until(lambda: all("cluster_state:ok" in n.command("CLUSTER", "INFO") for n in self.cluster.nodes
                          if n is not master), "the cluster")
        return replica

    def revive(self, node):
        node.start()
        node.wait()
        until(lambda: self.cluster.is_synced(node) and "role:slave" in node.command("INFO", "replication"), "a replica")
        until(lambda: all(self.cluster.is_whole(n) for n in self.cluster.nodes), "the whole cluster")

    def test_masters_are_killed__half_with_a_replica_that_lags__exact_ten_seconds_later(self):
        dice = random.Random(SEED)
        slowest = lost = lines = 0
        for i in range(KILLS):
            time.sleep(1 + dice.random())
            master = dice.choice(self.masters())
            self.kill(master, lags=i % 2 == 0)
            time.sleep(dice.random())
            slowest = max(slowest, self.exact(f"kill {i} (GILLNET_SEED={SEED})"))
            self.go_on()
            self.revive(master)
            lost += len(sum((s.hub_lines("state=again") for s in self.servers), [])) > lines
            lines = len(sum((s.hub_lines("state=again") for s in self.servers), []))
            if i % 10 == 9:
                print(f"{i + 1} kills, {lost} lost batches, slowest {slowest:.1f} s", file=sys.stderr, flush=True)
        self.assertGreater(lost, KILLS // 4)
        print(f"{KILLS} kills, {lost} of them lost batches, increments {sum(sum(f.truth.values()) for f in self.feeders)}, exact after at most "
              f"{slowest:.1f} s", file=sys.stderr)

    def test_a_master_stands_still__exact(self):
        time.sleep(2)
        master = self.masters()[0]
        master.stop()
        time.sleep(4)
        master.go_on()
        until(lambda: all(self.cluster.is_whole(n) for n in self.cluster.nodes), "the whole cluster")
        self.exact("a master that stood still")

    def move(self, slot, origin, to, others):
        with Client(origin.port) as a, Client(to.port) as b:
            b.call("CLUSTER", "SETSLOT", slot, "IMPORTING", origin.id)
            a.call("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id)
            while keys := a.call("CLUSTER", "GETKEYSINSLOT", slot, 1):
                a.call("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys)
                time.sleep(0.4)  # batches come meanwhile
            for n in (to, origin, *others):
                n.command("CLUSTER", "SETSLOT", slot, "NODE", to.id)

    def test_slots_move_while_it_counts__exact(self):
        time.sleep(7)  # buckets and days are open
        masters = self.masters()
        moved = 0
        for cell in range(0, CELLS, CELLS // 8):
            slot = int(masters[0].command("CLUSTER", "KEYSLOT", "g{%02x}" % cell))
            origin = next(n for n in masters if n.command("CLUSTER", "COUNTKEYSINSLOT", slot) != "0")
            to = next(n for n in masters if n is not origin)
            self.move(slot, origin, to, masters)
            moved += int(to.command("CLUSTER", "COUNTKEYSINSLOT", slot))
        self.assertGreaterEqual(moved, 3 * 8)
        self.exact("moves of slots")


class Cut(unittest.TestCase):
    def test_one_hub_is_cut_off__exact_ten_seconds_after(self):
        with Folder() as folder:
            redis = folder.redis().wait()
            proxy = Proxy(redis.port)
            ports = {"alpha": redis.port, "beta": proxy.port}
            servers, feeders = hubs(self, list(ports), lambda n: config([f"127.0.0.1:{ports[n]}"]))
            counting = Counting(feeders)
            time.sleep(3)
            proxy.is_cut = True
            time.sleep(CUT_S)
            until(lambda: servers[1].hub_lines("state=waiting"), "it says so", log=servers[1].logs)
            proxy.is_cut = False
            counting.stop()
            until(lambda: differences(feeders, [redis.port]) == (0, 0), "the same counts", seconds=HEAL_S, step=0.3,
                  log=lambda: str(differences(feeders, [redis.port])))
            proxy.listener.close()


if __name__ == "__main__":
    unittest.main()
