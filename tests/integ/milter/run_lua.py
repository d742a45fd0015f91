"""run_lua.py MILTERTEST SCRIPT: starts gillnetd, runs one miltertest script against it."""
import subprocess
import sys

from daemon import Daemon


def main():
    with Daemon("", lists={"phish": ["http://evil.example/x"]}) as d:
        p = subprocess.run([sys.argv[1], "-D", f"socket={d.target}", "-s", sys.argv[2]],
                           capture_output=True, text=True, timeout=100)
        print(p.stdout, p.stderr)
        if p.returncode != 0:
            print(d.log())
            raise SystemExit(p.returncode)


main()
