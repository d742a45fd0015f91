#!/usr/bin/env python3
"""Refuse functions that this project does not use, by the calls in the object files.

Usage: check_symbols.py BUILD          exit 0 clean, 1 findings, 2 no libraries found.
Reads the undefined symbols of every room library in the build folder. The first table is what
is easily used wrongly; the second what a daemon that reads hostile mail must not be able to do.
"""
import pathlib
import subprocess
import sys

NOWHERE = set(
    """strcpy strcat strncpy strncat sprintf vsprintf strtok strtok_r atoi atol atoll gmtime
    localtime ctime asctime rand srand mktemp tmpnam system popen alloca setjmp _setjmp longjmp
    gets""".split()
)
NOT_IN_THE_DAEMON = set(
    """fork vfork execl execle execlp execv execve execvp execvpe fexecve posix_spawn posix_spawnp
    system popen wordexp dlopen""".split()
)
MAY_START_PROGRAMS = {"room_cli", "room_queue"}  # doctor and setup; held mail
JUMPS = {"setjmp", "_setjmp", "longjmp"}
# libpng and libjpeg come back from a damaged picture in no other way (ADR 0096)
MAY_JUMP = {"png.c.o", "jpeg.c.o"}
# before gillnetd serves: `gillnetd -t` opens files as another user, and starts no program; gillnet-reader
MAY_FORK = {"trial.c.o", "pool.c.o"}
MAY_LOAD = {"ocr.c.o"}  # of gillnet-reader, before it serves


def plain(symbol):
    """strcpy for __strcpy_chk@GLIBC_2.3.4 and the like."""
    name = symbol.split("@")[0]
    if name.startswith("__") and name.endswith("_chk"):
        name = name[2:-4]
    return name


def calls(library):
    """(object, function) for each undefined symbol of a static library."""
    text = subprocess.run(
        ["nm", "-A", "--undefined-only", str(library)], check=True, capture_output=True, text=True
    ).stdout
    for line in text.splitlines():
        place, symbol = line.rsplit(maxsplit=1)
        yield place.split(":")[1], plain(symbol)


def main(build):
    libraries = sorted(build.glob("libroom_*.a"))
    if not libraries:
        print(f"{build}: no room libraries; build first", file=sys.stderr)
        return 2
    bad = 0
    for library in libraries:
        room = library.stem[3:]
        refused = NOWHERE | (set() if room in MAY_START_PROGRAMS else NOT_IN_THE_DAEMON)
        for where, name in calls(library):
            is_allowed = (name == "fork" and where in MAY_FORK) or (name == "dlopen" and where in MAY_LOAD) or (
                name in JUMPS and where in MAY_JUMP
            )
            if name in refused and not is_allowed:
                print(f"{room}: {where} calls {name}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")))
