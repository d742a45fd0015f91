#!/bin/bash
# What a reload of 1,000 rules with 1,000 patterns, which have to be compiled, does to the latency of
# mail: pairs of runs in turn, one with a SIGHUP in the middle and one without.
#
#   tests/bench/bench_reload.sh FOLDER [BUILD]     FOLDER: messages, one a file; BUILD: build/release
#
# RATE (100) messages a second start on a schedule for SECONDS_EACH (20), so a late answer counts for
# all that wait behind it. PAIRS (6). Prints one JSON line. Exit status: 0 the median of the pairs'
# p99 ratios is at most 1.10 and no message failed, 1 not, 64 usage. A pair whose reload did not end
# before the mail did counts as well; `late` says how many. Run it on a quiet machine: the kernel
# shares the processor among sessions first (sched_autogroup), so where others are busy the thread
# of idle priority takes from the share of this one.
set -eu -o pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '5,5s/^# *//p' "$0" >&2; exit 64; }
mail=$1
build=${2:-$top/build/release}
bench=$build/tests/bench
pairs=${PAIRS:-6} rate=${RATE:-100} seconds=${SECONDS_EACH:-20}
dir=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null; wait; rm -rf "$dir"' EXIT

cat >"$dir/gillnet.conf" <<CONF
state_dir = "$dir";
socket = "unix:$dir/gillnetd.sock";
log: { level = "info"; };
CONF
"$bench/bench_rules" -p "$mail" >>"$dir/gillnet.conf"

"$build/gillnetd" -f -c "$dir/gillnet.conf" >"$dir/gillnetd.log" 2>&1 &
daemon=$!
for _ in $(seq 3000); do [ -S "$dir/gillnetd.sock" ] && break; sleep 0.02; done
[ -S "$dir/gillnetd.sock" ] || { cat "$dir/gillnetd.log" >&2; exit 1; }

count() { grep -c "event=reload result=ok" "$dir/gillnetd.log" || true; }

play() { # NAME: one run
    "$bench/milterload" -q -d "$mail" -c 8 -w 200 -r "$rate" -n $((rate * seconds)) -p $daemon \
        "unix:$dir/gillnetd.sock" >>"$dir/$1.out" || true
}

play warm
for pair in $(seq "$pairs"); do
    for name in $([ $((pair % 2)) = 0 ] && echo reload still || echo still reload); do
        if [ "$name" = reload ]; then
            before=$(count)
            ( sleep $((seconds / 4)); rm -f "$dir/rules.cache"; kill -HUP $daemon ) &
            timer=$!
            play reload
            wait $timer
            [ "$(count)" -gt "$before" ] || echo "$pair" >>"$dir/late"
            for _ in $(seq 6000); do [ "$(count)" -gt "$before" ] && break; sleep 0.1; done
        else
            play still
        fi
    done
done
hits=$(grep -c "event=rules.*cache=written" "$dir/gillnetd.log" || true)
kill -TERM $daemon
wait $daemon || true
daemon=

python3 - "$dir" "$mail" "$rate" "$seconds" "$hits" <<'PYTHON'
import json, os, re, statistics, sys

folder, mail, rate, seconds, compiled = sys.argv[1:]


def read(name):
    out = {}
    for line in open(f"{folder}/{name}.out", encoding="ascii"):
        for key, value in re.findall(r"(p50|p99|max|errors|cpu) ([\d.]+)", line):
            out.setdefault(key, []).append(float(value))
    return out


still, reload = read("still"), read("reload")
ratios = [round(a / b, 3) for a, b in zip(reload["p99"], still["p99"])]
late = f"{folder}/late"
result = {
    "bench": "reload", "workload": os.path.basename(mail.rstrip("/")), "rate": int(rate),
    "seconds": int(seconds), "pairs": len(ratios), "compiled": int(compiled),
    "late": len(open(late).readlines()) if os.path.exists(late) else 0,
    "p50_ms": statistics.median(still["p50"]), "p50_reload_ms": statistics.median(reload["p50"]),
    "p99_ms": statistics.median(still["p99"]), "p99_reload_ms": statistics.median(reload["p99"]),
    "max_ms": max(still["max"]), "max_reload_ms": max(reload["max"]),
    "ratios": ratios, "ratio": round(statistics.median(ratios), 3),
    "errors": int(sum(still["errors"]) + sum(reload["errors"])),
}
result["ok"] = result["ratio"] <= 1.10 and result["errors"] == 0
print(json.dumps(result))
sys.exit(0 if result["ok"] else 1)
PYTHON
