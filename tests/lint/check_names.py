#!/usr/bin/env python3
"""Refuse names that say too little to be found.

Usage: check_names.py [ROOT]           exit 0 clean, 1 findings, 2 bad tree.
In core and milter: a static function's name stands in at most three files, a file's name in one
(main.c apart), and no line of a comment is longer than 100 columns.
"""
import collections
import pathlib
import re
import sys

FILES_MAX = 3
COLUMNS_MAX = 100
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STATIC = re.compile(r"^static\b[^;={()]*?\b(\w+)\([^;{]*\)\s*\{", re.M)


def main(root):
    found = []
    functions, leaves = collections.defaultdict(set), collections.defaultdict(list)
    paths = sorted(p for room in ("core", "milter") for p in (root / room).rglob("*.[ch]"))
    for path in paths:
        where = str(path.relative_to(root))
        text = path.read_text()
        leaves[path.name].append(where)
        for name in STATIC.findall(COMMENT.sub("", text)):
            functions[name].add(where)
        for comment in COMMENT.finditer(text):
            first = text.count("\n", 0, comment.start()) + 1
            begin = text.rfind("\n", 0, comment.start()) + 1
            for i, line in enumerate(text[begin:comment.end()].split("\n")):
                if len(line) > COLUMNS_MAX:
                    found.append(f"{where}:{first + i}: {len(line)} columns; a comment has at most {COLUMNS_MAX}")
    for name, where in sorted(functions.items()):
        if len(where) > FILES_MAX:
            found.append(f"static {name}() stands in {len(where)} files; say what it does to what: "
                         + " ".join(sorted(where)))
    for name, where in sorted(leaves.items()):
        if len(where) > 1 and name != "main.c":
            found.append(f"{name} stands in several rooms: {' '.join(where)}")
    print("\n".join(found), end="\n" if found else "")
    if not paths:
        print(f"{root}: no C files", file=sys.stderr)
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
