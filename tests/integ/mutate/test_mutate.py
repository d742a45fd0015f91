"""contrib/mutate on a project of one file: what its test kills, what survives, what is the same program."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MUTATE = HERE.parents[2] / "contrib/mutate"


class Mutate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name) / "project"
        shutil.copytree(HERE / "project", cls.top)
        cls.out = cls.mutate("-n", "0", "-o", "first")
        cls.lines = cls.report("first")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def mutate(cls, *arguments):
        done = subprocess.run([MUTATE, "--top", cls.top, *arguments], cwd=cls.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout)
        return done.stdout

    @classmethod
    def report(cls, name):
        lines = (pathlib.Path(cls.folder.name) / name).read_text(encoding="utf-8").splitlines()
        return {(o["text"], o["change"]): o for o in map(json.loads, lines)}

    def state(self, text, change):
        return self.lines[text, change]["state"]

    def test_a_changed_result__is_killed(self):
        self.assertEqual(self.state("high - *low", "+"), "killed")

    def test_a_leak__is_killed(self):
        self.assertEqual(self.state("free(low)", "left out"), "killed")

    def test_a_loop_without_end__is_killed_by_time(self):
        self.assertEqual(self.lines["n /= 10", "left out"]["how"], "timeout")

    def test_a_boundary_that_no_test_has__is_told(self):
        self.assertEqual(self.state("n >= 10", ">"), "survived")
        self.assertIn("core/span/span.c:28: operator >: n >= 10 (1 of 1 tests that reach it ran)", self.out)

    def test_a_line_that_no_test_reaches__is_told(self):
        self.assertEqual(self.lines["7", "+ 1"]["reached"], 0)

    def test_the_same_program__does_not_count(self):
        self.assertEqual(self.state("a > b", ">="), "equivalent")

    def test_a_macro__is_left_alone(self):
        self.assertNotIn(6, [o["line"] for o in self.lines.values()])
        self.assertNotIn(19, [o["line"] for o in self.lines.values()])

    def test_a_test_is_added__kills_the_survivor(self):
        test = self.top / "tests/unit/test_span.c"
        before = test.read_text(encoding="utf-8")
        test.write_text(before.replace("span_digits(7) == 1", "span_digits(10) == 2"), encoding="utf-8")
        try:
            self.mutate("--again", "first", "-o", "second")
        finally:
            test.write_text(before, encoding="utf-8")
        again = self.report("second")
        self.assertEqual(set(again), {k for k, o in self.lines.items() if o["state"] == "survived"})
        self.assertEqual(again["n >= 10", ">"]["state"], "killed")
        self.assertEqual(again["7", "+ 1"]["state"], "survived")

    def test_an_interrupted_run__goes_on_where_it_was(self):
        lines = list(self.lines.values())
        waiting = next(o for o in lines if o["state"] == "killed" and o["how"] != "timeout")
        left = [dict(o, by="a former run") if o is not waiting else dict(o, state="waiting", tests=[], reached=0, stages=[])
                for o in lines]
        (pathlib.Path(self.folder.name) / "third").write_text("".join(json.dumps(o) + "\n" for o in left))
        self.mutate("-n", "0", "--resume", "-o", "third")
        for key, line in self.report("third").items():
            self.assertEqual(line["state"], self.lines[key]["state"])
            self.assertEqual(line["by"] == "a former run", line["number"] != waiting["number"])


if __name__ == "__main__":
    unittest.main()
