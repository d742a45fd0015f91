"""Messages through the built gillnetd: the answer for every action, and bytes of every kind."""
import re
import unittest

from daemon import Daemon
from mta import CHUNK, Mta, apply

URL = "http://evil.example/x"
LISTS = {"phish": [URL, "listed.example"]}
# bulk is not the matter here: the same message goes through a hundred times
WEIGHT = 'rules = ();\nlists = ( { name = "phish"; weight = 6.0; } );\n'


class Actions(unittest.TestCase):
    def play(self, config, body=f"see {URL}\r\n".encode(), **kw):
        with Daemon(WEIGHT + config, lists=LISTS) as d:
            m = Mta(d.target, **kw)
            m.hello()
            a = m.message(body=body)
            m.quit()
            return a, d.wait_line(m.qid)

    def test_clean__accept(self):
        a, line = self.play("", b"nothing here\r\n")
        self.assertEqual(a.code, "c")
        self.assertEqual(a.headers(), [("X-Gillnet-Status", "No, action=accept score=0.0 required=5.0"),
                                       ("X-Gillnet-Score", "0.0"), ("X-Gillnet-Symbols", "-")])
        self.assertEqual((line["action"], line["symbols"], line["client"], line["from"],
                          line["nrcpt"], line["limits"]),
                         ("accept", "-", "client.example[192.0.2.10]", "<a@sender.example>", "1", "-"))

    def test_listed__header(self):
        a, line = self.play("")
        self.assertEqual(a.code, "c")
        self.assertEqual(a.headers()[0], ("X-Gillnet-Status", "Yes, action=header score=6.0 required=5.0"))
        self.assertEqual(a.headers()[1], ("X-Gillnet-Score", "6.0"))
        self.assertRegex(a.headers()[2][1], r"^LIST_PHISH\(6\.0\)\[url=evil\.example/x")
        self.assertEqual((line["action"], line["score"], line["symbols"]),
                         ("header", "6.0", "LIST_PHISH(6.0)[url=evil.example/x]"))

    def test_rules__header_and_log__highest_score_first_and_no_helpers(self):
        rules = '''lists = ( { name = "phish"; weight = 6.0; } ); shipped_rules = false; rules = (
            { name = "helper"; any = ( { text = "see"; } ); score = 0.0; },
            { name = "quiet"; any = ( { text = "see"; } ); score = 3.0; shadow = true; },
            { name = "low"; any = ( { rule = "helper"; } ); score = 0.5; },
            { name = "high"; any = ( { rule = "helper"; } ); score = 7.0; } );'''
        with Daemon(rules, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            a = m.message(body=f"see {URL}\r\n".encode())
            m.quit()
            line = d.wait_line(m.qid)
        shown = re.sub(r"\[[^]]*\]", "", a.headers()[2][1].replace("\n\t", " "))
        self.assertEqual(shown, "RULE_HIGH(7.0), LIST_PHISH(6.0), RULE_LOW(0.5), RULE_QUIET(0.0)")
        self.assertEqual(re.sub(r"\[[^]]*\]", "", line["symbols"]), shown.replace(" ", ""))

    def test_listed__quarantine(self):
        a, line = self.play("thresholds: { quarantine = 6.0; };")
        self.assertEqual((a.code, a.quarantine), ("c", "gillnet: LIST_PHISH(6.0)"))
        self.assertEqual(a.status(), "Yes, action=quarantine score=6.0 required=6.0")
        self.assertEqual(line["action"], "quarantine")

    def test_listed__quarantine_not_offered__header(self):
        a, line = self.play("thresholds: { quarantine = 6.0; };", actions=0x1FF & ~0x20)
        self.assertEqual((a.code, a.quarantine), ("c", None))
        self.assertEqual(a.status(), "Yes, action=header score=6.0 required=6.0")
        self.assertEqual((line["action"], line["wanted"]), ("header", "quarantine"))

    def test_listed__defer(self):
        a, _ = self.play('thresholds: { defer = 6.0; }; defer_text = "later {id} 50%";')
        self.assertEqual(a.code, "y")
        self.assertRegex(a.text, r"^451 4\.7\.1 later \S+ 50%%$")
        self.assertEqual(a.headers(), [])

    def test_listed__reject(self):
        a, line = self.play('thresholds: { reject = 6.0; }; reject_text = "no {symbols} {id}";')
        self.assertEqual((a.code, a.text),
                         ("y", f"550 5.7.1 no LIST_PHISH(6.0) {line['qid']}"))

    def test_listed__discard(self):
        a, line = self.play("thresholds: { discard = 6.0; };")
        self.assertEqual((a.code, line["action"]), ("d", "discard"))

    def test_nothing_useful_offered__accept(self):
        a, line = self.play("", actions=0x2, steps=0)  # 0 would mean version 1's actions
        self.assertEqual((a.code, a.headers(), line["wanted"]), ("c", [], "header"))

    def test_every_negotiation__same_verdict(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            for bit in range(-1, 21):
                steps = 0x1FFFFF if bit < 0 else 0x1FFFFF & ~(1 << bit)
                m = Mta(d.target, steps=steps)
                m.hello()
                a = m.message(body=f"see {URL}\r\n".encode())
                self.assertEqual(a.status(), "Yes, action=header score=6.0 required=5.0", bit)
                m.quit()

    def test_inet__same_with_data_answered(self):
        with Daemon(WEIGHT, target="inet:127.0.0.1:18895", lists=LISTS) as d:
            m = Mta(d.target)
            self.assertTrue(m.wants("T") and m.replies("T"))
            self.assertFalse(m.replies("L"))
            m.hello()
            a = m.message(body=f"see {URL}\r\n".encode())
            self.assertEqual(a.status(), "Yes, action=header score=6.0 required=5.0")
            m.quit()


class Bytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(WEIGHT, lists=LISTS).start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__(None, None, None)

    def setUp(self):
        self.mta = Mta(self.daemon.target)
        self.mta.hello()

    def tearDown(self):
        self.mta.quit()

    def test_body_cut_at_every_byte_of_a_url__same_answer(self):
        html = b'<p><a href="' + URL.encode() + b'">x</a> und t\xc3\xa9xt</p>\r\n'
        headers = [("Content-Type", "text/html; charset=utf-8")]
        whole = self.mta.message(headers, html).key()
        self.assertIn("LIST_PHISH", str(whole))
        for at in range(1, len(html)):
            self.assertEqual(self.mta.message(headers, html, cuts=(at,)).key(), whole, at)
        every = tuple(range(1, len(html)))
        self.assertEqual(self.mta.message(headers, html, cuts=every).key(), whole)

    def test_base64_and_multipart_cut_everywhere__same_answer(self):
        import base64
        part = base64.encodebytes(f"see {URL} now".encode()).replace(b"\n", b"\r\n")
        body = (b"--b1\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
                part + b"--b1--\r\n")
        headers = [("Content-Type", 'multipart/mixed; boundary="b1"')]
        whole = self.mta.message(headers, body).key()
        self.assertIn("LIST_PHISH", str(whole))
        for at in range(1, len(body)):
            self.assertEqual(self.mta.message(headers, body, cuts=(at,)).key(), whole, at)

    def test_several_messages__each_its_own_answer(self):
        for i in range(20):
            listed = i % 3 == 0
            a = self.mta.message(body=f"see {URL}\r\n".encode() if listed else b"x\r\n")
            self.assertEqual(a.status().startswith("Yes"), listed)

    def test_header_lengths_to_the_packet_limit__accepted(self):
        for n in (998, 60000, 65535 - 1 - len("X-Long") - 2):
            a = self.mta.message([("X-Long", "v" * n), ("Subject", "x")],
                                 f"see {URL}\r\n".encode())
            self.assertEqual(a.status()[:3], "Yes")

    def test_nul_bare_lf_bare_cr_8bit__accepted_and_examined(self):
        for body in (f"a\0b {URL} \0\r\n".encode(), f"a\nb\n{URL}\n.\n".encode(),
                     f"a\rb\r{URL}\r".encode(), b"\xff\xfe\x80 " + URL.encode() + b" \xe4\r\n"):
            a = self.mta.message([("Subject", b"\xff\x80 caf\xe9"), ("X-Nul", b"a\0b")], body)
            self.assertEqual(a.status()[:3], "Yes", body)

    def test_empty_message__accepted(self):
        a = self.mta.message([], b"")
        self.assertEqual((a.code, a.status()), ("c", "No, action=accept score=0.0 required=5.0"))

    def test_body_of_several_chunks__url_across_the_border(self):
        body = b"x" * (CHUNK - 10) + b"\r\n " + URL.encode() + b"\r\n"
        a = self.mta.message(body=body)
        self.assertEqual(a.status()[:3], "Yes")

    def test_header_values__printable_and_folded(self):
        domains = [f"d{i}.listed.example" for i in range(60)]
        body = "\r\n".join(f"http://{d}/" for d in domains).encode()
        a = self.mta.message(body=body)
        for _, value in a.headers():
            self.assertRegex(value, r"\A[\x20-\x7e]*(\n\t[\x20-\x7e]*)*\Z")
            self.assertLess(len(value), 1000)

    def test_untrusted_text_in_the_log__escaped(self):
        a = self.mta.message([("Message-ID", "<a b\tc\x1b[31m@x>")], b"x\r\n",
                             sender="<a\nb action=reject\"\x7f@x>")
        self.assertEqual(a.code, "c")
        line = self.daemon.wait_line(self.mta.qid)
        self.assertEqual(line["action"], "accept")
        self.assertNotIn("\x1b", self.daemon.log())
        self.assertIn("\\x0a", line["from"])

    def test_forged_headers_any_case_any_number__all_deleted(self):
        names = ["X-Gillnet-Status", "x-gillnet-status", "X-GILLNET-SCORE", "X-Gillnet-Symbols",
                 "X-gillnet-Other"]
        for n in (1, 2, 5, 20):
            headers = [("Subject", "s")]
            for i in range(n):
                headers.append((names[i % len(names)], f"forged {i}"))
                headers.append((f"X-Keep-{i}", "k"))
            a = self.mta.message(headers)
            left = apply(headers, a)
            own = [v for k, v in left if k.lower().startswith("x-gillnet-")]
            self.assertEqual(len(own), 3)
            self.assertFalse([v for v in own if "forged" in v])
            self.assertEqual([k for k, _ in left if k.startswith("X-Keep")],
                             [f"X-Keep-{i}" for i in range(n)])
            self.assertEqual(self.daemon.wait_line(self.mta.qid)["stripped"], str(n))


class Skips(unittest.TestCase):
    def test_trusted_network_and_login__not_examined_but_stripped(self):
        config = WEIGHT + 'trusted_networks = [ "198.51.100.0/24", "2001:db8::/32" ];'
        body = f"see {URL}\r\n".encode()
        forged = [("X-Gillnet-Status", "No")]
        with Daemon(config, lists=LISTS) as d:
            for address, family, macros, reason in (
                    ("198.51.100.7", "4", {}, "network"),
                    ("2001:db8::1", "6", {}, "network"),
                    ("192.0.2.1", "4", {"auth_authen": "u"}, "login"),
                    ("192.0.2.1", "4", {"auth_type": "PLAIN"}, "login"),
                    ("192.0.2.1", "4", {}, None), (None, "U", {}, None)):
                m = Mta(d.target)
                m.hello(address, family=family)
                a = m.message(forged, body, **macros)
                self.assertEqual((a.code, a.deleted), ("c", [("X-Gillnet-Status", 1)]))
                self.assertEqual(a.headers() == [], reason is not None)
                self.assertEqual(d.wait_line(m.qid).get("reason"), reason)
                m.quit()


if __name__ == "__main__":
    unittest.main()
