#!/usr/bin/env python3
"""The client of Redis Cluster: six nodes, a master that is killed, one that stands still, slots that move meanwhile.

Usage: test_cluster.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import collections
import re
import threading
import unittest

from servers import Folder, Talk, free_port, until

KEYS = [f"key:{i}" for i in range(60)]
SLOTS = 16384


class Cluster:
    """Three masters with a replica each. The port of the bus is chosen too: port + 10,000 may be taken."""

    def __init__(self, folder, timeout_ms):
        self.nodes = [folder.redis("cluster-enabled yes", f"cluster-node-timeout {timeout_ms}", f"cluster-port {free_port()}",
                                   "cluster-replica-validity-factor 0", "repl-ping-replica-period 1")
                      for _ in range(6)]
        for n in self.nodes:
            n.wait()
            n.bus = int(next(x for x in n.conf.read_text().split("\n") if x.startswith("cluster-port")).split()[1])
            n.id = n.command("CLUSTER", "MYID")
        first = self.nodes[0]
        for i, n in enumerate(self.nodes):
            if i < 3:
                n.command("CLUSTER", "ADDSLOTSRANGE", i * SLOTS // 3, (i + 1) * SLOTS // 3 - 1)
                n.command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            if n is not first:
                n.command("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus)
        for i in range(3, 6):
            until(lambda i=i: self.nodes[i].command("CLUSTER", "REPLICATE", self.nodes[i - 3].id) == "OK", "a replica")
        until(lambda: all(self.is_whole(n) for n in self.nodes), "the cluster")
        self.seeds = [f"127.0.0.1:{n.port}" for n in self.nodes[:2]]

    def is_whole(self, node):
        rows = node.command("CLUSTER", "NODES").split("\n")
        return ("cluster_state:ok" in node.command("CLUSTER", "INFO") and len(rows) == 6
                and sum(" connected" in r and "slave" in r for r in rows) == 3 and self.is_synced(node))

    @staticmethod
    def is_synced(node):
        info = node.command("INFO", "replication")
        return "role:master" in info or "master_link_status:up" in info


def total(talk, keys=KEYS):
    return {k: talk.call("repeat", k, "GET", k) for k in keys}


class Alive(unittest.TestCase):
    """One cluster for all: they leave it whole."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Folder().__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        cls.cluster = Cluster(cls.folder, 30000)  # nobody fails over

    def setUp(self):
        for n in self.cluster.nodes:
            n.command("FLUSHALL")

    def test_calls__keys_of_all_slots__each_is_at_its_master(self):
        c = self.cluster
        with Talk("kind=cluster", *c.seeds) as t:
            for number in [t.send("once", k, "SET", k, k) for k in KEYS]:
                self.assertEqual(t.answer(number), "ok 'OK'")
            self.assertEqual(t.call("once", "-", "PING"), "ok 'PONG'")
            self.assertEqual(t.call("once", "{t}a", "MSET", "{t}a", "1", "{t}b", "2"), "ok 'OK'")
            self.assertRegex(t.call("once", "a", "MSET", "a", "1", "b", "2"), "^ok !'CROSSSLOT ")
        self.assertEqual(sum(int(n.command("DBSIZE")) for n in c.nodes[:3]), len(KEYS) + 2)
        self.assertTrue(all(int(n.command("DBSIZE")) > 10 for n in c.nodes[:3]))

    def test_call_of_one_server__each_in_turn__it_alone_answers_and_refers_nobody(self):
        c = self.cluster
        with Talk("kind=cluster", *c.seeds) as t:
            t.call("once", "a", "SET", "a", "1")
            known = t.servers()
            masters = {f"127.0.0.1:{n.port}": n.id for n in c.nodes[:3]}
            self.assertEqual(known, dict.fromkeys(masters, ("master", "none")))
            for address, name in masters.items():
                self.assertEqual(t.call("once", f"@{address}", "CLUSTER", "MYID"), f"ok '{name}'")
            got = sorted(t.call("once", f"@{a}", "GET", "a") for a in masters)
            self.assertEqual(got[0][:11], "ok !'MOVED ")
            self.assertEqual(got[1][:11], "ok !'MOVED ")
            self.assertEqual(got[2], "ok '1'")
            self.assertRegex(t.call("once", f"@127.0.0.1:{c.nodes[3].port}", "PING"), "^refused|not found")

    def test_calls__a_server_of_another_kind__topology(self):
        single = self.folder.redis().wait()
        for words, want in ([f"127.0.0.1:{single.port}", "kind=cluster"], 'is not of the kind "cluster"'), \
                ([self.cluster.seeds[0], "kind=single"], 'is not of the kind "standalone"'):
            with Talk("deadline=1000", *words) as t:
                self.assertRegex(t.call("once", "k", "GET", "k"), f"^fault topology undone .*{want}")

    def test_calls__slots_move_meanwhile__each_is_done_once(self):
        c, tag = self.cluster, "key:1"
        slot = int(c.nodes[0].command("CLUSTER", "KEYSLOT", tag))
        masters = [n for n in c.nodes if "role:master" in n.command("INFO", "replication")]
        start = next(n for n in masters if not n.command("GET", tag).startswith("MOVED"))
        keys, counts, ends = [f"{{{tag}}}{i}" for i in range(200)], collections.Counter(), threading.Event()
        asked = 0
        for n in masters:
            n.command("CONFIG", "RESETSTAT")
        with Talk("kind=cluster", "deadline=60000", "answer=30000", *c.seeds) as t:
            def count():
                while not ends.is_set():
                    for number in [t.send("once", k, "INCR", k) for k in keys]:
                        answer = t.answer(number)
                        assert answer.startswith("ok "), answer
                    counts["rounds"] += 1

            counter = threading.Thread(target=count)
            counter.start()
            until(lambda: counts["rounds"] > 2, "counting")
            others = [n for n in masters if n is not start]
            for to, origin in (others[0], start), (others[1], others[0]), (start, others[1]):
                to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", origin.id)
                origin.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id)
                before = counts["rounds"]
                for i in range(0, 200, 20):  # some keys here, some there
                    origin.command("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys[i:i + 20])
                    until(lambda: counts["rounds"] > before, "a round amid the move")
                    before = counts["rounds"]
                asked += int(re.search(r"cmdstat_asking:calls=(\d+)", to.command("INFO", "commandstats")).group(1))
                for n in (to, origin, *masters):
                    n.command("CLUSTER", "SETSLOT", slot, "NODE", to.id)
                until(lambda: counts["rounds"] > before + 1, "a round after the move")
            ends.set()
            counter.join()
            self.assertEqual(set(total(t, keys).values()), {f"ok '{counts['rounds']}'"})
        self.assertGreater(asked, 200)


class Failover(unittest.TestCase):
    def test_calls__a_master_is_killed_then_one_hangs__repeated_ones_answered_others_never_done_twice(self):
        with Folder() as f:
            c = Cluster(f, 1500)
            with Talk("kind=cluster", "deadline=60000", "answer=1500", "connect=1500", *c.seeds) as t:
                self.kill_amid_counting(c, t)
                c.nodes[1].stop()
                numbers = [t.send("repeat", k, "SET", f"{{{k}}}set", "1") for k in KEYS]
                self.assertEqual({t.answer(n) for n in numbers}, {"ok 'OK'"})
                c.nodes[1].go_on()
                until(lambda: "role:slave" in c.nodes[1].command("INFO", "replication"), "it follows now")
                self.assertEqual({t.call("repeat", k, "GET", f"{{{k}}}set") for k in KEYS}, {"ok '1'"})

    def kill_amid_counting(self, c, t):
        sent = [(k, t.send("once", k, "INCR", k)) for _ in range(300) for k in KEYS]
        first, number = sent.pop(len(sent) // 2)
        self.assertRegex(t.answer(number), "^ok ")
        c.nodes[0].kill()
        sent += [(k, t.send("once", k, "INCR", k)) for k in KEYS]
        again = [t.send("repeat", k, "SET", f"{{{k}}}set", "0") for k in KEYS]
        done, unknown = collections.Counter([first]), collections.Counter()
        for k, number in sent:
            answer = t.answer(number)
            self.assertRegex(answer, "^(ok |fault (closed|timeout) done )")
            (done if answer.startswith("ok") else unknown)[k] += 1
        self.assertEqual({t.answer(n) for n in again}, {"ok 'OK'"})
        for k, got in total(t).items():  # the failover may lose some, and nothing is counted twice
            self.assertLessEqual(int(got.split("'")[1]), done[k] + unknown[k])
            self.assertGreater(int(got.split("'")[1]), 0)


if __name__ == "__main__":
    unittest.main()
