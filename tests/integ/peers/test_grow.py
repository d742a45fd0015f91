#!/usr/bin/env python3
"""How a ring grows: later members, their inviters, and members that hub.connect names before they exist.

Usage: test_grow.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import unittest

from ring import Ring, Server, invite, until


def all_meet(servers):
    names = {s.name for s in servers}
    for s in servers:
        until(lambda: s.connected() == names - {s.name}, f"{s.name} with all others",
              log=lambda: "".join(x.logs() for x in servers))


class Grow(unittest.TestCase):
    def test_invited_later_by_any__then_everyone_finds_everyone(self):
        """No command but the two on each side, with both inviters: alpha, and beta, which is an administrator too."""
        with Ring("alpha", hubs=False) as (a,):
            others = [Server(a.top, name) for name in ("beta", "gamma", "delta")]
            b, c, d = others
            try:
                a.hub()
                invite(a, b)
                b.hub()
                key = b.run("peer", "admin-key").strip()
                a.run("peer", "manifest", "admins", "--threshold", 1, a.run("peer", "admin-key").strip(), key)
                all_meet((a, b))
                invite(a, c)
                c.hub()
                all_meet((a, b, c))
                invite(b, d)
                d.hub()
                all_meet((a, b, c, d))
                d.stop()
                d.hub()
                all_meet((a, b, c, d))
                for s in (a, *others):
                    self.assertEqual(s.hub_lines("state=unknown"), [])
                for s in others:
                    s.stop()
            finally:
                for s in others:
                    s.kill()

    def test_connect_names_whom_nobody_knows_yet__told_once_and_all_are_called(self):
        shared = 'hub = { connect = [ "delta", "beta" ]; };'
        with Ring("alpha", hubs=False) as (a,):
            b, c, d = (Server(a.top, name, shared if name == "beta" else 'hub = { connect = [ "delta" ]; };'
                              if name == "gamma" else "") for name in ("beta", "gamma", "delta"))
            try:
                a.hub()
                invite(a, b)
                b.hub()
                # of its two names one is its own, one is not there yet: alpha is called
                until(lambda: b.connected() == {"alpha"}, "alpha", log=b.logs)
                invite(a, c)
                c.hub()
                until(lambda: c.connected() == {"alpha", "beta"}, "both", log=c.logs)
                for s in (b, c):
                    self.assertEqual(len(s.hub_lines("event=connect", "state=unknown", 'names="delta"')), 1, s.logs())
                invite(a, d)
                d.hub()
                for s in (b, c):
                    until(lambda: s.connected() == {"delta"}, "delta alone", log=s.logs)
                    self.assertEqual(len(s.hub_lines("event=connect", "state=known")), 1, s.logs())
                # gone again: told again, and nobody is cut off
                c.stop()  # whom it calls does not say so; those that it does not call are looked at after a start
                a.run("peer", "drop", "delta")
                until(lambda: a.hub_lines("event=ring", "manifest=5"), "the drop", log=a.logs)
                c.hub()
                until(lambda: c.connected() == {"alpha", "beta"}, "both again", log=c.logs)
                self.assertEqual(len(c.hub_lines("event=connect", "state=unknown")), 2, c.logs())
                self.assertFalse(c.hub_lines("event=manifest", "from=delta", "version=5"))
                for s in (b, c, d):
                    s.stop()
            finally:
                for s in (b, c, d):
                    s.kill()


if __name__ == "__main__":
    unittest.main(verbosity=2)
