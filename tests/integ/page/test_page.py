#!/usr/bin/env python3
"""The status page of the real hub in Chromium: with canned answers, and with mail, lists and feeds of its own.

Needs contrib/install-deps test (Chromium, Node.js) and contrib/fetch-browser; screenshots are left in build/page-shots.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tests" / p) for p in ("", "integ/peers", "integ/milter", "integ/feeds")]
from mta import Mta  # noqa: E402
from ports import free_port  # noqa: E402
from ring import Ring, Server, until  # noqa: E402
from site_of_feeds import Site as Feeds  # noqa: E402

import site_of_mail  # noqa: E402

TOKEN = "only-for-this-test"
LISTED = "http://login.bank.example.net/verify"
MAIL = 60  # messages, of which
CAUGHT = 20  # have a listed URL


class Site:
    """A hub and a gillnetd with lists, and mail that went through."""

    def __init__(self, config=""):
        self.top = tempfile.TemporaryDirectory(prefix="gillnet-page-")
        self.port = free_port()
        top = pathlib.Path(self.top.name)
        tokens = top / "api.tokens"
        tokens.write_text(f"test admin {hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
        tokens.chmod(0o600)
        self.server = Server(top, "page", f'''
            thresholds = {{ header = 5.0; reject = 10.0; }};
            lists = ( {{ name = "phish"; category = "phish"; weight = 12.0; }},
                      {{ name = "senders"; category = "spam"; weight = 6.0; }} );
            api = {{ listen = [ "127.0.0.1:{self.port}" ]; tokens_file = "{tokens}"; }};
            {(ROOT / "conf/rules.d/bulk.conf").read_text()}
            {config}''')
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.top.cleanup()

    def fill(self):
        listed = pathlib.Path(self.top.name) / "phish.txt"
        listed.write_text(LISTED + "\nhttp://files.example.org/invoice.exe\n")
        self.server.run("list", "import", "phish", listed)
        self.server.run("list", "add", "--create", "senders", "bulk.example.com")
        self.server.daemon()
        mta = Mta(f"unix:{self.server.top}/page.sock")
        mta.hello()
        for i in range(MAIL):
            url = LISTED if i < CAUGHT else "http://www.example.org/"
            mta.message((("Subject", "Your parcel could not be delivered"), ("From", f"a{i}@sender.example")),
                        f"Please see {url} about <script>alert(1)</script> your parcel.\r\n".encode())
        mta.quit()


class MailSite(Site):
    """The same with held mail, an allow list, and subjects and addresses in the journal."""

    def __init__(self, rows, text):
        super().__init__()
        top = pathlib.Path(self.top.name)
        self.queue = site_of_mail.Queue(top / "queue.sock", rows, text)
        conf = self.server.conf
        conf.write_text(conf.read_text().replace('lists = ( ', 'lists = ( { name = "allow"; category = "allow"; },\n')
                        + f'journal = {{ subjects = true; messages = 2000; }};\nquarantine = {{ socket = "{top}/queue.sock"; }};\n')
        self.mail = f"{self.server.top}/page.sock"

    def send(self, n, subject="offer", body=b"Please see http://www.example.org/ about it.\r\n", greeting=None, **mail):
        for i in range(n):
            site_of_mail.send(self.mail, greeting or {}, {"headers": [("From", f"s{i}@sender.example"), ("Subject", f"{subject} {i}")], "body": body, **mail})


def browse(script, url, *names, asked=None):
    """Runs a script; a line "@WORD" of it is a request to asked[WORD], after which it goes on."""
    env = dict(os.environ, GILLNET_BROWSER=os.environ.get("GILLNET_BROWSER", str(ROOT / "build/browser")),
               GILLNET_SHOTS=os.environ.get("GILLNET_SHOTS", str(ROOT / "build/page-shots")),
               GILLNET_TOKEN=TOKEN, GILLNET_MAIL=str(ROOT / "tests/data/mail"))
    lines = []
    with subprocess.Popen(["node", HERE / script, url, *names], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as p:
        for line in p.stdout:
            if line.startswith("@"):
                asked[line[1:].strip()]()
                p.stdin.write("done\n")
                p.stdin.flush()
            else:
                lines.append(line)
                print(line, end="", flush=True)
    return p.returncode, "".join(lines)


class Page(unittest.TestCase):
    def test_canned__every_part_and_fault__then_no_complaint(self):
        with Site() as site:
            site.server.hub()
            status, said = browse("walk.mjs", site.url)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_view_overview__canned__each_period_and_server(self):
        with Site() as site:
            site.server.hub()
            status, said = browse("view_overview.mjs", site.url, "canned")
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_view_overview__a_ring_of_two__the_mail_of_both(self):
        port = free_port()
        lists = 'lists = ( { name = "phish"; category = "phish"; weight = 20.0; } ); thresholds = { header = 5.0; reject = 10.0; };\n'
        with Ring("alpha", "beta", kind="own", config={"alpha": f'{lists}api = {{ listen = [ "127.0.0.1:{port}" ]; }};', "beta": lists}) as servers:
            for s, urls in zip(servers, ((LISTED, *["http://www.example.org/"] * 3), ["http://www.example.org/"] * 2)):
                s.run("list", "add", "--create", "phish", LISTED)
                s.daemon()
                mta = Mta(f"unix:{s.top}/{s.name}.sock")
                mta.hello()
                for i, url in enumerate(urls):
                    mta.message((("Subject", "Hello"), ("From", f"a{i}@sender.example")), f"See {url} please.\r\n".encode())
                mta.quit()
                s.kill_hub()  # a hub publishes at its start, and then each minute
                s.hub()
            a, b = servers
            until(lambda: [r["headline"]["today"]["messages"] for r in a.json("stat", "--server", "beta") if r["headline"]] == [2], "beta's mail", log=b.logs)
            status, said = browse("view_overview.mjs", f"http://127.0.0.1:{port}/", "real")
            self.assertEqual(status, 0, said[-8000:] + a.logs())

    def test_changes__of_a_real_hub__then_noted_found_and_undone(self):
        with Site() as site:
            site.server.run("list", "add", "--create", "senders", "bulk.example.com")
            site.server.hub()
            status, said = browse("view_changes.mjs", site.url)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_real__mail_lists_and_a_hub_that_ends__then_shown_as_it_is(self):
        feeds = Feeds()
        entries = [f"http://host{i}.club.example/login" for i in range(2004)]
        give = {word: lambda n=n: feeds.text("\n".join(entries[:n]).encode()) for word, n in
                (("good", 2000), ("short", 2), ("longer", 2004))}
        give["good"]()
        with Site(f'''feeds = ( {{ name = "club"; url = "{feeds.url()}"; private = true; interval = "1d"; keep = "0s"; }} );''') as site:
            site.fill()
            site.server.hub()
            asked = {"stop": site.server.kill_hub, "start": site.server.hub, "end": site.server.daemon_proc.kill, **give}
            status, said = browse("real.mjs", site.url, asked=asked)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_mail__searched_followed_reported_and_released(self):
        with MailSite([site_of_mail.held(i) for i in range(3)], "Subject: bill\n\nPay <b>now</b>\n") as site:
            site.fill()
            site.server.hub()
            asked = {"three": lambda: site.send(3, "later"), "many": lambda: site.send(150, "many", b"Our letter of this week has nine new things for your garden, and more of them next week.\r\n"), "bad": lambda: site.send(1, "bad", f"see {LISTED} now\r\n".encode())}
            status, said = browse("view_mail.mjs", site.url, asked=asked)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())
            self.assertEqual([row["id"] for row in site.queue.held], [])

    def test_injection__every_text_that_mail_can_set__then_nothing_runs(self):
        mails = list(site_of_mail.hostile())
        self.assertGreaterEqual(len(mails), 40)
        evil = site_of_mail.script
        rows = [site_of_mail.held(i, **{name: [evil(f"held {name}")] if name == "recipients" else evil(f"held {name}")})
                for i, name in enumerate(("sender", "from", "subject", "symbols", "reason", "case", "recipients"))]
        with MailSite(rows, "Subject: " + evil("held text") + "\n\n" + evil("held text")) as site:
            site.server.run("list", "add", "--create", "phish", *site_of_mail.LISTED)
            site.server.daemon()
            for _, greeting, mail in mails:
                for _ in range(2):  # a campaign
                    site_of_mail.send(site.mail, greeting, mail)
            site.server.hub()
            folder = pathlib.Path(site.top.name) / "mails"
            folder.mkdir()
            for i, (_, _, mail) in enumerate(mails):
                (folder / f"{i}.eml").write_bytes(site_of_mail.raw(mail))
            status, said = browse("view_injection.mjs", site.url, str(2 * len(mails)), str(folder))
            print(f"texts that mail can set: {len(mails)}", flush=True)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_tune__what_if_and_in_force__then_mail_follows(self):
        with Site("journal = { subjects = true; };") as site:
            site.fill()
            site.server.hub()

            def action_is(wanted):
                mta = Mta(f"unix:{site.server.top}/page.sock")
                mta.hello()
                answer = mta.message((("Subject", "one more"), ("From", "a@sender.example")), f"see {LISTED}\r\n".encode())
                mta.quit()
                self.assertEqual(answer.code in "ac", wanted == "header", answer.key())
                self.assertEqual(site.server.json("messages", "-n", "1")[0]["action"], wanted)

            asked = {"rejected": lambda: action_is("reject"), "marked": lambda: action_is("header"),
                     "other": lambda: site.server.run("tune", "set", "--why", "<b>somebody else</b>", "thresholds.discard=90")}
            status, said = browse("view_tune.mjs", site.url, asked=asked)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_lists__worth_of_lists_and_rules_and_one_list_opened__then_shown_and_changed(self):
        with Site() as site:
            site.fill()
            for i in range(10):  # so many that a table has its orders
                site.server.run("list", "add", "--create", f"other{i}", f"other{i}.example.com")
            site.server.hub()
            status, said = browse("view_lists.mjs", site.url)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())

    def test_own__a_user_s_page_by_a_link__then_his_mail_and_his_lists(self):
        rows = [site_of_mail.held(i, subject="<img src=x onerror=window.xss=1>") for i in range(2)]
        with MailSite(rows, "Subject: bill\n\nPay now\n") as site:
            conf = site.server.conf
            conf.write_text(conf.read_text().replace("quarantine = { ", f'quarantine = {{ url = "{site.url}"; '))
            site.server.daemon()
            site.server.hub()
            token = os.urandom(16).hex()
            links = site.server.state / "quarantine/links"
            links.mkdir(parents=True)
            (links / (hashlib.sha256(token.encode()).hexdigest() + ".link")).write_text(json.dumps(
                {"id": "", "time_s": 0, "recipient": "b0@here.example", "action": "page", "expires_s": 2 ** 40, "from": "", "subject": ""}))
            status, said = browse("view_own.mjs", site.url, token)
            self.assertEqual(status, 0, said[-8000:] + site.server.logs())
            self.assertEqual([row["id"] for row in site.queue.held], [rows[1]["id"]])


if __name__ == "__main__":
    unittest.main()
