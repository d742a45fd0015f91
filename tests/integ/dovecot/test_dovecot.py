#!/usr/bin/env python3
"""contrib/dovecot in a real Dovecot: a move into or out of Junk is a report of the user who moved.

Usage: test_dovecot.py [TEST...]      ends like unittest. Needs root and contrib/install-deps test.
"""
import imaplib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))
from ports import free_port  # noqa: E402

DOVECOT = pathlib.Path(os.environ.get("GILLNET_DOVECOT", ROOT / "build/dovecot")) / "root"
BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", ROOT / "build/release")).resolve()
INSTALLED = "/usr/share/gillnet/dovecot"
# Paths are compiled into Dovecot, so its files lie over /usr in a namespace of its own.
START = 'mount -t overlay -o "lowerdir=$1/usr:/usr" overlay /usr && sievec -c "$2" "$3/report-spam.sieve" && ' \
        'sievec -c "$2" "$3/report-ham.sieve" && exec /usr/sbin/dovecot -F -c "$2"'
CONF = """
base_dir = {top}/run
state_dir = {top}/state
log_path = {top}/log
default_internal_user = nobody
default_internal_group = nogroup
default_login_user = nobody
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:{top}/mail/%u
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service stats {{
  chroot =
}}
service anvil {{
  chroot =
}}
passdb {{
  driver = static
  args = password=x
}}
userdb {{
  driver = static
  args = uid=mail gid=mail home={top}/mail/%u
}}
namespace inbox {{
  inbox = yes
  mailbox Junk {{
    auto = create
  }}
  mailbox Trash {{
    auto = create
  }}
  mailbox Away {{
    special_use = \\Trash
    auto = create
  }}
  mailbox Other {{
    auto = create
  }}
}}
!include {top}/90-gillnet.conf
"""
USER = "anna@example.org"
MAIL = b"Message-ID: <%d@their.example>\r\nSubject: offer\r\n\r\nbuy at http://evil.example/x%d\r\n"


class Moves(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-dovecot-"))
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        cls.top.chmod(0o755)
        for name in ("run", "state", "mail", "reports"):
            (cls.top / name).mkdir()
        for name in ("mail", "reports"):
            shutil.chown(cls.top / name, "mail", "mail")
        shutil.copytree(ROOT / "contrib/dovecot", cls.top / "site")
        conf = (ROOT / "contrib/dovecot/90-gillnet.conf").read_text().replace(INSTALLED, f"{cls.top}/site")
        (cls.top / "90-gillnet.conf").write_text(conf)
        cls.prepare()
        port = free_port()
        (cls.top / "dovecot.conf").write_text(CONF.format(top=cls.top, port=port))
        cls.proc = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "unshare", "--mount", "sh", "-c", START, "sh", DOVECOT, cls.top / "dovecot.conf",
                                     cls.top / "site"])
        cls.addClassCleanup(cls.stop)
        cls.port = port
        end = time.monotonic() + 60
        while True:
            try:
                imaplib.IMAP4("127.0.0.1", port).shutdown()
                return
            except OSError:
                if time.monotonic() > end or cls.proc.poll() is not None:
                    raise AssertionError("Dovecot does not listen:\n" + cls.log()) from None
                time.sleep(0.05)

    @classmethod
    def prepare(cls):
        """A program in place of gillnet keeps what it is given."""
        program = cls.top / "gillnet"
        program.write_text(f'#!/bin/sh\nf=$(mktemp {cls.top}/reports/.XXXXXX)\n{{ echo "$@"; cat; }} >$f\n'
                           f'mv $f {cls.top}/reports/$(date +%s%N)\n')
        program.chmod(0o755)
        cls.use(program)

    @classmethod
    def use(cls, program):
        """The shipped script calls this program."""
        script = cls.top / "site/bin/gillnet-report"
        script.rename(cls.top / "site/script")
        script.write_text(f'#!/bin/sh\nGILLNET={program} exec {cls.top}/site/script "$@"\n')
        script.chmod(0o755)

    @classmethod
    def stop(cls):
        cls.proc.send_signal(signal.SIGTERM)
        cls.proc.wait(60)

    @classmethod
    def log(cls):
        path = cls.top / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def setUp(self):
        for path in (self.top / "reports").iterdir():
            path.unlink()
        self.imap = imaplib.IMAP4("127.0.0.1", self.port)
        self.imap.login(USER, "x")
        self.addCleanup(self.imap.logout)
        self.addCleanup(self.complain, len(self.log()))

    def complain(self, before):
        """Dovecot's log has an error only where a test expects one."""
        self.assertNotIn("Error", self.log()[before:] if "fails" not in self.id() else "")

    def put(self, folder, n=1):
        """A new message in the folder; its UID."""
        answer = self.imap.append(folder, None, None, MAIL % (n, n))
        self.assertEqual(answer[0], "OK", answer)
        return re.search(rb"APPENDUID \d+ (\d+)", answer[1][0]).group(1).decode()

    def move(self, uid, folder, to, how="MOVE"):
        self.imap.select(folder)
        self.assertEqual(self.imap.uid(how, uid, to)[0], "OK")
        code = self.imap.response("COPYUID")[1][-1]
        return code and code.split()[2].decode()

    def reports(self):
        """Each report: its arguments and message. Dovecot answers after the script has ended."""
        return [tuple(p.read_bytes().split(b"\n", 1)) for p in sorted((self.top / "reports").iterdir())]

    def expect(self, *said):
        reports = self.reports()
        self.assertEqual([r[0].decode() for r in reports],
                         [f"report {say} --reporter {USER} --way imap -" for say in said], self.log())
        for _, message in reports:
            self.assertEqual(message.replace(b"\r\n", b"\n"), (MAIL % (1, 1)).replace(b"\r\n", b"\n"))

    def test_into_junk_and_back__is_spam_then_ham(self):
        uid = self.move(self.put("INBOX"), "INBOX", "Junk")
        self.expect("spam")
        self.move(uid, "Junk", "INBOX")
        self.expect("spam", "ham")

    def test_copies_and_saves__are_reports_too(self):
        self.move(self.put("INBOX"), "INBOX", "Junk", "COPY")
        uid = self.put("Junk")
        self.move(uid, "Junk", "Other", "COPY")
        self.expect("spam", "spam", "ham")

    def test_out_of_junk_into_trash__says_nothing(self):
        for trash in ("Trash", "Away"):
            self.move(self.put("Junk"), "Junk", trash)
        self.expect("spam", "spam")

    def test_other_moves__say_nothing(self):
        for folder in ("Other", "Trash"):
            self.move(self.put("INBOX"), "INBOX", folder)
        self.expect()

    def test_program_fails__the_move_holds(self):
        (self.top / "gillnet").rename(self.top / "gone")
        self.addCleanup((self.top / "gone").rename, self.top / "gillnet")
        uid = self.move(self.put("INBOX"), "INBOX", "Junk")
        self.imap.select("Junk")
        self.assertIn(uid.encode(), self.imap.uid("SEARCH", "ALL")[1][0].split())
        self.assertIn("gillnet-report", self.log())


class Reports(Moves):
    """The same with gillnet and gillnetd, which run as they do behind a package."""

    @classmethod
    def prepare(cls):
        state = cls.top / "gillnet"
        state.mkdir()
        shutil.chown(state, "news", "mail")
        cls.conf = cls.top / "gillnet.conf"
        cls.conf.write_text(f'state_dir = "{state}";\nsocket = "unix:{state}/milter.sock";\nshipped_rules = false;\n')
        log = open(cls.top / "gillnetd.log", "wb")
        cls.addClassCleanup(log.close)
        cls.daemon = subprocess.Popen(["setpriv", "--reuid=news", "--regid=mail", "--clear-groups", "--pdeathsig", "KILL",
                                       f"{BUILD}/gillnetd", "-f", "-c", cls.conf], stdout=log, stderr=log)
        cls.addClassCleanup(cls.daemon.wait)
        cls.addClassCleanup(cls.daemon.terminate)
        end = time.monotonic() + 60
        while "event=listen" not in (cls.top / "gillnetd.log").read_text():
            assert time.monotonic() < end and cls.daemon.poll() is None, (cls.top / "gillnetd.log").read_text()
            time.sleep(0.02)
        program = cls.top / "program"
        program.write_text(f'#!/bin/sh\nexec {BUILD}/gillnet "$@" -c {cls.conf}\n')
        program.chmod(0o755)
        cls.use(program)

    def setUp(self):
        self.before = len(self.said())
        super().setUp()

    def said(self):
        p = subprocess.run([f"{BUILD}/gillnet", "report", "list", "--json", "-c", self.conf], capture_output=True,
                           text=True, check=True)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def expect(self, *said):
        got = sorted(self.said(), key=lambda r: r["time"])[self.before:]
        self.assertEqual([r["kind"] for r in got], list(said), self.log())
        self.assertEqual({(r["reporter"], r["way"]) for r in got}, {(f"mail/{USER}", "imap")} if said else set(), got)

    def put(self, folder, n=None):
        """Each message is another one: gillnet keeps what one reporter says of a message once."""
        return super().put(folder, time.monotonic_ns())

    test_program_fails__the_move_holds = None


if __name__ == "__main__":
    if not (DOVECOT / "usr/sbin/dovecot").exists():
        sys.exit(f"no dovecot in {DOVECOT}; run contrib/install-deps test")
    if os.geteuid() != 0:
        sys.exit("needs root")
    unittest.main(verbosity=2)
