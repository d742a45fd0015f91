"""The same message again and again: bulk from the threshold on, exact counts, nothing lost."""

import message

THRESHOLD = 5
CONFIG = """
thresholds = { header = 5.0; };
rules = ( { name = "same"; type = "body"; window = "1d"; count = %d; score = 7.0;
            newsletter = false; } );
""" % THRESHOLD
SENDER = "envelope_from:alice@sender.example"


def send(mta, n):
    """The n-th copy, to a recipient of its own; its status and symbols as delivered."""
    rcpt = "r%d@rcpt.example" % n
    reply = mta.send(message.build(body="Cheap pills for everyone.\r\n"), rcpt=rcpt)
    assert reply.startswith("250"), reply
    raw = mta.sink.wait(rcpt)[0]
    return (message.values(raw, "x-gillnet-status")[0], message.values(raw, "x-gillnet-symbols")[0])


def counted(g, value=SENDER):
    """Answer of `gillnet lookup` for a value."""
    rows = [r for r in g.json_lines("lookup", value) if "counted_as" in r]
    assert len(rows) == 1, rows
    return rows[0]


def check(g, copies):
    row = counted(g)
    assert row["exact"] and row["damaged_runs"] == 0, row
    assert [row[w] for w in ("w10m", "w1h", "w1d", "w14d")] == [copies] * 4, row
    assert sum(row["buckets"]) == copies and sum(row["days"]) == copies, row
    assert sum(row["distinct"]["recipients"]) == copies, row["distinct"]
    assert sum(row["distinct"]["senders"]) == 1, row["distinct"]


def check_copy(n, status, symbols):
    if n < THRESHOLD:
        assert status.startswith("No, action=accept"), (n, status)
        assert "BULK_SAME" not in symbols, (n, symbols)
    else:
        assert status.startswith("Yes, action=header score=7."), (n, status)
        assert "BULK_SAME(7.0)" in symbols, (n, symbols)


def test_bulk__from_the_threshold_on__marked_and_counted(env):
    with env.gillnet(config=CONFIG) as g, env.mta(g) as mta:
        for n in range(1, THRESHOLD + 3):
            check_copy(n, *send(mta, n))
        check(g, THRESHOLD + 2)
        assert g.number("count_messages") == THRESHOLD + 2
        assert g.number("bulk_confirmed") == 3


def test_kill__between_copies__none_is_lost(env):
    """Also by a stop, and by a look at the disk alone."""
    with env.gillnet(config=CONFIG) as g, env.mta(g) as mta:
        for n in range(1, THRESHOLD + 4):
            check_copy(n, *send(mta, n))
            g.kill()
            check(g, n)
            g.start()
            check(g, n)
        copies = THRESHOLD + 3
        assert g.stop() == 0
        check(g, copies)
        g.start()
        check(g, copies)
        assert g.cli("count", "verify").returncode == 0


def test_check__of_the_command_line__counts_beside_gillnetd(env):
    raw = message.build(body="Cheap pills for everyone.\r\n")
    options = ["check", "-", "--from", "alice@sender.example"]
    with env.gillnet(config=CONFIG) as g, env.mta(g) as mta:
        for n in range(1, 4):
            send(mta, n)
        seen = {c["type"]: c["w1d"] for c in g.json_lines(*options, data=raw)[0]["counts"]}
        assert seen["envelope_from"] == 3, seen
        more = [*options, "--count", "--rcpt", "r4@rcpt.example"]
        seen = {c["type"]: c["w1d"] for c in g.json_lines(*more, data=raw)[0]["counts"]}
        assert seen["envelope_from"] == 4, seen
        check(g, 4)
        check_copy(5, *send(mta, 5))
        check(g, 5)
