#!/usr/bin/env python3
"""Kill two servers at each call that changes a file while a list goes from one to the other.

Usage: kill.py --pair PROGRAM --kill-at LIBRARY [--every N]

The script of share_pair is run once to count those calls; then, for each N-th of them, in a new
folder: killed before it, started again: the second server must hold a state that was published,
and at the end the same as the first. Prints one JSON line; exit 1 at the first failure.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pair", required=True)
    parser.add_argument("--kill-at", required=True)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    shm = pathlib.Path("/dev/shm")
    base = pathlib.Path(tempfile.mkdtemp(prefix="gillnet-share-",
                                         dir=shm if os.access(shm, os.W_OK) else None))

    def run(folder, **variables):
        folder.mkdir(exist_ok=True)
        environment = dict(os.environ, **variables)
        return subprocess.run([options.pair, folder], env=environment, timeout=120, check=False,
                              stderr=subprocess.PIPE, text=True)

    count = base / "count"
    done = run(base / "whole", LD_PRELOAD=options.kill_at, KILL_COUNT=str(count))
    if done.returncode != 0:
        sys.exit(f"without a kill: {done.stderr}")
    calls = len(count.read_bytes())
    killed = 0
    for at in range(1, calls + 1, options.every):
        folder = base / "killed"
        died = run(folder, LD_PRELOAD=options.kill_at, KILL_AT=str(at))
        if died.returncode == -signal.SIGKILL:
            killed += 1
        elif died.returncode != 0:
            sys.exit(f"call {at} of {calls}: not killed, but {died.stderr}")
        again = run(folder)
        if again.returncode != 0:
            sys.exit(f"killed before call {at} of {calls}: {again.stderr} (folder {folder})")
        shutil.rmtree(folder)
    shutil.rmtree(base)
    print(json.dumps({"calls": calls, "killed": killed}))
    if killed == 0:
        sys.exit("nothing was killed")


if __name__ == "__main__":
    main()
