"""Delivered messages are unchanged: compared with the same MTA without a milter, byte by byte."""

import message

BASE = b"From: Alice <alice@sender.example>\r\nTo: bob@rcpt.example\r\n" \
       b"Date: Sat, 21 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1@sender.example>\r\n"


def big_body():
    line = bytes(33 + (i * 7) % 94 for i in range(76)) + b"\r\n"
    return line * (2 * 1024 * 1024 // len(line))


MESSAGES = {
    "plain": BASE + b"Subject: a\r\n\r\nhello\r\n",
    "8 bit": BASE + "Subject: Grüße\r\nX-Utf: žluťoučký\r\n\r\nÄ body in UTF-8 …\r\n".encode()
        + bytes(range(0xA0, 0x100)) + b"\r\n",
    "8 bit headers": BASE + b"Subject: \xe4\xf6\xfc \xff\xfe\r\nX-Latin: caf\xe9\r\n\r\nx\r\n",
    "long lines": BASE + b"Subject: long\r\nX-Long: " + b"y" * 900 + b"\r\n\r\n"
        + (b"z" * 990 + b"\r\n") * 5,
    "folded": BASE + b"Subject: one\r\n two\r\n\tthree\r\n  \tfour\r\nX-Fold:\r\n below\r\n"
        b"X-Deep: a" + b"\r\n b" * 100 + b"\r\n\r\nx\r\n",
    "odd spaces": BASE + b"Subject:none\r\nX-Two:  two\r\nX-Tab:\tone\r\nX-Trail: end  \r\n"
        b"X-Empty:\r\nX-Blank: \r\n\r\nx\r\n",
    "repeated": BASE + b"".join(b"X-Dup: %d\r\nReceived: from a by b; %d\r\n" % (i, i)
                                for i in range(10)) + b"Subject: d\r\n\r\nx\r\n",
    "dots": BASE + b"Subject: dots\r\n\r\n.\r\n..\r\n.x\r\n...\r\nx.\r\n.\r\n",
    "no body": BASE + b"Subject: no body\r\n\r\n",
    "no separator": BASE + b"Subject: no separator\r\n",
    "trailing": BASE + b"Subject: trailing\r\n\r\nspaces   \r\ntabs\t\t\r\n   \r\n\r\n\r\n\r\n",
    "from line": BASE + b"Subject: From\r\n\r\nFrom here on\r\n>From there\r\n",
    "mime": BASE + b"Subject: mime\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/mixed; boundary="b"\r\n\r\npreamble\r\n--b\r\n\r\n'
        b"http://www.evil.example/x\r\n--b\r\nContent-Transfer-Encoding: base64\r\n"
        b'Content-Disposition: attachment; filename="a.exe"\r\n\r\nAAEC\r\n--b--\r\nend\r\n',
    "broken mime": BASE + b"Subject: broken\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: multipart/mixed; boundary=\r\nContent-Type: text/html\r\n\r\n--\r\n<a\r\n",
    "2 MB": BASE + b"Subject: big\r\n\r\n" + big_body(),
}


def deliver_all(mta):
    """name -> message as the sink got it, without what differs from delivery to delivery."""
    delivered = {}
    with mta.client() as client:
        for i, (name, raw) in enumerate(MESSAGES.items()):
            client.expect("MAIL FROM:<alice@sender.example> BODY=8BITMIME")
            client.expect("RCPT TO:<m%d@rcpt.example>" % i)
            reply = client.data(raw)
            assert reply.startswith("250"), (name, reply)
    for i, name in enumerate(MESSAGES):
        delivered[name] = mta.sink.wait("m%d@rcpt.example" % i)[0]
    return delivered


def test_message__with_and_without_gillnetd__is_the_same(env):
    with env.mta() as mta:
        plain = {name: message.without_own(raw) for name, raw in deliver_all(mta).items()}
    config = "thresholds = { header = 5.0; };"
    lists = [("phish", 6.5, ["domain:" + message.LISTED])]
    with env.gillnet(config=config, lists=lists) as g, env.mta(g) as mta:
        filtered = deliver_all(mta)
    for name in MESSAGES:
        own = [n for n in message.names(filtered[name]) if n.startswith("x-gillnet")]
        assert len(own) == 3, (name, own)
        got = message.without_own(filtered[name])
        if got != plain[name]:
            at = next(i for i, (a, b) in enumerate(zip(got + b"\0", plain[name] + b"\0")) if a != b)
            raise AssertionError("%s differs at byte %d: %r, without gillnetd %r" % (
                name, at, got[at - 40:at + 40], plain[name][at - 40:at + 40]))
    assert b"Yes" in filtered["mime"] and b"Status: No" in filtered["plain"]


def test_message__postfix_leaves_bytes_alone__body_is_what_was_sent(env):
    """The comparison above would miss a change that the MTA makes in both; Postfix makes none."""
    if not env.is_postfix():
        return
    with env.gillnet() as g, env.mta(g) as mta:
        for name, raw in deliver_all(mta).items():
            sent = message.split(MESSAGES[name])[1]
            assert message.split(raw)[1] == sent, name
