"""Two servers of one owner as an administrator runs them: each with gillnetd, gillnet-hub, an MTA before it and a reader
of files, as a user without rights; and the sink behind the MTAs."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / name) for name in ("", "e2e", "integ/peers", "integ/api")]
import mta  # noqa: E402: before ring, which has another module of this name in front
import proc  # noqa: E402
import ring  # noqa: E402
from hub import UnixConnection  # noqa: E402

USER = "news"  # a user that every Debian has, in the group of Postfix's user
PROGRAMS = ("gillnet", "gillnetd", "gillnet-hub", "gillnet-reader")
MAIL_HEADER = re.compile(rb"^X-Prove-Id: (\S+)\r?$", re.M)
LISTS = {"phish": 9.0, "hold": 12.0, "drop": 30.0, "fed": 6.0}  # with their weights: mark, hold, reject, mark
# The longest deadline: other programs may keep this machine busy. Latency is measured.
CONFIG = """state_dir = "{state}"; socket = "unix:{socket}"; socket_group = "{group}"; shipped_rules = true;
deadline = "8s";
api = {{ listen = [ "unix:{top}/{name}.api" ]; tokens_file = "{top}/tokens"; local_role = "admin"; }};
thresholds = {{ header = 5.0; quarantine = 10.0; reject = 20.0; }};
reject_text = "refused, {{symbols}}";
journal = {{ size = "64M"; }};
lists = ( {lists} );
feeds = ( {{ name = "fed"; url = "{feed}"; interval = "1m"; format = "plain"; private = true; keep = "0s"; }} );
"""
LIST = '{{ name = "{}"; category = "phish"; weight = {}; share = "{}"; }}'


def copy_programs(build, to):
    """The programs of a build where USER may run them; an older build may have no reader."""
    to.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        if (pathlib.Path(build) / name).exists():
            shutil.copy(pathlib.Path(build) / name, to)
    return to


def _accepts(path):
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(str(path)) == 0


class Site(ring.Server):
    """One server. Its state folder outlives a run, its sockets do not."""

    def __init__(self, top, name, programs, port, feed):
        self.run_folder = proc.socket_folder()
        shutil.chown(self.run_folder, USER, USER)
        self.socket = f"{self.run_folder}/gillnetd.sock"
        self.feed = feed
        super().__init__(top, name, port=port, programs=programs, enter=[
            "setpriv", "--reuid", USER, "--regid", USER, "--groups", mta.POSTFIX_GROUP, "--pdeathsig", "KILL", "--"])
        shutil.chown(self.state, USER, USER)

    def write(self, config=""):
        lists = ", ".join(LIST.format(name, weight, "no" if name == "fed" else "entries") for name, weight in LISTS.items())
        if (self.programs / "gillnet-reader").exists():  # an older version does not know the key
            config += f'reader = {{ socket = "{self.top}/reader.sock"; }};\n'
        self.conf.write_text(config + CONFIG.format(
            state=self.state, socket=self.socket, group=mta.POSTFIX_GROUP, top=self.top, name=self.name, lists=lists,
            feed=self.feed))

    def is_serving(self):
        return _accepts(self.state / "gillnetd.ctl") and _accepts(self.socket)

    def listed(self, values):
        """Those of the values that some list of the site confirms."""
        if not values:
            return []
        done = subprocess.run([*self.enter, self.programs / "gillnet", "-c", self.conf, "--json", "lookup", "--all", "-"],
                              input="".join(v + "\n" for v in values), capture_output=True, text=True, timeout=300)
        rows = map(json.loads, done.stdout.splitlines())
        found = {row["value"] for row in rows if row["status"] == "confirmed" and not row.get("silent")}
        return [v for v in values if v in found]

    def reports(self):
        return [row["id"] for row in self.json("report", "list")]

    def post(self, path, value):
        """The status of the API's answer; 0 where there was none."""
        connection = UnixConnection(f"{self.top}/{self.name}.api")
        try:
            connection.request("POST", path, body=json.dumps(value), headers={"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except OSError:
            return 0
        finally:
            connection.close()


class Pair:
    """Sites a and b in one folder, which keeps their state and ports for the next run."""

    def __init__(self, top, feed, build=ring.BUILD, site=Site):
        self.top = pathlib.Path(top)
        self.top.mkdir(parents=True, exist_ok=True)
        self.top.chmod(0o755)
        shutil.chown(self.top, USER, USER)
        self.programs = copy_programs(build, pathlib.Path(proc.scratch("bin")))
        kept = self.top / "ports.json"
        self.is_new = not kept.exists()
        if self.is_new:
            kept.write_text(json.dumps({name: proc.free_port() for name in "ab"}))
        self.a, self.b = self.sites = [site(top, name, self.programs, port, feed)
                                       for name, port in json.loads(kept.read_text()).items()]
        self.reader = None

    def start(self):
        if self.is_new:
            self.a.run("peer", "ring", "create", "--kind", "own", "--name", "a", "--address", self.a.address)
            self.a.hub()
            ring.invite(self.a, self.b)
        for site in self.sites:
            site.hub_proc or site.hub()
            site.daemon()
        self.start_reader()
        ring.until(lambda: self.a.connected() == {"b"} and self.b.connected() == {"a"}, "both sites", log=self.logs)
        return self

    def start_reader(self):
        program = self.programs / "gillnet-reader"
        if program.exists():
            with open(self.top / "reader.log", "ab") as log:
                self.reader = subprocess.Popen([*self.a.enter, program, "--socket", self.top / "reader.sock"],
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def processes(self):
        """{name: pid} of what is measured."""
        found = {f"{program} {site.name}": process.pid for site in self.sites
                 for program, process in (("gillnetd", site.daemon_proc), ("gillnet-hub", site.hub_proc)) if process}
        return {**found, **({"gillnet-reader": self.reader.pid} if self.reader else {})}

    def ended(self):
        """Names of the processes that ended by themselves."""
        return [name for name, pid in self.processes().items() if not os.path.exists(f"/proc/{pid}/exe")]

    def logs(self):
        return "".join(site.logs() for site in self.sites)

    def stop(self):
        """All end by SIGTERM, and each with 0."""
        for site in self.sites:
            site.stop()
        if self.reader:
            proc.stop(self.reader)
