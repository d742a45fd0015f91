#!/usr/bin/env python3
"""A data folder of mail: loose, packed, and each layout that is refused by the name of its file."""
import pathlib
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import maildata  # noqa: E402

ROW = "1\t1\tsum\tspam/a/one.eml\n"


class Layouts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.mail = pathlib.Path(self.folder.name) / "data/mail"
        self.work = pathlib.Path(self.folder.name) / "work"
        for place in ("ham/a", "spam/a"):
            (self.mail / place).mkdir(parents=True)
            (self.mail / place / "one.eml").write_text("Subject: x\n\ny\n")
        (self.mail / "CAMPAIGNS.tsv").write_text("#head\n" + ROW)

    def pack(self, place, inside):
        """A folder is replaced by an archive of it, whose members stand below the folder inside."""
        folder = self.mail / place
        with tarfile.open(f"{folder}.tar.xz", "w:xz") as tar:
            for path in sorted(folder.rglob("*.eml")):
                tar.add(path, f"{inside}{path.relative_to(folder)}")
                path.unlink()
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir()
        folder.rmdir()

    def refused(self, name, call):
        with self.assertRaises(maildata.Unusable) as caught:
            call()
        self.assertIn(str(self.mail / name), str(caught.exception))

    def test_read__loose__gives_ham_and_spam(self):
        mail, ham, spam = maildata.read(self.mail, self.work)
        self.assertEqual([ham, spam], [[mail / "ham/a/one.eml"], [mail / "spam/a/one.eml"]])
        self.assertEqual(maildata.groups(mail), {"1": spam})

    def test_read__packed__gives_the_same(self):
        for inside in ("spam/", "./spam/", "./", ""):
            with self.subTest(inside):
                self.setUp()
                self.pack("spam", inside)
                mail, ham, spam = maildata.read(self.mail, self.work)
                self.assertEqual([len(ham), len(spam)], [1, 1])
                self.assertEqual(maildata.groups(mail), {"1": spam})
                self.assertEqual(spam[0].read_text(), "Subject: x\n\ny\n")

    def test_read__what_is_no_mail__is_refused_by_name(self):
        for name, data in (("ham/a/x.eml.xz", b"\xfd7zXZ\0\0"), ("spam/all.mbox", b"no field here\n"),
                           ("ham/b.tar.xz", b"not packed")):
            with self.subTest(name):
                self.setUp()
                (self.mail / name).write_bytes(data)
                self.refused(name, lambda: maildata.read(self.mail, self.work))

    def test_read__without_a_folder__is_refused_by_name(self):
        self.mail.joinpath("ham/a/one.eml").unlink()
        self.refused("ham", lambda: maildata.read(self.mail, self.work))

    def test_groups__that_name_no_file__are_refused_by_name(self):
        for text in (None, "1\t1\tsum\tspam/none.eml\n", "one column\n"):
            with self.subTest(text):
                self.setUp()
                tsv = self.mail / "CAMPAIGNS.tsv"
                tsv.unlink()
                if text is not None:
                    tsv.write_text(text)
                self.refused("CAMPAIGNS.tsv", lambda: maildata.groups(self.mail))


if __name__ == "__main__":
    unittest.main()
