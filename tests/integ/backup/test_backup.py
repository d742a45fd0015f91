#!/usr/bin/env python3
"""Backups of running servers: taken under load, put back elsewhere, damaged, killed; a member of a ring put back.

Usage: test_backup.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import collections
import fcntl
import io
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from ring import BUILD, Ring, Server, until  # noqa: E402

SEED = int(os.environ.get("GILLNET_SEED", random.SystemRandom().randrange(1 << 32)))
ROUNDS = int(os.environ.get("GILLNET_ROUNDS", 15))
SHARED = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );'


def url(i):
    return f"http://evil{i}.example/"


def unpacked(path, to):
    with open(path, "rb") as packed:
        text = subprocess.run(["zstd", "-dc"], stdin=packed, capture_output=True, check=True).stdout
    (to / "plain.tar").write_bytes(text)
    return to / "plain.tar"


def listed(server, i):
    return server.run("lookup", url(i), rc=None)


def exported(server):
    """Its counts by key: after a start all of them are in runs."""
    out = collections.Counter()
    for line in server.run("count", "export").splitlines():
        key, count = line.rsplit(None, 1)
        out[key] += int(count)
    return out


class Folder(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-backup-"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.servers = []

    def tearDown(self):
        for s in self.servers:
            s.kill()

    def server(self, name):
        s = Server(self.top, name, SHARED)
        self.servers.append(s)
        return s

    def small(self):
        """A server with a few entries, and a backup of it."""
        s = self.server("small")
        s.run("list", "add", "phish", *(url(i) for i in range(20)))
        file = self.top / "small.gnb"
        s.run("backup", file)
        return s, file


class Alone(Folder):
    def test_taken_under_load__then_every_acknowledged_entry_is_there(self):
        a = self.server("a")
        a.run("peer", "ring", "create", "--name", "a", "--address", a.address)
        a.hub().daemon()
        a.count(3)
        until(lambda: a.totals(a.origin(), "own"), "counts published", log=a.logs)
        acked, stop = [], threading.Event()

        def add():
            while not stop.is_set():
                a.run("list", "add", "phish", url(len(acked)))
                acked.append(len(acked))

        def mail():
            while not stop.is_set():
                a.count(1, start=1000)

        threads = [threading.Thread(target=add), threading.Thread(target=mail)]
        for t in threads:
            t.start()
        try:
            until(lambda: len(acked) > 20, "entries")
            before = len(acked)
            file = self.top / "a.gnb"
            said = a.run("backup", file)
        finally:
            stop.set()
            for t in threads:
                t.join()
        self.assertIn("complete", said)
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertIn("every checksum holds", a.run("backup", "--verify", file))
        self.assertFalse((a.state / "backup.tmp").exists())
        b = self.server("b")
        said = b.run("restore", file)
        self.assertIn("server a ", said)
        missing = [i for i in range(before) if "confirmed" not in listed(b, i)]
        self.assertEqual(missing, [])
        self.assertEqual(b.run("list", "verify", "phish"), a.run("list", "verify", "phish"))
        # what was on the disk is there, and nothing that was not counted
        a.stop()
        a.daemon()
        b.daemon()
        kept = until(lambda: exported(b), "counts", log=b.logs)  # once a start has made runs of what was running
        until(lambda: max(exported(a).values(), default=0) >= max(kept.values()), "counts", log=a.logs)
        was = exported(a)
        self.assertGreaterEqual(max(kept.values()), 3)
        self.assertEqual({k: n for k, n in kept.items() if n > was[k]}, {})

    def test_counts_at_rest__then_the_same_counts(self):
        a, b = self.server("a"), self.server("b")
        a.daemon()
        a.count(3)
        wal = next((a.state / "counts").glob("live.*.wal"))
        size = wal.stat().st_size
        a.count(2, start=7)
        until(lambda: wal.stat().st_size > size, "the wal")
        a.run("backup", self.top / "a.gnb")
        a.run("backup", "--no-counts", self.top / "less.gnb")
        b.run("restore", self.top / "a.gnb")
        for s in (a, b):
            s.kill()
            s.daemon()
        until(lambda: exported(a) and exported(b) == exported(a), "the same counts",
              log=lambda: f"{exported(a)}\n{exported(b)}")  # once a start has made runs of what was running
        c = self.server("c")
        c.run("restore", self.top / "less.gnb")
        c.daemon()
        self.assertEqual(sum(exported(c).values()), 0)

    def test_running_or_not_empty__then_refused(self):
        s, file = self.small()
        s.daemon()
        self.assertIn("is running", s.run("restore", "--force", file, rc=75))
        s.stop()
        self.assertIn("--force", s.run("restore", file, rc=73))
        said = s.run("restore", "--force", file)
        former = next(self.top.glob("small.before-*"))
        self.assertIn(former.name, said)
        self.assertTrue((former / "lists/phish/CURRENT").exists())
        self.assertIn("confirmed", listed(s, 3))

    def test_a_pipe__then_it_stays_one(self):
        s, _ = self.small()
        pipe = self.top / "pipe"
        os.mkfifo(pipe)
        self.assertIn("gillnet backup - >", s.run("backup", pipe, rc=None))
        self.assertTrue(pipe.is_fifo())

    def test_a_list_is_being_written__then_refused(self):
        s, file = self.small()
        with open(s.state / "lists/LOCK", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("works on this folder", s.run("restore", "--force", file, rc=75))
        self.assertEqual([p.name for p in self.top.glob("small.*") if p.is_dir()], [])

    def test_any_byte_is_damaged__then_named_and_nothing_changes(self):
        s, file = self.small()
        whole = file.read_bytes()
        rng = random.Random(SEED)
        print(f"GILLNET_SEED={SEED}", file=sys.stderr)
        bad = self.top / "bad.gnb"
        target = self.server("target")
        places = [rng.randrange(len(whole)) for _ in range(ROUNDS)] + [0, len(whole) - 1]
        for at in places:
            bytes_ = bytearray(whole)
            bytes_[at] ^= 1 << rng.randrange(8)
            bad.write_bytes(bytes_)
            p = subprocess.run([f"{BUILD}/gillnet", "-c", target.conf, "restore", str(bad)], capture_output=True,
                               text=True)
            if p.returncode == 0:  # a bit that zstd does not use: then the contents are right
                self.assertIn("confirmed", listed(target, 3), f"byte {at}")
                shutil.rmtree(target.state)
                target.state.mkdir()
            else:
                self.assertIn("bad.gnb", p.stderr, f"byte {at}")
                self.assertEqual(list(target.state.iterdir()), [], f"byte {at}")
        for n in rng.sample(range(len(whole)), ROUNDS):
            bad.write_bytes(whole[:n])
            target.run("backup", "--verify", bad, rc=65)
            target.run("restore", bad, rc=65)
        self.assertEqual(list(target.state.iterdir()), [])
        self.assertEqual(list(self.top.glob("target.restore*")), [])

    def test_hostile_archives__then_nothing_outside_is_written(self):
        _, file = self.small()
        plain = unpacked(file, self.top)
        with tarfile.open(plain) as tar:
            good = [(m, tar.extractfile(m).read()) for m in tar.getmembers()]
        target = self.server("target")

        def pack(change):
            out = self.top / "hostile.tar"
            with tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as tar:
                for member, data in change([(tarfile.TarInfo(m.name), d) for m, d in good]):
                    member.size = len(data) if member.isreg() else 0
                    tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
            subprocess.run(["zstd", "-qf", out, "-o", self.top / "hostile.gnb"], check=True)
            return self.top / "hostile.gnb"

        def renamed(old, new, in_contents):
            def change(v):
                for m, data in v:
                    if in_contents and m.name in ("MANIFEST", "SHA256SUMS"):
                        data = data.replace(old.encode(), new.encode())
                    if m.name == old:
                        m.name = new
                    yield m, data
            return change

        def kind(of, to):
            def change(v):
                for m, data in v:
                    if m.name == "keys/filter.key":
                        m.type, m.linkname = of, to
                    yield m, data
            return change

        outside = self.top / "outside"
        rows = {
            "absolute": renamed("keys/filter.key", f"{outside}", True),
            "up": renamed("keys/filter.key", "keys/../../outside", True),
            "other place": renamed("keys/filter.key", "etc/filter.key", True),
            "hidden": renamed("keys/filter.key", "keys/.node", True),
            "in the tar alone": renamed("keys/filter.key", "keys/other.key", False),
            "symbolic link": kind(tarfile.SYMTYPE, str(outside)),
            "hard link": kind(tarfile.LNKTYPE, "keys/digest.key"),
            "device": kind(tarfile.CHRTYPE, ""),
            "fifo": kind(tarfile.FIFOTYPE, ""),
            "folder": kind(tarfile.DIRTYPE, ""),
            "twice": lambda v: [x for m in v for x in ([m, m] if m[0].name == "keys/filter.key" else [m])],
            "one less": lambda v: [m for m in v if m[0].name != "keys/filter.key"],
            "one more": lambda v: v + [(tarfile.TarInfo("keys/zzz"), b"x")],
            "no sums": lambda v: v[:-1],
            "no contents": lambda v: v[1:],
            "other order": lambda v: [v[0], v[2], v[1], *v[3:]],
            "longer": lambda v: [(m, d + b"x" * (m.name == "keys/filter.key")) for m, d in v],
            "other bytes": lambda v: [(m, d if m.name != "keys/filter.key" else d[::-1]) for m, d in v],
            "sums of another": lambda v: [(m, d if m.name != "SHA256SUMS" else d.replace(b"0", b"1")) for m, d in v],
            "too many files": lambda v: [(m, d if m.name != "MANIFEST" else
                                          d.replace(b"\nfiles ", b"\nfiles 99999999")) for m, d in v],
        }
        for name, change in rows.items():
            with self.subTest(name):
                said = target.run("restore", pack(change), rc=None)
                self.assertIn("hostile.gnb", said)
                self.assertEqual(list(target.state.iterdir()), [], said)
                self.assertFalse(outside.exists())
                self.assertEqual(list(self.top.glob("target.restore*")), [])
        target.run("restore", pack(lambda v: v))
        self.assertIn("confirmed", listed(target, 3))

    def test_unpacked_by_hand__then_sha256sum_agrees(self):
        _, file = self.small()
        to = self.top / "by-hand"
        to.mkdir()
        subprocess.run(["tar", "-xf", unpacked(file, self.top), "-C", to], check=True)
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=to, check=True)

    def test_restored_by_root__then_each_place_is_its_users(self):
        """In a mount namespace whose passwd and group have the users of systemd/gillnet.sysusers."""
        a = self.server("a")
        a.run("peer", "ring", "create", "--name", "a", "--address", a.address)
        a.run("list", "add", "phish", url(1))
        a.daemon()
        a.count(1)
        a.stop()
        a.run("backup", self.top / "a.gnb")
        shutil.rmtree(a.state)
        ids = {"_gillnet": 61840, "_gillnet-hub": 61841, "_gillnet-keys": 61842}
        for name, rows in (("passwd", [f"{n}:x:{i}:{i}::/:/bin/false" for n, i in ids.items() if n != "_gillnet-keys"]),
                           ("group", [f"{n}:x:{i}:" for n, i in ids.items()])):
            (self.top / name).write_text("\n".join(["root:x:0:0::/:/bin/sh" if name == "passwd" else "root:x:0:",
                                                    *rows]) + "\n")
        subprocess.run(["unshare", "-m", "sh", "-ec", 'mount --bind "$1/passwd" /etc/passwd\n'
                        'mount --bind "$1/group" /etc/group\nexec "$2" -c "$3" restore "$1/a.gnb"', "sh", self.top,
                        f"{BUILD}/gillnet", a.conf], check=True, capture_output=True)

        def owner(path):
            st = (a.state / path).lstat()
            return st.st_uid, st.st_gid, st.st_mode & 0o7777

        user, hub, keys = ids.values()
        self.assertEqual(owner(""), (user, user, 0o2750))
        self.assertEqual(owner("keys"), (user, keys, 0o2770))
        self.assertEqual(owner("keys/digest.key"), (user, keys, 0o640))
        self.assertEqual(owner("counts"), (user, user, 0o2750))
        self.assertEqual(owner("lists/phish/CURRENT"), (hub, user, 0o640))
        self.assertEqual(owner("peers"), (hub, user, 0o2750))
        self.assertEqual(owner("peers/identity.key"), (hub, user, 0o600))
        self.assertEqual(owner("peers/restored"), (hub, user, 0o640))

    def test_taken_of_what_was_damaged__then_not_put_in_place(self):
        """Every sum of the archive holds, but its contents are damaged."""
        s, good = self.small()
        s.run("list", "rebuild", "phish")
        was = (s.state / "lists/phish/CURRENT").read_bytes()
        index = max((s.state / "lists/phish").glob("index.*[0-9]"))
        ring = s.state / "keys/digest.key"
        runs = s.state / "counts/runs"
        runs.mkdir(parents=True, exist_ok=True)
        run = runs / "1795353000-600-68-7c-1.run"
        for path, spoil in ((index, lambda b: b[:len(b) // 2] + b"\xff" * 64 + b[len(b) // 2 + 64:]),
                            (ring, lambda _: b"no key\n"), (run, lambda _: b"no run")):
            whole = path.read_bytes() if path.exists() else None
            path.write_bytes(spoil(whole))
            s.run("backup", self.top / "bad.gnb")
            self.assertIn("every checksum holds", s.run("backup", "--verify", self.top / "bad.gnb"))
            said = s.run("restore", "--force", self.top / "bad.gnb", rc=None)
            self.assertIn("nothing was restored", said)
            self.assertIn(str(path.relative_to(s.state)), said)
            for left in (".restore", ".before-*"):
                self.assertEqual(list(self.top.glob(s.state.name + left)), [])
            path.write_bytes(whole) if whole else path.unlink()
        self.assertEqual((s.state / "lists/phish/CURRENT").read_bytes(), was)
        s.run("restore", "--force", good)

    def test_restored_into_a_users_folder__then_all_is_that_users(self):
        s, file = self.small()
        shutil.rmtree(s.state)
        s.state.mkdir()
        os.chown(s.state, 8, 9)
        s.run("restore", file)
        for folder, _, names in os.walk(s.state):
            for path in (folder, *(os.path.join(folder, n) for n in names)):
                st = os.lstat(path)
                self.assertEqual((st.st_uid, st.st_gid), (8, 9), path)

    def test_links_and_strangers__then_not_followed_and_told(self):
        s, _ = self.small()
        secret = self.top / "secret"
        secret.write_text("of somebody else")
        (s.state / "keys/extra.key").symlink_to(secret)
        (s.state / "keys/my notes").write_text("x")
        said = s.run("backup", self.top / "b.gnb")
        self.assertIn("skipped", said)
        self.assertNotIn("of somebody else", unpacked(self.top / "b.gnb", self.top).read_text(errors="replace"))
        (s.state / "lists/phish").rename(self.top / "elsewhere")
        (s.state / "lists/phish").symlink_to(self.top / "elsewhere")
        self.assertIn("symbolic link", s.run("backup", self.top / "c.gnb", rc=None))
        self.assertFalse((self.top / "c.gnb").exists())


class Killed(Folder):
    def test_killed_at_any_moment__then_the_file_and_the_folder_are_the_old_or_the_new(self):
        s, old = self.small()
        s.run("list", "add", "phish", *(url(i) for i in range(20, 40)))
        new = self.top / "new.gnb"
        s.run("backup", new)
        rng = random.Random(SEED)
        print(f"GILLNET_SEED={SEED}", file=sys.stderr)
        target = self.server("target")
        target.run("restore", old)
        taken = self.top / "taken.gnb"
        began = time.monotonic()
        s.run("backup", taken)
        length = time.monotonic() - began
        for _ in range(ROUNDS):
            for command in (["backup", taken], ["restore", "--force", new]):
                of = s if command[0] == "backup" else target
                p = subprocess.Popen([f"{BUILD}/gillnet", "-c", of.conf, *map(str, command)],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(rng.random() * length)
                p.send_signal(signal.SIGKILL)
                p.wait()
                if command[0] == "backup":
                    s.run("backup", "--verify", taken)
                    continue
                fresh = self.top / "target.restore"
                if fresh.exists() and any(fresh.iterdir()) and not (fresh / "restore.partial").exists():
                    # between the two names: a person looks at both
                    self.assertIn("all but done", target.run("restore", "--force", new, rc=73))
                    fresh.rename(self.top / f"target.former{rng.random()}")
                self.assertIn("confirmed", listed(target, 3))
                entries = target.run("list", "export", "phish").count("\n")
                self.assertIn(entries, (20, 40))
                target.run("restore", "--force", old)
                for former in self.top.glob("target.before-*"):
                    shutil.rmtree(former)
        s.run("backup", taken)
        self.assertFalse((s.state / "backup.tmp").exists())
        self.assertFalse((self.top / "target.restore").exists())


class Rings(unittest.TestCase):
    def test_a_disk_is_lost__then_restored_it_rejoins_and_nothing_counts_twice(self):
        names = ("alpha", "beta", "gamma")
        with Ring(*names, config={n: SHARED for n in names}) as (a, b, c):
            for s in (a, b, c):
                s.daemon()
            until(lambda: a.connected() == {"beta", "gamma"}, "all", log=a.logs)
            a.run("list", "add", "phish", url(1))
            a.count(2)
            b.count(1)

            def settled():
                own = a.totals(a.origin(), "own")
                return own and b.totals(a.origin()) == own and c.totals(a.origin()) == own

            until(settled, "counts of alpha", log=a.logs)
            until(lambda: "alpha" in listed(b, 1), "the entry of alpha", log=b.logs)
            file = pathlib.Path(a.top) / "alpha.gnb"
            self.assertIn("server alpha ", a.run("backup", file))
            # life goes on: all of this is lost here, and known to the peers
            a.run("list", "add", "phish", url(2))
            a.run("list", "revoke", "phish", url(1))
            a.count(3, start=10)
            until(lambda: "alpha" in listed(b, 2), "the second entry of alpha", log=b.logs)
            grown = until(lambda: settled() and a.totals(a.origin(), "own"), "more counts of alpha", log=a.logs)
            truth = b.totals(a.origin())
            self.assertEqual(truth, grown)
            a.kill()
            shutil.rmtree(a.state)
            a.run("restore", file)
            self.assertTrue((a.state / "peers/restored").exists())
            a.hub().daemon()
            until(lambda: a.connected() == {"beta", "gamma"} and "alpha" in b.connected(), "all again", log=a.logs)
            self.assertFalse((a.state / "peers/restored").exists())
            self.assertTrue(a.hub_lines("event=restored"))
            # its own list is as it was then, and so with all
            until(lambda: "alpha" in listed(b, 1) and "alpha" not in listed(b, 2), "the list of then", log=a.logs)
            until(lambda: "alpha" in listed(c, 1) and "alpha" not in listed(c, 2), "the list of then", log=c.logs)
            # it goes on: a new entry, new counts
            a.run("list", "add", "phish", url(3))
            until(lambda: "alpha" in listed(b, 3) and "alpha" in listed(c, 3), "a new entry", log=a.logs)
            self.assertEqual(b.totals(a.origin()), truth)
            self.assertEqual(c.totals(a.origin()), truth)
            until(lambda: a.totals(a.origin(), "own") == truth, "its own counts back", log=a.logs)
            b.count(2, start=50)
            until(lambda: b.totals(b.origin(), "own") == a.totals(b.origin()), "counts of beta", log=a.logs)
            for s in (a, b, c):
                self.assertEqual(s.hub_lines("is distrusted"), [])
                for row in s.status().values():
                    self.assertNotIn("fork", row.get("refused", {}))

    def test_the_signing_key_was_changed_since__then_refused_and_rejoined_as_the_manual_says(self):
        names = ("alpha", "beta")
        with Ring(*names, config={n: SHARED for n in names}) as (a, b):
            b.run("list", "add", "phish", url(1))
            until(lambda: "beta" in listed(a, 1), "the entry of beta", log=a.logs)
            origin, file = b.origin(), pathlib.Path(b.top) / "beta.gnb"
            b.run("backup", file)
            former, signed = (b.state / "peers/cert.pem").read_text(), pathlib.Path(b.top) / "manifest"
            b.run("peer", "rotate", "--now")
            shutil.copy(b.state / "peers/manifest.next", signed)
            a.run("peer", "manifest", "sign", signed)
            for s in (a, b):  # first alpha, for it would not hear of it from a key that it does not know
                s.run("peer", "manifest", "accept", signed)
            b.stop()
            b.hub()  # looks at once whether its key's time has come
            until(lambda: (b.state / "peers/cert.pem").read_text() != former, "the new key", log=b.logs)
            b.run("list", "add", "phish", url(2))
            until(lambda: "beta" in listed(a, 2), "an entry under the new key", log=a.logs)
            b.kill()
            shutil.rmtree(b.state)
            b.run("restore", file)
            b.hub()
            # the old key is refused, and the status has the reason
            until(lambda: "does not take this server's key" in b.run("peer", "status"), "the reason", log=b.logs)
            self.assertEqual(b.connected(), set())
            self.assertIn("beta", listed(a, 2))
            b.stop()
            a.run("peer", "drop", "beta")
            token = next(x for x in a.run("peer", "invite", "beta").splitlines() if x.startswith("gnp1-"))
            (b.state / "peers/manifest").rename(b.state / "former")
            b.run("peer", "rotate")
            b.run("peer", "join", token)
            b.hub()
            until(lambda: b.connected() == {"alpha"} and a.connected() == {"beta"}, "both", log=b.logs)
            self.assertEqual(b.origin(), origin)
            until(lambda: "beta" in listed(a, 1) and "beta" not in listed(a, 2), "the list of then", log=a.logs)
            b.run("list", "add", "phish", url(3))
            until(lambda: "beta" in listed(a, 3), "a new entry", log=a.logs)
            for s in (a, b):
                self.assertEqual(s.hub_lines("is distrusted"), [])

    def test_restored_twice__then_said(self):
        names = ("alpha", "beta")
        with Ring(*names, config={n: SHARED for n in names}) as (a, b):
            file = pathlib.Path(a.top) / "alpha.gnb"
            a.run("backup", file)
            twin = Server(a.top, "twin", SHARED + 'hub = { listen = "off"; };')
            twin.run("restore", file)
            twin.hub(wait=False)
            try:
                until(lambda: a.hub_lines("identity") or twin.hub_lines("identity"), "a warning", log=twin.logs)
            finally:
                twin.kill()


if __name__ == "__main__":
    unittest.main(verbosity=2)
