"""Settings of users: recipients agree or disagree, changes in force without a reload, no name leaks."""

import message

import proc

CONFIG = """thresholds = { header = 5.0; quarantine = 7.0; reject = 10.0; };
users = ( { name = "@mild.example"; set = [ "sensitivity=low" ]; } );
"""
SCORES = [("phish", 6.5, ["domain:" + message.LISTED]), ("malware", 6.0, ["domain:" + message.LISTED])]


def installation(env, users=()):
    g = env.gillnet(config=CONFIG, lists=SCORES)
    for name, *settings in users:
        g.cli("user", "set", name, *settings)
    return g


def send(mta, raw, *rcpts):
    return mta.send(raw, rcpt=list(rcpts))


def check_no_names(raw, *rcpts):
    """A Bcc recipient is in no header of ours."""
    fields = b"".join(f for f in message.split(raw)[0] if message.is_own(f)).decode("latin-1")
    for rcpt in rcpts:
        assert rcpt not in fields and rcpt.split("@")[0] not in fields, (rcpt, fields)


def test_one__each_by_the_own_settings(env):
    users = [("anna@rcpt.example", "thresholds.reject=off", "thresholds.quarantine=off"),
             ("carl@rcpt.example", "lists.malware.enabled=false", "thresholds.quarantine=off"),
             ("dora@rcpt.example", "sensitivity=0.1", "lists.malware.weight=1.0", "thresholds.reject=7.5")]
    with installation(env, users) as g, env.mta(g) as mta:
        assert send(mta, message.listed(), "bob@rcpt.example").startswith("550")
        assert send(mta, message.listed(), "anna@rcpt.example").startswith("250")
        raw = mta.sink.wait("anna@rcpt.example")[0]
        assert message.values(raw, "x-gillnet-score") == ["12.5"]
        assert message.values(raw, "x-gillnet-status")[0].startswith(
            "Yes, action=header score=12.5 required=5.0"), message.values(raw, "x-gillnet-status")
        assert send(mta, message.listed(), "carl@rcpt.example").startswith("250")
        raw = mta.sink.wait("carl@rcpt.example")[0]
        assert message.values(raw, "x-gillnet-score") == ["6.5"], message.values(raw, "x-gillnet-score")
        assert send(mta, message.listed(), "dora+list@rcpt.example").startswith("550")
        assert send(mta, message.build(), "dora@rcpt.example").startswith("250")


def test_several__disagree__mildest_and_the_score(env):
    users = [("anna@rcpt.example", "thresholds.reject=off", "thresholds.quarantine=off"),
             ("strict@rcpt.example", "block.domains=sender.example")]
    with installation(env, users) as g, env.mta(g) as mta:
        reply = send(mta, message.listed(), "anna@rcpt.example", "bob@rcpt.example")
        assert reply.startswith("250"), reply
        for rcpt in ["anna@rcpt.example", "bob@rcpt.example"]:
            raw = mta.sink.wait(rcpt)[0]
            assert message.values(raw, "x-gillnet-score") == ["12.5"]
            assert message.values(raw, "x-gillnet-status")[0].startswith("Yes, action=header")
            assert "RECIPIENTS_DISAGREE" in message.values(raw, "x-gillnet-symbols")[0]
            check_no_names(raw, "anna@rcpt.example", "bob@rcpt.example")
        # one who blocks the sender rejects alone, and not for another
        assert send(mta, message.build("alone"), "strict@rcpt.example").startswith("550")
        assert send(mta, message.build("both"), "strict@rcpt.example", "eve@rcpt.example").startswith("250")
        raw = mta.sink.wait("eve@rcpt.example")[0]
        assert message.values(raw, "x-gillnet-status")[0].startswith("No"), raw
        check_no_names(raw, "strict@rcpt.example", "eve@rcpt.example")
        # who agree are answered as they wish
        assert send(mta, message.listed("all"), "x@rcpt.example", "y@rcpt.example").startswith("550")


def test_several__reject_and_hold__held(env):
    users = [("anna@rcpt.example", "thresholds.reject=off")]
    with installation(env, users) as g, env.mta(g) as mta:
        assert send(mta, message.listed(), "anna@rcpt.example", "bob@rcpt.example").startswith("250")
        held = proc.wait_for("the held message", mta.held)
        raw = mta.held_message(held[0])
        assert "quarantine" in message.values(raw, "x-gillnet-status")[0]
        check_no_names(raw, "anna@rcpt.example", "bob@rcpt.example")


def test_set__while_running__within_two_seconds(env):
    with installation(env) as g, env.mta(g) as mta:
        assert send(mta, message.build("one"), "anna@rcpt.example").startswith("250")
        g.cli("user", "set", "anna@rcpt.example", "block.addresses=alice@sender.example")
        proc.wait_for("the block", lambda: send(mta, message.build("two"), "anna@rcpt.example").startswith("550"),
                      timeout=2)
        done = g.cli("user", "set", "anna@rcpt.example", "thresholds.reject=many", check=False)
        assert done.returncode == 65 and b"from 0.01 to 100000" in done.stderr, done
        assert send(mta, message.build("three"), "anna@rcpt.example").startswith("550")
        g.cli("user", "set", "--clear", "anna@rcpt.example")
        proc.wait_for("the end of the block",
                      lambda: send(mta, message.build("four"), "anna@rcpt.example").startswith("250"), timeout=2)


def test_domain__of_the_configuration__applies(env):
    with installation(env) as g, env.mta(g) as mta:
        # 12.5: below the 15 that reject there, above the 10.5 that hold
        assert send(mta, message.listed(), "a@mild.example").startswith("250")
        assert proc.wait_for("the held message", mta.held)
