"""The state folder between root, who imports, and the user gillnetd runs as: what that user cannot read is named with
the command that mends it, and no command leaves such a thing behind."""
import os
import pathlib
import pty
import pwd
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from daemon import BUILD, ROOT

USER = "mail"  # every Debian has it


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class State(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-state-"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        os.chmod(self.top, 0o755)
        self.uid = pwd.getpwnam(USER).pw_uid
        self.gid = pwd.getpwnam(USER).pw_gid
        self.state = self.top / "state"
        self.run_dir = self.top / "run"
        self.conf = self.top / "gillnet.conf"
        self.conf.write_text(f'state_dir = "{self.state}"; shipped_rules = false;\nsocket = "unix:{self.run_dir}/s";\n'
                             'api = { listen = []; };\nlists = ( { name = "phish"; weight = 9.0; } );\n')
        os.chmod(self.conf, 0o644)
        for path in (self.run_dir, self.state):
            path.mkdir()
            os.chown(path, self.uid, self.gid)
            os.chmod(path, 0o750)  # as a person makes it: nothing hands on the group

    def run_it(self, program, *args, rc=0, **kw):
        p = subprocess.run([f"{BUILD}/{program}", "-c", self.conf, *args], capture_output=True, text=True, timeout=120, **kw)
        if rc is not None:
            self.assertEqual(p.returncode, rc, p.stdout + p.stderr)
        return p.stdout + p.stderr

    def all_readable(self):
        said = self.run_it("gillnetd", "-t")
        self.assertIn("is good", said)
        self.assertNotIn("may not", self.run_it("gillnet", "doctor", rc=None))
        for folder, _, names in os.walk(self.state):
            for path in (folder, *(os.path.join(folder, n) for n in names)):
                self.assertEqual(os.lstat(path).st_uid, self.uid, path)

    def test_written_by_root__then_the_user_reads_it(self):
        (self.top / "feed").write_text("http://evil.example/x\n")
        for args in (("list", "import", "phish", self.top / "feed"), ("list", "add", "phish", "bad.example"),
                     ("peer", "ring", "create", "--name", "a"), ("list", "rebuild", "phish"),
                     ("backup", self.top / "b.gnb"), ("list", "revoke", "phish", "bad.example"),
                     ("restore", "--force", self.top / "b.gnb")):
            before = os.umask(0o077)
            self.run_it("gillnet", *map(str, args))
            os.umask(before)
            self.all_readable()
        # the program itself, as that user
        bin_dir = self.top / "bin"
        bin_dir.mkdir()
        shutil.copy(f"{BUILD}/gillnetd", bin_dir)
        with open(self.top / "log", "wb") as log:
            # libmilter's own races are in a file that this user may not read
            env = {**os.environ, "TSAN_OPTIONS": f"suppressions={shutil.copy(f'{ROOT}/tests/tsan.supp', bin_dir)}"}
            proc = subprocess.Popen([f"{bin_dir}/gillnetd", "-f", "-c", self.conf], stderr=log, user=self.uid,
                                    group=self.gid, extra_groups=[], cwd="/", env=env)
        self.addCleanup(proc.kill)
        self.until(lambda: "evil.example" in self.run_it("gillnet", "lookup", "http://evil.example/x", rc=None)
                   and "runs as process" in self.run_it("gillnet", "stat", rc=None), "gillnetd")
        self.assertNotIn("fault:", self.run_it("gillnet", "stat"))
        # whom doctor tries it as is the running process now
        os.chmod(self.state / "lists/phish/CURRENT", 0o600)
        os.chown(self.state / "lists/phish/CURRENT", 0, 0)
        self.assertIn("gillnetd runs as mail, who may not read", self.run_it("gillnet", "doctor", rc=None))
        proc.terminate()
        self.assertEqual(proc.wait(60), 0, (self.top / "log").read_text()[-6000:])

    def until(self, what, why, seconds=60):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, why)
            time.sleep(0.05)

    def test_not_readable__then_the_file_and_the_command_that_mends_it(self):
        self.run_it("gillnet", "list", "add", "phish", "bad.example")
        self.all_readable()
        for path in (self.state / "lists/phish/CURRENT", next((self.state / "lists/phish").glob("log.*")),
                     self.state / "keys/digest.key", self.state / "keys", self.state / "lists/phish"):
            os.chown(path, 0, 0)
            os.chmod(path, 0o700 if path.is_dir() else 0o600)
            said = self.run_it("gillnetd", "-t", rc=os.EX_NOPERM)
            self.assertNotIn("is good", said)
            self.assertIn(f"gillnetd runs as {USER}, who may not read {path}: Permission denied", said)
            doctor = self.run_it("gillnet", "doctor", rc=1)
            self.assertIn(f"who may not read {path}: Permission denied", doctor)
            mend, = set(re.findall(r"mend it: (.*)$", said, re.M))
            self.assertIn(mend, doctor)
            subprocess.run(["sh", "-ec", mend], check=True)
            self.all_readable()

    def test_doctor_of_an_ordinary_user__then_goes_on_to_the_mta(self):
        self.run_it("gillnet", "list", "add", "phish", "bad.example")
        bin_dir, cf = self.top / "bin", self.top / "sendmail.cf"
        bin_dir.mkdir()
        shutil.copy(f"{BUILD}/gillnet", bin_dir)
        cf.write_text(f"O InputMailFilters=gillnet\nXgillnet, S=local:{self.run_dir}/s, T=C:30s;S:10s;R:30s;E:5m\n")

        def doctor():
            p = subprocess.run([bin_dir / "gillnet", "-c", self.conf, "doctor", "--sendmail-cf", cf], capture_output=True,
                               text=True, timeout=60, user=65534, group=65534, extra_groups=[], cwd="/")
            self.assertEqual((p.returncode, p.stderr), (1, ""), p.stdout)
            return p.stdout
        said = doctor()
        self.assertRegex(said, f"(?m)^ok +configuration: {self.conf}$")
        self.assertIn(f"state folder: this user may not look into {self.state}", said)
        self.assertIn(f"socket: this user may not look at {self.run_dir}/s", said)
        self.assertRegex(said, "(?m)^ok +sendmail: filter gillnet is gillnetd")
        os.chmod(self.conf, 0o600)
        said = doctor()
        self.assertIn(f"this user may not read {self.conf}; the checks below use the built-in defaults", said)
        self.assertNotIn("state folder", said)
        self.assertRegex(said, "(?m)^[a-z]+ +sendmail: ")

    def test_strangers_may_write__then_refused_by_all(self):
        self.run_it("gillnet", "list", "add", "phish", "bad.example")
        for path in (self.state, self.state / "lists"):
            os.chmod(path, 0o2777)
            for program, *args in (("gillnetd", "-t"), ("gillnetd", "-f"), ("gillnet", "list", "add", "phish", "x.example"),
                                   ("gillnet-hub", "-f", "--once")):
                said = self.run_it(program, *args, rc=None)
                self.assertIn(f"{path}: everybody may write here (mode 2777), so it is not used", said, program)
            self.assertIn("everybody may write to", self.run_it("gillnet", "doctor", rc=1))
            os.chmod(path, 0o2750)
        self.run_it("gillnet", "list", "add", "phish", "x.example")

    def test_hub_in_a_terminal__then_it_makes_the_folder_and_speaks(self):
        shutil.rmtree(self.state)
        ours, theirs = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k != "JOURNAL_STREAM"}
        self.conf.write_text(self.conf.read_text().replace("listen = []", f'listen = [ "unix:{self.top}/api" ]'))
        proc = subprocess.Popen([f"{BUILD}/gillnet", "-c", self.conf, "hub"], stdin=theirs, stdout=theirs, stderr=theirs,
                                env=env)
        os.close(theirs)
        self.addCleanup(proc.kill)
        said = b""
        try:
            while b"event=ring state=none" not in said:
                said += os.read(ours, 4096)
        except OSError:  # it ended
            self.fail(said.decode())
        self.assertIn(b"event=api listen=", said)
        proc.terminate()
        self.assertEqual(proc.wait(60), 0)
        self.assertEqual(self.state.stat().st_mode & 0o7777, 0o2750)
        os.close(ours)


if __name__ == "__main__":
    unittest.main()
