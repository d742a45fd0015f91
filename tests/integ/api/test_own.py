#!/usr/bin/env python3
"""A user's own page: opened by a link of a digest, for a session, without script; with a real hub and gillnetd.

Usage: test_own.py      ends like unittest. GILLNET_BUILD names the build.
"""
import concurrent.futures
import hashlib
import html
import json
import os
import re
import unittest
import urllib.parse

import openapi
from hub import Hub
from test_api import HELD, Queue

ANNA, BERT = "anna@here.example", "b@here.example"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Own(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(api='names = [ "mail.example" ];', more="count = { messages_per_day = 0; };")
        self.addCleanup(self.hub.close)
        self.hub.conf.write_text(self.hub.conf.read_text() + f'quarantine = {{ socket = "{self.hub.top}/queue"; '
                                 'url = "https://mail.example/gillnet/"; };')
        self.bad = {**HELD, "id": "3CF1CA82AAA", "recipients": [ANNA], "nrcpt": 1, "from": "\"<script>alert(1)</script>\" <x@y.example>",
                    "subject": "</dd><img src=x onerror=alert(1)>\u202e"}
        self.both = {**HELD, "id": "3CF1CA82BBB", "recipients": [ANNA, BERT], "nrcpt": 2}
        self.queue = Queue(f"{self.hub.top}/queue", [HELD, self.bad, self.both])
        self.hub.start()
        self.hub.start_gillnetd()
        self.hub.checker = openapi.check

    def link(self, recipient=ANNA, expires=2 ** 40):
        token = os.urandom(16).hex()
        folder = self.hub.state / "quarantine/links"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (hashlib.sha256(token.encode()).hexdigest() + ".link")).write_text(json.dumps(
            {"id": "", "time_s": 0, "recipient": recipient, "action": "page", "expires_s": expires, "from": "", "subject": ""}))
        return "/q/" + token

    def open(self, recipient=ANNA):
        a = self.hub.ask("POST", self.link(recipient) + "/use")
        self.assertEqual((a.status, a.headers["Location"]), (303, "/gillnet/own"))
        cookie = a.headers["Set-Cookie"]
        self.assertRegex(cookie, r"^gillnet-own=[0-9a-f]{64}; Path=/gillnet/own; Max-Age=3600; HttpOnly; SameSite=Strict; Secure$")
        return {"Cookie": cookie.partition(";")[0]}

    def page(self, cookie, status=200, **more):
        a = self.hub.get("/own", {**cookie, **more})
        self.assertEqual(a.status, status)
        self.assertIn("default-src 'none'", a.headers["Content-Security-Policy"])
        return a.body.decode()

    def press(self, cookie, status=200, key=None, headers=None, **form):
        if key is None:
            key = re.search('name="key" value="([0-9a-f]{64})"', self.page(cookie))[1]
        a = self.hub.ask("POST", "/own/change", urllib.parse.urlencode({"key": key, **form}), {**FORM, **cookie, **(headers or {})})
        self.assertIn(a.status, status if isinstance(status, tuple) else (status,), a.body)
        return a.body.decode()

    def settings(self, name=ANNA):
        rows = [json.loads(x) for x in self.hub.run("--json", "user", "show", name).splitlines()]
        return [w for r in rows for w in r.get("set", [])]

    def test_link__then_a_get_opens_nothing_and_one_button_does(self):
        path = self.link()
        for method in ("GET", "HEAD", "OPTIONS", "GET"):
            a = self.hub.ask(method, path)
            self.assertIsNone(a.headers["Set-Cookie"])
        self.assertIn(b"</button>", a.body)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = sorted(pool.map(lambda _: self.hub.ask("POST", path + "/use").status, range(8)))
        self.assertEqual((done[0], set(done[1:]) - {503}), (303, {410}))
        self.assertEqual(self.hub.ask("POST", self.link(expires=1) + "/use").status, 410)

    def test_session__then_only_with_its_cookie(self):
        cookie = self.open()
        for other in ({}, {"Cookie": "gillnet-own="}, {"Cookie": "gillnet-own=" + "0" * 64}, {"Cookie": cookie["Cookie"][:-1]},
                      {"Cookie": "x" + cookie["Cookie"]}):
            self.assertNotIn(ANNA, self.page(other, 403))
            self.press(other, 403, key="0" * 64, **{"do": "add", "list": "allow", "value": "a.example"})
        self.assertIn(ANNA, self.page({"Cookie": "a=b; " + cookie["Cookie"] + "; c=d"}))
        self.press(cookie, do="close")
        self.page(cookie, 403)
        self.assertIsNone(re.search("[0-9a-f]{64}", self.hub.logs()))

    def test_page__then_own_mail_alone_and_every_text_escaped(self):
        text = self.page(self.open())
        self.assertIn("3CF1CA82AAA", text)
        self.assertNotIn(f'"{HELD["id"]}"', text)
        self.assertNotIn(BERT, text)
        self.assertNotRegex(text, "(?i)<script|<img|onerror=alert\\(1\\)>|\u202e")
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;", text)
        shared = text[text.index("3CF1CA82BBB") - 1500:][:3000]
        self.assertEqual(text.count('value="release"'), 1, shared)  # of the message that is hers alone
        self.assertEqual(text.count('value="spam"'), 2)

    def test_buttons__then_the_queue_does_it_and_others_mail_stays(self):
        cookie = self.open()
        self.press(cookie, 422, do="release", id="3CF1CA82BBB", time=str(HELD["time_s"]))
        self.press(cookie, 422, do="delete", id=HELD["id"], time=str(HELD["time_s"]))  # bert's
        self.press(cookie, 422, do="release", id="3CF1CA82AAA", time="1")  # another message had the id
        self.press(cookie, 422, do="delete", id="ALL", time="1")
        self.assertEqual([x for x in self.queue.asked if x != "list"], [])
        self.press(cookie, do="spam", id="3CF1CA82BBB", time=str(HELD["time_s"]))
        self.press(cookie, do="release", id="3CF1CA82AAA", time=str(HELD["time_s"]))
        self.assertEqual([x for x in self.queue.asked if x != "list"],
                         ["show 3CF1CA82BBB", "show 3CF1CA82AAA", "release 3CF1CA82AAA"])
        row = json.loads(self.hub.run("--json", "changes", "kind:held-release").splitlines()[0])
        self.assertEqual((row["who"], row["way"], row["object"]), (ANNA, "link", "3CF1CA82AAA"))

    def test_lists__then_settings_of_the_user_alone(self):
        self.hub.run("user", "set", ANNA, "sensitivity=low", "allow.domains=old.example")
        self.hub.run("user", "set", BERT, "block.domains=secret.example")
        cookie = self.open()
        self.assertNotIn("secret.example", self.page(cookie))
        self.press(cookie, do="add", list="allow", value=" Friend@X.example ")
        self.press(cookie, do="add", list="allow", value="@y.example")
        self.press(cookie, do="add", list="block", value="spam.example")
        self.press(cookie, do="remove", list="allow.domains", value="old.example")
        self.assertEqual(sorted(self.settings()), ["allow.addresses=friend@x.example", "allow.domains=y.example",
                                                   "block.domains=spam.example", "sensitivity=low"])
        self.assertEqual(self.settings(BERT), ["block.domains=secret.example"])
        row = json.loads(self.hub.run("--json", "changes", "kind:user-set").splitlines()[0])
        self.assertEqual((row["who"], row["way"], row["object"], row["undo"]), (ANNA, "link", ANNA, "possible"))
        self.hub.run("changes", "undo", row["id"])
        self.assertIn("allow.domains=old.example,y.example", self.settings())

    def test_entries__hostile_or_too_many__then_refused(self):
        cookie = self.open()
        for value in ("", " ", "a b.example", "x.example,y.example", "a@b.example\n@evil.example", "<script>", "..", "x=y z", "a" * 400,
                      "a@b.example sensitivity=low", "#@x.example\r\n"):
            self.press(cookie, (422, 403), do="add", list="block", value=value)
        for of in ("", "sensitivity", "thresholds.reject", "rules.x.score", "allow"):
            self.press(cookie, 422, do="remove", list=of, value="x.example")
        self.assertEqual(self.settings(), [])
        for i in range(40):
            self.press(cookie, do="add", list="block", value=f"{i}.example")
        self.press(cookie, 422, do="add", list="block", value="last.example")

    def test_changes_of_a_session__then_bounded(self):
        cookie = self.open()
        for i in range(100):
            self.press(cookie, 422, do="add", list="block", value="no domain")
        self.press(cookie, 503, do="add", list="block", value="x.example")
        self.assertEqual(self.settings(), [])

    def test_forgery__then_nothing_is_done(self):
        cookie = self.open()
        other = re.search('name="key" value="([0-9a-f]{64})"', self.page(self.open(BERT)))[1]
        form = {"do": "add", "list": "allow", "value": "evil.example"}
        self.press(cookie, 403, key="", **form)
        self.press(cookie, 403, key=other, **form)
        self.press(cookie, 403, headers={"Origin": "http://evil.example"}, **form)
        self.press(cookie, 403, headers={"Sec-Fetch-Site": "cross-site"}, **form)
        self.press(cookie, 403, headers={"Content-Type": "text/plain"}, **form)
        self.press(cookie, 403, evil="1", **form)
        self.assertEqual(self.settings(), [])

    def test_languages__then_the_first_known_one(self):
        cookie = self.open()
        for wanted, lang, word in (("de-DE,de;q=0.9", "de", "Absender"), ("fr", "fr", "expéditeurs"), ("es;q=1", "es", "remitentes"),
                                   ("pt, ja", "ja", "送信者"), ("x" * 100, "en", "senders"), ("", "en", "senders"), ("deu", "en", "senders")):
            text = html.unescape(self.page(cookie, **({"Accept-Language": wanted} if wanted else {})))
            self.assertIn(f'<html lang="{lang}">', text)
            self.assertIn(word, text)

    def test_sessions__more_than_there_may_be__then_the_oldest_goes(self):
        first = self.open()
        for _ in range(1000):
            self.open()
        self.page(first, 403)


if __name__ == "__main__":
    unittest.main(verbosity=2)
