#!/usr/bin/env python3
"""Pictures of all formats are decoded: whole, damaged, larger than the limit, and mutated.

Usage: pictures.py --records PROGRAM --mutate PROGRAM [unittest arguments]
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import code_pictures

ARGS = argparse.Namespace()
PAYLOAD = "https://evil.example/of-a-picture"
FACTS = {3: "damaged", 4: "unknown", 12: "pixels"}
FORMATS = {  # name of the file: arguments of convert
    "a.png": [], "interlaced.png": ["-interlace", "PNG"], "deep.png": ["-depth", 16, "-type", "TrueColor"],
    "grey.png": ["-type", "Grayscale"], "alpha.png": ["-transparent", "white", "-type", "TrueColorAlpha"],
    "a.jpg": [], "progressive.jpg": ["-interlace", "JPEG"], "grey.jpg": ["-colorspace", "Gray"],
    "cmyk.jpg": ["-colorspace", "CMYK"],
    "a.webp": ["-quality", 80], "lossless.webp": ["-define", "webp:lossless=true"],
    "a.gif": [], "interlaced.gif": ["-interlace", "GIF"], "a.heic": ["-quality", 90], "a.avif": ["-quality", 90],
    "a.bmp": [], "one.bmp": ["-monochrome", "-compress", "none"], "true.bmp": ["-type", "TrueColor", "-compress", "none"],
    "palette.bmp": ["-colors", 16, "-type", "Palette", "-compress", "none"], "runs.bmp": ["-type", "Palette", "-compress", "RLE"],
    "os2.bmp": ["-type", "TrueColor", "-compress", "none"], "a.pgm": [],
}


def read(file, *more):
    """Codes with their places, and facts."""
    done = subprocess.run([ARGS.records, *map(str, more), str(file)], check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return ([(row["value"], row["place"]) for row in rows if row["kind"] == "code"],
            {FACTS.get(row["detail"], row["detail"]) for row in rows if row["kind"] == "fact"})


def bmp(rows, bits, head=40, compression=0, colours=b"", body=None, top_first=False):
    """A BMP of rows of (red, green, blue), written byte by byte."""
    height, width = len(rows), len(rows[0])
    out = b""
    for row in rows if top_first else reversed(rows):
        line = b""
        for red, green, blue in row:
            if bits == 16:
                line += struct.pack("<H", red >> 3 << 10 | green >> 3 << 5 | blue >> 3)
            elif bits == 32:
                line += bytes([blue, green, red, 0])
            else:
                line += bytes([blue, green, red])
        out += line + bytes(-len(line) % 4)
    out = out if body is None else body
    sizes = struct.pack("<IHHHH", 12, width, height, 1, bits) if head == 12 else struct.pack(
        "<IiiHHIIiiII", 40, width, -height if top_first else height, 1, bits, compression, len(out), 0, 0, 0, 0)
    start = 14 + len(sizes) + len(colours)
    return b"BM" + struct.pack("<IHHI", start + len(out), 0, 0, start) + sizes + colours + out


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        cls.base = cls.folder / "base.png"
        code_pictures.qr(cls.base, PAYLOAD, 5)
        for name, how in FORMATS.items():
            file = cls.folder / name
            prefix = {"true": "BMP3:", "one": "BMP3:", "palette": "BMP3:", "runs": "BMP3:", "os2": "BMP2:"}.get(file.stem, "")
            code_pictures.run("convert", cls.base, *how, f"{prefix}{file}")

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_each_format(self):
        for name in FORMATS:
            with self.subTest(name):
                self.assertEqual(read(self.folder / name), ([(PAYLOAD, "")], set()))

    def test_large_pictures_are_read_at_reduced_size(self):
        """Five pixels a module become two or three."""
        width, height = code_pictures.side_of(self.base)
        for name in FORMATS:
            if name.endswith((".heic", ".avif")):
                continue  # libheif decodes a picture whole or not at all
            with self.subTest(name):
                codes, facts = read(self.folder / name, "--limit", f"pixels={width * height // 3}")
                self.assertEqual((codes, facts), ([(PAYLOAD, "")], {"pixels"}))
        self.assertEqual(read(self.base, "--limit", f"pixels={width * height}")[1], set())
        self.assertEqual(read(self.base, "--limit", f"pixels={width * height - 1}")[1], {"pixels"})

    def test_what_stands_before_a_cut_is_read(self):
        """The code is in the first half of the picture, the cut in the second."""
        whole = self.folder / "tall.png"
        code_pictures.run("convert", self.base, "(", "-size", "205x400", "-seed", 7, "plasma:", ")", "-append", whole)
        for name in ("cut.png", "cut.jpg", "cut.webp", "cut.gif"):
            with self.subTest(name):
                file = self.folder / name
                code_pictures.run("convert", whole, file)
                data = file.read_bytes()
                file.write_bytes(data[:len(data) * 3 // 4])
                self.assertEqual(read(file), ([(PAYLOAD, "")], {"damaged"}))
        data = (self.folder / "true.bmp").read_bytes()  # its last rows are the first ones of the file
        (self.folder / "cut.bmp").write_bytes(data[:-205 * 3 * 8])
        self.assertEqual(read(self.folder / "cut.bmp")[1], {"damaged"})

    def test_bitmaps_byte_by_byte(self):
        text = subprocess.run(["convert", str(self.base), "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
        width, height = code_pictures.side_of(self.base)
        rows = [[tuple(text[(y * width + x) * 3:][:3]) for x in range(width)] for y in range(height)]
        for bits, more in ((16, {}), (24, {"top_first": True}), (32, {}), (24, {"head": 12})):
            with self.subTest(bits=bits, **more):
                file = self.folder / "own.bmp"
                file.write_bytes(bmp(rows, bits, **more))
                self.assertEqual(read(file), ([(PAYLOAD, "")], set()))

    def test_a_code_in_a_later_frame(self):
        blank = self.folder / "blank.png"
        code_pictures.run("convert", self.base, "-fill", "white", "-colorize", 100, blank)
        for name, blanks in (("second.gif", 1), ("last.gif", 20), ("last.webp", 20)):
            with self.subTest(name):
                file = self.folder / name
                code_pictures.run("convert", "-delay", 50, *[blank] * blanks, self.base, file)
                codes, _ = read(file)
                self.assertEqual([value for value, _ in codes], [PAYLOAD])
                self.assertRegex(codes[0][1], "^frame [0-9]+$")

    def test_a_frame_over_another_is_composed(self):
        """The second frame is the right half of the code; the left one shines through."""
        file = self.folder / "halves.gif"
        width, height = code_pictures.side_of(self.base)
        code_pictures.run("convert", "(", self.base, "-fill", "white", "-draw",
                          f"rectangle {width // 2},0 {width},{height}", ")", "(", self.base, "-crop",
                          f"{width - width // 2}x{height}+{width // 2}+0", ")", file)
        self.assertEqual([value for value, _ in read(file)[0]], [PAYLOAD])

    def test_text_of_other_charsets(self):
        file = self.folder / "charset.png"
        for kind, eci, text in (("QRCODE", 26, "https://müller.example/ß"), ("QRCODE", 20, "こんにちは世界"),
                                ("QRCODE", 3, "https://example.com/é"), ("DATAMATRIX", 26, "größe"), ("AZTEC", 26, "größe")):
            with self.subTest(kind, text=text):
                code_pictures.zint(file, kind, text, 4, f"--eci={eci}")
                self.assertEqual(read(file)[0], [(text, "")])

    def test_codes_of_several_kinds_together(self):
        parts = []
        for kind, text in (("QRCODE", "https://one.example/"), ("DATAMATRIX", "https://two.example/"),
                           ("AZTEC", "https://three.example/"), ("AZTEC", "https://four.example/"),
                           ("DATAMATRIX", "https://five.example/")):
            parts.append(self.folder / f"kind{len(parts)}.png")
            code_pictures.zint(parts[-1], kind, text, 3)
        file = self.folder / "kinds.png"
        code_pictures.run("convert", "-size", "900x700", "-seed", 5, "plasma:", *[
            word for i, part in enumerate(parts)
            for word in (part, "-geometry", f"+{40 + i % 3 * 280}+{30 + i // 3 * 330}", "-composite")], file)
        self.assertEqual(sorted(value for value, _ in read(file)[0]), [
            f"https://{n}.example/" for n in ("five", "four", "one", "three", "two")])

    def test_an_inverted_code_beside_a_plain_one(self):
        """A code that is easy to find does not end the search."""
        other, file = self.folder / "other.png", self.folder / "beside.png"
        code_pictures.qr(other, "https://second.example/", 4)
        code_pictures.run("convert", self.base, "(", other, "-negate", ")", "-background", "white", "+append", file)
        self.assertEqual(sorted(value for value, _ in read(file)[0]), [PAYLOAD, "https://second.example/"])

    def test_parts_have_a_place_and_whole_codes_are_left_out(self):
        halves = [self.folder / f"half-{i}.png" for i in range(2)]
        code_pictures.run("convert", self.base, "-crop", "2x1@", "+repage", self.folder / "half-%d.png")
        self.assertEqual(read(halves[0], "--next", halves[1])[0], [(PAYLOAD, "2 pictures together")])
        self.assertEqual(read(halves[0], "--next", halves[0])[0], [])
        self.assertEqual(read(self.base, "--next", halves[0])[0], [])
        text = self.folder / "text.txt"
        text.write_text("no picture")
        self.assertEqual(read(halves[0], "--next", text)[0], [])

    def test_mutated_files(self):
        """Our code stands; where a library crashes, its process ends and no other."""
        small = self.folder / "small.png"
        code_pictures.qr(small, "x", 2, margin=1)
        files = []
        for name, how in FORMATS.items():
            file = self.folder / f"small-{name}"
            code_pictures.run("convert", small, *how, file)
            files.append(file)
        done = subprocess.run([ARGS.mutate, "100", *map(str, files)], capture_output=True, text=True)
        print(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stderr)  # libraries write there too


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", required=True)
    parser.add_argument("--mutate", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
