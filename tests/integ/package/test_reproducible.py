#!/usr/bin/env python3
"""contrib/package makes the same bytes twice: in other folders, at another time, in another zone and language."""

import filecmp
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e"))
import proc  # noqa: E402


def build(name, **env):
    folder = proc.scratch(name, "/var/tmp")
    to = os.path.join(folder, "to")
    subprocess.run([os.path.join(proc.TOP, "contrib/package"), "--to", to], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "TMPDIR": folder, **env})
    return to


def main():
    first = build("first", TZ="UTC", LC_ALL="C")
    # no cache of compiled files: it would give back the first ones
    second = build("the-second-one", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", CCACHE_DISABLE="1")
    names = sorted(os.listdir(first))
    assert names == sorted(os.listdir(second)) and len(names) == 6, names
    _, differ, errors = filecmp.cmpfiles(first, second, names, shallow=False)
    assert not differ and not errors, (differ, errors)
    print("ok     %d packages, equal" % len(names))


if __name__ == "__main__":
    main()
