"""Outgoing mail through the built gillnetd: what it learns, what kill -9 leaves, who sends too much."""
import os
import random
import re
import threading
import time
import unittest

from daemon import Daemon, gillnet
from mta import Closed, Mta

URL = "http://evil.example/x"
LISTS = {"l": [URL]}
CONFIG = ('rules = ();\ntrusted_authserv = [ "mx.our.example" ];\n'
          'trusted_networks = [ "198.51.100.0/24" ];\n'
          'lists = ( { name = "l"; category = "%s"; weight = 6.0; } );\n')
PROOF = ("Authentication-Results", "mx.our.example; dmarc=pass header.from=their.example")
BOB = "bob@their.example"
ANN = "ann@our.example"
KILLS = int(os.environ.get("GILLNET_KILLS", "10"))


def play(m, sender, rcpts, headers=(), body=b"hello there\r\n", user=None):
    """One message; its answer."""
    assert m.mail(f"<{sender}>", **({"auth_authen": user, "auth_type": "PLAIN"} if user else {})) == "c"
    for rcpt in rcpts:
        assert m.rcpt(f"<{rcpt}>") == "c"
    assert m.data() == "c"
    for name, value in headers:
        assert m.header(name, value) == "c"
    assert m.end_headers() == "c"
    assert m.body(body) in "cs"
    return m.end()


def client(d, address="192.0.2.10"):
    m = Mta(d.target)
    m.hello(address=address)
    return m


def send(d, rcpt=BOB, headers=(), sender=ANN, user="ann", address="192.0.2.10"):
    m = client(d, address)
    a = play(m, sender, [rcpt], [("From", sender), *headers], user=user)
    m.quit()
    return a


def receive(d, headers=(), sender=BOB, rcpt=ANN, proof=(PROOF,), body=f"see {URL}\r\n".encode()):
    """The symbols of a message from outside."""
    m = client(d)
    a = play(m, sender, [rcpt], [*proof, ("From", sender), *headers], body)
    m.quit()
    symbols = dict(a.headers()).get("X-Gillnet-Symbols", "")
    return re.findall(r"[A-Z_]+\([-0-9.]+\)", symbols)


class Learnt(unittest.TestCase):
    def test_sent_to__answers__take_score_away(self):
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            self.assertEqual(receive(d), ["LIST_L(6.0)"])
            a = send(d, headers=[("Message-ID", "<1@our.example>")])
            self.assertEqual((a.code, a.headers(), a.quarantine), ("c", [], None))
            self.assertEqual(receive(d), ["LIST_L(6.0)", "KNOWN_CORRESPONDENT(-2.0)"])
            reply = [("In-Reply-To", "<1@our.example>")]
            self.assertEqual(receive(d, reply),
                             ["LIST_L(6.0)", "ANSWER(-3.0)", "KNOWN_CORRESPONDENT(0.0)"])
            # without proof, to somebody else's domain, by another sender, to another message
            self.assertEqual(receive(d, proof=()), ["LIST_L(6.0)"])
            self.assertEqual(receive(d, rcpt="ann@else.example"), ["LIST_L(6.0)"])
            self.assertEqual(receive(d, reply, sender="eve@their.example"), ["LIST_L(6.0)"])
            self.assertEqual(receive(d, [("References", "<2@our.example>")], proof=()), ["LIST_L(6.0)"])
            self.assertEqual(d.stat("outgoing_messages"), 1)

    def test_grave_hit__nothing_is_taken_away(self):
        for category in ["phish", "malware"]:
            with Daemon(CONFIG % category, lists=LISTS) as d:
                send(d, headers=[("Message-ID", "<1@our.example>")])
                self.assertEqual(receive(d, [("In-Reply-To", "<1@our.example>")]),
                                 ["LIST_L(6.0)", "ANSWER(0.0)", "KNOWN_CORRESPONDENT(0.0)"])

    def test_no_person_wrote__nothing_is_learnt(self):
        rows = [{"headers": [("Auto-Submitted", "auto-replied")]}, {"headers": [("Precedence", "bulk")]},
                {"headers": [("List-Id", "<l.our.example>")]},
                {"headers": [("Content-Type", "multipart/report; report-type=disposition-notification")]},
                {"sender": ""}, {"user": None}]
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            for row in rows:
                send(d, **row)
                self.assertEqual(receive(d), ["LIST_L(6.0)"], row)
            send(d, rcpt="carl@our.example")  # of one's own domain nobody is a correspondent
            self.assertEqual(receive(d, sender="carl@our.example", proof=[
                ("Authentication-Results", "mx.our.example; dmarc=pass header.from=our.example")]),
                ["LIST_L(6.0)"])

    def test_trusted_network__is_outgoing_too(self):
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            send(d, user=None, address="198.51.100.7")
            self.assertEqual(receive(d), ["LIST_L(6.0)", "KNOWN_CORRESPONDENT(-2.0)"])

    def test_off__by_either_name__a_login_is_examined_and_teaches_nothing(self):
        for key in ["outgoing", "skip_authenticated"]:
            with Daemon(CONFIG % "spam" + f"{key} = false;", lists=LISTS) as d:
                self.assertIn("X-Gillnet-Status", dict(send(d).headers()))
                self.assertEqual(receive(d), ["LIST_L(6.0)"])

    def test_check__beside_gillnetd__knows_what_it_learnt(self):
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            mail = f"{PROOF[0]}: {PROOF[1]}\nFrom: {BOB}\nIn-Reply-To: <1@our.example>\n\nhello\n"
            ask = ["check", "-c", d.conf, "--rcpt", ANN, "-"]
            self.assertIn("sender: results, dmarc_pass, proved, first_contact\n",
                          gillnet(*ask, input=mail).stdout)
            send(d, headers=[("Message-ID", "<1@our.example>")])
            out = gillnet(*ask, input=mail).stdout
            self.assertIn("sender: results, dmarc_pass, proved, correspondent, answer\n", out)
            self.assertIn("ANSWER -3 ", out)

    def test_outgoing__is_counted_apart(self):
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            body = b"The same words in each of these messages, more than ten of them here.\r\n"
            m = client(d)
            for i in range(3):
                play(m, ANN, [BOB], [("From", ANN)], body, user="ann")
            m.quit()
            self.assertEqual(d.stat("count_messages"), 3)
            mail = f"From: {ANN}\n\n" + body.decode()
            out = gillnet("check", "--json", "-c", d.conf, "-", input=mail).stdout
            self.assertNotIn('"1d":3', out.replace(" ", ""))


class Killed(unittest.TestCase):
    """What was answered is there after kill -9, wherever it fell."""

    def run_until_killed(self, d, first):
        """Sends to one stranger after the other; the number of those that were answered."""
        number = [first]

        def sender():
            m = None
            try:
                m = client(d)
                while True:
                    play(m, ANN, [f"p{number[0]}@their.example"], [("From", ANN)], user="ann")
                    number[0] += 1
            except (Closed, OSError):
                if m:
                    m.close()

        t = threading.Thread(target=sender)
        t.start()
        if random.random() < 0.75:  # else perhaps before the first answer
            d.wait_for(lambda: number[0] > first, "the first answer")
        time.sleep(random.uniform(0, 0.2))
        d.kill()
        t.join()
        return number[0]

    def test_kill_9__nothing_answered_is_lost(self):
        n = 0
        with Daemon(CONFIG % "spam" + "account = { recipients = 1000000; };", lists=LISTS) as d:
            for _ in range(KILLS):
                before, n = n, self.run_until_killed(d, n)
                d.start()
                for i in range(max(0, before - 20), n):
                    symbols = receive(d, sender=f"p{i}@their.example")
                    self.assertIn("KNOWN_CORRESPONDENT(-2.0)", symbols, f"p{i} of {n}")
        self.assertGreater(n, KILLS // 2)


class Accounts(unittest.TestCase):
    LIMIT = "account = { recipients = 5; action = \"%s\"; };"

    def flood(self, d, n=8):
        m = client(d)
        answers = [play(m, ANN, [f"p{i}@s{i}.example"], [("From", ANN)], user="ann") for i in range(n)]
        m.quit()
        return answers

    def test_warn__is_said_and_nothing_else(self):
        with Daemon(CONFIG % "spam" + self.LIMIT % "warn", lists=LISTS) as d:
            answers = self.flood(d)
            self.assertEqual({(a.code, a.quarantine) for a in answers}, {("c", None)})
            d.wait_log("user=ann strangers=6 most=5")
            d.wait_log("account ann sends to 6 strangers")
            self.assertEqual(d.stat("account_alerts"), 1)
            self.assertEqual(d.stat("outgoing_strangers"), 8)
            d.wait_for(lambda: "account ann sends to 8 strangers today" in
                       gillnet("stat", "-c", d.conf, check=False).stdout, "the fault")

    def test_hold_and_defer__only_above_the_limit(self):
        for action, want in [("hold", ("c", True)), ("defer", ("y", False))]:
            with Daemon(CONFIG % "spam" + self.LIMIT % action, lists=LISTS) as d:
                answers = self.flood(d)
                self.assertEqual({(a.code, a.quarantine is not None) for a in answers[:5]},
                                 {("c", False)}, action)
                self.assertEqual({(a.code, a.quarantine is not None) for a in answers[5:]},
                                 {want}, action)
                # held mail makes no correspondent
                proof = ("Authentication-Results", "mx.our.example; dmarc=pass header.from=s7.example")
                self.assertEqual(receive(d, sender="p7@s7.example", proof=[proof]), ["LIST_L(6.0)"])

    def test_restart__numbers_stay(self):
        with Daemon(CONFIG % "spam" + self.LIMIT % "defer", lists=LISTS) as d:
            self.flood(d, 6)
            d.stop()
            d.start()
            self.assertEqual(send(d, rcpt="new@s9.example").code, "y")

    def test_bounces__are_counted_for_the_login(self):
        with Daemon(CONFIG % "spam" + self.LIMIT % "warn", lists=LISTS) as d:
            self.flood(d, 1)
            receive(d, sender="", rcpt=ANN, proof=())
            m = client(d)
            for i in range(6):
                play(m, ANN, [f"q{i}@s.example"], [("From", ANN)], user="ann")
            m.quit()
            d.wait_log(" bounces=1 ")


if __name__ == "__main__":
    unittest.main()
