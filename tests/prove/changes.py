"""What administrators and users do while mail comes: lists, feeds, reports, reloads, rotations, restarts of a hub."""
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading

from sites import LISTS

FED_FIRST = 300  # entries of the feed at the begin
FED_CHANGE = (5, 3)  # entries that come and go at once; a feed that changes by half is refused
FIRST = 40  # entries of each other list at the begin
# How often a day each thing is done.
EVENTS = {"add": 200, "remove": 120, "feed": 12, "report": 60, "reload": 12, "rotate": 8, "hub": 3}


class Lists:
    """Values and what they are now, as far as acknowledged: shared between the changes and the mail that tests them."""

    def __init__(self, prefix):
        self.prefix, self.made = prefix, 0
        self.lock = threading.Lock()
        self.on = collections.defaultdict(list)  # list -> values that were acknowledged, and are not being removed
        self.off = [(None, f"never{prefix}x{i}.example") for i in range(200)]  # (list, value)

    def new(self, count):
        """Values that nobody had before: hosts and URLs in turn, each of a domain of its own."""
        values = []
        for _ in range(count):
            self.made += 1
            host = f"v{self.prefix}x{self.made}.example"
            values.append(f"http://{host}/login/{self.made}" if self.made % 2 else host)
        return values

    def value(self, chooser, is_listed):
        """(list, value) for a message."""
        with self.lock:
            names = [name for name in LISTS if self.on[name]]
            if not is_listed or not names:
                name, value = chooser.choice(self.off)
                return name or "phish", value
            name = chooser.choice(names)
            return name, chooser.choice(self.on[name])

    def added(self, name, values):
        with self.lock:
            self.on[name] += values

    def leaving(self, chooser, name, count):
        """Values that are to be removed; no new message is given them."""
        with self.lock:
            chooser.shuffle(self.on[name])
            leaving, self.on[name] = self.on[name][:count], self.on[name][count:]
            return leaving

    def removed(self, name, values):
        with self.lock:
            self.off += [(name, value) for value in values]


class Changes:
    """Does each event at its time; every change stands in the ledger before and after."""

    def __init__(self, ledger, pair, lists, traffic, site_of_feed, mtas, folder, day_s, seed):
        self.ledger, self.pair, self.lists, self.traffic = ledger, pair, lists, traffic
        self.feed_site, self.mtas, self.folder = site_of_feed, mtas, pathlib.Path(folder)
        self.chooser = random.Random(seed)
        self.done = collections.Counter()
        self.failed = collections.Counter()
        self.number = 0
        self.page = []  # values of the feed
        self.fed_pending = []  # changes of the page that no update has taken yet
        self.mean = {name: day_s / often for name, often in EVENTS.items()}
        self.next = {name: self.chooser.uniform(0, 2 * mean) for name, mean in self.mean.items()}

    def due(self, now):
        """Does what is due at now, seconds since the begin."""
        for name, when in self.next.items():
            if when <= now:
                self.next[name] = now + self.chooser.uniform(0, 2 * self.mean[name])
                self.done[name] += 1
                getattr(self, "do_" + name)()

    def begin(self, standing):
        """The lists as they are before the first message: what stands of former runs, and some new values."""
        for name, values in standing.items():
            self.lists.added(name, [value for value, is_acknowledged in values.items() if is_acknowledged])
        self.page = list(standing.get("fed", ()))
        for name in LISTS:
            for site in "ab" if name != "fed" else "":
                self.change(site, name, "add", self.lists.new(FIRST // 2))
        self._page(self.lists.new(FED_CHANGE[0] if self.page else FED_FIRST), [])

    # ---- lists ----

    def _ask(self, site, name, op, values):
        self.number += 1
        self.ledger.write("change", n=f"{self.lists.prefix}-{self.number}", site=site, list=name, op=op, values=values)
        return f"{self.lists.prefix}-{self.number}"

    def _settle(self, number, name, op, values, ok):
        self.ledger.write("changed", n=number, ok=ok)
        if ok and op == "add":
            self.lists.added(name, values)
        elif ok:
            self.lists.removed(name, values)

    def change(self, site, name, op, values, over_api=False):
        number = self._ask(site, name, op, values)
        server = getattr(self.pair, site)
        verb = "add" if op == "add" else "revoke"
        if over_api:
            status = server.post(f"/v1/list/{verb}", {"list": name, "values": values, "reason": "proof"})
            ok = status == 200
        else:
            status = self._run(server, "list", verb, name, *values)
            ok = status == 0 or op == "remove" and status == 1  # revoked, and this server had not listed it itself
        if not ok:
            self.failed[f"{op} {'over the API' if over_api else 'by command'}: {status}"] += 1
        self._settle(number, name, op, values, ok)

    def _run(self, server, *args):
        return subprocess.run([*server.enter, f"{server.programs}/gillnet", "-c", server.conf, *args],
                              capture_output=True, timeout=300).returncode

    def _list(self):
        return self.chooser.choice([name for name in LISTS if name != "fed"])

    def do_add(self):
        self.change(self.chooser.choice("ab"), self._list(), "add", self.lists.new(self.chooser.randint(1, 4)),
                    self.chooser.random() < 0.4)

    def do_remove(self):
        name = self._list()
        values = self.lists.leaving(self.chooser, name, self.chooser.randint(1, 4))
        if values:
            self.change(self.chooser.choice("ab"), name, "remove", values, self.chooser.random() < 0.4)

    # ---- the feed ----

    def do_feed(self):
        came, went = FED_CHANGE
        self._page(self.lists.new(came), self.lists.leaving(self.chooser, "fed", went))

    def _page(self, came, went):
        self.fed_pending += [(self._ask("all", "fed", op, values), "fed", op, values)
                             for op, values in (("add", came), ("remove", went)) if values]
        self.page = [value for value in self.page + came if value not in went]
        self.feed_site.text("".join(value + "\n" for value in self.page))
        results = [row["result"] for site in self.pair.sites for row in site.json("feed", "update", "fed", rc=None)]
        if len(results) == len(self.pair.sites) and set(results) <= {"ok", "same"}:
            for change in self.fed_pending:
                self._settle(*change, True)
            self.fed_pending = []
        else:
            self.failed["feed"] += 1

    # ---- reports ----

    def do_report(self):
        if not self.traffic.reported:
            return
        mail = self.traffic.reported.pop(0)
        path = self.folder / "reported.eml"
        path.write_bytes(mail["raw"])
        path.chmod(0o644)
        self.number += 1
        number = f"{self.lists.prefix}-{self.number}"
        self.ledger.write("report", n=number, site=mail["site"])
        rows = getattr(self.pair, mail["site"]).json("report", "spam" if mail["spam"] else "ham", path, rc=None)
        ok = len(rows) == 1 and "id" in rows[0]
        self.failed["report"] += not ok
        self.ledger.write("reported", n=number, ok=ok, report=rows[0]["id"] if ok else None)

    # ---- the programs ----

    def do_reload(self):
        self.failed["reload"] += self._run(self.chooser.choice(self.pair.sites), "reload") != 0

    def do_rotate(self):
        """As logrotate does with copytruncate: the programs write on into the same file."""
        logs = [log for site in self.pair.sites for log in (site.hub_log, site.daemon_log)]
        for log in [*logs, self.folder / "reader.log", *(mta.log_file for mta in self.mtas.values())]:
            if os.path.exists(log):
                shutil.copy(log, f"{log}.1")
                os.truncate(log, 0)

    def do_hub(self):
        """Site b's hub only: that of site a lives on, so that its memory can be judged."""
        site = self.pair.b
        if self.done["hub"] % 3 == 0:
            site.kill_hub()
        else:
            site.hub_proc.send_signal(signal.SIGTERM)
            self.failed["hub"] += site.hub_proc.wait(120) != 0
        site.hub()
