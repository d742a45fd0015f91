"""The MTA's side of the milter protocol, version 6, for tests: every packet by hand.

A Mta is one connection. Packets may be sent in any order, cut or broken; message() plays a
whole one and returns the final answer with all modifications.
"""
import itertools
import re
import socket
import struct

PROTO = 6
ACTIONS = 0x1FF
STEPS = 0x1FFFFF
NR = {
    "C": 0x1000, "H": 0x2000, "M": 0x4000, "R": 0x8000, "T": 0x10000, "L": 0x80,
    "N": 0x40000, "B": 0x80000,
}
NO = {"C": 0x1, "H": 0x2, "M": 0x4, "R": 0x8, "B": 0x10, "L": 0x20, "N": 0x40, "T": 0x200}
FINAL = "acdrtyfs4"
CHUNK = 65535
SERIAL = itertools.count(1)
CASE = re.compile(r"\s+case[= ]([0-9a-hjkmnp-tv-z]{12})")


class Closed(Exception):
    """The milter closed the connection."""


class Answer:
    """The final answer to a message and the requests before it."""

    def __init__(self):
        self.code = ""
        self.text = ""
        self.inserted = []  # (index, name, value)
        self.deleted = []  # (name, index)
        self.quarantine = None
        self.progress = 0

    def headers(self):
        """Header fields at the top of the delivered message, in order, without the case id, which differs."""
        top = []
        for index, name, value in self.inserted:
            assert index == 1, index
            if name == "X-Gillnet-Status":  # folded where the case id made it long
                value = CASE.sub("", value.replace("\n\t", " "))
            top.insert(0, (name, value))
        return top

    def case(self):
        """The case id, of the header or of the reply."""
        found = CASE.search(" ".join([self.text] + [value for *_, value in self.inserted]))
        return found and found.group(1)

    def status(self):
        return dict(self.headers()).get("X-Gillnet-Status")

    def key(self):
        """All of it, for comparison."""
        return (self.code, CASE.sub("", self.text), tuple(self.headers()), tuple(self.deleted), self.quarantine)


def connect(target, timeout=30):
    """target: "unix:PATH" or "inet:HOST:PORT"."""
    kind, rest = target.split(":", 1)
    if kind == "unix":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(timeout)
        try:
            s.connect(rest)
        except OSError:
            s.close()
            raise
    else:
        host, port = rest.rsplit(":", 1)
        s = socket.create_connection((host, int(port)), timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


class Mta:
    def __init__(self, target, actions=ACTIONS, steps=STEPS, negotiate=True, timeout=30):
        self.sock = connect(target, timeout)
        self.buf = b""
        self.actions = self.steps = 0
        self.symbols = {}
        self.qid = ""
        if negotiate:
            try:
                self.negotiate(actions, steps)
            except BaseException:
                self.sock.close()
                raise

    # ---- packets
    def send(self, cmd, data=b""):
        self.sock.sendall(struct.pack("!I", len(data) + 1) + cmd.encode() + data)

    def read(self, n):
        while len(self.buf) < n:
            got = self.sock.recv(65536)
            if not got:
                raise Closed()
            self.buf += got
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def receive(self):
        n = struct.unpack("!I", self.read(4))[0]
        packet = self.read(n)
        return chr(packet[0]), packet[1:]

    def negotiate(self, actions, steps):
        self.send("O", struct.pack("!III", PROTO, actions, steps))
        cmd, data = self.receive()
        assert cmd == "O", cmd
        _, self.actions, self.steps = struct.unpack("!III", data[:12])
        assert self.actions & ~actions == 0, hex(self.actions)
        rest = data[12:]
        while rest:
            stage = struct.unpack("!I", rest[:4])[0]
            text, rest = rest[4:].split(b"\0", 1)
            self.symbols[stage] = text.decode()

    def macros(self, cmd, **values):
        data = cmd.encode()
        for name, value in values.items():
            key = name if len(name) == 1 else "{" + name + "}"
            data += key.encode() + b"\0" + value.encode() + b"\0"
        self.send("D", data)

    def wants(self, cmd):
        return not self.steps & NO.get(cmd, 0)

    def replies(self, cmd):
        return not self.steps & NR.get(cmd, 0)

    def step(self, cmd, data=b""):
        """Sends a step if it is wanted; the answer, or "c" if it was not sent."""
        if not self.wants(cmd):
            return "c"
        self.send(cmd, data)
        if not self.replies(cmd):
            return "c"
        return self.receive()[0]

    # ---- steps
    def hello(self, address="192.0.2.10", name="client.example", helo="client.example", family="4"):
        if address is None:
            packet = name.encode() + b"\0U"
        else:
            packet = name.encode() + b"\0" + family.encode() + struct.pack("!H", 12345)
            packet += address.encode() + b"\0"
        self.macros("C", j="mx.example", client_addr=address or "unknown", client_resolve="OK")
        got = self.step("C", packet)
        if got != "c":
            return got
        return self.step("H", helo.encode() + b"\0")

    def mail(self, sender="<a@sender.example>", **macros):
        self.macros("M", **macros)
        return self.step("M", sender.encode() + b"\0")

    def rcpt(self, to="<b@rcpt.example>"):
        self.macros("R")
        return self.step("R", to.encode() + b"\0")

    def data(self, qid=None):
        self.qid = qid or f"4Q{next(SERIAL):06x}"
        if self.wants("T"):
            self.macros("T", i=self.qid)
        return self.step("T")

    def header(self, name, value):
        if isinstance(name, str):
            name = name.encode()
        if isinstance(value, str):
            value = value.encode()
        return self.step("L", name + b"\0" + value + b"\0")

    def end_headers(self):
        return self.step("N")

    def body(self, data, cuts=()):
        """Sends data in chunks, cut at the given offsets and at the protocol's limit."""
        marks = sorted({0, len(data), *cuts})
        for begin, end in zip(marks, marks[1:]):
            for at in range(begin, end, CHUNK):
                got = self.step("B", data[at : min(at + CHUNK, end)])
                if got != "c":
                    return got
        return "c"

    def end(self):
        """End of message: the final answer."""
        a = Answer()
        self.macros("E", i=self.qid)
        self.send("E")
        while True:
            cmd, data = self.receive()
            if cmd == "i":
                index = struct.unpack("!I", data[:4])[0]
                name, value = data[4:].rstrip(b"\0").split(b"\0", 1)
                a.inserted.append((index, name.decode(), value.decode("latin-1")))
            elif cmd == "m":
                index = struct.unpack("!I", data[:4])[0]
                name, value = data[4:].split(b"\0", 1)
                assert value == b"\0", value
                a.deleted.append((name.decode(), index))
            elif cmd == "q":
                a.quarantine = data.rstrip(b"\0").decode()
            elif cmd == "p":
                a.progress += 1
            elif cmd in FINAL:
                a.code = cmd
                a.text = data.rstrip(b"\0").decode()
                return a
            else:
                raise AssertionError(f"unexpected packet {cmd!r}")

    def message(self, headers=(("Subject", "hello"),), body=b"text\r\n", cuts=(), rcpts=1,
                sender="<a@sender.example>", **macros):
        assert self.mail(sender, **macros) == "c"
        for i in range(rcpts):
            assert self.rcpt(f"<b{i}@rcpt.example>") == "c"
        assert self.data() == "c"
        for name, value in headers:
            assert self.header(name, value) == "c"
        assert self.end_headers() == "c"
        assert self.body(body, cuts) in "cs"
        return self.end()

    def abort(self):
        self.send("A")

    def quit(self):
        self.send("Q")
        self.close()

    def quit_new_client(self):
        self.send("K")

    def close(self):
        self.sock.close()


def apply(headers, answer):
    """The header fields after the answer's deletions, done one by one as MTAs do."""
    fields = list(headers)
    for name, index in answer.deleted:
        seen = 0
        for at, (n, _) in enumerate(fields):
            if n.lower() == name.lower():
                seen += 1
                if seen == index:
                    del fields[at]
                    break
    return answer.headers() + fields
