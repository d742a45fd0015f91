#!/usr/bin/env python3
"""run - runs end-to-end tests: every function test_* of the files named.

    run.py [--mta postfix|sendmail] [--socket unix|inet] [--only NAME] FILE...

A test takes one argument, env, which makes what it needs. Prints one line a test; what a failing
test says follows. Exit status: 0 all passed, 1 some failed (or none was there), 64 usage.
"""

import argparse
import importlib.util
import os
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gillnet  # noqa: E402
import mta  # noqa: E402


class Env:
    """Settings of a test."""

    def __init__(self, kind, socket_kind, slow):
        self.kind = kind
        self.socket_kind = socket_kind
        self.slow = slow

    def gillnet(self, *args, **kwargs):
        return gillnet.Gillnet(self.socket_kind, *args, **kwargs)

    def mta(self, installation=None, **kwargs):
        return mta.KINDS[self.kind](milter=installation and installation.socket, **kwargs)

    def is_postfix(self):
        return self.kind == "postfix"


def load(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(n, f) for n, f in vars(module).items() if n.startswith("test_") and callable(f)]


def run_one(name, function, env):
    start = time.monotonic()
    try:
        function(env)
    except Exception:  # a test may fail in any way; the next one runs
        print("FAILED %s (%.1f s)" % (name, time.monotonic() - start))
        traceback.print_exc(file=sys.stdout)
        return False
    print("ok     %s (%.1f s)" % (name, time.monotonic() - start))
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mta", choices=sorted(mta.KINDS), default="postfix")
    parser.add_argument("--socket", choices=["unix", "inet"], default="unix")
    parser.add_argument("--slow", action="store_true", help="long loops in full")
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    env = Env(arguments.mta, arguments.socket, arguments.slow)
    results = [run_one(name, function, env)
               for path in arguments.files
               for name, function in load(path) if arguments.only in name]
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
