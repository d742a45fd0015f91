"""Padding of the header: a client shows Subject, From and the body, with all other fields."""
from frames import LINKS, address, around, fill, header, leaf, shown

FIELD = 900  # bytes of the fields that are cut to a usual length

# (name, one field or fields, why)
FIELDS = (
    ("fields", b"X-\1: a\n", "other fields are not shown"),
    ("fields of one name", b"X-A: b\n", "other fields are not shown"),
    ("empty fields", b"X-A:\n", "other fields are not shown"),
    ("fields that are folded", b"X-A: b\n c\n\td\n", "other fields are not shown"),
    ("long fields", b"X-A: " + b"a" * FIELD + b"\n", "other fields are not shown"),
    ("Received fields", b"Received: from a\1 (b [192.0.2.1]) by c; Mon, 2 Mar 2026 10:00:00 +0000\n", "traces"),
    ("signatures", b"DKIM-Signature: v=1; a=rsa-sha256; d=a\1.example; s=b; h=From; bh=YQ==; b=" + b"A" * 300 + b"\n",
     "other fields are not shown"),
    ("authentication results", b"Authentication-Results: mx\1.example; spf=pass smtp.mailfrom=a\1.example\n",
     "other fields are not shown"),
    ("references", b"References: " + b"<a@b.example> " * 20 + b"\n", "other fields are not shown"),
    ("readers", b"To: Ann <ann\1@people.example>, Bob <bob\1@people.example>\n", "a long list of readers"),
    ("readers of copies", b"Cc: " + b"ann@people.example, " * 20 + b"joe\1@people.example.com\n", "a long list of readers"),
    ("groups", b"To: g\1:a@b.example,c@d.example;\n", "a list of readers"),
    ("comments in addresses", b"Cc: (((a) b) c) a(d)@(e)b.example\n", "comments"),
    ("answers", b"Reply-To: joe\1@people.example.com\n", "other fields are not shown"),
    ("links in fields", b"List-Unsubscribe: <http://l\1.example/>, <mailto:a\1@b.example>\n", "other fields are not shown"),
    ("mailing lists", b"List-Id: <l\1.example>\n", "other fields are not shown"),
    ("encoded words", b"X-A: =?utf-8?q?caf=C3=A9_\1?= =?koi8-r?b?wcHB?=\n", "other fields are not shown"),
    ("encoded words begun", b"X-A: =?utf-8?q?=?iso-2022-jp?b?\n", "other fields are not shown"),
    ("comments", b"Comments: words of a comment \1\n", "other fields are not shown"),
    ("lines without a colon", b"X-A: b\n no name here \1\n", "a folded line"),
    ("broken UTF-8", b"X-A: \xe2\x80\xff\n", "other fields are not shown"),
    ("message identifiers", b"Resent-Message-ID: <a\1@b\1.example>\n", "other fields are not shown"),
    ("spam reports", b"X-Spam-Report: http://www\1.other.example/ is fine\n", "another filter's words"),
)


def link_text(link):
    return b"Sign in at " + address(link) + b" today"


def message(before, after, pick):
    """The link in the subject or in the body; the padding before and behind the subject."""
    link = pick(LINKS)
    if pick((True, False, False)):
        return before + header(link_text(link), after) + leaf(b"text/plain", b"See above.\n", "8bit")
    return before + header(more=after) + shown(pick, address(link))


def fields(unit):
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, n, first), position, size)
        return message(before, after, pick)
    return build


def one_field(start, unit):
    """One field of the whole size, folded where its unit is."""
    def build(position, size, pick):
        before, after = around(lambda n, first: start + fill(unit, n, first) + b"\n", position, size)
        return message(before, after, pick)
    return build


def subject(unit):
    """A subject of up to 900 bytes, and comments for the rest: nobody scrolls through a subject."""
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, min(n, FIELD), first) + b" ", position, size)
        rest = fill(b"Comments: words \1\n", size - 2 * FIELD)
        text = before + link_text(pick(LINKS)) + b" " + after
        return header(text.strip(), rest) + leaf(b"text/plain", b"See above.\n", "8bit")
    return build


def types(position, size, pick):
    """Content-Type again and again: all say the same."""
    before, after = around(lambda n, _: fill(b"Content-Type: text/plain\n", n), position, size)
    return before + header(more=after) + leaf(b"text/plain", link_text(pick(LINKS)) + b"\n", "8bit")


def parameters(position, size, pick):
    """The parameters of the body's own type."""
    before, after = around(lambda n, first: fill(b";\n a\1=b", n, first), position, size)
    return header(more=b"Content-Type: text/plain" + before + b"; charset=utf-8" + after + b"\n") + (
        b"\n" + link_text(pick(LINKS)) + b"\n")


def type_comment(position, size, pick):
    """A comment in the type of the body."""
    before, after = around(lambda n, _: b"(" + fill(b"word ", n) + b")\n ", position, size)
    return header(more=b"Content-Type: " + before + b"text/plain" + after + b"; charset=utf-8\n") + (
        b"\n" + link_text(pick(LINKS)) + b"\n")


def rows():
    yield from (("header " + name, why, fields(unit)) for name, unit, why in FIELDS)
    hidden = "other fields are not shown"
    for name, start, unit in (("one long line", b"X-A: ", b"a"), ("one folded", b"X-A: b", b"\n a"),
                              ("one of blanks", b"X-A: ", b" "), ("one To", b"To: a@b.example", b",\n joe\1@people.example.com"),
                              ("one To of comments", b"To: a@b.example ", b"(c) "), ("one To not closed", b"To: ", b"(\"<"),
                              ("one To of at signs", b"To: ", b"@"), ("one From of addresses", b"From: a@b.example",
                                                                        b",\n joe\1@p\1.example"),
                              ("one References", b"References:", b"\n <a\1@b.example>")):
        yield (f"header {name}", hidden, one_field(start, unit))
    for name, unit in (("words", b"word "), ("dots", b"."), ("encoded words", b"=?utf-8?q?a?= "),
                       ("brackets", b"[("), ("other links", b"http://o\1.example/ ")):
        yield (f"header subject of {name}", "the subject is shown", subject(unit))
    yield ("header types", "all say the same", types)
    yield ("header parameters of the type", "parameters not known are ignored", parameters)
    yield ("header comment in the type", "comments are ignored", type_comment)
