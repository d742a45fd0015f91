#!/usr/bin/env python3
"""Check that each test that contrib/doc/threats.md names is there.

Usage: check_threats.py      exit 0 all are there, 1 some are missing (they are printed).
A reference is `PATH` or `PATH: WORD`, below tests/ or the repository; WORD must stand in that file.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGE = TOP / "contrib/doc/threats.md"


def missing(reference):
    path, _, word = reference.partition(": ")
    path = path.split()[0]  # `contrib/prove faults`
    place = next((p for p in (TOP / "tests" / path, TOP / path) if p.exists()), None)
    if place is None:
        return "there is no such file"
    if word and word not in place.read_text():
        return f"the file has no {word}"
    return None


def main():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    bad = 0
    for row in rows:
        tests = row.rstrip("| ").split(" | ")[-1]
        if tests in ("tests", "---"):
            continue
        references = re.findall(r"`([^`]+)`", tests)
        for text in [missing(r) and f"{r}: {missing(r)}" for r in references] or ["names no test"]:
            if text:
                print(f"contrib/doc/threats.md: {row[2:60]}...: {text}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
