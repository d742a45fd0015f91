#!/usr/bin/env python3
"""Vector tests on data folders of other layouts: a missing or odd file fails and is named, no file is skipped.

Usage: test_layout.py GILLNET VECTORS      VECTORS is a program of unit tests that reads tables of urls/
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MESSAGE = b"From: joe@one.example\nSubject: a\n\na\n"
READING = {"parts": [{"headers": [{"name": "subject", "value": {"Text": "a"}},
                                  {"name": "from", "value": {"Address": {"List": [{"address": "joe@one.example"}]}}}],
                      "body": {"Text": "a"}}]}
GILLNET = VECTORS = None


class Layout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gillnet-layout-")
        self.addCleanup(folder.cleanup)
        self.data = pathlib.Path(folder.name)

    def mail(self, reading=READING, top="mail/torture/one"):
        folder = self.data / top
        (folder / "expected").mkdir(parents=True)
        (folder / "001.eml").write_bytes(MESSAGE)
        (folder / "expected/001.json").write_text(json.dumps(reading))

    def run_on(self, *command, data=None):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                              env={**os.environ, "GILLNET_DATA": str(data or self.data)})
        return done.returncode, done.stdout

    def torture(self, **more):
        return self.run_on(sys.executable, HERE / "torture.py", "--gillnet", GILLNET, **more)

    def test_torture__loose_mail__is_compared(self):
        self.mail()
        status, text = self.torture()
        self.assertEqual((status, "15 rows, 15 agree" in text), (0, True), text)

    def test_torture__packed_mail__is_compared(self):
        for name in ("mail/torture.tar.xz", "mail/torture/one.tar.xz", "mail.tar.xz"):
            with self.subTest(name), tempfile.TemporaryDirectory() as other:
                self.data = pathlib.Path(other, "made")
                self.mail()
                archive = pathlib.Path(other, "packed", name)
                archive.parent.mkdir(parents=True)
                inside = self.data / name.removesuffix(".tar.xz")
                with tarfile.open(archive, "w:xz") as tar:
                    tar.add(inside, inside.name)
                status, text = self.torture(data=pathlib.Path(other, "packed"))
                self.assertEqual((status, "15 rows, 15 agree" in text), (0, True), text)

    def test_torture__no_mail__names_the_folder(self):
        status, text = self.torture()
        self.assertEqual(status, 1)
        self.assertIn(f"{self.data}/mail", text)

    def test_torture__header_name_is_a_list__names_the_file(self):
        odd = json.loads(json.dumps(READING))
        odd["parts"][0]["headers"][0]["name"] = ["x", "subject"]
        self.mail(odd)
        status, text = self.torture()
        self.assertEqual(status, 1)
        self.assertIn(f"{self.data}/mail/torture/one/expected/001.json: a header name is no text", text)

    def test_torture__another_recording__names_the_file(self):
        self.mail(["something else"])
        status, text = self.torture()
        self.assertEqual(status, 1)
        self.assertIn(f"{self.data}/mail/torture/one/expected/001.json", text)

    def test_torture__archive_is_damaged__names_it(self):
        self.mail()
        (self.data / "mail/torture/two.tar.xz").write_bytes(b"no archive")
        status, text = self.torture()
        self.assertEqual(status, 1)
        self.assertIn("mail/torture/two.tar.xz", text)

    def test_vectors__table_is_missing__fails_and_names_the_file(self):
        status, text = self.run_on(VECTORS)
        self.assertNotEqual(status, 0)
        self.assertIn(f"{self.data}/urls/rspamd-rfc2047.json: not there", text)
        self.assertNotIn("SKIPPED", text)

    def test_vectors__table_has_no_rows__fails_and_names_the_file(self):
        (self.data / "urls").mkdir()
        (self.data / "urls/rspamd-rfc2047.json").write_text('{"rows": []}')
        status, text = self.run_on(VECTORS)
        self.assertNotEqual(status, 0)
        self.assertIn(f'{self.data}/urls/rspamd-rfc2047.json: "vectors" is no array', text)

    def test_vectors__folder_is_not_there__fails(self):
        status, text = self.run_on(VECTORS, data=self.data / "none")
        self.assertNotEqual(status, 0)
        self.assertIn(f"{self.data}/none/urls/", text)


if __name__ == "__main__":
    GILLNET, VECTORS = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
