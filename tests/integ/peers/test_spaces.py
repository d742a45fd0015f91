#!/usr/bin/env python3
"""Five servers in five network namespaces: 30 % loss, partitions and kill -9 amid traffic; then all hold the same, soon.

Usage: test_spaces.py [TEST...]      ends like unittest; root. GILLNET_BUILD names the build folder, GILLNET_SEED the
chances, GILLNET_STEPS how long the bad weather lasts (steps of about a second), GILLNET_CUT for how many seconds one server
is cut off from all others at its end.
"""
import random
import re
import socket
import ssl
import subprocess
import os
import sys
import time
import unittest

import spaces
from ring import BUILD, MAIL, Ring, until

SEED = int(os.environ.get("GILLNET_SEED", random.SystemRandom().randrange(1 << 32)))
STEPS = int(os.environ.get("GILLNET_STEPS", 20))
CUT_S = float(os.environ.get("GILLNET_CUT", STEPS / 3))
NAMES = ["s0", "s1", "s2", "s3", "s4"]
PORT = 4443
LOSS = 30
INTERVAL_S = 5
HEALED_S = 3 * INTERVAL_S
SENDER, FIRST, LAST = "joe@evil.example", "first@evil.example", "last@evil.example"
CONFIG = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );'
HEAD_BYTES = 192


def ask(server, member, path):
    """The body of an answer to another member; None: no answer."""
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    c.set_alpn_protocols(["http/1.1"])
    c.load_cert_chain(member.state / "peers/cert.pem", member.state / "peers/signing.key")
    host, port = server.address.split(":")
    try:
        with socket.create_connection((host, int(port)), 10) as raw, c.wrap_socket(raw) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            out = b""
            while b"\r\n\r\n" not in out or len(out) < need(out):
                got = s.recv(1 << 20)
                if not got:
                    return None
                out += got
    except (OSError, ValueError):
        return None
    head, _, body = out.partition(b"\r\n\r\n")
    return body if b" 200 " in head.split(b"\r\n")[0] else None


def need(out):
    head, _, body = out.partition(b"\r\n\r\n")
    return len(head) + 4 + int(re.search(rb"(?i)content-length: (\d+)", head).group(1))


def heads(server, member):
    """{stream: (seq, hash)}, of all that the server would give away."""
    body = ask(server, member, "/v1/heads?after=0")
    if body is None:
        return None
    n = int.from_bytes(body[4:8], "little")
    rows = [body[16 + i * HEAD_BYTES:16 + (i + 1) * HEAD_BYTES] for i in range(n)]
    return {row[:80]: row[80:128] for row in rows}


class Traffic:
    """Counts and entries of the servers, and the expected results."""

    def __init__(self, servers, chance):
        self.servers = servers
        self.chance = chance
        self.counted = 0
        self.listed = {}  # value: server; what was taken back is in revoked
        self.revoked = set()
        self.running = []

    def start(self, server, *args):
        self.running.append((subprocess.Popen([*server.enter, f"{BUILD}/gillnet", "-c", server.conf, *map(str, args)],
                                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT, text=True), server, args))

    def step(self):
        """Each server counts a message; one lists something, another takes something back."""
        for s in self.servers:
            if s.daemon_proc:
                self.start(s, "check", "--count", "--from", SENDER, "--rcpt",
                           f"r{self.counted}@rcpt.example", MAIL)
                self.counted += 1
        self.wait()
        lister = self.chance.choice(self.servers)
        value = f"e{len(self.listed)}.example"
        self.listed[value] = lister
        self.start(lister, "list", "add", "phish", "--type", "url_host", value)
        self.wait()
        old = [v for v in self.listed if v not in self.revoked and v != value]
        if old and self.chance.random() < 0.5:
            value = self.chance.choice(old)
            self.revoked.add(value)
            self.start(self.listed[value], "list", "revoke", "phish", "--type", "url_host", value)
            self.wait()

    def last(self, sender):
        """Each server counts another number of messages of one sender: 15 in all."""
        for i, s in enumerate(self.servers):
            for _ in range(i + 1):
                self.start(s, "check", "--count", "--from", sender, "--rcpt", "r@rcpt.example", MAIL)
                self.wait()

    def wait(self):
        for p, server, args in self.running:
            said, _ = p.communicate(timeout=120)
            if args[0] == "list" and p.returncode != 0:
                raise AssertionError(f"{server.name} {args}: {p.returncode}\n{said}{server.logs()}")
        self.running = []


def shown(server, values):
    """Which of the values score at a server."""
    if not values:
        return set()
    rows = server.json("lookup", *(f"url_host:{v}" for v in values), rc=None)
    return {v for v in values if any(r.get("status") == "confirmed" and v in r["value"] for r in rows)}


def counted(server, sender):
    rows = [r for r in server.json("lookup", f"envelope_from:{sender}", rc=None) if "counted_as" in r]
    return rows[0]["w1d"] if rows else 0


class Spaces(unittest.TestCase):
    def setUp(self):
        print(f"GILLNET_SEED={SEED} GILLNET_STEPS={STEPS}", file=sys.stderr)
        self.chance = random.Random(SEED)

    def test_five_in_bad_weather__when_it_clears__then_equal_within_three_intervals(self):
        self.weather(NAMES, STEPS, CUT_S)

    def test_two_cut_off_for_a_minute__when_it_clears__then_equal_within_three_intervals(self):
        self.weather(NAMES[:2], 0, 60)  # no relay helps

    def weather(self, names, steps, cut_s):
        self.net = net = spaces.Spaces(names)
        self.addCleanup(net.remove)
        net.weather()
        with Ring(*names, config={n: CONFIG for n in names}, addresses={n: f"{net.host(n)}:{PORT}" for n in names},
                  enter={n: net.enter(n) for n in names}) as servers:
            for s in servers:
                s.daemon()
            for s in servers:
                until(lambda: s.connected() == set(names) - {s.name}, "all others", seconds=120, log=s.logs)
            traffic = Traffic(servers, self.chance)
            traffic.step()
            traffic.last(FIRST)
            fair = self.equal(servers, traffic, FIRST)
            self.changes = 0
            for step in range(steps):
                self.worse(servers, step)
                traffic.step()
                time.sleep(self.chance.random() / 2)
            self.all_run(servers)
            net.weather(LOSS, [names[:1], names[1:]])
            time.sleep(cut_s)
            traffic.last(LAST)
            net.weather()
            took = self.equal(servers, traffic, LAST)
            limit = max(HEALED_S, 2 * fair["all"])  # where everything is slow, twice what fair weather takes
            print(f"{len(names)} servers, {net.lost} packets lost, {net.cut} cut off, {traffic.counted} messages, "
                  f"{len(traffic.listed)} entries, {len(traffic.revoked)} taken back: equal after "
                  f"{took['heads']:.1f} s (heads), {took['all']:.1f} s (all; in fair weather {fair['all']:.1f} s, "
                  f"at most {limit:.1f} s)", file=sys.stderr)
            self.assertGreater(net.cut, 0)
            self.assertGreaterEqual(net.lost, 5 * steps)
            self.assertLessEqual(took["all"], limit)

    def worse(self, servers, step):
        """Something happens to the net or to a program; a killed program runs again a step later."""
        for s in servers:
            if not s.daemon_proc:
                s.daemon()
            if not s.hub_proc:
                s.hub(wait=False)
        for s in self.chance.sample(servers, self.chance.choice((0, 0, 1, 1, 2))):
            if self.chance.random() < 0.6:
                s.kill_hub()
            else:
                s.kill()
        if step == self.changes:
            self.changes += self.chance.randint(2, max(2, STEPS // 3))
            parts = list(self.net.names)
            self.chance.shuffle(parts)
            at = self.chance.randint(0, len(parts) // 2)
            self.net.weather(LOSS, [parts[:at], parts[at:]] if at else [])
            for name in self.net.names:
                self.net.link(name, name != parts[0] or self.chance.random() < 0.5)

    def all_run(self, servers):
        """All programs run, all links are up; the net is as bad as before."""
        for name in self.net.names:
            self.net.link(name, True)
        for s in servers:
            if not s.daemon_proc:
                s.daemon()
            if not s.hub_proc:
                s.hub(wait=False)
        for s in servers:
            until(lambda: s.control("ping").startswith("ok"), "the hub", log=s.logs)

    def equal(self, servers, traffic, sender):
        """Waits until all servers hold and say the same, and 15 of the sender; seconds, of heads and of all."""
        begun = time.monotonic()
        every = sum(range(1, len(servers) + 1))
        want = set(traffic.listed) - traffic.revoked
        took = {}

        def same(values):
            return values[0] not in (None, {}, 0) and all(v == values[0] for v in values[1:])

        def heads_are():
            if not same(self.heads(servers)):
                took.pop("heads", None)
                return False
            took.setdefault("heads", time.monotonic() - begun)
            return True

        def all_is():
            return (heads_are() and [counted(s, sender) for s in servers] == [every] * len(servers) and
                    len({counted(s, SENDER) for s in servers}) == 1 and
                    all(shown(s, traffic.listed) == want for s in servers) and
                    same([self.held(s, servers) for s in servers]))

        until(all_is, "all to be equal", seconds=240, step=0.1, log=lambda: self.differences(servers, traffic))
        took["all"] = time.monotonic() - begun
        self.assertLessEqual(counted(servers[0], SENDER), traffic.counted)
        for s in servers:
            for name, row in s.status().items():
                self.assertFalse(row.get("is_distrusted"), (s.name, name, row))
        return took

    def heads(self, servers):
        return [heads(s, servers[i - 1]) for i, s in enumerate(servers)]

    def held(self, server, servers):
        """{origin: totals} of all open buckets."""
        return {s.name: server.totals(s.origin(), "own" if s is server else "counts") for s in servers}

    def differences(self, servers, traffic):
        got = self.heads(servers)
        every = set().union(*(g or {} for g in got))
        out = [f"heads {[None if g is None else len(g) for g in got]} of {len(every)}"]
        out += [f"{k[:4].hex()} {k[40:48].hex()}: {[(g or {}).get(k, b'')[8:16].hex() for g in got]}"
                for k in sorted(every) if len({(g or {}).get(k) for g in got}) > 1]
        for sender in (SENDER, FIRST, LAST):
            out.append(f"{sender} counted {[counted(s, sender) for s in servers]}, of the first {traffic.counted} at most")
        want = set(traffic.listed) - traffic.revoked
        out += [f"{s.name} listed {sorted(shown(s, traffic.listed) ^ want)}" for s in servers]
        held = [self.held(s, servers) for s in servers]
        out += [f"of {n}: {[{b: (len(k), sum(k.values())) for b, k in h[n].items()} for h in held]}" for n in held[0]]
        return "\n".join(out + [s.logs() for s in servers])


if __name__ == "__main__":
    spaces.enter()
    unittest.main(verbosity=2)
