"""Reports that come by mail through the MTA: traps, forwarded mail, and an alias that is a pipe."""

import os

import gillnet
import message
import mta as mtas
import proc

from test_05_skip import login

TRAP, SPAM_TO = "old.user@rcpt.example", "spam@rcpt.example"
CONFIG = f"""
trusted_networks = [ "127.0.0.2/32" ];
traps = [ "{TRAP}" ];
report_addresses = {{ spam = [ "{SPAM_TO}" ]; }};
"""


def forwarded(reported):
    """A message with another one attached."""
    head = message.build("Fwd", body="", headers=[("Content-Type", "multipart/mixed; boundary=b")])
    return head + b"--b\r\n\r\nlook\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n" + reported + b"\r\n--b--\r\n"


def send(mta, rcpt, raw, source=None, before=None):
    client = mta.client(source=source)
    try:
        if before:
            before(client)
        assert client.send(raw, rcpt=rcpt).startswith("250")
    finally:
        client.close()
    return mta.sink.wait(rcpt)[-1]


def reports(g, n):
    """(kind, reporter, way), once there are n of them; the oldest first."""
    found = proc.wait_for("%d reports" % n, lambda: (r := g.json_lines("report", "list")) and len(r) >= n and r)
    return [(r["kind"], r["reporter"], r["way"]) for r in sorted(found, key=lambda r: r["time"])]


def test_trap__gets_mail__it_is_reported_and_delivered(env):
    with env.gillnet(config=CONFIG) as g, env.mta(g) as mta:
        delivered = send(mta, TRAP, message.listed())
        assert message.values(delivered, "X-Gillnet-Status")[0].startswith("No"), delivered
        assert reports(g, 1) == [("spam", "trap", "trap")]


def test_forwarded__by_a_trusted_network_alone__is_reported(env):
    with env.gillnet(config=CONFIG) as g, env.mta(g) as mta:
        send(mta, SPAM_TO, forwarded(message.listed("stranger")))
        send(mta, SPAM_TO, forwarded(message.listed()), source="127.0.0.2")
        assert reports(g, 1) == [("spam", "client/127.0.0.2", "mail")]
        assert g.number("report_mail_refused") == 1


def test_forwarded__by_a_login__is_its_report(env):
    if not env.is_postfix():
        return  # a login through Sendmail is in the protocol tests of tests/integ
    with env.gillnet(config=CONFIG) as g, env.mta(g, sasl=True) as mta:
        send(mta, SPAM_TO, forwarded(message.listed()), before=login)
        assert reports(g, 1) == [("spam", "user/carol", "mail")]


def test_alias__that_is_a_pipe__reports_what_it_gets(env):
    if not env.is_postfix():
        return
    with env.gillnet() as g:
        aliases = os.path.join(g.folder, "aliases")
        mtas.write(aliases, 'spam "|%s -c %s report spam --reporter alias --way pipe -"\n'
                   % (os.path.join(gillnet.programs(), "gillnet"), g.config))
        extra = ("mydestination = pipe.example\nlocal_recipient_maps =\nlocal_transport = local\n"
                 "alias_maps = texthash:%s\ndefault_privs = %s\n" % (aliases, gillnet.USER))
        with env.mta(g, extra=extra) as mta:
            client = mta.client()
            assert client.send(message.listed(), rcpt="spam@pipe.example").startswith("250")
            client.close()
            assert reports(g, 1) == [("spam", "alias", "pipe")], mta.log()
            assert "delivered to command" in proc.wait_for("the delivery", lambda: "delivered to command" in mta.log()
                                                           and mta.log())
