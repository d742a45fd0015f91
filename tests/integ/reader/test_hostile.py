"""Damaged files of all formats, to gillnet-reader and in messages to gillnetd.

GILLNET_MUTATIONS says how many files (default 500). A process of the reader may end over one; nothing else may
happen: the pool lives, answers the next file, and no message waits beyond limits.reader.
"""
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

from reader import BUILD, END, READY, Reader, ask_raw, records, request
from test_reader import CONF, message


HERE = pathlib.Path(__file__).resolve().parent
for folder in ("milter", "reader_pdf", "reader_office", "reader_unpack"):
    sys.path.insert(0, str(HERE.parent / folder))
from daemon import Daemon  # noqa: E402
from mta import Mta  # noqa: E402
import archives  # noqa: E402
import compound  # noqa: E402
import pdf_maker  # noqa: E402

MUTATIONS = int(os.environ.get("GILLNET_MUTATIONS", "500"))
FILE_S = 10  # that a file may take before its client hangs up
LIMIT_S = 2  # limits.reader
SLACK_S = 8  # of a loaded machine


def run(*words, data=b""):
    return subprocess.run(words, input=data, capture_output=True, check=True).stdout


def samples():
    """{name: bytes}, small files of each format."""
    png = run("qrencode", "-s", "4", "-o", "-", "https://evil.example/x")
    out = {"q.png": png}
    for kind in ("jpg", "gif", "webp", "bmp"):
        out[f"q.{kind}"] = run("convert", "png:-", f"{kind}:-", data=png)
    page = b"<html><a href=http://in.example/>x</a></html>"
    with io.BytesIO() as f:
        with zipfile.ZipFile(f, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("in.html", page)
        out["a.zip"] = f.getvalue()
    for mode in ("gz", "bz2", "xz"):
        with io.BytesIO() as f:
            with tarfile.open(fileobj=f, mode=f"w:{mode}") as t:
                info = tarfile.TarInfo("in.html")
                info.size = len(page)
                t.addfile(info, io.BytesIO(page))
            out[f"a.tar.{mode}"] = f.getvalue()
    with tempfile.TemporaryDirectory() as top:
        (pathlib.Path(top) / "in.html").write_bytes(page)
        run("7zz", "a", f"{top}/a.7z", f"{top}/in.html")
        out["a.7z"] = pathlib.Path(top, "a.7z").read_bytes()
        run("genisoimage", "-quiet", "-J", "-o", f"{top}/a.iso", f"{top}/in.html")
        out["a.iso"] = pathlib.Path(top, "a.iso").read_bytes()
    out["a.rtf"] = rb'{\rtf1 {\field{\*\fldinst HYPERLINK "http://rtf.example/"}}{\object{\*\objdata 0105}}}'
    out["a.rar"] = archives.rar4([(b"in.html", page)])
    out["b.rar"] = archives.rar5([(b"in.html", page)])
    out["a.cab"] = archives.cab([(b"in.html", page)], True)
    out["a.pdf"] = pdf_maker.pdf(pdf_maker.line(b"Visit http://pdf.example/ now"))
    drawn = b"".join(b"%d %d 4 4 re f\n" % (100 + 4 * x, 600 - 4 * y)
                     for y, row in enumerate(pdf_maker.modules("http://drawn.example/")) for x, on in enumerate(row) if on)
    out["b.pdf"] = pdf_maker.pdf(drawn)
    out["a.one"] = compound.section(["Visit http://one.example/"], files=[page])
    out["a.doc"] = compound.cfb({"WordDocument": bytes(600), "Macros": {"VBA": {"dir": bytes(80)}}})
    return out


def mutated(rng, data):
    bad = bytearray(data)
    how = rng.randrange(5)
    if how == 0:
        return bytes(bad[:rng.randrange(len(bad))])
    if how == 1:  # a piece twice
        at, n = rng.randrange(len(bad)), rng.randrange(1, 200)
        return bytes(bad[:at + n] + bad[at:])
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(min(len(bad), 4096) if how == 2 else len(bad))
        bad[at:at + 4 if how == 3 else at + 1] = (
            rng.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f")) if how == 3
            else bytes([rng.randrange(256)]))
    return bytes(bad)


class Hostile(unittest.TestCase):
    def test_damaged_files__the_pool_lives_and_answers_each(self):
        rng = random.Random(2221)
        kinds = samples()
        ends = {"read": 0, "died": 0, "slow": 0}
        with tempfile.TemporaryDirectory() as top, Reader(top) as r:
            for i in range(MUTATIONS):
                name = rng.choice(sorted(kinds))
                begun = time.monotonic()
                try:
                    got = ask_raw(r.path, request(mutated(rng, kinds[name]), name=name.encode(), size=16 << 20),
                                  timeout=FILE_S)
                except TimeoutError:
                    ends["slow"] += 1
                    continue
                self.assertEqual(got[0], READY)
                ends["read" if got[-8] == END and got[-4:] == bytes(4) else "died"] += 1
                self.assertLess(time.monotonic() - begun, FILE_S + SLACK_S)
                if i % 100 == 0:
                    self.assertEqual(records(ask_raw(r.path, request(kinds["q.png"])))[1][3], b"https://evil.example/x")
            end = time.monotonic() + 60
            while r.children() and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(r.children(), [])
        print(json.dumps({"test": "reader_hostile", "files": MUTATIONS, **ends}))
        self.assertLess(ends["slow"], MUTATIONS / 100 + 1)

    def test_damaged_files_in_messages__each_is_answered_in_time(self):
        rng = random.Random(2222)
        kinds = samples()
        with tempfile.TemporaryDirectory() as top, Reader(top) as r, Daemon(CONF.format(r.path, f"{LIMIT_S}s")) as d:
            longest = 0
            for _ in range(MUTATIONS // 20):
                files = [(n, "application/octet-stream", mutated(rng, kinds[n]))
                         for n in rng.sample(sorted(kinds), 4)]
                m = message(*files)
                mta = Mta(d.target)
                mta.hello()
                begun = time.monotonic()
                body = m.as_bytes().split(b"\r\n\r\n", 1)[1]
                self.assertIn(mta.message(headers=list(m.items()), body=body).code, "ac")
                longest = max(longest, time.monotonic() - begun)
                mta.quit()
            self.assertLess(longest, LIMIT_S + SLACK_S)
            self.assertIsNone(d.proc.poll())
            print(json.dumps({"test": "reader_hostile_mail", "messages": MUTATIONS // 20, "longest_s": round(longest, 2)}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
