"""Bulk rules in gillnetd: senders and networks, actions for bulk alone, newsletters, reload."""
import pathlib
import unittest

from daemon import Daemon, ROOT
from mta import Mta

TEXT = b"Dear customer, buy ten of these fine and cheap pills today before they are gone.\r\n"
RULE = 'rules = ( { name = "same"; type = "text"; count = 3; score = 20.0; %s } );\n'
PROOF = ("Authentication-Results", "mx.our.example; dmarc=pass header.from=news.example")
FROM = ("From", "The news <news@news.example>")


def send(daemon, address="192.0.2.10", headers=(FROM,), body=TEXT, sender="<a@sender.example>"):
    m = Mta(daemon.target)
    assert m.hello(address=address) == "c"
    answer = m.message(headers=headers, body=body, sender=sender)
    m.quit()
    return answer


def symbols(answer):
    return dict(answer.headers())["X-Gillnet-Symbols"]


class Bulk(unittest.TestCase):
    def daemon(self, config):
        d = Daemon(config).start()
        self.addCleanup(d.__exit__, None, None, None)
        return d

    def test_networks__wanted__bulk_from_the_third_on(self):
        d = self.daemon(RULE % "networks = 3;")
        for n in range(6):
            self.assertNotIn("BULK", symbols(send(d, f"192.0.{n % 2}.{n}")))
        answer = send(d, "198.51.100.1")
        self.assertIn("BULK_SAME(20.0)", symbols(answer))
        self.assertTrue(answer.status().startswith("Yes, action=header"), answer.status())
        self.assertEqual(d.stat("bulk_confirmed"), 1)

    def test_bulk_alone__rejects_only_in_so_many_words(self):
        harsh = "thresholds = { header = 5.0; quarantine = 10.0; reject = 15.0; };\n" + RULE % ""
        d = self.daemon(harsh)
        for _ in range(2):
            self.assertEqual(send(d).status()[:17], "No, action=accept")
        answer = send(d)
        self.assertEqual((answer.code, answer.quarantine), ("c", None))
        self.assertTrue(answer.status().startswith("Yes, action=header score=20.0"))
        for word, code in (("quarantine", "c"), ("reject", "y"), ("header", "c")):
            d.write(f'bulk_alone = "{word}";\n' + harsh)
            self.assertTrue(d.control("reload").startswith("ok"))
            answer = send(d)
            self.assertEqual((answer.code, answer.quarantine is not None),
                             (code, word == "quarantine"), word)

    def test_newsletter__proved__scores_nothing__forged__does(self):
        d = self.daemon('trusted_authserv = [ "mx.our.example" ];\n' + RULE % "")
        for _ in range(2):
            send(d, headers=(PROOF, FROM))
        answer = send(d, headers=(PROOF, FROM))
        self.assertIn("BULK_SAME(0.0)", symbols(answer))
        self.assertIn("NEWSLETTER(0.0)", symbols(answer))
        self.assertTrue(answer.status().startswith("No"), answer.status())
        forged = ("Authentication-Results", "mx.evil.example; dmarc=pass header.from=news.example")
        for headers in ((FROM,), (forged, FROM)):
            answer = send(d, headers=headers)
            self.assertIn("BULK_SAME(20.0)", symbols(answer))
            self.assertNotIn("NEWSLETTER", symbols(answer))

    def test_newsletter__of_many_names__is_none(self):
        d = self.daemon('trusted_authserv = [ "mx.our.example" ];\n' + RULE % "")
        for n in range(5):
            proof = (PROOF[0], f"mx.our.example; dmarc=pass header.from=n{n}.example")
            answer = send(d, headers=(proof, ("From", f"<a@n{n}.example>")))
        self.assertIn("BULK_SAME(20.0)", symbols(answer))

    def test_allowed__meets_no_rule(self):
        d = self.daemon('allow = { networks = [ "192.0.2.0/24" ]; };\n' + RULE % "")
        for _ in range(4):
            self.assertNotIn("BULK", symbols(send(d)))
        self.assertIn("BULK_SAME", symbols(send(d, "198.51.100.1")))  # what was let through counts

    def test_shipped_rules_of_counts__by_themselves__mark_nothing(self):
        d = self.daemon(pathlib.Path(ROOT, "conf/rules.d/bulk.conf").read_text())
        # different words: with few of them the number of shingles, which is estimated, decides by chance of the keys
        body = TEXT * 3 + b"".join(b"%c%cword and so on, " % (97 + n // 26, 97 + n % 26) for n in range(40)) + b"\r\n"
        for n in range(60):
            answer = send(d, f"192.0.{n}.1", headers=(("From", f"<a@n{n}.example>"),), body=body)
        self.assertIn("BULK_REPLICA(1.5)", symbols(answer))
        self.assertIn("BULK_TEXT(1.0)", symbols(answer))
        self.assertIn("BULK_BODY(0.5)", symbols(answer))
        self.assertTrue(answer.status().startswith("No, action=accept score=3.0"), answer.status())

    def test_counting_off__no_rule_applies(self):
        d = self.daemon("count = { messages_per_day = 0; };\n" + RULE % "")
        for _ in range(5):
            self.assertNotIn("BULK", symbols(send(d)))


if __name__ == "__main__":
    unittest.main()
