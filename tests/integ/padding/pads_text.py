"""Padding of plain text: clients make a link of an address with a scheme wherever it stands."""
import base64
import random

from frames import LINKS, TEXT_PLACES, address, around, fill, header, leaf, text_part

# (name, repeated bytes, why the reader still gets the link)
UNITS = (
    ("spaces", b" ", "white space before a link is scrolled over"),
    ("tabs", b"\t", "white space"),
    ("empty lines", b"\n", "white space"),
    ("carriage returns", b"\r", "line ends of old systems"),
    ("form feeds", b"\f\v", "white space that prints nothing"),
    ("dots", b".", "punctuation is no part of a link"),
    ("lines of dots", b"....................................................\n", "leaders of a table"),
    ("dashes", b"----------------------------------------------------------\n", "rulers"),
    ("brackets in pairs", b"()[]{}<>", "punctuation"),
    ("brackets not closed", b"(<[", "punctuation"),
    ("quotes", b"\"'`", "punctuation"),
    ("digits and brackets", b"1-(2).", "neither a number nor a phone number"),
    ("at signs", b"@", "no address without a name"),
    ("names and at signs", b"a@", "no address without a host"),
    ("at signs and dots", b"@.a", "no address"),
    ("colons", b":", "a colon without a scheme"),
    ("colons and words", b"a:", "unknown schemes"),
    ("slashes", b"/", "a path without a host"),
    ("backslashes", b"\\", "a path of another system"),
    ("labels", b"a.b.", "a name with too many labels"),
    ("bare names", b"name\1.example.com ", "names without a scheme before the link"),
    ("sentences without a space", b"one\1.two\1.com ", "typing errors"),
    ("file names", b"main\1.cf notes\1.txt ", "words with dots are no links"),
    ("phone numbers", b"+1 202 555 \1 ", "a directory"),
    ("digits", b"7", "a long number"),
    ("numbers and blanks", b"+1 2-", "pieces of phone numbers"),
    ("wallets", b"1BoatSLRHtKNngkdXEeobR76b53LETtpyT ", "an address of a currency"),
    ("near wallets", b"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7k\1 ", "no wallet: its checksum is wrong"),
    ("mail addresses", b"joe\1@n\1.example.com ", "a list of readers"),
    ("mailto links", b"mailto:joe\1@people.example.com ", "links to addresses"),
    ("schemes alone", b"http://", "a scheme without a host"),
    ("schemes begun", b"http:/ http// https:. ", "near-links"),
    ("www alone", b"www.", "a prefix without a name"),
    ("defanged dots", b"a\1[.]example ", "defanged names"),
    ("spelt dots", b"a (dot) ", "words"),
    ("defanged schemes", b"hxxp://a\1[.]example/ ", "a report on bad links"),
    ("links of other hosts", b"http://www\1.other\1.example/a ", "the reader can click each of the links"),
    ("links of one host", b"http://www.other.example/page/\1 ", "the reader can click each of the links"),
    ("links of one domain", b"http://host\1.other.example/ ", "the reader can click each of the links"),
    ("links to addresses of machines", b"http://192.0.2.\1/ http://198.51.100.7/\1 ",
     "the reader can click each of the links"),
    ("links with parameters", b"https://other.example/?a=\1&b=2&utm_source=c\1#d ",
     "the reader can click each of the links"),
    ("links within links", b"http://go.example/?url=http://other\1.example/ ", "redirectors"),
    ("links through a shortener", b"https://bit.ly/a\1 ", "redirectors"),
    ("links through a search engine", b"https://www.google.com/url?q=http://other\1.example/ ", "redirectors"),
    ("hosts of U+FDFA", b"http://" + "\ufdfa".encode() * 12 + b"\1.example/ ",
     "a host that grows eighteen times when it is normalised"),
    ("words of U+FDFA", "\ufdfa".encode(), "a character that grows when it is normalised"),
    ("hosts with dots of other scripts", "http://例え\1。example/ ".encode(), "links in another script"),
    ("hosts in Punycode", b"http://xn--bcher-kva\1.example/ ", "links in another script"),
    ("ideographs and full stops", "例。".encode(), "another script"),
    ("ideographs", "例".encode(), "text without spaces"),
    ("combining marks", "a\u0301\u0300.".encode(), "letters with accents"),
    ("combining marks alone", "\u0301".encode(), "marks on one letter"),
    ("zero-width characters", "\u200b\u200d".encode(), "characters that show nothing"),
    ("zero-width characters and dots", "a.\u200b".encode(), "characters that show nothing"),
    ("bidirectional marks", "\u202a\u202c\u200f".encode(), "marks of direction, each closed"),
    ("soft hyphens", "a\u00ad".encode(), "characters that show nothing"),
    ("look-alikes", "pаypаl ".encode(), "letters of another script"),
    ("emoji", "\U0001f469\u200d\U0001f469\u200d\U0001f467 ".encode(), "pictures"),
    ("tag characters", "\U000e0061".encode(), "characters that show nothing"),
    ("NULs", b"\0", "bytes that clients drop"),
    ("control characters", b"\1\2\x08\x1b[0m".replace(b"\1", b"\3"), "bytes that show nothing"),
    ("broken UTF-8", b"\xe2\x80\xff", "replacement characters"),
    ("Latin-1 as UTF-8", b"caf\xe9 ", "replacement characters"),
    ("quoted lines", b"> > a quoted line of an earlier message\n", "an answer above or below"),
    ("prose", b"the quick brown fox jumps over \1 lazy dogs, and so on.\n", "a long letter"),
    ("one long line", b"a", "a word"),
    ("one long line of words", b"word ", "a line"),
    ("percent signs", b"%25%41", "escapes outside of a link"),
    ("uuencode begun", b"begin 644 a\1\n", "no line of data follows"),
    ("boundary-like lines", b"--=_paddin\n--=_other--\n", "no boundary: another name"),
    ("field-like lines", b"Content-Type: text/html; boundary=b\1\n", "no header: text"),
    ("From lines", b">From joe Mon Mar  2 10:00:00 2026\n", "an mbox escape"),
    ("tags in text", b"<div><a href=", "text is not HTML"),
    ("entities in text", b"&amp;&#65;", "text is not HTML"),
    ("hexadecimal digests", b"d41d8cd98f00b204e9800998ecf8427e\1 ", "a list of checksums"),
    ("signed text", b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n", "a clear-signed letter"),
)


def text_message(body, pick):
    return header() + text_part(body, pick(TEXT_PLACES))


def repeated(unit, glue):
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, n, first), position, size)
        return text_message(before + glue + b"Please sign in at " + address(pick(LINKS)) +
                            b" today.\n" + after + b"\n", pick)
    return build


def glued(unit):
    """The padding touches the link: clients begin a link at its scheme."""
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, n, first), position, size)
        return text_message(before + b" <" + address(pick(LINKS)) + b"> " + after + b"\n", pick)
    return build


def blob(position, size, pick):
    """Base64 as text, of random bytes."""
    before, after = around(lambda n, first: base64.encodebytes(random.Random(first).randbytes(n * 3 // 4)),
                           position, size)
    return text_message(before + b"\nSee " + address(pick(LINKS)) + b" now\n" + after, pick)


def uuencoded(position, size, pick):
    """A file inside the text, closed by its end line."""
    def file(n, first):
        return b"begin 644 a%d.bin\n" % first + fill(b"M" + b"1" * 60 + b"\n", n) + b"`\nend\n"
    before, after = around(file, position, size)
    text = before + b"Sign in at " + address(pick(LINKS)) + b" today.\n" + after
    return header() + leaf(b"text/plain", text, pick(("plain", "base64")))


def yencoded(position, size, pick):
    def file(n, first):
        return (b"=ybegin line=128 size=%d name=a%d.bin\n" % (n, first) + fill(b"\x8a\xb3*J" * 32 + b"\n", n) +
                b"=yend size=%d\n" % n)
    before, after = around(file, position, size)
    return header() + leaf(b"text/plain", before + b"Sign in at " + address(pick(LINKS)) + b" .\n" + after, "8bit")


def charset(name, codec, unit, why):
    """Text and link in the charset that the part names."""
    def build(position, size, pick):
        text, link = unit.encode(codec), address(pick(LINKS)).decode()
        if codec == "utf-16":
            text, middle = unit.encode("utf-16-le"), f"\nPlease sign in at {link} today.\n".encode("utf-16-le")
            mark = b"\xff\xfe"
        else:
            middle, mark = f"\nPlease sign in at {link} today.\n".encode(codec), b""
        before, after = around(lambda n, _: fill(text, n), position, size)
        return header() + leaf(b"text/plain; charset=" + name.encode(), mark + before + middle + after, "base64")
    return (f"charset {name}: {ascii(unit)[1:-1][:12]}", why, build)


def unknown_charset(position, size, pick):
    before, after = around(lambda n, _: fill(b"a.\xc1\xff", n), position, size)
    text = before + b"\nSign in at " + address(pick(LINKS)) + b" now\n" + after
    return header() + leaf(b"text/plain; charset=x-none", text, "8bit")


def quoted_soft_breaks(position, size, pick):
    before, after = around(lambda n, _: fill(b"=\n", n), position, size)
    body = before + b"\nSign in at " + address(pick(LINKS)).replace(b"=", b"=3D") + b" now\n" + after + b"\n"
    return header() + (b"Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n") + body


def quoted_blanks(position, size, pick):
    before, after = around(lambda n, _: fill(b"=20=09   =\n", n), position, size)
    body = before + b"\nSign in at " + address(pick(LINKS)).replace(b"=", b"=3D") + b" now\n" + after + b"\n"
    return header() + (b"Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n") + body


def base64_junk(unit):
    """Decoders pass over what is no base64 character (RFC 2045, section 6.8)."""
    def build(position, size, pick):
        before, after = around(lambda n, _: fill(unit, n), position, size)
        body = before + base64.encodebytes(b"\nSign in at " + address(pick(LINKS)) + b" now\n ") + after + b"\n"
        return header() + b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + body
    return build


def flowed(position, size, pick):
    before, after = around(lambda n, _: fill(b"flowed words \n", n), position, size)
    return header() + leaf(b"text/plain; format=flowed; delsp=yes",
                           before + b"\nSign in at " + address(pick(LINKS)) + b" now\n" + after, "8bit")


def many_kinds(position, size, pick):
    """Values of all types in turn: none may take the room of the others."""
    unit = (b"+1 202 555 \1 joe\1@n\1.example.com http://h\1.other\1.example/p?i=\1 www.w\1.com "
            b"http://192.0.2.\1/ 1BoatSLRHtKNngkdXEeobR76b53LETtpyT ")
    before, after = around(lambda n, first: fill(unit, n, 1000000 + first), position, size)
    return text_message(before + b"\nSign in at " + address(pick(LINKS)) + b" now\n" + after, pick)


def rows():
    yield from (("text " + name, why, repeated(unit, b"\n")) for name, unit, why in UNITS)
    yield ("text spaces, glued", "white space up to the link", glued(b" "))
    yield ("text brackets, glued", "punctuation up to the link", glued(b"(([["))
    yield ("text base64 as text", "a key or a file as text", blob)
    yield ("text uuencoded file", "clients show the text around a file", uuencoded)
    yield ("text yEnc file", "clients show the text around a file", yencoded)
    yield ("text of many kinds", "values of all types, all shown", many_kinds)
    yield charset("utf-16", "utf-16", "a.", "two bytes a character")
    yield charset("utf-16le", "utf-16-le", "\ufdfa", "two bytes a character")
    yield charset("utf-16be", "utf-16-be", "例。", "two bytes a character")
    yield charset("utf-7", "utf-7", "é.", "an encoding within an encoding")
    yield charset("iso-2022-jp", "iso-2022-jp", "日a", "escapes between two alphabets")
    yield charset("shift_jis", "shift_jis", "日本", "two bytes a character")
    yield charset("gb18030", "gb18030", "\ufdfa", "four bytes a character")
    yield charset("koi8-r", "koi8-r", "пример.", "another alphabet")
    yield ("charset not known", "clients show ASCII of any charset", unknown_charset)
    yield ("quoted-printable soft breaks", "they vanish when decoded", quoted_soft_breaks)
    yield ("quoted-printable blanks", "white space", quoted_blanks)
    yield ("base64 among junk", "decoders pass over it", base64_junk(b"!\n"))
    yield ("base64 among empty lines", "decoders pass over it", base64_junk(b"\n"))
    yield ("base64 among blanks", "decoders pass over it", base64_junk(b" " * 70 + b"\n"))
    yield ("text format=flowed", "lines that are joined", flowed)
