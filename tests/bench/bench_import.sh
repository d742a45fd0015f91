#!/bin/sh
# Imports COUNT (default 1000000) generated URLs with GILLNET, looks all of them up and as many
# absent ones, and prints one JSON line. The base of the ratio is sort(1) of the same file, one
# thread, bytes compared, in the same run; each of the two is the median of three.
# Usage: bench_import.sh GILLNET [COUNT]
set -eu
gillnet=$1
count=${2:-1000000}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
now_ms() { echo $(($(date +%s%N) / 1000000)); }
median() { printf '%s\n' "$@" | sort -n | sed -n 2p; }

python3 "$here/gen_urls.py" "$count" 1 >"$work/listed"
python3 "$here/gen_urls.py" "$count" 2 >"$work/absent"
runs_sort=
runs_import=
for run in 1 2 3; do
    start=$(now_ms)
    LC_ALL=C sort --parallel=1 "$work/listed" >"$work/sorted"
    runs_sort="$runs_sort $(($(now_ms) - start))"
    rm -rf "$work/state" "$work/sorted"
    echo "state_dir = \"$work/state\";" >"$work/conf"
    start=$(now_ms)
    "$gillnet" -c "$work/conf" --json list import urls "$work/listed" >"$work/import" 2>&1
    runs_import="$runs_import $(($(now_ms) - start))"
done
# exit 1 of lookup: something is listed
start=$(now_ms)
listed=$("$gillnet" -c "$work/conf" --json lookup --quiet --file "$work/listed") || [ $? -eq 1 ]
listed_ms=$(($(now_ms) - start))
start=$(now_ms)
absent=$("$gillnet" -c "$work/conf" --json lookup --quiet --file "$work/absent") || [ $? -eq 1 ]
absent_ms=$(($(now_ms) - start))

# shellcheck disable=SC2086
python3 - "$count" "$(median $runs_sort)" "$(median $runs_import)" "$listed" "$absent" \
    "$listed_ms" "$absent_ms" "$("$gillnet" --version)" "$work/listed" <<'END'
import json
import os
import platform
import sys

count, sort_ms, import_ms = map(int, sys.argv[1:4])
listed, absent = json.loads(sys.argv[4]), json.loads(sys.argv[5])
print(json.dumps({
    "bench": "import",
    "workload": f"{count} URLs of gen_urls.py, mean {os.path.getsize(sys.argv[9]) / count:.1f} bytes",
    "build": sys.argv[8],
    "machine": f"{platform.machine()} {os.cpu_count()} cpus, load {os.getloadavg()[0]:.1f}",
    "lines_per_s": round(count * 1000 / import_ms),
    "import_ms": import_ms,
    "sort_ms": sort_ms,
    "times_sort": round(import_ms / sort_ms, 2),
    "false_negatives": count - listed["listed"],
    "absent_found": absent["listed"] + absent["other"],
    "lookup_listed_per_s": round(count * 1000 / int(sys.argv[6])),
    "lookup_absent_per_s": round(count * 1000 / int(sys.argv[7])),
}))
END
