"""PDF files of other programs: LibreOffice writes them, qpdf packs and encrypts them.

Oracles: pdftotext for words, the URLs that were put in, pdfdetach and the files that were attached.
"""
import base64
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from pdf_maker import HELVETICA, line, pdf, read, read_file, read_sealed, stream

SPACES = ('xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
          ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
          ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
          ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
          ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
          ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
          ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
          ' xmlns:xlink="http://www.w3.org/1999/xlink"')
SENTENCES = ("The invoice of March is overdue and must be paid today.",
             "La facture du mois de f\u00e9vrier est \u00e0 r\u00e9gler, d\u00e8s aujourd\u2019hui.",
             "\u0412\u0430\u0448 \u0441\u0447\u0451\u0442 \u043d\u0443\u0436\u043d\u043e \u043e\u043f\u043b\u0430\u0442\u0438\u0442\u044c \u0441\u0435\u0433\u043e\u0434\u043d\u044f.",
             "\u03a4\u03bf \u03c4\u03b9\u03bc\u03bf\u03bb\u03cc\u03b3\u03b9\u03cc \u03c3\u03b1\u03c2 \u03c0\u03c1\u03ad\u03c0\u03b5\u03b9 \u03bd\u03b1 \u03c0\u03bb\u03b7\u03c1\u03c9\u03b8\u03b5\u03af.",
             "\u064a\u062c\u0628 \u062f\u0641\u0639 \u0641\u0627\u062a\u0648\u0631\u062a\u0643 \u0627\u0644\u064a\u0648\u0645.")


def flat(kind, body):
    return (f'<?xml version="1.0" encoding="UTF-8"?><office:document {SPACES} office:version="1.2"'
            f' office:mimetype="application/vnd.oasis.opendocument.{kind}"><office:automatic-styles>'
            '<style:style style:name="page" style:family="paragraph">'
            '<style:paragraph-properties fo:break-before="page"/></style:style></office:automatic-styles>'
            f"<office:body>{body}</office:body></office:document>")


def anchor(url, words="open it"):
    return f'<text:a xlink:type="simple" xlink:href="{url}">{words}</text:a>'


def writer(urls, picture):
    paragraphs = []
    for i, url in enumerate(urls):
        style = ' text:style-name="page"' if i % 5 == 0 else ""
        paragraphs.append(f"<text:p{style}>{SENTENCES[i % len(SENTENCES)]} {anchor(url)} number{i}</text:p>")
    paragraphs.append('<text:p><draw:frame text:anchor-type="as-char" svg:width="4cm" svg:height="4cm"><draw:image>'
                      f"<office:binary-data>{picture}</office:binary-data></draw:image></draw:frame></text:p>")
    return flat("text", f"<office:text>{''.join(paragraphs)}</office:text>")


def calc(urls):
    rows = "".join("<table:table-row><table:table-cell office:value-type=\"string\">"
                   f"<text:p>{anchor(url, f'cell{i}')}</text:p></table:table-cell></table:table-row>"
                   for i, url in enumerate(urls))
    return flat("spreadsheet", '<office:spreadsheet><table:table table:name="Prices"><table:table-column/>'
                f"{rows}</table:table></office:spreadsheet>")


def impress(urls):
    pages = "".join(f'<draw:page draw:name="p{i}"><draw:frame svg:x="1cm" svg:y="1cm" svg:width="20cm"'
                    f' svg:height="5cm"><draw:text-box><text:p>slide{i} {anchor(url)}</text:p></draw:text-box>'
                    "</draw:frame></draw:page>" for i, url in enumerate(urls))
    return flat("presentation", f"<office:presentation>{pages}</office:presentation>")


def words_of(text):
    """Words of letters and digits, without the marks of direction that both programs put in."""
    return re.findall(r"\w+", re.sub("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text))


class Documents(unittest.TestCase):
    CODE = "https://qr.example/pay"

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.urls = {name: [f"https://{name}.example/path/{i}?id={i * 7919}" for i in range(n)]
                    for name, n in (("writer", 40), ("calc", 30), ("impress", 8))}
        picture = subprocess.run(["qrencode", "-t", "PNG", "-o", "-", cls.CODE], stdout=subprocess.PIPE,
                                 check=True).stdout
        texts = {"writer.fodt": writer(cls.urls["writer"], base64.b64encode(picture).decode()),
                 "calc.fods": calc(cls.urls["calc"]), "impress.fodp": impress(cls.urls["impress"])}
        for name, text in texts.items():
            (cls.folder / name).write_text(text)
        subprocess.run(["soffice", f"-env:UserInstallation=file://{cls.folder}/profile", "--headless",
                        "--convert-to", "pdf", "--outdir", str(cls.folder),
                        *(str(cls.folder / name) for name in texts)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=200, check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return self.folder / f"{name}.pdf"

    def qpdf(self, name, *options):
        to = self.folder / "packed.pdf"
        subprocess.run(["qpdf", *options, str(self.path(name)), str(to)], check=True)
        return to

    def test_words(self):
        for name in self.urls:
            with self.subTest(name):
                want = words_of(subprocess.run(["pdftotext", str(self.path(name)), "-"], check=True,
                                               stdout=subprocess.PIPE).stdout.decode())
                found = read_file(self.path(name))
                got = set(words_of(found.text))
                self.assertGreater(len(want), len(self.urls[name]))
                self.assertGreaterEqual(sum(w in got for w in want), 0.95 * len(want))
                self.assertEqual(found.hidden, "")

    def test_sentences(self):
        """Whole sentences in four scripts, in the order in which they are read."""
        text = " ".join(read_file(self.path("writer")).text.split())
        for sentence in SENTENCES[:4]:
            self.assertIn(sentence.replace("\u2019", "'"), text.replace("\u2019", "'"))

    def test_urls(self):
        for name, urls in self.urls.items():
            with self.subTest(name):
                got = read_file(self.path(name)).urls()
                self.assertGreaterEqual(sum(url in got for url in urls), 0.99 * len(urls))
                self.assertEqual(len(got), len(set(got)))

    def test_code_in_a_picture(self):
        codes = read_file(self.path("writer")).codes
        self.assertIn(self.CODE, [text for _, text in codes])

    def test_forms_of_one_document(self):
        """Linearised, in object streams, and without any compression: the same is found."""
        want = read_file(self.path("impress"))
        for options in (["--linearize"], ["--object-streams=generate"], ["--object-streams=disable"],
                        ["--qdf", "--stream-data=uncompress"],
                        ["--compression-level=9", "--recompress-flate", "--object-streams=generate"]):
            with self.subTest(" ".join(options)):
                found = read_file(self.qpdf("impress", *options))
                self.assertEqual((sorted(found.urls()), found.text), (sorted(want.urls()), want.text))

    def test_encrypted(self):
        for bits, weak in (("40", ["--allow-weak-crypto"]), ("128", ["--allow-weak-crypto"]), ("256", [])):
            with self.subTest(bits):
                path = self.qpdf("impress", *weak, "--encrypt", "opens 4711", "owner", bits, "--")
                found = read_file(path)
                self.assertEqual((found.facts, found.urls(), found.text), ({"encrypted"}, [], ""))
                found = read_file(path, "--password", "wrong", "--password", "opens 4711")
                self.assertEqual(found.facts, {"opened"})
                self.assertEqual(sorted(found.urls()), sorted(self.urls["impress"]))
                self.assertIn("slide3", found.text)

    def test_encrypted_with_no_password(self):
        """Everyone can open such a file: it is no encrypted one."""
        for bits, weak in (("40", ["--allow-weak-crypto"]), ("128", ["--allow-weak-crypto"]), ("256", [])):
            with self.subTest(bits):
                found = read_file(self.qpdf("impress", *weak, "--encrypt", "", "owner", bits, "--"))
                self.assertEqual(found.facts, set())
                self.assertEqual(sorted(found.urls()), sorted(self.urls["impress"]))
                self.assertIn("slide3", found.text)

    def test_attached_by_another_program(self):
        inner = self.folder / "inner.txt"
        inner.write_text("words in a file\n" * 9999)
        path = self.folder / "attached.pdf"
        subprocess.run(["qpdf", str(self.path("calc")), "--add-attachment", str(inner), "--", str(path)], check=True)
        listed = subprocess.run(["pdfdetach", "-list", str(path)], stdout=subprocess.PIPE, check=True).stdout
        self.assertIn(b"inner.txt", listed)
        files = read_file(path).files
        self.assertEqual([name for name, _ in files], ["inner.txt"])
        self.assertEqual(list(files.values()), [inner.read_bytes()])


ENCODINGS = (("GB1", "UniGB-UCS2-H", "utf-16-be", "\u4e2d\u6587\u53d1\u7968"),
             ("GB1", "GBK-EUC-H", "gbk", "\u4e2d\u6587\u53d1\u7968"),
             ("Japan1", "90ms-RKSJ-H", "cp932", "\u65e5\u672c\u8a9e\u8acb\u6c42\u66f8"),
             ("Korea1", "KSCms-UHC-H", "cp949", "\ud55c\uad6d\uc5b4"))
MORE_ENCODINGS = (("CNS1", "ETen-B5-H", "big5", "\u4e2d\u6587\u767c\u7968"),
                  ("Japan1", "UniJIS-UTF16-H", "utf-16-be", "\u65e5\u672c\u8a9e\u8acb\u6c42\u66f8"))


def old_document(collection, encoding, codec, text):
    """Text in a font that is not in the file and says no Unicode: the tables of poppler-data do."""
    return pdf(b"BT /F2 12 Tf 50 700 Td <%s> Tj ET" % text.encode(codec).hex().encode(),
               resources=b"/Font<</F1 3 0 R/F2 50 0 R>>", objects={
                   50: b"<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/%s/DescendantFonts[<</Type/Font"
                       b"/Subtype/CIDFontType0/BaseFont/A/CIDSystemInfo<</Registry(Adobe)/Ordering(%s)/Supplement 2>>"
                       b"/FontDescriptor<</Type/FontDescriptor/FontName/A/Flags 4>>>>]>>"
                       % (encoding.encode(), collection.encode())})


class Scripts(unittest.TestCase):
    def test_tables_of_old_documents(self):
        for row in ENCODINGS + MORE_ENCODINGS:
            with self.subTest(row[1]):
                self.assertIn(row[3], read(old_document(*row)).text)

    def test_sealed(self):
        """The tables that are loaded before the sandbox."""
        for row in ENCODINGS:
            with self.subTest(row[1]):
                self.assertIn(row[3], read_sealed(old_document(*row)))

    def test_unicode_of_the_file_needs_no_table(self):
        font = {50: b"<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/ToUnicode 51 0 R"
                    b"/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo"
                    b"<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]>>",
                51: stream(b"1 beginbfrange <0000> <ffff> <0000> endbfrange", packed=True)}
        for text in [row[3] for row in ENCODINGS] + ["\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22"]:
            data = pdf(b"BT /F2 12 Tf 50 700 Td <%s> Tj ET" % text.encode("utf-16-be").hex().encode(),
                       resources=b"/Font<</F1 3 0 R/F2 50 0 R>>", objects=font)
            self.assertIn(text, read_sealed(data))

    def test_sealed_latin(self):
        self.assertIn("text plain words", read_sealed(pdf(line(b"plain words"), objects={3: HELVETICA})))


if __name__ == "__main__":
    unittest.main()
