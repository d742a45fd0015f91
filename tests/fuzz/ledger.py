"""What each target has had: a line "NAME SECONDS INPUTS EDGES STALE" in the file hours.

SECONDS are of the processor, over all runs. STALE: turns since the coverage last grew. Without the file, as on another
machine, the ledger begins with the figures of the table that is committed (coverage.py).
"""
import dataclasses
import os
import re


@dataclasses.dataclass
class Entry:
    name: str
    seconds: float = 0.0
    inputs: int = 0
    edges: int = 0
    stale: int = 0

    def add(self, seconds, inputs, edges):
        self.seconds += seconds
        self.inputs += inputs
        self.stale = 0 if edges > self.edges else self.stale + 1
        self.edges = max(self.edges, edges)


def rows_of(table):
    """The entries of the table, by name."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \| ([\d,]+) \| [\d,]+ \| ([\d,]+) \|[^|]*\|$", table, re.M)
    return {name: Entry(name, float(minutes) * 60, int(inputs.replace(",", "")), int(edges.replace(",", "")))
            for name, minutes, inputs, edges in rows}


class Ledger:
    def __init__(self, path, table):
        self.path = path
        self.entries = {}
        if path.exists():
            for line in path.read_text().splitlines():
                name, seconds, inputs, edges, stale = line.split()
                self.entries[name] = Entry(name, float(seconds), int(inputs), int(edges), int(stale))
        elif table.exists():
            self.entries = rows_of(table.read_text())

    def of(self, name):
        return self.entries.setdefault(name, Entry(name))

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text("".join(f"{e.name} {e.seconds:.1f} {e.inputs} {e.edges} {e.stale}\n"
                                 for e in sorted(self.entries.values(), key=lambda e: e.name)))
        os.replace(fresh, self.path)
