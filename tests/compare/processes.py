"""processes - CPU time and memory of a program with all its children, read from /proc."""
import os

TICK = os.sysconf("SC_CLK_TCK")


def _stat(pid):
    """The fields behind the name: state, parent, ...; None where the process has ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def tree(roots):
    """{pid: fields of stat} of these processes and all that descend from them."""
    stats = {pid: _stat(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
    children = {}
    for pid, fields in stats.items():
        if fields:
            children.setdefault(int(fields[1]), []).append(pid)
    found, waiting = {}, list(roots)
    while waiting:
        pid = waiting.pop()
        if stats.get(pid):
            found[pid] = stats[pid]
            waiting += children.get(pid, [])
    return found


def cpu(roots):
    """Seconds of CPU, user and system, also of children that have ended and were waited for."""
    return sum(int(x) for fields in tree(roots).values() for x in fields[11:15]) / TICK


def memory(roots):
    """Bytes: the sum of Pss, in which a page that several processes share counts once."""
    total = 0
    for pid in tree(roots):
        try:
            with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total * 1024
