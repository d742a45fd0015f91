"""quickstart-mail - passes three messages to gillnetd at SOCKET as an MTA would, and shows the verdicts.

    quickstart-mail.py inet:HOST:PORT|unix:PATH

Exit status: 0 the three verdicts are the expected ones, 1 one is not.
"""

import os
import sys
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tests", "integ", "milter"))

from mta import Mta  # noqa: E402

WORDS = {"a": "accepted", "c": "accepted", "r": "rejected", "t": "deferred", "y": "rejected",
         "d": "discarded"}

MESSAGES = [
    ("a clean one", "accepted", "No", "alice@example.com", "Lunch?",
     "See http://www.example.com/menu and tell me."),
    ("one with a listed URL", "rejected", None, "service@example.com", "Your account",
     "Please confirm: http://login.bank.example.net/verify"),
    ("one from a listed sender domain", "accepted", "Yes", "news@bulk.example.com", "Offers",
     "Nothing listed in here."),
]


def show(what, word, answer):
    print("   %-32s -> %s" % (what, word))
    if answer.text:
        print("      SMTP reply: " + answer.text)
    for name, value in answer.headers():
        text = "%s: %s" % (name, " ".join(value.split()))
        print(textwrap.fill(text, 100, initial_indent="      ", subsequent_indent="         "))


def main():
    good = True
    mta = Mta(sys.argv[1])
    mta.hello()
    for i, (what, expected, status, sender, subject, body) in enumerate(MESSAGES):
        headers = [("From", sender), ("To", "bob@example.org"), ("Subject", subject),
                   ("Message-ID", "<%d@example.com>" % i)]
        answer = mta.message(headers, body.encode() + b"\r\n", sender="<%s>" % sender)
        word = WORDS.get(answer.code, "unexpected answer " + answer.code)
        good = good and word == expected and (
            status is None or (answer.status() or "").startswith(status))
        if word == "accepted" and (answer.status() or "").startswith("Yes"):
            word = "accepted, tagged"
        show(what, word, answer)
    return 0 if good else 1


sys.exit(main())
