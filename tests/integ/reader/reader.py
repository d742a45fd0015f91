"""gillnet-reader as a child process, and its protocol as a client of our own speaks it."""
import os
import pathlib
import socket
import struct
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", ROOT / "build/release")).resolve()
HEAD = struct.Struct("<BBHI")
END, TEXT, LINK, SCRIPT, CODE, LOOK, FACT, NAME, FILE_BEGIN, FILE_DATA, FILE_END, READY = range(1, 13)


class Reader:
    """with Reader(folder) as r: it listens at r.path."""

    def __init__(self, folder, *options):
        self.path = f"{folder}/reader.sock"
        self.log = pathlib.Path(folder) / "reader.log"
        self.options = options
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            # a pipe for its log: the processes may write no file, not even one that is open
            self.process = subprocess.Popen([BUILD / "gillnet-reader", "--socket", self.path, *self.options],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(self.path)
                return self
            except OSError:
                time.sleep(0.02)
        raise AssertionError("gillnet-reader does not listen")

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, self.process.returncode

    def children(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return tasks.read_text().split()

    __enter__ = start

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.stop()


def text(value):
    return struct.pack("<Q", len(value)) + value


def request(data, name=b"", kind=b"", passwords=(), following=(), *, entries=10000, size=64 << 20, ratio=200,
            pages=10, pixels=32 << 20, flags=0, cpu_s=10):
    rest = struct.pack("<IQIIQIIHH", entries, size, ratio, pages, pixels, flags, cpu_s, len(passwords), len(following))
    rest += text(name) + text(kind) + b"".join(map(text, passwords)) + b"".join(map(text, following)) + text(data)
    return b"GNR1" + struct.pack("<Q", len(rest)) + rest


def ask_raw(path, bytes_, timeout=60):
    """All that comes back, until the other end closes."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        s.connect(path)
        got = b""
        try:
            s.sendall(bytes_)
            while more := s.recv(1 << 16):
                got += more
        except (BrokenPipeError, ConnectionResetError):
            pass
        return got


def records(got):
    """[(kind, detail, place, value)] of what came back."""
    out, at = [], 0
    while at < len(got):
        kind, detail, nplace, nvalue = HEAD.unpack_from(got, at)
        at += HEAD.size
        out.append((kind, detail, got[at:at + nplace].decode(), got[at + nplace:at + nplace + nvalue]))
        at += nplace + nvalue
    return out


def ask(path, data, **how):
    return records(ask_raw(path, request(data, **how)))
