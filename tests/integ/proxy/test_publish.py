#!/usr/bin/env python3
"""`gillnet publish` served by nginx with contrib/nginx/publish.conf, and followed: ETag, ranges, breaks, a mirror that
lags, one that mixes.

Usage: test_publish.py [TEST...]      ends like unittest. Needs contrib/install-deps test.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import nginx

BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", nginx.ROOT / "build/release")).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
# pylint: disable=wrong-import-position
from ring import free_port, until  # noqa: E402


class Published(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gillnet-proxy-")
        self.addCleanup(self.folder.cleanup)
        self.top = pathlib.Path(self.folder.name)
        self.top.chmod(0o755)
        self.place = self.top / "place"
        self.place.mkdir()
        self.publisher = self.config("publisher", "")
        self.run_ok(self.publisher, "peer", "init", "--name", "pub")
        self.import_urls(0, 3000)
        self.key = self.publish("phish")["key"]
        self.web = self.nginx("web", self.place)

    def nginx(self, name, place):
        n = nginx.Nginx(self.top / name, free_port())
        n.write(self.site(n, place))
        n.start()
        self.addCleanup(n.stop)
        return n

    def site(self, n, place, more=""):
        text = (nginx.ROOT / "contrib/nginx/publish.conf").read_text()
        text = re.sub(r"    listen \[::\].*\n", "", text)
        for old, new in (("listen 80;", f"listen 127.0.0.1:{n.port};{more}"), ("/srv/gillnet", str(place))):
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def config(self, name, text):
        (self.top / name).mkdir(exist_ok=True)
        path = self.top / f"{name}.conf"
        path.write_text(f'state_dir = "{self.top / name}"; shipped_rules = false;\napi = {{ listen = []; }};\n{text}\n')
        return path

    def subscriber(self, *places, more=""):
        urls = ", ".join(f'"http://127.0.0.1:{n.port}"' for n in places)
        conf = self.config("subscriber", 'lists = ( { name = "bad"; category = "phish"; weight = 9.0; } );\n'
                           f'subscribe = ( {{ name = "pub"; urls = [ {urls} ]; key = "{self.key}";\n'
                           f'  lists = [ "phish=bad" ]; interval = "10s"; change = 1.0; {more} }} );')
        if not (self.top / "subscriber/lists").exists():
            self.run_ok(conf, "list", "add", "bad", "other.example")
        return conf

    def run_any(self, config, *args, **more):
        return subprocess.run([str(BUILD / "gillnet"), "-c", str(config), *args], capture_output=True, text=True,
                              timeout=120, check=False, **more)

    def run_ok(self, config, *args, **more):
        done = self.run_any(config, *args, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def import_urls(self, begin, end):
        self.run_ok(self.publisher, "list", "import", "phish", "-",
                    input="".join(f"https://evil{i}.example/{i * 7919 % 104729}\n" for i in range(begin, end)))

    def publish(self, *args):
        out = {}
        for line in self.run_ok(self.publisher, "publish", "--json", str(self.place), *args).splitlines():
            out.update(json.loads(line))
        return out

    def follow(self, conf):
        return subprocess.run([str(BUILD / "gillnet-hub"), "-c", str(conf), "--once"], capture_output=True, text=True,
                              timeout=120, check=False)

    def follow_ok(self, conf):
        done = self.follow(conf)
        self.assertEqual(done.returncode, 0, done.stderr + self.web.logs())

    def is_listed(self, conf, i):
        done = self.run_any(conf, "lookup", "--json", f"https://evil{i}.example/{i * 7919 % 104729}")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode == 1

    def test_files_on_nginx__are_followed_with_etags(self):
        conf = self.subscriber(self.web)
        self.follow_ok(conf)
        self.assertTrue(self.is_listed(conf, 5))
        hub = subprocess.Popen([str(BUILD / "gillnet-hub"), "-c", str(conf), "-f"], stderr=subprocess.DEVNULL)
        try:
            until(lambda: self.web.lines("304", "GET /v1/heads"), "a 304", seconds=60, log=self.web.logs)
            self.import_urls(3000, 3010)
            self.publish()
            until(lambda: self.is_listed(conf, 3005), "what is new", seconds=90, log=self.web.logs)
        finally:
            hub.send_signal(signal.SIGTERM)
            self.assertEqual(hub.wait(60), 0)
        self.assertEqual(len(self.web.lines("200", "GET /v1/s/")), 1)  # the rest came as DELTAs
        got = subprocess.run(["curl", "-sSI", f"http://127.0.0.1:{self.web.port}/v1/heads"], capture_output=True,
                             text=True, check=False).stdout if shutil.which("curl") else "no-cache"
        self.assertIn("no-cache", got)

    def test_a_cut_connection__is_gone_on_with_by_range(self):
        """nginx ends while it sends slowly."""
        snap = max((self.place / "v1/s").rglob("*"), key=lambda p: p.stat().st_size if p.is_file() else 0)
        self.web.restart(self.site(self.web, self.place,
                                   f" limit_rate {max(1, snap.stat().st_size // 20)}; sendfile off; output_buffers 1 512;"))
        conf = self.subscriber(self.web)
        hub = subprocess.Popen([str(BUILD / "gillnet-hub"), "-c", str(conf), "--once"], stderr=subprocess.DEVNULL)

        def part():
            return [p for p in (self.top / "subscriber/peers").rglob("*")
                    if p.is_file() and p.name.endswith(".part") and p.stat().st_size > 400]

        until(lambda: part() or hub.poll() is not None, "a part", seconds=60, step=0.01, log=self.web.logs)
        self.assertIsNone(hub.poll())
        self.web.stop()
        self.assertNotEqual(hub.wait(60), 0)
        self.web.write(self.site(self.web, self.place))
        self.web.start()
        self.follow_ok(conf)
        self.assertTrue(self.web.lines("206", "GET /v1/s/"), self.web.logs())
        self.assertTrue(self.is_listed(conf, 2999))

    def test_a_mirror_that_lags__is_passed_over_and_alone_is_a_rollback(self):
        old = self.top / "old"
        shutil.copytree(self.place, old)
        mirror = self.nginx("mirror", old)
        both = self.subscriber(mirror, self.web)
        self.import_urls(3000, 3010)
        self.publish()
        self.follow_ok(both)
        self.assertTrue(self.is_listed(both, 3005))
        # the objects may come from any place that has them, the heads count from the newest
        self.web.stop()
        done = self.follow(both)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rollback", done.stderr)
        self.assertTrue(self.is_listed(both, 3005))

    def test_a_mirror_that_mixes_publications__is_refused(self):
        old = self.top / "old"
        shutil.copytree(self.place, old)
        mirror = self.nginx("mirror", old)
        conf = self.subscriber(mirror)
        self.follow_ok(conf)
        self.import_urls(3000, 3010)
        self.publish()
        shutil.copytree(self.place, old, dirs_exist_ok=True)
        newest = max((int(p.name), p) for p in (old / "v1/o").rglob("*") if p.is_file())[1]
        good = newest.read_bytes()
        before = sorted((int(p.name), p) for p in (old / "v1/o").rglob("*") if p.is_file())[0][1].read_bytes()
        for bad in (before, good[:-1], good[:400], good[:50] + b"\x01" + good[51:], good + b"x", b""):
            newest.write_bytes(bad)
            self.assertNotEqual(self.follow(conf).returncode, 0, bad[:10])
            self.assertFalse(self.is_listed(conf, 3005))
            self.assertTrue(self.is_listed(conf, 5))
        newest.write_bytes(good)
        self.follow_ok(conf)
        self.assertTrue(self.is_listed(conf, 3005))


if __name__ == "__main__":
    unittest.main(verbosity=2)
