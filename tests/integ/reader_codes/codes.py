#!/usr/bin/env python3
"""Codes of each class are found, and none where there is none.

Usage: codes.py --records PROGRAM [--first SEED] [--each N] [--empty N]
Prints one line of JSON: the share found by class, the total, and the codes found in empty pictures.
The seeds of the test are 1 and following; the search was tuned with those from 1000 on.
Exit status: 0 all as wanted, 1 not.
"""
import argparse
import json
import subprocess
import sys
import tempfile

import code_pictures

TOTAL_LEAST = 0.95
CLASS_LEAST = 0.9


def codes_of(program, files):
    """The payloads of the codes in a picture, or in several together."""
    command = [program]
    for file in files[1:]:
        command += ["--next", str(file)]
    done = subprocess.run([*command, str(files[0])], check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [(row["value"], row["place"]) for row in rows if row["kind"] == "code"]


def measure(program, kind, seeds, folder):
    """How many pictures of the class show all their codes; names of the others."""
    missed = []
    for seed in seeds:
        files, payloads = code_pictures.make(kind, seed, folder)
        found = [value for value, _ in codes_of(program, files)]
        if sorted(found) != sorted(payloads):
            missed.append(f"{kind.__name__} {seed}: {found} instead of {payloads}")
        for file in files:
            file.unlink()
    return len(seeds) - len(missed), missed


def false_codes(program, count, folder):
    found = []
    for seed in range(count):
        file = code_pictures.make_empty(seed, folder)
        found += [f"empty {seed}: {value}" for value, _ in codes_of(program, [file])]
        file.unlink()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--empty", type=int, default=200)
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.each)
    shares, faults = {}, []
    with tempfile.TemporaryDirectory() as folder:
        total = 0
        for kind in code_pictures.CLASSES:
            good, missed = measure(args.records, kind, seeds, folder)
            total += good
            shares[kind.__name__] = round(good / args.each, 3)
            print(*missed, sep="\n", end="\n" if missed else "", file=sys.stderr)
            if good < CLASS_LEAST * args.each:
                faults.append(f"{kind.__name__}: {good} of {args.each}")
        share = total / (args.each * len(code_pictures.CLASSES))
        if share < TOTAL_LEAST:
            faults.append(f"{share:.3f} of all pictures")
        false = false_codes(args.records, args.empty, folder)
        faults += false
    print(json.dumps({"test": "reader_codes", "first": args.first, "each": args.each, "found": round(share, 4),
                      "classes": shares, "empty": args.empty, "false": len(false)}))
    print(*faults, sep="\n", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
