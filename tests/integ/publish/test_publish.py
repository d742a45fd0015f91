#!/usr/bin/env python3
"""`gillnet publish` and `subscribe`: lists as files on web servers, followed by gillnet hub.

Usage: test_publish.py GILLNET [TEST...]   GILLNET is the program, gillnet-hub lies beside it; ends like unittest.
Needs nothing but Python; loopback only.
"""
import hashlib
import http.server
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

GILLNET = None
MAIL = b"From: a@sender.example\r\nTo: b@here.example\r\nSubject: x\r\n\r\nSee https://evil5.example/pay here\r\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """Static files with ETag and ranges; says what was asked for, can break off or vanish."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server.site
        path = site.folder / self.path.lstrip("/")
        if site.is_gone or not path.is_file():
            return self.answer(404, b"")
        data = path.read_bytes()
        tag = '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, b"", tag)
        begin = 0
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if match:
            begin = int(match[1])
            if begin >= len(data):
                return self.answer(416, b"")
        status = 206 if match else 200
        site.log(self.path, status, begin)
        self.send_response(status)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(data) - begin))
        if match:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        data = data[begin:]
        if site.breaks_after is not None and "/s/" in self.path and len(data) > site.breaks_after:
            self.wfile.write(data[:site.breaks_after])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)
            return None
        self.wfile.write(data)
        return None

    def answer(self, status, body, tag=None):
        self.server.site.log(self.path, status, 0)
        self.send_response(status)
        if tag:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Site:
    def __init__(self, test, folder):
        self.folder = folder
        self.asked = []
        self.is_gone = False
        self.breaks_after = None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.site = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)

    def log(self, path, status, begin):
        self.asked.append((path, status, begin))

    def objects(self):
        return [a for a in self.asked if "/o/" in a[0] or "/s/" in a[0]]


class PublishTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-publish-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.place = self.folder / "place"
        self.place.mkdir()
        self.publisher = self.config("publisher", "")
        self.run_ok(self.publisher, "peer", "init", "--name", "pub")
        urls = "\n".join(f"https://evil{i}.example/pay" for i in range(2000))
        self.run_ok(self.publisher, "list", "import", "phish", "-", input=urls)
        self.key = self.publish("phish")["key"]
        self.site = Site(self, self.place)
        self.subscriber = self.subscribe([self.site.url])

    def config(self, name, text):
        (self.folder / name).mkdir(exist_ok=True)
        path = self.folder / f"{name}.conf"
        path.write_text(f'state_dir = "{self.folder / name}"; shipped_rules = false;\napi = {{ listen = []; }};\n{text}\n')
        return path

    def subscribe(self, urls, more="", name="subscriber", key=None):
        where = ", ".join(f'"{u}"' for u in urls)
        return self.config(name, 'log = { level = "debug"; };\n'
                           'lists = ( { name = "bad"; category = "phish"; weight = 9.0; } );\n'
                           f'subscribe = ( {{ name = "pub"; urls = [ {where} ]; key = "{key or self.key}";\n'
                           f'  lists = [ "phish=bad" ]; interval = "10s"; {more} }} );')

    def run_any(self, config, *args, **more):
        return subprocess.run([str(GILLNET), "-c", str(config), *args], capture_output=True, text=True,
                              timeout=300, check=False, **more)

    def run_ok(self, config, *args, **more):
        done = self.run_any(config, *args, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def publish(self, *lists):
        options = lists[:2] if lists[:1] == ("--withdraw",) else ()
        lines = self.run_ok(self.publisher, "publish", "--json", *options, str(self.place),
                            *lists[len(options):]).splitlines()
        result = {}
        for line in lines:
            result.update(json.loads(line))
        return result

    def follow(self, config=None):
        return subprocess.run([str(GILLNET.parent / "gillnet-hub"), "-c", str(config or self.subscriber), "--once"],
                              capture_output=True, text=True, timeout=300, check=False)

    def follow_ok(self, config=None):
        done = self.follow(config)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def is_listed(self, value, config=None):
        done = self.run_any(config or self.subscriber, "lookup", "--json", value)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode == 1

    # ---- the way it should go ----

    def test_published_url_is_found_and_revoked(self):
        self.run_ok(self.subscriber, "list", "add", "--create", "bad", "other.example")
        self.follow_ok()
        self.assertTrue(self.is_listed("https://evil5.example/pay"))
        mail = self.folder / "mail.eml"
        mail.write_bytes(MAIL)
        done = self.run_any(self.subscriber, "check", "--json", str(mail))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("pub", done.stdout)  # whose word it is
        self.run_ok(self.publisher, "list", "revoke", "phish", "https://evil5.example/pay")
        self.assertEqual(self.publish()["steps"], 1)
        self.site.asked.clear()
        self.follow_ok()
        self.assertEqual(len(self.site.objects()), 1)
        self.assertFalse(self.is_listed("https://evil5.example/pay"))
        self.assertTrue(self.is_listed("https://evil6.example/pay"))

    def test_nothing_new_costs_one_answer(self):
        self.follow_ok()
        self.site.asked.clear()
        self.follow_ok()
        self.assertEqual([a[1] for a in self.site.asked], [200])  # heads; a hub that stays says If-None-Match
        hub = subprocess.Popen([str(GILLNET.parent / "gillnet-hub"), "-c", str(self.subscriber), "-f"],
                               stderr=subprocess.PIPE, text=True)
        try:
            self.wait(lambda: any(a[1] == 304 for a in self.site.asked), 120)
            status = self.run_ok(self.subscriber, "peer", "status", "--json")
            row = [json.loads(line) for line in status.splitlines() if "subscription" in line][0]
            self.assertEqual((row["subscription"], row["state"], row["entries"]), ("pub", "well", 2000))
            self.assertIn("pub", self.run_ok(self.subscriber, "peer", "status"))
        finally:
            hub.send_signal(signal.SIGTERM)
            hub.communicate(timeout=120)
        self.assertEqual(hub.returncode, 0)

    def wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.1)

    # ---- breaks, mirrors, liars ----

    def test_broken_snapshot_is_gone_on_with(self):
        self.site.breaks_after = 1000
        self.assertNotEqual(self.follow().returncode, 0)
        self.site.breaks_after = None
        self.follow_ok()
        self.assertIn(1000, [a[2] for a in self.site.objects()])
        self.run_ok(self.subscriber, "list", "add", "--create", "bad", "other.example")
        self.assertTrue(self.is_listed("https://evil5.example/pay"))

    def test_stale_mirror_is_passed_over_and_alone_is_a_rollback(self):
        old = self.folder / "old"
        shutil.copytree(self.place, old)
        mirror = Site(self, old)
        both = self.subscribe([mirror.url, self.site.url])
        self.run_ok(self.publisher, "list", "add", "--create", "phish", "https://new.example/x")
        self.publish()
        self.run_ok(both, "list", "add", "--create", "bad", "other.example")
        self.follow_ok(both)
        self.assertTrue(self.is_listed("https://new.example/x"))
        self.site.is_gone = True
        done = self.follow(both)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rollback", done.stderr)
        self.assertTrue(self.is_listed("https://new.example/x"))

    def test_another_key_takes_nothing(self):
        other = self.subscribe([self.site.url], name="other", key="ab" * 32)
        done = self.follow(other)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("another publisher", done.stderr)
        self.assertEqual(self.site.objects(), [])

    def test_expired_heads_are_told(self):
        self.run_ok(self.publisher, "publish", "--valid", "60s", str(self.place))
        self.follow_ok()
        done = self.run_any(self.publisher, "publish", "--valid", "1s", str(self.place))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--valid", done.stderr)

    def test_update_that_changes_too_much_is_held(self):
        self.run_ok(self.subscriber, "list", "add", "--create", "bad", "other.example")
        self.follow_ok()
        for i in range(0, 1500, 500):
            values = [f"https://evil{n}.example/pay" for n in range(i, i + 500)]
            self.run_ok(self.publisher, "list", "revoke", "phish", *values)
        self.publish()
        done = self.follow()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("held", done.stderr)
        self.assertTrue(self.is_listed("https://evil5.example/pay"))
        self.subscribe([self.site.url], "change = 0.9;")
        self.follow_ok()
        self.assertFalse(self.is_listed("https://evil5.example/pay"))

    def test_dropped_subscription_leaves_nothing(self):
        self.run_ok(self.subscriber, "list", "add", "--create", "bad", "other.example")
        self.follow_ok()
        self.assertTrue(self.is_listed("https://evil5.example/pay"))
        self.config("subscriber", 'lists = ( { name = "bad"; } );')
        self.follow()
        self.assertFalse(self.is_listed("https://evil5.example/pay"))
        self.assertEqual(list((self.folder / "subscriber/peers/lists").iterdir()), [])

    # ---- the publisher ----

    def test_publish_needs_identity_names_and_says_what_to_do(self):
        nobody = self.config("nobody", "")
        self.run_ok(nobody, "list", "add", "--create", "x", "evil.example")
        done = self.run_any(nobody, "publish", str(self.folder / "elsewhere"), "x")
        self.assertIn("gillnet peer init", done.stderr)
        done = self.run_any(self.publisher, "publish", str(self.folder / "elsewhere"))
        self.assertEqual(done.returncode, 64)
        done = self.run_any(self.publisher, "publish", str(self.place), "nolist")
        self.assertNotEqual(done.returncode, 0)
        self.run_ok(nobody, "peer", "init", "--name", "nobody")
        done = self.run_any(nobody, "publish", str(self.place), "x")
        self.assertIn("another publisher", done.stderr)
        text = self.run_ok(nobody, "publish", str(self.folder / "mine"), "x")
        self.assertRegex(text, r'key = "[0-9a-f]{64}"')

    def test_withdrawn_list__is_told_and_the_others_go_on(self):
        self.run_ok(self.subscriber, "list", "add", "--create", "bad", "other.example")
        self.run_ok(self.publisher, "list", "add", "--create", "more", "more.example")
        self.publish("more")
        self.follow_ok()
        self.publish("--withdraw", "phish")
        done = self.follow()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("does not publish this list", done.stderr)
        self.assertTrue(self.is_listed("https://evil5.example/pay"))
        shutil.rmtree(self.folder / "publisher/lists/more")
        done = self.run_any(self.publisher, "publish", str(self.place))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--withdraw more", done.stderr)
        self.publish("--withdraw", "more")
        done = self.run_any(self.publisher, "publish", "--withdraw", "more", str(self.place))
        self.assertIn("not published there", done.stderr)
        self.publish("phish")
        self.follow_ok()

    def test_every_type_of_entry_goes_through(self):
        values = ["evil.example", "host:a.evil.example", "10.9.0.0/16", "2001:db8::/32", "a@evil.example",
                  "url_folded:https://e.example/AbC", "url_template:https://e.example/5/x", "phone:+491701234567",
                  "subject:Win a Prize now", "subject_skeleton:W1n a Prize", "list_id:Some <list.evil.example>",
                  "attachment:" + "ab" * 32, "attachment_name:Invoice 2026.EXE", "message_id_domain:evil.example"]
        self.run_ok(self.publisher, "list", "add", "--create", "all", *values)
        self.publish("all")
        self.config("subscriber", f'subscribe = ( {{ name = "pub"; urls = [ "{self.site.url}" ]; key = "{self.key}"; '
                    'lists = [ "all" ]; } );')
        log = self.follow_ok()
        self.assertIn(f"entries={len(values)} refused=0", log)
        # it has no local list, but one of others
        stat = self.run_any(self.subscriber, "stat").stdout
        self.assertIn("lists: none of our own; and 1 of others\n", stat)
        self.assertEqual(self.run_ok(self.subscriber, "list"), "none of our own; `gillnet list stat` shows 1 of others\n")
        self.assertEqual(self.run_any(self.subscriber, "check", "-", input="Subject: x\n\nhttp://evil.example/\n").stderr, "")


if __name__ == "__main__":
    GILLNET = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
