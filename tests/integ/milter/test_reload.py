"""Reload by signal and control socket: good ones apply, bad ones change nothing, mail flows."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from daemon import Daemon, gillnet
from mta import Mta

FULL = os.environ.get("GILLNET_FULL") == "1"


class Reload(unittest.TestCase):
    def status(self, d):
        m = Mta(d.target)
        m.hello()
        a = m.message()
        m.quit()
        return a.status()

    def test_each_way__takes_effect(self):
        with Daemon("add_headers = false;") as d:
            self.assertIsNone(self.status(d))
            on = False
            for way in ("HUP", "USR1", "control", "gillnet"):
                on = not on
                d.write(f"add_headers = {'true' if on else 'false'};")
                before = d.stat("reloads")
                if way == "control":
                    self.assertTrue(d.control("reload").startswith("ok reloaded\n"))
                elif way == "gillnet":
                    gillnet("reload", "-c", d.conf)
                else:
                    d.signal(getattr(signal, "SIG" + way))
                d.wait_for(lambda: d.stat("reloads") > before, way)
                self.assertEqual(self.status(d) is not None, on, way)

    def test_bad_configuration__changes_nothing_and_says_why(self):
        with Daemon("") as d:
            d.write("add_headers = false;\nno_such_key = 1;\ndeadline = \"never\";")
            answer = d.control("reload")
            self.assertTrue(answer.startswith("error "), answer)
            for part in ("no_such_key", "deadline", d.conf + ":4", d.conf + ":5"):
                self.assertIn(part, answer)
            self.assertIsNotNone(self.status(d))
            d.signal(signal.SIGHUP)
            d.wait_for(lambda: d.stat("reloads_failed") == 2, "the second refusal")
            d.wait_log("no_such_key")
            self.assertIsNotNone(self.status(d))
            p = gillnet("reload", "-c", d.conf, check=False)
            self.assertGreaterEqual(p.returncode, 64)

    def test_bad_rule__changes_nothing_and_a_good_one_applies(self):
        def symbols(d):
            m = Mta(d.target)
            m.hello()
            a = m.message(headers=[("From", "<a@b.example>"), ("Subject", "hello you")])
            m.quit()
            return dict(a.headers()).get("X-Gillnet-Symbols", "")

        rule = 'rules = ( { name = "greets"; all = ( { feature = "subject"; pattern = "%s"; } ); } );'
        with Daemon(rule % "hello") as d:
            self.assertIn("RULE_GREETS", symbols(d))
            one = 'rules = (\n{ name = "greets"; all = ( %s ); } );'
            for bad, why in [
                    (one % '{ feature = "subject"; pattern = "hello("; }', "pattern"),
                    (one % '{ feature = "subject"; pattern = "h*"; }', "pattern"),
                    (one % '{ feature = "subject"; pattern = "\\\\1"; }', "pattern"),
                    (one % '{ text = "((a{1,900}b){1,900}c){1,900}"; }', "pattern"),
                    (one % '{ rule = "greets"; }', "in a circle"),
                    (one % '{ rule = "nobody"; }', "there is no such rule"),
                    (one % '{ trait = "nothing"; }', "is not a trait"),
                    (one % '{ feature = "subject"; set = "nothing"; }', "set"),
                    (one % '{ list = "Not a list"; }', "one word"),
                    (one % '{ category = "not one"; }', "one word")]:
                d.write(bad)
                answer = d.control("reload")
                self.assertTrue(answer.startswith("error "), answer)
                with open(d.conf, encoding="utf-8") as f:
                    line = 1 + f.read().partition("{ name = ")[0].count("\n")
                self.assertIn(f"{d.conf}:{line}: ", answer)
                self.assertIn(why, answer)
                self.assertIn("RULE_GREETS", symbols(d))
            d.write(rule % "bye")
            self.assertTrue(d.control("reload").startswith("ok reloaded"))
            self.assertNotIn("RULE_GREETS", symbols(d))

    def test_message_in_flight__keeps_its_configuration(self):
        with Daemon("") as d:
            m = Mta(d.target)
            m.hello()
            m.mail()
            m.rcpt()
            m.data()
            # over a Unix socket nothing is answered before the end: the message may still be on its way
            d.wait_for(lambda: d.stat("messages_open") == 1, "the message to begin")
            d.write("add_headers = false;")
            self.assertTrue(d.control("reload").startswith("ok"))
            m.header("Subject", "x")
            m.end_headers()
            self.assertIsNotNone(m.end().status())
            self.assertIsNone(m.message().status())
            m.quit()

    def test_key_that_needs_a_restart__is_named(self):
        with Daemon("") as d:
            for _ in range(2):  # the second one, too: what runs is still the former value
                d.write('limits: { sessions = 7; };')
                self.assertIn("limits.sessions", d.control("reload"))
                self.assertEqual(d.stat("config_restart_keys"), 1)
            for command in ("stat", "doctor"):
                self.assertIn("runs with another value than the file until it is restarted: limits.sessions",
                              gillnet(command, "-c", d.conf, check=False).stdout)
            d.write("")  # as it runs
            self.assertNotIn("restart", d.control("reload"))
            self.assertEqual(d.stat("config_restart_keys"), 0)
            self.assertNotIn("another value", gillnet("stat", "-c", d.conf).stdout)

    def test_file_that_changed__not_reloaded__is_said(self):
        with Daemon("") as d:
            self.assertIn(", as the file has it, in gillnetd", gillnet("doctor", "-c", d.conf, check=False).stdout)
            d.write("add_headers = false;")
            for command in ("stat", "doctor"):
                self.assertRegex(gillnet(command, "-c", d.conf, check=False).stdout,
                                 "gillnetd runs configuration [0-9a-f]{8} and the file is [0-9a-f]{8}: gillnet reload")
            said = gillnet("reload", "-c", d.conf).stdout
            self.assertIn(f"gillnetd runs configuration {d.stat('config_id'):08x}", said)
            self.assertNotIn("hub", said)  # there is none
            self.assertNotIn("and the file is", gillnet("stat", "-c", d.conf).stdout)


class Storm(unittest.TestCase):
    """SIGHUPs while mail flows and good and broken configurations alternate."""

    def test_storm__no_message_lost_no_session_cut_same_process(self):
        seconds = 10 if FULL else 1
        hups = 20000 if FULL else 2000
        rate = 200
        with Daemon("") as d:
            pid = d.proc.pid
            stop = threading.Event()
            answers = []
            errors = []

            def mail(n):
                try:
                    m = Mta(d.target)
                    m.hello()
                    next_at = time.monotonic()
                    while not stop.is_set():
                        answers.append(m.message().code)
                        next_at += n / rate
                        time.sleep(max(0, next_at - time.monotonic()))
                    m.quit()
                except Exception as e:  # noqa: BLE001: every failure counts
                    errors.append(repr(e))

            def rewrite():
                i = 0
                while not stop.is_set():
                    d.write("" if i % 2 else "no_such_key = 1;")
                    i += 1
                    time.sleep(0.02)

            threads = [threading.Thread(target=mail, args=(4,)) for _ in range(4)]
            threads.append(threading.Thread(target=rewrite))
            for t in threads:
                t.start()
            begin = time.monotonic()
            for i in range(hups):
                os.kill(pid, signal.SIGHUP)
                late = begin + (i + 1) * seconds / hups - time.monotonic()
                if late > 0:
                    time.sleep(late)
            # a configuration is read when no other thread wants the processor
            while (min(d.stat("reloads"), d.stat("reloads_failed")) == 0
                   and time.monotonic() < begin + 60):
                os.kill(pid, signal.SIGHUP)
                time.sleep(0.01)
            took = time.monotonic() - begin
            stop.set()
            for t in threads:
                t.join()
            self.assertEqual(errors, [])
            self.assertEqual(set(answers), {"c"})
            self.assertEqual(d.proc.poll(), None)
            self.assertEqual(d.stat("pid"), pid)
            self.assertGreater(d.stat("reloads"), 0)
            self.assertGreater(d.stat("reloads_failed"), 0)
            d.write("add_headers = false;")
            self.assertTrue(d.control("reload").startswith("ok"))
            m = Mta(d.target)
            m.hello()
            self.assertIsNone(m.message().status())
            m.quit()
            print(f"{hups} SIGHUPs in {took:.1f} s, {len(answers)} messages, "
                  f"{d.stat('reloads')} reloads, {d.stat('reloads_failed')} refused",
                  file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
