"""A whole installation to break: every part is on, its state folder has all kinds of files, and all of it is in a ledger.

The site is a member of a ring of two, follows a publisher and a feed, and has seen mail, reports and changes. Its
folder is kept as a template: each fault begins with a copy of it.
"""
import functools
import http.server
import itertools
import re
import shutil
import subprocess
import threading

import fault_mta
from fault_ledger import Ledger, Said
from fault_site import READY_S, USER, Broken, Site, until
from mta import Closed, Mta
from ports import free_port

IMPORTED, ADDED, REVOKED, GREY = "imported.example", "added.example", "revoked.example", "grey.example"
FED, SHARED, FOLLOWED, CLEAN = "fed.example", "shared.example", "followed.example", "clean.example"
ENTRIES = 2000  # beside those above: the list has an index of many blocks
MESSAGES = itertools.count(1)  # each has a text of its own: none is a retry of another
ANSWER_S = 30  # the MTA's patience; gillnetd's deadline is 8 s
PROOF = "mx.here.example; dmarc=pass header.from=their.example"


def send(site, host, sender="a@sender.example", rcpt="b@here.example", login=None, headers=()):
    """A message with a link to host, over the milter protocol: its Answer, None where the MTA's default applies.

    TimeoutError: no answer at all, for which an MTA would wait minutes."""
    try:
        m = Mta(f"unix:{site.top}/mail.sock", timeout=ANSWER_S)
    except (Closed, ConnectionError, FileNotFoundError):
        return None
    number = next(MESSAGES)
    try:
        m.hello()
        m.mail(f"<{sender}>", **({"auth_authen": login, "auth_type": "PLAIN"} if login else {}))
        m.rcpt(f"<{rcpt}>")
        m.data()
        for name, value in (("From", f"<{sender}>"), ("Subject", f"about {host} {number}"), *headers):
            m.header(name, value)
        m.end_headers()
        m.body(f"Hello, please see http://www.{host}/x today, number {number}.\r\n".encode())
        return m.end()
    except (Closed, ConnectionError):
        return None
    finally:
        m.close()


def has_hit(answer):
    """A list or a peer's list hit: the symbols stand in the header, or in the reply."""
    return "LIST_" in answer.text + dict(answer.headers()).get("X-Gillnet-Symbols", "")


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    """The port of a web server of this folder, for as long as we live."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class World:
    def __init__(self, base):
        self.base = base
        self.ledger = Ledger()
        self.site, self.member, self.publisher = (Site(base, name) for name in ("site", "member", "publisher"))
        for s in (self.site, self.member, self.publisher):
            s.configure()
        self.template = base / "template"
        self.usual = set()

    def build(self):
        site = self.site
        fault_mta.install(self.base / "mta", self.base / "digests")
        (self.base / "feed.txt").write_text("".join(f"http://f{i}.{FED}/\n" for i in range(200)) + f"domain:{FED}\n")
        self._publish()
        self._ring()
        self._lists()
        self._mail()
        self._people()
        until(lambda: self._holds(FOLLOWED) and self._holds(SHARED), READY_S)
        for value in (FOLLOWED, SHARED):
            if not self._holds(value):
                raise Broken(f"{value} never came from another server\n{site.logs()}{self.member.logs()}")
            self.ledger.listed[value] = "phish"
        bad = {**site.stop(), **self.member.stop()}
        if bad:
            raise Broken(f"the first stop of a whole site: {bad}\n{site.logs()}")
        site.state.rename(self.template)
        self._learn_usual()
        return self

    def _holds(self, value):
        return any(r.get("status") == "confirmed" for r in self.site.rows("lookup", "--all", value))

    def _publish(self):
        p = self.publisher
        p.must("peer", "init", "--name", "club", "--address", "127.0.0.1:1")
        p.must("list", "add", "phish", "--create", f"domain:{FOLLOWED}")
        web = p.top / "web"
        web.mkdir()
        shutil.chown(web, USER, USER)
        key = re.search(r"\b[0-9a-f]{64}\b", p.must("publish", "--valid", "90d", web, "phish"))
        self.site.configure(f'subscribe = ( {{ name = "club"; urls = [ "http://127.0.0.1:{serve(web)}" ]; key = "{key[0]}"; '
                            'lists = [ "phish" ]; } );\n')

    def _ring(self):
        site, member = self.site, self.member
        site.must("peer", "ring", "create", "--name", "site", "--address", f"127.0.0.1:{free_port()}")
        self._begin(site, "gillnetd", "gillnet-hub")
        token = re.search(r"gnp1-\S+", site.must("peer", "invite", "member"))
        member.must("peer", "init", "--name", "member", "--address", f"127.0.0.1:{free_port()}")
        member.must("peer", "join", token[0])
        member.must("list", "add", "phish", "--create", f"domain:{SHARED}")
        self._begin(member, "gillnet-hub")

    def _begin(self, site, *programs):
        failed = site.start(*programs)
        if failed:
            raise Broken(f"{failed} do not start\n{site.logs()}")

    def _lists(self):
        site, ledger = self.site, self.ledger
        many = "".join(f"http://h{i}.example/p\n" for i in range(ENTRIES)) + IMPORTED + "\n"
        site.must("list", "import", "phish", "-", text=many)
        site.must("list", "add", "phish", f"domain:{ADDED}", f"domain:{REVOKED}")
        site.must("list", "revoke", "phish", f"domain:{REVOKED}")
        site.must("list", "add", "grey", "--create", f"domain:{GREY}")
        site.must("list", "add", "allow", "--create", "from:friend@friend.example")
        site.must("feed", "update", "fed")
        ledger.listed.update({IMPORTED: "phish", ADDED: "phish", GREY: "grey", FED: "fed", "h7.example/p": "phish"})
        ledger.revoked[REVOKED] = "phish"

    def _mail(self):
        """Listed, unlisted and outgoing mail; what it left is on the disk after the stop."""
        self.site.must("reload")  # else a new list is found a second later
        for host in (IMPORTED, ADDED, FED, GREY, CLEAN, CLEAN):
            answer = send(self.site, host)
            if answer is None or has_hit(answer) != (host != CLEAN) and host != GREY:
                raise Broken(f"a whole site says of {host}: {answer and answer.key()}\n{self.site.logs()}")
            self.ledger.sent(host, answer)
        answer = send(self.site, "their.example", sender="ann@here.example", rcpt="bob@their.example", login="ann",
                      headers=[("Message-ID", "<1@here.example>")])
        if answer is None:
            raise Broken("no answer to outgoing mail")
        reply = self.base / "reply.eml"
        reply.write_text(f"Authentication-Results: {PROOF}\r\nFrom: <bob@their.example>\r\nTo: <ann@here.example>\r\n"
                         "Subject: hello\r\n\r\nhello there\r\n")
        self.ledger.answered[str(reply)] = "correspondent"

    def _people(self):
        site, ledger = self.site, self.ledger
        site.must("user", "set", "anna@here.example", "thresholds.header=4.5")
        ledger.users["anna@here.example"] = "4.5"
        site.must("tune", "set", "thresholds.header=4.75")
        ledger.tuned["thresholds.header"] = "4.75"
        ledger.reports.add(self.report("first"))
        site.must("quarantine", "digest", as_root=True)
        ledger.links |= fault_mta.links(self.base / "digests")

    def report(self, name, site=None, env=None):
        """A message of its own, reported as spam: the report's id, None where it was not acknowledged."""
        path = self.base / f"{name}.eml"
        path.write_text(f"From: Joe <joe@reported.example>\r\nTo: b@here.example\r\nSubject: {name}\r\n"
                        f"Message-ID: <{name}@reported.example>\r\n\r\n"
                        + f"The finest pills of all the world are at http://{name}.reported.example/buy?x=1 today.\r\n" * 5)
        site = site or self.site
        rows = site.parsed(site.run("--json", "report", "spam", path, env=env).stdout)
        return rows[0].get("id") if rows else None

    def _learn_usual(self):
        """What a whole site says is no sign of a fault; a fault of ours would be found here."""
        self.fresh()
        failed = self.site.start()
        said = Said().gather(self.site)
        send(self.site, CLEAN)
        self.site.stop()
        said.gather(self.site)
        if failed:
            raise Broken(f"{failed} do not start again\n{self.site.logs()}")
        self.usual = {Said.plain(line) for line in said.lines}

    def fresh(self, disk=None, holes=True):
        """The site as it was: its state folder, and empty logs.

        disk: size of a file system of its own for it; holes: blocks of zeros take no room, as after a copy."""
        site = self.site
        site.kill()
        site.env = {}
        for log in site.top.glob("*.log"):
            log.write_text("")
        if site.state.is_mount():
            subprocess.run(["umount", "-l", site.state], check=True)
        subprocess.run(["rm", "-rf", site.state], check=True)
        site.state.mkdir()
        if disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={disk}", "gnfault", site.state], check=True)
        subprocess.run(["cp", "-a", f"--sparse={'always' if holes else 'never'}", f"{self.template}/.", site.state], check=True)
        return site, self.ledger.copy(), self.said()

    def said(self):
        return Said(self.usual)
