#!/usr/bin/env python3
"""Commands for feeds: `gillnet feed`, with and without a hub; reload, --once, files of this machine.

Usage: test_run.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
from test_fetch import NAMES, Feeds, names  # noqa: E402
from ring import BUILD, ROOT, free_port, until  # noqa: E402


class ByHand(Feeds):
    def test_list_diff_rollback__with_a_hub__and_without(self):
        for running in (True, False):
            with self.subTest(running=running):
                self.tearDown()
                self.setUp()
                path = pathlib.Path(self.top) / "feed.txt"
                path.write_text(NAMES)
                self.feed("f", f"file://{path}", keep="0s")
                if running:
                    self.hub()
                self.assertEqual(self.update()["result"], "ok")
                self.assertEqual(self.update()["result"], "same")
                path.write_text(NAMES.replace("bad0.example\n", "") + "new.example\n")
                r = self.update()
                self.assertEqual((r["result"], r["added"], r["removed"]), ("ok", 1, 1))
                self.assertTrue(self.is_listed("new.example"))
                diff = {(x["change"], x["text"]) for x in self.s.json("feed", "diff", "f")}
                self.assertEqual(diff, {("added", "new.example"), ("removed", "bad0.example")})
                r = self.s.json("feed", "rollback", "f")[0]
                self.assertEqual(r["result"], "ok", r)
                self.assertTrue(self.row()["pinned"])
                self.assertTrue(self.is_listed("bad0.example"))
                self.assertFalse(self.is_listed("new.example"))
                self.assertEqual(self.update()["result"], "ok")  # by hand: no longer pinned
                self.assertFalse(self.row()["pinned"])
                self.assertTrue(self.is_listed("new.example"))
                self.s.run("feed", "rollback", "f", "999", rc=69)
                self.assertNotEqual(self.row()["state"], "failing")  # the feed had no part in that
                self.s.run("feed", "rollback", "nobody", rc=64)
                self.s.run("feed", "list", "nobody", rc=64)

    def test_what_was_there_before_a_restart__is_shown_at_once(self):
        path = pathlib.Path(self.top) / "feed.txt"
        path.write_text(NAMES)
        self.feed("f", f"file://{path}", enabled=True)
        self.hub()
        self.assertEqual(self.update()["result"], "ok")
        good = self.row()["good_s"]
        self.s.kill()
        self.feed("f", f"http://127.0.0.1:{free_port()}/")  # nothing will come
        self.hub()
        until(lambda: self.row()["entries"] == 200, "the entries", log=self.s.logs)
        self.assertEqual(self.row()["good_s"], good)

    def test_failures__after_a_restart__are_known_at_once(self):
        self.feed("f", self.site.url("/nowhere"))
        self.hub()
        for _ in range(4):
            self.fails("answers 404")
        self.assertGreaterEqual(self.row()["failures"], 4)
        self.assertIs(self.row()["well"], False)
        before = self.row()
        self.s.kill()
        self.feed("f", self.site.url("/nowhere"), interval="1h")  # asked within a minute, not at once
        self.hub()
        until(lambda: self.row()["failures"] >= before["failures"], "the failures are forgotten", log=self.s.logs)
        self.assertIn("answers 404", self.row()["trouble"])
        self.assertEqual(self.row()["state"], "failing")

    def test_state_that_is_none__begins_anew(self):
        self.site.text(NAMES)
        self.feed("f")
        self.hub()
        self.assertEqual(self.update()["result"], "ok")
        state = self.s.state / "feeds/f/state.json"
        whole = json.loads(state.read_text())
        for text in (json.dumps({**whole, "list": "../../etc"}), " " * (2 << 20), "{}"):
            state.write_text(text)
            self.assertIn(self.update("f", "--force")["result"], ("ok", "same"))
            self.assertEqual(self.row()["entries"], 200)
            self.assertEqual(json.loads(state.read_text())["list"], "f")

    def test_force__takes_what_the_band_refuses(self):
        self.site.text(NAMES)
        self.feed("f")
        self.hub().update()
        self.site.text(names(*(f"bad{i}.example" for i in range(20))))
        self.assertEqual(self.update()["result"], "refused")
        self.assertEqual(self.row()["entries"], 200)
        self.assertEqual(self.update("f", "--force")["result"], "ok")
        self.assertEqual(self.row()["entries"], 20)

    def test_test__says_what_would_be__and_changes_nothing(self):
        self.site.text(NAMES + "co.uk\n")
        self.feed("f")
        self.hub()
        r = self.s.json("feed", "test", "f")[0]
        self.assertEqual(r["result"], "ok", r)
        self.assertGreaterEqual(r["added"], 200)
        self.assertIn("added", {x["change"] for x in r["lines"]})
        self.assertEqual(self.row()["entries"], 0)
        self.assertEqual(self.row()["state"], "waiting" if self.row()["rounds"] < 2 else self.row()["state"])
        self.assertFalse((self.s.state / "lists" / "f").exists())
        self.s.stop()
        self.assertIn("start gillnet-hub", self.s.run("feed", "test", "f", rc=69))
        self.assertIn("start", self.s.run("feed", "update", "f", rc=69))

    def test_test__a_file_and_ham__each_message_hit_is_named(self):
        feed = pathlib.Path(self.top) / "feed.txt"
        feed.write_text("evil.example\nother.example\n")
        ham = pathlib.Path(self.top) / "ham"
        ham.mkdir()
        for i, host in enumerate(("evil.example", "good.example", "www.other.example")):
            (ham / f"{i}.eml").write_text(f"From: a@sender.example\nSubject: x\n\nSee http://{host}/x\n")
        self.write()
        out = self.s.run("feed", "test", "--ham", ham, feed, rc=1)
        self.assertIn("0.eml", out)
        self.assertIn("2.eml", out)
        self.assertNotIn("1.eml", out)
        self.assertIn("3 messages, 2 hit (66.667 %)", out)
        (ham / "0.eml").unlink()
        (ham / "2.eml").unlink()
        rows = self.s.json("feed", "test", "--ham", ham, feed)
        self.assertEqual((rows[-1]["ham"], rows[-1]["hit"]), (1, 0))
        packed = pathlib.Path(self.top) / "feed.gz"
        packed.write_bytes(gzip.compress(feed.read_bytes()))
        self.assertEqual(self.s.json("feed", "test", packed)[0]["added"], 2)
        self.assertFalse((self.s.state / "lists").exists())
        self.assertFalse((self.s.state / "feeds").exists())
        self.s.run("feed", "test", "nothing-there", rc=64)

    def test_ham__that_was_given__no_feed_lists_what_it_has(self):
        self.site.text(NAMES)
        self.feed("f", keep="0s")
        self.write()
        ham = pathlib.Path(self.top) / "ham"
        ham.mkdir()
        self.assertIn("no message", self.s.run("feed", "ham", ham, rc=66))
        many = "".join(f"http://site{i}.example/\n" for i in range(200))  # more than one record holds
        (ham / "1.eml").write_text(f"From: a@sender.example\nSubject: x\n\n{many}See http://www.bad7.example/x\n")
        self.assertEqual(self.s.json("feed", "ham", ham), [{"messages": 1}])
        self.hub().update()
        self.assertEqual((self.row()["entries"], self.row()["excluded"]), (199, 1))
        self.assertFalse(self.is_listed("bad7.example"))
        self.s.run("feed", "ham", rc=64)
        self.s.run("feed", "ham", "--forget")
        self.site.text(NAMES + "new.example\n")
        self.update()
        self.assertTrue(self.is_listed("bad7.example"))

    def test_a_list_that_is_held__commands_wait_and_say_so(self):
        self.site.text(NAMES)
        self.feed("f")
        self.s.run("list", "add", "--create", "mine", "a.example")
        import fcntl
        with open(self.s.state / "lists/LOCK", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            p = subprocess.Popen([f"{BUILD}/gillnet", "-c", self.s.conf, "list", "add", "--create", "mine", "b.example"],
                                 stderr=subprocess.PIPE, text=True)
            said = p.stderr.readline()
        self.assertIn("waiting", said)
        self.assertEqual(p.wait(60), 0, p.stderr.read())
        p.stderr.close()
        self.assertTrue(self.is_listed("b.example"))


class Files(Feeds):
    def test_a_folder__files_in_order__any_change_is_seen(self):
        folder = pathlib.Path(self.top) / "in"
        folder.mkdir()
        (folder / "b.txt").write_text("two.example\n")
        (folder / "a.txt.gz").write_bytes(gzip.compress(b"one.example"))  # no end of line
        (folder / ".hidden").write_text("hidden.example\n")
        self.feed("f", f"file://{folder}")
        self.hub()
        r = self.update()
        self.assertEqual((r["result"], r["entries"]), ("ok", 2), r)
        self.assertEqual(self.update()["result"], "same")
        (folder / "c.txt").write_text("three.example\n")
        self.assertEqual(self.update()["entries"], 3)
        self.assertTrue(self.is_listed("three.example"))
        (folder / "d").mkdir()
        self.fails("/in/d: .*regular")
        (folder / "d").rmdir()
        (folder / "e").symlink_to("nowhere")
        self.fails("/in/e: ")
        (folder / "e").unlink()
        os.mkfifo(folder / "pipe")
        self.fails("/in/pipe: .*regular")
        (folder / "pipe").unlink()
        self.assertEqual(self.update()["result"], "same")
        for p in folder.iterdir():
            p.unlink()
        self.fails("holds no file")
        self.assertTrue(self.is_listed("one.example"))


class Scheduled(Feeds):
    def test_reload__new_begin__changed_are_asked__gone_leave(self):
        self.site.text(NAMES)
        self.site.text(names("first.example"), "/one.txt")
        self.site.text(names("second.example"), "/two.txt")
        self.feed("f", interval="1s")
        self.hub()
        until(lambda: self.row()["entries"] == 200, "the first", log=self.s.logs)
        self.feed("g", self.site.url("/one.txt"), interval="1s")
        self.assertIn("ok", self.s.control("reload"))
        until(lambda: self.is_listed("first.example"), "the new one", log=self.s.logs)
        self.feed("g", self.site.url("/two.txt"), interval="1s", grow=0.0, shrink=0.0)
        self.s.control("reload")
        until(lambda: self.is_listed("second.example"), "another address", log=self.s.logs)
        self.feeds["g"]["enabled"] = False
        self.write()
        self.s.control("reload")
        until(lambda: self.row("g")["state"] == "off", "off", log=self.s.logs)
        self.assertTrue(self.is_listed("second.example"))  # it is not asked; what it brought stays
        del self.feeds["g"]
        self.write()
        self.s.control("reload")
        until(lambda: not (self.s.state / "feeds/g").exists(), "its folder gone", log=self.s.logs)
        until(lambda: self.s.hub_lines("event=feed name=g result=dropped"), "the word of it", log=self.s.logs)
        until(lambda: self.row()["state"] == "ok", "the other goes on", log=self.s.logs)

    def test_once__asks_each_and_ends(self):
        self.site.text(NAMES)
        self.feed("f")
        self.feed("bad", self.site.url("/nowhere"))
        p = subprocess.run([f"{BUILD}/gillnet", "-c", self.s.conf, "hub", "--once"], capture_output=True, text=True,
                           timeout=60)
        self.assertEqual(p.returncode, 69, p.stderr)
        self.assertIn("event=feed name=f result=ok entries=200", p.stderr)
        self.assertIn("answers 404", p.stderr)
        self.assertTrue(self.is_listed("bad7.example"))
        del self.feeds["bad"]
        self.write()
        p = subprocess.run([f"{BUILD}/gillnet", "-c", self.s.conf, "hub", "--once"], capture_output=True, text=True,
                           timeout=60)
        self.assertEqual(p.returncode, 0, p.stderr)

    def test_many_small_updates__each_effective_at_once(self):
        lines = [f"bad{i}.example\n" for i in range(1000)]
        self.feed("f")
        self.hub()
        for i in range(12):
            lines.append(f"fresh{i}.example\n")
            self.site.text("".join(lines), tag=f'"{i}"')
            self.assertEqual(self.update()["added"], 1001 if i == 0 else 1)
            self.assertTrue(self.is_listed(f"fresh{i}.example"))
        self.assertEqual(len(self.s.hub_lines("event=feed name=f result=ok")), 12)

    def test_stat_and_doctor__name_a_feed_in_trouble(self):
        self.site.text(NAMES)
        self.feed("f", self.site.url("/nowhere"))
        self.hub()
        self.fails("answers 404")
        self.assertRegex(self.s.run("stat", rc=None), "fault: feed:f .*answers 404")
        self.assertRegex(self.s.run("doctor", rc=None), "feed f.*answers 404")
        self.assertIn("nothing of it serves yet", self.s.run("doctor", rc=None))
        self.feed("f")
        self.s.run("reload", rc=None)
        self.s.control("reload")
        self.assertIn(self.update()["result"], ("ok", "same"))  # the hub may have been first
        self.site.pages["/feed.txt"] = lambda h: h.say(500)
        self.fails("answers 500")
        self.assertIn("the last good version serves", self.s.run("doctor", rc=None))


if __name__ == "__main__":
    unittest.main(verbosity=1)
