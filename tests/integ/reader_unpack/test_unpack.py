#!/usr/bin/env python3
"""Archives and compressed files as other programs write them: every file comes out byte for byte, with its name;
encrypted ones by a password of the message alone; bombs end at the limits.

environment: READER_RECORDS, UNPACK_MUTATIONS: the test programs.
"""
import binascii
import gzip
import io
import json
import lzma
import os
import pathlib
import random
import struct
import subprocess
import tarfile
import tempfile
import unittest
import zipfile
import zlib

import archives

RECORDS = os.environ["READER_RECORDS"]
FACTS = {1: "encrypted", 2: "opened", 3: "damaged", 4: "unknown", 8: "entries", 9: "bytes", 10: "ratio"}
FILES = {
    "a.txt": b"hello\n",
    "empty.txt": b"",
    "sub/größe.html": "<a href='https://example.com/ü'>".encode() * 20,
    "sub/deep/er/binary.bin": bytes(random.Random(7).randbytes(200_000)),
    "long.txt": b"".join(b"%d\n" % i for i in range(40_000)),
}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def sums(files):
    return {name: (len(data), zlib.crc32(data)) for name, data in files.items()}


class Found:
    """What reader_records says of a file."""

    def __init__(self, path, passwords=(), **limits):
        command = [RECORDS]
        for password in passwords:
            command += ["--password", password]
        for name, value in limits.items():
            command += ["--limit", f"{name}={value}"]
        self.files, self.partial, self.names, self.facts, self.begun = {}, {}, [], [], []
        name, data = None, None
        for line in run(*command, str(path)).splitlines():
            row = json.loads(line)
            value = bytes.fromhex(row["hex"]) if "hex" in row else row["value"].encode()
            if row["kind"] == "begin":
                name, data = value.split(b"\0")[0].decode(), b""
                self.begun.append(name)
            elif row["kind"] == "data":
                data += value
            elif row["kind"] == "file_end":
                (self.files if row["detail"] else self.partial)[name] = data
            elif row["kind"] == "name":
                self.names.append(value.decode())
            elif row["kind"] == "fact":
                self.facts.append(FACTS[row["detail"]])

    def bytes(self):
        return sum(map(len, [*self.files.values(), *self.partial.values()]))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tree(self, files=None):
        root = self.folder / "tree"
        for name, data in (files or FILES).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        return root

    def packed(self, name, *options):
        """An archive of FILES that 7-Zip makes."""
        path = self.folder / name
        run("7zz", "a", "-bso0", *options, str(path), ".", cwd=self.tree())
        return path

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def by_seven_zip(self, path):
        """The oracle: what 7-Zip makes of the archive."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        run("7zz", "x", "-bso0", f"-o{out}", str(path))
        return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}

    def expect(self, path, files=None, facts=(), **options):
        found = Found(path, **options)
        wanted = FILES if files is None else files
        self.assertEqual((sums(found.files), sums(found.partial), found.facts), (sums(wanted), {}, list(facts)))
        return found


class Formats(Case):
    def test_of_seven_zip(self):
        for name, options in (("a.7z", ()), ("b.7z", ("-ms=off",)), ("c.7z", ("-m0=PPMd",)), ("d.7z", ("-m0=BZip2",)),
                              ("a.zip", ()), ("b.zip", ("-mm=Copy",)), ("c.zip", ("-mm=BZip2",)),
                              ("d.zip", ("-mm=LZMA",)), ("a.tar", ())):
            with self.subTest(name):
                path = self.packed(name, *options)
                self.assertEqual(self.expect(path).files, self.by_seven_zip(path))

    def test_tar_with_each_compression(self):
        tar = self.folder / "t.tar"
        with tarfile.open(tar, "w") as t:
            for name in FILES:
                t.add(self.tree() / name, name)
        for end, command in (("gz", ["gzip"]), ("bz2", ["bzip2"]), ("xz", ["xz"]), ("lzma", ["lzma"]),
                             ("zst", ["zstd", "-q"]), ("lz4", ["lz4", "-q"]), ("lz4.old", ["lz4", "-q", "-l"])):
            with self.subTest(end):
                path = self.file(f"t.tar.{end}", run(*command, "-c", str(tar)))
                self.expect(path)
                self.assertEqual(Found(path).names, [])
        with self.subTest("Z"):
            path = self.file("t.tar.Z", archives.lzw(tar.read_bytes()))
            self.assertEqual(run("gzip", "-dc", str(path)), tar.read_bytes())
            self.expect(path)

    def test_tar_of_links_and_folders(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
            for name, kind, target in (("folder", tarfile.DIRTYPE, ""), ("pipe", tarfile.FIFOTYPE, ""),
                                       ("soft", tarfile.SYMTYPE, "/etc/passwd"), ("hard", tarfile.LNKTYPE, "soft")):
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, target
                t.addfile(info)
            info = tarfile.TarInfo("日本/" + "x" * 300 + ".exe")
            info.size = 2
            t.addfile(info, io.BytesIO(b"MZ"))
        found = self.expect(self.file("x.tar", out.getvalue()), {info.name: b"MZ"})
        self.assertEqual([n.rstrip("/") for n in found.names], ["folder", "pipe", "soft", "hard"])

    def test_sparse_files_have_their_zeros(self):
        path = self.tree({"hole": b""}) / "hole"
        with open(path, "wb") as f:
            f.write(b"begin")
            f.seek(300_000)
            f.write(b"end")
            f.truncate(400_000)
        run("tar", "-cSf", str(self.folder / "s.tar"), "hole", cwd=path.parent)
        self.assertLess((self.folder / "s.tar").stat().st_size, 100_000)
        self.expect(self.folder / "s.tar", {"hole": path.read_bytes()})

    def test_iso(self):
        path = self.folder / "i.iso"
        run("genisoimage", "-quiet", "-J", "-r", "-o", str(path), str(self.tree()))
        self.expect(path)

    def test_iso_without_extensions(self):
        path = self.folder / "i.iso"
        run("genisoimage", "-quiet", "-o", str(path), str(self.tree({"A.TXT": b"one", "B.TXT": b"two"})))
        self.expect(path, {"A.TXT": b"one", "B.TXT": b"two"})

    def test_cab(self):
        files = {name: FILES[name] for name in ("a.txt", "long.txt")} | {"grün.js": b"var a"}
        rows = [(name.encode(), data) for name, data in files.items()]
        for mszip in False, True:
            with self.subTest(mszip=mszip):
                path = self.file(f"{mszip}.cab", archives.cab(rows, mszip))
                self.assertEqual(self.by_seven_zip(path), files)
                self.expect(path, files)

    def test_rar(self):
        files = {name: FILES[name] for name in ("a.txt", "long.txt")}
        rows = [(name.encode(), data) for name, data in files.items()]
        for name, data in (("4.rar", archives.rar4(rows)), ("5.rar", archives.rar5(rows))):
            with self.subTest(name):
                path = self.file(name, data)
                self.expect(path, files)
                self.expect(self.file("program.exe", b"MZ" + bytes(0x18000 - 2) + data), files)

    def test_rar5_has_folders_and_comments_between(self):
        rows = [(b"noted one", b"1"), ("größe".encode(), b"2"), (b"noted two", b"3")]
        path = self.file("5.rar", archives.rar5(rows, directories=[b"folder"]))
        found = self.expect(path, {name.decode(): data for name, data in rows})
        self.assertEqual([n.rstrip("/") for n in found.names], ["folder"])

    def test_cpio_and_ar(self):
        path = self.file("x.cpio", archives.cpio((name.encode(), data) for name, data in FILES.items()))
        self.assertEqual(self.by_seven_zip(path), FILES)
        self.expect(path)
        run("ar", "qS", str(self.folder / "x.ar"), "a.txt", "long.txt", cwd=self.tree())
        self.expect(self.folder / "x.ar", {name: FILES[name] for name in ("a.txt", "long.txt")})

    def test_names_that_are_no_utf_8(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as z:
            z.writestr("gr__e.exe", b"MZ")
        raw = data.getvalue().replace(b"gr__e", b"gr\x81\xe1e")
        self.expect(self.file("x.zip", raw), {"gr\ufffd\ufffde.exe": b"MZ"})

    def test_the_end_of_a_long_name_stays(self):
        for part in "d/", "ü/", "日/":
            data = io.BytesIO()
            with zipfile.ZipFile(data, "w") as z:
                z.writestr(part * 9000 + "x.exe", b"MZ")
            found = Found(self.file("x.zip", data.getvalue()))
            self.assertEqual(list(found.files.values()), [b"MZ"])
            name = found.begun[0]
            self.assertTrue(name.endswith(part + "x.exe"))
            self.assertLessEqual(len(name.encode()), 1024)
            self.assertGreater(len(name.encode()), 1000)
            self.assertNotIn("\ufffd", name)


class Lone(Case):
    def test_a_compressed_file_is_one_file(self):
        text = FILES["long.txt"]
        for end, data in ((".xz", lzma.compress(text)), (".lzma", lzma.compress(text, lzma.FORMAT_ALONE)),
                          (".Z", archives.lzw(text)), (".zst", run("zstd", "-q", "-c", input=text)),
                          (".gz", zlib.compress(text, wbits=31)), ("", zlib.compress(text, wbits=31))):
            with self.subTest(end):
                path = self.file("bill.html" + end, data)
                self.expect(path, {str(self.folder / "bill.html"): text})

    def test_the_name_in_a_gzip_head_comes_first(self):
        out = io.BytesIO()
        with gzip.GzipFile("true.html", "wb", fileobj=out) as f:
            f.write(b"x")
        self.expect(self.file("said.gz", out.getvalue()), {"true.html": b"x"})

    def test_an_empty_one(self):
        self.expect(self.file("none.gz", gzip.compress(b"")), {str(self.folder / "none"): b""})

    def test_a_file_that_looks_like_an_archive_comes_out(self):
        for data in bytes(70_000), bytes(600) + b"text", b"\x71\xc7" + bytes(600):
            found = Found(self.file("x.gz", gzip.compress(data, mtime=0)))
            self.assertEqual(found.files[str(self.folder / "x")], data)

    def test_only_one_layer_is_taken_off(self):
        inner = gzip.compress(b"x")
        self.expect(self.file("x.gz.xz", lzma.compress(inner)), {str(self.folder / "x.gz"): inner})

    def test_uuencoded(self):
        body = b"".join(binascii.b2a_uu(FILES["long.txt"][i:i + 45], backtick=True) for i in range(0, len(FILES["long.txt"]), 45))
        path = self.file("mail.uue", b"Hello,\n\nbegin 644 x.txt\n" + body + b"`\nend\n")
        self.expect(path, {str(self.folder / "mail"): FILES["long.txt"]})

    def test_what_is_no_archive(self):
        for i, data in enumerate((b"", b"x", b"hello\n" * 1000, b"begin the work\nnow\n", b"\xc7\x71" + b"x" * 500,
                                  b"\x71\xc7" + b"x" * 500, b"MZ" + bytes(100_000), b"070707 is a number\n",
                                  b"<html><body>x", bytes(70_000), random.Random(3).randbytes(70_000),
                                  b"]" + b"\0\0\x01\0" + b" text", b"PK is no archive")):
            with self.subTest(i):
                self.expect(self.file(f"{i}", data), {}, ["unknown"])


class Encrypted(Case):
    WRONG = [f"wrong{i}" for i in range(15)]

    def test_zip_opens_with_a_password_of_the_message(self):
        for method in "ZipCrypto", "AES128", "AES256":
            path = self.packed(f"{method}.zip", "-pse cret", f"-mem={method}")
            with self.subTest(method):
                self.expect(path, FILES | {}, ["opened"], passwords=[*self.WRONG, "se cret"])
            with self.subTest(method, right=False):
                found = Found(path, self.WRONG)
                # a wrong password may open what has no bytes
                self.assertEqual((found.bytes(), found.facts), (0, ["encrypted"]))
                self.assertLess(set(FILES), set(found.names))
            with self.subTest(method, passwords=0):
                self.expect(path, {}, ["encrypted"])

    def test_a_wrong_password_that_passes_the_check_gives_nothing(self):
        path = self.packed("x.zip", "-psecret", "-mem=ZipCrypto", "-mm=Copy")
        with zipfile.ZipFile(path) as z:
            info = z.getinfo("long.txt")
            for i in range(100_000):
                try:
                    z.open(info, pwd=b"%d" % i).close()
                    break
                except RuntimeError:
                    continue
        self.assertNotEqual(i, 99_999)
        found = Found(path, [str(i)])
        self.assertNotIn("long.txt", found.begun)
        self.assertEqual(found.facts, ["encrypted"])
        self.expect(path, FILES, ["opened"], passwords=[str(i), "secret"])

    def test_zip_with_a_changed_byte_gives_nothing_of_that_entry(self):
        for method in "ZipCrypto", "AES256":
            path = self.packed(f"{method}.zip", "-psecret", f"-mem={method}", "-mm=Copy")
            data = bytearray(path.read_bytes())
            with zipfile.ZipFile(path) as z:
                data[z.getinfo("long.txt").header_offset + 20_000] ^= 1
            path.write_bytes(data)
            found = Found(path, ["secret"])
            self.assertEqual(found.files, {n: d for n, d in FILES.items() if n != "long.txt"})
            self.assertNotIn("long.txt", found.begun)
            self.assertEqual(sorted(found.facts), ["encrypted", "opened"])

    def test_zip_of_two_passwords(self):
        root = self.tree()
        path = self.folder / "x.zip"
        run("7zz", "a", "-bso0", "-pone", str(path), "a.txt", cwd=root)
        run("7zz", "a", "-bso0", "-ptwo", str(path), "long.txt", cwd=root)
        both = {name: FILES[name] for name in ("a.txt", "long.txt")}
        self.expect(path, both, ["opened"], passwords=["no", "two", "one"])
        self.expect(path, {"a.txt": FILES["a.txt"]}, ["opened", "encrypted"], passwords=["no", "one"])

    def test_zip_without_its_directory(self):
        path = self.packed("x.zip", "-psecret", "-mem=ZipCrypto")
        data = path.read_bytes()
        found = Found(self.file("cut.zip", data[:data.index(b"PK\x01\x02")]), ["secret"])
        self.assertEqual(found.files["long.txt"], FILES["long.txt"])
        self.assertIn("opened", found.facts)

    def test_seven_zip(self):
        found = self.expect(self.packed("x.7z", "-psecret"), {"empty.txt": b""}, ["encrypted"], passwords=["secret"])
        self.assertLess(set(FILES) - {"empty.txt"}, set(found.names))
        found = self.expect(self.packed("y.7z", "-psecret", "-mhe=on"), {}, ["encrypted"], passwords=["secret"])
        self.assertEqual(found.names, [])

    def test_rar(self):
        rows = [(b"a.txt", b"x" * 32), (b"b.txt", b"y" * 32)]
        found = self.expect(self.file("4.rar", archives.rar4(rows, file_flags=0x404)), {}, ["encrypted"])
        self.assertEqual(found.names, ["a.txt", "b.txt"])
        self.expect(self.file("4h.rar", archives.rar4(rows, flags=0x80)), {}, ["encrypted"])
        found = self.expect(self.file("5.rar", archives.rar5(rows, encrypted=[b"a.txt"])), {"b.txt": b"y" * 32},
                            ["encrypted"])
        self.assertEqual(found.names, ["a.txt"])
        found = self.expect(self.file("5.exe", b"MZ" + bytes(0x18000 - 2) + archives.rar5(rows, encrypted=[b"b.txt"])),
                            {"a.txt": b"x" * 32}, ["encrypted"])
        self.expect(self.file("5h.rar", archives.rar5_all_encrypted()), {}, ["encrypted"])


class Damaged(Case):
    def test_a_wrong_sum(self):
        found = Found(self.file("x.cab", archives.cab([(b"a.txt", b"hello")], False, checksum=1)))
        self.assertEqual((found.files, found.facts), ({}, ["damaged"]))
        path = self.packed("x.zip", "-mm=Copy")
        data = path.read_bytes().replace(b"hello\n", b"jello\n")
        found = Found(self.file("y.zip", data))
        self.assertEqual(found.partial, {"a.txt": b"jello\n"})
        self.assertEqual(found.facts, ["damaged"])
        self.assertEqual(len(found.files), len(FILES) - 1)  # the others are read

    def test_a_cut_archive_gives_what_is_there(self):
        for name in "x.zip", "x.tar", "x.7z":
            path = self.packed(name)
            data = path.read_bytes()
            found = Found(self.file("cut", data[:len(data) * 6 // 10]))
            with self.subTest(name):
                self.assertIn("damaged", found.facts)
                for file, value in found.files.items():
                    self.assertEqual(value, FILES[file])
                if name != "x.7z":  # whose directory is at the end
                    self.assertIn("a.txt", found.files)

    def test_first_volume_of_rar(self):
        part = archives.rar4_file(b"b.txt", b"y" * 100, 2)
        data = (b"Rar!\x1a\x07\x00" + archives.rar4_block(0x73, 0x11, bytes(6)) + archives.rar4_file(b"a.txt", b"one") +
                part + archives.rar4_block(0x7B, 0x4001, b""))
        found = Found(self.file("x.part1.rar", data))
        self.assertEqual(found.files.get("a.txt"), b"one")
        self.assertIn("b.txt", found.begun)

    def test_a_cut_stream(self):
        text = b"".join(b"%d\n" % i for i in range(2000))
        for n in range(1, 40, 6):
            found = Found(self.file("x.gz", gzip.compress(text, mtime=0)[:-n]))
            (data,) = found.partial.values()
            self.assertEqual((found.files, found.facts), ({}, ["damaged"]))
            self.assertGreater(len(data), len(text) - 200)
            self.assertTrue(text.startswith(data))
        long = random.Random(1).randbytes(500_000)
        for end, data in ("xz", lzma.compress(long)), ("zst", run("zstd", "-q", "-c", input=long)):
            found = Found(self.file("x." + end, data[:400_000]))
            self.assertEqual((found.files, found.facts), ({}, ["damaged"]))
            self.assertGreater(found.bytes(), 300_000)

    def test_a_cut_tar_gz(self):
        path = self.packed("x.tar")
        found = Found(self.file("x.tgz", gzip.compress(path.read_bytes())[:-300]))
        self.assertIn("damaged", found.facts)
        self.assertEqual(found.files["a.txt"], FILES["a.txt"])

    def test_gzip_with_a_wrong_sum_and_of_two_members(self):
        data = bytearray(gzip.compress(b"text", mtime=0))
        two = Found(self.file("x.gz", bytes(data) + gzip.compress(b" and more") + bytes(512)))
        self.assertEqual((list(two.files.values()), two.facts), ([b"text and more"], []))
        data[-5] ^= 1
        found = Found(self.file("x.gz", bytes(data)))
        self.assertEqual((found.files, list(found.partial.values()), found.facts), ({}, [b"text"], ["damaged"]))

class Bombs(Case):
    def test_ratio_of_each_format(self):
        root = self.tree({"zeros": bytes(30_000_000)})
        for name, options in (("x.zip", ()), ("x.7z", ()), ("x.gz", ()), ("x.bz2", ()), ("x.xz", ())):
            path = self.folder / name
            run("7zz", "a", "-bso0", *options, str(path), "zeros", cwd=root)
            found = Found(path)
            with self.subTest(name):
                self.assertEqual(found.facts, ["ratio"])
                self.assertEqual(len(found.partial), 1)
                self.assertLess(found.bytes(), 2_000_000 + 200 * path.stat().st_size)

    def test_what_no_entry_shows_counts_too(self):
        """A folder of a cpio has 600 MB, which the library skips."""
        head = archives.cpio_head
        packer = zlib.compressobj(9, wbits=31)
        out = [packer.compress(head(b"a.txt", 0o100644, 4) + b"text" + head(b"folder", 0o40755, 600 << 20))]
        for _ in range(600):
            out.append(packer.compress(bytes(1 << 20)))
        out += [packer.compress(head(b"b.txt", 0o100644, 4) + b"text" + head(b"TRAILER!!!", 0, 0)), packer.flush()]
        found = Found(self.file("x.cpio.gz", b"".join(out)))
        self.assertEqual((found.files, found.facts), ({"a.txt": b"text"}, ["ratio"]))

    def test_bytes(self):
        path = self.packed("x.zip")
        found = Found(path, bytes=100_000)
        self.assertEqual(found.facts, ["bytes"])
        self.assertEqual(found.bytes(), 100_000 - sum(len(n.encode()) for n in found.names))

    def test_bytes_of_encrypted_entries(self):
        path = self.packed("x.zip", "-psecret")
        found = Found(path, ["secret"], bytes=1000)
        self.assertLessEqual(found.bytes(), 1000)
        self.assertIn("bytes", found.facts)
        found = Found(path, ["secret"], ratio=1, bytes=10_000_000)
        self.assertLess(found.bytes(), 1 << 21)

    def test_entries(self):
        path = self.packed("x.7z")
        found = Found(path, entries=3)
        self.assertEqual(found.facts, ["entries"])
        self.assertEqual(len(found.files) + len(found.names), 3)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as z:
            for i in range(20_000):
                z.writestr(f"{i}", b"")
        found = Found(self.file("many.zip", out.getvalue()))
        self.assertEqual((len(found.files), found.facts), (10_000, ["entries"]))

    def test_archives_in_archives_are_only_files(self):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("zeros", bytes(10_000_000))
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as z:
            for i in range(16):
                z.writestr(f"{i}.zip", inner.getvalue())
        self.expect(self.file("42.zip", outer.getvalue()), {f"{i}.zip": inner.getvalue() for i in range(16)})

    def test_entries_that_share_their_bytes(self):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        plain = bytes(1_000_000)
        packed = packer.compress(plain) + packer.flush()
        fields = struct.pack("<HHHIIIHH", 8, 0, 0, zlib.crc32(plain), len(packed), len(plain), 1, 0)
        body = b"PK\x03\x04" + struct.pack("<HH", 20, 0) + fields + b"x" + packed
        rows = b"".join(b"PK\x01\x02" + struct.pack("<HHH", 20, 20, 0) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) +
                        b"x" for i in range(5000))
        data = body + rows + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 5000, 5000, len(rows), len(body), 0)
        found = Found(self.file("x.zip", data))
        self.assertLessEqual(found.bytes(), 64 << 20)
        self.assertTrue({"ratio", "bytes"} & set(found.facts) or len(found.files) < 5000, found.facts)

    def test_hidden_layers_of_compress(self):
        """Between two layers stands one that expands to nothing; the library alone would read it all."""
        nothing = archives.lzw_codes([0x41] + [archives.CLEAR] * 200_000)
        for inner in archives.lzw(b"x" * 100), nothing:
            found = Found(self.file("x.Z", archives.lzw(inner)))
            self.assertEqual((found.begun, found.facts), ([], ["damaged"]))


class Hostile(Case):
    def test_names_where_nothing_can_be_opened(self):
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as t:
            t.addfile(tarfile.TarInfo("größe 日本.exe"))
        iso = self.folder / "x.iso"
        run("genisoimage", "-quiet", "-J", "-input-charset", "utf-8", "-o", str(iso),
            str(self.tree({"größe 日本.exe": b"MZ"})))
        run("7zz", "a", "-bso0", str(self.folder / "x.7z"), ".", cwd=self.folder / "tree")
        for path in (self.file("x.tar", tar.getvalue()), iso, self.folder / "x.7z",
                     self.file("x.rar", archives.rar5([("größe 日本.exe".encode(), b"MZ")]))):
            with self.subTest(path.name):
                self.assertEqual(run(os.environ["UNPACK_MUTATIONS"], "names", str(path)).decode(), "größe 日本.exe\n")

    def test_mutations(self):
        small = {"a.txt": b"hello\n", "b/c.html": b"<a href='https://example.com/'>" * 40}
        self.tree(small)
        root = self.folder / "tree"
        rows = [(name.encode(), data) for name, data in small.items()]
        paths = [self.file("4.rar", archives.rar4(rows)), self.file("5.rar", archives.rar5(rows, encrypted=[b"a.txt"])),
                 self.file("s.cab", archives.cab(rows, False)), self.file("z.cab", archives.cab(rows, True)),
                 self.file("x.Z", archives.lzw(small["b/c.html"]))]
        for name, options in (("x.7z", ()), ("p.7z", ("-psecret",)), ("x.zip", ()), ("z.zip", ("-psecret",)),
                              ("a.zip", ("-psecret", "-mem=AES256")), ("x.tar", ())):
            path = self.folder / name
            run("7zz", "a", "-bso0", *options, str(path), ".", cwd=root)
            paths.append(path)
        tar = (self.folder / "x.tar").read_bytes()
        paths += [self.file("x.tgz", gzip.compress(tar)), self.file("x.txz", lzma.compress(tar)),
                  self.file("x.tzst", run("zstd", "-q", "-c", input=tar))]
        run("genisoimage", "-quiet", "-J", "-r", "-o", str(self.folder / "x.iso"), str(root))
        paths.append(self.folder / "x.iso")
        print(run(os.environ["UNPACK_MUTATIONS"], "150", *map(str, paths)).decode())


if __name__ == "__main__":
    unittest.main()
