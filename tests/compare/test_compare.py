#!/usr/bin/env python3
"""contrib/compare --quick with the real programs: each figure is there, and the page and its pictures are written.

Usage: test_compare.py      needs root and contrib/install-deps compare; GILLNET_BUILD names the build folder
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import page  # noqa: E402

TOP = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("GILLNET_BUILD", TOP / "build/release"))


class Compare(unittest.TestCase):
    def test_quick__then_all_rows_are_measured_and_the_page_is_written(self):
        with tempfile.TemporaryDirectory(prefix="gillnet-compare-") as out:
            run = subprocess.run([TOP / "contrib/compare", "--quick", "--out", out], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, check=False, env=dict(os.environ, GILLNET_BUILD=str(BUILD)))
            self.assertEqual(run.returncode, 0, run.stdout.decode(errors="replace"))
            text = pathlib.Path(out, "compare.md").read_text(encoding="utf-8")
            for name in ("cpu", "added", "memory", "catch"):
                self.assertTrue(pathlib.Path(out, "compare", name + ".svg").is_file())
        result = json.loads((BUILD / "compare.json").read_text())
        for row in page.plain_rows(result):
            with self.subTest(row.title):
                wanted = page.NAMES[:2] if "list of" in row.title else page.NAMES
                self.assertEqual([n for n in wanted if row.values[n] is None], [])
                self.assertIn("| %s |" % row.title, text)
        judged = {column: sum(c[0] for c in groups.values()) for column, groups in result["catch"]["table"].items()}
        self.assertEqual(set(judged), {c for c, _ in page.COLUMNS})
        self.assertEqual(len(set(judged.values())), 1)  # the same mail for all

    def test_unknown_option__then_usage(self):
        run = subprocess.run([TOP / "contrib/compare", "--fast"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 64)
        self.assertIn(b"contrib/compare [--quick]", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
