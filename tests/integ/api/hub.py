"""A hub of its own with lists, its HTTP API, and clients of it. Loopback only."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", TOP / "build" / "release"))
sys.path.insert(0, str(TOP / "tests"))

import ports  # noqa: E402

ROOM = 1 if "release" in BUILD.name else 16  # sanitizers keep what was freed
JSON = {"Content-Type": "application/json"}
LISTED = ["http://evil1.example/pay?x=1", "bad2.example", "joe@evil3.example", "192.0.2.77"]


def until(what, why, seconds=120, step=0.02):  # a loaded machine; alone it is one second
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(step)
    raise AssertionError(why)


def hold_lock(place):
    """A process that has the lock of this file until it is killed."""
    holder = subprocess.Popen(["flock", "-F", place, "sleep", "60"])
    until(lambda: subprocess.run(["flock", "-n", place, "true"]).returncode != 0, f"nobody has {place}")
    return holder


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


class Hub:
    """A state folder with two lists, and gillnet-hub on it."""

    def __init__(self, api="", more="", tls=False):
        self.folder = tempfile.TemporaryDirectory(prefix="gnapi")
        self.top = pathlib.Path(self.folder.name)
        self.port = ports.free_port()
        self.unix = f"{self.top}/api.sock"
        self.tokens = self.top / "tokens"
        self.log = self.top / "hub.log"
        self.conf = self.top / "gillnet.conf"
        self.state = self.top / "state"
        self.state.mkdir()
        self.tls = tls
        self.process = None
        self.daemon = None
        self.configure(api, more)
        (self.top / "feed").write_text("".join(v + "\n" for v in LISTED))
        self.run("list", "import", "phish", self.top / "feed")

    def configure(self, api="", more=""):
        self.conf.write_text(
            f'state_dir = "{self.state}"; shipped_rules = false;\nsocket = "unix:{self.top}/gillnetd.sock";\n'
            f'control_socket = "{self.top}/gillnetd.ctl";\nhub = {{ control_socket = "{self.top}/hub.ctl"; }};\n'
            f'api = {{ listen = [ "127.0.0.1:{self.port}", "unix:{self.unix}" ]; tokens_file = "{self.tokens}"; {api} }};\n'
            f'lists = ( {{ name = "allow"; category = "allow"; }}, {{ name = "phish"; weight = 8.0; }} );\n{more}\n')

    def run(self, *args, rc=0, stdin=None):
        p = subprocess.run([f"{BUILD}/gillnet", "-c", self.conf, *map(str, args)], capture_output=True, text=True,
                           timeout=120, input=stdin)
        if p.returncode not in (rc if isinstance(rc, tuple) else (rc,)):
            raise AssertionError(f"gillnet {args}: {p.returncode}\n{p.stdout}{p.stderr}")
        return p.stdout

    def token(self, name, role):
        p = subprocess.run([f"{BUILD}/gillnet-hub", "-c", self.conf, "token", name, role], capture_output=True, text=True,
                           timeout=60)
        if p.returncode != 0:
            raise AssertionError(p.stderr)
        return p.stdout.strip()

    def start(self, *before):
        """The hub, by these words of a command before its own."""
        with open(self.log, "ab") as f:
            self.process = subprocess.Popen([*before, f"{BUILD}/gillnet-hub", "-c", self.conf, "-f"], stderr=f)
        until(lambda: self.process.poll() is not None or self.is_up(), "the hub does not answer")
        return self

    def is_up(self, unix=False):
        try:
            return self.get("/healthz", unix=unix).status == 200
        except OSError:
            return False

    def start_gillnetd(self):
        with open(self.top / "gillnetd.log", "ab") as f:
            self.daemon = subprocess.Popen([f"{BUILD}/gillnetd", "-c", self.conf, "-f"], stderr=f)
        until(lambda: (self.top / "gillnetd.ctl").exists() and self.get("/readyz").status == 200,
              "gillnetd is not seen", seconds=60)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(60)

    def close(self):
        for p in (self.process, self.daemon):
            if p is not None and p.poll() is None:
                p.send_signal(signal.SIGTERM)
                p.wait(60)
        code = self.process.returncode if self.process else 0
        text = self.logs()
        self.folder.cleanup()
        if code not in (0, -signal.SIGKILL):
            raise AssertionError(f"the hub ended with {code}\n{text}")

    def logs(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def wait_log(self, text, seconds=60):
        """The log is written behind the replies."""
        end = time.monotonic() + seconds
        while text not in self.logs():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {text}:\n{self.logs()}")
            time.sleep(0.01)

    def memory(self):
        """Bytes of resident memory of the hub."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    # ---- clients ----

    checker = None  # called with every answer: openapi.py

    def ask(self, method, path, body=None, headers=None, unix=False):
        """The answer; when the hub is behind and says so, once more, as a client should."""
        end = time.monotonic() + 60
        while True:
            a = self.ask_once(method, path, body, headers, unix)
            if a.status != 503 or b"too much is to be done" not in a.body or time.monotonic() > end:
                return a
            time.sleep(0.1)

    def ask_once(self, method, path, body=None, headers=None, unix=False):
        c = UnixConnection(self.unix) if unix else http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            c.request(method, path, body=body, headers=headers or {})
            r = c.getresponse()
            a = Answer(r.status, r.headers, r.read())
            if self.checker:
                self.checker(method, path.partition("?")[0], a)
            return a
        finally:
            c.close()

    def get(self, path, headers=None, **more):
        return self.ask("GET", path, headers=headers, **more)

    def post(self, path, value, headers=None, **more):
        body = value if isinstance(value, (bytes, str)) else json.dumps(value)
        return self.ask("POST", path, body=body, headers={**JSON, **(headers or {})}, **more)

    def raw(self, data, wait=True, timeout=20):
        """The answer to these bytes, until the hub closes or is silent for a moment."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            s.sendall(data)
            if not wait:
                s.shutdown(socket.SHUT_WR)
            got = b""
            try:
                while True:
                    part = s.recv(65536)
                    if not part:
                        break
                    got += part
            except ConnectionResetError:
                pass
            return got
