"""Damaged copies of small PDF files, read in a sandbox with 10 s of processor time.

A library may die of one, and then the sandbox does what it is for; a file that takes all of its time
is a failure here. Bombs of pages, operations and objects are written by hand.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from pdf_maker import SEALED, line, pdf, read_file, stream
from test_content import Codes, annotated, LINK

ROUNDS = int(os.environ.get("GILLNET_ROUNDS", "290"))


def samples():
    many = annotated(
        LINK % b"/A<</S/URI/URI(http://one.example/a?b=1)>>",
        LINK % b"/A<</S/Launch/F(evil.exe)/Win<</F(cmd.exe)/P(/c calc)>>>>",
        b"<</Type/Annot/Subtype/Widget/FT/Tx/T(n)/V(typed)/Rect[0 0 9 9]/A<</S/SubmitForm/F(http://f.example/)>>>>",
        catalog=b"/OpenAction<</S/JavaScript/JS 60 0 R>>/Names<</EmbeddedFiles<</Names[(x)61 0 R]>>>>"
                b"/Outlines 63 0 R/AcroForm<</Fields[102 0 R]/XFA 60 0 R>>",
        objects={60: stream(b"app.alert(1)", packed=True), 61: b"<</F(in.txt)/EF<</F 62 0 R>>>>",
                 62: stream(b"inner words", packed=True), 63: b"<</First 64 0 R/Last 64 0 R>>",
                 64: b"<</Title(t)/Parent 63 0 R/A<</S/URI/URI(http://outline.example/)>>>>"})
    codes = Codes()
    content, resources, objects = codes.picture()
    hidden = (line(b"seen words") + line(b"pale words", 600, b"1 1 1 rg") + line(b"unpainted", 500, b"3 Tr"))
    return {"actions": many, "picture": pdf(content, resources=resources, objects=objects),
            "vector": pdf(codes.vector()), "hidden": pdf(hidden),
            "pages": pdf(pages=[line(b"page%d" % i) for i in range(4)])}


class Damaged(unittest.TestCase):
    def run_rounds(self, name, data, rounds, seed):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "sample.pdf")
            path.write_bytes(data)
            done = subprocess.run([SEALED, str(path), str(rounds), str(seed)], stdout=subprocess.PIPE,
                                  check=False, timeout=280)
        last = done.stdout.decode().splitlines()[-1]
        found = re.fullmatch(r"rounds (\d+), records (\d+), died (\d+), slow (\d+)", last)
        self.assertIsNotNone(found, f"{name}: {done.stdout[-500:]}")
        rounds, nbytes, died, slow = map(int, found.groups())
        self.assertEqual(slow, 0, f"{name}: {last}")
        self.assertLess(died, rounds // 20, f"{name}: {done.stdout[-500:]}")
        self.assertGreater(nbytes, rounds, f"{name}: hardly anything was read")

    def test_bytes_flipped_cut_and_doubled(self):
        for seed, (name, data) in enumerate(samples().items()):
            self.run_rounds(name, data, ROUNDS, 1000000 * seed + 1)

    def test_packed_in_object_streams_and_encrypted(self):
        for seed, options in enumerate((["--object-streams=generate"],
                                        ["--encrypt", "", "owner", "256", "--"])):
            with tempfile.TemporaryDirectory() as folder:
                plain, packed = pathlib.Path(folder, "plain.pdf"), pathlib.Path(folder, "packed.pdf")
                plain.write_bytes(samples()["actions"])
                subprocess.run(["qpdf", *options, str(plain), str(packed)], check=True)
                self.run_rounds(options[0], packed.read_bytes(), ROUNDS, 1000000 * seed + 50)


class Bombs(unittest.TestCase):
    """What was found before the bomb went off is given out, within 10 s of processor time."""

    def check(self, data, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "bomb.pdf")
            path.write_bytes(data)
            found = read_file(path, *options)
            self.assertIn("http://one.example/", found.urls())
        return found

    def linked(self, content, **more):
        return pdf(content, page=b"/Annots[%s]" % (LINK % b"/A<</S/URI/URI(http://one.example/)>>"), **more)

    def test_many_pages_of_one_object(self):
        kids = b" ".join([b"1000 0 R"] * 50000)
        self.check(self.linked(line(b"words"), objects={2: b"<</Type/Pages/Count 50000/Kids[%s]>>" % kids}))

    def test_deep_tree(self):
        objects = {5000 + i: b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % (5001 + i) for i in range(3000)}
        objects[8000] = b"<</Type/Pages/Count 1/Kids[1000 0 R]>>"
        objects[2] = b"<</Type/Pages/Count 1/Kids[5000 0 R]>>"
        self.check(self.linked(line(b"words"), objects=objects))

    def test_deep_outline_and_arrays(self):
        nested = b"[" * 400 + b"]" * 400
        objects = {5000 + i: b"<</Title(t)/First %d 0 R/X %s>>" % (5001 + i, nested) for i in range(1000)}
        objects[6000] = b"<</Title(t)>>"
        self.check(self.linked(line(b"words"), catalog=b"/Outlines 5000 0 R", objects=objects))

    def test_many_actions(self):
        objects = {5000 + i: b"<</S/URI/URI(http://a.example/%d)/Next[%d 0 R 5000 0 R]>>" % (i, 5001 + i)
                   for i in range(20000)}
        objects[25000] = b"<<>>"
        found = self.check(self.linked(line(b"words"), catalog=b"/OpenAction 5000 0 R", objects=objects))
        self.assertEqual(len(found.urls()), 20001)

    def test_huge_page(self):
        self.check(self.linked(line(b"words"), objects={}).replace(b"[0 0 612 792]", b"[0 0 9e9 9e9]"))
        self.check(self.linked(line(b"words"), objects={}).replace(b"[0 0 612 792]", b"[0 0 9e9 1]"))

    def test_forms_within_forms(self):
        """Each form draws the next one twice: 2 to the power of 24 of them. poppler has no bound; the limit of the
        sandbox is one."""
        objects = {5000 + i: stream(b"/X Do /X Do", b"/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>"
                                    % (5001 + i)) for i in range(24)}
        objects[5024] = stream(b"0 0 1 1 re f", b"/Subtype/Form/BBox[0 0 9 9]")
        data = self.linked(b"/X Do", resources=b"/XObject<</X 5000 0 R>>", objects=objects)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "bomb.pdf")
            path.write_bytes(data)
            done = subprocess.run([SEALED, str(path)], stdout=subprocess.PIPE, check=False, timeout=120)
        self.assertIn(b"http://one.example/", done.stdout)


if __name__ == "__main__":
    unittest.main()
