#!/usr/bin/env python3
"""Lists over a cluster of six nodes whose masters are killed while a replica is behind: what was lost is put in again.

Usage: test_failover.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import signal
import subprocess
import sys
import time
import unittest

from store_ring import Apart, add, listed, logs, store, until
from servers import ENV, REDIS, Folder
from test_cluster import Cluster


def wait_all(servers, host):
    for s in servers:
        until(lambda s=s: listed(s, host), f"{host} at {s.name}", log=logs(servers))


class Failover(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.folder.__enter__()
        self.addCleanup(self.folder.__exit__, None, None, None)
        self.cluster = Cluster(self.folder, 1500)

    def raw(self, node, *args):
        done = subprocess.run([REDIS / "bin/redis-cli", "-p", str(node.port), *args], env=ENV, capture_output=True, timeout=60)
        return done.stdout[:-1]

    def master_of(self, key):
        for n in self.cluster.nodes:
            if n.proc.poll() is None and "role:master" in n.command("INFO", "replication") and \
                    not n.command("EXISTS", key).startswith("MOVED"):
                return n
        return None

    def replica_of(self, master):
        return next(n for n in self.cluster.nodes if n.proc.poll() is None and
                    f"master_port:{master.port}" in n.command("INFO", "replication"))

    def last(self, node, key):
        return self.raw(node, "XREVRANGE", key, "+", "-", "COUNT", "1").split(b"\n")[0]

    def test_a_master_dies__its_replica_was_behind__what_it_lost_is_put_in_again(self):
        ring = Apart(store(*self.cluster.seeds, mode="cluster"), daemons=False)
        a, b, c = servers = ring.__enter__()
        self.addCleanup(ring.__exit__, None, None, None)
        for s in servers:
            add(s, f"{s.name}.example")
        for s in servers:
            wait_all(servers, f"{s.name}.example")
        prefix = f"g{{o:{a.origin()}}}"
        master = self.master_of(f"{prefix}heads")
        key = next(k for k in self.raw(master, "KEYS", f"{prefix}*").decode().split("\n")
                   if not k.endswith("heads") and ":" not in k.split("}")[1])
        replica = self.replica_of(master)
        until(lambda: self.cluster.is_synced(replica), "the replica")
        c.kill_hub()
        before = self.last(master, key)
        replica.stop()
        master.command("CLIENT", "KILL", "TYPE", "REPLICA")  # or it would find it in its socket
        add(a, "lost.example")
        until(lambda: self.last(master, key) != before, "it in the store", log=logs(servers))
        until(lambda: listed(b, "lost.example"), "it at beta", log=logs(servers))
        a.hub_proc.send_signal(signal.SIGSTOP)
        self.addCleanup(a.hub_proc.send_signal, signal.SIGCONT)
        master.kill()
        replica.go_on()
        until(lambda: self.master_of(f"{prefix}heads") is replica, "the failover")
        self.assertEqual(self.last(replica, key), before)  # it was lost
        c.hub()
        time.sleep(2)
        self.assertFalse(listed(c, "lost.example"))
        add(a, "behind.example")  # put in at once, by a server that does not know yet what was lost
        begun = time.monotonic()
        a.hub_proc.send_signal(signal.SIGCONT)
        wait_all(servers, "lost.example")
        wait_all(servers, "behind.example")
        print(f"put in again and in force {time.monotonic() - begun:.1f} s after its server went on", file=sys.stderr)
        # changes of all three while each other master dies
        for host in ("one.example", "two.example"):
            victim = next(n for n in self.cluster.nodes[:3] if n.proc.poll() is None)
            victim.kill()
            for s in servers:
                add(s, f"{s.name}-{host}")
            for s in servers:
                wait_all(servers, f"{s.name}-{host}")
            until(lambda: all("cluster_state:ok" in n.command("CLUSTER", "INFO")
                              for n in self.cluster.nodes if n.proc.poll() is None) and
                  sum("role:master" in n.command("INFO", "replication")
                      for n in self.cluster.nodes if n.proc.poll() is None) == 3, "the failover")  # else no majority is left


if __name__ == "__main__":
    unittest.main(verbosity=2)
