"""Header fields with our names that a sender made up: all gone, ours exactly once."""

import itertools

import message

NAMES = ["X-Gillnet-Status", "x-gillnet-score", "X-GILLNET-SYMBOLS", "X-Gillnet-Other",
         "x-GiLlNeT-sTaTuS", "X-Gillnet-Status"]
OWN = ["x-gillnet-status", "x-gillnet-score", "x-gillnet-symbols"]


def forged(n, subject):
    """n forged fields between real ones, some folded, with case and name changing."""
    fields = []
    for i, name in zip(range(n), itertools.cycle(NAMES)):
        fields.append((name, "No, action=accept\r\n\tscore=%d" % i if i % 3 else "No"))
        if i % 2:
            fields.append(("X-Real", "value %d" % i))
    return message.build(subject, headers=fields)


def real_values(n):
    return ["value %d" % i for i in range(n) if i % 2]


def test_forged_fields__1_to_20__all_gone_ours_once(env):
    with env.gillnet() as g, env.mta(g) as mta, mta.client() as client:
        for n in range(1, 21):
            rcpt = "n%d@rcpt.example" % n
            reply = client.send(forged(n, "forged %d" % n), rcpt=rcpt)
            assert reply.startswith("250"), reply
            raw = mta.sink.wait(rcpt)[0]
            found = message.names(raw)
            assert [f for f in found if f.startswith("x-gillnet")] == OWN, (n, found)
            assert message.values(raw, OWN[0]) == ["No, action=accept score=0.0 required=5.0"], (n, raw)
            assert message.values(raw, "X-Real") == real_values(n), (n, raw)
        stripped = [int(line["stripped"]) for line in g.verdicts(20).values()]
        assert stripped == list(range(1, 21)), stripped


def test_forged_fields__message_is_skipped__all_gone_none_of_ours(env):
    with env.gillnet(config='trusted_networks = [ "127.0.0.0/8" ];') as g, env.mta(g) as mta:
        assert mta.send(forged(20, "skipped")).startswith("250")
        raw = mta.sink.wait("bob@rcpt.example")[0]
        assert not [f for f in message.names(raw) if f.startswith("x-gillnet")], raw
        assert message.values(raw, "X-Real") == real_values(20), raw


def test_forged_fields__among_hundreds__all_gone(env):
    headers = [("X-Filler-%d" % i, "x") for i in range(300)]
    for i in range(0, 300, 30):
        headers.insert(i, ("X-Gillnet-Score", "-100"))
    with env.gillnet() as g, env.mta(g) as mta:
        assert mta.send(message.build(headers=headers)).startswith("250")
        raw = mta.sink.wait("bob@rcpt.example")[0]
        assert message.values(raw, "X-Gillnet-Score") == ["0.0"], raw
        assert len([n for n in message.names(raw) if n.startswith("x-filler")]) == 300
