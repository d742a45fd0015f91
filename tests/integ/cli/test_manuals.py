"""Every command, option, key and metric that a manual or the README names is one of the program's.

Usage: test_manuals.py GILLNET
"""
import pathlib
import re
import subprocess
import sys
import unittest

GILLNET = ""
ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "contrib/man").glob("*.[1-8]"))
OTHERS = [ROOT / "README.md", ROOT / "conf/gillnet.conf", *sorted((ROOT / "contrib").glob("*.md"))]
WORD = r"[a-z][a-z-]*"


def synopses():
    """Every line of every synopsis, as its words before the first option or placeholder."""
    text = (ROOT / "core/cli/commands.def").read_text()
    lines = []
    for synopsis in re.findall(r'^CLI_COMMAND\(\w+, "((?:[^"\\]|\\.)*)"', text, re.M):
        lines += synopsis.split("\\n")
    return lines


def literal_words(line):
    """[{"list"}, {"stat", "verify"}]: the words typed as they stand, up to the first other one."""
    found = []
    for word in line.split():
        if not re.fullmatch(rf"{WORD}(\|{WORD})*", word):
            break
        found.append(set(word.split("|")))
    return found


def is_command(words):
    """Whether words ("list", "import", ...) begin as some synopsis does."""
    for line in synopses():
        literal = literal_words(line)
        n = min(len(words), len(literal))
        if n > 0 and all(words[i] in literal[i] for i in range(n)):
            return True
    return False


def options_of(command):
    """Options of the command, and the common ones."""
    return {o for line in synopses() if line.split()[0] == command
            for o in re.findall(r"(?<![a-z-])--[a-z-]+", line)} | {"--json", "--help", "--version"}


def plain(page):
    """A manual page as text, a logical line a line: `gillnet list add`."""
    out = []
    for line in page.read_text().splitlines():
        if line.startswith((".Ic gillnet ", ".Pq Ic gillnet ", ".Dl gillnet ", ".Nm Cm ")):
            line = re.sub(r"^\.(Pq Ic|Ic|Dl|Nm Cm) ", "gillnet " if "Nm Cm" in line else "", line)
            line = re.sub(r" (No|Xr|Ar|Oo|Op|Pq|Ns) .*", "", re.sub(r" Fl -?-?", " --", line))
        out.append(line)
    return "\n".join(out)


def named_commands(text, is_page):
    """(words, options) of every `gillnet ...` that is marked as a command."""
    if is_page:
        lines = re.findall(r"^gillnet (.+)$", text, re.M) + re.findall(r"`gillnet ([^`]+)`", text)
    else:
        lines = re.findall(r"`gillnet ([^`\n]+)`", text) + re.findall(r"^ {4,}(?:sudo )?gillnet ([^#\n]+)", text, re.M)
    for line in lines:
        line = re.sub(r"^(-c \S+ |--json )+", "", line)
        words = []
        for word in line.split():
            if not re.fullmatch(WORD, word):
                break
            words.append(word)
        if words:
            yield words, re.findall(r"(?<!\S)--[a-z][a-z-]*", line)


class Manuals(unittest.TestCase):
    def test_commands_and_options__named_anywhere__exist(self):
        seen = 0
        for page in PAGES + OTHERS:
            text = plain(page) if page in PAGES else page.read_text()
            for words, options in named_commands(text, page in PAGES):
                with self.subTest(page=page.name, words=words):
                    self.assertTrue(is_command(words), f"{page.name}: gillnet {' '.join(words)}")
                    for option in options:
                        self.assertIn(option, options_of(words[0]), f"{page.name}: gillnet {' '.join(words)}")
                    seen += 1
        self.assertGreater(seen, 60)

    def test_items_of_gillnet_1__are_commands_and_every_command_has_one(self):
        page = (ROOT / "contrib/man/gillnet.1").read_text()
        commands = {line.split()[0] for line in synopses()}
        items = [i.split() for i in re.findall(rf"^\.It Ic ({WORD}(?: {WORD})*)", page, re.M)]
        items = [i for i in items if i[0] in commands]
        for words in items:
            with self.subTest(words):
                self.assertTrue(is_command(words), " ".join(words))
        self.assertEqual({i[0] for i in items}, commands)
        for line in synopses():
            words = [sorted(w) for w in literal_words(line)]
            for last in words[-1]:
                with self.subTest(line):
                    wanted = [w[0] for w in words[:-1]] + [last]
                    self.assertTrue(any(i[:len(wanted)] == wanted for i in items), " ".join(wanted))

    def test_keys__named_anywhere__exist(self):
        dump = subprocess.run([GILLNET, "help", "thresholds"], capture_output=True, text=True, check=True, timeout=60)
        self.assertIn("thresholds.header", dump.stdout)
        text = "".join((ROOT / f"core/config/{name}.def").read_text() for name in ("schema", "subscribe", "feed"))
        keys = set(re.findall(r'^CONFIG_KEY\("([^"]+)"', text, re.M))
        groups = {k.split(".")[0] for k in keys if "." in k}
        family = {"lists": "LIST_", "list_defaults": "LIST_", "rules": "RULE_", "subscribe": "SUBSCRIBE_",
                  "feeds": "FEED_"}
        for group, macro in family.items():
            keys |= {f"{group}.{k}" for k in re.findall(rf'^CONFIG_{macro}KEY\("([^"]+)"', text, re.M)}
            keys |= {f"{group}.name"}
        groups |= set(family)
        seen = 0
        for page in PAGES + OTHERS:
            marked = (re.findall(r"^\.(?:It )?(?:Pq )?Ic ([a-z_]+\.[a-z_]+)", page.read_text(), re.M) +
                      re.findall(r"`([a-z_]+\.[a-z_]+)(?: = [^`]*)?`", page.read_text()))
            for key in marked:
                if key.split(".")[0] in groups and key != "gillnet.conf":
                    with self.subTest(page=page.name, key=key):
                        self.assertIn(key, keys)
                    seen += 1
        self.assertGreater(seen, 60)

    def test_nothing_is_promised(self):
        for page in PAGES + OTHERS:
            with self.subTest(page.name):
                self.assertIsNone(re.search(r"not produced|not yet (?:implemented|offered|produced)|\bHttps?://|TODO",
                                            page.read_text()))

    def test_metrics__in_their_manual__are_in_the_source(self):
        """Their values are compared with a running hub elsewhere (integ_metrics)."""
        source = "".join(p.read_text() for folder in ("core/hub", "core/telemetry", "core/base", "core/count") for ext in ("c", "def", "h")
                         for p in (ROOT / folder).rglob(f"*.{ext}"))
        names = set(re.findall(r"\b(gillnet_[a-z_]+)", (ROOT / "contrib/man/gillnet-metrics.7").read_text()))
        for name in names:
            with self.subTest(name):
                stem = re.sub(r"_(bucket|sum|count|total)$", "", name)
                ours = [stem, stem.removeprefix("gillnet_")]  # seconds, shares and bytes are made from other units
                for unit, of in (("_seconds", "_us"), ("_ratio", "_ppb"), ("_bytes", "_bits")):
                    ours.append(re.sub(f"{unit}$", of, ours[1]))
                self.assertTrue(any(name in source for name in ours), name)


if __name__ == "__main__":
    GILLNET = sys.argv.pop(1)
    unittest.main()
