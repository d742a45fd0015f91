"""Reports that come by mail, through the built gillnetd: who may report, and what becomes of it."""
import json
import re
import unittest

from daemon import Daemon, gillnet
from test_correspondents import ANN, BOB, PROOF, client, play, receive

SPAM_TO, HAM_TO = "spam@our.example", "ham@our.example"
CONFIG = ('trusted_authserv = [ "mx.our.example" ];\ntrusted_networks = [ "198.51.100.0/24" ];\n'
          'protected = [ "our.example" ];\ntraps = [ "old.user@our.example", "@trap.example" ];\n'
          f'report_addresses = {{ spam = [ "{SPAM_TO}" ]; ham = [ "{HAM_TO}" ]; }};\n'
          'feedback = { senders = [ "provider.example" ]; };\n')
REPORTED = (b"Message-ID: <bad@evil.example>\r\nFrom: eve@evil.example\r\nSubject: buy\r\n\r\n"
            b"buy at http://evil.example/offer/17 now\r\n")
FBL_PROOF = ("Authentication-Results", "mx.our.example; dmarc=pass header.from=provider.example")


def multipart(subtype, *parts):
    """The Content-Type field and the body of parts: (type, bytes)."""
    body = b"".join(b"--b\r\nContent-Type: %s\r\n\r\n%s\r\n" % (kind.encode(), text) for kind, text in parts)
    return ("Content-Type", f"multipart/{subtype}; boundary=b"), body + b"--b--\r\n"


def forward(*messages):
    return multipart("mixed", ("text/plain", b"look"), *[("message/rfc822", m) for m in messages])


def abuse(kind="abuse", mail_from="eve@evil.example", reported=REPORTED):
    fields = f"Feedback-Type: {kind}\r\nVersion: 1\r\nOriginal-Mail-From: <{mail_from}>\r\n"
    return multipart("report; report-type=feedback-report", ("text/plain", b"report"),
                     ("message/feedback-report", fields.encode()), ("message/rfc822", reported))


def bounce(status="5.7.1", rcpt=BOB, message_id="out@our.example"):
    fields = f"Reporting-MTA: dns; mx\r\n\r\nFinal-Recipient: rfc822; {rcpt}\r\nAction: failed\r\nStatus: {status}\r\n"
    return multipart("report; report-type=delivery-status", ("text/plain", b"sorry"),
                     ("message/delivery-status", fields.encode()),
                     ("text/rfc822-headers", f"Message-ID: <{message_id}>\r\n".encode()))


def mail(d, rcpts, form=None, sender=BOB, headers=(), user=None, address="192.0.2.10", body=REPORTED):
    m = client(d, address)
    kind, body = form or (None, body)
    a = play(m, sender, rcpts, [("From", sender), *headers, *([kind] if kind else [])], body, user=user)
    m.quit()
    return a


class Case(unittest.TestCase):
    config = CONFIG

    def setUp(self):
        self.d = Daemon(self.config)
        self.addCleanup(self.d.__exit__, None, None, None)
        self.d.start()

    def reports(self, n):
        """The reports, once n mails were taken up or refused and a later mark was."""
        self.d.wait_for(lambda: self.d.stat("report_mail") + self.d.stat("report_mail_refused") >= n, f"{n} mails")
        mail(self.d, [SPAM_TO], forward(REPORTED), user="mark")
        found = self.d.wait_for(lambda: (r := self.seen()) and r[-1][1] == "user/mark" and r, "the mark")
        return found[:-1]

    def seen(self):
        return re.findall(r"event=report .*kind=(\S+) reporter=(\S+) way=(\S+)", self.d.log())


class Traps(Case):
    def test_mail_to_a_trap__is_reported_by_trap(self):
        a = mail(self.d, ["Old.User@our.example"])
        self.assertEqual((a.code, a.status()[:2]), ("c", "No"))
        self.assertEqual(self.reports(1), [("spam", "trap", "trap")])
        said = json.loads(gillnet("report", "list", "--json", "-c", self.d.conf).stdout.splitlines()[0])
        self.assertEqual(said["case"], a.case(), said)

    def test_trap_among_others__is_reported(self):
        mail(self.d, [ANN, "any@TRAP.example"])
        mail(self.d, [ANN, "any@sub.trap.example"])  # another domain
        mail(self.d, [ANN])
        self.assertEqual(self.reports(1), [("spam", "trap", "trap")])

    def test_own_user_or_correspondent__is_not_reported(self):
        mail(self.d, ["old.user@our.example"], sender=ANN, user="ann")
        mail(self.d, [BOB], sender="old.user@our.example", user="old")  # a trap that once wrote to bob
        receive(self.d, rcpt="old.user@our.example", body=b"hello\r\n")
        self.assertEqual(self.d.stat("report_mail_refused"), 2)
        receive(self.d, rcpt="old.user@our.example", body=b"hello\r\n", proof=())  # not proved
        self.assertEqual(self.reports(3), [("spam", "trap", "trap")])


class Addresses(Case):
    def test_logged_in_user__reports_what_is_attached(self):
        a = mail(self.d, [SPAM_TO], forward(REPORTED, REPORTED), sender=ANN, user="ann")
        self.assertEqual((a.code, a.headers()), ("c", []))
        mail(self.d, [HAM_TO], forward(REPORTED), sender=ANN, user="ann")
        self.assertEqual(self.reports(2), [("spam", "user/ann", "mail")] * 2 + [("ham", "user/ann", "mail")])

    def test_trusted_network__reports_by_its_address(self):
        mail(self.d, [SPAM_TO], forward(REPORTED), sender=ANN, address="198.51.100.7")
        self.assertEqual(self.reports(1), [("spam", "client/198.51.100.7", "mail")])

    def test_redirected__is_reported(self):
        mail(self.d, [SPAM_TO], sender=ANN, user="ann", headers=[("Resent-From", ANN), ("Subject", "buy")])
        self.assertEqual(self.reports(1), [("spam", "user/ann", "mail")])

    def test_nothing_attached__or_both_addresses__is_refused(self):
        mail(self.d, [SPAM_TO], sender=ANN, user="ann")
        mail(self.d, [SPAM_TO, HAM_TO], forward(REPORTED), sender=ANN, user="ann")
        self.assertEqual(self.reports(3), [])
        self.d.wait_log("reason=empty")

    def test_stranger__does_nothing(self):
        for form in [forward(REPORTED), abuse(), abuse("not-spam")]:
            for headers in [[], [PROOF], [("Authentication-Results", "evil.example; dmarc=pass")]]:
                a = mail(self.d, [SPAM_TO], form, headers=headers)
                self.assertEqual(a.code, "c")
        self.assertEqual(self.reports(9), [])
        self.assertEqual(self.d.stat("report_mail_refused"), 9)


class Providers(Case):
    def provider(self, form, proof=FBL_PROOF):
        mail(self.d, [SPAM_TO], form, sender="fbl@provider.example", headers=[proof] if proof else [])

    def test_proved_provider__reports_abuse_alone(self):
        self.provider(abuse())
        self.provider(abuse("not-spam"))
        self.provider(abuse("auth-failure"))
        self.provider(forward(REPORTED))
        self.provider(abuse(), proof=None)
        self.assertEqual(self.reports(5), [("spam", "feedback/provider.example", "feedback"),
                                           ("ham", "feedback/provider.example", "feedback")])

    def test_about_our_own_mail__counts_for_the_login(self):
        mail(self.d, [BOB], sender=ANN, user="ann", headers=[("Message-ID", "<out@our.example>")])
        self.provider(abuse(mail_from=ANN))
        self.assertEqual(self.reports(1), [])
        self.assertEqual(self.d.stat("account_complaints"), 1)
        self.d.wait_log(f"event=complaint address={ANN} reason=feedback")


class Bounces(Case):
    def test_refused_as_spam__counts_for_the_login_if_it_went_out(self):
        mail(self.d, [BOB], sender=ANN, user="ann", headers=[("Message-ID", "<out@our.example>")])
        for form in [bounce("5.1.1"), bounce(message_id="other@our.example"), bounce(rcpt="eve@their.example"),
                     bounce("4.7.1"), abuse(mail_from=ANN)]:
            mail(self.d, [ANN], form, sender="")
        self.assertEqual(self.reports(0), [])
        self.assertEqual(self.d.stat("account_complaints"), 0)
        mail(self.d, [ANN], bounce(), sender="")
        self.d.wait_for(lambda: self.d.stat("account_complaints") == 1, "the complaint")
        self.assertEqual(self.d.stat("report_mail_refused"), 0)


class Bounds(Case):
    def test_too_large__passes_and_is_dropped_with_a_fault(self):
        body = b"x" * 60000 + b"\r\n"
        m = client(self.d)
        assert m.mail(f"<{BOB}>") == "c" and m.rcpt("<a@trap.example>") == "c" and m.data() == "c"
        assert m.header("Subject", "big") == "c" and m.end_headers() == "c"
        for _ in range(9 * 1024 * 1024 // len(body)):
            self.assertIn(m.body(body), "cs")
        self.assertEqual(m.end().code, "c")
        m.quit()
        self.assertEqual(self.d.stat("report_mail_dropped"), 1)
        self.assertEqual(self.reports(0), [])

    def test_skip_of_the_body__is_not_asked_while_it_is_kept(self):
        body = b"--b\r\n\r\nx\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n" + REPORTED
        m = client(self.d, "198.51.100.7")
        assert m.mail(f"<{ANN}>") == "c" and m.rcpt(f"<{SPAM_TO}>") == "c" and m.data() == "c"
        assert m.header("Content-Type", "multipart/mixed; boundary=b") == "c" and m.end_headers() == "c"
        for i in range(0, len(body), 7):
            self.assertEqual(m.body(body[i:i + 7]), "c")
        self.assertEqual(m.body(b"\r\n--b--\r\n"), "c")
        m.end()
        m.quit()
        self.assertEqual(self.reports(1), [("spam", "client/198.51.100.7", "mail")])


    def test_stop__reports_what_waits(self):
        m = client(self.d)
        for i in range(20):
            play(m, BOB, ["a@trap.example"], body=REPORTED.replace(b"17", b"%d" % i))
        m.quit()
        self.d.stop()
        self.assertEqual(len(gillnet("report", "list", "-c", self.d.conf).stdout.splitlines()), 20)


class NotOutgoing(Bounds):
    config = CONFIG + "outgoing = false;\n"


if __name__ == "__main__":
    unittest.main()
