#!/usr/bin/env python3
"""The ledger notices each kind of fault, and no other; so do the measurements and the table.

Usage: test_ledger.py [TEST...]      ends like unittest.
"""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import ledger
import measure
import table

URL, HOST = "http://bad.example/login/1", "worse.example"


class Story:
    """Lines of a run in which nothing went wrong, a second each; a test plants one fault in it."""

    def __init__(self):
        self.lines, self.clock = [], 1000.0
        self.add("slice", slice=1)
        self.change("1", "add", [URL, HOST])
        self.mail("listed", URL, "LIST_PHISH(9.0)[url=bad.example/login/1]")
        self.mail("plain", None, "RULE_LOAN(1.5)")
        self.add("mail", id="held", site="a", value=HOST, list="phish", spike=False)
        self.add("reply", id="held", code=250, text="250 queued")
        self.add("held", id="held", symbols="LIST_PHISH(9.0)", examined=True)
        self.add("mail", id="refused", site="a", value=URL, list="phish", spike=False)
        self.add("reply", id="refused", code=451, text="451 later")
        self.add("mail", id="refused", site="a", value=URL, list="phish", spike=False)
        self.add("reply", id="refused", code=550, text="550 refused, LIST_PHISH(9.0)")
        self.change("2", "remove", [HOST])
        self.mail("gone", HOST, "LIST_PHISH(0.0)[revoked here]")
        self.add("report", n="3", site="a")
        self.add("reported", n="3", ok=True, report="r1")
        for site in "ab":
            self.add("found", site=site, list="phish", values=[URL])
            self.add("counted", site=site, reports=["r1"] if site == "a" else [])
        self.add("end", slice=1)

    def add(self, kind, **fields):
        self.clock += 1
        self.lines.append({"kind": kind, "at": self.clock, **fields})

    def change(self, number, op, values):
        self.add("change", n=number, site="a", list="phish", op=op, values=values)
        self.add("changed", n=number, ok=True)

    def mail(self, identity, value, symbols):
        self.add("mail", id=identity, site="a", value=value, list=value and "phish", spike=False)
        self.add("reply", id=identity, code=250, text="250 queued")
        self.add("arrived", id=identity, symbols=symbols, examined=True)

    def line(self, kind, **fields):
        return next(x for x in self.lines if x["kind"] == kind and all(x[k] == v for k, v in fields.items()))

    def faults(self):
        found = ledger.judge(self.lines)
        return {name: len(texts) for name, texts in vars(found).items() if isinstance(texts, list) and texts}


class Ledger(unittest.TestCase):
    def setUp(self):
        self.story = Story()

    def test_nothing_wrong__then_no_fault_and_all_was_tried(self):
        self.assertEqual(self.story.faults(), {})
        tried = ledger.judge(self.story.lines).tried
        self.assertEqual(tried, {"mail": 5, "verdicts": 5, "changes": 2, "reports": 1})

    def test_accepted_and_nowhere__then_lost(self):
        self.story.lines.remove(self.story.line("arrived", id="plain"))
        self.assertEqual(self.story.faults(), {"lost": 1})

    def test_held_and_then_nowhere__then_lost(self):
        self.story.lines.remove(self.story.line("held"))
        self.assertEqual(self.story.faults(), {"lost": 1})

    def test_arrived_twice__then_doubled(self):
        self.story.lines.append(self.story.line("arrived", id="plain"))
        self.assertEqual(self.story.faults(), {"doubled": 1})

    def test_arrived_and_held__then_doubled(self):
        self.story.add("arrived", id="held", symbols="LIST_PHISH(9.0)", examined=True)
        self.assertEqual(self.story.faults(), {"doubled": 1})

    def test_rejected_and_yet_arrived__then_doubled(self):
        self.story.add("arrived", id="refused", symbols="LIST_PHISH(9.0)", examined=True)
        self.assertEqual(self.story.faults(), {"doubled": 1})

    def test_deferred_and_yet_arrived__then_doubled(self):
        self.story.line("reply", id="plain")["code"] = 451
        self.assertEqual(self.story.faults(), {"doubled": 1})

    def test_no_reply__then_it_may_be_there_once_or_not_at_all(self):
        self.story.line("reply", id="plain")["code"] = 0
        self.assertEqual(self.story.faults(), {})
        arrived = self.story.line("arrived", id="plain")
        self.story.lines.append(arrived)
        self.assertEqual(self.story.faults(), {"doubled": 1})
        self.story.lines = [x for x in self.story.lines if x is not arrived]
        self.assertEqual(self.story.faults(), {})

    def test_listed_and_no_hit__then_a_wrong_verdict(self):
        self.story.line("arrived", id="listed")["symbols"] = "RULE_LOAN(1.5)"
        self.assertEqual(self.story.faults(), {"wrong": 1})

    def test_a_hit_of_another_list__then_a_wrong_verdict(self):
        self.story.line("arrived", id="listed")["symbols"] = "LIST_HOLD(9.0)"
        self.assertEqual(self.story.faults(), {"wrong": 1})

    def test_not_examined_and_listed__then_a_wrong_verdict(self):
        self.story.line("arrived", id="listed").update(symbols="", examined=False)
        self.assertEqual(self.story.faults(), {"wrong": 1})
        self.assertEqual(ledger.judge(self.story.lines).notes["unexamined"], 1)

    def test_a_hit_after_the_removal__then_a_wrong_verdict(self):
        self.story.line("arrived", id="gone")["symbols"] = "LIST_PHISH(9.0)"
        self.assertEqual(self.story.faults(), {"wrong": 1})

    def test_a_hit_and_no_url__then_a_wrong_verdict(self):
        self.story.line("arrived", id="plain")["symbols"] = "LIST_FED(6.0)"
        self.assertEqual(self.story.faults(), {"wrong": 1})

    def test_rejected_for_a_list_that_has_it_not__then_a_wrong_verdict(self):
        self.story.line("reply", id="refused", code=550)["text"] = "550 refused, RULE_LOAN(30.0)"
        self.assertEqual(self.story.faults(), {"wrong": 1})

    def test_change_under_way__then_either_verdict_is_right(self):
        self.story.line("changed", n="2")["at"] = self.story.clock
        self.story.line("arrived", id="gone")["symbols"] = "LIST_PHISH(9.0)"
        self.assertEqual(self.story.faults(), {})

    def test_just_changed__then_the_other_site_has_a_while(self):
        for line in self.story.lines:
            if line["kind"] == "mail":
                line["site"] = "b"
        self.story.line("arrived", id="listed")["symbols"] = ""
        self.assertEqual(self.story.faults(), {})
        for line in self.story.lines:
            if line.get("n") == "1":
                line["at"] -= ledger.GRACE_S + 2
        self.assertEqual(self.story.faults(), {"wrong": 1})

    def test_acknowledged_entry_gone__then_lost(self):
        self.story.line("found", site="b")["values"] = []
        self.assertEqual(self.story.faults(), {"entries_lost": 1})

    def test_removed_entry_kept__then_its_removal_is_lost(self):
        self.story.line("found", site="b")["values"] = [URL, HOST]
        self.assertEqual(self.story.faults(), {"entries_lost": 1})

    def test_command_that_failed__then_either_is_right(self):
        self.story.line("changed", n="1")["ok"] = False
        self.assertNotIn("entries_lost", self.story.faults())

    def test_report_gone__then_lost(self):
        self.story.line("counted", site="a")["reports"] = []
        self.assertEqual(self.story.faults(), {"reports_lost": 1})

    def test_report_twice__then_doubled(self):
        self.story.line("counted", site="a")["reports"] = ["r1", "r1"]
        self.assertEqual(self.story.faults(), {"reports_doubled": 1})

    def test_report_of_nobody__then_doubled(self):
        self.story.line("counted", site="a")["reports"] = ["r1", "r2"]
        self.assertEqual(self.story.faults(), {"reports_doubled": 1})

    def test_run_cut_off__then_its_mail_is_not_judged_and_it_is_said(self):
        self.story.lines.pop()
        found = ledger.judge(self.story.lines)
        self.assertEqual((found.tried["mail"], found.notes["cut"]), (0, 1))

    def test_standing__is_all_that_was_added_and_not_removed(self):
        self.story.add("change", n="9", site="b", list="fed", op="add", values=["new.example"])
        self.assertEqual(ledger.standing(self.story.lines), {"phish": {URL: True}, "fed": {"new.example": False}})

    def test_file__a_line_cut_short__is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ledger"
            book = ledger.Ledger(path)
            book.write("slice", slice=1)
            book.close()
            with open(path, "ab") as file:
                file.write(b'{"kind": "mai')
            self.assertEqual([line["kind"] for line in ledger.read(path)], ["slice"])


def samples(hours, anon=lambda h: 50000, fds=lambda h: 20, seconds=lambda h: 0.01, cpu=lambda h: h, others=0.1):
    """One process, a sample and a message a minute."""
    return [{"slice": 1, "t": h * 3600, "queued": 0, "others": others, "latency": {"noon": [seconds(h)]},
             "processes": {"gillnetd a": {"pid": 7, "rss": 0, "anon": anon(h), "threads": 9, "fds": fds(h),
                                          "cpu_s": cpu(h)}}} for h in (minute / 60 for minute in range(int(hours * 60)))]


class Measurements(unittest.TestCase):
    def test_memory__two_megabytes_an_hour__is_over(self):
        self.assertEqual(len(measure.memory(samples(3, anon=lambda h: 50000 + 2048 * h))[1]), 1)

    def test_memory__in_the_first_hour_or_slowly__is_not(self):
        for anon in (lambda h: 50000 + 90000 * min(h, 1), lambda h: 50000 + 500 * h):
            self.assertEqual(measure.memory(samples(3, anon=anon))[1], [])

    def test_memory__of_a_short_run__is_said_and_not_judged(self):
        _, over, note = measure.memory(samples(1, anon=lambda h: 50000 + 90000 * h))
        self.assertEqual(over, [])
        self.assertRegex(note, r"\+87\.9 MB/h \(too short to judge")

    def test_descriptors__that_stay_open__are_over(self):
        self.assertEqual(len(measure.handles(samples(3, fds=lambda h: 20 + int(10 * h)))[1]), 1)
        self.assertEqual(measure.handles(samples(3))[1], [])
        _, over, note = measure.handles(samples(0.4, fds=lambda h: 20 + int(100 * h)))
        self.assertEqual(over, [])
        self.assertIn("too short to judge", note)

    def test_latency__that_grows_at_the_same_time_of_day__is_over(self):
        self.assertEqual(len(measure.latency(samples(3, seconds=lambda h: 0.01 + h / 10))[1]), 1)
        self.assertEqual(measure.latency(samples(3))[1], [])

    def test_latency__on_a_busy_machine__is_said_and_not_judged(self):
        _, over, note = measure.latency(samples(3, seconds=lambda h: 0.01 + h / 10, others=0.9))
        self.assertEqual(over, [])
        self.assertIn("not judged: 180 of 180 samples", note)

    def test_cost__that_grows__is_over(self):
        self.assertEqual(len(measure.cost(samples(3, cpu=lambda h: h * h))[1]), 1)
        self.assertEqual(measure.cost(samples(3))[1], [])

    def test_descriptors__streams_count_beyond_those_held_on_purpose(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            before = measure.descriptors(os.getpid())
            for i in range(measure.STREAMS_OPEN + 3):
                stack.enter_context(open(pathlib.Path(folder) / f"{i}.stream", "wb"))
            self.assertEqual(measure.descriptors(os.getpid()), before + 3)
            stack.enter_context(open(pathlib.Path(folder) / "log", "wb"))
            self.assertEqual(measure.descriptors(os.getpid()), before + 4)

    def test_a_single_sample__is_too_short_for_everything(self):
        for judged in (measure.memory, measure.handles, measure.latency, measure.cost):
            self.assertEqual(judged(samples(1 / 60))[:2], (1, []))

    def test_sample__of_this_process__has_all_that_is_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            meter = measure.Meter(pathlib.Path(folder) / "m", 1)
            meter.sample({"gillnetd a": os.getpid(), "gone": 1 << 30}, [("noon", 0.01)], 0)
            sample, = measure.read(pathlib.Path(folder) / "m")
            self.assertEqual(list(sample["processes"]), ["gillnetd a"])
            self.assertEqual(sample["latency"], {"noon": [0.01]})
            self.assertGreater(sample["processes"]["gillnetd a"]["anon"], 1000)


class Table(unittest.TestCase):
    ROW = {"part": "soak", "fault": "mail", "tried": 7, "mail_lost": 0, "acknowledged_lost": 0, "doubled": 0,
           "wrong_verdicts": 0, "note": ""}

    def test_rows__of_two_runs__are_added(self):
        total, = table.add_up([self.ROW, {**self.ROW, "tried": 5, "doubled": 1}])
        self.assertEqual((total["tried"], total["doubled"]), (12, 1))
        self.assertIn("| soak | mail | 12 | 0 | 0 | 1 | 0 | 0 |", table.draw([total]))

    def test_clean__only_where_all_was_tried_and_all_is_zero(self):
        self.assertTrue(table.is_clean([self.ROW]))
        self.assertFalse(table.is_clean([]))
        self.assertFalse(table.is_clean([self.ROW, {**self.ROW, "tried": 0}]))
        for name in table.ZEROS:
            self.assertFalse(table.is_clean([{**self.ROW, name: 1}]))

    def test_row__counts_its_faults(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            table.say("soak", "mail", 3, "fine", mail_lost=["mail 1 is nowhere"])
        self.assertIn('"mail_lost": 1', out.getvalue())
        self.assertIn("mail 1 is nowhere", err.getvalue())


if __name__ == "__main__":
    unittest.main()
