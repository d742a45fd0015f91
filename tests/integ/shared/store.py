"""A server of a ring whose counts go to a store, what it counted, and what the store has.

Each Feeder counts as gillnetd does; truth is {(bucket, key): count}.
"""
import collections
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/integ/peers"), str(ROOT / "tests/integ/redis")]
from ring import BUILD, Ring, until  # noqa: E402,F401
from servers import Folder, free_port  # noqa: E402,F401

FEED = os.environ.get("COUNTS_FEED", f"{BUILD}/tests/integ/shared/counts_feed")
CELLS = 128


def config(servers, mode="single", extra=""):
    names = ", ".join(f'"{s}"' for s in servers)
    return f'store = {{ kind = "redis"; mode = "{mode}"; servers = [ {names} ]; {extra} }};'


class Feeder:
    """Counts keys in a state folder."""

    def __init__(self, state, seed, keys=2000):
        self.random = random.Random(seed)
        self.keys = [self.random.getrandbits(64) & ~1 | 2 for _ in range(keys)]  # even: no key of a member
        self.truth = collections.Counter()
        self.proc = subprocess.Popen([FEED, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def count(self, n, most=3):
        """n increments of keys, some of them often."""
        lines, sums = [], collections.Counter()
        for _ in range(n):
            key = self.keys[min(int(self.random.paretovariate(0.6)) - 1, len(self.keys) - 1)]
            amount = self.random.randint(1, most)
            sums[key] += amount
            lines.append(f"add {key} {amount}\n")
        self.proc.stdin.write("".join(lines) + "flush\n")
        self.proc.stdin.flush()
        start = int(self.proc.stdout.readline())
        for key, amount in sums.items():
            self.truth[start, key] += amount

    def close(self):
        self.proc.stdin.close()
        self.proc.wait(60)
        self.proc.stdout.close()


class Client:
    """A connection to one server; replies as bytes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"$":
            return None if int(rest) < 0 else self.file.read(int(rest) + 2)[:-2]
        return rest

    def call(self, *args):
        words = [a if isinstance(a, bytes) else str(a).encode() for a in args]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.reply()


def content(ports):
    """{(window, start, key): count} of all masters, windows "t" and "d"; also {origin: {incarnations}}."""
    out, incarnations = collections.Counter(), collections.defaultdict(set)
    for port in ports:
        with Client(port) as c:
            for cell in range(CELLS):
                anchor = b"g{%02x}" % cell
                try:
                    fields = c.call("HGETALL", anchor)
                except RuntimeError:  # MOVED: another master's
                    continue
                for name, value in zip(fields[::2], fields[1::2]):
                    if len(name) == 24:
                        incarnations[name[:16].hex()].add(name[16:].hex())
                    elif name[:2] in (b"t:", b"d:"):
                        add_parts(c, anchor, name, value, out)
    return out, incarnations


def add_parts(client, anchor, name, value, out):
    parts, nonce = value.split(b":")
    for part in range(int(parts)):
        fields = client.call("HGETALL", b"%s%s:%s:%d" % (anchor, name, nonce, part))
        for key, count in zip(fields[::2], fields[1::2]):
            if key:
                out[name[:1].decode(), int(name[2:]), struct.unpack(">Q", key)[0]] += int(count)


def differences(feeders, ports):
    """(low, high): increments that the store lacks, and that it has too many, over both windows."""
    want = collections.Counter()
    for f in feeders:
        for (start, key), n in f.truth.items():
            want["t", start, key] += n
            want["d", start - start % 86400, key] += n
    got, _ = content(ports)
    low = sum(max(0, n - got[k]) for k, n in want.items())
    high = sum(max(0, n - want[k]) for k, n in got.items())
    return low, high
