#!/usr/bin/env python3
"""Refuse a file that has grown past its budget, or that has a vague name.

Usage: check_budget.py [ROOT]          exit 0 clean, 1 findings, 2 bad tree.
A .c file has at most 600 lines and a header at most 250: above that it holds two modules. A
file is named after its task; a name with util, misc, common or helper in it fits anything.
"""
import os
import pathlib
import re
import sys

LINES = {".c": 600, ".h": 250}
SAYS_NOTHING = re.compile(r"util|misc|common|helper", re.I)
NOT_SOURCE = {".git", ".cache", "build", "__pycache__"}  # folders that this project does not keep


def files(root):
    for folder, names, leaves in os.walk(root):
        names[:] = sorted(set(names) - NOT_SOURCE)
        for leaf in sorted(leaves):
            yield pathlib.Path(folder, leaf)


def main(root):
    bad = sources = 0
    for path in files(root):
        where = path.relative_to(root)
        if SAYS_NOTHING.search(path.name):
            print(f"{where}: name it for what it does")
            bad += 1
        if path.suffix in LINES:
            sources += 1
            lines = path.read_bytes().count(b"\n")
            if lines > LINES[path.suffix]:
                print(f"{where}: {lines} lines; a {path.suffix} file has at most {LINES[path.suffix]}")
                bad += 1
    if not sources:
        print(f"{root}: no C files", file=sys.stderr)
        return 2
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
