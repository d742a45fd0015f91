"""The ledger: what gillnet and the MTAs acknowledged, written down outside of both, and what became of it.

A line is one JSON object with the key "kind" and its time "at". It is on disk before Ledger.write returns, so the
ledger never knows less than whoever was told "yes". Kinds, with the keys that judge() reads:

  mail      id, site, value (a URL in it that a list has, had or never had; null: none), list, spike
  reply     id, code (250, 4xx, 5xx; 0: the connection broke before the reply), text (for a rejection: with symbols)
  arrived   id, symbols; examined: whether gillnetd says that it examined the message
  held      id, symbols, examined
  change    n, site, list, op ("add" or "remove"), values: asked for;    changed  n, ok: how the command ended
  report    n, site: asked for;                                          reported n, ok, report: its id
  found     site, list, values: of all values of this list those that the site says are listed, at the end
  counted   site, reports: the ids of all reports that the site has, at the end
  version   site, new: another version of gillnet runs there from now on
  slice     slice: a run begins;                                         end      slice: and all was looked at
"""
import collections
import json
import os
import re
import threading
import time

GRACE_S = 60  # until a change counts on the other server
NEVER = float("inf")


class Ledger:
    """A file of lines. Many threads write; they share the waits for the disk."""

    def __init__(self, path):
        self.file = open(path, "ab")
        self.lock, self.disk = threading.Lock(), threading.Lock()
        self.written = self.synced = 0

    def write(self, kind, **fields):
        line = json.dumps({"kind": kind, "at": time.time(), **fields}).encode() + b"\n"
        with self.lock:
            self.file.write(line)
            self.file.flush()
            self.written += 1
            mine = self.written
        with self.disk:
            if self.synced < mine:
                last = self.written
                os.fsync(self.file.fileno())
                self.synced = last

    def close(self):
        self.file.close()


def read(path):
    """The lines of a ledger; a last one that a kill cut short is no line."""
    lines = []
    with open(path, "rb") as file:
        for line in file:
            try:
                lines.append(json.loads(line))
            except ValueError:
                pass
    return lines


class Entry:
    """What a value of a list was asked to be, and what was acknowledged. A value is added and removed once at most."""

    def __init__(self):
        self.times = {"add": (NEVER, NEVER), "remove": (NEVER, NEVER)}  # (asked, acknowledged)
        self.site = {"add": None, "remove": None}

    def listed(self, site, begin, end):
        """True, False, or None where the change was under way between begin and end."""
        added, add_done = self._at("add", site)
        removed, remove_done = self._at("remove", site)
        if end < added or remove_done <= begin:
            return False
        return True if add_done <= begin and end < removed else None

    def _at(self, op, site):
        asked, done = self.times[op]
        return asked, done if self.site[op] in (site, "all") else done + GRACE_S


class Judgement:
    """What was tried, and every fault as a line of text."""

    def __init__(self):
        self.tried = collections.Counter()
        self.lost, self.entries_lost, self.reports_lost = [], [], []
        self.doubled, self.reports_doubled, self.wrong = [], [], []
        self.notes = collections.Counter()


def _entries(lines):
    entries = collections.defaultdict(Entry)
    asked = {}
    for line in lines:
        if line["kind"] == "change":
            asked[line["n"]] = line
            for value in line["values"]:
                entry = entries[line["list"], value]
                entry.times[line["op"]] = (line["at"], NEVER)
                entry.site[line["op"]] = line["site"]
        elif line["kind"] == "changed" and line["ok"]:
            change = asked[line["n"]]
            for value in change["values"]:
                entries[change["list"], value].times[change["op"]] = (change["at"], line["at"])
    return entries


def standing(lines):
    """{list: {value: whether its addition was acknowledged}} of all values that nobody asked to remove."""
    out = collections.defaultdict(dict)
    for (name, value), entry in _entries(lines).items():
        asked, done = entry.times["add"]
        if asked < NEVER and entry.times["remove"][0] == NEVER:
            out[name][value] = done < NEVER
    return out


class Mail:
    """A message, all replies to it, and all places where it turned up."""

    def __init__(self, line):
        self.sent = line
        self.begun = line["at"]  # of the last try
        self.replies, self.found = [], []  # found: lines "arrived" and "held", and the reply that rejected it

    def answered(self, line):
        self.replies.append(line)
        if line["code"] >= 500:
            self.found.append({**line, "symbols": line["text"], "examined": True})

    def is_accepted(self):
        return any(r["code"] == 250 for r in self.replies)

    def may_be_there(self):
        return self.is_accepted() or any(r["code"] == 0 for r in self.replies) or not self.replies


def _mails(lines):
    """The mail of runs that came to their end: of one that was killed nobody looked where its mail is."""
    ended = {line["slice"] for line in lines if line["kind"] == "end"}
    mails, live = {}, False
    for line in lines:
        if line["kind"] == "slice":
            live = line["slice"] in ended
        elif line["kind"] == "mail" and live:
            if line["id"] in mails:
                mails[line["id"]].begun = line["at"]
            else:
                mails[line["id"]] = Mail(line)
        elif line.get("id") in mails:
            mail = mails[line["id"]]
            mail.answered(line) if line["kind"] == "reply" else mail.found.append(line)
    return mails


def _judge_place(mail, out):
    places = [f"{f['kind']} {f.get('code', '')}".strip() for f in mail.found]
    out.tried["mail"] += 1
    out.notes["deferred"] += any(400 <= r["code"] < 500 for r in mail.replies)
    out.notes["rejected"] += any(r["code"] >= 500 for r in mail.replies)
    out.notes["held"] += any(f["kind"] == "held" for f in mail.found)
    if mail.is_accepted() and not places:
        out.lost.append(f"mail {mail.sent['id']} at {mail.sent['site']}: accepted, and nowhere")
    elif len(places) > (1 if mail.may_be_there() or mail.found[0]["kind"] == "reply" else 0):
        out.doubled.append(f"mail {mail.sent['id']} at {mail.sent['site']}: {', '.join(places)}")


def _judge_verdict(mail, entries, out):
    if not mail.found:
        return
    found, site = mail.found[0], mail.sent["site"]
    end = max([r["at"] for r in mail.replies] or [found["at"]])
    value, name = mail.sent["value"], mail.sent["list"]
    want = entries[name, value].listed(site, mail.begun, end) if value else False
    hit = bool(re.search(rf"LIST_{name.upper() if value else '[A-Z]+'}\((?!0\.0\))", found["symbols"]))
    if not found["examined"]:
        out.notes["unexamined"] += 1
    if want is None:
        out.notes["undecided"] += 1
        return
    out.tried["verdicts"] += 1
    if hit != want:
        out.wrong.append(f"mail {mail.sent['id']} at {site}: {value} is {'' if want else 'not '}in {name}, "
                         f"and the message says {found['symbols']!r}")


def _judge_entries(lines, entries, out):
    """The last look of each site at each list against all that was acknowledged before."""
    last = {(line["site"], line["list"]): line for line in lines if line["kind"] == "found"}
    out.tried["changes"] = sum(line["kind"] == "changed" and line["ok"] for line in lines)
    for (site, name), look in last.items():
        found = set(look["values"])
        for (of, value), entry in entries.items():
            want = entry.listed(site, look["at"] + GRACE_S, look["at"] + GRACE_S) if of == name else None
            if want is not None and want != (value in found):
                out.entries_lost.append(f"{site}: {value} is {'not ' if want else 'still '}in {name}")


def _judge_reports(lines, out):
    asked = {line["n"]: line["site"] for line in lines if line["kind"] == "report"}
    done = [(asked[line["n"]], line["report"]) for line in lines if line["kind"] == "reported" and line["ok"]]
    out.tried["reports"] = len(done)
    for line in {line["site"]: line for line in lines if line["kind"] == "counted"}.values():
        site, counted = line["site"], collections.Counter(line["reports"])
        mine = [report for at, report in done if at == site]
        out.reports_lost += [f"{site}: report {r} is gone" for r in mine if not counted[r]]
        out.reports_doubled += [f"{site}: report {r} is there {n} times" for r, n in counted.items() if n > 1]
        unsure = sum(at == site for at in asked.values()) - len(mine)
        if len(counted) > len(mine) + unsure:
            out.reports_doubled.append(f"{site}: {len(counted)} reports, of {len(mine)} and {unsure} that failed")


def judge(lines):
    """A Judgement of the lines of a ledger."""
    out, entries = Judgement(), _entries(lines)
    for mail in _mails(lines).values():
        _judge_place(mail, out)
        _judge_verdict(mail, entries, out)
    _judge_entries(lines, entries, out)
    _judge_reports(lines, out)
    begun = sum(line["kind"] == "slice" for line in lines)
    out.notes["cut"] = begun - sum(line["kind"] == "end" for line in lines)
    return out
