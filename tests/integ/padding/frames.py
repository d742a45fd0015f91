"""How a padding and a listed link become one message.

A position says where the padding stands: before the link, amid (half before, half after), after.
A generator is a row (name, why, build): `why` says why a reader's client shows the link all the
same, build(position, size, pick) gives the message.  `pick` chooses, always alike for one case,
among things that all must be found: which listing, which carrier, which encoding.
"""
import base64
import collections
import quopri
import re
import zlib

POSITIONS = ("before", "amid", "after")
NUMBER = b"\1"          # stands in a unit for a number that is another each time
SECOND_HALF = 50000000  # numbers of the padding behind the link begin here
BOUNDARY = b"=_padding"

Link = collections.namedtuple("Link", "entry type scheme host rest")
LINKS = (
    Link("evil-domain.example", "domain", b"http", b"pay.evil-domain.example", b"/login/7?id=3"),
    Link("login.evil-host.example", "host", b"https", b"login.evil-host.example", b"/account"),
    Link("evil-page.example/pay/now", None, b"http", b"evil-page.example", b"/pay/now"),
)
Value = collections.namedtuple("Value", "entry type")
TEXT_PLACES = ("plain", "base64", "quoted", "html", "attached")
HTML_PLACES = ("plain", "base64", "quoted")
# How HTML names an address.  U is the address, P what stands among the attributes.
CARRIERS = (
    b'<a P href="U" Q>Open your account</a>',
    b"<a P href='U' Q>Open your account</a>",
    b'<img P src="U" Q>',
    b'<img P srcset="U 2x" Q>',
    b'<form P action="U" method="post" Q><input name="password"><button>Sign in</button></form>',
    b'<button P formaction="U" Q>Sign in</button>',
    b'<map name="m"><area P href="U" Q shape="default"></map>',
    b'<table P background="U" Q><tr><td>Sign in</td></tr></table>',
    b'<video P poster="U" Q></video>',
    b'<iframe P src="U" Q></iframe>',
    b'<svg><a P xlink:href="U" Q><text>Open</text></a></svg>',
    b'<object P data="U" Q></object>',
)
HREF = CARRIERS[:1]


class Pick:
    """Choices of one case: the same in every run."""

    def __init__(self, name, position, size):
        self.state = zlib.crc32(f"{name}/{position}/{size}".encode())

    def __call__(self, choices):
        self.state = zlib.crc32(b"next", self.state)
        return choices[self.state % len(choices)]


def address(link):
    return link.scheme + b"://" + link.host + link.rest


def fill(unit, size, first=0):
    """At least size bytes of units, nothing for size 0."""
    if size <= 0:
        return b""
    if NUMBER not in unit:
        return unit * -(-size // len(unit))
    parts, pieces, done = unit.split(NUMBER), [], 0
    while done < size:
        pieces.append(str(first).encode().join(parts))
        done += len(pieces[-1])
        first += 1
    return b"".join(pieces)


def halves(position, size):
    """Bytes of the padding before the link, and behind it."""
    return {"before": (size, 0), "amid": (size // 2, size - size // 2), "after": (0, size)}[position]


def around(make, position, size):
    """The padding before the link, and behind it; make(size, first number) where there is one."""
    before, after = halves(position, size)
    return (make(before, 0) if before else b"", make(after, SECOND_HALF) if after else b"")


def header(subject=b"Your account", more=b""):
    return (b"Return-Path: <joe@sender.example>\nFrom: Joe <joe@sender.example>\n"
            b"To: ann@reader.example\nDate: Mon, 2 Mar 2026 10:00:00 +0000\n"
            b"Message-ID: <1.2@sender.example>\nMIME-Version: 1.0\nSubject: " + subject + b"\n" + more)


def encoded(data):
    return base64.encodebytes(data)


def leaf(kind, data, encoding, more=b""):
    """A part: its fields, an empty line, its body."""
    fields = b"Content-Type: " + kind + b"\n" + more
    if encoding == "base64":
        return fields + b"Content-Transfer-Encoding: base64\n\n" + encoded(data)
    if encoding == "quoted":
        return fields + b"Content-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(data)
    return fields + b"Content-Transfer-Encoding: 8bit\n\n" + data


def multipart(parts, subtype=b"mixed", boundary=BOUNDARY, preamble=b"", epilogue=b""):
    line = b"\n--" + boundary
    return (b"Content-Type: multipart/" + subtype + b'; boundary="' + boundary + b'"\n\n' + preamble +
            b"".join([line + b"\n" + part for part in parts]) + line + b"--\n" + epilogue)


def text_part(data, place, charset=b"utf-8"):
    """The text where a reader or his client finds it."""
    if place == "html":
        data = data.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
        return leaf(b"text/html; charset=" + charset, b"<html><body><p>" + data + b"</body></html>", "8bit")
    if place == "attached":
        text = leaf(b"text/plain; charset=us-ascii", b"See the file.\n", "8bit")
        file = leaf(b'text/plain; name="bill.txt"; charset=' + charset, data, "base64",
                    b'Content-Disposition: attachment; filename="bill.txt"\n')
        return multipart([text, file])
    return leaf(b"text/plain; charset=" + charset, data, place)


def html_part(data, place):
    return leaf(b"text/html; charset=utf-8", b"<html><body>" + data + b"</body></html>\n", place)


def shown(pick, url=None):
    """A body part that shows the link, of one of the usual kinds."""
    url = url or address(pick(LINKS))
    if pick((True, False)):
        return leaf(b"text/plain; charset=utf-8", b"Please sign in at " + url + b" today.\n",
                    pick(HTML_PLACES))
    return html_part(b"<p>Dear reader</p>" + carried(pick(CARRIERS), url), pick(HTML_PLACES))


def carried(carrier, url, before=b"", after=b""):
    values = {b"P": before, b"U": url, b"Q": after}
    return re.sub(rb"\b[PUQ]\b", lambda found: values[found.group()], carrier)
