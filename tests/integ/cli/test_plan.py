#!/usr/bin/env python3
"""`gillnet plan` as a person uses it: the paper's figures, costs, the picture, input that cannot be.

Usage: test_plan.py GILLNET [TEST...]     GILLNET is the program; ends like unittest.
"""
import json
import math
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
GILLNET = None
LAYOUTS = ["one-line", "two-lines", "classic", "partitioned", "cuckoo"]


class Case(unittest.TestCase):
    def plan(self, *args, rc=0, **more):
        p = subprocess.run([GILLNET, "plan", *map(str, args)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=120, **more)
        out, err = p.stdout.decode(), p.stderr.decode()
        self.assertEqual(p.returncode, rc, f"{args}\n{out}\n{err}")
        self.assertNotIn("Sanitizer", err)
        return out, err

    def json(self, *args, rc=0):
        line, = self.plan("--json", *args, rc=rc)[0].splitlines()
        return json.loads(line)


class Sizes(Case):
    def test_published_sizes(self):
        big = self.json("--items", "1.2e9", "--fpr", "0.001")
        self.assertEqual((big["m"], big["k"], big["items"]), (17253105079, 10, 1200000000))
        self.assertAlmostEqual(big["best_k"], 9.966, 3)
        small = self.json("--items", "10M", "--fpr", "0.01")
        self.assertEqual((small["m"], small["k"]), (95850584, 7))

    def test_layouts_keep_the_error(self):
        rows = self.json("--items", 10**8, "--fpr", 0.001)["layouts"]
        self.assertEqual([r["layout"] for r in rows], LAYOUTS)
        self.assertEqual([r["layout"] for r in rows if r["chosen"]], ["one-line"])
        self.assertEqual([r["layout"] for r in rows if r["deletes"]], ["cuckoo"])
        for r in rows:
            self.assertTrue(r["keeps_error"])
            self.assertLessEqual(r["error"], 0.001)
            self.assertEqual(r["m"], r["bytes"] * 8)
            self.assertAlmostEqual(r["bits_per_key"], r["m"] / 10**8)
            for name in "miss_ns", "hit_ns", "build_s":
                self.assertGreater(r[name], 0)
        self.assertIsNone(rows[4]["k"])

    def test_table_1_of_the_paper(self):
        table = {(r["bits_per_key"], r["k"]): r["error"]
                 for r in self.json("--items", 10**6, "--fpr", 0.1)["table"]}
        for row, want in (((16, 4), 2.394e-3), ((10, 8), 8.455e-3), ((16, 8), 5.745e-4),
                          ((40, 8), 1.166e-6), ((40, 16), 1.948e-8)):
            self.assertAlmostEqual(table[row] / want, 1, 3)

    def test_bits_and_probes_given(self):
        row, = self.json("--items", "1e6", "--bits-per-key", 16, "--k", 8,
                         "--layout", "classic")["layouts"]
        self.assertEqual((row["k"], row["m"]), (8, 16000000))
        self.assertAlmostEqual(row["error"] / 5.745e-4, 1, 2)
        # with both options the bits decide, and a size above the error is reported
        out, _ = self.plan("--items", "1e6", "--bits-per-key", 8, "--fpr", 0.001, rc=1)
        self.assertIn("above the error", out)
        self.plan("--items", "1e6", "--bits-per-key", 24, "--fpr", 0.001)

    def test_for_people(self):
        out, _ = self.plan("--items", "1200000000", "--fpr", ".001")
        self.assertIn("1,200,000,000 items: m = 17,253,105,079 bits (2.16 GB, 14.38 bits a key), "
                      "k = 10", out)
        self.assertIn("\n* one-line ", out)
        self.assertIn("can forget", out)
        self.assertIn("only a perhaps", out)
        self.assertIn("--measure", out)
        self.assertIn("\n   16 ", out)

    def test_schemes(self):
        for scheme in "keyed", "universal":
            self.plan("--items", "1.2e9", "--fpr", 0.001, "--scheme", scheme)
        # the paper's prime bounds what is reached, and so do chunks of 12 bits
        _, err = self.plan("--items", "1.2e9", "--fpr", 0.001, "--scheme", "universal-paper",
                           "--layout", "classic", rc=65)
        self.assertRegex(err, r"reaches 2100000011 of 17253\d{6} bits")
        _, err = self.plan("--items", "1.2e9", "--fpr", 0.001, "--scheme", "md5", rc=65)
        self.assertRegex(err, r"reaches 4096 of 17253\d{6} bits")
        self.assertEqual(len(err.splitlines()), len(LAYOUTS))
        rows = self.json("--items", "1e6", "--bits-per-key", 16, "--k", 4, "--scheme", "md5")
        self.assertEqual([r["layout"] for r in rows["layouts"] if "refused" not in r],
                         ["classic", "partitioned"])
        self.plan("--items", "1e6", "--fpr", 0.001, "--scheme", "md5", "--layout", "one-line",
                  rc=65)

    def test_measure(self):
        row, = self.json("--items", 1000, "--fpr", 0.01, "--layout", "cuckoo",
                         "--measure")["layouts"]
        self.assertTrue(row["measured"])
        row, = self.json("--items", 10**6, "--fpr", 0.01, "--layout", "two-lines",
                         "--measure")["layouts"]
        self.assertGreater(row["hit_ns"], 0)
        out, _ = self.plan("--items", 1000, "--fpr", 0.01, "--layout", "classic", "--measure")
        self.assertIn("measured here", out)

    def test_impossible(self):
        for args in (("--items", 0), ("--items", "-1"), ("--items", "nan"), ("--items", "inf"),
                     ("--items", 2**63), ("--items", "1.5"), ("--items", "2T")):
            _, err = self.plan(*args, "--fpr", 0.01, rc=65)
            self.assertIn("1 to 10^12", err)
        for fpr in 0, 1, -0.1, "nan", "inf", 2, 2**63, "1e-400":
            _, err = self.plan("--items", 1000, "--fpr", fpr, rc=65)
            self.assertIn("such as 0.001", err)
        for bits in 0, -1, "nan", 129, 2**63:
            self.plan("--items", 1000, "--bits-per-key", bits, rc=65)
        for k in 0, -1, 17, "nan", 2**63, 1.5:
            self.plan("--items", 1000, "--fpr", 0.1, "--k", k, rc=65)
        _, err = self.plan("--items", 10**6, "--fpr", "1e-30", rc=65)
        self.assertIn("within 128 bits a key", err)
        self.plan("--items", 10**6, "--fpr", "1e-6", "--layout", "cuckoo", rc=65)
        out, _ = self.plan("--items", 10**6, "--fpr", "1e-6")  # the others can
        self.assertIn("  cuckoo       error: cuckoo does not come down to it", out)

    def test_usage(self):
        for args in ((), ("--items", 5), ("--fpr", 0.1), ("--items", "abc", "--fpr", 0.1),
                     ("--items", "0x10", "--fpr", 0.1), ("--items", "", "--fpr", 0.1),
                     ("--items", "5kk", "--fpr", 0.1), ("--items", "k", "--fpr", 0.1),
                     ("--items", 5, "--fpr", 0.1, "--layout", "blocked"),
                     ("--items", 5, "--fpr", 0.1, "--scheme", "sha256"),
                     ("--items", 5, "--fpr", 0.1, "more"), ("--items", 5, "--fpr", 0.1, "--x"),
                     ("--items", 5, "--fpr", 0.1, "--cells", 5), ("--items",),
                     ("--dcc", "--items", 5), ("--dcc", "--prices", "x"),
                     ("--dcc", "--items", 5, "--cells", 5, "--k", 4, "--threshold", 5,
                      "--plot", "x")):
            _, err = self.plan(*args, rc=64)
            self.assertIn("usage: gillnet", err)

    def test_broken_output(self):
        with open("/dev/full", "wb") as full:
            p = subprocess.run([GILLNET, "plan", "--items", "5", "--fpr", "0.1"], stdout=full,
                               stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(p.returncode, 74)


class Counting(Case):
    def test_published_values(self):
        for cells, want, places in ((10**6, 1.08e-32, 2), (500000, 4.1e-15, 1),
                                    (250000, 1.24e-3, 2)):
            row = self.json("--dcc", "--items", "1e6", "--cells", cells, "--k", 4,
                            "--threshold", 20)
            self.assertAlmostEqual(row["error"] / want, 1, places)
            self.assertAlmostEqual(row["log10_error"], math.log10(row["error"]), 6)
            self.assertLess(row["cell_equals"], row["cell_reaches"])

    def test_beyond_a_double(self):
        row = self.json("--dcc", "--items", 1000, "--cells", "1e12", "--k", 8,
                        "--threshold", 100)
        self.assertEqual(row["error"], 0)
        self.assertLess(row["log10_error"], -1000)
        out, _ = self.plan("--dcc", "--items", 1000, "--cells", "1e12", "--k", 8,
                           "--threshold", 100)
        self.assertRegex(out, r"e-\d{4}")
        row = self.json("--dcc", "--items", 1, "--cells", 5, "--k", 2, "--threshold", 3)
        self.assertEqual((row["error"], row["log10_error"]), (0, None))

    def test_refined_variant(self):
        # The paper's Table 5, m = 80K, k = 4: 2.390e-2 for the plain filter, 1.875e-2 mixed.
        dcc = ("--dcc", "--items", "1e6", "--cells", "8e6", "--k", 4, "--threshold", 20)
        plain = self.json(*dcc, "--variant", "plain")
        row = self.json(*dcc, "--variant", "refined")
        self.assertNotIn("refined_wrong", plain)
        self.assertEqual({**row, **plain}, row)
        self.assertAlmostEqual(row["plain_wrong"] / 2.390e-2, 1, delta=0.1)
        self.assertAlmostEqual(row["refined_wrong"] / 1.875e-2, 1, delta=0.1)
        self.assertTrue(7e6 < row["refined_cells"] < 8e6, row)
        self.assertIn("cells are enough for the refined filter",
                      self.plan(*dcc, "--variant", "refined")[0])
        self.assertIn("--variant is plain or refined", self.plan(*dcc, "--variant", "x", rc=64)[1])
        for cells, k in ("8e6", 9), ("1e10", 4):
            _, err = self.plan("--dcc", "--items", "1e6", "--cells", cells, "--k", k,
                               "--threshold", 20, "--variant", "refined", rc=65)
            self.assertIn("--variant", err)

    def test_impossible(self):
        good = {"--items": 5, "--cells": 5, "--k": 4, "--threshold": 5}
        for name in good:
            for bad in 0, -1, "nan", "inf", 2**63, 1.5:
                args = [w for pair in {**good, name: bad}.items() for w in pair]
                _, err = self.plan("--dcc", *args, rc=65)
                self.assertIn(name, err)


class Costs(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gillnet-plan-")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "prices.conf")

    def test_shipped_file_is_the_default(self):
        args = ("--items", "1e9", "--queries-per-day", "2e8", "--layout", "classic")
        shipped = self.json("--prices", ROOT / "contrib/prices.conf", *args)
        self.assertEqual(shipped, self.json(*args))
        self.assertEqual([r["items"] for r in shipped["grid"][::5]], [10**9, 12 * 10**8, 15 * 10**8])
        self.assertEqual([r["wished_error"] for r in shipped["grid"][:5]],
                         [1e-4, 5e-4, 1e-3, 5e-3, 1e-2])
        for r in shipped["grid"]:
            gb, let_through = r["bytes"] / 1e9, 6e9 * r["error"]
            self.assertAlmostEqual(r["total"], gb * .5 + 150 + let_through * (.0001 + .01), 4)
            self.assertAlmostEqual(r["per_million"], r["total"] / 6000, 6)
        self.assertEqual(shipped["best"]["total"], min(r["total"] for r in shipped["grid"]))

    def test_prices_decide(self):
        self.file.write_text("memory_gb = 500.0; false_positive = 0.0; instance_gb = 1;\n"
                             "queries_per_day = 1e6; items = [1e9]; errors = [0.001, 0.01, 0.1];\n")
        got = self.json("--prices", self.file)
        self.assertEqual((got["best"]["wished_error"], got["best"]["instances"]), (0.01, 2))
        self.assertFalse(got["grid"][2]["allowed"])
        got = self.json("--prices", self.file, "--fpr", "0.2")
        self.assertEqual(got["best"]["wished_error"], 0.1)
        out, err = self.plan("--prices", self.file, "--fpr", "1e-4", rc=65)
        self.assertIn("above the highest error", out)
        self.assertIn("allow a larger one with --fpr", err)
        out, _ = self.plan("--prices", self.file)
        self.assertIn("\n*     1,000,000,000     1.00 % ", out.replace("      1.00 %", "     1.00 %"))

    def test_faults(self):
        _, err = self.plan("--prices", self.file, "--items", 5, "--queries-per-day", 5, rc=66)
        self.file.write_text('instance = "5";\nunconfirmed = 2;\nmoney = 1;\n')
        _, err = self.plan("--prices", self.file, "--items", 5, "--queries-per-day", 5, rc=65)
        for line in 1, 2, 3:
            self.assertIn(f"{self.file}:{line}: ", err)
        self.file.write_text("instance = 5;\n")
        self.plan("--prices", self.file, "--items", 5, rc=64)
        self.plan("--prices", self.file, "--queries-per-day", 5, rc=64)
        self.plan("--prices", self.file, "--items", 5, "--queries-per-day", 0, rc=65)
        self.plan("--prices", self.file, "--items", 5, "--queries-per-day", 5, "--k", 5, rc=64)


class Plot(Case):
    SVG = "{http://www.w3.org/2000/svg}"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gillnet-plan-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def draw(self, *args):
        file = self.folder / "p.svg"
        self.plan(*args, "--plot", file)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["p.svg"])
        return ElementTree.parse(file).getroot()

    def test_picture(self):
        for args in (("--items", "1.2e9", "--fpr", 0.001),
                     ("--items", "1e6", "--bits-per-key", 120, "--layout", "classic"),
                     ("--items", "1e6", "--fpr", 1e-9), ("--items", "1e6", "--fpr", 0.9),
                     ("--items", 1, "--fpr", 0.5), ("--items", 1000, "--fpr", 0.001,
                                                    "--layout", "cuckoo")):
            svg = self.draw(*args)
            self.assertEqual(svg.tag, self.SVG + "svg")
            width, height = float(svg.get("width")), float(svg.get("height"))
            curves = [p for p in svg.iter(self.SVG + "path") if "curve" in p.get("class")]
            self.assertEqual(len(curves), 2 * len(LAYOUTS))
            for p in curves:
                numbers = [float(n) for n in re.findall(r"-?[\d.]+", p.get("d"))]
                self.assertTrue(all(0 <= n <= max(width, height) for n in numbers), args)
                self.assertNotRegex(p.get("d"), "nan|inf")
            texts = [t.text for t in svg.iter(self.SVG + "text")]
            for name in LAYOUTS:
                self.assertIn(name, texts)
            for p in svg.iter(self.SVG + "circle"):
                self.assertTrue(0 <= float(p.get("cx")) <= width)
                self.assertTrue(0 <= float(p.get("cy")) <= height)

    def test_stands_alone_in_light_and_dark(self):
        svg = self.draw("--items", "1e6", "--fpr", 0.001)
        text = ElementTree.tostring(svg, "unicode")
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertNotRegex(text, r"href|script|url\(|@import")
        self.assertIn("one-line: 15.", text)

    def test_cannot_be_written(self):
        before = self.folder / "p.svg"
        before.write_text("old")
        self.plan("--items", 5, "--fpr", 0.1, "--plot", self.folder / "no/p.svg", rc=66)

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

        p = subprocess.run([GILLNET, "plan", "--items", "5", "--fpr", "0.1", "--plot", before],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60,
                           preexec_fn=small)
        self.assertGreaterEqual(p.returncode, 64, p.stderr)
        self.assertIn(b"p.svg", p.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["p.svg"])
        self.assertEqual(before.read_text(), "old")


class Counting(Case):
    WINDOWS = ["10m", "1h", "1d", "14d"]

    def test_presets_are_within_the_budgets(self):
        for n, memory, disk in (10**4, 64e6, 100e6), (10**5, 192e6, 1e9), (10**6, 1.5e9, 8e9):
            r = self.json("--messages-per-day", n)
            self.assertEqual(r["messages_per_day"], n)
            self.assertLess(r["memory_bytes"] + 25e6, memory)
            self.assertLess(r["disk_bytes"], disk)
            self.assertEqual(list(r["noise_floor"]), self.WINDOWS)
            self.assertEqual(list(r["error"]), self.WINDOWS)
            for window in self.WINDOWS:
                self.assertLess(r["noise_floor"][window], 0.001)
            self.assertEqual(r["error"]["10m"], 0)
            self.assertEqual(64 * (r["doorkeeper_lines"] + r["cell_lines"]) + 32 * r["live_slots"],
                             r["memory_bytes"])

    def test_text_has_the_presets_beside_the_site(self):
        out, _ = self.plan("--messages-per-day", "50k")
        self.assertIn("50,000 messages a day", out)
        for text in "10,000 ", "100,000 ", "1,000,000 ", "10,000,000 ", "messages_per_day":
            self.assertIn(text, out)

    def test_numbers_that_cannot_be(self):
        for text in "0", "-1", "1.5", "1e10", "nan", "inf":
            self.assertIn("messages", self.plan("--messages-per-day", text, rc=65)[1])
        self.plan("--messages-per-day", "many", rc=64)
        self.plan("--messages-per-day", "5", "--items", "5", rc=64)
        self.plan("--messages-per-day", "5", "--plot", "x.svg", rc=64)


class Store(Case):
    def test_hosts__memory_and_traffic_follow_the_keys_of_counting(self):
        one, all_ = (self.json("--messages-per-day", n) for n in (10**6, 50 * 10**6))
        r = self.json("--store", "--hosts", 50)
        self.assertEqual((r["hosts"], r["messages_per_day"], r["replicas"]), (50, 10**6, 1))
        self.assertEqual(r["counters"], 151 * all_["bucket_keys"] + 16 * all_["day_keys"])
        self.assertTrue(10 * r["counters"] < r["memory_bytes"] <= 20 * r["counters"])
        self.assertLess(r["host_bytes_per_day"], 1.2e9)
        self.assertEqual(r["bytes_per_day"], 50 * r["host_bytes_per_day"])
        self.assertEqual(self.json("--store", "--hosts", 3)["host_bytes_per_day"], r["host_bytes_per_day"])
        self.assertEqual(r["updates_per_s"], 50 * 144 * one["bucket_keys"] // 86400)
        self.assertEqual(r["machines"], 2 * r["masters"])
        self.assertAlmostEqual(r["maxmemory_bytes"] * r["masters"] * 0.75, r["memory_bytes"], delta=r["masters"])

    def test_few_hosts__one_server_does__and_two_are_never_a_cluster(self):
        small = self.json("--store", "--hosts", 2, "--messages-per-day", "10k", "--replicas", 0)
        self.assertEqual((small["masters"], small["machines"]), (1, 1))
        self.assertNotIn(2, {self.json("--store", "--hosts", n)["masters"] for n in range(1, 30)})
        self.assertIn("Sentinel", self.plan("--store", "--hosts", 1)[0])
        self.assertIn("a Cluster\n", self.plan("--store", "--hosts", 50)[0])

    def test_prices__machines_by_their_memory(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
            f.write("memory_gb = 0; instance = 10; instance_gb = 64;\n")
            f.flush()
            r = self.json("--store", "--hosts", 50, "--prices", f.name)
        self.assertEqual(r["masters"], math.ceil(r["memory_bytes"] / 48e9))
        self.assertEqual(r["price_per_month"], 10 * r["machines"])

    def test_questions_that_make_no_sense(self):
        for words in ["--store"], ["--store", "--hosts", "0"], ["--store", "--hosts", "1.5"], ["--hosts", "3", "--items", "5"], \
                ["--store", "--hosts", "3", "--items", "5"], ["--store", "--hosts", "3", "--replicas", "-1"]:
            self.plan(*words, rc=64)


if __name__ == "__main__":
    GILLNET = sys.argv.pop(1)
    unittest.main(verbosity=2)
