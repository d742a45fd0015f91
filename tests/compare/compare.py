#!/usr/bin/env python3
"""compare - gillnet, rspamd and SpamAssassin on the same mail; contrib/compare prepares and calls it.

Usage: compare.py [--quick] [--out FOLDER] [--from FILE.json]

  --quick      little mail and short lists, for a try; the figures mean little
  --out FOLDER where compare.md, compare/*.svg go (default contrib/doc)
  --from FILE  write the page of an earlier run again

Exit status: 0 done, 1 a target of the full run was missed or gillnet is behind in a row of speed or memory,
2 the comparison could not be made.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TOP, "tests/e2e"), HERE]
import catch  # noqa: E402
import lists  # noqa: E402
import mail  # noqa: E402
import page  # noqa: E402
import proc  # noqa: E402
import speed  # noqa: E402

FULL = {"messages": 300, "rounds": 3, "train": 300, "test": 150, "sizes": [1_000_000, 10_000_000], "changes": 3, "most_rounds": 4}
QUICK = {"messages": 24, "rounds": 1, "train": 20, "test": 6, "sizes": [10_000, 20_000], "changes": 1, "most_rounds": 1}


class Options:
    """Sizes of a run."""

    def __init__(self, values):
        self.__dict__.update(values)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) // (1 << 20)
    with open("/etc/debian_version", encoding="ascii") as file:
        debian = file.read().strip()
    return "%s, %d cores, %d GiB, Linux %s, Debian %s" % (model, os.cpu_count(), memory, platform.release(), debian)


def commit():
    run = subprocess.run(["git", "-C", TOP, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return run.stdout.decode().strip() or "unknown"


def measure(options):
    begun = time.monotonic()

    def step(name, function, *args):
        print("compare: %s (%d s so far)" % (name, time.monotonic() - begun), flush=True)
        return function(*args)

    folder = proc.scratch("compare")
    traffic = mail.traffic(options.messages)
    played = os.path.join(folder, "traffic")
    mail.write_copies(traffic, played)
    result = {"machine": machine(), "commit": commit(), "date": datetime.date.today().isoformat(), "cores": os.cpu_count(),
              "connections": speed.CONNECTIONS, "messages": options.messages, "rounds": options.rounds, "sizes": options.sizes}
    result["speed"] = step("speed", speed.measure, options, traffic, played)
    result["changes"] = step("changes of lists", lists.changes, options.changes, played, os.path.join(folder, "changes"))
    result["lists"] = step("long lists", lists.memory, options.sizes, played, os.path.join(folder, "lists"))
    result["catch"] = step("catch", catch.measure, options)
    result["versions"] = result["speed"].pop("versions")
    result["seconds"] = time.monotonic() - begun
    return json.loads(json.dumps(result))  # keys as they are read from a file


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_page(result, out):
    rows = page.plain_rows(result)
    for name, picture in page.pictures(result, rows).items():
        write(os.path.join(out, "compare", name), picture)
    write(os.path.join(out, "compare.md"), page.text(result))
    print(page.speed_table(rows), page.catch_table(result["catch"]), sep="\n\n")
    return page.missed(rows), page.behind(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", default=os.path.join(TOP, "contrib/doc"))
    parser.add_argument("--from", dest="earlier")
    arguments = parser.parse_args()
    if arguments.earlier:
        with open(arguments.earlier, encoding="utf-8") as file:
            result = json.load(file)
    else:
        try:
            result = measure(Options(QUICK if arguments.quick else FULL))
        except (proc.SetupError, lists.NotListed) as why:
            print("compare: %s" % why, file=sys.stderr)
            return 2
        write(os.path.join(proc.BUILD, "compare.json"), json.dumps(result, indent=1) + "\n")
    missed, behind = write_page(result, arguments.out)
    print("", *["missed: " + line for line in missed], *["behind: " + line for line in behind],
          "%d minutes; the page is %s/compare.md" % (result["seconds"] / 60, os.path.relpath(arguments.out)), sep="\n")
    return 1 if (missed or behind) and not arguments.quick else 0


if __name__ == "__main__":
    sys.exit(main())
