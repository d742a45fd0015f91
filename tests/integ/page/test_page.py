#!/usr/bin/env python3
"""The status page of the real hub in Chromium: with canned answers, and with mail, lists and feeds of its own.

Needs contrib/install-deps test (Chromium, Node.js) and contrib/fetch-browser; screenshots are left in build/page-shots.
"""
import hashlib
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
from ring import Server  # noqa: E402
from site_of_feeds import Site as Feeds  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
