"""The log line of a message: text and JSON, hits, sender; faults."""
import json
import os
import re
import shutil
import tempfile
import unittest

from daemon import Daemon
from mta import Mta

LISTS = {"phish": ["http://evil.example/x"]}
WEIGHT = 'rules = ();\nlists = ( { name = "phish"; weight = 12.0; } );\nthresholds: { reject = 10.0; };\n'
BODY = b"see http://evil.example/x\r\n"
KEYS = ["action", "score", "required", "symbols", "client", "helo", "from", "nrcpt", "to", "mid", "size", "limits", "config",
        "us", "case"]


def unescape(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)


def play(d, **more):
    m = Mta(d.target)
    m.hello()
    a = m.message([("Message-ID", "<x@y>"), ("Subject", "x")], BODY, **more)
    m.quit()
    return a, m.qid


def objects(d):
    """All lines of a log in JSON."""
    out = []
    for line in d.log().split("\n")[:-1]:
        out.append(json.loads(line))
    return out


class Text(unittest.TestCase):
    def test_rejected__its_line_alone_explains_it(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            a, qid = play(d, rcpts=5)
            self.assertEqual(a.code, "y")
            line = d.wait_line(qid)
        self.assertEqual([k for k in line if k != "qid"], KEYS)
        for key, want in {"action": "reject", "score": "12.0", "required": "10.0",
                          "symbols": "LIST_PHISH(12.0)[url=evil.example/x]", "client": "client.example[192.0.2.10]",
                          "helo": "client.example", "from": "<a@sender.example>", "nrcpt": "5", "mid": "<x@y>",
                          "to": "<b0@rcpt.example>,<b1@rcpt.example>,<b2@rcpt.example>,..."}.items():
            self.assertEqual(line[key], want)

    def test_hostile_values__escaped_and_read_back(self):
        odd = '<"a b]=\u202e,["@sender.example>'
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello(name="unknown", helo="x y=z \u202e\x07\\")
            m.mail(odd)
            m.rcpt("<a,b@rcpt.example>")
            m.data()
            m.header("Subject", "x")
            m.end_headers()
            m.body(b"http://evil.example/x?a=%5B]\r\n" + BODY)
            m.end()
            m.quit()
            line = d.wait_line(m.qid)
            self.assertTrue(d.log().isascii())
        self.assertEqual(unescape(line["from"]).encode("latin-1").decode(), odd)
        self.assertEqual(unescape(line["helo"]).encode("latin-1").decode(), "x y=z \u202e\x07\\")
        self.assertEqual(line["client"], "unknown[192.0.2.10]")
        self.assertEqual(line["to"], "<a\\x2cb@rcpt.example>")
        for symbol in line["symbols"].split(","):
            self.assertRegex(symbol, r"^[A-Z0-9_]+\(-?[0-9.]+\)(\[[^][ ,]+\])?$")

    def test_without_addresses__counted_not_named(self):
        with Daemon(WEIGHT + "log: { addresses = false; };", lists=LISTS) as d:
            _, qid = play(d, rcpts=2)
            line = d.wait_line(qid)
            self.assertEqual((line["from"], line["nrcpt"], line["to"]), ("-", "2", "-"))
            self.assertNotIn("sender.example", d.log())

    def test_long_everything__one_line_that_ends_in_dots_where_cut(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello(helo="h" * 500)
            a = m.message([("Message-ID", "<" + "m" * 900 + "@y>")], BODY, sender="<" + "\u202e" * 300 + "@y>", rcpts=3)
            m.quit()
            line = d.wait_line(m.qid)
        self.assertEqual(a.code, "y")
        self.assertEqual([k for k in line if k != "qid"], KEYS)
        for key in ("helo", "from", "mid"):
            self.assertTrue(line[key].endswith("..."), line)


class Json(unittest.TestCase):
    def test_every_line__one_object(self):
        with Daemon(WEIGHT + 'log: { format = "json"; };', lists=LISTS) as d:
            _, qid = play(d, rcpts=2, sender="<\u202e\"\\@sender.example>")
            m = Mta(d.target)
            m.hello()
            m.mail("<" + "\u202e" * 3000 + "@x>")
            m.rcpt("<" + "\U0001f600" * 3000 + "@x>")
            m.data()
            m.header(b"Subject", b"\xff\xfe")
            m.end_headers()
            m.body(b"text\r\n")
            m.end()
            m.quit()
            lines = d.wait_for(lambda: [o for o in objects(d) if o["event"] == "message"][1:] and
                               [o for o in objects(d) if o["event"] == "message"], "two lines")
            self.assertTrue(d.log().isascii())
            self.assertTrue(any(o.get("text", "").startswith("event=listen") for o in objects(d)))
        one = lines[0]
        self.assertEqual(list(one)[0], "event")
        for key, want in {"queue_id": qid, "action": "reject", "score": 12.0, "required": 10.0, "client": "192.0.2.10",
                          "client_name": "client.example", "from": "<\u202e\"\\@sender.example>", "nrcpt": 2,
                          "to": ["<b0@rcpt.example>", "<b1@rcpt.example>"], "mid": "<x@y>", "limits": [],
                          "symbols": [{"name": "LIST_PHISH", "score": 12.0, "detail": "url=evil.example/x"}]}.items():
            self.assertEqual(one[key], want)


@unittest.skipIf(os.geteuid() != 0, "files that another user may not read need root")
class Unreadable(unittest.TestCase):
    def play(self, hide):
        folder = tempfile.mkdtemp(prefix="gillnetd-test-")
        try:
            d = Daemon(WEIGHT, folder=folder, lists=LISTS,
                       wrap=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
            for at, folders, files in os.walk(folder):
                for name in (*folders, *files):
                    os.chown(f"{at}/{name}", 65534, 65534)
            os.chown(folder, 65534, 65534)
            hide(folder)
            with d:
                a, qid = play(d)
                return a.status().replace("\n\t", " "), d.wait_line(qid), d.stat("messages_unread")
        finally:
            shutil.rmtree(folder)

    def check(self, hide, word):
        status, line, n = self.play(hide)
        self.assertTrue(status.endswith(" fault=" + word), status)
        self.assertEqual((line["action"], line["fault"], n), ("accept", word, 1))

    def test_list__named_and_counted(self):
        def hide(folder):
            for at, _, files in os.walk(f"{folder}/lists/phish"):
                for name in files:
                    os.chown(f"{at}/{name}", 0, 0)
                    os.chmod(f"{at}/{name}", 0o600)
        self.check(hide, "list_unreadable")

    def test_folder_of_lists__named_and_counted(self):
        def hide(folder):
            os.chown(f"{folder}/lists", 0, 0)
            os.chmod(f"{folder}/lists", 0o700)
        self.check(hide, "lists_unreadable")

    def test_keys__named_and_counted(self):
        def hide(folder):
            os.chown(f"{folder}/keys/digest.key", 0, 0)
            os.chmod(f"{folder}/keys/digest.key", 0o600)
        self.check(hide, "keys_unreadable")


if __name__ == "__main__":
    unittest.main()
