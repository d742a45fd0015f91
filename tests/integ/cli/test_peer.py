#!/usr/bin/env python3
"""`gillnet peer` as an administrator uses it: making a ring, joining, several administrators, keys that change.

Usage: test_peer.py GILLNET [TEST...]     GILLNET is the program, gillnet-hub lies beside it; ends like unittest.
Needs nothing but Python; loopback only.
"""
import json
import os
import pathlib
import pty
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from ports import free_port  # noqa: E402

GILLNET = None


class Server:
    """A state folder with its configuration; a hub when it is asked for."""

    def __init__(self, test, folder, name):
        self.test = test
        self.name = name
        self.state = folder / name
        self.peers = self.state / "peers"
        self.conf = folder / f"{name}.conf"
        self.conf.write_text(f'state_dir = "{self.state}"; shipped_rules = false;\n')
        self.log = folder / f"{name}.log"
        self.address = f"127.0.0.1:{free_port()}"
        self.process = None

    def run(self, *args, rc=0, stdin=""):
        p = subprocess.run([GILLNET, "-c", self.conf, *map(str, args)], input=stdin, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        if rc is not None:
            self.test.assertEqual(p.returncode, rc, f"{args}: {p.returncode}\n{p.stdout}\n{p.stderr}")
        self.test.assertNotIn("Sanitizer", p.stderr)
        return p.stdout + p.stderr

    def peer(self, *args, **more):
        return self.run("peer", *args, **more)

    def json(self, *args):
        p = subprocess.run([GILLNET, "-c", self.conf, "--json", "peer", *args], stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def ring(self):
        return self.json("list")[0]

    def members(self):
        return {m["name"]: m for m in self.json("list")[1:]}

    def keys(self):
        return [x for x in (self.state / "keys/digest.key").read_text().split("\n") if x and x[0] != "#"]

    def create(self, *more):
        return self.peer("ring", "create", "--name", self.name, "--address", self.address, *more)

    def init(self):
        return self.peer("init", "--name", self.name, "--address", self.address)

    def token(self, name, *more):
        return self.json("invite", name, *more)[0]["token"]

    def start_hub(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen([GILLNET, "-c", self.conf, "hub", "-f"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)
        self.test.addCleanup(self.stop_hub)
        self.wait(lambda: subprocess.run([GILLNET, "-c", self.conf, "peer", "status"], stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL).returncode == 0)

    def stop_hub(self):
        if self.process:
            self.process.terminate()
            self.test.assertEqual(self.process.wait(120), 0, self.log.read_text()[-3000:])
            self.process = None

    def wait(self, what, seconds=120):
        end = time.monotonic() + seconds
        while not what():
            self.test.assertLess(time.monotonic(), end, self.log.read_text()[-3000:] if self.log.exists() else "")
            time.sleep(0.1)

    def connected(self):
        return {r["name"] for r in self.json("status") if r.get("connected")}


class Peer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-peer-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def server(self, name):
        return Server(self, self.folder, name)

    def mode(self, path):
        return stat.S_IMODE(path.stat().st_mode)

    # ---- beginning ----

    def test_before_anything__each_command_says_what_to_do(self):
        a = self.server("a")
        for command in ("list", "renew", "rotate", "revoke-key", "drop x", "invite x", "manifest sign"):
            out = self.peer_error(a, *command.split())
            self.assertTrue("gillnet peer init" in out or "no key" in out or "keys" in out, f"{command}: {out}")
        self.assertIn("gillnet peer init", self.peer_error(a, "join", "gnp1-x"))
        self.assertFalse(a.peers.exists())
        a.init()
        self.assertIn("ring create", self.peer_error(a, "list"))
        self.assertIn("no whole token", self.peer_error(a, "join", "gnp1-x", rc=65))
        self.assertIn("later version", self.peer_error(a, "join", "gnp2-x", rc=65))

    def peer_error(self, server, *args, rc=66):
        return server.peer(*args, rc=rc)

    def test_usage__every_wrong_command_is_64(self):
        a = self.server("a")
        for line in ("", "x", "ring", "ring x", "init x", "invite", "invite a b", "join", "drop", "rotate x",
                     "rotate --now --digest-key", "rotate --now --after 1h", "rotate --after x", "renew x", "list x",
                     "status x", "revoke-key a --key 12", "manifest", "manifest x", "manifest sign a b",
                     "manifest accept", "manifest discard x", "manifest admins", "manifest admins --threshold 1",
                     "manifest admins --threshold 1 zz", "ring create --threshold 0", "ring create --threshold 2",
                     "ring create --admin zz", "ring create --kind x", "admin-key x", "admin-key --admin-key",
                     "list --admin-key x", "set a --kind own", "set --ring --kind x", "invite a --expires x"):
            self.peer_error(a, *line.split(), rc=64)

    def test_create__makes_all_for_this_user_alone(self):
        a = self.server("a")
        out = a.create()
        self.assertIn("gillnet peer invite NAME", out)
        for name in ("identity.key", "signing.key", "admin.key", "cert.pem"):
            self.assertEqual(self.mode(a.peers / name), 0o600, name)
        self.assertEqual(self.mode(a.peers) & 0o777, 0o750)
        self.assertEqual(self.mode(a.state / "keys/digest.key"), 0o640)
        ring = a.ring()
        self.assertEqual((ring["version"], ring["threshold"], ring["administrators"], ring["expired"]), (1, 1, 1, False))
        self.assertAlmostEqual(ring["expires"], time.time() + 90 * 86400, delta=600)
        self.assertEqual(list(a.members()), ["a"])
        self.assertIn("in a ring already", a.peer("ring", "create", rc=73))
        self.assertIn("this server", a.peer("list"))
        os.chmod(a.peers / "identity.key", 0o640)
        self.assertIn("chmod 600", a.peer("invite", "b", rc=77))

    def test_create__without_a_terminal__own_unless_said(self):
        a, b = self.server("a"), self.server("b")
        self.assertIn("Its kind is own", a.create())
        self.assertEqual(a.ring()["kind"], "own")
        self.assertIn("(own), version 1", a.peer("list"))
        out = a.peer("set", "--ring", "--quorum", 3, rc=77)  # it would have no effect
        self.assertIn("--kind federation", out)
        self.assertNotIn("kind", a.peer("set", "--ring", "--kind", "federation", "--quorum", 3, "--cap", 4))
        self.assertEqual((a.ring()["kind"], a.members()["a"]["cap"], a.ring()["version"]), ("federation", 4, 2))
        self.assertIn("Its kind is federation", b.create("--kind", "federation"))
        self.assertNotIn("kind", (b.peers / "manifest").read_text())

    def in_terminal(self, server, answers, *args):
        """Output and questions of a command in a terminal in which these lines are typed."""
        master, slave = pty.openpty()
        process = subprocess.Popen([GILLNET, "-c", server.conf, "peer", *args], stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        out = b""
        for answer in [*answers, None]:
            while answer is None or not out.endswith(b"] "):
                try:
                    out += os.read(master, 4096)
                except OSError:  # it ended
                    break
            if answer is not None:
                os.write(master, answer.encode() + b"\n")
                out += b"\n"
        os.close(master)
        self.assertEqual(process.wait(), 0, out)
        return out.decode()

    def test_create__in_a_terminal__asks_for_the_kind_and_where_the_key_goes(self):
        a, b, c = self.server("a"), self.server("b"), self.server("c")
        key = self.folder / "usb.key"
        out = self.in_terminal(a, ["mine", "federation", str(key)], "ring", "create", "--name", "a")
        self.assertEqual(out.count("Whose servers"), 2)  # "mine" is neither
        self.assertEqual((a.ring()["kind"], self.mode(key), (a.peers / "admin.key").exists()), ("federation", 0o600, False))
        self.in_terminal(b, ["", ""], "ring", "create", "--name", "b")
        self.assertEqual((b.ring()["kind"], (b.peers / "admin.key").exists()), ("own", True))
        self.in_terminal(c, [], "ring", "create", "--name", "c", "--kind", "own", f"--admin-key={key}")
        self.assertEqual(c.ring()["version"], 1)  # signed with the key that is there

    def test_admin_key__kept_elsewhere__signs_and_the_hub_runs_without(self):
        a, b = self.server("a"), self.server("b")
        key, other = self.folder / "usb.key", self.folder / "other.key"
        self.assertIn(str(key), a.create("--admin-key", key))
        self.assertFalse((a.peers / "admin.key").exists())
        self.assertEqual((self.mode(key), a.ring()["version"]), (0o600, 1))
        a.start_hub()
        b.init()
        token = a.token("b")
        self.assertIn("must sign version 2", b.peer("join", token, rc=None))
        out = a.peer("list")
        self.assertIn("waits for signatures", out)
        self.assertIn("is in force", a.peer("manifest", "sign", "--admin-key", key))
        b.peer("join", token)
        self.assertEqual(set(b.members()), {"a", "b"})
        # every command that changes the ring
        n = a.ring()["version"]
        for args in (("set", "b", "--cap", 3), ("set", "--ring", "--kind", "federation"), ("renew",),
                     ("init", "--address", "mx.example:1"), ("rotate", "--now"), ("rotate", "--digest-key"), ("drop", "b"),
                     ("manifest", "admins", "--threshold", 1, a.peer("admin-key", "--admin-key", key).strip())):
            self.assertIn("is in force", a.peer(*args, "--admin-key", key), args)
            n += 1
            self.assertEqual(a.ring()["version"], n, args)
        # a foreign key, a missing key, and a key that others may read: nothing changes, nothing is pending
        a.peer("admin-key", "--admin-key", other)
        self.assertIn("none of the ring's administrators", a.peer("renew", "--admin-key", other, rc=77))
        self.assertIn("no such file", a.peer("renew", "--admin-key", self.folder / "nothing", rc=66))
        key.chmod(0o640)
        self.assertIn("chmod 600", a.peer("renew", "--admin-key", key, rc=77))
        self.assertNotIn("waits", a.peer("list"))
        # without it a change waits, and the message says how it is signed
        self.assertIn("manifest sign --admin-key FILE", a.peer("renew"))
        self.assertEqual(a.ring()["version"], n)

    def test_two_of_two__kept_elsewhere__the_second_signature_puts_it_in_force(self):
        a = self.server("a")
        one, two = self.folder / "one.key", self.folder / "two.key"
        second = a.peer("admin-key", "--admin-key", two).strip()
        out = a.create("--admin-key", one, "--admin", second, "--threshold", 2)
        self.assertIn("1 of 2 signatures", out)
        self.assertIn("is in force", a.peer("manifest", "sign", "--admin-key", two))
        self.assertIn("1 of 2 signatures", a.peer("renew", "--admin-key", one))
        self.assertIn("is in force", a.peer("manifest", "sign", "--admin-key", two))
        self.assertEqual((a.ring()["version"], a.ring()["threshold"]), (2, 2))

    def test_init__again_changes_the_address_in_the_ring(self):
        a = self.server("a")
        a.create()
        origin = a.members()["a"]["origin"]
        self.assertIn("already", a.peer("init"))
        self.assertEqual(a.ring()["version"], 1)
        a.peer("init", "--address", "mx.example:25")
        self.assertEqual((a.members()["a"]["address"], a.members()["a"]["origin"]), ("mx.example:25", origin))
        self.assertEqual(a.ring()["version"], 2)
        for bad in ("mx.example", "mx.example:0", ":1", "a b:1", "x" * 200 + ":1"):
            a.peer("init", "--address", bad, rc=65)
        self.assertEqual(a.ring()["version"], 2)

    def test_set__terms_of_a_member_and_of_all__in_the_manifest(self):
        a, b = self.server("a"), self.server("b")
        a.create("--kind", "federation")
        a.start_hub()
        b.init()
        b.peer("join", a.token("b"))

        def body():
            return json.loads((a.peers / "manifest").read_text().splitlines()[1])

        def of(name):
            return next(m for m in body()["members"] if m["name"] == name)

        a.peer("set", "b", "--cap", 3, "--records-per-day", 1000000)
        self.assertEqual((of("b")["cap"], of("b")["records_per_day"], of("a")["cap"]), (3, 1000000, 0))
        a.peer("set", "--ring", "--cap", 7, "--quorum", 3, "--records-per-day", 2000000)
        self.assertEqual([body()[x] for x in ("default_cap", "quorum", "default_records_per_day")], [7, 3, 2000000])
        a.peer("set", "b", "--cap", 0)
        self.assertEqual((of("b")["cap"], of("b")["records_per_day"]), (0, 1000000))
        version = a.ring()["version"]
        for args, rc in ((("set",), 64), (("set", "b"), 64), (("set", "b", "--quorum", 2), 64), (("set", "--ring"), 64),
                         (("set", "--ring", "--address", "x:1"), 64), (("set", "b", "--cap", "many"), 64),
                         (("set", "b", "--cap", ""), 64), (("set", "b", "--cap", "9" * 16), 64),
                         (("set", "b", "--cap", 1000001), 65), (("set", "--ring", "--cap", 0), 65),
                         (("set", "--ring", "--quorum", 257), 65), (("set", "b", "--address", "nowhere"), 65),
                         (("set", "b", "--address", a.address), None), (("set", "c", "--cap", 1), None)):
            p = subprocess.run([GILLNET, "-c", a.conf, "peer", *map(str, args)], capture_output=True, text=True)
            self.assertTrue(p.returncode == rc or rc is None and p.returncode > 0, (args, p.returncode, p.stderr))
        self.assertEqual(a.ring()["version"], version)
        # b moved; its own manifest does not know its address yet, but it calls a, which has the new one
        b.address = f"127.0.0.1:{free_port()}"
        a.peer("set", "b", "--address", b.address)
        b.start_hub()
        a.wait(lambda: b.ring()["version"] == a.ring()["version"] and b.members()["b"]["address"] == b.address)
        b.stop_hub()
        b.start_hub()  # listens where it is now
        a.wait(lambda: "b" in a.connected() and "a" in b.connected())
        a.peer("set", "b", "--address", "none")
        self.assertEqual(a.members()["b"]["address"], "")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root__gives_what_it_makes_to_the_folders_user(self):
        a = self.server("a")
        a.state.mkdir()
        os.chown(a.state, 65534, 65534)
        a.create()
        a.token("b")
        a.peer("rotate", "--now")
        for path in [a.peers, *a.peers.iterdir()]:
            self.assertEqual(path.stat().st_uid, 65534, path)

    # ---- joining ----

    def test_join__two_commands_on_each_side(self):
        a, b = self.server("a"), self.server("b")
        a.create()
        a.start_hub()
        token = a.token("bee")
        b.init()
        out = b.peer("join", "-", stdin=token + "\n")
        self.assertIn("This server is bee", out)
        self.assertEqual(set(b.members()), {"a", "bee"})
        self.assertEqual(b.keys()[0], a.keys()[0])
        self.assertEqual(len(b.keys()), 2)
        self.assertTrue(b.members()["bee"]["self"])
        # the token is spent; its user gets the same answer again
        c = self.server("c")
        c.init()
        self.assertIn("refused", c.peer("join", token, rc=77))
        b.peer("join", token)
        self.assertFalse((c.peers / "manifest").exists())
        self.assertEqual(a.ring()["version"], 2)
        # and both talk to each other, after a change of keys too
        b.start_hub()
        a.wait(lambda: "bee" in a.connected() and "a" in b.connected())
        a.peer("rotate", "--now")
        b.wait(lambda: b.ring()["version"] == a.ring()["version"] == 3)
        a.wait(lambda: "bee" in a.connected() and "a" in b.connected())
        # dropped: the others stay
        a.peer("drop", "bee")
        self.assertEqual(a.members()["bee"]["state"], "dropped")
        self.refused(b, token)

    def test_join__too_late_or_taken_back__refused(self):
        a, b = self.server("a"), self.server("b")
        a.create()
        a.start_hub()
        b.init()
        token = a.token("b")
        self.assertIn("is revoked", a.peer("drop", "b"))
        self.refused(b, token)
        for seconds in (1, 5, 25):  # one that is over before it is written is refused
            try:
                token = a.token("b", "--expires", f"{seconds}s")
                break
            except subprocess.CalledProcessError:
                self.assertLess(seconds, 25)
        time.sleep(seconds + 1)
        self.assertIn("expired", b.peer("join", token, rc=75))
        self.assertFalse((b.peers / "manifest").exists())
        a.peer("invite", "b", "--expires", "31d", rc=65)
        self.assertIn("already", a.peer("invite", "a", rc=73))
        self.assertNotIn(token[:20], (a.peers / "invites").read_text())

    def refused(self, server, token):
        """The status of a refusal: by the server (77), or because no server listens for strangers any longer (69)."""
        p = subprocess.run([GILLNET, "-c", server.conf, "peer", "join", token], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=120)
        self.assertIn(p.returncode, (69, 77))
        return p.returncode

    # ---- several administrators ----

    def test_two_of_three(self):
        a, b, c = (self.server(n) for n in "abc")
        keys = [s.peer("admin-key").strip() for s in (b, c)]
        self.assertEqual(b.peer("admin-key").strip(), keys[0])
        self.assertTrue(all(re.fullmatch("[0-9a-f]{64}", k) for k in keys))
        self.assertIn("1 of 2 signatures", a.create("--threshold", "2", "--admin", keys[0], "--admin", keys[1]))
        self.assertIn("waits", a.peer("manifest", "accept", a.peers / "manifest.next"))
        request = self.folder / "request"
        shutil.copy(a.peers / "manifest.next", request)
        self.assertIn(request.read_text(), a.peer("manifest", "show", "--next"))
        self.assertIn("member a joins", b.peer("manifest", "sign", request))
        self.assertIn("signed it already", b.peer("manifest", "sign", request, rc=73))
        self.assertIn("is in force", a.peer("manifest", "accept", request))
        self.assertEqual((a.ring()["threshold"], a.ring()["administrators"]), (2, 3))
        # each change waits; more changes gather in one version
        a.peer("init", "--address", "one.example:1")
        a.peer("renew")
        self.assertEqual(a.ring()["version"], 1)
        self.assertIn("version 2 waits", a.peer("list"))
        shutil.copy(a.peers / "manifest.next", request)
        c.peer("manifest", "sign", request)
        a.peer("manifest", "accept", "-", stdin=request.read_text())
        self.assertEqual((a.ring()["version"], a.members()["a"]["address"]), (2, "one.example:1"))
        self.assertIn("is not newer", a.peer("manifest", "accept", request, rc=73))
        # given up
        a.peer("renew")
        a.peer("manifest", "discard")
        self.assertIn("no change", a.peer("manifest", "discard", rc=66))
        # only an administrator's signature counts
        a.peer("renew")
        d = self.server("d")
        d.peer("admin-key")
        shutil.copy(a.peers / "manifest.next", request)
        self.assertIn("is not in that ring", d.peer("manifest", "sign", request))
        self.assertIn("1 of 2 signatures", a.peer("manifest", "accept", request))
        # back to one
        a.peer("manifest", "discard")
        own = json.loads(a.peer("manifest", "show").split("\n")[1])["admins"][0]
        a.peer("manifest", "admins", "--threshold", "1", own)
        shutil.copy(a.peers / "manifest.next", request)
        b.peer("manifest", "sign", request)
        a.peer("manifest", "accept", request)
        self.assertIn("is in force", a.peer("renew"))

    def test_accept__rollback_and_damage(self):
        a = self.server("a")
        a.create()
        first = self.folder / "first"
        shutil.copy(a.peers / "manifest", first)
        a.peer("renew")
        self.assertIn("not newer", a.peer("manifest", "accept", first, rc=73))
        good = (a.peers / "manifest").read_bytes()
        (a.peers / "manifest").write_bytes(good.replace(b"active", b"Active"))
        self.assertIn("manifest.old", a.peer("list", rc=65))
        a.peer("manifest", "accept", first)  # a damaged file knows no version
        (self.folder / "good").write_bytes(good)
        a.peer("manifest", "accept", self.folder / "good")
        self.assertEqual(a.ring()["version"], 2)
        for bad in (b"", b"x", good[:-1], good + b"\n", b"\0" * 100, b"[" * 100000, good * 2, b"x" * (2 << 20)):
            (self.folder / "bad").write_bytes(bad)
            a.peer("manifest", "accept", self.folder / "bad", rc=65)
        self.assertEqual((a.peers / "manifest").read_bytes(), good)

    # ---- keys ----

    def test_rotate__now_later_and_leaked(self):
        a = self.server("a")
        a.init()
        before = (a.peers / "signing.key").read_bytes()
        self.assertIn("in no ring", a.peer("rotate"))
        self.assertNotEqual((a.peers / "signing.key").read_bytes(), before)
        a.create()
        key = lambda: a.members()["a"]["keys"]
        first = key()[0]
        a.peer("rotate", "--after", "2h")
        self.assertEqual([k.split(" ")[1:] for k in key()], [["(ends)"], ["(later)"]])
        self.assertTrue((a.peers / "signing.next").exists())
        a.peer("rotate", "--now")
        self.assertEqual(len(key()), 2)
        self.assertEqual(key()[0], first + " (over)")
        self.assertFalse((a.peers / "signing.next").exists())
        out = a.peer("revoke-key")
        self.assertIn("revoked", out)
        self.assertEqual([k.split(" ")[1:] for k in key()], [["(revoked)"], ["(revoked)"], []])
        self.assertEqual(len(json.loads(a.peer("manifest", "show").split("\n")[1])["members"][0]["keys"]), 3)
        a.token("b")  # the key here and that of the ring are the same

    def test_digest_key__changes_once_in_15_days(self):
        a = self.server("a")
        a.create()
        old = a.keys()
        self.assertIn("restart gillnetd", a.peer("rotate", "--digest-key"))
        self.assertEqual(a.keys()[0], old[0])
        self.assertEqual(len(a.keys()), 2)
        self.assertIn("15 days", a.peer("rotate", "--digest-key", rc=65))
        self.assertEqual(len(a.keys()), 2)
        keys = json.loads(a.peer("manifest", "show").split("\n")[1])["ring_keys"]
        self.assertEqual(len(keys), 2)
        self.assertEqual(keys[1]["from_ms"] % 600000, 0)
        self.assertGreaterEqual(keys[1]["from_ms"], (time.time() + 86000) * 1000)

    def test_third_ring_key__a_list_needs_the_one_that_would_go(self):
        a = self.server("a")
        a.create()
        a.run("list", "add", "--create", "bad", "evil.example")
        # the digest key is the second of a server that brought its own list into it
        other = "00112233445566778899aabbccddeeff"
        (a.state / "keys/digest.key").write_text(f"{other}\n{a.keys()[0]}\n")
        out = a.peer("rotate", "--digest-key", rc=65)
        self.assertIn("gillnet list rekey bad", out)
        self.assertEqual(a.ring()["version"], 1)

    def test_status__without_a_hub(self):
        a = self.server("a")
        a.create()
        self.assertIn("start gillnet-hub", a.peer("status", rc=69))


if __name__ == "__main__":
    GILLNET = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
