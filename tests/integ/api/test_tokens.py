#!/usr/bin/env python3
"""Tokens that root makes, and the hub under User and groups of its unit; a revoked token fails at once.

Usage: test_tokens.py      ends like unittest; needs root and a mount namespace of its own. GILLNET_BUILD names the build.
Users and groups are made by systemd-sysusers from systemd/gillnet.sysusers, over /etc/passwd and /etc/group of that namespace.
"""
import grp
import http.client
import os
import pathlib
import pwd
import re
import subprocess
import sys
import tempfile
import unittest

from hub import BUILD, TOP, until, ports

UNIT = (TOP / "systemd/gillnet-hub.service").read_text()
STATE = "/var/lib/gillnet"


def of_unit(name):
    found = re.findall(rf"^{name}=(.*)$", UNIT, re.M)
    return " ".join(found).split()


def as_the_unit():
    """The words that run a program with the rights that systemd gives it: initgroups() for User with Group as its group."""
    (user,), (group,) = of_unit("User"), of_unit("Group")
    more = {g.gr_gid for g in grp.getgrall() if user in g.gr_mem} | {grp.getgrnam(group).gr_gid}
    more |= {grp.getgrnam(g).gr_gid for g in of_unit("SupplementaryGroups")}
    return ["setpriv", f"--reuid={pwd.getpwnam(user).pw_uid}", f"--regid={grp.getgrnam(group).gr_gid}",
            "--groups=" + ",".join(map(str, sorted(more))), "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]


def own_users(root):
    """In this mount namespace the users of systemd/gillnet.sysusers are there."""
    (root / "etc").mkdir()
    for name in ("passwd", "group"):
        (root / "etc" / name).write_text(pathlib.Path("/etc", name).read_text())
    subprocess.run(["systemd-sysusers", f"--root={root}", "--replace=/usr/lib/sysusers.d/gillnet.conf", "-"],
                   input=(TOP / "systemd/gillnet.sysusers").read_text(), text=True, check=True, capture_output=True)
    for name in ("passwd", "group"):
        os.chmod(root / "etc" / name, 0o644)
        subprocess.run(["mount", "--bind", root / "etc" / name, f"/etc/{name}"], check=True)


class Tokens(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.top.chmod(0o755)
        self.etc = self.top / "config"
        self.etc.mkdir(mode=0o755)
        self.state = self.top / "state"
        for line in (TOP / "systemd/gillnet.tmpfiles").read_text().splitlines():
            if line.startswith("d " + STATE):
                _, path, mode, user, group = line.split()
                here = pathlib.Path(path.replace(STATE, str(self.state)))
                here.mkdir()
                os.chown(here, pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid)
                here.chmod(int(mode, 8))
        self.port = ports.free_port()
        self.tokens = self.etc / "api.tokens"
        self.conf = self.etc / "gillnet.conf"
        self.configure("")
        self.hub = None

    def configure(self, more):
        self.conf.write_text(f'state_dir = "{self.state}"; shipped_rules = false;\nsocket = "unix:{self.top}/gillnetd.sock";\n'
                             f'control_socket = "{self.top}/gillnetd.ctl";\n'
                             f'hub = {{ control_socket = "{self.state}/peers/hub.ctl"; }};\n'
                             f'api = {{ listen = [ "127.0.0.1:{self.port}" ]; tokens_file = "{self.tokens}";\n'
                             f'local_role = "none"; {more} }};\n')

    def run_(self, *args, rc=0):
        p = subprocess.run([BUILD / "gillnet", "-c", self.conf, *args], capture_output=True, text=True, timeout=60)
        if rc is not None:
            self.assertEqual(p.returncode, rc, p.stdout + p.stderr)
        return p.stdout + p.stderr

    def start(self):
        log = open(self.top / "log", "ab")
        self.addCleanup(log.close)
        self.hub = subprocess.Popen([*as_the_unit(), BUILD / "gillnet-hub", "-c", self.conf, "-f"], stderr=log)
        self.addCleanup(self.stop)
        until(lambda: self.hub.poll() is not None or self.status("/healthz") == 200, "the hub does not answer")
        self.assertIsNone(self.hub.poll(), (self.top / "log").read_text())

    def stop(self):
        self.hub.terminate()
        self.assertEqual(self.hub.wait(60), 0, (self.top / "log").read_text())

    def status(self, path, token=None, connection=None):
        c = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            c.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = c.getresponse()
            answer.read()
            return answer.status
        except OSError:
            return 0

    def test_made_by_root__then_the_hub_under_its_unit_reads_it_and_drops_it_at_once(self):
        os.umask(0o027)
        first = self.run_("hub", "token", "first", "read").strip()
        second = self.run_("hub", "token", "second", "admin").strip()
        self.assertEqual(self.tokens.stat().st_mode & 0o777, 0o640)
        self.start()
        open_one = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        for token in (first, second):
            self.assertEqual(self.status("/v1/lists", token, open_one), 200)
        self.assertIn("can read it", self.run_("doctor", rc=None))
        self.assertEqual(self.run_("hub", "token", "--list").split(), ["first", "read", "second", "admin"])
        # after a revocation an open connection is refused at its next request; the other token stays valid
        self.run_("hub", "token", "--revoke", "second")
        self.assertEqual(self.status("/v1/lists", second, open_one), 401)
        self.assertEqual(self.status("/v1/lists", first, open_one), 200)
        self.assertEqual(self.run_("hub", "token", "--list").split(), ["first", "read"])
        self.assertIn("no token of this name", self.run_("hub", "token", "--revoke", "second", rc=66))
        self.assertIn("--revoke", self.run_("hub", "token", "first", "read", rc=73))
        # a file of the former group is mended by the next command
        third = self.run_("hub", "token", "third", "read").strip()
        self.assertEqual(self.status("/v1/lists", third, open_one), 200)
        os.chown(self.tokens, 0, grp.getgrnam("_gillnet-hub").gr_gid)
        said = self.run_("doctor", rc=None)
        self.assertRegex(said, "api.tokens_file .*the hub's user cannot read it")
        self.assertEqual(self.status("/v1/lists", third, open_one), 401)
        fourth = self.run_("hub", "token", "fourth", "read").strip()
        self.assertEqual(self.status("/v1/lists", fourth, open_one), 200)
        self.assertEqual(self.status("/v1/lists", third, open_one), 200)

    def test_comments_and_rights__stay_when_one_is_revoked(self):
        self.run_("hub", "token", "one", "read")
        text = "# of the operations team\n\n" + self.tokens.read_text() + "# end"
        self.tokens.write_text(text)
        self.tokens.chmod(0o600)
        self.run_("hub", "token", "--revoke", "one")
        self.assertEqual(self.tokens.read_text(), "# of the operations team\n\n# end\n")
        self.assertEqual(self.tokens.stat().st_mode & 0o777, 0o600)

    def test_certificate_and_key__not_readable_for_the_hub__doctor_names_them(self):
        pem, key = self.etc / "api.pem", self.etc / "api.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=x", "-keyout", key,
                        "-out", pem], check=True, capture_output=True)
        self.configure(f'certificate = "{pem}"; key = "{key}";')
        pem.chmod(0o644)
        key.chmod(0o600)
        said = self.run_("doctor", rc=None)
        self.assertRegex(said, f"api.certificate {pem}: _gillnet-hub can read it")
        self.assertRegex(said, f"api.key {key}: the hub's user cannot read it")
        self.assertIn(f"chgrp _gillnet-keys {key}; chmod g+r {key}", said)
        subprocess.run(f"chgrp _gillnet-keys {key}; chmod g+r {key}", shell=True, check=True)
        self.assertRegex(self.run_("doctor", rc=None), f"api.key {key}: _gillnet-hub can read it")


if __name__ == "__main__":
    if os.environ.get("GILLNET_OWN_USERS") is None:
        os.environ["GILLNET_OWN_USERS"] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, "-B", *sys.argv])
    with tempfile.TemporaryDirectory() as folder:
        own_users(pathlib.Path(folder))
        program = unittest.main(verbosity=2, exit=False)
        for name in ("passwd", "group"):
            subprocess.run(["umount", f"/etc/{name}"], check=True)
    sys.exit(not program.result.wasSuccessful())
