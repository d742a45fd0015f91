"""Embargo: 451 once, then a retry by a real Postfix or Sendmail gets through; who is never held."""

import time

import message
import mta as mtas
import proc

CONFIG = """
thresholds = { header = 5.0; embargo = 3.0; };
embargo = { time = "2s"; };
"""
# A server that tries again after three seconds.
RETRY = "minimal_backoff_time = 3s\nmaximal_backoff_time = 3s\nqueue_run_delay = 1s\n"
TEXT = "451 4.7.1 First message from you: please send it again in some minutes, reference "


def installation(env):
    return env.gillnet(config=CONFIG, lists=[("grey", 4, ["domain:" + message.LISTED])])


def sender(mx):
    """A Postfix of somebody else, who sends to mx."""
    return mtas.Postfix(sink=mx, extra=RETRY)


def symbols(raw):
    return message.values(raw, "x-gillnet-symbols")[0]


def check_lines(g, held, came):
    lines = list(g.verdicts(held + came).values())
    assert [v["action"] for v in lines] == ["defer"] * held + ["accept"] * came, lines
    assert all("EMBARGO(0.0)" in v["symbols"] for v in lines[:held]), lines
    assert all("EMBARGOED(0.0)[came\\x20back\\x20after" in v["symbols"]
               for v in lines[held:]), lines


def test_retry__by_postfix__delivered_after_one_451(env):
    with installation(env) as g, env.mta(g) as mx, sender(mx) as theirs:
        assert theirs.send(message.listed()).startswith("250")
        raw = mx.sink.wait("bob@rcpt.example")[0]
        assert "EMBARGOED(0.0)[came back after " in symbols(raw), symbols(raw)
        assert message.values(raw, "x-gillnet-status")[0].startswith("No, action=accept"), raw
        check_lines(g, 1, 1)
        assert theirs.log().count(TEXT) == 1, theirs.log()
        assert (g.number("embargoed"), g.number("embargo_returned")) == (1, 1)
        # a retry is no second message
        row = [r for r in g.json_lines("lookup", "envelope_from:alice@sender.example")
               if "counted_as" in r][0]
        assert row["w1d"] == 1, row
        # and its kind is known now
        assert mx.send(message.listed("other"), rcpt="carol@rcpt.example").startswith("250")


def test_retry__gillnetd_killed_between__not_held_again(env):
    with installation(env) as g, env.mta(g) as mx, sender(mx) as theirs:
        assert theirs.send(message.listed()).startswith("250")
        proc.wait_for("the 451", lambda: TEXT in theirs.log())
        g.kill()
        g.start()
        assert "EMBARGOED(0.0)" in symbols(mx.sink.wait("bob@rcpt.example", timeout=60)[0])
        assert theirs.log().count(TEXT) == 1, theirs.log()


def test_recipients__retried_in_two_parts__none_is_held_twice(env):
    with installation(env) as g, env.mta(g) as mx:
        rcpts = ["r%d@rcpt.example" % i for i in range(40)]
        reply = mx.send(message.listed(), rcpt=rcpts)
        assert reply.startswith(TEXT), reply
        assert mx.send(message.listed(), rcpt=rcpts[:7]).startswith("250")
        assert mx.send(message.listed(), rcpt=rcpts[7:]).startswith("250")
        check_lines(g, 1, 2)
        assert mx.sink.wait(rcpts[39]) and mx.sink.wait(rcpts[0])


def test_clean_or_marked_or_rejected__not_held(env):
    config = CONFIG.replace("header = 5.0;", "header = 5.0; reject = 10.0;")
    with env.gillnet(config=config, lists=[("bad", 12, ["domain:" + message.LISTED])]) as g, \
            env.mta(g) as mx:
        assert mx.send(message.build()).startswith("250")
        assert mx.send(message.listed()).startswith("550")
        assert g.number("embargoed") == 0


# ---- who the sender is; the retrying server is of the other kind than ours ----

PROVED = CONFIG + """
trusted_networks = [ "127.0.0.2/32" ];
trusted_authserv = [ "mx.our.example" ];
"""
PROOF = [("Authentication-Results", "mx.our.example; dmarc=pass header.from=sender.example")]
ALICE, BOB = "alice@sender.example", "bob@rcpt.example"


def other(env, mx):
    return mtas.Sendmail(sink=mx, retry=1, name="mail.sender.example") if env.is_postfix() else sender(mx)


def proved(env, config=PROVED):
    return env.gillnet(config=config, lists=[("grey", 4, ["domain:" + message.LISTED])])


def send_from(mx, source, raw, **kwargs):
    client = mx.client(source=source)
    try:
        return client.send(raw, **kwargs)
    finally:
        client.close()


def test_first_contact__retried_by_the_other_mta__one_451(env):
    with proved(env) as g, env.mta(g) as mx, other(env, mx) as theirs:
        assert theirs.send(message.listed(headers=PROOF)).startswith("250")
        raw = mx.sink.wait(BOB, timeout=60)[0]
        assert "EMBARGOED(0.0)[came back after " in symbols(raw), symbols(raw)
        check_lines(g, 1, 1)
        assert (g.number("embargoed"), g.number("embargo_returned")) == (1, 1)


def test_proved_domain__again_from_another_network__passes(env):
    with proved(env) as g, env.mta(g) as mx:
        raw = message.listed(headers=PROOF)
        assert send_from(mx, "127.1.0.2", raw).startswith(TEXT)
        assert send_from(mx, "127.2.0.2", raw).startswith("250")
        assert "EMBARGOED(0.0)" in symbols(mx.sink.wait(BOB)[0])
        time.sleep(2.5)  # embargo.time
        # its kind, in another copy from a third network; without proof the network counts
        assert send_from(mx, "127.4.0.2", message.listed(), rcpt="carol@rcpt.example").startswith(TEXT)
        assert send_from(mx, "127.3.0.2", raw, rcpt="dave@rcpt.example").startswith("250")
        assert g.number("embargoed") == 2


def test_known_correspondent__never_held(env):
    # also grey without the score that a known correspondent takes away
    with proved(env, PROVED.replace("embargo = 3.0", "embargo = 0.5")) as g, env.mta(g) as mx, other(env, mx) as theirs:
        out = message.build("our question").replace(b"alice@sender.example", BOB.encode())
        assert send_from(mx, "127.0.0.2", out, sender=BOB, rcpt=ALICE).startswith("250")
        mx.sink.wait(ALICE)
        assert theirs.send(message.listed(headers=PROOF)).startswith("250")
        raw = mx.sink.wait(BOB, timeout=60)[0]
        assert "KNOWN_CORRESPONDENT" in symbols(raw) and "EMBARGO" not in symbols(raw), symbols(raw)
        assert g.number("embargoed") == 0
        # somebody else of that domain is a stranger
        raw = message.listed("mallory").replace(ALICE.encode(), b"mallory@sender.example")
        assert send_from(mx, "127.5.0.2", raw, sender="mallory@sender.example").startswith(TEXT)


def test_proved_newsletter__never_held(env):
    with proved(env) as g, env.mta(g) as mx, other(env, mx) as theirs:
        body = "".join("line %d of this week's letter to all who read it\r\n" % i for i in range(30))
        headers = PROOF + [("List-Unsubscribe", "<https://sender.example/out>")]
        assert theirs.send(message.listed("letter", body=body, headers=headers)).startswith("250")
        raw = mx.sink.wait(BOB, timeout=60)[0]
        assert "LIST_GREY" in symbols(raw) and "EMBARGO" not in symbols(raw), symbols(raw)
        assert g.number("embargoed") == 0
        # without proof it is held
        unproved = message.listed("letter two", body=body.replace("week", "month"),
                                  headers=headers[1:])
        reply = send_from(mx, "127.6.0.2", unproved)
        assert reply.startswith(TEXT), reply
