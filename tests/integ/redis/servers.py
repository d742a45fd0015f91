"""Real servers of Redis on the loopback, in a folder of their own, and the client's test program (redis_talk.c).

Each server is ended by its process id, also when the test is killed.
"""
import ctypes
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))
from ports import free_port  # noqa: E402

REDIS = pathlib.Path(os.environ.get("GILLNET_REDIS", ROOT / "build/redis")) / "root/usr"
TALK = os.environ.get("REDIS_TALK", ROOT / "build/release/tests/integ/redis/redis_talk")
ENV = dict(os.environ, LD_LIBRARY_PATH=f"{REDIS}/lib/x86_64-linux-gnu")
BOUND_S = 60  # far above what a step needs
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def until(what, name):
    end = time.monotonic() + BOUND_S
    while True:
        got = what()
        if got:
            return got
        assert time.monotonic() < end, f"in vain: {name}"
        time.sleep(0.05)


class Redis:
    """One server; options are lines of its configuration."""

    def __init__(self, folder, *options, sentinel=False, port=None, cli=()):
        self.port = port or free_port()
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.cli = cli
        own = [f"dir {self.folder}", "bind 127.0.0.1"]
        if not any(line.startswith("port ") for line in options):
            own.append(f"port {self.port}")
        if not sentinel:
            own += ['save ""', "repl-diskless-sync-delay 0", "enable-debug-command yes"]
        self.conf = self.folder / "redis.conf"
        self.conf.write_text("\n".join([*own, *options]) + "\n")
        self.args = ["--sentinel"] if sentinel else []
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.proc = subprocess.Popen([REDIS / "bin/redis-server", self.conf, *self.args], env=ENV, stdout=log,
                                         stderr=log, preexec_fn=die_with_parent)

    def command(self, *args):
        done = subprocess.run([REDIS / "bin/redis-cli", "-p", str(self.port), *self.cli, *map(str, args)], env=ENV,
                              capture_output=True, text=True, timeout=BOUND_S)
        return done.stdout.strip()

    def wait(self):
        until(lambda: self.command("PING") == "PONG", f"a server: {(self.folder / 'log').read_text()[-2000:]}")
        return self

    def kill(self):
        self.proc.kill()
        self.proc.wait(BOUND_S)

    def stop(self):  # as a machine that hangs
        self.proc.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.proc.send_signal(signal.SIGCONT)


class Folder:
    """A context with a folder and servers that end with it."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="gillnet-redis-")
        self.servers = []
        return self

    def __exit__(self, *_):
        for s in self.servers:
            s.kill()
        shutil.rmtree(self.path)

    def redis(self, *options, **how):
        self.servers.append(Redis(self.path, *options, **how))
        return self.servers[-1]

    def secret(self, name, text):
        path = pathlib.Path(self.path, name)
        path.write_text(text + "\n")
        path.chmod(0o600)
        return path


class Talk:
    """The client; a context that checks that it ends well."""

    def __init__(self, *words):
        self.proc = subprocess.Popen([TALK, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     bufsize=1, preexec_fn=die_with_parent)
        self.answers, self.n = {}, 0
        self.came = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.proc.stdout:
            self.came.put(line.rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.proc.kill()
        self.proc.stdin.close()
        self.reader.join(BOUND_S)
        self.proc.stdout.close()
        assert self.proc.wait(BOUND_S) == 0 or kind is not None, self.proc.returncode

    def send(self, how, key, *args):
        """The id of a call that was begun."""
        self.n += 1
        self.proc.stdin.write(" ".join([str(self.n), how, key, *map(str, args)]) + "\n")
        return self.n

    def servers(self):
        """{address: (role, fault)} of the servers that are known."""
        self.n += 1
        self.proc.stdin.write(f"{self.n} servers\n")
        return {a: (role, fault) for a, role, fault in (w.split("=") for w in self.answer(self.n).split()[1:])}

    def answer(self, number):
        while number not in self.answers:
            word, _, rest = self.came.get(timeout=BOUND_S).partition(" ")
            self.answers[int(word)] = rest
        return self.answers.pop(number)

    def call(self, how, key, *args):
        return self.answer(self.send(how, key, *args))
