"""Completion as the shells ask for it, mistyped words, and help.

Usage: test_completion.py GILLNET
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GILLNET = ""
ROOT = pathlib.Path(__file__).resolve().parents[3]


def run(*args, **more):
    return subprocess.run([GILLNET, *args], capture_output=True, text=True, timeout=60, check=False, **more)


def commands():
    """Names and synopses of commands.def."""
    text = (ROOT / "core/cli/commands.def").read_text()
    return re.findall(r'^CLI_COMMAND\((\w+), "((?:[^"\\]|\\.)*)"', text, re.M)


class Shell(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-completion."))
        self.addCleanup(shutil.rmtree, self.dir)
        self.conf = self.dir / "gillnet.conf"
        self.conf.write_text(f'state_dir = "{self.dir}/state"; shipped_rules = false;\n'
                             'feeds = ( { name = "drop"; url = "https://feeds.example/drop.txt"; } );\n')
        for name in ("phish", "promo"):
            (self.dir / "state/lists" / name).mkdir(parents=True)
        (self.dir / "mail.eml").write_text("Subject: x\n\nx\n")
        os.symlink(GILLNET, self.dir / "gillnet")
        self.env = dict(os.environ, PATH=f"{self.dir}:{os.environ['PATH']}", HOME=str(self.dir))

    def bash(self, *words):
        script = self.dir / "bash"
        script.write_text(run("completion", "bash").stdout)
        quoted = " ".join("'" + w + "'" for w in ("gillnet", "-c", str(self.conf), *words))
        ask = (f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
               'complete -p gillnet >&2; _gillnet; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", ask], cwd=self.dir, env=self.env, text=True,
                              capture_output=True, timeout=60, check=True)
        self.assertIn("-F _gillnet gillnet", done.stderr)
        return set(done.stdout.split())

    def zsh(self, *words):
        """compadd and _files are the shell's; here they print what they were given."""
        script = self.dir / "zsh"
        script.write_text(run("completion", "zsh").stdout)
        quoted = " ".join("'" + w + "'" for w in ("gillnet", "-c", str(self.conf), *words))
        ask = (f"compdef() {{ }}; source '{script}'; words=({quoted}); CURRENT=$#words; "
               'compadd() { shift; print -l -- "$@" }; _files() { print :files }; _gillnet')
        done = subprocess.run(["zsh", "-f", "-c", ask], cwd=self.dir, env=self.env, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def check(self, ask, files):
        self.assertEqual(ask("loo"), {"lookup"})
        self.assertLessEqual({name for name, _ in commands()}, ask(""))
        self.assertLessEqual({"import", "add", "revoke", "export", "merge", "stat", "verify"}, ask("list", ""))
        self.assertEqual(ask("list", "add", "ph"), {"phish"})
        self.assertEqual(ask("list", "import", ""), {"phish", "promo"})
        self.assertIn("--expire", ask("list", "add", "--"))
        self.assertNotIn("--filter", ask("list", "add", "--"))
        self.assertEqual(ask("feed", "update", ""), {"drop"})
        self.assertEqual(ask("config", "dump", "limits.par"), {"limits.parts"})
        self.assertEqual(ask("help", "log.l"), {"log.level"})
        self.assertEqual(ask("simulate", "sync", "--topology", "me"), {"mesh"})
        self.assertEqual(ask("peer", "ring", ""), {"create"})
        self.assertIn(files, ask("check", "mai"))
        self.assertIn(files, ask("list", "import", "phish", "mai"))
        self.assertEqual(ask("nosuch", ""), {name for name, _ in commands()} & ask("nosuch", ""))

    def test_bash__is_asked__gives_commands_options_lists_and_keys(self):
        self.check(self.bash, "mail.eml")

    def test_zsh__is_asked__gives_commands_options_lists_and_keys(self):
        self.check(self.zsh, ":files")

    def test_zsh__reads_the_file__no_error_and_the_function_is_there(self):
        functions = self.dir / "functions"
        functions.mkdir()
        (functions / "_gillnet").write_text(run("completion", "zsh").stdout)
        ask = f"fpath=('{functions}' $fpath); autoload -Uz compinit; compinit -u -D; print -- $_comps[gillnet]"
        done = subprocess.run(["zsh", "-f", "-c", ask], env=self.env, text=True, capture_output=True, timeout=60,
                              check=False)
        self.assertEqual((done.stdout, done.stderr), ("_gillnet\n", ""))

    def test_broken_configuration__completion_is_silent(self):
        self.conf.write_text("socket = ;\n")
        self.assertEqual(self.bash("list", "add", ""), set())
        self.assertIn("lookup", self.bash("loo"))


class Words(unittest.TestCase):
    def test_every_command__has_help__by_both_ways(self):
        for name, _ in commands():
            with self.subTest(name):
                one, two, three = run("help", name), run(name, "--help"), run(name, "-h")
                self.assertEqual((one.returncode, two.returncode, three.returncode), (0, 0, 0))
                self.assertEqual(one.stdout, two.stdout)
                self.assertEqual(one.stdout, three.stdout)
                self.assertIn(f"usage: gillnet [-c FILE] [--json] {name}", one.stdout)

    def test_every_command__mistyped__is_named_with_64(self):
        for name, _ in commands():
            if len(name) < 4:
                continue
            with self.subTest(name):
                wrong = name[0] + name[2] + name[1] + name[3:] if name[1] != name[2] else name + "x"
                done = run(wrong)
                self.assertEqual(done.returncode, 64)
                self.assertIn(f'did you mean "{name}"?', done.stderr)

    def test_every_option__mistyped__is_named_with_64(self):
        """By the option's own command; those that are found only beside others are left out."""
        for name, synopsis in commands():
            line = synopsis.split("\\n")[0]
            option = re.search(r"\[(--[a-z-]{5,})", line)
            if option is None:
                continue
            with self.subTest(name):
                words = [w for w in line.split()[1:] if re.fullmatch(r"[a-z]+", w)]
                done = run(name, *words, option[1] + "x", "x")
                self.assertEqual(done.returncode, 64)
                self.assertIn(f'did you mean "{option[1]}"?', done.stderr)

    def test_subcommands__mistyped__are_named(self):
        for args, near in ((("list", "improt"), "import"), (("peer", "manifset", "show"), "manifest"),
                           (("peer", "ring", "craete"), "create"), (("config", "chek"), "check"),
                           (("feed", "udpate"), "update"), (("--jsn", "stat"), "--json")):
            with self.subTest(args):
                done = run(*args)
                self.assertEqual(done.returncode, 64)
                self.assertIn(f'did you mean "{near}"?', done.stderr)

    def test_help__takes_keys_and_groups(self):
        self.assertIn("limits.parts (number; default: 500)", run("help", "limits.parts").stdout)
        group = run("help", "thresholds").stdout
        self.assertEqual(len(re.findall(r"^thresholds\.", group, re.M)), 6)
        self.assertEqual(run("help", "no.such.key").returncode, 64)

    def test_help__takes_a_subcommand(self):
        done = run("help", "list", "import")
        self.assertEqual((done.returncode, done.stdout.count("usage:"), done.stdout.count("gillnet [-c")), (0, 1, 1))
        self.assertIn("list import LIST FILE|-", done.stdout)
        self.assertIn("list stat|verify", run("help", "list", "verify").stdout)
        done = run("help", "list", "nothing")
        self.assertEqual(done.returncode, 64)
        self.assertIn("list has no subcommand nothing", done.stderr)

    def test_config_dump__takes_keys_and_groups(self):
        one = run("-c", "/dev/null", "config", "dump", "limits.parts")
        self.assertNotEqual(one.returncode, 0)  # no regular file
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
            f.write('state_dir = "/x";')
            f.flush()
            self.assertEqual(run("-c", f.name, "config", "dump", "limits.parts").stdout,
                             "limits.parts = 500  # default\n")
            self.assertEqual(len(run("-c", f.name, "config", "dump", "log").stdout.splitlines()),
                             len([k for k in run("-c", f.name, "config", "dump").stdout.splitlines()
                                  if k.startswith("log.")]))
            self.assertIn('"key": "state_dir"', run("-c", f.name, "--json", "config", "dump", "state_dir").stdout)
            self.assertEqual(run("-c", f.name, "config", "dump", "no_such").returncode, 64)

    def test_daemons__help_version_and_a_mistyped_option(self):
        folder = pathlib.Path(GILLNET).parent
        for name in ("gillnet", "gillnetd", "gillnet-hub"):
            with self.subTest(name):
                def ask(*args):
                    return subprocess.run([folder / name, *args], capture_output=True, text=True, timeout=60,
                                          check=False)
                for option in ("-h", "--help"):
                    self.assertEqual(ask(option).returncode, 0)
                    self.assertIn("usage: gillnet", ask(option).stdout)
                for option in ("-V", "--version"):
                    self.assertRegex(ask(option).stdout, rf"^{name} [0-9.]+\n$")
                done = ask("--vresion")
                self.assertEqual(done.returncode, 64)
                self.assertIn('did you mean "--version"?', done.stderr)


if __name__ == "__main__":
    GILLNET = os.path.abspath(sys.argv.pop(1))
    unittest.main()
