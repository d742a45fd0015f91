"""message - messages for tests, and how to take delivered ones apart again."""

import re

LISTED = "evil.example"


def build(subject="test", body="hello\r\n", headers=(), url=None):
    """A message with CRLF line ends; url goes into the body."""
    fields = [("From", "Alice <alice@sender.example>"), ("To", "bob@rcpt.example"),
              ("Subject", subject), ("Date", "Sat, 21 Nov 2026 12:00:00 +0000"),
              ("Message-ID", "<%s@sender.example>" % re.sub(r"\W+", "-", subject)), *headers]
    if url:
        body = "see %s\r\n%s" % (url, body)
    text = "".join("%s: %s\r\n" % field for field in fields) + "\r\n" + body
    return text.encode("latin-1")


def listed(subject="listed", **kwargs):
    return build(subject, url="http://www.%s/login?a=1" % LISTED, **kwargs)


def split(raw):
    """([field bytes with their folds and line ends], body bytes). The separator is dropped."""
    fields, rest = [], raw
    while rest:
        end = re.search(rb"\r?\n(?![ \t])", rest)
        if not end or end.start() == 0:
            break
        fields.append(rest[:end.end()])
        rest = rest[end.end():]
    return fields, re.sub(rb"\A\r?\n", b"", rest, count=1)


def name_of(field):
    return field.split(b":", 1)[0].rstrip().lower().decode("latin-1")


def names(raw):
    return [name_of(field) for field in split(raw)[0]]


CASE = re.compile(r" case=[0-9a-z]{12}")


def values(raw, name):
    """Unfolded values of every field of that name, without the case id, which differs."""
    return [CASE.sub("", re.sub(r"\r?\n[ \t]+", " ", field.split(b":", 1)[1].decode("latin-1")).strip())
            for field in split(raw)[0] if name_of(field) == name.lower()]


def is_own(field):
    return name_of(field).startswith("x-gillnet-")


def without_own(raw):
    """The message without our fields and without the field that the receiving MTA put on top,
    which differs from one delivery to the next."""
    fields, body = split(raw)
    kept = [f for f in fields if not is_own(f)]
    assert name_of(kept[0]) == "received", kept[:1]
    return b"".join(kept[1:]) + b"\r\n" + body
