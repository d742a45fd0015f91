#!/usr/bin/env python3
"""Both services under the users that systemd/ gives them: shared files work, and the MTA's user cannot change them.

Usage: test_users.py [TEST...]      ends like unittest; needs root. GILLNET_BUILD names the build folder.
Users, groups and folders are read from gillnet.sysusers, gillnet.tmpfiles and the units; numbers stand for the names.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

import ring
from ring import ROOT, Server, invite, until

FIRST_ID = 61840
STATE = "/var/lib/gillnet"
# Users that may own the files of each folder in STATE; root is an administrator's command.
OWNERS = {"keys": {"_gillnet", "_gillnet-hub", "root"}, "peers": {"_gillnet-hub"}, "counts": {"_gillnet", "root"},
          "lists": {"_gillnet-hub"}, "feeds": {"_gillnet-hub"},
          "reports": {"_gillnet", "_gillnet-hub"}, "quarantine": {"_gillnet-hub"},
          "changes": {"_gillnet-hub"}, "tuning": {"_gillnet-hub"},
          "users": {"_gillnet-hub"}, "": {"_gillnet", "root"}}


def rows(name):
    for line in (ROOT / "systemd" / name).read_text().splitlines():
        if line and line[0] != "#":
            yield line.split()


class Users:
    def __init__(self):
        self.ids = {"root": 0}
        self.members = {}
        for kind, name, *rest in rows("gillnet.sysusers"):
            if kind in "ug":
                self.ids[name] = FIRST_ID + len(self.ids)
                self.members.setdefault(name, set())
            else:
                self.members.setdefault(name, set()).add(rest[0])
        self.ids["mta"] = FIRST_ID + len(self.ids)
        self.members["mta"] = {"_gillnet"}  # as README.md has it

    def name(self, number):
        return {n: name for name, n in self.ids.items()}.get(number, str(number))

    def arguments(self, name, group=None, umask=0o027):
        extra = [self.ids[g] for g in self.members[name] | {name}]
        return {"user": self.ids[name], "group": self.ids[group or name], "extra_groups": extra, "umask": umask}

    def of_unit(self, unit):
        settings = dict(re.findall(r"^(User|Group|UMask)=(\S+)$", (ROOT / "systemd" / unit).read_text(), re.M))
        return self.arguments(settings["User"], settings["Group"], int(settings["UMask"], 8))


class UserServer(Server):
    """A server whose programs run as their units say."""

    def __init__(self, top, name, users, config=""):
        self.users = users
        self.place = pathlib.Path(top) / f"{name}.run"
        self.place.mkdir()
        os.chown(self.place, users.ids["_gillnet"], users.ids["_gillnet"])
        super().__init__(top, name, config)
        for kind, path, mode, user, group in rows("gillnet.tmpfiles"):
            if kind == "d" and path.startswith(STATE):
                here = pathlib.Path(path.replace(STATE, str(self.state)))
                here.mkdir(exist_ok=True)
                os.chown(here, users.ids[user], users.ids[group])
                os.chmod(here, int(mode, 8))

    def write(self, config=""):
        self.conf.write_text(f'state_dir = "{self.state}"; shipped_rules = false;\nsocket = "unix:{self.place}/gillnetd.sock";\n'
                             f'count = {{ messages_per_day = 1000; }};\napi = {{ listen = []; }};\n{config}\n')

    def start(self, program, log, *args):
        with open(log, "ab") as f:
            return subprocess.Popen([f"{ring.BUILD}/{program}", "-c", self.conf, "-f", *args],
                                    stdin=subprocess.DEVNULL, stdout=f, stderr=f, cwd="/",
                                    **self.users.of_unit(f"{program}.service"))

    def restart_daemon(self):
        self.daemon_proc.terminate()
        assert self.daemon_proc.wait(60) == 0, self.logs()
        self.daemon()

    def as_user(self, name, what):
        """Result of a function as another user, or the name of the error."""
        user = self.users.arguments(name)
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setgroups(user["extra_groups"])
                os.setgid(user["group"])
                os.setuid(user["user"])
                said = what()
            except OSError as e:
                said = type(e).__name__
            os.write(w, str(said).encode())
            os._exit(0)
        os.close(w)
        with os.fdopen(r) as f:
            said = f.read()
        os.waitpid(pid, 0)
        return said

    def keys(self):
        return [x for x in (self.state / "keys/digest.key").read_text().split("\n") if x and x[0] != "#"]


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class UsersOfUnits(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="gillnet-users-")
        os.chmod(self.top, 0o755)
        self.built = ring.BUILD
        programs = pathlib.Path(self.top) / "bin"  # whoever may go into the build folder
        programs.mkdir()
        for name in ("gillnet", "gillnetd", "gillnet-hub"):
            shutil.copy(f"{self.built}/{name}", programs)
        ring.BUILD = str(programs)
        self.users = Users()
        shared = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );'
        self.a, self.b = (UserServer(self.top, name, self.users, shared) for name in ("alpha", "beta"))

    def tearDown(self):
        for s in (self.a, self.b):
            s.kill()
        ring.BUILD = self.built
        shutil.rmtree(self.top, ignore_errors=True)

    def make_ring(self):
        a, b = self.a, self.b
        for s in (a, b):
            s.daemon()  # makes the keys
            s.hub()
        a.run("peer", "ring", "create", "--name", "alpha", "--address", a.address)
        until(lambda: a.hub_lines("event=listen"), "alpha's port", log=a.logs)
        invite(a, b)
        until(lambda: a.connected() == {"beta"} and b.connected() == {"alpha"}, "both",
              log=lambda: a.logs() + b.logs())
        b.restart_daemon()

    def test_what_they_share__each_can_do_its_part(self):
        a, b = self.a, self.b
        self.make_ring()
        # counts: gillnetd of alpha, hub of alpha, hub of beta, gillnetd of beta
        a.count(2)
        until(lambda: int(re.search(r"count_peer_keys\D+(\d+)", b.run("stat", "--all", rc=None)).group(1)) > 0,
              "counts of alpha in gillnetd of beta", log=lambda: a.logs() + b.logs())
        # lists: gillnetd's user on beta sees the entry that an administrator adds on alpha
        a.run("list", "add", "phish", "--type", "url_host", "bad.example")
        until(lambda: "alpha" in subprocess.run([f"{ring.BUILD}/gillnet", "-c", b.conf, "lookup", "url_host:bad.example"],
                                                capture_output=True, text=True, cwd="/", timeout=60,
                                                **self.users.arguments("_gillnet")).stdout,
              "alpha's entry", log=lambda: a.logs() + b.logs())
        # settings of users: gillnetd's user reads those that the hub or an administrator wrote, and may not change them
        a.run("user", "set", "anna@here.example", "sensitivity=high")
        as_gillnetd = dict(capture_output=True, text=True, cwd="/", timeout=60, **self.users.arguments("_gillnet"))
        done = subprocess.run([f"{ring.BUILD}/gillnet", "-c", a.conf, "user", "show", "anna@here.example"], **as_gillnetd)
        self.assertIn("high", done.stdout, done.stderr)
        self.assertNotIn("ermission", done.stderr)
        done = subprocess.run([f"{ring.BUILD}/gillnet", "-c", a.conf, "user", "set", "anna@here.example", "sensitivity=low"], **as_gillnetd)
        self.assertNotEqual(done.returncode, 0)
        # keys: the hub puts the ring's next key where gillnetd reads it
        a.run("peer", "rotate", "--digest-key")
        until(lambda: b.keys()[1:] == a.keys()[1:], "the new digest key", log=lambda: a.logs() + b.logs())
        self.assertEqual(self.users.name((b.state / "keys/digest.key").stat().st_uid), "_gillnet-hub")
        for s in (a, b):
            s.restart_daemon()
        self.owners(a)
        self.owners(b)
        for s in (a, b):
            for line in s.logs().splitlines():
                self.assertNotIn("ermission denied", line)
            s.stop()

    def owners(self, server):
        for folder, _, names in os.walk(server.state):
            for path in (folder, *(os.path.join(folder, n) for n in names)):
                try:
                    st = os.lstat(path)
                except FileNotFoundError:  # a .tmp that was renamed since
                    continue
                inside = os.path.relpath(path, server.state).split("/")
                self.assertIn(self.users.name(st.st_uid), OWNERS[inside[0] if inside[0] in OWNERS else ""], path)
                if not stat.S_ISSOCK(st.st_mode):
                    others = 0o007 if inside[0] in ("keys", "peers", "changes") else 0o002
                    self.assertEqual(st.st_mode & others, 0, path)
                if inside[0] in ("keys", "changes"):
                    self.assertEqual(self.users.name(st.st_gid), "_gillnet-keys", path)

    def test_reload__as_the_unit_runs_it__reaches_both(self):
        a = self.a
        a.daemon()
        a.hub()
        until(lambda: (a.state / "peers/hub.ctl").exists(), "the hub", log=a.logs)

        def reload():  # ExecReload of gillnetd.service
            return subprocess.run([f"{ring.BUILD}/gillnet", "-c", a.conf, "reload"], capture_output=True, text=True, cwd="/",
                                  timeout=60, **self.users.of_unit("gillnetd.service"))

        def running():
            return set(re.findall(r"runs configuration ([0-9a-f]{8})", reload().stdout))

        was = running()
        self.assertEqual(len(was), 1)
        a.write('lists = ( { name = "phish"; weight = 3.0; } );\nhub = { listen = "127.0.0.1:1"; };')
        self.assertEqual(len(running() | was), 2)
        for _ in range(2):
            self.assertIn("hub: a restart of gillnet-hub is needed for: hub.listen", reload().stdout)
        self.assertIn("gillnet-hub runs with another value than the file until it is restarted: hub.listen", a.run("stat"))
        a.write('hub = { no_such_key = 1; };')
        refused = reload()
        self.assertEqual(refused.returncode, os.EX_CONFIG)
        # one of them alone: both show it
        a.write()
        a.daemon_proc.send_signal(signal.SIGHUP)
        until(lambda: "gillnetd runs configuration" not in a.run("stat"), "the reload")
        self.assertIn("gillnet-hub runs configuration", a.run("stat"))
        self.assertEqual(len(running()), 1)
        self.assertNotIn("fault:", a.run("stat"))
        a.stop()

    def test_the_mtas_user__reaches_the_socket_and_changes_nothing(self):
        a = self.a
        self.make_ring()
        a.run("list", "add", "phish", "--type", "url_host", "bad.example")

        def talk(path, text):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(20)
                s.connect(str(path))
                s.sendall(text)
                return s.recv(200).decode() if text else "there"

        def denied(user, what, *args):
            self.assertEqual(a.as_user(user, lambda: what(*args)), "PermissionError", (user, args))

        self.assertEqual(a.as_user("mta", lambda: talk(a.place / "gillnetd.sock", b"")), "there")
        self.assertIn("ok", a.as_user("mta", lambda: talk(a.state / "peers/hub.ctl", b"ping\n")))
        self.assertIn("only root", a.as_user("mta", lambda: talk(a.state / "peers/hub.ctl", b"pause\n")))
        self.assertIn("ring=open", a.control("ping"))
        for secret in ("keys/digest.key", "keys/filter.key", "peers/identity.key", "peers/signing.key", "peers/admin.key"):
            denied("mta", open, a.state / secret)
        for place in ("", "keys", "peers", "peers/lists", "lists", "lists/phish", "feeds", "counts"):
            denied("mta", os.mkdir, a.state / place / "x")
        for path in ("keys/digest.key", "peers/manifest", "gillnetd.ctl", "peers/hub.ctl", "peers/LOCK", "lists/LOCK"):
            denied("mta", os.unlink, a.state / path)
            denied("mta", os.chmod, a.state / path, 0o777)
        # the folders of one service are not the other's
        for place in ("peers", "peers/lists", "lists", "lists/phish", "feeds"):
            denied("_gillnet", os.mkdir, a.state / place / "x")
        for place in ("", "counts"):
            denied("_gillnet-hub", os.mkdir, a.state / place / "x")
        for s in (a, self.b):
            s.stop()


if __name__ == "__main__":
    unittest.main(verbosity=2)
