#!/usr/bin/env python3
"""The client of Redis behind three Sentinels: finds the master, and the next one when it dies with a Sentinel.

Usage: test_sentinel.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import unittest

from servers import Folder, Talk, until


class Group:
    """A master, a replica, three Sentinels; each server asks for the word of its kind."""

    def __init__(self, folder):
        auth = ["requirepass data", "masterauth data"]
        cli = ["-a", "data", "--no-auth-warning"]
        self.data = [folder.redis(*auth, cli=cli)]
        self.data.append(folder.redis(*auth, f"replicaof 127.0.0.1 {self.data[0].port}", cli=cli))
        for s in self.data:
            s.wait()
        until(lambda: "state=online" in self.data[0].command("INFO", "replication"), "the replica")
        self.watch = [folder.redis("requirepass watch", f"sentinel monitor mail 127.0.0.1 {self.data[0].port} 2",
                                   "sentinel auth-pass mail data", "sentinel down-after-milliseconds mail 1000",
                                   "sentinel failover-timeout mail 3000", sentinel=True,
                                   cli=["-a", "watch", "--no-auth-warning"]) for _ in range(3)]
        for s in self.watch:
            s.wait()
            until(lambda s=s: "num-other-sentinels\n2\n" in s.command("SENTINEL", "MASTER", "mail")
                  and "num-slaves\n1\n" in s.command("SENTINEL", "MASTER", "mail"), "the Sentinels")
        self.words = ["kind=sentinel", "master=mail", "deadline=30000", f"password={folder.secret('data', 'data')}",
                      f"sentinel_password={folder.secret('watch', 'watch')}",
                      *[f"127.0.0.1:{s.port}" for s in self.watch]]


class Switches(unittest.TestCase):
    def test_master__killed_with_a_sentinel__calls_wait_and_go_to_the_next(self):
        with Folder() as f:
            g = Group(f)
            with Talk(*g.words) as t:
                self.assertEqual(t.call("once", "n", "SET", "n", "1"), "ok 'OK'")
                self.assertEqual(g.data[0].command("GET", "n"), "1")
                until(lambda: g.data[1].command("GET", "n") == "1", "the replica has it")
                want = {f"127.0.0.1:{s.port}": ("sentinel", "none") for s in g.watch}
                master = f"127.0.0.1:{g.data[0].port}"
                for address in [*want, master]:
                    self.assertEqual(t.call("once", f"@{address}", "PING"), "ok 'PONG'")
                self.assertEqual(t.servers(), {**want, master: ("master", "none")})
                g.watch[0].kill()  # the first in the list
                g.data[0].kill()
                self.assertEqual(t.call("repeat", "m", "SET", "m", "2"), "ok 'OK'")
                self.assertEqual(t.call("once", "n", "INCR", "n"), "ok 2")
                self.assertEqual(g.data[1].command("GET", "n"), "2")
                until(lambda: master not in t.servers(), "the former master is forgotten")
                self.assertEqual(t.servers()[f"127.0.0.1:{g.data[1].port}"], ("master", "none"))

    def test_call__a_name_that_no_sentinel_knows__topology(self):
        with Folder() as f:
            s = f.redis("sentinel monitor mail 127.0.0.1 1 1", sentinel=True).wait()
            shut = f.redis("requirepass word", sentinel=True, cli=["-a", "word", "--no-auth-warning"]).wait()
            for to, name, want in (s, "post", 'topology undone .* knows no master "post"'), \
                    (s, "mail", "connect undone 127.0.0.1:1: "), (shut, "mail", "login undone .*NOAUTH"):
                with Talk("kind=sentinel", f"master={name}", "deadline=800", f"127.0.0.1:{to.port}") as t:
                    self.assertRegex(t.call("once", "k", "GET", "k"), f"^fault {want}")


if __name__ == "__main__":
    unittest.main()
