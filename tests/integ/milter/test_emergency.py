"""Emergency mode in gillnetd, under a load of URL scans: on, off, escalation, no miss, restart."""
import json
import pathlib
import threading
import time
import unittest

from daemon import ROOT, Daemon, gillnet
from mta import Mta

CONFIG = pathlib.Path(ROOT, "conf/rules.d/emergency.conf").read_text() + \
    'emergency = { enter = 200.0; escalate = 20; escalate_for = "1h"; };\n' \
    'lists = ( { name = "phish"; category = "phish"; weight = 6.0; } );\n'
LISTED = [f"url:evil.example/page{n}" for n in range(40)] + ["url:listed.example/x"]
OTHERS = "".join(f"http://host{n}.example/{n}\r\n" for n in range(400))


def scan(d, urls):
    """A scanned message with these URLs: the object of `gillnet check --json`."""
    text = f"From: a@b.example\r\nSubject: x\r\n\r\n{urls}\r\n".encode()
    answer = d.control(b"scan %d\n" % len(text) + text)
    assert answer.startswith("ok"), answer[:200]
    return json.loads(answer.split("\n", 1)[1])


def symbols(verdict):
    return {s["name"]: s["detail"] for s in verdict["symbols"]}


PATTERNS = "http://my-Crypto.example/top/scam http://urgent.example/pay?in=bitcoin " \
    "http://free-money.example/get/now http://a.12345678901.tk/x http://bit.ly/aB3dE6"


class Load:
    """Scans of many URLs, some a second, in the background."""

    def __init__(self, daemon, pause):
        self.daemon, self.pause, self.is_ending = daemon, pause, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.is_ending:
            scan(self.daemon, OTHERS)
            time.sleep(self.pause)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ending = True
        self.thread.join()


class Watch:
    """Asks all the time for a listed URL; each answer without it is a miss."""

    def __init__(self, daemon):
        self.daemon, self.is_ending, self.asked, self.missed = daemon, False, 0, 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.is_ending:
            m = Mta(self.daemon.target)
            m.hello()
            answer = m.message(body=b"see http://listed.example/x now\r\n")
            m.quit()
            self.asked += 1
            self.missed += "LIST_PHISH" not in dict(answer.headers())["X-Gillnet-Symbols"]
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ending = True
        self.thread.join()


class Emergency(unittest.TestCase):
    def daemon(self, config=CONFIG):
        d = Daemon(config, lists={"phish": LISTED})
        self.addCleanup(d.__exit__, None, None, None)
        return d.start()

    def is_on(self, d):
        return d.stat("emergency") == 1

    def enter(self, d):
        with Load(d, 0.2):
            d.wait_for(lambda: self.is_on(d), "emergency mode", 40)

    def test_load__comes_and_goes__nothing_is_missed(self):
        d = self.daemon()
        with Watch(d) as watch:
            self.enter(d)
            self.assertGreater(d.stat("emergency_rate"), 200)
            self.assertEqual(d.stat("emergency_level"), 200)
            self.assertGreater(d.stat("emergency_since_time"), time.time() - 60)
            d.wait_for(lambda: not self.is_on(d), "its end", 40)
        self.assertEqual(watch.missed, 0)
        self.assertGreater(watch.asked, 100)
        self.assertEqual(d.stat("emergency_entered"), 1)
        d.wait_for(lambda: "event=emergency mode=on rate=" in d.log(), "mode=on")
        d.wait_for(lambda: "event=emergency mode=off rate=" in d.log(), "mode=off")
        self.assertGreater(d.stat("emergency_shed"), 0)

    def test_on__patterns_revocation_escalation__restart(self):
        d = self.daemon()
        self.assertEqual(symbols(scan(d, PATTERNS)), {})
        self.enter(d)
        self.check_patterns(d)
        self.check_revocation(d)
        self.check_escalation(d)
        # kill -9: the mode goes on, what was escalated is forgotten
        self.enter(d)
        d.kill()
        d.start()
        self.assertTrue(self.is_on(d))
        self.assertEqual(d.control("escalated"), "ok\n")

    def check_patterns(self, d):
        got = scan(d, PATTERNS)
        self.assertEqual(sorted(symbols(got)), [f"BLOCKED_PATTERN_{name}" for name in
                                                ("CRYPTO_SCAM", "DIGITS_TK", "FREE_MONEY",
                                                 "SHORT_BITLY", "URGENT_BITCOIN")])
        self.assertEqual(got["score"], 4.0)
        self.assertEqual(got["action"], "accept")
        near = "http://x.example/scam http://1234.tk http://bit.ly/abcdefg http://free.example/now"
        self.assertEqual(symbols(scan(d, near)), {})

    def check_revocation(self, d):
        self.assertIn("LIST_PHISH", symbols(scan(d, "http://listed.example/x")))
        begun = time.monotonic()
        gillnet("list", "revoke", "phish", "url:listed.example/x", "-c", d.conf)
        d.wait_for(lambda: "LIST_PHISH" not in symbols(scan(d, "http://listed.example/x")),
                   "the revocation")
        print(f"the revocation took {time.monotonic() - begun:.2f} s to work")

    def check_escalation(self, d):
        fresh = "http://www.evil.example/fresh"
        self.assertEqual(symbols(scan(d, fresh)), {})
        for n in range(20):
            self.assertTrue(self.is_on(d))
            scan(d, f"http://evil.example/page{n}")
        detail = symbols(scan(d, fresh))["ESCALATED"]
        self.assertRegex(detail, r"url_domain=evil.example escalated from 20 URLs of list phish "
                         r"\(phish\) at 20\d\d-")
        self.assertEqual(scan(d, fresh)["score"], 6.0)
        d.wait_for(lambda: "event=escalate domain=evil.example nurls=20 list=phish" in d.log(), "the escalation")
        self.check_command(d)
        self.assertEqual(symbols(scan(d, fresh)), {})

    def check_command(self, d):
        said = json.loads(gillnet("--json", "emergency", "-c", d.conf).stdout)
        self.assertTrue(said["active"])
        self.assertEqual(said["level"], 200)
        row = said["escalated"][0]
        self.assertEqual((row["domain"], row["urls"], row["list"], row["category"]),
                         ("evil.example", 20, "phish", "phish"))
        self.assertEqual(row["until_s"] - row["from_s"], 3600)
        text = gillnet("emergency", "-c", d.conf).stdout
        self.assertRegex(text, "^emergency mode is on since 20.*Z: [0-9]+ URL checks a second; it begins above 200")
        self.assertRegex(text, r"\nevil.example until 20.*Z, since 20.*Z: 20 URLs of list phish \(phish\)\n")
        wrong = gillnet("emergency", "lift", "other.example", "-c", d.conf, check=False)
        self.assertEqual((wrong.returncode, wrong.stdout), (65, ""))
        self.assertIn("other.example is not escalated", wrong.stderr)
        bad = gillnet("emergency", "lift", "a\nreload", "-c", d.conf, check=False)
        self.assertEqual(bad.returncode, 64)
        self.assertEqual(gillnet("emergency", "lift", "evil.example", "-c", d.conf).stdout, "")
        self.assertEqual(d.control("escalated"), "ok\n")

    def damaged(self, more):
        """gillnetd whose list has whole filters and a damaged index."""
        d = Daemon(CONFIG.replace("enter = 200.0;", "enter = 200.0; " + more))
        self.addCleanup(d.__exit__, None, None, None)
        names = pathlib.Path(d.folder, "phish.txt")
        names.write_text("".join(f"bad{n}.example\n" for n in range(2000)))
        gillnet("list", "import", "phish", str(names), "-c", d.conf)
        index = max(pathlib.Path(d.state, "lists/phish").glob("index.*[0-9]"))
        index.write_bytes(b"x" * index.stat().st_size)
        return d.start()

    def test_index_damaged__waived__counts_in_the_mode_and_says_unverified(self):
        d = self.damaged("unverified = true;")
        self.assertEqual(symbols(scan(d, "http://bad7.example/")), {})
        self.enter(d)
        got = scan(d, "http://bad7.example/ http://good.example/")
        self.assertEqual(symbols(got), {"LIST_PHISH": "unverified, url_domain=bad7.example"})
        self.assertEqual((got["score"], got["limits"]), (6.0, ["unverified"]))
        self.assertEqual([x["status"] for x in got["lists"]], ["unverified"])
        self.assertEqual(symbols(scan(d, "http://good.example/")), {})
        self.check_unverified_mail(d)

    def check_unverified_mail(self, d):
        m = Mta(d.target)
        m.hello()
        answer = m.message(body=b"see http://bad7.example/ now\r\n")
        m.quit()
        headers = dict(answer.headers())
        self.assertIn("limit=unverified", headers["X-Gillnet-Status"])
        self.assertIn("LIST_PHISH(6.0)[unverified, url_domain=bad7.example]",
                      headers["X-Gillnet-Symbols"].replace("\n\t", " "))
        self.assertEqual(d.wait_line(m.qid)["limits"], "unverified")
        self.assertEqual(d.stat("limit_unverified"), 1)
        told = gillnet("explain", m.qid, "-c", d.conf).stdout
        self.assertIn("6.0 from LIST_PHISH (unverified, url_domain=bad7.example)", told)
        row = json.loads(gillnet("--json", "explain", m.qid, "-c", d.conf).stdout)
        self.assertIn("unverified", json.dumps(row))

    def test_index_damaged__not_waived__nothing_counts(self):
        d = self.damaged("")
        self.enter(d)
        self.assertEqual(symbols(scan(d, "http://bad7.example/")), {})

    def test_off__by_configuration__never_on(self):
        d = self.daemon(CONFIG.replace("enter = 200.0;", "enter = 200.0; enabled = false;"))
        with Load(d, 0.1):
            d.wait_for(lambda: d.stat("emergency_rate") > 200, "the rate", 40)
        self.assertFalse(self.is_on(d))


if __name__ == "__main__":
    unittest.main()
