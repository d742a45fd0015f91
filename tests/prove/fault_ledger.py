"""The ledger outside: what the programs acknowledged, what they may say after a fault, and what counts as lost.

Lost is what is silently missing. What is missing and said so (a line of the log, of doctor, of stat or of the
command's errors that names the file or its room) is "told"; it stands in the note.
"""
import dataclasses
import re

KINDS = ("mail_lost", "acknowledged_lost", "doubled", "wrong_verdicts")
# Words by which gillnet names a part of the state folder, beside the folder's own name.
NAMES = {"identity": ["correspondents"], "lists": ["list "], "keys": ["key"], "counts": ["count"], "reports": ["report"],
         "peers": ["peer", "ring", "publication", "subscri"], "feeds": ["feed"], "users": ["user"], "tuning": ["setting"]}


@dataclasses.dataclass
class Findings:
    """Of one fault tried, or of many together."""

    tried: int = 0
    mail_lost: int = 0
    acknowledged_lost: int = 0
    doubled: int = 0
    wrong_verdicts: int = 0
    told: int = 0
    notes: list = dataclasses.field(default_factory=list)
    proofs: list = dataclasses.field(default_factory=list)  # what is missing, and the line that says so

    def found(self, kind, text):
        setattr(self, kind, getattr(self, kind) + 1)
        self.notes.append(f"{kind}: {text}")

    def add(self, other):
        for name in ("tried", "told", *KINDS):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.notes += other.notes

    def is_clean(self):
        return not any(getattr(self, kind) for kind in KINDS)


@dataclasses.dataclass
class Ledger:
    listed: dict = dataclasses.field(default_factory=dict)  # value -> list
    revoked: dict = dataclasses.field(default_factory=dict)
    unsure: set = dataclasses.field(default_factory=set)  # values whose command was cut off: either way is right
    counted: dict = dataclasses.field(default_factory=dict)  # host -> (answered, sent)
    cases: set = dataclasses.field(default_factory=set)
    users: dict = dataclasses.field(default_factory=dict)  # name -> thresholds.header
    tuned: dict = dataclasses.field(default_factory=dict)  # key -> value
    reports: set = dataclasses.field(default_factory=set)
    links: set = dataclasses.field(default_factory=set)  # of digests
    answered: dict = dataclasses.field(default_factory=dict)  # file of a message -> word of its identity

    def copy(self):
        return Ledger(**{f.name: type(getattr(self, f.name))(getattr(self, f.name)) for f in dataclasses.fields(self)})

    def sent(self, host, answer):
        """A message with a link to host went in; answer: None where the MTA's default had to do."""
        answered, sent = self.counted.get(host, (0, 0))
        self.counted[host] = (answered + (answer is not None), sent + 1)
        if answer is not None and answer.case():
            self.cases.add(answer.case())


def words_of(path):
    """What a line may call this file: its name without numbers, its folder, its room."""
    parts = [re.split(r"[.-]?\d", part)[0] or part for part in path.split("/")]
    return {path, parts[-1], parts[0], *NAMES.get(parts[0], [])} - {""}


class Said:
    """Lines in which gillnet says that something is wrong, beyond those that it always says."""

    def __init__(self, usual=()):
        self.usual = set(usual)
        self.lines = []

    @staticmethod
    def plain(line):
        return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", line)

    def add(self, text):
        self.lines += [line for line in text.splitlines() if line.strip() and self.plain(line) not in self.usual]

    def gather(self, site):
        """What the logs, doctor and stat say now."""
        self.add("\n".join(line for line in site.logs().splitlines()
                           if ": error: " in line or ": warning: " in line or ": warn: " in line))
        doctor = site.rows("doctor")
        self.add("\n".join(f"{r.get('check')}: {r.get('detail')}" for r in doctor if r.get("status") != "ok"))
        self.add("\n".join(line for line in site.run("stat").stdout.splitlines() if line.startswith("fault")))
        return self

    def names(self, words):
        """The first line that has one of the words, or None."""
        return next((line for line in self.lines if any(word in line for word in words)), None)


class Checker:
    """Compares one site with a ledger, after one fault at path ("" : of the whole)."""

    def __init__(self, site, ledger, said, path=""):
        self.site, self.ledger, self.said = site, ledger, said
        self.words = words_of(path) if path else set()
        self.out = Findings()
        self.missing = []  # (kind, what, words of its room)
        self.died = False  # a daemon did not start: said already
        self.may_die = False  # the fault is a kill

    def miss(self, kind, what, *rooms):
        words = set(self.words)
        for room in rooms:
            words |= {room, *NAMES.get(room.split("/")[0], [])}
        self.missing.append((kind, what, words))

    def rows(self, *argv):
        done = self.site.run("--json", *argv)
        self.said.add(done.stderr)
        if done.returncode == "hung":
            self.out.notes.append(f"gillnet {argv[0]} hangs")
        return self.site.parsed(done.stdout)

    def check(self):
        """All of it: the Findings."""
        for part in (self.lists, self.counts, self.journal, self.settings, self.people):
            part()
        return self.settle()

    def settle(self):
        """What is missing is told or lost."""
        self.said.gather(self.site)
        for kind, what, words in self.missing:
            line = self.said.names(words)
            if line:
                self.out.told += 1
                self.out.proofs.append(f"{what} - {line}")
            else:
                self.out.found(kind, what)
        self.missing = []
        return self.out

    def lists(self):
        values = [*self.ledger.listed, *self.ledger.revoked]
        asked = self.site.top / "asked"
        asked.write_text("".join(v + "\n" for v in values))
        found = {}
        for row in self.rows("lookup", "--all", "--file", asked):
            found.setdefault(row.get("value"), set()).add(row.get("status"))
        for value, name in self.ledger.listed.items():
            if value not in self.ledger.unsure and "confirmed" not in found.get(value, ()):
                self.miss("acknowledged_lost", f"{value} of {name}: {found.get(value)}", f"list {name}", "lists", "peers")
        for value, name in self.ledger.revoked.items():
            if value not in self.ledger.unsure and "confirmed" in found.get(value, ()):
                self.miss("wrong_verdicts", f"{value}, revoked in {name}, is listed", f"list {name}", "lists")

    def counts(self):
        for host, (answered, sent) in self.ledger.counted.items():
            rows = [r for r in self.rows("lookup", host) if r.get("counted_as") == "url_domain"]
            got = rows[0].get("w14d", 0) if rows else 0
            if got > sent:
                self.miss("doubled", f"{host}: counted {got} times, sent {sent}", "counts")
            elif got < answered:
                self.miss("acknowledged_lost", f"{host}: counted {got} times, answered {answered}", "counts")

    def journal(self):
        shown = {r.get("case") for r in self.rows("messages", "-n", "1000")}
        lost = self.ledger.cases - shown
        if lost:
            self.miss("acknowledged_lost", f"{len(lost)} of {len(self.ledger.cases)} messages of the journal", "journal")

    def settings(self):
        users = {r.get("name"): r.get("set", [""])[0] for r in self.rows("user", "list")}
        for name, value in self.ledger.users.items():
            if name not in self.ledger.unsure and users.get(name) != f"thresholds.header={value}":
                self.miss("acknowledged_lost", f"user {name}: {users.get(name)}", "users")
        tuned = {s["key"]: s["value"] for r in self.rows("tune", "show") for s in r.get("settings", [])}
        for key, value in self.ledger.tuned.items():
            if key not in self.ledger.unsure and tuned.get(key) != value:
                self.miss("acknowledged_lost", f"tuning {key}: {tuned.get(key)}", "tuning")

    def people(self):
        reports = {r.get("id") for r in self.rows("report", "list")}
        for one in self.ledger.reports - reports:
            self.miss("acknowledged_lost", f"report {one}", "reports")
        for link in self.ledger.links if "gillnet-hub" in self.site.procs else ():
            status = self.site.status(f"/q/{link}")
            if status != 200:
                self.miss("acknowledged_lost", f"a link of a digest: {status}", "quarantine")
        for path, word in self.ledger.answered.items():
            rows = self.rows("check", "--client", "192.0.2.10", "--from", "bob@their.example", "--rcpt", "ann@here.example", path)
            if not any(word in row.get("identity", []) for row in rows):
                self.miss("acknowledged_lost", f"{word} of {path}", "identity", "keys")
