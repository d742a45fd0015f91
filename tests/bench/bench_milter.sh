#!/bin/bash
# What gillnetd costs beside a milter that does nothing: the same messages, a Unix socket, 8
# connections, replies suppressed in both, three rounds in turn, the median of each.
#
#   tests/bench/bench_milter.sh FOLDER [BUILD]     FOLDER: messages, one a file; BUILD: build/release
#
# Prints one JSON line. Exit status: 0 within the limits (CPU ratio 4, p99 20 ms, no error), 1 not,
# 64 usage. The lists hold 1,000 URLs and domains that no message has, and those of LIST where the
# environment names such a file.
set -eu -o pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '5,6s/^# *//p' "$0" >&2; exit 64; }
mail=$1
build=${2:-$top/build/release}
bench=$build/tests/bench
rounds=${ROUNDS:-3} connections=8
dir=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null; wait; rm -rf "$dir"' EXIT

cat >"$dir/gillnet.conf" <<CONF
state_dir = "$dir";
socket = "unix:$dir/gillnetd.sock";
log: { level = "info"; };
lists = ( { name = "phish"; weight = 6.0; } );
CONF
for i in $(seq 500); do
    echo "http://absent-$i.example/path/$i"
    echo "listed-$i.example"
done >"$dir/list.txt"
"$build/gillnet" list import phish "$dir/list.txt" -c "$dir/gillnet.conf" >"$dir/import.log" 2>&1
if [ -n "${LIST:-}" ]; then
    "$build/gillnet" list import phish "$LIST" -c "$dir/gillnet.conf" >>"$dir/import.log" 2>&1
fi

await() { # until the socket is there
    for _ in $(seq 500); do [ -S "$1" ] && return; sleep 0.02; done
    echo "bench_milter: no socket $1" >&2
    cat "$dir"/*.log >&2
    exit 1
}

play() { # NAME SOCKET COMMAND...: one round against a fresh program
    local name=$1 socket=$2
    shift 2
    rm -f "$socket"
    "$@" >"$dir/$name.log" 2>&1 &
    daemon=$!
    await "$socket"
    "$bench/milterload" -q -d "$mail" -c $connections -w 500 -p $daemon "unix:$socket" \
        >>"$dir/$name.out" || true
    kill -TERM $daemon
    wait $daemon || true
    daemon=
}

for _ in $(seq "$rounds"); do
    NOHDR=1 play noop "$dir/noop.sock" "$bench/noop" "local:$dir/noop.sock" nr
    play gillnetd "$dir/gillnetd.sock" "$build/gillnetd" -f -c "$dir/gillnet.conf"
done

python3 - "$dir" "$mail" "$rounds" "$connections" "$build" <<'PYTHON'
import json, os, platform, re, statistics, sys

folder, mail, rounds, connections, build = sys.argv[1:]


def read(name):
    out = {}
    for line in open(f"{folder}/{name}.out", encoding="ascii"):
        for key, value in re.findall(r"(msgs/s|p50|p99|max|errors|cpu|peak|rss) ([\d.]+)", line):
            out.setdefault(key, []).append(float(value))
    return out


noop, ours = read("noop"), read("gillnetd")
median = statistics.median
cpu = [next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))]
result = {
    "bench": "milter", "workload": os.path.basename(mail.rstrip("/")), "rounds": int(rounds),
    "connections": int(connections), "build": os.path.basename(build),
    "noop_cpu_ms": median(noop["cpu"]), "gillnetd_cpu_ms": median(ours["cpu"]),
    "cpu_ratio": round(median(ours["cpu"]) / median(noop["cpu"]), 2),
    "noop_msgs_s": median(noop["msgs/s"]), "gillnetd_msgs_s": median(ours["msgs/s"]),
    "p50_ms": median(ours["p50"]), "p99_ms": median(ours["p99"]), "max_ms": max(ours["max"]),
    "errors": int(sum(ours["errors"]) + sum(noop["errors"])), "rss_mb": max(ours["rss"]),
    "machine": f"{cpu[0]}, {os.cpu_count()} cores, {platform.release()}",
}
result["ok"] = result["cpu_ratio"] <= 4 and result["p99_ms"] < 20 and result["errors"] == 0
print(json.dumps(result))
sys.exit(0 if result["ok"] else 1)
PYTHON
