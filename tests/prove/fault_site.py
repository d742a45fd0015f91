"""One installation with everything on, as a user without rights: its daemons, its commands, its state folder."""
import atexit
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", TOP / "build/release")).resolve()
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests/integ/milter")]

USER = "news"  # a user that every Debian has; root may read everything, so nothing would be unreadable to it
PROGRAMS = ("gillnet", "gillnetd", "gillnet-hub", "tests/prove/libfault_calls.so")
READY_S, END_S = 300, 60  # longest start and end of a daemon, on a loaded machine
PATIENCE_S = 60  # of a command

CONFIG = """state_dir = "{state}"; socket = "unix:{top}/mail.sock"; shipped_rules = true; deadline = "8s";
reader = {{ socket = "{top}/reader.sock"; }};
hub = {{ control_socket = "{top}/hub.ctl"; }};
api = {{ listen = [ "unix:{top}/api.sock" ]; tokens_file = "{top}/tokens"; }};
count = {{ messages_per_day = 1000; }};
thresholds = {{ header = 5.0; embargo = 3.0; }};
trusted_authserv = [ "mx.here.example" ];
embargo = {{ text = "Later: {{symbols}}, case {{case}}"; }};
quarantine = {{ mta = "postfix"; programs = "{base}/mta"; url = "https://mail.here.example"; }};
model = {{ prior = ""; }};
lists = ( {{ name = "allow"; category = "allow"; }}, {{ name = "grey"; weight = 4.0; }},
  {{ name = "phish"; category = "phish"; weight = 9.0; share = "entries"; }},
  {{ name = "fed"; category = "phish"; weight = 9.0; }} );
feeds = ( {{ name = "fed"; url = "file://{base}/feed.txt"; interval = "1h"; }} );
"""


class Broken(Exception):
    """The place cannot run the matrix: never a finding about gillnet."""


def until(what, seconds, step=0.02):
    """Calls what until it is true: its value, or the last false one when the time is over."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got or time.monotonic() > end:
            return got
        time.sleep(step)


def as_user(argv):
    return ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--pdeathsig", "KILL", "--", *map(str, argv)]


def remove(folder):
    """With the disks of faults, where some are left."""
    for disk in folder.glob("*/site/state"):
        subprocess.run(["umount", "-lq", disk], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(folder, ignore_errors=True)


def scratch():
    """A folder for the worlds of all workers, which everybody may enter; removed at the end."""
    if os.geteuid() != 0:
        raise Broken("needs root: the daemons run as another user, and disks are mounted")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gnfault-"))
    folder.chmod(0o755)
    if os.environ.get("GILLNET_KEEP"):
        print(f"kept: {folder}", file=sys.stderr)
    else:
        atexit.register(remove, folder)
    return folder


def base(top):
    """The folder of one world in it, with copies of the programs that USER may run."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=top))
    folder.chmod(0o755)
    (folder / "bin").mkdir()
    for name in PROGRAMS:
        if not (BUILD / name).exists():
            raise Broken(f"no {name} in {BUILD}: build first")
        shutil.copy(BUILD / name, folder / "bin")
    return folder


class Site:
    """Folder top: gillnet.conf, sockets, state, one log for each program."""

    def __init__(self, base, name):
        self.bin = base / "bin"
        self.top = base / name
        self.state = self.top / "state"
        self.conf = self.top / "gillnet.conf"
        self.procs = {}
        self.env = {}  # for whatever is started: the preloaded library and its orders
        self.top.mkdir()
        self.state.mkdir(mode=0o750)
        for path in (self.top, self.state):
            shutil.chown(path, USER, USER)

    def configure(self, more=""):
        self.conf.write_text(CONFIG.format(state=self.state, top=self.top, base=self.top.parent) + more)

    # ---- commands ----

    def run(self, *argv, text=None, env=None, timeout=PATIENCE_S, as_root=False):
        """`gillnet ARGV`: the finished process; what hangs is killed, and its status is "hung"."""
        words = [str(self.bin / "gillnet"), "-c", str(self.conf), *map(str, argv)]
        child = subprocess.Popen(words if as_root else as_user(words), text=True, errors="replace",
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=dict(os.environ, **(env or {})))
        try:
            out, err = child.communicate(text, timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            return subprocess.CompletedProcess(argv, "hung", out, err)
        return subprocess.CompletedProcess(argv, child.returncode, out, err)

    def must(self, *argv, **kwargs):
        done = self.run(*argv, **kwargs)
        if done.returncode != 0:
            raise Broken(f"gillnet {' '.join(map(str, argv))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def rows(self, *argv):
        """What a command prints as JSON; what it cannot print is not there."""
        return self.parsed(self.run("--json", *argv).stdout)

    @staticmethod
    def parsed(text):
        out = []
        for line in text.splitlines():
            try:
                out.append(json.loads(line))
            except ValueError:
                pass
        return out

    # ---- daemons ----

    def log(self, program):
        path = self.top / f"{program}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def logs(self):
        return "".join(self.log(program) for program in ("gillnetd", "gillnet-hub"))

    def spawn(self, program, *argv, env=None):
        with open(self.top / f"{program}.log", "ab") as out:
            self.procs[program] = subprocess.Popen(as_user([self.bin / program, *argv]), stdin=subprocess.DEVNULL, stdout=out,
                                                   stderr=out, env=dict(os.environ, **self.env, **(env or {})))
        return self.procs[program]

    def start(self, *programs):
        """The names of those that do not serve."""
        failed = []
        for program in programs or ("gillnetd", "gillnet-hub"):
            self.spawn(program, "-f", "-c", self.conf)
        for program in programs or ("gillnetd", "gillnet-hub"):
            if not until(lambda: self.serves(program) or self.procs[program].poll() is not None, READY_S) \
                    or self.procs[program].poll() is not None:
                failed.append(program)
        return failed

    def serves(self, program):
        path = self.top / {"gillnetd": "mail.sock", "gillnet-hub": "api.sock"}[program]
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(str(path)) == 0

    def status(self, path):
        """Of a GET to the hub's API; None: no answer."""
        connection = http.client.HTTPConnection("localhost", timeout=PATIENCE_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.top / "api.sock"))
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def died(self):
        """Daemons that ended by themselves, and how."""
        return {name: child.poll() for name, child in self.procs.items() if child.poll() is not None}

    def kill(self, *programs):
        for name in programs or tuple(self.procs):
            child = self.procs.pop(name, None)
            if child:
                child.kill()
                child.wait()

    def stop(self):
        """SIGTERM to each; {program: status} of those that did not end with 0."""
        bad = {}
        for child in self.procs.values():
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for name, child in self.procs.items():
            try:
                status = child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                status = "hung"
            if status != 0:
                bad[name] = status
        self.procs.clear()
        return bad
