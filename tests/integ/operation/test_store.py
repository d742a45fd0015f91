#!/usr/bin/env python3
"""What an administrator is told of the store: gillnet store status, doctor; with real servers of Redis.

Usage: test_store.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import contextlib
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "redis"), str(HERE.parent / "peers")]
from servers import Folder  # noqa: E402
from ring import Ring, until  # noqa: E402
from test_cluster import Cluster  # noqa: E402
from test_sentinel import Group  # noqa: E402

ROOT = HERE.parents[2]
WELL = ("maxmemory 512mb", "appendonly yes", "appendfsync no")


def config(*servers, mode="single", more=""):
    names = ", ".join(f'"127.0.0.1:{s.port}"' for s in servers)
    return f'store = {{ kind = "redis"; mode = "{mode}"; servers = [ {names} ]; {more} }};\n'


@contextlib.contextmanager
def alone(text):
    """A ring of kind own of one server with this configuration."""
    with Ring("alpha", kind="own", config={"alpha": text}) as (s,):
        yield s


def acl_of_manual():
    """The words behind ACL SETUSER for a server of data."""
    page = (ROOT / "contrib/man/gillnet-store.7").read_text()
    return re.search(r"^ACL SETUSER (.*?)\n\.Ed", page, re.M | re.S).group(1).replace("\\e\n", " ").split()


def store(s):
    return s.json("store", "status", rc=None)[0]


def wait(s, state):
    return until(lambda: (got := store(s))["state"] == state and got, f"state {state}",
                 log=lambda: f"{store(s)}\n{s.logs()}")


def wait_known(s):
    """Until each server has told of itself."""
    return until(lambda: (got := store(s)) and got["servers"] and all(x["version"] for x in got["servers"]) and got,
                 "INFO", log=lambda: f"{store(s)}\n{s.logs()}")


def findings(s):
    return [(r["status"], r["detail"]) for r in s.json("doctor", rc=None) if r["check"] == "store"]


class Status(unittest.TestCase):
    def test_a_server__up_killed_and_back__each_state_with_what_to_do(self):
        with Folder() as f:
            r = f.redis(*WELL).wait()
            with alone(config(r)) as s:
                wait(s, "up")
                got = wait_known(s)
                row = got["servers"][0]
                self.assertEqual((row["role"], row["product"], row["version"][:2], row["fault"]),
                                 ("master", "redis", "7.", "none"))
                self.assertEqual((row["policy"], row["persistent"], row["can_write"], row["denied"]),
                                 ("noeviction", True, True, ""))
                self.assertEqual((got["memory"]["limit"], row["listpack_entries"]), (512 << 20, 512))
                self.assertLess(abs(row["clock_ms"]), 2000)
                self.assertGreater(got["bytes_in"], 3000)  # INFO alone has more
                self.assertGreater(got["bytes_out"], 200)
                self.assertNotIn("to do", s.run("store", "status"))
                self.assertEqual([level for level, _ in findings(s)], ["ok"])
                self.assertRegex(findings(s)[0][1], r"up; single, 1 master of redis 7\S+; .* of 537 MB")
                r.kill()
                wait(s, "down")
                said = s.run("store", "status", rc=1)
                self.assertRegex(said, "store: +down; single, 1 master")
                self.assertRegex(said, r"(?s)to do:.*verdicts rest on the counts of this host.*does not answer: .*\(connect\)")
                self.assertEqual({level for level, _ in findings(s)}, {"warn"})
                self.assertTrue(s.hub_lines("event=store state=down"))
                r.start()
                wait(s, "up")
                s.run("store", "status", rc=0)

    def test_no_use__the_reason_is_said(self):
        with Folder() as f:
            r = f.redis(*WELL).wait()
            with Ring("alpha", kind="federation", config={"alpha": config(r)}) as (s,):
                until(lambda: "store" in s.control("store"), "the hub")
                self.assertEqual(store(s)["state"], "no_ring")
                self.assertIn("gillnet peer ring create --kind own", s.run("store", "status", rc=1))
                self.assertEqual(findings(s)[0][0], "fail")
                s.stop()
                self.assertIn("does not run", s.run("store", "status", rc=69))
                self.assertIn("does not run", findings(s)[0][1])
            with alone("") as s:
                self.assertIn("store.kind is off", s.run("store", "status", rc=69))
                self.assertEqual(findings(s), [])


class Many(unittest.TestCase):
    def roles(self, s):
        return {x["address"].split(":")[1]: (x["role"], x["fault"]) for x in store(s)["servers"]}

    def test_a_cluster__each_master_with_its_replicas__and_one_that_dies(self):
        with Folder() as f:
            c = Cluster(f, 2000)
            for n in c.nodes:
                n.command("CONFIG", "SET", "maxmemory", 1 << 28)
                n.command("CONFIG", "SET", "appendonly", "yes")
            with alone(config(*c.nodes[:2], mode="cluster")) as s:
                wait(s, "up")
                got = wait_known(s)
                want = {str(n.port): ("master", "none") for n in c.nodes[:3]}
                self.assertEqual(self.roles(s), want)
                self.assertEqual([x["replicas"] for x in got["servers"]], [1, 1, 1])
                self.assertEqual(got["memory"]["limit"], 3 << 28)
                self.assertEqual([level for level, _ in findings(s)], ["ok"], findings(s))
                c.nodes[3].kill()  # the replica of the first
                until(lambda: "slave0" not in c.nodes[0].command("INFO", "replication"), "the replica is gone")
                s.control("store-look")
                until(lambda: "is a master without a replica" in str(findings(s)), "a missing replica", log=s.logs)
                c.nodes[2].kill()  # its replica takes over
                wait(s, "partly")
                self.assertIn("some masters of the store do not answer", s.run("store", "status", rc=1))
                wait(s, "up")
                roles = until(lambda: (r := self.roles(s)) and len(r) == 3 and r, "the new master")
                self.assertEqual(roles[str(c.nodes[5].port)], ("master", "none"))

    def test_sentinel__the_master_and_those_who_watch_it(self):
        with Folder() as f:
            g = Group(f)
            words = dict(w.split("=") for w in g.words if "=" in w)
            more = f'master = "mail"; password_file = "{words["password"]}"; sentinel_password_file = "{words["sentinel_password"]}";'
            with alone(config(*g.watch, mode="sentinel", more=more)) as s:
                wait(s, "up")
                wait_known(s)
                self.assertEqual(self.roles(s), {str(g.data[0].port): ("master", "none"),
                                                 **{str(w.port): ("sentinel", "none") for w in g.watch}})
                g.data[0].kill()
                wait(s, "down")
                wait(s, "up")
                until(lambda: self.roles(s).get(str(g.data[1].port)) == ("master", "none"), "the next master")
                until(lambda: str(g.data[0].port) not in self.roles(s), "the former one is forgotten")


class Doctor(unittest.TestCase):
    def test_a_server_set_up_badly__each_fault_with_its_remedy(self):
        with Folder() as f:
            r = f.redis("maxmemory 3mb", "maxmemory-policy allkeys-lru", "hash-max-listpack-entries 128").wait()
            with alone(config(r)) as s:
                wait_known(s)
                said = "\n".join(f"{level} {text}" for level, text in findings(s))
                self.assertRegex(said, "fail .* maxmemory-policy allkeys-lru: it throws counts away")
                self.assertRegex(said, "warn .* keeps nothing over a restart")
                self.assertRegex(said, "warn .* packs hashes of at most 128 fields")
                self.assertNotIn("replica", said)  # one server cannot have any
            bare = f.redis("save 3600 1").wait()
            with alone(config(bare)) as s:
                wait_known(s)
                said = "\n".join(f"{level} {text}" for level, text in findings(s))
                self.assertRegex(said, "warn .* has no maxmemory")
                self.assertNotIn("keeps nothing", said)  # snapshots do

    def test_memory__nearly_full_then_full__it_is_said_and_the_state_is_full(self):
        with Folder() as f:
            r = f.redis(*WELL).wait()
            used = int(next(x for x in r.command("INFO", "memory").split("\n") if x.startswith("used_memory:")).split(":")[1])
            r.command("SET", "ballast", "x" * 100000)
            r.command("CONFIG", "SET", "maxmemory", int((used + 200000) * 1.05))
            with alone(config(r)) as s:
                wait_known(s)
                self.assertIn("in use: when it is full", str(findings(s)))
                r.command("CONFIG", "SET", "maxmemory", used // 2)
                s.control("store-look")
                wait(s, "full")
                self.assertIn("takes no writes", s.run("store", "status", rc=1))

    def test_the_user_of_the_manual__may_do_all_and_nothing_else(self):
        words = acl_of_manual()
        tried = re.findall(r'^SHARED_TRIAL\("(\w+)"', (ROOT / "core/hub/shared/shared_trial.def").read_text(), re.M)
        with Folder() as f:
            r = f.redis(*WELL).wait()
            text = config(r, more=f'user = "gillnet"; password_file = "{f.secret("word", "PASSWORD")}";')
            self.assertEqual(r.command("ACL", "SETUSER", *words), "OK")
            with alone(text) as s:
                wait(s, "up")
                got = wait_known(s)["servers"][0]
                self.assertEqual((got["denied"], got["listpack_entries"], got["persistent"]), ("", 512, True))
                self.assertEqual([level for level, _ in findings(s)], ["ok"])
                for name in tried:
                    r.command("ACL", "SETUSER", "gillnet", f"-{name.lower()}")
                    s.control("store-look")
                    until(lambda n=name.lower(): f"'{n}'" in store(s)["servers"][0]["denied"], name, log=lambda: store(s))
                    r.command("ACL", "SETUSER", "gillnet", f"+{name.lower()}")
                s.control("store-look")
                until(lambda: store(s)["servers"][0]["denied"] == "" and r.command("KEYS", "*watch") == "", "no trace")

    def test_a_user_without_rights__the_command_is_named(self):
        with Folder() as f:
            r = f.redis(*WELL).wait()
            r.command("ACL", "SETUSER", "net", "on", ">word", "~g{*", "+@all", "-xadd")
            text = config(r, more=f'user = "net"; password_file = "{f.secret("word", "word")}";')
            with alone(text) as s:
                got = until(lambda: (x := wait_known(s))["servers"][0]["denied"] and x, "a right that is missing", log=s.logs)
                self.assertIn("xadd", got["servers"][0]["denied"])
                self.assertRegex(str(findings(s)), "fail.*refuses a command: NOPERM.*xadd")
                r.command("ACL", "SETUSER", "net", "+xadd", "resetkeys", "~other*")
                s.control("store-look")
                until(lambda: "key" in store(s)["servers"][0]["denied"], "a key that is not its own", log=s.logs)
            wrong = config(r, more=f'user = "net"; password_file = "{f.secret("bad", "no")}";')
            with alone(wrong) as s:
                wait(s, "down")
                self.assertRegex(str(findings(s)), r"does not answer: .*WRONGPASS.*\(login\)")


if __name__ == "__main__":
    unittest.main()
