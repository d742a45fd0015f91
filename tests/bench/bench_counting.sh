#!/bin/bash
# What counting costs in gillnetd: the same messages with counting off and on, rounds in turn, over a
# Unix socket with 8 connections; the median of the CPU time per message of each.
#
#   tests/bench/bench_counting.sh FOLDER [BUILD]     FOLDER: messages, one a file; BUILD: build/release
#
# Both run all the while; a first round, in which memory is touched for the first time and tables grow, is
# not measured. The running bucket has far more messages than a site of MESSAGES_PER_DAY sees in ten minutes.
# Prints a JSON line for each and one with the ratio. Exit status: 0 when counting costs at most 1.3
# times the CPU and nothing failed, 1 otherwise, 64 usage. ROUNDS (5), MESSAGES_PER_DAY (10000) and RULES
# (empty: those of a site that configures none) are taken from the environment.
set -eu -o pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '5s/^# *//p' "$0" >&2; exit 64; }
mail=$1
build=${2:-$top/build/release}
bench=$build/tests/bench
rounds=${ROUNDS:-5} connections=8 per_day=${MESSAGES_PER_DAY:-10000}
dir=$(mktemp -d)
declare -A pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$dir"' EXIT

for i in $(seq 500); do
    echo "http://absent-$i.example/path/$i"
    echo "listed-$i.example"
done >"$dir/list.txt"
for kind in off on; do
    mkdir "$dir/$kind"
    size=0
    [ $kind = off ] || size=$per_day
    cat >"$dir/$kind.conf" <<CONF
state_dir = "$dir/$kind";
socket = "unix:$dir/$kind.sock";
log: { level = "info"; };
lists = ( { name = "phish"; weight = 6.0; } );
count = { messages_per_day = $size; };
${RULES:-}
CONF
    "$build/gillnet" list import phish "$dir/list.txt" -c "$dir/$kind.conf" >/dev/null
done

await() { # until the socket is there
    for _ in $(seq 500); do [ -S "$1" ] && return; sleep 0.02; done
    echo "bench_counting: no socket $1" >&2
    cat "$dir"/*.log >&2
    exit 1
}

launch() { # KIND
    "$build/gillnetd" -f -c "$dir/$1.conf" >"$dir/$1.log" 2>&1 &
    pids[$1]=$!
    await "$dir/$1.sock"
}

play() { # KIND RESULTS: one round
    "$bench/milterload" -q -d "$mail" -c $connections -w 500 -p "${pids[$1]}" "unix:$dir/$1.sock" \
        >>"$dir/$2" || true
}

for kind in off on; do
    launch $kind
    play $kind warm-up
done
for _ in $(seq "$rounds"); do
    play off off.out
    play on on.out
done
for kind in off on; do
    kill -TERM "${pids[$kind]}"
    wait "${pids[$kind]}" || true
done
pids=()
"$build/gillnet" -c "$dir/on.conf" --json count stat >"$dir/stat.json"

python3 - "$dir" "$mail" "$rounds" "$connections" "$build" "$per_day" <<'PYTHON'
import json, os, platform, re, statistics, sys

folder, mail, rounds, connections, build, per_day = sys.argv[1:]


def read(name):
    out = {}
    for line in open(f"{folder}/{name}.out", encoding="ascii"):
        for key, value in re.findall(r"(msgs/s|p50|p99|max|errors|cpu|peak|rss) ([\d.]+)", line):
            out.setdefault(key, []).append(float(value))
    return out


median = statistics.median
cpu = [next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))]
runs = {kind: read(kind) for kind in ("off", "on")}
about = {"workload": os.path.basename(mail.rstrip("/")), "rounds": int(rounds),
         "connections": int(connections), "build": os.path.basename(build),
         "machine": f"{cpu[0]}, {os.cpu_count()} cores, {platform.release()}"}
for kind, r in runs.items():
    print(json.dumps({"bench": "counting", "case": kind, "cpu_ms": median(r["cpu"]),
                      "cpu_ms_least": min(r["cpu"]), "msgs_s": median(r["msgs/s"]),
                      "p99_ms": median(r["p99"]), "rss_mb": max(r["rss"]),
                      "errors": int(sum(r["errors"])), **about}))
stat = json.load(open(f"{folder}/stat.json", encoding="utf-8"))
ratio = round(median(runs["on"]["cpu"]) / median(runs["off"]["cpu"]), 3)
errors = int(sum(runs["off"]["errors"]) + sum(runs["on"]["errors"]))
ok = ratio <= 1.3 and errors == 0 and stat["messages"] > 0
print(json.dumps({"bench": "counting", "case": "ratio", "cpu_ratio": ratio,
                  "messages_per_day": int(per_day), "messages_counted": stat["messages"],
                  "keys_counted": stat["keys"], "ok": ok, **about}))
sys.exit(0 if ok else 1)
PYTHON
