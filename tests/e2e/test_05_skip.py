"""Messages that are not examined: trusted networks, logins, and local submission."""

import base64

import message

import proc

CONFIG = """
trusted_networks = [ "198.51.100.0/24", "127.0.0.2/32" ];
allow = { networks = [ "192.0.2.0/24" ]; };
thresholds = { header = "off"; reject = 5.0; };
"""
LISTS = [("phish", 6.5, ["domain:" + message.LISTED])]


def own(raw):
    return [n for n in message.names(raw) if n.startswith("x-gillnet")]


def login(client):
    client.expect("AUTH PLAIN " + base64.b64encode(b"\0carol\0secret").decode(), "235")


def send_as(mta, rcpt, xclient=None, source=None, before=None):
    client = mta.client(source=source)
    try:
        if xclient:
            client.expect("XCLIENT " + xclient, "220")
            client.ehlo()
        if before:
            before(client)
        return client.send(message.listed(), rcpt=rcpt)
    finally:
        client.close()


def check_skipped(g, mta, reply, rcpt, reason):
    assert reply.startswith("250"), reply
    assert own(mta.sink.wait(rcpt)[0]) == [], "an examined message"
    line = proc.wait_for("the log line", lambda: [
        v for v in g.verdicts(0).values() if v.get("reason") == reason])
    assert line[0]["action"] == "accept", line


def test_client__network_is_trusted__not_examined(env):
    with env.gillnet(config=CONFIG, lists=LISTS) as g, env.mta(g) as mta:
        assert send_as(mta, "a@rcpt.example", source="127.0.0.1").startswith("550")
        reply = send_as(mta, "b@rcpt.example", source="127.0.0.2")
        check_skipped(g, mta, reply, "b@rcpt.example", "network")
        assert send_as(mta, "c@rcpt.example", source="127.0.0.3").startswith("550")


def test_client__behind_xclient__its_address_counts(env):
    if not env.is_postfix():
        return  # Sendmail has no XCLIENT
    with env.gillnet(config=CONFIG, lists=LISTS) as g, env.mta(g) as mta:
        assert send_as(mta, "a@rcpt.example", "ADDR=203.0.113.7").startswith("550")
        reply = send_as(mta, "b@rcpt.example", "ADDR=198.51.100.9")
        check_skipped(g, mta, reply, "b@rcpt.example", "network")
        reply = send_as(mta, "c@rcpt.example", "ADDR=192.0.2.1")
        assert reply.startswith("250"), reply
        status = message.values(mta.sink.wait("c@rcpt.example")[0], "X-Gillnet-Status")
        assert "allow=network" in status[0], status
        clients = sorted(line["client"][line["client"].index("["):] for line in g.verdicts(3).values())
        assert clients == ["[192.0.2.1]", "[198.51.100.9]", "[203.0.113.7]"], clients


def test_client__logged_in__not_examined(env):
    if not env.is_postfix():
        return  # a login through Sendmail is in the protocol tests of tests/integ
    for skip in ["true", "false"]:
        config = CONFIG + "skip_authenticated = %s;" % skip
        with env.gillnet(config=config, lists=LISTS) as g, env.mta(g, sasl=True) as mta:
            reply = send_as(mta, "a@rcpt.example", "ADDR=203.0.113.7", before=login)
            if skip == "true":
                check_skipped(g, mta, reply, "a@rcpt.example", "login")
            else:
                assert reply.startswith("550"), reply


def test_local_submission__non_smtpd_milters__examined_and_delivered(env):
    if not env.is_postfix():
        return
    config = "thresholds = { header = 5.0; };"
    with env.gillnet(config=config, lists=LISTS) as g, env.mta(g, non_smtpd=True) as mta:
        for rcpt, raw, word in [("a", message.build(), "No"), ("b", message.listed(), "Yes")]:
            mta.submit(raw.replace(b"\r\n", b"\n"), "alice@sender.example",
                       rcpt + "@rcpt.example")
            delivered = mta.sink.wait(rcpt + "@rcpt.example")[0]
            status = message.values(delivered, "X-Gillnet-Status")
            assert len(status) == 1 and status[0].startswith(word), status


def test_local_submission__listed_and_reject__never_refused_before_its_end(env):
    if not env.is_postfix():
        return
    with env.gillnet(config=CONFIG, lists=LISTS) as g, env.mta(g, non_smtpd=True) as mta:
        mta.submit(message.listed().replace(b"\r\n", b"\n"), "alice@sender.example",
                   "a@rcpt.example")
        line = list(g.verdicts(1).values())[0]
        assert line["action"] == "reject", line
        # Postfix returns it to its sender with our text
        bounce = mta.sink.wait("alice@sender.example")[0]
        assert b"Message refused as unwanted" in bounce, bounce
        assert "a@rcpt.example" not in mta.sink.messages
