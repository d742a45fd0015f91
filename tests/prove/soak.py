#!/usr/bin/env python3
"""Soak: two servers of one owner under mail of days, while everything about them changes.

Usage: soak.py [--hours H] [--seed N] [--keep FOLDER] [--rate N] [--day SECONDS]

contrib/prove runs it and says what the options are. One row of the table is a JSON line (table.py).
"""
import argparse
import contextlib
import pathlib
import signal
import sys
import threading
import time

import measure
import table
from changes import Changes, Lists
from ledger import Ledger, judge, read, standing
from sites import Pair, TOP, mta, proc
from traffic import Day, Mailbag, MAIL_HEADER, RecordingSink, Traffic, seen

sys.path.insert(0, str(TOP / "tests/integ/feeds"))
from site_of_feeds import Site as FeedSite  # noqa: E402

SAMPLE_S, PROGRESS_S = 5, 30
DRAIN_S, SETTLE_S = 120, 120  # until the MTAs' queues are empty, and both sites say the same


stopping = threading.Event()  # a signal said so: the work ends, and what was sent is judged


class Run:
    """One slice: everything that runs, and what it writes down."""

    def __init__(self, arguments, sink=RecordingSink, **pair):
        """arguments: of arguments_of. sink: its class. pair: further arguments of Pair."""
        self.top, self.arguments = pathlib.Path(arguments.keep or proc.scratch("prove")).absolute(), arguments
        self.feed = FeedSite()
        self.pair = Pair(self.top, self.feed.url(), **pair)
        path = self.top / "ledger.jsonl"
        former = read(path) if path.exists() else []
        self.number = 1 + sum(line["kind"] == "slice" for line in former)
        self.standing = standing(former)
        self.ledger = Ledger(path)
        self.sink = sink(self.ledger)
        self.mtas = {"a": mta.Postfix(f"unix:{self.pair.a.socket}", sink=self.sink),
                     "b": mta.Sendmail(f"unix:{self.pair.b.socket}", sink=self.sink, retry=5)}
        seed = f"{arguments.seed}/{self.number}"
        self.lists = Lists(f"{self.number}s")
        self.traffic = Traffic(self.ledger, self.mtas, self.lists, Mailbag(proc.scratch("mail")),
                               Day(arguments.rate, arguments.day, seed), seed, f"m{self.number}")
        self.changes = Changes(self.ledger, self.pair, self.lists, self.traffic, self.feed, self.mtas, self.top,
                               arguments.day, seed)
        self.held, self.ended = set(), []
        self.planted = 0  # entries that a test took away behind the ledger's back

    def run(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.ledger.close)
            stack.callback(self.feed.close)
            stack.callback(self.sink.stop)
            self.pair.start()
            for server in self.mtas.values():
                server.start()
                stack.callback(server.stop)
            self.ledger.write("slice", slice=self.number)
            self.changes.begin(self.standing)
            self.traffic.start()
            try:
                self.work()
            finally:
                self.traffic.stop()
            self.settle()
            self.ledger.write("end", slice=self.number)
            self.pair.stop()

    def work(self):
        meter = measure.Meter(self.top / "measure.jsonl", self.number)
        begun, sampled, told = time.monotonic(), -SAMPLE_S, 0.0
        while (now := time.monotonic() - begun) < self.arguments.hours * 3600 and not self.ended:
            self.changes.due(now)
            self.each(now)
            if now - sampled >= SAMPLE_S:
                sampled = now
                self.look_at_held()
                meter.sample(self.pair.processes(), self.traffic.take(), self.queued())
                self.ended = self.pair.ended()
            if now - told >= PROGRESS_S:
                told = now
                self.tell(now)
            if stopping.wait(0.02):
                return

    def each(self, now):
        """What another part does besides, now seconds after the begin."""

    def tell(self, now):
        print(f"soak: {now / 60:.1f} of {self.arguments.hours * 60:.0f} min, {self.traffic.sent} sent, "
              f"{self.traffic.waiting.qsize()} wait, {self.queued()} in the queues, {len(self.held)} held; "
              + ", ".join(f"{n} {name}" for name, n in self.changes.done.items())
              + f"; failed commands: {dict(+self.changes.failed) or 'none'}", file=sys.stderr, flush=True)

    def queued(self):
        """Messages that an MTA has accepted and not passed on; held ones do not count."""
        postfix, sendmail = (pathlib.Path(self.mtas[name].folder) / "queue" for name in "ab")
        return (sum(path.is_file() for name in ("maildrop", "incoming", "active", "deferred")
                    for path in (postfix / name).rglob("*")) + len(list(sendmail.glob("qf*"))))

    def look_at_held(self):
        for name, server in self.mtas.items():
            for identity in server.held():
                if (name, identity) not in self.held:
                    raw = server.held_message(identity)
                    found = MAIL_HEADER.search(raw)
                    if found:
                        self.held.add((name, identity))
                        self.ledger.write("held", id=found[1].decode(), **seen(raw))

    def settle(self):
        """Until all mail is somewhere and both sites say the same; what they say at last is written down."""
        end = time.monotonic() + DRAIN_S
        while self.queued() and time.monotonic() < end:
            time.sleep(0.2)
        self.look_at_held()
        end = time.monotonic() + SETTLE_S
        while True:
            self.last_look()
            found = judge(read(self.top / "ledger.jsonl"))
            if len(found.entries_lost) <= self.planted or time.monotonic() > end:
                return
            time.sleep(2)

    def last_look(self):
        values = {}
        for line in read(self.top / "ledger.jsonl"):
            if line["kind"] == "change":
                values.setdefault(line["list"], []).extend(line["values"])
        for site in self.pair.sites:
            for name, all_values in values.items():
                self.ledger.write("found", site=site.name, list=name, values=site.listed(sorted(set(all_values))))
            self.ledger.write("counted", site=site.name, reports=site.reports())


def ledger_rows(part, run, title):
    """Rows of what the ledger knows, of all slices in the folder."""
    found = judge(read(run.top / "ledger.jsonl"))
    notes, failed = found.notes, ", ".join(f"{what} ({n})" for what, n in (+run.changes.failed).items())
    table.say(part, title, found.tried["mail"],
              f"{notes['held']} held, {notes['rejected']} rejected, {notes['deferred']} deferred for a while, "
              f"{notes['unexamined']} passed unexamined"
              + (f"; {notes['cut']} runs were cut off, their mail is not judged" if notes["cut"] else ""),
              mail_lost=found.lost, doubled=found.doubled, over_bound=[f"{e} ended by itself" for e in run.ended])
    table.say(part, "verdicts on listed and unlisted URLs", found.tried["verdicts"],
              f"{notes['undecided']} while a change was under way", wrong_verdicts=found.wrong)
    table.say(part, "changes of lists and feeds", found.tried["changes"],
              f"failed, and acknowledged nothing: {failed}" if failed else "", acknowledged_lost=found.entries_lost)
    table.say(part, "reports", found.tried["reports"], "", acknowledged_lost=found.reports_lost,
              doubled=found.reports_doubled)


def measured_rows(top):
    samples = measure.read(top / "measure.jsonl")
    last = {}
    for sample in samples:
        last[sample["slice"]] = sample["t"]
    hours = f"{sum(last.values()) / 3600:.2f} h in {len(last)} runs: "
    for name, judged in (("memory", measure.memory), ("descriptors and threads", measure.handles),
                         ("latency", measure.latency), ("processor time of a message", measure.cost)):
        tried, over, note = judged(samples)
        table.say("soak", f"{name} flat", tried, hours + note, over_bound=over)


def parser_of(usage):
    parser = argparse.ArgumentParser(usage=usage.split("Usage: ")[1].split("\n")[0])
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--rate", type=float, default=3)
    parser.add_argument("--day", type=float, default=600)
    return parser


def end_in_order():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())


def main(argv):
    end_in_order()
    run = Run(parser_of(__doc__).parse_args(argv))
    run.run()
    ledger_rows("soak", run, "mail of the days, with spikes of ten times the rate")
    measured_rows(run.top)


if __name__ == "__main__":
    main(sys.argv[1:])
