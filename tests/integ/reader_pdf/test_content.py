"""What a PDF file can do and hold, one thing a test; the files are written byte by byte."""
import unittest
import zlib

from pdf_maker import line, modules, pdf, read, read_sealed, section, stream

LINK = b"<</Type/Annot/Subtype/Link/Rect[50 700 90 712]%s>>"


def annotated(*annotations, **more):
    """A page with these annotations, as objects of their own."""
    objects = {100 + i: a for i, a in enumerate(annotations)}
    names = b" ".join(b"%d 0 R" % n for n in objects)
    objects.update(more.pop("objects", {}))
    return pdf(line(b"words"), page=b"/Annots[%s]" % names, objects=objects, **more)


class Actions(unittest.TestCase):
    def test_links_of_annotations(self):
        found = read(annotated(LINK % b"/A<</S/URI/URI(http://one.example/a?b=1)>>",
                               LINK % b"/A<</URI(http://two.example/\\(x\\))/S/URI>>",
                               LINK % b"/A 50 0 R", LINK % b"/A<</S/URI/URI<feff0068007400740070003a002f002f0075>>>",
                               LINK % b"/PA<</S/URI/URI(http://pa.example/)>>",
                               objects={50: b"<</S/URI/URI(http://three.example/)/Next 51 0 R>>",
                                        51: b"<</S/URI/URI(http://next.example/)>>"}))
        self.assertEqual(sorted(found.links), sorted(
            ("page 1", url) for url in ("http://one.example/a?b=1", "http://two.example/(x)",
                                        "http://three.example/", "http://next.example/", "http://u",
                                        "http://pa.example/")))
        self.assertEqual(found.facts, set())

    def test_relative_links_have_the_base(self):
        found = read(annotated(LINK % b"/A<</S/URI/URI(pay.html)>>", LINK % b"/A<</S/URI/URI(https://x.example/)>>",
                               catalog=b"/URI<</Base(http://base.example/)>>"))
        self.assertEqual(found.urls(), ["http://base.example/pay.html", "https://x.example/"])

    def test_each_link_once(self):
        annotation = LINK % b"/A<</S/URI/URI(http://one.example/)>>"
        found = read(pdf(page=b"/Annots[%s]" % annotation))
        self.assertEqual(found.urls(), ["http://one.example/"])

    def test_long_link_is_cut(self):
        long = b"http://long.example/" + b"x" * 9000
        found = read(annotated(LINK % (b"/A<</S/URI/URI(%s)>>" % long)))
        self.assertEqual(found.urls(), [long[:8192].decode()])

    def test_outline_and_open_action(self):
        found = read(pdf(catalog=b"/Outlines 50 0 R/OpenAction 52 0 R", objects={
            50: b"<</First 51 0 R/Last 51 0 R>>",
            51: b"<</Title(t)/Parent 50 0 R/A<</S/URI/URI(http://outline.example/)>>>>",
            52: b"<</S/URI/URI(http://open.example/)>>"}))
        self.assertEqual(sorted(found.links), [("", "http://open.example/"), ("", "http://outline.example/")])

    def test_other_documents(self):
        found = read(annotated(LINK % b"/A<</S/GoToR/F(http://remote.example/x.pdf)/D[0/Fit]>>",
                               LINK % b"/A<</S/GoToR/F<</FS/URL/F(http://fs.example/y.pdf)>>>>",
                               LINK % b"/A<</S/GoToR/F(\\\\\\\\host\\\\share)>>"))
        self.assertEqual(sorted(found.urls()), ["\\\\host\\share", "http://fs.example/y.pdf",
                                                "http://remote.example/x.pdf"])
        self.assertEqual(found.facts, set())

    def test_launch(self):
        found = read(annotated(LINK % b"/A<</S/Launch/Win<</F(cmd.exe)/P(/c start http://x.example/)>>>>"))
        self.assertEqual(found.facts, {"runs"})
        self.assertEqual(found.scripts, [("command", "cmd.exe /c start http://x.example/")])

    def test_scripts(self):
        found = read(pdf(line(b"x"), page=b"/AA<</O<</S/JavaScript/JS(page\\(\\))>>>>",
                         catalog=b"/OpenAction<</S/JavaScript/JS 50 0 R>>/Names<</JavaScript<</Names[(a) 51 0 R]>>>>",
                         objects={50: stream(b"app.launchURL('http://js.example/')", packed=True),
                                  51: b"<</S/JavaScript/JS<feff00684916>>>",
                                  52: b"<</S/JavaScript/JS(nobody reaches it)>>"}))
        self.assertEqual({s for _, s in found.scripts},
                         {"page()", "app.launchURL('http://js.example/')", "h\u4916"})
        self.assertEqual({kind for kind, _ in found.scripts}, {"javascript"})

    def test_form(self):
        field = (b"<</Type/Annot/Subtype/Widget/Rect[0 0 9 9]/FT/Tx/T(user)/V(typed value)"
                 b"/AA<</K<</S/JavaScript/JS(key\\(\\))>>>>>>")
        button = (b"<</Type/Annot/Subtype/Widget/Rect[0 0 9 9]/FT/Btn/T(go)"
                  b"/A<</S/SubmitForm/F<</FS/URL/F(http://form.example/s)>>>>>>")
        found = read(annotated(field, button, catalog=b"/AcroForm<</Fields[100 0 R 101 0 R]>>"))
        self.assertEqual(found.facts, {"form"})
        self.assertEqual(found.urls(), ["http://form.example/s"])
        self.assertIn("typed value", found.text)
        self.assertEqual(found.scripts, [("javascript", "key()")])
        script = read(pdf(catalog=b"/OpenAction<</S/JavaScript/JS(this.submitForm\\('u'\\))>>"))
        self.assertEqual(script.facts, {"form"})

    def test_form_of_xml(self):
        found = read(pdf(catalog=b"/AcroForm<</Fields[]/XFA[(a)50 0 R(b)51 0 R]>>", objects={
            50: stream(b"<a>", packed=True), 51: stream(b"http://xfa.example/</a>")}))
        self.assertEqual(found.files, {("form.xml", "application/xml"): b"<a>http://xfa.example/</a>"})

    def test_metadata_is_no_content(self):
        found = read(pdf(line(b"x"), catalog=b"/Metadata 50 0 R", objects={
            50: stream(b"<x>http://meta.example/</x>", b"/Type/Metadata/Subtype/XML")}))
        self.assertEqual(found.links, [])
        self.assertNotIn("meta", found.text)


class Files(unittest.TestCase):
    def test_attached_and_pinned(self):
        data = bytes(range(256)) * 300
        found = read(pdf(catalog=b"/Names<</EmbeddedFiles<</Kids[50 0 R]>>>>", objects={
            50: b"<</Names[(x)51 0 R(y)54 0 R]>>",
            51: b"<</Type/Filespec/F(a)/UF<feff00e4002e006200690065>/EF<</F 52 0 R/UF 52 0 R>>>>",
            52: stream(data, b"/Subtype/text#2fplain", packed=True),
            54: b"<</F(hex.bin)/EF<</F 55 0 R>>>>",
            55: stream(zlib.compress(b"chain").hex().encode() + b">", b"/Filter[/ASCIIHexDecode/FlateDecode]"),
            56: stream(b"pinned")},
            page=b"/Annots[<</Subtype/FileAttachment/Rect[0 0 9 9]/FS<</F(pin)/EF<</F 56 0 R>>>>>>]"))
        self.assertEqual(found.files, {("\u00e4.bie", "text/plain"): data, ("hex.bin", ""): b"chain",
                                       ("pin", ""): b"pinned"})

    def test_bomb(self):
        bomb = zlib.compress(zlib.compress(b"\0" * (300 << 20), 9), 9)
        flat = zlib.compress(b"\0" * (100 << 20), 9)
        for data, entries in ((bomb, b"/Filter[/FlateDecode/FlateDecode]"), (flat, b"/Filter/FlateDecode")):
            found = read(pdf(line(b"words"), catalog=b"/Names<</EmbeddedFiles<</Names[(x)51 0 R]>>>>", objects={
                51: b"<</F(x)/EF<</F 52 0 R>>>>", 52: stream(data, entries)}))
            self.assertIn("ratio", found.facts, entries)
            self.assertIn("words", found.text)

    def test_cut_stream(self):
        packed = zlib.compress(b"some words of a file " + bytes(i * i % 251 for i in range(5000)))[:-40]
        found = read(pdf(catalog=b"/Names<</EmbeddedFiles<</Names[(x)51 0 R]>>>>", objects={
            51: b"<</F(x)/EF<</F 52 0 R>>>>", 52: stream(packed, b"/Filter/FlateDecode")}))
        self.assertTrue(found.files[("x", "")].startswith(b"some words of a file "))
        self.assertEqual([r["detail"] for r in found.of("file_end")], [0])


class Hidden(unittest.TestCase):
    def check(self, content, seen, hidden, **more):
        found = read(pdf(content, **more))
        self.assertEqual(found.text.split(), seen.split())
        self.assertEqual(found.hidden.split(), hidden.split())

    def test_white_on_white(self):
        self.check(line(b"seen words") + line(b"pale words", 600, b"1 1 1 rg"), "seen words", "pale words")

    def test_white_on_dark_is_seen(self):
        self.check(b"0 0 0.4 rg 40 590 400 40 re f " + line(b"pale words", 600, b"1 1 1 rg"), "pale words", "")

    def test_tiny(self):
        self.check(line(b"seen") + line(b"dust", 600, size=0.4), "seen", "dust")

    def test_outside_of_the_page(self):
        found = read(pdf(line(b"seen") + line(b"outside", 2000)))
        self.assertEqual(found.text.split(), ["seen"])

    def test_pages_beyond_the_limit_are_seen(self):
        pages = [line(b"pale%d" % i, 600, b"1 1 1 rg") for i in range(5)]
        found = read(pdf(pages=pages), "--limit", "pages=2")
        self.assertEqual(found.hidden.split(), ["pale0", "pale1"])
        self.assertEqual(sorted(found.text.split()), ["pale2", "pale3", "pale4"])

    def type3(self):
        """A font whose glyph A is a box, so that it stands in the file."""
        return {60: b"<</Type/Font/Subtype/Type3/FontBBox[0 0 750 750]/FontMatrix[.001 0 0 .001 0 0]"
                    b"/CharProcs<</a 61 0 R>>/Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97"
                    b"/Widths[1000]/ToUnicode 62 0 R>>",
                61: stream(b"1000 0 0 0 750 750 d1 0 0 750 750 re f"),
                62: stream(b"1 beginbfchar <61> <0041> endbfchar")}

    def test_type3(self):
        self.check(b"BT /F3 20 Tf 50 700 Td (aaa) Tj ET", "AAA", "", objects=self.type3(),
                   resources=b"/Font<</F3 60 0 R>>")

    def test_text_that_paints_nothing(self):
        content = b"BT /F3 20 Tf 50 700 Td (a) Tj 3 Tr 0 -90 Td (aaa) Tj ET"
        self.check(content, "A", "AAA", objects=self.type3(), resources=b"/Font<</F3 60 0 R>>")

    def test_text_over_a_scan_is_seen(self):
        scan = b"".join(b"%d %d 4 8 re f " % (x, y) for y in range(600, 724, 6) for x in range(40, 200, 8))
        self.check(scan + b"BT /F3 20 Tf 3 Tr 50 700 Td (aaa) Tj ET", "AAA", "", objects=self.type3(),
                   resources=b"/Font<</F3 60 0 R>>")


class Shape(unittest.TestCase):
    def test_incremental_update(self):
        out = bytearray(annotated(LINK % b"/A<</S/URI/URI(http://old.example/)>>"))
        begin = out.rindex(b"xref\n0 1")
        section({100: LINK % b"/A<</S/URI/URI(http://new.example/)>>"}, out, b"/Root 1 0 R", begin)
        self.assertEqual(read(bytes(out)).urls(), ["http://new.example/"])

    def test_broken_table(self):
        whole = annotated(LINK % b"/A<</S/URI/URI(http://one.example/)>>")
        for name, damaged in {
                "no table": whole[:whole.rindex(b"xref\n0 1")] + b"trailer<</Root 1 0 R>>",
                "all are free": whole.replace(b" 00000 n", b" 00000 f"),
                "behind something": b"junk\n" * 100 + whole,
                "another begin": whole.replace(b"startxref\n", b"startxref\n9"),
                "nothing behind the objects": whole[:whole.rindex(b"xref\n0 1")]}.items():
            with self.subTest(name):
                found = read(damaged)
                self.assertEqual(found.urls(), ["http://one.example/"])
                self.assertIn("words", found.text)

    def test_no_pdf_at_all(self):
        found = read(b"%PDF-1.4\n" + b"nothing to see " * 100)
        self.assertEqual(found.facts, {"damaged"})

    def test_rings(self):
        found = read(pdf(line(b"words"), catalog=b"/Outlines 50 0 R", objects={
            2: b"<</Type/Pages/Kids[2 0 R 1000 0 R 2 0 R]/Count 3>>",
            50: b"<</First 50 0 R/Next 50 0 R/A<</S/URI/URI(http://ring.example/)/Next 51 0 R>>>>",
            51: b"[51 0 R 50 0 R]"}))
        self.assertEqual(found.urls(), ["http://ring.example/"])

    def test_places_are_pages(self):
        found = read(pdf(pages=[line(b"page%d" % (i + 1)) for i in range(30)]))
        for i in range(1, 31):
            self.assertEqual(found.text_at(f"page {i}").split(), [f"page{i}"])
        self.assertEqual(found.facts, {"pages"})


class Codes(unittest.TestCase):
    URL = "https://qr.example/pay?id=4711"

    def vector(self, side=2.0, x=100, y=500):
        rows = modules(self.URL)
        return b"".join(b"%g %g %g %g re f\n" % (x + side * j, y - side * i, side, side)
                        for i, row in enumerate(rows) for j, dark in enumerate(row) if dark)

    def picture(self):
        rows = modules(self.URL)
        pixels = b"".join(bytes(0 if dark else 255 for dark in row for _ in range(4))
                          for row in rows for _ in range(4))
        side = 4 * len(rows)
        return (b"q 120 0 0 120 90 400 cm /I Do Q", b"/XObject<</I 50 0 R>>", {50: stream(
            pixels, b"/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray" % (side, side),
            packed=True)})

    def test_drawn_with_lines(self):
        self.assertEqual(read(pdf(line(b"scan me") + self.vector())).codes, [("page 1", self.URL)])

    def test_a_picture(self):
        content, resources, objects = self.picture()
        found = read(pdf(content, resources=resources, objects=objects))
        self.assertIn(("page 1", self.URL), found.codes)

    def test_sealed(self):
        self.assertIn("code! " + self.URL, read_sealed(pdf(line(b"scan me") + self.vector())))

    def test_last_page_and_pictures_of_a_long_document(self):
        """Only four of 40 pages are drawn."""
        content, resources, objects = self.picture()
        for at in (0, 17, 39):
            pages = [b"".join(line(b"many words of a page " * 3, y) for y in range(100, 700, 12))] * 40
            pages[at] = content
            found = read(pdf(pages=pages, resources=resources, objects=objects), "--limit", "pages=4")
            self.assertIn((f"page {at + 1}", self.URL), found.codes)
            self.assertIn("pages", found.facts)


if __name__ == "__main__":
    unittest.main()
