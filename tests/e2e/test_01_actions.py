"""Every action: the SMTP reply, the header fields and their place, the queue, the log line."""

import message

import proc

OWN = ["x-gillnet-status", "x-gillnet-score", "x-gillnet-symbols"]
ACTIONS = ["header", "quarantine", "defer", "reject", "discard"]


def installation(env, action):
    """Listed messages get action; harsher ones are set too, but out of reach."""
    thresholds = {"header": '"off"'}
    if action != "accept":
        thresholds[action] = "5.0"
        for harsher in ACTIONS[ACTIONS.index(action) + 1:]:
            thresholds[harsher] = "50.0"
    config = "thresholds = { %s };" % " ".join("%s = %s;" % t for t in thresholds.items())
    return env.gillnet(config=config, lists=[("phish", 6.5, ["domain:" + message.LISTED])])


def queue_id(mta, reply):
    """From the reply, or the only one in the log of Postfix."""
    return reply.split("queued as ")[1].split()[0] if "queued as" in reply else reply.split()[2]


def check_headers(raw, status, score, symbols):
    """Ours exactly once, directly below the MTA's own Received field."""
    found = message.names(raw)
    assert found[0] == "received" and found[1:4] == OWN, found
    assert [n for n in found if n.startswith("x-gillnet")] == OWN, found
    assert message.values(raw, OWN[0]) == [status], message.values(raw, OWN[0])
    assert message.values(raw, OWN[1]) == [score], message.values(raw, OWN[1])
    shown = message.values(raw, OWN[2])
    assert len(shown) == 1 and shown[0].startswith(symbols), shown


def deliver(env, action, raw):
    """Sends raw to an installation with that action: (reply, sink, mta, gillnet) inside."""
    with installation(env, action) as g, env.mta(g) as mta:
        reply = mta.send(raw)
        yield reply, mta, g




def test_accept__message_is_clean__delivered_with_no(env):
    for reply, mta, g in deliver(env, "header", message.build()):
        assert reply.startswith("250 2.0.0"), reply
        raw = mta.sink.wait("bob@rcpt.example")[0]
        check_headers(raw, "No, action=accept score=0.0 required=5.0", "0.0", "")
        line = g.verdict(queue_id(mta, reply))
        assert line["action"] == "accept" and line["symbols"] == "-", line
        assert line["client"].endswith("[127.0.0.1]") and line["from"] == "<alice@sender.example>", line
        assert line["nrcpt"] == "1" and line["limits"] == "-", line


def test_accept__no_threshold_is_reached__symbols_are_shown(env):
    for reply, mta, g in deliver(env, "accept", message.listed()):
        assert reply.startswith("250 2.0.0"), reply
        raw = mta.sink.wait("bob@rcpt.example")[0]
        check_headers(raw, "No, action=accept score=6.5 required=off", "6.5", "LIST_PHISH(6.5)")
        assert g.verdict(queue_id(mta, reply))["symbols"].startswith("LIST_PHISH(6.5)[url")


def test_header__listed_url__delivered_with_yes(env):
    for reply, mta, g in deliver(env, "header", message.listed()):
        assert reply.startswith("250 2.0.0"), reply
        raw = mta.sink.wait("bob@rcpt.example")[0]
        check_headers(raw, "Yes, action=header score=6.5 required=5.0", "6.5", "LIST_PHISH(6.5)")
        line = g.verdict(queue_id(mta, reply))
        assert line["action"] == "header" and line["score"] == "6.5", line
        assert mta.held() == [] and mta.deferred() == []


def test_quarantine__listed_url__held_with_headers(env):
    for reply, mta, g in deliver(env, "quarantine", message.listed()):
        assert reply.startswith("250 2.0.0"), reply
        held = proc.wait_for("the held message", mta.held)
        assert held == [queue_id(mta, reply)], (held, reply)
        fields = message.names(mta.held_message(held[0]))
        at = fields.index("x-gillnet-status")
        assert fields[at:at + 3] == OWN and "received" in fields[:at], fields
        assert "quarantine" in message.values(mta.held_message(held[0]), OWN[0])[0]
        assert g.verdict(held[0])["action"] == "quarantine"
        assert mta.sink.messages == {}
        if not env.is_postfix():
            reason = mta.quarantine_reason(held[0])
            assert reason == "gillnet: LIST_PHISH(6.5)", reason


def logged_reply(env, action, code, text):
    for reply, mta, g in deliver(env, action, message.listed()):
        assert reply.startswith(code), reply
        lines = g.verdicts(1)
        assert len(lines) == 1, lines
        qid, line = lines.popitem()
        assert line["action"] == action, line
        assert text + ", reference " + qid in reply, (reply, qid)
        assert mta.sink.messages == {} and mta.held() == [] and mta.deferred() == []


def test_defer__listed_url__451_with_text(env):
    logged_reply(env, "defer", "451 4.7.1", "Message not accepted now")


def test_reject__listed_url__550_with_text(env):
    logged_reply(env, "reject", "550 5.7.1", "Message refused as unwanted")


def test_reject__text_holds_percent_and_symbols__client_sees_them(env):
    g = env.gillnet(config='reject_text = "100% {symbols} %s"; thresholds = { reject = 5.0; };',
                    lists=[("phish", 6.5, ["domain:" + message.LISTED])])
    with g, env.mta(g) as mta:
        reply = mta.send(message.listed())
        assert reply == "550 5.7.1 100% LIST_PHISH(6.5) %s", reply


def test_discard__listed_url__accepted_and_gone(env):
    for reply, mta, g in deliver(env, "discard", message.listed()):
        assert reply.startswith("250 2.0.0"), reply
        line = g.verdicts(1)
        assert [v["action"] for v in line.values()] == ["discard"], line
        # a clean one behind it arrives; the discarded one would have come first
        assert mta.send(message.build(), rcpt="carol@rcpt.example").startswith("250")
        mta.sink.wait("carol@rcpt.example")
        assert list(mta.sink.messages) == ["carol@rcpt.example"]
        assert mta.held() == [] and mta.deferred() == []


def test_session__several_messages__each_gets_its_own_verdict(env):
    with installation(env, "reject") as g, env.mta(g) as mta:
        with mta.client() as client:
            for n in range(4):
                raw = message.listed() if n % 2 else message.build()
                reply = client.send(raw, rcpt="m%d@rcpt.example" % n)
                assert reply.startswith("550 5.7.1" if n % 2 else "250"), reply
            client.expect("MAIL FROM:<alice@sender.example>")
            client.expect("RSET")
            reply = client.send(message.build(), rcpt="last@rcpt.example")
            assert reply.startswith("250"), reply
        for name in ["m0", "m2", "last"]:
            mta.sink.wait(name + "@rcpt.example")
        assert len(mta.sink.messages) == 3
