"""Damage and a full disk: mail flows, the fault is named, doctor says what to do."""

import glob
import os
import random
import re
import shutil
import subprocess

import message
import proc

LISTS = [("phish", 6.5, [])]
IMPORTED, RECENT = "imported.example", "recent.example"
ENTRIES = 5000


def flip(path):
    """20 flipped bits, anywhere; the seed is the file's name, so that a failure can be had again."""
    chooser = random.Random(os.path.basename(path))
    with open(path, "r+b") as f:
        data = bytearray(f.read())
        for bit in chooser.sample(range(len(data) * 8), 20):
            data[bit // 8] ^= 1 << (bit % 8)
        f.seek(0)
        f.write(data)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def lock(path):
    os.chmod(path, 0)


# The newest file of each kind, the damage, whether an imported and a recent entry are still confirmed,
# whether gillnetd names a fault, and a word that doctor prints (None: no fault, or one that was
# repaired at the start).
CASES = [
    ("lists/phish/base.*", flip, True, True, True, "rebuild"),
    ("lists/phish/base.*", cut, True, True, True, "rebuild"),
    ("lists/phish/base.*", lock, None, None, True, "Permission denied"),
    ("lists/phish/index.*[0-9]", flip, False, True, True, "rebuild"),
    ("lists/phish/index.*[0-9]", cut, False, True, True, "rebuild"),
    ("lists/phish/index.*[0-9]", lock, None, None, True, "Permission denied"),
    ("lists/phish/index.*.sum", flip, False, True, True, "rebuild"),
    ("lists/phish/index.*.sum", cut, False, True, True, "rebuild"),
    ("lists/phish/memtable.*", flip, True, True, None, ""),  # most of it is empty slots
    ("lists/phish/memtable.*", cut, True, True, None, "memtable"),
    ("lists/phish/log.*", flip, True, None, None, "backup"),
    ("lists/phish/log.*", cut, True, None, None, "backup"),
    ("lists/phish/CURRENT", flip, True, True, True, "rebuild"),
    ("lists/phish/CURRENT", cut, True, True, True, "rebuild"),
    ("lists/phish/CURRENT", lock, None, None, True, "Permission denied"),
    ("lists/LOCK", flip, True, True, False, None),
    ("keys/digest.key", flip, None, None, True, "copy"),
    ("keys/digest.key", cut, None, None, True, "copy"),
    ("keys/digest.key", lock, None, None, True, "Permission denied"),
    ("keys/filter.key", flip, None, None, True, "copy"),
    ("counts/*.stats", flip, True, True, False, ""),  # a number may be wrong, nothing else
    ("counts/*.stats", cut, True, True, False, None),
    ("counts/*.stats", lock, True, True, False, None),
]


def fill(g):
    urls = "".join("http://h%d.example/p\n" % i for i in range(ENTRIES)) + IMPORTED + "\n"
    g.cli("list", "import", "phish", "-", data=urls.encode())
    g.cli("list", "add", "phish", "domain:" + RECENT)


def ask(server, host, tag):
    """The verdict on a message with that host: "Yes", "No", "unchecked"; it must be delivered."""
    rcpt = "%s-%s@rcpt.example" % (tag, host)
    reply = server.send(message.build(url="http://www.%s/x" % host), rcpt=rcpt)
    assert reply.startswith("250"), reply
    status = message.values(server.sink.wait(rcpt)[0], "X-Gillnet-Status")
    assert len(status) == 1, status
    return status[0].split(",")[0]


def check_verdict(server, host, tag, want):
    got = ask(server, host, tag)
    if want is not None:
        assert (got == "Yes") == want, (tag, host, got)


def faults(g):
    return [line for line in g.cli("stat", check=False).stdout.decode().splitlines()
            if line.startswith("fault:")]


def doctor(g):
    """Findings of doctor. Of the machine's own MTA and reader it may say what it likes."""
    done = g.cli("doctor", check=False)
    return [line for line in done.stdout.decode().splitlines()
            if not line.startswith(("ok", "warn  mta", "warn  reader"))]


def check_case(server, g, case):
    pattern, damage, imported, recent, is_fault, advice = case
    tag = "%s-%s" % (damage.__name__, re.sub(r"[^a-zA-Z]", "", pattern))
    check_verdict(server, IMPORTED, tag, imported)
    check_verdict(server, RECENT, tag, recent)
    check_verdict(server, "clean.example", tag, False)
    named = faults(g)
    if is_fault is not None:
        assert bool(named) == is_fault, (case, named)
    if is_fault:
        proc.wait_for("the line of %s" % pattern, lambda: re.search(  # a thread writes it
            "event=list_fault phish|event=keys", g.log()))
    said = doctor(g)
    if advice is None:
        assert not said, (case, said)
    elif advice:
        assert any(advice in line for line in said), (case, said)


def test_damage__each_kind_of_file__mail_flows_and_the_fault_is_named(env):
    g = env.gillnet(lists=LISTS)
    fill(g)
    with g:
        pass  # makes the files that gillnetd makes
    whole = g.state + ".whole"
    shutil.copytree(g.state, whole)
    with env.mta(g) as server:
        for case in CASES:
            subprocess.run(["rm", "-rf", g.state], check=True)
            subprocess.run(["cp", "-a", whole, g.state], check=True)
            open(g.log_file, "w").close()
            paths = sorted(glob.glob(os.path.join(g.state, case[0])))
            assert paths, case
            subprocess.run(["chown", "-R", "news:news", g.state], check=True)
            case[1](paths[-1])
            with g:
                check_case(server, g, case)


def test_filter__removed_while_in_use__gillnetd_lives_on(env):
    """Mapped files stay in use until a new generation replaces them."""
    g = env.gillnet(lists=LISTS)
    fill(g)
    with g, env.mta(g) as server:
        pid = g.child.pid
        assert ask(server, IMPORTED, "before") == "Yes"
        base = sorted(glob.glob(os.path.join(g.state, "lists/phish/base.*")))[-1]
        os.unlink(base)
        assert ask(server, IMPORTED, "removed") == "Yes"
        g.cli("list", "rebuild", "phish")
        proc.wait_for("the new generation", lambda: not faults(g))
        assert ask(server, IMPORTED, "rebuilt") == "Yes"
        assert g.child.pid == pid and g.child.poll() is None


class Disk:
    """A small file system of its own."""

    def __init__(self, size):
        self.folder = proc.scratch("disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%s,mode=750" % size, "gillnet-e2e",
                        self.folder], check=True)

    def fill(self):
        with open(os.path.join(self.folder, "filler"), "wb", buffering=0) as f:
            for size in [1 << 16, 1]:
                try:
                    while True:
                        f.write(b"\0" * size)
                except OSError:
                    pass

    def empty(self):
        os.unlink(os.path.join(self.folder, "filler"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder], check=True)


def test_disk__full_while_running__mail_flows_and_lists_stay(env):
    with Disk("64m") as disk:
        g = env.gillnet(lists=LISTS, state_dir=disk.folder)
        fill(g)
        with g, env.mta(g) as server:
            disk.fill()
            assert ask(server, IMPORTED, "full") == "Yes"
            assert ask(server, "clean.example", "full") == "No"
            late = "".join("domain:late%d.example\n" % i for i in range(2000))
            done = g.cli("list", "add", "phish", "-", data=late.encode(), check=False)
            assert done.returncode >= 64, done
            said = done.stderr.decode()
            assert "space" in said or "disk" in said, said
            acknowledged = {line[3:] for line in done.stdout.decode().splitlines()
                            if line.startswith("ok ")}
            many = "".join("http://n%d.example/\n" % i for i in range(100000)).encode()
            done = g.cli("list", "import", "phish", "-", data=many, check=False)
            assert done.returncode >= 64, done
            assert any("disk" in line for line in doctor(g)), doctor(g)
            assert ask(server, "late1999.example", "full") == "No"
            assert ask(server, RECENT, "full") == "Yes"
            disk.empty()
            g.cli("list", "add", "phish", "domain:last.example")
            proc.wait_for("the new entry", lambda: ask(server, "last.example", "free") == "Yes")
            exported = set(g.cli("list", "export", "phish").stdout.decode().split())
            lost = [entry for entry in acknowledged
                    if entry not in exported and entry.split(":")[1] not in exported]
            assert not lost, lost[:5]
            assert not [line for line in doctor(g) if "list phish" in line], doctor(g)


def test_disk__full_at_start__mail_flows_and_the_fault_is_named(env):
    with Disk("64m") as disk:
        g = env.gillnet(lists=LISTS, state_dir=disk.folder)
        fill(g)
        disk.fill()
        with g, env.mta(g) as server:
            assert ask(server, IMPORTED, "full") == "Yes"
            assert ask(server, "clean.example", "full") == "No"
            proc.wait_for("the line of the full disk", lambda: "space" in g.log().lower())
            said = doctor(g)
            assert any("disk" in line for line in said), said


def test_disk__read_only__mail_flows(env):
    with Disk("64m") as disk:
        g = env.gillnet(lists=LISTS, state_dir=disk.folder)
        fill(g)
        subprocess.run(["mount", "-o", "remount,ro", disk.folder], check=True)
        with g, env.mta(g) as server:
            assert ask(server, IMPORTED, "ro") == "Yes"
            assert ask(server, "clean.example", "ro") == "No"
            assert any("state folder" in line for line in doctor(g)), doctor(g)
