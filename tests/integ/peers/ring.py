"""Servers of a ring as child processes: the hub, and gillnetd where it is wanted, each in a folder of its own."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/integ/milter")]
from ports import free_port  # noqa: E402

BUILD = os.path.abspath(os.environ.get("GILLNET_BUILD", ROOT / "build/release"))
MAIL = ROOT / "tests/data/mail/listed-url.eml"
os.environ.setdefault("TSAN_OPTIONS", f"suppressions={ROOT}/tests/tsan.supp")  # libmilter's own, in gillnetd


def until(what, name="it", seconds=120, step=0.05, log=lambda: ""):
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain for {name}\n{log()}")
        time.sleep(step)


class Server:
    """One server; hub() and daemon() start its programs."""

    def __init__(self, top, name, config="", port=None, enter=(), programs=BUILD):
        """enter: the words before each command, to run it elsewhere. programs: their folder."""
        self.name = name
        self.programs = programs
        self.enter = list(enter)
        self.top = pathlib.Path(top)
        self.state = self.top / name
        self.conf = self.top / f"{name}.conf"
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.hub_proc = self.daemon_proc = None
        self.hub_log = self.top / f"{name}.hub.log"
        self.daemon_log = self.top / f"{name}.gillnetd.log"
        self.state.mkdir(exist_ok=True)
        self.write(config)

    def write(self, config=""):
        api = "" if "api = " in config else "api = { listen = []; };\n"
        self.conf.write_text(f'state_dir = "{self.state}"; shipped_rules = false;\nsocket = "unix:{self.top}/{self.name}.sock";\n'
                             f'count = {{ messages_per_day = 1000; }};\n{api}{config}\n')

    def run(self, *args, rc=0, text=None):
        p = subprocess.run([*self.enter, f"{self.programs}/gillnet", "-c", self.conf, *map(str, args)], input=text,
                           capture_output=True, text=True, timeout=300)
        if rc is not None and p.returncode != rc:
            raise AssertionError(f"gillnet {args} of {self.name}: {p.returncode}, not {rc}\n"
                                 f"{p.stdout}{p.stderr}{self.logs()}")
        return p.stdout + p.stderr

    def json(self, *args, rc=0):
        p = subprocess.run([*self.enter, f"{self.programs}/gillnet", "-c", self.conf, "--json", *map(str, args)],
                           capture_output=True, text=True, timeout=300)
        if rc is not None and p.returncode not in (rc, 1):
            raise AssertionError(f"gillnet {args} of {self.name}: {p.returncode}\n{p.stdout}{p.stderr}")
        return [json.loads(line) for line in p.stdout.splitlines()]

    # ---- programs ----

    def start(self, program, log, *args):
        with open(log, "ab") as f:
            return subprocess.Popen([*self.enter, f"{self.programs}/{program}", "-c", self.conf, "-f", *args],
                                    stdin=subprocess.DEVNULL, stdout=f, stderr=f)

    def hub(self, wait=True):
        self.hub_proc = self.start("gillnet-hub", self.hub_log)
        if wait:
            until(lambda: self.control("ping").startswith("ok") or self.hub_proc.poll() is not None,
                  "the hub's control socket", log=self.logs)
            assert self.hub_proc.poll() is None, self.logs()
        return self

    def daemon(self):
        self.daemon_proc = self.start("gillnetd", self.daemon_log)
        until(lambda: self.is_serving() or self.daemon_proc.poll() is not None, "gillnetd", log=self.logs)
        return self

    def is_serving(self):
        """A killed gillnetd leaves its sockets; a test may have put the one for mail elsewhere."""
        mail = pathlib.Path(self.top, f"{self.name}.sock")
        for path in [self.state / "gillnetd.ctl", *([mail] if mail.exists() else [])]:
            with socket.socket(socket.AF_UNIX) as s:
                if s.connect_ex(str(path)) != 0:
                    return False
        return True

    def kill(self):
        for p in (self.hub_proc, self.daemon_proc):
            if p:
                p.kill()
                p.wait()
        self.hub_proc = self.daemon_proc = None

    def kill_hub(self):
        self.hub_proc.kill()
        self.hub_proc.wait()
        self.hub_proc = None

    def stop(self):
        """SIGTERM; both must end by themselves with 0 (a sanitizer's finding does not)."""
        for name in ("hub_proc", "daemon_proc"):
            p = getattr(self, name)
            setattr(self, name, None)
            if p:
                p.send_signal(signal.SIGTERM)
                try:
                    rc = p.wait(120)
                except subprocess.TimeoutExpired:
                    p.kill()
                    rc = "no end"
                if rc != 0:
                    raise AssertionError(f"{name} of {self.name} ended with {rc}\n{self.logs()}")

    def logs(self):
        return "".join(f"--- {p.name}\n" + p.read_text(errors="replace")[-5000:]
                       for p in (self.hub_log, self.daemon_log) if p.exists())

    def hub_lines(self, *words):
        if not self.hub_log.exists():
            return []
        return [line for line in self.hub_log.read_text(errors="replace").splitlines()
                if all(w in line for w in words)]

    def control(self, request):
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(30)
                s.connect(str(self.state / "peers/hub.ctl"))
                s.sendall(request.encode() + b"\n")
                out = b""
                while got := s.recv(65536):
                    out += got
                return out.decode()
        except (FileNotFoundError, ConnectionError):
            return ""

    def stat(self, name):
        return int(re.search(rf"^{name} (\d+)$", self.control("stat"), re.M).group(1))

    def status(self):
        """By name."""
        rows = [json.loads(x) for x in self.control("status").splitlines()[1:]]
        return {r["name"]: r for r in rows}

    def connected(self):
        return {n for n, r in self.status().items() if r.get("connected")}

    # ---- what it holds ----

    def count(self, n=1, start=0, mail=MAIL):
        """Counts a message n times, over gillnetd where it runs."""
        for i in range(start, start + n):
            self.run("check", "--count", "--from", "joe@evil.example", "--rcpt", f"r{i}@rcpt.example", mail,
                     rc=None)

    def origin(self):
        return re.search(r"^self ([0-9a-f]{32})$", (self.state / "peers/origins").read_text(), re.M).group(1)

    def totals(self, origin, folder="counts"):
        """{bucket: {key: count}} of the open streams that it holds of an origin."""
        out = {}
        for path in (self.state / "peers" / folder / origin).glob("*.stream"):
            try:
                blob = path.read_bytes()
            except FileNotFoundError:
                continue
            sums = collections.Counter()
            at = 64
            while at + 16 <= len(blob):
                _, n, _ = struct.unpack_from("<IIQ", blob, at)
                if at + 16 + 16 * n + 8 > len(blob):
                    break
                for key, count in struct.iter_unpack("<QQ", blob[at + 16:at + 16 + 16 * n]):
                    sums[key] += count
                at += 16 + 16 * n + 8
            start = path.name.split("-")[0]
            out[start] = collections.Counter(out.get(start, {})) + sums
        return out


class Ring:
    """with Ring("a", "b", "c") as (a, b, c): a made the ring, the others joined with a token each."""

    def __init__(self, *names, config=None, hubs=True, addresses=None, enter=None, kind="federation"):
        self.top = tempfile.mkdtemp(prefix="gillnet-ring-")
        self.servers = [Server(self.top, n, (config or {}).get(n, ""), enter=(enter or {}).get(n, ()))
                        for n in names]
        for s in self.servers:
            s.address = (addresses or {}).get(s.name, s.address)
        self.hubs = hubs
        self.kind = kind

    def __enter__(self):
        try:
            first = self.servers[0]
            first.run("peer", "ring", "create", "--kind", self.kind, "--name", first.name, "--address", first.address)
            first.hub()
            for s in self.servers[1:]:
                invite(first, s)
            for s in self.servers:
                if not self.hubs:
                    s.hub_proc and s.stop()
                elif not s.hub_proc:
                    s.hub()
        except BaseException:
            self.__exit__(AssertionError, None, None)
            raise
        return self.servers

    def __exit__(self, kind, value, trace):
        try:
            for s in self.servers:
                if kind is None:
                    s.stop()
                else:
                    s.kill()
        finally:
            for s in self.servers:
                s.kill()
            if kind is not None:
                for s in self.servers:
                    print(s.logs(), file=sys.stderr)
            if not os.environ.get("GILLNET_KEEP"):
                shutil.rmtree(self.top, ignore_errors=True)


def invite(inviter, guest):
    """Two commands on each side; the inviter's are done already."""
    token = re.search(r"gnp1-\S+", inviter.run("peer", "invite", guest.name)).group(0)
    guest.run("peer", "init", "--name", guest.name, "--address", guest.address)
    guest.run("peer", "join", token)
    return token
