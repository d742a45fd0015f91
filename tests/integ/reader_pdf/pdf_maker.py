"""Writes PDF files byte by byte, and reads what gillnet's reader found in one."""
import json
import os
import pathlib
import subprocess
import tempfile
import zlib

RECORDS = os.environ.get("READER_RECORDS", "")
SEALED = os.environ.get("SEALED_PDF", "")
FACTS = ["", "encrypted", "opened", "damaged", "unknown", "macro", "runs", "form", "entries",
         "bytes", "ratio", "pages", "pixels"]
LANGUAGES = ["", "javascript", "vba", "command"]


class Found:
    """The records of one file, by kind."""

    def __init__(self, lines):
        self.rows = [json.loads(line) for line in lines.splitlines()]
        self.links = [(r["place"], r.get("value")) for r in self.of("link")]
        self.scripts = [(LANGUAGES[r["detail"]], r["value"]) for r in self.of("script")]
        self.facts = {FACTS[r["detail"]] for r in self.of("fact")}
        self.text = self.words(0)
        self.hidden = self.words(1)
        self.codes = [(r["place"], r["value"]) for r in self.of("code")]
        self.files = self.contained()

    def of(self, kind):
        return [r for r in self.rows if r["kind"] == kind]

    def words(self, detail):
        """Texts of different places are no one text."""
        text, place = "", None
        for r in self.of("text"):
            if r["detail"] == detail:
                text += (" " if r["place"] != place else "") + r["value"]
                place = r["place"]
        return text

    def urls(self):
        return [url for _, url in self.links]

    def contained(self):
        files, name, data = {}, None, b""
        for r in self.rows:
            if r["kind"] == "begin":
                name, data = tuple(r["value"].split("\0")), b""
            elif r["kind"] == "data":
                data += bytes.fromhex(r["hex"]) if "hex" in r else r["value"].encode()
            elif r["kind"] == "file_end":
                files[name] = data
        return files

    def text_at(self, place):
        return "".join(r["value"] for r in self.of("text") if r["place"] == place)


def read_file(path, *options):
    done = subprocess.run([RECORDS, *options, str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{path}: reader_records ended with {done.returncode}")
    return Found(done.stdout.decode())


def read(data, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "file.pdf")
        path.write_bytes(data)
        return read_file(path, *options)


def read_sealed(data):
    """Lines of sealed_pdf: no file can be opened."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "file.pdf")
        path.write_bytes(data)
        return subprocess.run([SEALED, str(path)], stdout=subprocess.PIPE, timeout=120,
                              check=True).stdout.decode()


def stream(data, entries=b"", packed=False):
    if packed:
        data, entries = zlib.compress(data), entries + b"/Filter/FlateDecode"
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(data), data)


def section(objects, out, trailer, previous=None):
    """Appends objects, their table and a trailer to `out`."""
    at = {}
    for number in sorted(objects):
        at[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    begin = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number in sorted(objects):
        out += b"%d 1\n%010d 00000 n \n" % (number, at[number])
    if previous is not None:
        trailer += b"/Prev %d" % previous
    out += b"trailer\n<<%s/Size %d>>\nstartxref\n%d\n%%%%EOF\n" % (trailer, max(objects) + 1, begin)
    return begin


HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
PAGE_ONE = 1000  # its number; its content, annotations and all else follow


def pdf(content=b"", page=b"", catalog=b"", objects=None, resources=b"", pages=None):
    """A document of one page, or of several contents."""
    contents = pages if pages is not None else [content]
    body = {2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (
        b" ".join(b"%d 0 R" % (PAGE_ONE + 2 * i) for i in range(len(contents))), len(contents)),
            1: b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog, 3: HELVETICA}
    for i, drawn in enumerate(contents):
        body[PAGE_ONE + 2 * i] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>%s>>%s>>" % (
                PAGE_ONE + 2 * i + 1, resources, page))
        body[PAGE_ONE + 2 * i + 1] = stream(drawn, packed=True)
    body.update(objects or {})
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    section(body, out, b"/Root 1 0 R")
    return bytes(out)


def line(text, y=700, before=b"", size=12):
    return b"BT %s /F1 %g Tf 50 %d Td (%s) Tj ET\n" % (before, size, y, text)


def modules(text):
    """The modules of a QR code as qrencode makes them: rows of booleans."""
    drawn = subprocess.run(["qrencode", "-t", "ASCII", "-m", "4", text], stdout=subprocess.PIPE,
                           check=True).stdout.decode().splitlines()
    return [[row[i] == "#" for i in range(0, len(row), 2)] for row in drawn]
