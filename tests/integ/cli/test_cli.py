#!/usr/bin/env python3
"""The subcommands check, extract, lookup, url and list of gillnet as a person uses them.

Usage: test_cli.py GILLNET [TEST...]     GILLNET is the program; ends like unittest.
Needs nothing but Python; the full-disk test needs root (it mounts a small tmpfs) and is skipped
without.  Real feeds and mail are those of the data folder (tests/datafolder.py), else our own.
"""
import datetime
import json
import lzma
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))
import datafolder  # noqa: E402

FEEDS = ROOT / "tests/data/feeds"
MAIL = ROOT / "tests/data/mail"
# (file, format, entries) where there is no data folder
OWN_FEEDS = (("hosts.txt", "hosts", 4), ("domains.txt", "plain", 14), ("dnsmasq.conf", "dnsmasq", 7),
             ("unbound.conf", "unbound", 5), ("adblock.txt", "adblock", 12))
GILLNET = None


class Case(unittest.TestCase):
    """A state folder of its own and the program."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.conf = self.folder / "g.conf"
        self.state = self.folder / "state"
        self.configure()

    def configure(self, more=""):
        self.conf.write_text(f'state_dir = "{self.state}"; shipped_rules = false;\n{more}')

    def run_it(self, *args, stdin=b"", rc=0):
        """Runs gillnet; returns (stdout, stderr) as text; the exit status must be rc."""
        if isinstance(stdin, str):
            stdin = stdin.encode()
        p = subprocess.run([GILLNET, "-c", self.conf, *map(str, args)], input=stdin,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        out, err = p.stdout.decode("utf-8", "strict"), p.stderr.decode("utf-8", "replace")
        self.assertIn(p.returncode, (rc,) if rc is not None else (p.returncode,), f"{args}: {p.returncode}\n{out[:2000]}\n{err[:2000]}")
        self.assertNotIn("Sanitizer", err)
        return out, err

    def json(self, *args, stdin=b"", rc=0):
        out, _ = self.run_it("--json", *args, stdin=stdin, rc=rc)
        return [json.loads(line) for line in out.splitlines()]

    def status(self, value):
        """{list: status} of a value."""
        p = subprocess.run([GILLNET, "-c", self.conf, "--json", "lookup", value],
                           stdout=subprocess.PIPE, timeout=60)
        self.assertIn(p.returncode, (0, 1))
        rows = [json.loads(line) for line in p.stdout.splitlines()]
        return {row["list"]: row["status"] for row in rows if "list" in row}

    def exported(self, name):
        return sorted(self.run_it("list", "export", name)[0].splitlines())


class Looks(Case):
    """After a change of a list gillnetd is asked to look; here its control socket is ours."""

    def requests(self, *args, rc=0):
        """What comes to the socket while gillnet runs; no answer is sent."""
        path = self.folder / "gillnetd.ctl"
        self.configure(f'control_socket = "{path}";\n')
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(8)
            listener.setblocking(False)
            self.run_it(*args, rc=rc)  # which ends, though nobody answers
            path.unlink()
            got = []
            while True:
                try:
                    client, _ = listener.accept()
                except BlockingIOError:
                    return got
                with client:
                    client.setblocking(True)
                    got.append(client.recv(100))

    def test_look__after_a_change__and_not_after_a_look(self):
        feed = self.folder / "feed"
        feed.write_text("bad.example\n")
        self.assertEqual(self.requests("list", "add", "--create", "own", "--type", "url_host", "evil.example"), [b"look\n"])
        self.assertEqual(self.requests("list", "import", "own", feed), [b"look\n"])
        self.assertEqual(self.requests("list", "revoke", "own", "bad.example"), [b"look\n"])
        self.assertEqual(self.requests("list", "show", "own"), [])
        self.assertEqual(self.requests("list", "export", "own"), [])


class Users(Case):
    def test_file_lost__nothing_is_changed_until_the_loss_is_accepted(self):
        users = self.state / "users/users"
        self.run_it("user", "set", "anna@here.example", "sensitivity=low")
        for lose in (users.unlink, lambda: users.write_text("")):
            lose()
            why = "1 users and domains have settings"
            self.assertIn(why, self.run_it("user", "set", "bert@here.example", "sensitivity=low", rc=65)[1])
            self.assertIn(why, self.run_it("doctor", rc=None)[0])
        self.run_it("user", "compile")
        self.run_it("user", "set", "bert@here.example", "sensitivity=low")
        self.assertEqual(users.read_text(), "bert@here.example sensitivity=low\n")
        self.run_it("user", "set", "bert@here.example", "sensitivity=")  # the last one: an empty file that is no loss
        self.run_it("user", "set", "anna@here.example", "sensitivity=low")


class Peers(Case):
    """Filters of two sites of one ring."""

    def setUp(self):
        super().setUp()
        self.run_it("list", "import", "l", "-", stdin="a.example\nb.example\nc.example\n")
        self.other = self.folder / "other"
        self.other.mkdir()
        shutil.copytree(self.state / "keys", self.other / "keys")
        self.there(self.run_it, "list", "import", "l", "-", stdin="c.example\nd.example\ne.example\n")
        self.there(self.run_it, "list", "revoke", "l", "b.example", "e.example", "never.example", rc=1)

    def there(self, what, *args, **more):
        """Does it at the other site."""
        here, self.state = self.state, self.other
        try:
            self.configure()
            return what(*args, **more)
        finally:
            self.state = here
            self.configure()

    def filters(self, *more):
        """The other site's filters."""
        for name, option in (("spam", ()), ("revoked", ("--revoked",))):
            self.there(self.run_it, "list", "export", "l", "--filter", self.folder / name, "--items",
                       "1000", *option, *more)
        return self.folder / "spam", self.folder / "revoked"

    def test_merged_into_a_list(self):
        spam, revoked = self.filters()
        rows = self.json("list", "merge", "l", spam, revoked)
        self.assertEqual([(r["role"], r["entries"], r["items"]) for r in rows],
                         [("spam", 2, 1000), ("revoked", 3, 1000)])
        for value, want in {"a": "confirmed", "b": "confirmed", "c": "confirmed", "d": "possible",
                            "e": None, "never": None}.items():
            with self.subTest(value):
                self.assertEqual(self.status(f"{value}.example").get("l"), want)
        self.run_it("list", "revoke", "l", "d.example", rc=1)
        self.assertEqual(self.status("d.example"), {"l": "revoked"})
        self.run_it("list", "rebuild", "l")
        self.assertEqual(self.status("d.example"), {"l": "revoked"})
        self.assertEqual(self.run_it("list", "verify", "l")[0], "l: ok\n")

    def test_first_listed_then_taken_back(self):
        spam = self.filters()[0]
        kept = spam.rename(self.folder / "before")
        self.there(self.run_it, "list", "revoke", "l", "d.example")
        self.run_it("list", "merge", "new", kept)
        self.assertEqual(self.status("d.example"), {"new": "possible"})
        self.run_it("list", "merge", "new", self.filters()[1])
        text, _ = self.run_it("lookup", "d.example")
        self.assertIn("new: revoked", text)
        self.assertIn("filters of peers", text)
        self.assertIn("CLEAN", text)

    def test_default_sizes_of_two_sites_fit(self):
        for n in (2800, 2700):
            self.there(self.run_it, "list", "import", f"n{n}", "-", stdin="".join(f"h{i}.example\n" for i in range(n)))
            self.there(self.run_it, "list", "export", f"n{n}", "--filter", self.folder / f"n{n}")
        row, = self.json("list", "merge", "big", self.folder / "n2800", self.folder / "n2700")
        self.assertEqual(row["items"], 2897)
        self.assertAlmostEqual(row["entries"], 2800, delta=60)
        self.assertLess(row["error"], 0.001)
        self.there(self.run_it, "list", "export", "l", "--filter", self.folder / "small")
        _, err = self.run_it("list", "merge", "big", self.folder / "small", rc=65)
        self.assertIn("with --items 4096", err)  # room for 2897 and 1024
        for name in ("l", "n2800"):
            self.there(self.run_it, "list", "export", name, "--filter", self.folder / name, "--items", "4096")
        self.run_it("list", "merge", "both", self.folder / "l", self.folder / "n2800")

    def test_a_file_that_is_no_filter__makes_no_list(self):
        bad = self.folder / "bad"
        bad.write_text("no filter")
        for files in ([bad], [self.filters()[0], bad], [self.folder / "none"]):
            self.assertGreaterEqual(self.fails("list", "merge", "new", *files), 65)
            self.assertFalse((self.state / "lists/new").exists())

    def fails(self, *args):
        return subprocess.run([GILLNET, "-c", self.conf, *map(str, args)], stderr=subprocess.DEVNULL,
                              check=False).returncode

    def test_files_alone(self):
        spam, _ = self.filters()
        mine, both = self.folder / "mine", self.folder / "both"
        self.run_it("list", "export", "l", "--filter", mine, "--items", "1000")
        self.assertEqual(self.json("list", "merge", "--output", both, mine, spam)[0]["entries"], 4)
        self.run_it("list", "merge", "fresh", both)
        for value in "abcd":
            self.assertEqual(self.status(f"{value}.example")["fresh"], "possible")
        self.assertNotIn("fresh", self.status("z.example"))

    def test_refused(self):
        spam, revoked = self.filters()
        self.run_it("list", "merge", "l", spam)
        odd = self.folder / "odd"
        export = ("list", "export", "l", "--filter", odd)
        for options, field in ((("--items", "2000"), "size m"), (("--layout", "classic", "--items", "1000"), "layout"),
                               (("--error", "0.02", "--items", "1000"), "size m")):
            with self.subTest(options):
                self.run_it(*export, *options)
                for args in (("l", odd), ("--output", self.folder / "x", spam, odd)):
                    err = self.run_it("list", "merge", *args, rc=65)[1]
                    self.assertRegex(err, f"odd: cannot be merged: its {field}.* is .*, the other filter's is ")
                self.assertFalse((self.folder / "x").exists())
        self.assertIn("role", self.run_it("list", "merge", "--output", odd, spam, revoked, rc=65)[1])
        base = next((self.state / "lists/l").glob("base.*"))
        self.assertIn("--filter", self.run_it("list", "merge", "l", base, rc=69)[1])
        self.run_it("list", "merge", "l", self.folder / "none", rc=66)
        self.run_it("list", "merge", "l", rc=64)
        self.run_it("list", "merge", "--output", odd, rc=64)
        self.run_it("list", "export", "l", "--revoked", rc=64)
        for option, value in (("--items", "0"), ("--items", "-1"), ("--items", "1e3"), ("--error", "0"),
                              ("--error", "nan"), ("--error", "1"), ("--layout", "blocked")):
            self.assertIn(option, self.run_it(*export, option, value, rc=64)[1])
        self.assertIn("larger number", self.run_it(*export, "--items", "1", rc=65)[1])
        self.assertIn("gillnet plan", self.run_it(*export, "--items", str(2 ** 63), rc=65)[1])

    def test_another_ring_damaged_or_huge(self):
        spam, _ = self.filters()
        shutil.rmtree(self.other)
        self.other.mkdir()
        self.assertIn("another ring", self.there(self.run_it, "list", "merge", "l", spam, rc=78)[1])
        whole = spam.read_bytes()
        spam.write_bytes(whole[:-1])
        self.assertIn("bytes long", self.run_it("list", "merge", "l", spam, rc=65)[1])
        spam.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
        self.assertIn("damaged", self.run_it("list", "merge", "l", spam, rc=65)[1])
        spam.write_bytes(whole)
        try:
            os.truncate(spam, 2 ** 63 - 1)
        except OSError:
            os.truncate(spam, 2 ** 43)
        self.assertIn("bytes long", self.run_it("list", "merge", "l", spam, rc=65)[1])
        os.truncate(spam, 0)
        self.assertIn("cut off", self.run_it("list", "merge", "l", spam, rc=65)[1])
        self.assertEqual(self.status("a.example"), {"l": "confirmed"})


class Standing(Case):
    """CLEAN to KNOWN_MALICIOUS, by the lists' answers."""

    def setUp(self):
        super().setUp()
        self.configure("""lists = (
            { name = "good"; category = "allow"; weight = -6.0; },
            { name = "tried"; shadow = true; } );""")
        for name, hosts in {"a": "one two back", "b": "two", "good": "nice", "tried": "new"}.items():
            self.run_it("list", "import", name, "-", stdin="\n".join(
                f"{host}.example" for host in hosts.split()))
        self.run_it("list", "add", "--create", "a", "own.example")
        self.run_it("list", "revoke", "a", "back.example")

    def rating(self, value):
        rows = self.json("lookup", value, rc=self.rc)
        self.assertEqual(len({(r["rating"], r["requires_blocking"], r["confidence"]) for r in rows}), 1)
        return rows[0]["rating"], rows[0]["requires_blocking"], round(rows[0]["confidence"], 6)

    def test_each(self):
        three_of = (3 + 1) / (3 + 1 + 2)  # list a: three stand, one was revoked
        one_of = (1 + 1) / (1 + 2)
        for value, want in {
                "strange.example": ("CLEAN", False, 1),
                "back.example": ("CLEAN", False, 1),
                "nice.example": ("CLEAN", False, 1),
                "new.example": ("SUSPICIOUS", False, one_of),
                "one.example": ("MALICIOUS", True, three_of),
                "http://one.example/x": ("MALICIOUS", True, three_of),
                "two.example": ("KNOWN_MALICIOUS", True, 1 - (1 - three_of) * (1 - one_of)),
                "own.example": ("KNOWN_MALICIOUS", True, 1)}.items():
            self.rc = 0 if value in ("strange.example", "back.example") else 1
            with self.subTest(value):
                got = self.rating(value)
                self.assertEqual(got, want[:2] + (round(want[2], 6),))
                text, _ = self.run_it("lookup", value, rc=self.rc)
                self.assertIn(want[0] + (", requires blocking" if want[1] else ""), text)

    def test_index_cannot_be_asked(self):
        for index in (self.state / "lists/b").glob("index.*[0-9]"):
            index.write_bytes(b"x" * index.stat().st_size)
        self.rc = 65
        self.assertEqual(self.rating("two.example")[0], "MALICIOUS")  # list a confirms
        self.run_it("list", "revoke", "a", "two.example")
        self.assertEqual(self.rating("two.example"), ("SUSPICIOUS", False, 0.5))

    def test_check(self):
        mail = self.folder / "m.eml"
        mail.write_bytes(b"From: a@b.example\r\nSubject: x\r\n\r\nhttp://two.example/ "
                         b"http://one.example/ http://own.example/ http://back.example/\r\n")
        row, = self.json("check", mail, rc=1)
        got = {(h["list"], h["value"]): (h["status"], h["rating"], h["requires_blocking"])
               for h in row["lists"]}
        self.assertEqual(got[("a", "one.example")], ("confirmed", "MALICIOUS", True))
        self.assertEqual(got[("a", "two.example")], ("confirmed", "KNOWN_MALICIOUS", True))
        self.assertEqual(got[("b", "two.example")], ("confirmed", "KNOWN_MALICIOUS", True))
        self.assertEqual(got[("a", "own.example")], ("confirmed", "KNOWN_MALICIOUS", True))
        self.assertEqual(got[("a", "back.example")], ("revoked", "CLEAN", False))
        text, _ = self.run_it("check", mail, rc=1)
        self.assertIn("back.example revoked (CLEAN, confidence 1.0000)", text)

    def test_help(self):
        text, _ = self.run_it("lookup", "--help")
        table = (ROOT / "core/list/rating.def").read_text()
        words = re.findall(r"^RATING\((\w+), \w+,\s*\"(.*)\"\)", table, re.M)
        self.assertEqual(len(words), 7)
        for word, when in words:
            self.assertRegex(text, f"{word} +" + re.escape(when))


class Url(Case):
    WRAPPED = "https://x.safelinks.protection.outlook.com/?url=http%3A%2F%2FEvil.github.io%2Fa&d=1"

    def test_parts(self):
        row, = self.json("url", "http://u:p@EVIL.example:8080/a/../b?x=%41#y")
        self.assertEqual(row, {
            "url": "http://u:p@EVIL.example:8080/a/../b?x=%41#y",
            "href": "http://u:p@evil.example:8080/b?x=%41#y",
            "scheme": "http", "username": "u", "password": "p", "host": "evil.example",
            "host_kind": "name", "port": 8080, "path": "/b", "query": "x=%41", "fragment": "y",
            "canonical": "evil.example:8080/b?x=%41", "registrable": "evil.example",
            "normal": "evil.example:8080/b?x=A", "folded": "evil.example:8080/b?x=A",
            "template": "evil.example:8080/b?x",
            "shortener": False, "targets": [], "targets_cut": False,
            "expressions": ["evil.example/b?x=A", "evil.example/b", "evil.example/"]})

    def test_addresses_and_no_scheme(self):
        four, six, name = self.json("url", "http://0x7f.1/", "http://[::1]/a", "evil.example")
        self.assertEqual((four["host"], four["host_kind"], four["registrable"]),
                         ("127.0.0.1", "ipv4", None))
        self.assertEqual((six["host"], six["expressions"]), ("::1", ["[::1]/a", "[::1]/"]))
        self.assertEqual((name["href"], name["canonical"]), (None, "evil.example/"))

    def test_targets(self):
        row, = self.json("url", self.WRAPPED)
        self.assertEqual(row["targets"], [
            {"url": "http://Evil.github.io/a", "depth": 1, "wrapper": "safelinks",
             "canonical": "evil.github.io/a", "host": "evil.github.io",
             "registrable": "evil.github.io"}])
        self.assertTrue(self.json("url", "https://bit.ly/x")[0]["shortener"])

    def test_looser_keys(self):
        out, _ = self.run_it("url", "http://a.example/Item/17?utm_source=1")
        self.assertIn("\n  normal       a.example/Item/17\n"
                      "  folded       a.example/item/17\n"
                      "  template     a.example/item/0?utm_source\n", out)
        self.assertNotIn("template", self.run_it("url", "http://a.example/x")[0])

    def test_for_people_and_lines(self):
        out, _ = self.run_it("url", "-", stdin=f"\n{self.WRAPPED}\nhttp://b\x07.example\n", rc=65)
        self.assertIn("\n  target       1 safelinks http://Evil.github.io/a\n", out)
        self.assertIn("\n  registrable  outlook.com\n", out)
        self.assertNotIn("\a", out)

    def test_bad(self):
        out, err = self.run_it("url", "http://", "mailto:a@b.example", "http://good.example", rc=65)
        self.assertIn("gillnet: http://: not a URL\n", err)
        self.assertIn("scheme that is not looked up", err)
        self.assertIn("good.example/", out)
        out, _ = self.run_it("url", "http://h/" + "a" * 9000)
        self.assertLess(max(map(len, out.splitlines()[1:])), 9000)  # as a message's URL is shortened
        self.run_it("url", rc=64)
        self.run_it("url", "--no-such", rc=64)


class Import(Case):
    def test_every_format(self):
        for file, kind, entries, bad in (
                ("domains.txt", "plain", 14, 3), ("hosts.txt", "hosts", 4, 2),
                ("urls.csv", "phishtank", 3, 2), ("comment-header.csv", "csv", 2, 0),
                ("dnsmasq.conf", "dnsmasq", 7, 2), ("unbound.conf", "unbound", 5, 1),
                ("adblock.txt", "adblock", 12, 0), ("policy.rpz", "rpz", 11, 3)):
            name = file.split(".")[0]
            row, = self.json("list", "import", name, FEEDS / file)
            self.assertEqual((row["format"], row["entries"], row["bad"]), (kind, entries, bad))
            self.assertEqual(row["listed"], row["added"])
            again, = self.json("list", "import", name, FEEDS / file, "--format", kind)
            self.assertEqual((again["added"], again["listed"]), (0, row["listed"]))
            self.assertEqual(len(self.exported(name)), row["listed"])

    def test_bad_lines_are_shown_ten_at_most(self):
        text = "good.example\n" + "no good\n" * 25
        _, err = self.run_it("list", "import", "l", "-", "--format", "plain", stdin=text)
        self.assertIn("-:2: ", err)
        self.assertIn("-:11: ", err)
        self.assertNotIn("-:12: ", err)
        self.assertIn("and 15 more bad lines", err)

    def test_refused_files_leave_the_list(self):
        self.run_it("list", "import", "l", FEEDS / "domains.txt")
        before = self.exported("l")
        for file in ("page.html", "utf16.txt", "binary.bin", "list.txt.gz"):
            _, err = self.run_it("list", "import", "l", FEEDS / file, rc=65)
            self.assertIn(file, err)
            self.run_it("list", "import", "new", FEEDS / file, rc=65)
        for text in ("", "# nothing\n", "not an entry\n"):
            _, err = self.run_it("list", "import", "l", "-", "--format", "plain", stdin=text,
                                 rc=65)
            self.assertIn("unchanged", err)
        self.assertEqual(self.exported("l"), before)
        self.assertFalse((self.state / "lists/new").exists())
        self.run_it("list", "import", "l", "-", "--allow-empty", stdin="# nothing\n")
        self.assertEqual(self.exported("l"), before)

    def test_options(self):
        self.run_it("list", "import", "l", "-", "--column", "2", "--type", "host", "--source",
                    "made up", "--expire", "7d", stdin="1,a.example\n2,b.example\n")
        row, = self.json("lookup", "a.example", rc=1)
        self.assertEqual((row["type"], row["key"], row["source"]),
                         ("host", "a.example", "made up"))
        self.assertNotEqual(row["expiry"], "never")
        self.assertFalse(row["explicit"])

    def test_progress_only_on_a_terminal(self):
        big = self.folder / "big.txt"
        big.write_text("".join(f"n{i}.example\n" for i in range(50000)))
        ours, theirs = pty.openpty()
        args = [GILLNET, "-c", self.conf, "list", "import", "l", big]
        p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        p.communicate()
        self.assertEqual(p.returncode, 0)
        self.assertIn(b"reading", shown)
        self.assertIn(b"%", shown)
        _, err = self.run_it("list", "import", "l", big)
        self.assertEqual(err, "")

    def test_usage_errors(self):
        for args, rc in ((["l"], 64), (["L!", FEEDS / "domains.txt"], 64),
                         (["l", self.folder / "none"], 66), (["l", self.folder], 74),
                         (["l", FEEDS / "domains.txt", "--format", "excel"], 64),
                         (["l", FEEDS / "domains.txt", "--type", "excel"], 64),
                         (["l", FEEDS / "domains.txt", "--expire", "soon"], 64),
                         (["l", FEEDS / "domains.txt", "--expire"], 64),
                         (["l", FEEDS / "domains.txt", "--nope"], 64),
                         (["l", FEEDS / "urls.csv", "--column", "nope"], 65)):
            _, err = self.run_it("list", "import", *args, rc=rc)
            self.assertTrue(err)
        self.assertFalse((self.state / "lists/l").exists())

    def test_kill_9_leaves_old_or_new(self):
        self.run_it("list", "import", "l", FEEDS / "domains.txt")
        old = self.exported("l")
        big = self.folder / "big.txt"
        big.write_text("".join(f"n{i}.example\n" for i in range(300000)))
        rng = random.Random(7)
        for _ in range(12):
            p = subprocess.Popen([GILLNET, "-c", self.conf, "list", "import", "l", big],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * 0.5)
            p.send_signal(signal.SIGKILL)
            p.wait()
            n = len(self.exported("l"))
            self.assertIn(n, (len(old), len(old) + 300000))
            self.run_it("list", "verify", "l")
        row, = self.json("list", "import", "l", big)
        self.assertEqual(row["listed"], len(old) + 300000)
        self.assertEqual(self.status("n7.example"), {"l": "confirmed"})

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a tmpfs")
    def test_full_disk_leaves_the_list(self):
        mount = self.folder / "small"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", mount],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this machine lets nobody mount")
        self.addCleanup(subprocess.run, ["umount", mount])
        self.state = mount / "state"
        self.configure()
        self.run_it("list", "import", "l", FEEDS / "domains.txt")
        before = self.exported("l")
        big = self.folder / "big.txt"
        big.write_text("".join(f"n{i}.example\n" for i in range(300000)))
        p = subprocess.run([GILLNET, "-c", self.conf, "list", "import", "l", big],
                           stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertGreaterEqual(p.returncode, 64)
        self.assertIn(b"gillnet: ", p.stderr)
        self.assertEqual(self.exported("l"), before)
        self.run_it("list", "verify", "l")
        self.run_it("list", "add", "--create", "l", "after.example")
        self.assertEqual(self.status("after.example"), {"l": "confirmed"})

    def test_times_and_reasons_of_a_feed(self):
        row, = self.json("list", "import", "l", FEEDS / "stix.json", "--expire", "1h")
        self.assertEqual((row["format"], row["entries"]), ("stix", 9))
        self.assertEqual(row["unused"], {"expired": 1, "revoked": 1, "doubtful": 2, "checksum": 1, "other": 6})
        soon = int(time.time()) + 3600
        ends = {"soon.example": soon - 1800, "late.example": soon + 1800}
        bundle = {"type": "bundle", "objects": [
            {"type": "indicator", "pattern": f"[domain-name:value = '{name}']",
             "valid_until": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))}
            for name, end in ends.items()]}
        _, err = self.run_it("list", "import", "m", "-", "--expire", "1h", stdin=json.dumps(bundle))
        self.assertEqual(err, "")
        for name, end in ends.items():  # the sooner of the two
            row, = (r for r in self.json("lookup", name, rc=1) if r["list"] == "m")
            expiry = datetime.datetime.fromisoformat(row["expiry"].replace("Z", "+00:00"))
            self.assertAlmostEqual(expiry.timestamp(), min(end, soon), delta=60)
        _, err = self.run_it("list", "import", "n", FEEDS / "malwarebazaar.txt", "--force", "--format", "malwarebazaar")
        self.assertIn("2 of the ignored are MD5, SHA-1", err)
        _, err = self.run_it("list", "import", "n", FEEDS / "safebrowsing.txt", "--format", "safebrowsing")
        _, err = self.run_it("list", "import", "n", "-", "--format", "stix", stdin='{"objects": [{', rc=65)
        self.assertIn("this is no whole JSON", err)

    def test_real_feeds(self):
        data = datafolder.folder()
        feeds = data / "feeds" if data else FEEDS
        for file, kind, entries in (
                ("adaway.hosts.txt", "hosts", 7648), ("adaway.domains.txt", "plain", 7648),
                ("adaway.dnsmasq.txt", "dnsmasq", 4456), ("adaway.unbound.conf", "unbound", 4456),
                ("urlhaus-filter-online.adblock.txt", "adblock", 6254),
                ("sample-phishtank-feed.csv", "phishtank", 2), ("sample-openphish-feed.txt", "plain", 2),
                ("maltrail-mass_scanner.ip.txt", "plain", 19214),
                ("stevenblack.wildcard.txt.xz", "plain", 85291),
                ("stevenblack.adblock.txt.xz", "adblock", 85291)) if data else OWN_FEEDS:
            text = datafolder.needed(feeds / file).read_bytes()
            text = lzma.decompress(text) if file.endswith(".xz") else text
            row, = self.json("list", "import", file.replace(".", "-")[:32], "-", stdin=text)
            self.assertEqual(row["format"], kind, file)
            self.assertAlmostEqual(row["entries"], entries, delta=5, msg=file)


def feed(pipe, text):
    """Writes all of it, unless the reader is killed."""
    try:
        pipe.write(text)
        pipe.close()
    except BrokenPipeError:
        pass


class Edit(Case):
    def test_add_revoke_add(self):
        out, _ = self.run_it("list", "add", "--create", "l", "evil.example", "http://a.example/x")
        self.assertEqual(out, "ok evil.example\nok http://a.example/x\n")
        self.assertEqual(self.status("evil.example"), {"l": "confirmed"})
        self.run_it("list", "revoke", "l", "evil.example")
        self.assertEqual(self.status("evil.example"), {"l": "revoked"})
        self.run_it("list", "import", "l", "-", stdin="evil.example\n")  # no override
        self.assertEqual(self.status("evil.example"), {"l": "revoked"})
        self.run_it("list", "add", "--create", "l", "evil.example")
        self.assertEqual(self.status("evil.example"), {"l": "confirmed"})

    def test_closed_streams_leave_the_log_alone(self):
        """Where a program is started without standard streams, no file takes their numbers."""
        self.run_it("list", "add", "--create", "l", "first.example")
        for redirections in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            for values in ("-", "third.example nonsense"):
                subprocess.run(["sh", "-c", f'"$0" -c "$1" list add l {values} {redirections}',
                                GILLNET, self.conf], check=False, timeout=60,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        self.assertEqual(self.run_it("list", "verify")[0], "l: ok\n")
        self.assertEqual(self.exported("l"), ["first.example", "third.example"])

    def test_bad_values_do_not_stop_the_others(self):
        out, err = self.run_it("list", "add", "--create", "l", "com", "a b", "good.example", rc=65)
        self.assertEqual(out, "ok good.example\n")
        self.assertIn("a b: ", err)
        out, _ = self.run_it("list", "add", "--create", "l", "-", stdin="# c\n\nx.example\nlocalhost\n", rc=65)
        self.assertEqual(out, "ok x.example\n")

    def test_a_bad_value_makes_no_list(self):
        self.run_it("list", "add", "--create", "other", "com", rc=65)
        self.run_it("list", "add", "--create", "other", "-", stdin="localhost\n", rc=65)
        self.assertFalse((self.state / "lists/other").exists())

    def test_a_line_without_end_is_bad_and_takes_no_memory(self):
        def little():
            if not sanitized:  # their shadow alone is larger
                resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))
        program = pathlib.Path(GILLNET).read_bytes()
        sanitized = b"__asan_init" in program or b"__tsan_init" in program
        for args in (["list", "add", "--create", "l", "-"], ["lookup", "--file", "-"]):
            p = subprocess.run([GILLNET, "-c", self.conf, *args], stderr=subprocess.PIPE,
                               input=b"one.example\n" + b"a" * (80 << 20) + b"\ntwo.example\n",
                               stdout=subprocess.PIPE, timeout=300, preexec_fn=little)
            self.assertEqual(p.returncode, 65, p.stderr)
            self.assertIn(b":2: the line is longer than 16384 bytes", p.stderr)
        self.assertEqual(self.status("one.example"), {"l": "confirmed"})
        self.assertEqual(self.status("two.example"), {"l": "confirmed"})

    def test_acknowledgement_holds_no_control_bytes(self):
        out, _ = self.run_it("list", "add", "--create", "l", "http://a.example/\x1b[31m")
        self.assertEqual(out, "ok http://a.example/\\x1b[31m\n")

    def test_a_list_behind_a_link_is_seen(self):
        self.run_it("list", "add", "--create", "l", "evil.example")
        (self.state / "lists/l").rename(self.folder / "elsewhere")
        (self.state / "lists/l").symlink_to(self.folder / "elsewhere")
        self.run_it("list", "add", "--create", "l", "two.example")
        self.assertEqual(self.status("evil.example"), {"l": "confirmed"})
        self.assertEqual(self.status("two.example"), {"l": "confirmed"})

    def test_a_file_in_place_of_the_lists_is_an_error(self):
        self.run_it("list", "add", "--create", "l", "evil.example")
        shutil.rmtree(self.state / "lists")
        (self.state / "lists").write_text("")
        for args in (["lookup", "evil.example"], ["list", "verify"], ["list", "stat"], ["stat"]):
            _, err = self.run_it(*args, rc=65)
            self.assertIn("a file lies where the folder of lists is needed", err)
        out, _ = self.run_it("doctor", rc=1)
        self.assertIn("a file lies where the folder of lists is needed", out)

    def test_rekey__former_key_left_out__all_is_found_still(self):
        self.run_it("list", "add", "--create", "l", "evil.example", "other.example")
        self.run_it("list", "revoke", "l", "other.example")
        ring = self.state / "keys/digest.key"
        newer = "00112233445566778899aabbccddeeff\n"
        ring.write_text(newer + ring.read_text())
        self.assertIn("list rekey l", self.run_it("doctor", rc=1)[0])
        out, _ = self.run_it("list", "rekey")
        self.assertRegex(out, "l: 1 entries and 1 revoked ones are made with the digest key")
        self.assertNotIn("list rekey", self.run_it("doctor", rc=1)[0])
        ring.write_text(newer)
        self.assertEqual(self.status("evil.example"), {"l": "confirmed"})
        self.assertEqual(self.status("other.example"), {"l": "revoked"})
        self.assertIn("newest", self.run_it("list", "rekey", "l")[0])
        self.run_it("list", "rekey", "nolist", rc=66)

    def test_add_to_a_list_that_is_not_there__asks_for_create(self):
        _, err = self.run_it("list", "add", "phsih", "evil.example", rc=66)
        self.assertIn("--create", err)
        _, err = self.run_it("list", "add", "phsih", "-", stdin="evil.example\n", rc=66)
        self.assertFalse((self.state / "lists/phsih").exists())
        self.configure('lists = ( { name = "phish"; } );\n')
        self.run_it("list", "add", "phish", "evil.example")  # named: no slip of the pen
        self.configure()
        self.run_it("list", "add", "phish", "other.example")
        self.assertEqual(self.exported("phish"), ["evil.example", "other.example"])

    def test_revoke_of_what_is_not_there__says_so(self):
        self.run_it("list", "add", "--create", "l", "evil.example", "good.example")
        out, err = self.run_it("list", "revoke", "l", "evil.example", "evli.example", rc=1)
        self.assertEqual(out, "ok evil.example\nok evli.example\n")
        self.assertIn("evli.example: list l did not have it", err)
        self.assertNotIn("evil.example: ", err)
        row, = self.json("list", "revoke", "l", "evil.example", rc=1)
        self.assertFalse(row["was_listed"])
        row, = self.json("list", "revoke", "l", "good.example")
        self.assertTrue(row["was_listed"])
        self.run_it("list", "import", "l", "-", stdin="evli.example\n")
        self.assertEqual(self.status("evli.example"), {"l": "revoked"})

    def test_delete_and_rename(self):
        self.run_it("list", "add", "--create", "one", "evil.example")
        self.run_it("list", "add", "--create", "two", "bad.example")
        out, _ = self.run_it("list")
        self.assertRegex(out, r"(?m)\Aone +1 entries.*\ntwo +1 entries.*\n\Z")
        self.assertEqual([r["list"] for r in self.json("list")], ["one", "two"])
        _, err = self.run_it("list", "delete", "one", rc=77)
        self.assertIn("--force", err)
        _, err = self.run_it("list", "rename", "one", "two", rc=73)
        self.assertIn("there is a list of this name", err)
        self.run_it("list", "rename", "one", "three")
        self.assertEqual(self.status("evil.example"), {"three": "confirmed"})
        self.run_it("list", "add", "three", "more.example")
        self.run_it("list", "verify")
        self.run_it("list", "delete", "--force", "two")
        self.assertEqual(sorted(p.name for p in (self.state / "lists").iterdir()),
                         ["LOCK", "three", "three.lock"])
        for args in (["delete", "--force", "two"], ["rename", "two", "x"]):
            _, err = self.run_it("list", *args, rc=66)
            self.assertIn("there is no list of this name", err)
        self.run_it("list", "delete", "--force", "three")
        self.assertIn("no lists yet", self.run_it("list")[0])

    def test_a_list_in_use__is_not_deleted_and_holds_up_no_other(self):
        self.run_it("list", "add", "--create", "one", "evil.example")
        with subprocess.Popen([GILLNET, "-c", self.conf, "list", "add", "one", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
            p.stdin.write(b"held.example\n")
            p.stdin.flush()
            self.assertEqual(p.stdout.readline(), b"ok held.example\n")
            self.run_it("list", "import", "two", "-", stdin="a.example\n")  # at once
            deleting = subprocess.Popen([GILLNET, "-c", self.conf, "list", "delete", "--force", "one"],
                                        stderr=subprocess.PIPE, stdout=subprocess.PIPE)
            self.assertIn(b"waiting, up to", deleting.stderr.readline())
            self.assertTrue((self.state / "lists/one").exists())
            p.stdin.close()
            out, _ = deleting.communicate(timeout=60)
            self.assertEqual(out, b"one: deleted\n")

    def test_import__own_names_and_major_domains__left_out_by_line(self):
        self.configure('protected = [ "mine.example" ];\n'
                       'lists = ( { name = "ok"; category = "allow"; } );\n')
        feed = "bad.example\nwww.mine.example\ngmail.com\nhttp://gmail.com/x\nco.uk\n"
        out, err = self.run_it("list", "import", "l", "-", stdin=feed)
        self.assertIn("-:2: left out: www.mine.example is", err)
        self.assertIn("-:3: left out: gmail.com is", err)
        self.assertIn("--force", err)
        self.assertIn("2 left out", out)
        self.assertEqual(self.exported("l"), ["bad.example", "gmail.com/x"])
        _, err = self.run_it("list", "import", "m", "-", stdin="gmail.com\n", rc=65)
        self.assertIn("1 left out", err)
        self.assertFalse((self.state / "lists/m").exists())
        row, = self.json("list", "import", "l", "-", "--force", stdin=feed)
        self.assertEqual((row["excluded"], row["listed"]), (0, 4))
        self.run_it("list", "import", "ok", "-", stdin="gmail.com\n")
        self.assertEqual(self.exported("ok"), ["gmail.com"])

    def test_revoke_of_no_list(self):
        self.run_it("list", "add", "--create", "l", "evil.example")
        _, err = self.run_it("list", "revoke", "other", "evil.example", rc=66)
        self.assertIn("other", err)
        self.assertFalse((self.state / "lists/other").exists())
        # configured: another server of the owner may list it
        self.configure('lists = ( { name = "other"; } );\n')
        _, err = self.run_it("list", "revoke", "other", "evil.example", rc=1)
        self.assertIn("list other did not have it", err)
        self.assertEqual(self.status("evil.example"), {"l": "confirmed", "other": "revoked"})

    def test_acknowledged_is_kept_through_kill_9(self):
        told = []
        for turn in range(5):
            p = subprocess.Popen([GILLNET, "-c", self.conf, "list", "add", "--create", "l", "-"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            text = b"".join(b"t%d-%d.example\n" % (turn, i) for i in range(3000))
            writer = threading.Thread(target=feed, args=(p.stdin, text))
            writer.start()
            for _ in range(random.Random(turn).randrange(1, 40)):
                told.append(p.stdout.readline())
            p.send_signal(signal.SIGKILL)
            told += p.stdout.readlines()
            p.wait()
            writer.join()
            p.stdout.close()
        names = [t[3:].decode().strip() for t in told if t.startswith(b"ok ") and t.endswith(b"\n")]
        self.assertGreater(len(names), 5)
        row = self.json("lookup", "--quiet", "-", stdin="\n".join(names), rc=1)[0]
        self.assertEqual((row["listed"], row["values"]), (len(names), len(names)))

    def test_expiry(self):
        self.run_it("list", "add", "--create", "l", "--expire", "1s", "gone.example")
        self.run_it("list", "add", "--create", "l", "stays.example")
        deadline = time.time() + 30
        while self.status("gone.example") == {"l": "confirmed"} and time.time() < deadline:
            time.sleep(0.2)
        self.assertNotIn("confirmed", self.status("gone.example").values())
        self.assertEqual(self.exported("l"), ["stays.example"])


class Show(Case):
    def test_export_reads_back(self):
        entries = ["evil.example", "host:evil.example", "http://evil.example/", "192.0.2.7",
                   "192.0.2.0/24", "2001:db8::/48", "a@evil.example",
                   "attachment:" + "0123456789abcdef" * 4, "body:" + "fedcba9876543210" * 4,
                   "subject:Win #1 prize # now", "subject:# begins so",
                   "attachment_name:invoice # 7.exe"]
        self.run_it("list", "import", "l", "--force", FEEDS / "domains.txt")
        self.run_it("list", "add", "l", *entries)
        self.run_it("list", "revoke", "l", "wild.example")
        first = self.exported("l")
        self.assertEqual(len(first), 14 + len(entries) - 1 - 2)  # evil.example, 192.0.2.7 twice
        self.run_it("list", "import", "copy", "--force", "-", stdin="\n".join(first) + "\n")
        self.assertEqual(self.exported("copy"), first)

    def test_export_json(self):
        self.run_it("list", "add", "--create", "l", "evil.example")
        self.run_it("list", "revoke", "l", "good.example", rc=1)
        rows = {r["value"]: r for r in self.json("list", "export", "l")}
        self.assertEqual(rows["evil.example"]["status"], "listed")
        self.assertEqual(rows["evil.example"]["source"], "cli")
        self.assertTrue(rows["evil.example"]["explicit"])
        self.assertEqual(rows["good.example"]["status"], "revoked")

    def test_digests_only_cannot_be_exported(self):
        self.configure('lists = ( { name = "l"; keep_text = false; } );\n')
        self.run_it("list", "import", "l", "--force", FEEDS / "domains.txt")
        self.assertEqual(self.status("evil.example"), {"l": "confirmed"})
        _, err = self.run_it("list", "export", "l", rc=65)
        self.assertIn("14 entries are kept as digests only", err)

    def test_stat_verify_rebuild_merge(self):
        self.assertEqual(self.json("list", "stat"), [])
        self.run_it("list", "import", "one", "--force", FEEDS / "domains.txt")
        self.run_it("list", "import", "two", FEEDS / "hosts.txt")
        self.run_it("list", "add", "--create", "one", "late.example")
        rows = {r["list"]: r for r in self.json("list", "stat")}
        self.assertEqual((rows["one"]["entries"], rows["one"]["recent"]), (15, 1))
        self.assertEqual(rows["two"]["entries"], 4)
        self.assertEqual(len(self.json("list", "stat", "two")), 1)
        for what in ("stat", "export"):
            _, err = self.run_it("list", what, "none", rc=66)
            self.assertIn("there is no list of this name", err)
        self.run_it("list", "rebuild", "one")
        row, = self.json("list", "stat", "one")
        self.assertEqual((row["entries"], row["recent"]), (15, 0))
        self.run_it("list", "rebuild", "none", rc=66)
        out, _ = self.run_it("list", "verify")
        self.assertEqual(out, "one: ok\ntwo: ok\n")
        self.assertEqual(self.json("list", "verify", "one"),
                         [{"list": "one", "ok": True, "findings": 0}])
        self.run_it("list", "merge", "one", "two", rc=66)  # no such file
        self.run_it("list", "frobnicate", "one", rc=64)

    def test_verify_names_damage(self):
        self.run_it("list", "import", "l", FEEDS / "domains.txt")
        base = max((self.state / "lists/l").glob("base.*"))
        data = bytearray(base.read_bytes())
        data[len(data) // 2] ^= 1
        base.write_bytes(data)
        _, err = self.run_it("list", "verify", "l", rc=1)
        self.assertIn(base.name, err)
        self.run_it("list", "verify", "other", rc=66)


class Lookup(Case):
    def test_a_value_is_sought_as_a_message_would(self):
        self.run_it("list", "add", "--create", "l", "evil.example", "host:www.exact.example",
                    "http://pages.example/one", "192.0.2.0/24", "b@box.example",
                    "2001:db8::/32")
        for value, key in (("evil.example", "evil.example"), ("a.b.evil.example", "evil.example"),
                           ("http://x.evil.example/y", "evil.example"),
                           ("any@evil.example", "evil.example"),
                           ("WWW.Exact.Example", "www.exact.example"),
                           ("http://www.exact.example/z", "www.exact.example"),
                           ("HTTPS://Pages.Example/./one#f", "pages.example/one"),
                           ("192.0.2.77", "192.0.2.0/24"), ("http://192.0.2.77/", "192.0.2.0/24"),
                           ("192.0.2.128/25", "192.0.2.0/24"), ("2001:db8::5", "2001:db8::/32"),
                           ("B@box.example", "b@box.example"), ("b@box.example", "b@box.example"),
                           ("box.example", None), ("x.exact.example", None),
                           ("pages.example", None), ("http://pages.example/", None),
                           ("http://pages.example/two", None), ("192.0.0.0/16", None),
                           ("notevil.example", None)):
            rows = [r for r in self.json("lookup", value, rc=0 if key is None else 1) if r["status"] != "below"]
            if key is None:
                self.assertEqual(rows, [{"value": value, "status": "not_listed", "rating": "CLEAN",
                                         "requires_blocking": False, "confidence": 1.0}])
            else:
                self.assertEqual([(r["value"], r["key"], r["status"]) for r in rows],
                                 [(value, key, "confirmed")])

    def test_looser_keys_of_a_url(self):
        self.run_it("list", "add", "--create", "l", "http://a.example/X", "url_folded:b.example/x",
                    "url_template:c.example/item/1")
        for value, kind in (("http://a.example/X?utm_source=1", "url"),
                            ("http://b.example/X", "url_folded"),
                            ("http://b.example/x", "url_folded"),
                            ("http://c.example/item/22", "url_template"),
                            ("http://c.example/Item/0", "url_template")):
            rows = self.json("lookup", value, rc=1)
            self.assertEqual([(r["value"], r["type"]) for r in rows], [(value, kind)])
        self.run_it("lookup", "http://a.example/x", "http://c.example/other/1", rc=0)

    def test_each_spelling_of_a_url(self):
        self.run_it("list", "add", "--create", "l", "http://www.a.example/Path/?utm_source=x", "http://b.example/?utm_id=1",
                    "V.ictim+x@gmail.com")
        for value, key in (("https://a.example/Path", "a.example/Path"), ("a.example/Path/?fbclid=2", "a.example/Path"),
                           ("http://b.example", "b.example"), ("victim@googlemail.com", "victim@gmail.com")):
            rows = self.json("lookup", value, rc=1)
            self.assertEqual([(r["key"], r["status"]) for r in rows], [(key, "confirmed")])
        self.run_it("lookup", "http://a.example/path", "http://b.example/x", "host:b.example", rc=0)
        mail = b"Subject: a\n\nhttp://WWW.A.example:80/./Path?gclid=1#top\n"
        row = self.json("check", "-", stdin=mail, rc=1)[0]
        self.assertEqual([(r["type"], r["value"]) for r in row["lists"]], [("url", "a.example/Path")])
        out, _ = self.run_it("list", "export", "l")
        self.assertIn("www.a.example/Path/?utm_source=x", out)

    def test_url_match_changed(self):
        self.run_it("list", "add", "--create", "l", "http://www.a.example/Path/")
        for match, found in (("exact", [1, 0, 0]), ("folded", [1, 1, 1]), ("normal", [1, 1, 0])):
            with open(self.conf, "a", encoding="utf-8") as f:
                f.write(f'list_defaults = {{ url_match = "{match}"; }};\n')
            self.run_it("list", "rebuild", "l")
            got = [self.run_it("lookup", v, rc=rc)[0].count(": confirmed ") for v, rc in
                   zip(("http://www.a.example/Path/", "http://a.example/Path", "http://a.example/pATH"), found)]
            self.assertEqual(got, found, match)
            self.conf.write_text("".join(line for line in self.conf.open() if "list_defaults" not in line))
            self.run_it("list", "verify", "l")

    def test_above_and_below(self):
        self.run_it("list", "add", "--create", "l", "http://www.evil.example/pay", "host:a.evil.example", "bad.example")
        out, _ = self.run_it("lookup", "evil.example", rc=0)
        self.assertIn("evil.example: below it l holds url www.evil.example/pay, first seen ", out)
        self.assertIn("evil.example: below it l holds host a.evil.example, ", out)
        rows = self.json("lookup", "evil.example", rc=0)
        self.assertEqual([(r["status"], r.get("type")) for r in rows],
                         [("not_listed", None), ("below", "url"), ("below", "host")])
        out, _ = self.run_it("lookup", "http://bad.example/pay", rc=1)
        self.assertIn("http://bad.example/pay: l: confirmed domain bad.example", out)
        out, _ = self.run_it("lookup", "other.example", rc=0)
        self.assertNotIn("below", out)
        self.run_it("list", "add", "--create", "l", *(f"http://many.example/{i}" for i in range(14)))
        out, _ = self.run_it("lookup", "many.example", rc=0)
        self.assertEqual(out.count("below it l holds"), 10)
        self.assertIn("many.example: 4 more entries below it\n", out)

    def test_url_expressions(self):
        self.run_it("list", "add", "--create", "l", "url_expression:evil.github.io/", "url_expression:sites.example/bad/")
        mail = b"Subject: a\n\nhttp://evil.github.io/any/where?x http://good.github.io/\n"
        row = self.json("check", "-", stdin=mail, rc=1)[0]
        self.assertEqual([(r["type"], r["value"], r["status"]) for r in row["lists"]],
                         [("url", "evil.github.io/", "confirmed")])
        for value, key in (("http://evil.github.io/any/where?x", "evil.github.io/"),
                           ("http://www.sites.example/bad/a", "sites.example/bad/"),
                           ("http://good.github.io/", None),
                           ("http://sites.example/good/a", None)):
            rows = self.json("lookup", value, rc=0 if key is None else 1)
            self.assertEqual([r.get("key") for r in rows], [key])

    def test_without_any_state(self):
        self.assertEqual(self.run_it("lookup", "evil.example")[0], "evil.example: not listed (CLEAN, confidence 1.0000)\n")
        self.assertFalse(self.state.exists())

    def test_bad_value_and_usage(self):
        _, err = self.run_it("lookup", "no good", rc=65)
        self.assertIn("no good", err)
        self.run_it("lookup", rc=64)
        self.run_it("lookup", "--file", self.folder / "none", rc=66)
        self.run_it("lookup", "--file", "x", "y.example", rc=64)

    def test_bulk(self):
        n = 30000
        listed = [f"http://h{i % 100}.example/p{i}?q=1" for i in range(n)]
        self.run_it("list", "import", "l", "-", stdin="\n".join(listed))
        absent = [f"http://h{i % 100}.example/no{i}" for i in range(n)]
        file = self.folder / "values"
        file.write_text("# values\n\n" + "\n".join(listed + absent) + "\nno good\n")
        row, = self.json("lookup", "--file", file, "--quiet", rc=65)
        self.assertEqual(row, {"values": 2 * n, "listed": n, "not_listed": n, "other": 0,
                               "bad": 1})
        rows = self.json("lookup", "--file", file, rc=65)
        self.assertEqual([r["value"] for r in rows], listed)
        rows = self.json("lookup", "--file", file, "--all", rc=65)
        self.assertEqual([r["value"] for r in rows], listed + absent)

    def test_damaged_list_is_an_error(self):
        self.run_it("list", "import", "l", FEEDS / "domains.txt")
        for file in (self.state / "lists/l").glob("index.*"):
            file.write_bytes(b"rubbish")
        p = subprocess.run([GILLNET, "-c", self.conf, "lookup", "evil.example"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertGreaterEqual(p.returncode, 64)
        self.assertIn(b"index damaged", p.stderr)


class Check(Case):
    CONF = """thresholds = { header = 5.0; reject = 12.0; };
lists = ( { name = "phish"; weight = 8.0; }, { name = "spam"; weight = 6.0; },
          { name = "quiet"; weight = 50.0; shadow = true; },
          { name = "friends"; category = "allow"; } );
trusted_authserv = [ "mx.example.org" ];
"""

    def setUp(self):
        super().setUp()
        self.configure(self.CONF)

    def test_mailboxes__read_as_what_they_are__by_every_command(self):
        self.run_it("list", "add", "phish", "evil.example")
        good, bad = b"Subject: a\n\nhello\n", b"Subject: b\n\nhttp://evil.example/\n"
        line = b"From a@b.example Thu Aug 22 12:36:23 2002\n"
        box = self.folder / "box"
        box.write_bytes(line + good + b"\n" + line + bad + b"\n" + line + good)
        self.folder.joinpath("one").write_bytes(line + bad)
        md = self.folder / "Maildir"
        for sub in ("new", "cur", "tmp", ".Junk/new", ".Junk/cur", ".Junk/tmp", "sieve"):
            (md / sub).mkdir(parents=True)
        for at, text in (("new/1", good), ("cur/2:2,S", line + bad), ("tmp/3", bad), (".Junk/cur/4", bad),
                         (".Junk/tmp/5", bad), ("dovecot-uidlist", b"3 V1"), ("sieve/x", bad)):
            (md / at).write_bytes(text)

        def acts(*paths, stdin=b""):
            return [(pathlib.Path(r["file"]).name, r["action"] != "accept")
                    for r in self.json("check", *paths, stdin=stdin, rc=1)]
        self.assertEqual(acts(box), [("box:1", False), ("box:2", True), ("box:3", False)])
        self.assertEqual(acts("-", stdin=box.read_bytes()), [("-:1", False), ("-:2", True), ("-:3", False)])
        self.assertEqual(acts(self.folder / "one"), [("one", True)])
        self.assertEqual(acts(md), [("4", True), ("2:2,S", True), ("1", False)])
        self.assertEqual(len(self.json("extract", box)), 3)
        feed = self.folder / "feed"
        feed.write_text("evil.example\n")
        out, _ = self.run_it("feed", "test", "--ham", box, feed, rc=None)
        self.assertIn("3 messages, 1 hit", out)
        self.assertIn("3 messages are good mail", self.run_it("feed", "ham", box)[0])
        self.assertIn("3 messages", self.run_it("simulate", "mail", md)[0])

    def check(self, *args, rc=0, stdin=b""):
        return self.json("check", *args, rc=rc, stdin=stdin)

    def test_three_messages(self):
        self.run_it("list", "add", "--create", "phish", "http://login.evil.example/account?id=42")
        self.run_it("list", "add", "--create", "spam", "spammer.example")
        rows = {pathlib.Path(r["file"]).name: r for r in self.check(MAIL, rc=1)}
        self.assertEqual(set(rows["clean.eml"]),
                         {"file", "action", "score", "identity", "symbols", "features", "lists", "counts",
                          "limits", "time_us"})
        self.assertEqual((rows["clean.eml"]["action"], rows["clean.eml"]["score"]), ("accept", 0))
        self.assertEqual(rows["clean.eml"]["symbols"], [])
        url = rows["listed-url.eml"]
        self.assertEqual((url["action"], url["score"]), ("header", 8))
        self.assertEqual(url["symbols"], [{"name": "LIST_PHISH", "score": 8.0, "detail":
                                           "url=login.evil.example/account?id=42"}])
        self.assertEqual(url["lists"], [{"list": "phish", "type": "url", "status": "confirmed",
                                         "value": "login.evil.example/account?id=42",
                                         "rating": "KNOWN_MALICIOUS", "requires_blocking": True,
                                         "confidence": 1.0}])
        sender = rows["listed-sender.eml"]
        self.assertEqual((sender["action"], sender["score"]), ("header", 6))
        self.assertEqual({h["type"] for h in sender["lists"]}, {"from_domain", "envelope_domain"})
        out, _ = self.run_it("check", MAIL / "listed-url.eml", rc=1)
        self.assertIn("listed-url.eml: header, score 8\n  sender: first_contact\n  LIST_PHISH 8 url=login.evil", out)

    def test_sum_revoked_shadow(self):
        self.run_it("list", "add", "--create", "phish", "evil.example")
        self.run_it("list", "add", "--create", "spam", "evil.example")
        self.run_it("list", "add", "--create", "quiet", "evil.example")
        row, = self.check(MAIL / "listed-url.eml", rc=1)
        self.assertEqual((row["action"], row["score"]), ("reject", 14))
        quiet, = [s for s in row["symbols"] if s["name"] == "LIST_QUIET"]
        self.assertEqual(quiet["score"], 0)
        self.assertIn("shadow", quiet["detail"])
        self.run_it("list", "revoke", "spam", "evil.example")
        row, = self.check(MAIL / "listed-url.eml", rc=1)
        self.assertEqual((row["action"], row["score"]), ("header", 8))
        self.assertIn("revoked", {h["status"] for h in row["lists"]})

    def test_allow_needs_proof(self):
        self.run_it("list", "add", "--create", "spam", "spammer.example")
        self.run_it("list", "add", "--create", "friends", "news.spammer.example")
        mail = (MAIL / "listed-sender.eml").read_bytes()
        row, = self.check("-", stdin=mail, rc=1)
        self.assertEqual(row["action"], "header")
        forged = b"Authentication-Results: other.example; dmarc=pass header.from=news.spammer.example\n"
        row, = self.check("-", stdin=forged + mail, rc=1)
        self.assertEqual(row["action"], "header")
        proof = b"Authentication-Results: mx.example.org; dmarc=pass header.from=news.spammer.example\n"
        row, = self.check("-", stdin=proof + mail)
        self.assertEqual((row["action"], row["score"]), ("accept", 0))
        self.assertEqual(row["symbols"][0]["name"], "ALLOW_FRIENDS")
        self.assertEqual(self.check("--auth", "-", stdin=mail)[0]["symbols"][0]["name"],
                         "ALLOW_LOGIN")

    def test_allowed_but_unproved__says_so(self):
        mail = (MAIL / "listed-sender.eml").read_bytes()
        proof = b"Authentication-Results: mx.example.org; dmarc=pass header.from=news.spammer.example\n"
        sender, = (f["value"] for f in self.check("-", stdin=mail)[0]["features"] if f["type"] == "from")
        allow = f'allow = {{ addresses = [ "{sender}" ]; }};\n'
        for conf, why in ((self.CONF, "no Authentication-Results field of a server in trusted_authserv proves it"),
                          ("", "trusted_authserv is empty: nothing can prove a sender")):
            self.configure(conf)
            self.assertNotIn("unproved", self.check("-", stdin=mail)[0])
            self.configure(conf + allow)
            self.assertIn(f"  allowed, but not authenticated: {sender} ({why})\n", self.run_it("check", "-", stdin=mail)[0])
            self.assertEqual(self.check("-", stdin=mail)[0]["unproved"], sender)
        self.configure(self.CONF + allow)
        self.assertNotIn("unproved", self.check("-", stdin=proof + mail)[0])
        self.assertNotIn("not authenticated", self.run_it("check", "-", stdin=proof + mail)[0])

    def test_inactive_after_without_period__names_the_list(self):
        self.configure('lists = ( { name = "old"; inactive_after = "9d"; } );')
        what, todo = "list old: inactive_after has no effect without period", 'set period, such as "7d"'
        out, err = self.run_it("config", "check")
        self.assertIn(": ok", out)
        self.assertRegex(err, f"^gillnet: warning: {what}.*; {todo}\n$")
        self.assertRegex(self.run_it("doctor", rc=1)[0], f"warn +configuration: {what}.* - {todo}\n")

    def test_no_lists__says_what_to_do(self):
        said = "no lists: links, senders and attachments are looked up nowhere; make one by `gillnet list import` or a feed"
        self.assertIn(said, self.run_it("check", MAIL / "clean.eml")[1])
        self.assertFalse(self.state.exists())
        self.assertIn("lists: none yet; make one with `gillnet list import`", self.run_it("stat")[0])
        self.run_it("list", "add", "--create", "phish", "evil.example")
        self.assertEqual(self.run_it("check", MAIL / "clean.eml")[1], "")
        self.run_it("list", "delete", "--force", "phish")
        self.assertIn(said, self.run_it("check", MAIL / "clean.eml")[1])

    def test_envelope(self):
        self.run_it("list", "add", "--create", "spam", "192.0.2.0/24", "helo.example", "env@from.example")
        clean = MAIL / "clean.eml"
        for args in (["--client", "192.0.2.9"], ["--helo", "helo.example"],
                     ["--from", "env@from.example"]):
            row, = self.check(*args, clean, rc=1)
            self.assertEqual(row["action"], "header", args)
        self.assertEqual(self.check("--client", "198.51.100.1", clean)[0]["action"], "accept")
        self.run_it("check", "--client", "nowhere", clean, rc=64)
        self.configure(self.CONF + 'trusted_networks = [ "192.0.2.0/24" ];\n')
        row, = self.check("--client", "192.0.2.9", clean)
        self.assertEqual(row["symbols"][0]["name"], "ALLOW_NETWORK")

    def test_errors_do_not_stop_the_others(self):
        out, err = self.run_it("--json", "check", self.folder / "none", MAIL / "clean.eml", rc=66)
        self.assertEqual(len(out.splitlines()), 1)
        self.assertIn("none", err)
        folder = subprocess.run(f'exec "{GILLNET}" -c "{self.conf}" check - <"{self.folder}"',
                                shell=True, stderr=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual((folder.returncode, b"Sanitizer" in folder.stderr), (66, False))
        self.run_it("check", rc=64)
        self.run_it("check", "--nope", MAIL, rc=64)
        self.configure("count = { messages_per_day = 0; };")
        _, err = self.run_it("check", "--count", MAIL, rc=69)
        self.assertIn("messages_per_day is 0", err)

    def test_folders_deep_and_odd(self):
        deep = self.folder / "mail"
        deep.mkdir()
        here = deep
        for _ in range(200):
            here = here / "d"
        here.mkdir(parents=True)
        shutil.copy(MAIL / "clean.eml", here / "1")
        shutil.copy(MAIL / "clean.eml", deep / os.fsdecode(b"odd \xff\n name"))
        os.mkfifo(deep / "fifo")
        (deep / "loop").symlink_to(deep)
        rows = self.check(str(deep) + "/")
        self.assertEqual(len(rows), 2)
        out, _ = self.run_it("check", deep)
        self.assertIn("odd \\xff\\x0a name: accept", out)

    def test_links_to_files__are_read__links_to_folders_are_told(self):
        mail, links = self.folder / "mail", self.folder / "links"
        for folder in (mail, links):
            folder.mkdir()
        for name in "123":
            shutil.copy(MAIL / "clean.eml", mail / name)
            (links / name).symlink_to(mail / name)
        (links / "again").symlink_to(links / "1")
        self.assertEqual(len(self.check(links)), 4)
        (self.folder / "short").symlink_to(links)  # given by the caller: followed
        self.assertEqual(len(self.check(self.folder / "short")), 4)
        (links / "folder").symlink_to(mail)
        out, err = self.run_it("--json", "check", links)
        self.assertEqual(len(out.splitlines()), 4)
        self.assertIn("1 links to folders, sockets, pipes and devices are passed over", err)
        (links / "nowhere").symlink_to(self.folder / "gone")
        (links / "round").symlink_to("round")
        _, err = self.run_it("check", links, rc=66)
        self.assertRegex(err, "(?s)links/nowhere: cannot be read.*links/round: cannot be read")
        only = self.folder / "only"
        only.mkdir()
        (only / "folder").symlink_to(mail)
        self.run_it("check", only, rc=66)

    def test_hostile_bytes_are_valid_json(self):
        mail = (b"From: \xff\xfe <a@b\xff.example>\nSubject: \xc3\x28 \xed\xa0\x80 \x00 x\n\n"
                b"http://h.example/\xf0\x28\x8c\x28\n")
        row, = self.check("-", stdin=mail)
        self.assertTrue(row["features"])
        self.run_it("check", "-", stdin=mail)

    def test_limits_are_named(self):
        self.configure(self.CONF + "limits = { urls = 3; };\n")
        urls = b"".join(b"http://h%d.example/\n" % i for i in range(9))
        row, = self.check("-", stdin=b"Subject: s\n\n" + urls)
        self.assertIn("urls", row["limits"])
        out, _ = self.run_it("check", "-", stdin=b"Subject: s\n\n" + urls)
        self.assertIn("  limit urls\n", out)

    def test_real_mail(self):
        data = datafolder.folder()
        folder = datafolder.needed(data / "mail") if data else MAIL
        rows = self.check(folder)
        files = sum(len(f) for _, _, f in os.walk(folder))
        # a mailbox of several messages is FILE:1, FILE:2, ...
        self.assertEqual(len({re.sub(r":\d+$", "", r["file"]) for r in rows}), files)


class Extract(Case):
    def test_features(self):
        rows = self.json("extract", MAIL / "clean.eml", "-", stdin=b"Subject: b\n\n")
        self.assertEqual([r["file"] for r in rows], [str(MAIL / "clean.eml"), "-"])
        self.assertEqual(set(rows[0]), {"file", "features", "limits"})
        values = {(f["type"], f["value"]) for f in rows[0]["features"]}
        self.assertLessEqual({("from", "anna@good.example"), ("from_domain", "good.example"),
                              ("subject", "Minutes of Monday"),
                              ("envelope_from", "anna@good.example"),
                              ("url", "good.example/minutes/2026-01-05.html"),
                              ("url_exact", "www.good.example/minutes/2026-01-05.html"),
                              ("url_host", "www.good.example")}, values)
        out, _ = self.run_it("extract", MAIL / "clean.eml")
        self.assertIn("  subject Minutes of Monday  (Subject at 0)\n", out)

    def test_places(self):
        mail = (b"Subject: see evil.example\nContent-Type: multipart/mixed; boundary=b\n\n"
                b"--b\n\nx\n--b\n\nat http://evil.example/1\n")
        out = self.json("extract", "--client", "192.0.2.1", "-", stdin=mail)[0]["features"]
        places = {(f["type"], f["value"]): (f["part"], f["header"], f["offset"]) for f in out}
        self.assertEqual(places["client_ip", "192.0.2.1"], (None, None, None))
        self.assertEqual(places["subject", "see evil.example"], (None, "Subject", 0))
        self.assertEqual(places["url", "evil.example/1"], ("2", None, 3))
        text, _ = self.run_it("extract", "--client", "192.0.2.1", "-", stdin=mail)
        self.assertIn("  client_ip 192.0.2.1\n", text)
        self.assertIn("  url evil.example/1  (2 at 3)\n", text)

    def test_near_replica_keys_come_of_the_ring_key(self):
        words = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60))
        mail = f"From: a@b.example\n\n{words}\n".encode()

        def keyed():
            out = self.json("extract", "-", stdin=mail)[0]["features"]
            self.assertIn("text", {f["type"] for f in out})
            return {(f["type"], f["value"]) for f in out
                    if f["type"] in ("text_band", "template_sender")}

        self.assertEqual(keyed(), set())  # nothing has made a key yet, nor does this
        self.assertFalse(self.state.exists())
        self.run_it("list", "add", "--create", "l", "evil.example")
        first = keyed()
        self.assertEqual(len(first), 25)
        self.assertEqual(keyed(), first)
        (self.state / "keys/digest.key").write_text("0" * 31 + "1\n")
        self.assertEqual(len(keyed() | first), 50)

    def test_types(self):
        rows = {r["type"]: r["number"] for r in self.json("extract", "--types")}
        self.assertEqual((rows["subject"], rows["client_ip"], rows["attachment"]), (8, 15, 62))
        # a type of the source document keeps its number for good
        self.assertEqual({n: rows[n] for n in ("from", "wallet", "attachment_name")},
                         {"from": 14, "wallet": 32, "attachment_name": 42})
        self.assertEqual(len(set(rows.values())), len(rows))
        out = self.json("extract", "--types")
        self.assertGreaterEqual(sum(r["lookup"] != "entry" for r in out), 40)
        self.assertTrue(all(r["help"] and (r["shown"] or not r["counted"]) for r in out))
        self.assertLessEqual({r["lookup"] for r in out}, {
            "-", "value", "url", "address", "host", "network", "entry"})
        signs = [r for r in out if r["type"] == "trait"][0]["values"]
        text = self.run_it("extract", "--types")[0]
        for name in [r["type"] for r in out] + [s["value"] for s in signs]:
            self.assertIn(f" {name} ", text)
        self.run_it("extract", rc=64)


if __name__ == "__main__":
    GILLNET = sys.argv.pop(1)
    unittest.main(verbosity=2)
