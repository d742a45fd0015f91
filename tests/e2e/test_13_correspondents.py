"""Mail goes out, its answer comes in: both through the MTA and gillnetd."""

import message

from test_05_skip import login

CONFIG = """
rules = ();
trusted_networks = [ "127.0.0.2/32" ];
trusted_authserv = [ "mx.our.example" ];
"""
LISTS = [("l", 6.0, ["domain:" + message.LISTED])]
ANN, BOB = "ann@our.example", "bob@rcpt.example"
PROOF = ("Authentication-Results", "mx.our.example; dmarc=pass header.from=rcpt.example")


def send(mta, sender, rcpt, raw, source=None, before=None):
    client = mta.client(source=source)
    try:
        if before:
            before(client)
        reply = client.send(raw, sender=sender, rcpt=rcpt)
        assert reply.startswith("250"), reply
    finally:
        client.close()
    return mta.sink.wait(rcpt)[-1]


def mail(sender, *headers):
    """With a listed link; From is the sender's."""
    raw = message.listed(headers=[("X-Test", "1"), *headers])
    return raw.replace(b"Alice <alice@sender.example>", sender.encode())


def check_answer(mta, **outgoing):
    first = mail(ANN)
    delivered = send(mta, ANN, BOB, first, **outgoing)
    assert [n for n in message.names(delivered) if n.startswith("x-gillnet")] == []
    answer = mail(BOB, PROOF, ("In-Reply-To", "<listed@sender.example>"))
    symbols = message.values(send(mta, BOB, ANN, answer), "X-Gillnet-Symbols")[0]
    assert "ANSWER(-3.0)" in symbols and "KNOWN_CORRESPONDENT(0.0)" in symbols, symbols


def test_answer__to_mail_of_a_trusted_network__takes_score_away(env):
    with env.gillnet(config=CONFIG, lists=LISTS) as g, env.mta(g) as mta:
        before = mail(BOB, PROOF, ("In-Reply-To", "<listed@sender.example>"))
        symbols = message.values(send(mta, BOB, "eve@our.example", before), "X-Gillnet-Symbols")[0]
        assert "ANSWER" not in symbols and "KNOWN" not in symbols, symbols
        check_answer(mta, source="127.0.0.2")


def test_answer__to_mail_of_a_login__takes_score_away(env):
    if not env.is_postfix():
        return  # a login through Sendmail is in the protocol tests of tests/integ
    with env.gillnet(config=CONFIG, lists=LISTS) as g, env.mta(g, sasl=True) as mta:
        check_answer(mta, before=login)
        assert "user=carol" not in g.log(), "one recipient is not too many"


def test_account__above_its_strangers__is_held(env):
    if not env.is_postfix():
        return
    config = CONFIG + 'account = { recipients = 2; action = "hold"; };'
    with env.gillnet(config=config, lists=LISTS) as g, env.mta(g, sasl=True) as mta:
        for i in range(2):
            send(mta, ANN, "p%d@rcpt.example" % i, mail(ANN), before=login)
        client = mta.client()
        login(client)
        assert client.send(mail(ANN), sender=ANN, rcpt="p2@rcpt.example").startswith("250")
        client.close()
        assert "account carol sends to 3 strangers" in g.log()
        line = list(g.verdicts(3).values())[-1]
        assert (line["action"], line["reason"]) == ("quarantine", "login"), line
        assert "p2@rcpt.example" not in mta.sink.messages
