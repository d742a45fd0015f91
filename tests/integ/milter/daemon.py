"""gillnetd as a child process in a folder of its own."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.abspath(os.environ.get("GILLNET_BUILD", f"{ROOT}/build/release"))


def gillnet(*args, check=True, **kw):
    """Runs the command line."""
    p = subprocess.run([f"{BUILD}/gillnet", *args], capture_output=True, text=True, **kw)
    if check and p.returncode != 0:
        raise AssertionError(f"gillnet {args}: {p.returncode}\n{p.stdout}{p.stderr}")
    return p


class Daemon:
    """with Daemon() as d: ... ; the log is in d.log()."""

    def __init__(self, config="", folder=None, target=None, env=None, lists=None, wrap=(),
                 state=None):
        self.owned = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="gillnetd-test-")
        self.target = target or f"unix:{self.folder}/milter.sock"
        self.conf = f"{self.folder}/gillnet.conf"
        self.state = state or self.folder
        self.logfile = f"{self.folder}/log.{time.monotonic_ns()}"
        self.env = dict(os.environ, **(env or {}))
        self.env.setdefault("TSAN_OPTIONS", f"suppressions={ROOT}/tests/tsan.supp")
        self.wrap = list(wrap)
        self.proc = None
        self.write(config)
        for name, entries in (lists or {}).items():
            gillnet("list", "add", "--create", name, *entries, "-c", self.conf)

    def write(self, config):
        # the longest deadline, because a machine may stall for two seconds
        deadline = "" if "deadline" in config else ' deadline = "8s";'
        shipped = "" if "shipped_rules" in config else " shipped_rules = false;"
        with open(self.conf + ".new", "w", encoding="utf-8") as f:
            f.write(f'state_dir = "{self.state}";\nsocket = "{self.target}";{deadline}{shipped}\n{config}\n')
        os.rename(self.conf + ".new", self.conf)

    def start(self, wait=True):
        with open(self.logfile, "wb") as log:
            self.proc = subprocess.Popen(
                [*self.wrap, f"{BUILD}/gillnetd", "-f", "-c", self.conf],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if "event=listen" in self.log():
                return
            if self.proc.poll() is not None:
                break
            time.sleep(0.01)
        raise AssertionError("gillnetd does not listen:\n" + self.log())

    def log(self):
        with open(self.logfile, encoding="utf-8", errors="replace") as f:
            return f.read()

    def lines(self, qid=None):
        """Log lines of messages, as dicts; the last one may still be half written."""
        return [{"qid": found, **dict(kv.split("=", 1) for kv in rest.split(" "))}
                for found, rest in re.findall(r"(\S+): (action=.*)\n", self.log())
                if qid is None or found == qid]

    def wait_line(self, qid, seconds=60):
        return self.wait_for(lambda: self.lines(qid), f"a line of {qid}", seconds)[0]

    def wait_for(self, what, name="it", seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got = what()
            if got:
                return got
            time.sleep(0.01)
        raise AssertionError(f"waited in vain for {name}:\n" + self.log())

    def wait_log(self, text):
        """The log is written behind the replies."""
        self.wait_for(lambda: text in self.log(), text)

    def control(self, request, path=None, timeout=120):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(timeout)
            s.connect(path or f"{self.state}/gillnetd.ctl")
            s.sendall(request if isinstance(request, bytes) else request.encode() + b"\n")
            out = b""
            while got := s.recv(65536):
                out += got
            return out.decode()

    def stat(self, name):
        for line in self.control("stat").splitlines()[1:]:
            key, value = line.split(" ")
            if key == name:
                return int(value)
        raise KeyError(name)

    def signal(self, sig):
        self.proc.send_signal(sig)

    def stop(self, seconds=120):
        """SIGTERM; the exit status must be 0 (a sanitizer's finding is not)."""
        if self.proc and self.proc.poll() is None:
            self.proc.send_signal(signal.SIGTERM)
            self.proc.wait(seconds)
        if self.proc and self.proc.returncode != 0:
            raise AssertionError(f"gillnetd ended with {self.proc.returncode}:\n" + self.log()[-6000:])
        self.proc = None

    def kill(self):
        self.proc.kill()
        self.proc.wait()
        self.proc = None

    def __enter__(self):
        return self if self.proc else self.start()

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.stop()
            elif self.proc:
                self.kill()
        finally:
            if self.owned:
                shutil.rmtree(self.folder, ignore_errors=True)
