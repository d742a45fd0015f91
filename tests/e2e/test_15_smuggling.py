"""SMTP smuggling (CVE-2023-51764): an end of data that only one of two servers believes.

gillnetd sees what the MTA made of the bytes. With the setting that the README asks for it is one
message. With Debian's default it may be two, and each must get its own verdict.
"""

import message

LISTS = [("phish", 6.5, ["domain:" + message.LISTED])]
# what stands around the dot; the standard knows only CR LF at both sides
ENDS = [b"\n.\r\n", b"\n.\n", b"\r\n.\n", b"\r.\r\n", b"\r\n.\r", b"\r.\r", b"\n.\r"]


def smuggled(end, number):
    """A message with a second one behind a false end of data. Only the second has the listed link."""
    outer = message.build("outer-%d" % number)[:-2]
    inner = message.listed("inner-%d" % number)
    return (outer + end + b"MAIL FROM:<ceo@sender.example>\r\nRCPT TO:<in-%d@rcpt.example>\r\nDATA\r\n" % number
            + inner + b".\r\nQUIT\r\n")


def play(mta, end, number):
    """Sends it. Returns how many messages the MTA took."""
    with mta.client() as client:
        client.expect("MAIL FROM:<alice@sender.example>")
        client.expect("RCPT TO:<out-%d@rcpt.example>" % number)
        client.expect("DATA", "354")
        client.sock.sendall(smuggled(end, number))
        taken = 0
        while not (reply := client.reply()).startswith(("221", "421")):
            taken += reply.startswith("250 2.0.0")
        return taken


def word(raw):
    return message.values(raw, "X-Gillnet-Status")[0].split(",")[0]


def verdicts(env, **options):
    """For each end of data: how many messages the MTA took, and the verdict on each."""
    with env.gillnet(lists=LISTS) as g, env.mta(g, **options) as mta:
        for number, end in enumerate(ENDS):
            taken = play(mta, end, number)
            arrived = []
            for rcpt in ["out", "in"][:taken]:
                arrived += mta.sink.wait("%s-%d@rcpt.example" % (rcpt, number))
            yield end, taken, [word(raw) for raw in arrived]


def test_smuggled__mta_as_the_readme_says__one_message_with_all_of_it(env):
    options = {}  # Debian's Sendmail refuses a bare LF
    if env.is_postfix():
        # by default the client's network is excepted
        options["extra"] = "smtpd_forbid_bare_newline = normalize\nsmtpd_forbid_bare_newline_exclusions =\n"
    for end, taken, words in verdicts(env, **options):
        refused = not env.is_postfix() and taken == 0
        assert refused or (taken, words) == (1, ["Yes"]), (end, taken, words)


def test_smuggled__postfix_as_debian_has_it__each_has_its_own_verdict(env):
    if not env.is_postfix():
        return
    found = list(verdicts(env))
    for end, taken, words in found:
        assert words == (["No", "Yes"] if taken > 1 else ["Yes"]), (end, taken, words)
    assert any(taken > 1 for _, taken, _ in found), "Debian's Postfix is safe now: the README may say so"
