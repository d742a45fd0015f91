#!/usr/bin/env python3
"""Hubs as processes: a ring of two commands each, counts from one to the other over a third, crashes, control.

Usage: test_hub.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest

from ring import BUILD, Ring, Server, free_port, invite, until

SEED = int(os.environ.get("GILLNET_SEED", random.SystemRandom().randrange(1 << 32)))
ROUNDS = int(os.environ.get("GILLNET_ROUNDS", 3))


def holds(server, of, want):
    """Whether server holds of an origin what that published."""
    got = server.totals(of.origin())
    return {b: got.get(b, {}) for b in want} == want and want


class Hub(unittest.TestCase):
    def test_two_commands_each__then_both_are_in_the_ring(self):
        with Ring("alpha", "beta") as (a, b):
            until(lambda: a.connected() == {"beta"} and b.connected() == {"alpha"}, "both", log=a.logs)
            for s in (a, b):
                names = {r["name"]: r["state"] for r in s.status().values()}
                self.assertEqual(names, {"alpha": "active", "beta": "active"})
            self.assertIn("beta", a.run("peer", "list"))
            table = a.run("peer", "status")
            self.assertIn("beta", table)

    def test_a_token__serves_once_and_its_user_again(self):
        with Ring("alpha") as (a,):
            b = Server(a.top, "beta")
            token = invite(a, b)
            b.run("peer", "join", token)  # its answer was lost: once more does no harm
            c = Server(a.top, "gamma")
            c.run("peer", "init", "--name", "gamma", "--address", c.address)
            said = c.run("peer", "join", token, rc=None)
            self.assertIn("no such invitation", said)
            self.assertFalse((c.state / "peers/manifest").exists())
            self.assertTrue(until(lambda: a.hub_lines("event=join", "result=refused"), "a refusal"))

    def test_counts__over_a_third_server(self):
        with Ring("alpha", "beta", "gamma",
                  config={"alpha": 'hub = { connect = [ "beta" ]; };',
                          "gamma": 'hub = { connect = [ "beta" ]; };'}) as (a, b, c):
            for s in (a, b, c):
                s.daemon()
            until(lambda: c.connected() == {"beta"} and a.connected() == {"beta"}, "beta", log=c.logs)
            a.count(3)
            own = until(lambda: a.totals(a.origin(), "own"), "counts published", log=a.logs)
            begun = time.monotonic()
            until(lambda: holds(c, a, a.totals(a.origin(), "own")), "counts of alpha at gamma", log=c.logs)
            print(f"alpha to gamma over beta after publishing: {time.monotonic() - begun:.2f} s", file=sys.stderr)
            self.assertGreater(sum(sum(x.values()) for x in own.values()), 30)
            # the other way, and of the one between
            c.count(2)
            b.count(1)
            for of, at in ((c, a), (b, a), (b, c), (c, b)):
                until(lambda: holds(at, of, of.totals(of.origin(), "own")), f"{of.name} at {at.name}", log=at.logs)
            self.assertEqual(c.status()["alpha"]["refused"], {})

    def test_an_entry__scores_over_a_third_server(self):
        shared = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );'
        with Ring("alpha", "beta", "gamma",
                  config={"alpha": 'hub = { connect = [ "beta" ]; };' + shared, "beta": shared,
                          "gamma": 'hub = { connect = [ "beta" ]; };' + shared}) as (a, b, c):
            until(lambda: c.connected() == {"beta"} and a.connected() == {"beta"}, "beta", log=c.logs)

            def listed(server):
                rows = server.json("lookup", "url_host:bad.example", rc=None)
                return [r for r in rows if r.get("status") == "confirmed"]

            a.run("list", "add", "phish", "--type", "url_host", "bad.example")
            begun = time.monotonic()
            until(lambda: listed(c), "alpha's entry at gamma", log=lambda: a.logs() + b.logs() + c.logs())
            took = time.monotonic() - begun
            print(f"an entry from alpha to gamma over beta: {took:.1f} s", file=sys.stderr)
            self.assertIn("alpha", json.dumps(listed(c)))
            # an origin that weighs nothing here hints, and makes nothing listed
            of_gamma = 'hub = { connect = [ "beta" ]; };' + shared
            c.run("lookup", "--quiet", "--file", "-", text="url_host:bad.example\n", rc=1)
            c.write(of_gamma + 'peers = { weights = [ "alpha=0" ]; };')
            self.assertIn("confirmed, weighs nothing here", c.run("lookup", "url_host:bad.example", rc=0))
            self.assertIn("0 listed", c.run("lookup", "--quiet", "--file", "-", text="url_host:bad.example\n", rc=0))
            c.write(of_gamma)
            for s in (a, b, c):
                s.kill_hub()
                s.hub(wait=False)
            until(lambda: listed(c), "alpha's entry after kill -9", log=c.logs)
            a.run("list", "revoke", "phish", "--type", "url_host", "bad.example")
            begun = time.monotonic()
            until(lambda: not listed(c), "its revocation at gamma", log=lambda: a.logs() + b.logs() + c.logs())
            print(f"its revocation: {time.monotonic() - begun:.1f} s", file=sys.stderr)

    def test_killed_at_any_moment__then_all_hold_the_same(self):
        """Counts, entries and revocations go on while all three are killed, at random moments, over and over."""
        print(f"GILLNET_SEED={SEED} GILLNET_ROUNDS={ROUNDS}", file=sys.stderr)
        chance = random.Random(SEED)
        shared = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );'
        with Ring("alpha", "beta", "gamma",
                  config={"alpha": 'hub = { connect = [ "beta" ]; };' + shared, "beta": shared,
                          "gamma": 'hub = { connect = [ "beta" ]; };' + shared}) as servers:
            for s in servers:
                s.daemon()
            said = {}  # value: server, whether it stands
            for n in range(ROUNDS):
                for i, s in enumerate(servers):
                    s.count(1, start=3 * n + i)
                self.kill_amid(servers, chance, self.words(servers, chance, said, n))
            for s in servers:
                until(lambda: s.control("ping").startswith("ok"), "the hub", log=s.logs)
                s.count(1, start=100000)
            listed = {v for v, (_, stands) in said.items() if stands}
            for s in servers:
                until(lambda: self.listed(s, said) == listed, f"the entries at {s.name}", seconds=120,
                      log=lambda: f"{self.listed(s, said) ^ listed}\n{s.logs()}")
            until(lambda: self.equal(servers), "equal counts", seconds=120,
                  log=lambda: "".join(s.logs() for s in servers))
            for s in servers:
                for name, row in s.status().items():
                    self.assertFalse(row.get("is_distrusted"), (s.name, name, row))

    def words(self, servers, chance, said, n):
        """Entries added and revoked in this round: (server, command)."""
        lister = chance.choice(servers)
        out = [(lister, ("list", "add", "phish", "--type", "url_host", f"e{n}.example"))]
        old = [v for v, (_, stands) in said.items() if stands]
        said[f"e{n}.example"] = (lister, True)
        if old and chance.random() < 0.6:
            value = chance.choice(old)
            said[value] = (said[value][0], False)
            out.append((said[value][0], ("list", "revoke", "phish", "--type", "url_host", value)))
        return out

    def kill_amid(self, servers, chance, words):
        """Kills all programs at once at some moment, most often amid what the commands began; then all goes on."""
        running = [(s, args, subprocess.Popen([f"{BUILD}/gillnet", "-c", s.conf, *args], stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL)) for s, args in words]
        time.sleep(chance.choice((0.05, 0.5, 3)) * chance.random())
        programs = [p for s in servers for p in (s.hub_proc, s.daemon_proc)]
        chance.shuffle(programs)
        for p in programs:
            p.send_signal(signal.SIGKILL)
        for s in servers:
            s.kill()
            s.daemon()
            s.hub(wait=False)
        for s, args, p in running:
            if p.wait(60) != 0:  # the hub was killed while it was asked: once more, as a person would
                s.run(*args)
        time.sleep(chance.choice((0, 1)) * chance.random())

    def listed(self, server, values):
        rows = server.json("lookup", *(f"url_host:{v}" for v in values), rc=None)
        return {v for v in values if any(r.get("status") == "confirmed" and r["value"].endswith(v) for r in rows)}

    def equal(self, servers):
        """Whether all hold of each what it published, and nothing of it waits to be published."""
        key = "envelope_from:joe@evil.example"
        sums = set()
        for s in servers:
            rows = [r for r in s.json("lookup", key, rc=None) if "counted_as" in r]
            sums.add(rows[0]["w1d"] if rows else 0)
        return len(sums) == 1 and sums != {0} and all(
            holds(at, of, of.totals(of.origin(), "own")) for of in servers for at in servers if at is not of)

    def test_dropped__then_refused_and_gone(self):
        with Ring("alpha", "beta", "gamma") as (a, b, c):
            for s in (a, c):
                s.daemon()
            c.count(2)
            until(lambda: c.totals(c.origin(), "own"), "counts published", log=c.logs)
            for s in (a, b):
                until(lambda: holds(s, c, c.totals(c.origin(), "own")), "counts of gamma", log=s.logs)
            gone = c.origin()
            a.run("peer", "drop", "gamma")
            for s in (a, b):
                until(lambda: s.totals(gone) == {}, f"gamma's counts gone at {s.name}", log=s.logs)
                self.assertEqual(s.status()["gamma"]["state"], "dropped")
            refused = a.stat("handshakes_refused")
            until(lambda: a.stat("handshakes_refused") > refused, "gamma at the door", log=a.logs)
            self.assertTrue(until(lambda: b.connected() == {"alpha"}, "alpha and beta go on"))

    def test_no_ring__then_it_waits_and_says_so(self):
        with Ring("alpha", hubs=False) as (a,):
            b = Server(a.top, "beta").hub()
            try:
                self.assertIn("ring=none", b.control("ping"))
                self.assertIn("no ring yet", b.control("status"))
                until(lambda: b.hub_lines("state=none"), "the line about no ring", log=b.logs)
                self.assertEqual(len(b.hub_lines("state=none")), 1)
                self.assertEqual(b.run("hub", "--once", rc=78).count("no ring yet"), 1)
                a.hub()
                invite(a, b)
                until(lambda: "ring=open" in b.control("ping"), "the ring", log=b.logs)
                until(lambda: b.connected() == {"alpha"}, "alpha", log=b.logs)
                b.stop()
                self.assertEqual(b.run("hub", "--once").count("state=lost"), 0)
            finally:
                b.kill()

    def test_once__nobody_answers__says_so_after_a_minute(self):
        with Ring("alpha", "beta") as (a, b):
            a.stop()
            b.stop()
            self.assertIn("state=lost", b.run("hub", "--once", rc=69))

    def test_control__odd_visitors(self):
        with Ring("alpha") as (a,):
            path = str(a.state / "peers/hub.ctl")
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o660)
            self.assertIn("error unknown request", a.control("status now"))
            self.assertIn("error unknown request", a.control("x" * 5000))
            idle = []
            for _ in range(40):
                s = socket.socket(socket.AF_UNIX)
                s.connect(path)
                idle.append(s)
            self.assertTrue(a.control("ping").startswith("ok"))
            for s in idle:
                s.close()
            # what a command holds nobody else gets; the hub takes it up again
            holder = socket.socket(socket.AF_UNIX)
            holder.connect(path)
            holder.sendall(b"pause\n")
            self.assertEqual(holder.recv(100), b"ok paused\n")
            self.assertIn("ring=paused", a.control("ping"))
            self.assertIn("error another command", a.control("pause"))
            holder.close()
            until(lambda: "ring=open" in a.control("ping"), "the ring open", log=a.logs)
            self.assertEqual(Server(a.top, "alpha", port=a.port).start("gillnet-hub", "/dev/null").wait(30), 69)
            self.assertIn("ok reloaded", a.control("reload"))
            a.write("hub = { listn = 1; };")
            self.assertIn("did you mean", a.control("reload"))
            a.hub_proc.send_signal(signal.SIGHUP)
            until(lambda: a.hub_lines("did you mean")[1:], "the log")
            self.assertIn("ring=open", a.control("ping"))

    def test_an_address_behind_nat__then_all_addresses_at_its_port(self):
        port = free_port()
        with Ring("alpha", config={"alpha": ""}, addresses={"alpha": f"192.0.2.1:{port}"}) as (a,):
            until(lambda: a.hub_lines("event=listen"), "a port", log=a.logs)
            for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                with socket.socket(family) as s:
                    s.settimeout(10)
                    s.connect((host, port))

    def test_a_rotated_key__then_exchange_goes_on(self):
        with Ring("alpha", "beta") as (a, b):
            until(lambda: b.connected() == {"alpha"}, "alpha", log=b.logs)
            before = (a.state / "peers/cert.pem").read_text()
            a.run("peer", "rotate", "--now")
            self.assertNotEqual(before, (a.state / "peers/cert.pem").read_text())
            version = json.loads((b.state / "peers/manifest").read_text().splitlines()[1])["version"]
            until(lambda: b.connected() == {"alpha"} and a.connected() == {"beta"} and
                  b.status()["alpha"]["answered_ms"] > time.time() * 1000 - 5000, "both again", log=b.logs)
            self.assertGreaterEqual(version, 2)

    def test_a_revoked_server__comes_back_with_a_new_key(self):
        with Ring("alpha", "beta") as (a, b):
            until(lambda: b.connected() == {"alpha"}, "alpha", log=b.logs)
            self.assertIn("drop beta", a.run("peer", "revoke-key", "beta"))
            until(lambda: "does not take this server's key" in b.run("peer", "status"), "the reason", log=b.logs)
            a.run("peer", "drop", "beta")
            token = next(x for x in a.run("peer", "invite", "beta").splitlines() if x.startswith("gnp1-"))
            self.assertIn("stop gillnet-hub first", b.run("peer", "join", token, rc=75))
            b.stop()
            self.assertIn("peer rotate", b.run("peer", "join", token, rc=77))
            (b.state / "peers/manifest").rename(b.state / "former")
            b.run("peer", "rotate")
            b.run("peer", "join", token)
            b.hub()
            until(lambda: b.connected() == {"alpha"} and a.connected() == {"beta"}, "both", log=b.logs)

    def test_a_newcomer__takes_name_and_address_of_one_dropped(self):
        with Ring("alpha", "beta") as (a, b):
            a.run("peer", "drop", "beta")
            b.stop()
            c = Server(a.top, "gamma", port=b.port)
            token = next(x for x in a.run("peer", "invite", "beta").splitlines() if x.startswith("gnp1-"))
            c.run("peer", "init", "--address", c.address)
            c.run("peer", "join", token)
            self.assertIn("beta", a.run("peer", "list"))
            # another ring's token is refused before a request is made
            d = Server(a.top, "delta").hub()
            try:
                d.run("peer", "ring", "create", "--name", "delta", "--address", d.address)
                until(lambda: "ring=open" in d.control("ping"), "the ring", log=d.logs)
                other = next(x for x in d.run("peer", "invite", "c").splitlines() if x.startswith("gnp1-"))
                self.assertIn("in a ring already", c.run("peer", "join", other, rc=69))
                self.assertEqual(d.hub_lines("event=join"), [])
            finally:
                d.stop()

    def test_nonsense_for_heads__then_it_is_no_sign_of_life(self):
        with Ring("alpha", "beta") as (a, b):
            until(lambda: a.connected() == {"beta"}, "beta", log=a.logs)
            lost = len(a.hub_lines("name=beta", "state=lost"))
            b.stop()
            until(lambda: len(a.hub_lines("name=beta", "state=lost")) > lost, "beta lost", seconds=120, log=a.logs)
            lines = len(a.hub_lines("name=beta"))
            asked = liar(b)
            try:
                until(lambda: len(asked) >= 3, "alpha to ask", seconds=120, log=a.logs)
                self.assertEqual(len(a.hub_lines("name=beta")), lines, a.logs())
                self.assertEqual(a.connected(), set())
            finally:
                asked.door.close()


class Asked(list):
    door = None


def liar(server):
    """In the place of a server's hub, with its key: answers 200 with nothing in it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.state / "peers/cert.pem", server.state / "peers/signing.key")
    asked = Asked()
    asked.door = socket.create_server(("127.0.0.1", server.port))

    def answer(conn):
        try:
            with context.wrap_socket(conn, server_side=True) as c:
                while c.recv(65536):
                    asked.append(1)
                    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            pass

    def run():
        while True:
            try:
                conn, _ = asked.door.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(conn,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return asked


if __name__ == "__main__":
    unittest.main(verbosity=2)
