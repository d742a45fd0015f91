"""Padding of MIME parts: a client shows the text of a message whatever else is in it."""
import gzip
import io
import random
import struct
import zipfile
import zlib

from frames import (BOUNDARY, HTML_PLACES, LINKS, address, around, encoded, fill, header, html_part,
                    leaf, multipart, shown)

DEEPEST = 90  # multiparts inside each other: Postfix passes 100
ZEROS = 10 << 20

# (name, whole parts to repeat, without their delimiter, why the link is shown)
PARTS = (
    ("empty parts", b"\n", "nothing to show"),
    ("empty lines as parts", b"\n\n\n\n", "nothing to show"),
    ("parts without an empty line", b"", "nothing to show"),
    ("tiny parts", b"\na\n", "a letter each"),
    ("tiny parts of HTML", b"Content-Type: text/html\n\n<p>a\1\n", "a paragraph each"),
    ("tiny parts with a link", b"\nhttp://www\1.other\1.example/\n", "a link each"),
    ("parts with many fields", b"".join(b"X-%d: a\n" % i for i in range(40)) + b"\na\n", "fields of parts are not shown"),
    ("parts with a long field", b"X-A: " + b"a" * 900 + b"\n\na\n", "fields of parts are not shown"),
    ("parts of many parameters", b"Content-Type: text/plain" + b"; a=b" * 100 + b"\n\na\n", "parameters not known"),
    ("parts of two types", b"Content-Type: text/html\nContent-Type: text/plain\n\na\1\n", "either is harmless"),
    ("parts of two encodings",
     b"Content-Transfer-Encoding: base64\nContent-Transfer-Encoding: 7bit\n\nYQ==\n", "either is harmless"),
    ("small attachments", b"Content-Type: image/png; name=a\1.png\nContent-Disposition: attachment\n\na\1\n",
     "attachments are listed below the text"),
    ("small texts attached", b"Content-Type: text/plain\nContent-Disposition: attachment; filename=a\1.txt\n\na \1\n",
     "attachments are listed below the text"),
    ("attachments of long names",
     b"Content-Type: application/x-a; name=\"" + b"a" * 200 + b"\1.bin\"\n\na\n", "attachments are listed below the text"),
    ("messages", b"Content-Type: message/rfc822\n\nSubject: a\1\nFrom: joe\1@people.example.com\n\nhello\n",
     "forwarded messages follow the text"),
    ("messages as a digest", b"Content-Type: message/rfc822\n\nSubject: a\n\nhello http://www\1.other.example/\n",
     "forwarded messages follow the text"),
    ("delivery reports", b"Content-Type: message/delivery-status\n\nReporting-MTA: dns; a.example\n\nAction: failed\n",
     "reports follow the text"),
    ("fragments", b"Content-Type: message/partial; id=\"a@b\"; number=\1; total=9\n\nSubject: a\n\na\n",
     "a fragment is not shown"),
    ("external bodies",
     b"Content-Type: message/external-body; access-type=local-file; name=\"/a\"\n\nContent-Type: text/plain\n\n",
     "the body is elsewhere"),
    ("calendars", b"Content-Type: text/calendar\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\1\nURL:http://c\1.example/\n"
     b"END:VEVENT\nEND:VCALENDAR\n", "an invitation beside the text"),
    ("cards", b"Content-Type: text/vcard\n\nBEGIN:VCARD\nVERSION:3.0\nFN:Joe \1\nURL:http://v\1.example/\nEND:VCARD\n",
     "a card beside the text"),
    ("nested multiparts, closed",
     b"Content-Type: multipart/mixed; boundary=c\n\n--c\n\na\n--c--\n", "containers of little"),
    ("nested multiparts, not closed", b"Content-Type: multipart/mixed; boundary=d\1\n\n--d\1\n\na\n",
     "the outer delimiter ends them"),
    ("alternatives", b"Content-Type: multipart/alternative; boundary=c\n\n--c\n\na\n--c\nContent-Type: text/html\n\n"
     b"<p>a</p>\n--c--\n", "one of them is shown"),
    ("encoded tiny parts", b"Content-Transfer-Encoding: base64\n\nYQo=\n", "a letter each"),
    ("compressed attachments", b"Content-Type: application/gzip; name=a\1.gz\nContent-Transfer-Encoding: base64\n\n" +
     encoded(gzip.compress(b"a", mtime=0)), "attachments are listed below the text"),
    ("parts of types not known", b"Content-Type: x-\1/y\n\na\n", "attachments are listed below the text"),
    ("parts of bad types", b"Content-Type: ;;\nContent-Disposition: =\1\n\na\n", "text"),
)


def with_parts(make, subtype=b"mixed"):
    """make(size, first number) is a list of parts."""
    def build(position, size, pick):
        before, after = around(make, position, size)
        return header() + multipart([*before, shown(pick), *after], subtype)
    return build


def repeated(unit):
    delimiter = b"\n--" + BOUNDARY + b"\n"
    def make(size, first):
        return [fill(unit + delimiter, size, first) + unit.replace(b"\1", b"0")]
    return with_parts(make)


def attached(make, kind, name):
    """One attachment of a size; make(bytes, first number) is its contents."""
    def part(size, first):
        data = make(size * 3 // 4, first)
        return [leaf(kind + b'; name="' + name + b'"', data, "base64",
                     b'Content-Disposition: attachment; filename="' + name + b'"\n')]
    return with_parts(part)


def noise(size, first):
    return random.Random(first).randbytes(size)


def picture(size, first):
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0\x90wS\xde" + noise(size, first)


def entry(name, data, packed, method):
    """Local header and central header of a file in a zip, without the place of the first."""
    fixed = struct.pack("<HHHHHIIIH", 20, 0, method, 0, 0x5a21, zlib.crc32(data) if data else 0, len(packed), len(data), len(name))
    return b"PK\3\4" + fixed + b"\0\0" + name + packed, (b"PK\1\2\x14\0" + fixed + b"\0" * 12, name)


def archive(entries):
    """A zip of entries (local, (central, name))."""
    locals_, centrals, at = [], [], 0
    for local, (central, name) in entries:
        locals_.append(local)
        centrals.append(central + struct.pack("<I", at) + name)
        at += len(local)
    directory = b"".join(centrals)
    count = min(len(locals_), 0xffff)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), at, 0)
    return b"".join(locals_) + directory + end


def zip_of_one(size, first):
    data = noise(size, first)
    return archive([entry(b"a.bin", data, data, 0)])


def zip_of_many(size, first):
    data = b"text"
    return archive([entry(b"f%d.txt" % (first + i), data, data, 0) for i in range(max(1, size // 100))])


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def zip_bomb(size, first):
    zeros = b"\0" * min(ZEROS, size * 1000)
    packed = deflated(zeros)
    return archive([entry(b"f%d.txt" % (first + i), zeros, packed, 8) for i in range(max(1, size // (len(packed) + 90)))])


def zip_in_zip(size, first):
    data = zip_of_one(size, first)
    for _ in range(5):
        data = archive([entry(b"a.zip", data, data, 0)])
    return data


def office(folder, main, size, first):
    text = b"<w:p><w:r><w:t>" + fill(b"words of a letter \1 ", size * 4, first) + b"</w:t></w:r></w:p>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr(f"{folder}/{main}.xml", text)
        file.writestr(f"{folder}/media/image1.png", picture(size // 2, first))
        file.writestr(f"{folder}/settings.xml", b"<w:settings/>")
    return out.getvalue()


def docx(size, first):
    return office("word", "document", size, first)


def xlsx(size, first):
    return office("xl", "sharedStrings", size, first)


def pdf_of(unit, head=b""):
    return lambda size, first: b"%PDF-1.4\n" + head + fill(unit, size, first) + b"\n%%EOF\n"


def pdf_of_stream(size, first):
    packed = zlib.compress(fill(b"BT (words \1) Tj ET\n", size * 3, first))
    return (b"%%PDF-1.4\n1 0 obj\n<</Length %d/Filter/FlateDecode>>\nstream\n" % len(packed) + packed +
            b"\nendstream\nendobj\n%%EOF\n")


def pdf_bomb(size, first):
    packed = zlib.compress(b"\0" * min(ZEROS, size * 1000), 9)
    one = b"1 0 obj\n<</Type/ObjStm/N 9/First 9/Length %d/Filter/FlateDecode>>\nstream\n" % len(packed) + packed + b"\nendstream\nendobj\n"
    return b"%PDF-1.4\n" + fill(one, size) + b"%%EOF\n"


def winmail(unit):
    return lambda size, first: b"\x78\x9f\x3e\x22\1\0" + fill(unit, size)


def attribute(level, number, data):
    return struct.pack("<BII", level, number, len(data)) + data + struct.pack("<H", sum(data) & 0xffff)


def plain_file(unit):
    return lambda size, first: fill(unit, size, first)


def uuencoded_part(size, first):
    return [leaf(b"text/plain", b"begin 644 a%d.bin\n" % first + fill(b"M" + b"1" * 60 + b"\n", size) + b"`\nend\n", "8bit")]


def forwarded(size, first):
    """One big message that is forwarded."""
    return [leaf(b"message/rfc822", header() + leaf(b"text/plain", fill(b"words of a letter \1\n", size, first), "8bit"), "8bit")]


def forwarded_file(size, first):
    part = leaf(b"application/octet-stream; name=a.bin", noise(size * 3 // 4, first), "base64")
    return [leaf(b"message/rfc822", header() + multipart([part], boundary=b"inner"), "8bit")]


def text_before(size, first):
    return [leaf(b"text/plain", fill(b"words of a letter \1\n", size, first), "8bit")]


def html_before(size, first):
    return [leaf(b"text/html", fill(b"<p>words <a href='http://o\1.example/'>of</a></p>\n", size, first), "8bit")]


def preamble(unit):
    """Clients skip what stands before the first delimiter and behind the last."""
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, n, first), position, size)
        return header() + multipart([shown(pick)], preamble=before, epilogue=after)
    return build


def nested(position, size, pick):
    """The link is within multiparts, each of which opens another."""
    before, after = around(lambda n, _: fill(b"words\n", n), position, size)
    inner = shown(pick)
    for depth in range(min(DEEPEST, size // 70)):
        inner = multipart([inner], boundary=b"b%d" % depth)
    return header() + multipart([inner], preamble=before, epilogue=after)


def in_messages(position, size, pick):
    """The link is within messages that were forwarded again and again."""
    before, after = around(text_before, position, size)
    inner = multipart([*before, shown(pick), *after], boundary=b"innermost")
    for _ in range(min(20, size // 300)):
        inner = b"Content-Type: message/rfc822\n\n" + header() + inner
    return header() + inner


def alternative(unit):
    """The HTML is shown, the text has the padding."""
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, n, first), position, size)
        parts = [leaf(b"text/plain", data, "8bit") for data in (before, after)]
        parts.insert(1, html_part(b"<p>Dear</p><a href='" + address(pick(LINKS)) + b"'>Sign in</a>", pick(HTML_PLACES)))
        return header() + multipart(parts, b"alternative")
    return build


def in_text_file(position, size, pick):
    """The reader opens the file."""
    before, after = around(lambda n, first: fill(b"words of a file \1\n", n, first), position, size)
    data = before + b"\nSign in at " + address(pick(LINKS)) + b" today\n" + after
    kind, name = pick(((b"text/plain", b"a.txt"), (b"text/csv", b"a.csv"), (b"text/html", b"a.html")))
    file = leaf(kind + b'; name="' + name + b'"', data, pick(("plain", "base64")),
                b'Content-Disposition: attachment; filename="' + name + b'"\n')
    return header() + multipart([leaf(b"text/plain", b"See the file\n", "8bit"), file])


def long_boundary(position, size, pick):
    """A boundary of 70 characters among delimiters of another that begins alike."""
    name = b"b" * 70
    before, after = around(lambda n, _: fill(b"--" + name[:-1] + b"\n\na\n", n), position, size)
    return header() + multipart([leaf(b"text/plain", before, "8bit"), shown(pick), leaf(b"text/plain", after, "8bit")],
                                boundary=name)


def dashes(position, size, pick):
    before, after = around(lambda n, _: fill(b"-" * 34 + b"\n", n), position, size)
    return header() + multipart([leaf(b"text/plain", before, "8bit"), shown(pick), leaf(b"text/plain", after, "8bit")])


def not_closed(position, size, pick):
    """The last delimiter is missing: clients show the parts."""
    before, after = around(text_before, position, size)
    whole = header() + multipart([*before, shown(pick), *after])
    return whole[:whole.rindex(b"\n--")] + b"\n"


def rows():
    yield from (("mime " + name, why, repeated(unit)) for name, unit, why in PARTS)
    listed = "attachments are listed below the text"
    for name, make, kind, file in (
            ("random bytes", noise, b"application/octet-stream", b"a.bin"),
            ("random bytes as zip", noise, b"application/zip", b"a.zip"),
            ("a picture", picture, b"image/png", b"a.png"),
            ("a film", plain_file(b"\0\0\0\x20ftypisom\1"), b"video/mp4", b"a.mp4"),
            ("a zip of one file", zip_of_one, b"application/zip", b"a.zip"),
            ("a zip of many files", zip_of_many, b"application/zip", b"a.zip"),
            ("a zip bomb", zip_bomb, b"application/zip", b"a.zip"),
            ("zips in zips", zip_in_zip, b"application/zip", b"a.zip"),
            ("a docx", docx, b"application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"a.docx"),
            ("an xlsx", xlsx, b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", b"a.xlsx"),
            ("a PDF of links", pdf_of(b"\1 0 obj\n<</S/URI/URI(http://www\1.other.example/)>>\nendobj\n"), b"application/pdf", b"a.pdf"),
            ("a PDF of text", pdf_of(b"BT (words \1) Tj ET\n", b"1 0 obj\n<<>>\nstream\n"), b"application/pdf", b"a.pdf"),
            ("a PDF of strings not closed", pdf_of(b"/URI(("), b"application/pdf", b"a.pdf"),
            ("a PDF of dictionaries", pdf_of(b"<</N"), b"application/pdf", b"a.pdf"),
            ("a PDF of a packed stream", pdf_of_stream, b"application/pdf", b"a.pdf"),
            ("a PDF bomb", pdf_bomb, b"application/pdf", b"a.pdf"),
            ("winmail.dat of bodies", winmail(attribute(1, 0x2800c, b"words\0")), b"application/ms-tnef", b"winmail.dat"),
            ("winmail.dat of attachments", winmail(attribute(2, 0x69002, b"\1" * 14) + attribute(2, 0x6800f, b"data")),
             b"application/ms-tnef", b"winmail.dat"),
            ("gzip", lambda size, first: gzip.compress(noise(size, first), 1, mtime=0), b"application/gzip", b"a.gz"),
            ("a signature", noise, b"application/pkcs7-signature", b"smime.p7s"),
            ("a long text", plain_file(b"words of a file \1\n"), b"text/plain", b"a.txt"),
            ("a table", plain_file(b"\1;joe\1@people.example.com;+1 202 555 \1\n"), b"text/csv", b"a.csv"),
            ("a long page", plain_file(b"<p><a href='http://o\1.example/'>a</a></p>\n"), b"text/html", b"a.html"),
            ("JSON", plain_file(b'{"a\1": "http://www\1.other.example/"},\n'), b"application/json", b"a.json"),
            ("a calendar", plain_file(b"URL:http://c\1.example/\nDESCRIPTION:a\\n\n b\n"), b"text/calendar", b"a.ics"),
            ("cards", plain_file(b"BEGIN:VCARD\nFN:Joe \1\nEMAIL:joe\1@people.example.com\nEND:VCARD\n"), b"text/vcard", b"a.vcf"),
            ("SVG", plain_file(b"<g><a href='http://o\1.example/'/></g>"), b"image/svg+xml", b"a.svg"),
            ("RTF", plain_file(b"{\\rtf1 words \1\\par}"), b"application/rtf", b"a.rtf")):
        yield ("attachment of " + name, listed, attached(make, kind, file))
    yield ("mime uuencoded file as a part", "clients make an attachment of it", with_parts(uuencoded_part))
    yield ("mime a big message", "forwarded messages follow the text", with_parts(forwarded))
    yield ("mime a message with a file", "forwarded messages follow the text", with_parts(forwarded_file))
    yield ("mime text parts", "all text parts are shown", with_parts(text_before))
    yield ("mime HTML parts", "all text parts are shown", with_parts(html_before))
    yield ("mime related pictures", "pictures of a page", with_parts(
        lambda size, first: [leaf(b"image/png", picture(size * 3 // 4, first), "base64", b"Content-ID: <a@b>\n")], b"related"))
    for name, unit in (("words", b"words \1\n"), ("links", b"http://www\1.other.example/\n"), ("empty lines", b"\n"),
                       ("near delimiters", b"--other\n\na\n")):
        yield (f"mime preamble and epilogue of {name}", "clients skip them", preamble(unit))
    for name, unit in (("links", b"http://www\1.other\1.example/\n"), ("words", b"words \1\n"), ("dots", b"1-(2).")):
        yield (f"mime alternative text of {name}", "clients show the HTML", alternative(unit))
    yield ("mime nested multiparts around", f"up to {DEEPEST} containers", nested)
    yield ("mime messages around", "the reader opens them", in_messages)
    yield ("mime text file around", "the reader opens the file", in_text_file)
    yield ("mime delimiters of another boundary", "no delimiter: one character is missing", long_boundary)
    yield ("mime dashes", "no delimiter", dashes)
    yield ("mime not closed", "clients end a multipart with the message", not_closed)
