"""Faults of the whole: a full or read-only disk, a clock that jumps, no memory, no descriptors, no threads."""
import errno
import os
import pathlib
import subprocess
import threading
import time

import fault_world
from fault_calls import after, opened
from fault_ledger import Checker
from fault_orders import FAIL, MEMORY
from fault_probe import begin, end, ended, probe, write
from fault_site import Broken, as_user

DISK = "192m"  # the template takes half of it
HOUR, YEAR = 3600, 365 * 86400
JUMPS = {"an hour forth and back": (HOUR, 0), "an hour back and forth": (-HOUR, 0), "a year forth and back": (YEAR, 0),
         "a year back and forth": (-YEAR, 0)}
LIMITS = {"as": "Max address space", "nofile": "Max open files", "nproc": "Max processes"}  # in /proc/PID/limits
TICK_S = 7  # counts are written every five seconds
MEMORY_STEPS = 60  # of one message
ROOMS = (0, 1, 2, 4, 8)  # descriptors that are left


def cells(_):
    out = [(f"disk {what}, {when}", full_disk, (what, when))
           for what, when in (("full", "running"), ("full", "before a start"), ("full, files with holes", "running"),
                              ("read-only", "before a start"))]
    out += [("clock jumps while running", jump, (name,)) for name in JUMPS]
    out += [("clock jumps before a start", jump_stopped, (name,)) for name in JUMPS]
    out += [("no memory: an allocation of a message", no_allocation, (step,)) for step in range(0, MEMORY_STEPS, 10)]
    out += [("no memory: address space", no_space, ())]
    out += [("no descriptors", no_descriptors, (room,)) for room in ROOMS]
    out += [("no threads", no_threads, ())]
    return out


def fill(folder):
    with open(folder / "filler", "wb", buffering=0) as f:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    f.write(b"\0" * size)
            except OSError:
                pass


def full_disk(world, _, what, when):
    site, ledger, said = world.fresh(disk=DISK, holes="holes" in what)
    checker = Checker(site, ledger, said)
    if when == "running":
        begin(checker)
    if what != "read-only":
        fill(site.state)
    else:
        subprocess.run(["mount", "-o", "remount,ro", site.state], check=True)
    if when != "running":
        begin(checker)
    for _ in range(3):
        probe(checker)
        write(checker)
    if what != "read-only":
        (site.state / "filler").unlink()
    else:
        subprocess.run(["mount", "-o", "remount,rw", site.state], check=True)
    probe(checker)
    write(checker)
    end(checker)
    after(checker)
    return checker.out


def jump(world, _, name):
    checker, orders = opened(world)
    checker.site.env = orders.env()
    begin(checker)
    probe(checker)
    for offset in JUMPS[name]:
        orders.put(clock_s=offset)
        probe(checker)
        write(checker, env=orders.env())
        time.sleep(TICK_S)
        probe(checker)
    end(checker)
    checker.site.env = {}
    after(checker)
    return checker.out


def jump_stopped(world, _, name):
    """The clock is wrong for one whole run."""
    checker, orders = opened(world)
    checker.site.env = orders.env()
    orders.put(clock_s=JUMPS[name][0])
    begin(checker)
    probe(checker)
    write(checker, env=orders.env())
    end(checker)
    checker.site.env = {}
    after(checker)
    return checker.out


def no_allocation(world, _, first):
    """The n-th allocation for a message fails: the message is answered, and the next one is judged."""
    checker, orders = opened(world)
    checker.site.env = orders.env()
    begin(checker, "gillnetd")
    probe(checker)
    orders.count(MEMORY)
    probe(checker, hosts=(fault_world.IMPORTED,))
    calls = orders.calls()
    for step in range(first, first + 10):
        orders.at(MEMORY, *[1 + step * (calls - 1) // (MEMORY_STEPS - 1)] * 2, FAIL, errno.ENOMEM)
        probe(checker, hosts=(), anything=(fault_world.IMPORTED, fault_world.CLEAN))
        orders.clear()
        probe(checker, hosts=(fault_world.IMPORTED, fault_world.CLEAN))
    end(checker)
    checker.site.env = {}
    after(checker)
    return checker.out


def proc(checker, name):
    return pathlib.Path(f"/proc/{checker.site.procs['gillnetd'].pid}/{name}")


def limit(checker, name, most=None):
    """Sets the soft limit of the running gillnetd, as its own user; without most: the hard limit again."""
    if most is None:
        line = next(x for x in proc(checker, "limits").read_text().splitlines() if x.startswith(LIMITS[name]))
        most = line[len(LIMITS[name]):].split()[1]
    done = subprocess.run(as_user(["prlimit", "--pid", checker.site.procs["gillnetd"].pid, f"--{name}={most}:"]),
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 and "gillnetd" not in checker.site.died():
        raise Broken(f"prlimit: {done.stderr}")


def no_space(world, _):
    """No new page of memory for gillnetd, then memory again."""
    site, ledger, said = world.fresh()
    checker = Checker(site, ledger, said)
    begin(checker)
    probe(checker)
    pages = int(proc(checker, "statm").read_text().split()[0])
    limit(checker, "as", pages * os.sysconf("SC_PAGESIZE") + (64 << 10))
    for _ in range(10):
        probe(checker, hosts=(), anything=(fault_world.IMPORTED, fault_world.CLEAN))
    recover(checker, "as")
    return checker.out


def recover(checker, name):
    """The limit is lifted: the same processes judge as before."""
    if "gillnetd" in checker.site.died():
        ended(checker)
    else:
        limit(checker, name)
        probe(checker)
    write(checker)
    end(checker)
    after(checker)


def no_descriptors(world, _, room):
    """Mail that comes while no descriptor is free waits, or has the MTA's default; it is not lost."""
    site, ledger, said = world.fresh()
    checker = Checker(site, ledger, said)
    begin(checker)
    probe(checker)
    limit(checker, "nofile", len(os.listdir(proc(checker, "fd"))) + room)
    senders = [threading.Thread(target=probe, args=(checker, ()), kwargs={"anything": (fault_world.CLEAN,)}) for _ in range(6)]
    for sender in senders:
        sender.start()
    time.sleep(3)
    limit(checker, "nofile")
    for sender in senders:
        sender.join()
    recover(checker, "nofile")
    return checker.out


def no_threads(world, _):
    site, ledger, said = world.fresh()
    checker = Checker(site, ledger, said)
    begin(checker)
    probe(checker)
    limit(checker, "nproc", 1)
    for _ in range(10):
        probe(checker, hosts=(), anything=(fault_world.IMPORTED, fault_world.CLEAN))
    recover(checker, "nproc")
    return checker.out
