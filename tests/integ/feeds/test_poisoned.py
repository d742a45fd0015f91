#!/usr/bin/env python3
"""A feed that was good goes bad in every way we know: nothing of it is listed, and the last good version serves.

One feed, over https through a proxy, as a site has it (no private addresses), and one running hub. After each poison the
HTTP API says what is listed, and feed list, stat and metrics what became of the update.
Usage: test_poisoned.py      ends like unittest. GILLNET_BUILD names the build folder.
"""
import gzip
import http.client
import json
import pathlib
import re
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
from test_fetch import NAMES, Feeds  # noqa: E402
from site_of_feeds import Proxy, Site, certificates  # noqa: E402
from ring import free_port, until  # noqa: E402

GOOD = NAMES.encode()
GOOD_NAMES = NAMES.split()
TOP = ["google.com", "www.google.com", "https://www.google.com/", "mail.google.com"]
LINES = 200  # as many entries as NAMES has

# A line in a good body, and the values that it must not list. The body is accepted, the line is not.
AMID = {
    "a major domain": (b"google.com", TOP),
    "a major domain in capitals, with a dot": (b"*.GOOGLE.COM.", TOP),
    "a major domain's first page": (b"https://www.google.com/", TOP),
    "a major domain as an adblock rule": (b"||google.com^", TOP),
    "a major domain in full-width letters": ("ｇｏｏｇｌｅ．ｃｏｍ".encode(), TOP),
    "a major domain with an ideographic dot": ("google。com".encode(), TOP),
    "a major domain with a letter of no width": ("goo\u200bgle.com".encode(), TOP),
    "a shared host": (b"storage.googleapis.com", ["storage.googleapis.com", "https://storage.googleapis.com/b/x"]),
    "a link shortener": (b"http://bit.ly/", ["bit.ly", "https://bit.ly/3xAmple"]),
    "a public suffix": (b"co.uk", ["host:co.uk", "any.co.uk"]),
    "a top-level domain": (b"*.com", ["host:com", "any.com"]),
    "all networks": (b"0.0.0.0/0", ["0.0.0.0", "203.0.113.1"]),
    "all networks of IPv6": (b"::/0", ["2001:db8::1"]),
    "an eighth of the net": (b"8.0.0.0/8", ["8.8.8.8"]),
    "a private network": (b"10.0.0.0/16", ["10.0.0.1"]),
    "this machine": (b"127.0.0.1", ["127.0.0.1"]),
    "localhost": (b"localhost", ["host:localhost", "http://localhost/"]),
    "an own domain": (b"own.example", ["own.example", "www.own.example"]),
    "a domain above an own one": (b"corp.example", ["corp.example", "mail.corp.example"]),
    "an own network": (b"198.51.100.25", ["198.51.100.25"]),
    "a friend": (b"friend.example", ["friend.example"]),
    "what good mail has": (b"newsletter.example", ["newsletter.example"]),
    "a line of 1 MiB": (b"a" * (1 << 20) + b".example", ["a" * 63 + ".example"]),
    "the checksum of nothing": (
        b"attachment:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ["attachment:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]),
}
# A body, and the reason with which it is refused.
BODIES = {
    "nothing": (b"", "empty"),
    "comments alone": (b"# come back later\n\n", "empty"),
    "a BOM alone": (b"\xef\xbb\xbf\n", "empty"),
    "a login page": (b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><a href='http://new.example/'>"
                     b"</a></body></html>\n", "first_line"),
    "an error as XML": (b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "first_line|format|bad_lines"),
    "an error as JSON": (b'{"error":"no key","see":"https://new.example/key"}', "first_line|format|bad_lines|empty"),
    "a sentence": (b"You have exceeded your quota for today.\n", "."),
    "an error as an address": (b"127.255.255.254\n", "."),
    "UTF-16": ("new.example\n".encode("utf-16"), "."),
    "a NUL": (GOOD + b"nul\0.example\n", "format"),
    "bytes": (bytes(range(128, 256)) * 100, "."),
    "major domains alone": (b"google.com\nfacebook.com\n", "excluded"),
    "100 times as many": (b"".join(b"new%d.example\n" % i for i in range(100 * LINES)), "size"),
    "a hundredth": (b"new.example\nbad0.example\n", "size"),
    "more lies than lines": (GOOD + b"what is this\n" * 300, "bad_lines"),
}


def answers(head, body=b"", hold=None):
    """Bytes as they are, then the end of the connection; hold(h) may say more."""
    def page(h):
        h.raw(b"HTTP/1.1 " + head + b"\r\n\r\n" + body)
        h.close_connection = True
        if hold:
            hold(h)
    return page


class Poisoned(Feeds):
    def setUp(self):
        super().setUp()
        self.api = free_port()
        self.proxy = Proxy()
        made = certificates(self.top)
        self.tls, self.wrong, self.unknown = (Site(made[n]) for n in ("good", "wrong_name", "unknown"))
        self.sites += [self.tls, self.wrong, self.unknown]
        for site in self.sites:
            site.text(GOOD + b"new.example\n", "/other.txt")
        self.feed("f", self.tls.url(host="feeds.example"), private=False, ca_file=made["ca"], download_bytes="2M", decompressed_bytes="4M",
                  timeout="4s", proxy=f"http://127.0.0.1:{self.proxy.port}")

    def tearDown(self):
        self.proxy.close()
        super().tearDown()

    def write(self):
        super().write()
        with open(self.s.conf, "a") as f:
            f.write('protected = [ "own.example", "mail.corp.example" ];\ntrusted_networks = [ "198.51.100.0/24" ];\n'
                    f'allow = {{ domains = [ "friend.example" ]; }};\napi = {{ listen = [ "127.0.0.1:{self.api}" ]; }};\n')
        self.s.conf.write_text(self.s.conf.read_text().replace("api = { listen = []; };\n", ""))

    # ---- what it says of itself ----

    def ask(self, path, value=None):
        c = http.client.HTTPConnection("127.0.0.1", self.api, timeout=60)
        c.request(*(("GET", path) if value is None else
                    ("POST", path, json.dumps(value), {"Content-Type": "application/json"})))
        answer = c.getresponse()
        body = answer.read().decode()
        c.close()
        self.assertEqual(answer.status, 200, body)
        return body

    def listed(self, values):
        results = json.loads(self.ask("/v1/check", {"values": values}))["results"]
        return [v for v, r in zip(values, results, strict=True) if r.get("matches")]

    def metric(self, name, **labels):
        wanted = ",".join(f'{k}="{v}"' for k, v in labels.items())
        found = [line for line in self.ask("/metrics").splitlines() if line.startswith(f"{name}{{{wanted}")]
        return sum(float(line.split()[-1]) for line in found)

    def serves(self, name, poison):
        """Nothing new, all of the good ones, by every way to ask."""
        row = self.row()
        self.assertEqual((row["entries"], row["added_total"]), (LINES, LINES), (name, row))
        self.assertEqual(self.metric("gillnet_feed_entries", feed="f"), LINES, name)
        self.assertEqual([p.name for p in (self.s.state / "lists").iterdir() if p.is_dir()], ["f"], name)
        asked = ["new.example", *poison, *GOOD_NAMES]
        found = [r["value"] for r in self.s.json("lookup", *asked, rc=None) if r.get("rating", "").find("MALICIOUS") >= 0]
        self.assertEqual(found, GOOD_NAMES, name)  # the lists themselves
        self.assertEqual(self.listed(asked), GOOD_NAMES, name)  # as the hub has them open

    def fault(self, name, why):
        self.assertRegex(self.s.run("stat", rc=None), rf"(?i)fault: feed:f .*({why})", name)

    # ---- poisons ----

    def amid(self):
        for name, (line, values) in AMID.items():
            self.tls.text(GOOD + line + b"\n")
            r = self.update()
            self.assertIn(r["result"], ("ok", "same"), (name, r))
            self.assertEqual(r["excluded"] + r["bad_lines"], 1, (name, r))
            self.assertEqual(self.metric("gillnet_feed_excluded", feed="f"), r["excluded"], name)
            self.serves(name, values)

    def bodies(self):
        for name, (body, reason) in BODIES.items():
            before = self.metric("gillnet_feed_refused_total", feed="f")
            self.tls.text(body)
            r = self.update()
            self.assertEqual(r["result"], "refused", (name, r))
            self.assertRegex(r["reason"], f"^({reason})", name)
            self.assertEqual(self.row()["state"], "refused", name)
            self.assertEqual(self.metric("gillnet_feed_refused_total", feed="f"), before + 1, name)
            self.assertEqual(self.metric("gillnet_feed_state", feed="f", state="refused"), 1, name)
            self.fault(name, re.escape(r["text"][:20]))
            self.serves(name, [])

    def tricks(self):
        new = b"new.example\n"
        chunked = b"200 OK\r\nTransfer-Encoding: chunked"

        def endless(h):
            while not h.server.site.end.is_set():
                h.raw(b"2000\r\n" + new * 682 + b"new.ex.\n" + b"\r\n")

        def slow(h):
            while not h.server.site.end.wait(1):
                h.raw(b"n")
        bomb = gzip.compress(new * 3_000_000)
        return {
            "10 GiB, as it says": (answers(b"200 OK\r\nContent-Length: 10737418240", new), "`download_bytes`"),
            "endless": (answers(chunked, hold=endless), "`download_bytes`"),
            "a bomb on the way": (answers(b"200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d" % len(bomb), bomb),
                                  "decompressed_bytes"),
            "a bomb as a file": (answers(b"200 OK\r\nContent-Length: %d" % len(bomb), bomb), "decompressed_bytes"),
            "half a gzip file": (answers(b"200 OK", gzip.compress(GOOD + new)[:-200]), "compressed"),
            "a byte a second": (answers(b"200 OK", hold=slow), "time"),
            "a chunk that lies": (answers(chunked, b"c\r\nnew.example\n\r\nzz\r\n"), "."),
            "a chunk of all the world": (answers(chunked, b"ffffffffffffffff\r\nnew.example\n"), "."),
            "cut": (answers(b"200 OK\r\nContent-Length: 9999", GOOD + new), "."),
            "an error with a list": (lambda h: h.say(500, GOOD + new), "answers 500"),
            "a part": (lambda h: h.say(206, GOOD + new), "answers 206"),
            "another name's certificate": (self.to(self.wrong.url("/other.txt", "feeds.example")), "certificate|name|SSL"),
            "a certificate of its own": (self.to(self.unknown.url("/other.txt", "feeds.example")), "certificate|issuer|SSL"),
            "from https to http": (self.to(self.site.url("/other.txt", "feeds.example")), "https to http"),
            "to the cloud's secrets": (self.to("https://169.254.169.254/latest/meta-data"), "not public"),
            "to this machine": (self.to(self.tls.url("/other.txt")), "not public"),
            "to a file": (self.to("file:///etc/passwd"), "."),
            "in circles": (self.to("/feed.txt"), "redirects"),
        }

    @staticmethod
    def to(where):
        return lambda h: h.say(302, Location=where)

    def behaviours(self):
        tricks = self.tricks()
        for name, (page, why) in tricks.items():
            self.tls.pages["/feed.txt"] = page
            r = self.update()
            self.assertEqual(r["result"], "failed", (name, r))
            self.assertRegex(r["text"], f"(?i){why}", name)
            self.assertEqual(self.row()["state"], "failing", name)
            self.assertEqual(self.metric("gillnet_feed_state", feed="f", state="failing"), 1, name)
            self.fault(name, why)
            self.serves(name, [])
        return len(tricks)

    def test_a_good_feed__poisoned_in_every_way__nothing_enters_and_the_good_version_serves(self):
        mail = pathlib.Path(self.top) / "good.eml"
        mail.write_text("From: a@sender.example\nSubject: x\n\nSee http://newsletter.example/\n")
        self.s.run("feed", "ham", mail)
        self.tls.text(GOOD)
        self.hub()
        self.assertEqual(self.update()["entries"], LINES)
        until(lambda: self.listed(GOOD_NAMES) == GOOD_NAMES, "the API", log=self.s.logs)
        self.serves("good", [])
        self.amid()
        self.bodies()
        n = self.behaviours()
        print(f"{len(AMID)} entries, {len(BODIES)} bodies, {n} behaviours: nothing entered, {LINES} of {LINES} serve")
        self.tls.text(GOOD + b"new.example\n")  # and it can be good again
        self.assertEqual(self.update()["result"], "ok")
        self.assertEqual(self.row()["state"], "ok")
        until(lambda: self.listed(["new.example"]), "the new one", log=self.s.logs)
        self.assertEqual(self.listed([v for _, values in AMID.values() for v in values]), [])
        self.s.stop()


if __name__ == "__main__":
    unittest.main(verbosity=1)
