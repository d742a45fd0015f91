"""Thousands of real messages through the MTA with gillnetd, and each one compared with the command
line: none lost, none deferred, the configured answer, the same findings, own fields once.

A run takes every tenth message, chosen by a hash of its name; --slow takes all.
"""

import glob
import hashlib
import json
import os
import re
import threading

import message
import proc

from smtp import Client, SmtpError, to_crlf

CORPUS = os.environ.get("GILLNET_CORPUS",
                        os.path.join(proc.TOP, "build", "corpus", "spamassassin"))
WHOLE = 6046
SENDER = "envelope@sender.example"
CONNECTIONS = 4

# A list for each kind of feature, with one in three of the corpus' own values, so that the verdict
# of a message depends on everything that is extracted from it.
WEIGHTS = {"subject": 1.0, "from": 2.0, "from_domain": 1.5, "reply_to": 2.0, "sender": 2.0,
           "url": 3.0, "url_host": 4.0, "url_ip": 4.0, "attachment_name": 3.0, "body": 5.0,
           "attachment": 5.0}
# How a feature is written as an entry of a list.
CLASSES = {"from": "address", "reply_to": "address", "sender": "address",
           "from_domain": "domain", "url_host": "host", "url_ip": "network"}
# `check` has no counts and no emergency mode, so both are off here. gillnetd has no reader, so that is off, too.
CONFIG = "rules = (); limits = { reader = \"0s\"; }; emergency = { enabled = false; }; thresholds = { header = 4.0; quarantine = 12.0; reject = 16.0; };"
# Postfix takes these fields away before a milter sees them (message_drop_headers).
RETURN_PATH = re.compile(rb"(?im)^Return-Path:.*\n(?:[ \t].*\n)*")
ENVELOPE = ["--client", "127.0.0.1", "--helo", "client.example", "--from", SENDER]
CODES = {"accept": "250", "header": "250", "quarantine": "250", "reject": "550"}


def is_chosen(text, one_in):
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") % one_in == 0


def load(slow):
    """name -> message with CRLF line ends, without the mbox line that is no part of it."""
    paths = sorted(glob.glob(os.path.join(CORPUS, "*", "*.eml")))
    if len(paths) != WHOLE:
        raise proc.SetupError("%d messages in %s, %d are expected: run contrib/fetch-corpus"
                              % (len(paths), CORPUS, WHOLE))
    messages = {}
    for path in paths:
        name = os.path.relpath(path, CORPUS).replace("/", "_")
        if slow or is_chosen(name, 10):
            with open(path, "rb") as f:
                raw = f.read()
            if raw.startswith(b"From "):
                raw = raw.split(b"\n", 1)[1]
            raw = RETURN_PATH.sub(b"", raw)
            raw = to_crlf(raw)  # SMTP knows no last line without its end
            messages[name] = raw if raw.endswith(b"\r\n") else raw + b"\r\n"
    return messages


def save(messages, folder):
    os.mkdir(folder)
    for name, raw in messages.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(raw)


def by_file(lines):
    return {os.path.basename(line["file"]): line for line in lines}


def make_lists(g, features):
    """Fills the lists with one in three of the values that occur."""
    values = {name: set() for name in WEIGHTS}
    for line in features.values():
        for feature in line["features"]:
            if feature["type"] in values and is_chosen(feature["value"], 3):
                values[feature["type"]].add(feature["value"])
    for kind, chosen in values.items():
        # an import leaves out what cannot be an entry, such as the address of the machine itself
        entries = sorted(v for v in chosen if "\n" not in v and "\r" not in v)
        if entries:
            g.cli("list", "import", kind, "-", "--format", "plain", "--type",
                  CLASSES.get(kind, kind),
                  data="".join(e + "\n" for e in entries).encode("utf-8", "surrogateescape"))


def send_all(server, messages):
    """name -> reply. A connection that breaks fails the test."""
    names, replies, errors = list(messages), {}, []
    lock = threading.Lock()

    def work():
        try:
            with Client(server.port) as client:
                client.ehlo()
                while True:
                    with lock:
                        if not names or errors:
                            return
                        name = names.pop()
                    replies[name] = client.send(messages[name], SENDER, name + "@rcpt.example")
        except (OSError, SmtpError) as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return replies


def as_set(line, drop=()):
    return {(f["type"], f["value"]) for f in line["features"] if f["type"] not in drop}


def symbols_text(line, scoring=False):
    """The symbols of `gillnet check` as X-Gillnet-Symbols writes them, in the order of evaluation."""
    return ", ".join("%s(%.1f)" % (s["name"], s["score"]) for s in line["symbols"]
                     if not scoring or s["score"] != 0) or "-"


def has_symbols(header, line):
    """Whether the field has all that scores, and nothing that `gillnet check` has not."""
    shown = brief(header).split(", ")
    return (set(symbols_text(line, True).split(", ")) - {"-"} <= set(shown)
            and set(shown) - {"-"} <= set(symbols_text(line).split(", ")))


def brief(header):
    """X-Gillnet-Symbols without the details."""
    out, depth = "", 0
    for c in header:
        depth += c == "["
        if not depth:
            out += c
        depth -= c == "]"
    return out


def compare_verdicts(expected, sent, found, log, held):
    """Each message got what `gillnet check` says of the same bytes; the names that differ."""
    wrong = []
    for name, reply in sent.items():
        want = expected[name]
        action = want["action"]
        good = reply.startswith(CODES[action])
        if good and action == "reject":
            queue_id = re.search(r"reference (\S+), case", reply)[1]
            good = log[queue_id]["action"] == "reject"
        elif good:
            queue_id = reply.rsplit(" ", 1)[1]
            line = log[queue_id]
            good = line["action"] == action and line["score"] == "%.1f" % want["score"]
            if action == "quarantine":
                good = good and queue_id in held and name not in found
            else:
                raw = found[name]
                shown = message.values(raw, "X-Gillnet-Symbols")
                good = good and len(shown) == 1 and has_symbols(shown[0], want)
        if not good:
            wrong.append((name, action, want["score"], symbols_text(want), reply))
    return wrong


def test_corpus__through_the_mta__nothing_lost_and_same_findings(env):
    messages = load(env.slow)
    lists = [(name, weight, []) for name, weight in WEIGHTS.items()]
    g = env.gillnet(config=CONFIG, lists=lists)
    source = os.path.join(g.folder, "source")
    save(messages, source)
    features = by_file(g.json_lines("extract", *ENVELOPE, source))
    assert sorted(features) == sorted(messages)
    make_lists(g, features)
    # once more: the first list brought the key of the fingerprints
    features = by_file(g.json_lines("extract", *ENVELOPE, source))
    expected = by_file(g.json_lines("check", *ENVELOPE, source))
    with g, env.mta(g) as server:
        replies = send_all(server, messages)
        assert sorted(replies) == sorted(messages)
        wanted = {n for n, line in expected.items() if line["action"] in ("accept", "header")}
        assert server.sink.wait_total(len(wanted), 300), (
            len(wanted), len(server.sink.messages), server.deferred()[:5])
        held = set(server.held())
        assert not server.deferred()
        log = g.verdicts(len(messages))
        found = {rcpt.rsplit("@", 1)[0]: raws for rcpt, raws in server.sink.messages.items()}
        assert all(len(raws) == 1 for raws in found.values()), "a message came twice"
        found = {name: raws[0] for name, raws in found.items()}
    stat = {a: sum(line["action"] == a for line in expected.values()) for a in CODES}
    print("       %d messages: %s" % (len(messages), stat))
    assert all(stat.values()), "the lists are to bring about every action"
    wrong = compare_verdicts(expected, replies, found, log, held)
    assert not wrong, "%d of %d differ from gillnet check: %s" % (
        len(wrong), len(messages), json.dumps(wrong[:5], indent=1))
    compare_delivered(g, messages, features, found)


def compare_delivered(g, messages, features, found):
    """Own fields once, below Received; the delivered message has the features of the sent one."""
    delivered = {}
    for name, raw in found.items():
        names = message.names(raw)
        assert names[:4] == ["received", "x-gillnet-status", "x-gillnet-score",
                             "x-gillnet-symbols"], (name, names[:5])
        assert len([n for n in names if n.startswith("x-gillnet")]) == 3, name
        delivered[name] = message.without_own(raw)
    folder = os.path.join(g.folder, "delivered")
    save(delivered, folder)
    after = by_file(g.json_lines("extract", *ENVELOPE, folder))
    changed = [n for n in found if as_set(after[n]) != as_set(features[n])]
    assert not changed, "%d differ: %s" % (len(changed), [
        (n, sorted(as_set(after[n]) ^ as_set(features[n]))[:4]) for n in changed[:5]])
    compare_bytes(messages, delivered)


def compare_bytes(messages, delivered):
    """Beyond what the MTA is known to rewrite nothing changed on the way."""
    dropped = 0
    for name, raw in delivered.items():
        sent = mta_rewrites(messages[name])
        dropped += sent != messages[name]
        assert raw == sent, "%s: %r" % (name, first_difference(raw, sent))
    print("       %d delivered, %d of them with known rewrites of the MTA, features all the same"
          % (len(delivered), dropped))


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return a[max(0, at - 60):at + 60], b[max(0, at - 60):at + 60]


def mta_rewrites(raw):
    """The known rewrites of Postfix: it drops fields that are its own to make
    (message_drop_headers)."""
    fields, body = message.split(raw)
    kept = [f for f in fields if message.name_of(f) not in
            ("bcc", "content-length", "resent-bcc", "return-path")]
    return b"".join(kept) + b"\r\n" + body
