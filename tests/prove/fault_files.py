"""Faults of single files: each kind of file of the state folder, each damage, while the daemons run and before a start."""
import os
import random
import re
import shutil
import stat

from fault_ledger import Checker, words_of
from fault_probe import begin, end, probe, write
from fault_site import USER

VICTIM = "not gillnet's own\n"


def missing(path, _):
    path.unlink()


def cut_to_nothing(path, _):
    os.truncate(path, 0)


def cut_in_half(path, _):
    os.truncate(path, path.stat().st_size // 2)


def flip(path, rng, bits):
    """Of a file with holes, only what is written is flipped: the rest is zeros that nobody reads."""
    with open(path, "r+b") as f:
        used = written(f)
        for _ in range(bits if used else 0):
            begin, end = rng.choices(used, [e - b for b, e in used])[0]
            at = rng.randrange(begin, end)
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes([byte ^ 1 << rng.randrange(8)]))


def written(f):
    size, at, out = os.fstat(f.fileno()).st_size, 0, []
    while at < size:
        try:
            begin = os.lseek(f.fileno(), at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(f.fileno(), begin, os.SEEK_HOLE)
        out.append((begin, at))
    return out


def one_bit(path, rng):
    flip(path, rng, 1)


def hundred_bits(path, rng):
    flip(path, rng, 100)


def wrong_owner(path, _):
    os.chown(path, 0, 0)
    path.chmod(0o600)


def folder(path, _):
    path.unlink()
    path.mkdir()
    shutil.chown(path, USER, USER)


def symlink(path, _):
    victim = next(p for p in path.parents if p.name == "state").parent / "victim"
    victim.write_text(VICTIM)
    shutil.chown(victim, USER, USER)
    path.unlink()
    path.symlink_to(victim)


def fifo(path, _):
    path.unlink()
    os.mkfifo(path, 0o640)
    shutil.chown(path, USER, USER)


def unreadable(path, _):
    path.chmod(0)


DAMAGES = (missing, cut_to_nothing, cut_in_half, one_bit, hundred_bits, wrong_owner, folder, symlink, fifo, unreadable)


def is_file(path):
    """False also for a file that a running daemon has just renamed."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def kinds(state):
    """{kind: its newest file}, as paths in the state folder: kinds differ in more than numbers."""
    found = {}
    for path in sorted(p for p in state.rglob("*") if is_file(p)):
        name = str(path.relative_to(state))
        found[re.sub(r"[0-9a-f]{8,}|\d+", "#", name)] = name
    return found


def cells(world):
    """(row, function, arguments) of each."""
    return [(f"file {damage.__name__.replace('_', ' ')}, {when}", damage_file, (damage.__name__, kind, when))
            for when in ("running", "before a start") for damage in DAMAGES for kind in sorted(kinds(world.template))]


def damage_file(world, seed, damage, kind, when):
    site, ledger, said = world.fresh()
    checker = Checker(site, ledger, said)
    if when == "running":
        begin(checker)
    name = kinds(site.state).get(kind)
    try:
        globals()[damage](site.state / name, random.Random(f"{seed} {damage} {kind}")) if name else None
    except FileNotFoundError:
        name = None
    if not name:
        checker.out.notes.append("no such file at this time")
        end(checker)
        return checker.out
    checker.words = words_of(name)
    if when == "running":
        probe(checker)
        write(checker)
        end(checker)
    begin(checker)
    probe(checker)
    checker.check()
    end(checker)
    checker.settle()
    if (site.top / "victim").exists():
        if (site.top / "victim").read_text() != VICTIM:
            checker.out.notes.append("wrote through the link")
        (site.top / "victim").unlink()
    return checker.out
