#!/usr/bin/env python3
"""Tables of other projects that no code was tuned on: as many rows must be alike as of the tables that the tests know.

Usage: test_general.py GENERAL_ANSWERS [--show [TABLE...]]
The tables stand in Debian packages, unpacked by contrib/install-deps test into build/tables (environment
GILLNET_TABLES).  A table must have at least 20 rows, and within two points of the share of the
first table of its kind.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tables_html  # noqa: E402
import tables_text  # noqa: E402
import tables_url  # noqa: E402
from table import count  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[3]
ROOT = pathlib.Path(os.environ.get("GILLNET_TABLES", TOP / "build/tables")) / "root/usr"
ROWS_LEAST = 20


def ask(program, questions):
    """[[(name, value)]] of questions (kind, text...)."""
    lines = "".join("\t".join([kind, *(word.hex() for word in words)]) + "\n" for kind, *words in questions)
    done = subprocess.run([program], input=lines.encode(), stdout=subprocess.PIPE, check=True, timeout=240)
    answers = done.stdout.decode().splitlines()
    if len(answers) != len(questions):
        sys.exit(f"{len(answers)} answers to {len(questions)} questions")
    return [[(name, bytes.fromhex(value)) for name, _, value in (f.partition("=") for f in line.split("\t") if f)]
            for line in answers]


def main():
    program, shown = sys.argv[1], sys.argv[3:]
    bad = 0
    for table in tables_url.TABLES + tables_text.TABLES + tables_html.TABLES:
        rows, alike, apart, differing = count(table, ROOT, lambda questions: ask(program, questions))
        rate = 100 * alike / rows if rows else 0
        is_good = rows >= ROWS_LEAST and rate >= table.share - table.below
        bad += not is_good
        print(f"{'ok ' if is_good else 'BAD'} {table.name}: {alike} of {rows} = {rate:.1f} %, first {table.share} % "
              f"({table.first})")
        for reason, n in apart.items():
            print(f"      {n} apart: {reason}")
        if "--show" in sys.argv and (not shown or any(s in table.name for s in shown)):
            for question, want, got in differing:
                print(f"      {question}\n        want {want}\n        got  {got}")
    print(f"{bad} tables below their share")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
