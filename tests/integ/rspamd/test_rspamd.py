#!/usr/bin/env python3
"""contrib/rspamd/gillnet.lua in a real rspamd: header fields, the API, and an API that is down, late or mad.

Usage: test_rspamd.py [TEST...]      ends like unittest. Needs contrib/install-deps test; GILLNET_BUILD names the build folder.
"""
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from ring import ROOT, Server, free_port, until  # noqa: E402

RSPAMD = pathlib.Path(os.environ.get("GILLNET_RSPAMD", ROOT / "build/rspamd")) / "root"
BOUND_S = 15  # for a request whose timeout is 1 s: generous, and far below rspamd's own
MAIL = "From: <a@sender.example>\r\nTo: <b@rcpt.example>\r\nSubject: x\r\n{}\r\nsee http://evil.example/login here\r\n"
FIELDS = "X-Gillnet-Status: {}\r\nX-Gillnet-Score: {}\r\nX-Gillnet-Symbols: {}\r\n"


class Rspamd:
    """One worker with gillnet.lua and nothing else."""

    def __init__(self, top, settings):
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=top))
        self.port = free_port()
        (self.dir / "start.lua").write_text(
            f'require "global_functions" ()\ndofile("{ROOT}/contrib/rspamd/gillnet.lua")\n')
        (self.dir / "empty.lua").write_text("")
        (self.dir / "tld").write_text("example\n")  # of the real ones it makes a machine for half a minute
        (self.dir / "rspamd.conf").write_text(f"""
options {{ pidfile = "{self.dir}/pid"; tempdir = "{self.dir}"; filters = ""; history_file = "{self.dir}/history";
    url_tld = "{self.dir}/tld"; hs_cache_dir = "{self.dir}";
    dns {{ nameserver = ["127.0.0.1:{free_port()}:1"]; timeout = 0.1; retransmits = 0; }}
    control_socket = "{self.dir}/control.sock mode=0600"; rrd = ""; stats_file = "{self.dir}/stats"; }}
logging {{ type = "file"; filename = "{self.dir}/log"; level = "info"; }}
worker "normal" {{ bind_socket = "127.0.0.1:{self.port}"; count = 1; }}
lua = "{self.dir}/start.lua";
modules {{ path = "{self.dir}/empty.lua"; }}
actions {{ reject = 100; }}
.include "{ROOT}/contrib/rspamd/groups.conf"
gillnet {{ {settings} }}
""")
        var = {"LUALIBDIR": RSPAMD / "usr/share/rspamd/lualib", "SHAREDIR": RSPAMD / "usr/share/rspamd",
               "PLUGINSDIR": RSPAMD / "usr/share/rspamd/plugins", "RULESDIR": RSPAMD / "usr/share/rspamd/rules",
               **{k: self.dir for k in ("DBDIR", "RUNDIR", "CONFDIR", "LOCAL_CONFDIR", "LOGDIR", "TMPDIR")}}
        env = dict(os.environ, LD_LIBRARY_PATH=f"{RSPAMD}/usr/lib/rspamd:{RSPAMD}/usr/lib/x86_64-linux-gnu")
        self.out = open(self.dir / "out", "wb")
        self.proc = subprocess.Popen([RSPAMD / "usr/bin/rspamd", "-f", "-i", "-c", self.dir / "rspamd.conf",
                                      *[x for k, v in var.items() for x in ("--var", f"{k}={v}")]],
                                     env=env, stdout=self.out, stderr=self.out)

    def log(self):
        return "".join(p.read_text(errors="replace")[-4000:] for p in (self.dir / "log", self.dir / "out")
                       if p.exists())

    def ping(self):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ping", timeout=5).read()
        except OSError:
            assert self.proc.poll() is None, self.log()
            return b""

    def check(self, text, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/checkv2", data=text.encode(), headers=headers)
        got = json.loads(urllib.request.urlopen(request, timeout=120).read())
        return {name: s for name, s in got["symbols"].items() if name.startswith("GILLNET")}

    def stop(self):
        self.proc.terminate()
        try:
            self.proc.wait(30)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            self.proc.wait()
        self.out.close()


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers what the test put into server.answer: (status, bytes), or None: never."""

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, dict(self.headers), body))
        if self.server.answer is None:
            self.server.over.wait(60)
            return
        status, answer = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


class Beside(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="gillnet-rspamd-")
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)

    def rspamd(self, settings):
        r = Rspamd(self.top, settings)
        self.addCleanup(r.stop)
        until(r.ping, "rspamd", log=r.log)
        return r

    def stub(self, answer):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        server.daemon_threads = True
        server.answer, server.asked, server.over = answer, [], threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.over.set)
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        return server

    def test_header__when_gillnetd_was_there__then_its_points(self):
        r = self.rspamd("")
        got = r.check(MAIL.format(FIELDS.format("Yes, action=header score=7.5", "7.5",
                                                "PHISH_URL(6.0)[evil.example], BULK_TEXT(1.5)")))
        self.assertEqual(got["GILLNET"]["score"], 7.5)
        self.assertEqual(got["GILLNET"]["options"], ["PHISH_URL", "BULK_TEXT"])
        self.assertEqual(got["GILLNET_BULK"]["score"], 0.5)
        self.assertEqual(set(r.check(MAIL.format(""))), set())
        self.assertEqual(set(r.check(MAIL.format(FIELDS.format("No, action=accept score=0.0", "0.0", "-")))), set())
        self.assertEqual(set(r.check(MAIL.format("X-Gillnet-Status: unchecked, reason=deadline\r\n"))),
                         {"GILLNET_FAIL"})

    def test_header__when_forged__then_nothing_is_won(self):
        r = self.rspamd("")
        good = FIELDS.format("Yes, action=header score=7.5", "7.5", "PHISH_URL(6.0)")
        forged = FIELDS.format("No, action=accept score=-50.0", "-50.0", "-")
        self.assertEqual({n: s["score"] for n, s in r.check(MAIL.format(good + forged)).items()},
                         {"GILLNET_FORGED": 1.0})
        self.assertEqual({n: s["score"] for n, s in r.check(MAIL.format(forged)).items()}, {})
        for score in ("1e9", "nan", "inf", "0x10", "7", "", "7.5.5", "-1.0"):
            got = r.check(MAIL.format(FIELDS.format("Yes, x", score, "A(1.0)")))
            self.assertEqual(set(got), set(), score)
        got = r.check(MAIL.format(FIELDS.format("Yes, x", "99999.0", ", ".join(f"S{i}(1.0)" for i in range(99)))))
        self.assertEqual(got["GILLNET"]["score"], 15.0)
        self.assertLessEqual(len(got["GILLNET"]["options"]), 16)

    def test_scan__then_the_whole_message_is_posted(self):
        stub = self.stub((200, json.dumps({"action": "header", "score": 6.0, "symbols": [
            {"name": "PHISH_URL", "score": 6.0}, {"name": "BULK_TEXT", "score": 0.1}]}).encode()))
        r = self.rspamd(f'source = "scan"; url = "{stub.url}"; token = "abc"; timeout = 10.0;')
        got = r.check(MAIL.format(""), From="a+b@sender.example", Rcpt="b@rcpt.example", Helo="h.example",
                      Ip="192.0.2.1")
        self.assertEqual(got["GILLNET"]["score"], 6.0)
        self.assertEqual(got["GILLNET"]["options"], ["PHISH_URL", "BULK_TEXT"])
        path, headers, body = stub.asked[0]
        self.assertEqual(path, "/v1/scan?client=192.0.2.1&helo=h.example&from=a%2Bb@sender.example"
                               "&rcpt=b@rcpt.example")
        self.assertEqual(headers["Authorization"], "Bearer abc")
        self.assertIn(b"http://evil.example/login", body)
        self.assertEqual(set(r.check(MAIL.format(""), User="joe")), set())  # our own user: not asked
        self.assertEqual(len(stub.asked), 1)

    def test_api__when_down_or_late_or_mad__then_mail_passes_in_bounded_time(self):
        answers = {"late": None, "refused": (401, b"{}"), "mad": (200, b"\x00\xff{["), "a list": (200, b"[1,2]"),
                   "other types": (200, b'{"score":"9","symbols":7,"results":{"a":[1]}}'),
                   "less than nothing": (200, b'{"score":-100,"symbols":[{"name":5},{}]}')}
        stub = self.stub(None)
        nobody = socket.socket()  # bound, and nobody listens
        nobody.bind(("127.0.0.1", 0))
        self.addCleanup(nobody.close)
        for source in ("scan", "check"):
            down = self.rspamd(f'source = "{source}"; url = "http://127.0.0.1:{nobody.getsockname()[1]}"; '
                               'timeout = 1.0;')
            self.assertEqual(set(down.check(MAIL.format(""))), {"GILLNET_FAIL"})
            r = self.rspamd(f'source = "{source}"; url = "{stub.url}"; timeout = 1.0;')
            for name, answer in answers.items():
                with self.subTest(f"{source}, {name}"):
                    stub.answer = answer
                    began = time.monotonic()
                    got = r.check(MAIL.format(""))
                    self.assertLess(time.monotonic() - began, BOUND_S)
                    self.assertLessEqual(set(got), {"GILLNET_FAIL"})
                    self.assertEqual(sum(s["score"] for s in got.values()), 0)
                    if name in ("late", "refused", "mad"):
                        self.assertEqual(set(got), {"GILLNET_FAIL"})

    def hub(self):
        port = free_port()
        s = Server(self.top, "hub", 'lists = ( { name = "phish"; category = "phish"; weight = 6.0; } );')
        s.conf.write_text(s.conf.read_text().replace("api = { listen = []; }",
                                                     f'api = {{ listen = [ "127.0.0.1:{port}" ]; }}'))
        self.addCleanup(s.kill)
        s.run("list", "add", "phish", "evil.example")
        s.hub(wait=False).daemon()

        def ready():
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).status == 200
            except OSError:
                return False

        until(ready, "the API", log=s.logs)
        return f"http://127.0.0.1:{port}"

    def test_check__with_the_hub_itself__then_its_urls_are_found(self):
        r = self.rspamd(f'source = "check"; url = "{self.hub()}"; timeout = 10.0;')
        got = r.check(MAIL.format(""))
        self.assertEqual(got["GILLNET_URL"]["score"], 6.0)
        self.assertEqual(got["GILLNET_URL"]["options"], ["http://evil.example/login"])
        self.assertEqual(set(r.check(MAIL.format("").replace("evil", "good"))), set())

    def test_scan__with_the_hub_itself__then_gillnetds_verdict(self):
        r = self.rspamd(f'source = "scan"; url = "{self.hub()}"; timeout = 10.0;')
        got = r.check(MAIL.format(""))
        self.assertEqual(got["GILLNET"]["score"], 6.0)


if __name__ == "__main__":
    if not (RSPAMD / "usr/bin/rspamd").exists():
        sys.exit(f"no rspamd in {RSPAMD}; run contrib/install-deps test")
    unittest.main(verbosity=2)
