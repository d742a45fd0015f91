"""A message over the control socket is judged as `gillnet check` judges it, within bounds.

The messages are seeds of the fuzzers and own ones, 200 of build/corpus where it is there, and some of the data
folder (tests/datafolder.py).
"""
import contextlib
import glob
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "milter"))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
import datafolder  # noqa: E402
from daemon import ROOT, Daemon, gillnet  # noqa: E402

# `check` starts a reader, and gillnetd has none here.
CONF = """
thresholds = { header = 3.0; reject = 9.0; };
limits: { message_bytes = "256K"; cpu = "60s"; reader = "0s"; };
lists = ( { name = "phish"; weight = 6.0; } );
"""
ENVELOPE = {"client": "192.0.2.7", "helo": "client.example", "from": "a b@sender.example",
            "rcpt": ["<x@here.example>", "y%z@here.example"]}


def line(n, client=None, helo=None, rcpt=(), flags="", **more):
    """The request line; from is a keyword of the language."""
    pairs = [("client", client), ("helo", helo), ("from", more.get("from"))]
    pairs += [("rcpt", r) for r in rcpt]
    text = "".join(f" {k}={urllib.parse.quote(v, safe='@')}" for k, v in pairs if v)
    return f"scan {n}{text}{flags}\n".encode()


class Scan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mail = tempfile.mkdtemp(prefix="gillnet-scan-")
        cls.daemon = Daemon(CONF, lists={"phish": ["evil.example"]})
        cls.messages = {}
        paths = sorted(glob.glob(f"{ROOT}/tests/fuzz/seeds/mail/*") + glob.glob(f"{ROOT}/tests/fuzz/seeds/extract/*")
                       + glob.glob(f"{ROOT}/tests/data/mail/*"))
        paths += sorted(glob.glob(f"{datafolder.corpus()}/*/*.eml"))[::30]
        data = datafolder.folder()
        if data:
            paths += datafolder.messages(datafolder.mail_folder(data, "mail/torture", f"{cls.mail}-unpacked"))[::20]
            cls.addClassCleanup(shutil.rmtree, f"{cls.mail}-unpacked", ignore_errors=True)
        for i, path in enumerate(paths):
            name = f"{cls.mail}/{i:04}"
            raw = pathlib.Path(path).read_bytes()
            if raw.startswith(b"From "):  # check reads such a file as a mailbox, a program that scans sends a message
                raw = raw.split(b"\n", 1)[1]
            pathlib.Path(name).write_bytes(raw)
            cls.messages[name] = raw
        cls.daemon.start()
        cls.fill()

    @classmethod
    def fill(cls):
        """A third of the hosts listed, a third of the messages counted. No list takes a host of one label."""
        d = cls.daemon
        hosts = sorted({"host:" + f["value"] for row in cls.check() for f in row["features"]
                        if f["type"] == "url_host" and f["value"].isascii() and "." in f["value"]})[::3]
        gillnet("list", "add", "phish", *hosts, "-c", d.conf)
        assert d.control("reload").startswith("ok")
        for name in sorted(cls.messages)[::3]:
            cls.scan(cls.messages[name], flags=" count=1")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__(None, None, None)
        shutil.rmtree(cls.mail)

    @classmethod
    def check(cls, *options):
        p = gillnet("--json", "check", *options, cls.mail, "-c", cls.daemon.conf, check=False)
        return [json.loads(text) for text in p.stdout.splitlines()]

    @classmethod
    def ask(cls, request, close=False):
        """The whole answer; a refused client may find the connection closed before all is sent."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(120)
            s.connect(f"{cls.daemon.state}/gillnetd.ctl")
            try:
                s.sendall(request)
                if close:
                    s.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass
            out = b""
            try:
                while got := s.recv(65536):
                    out += got
            except ConnectionResetError:
                pass
            return out.decode()

    @classmethod
    def scan(cls, message, **envelope):
        answer = cls.ask(line(len(message), **envelope) + message)
        head, text, rest = answer.split("\n", 2)
        assert head == "ok" and rest == "", answer[:200]
        return json.loads(text)

    def alike(self, found, scanned, name):
        self.assertEqual(scanned.pop("file"), "-")
        found.pop("file")
        self.assertGreater(scanned.pop("time_us"), 0)
        found.pop("time_us")
        self.assertEqual(list(found), list(scanned), name)
        self.assertEqual(found, scanned, name)

    # ---- the same as the command line
    def test_corpus__as_check(self):
        rows = self.check()
        self.assertEqual(len(rows), len(self.messages))
        self.assertGreater(sum(len(r["lists"]) > 0 for r in rows), 1)
        self.assertGreater(sum(len(r["counts"]) > 0 for r in rows), len(rows) // 4)
        for row in rows:
            self.alike(row, self.scan(self.messages[row["file"]]), row["file"])

    def test_envelope__as_check(self):
        options = ["--client", ENVELOPE["client"], "--helo", ENVELOPE["helo"], "--from", ENVELOPE["from"], "--auth"]
        for rcpt in ENVELOPE["rcpt"]:
            options += ["--rcpt", rcpt]
        for row in self.check(*options)[::4]:
            message = self.messages[row["file"]]
            self.alike(row, self.scan(message, flags=" auth=1", **ENVELOPE), row["file"])

    def test_counting__only_when_asked(self):
        d = self.daemon
        text = b"Subject: to be counted\r\n\r\n" + b"one two three four five six seven eight nine ten eleven\r\n"
        before, nmessages = d.stat("count_messages"), d.stat("messages")

        def seen(row):
            return {c["type"]: c["w1d"] for c in row["counts"]}.get("text", 0)

        self.assertEqual([seen(self.scan(text)) for _ in range(3)], [0, 0, 0])
        self.assertEqual(d.stat("count_messages"), before)
        self.assertEqual([seen(self.scan(text, flags=" count=1")) for _ in range(3)], [1, 2, 3])
        self.assertEqual(seen(self.scan(text)), 3)
        self.assertEqual(d.stat("count_messages"), before + 3)
        self.assertEqual(d.stat("messages"), nmessages)  # none of it is mail

    # ---- bounds
    def test_bad_requests__told_why(self):
        long = "x" * 1025
        cases = {"": "unknown request", " ": "number", " -1": "number", " 01": "number", " x": "number",
                 " 67108865": "more than 67108864", " 9" + "9" * 40: "more than", " 5 ": "understood",
                 " 5 what=1": "understood", " 5  helo=a": "understood", " 5 helo=a helo=b": "once",
                 " 5 helo=": "1 to 1024", f" 5 helo={long}": "1 to 1024", " 5 helo=%0": "%XX", " 5 helo=%zz": "%XX",
                 " 5 helo=a%00": "%XX", " 5 helo=a\x01": "%XX", " 5 auth=2": "once", " 5 count=1 count=1": "once",
                 " 5 " + " ".join(["rcpt=a"] * 257): "at most 256",
                 " 5 helo=" + "y" * 32760: "too long|unknown request|longer"}
        for rest, want in cases.items():
            answer = self.ask(b"scan" + rest.encode() + b"\nhello")
            self.assertTrue(answer.startswith("error "), (rest[:50], answer[:100]))
            self.assertRegex(answer, want)
        self.assertRegex(self.ask(line(5, client="300.1.1.1") + b"hello"), "^error client is no IP address\n")

    def test_empty_and_tiny_messages__judged(self):
        for message in (b"", b"\n", b"\0", b"a", b"a: b\r\n\r\n"):
            self.assertEqual(self.scan(message)["action"], "accept")

    def test_message_in_pieces__judged(self):
        name = sorted(self.messages)[0]
        message = self.messages[name]
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(60)
            s.connect(f"{self.daemon.state}/gillnetd.ctl")
            request = line(len(message)) + message
            for i in range(0, len(request), 997):
                s.sendall(request[i:i + 997])
                time.sleep(0.001)
            out = b""
            while got := s.recv(65536):
                out += got
        row, = [r for r in self.check() if r["file"] == name]
        self.alike(row, json.loads(out.decode().split("\n")[1]), name)

    def test_truncated__told(self):
        self.assertRegex(self.ask(line(100) + b"x" * 60, close=True), "^error the message ended after 60 of the 100 ")
        self.assertRegex(self.ask(line(100), close=True), "^error the message ended after 0 of")

    def test_more_than_is_examined__as_check(self):
        body = b"--b\r\nContent-Type: image/png\r\n\r\n" + b"0123456789abcdef\r\n" * 40000
        message = (b"Subject: long\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + body
                   + b"--b\r\n\r\nhttp://last.example/\r\n--b--\r\n")
        path = f"{self.mail}.long"
        with open(path, "wb") as f:
            f.write(message)
        try:
            p = gillnet("--json", "check", path, "-c", self.daemon.conf, check=False)
        finally:
            os.remove(path)
        row = json.loads(p.stdout)
        self.assertIn("message_bytes", row["limits"])
        self.alike(row, self.scan(message), "long")

    def test_bytes_behind_the_message__ignored(self):
        answer = self.ask(line(8) + b"a: b\r\n\r\n" + b"ping\n" * 100)
        self.assertTrue(answer.startswith("ok\n{"), answer[:100])

    # ---- many at once
    def test_fifty_at_once__all_answered(self):
        names = sorted(self.messages)
        want = {r["file"]: r for r in self.check()}
        failed = []

        def run(i):
            name = names[i * 7 % len(names)]
            try:
                got = self.scan(self.messages[name])
                if got["score"] != want[name]["score"] or got["features"] != want[name]["features"]:
                    failed.append((name, got["score"], want[name]["score"]))
            except Exception as e:  # noqa: BLE001: told below
                failed.append((name, repr(e)))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(50)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failed, [])

    def test_silent_clients__refused_when_full_and_let_go(self):
        d = self.daemon
        held = []
        for _ in range(64):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            s.settimeout(60)
            s.connect(f"{d.state}/gillnetd.ctl")
            s.sendall(line(1000) + b"x")
            held.append(s)
        d.wait_for(lambda: self.ask(line(5) + b"hello") == "error busy; try again\n", "all places taken")
        self.assertTrue(d.control("ping").startswith("ok"))  # others are served
        held.pop().close()
        d.wait_for(lambda: self.ask(line(5) + b"hello").startswith("ok\n"), "a free place")
        for s in held:  # their time ends, without an answer
            self.assertEqual(s.recv(10), b"")
            s.close()

    def test_memory__what_is_announced_is_bounded(self):
        d = self.daemon
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(60)
            s.connect(f"{d.state}/gillnetd.ctl")
            s.sendall(line(67108864) + b"x")
            d.wait_for(lambda: self.ask(line(5) + b"hello") == "error busy; try again\n", "no room")
        d.wait_for(lambda: self.ask(line(5) + b"hello").startswith("ok\n"), "room")

    def test_answer_not_read__others_are_served(self):
        big = b"Subject: s\r\n\r\n" + b"".join(b"http://host%d.example/%s\r\n" % (i, b"p" * 400) for i in range(480))
        held = []
        for _ in range(4):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(f"{self.daemon.state}/gillnetd.ctl")
            s.sendall(line(len(big)) + big)
            held.append(s)
        for _ in range(5):
            self.assertTrue(self.ask(line(5) + b"hello").startswith("ok\n"))
        for s in held:
            s.close()


class Stopping(unittest.TestCase):
    def test_stop_in_the_middle__clients_are_let_go(self):
        with Daemon(CONF) as d:
            open_, results = threading.Event(), []

            def run():
                for _ in range(10000):
                    try:
                        answer = d.control(line(2000) + b"x" * 2000)
                    except OSError:
                        answer = ""
                    results.append(answer[:5])
                    open_.set()
                    if answer == "":
                        return

            threads = [threading.Thread(target=run) for _ in range(8)]
            for t in threads:
                t.start()
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
                s.settimeout(60)
                s.connect(f"{d.state}/gillnetd.ctl")
                s.sendall(line(1000) + b"half")
                self.assertTrue(open_.wait(60))
                d.stop()  # exit status 0
                with contextlib.suppress(ConnectionResetError):  # what it did not read is lost
                    self.assertEqual(s.recv(10), b"")
            for t in threads:
                t.join(60)
                self.assertFalse(t.is_alive())
            self.assertLessEqual(set(results), {"ok\n{\"", "error", ""})


if __name__ == "__main__":
    unittest.main()
