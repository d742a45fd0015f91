#!/bin/sh
# Imports COUNT (default 1000000) generated URLs with GILLNET, looks all of them up and as many
# absent ones, and prints one JSON line. The base of the ratio is sort(1) of the same file, one
# thread, bytes compared, in the same run; each of the two is the median of RUNS (default 3; odd).
# peak_rss_mb: the most that any import held at a time, mapped pages of files included (VmHWM).
# *_per_s of phishtank.csv, phishtank.json and stix.json: the same URLs in these forms, each into a
# new list, once.
# again_*: one more URL into the full list, which goes through all that is there.
# Usage: [RUNS=N] bench_import.sh GILLNET [COUNT]
set -eu
gillnet=$1
count=${2:-1000000}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
now_ms() { echo $(($(date +%s%N) / 1000000)); }
runs=${RUNS:-3}
median() { printf '%s\n' "$@" | sort -n | sed -n $(((runs + 1) / 2))p; }

# import FILE: into the list; its report to $work/import, its peak in KiB to $work/peak
import() {
    python3 - "$work/peak" "$gillnet" -c "$work/conf" --json list import urls "$1" <<'END' >"$work/import"
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
with open(sys.argv[1], "w") as peak:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=peak)
sys.exit(status)
END
}

python3 "$here/gen_urls.py" "$count" 1 >"$work/listed"
python3 "$here/gen_urls.py" "$count" 2 >"$work/absent"
runs_sort=
runs_import=
peak=0
for _ in $(seq "$runs"); do
    start=$(now_ms)
    LC_ALL=C sort --parallel=1 "$work/listed" >"$work/sorted"
    runs_sort="$runs_sort $(($(now_ms) - start))"
    rm -rf "$work/state" "$work/sorted"
    echo "state_dir = \"$work/state\";" >"$work/conf"
    start=$(now_ms)
    import "$work/listed"
    runs_import="$runs_import $(($(now_ms) - start))"
    [ "$(cat "$work/peak")" -le "$peak" ] || peak=$(cat "$work/peak")
done
echo "http://one-more.example/page" >"$work/again"
start=$(now_ms)
import "$work/again"
again_ms=$(($(now_ms) - start))
forms=
for form in phishtank.csv phishtank.json stix.json; do
    python3 "$here/feed_forms.py" "$form" <"$work/listed" >"$work/form"
    echo "state_dir = \"$work/state.$form\";" >"$work/conf.form"
    start=$(now_ms)
    "$gillnet" -c "$work/conf.form" --json list import urls "$work/form" >"$work/import"
    forms="$forms $form=$(($(now_ms) - start))"
    rm -rf "$work/state.$form" "$work/form"
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
    "$listed_ms" "$absent_ms" "$("$gillnet" --version)" "$work/listed" "$peak" "$again_ms" \
    "$(cat "$work/peak")" "$forms" <<'END'
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
    **{f"{form}_per_s": round(count * 1000 / int(ms))
       for form, ms in (word.split("=") for word in sys.argv[13].split())},
    "sort_ms": sort_ms,
    "times_sort": round(import_ms / sort_ms, 2),
    "peak_rss_mb": round(int(sys.argv[10]) / 1024, 1),
    "again_ms": int(sys.argv[11]),
    "again_peak_rss_mb": round(int(sys.argv[12]) / 1024, 1),
    "false_negatives": count - listed["listed"],
    "absent_found": absent["listed"] + absent["other"],
    "lookup_listed_per_s": round(count * 1000 / int(sys.argv[6])),
    "lookup_absent_per_s": round(count * 1000 / int(sys.argv[7])),
}))
END
