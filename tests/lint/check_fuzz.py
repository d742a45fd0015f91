#!/usr/bin/env python3
"""Compare the fuzz targets with tests/fuzz/parsers, and bound their seeds.

Usage: check_fuzz.py [ROOT]            exit 0 clean, 1 findings, 2 bad tree.
Each target has a row in the table and at least one seed; each row names a target, dictionaries and
files that are there. The file of each function that a header of core or milter declares as NAME_parse is
in a row. All seeds together have at most the bytes of tests/fuzz/seeds.py.
"""
import pathlib
import re
import sys

DECLARED = re.compile(r"^(?!static)[a-z][\w *]*?\b(\w+_parse)\(", re.M)


def definition(root, name):
    """The file that defines a function, relative to root."""
    begins = re.compile(rf"^[a-z][\w *]*\b{name}\([^;{{]*\)\s*\{{", re.M)
    for room in ("core", "milter"):
        for path in (root / room).rglob("*.c"):
            if begins.search(path.read_text()):
                return str(path.relative_to(root))
    return None


def unnamed_parsers(root, named):
    """Files of NAME_parse functions that no row names."""
    headers = [p for room in ("core", "milter") for p in (root / room).rglob("*.h")]
    names = {name for path in headers for name in DECLARED.findall(path.read_text())}
    return sorted(f"{name} in {where}" for name, where in ((n, definition(root, n)) for n in names)
                  if where and where not in named)


def main(root):
    sys.path.insert(0, str(root / "tests/fuzz"))
    import parsers
    import seeds
    here = root / "tests/fuzz"
    rows = {target.name: target for target in parsers.read(here / "parsers")}
    targets = {path.stem.removeprefix("fuzz_") for path in here.glob("fuzz_*.c")}
    found = [f"tests/fuzz/fuzz_{name}.c: no row in tests/fuzz/parsers" for name in sorted(targets - set(rows))]
    found += [f"tests/fuzz/parsers: there is no target {name}" for name in sorted(set(rows) - targets)]
    for target in rows.values():
        found += [f"tests/fuzz/parsers: there is no {file}" for file in target.files if not (root / file).is_file()]
        found += [f"tests/fuzz/parsers: there is no dictionary {one}" for one in target.dictionaries
                  if not (here / "dict" / f"{one}.dict").is_file()]
        if not any((here / "seeds" / target.name).glob("*")):
            found.append(f"tests/fuzz/seeds/{target.name}: no seed")
    named = {file for target in rows.values() for file in target.files}
    found += [f"{what}: no row in tests/fuzz/parsers" for what in unnamed_parsers(root, named)]
    size = seeds.total(here / "seeds")
    if size > seeds.TOTAL_MOST:
        found.append(f"tests/fuzz/seeds: {size} bytes, {seeds.TOTAL_MOST} at most")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
