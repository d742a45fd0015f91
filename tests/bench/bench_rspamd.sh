#!/bin/bash
# Memory of a list of URLs in gillnetd and in rspamd, on the same machine, with the same URLs and
# the same mail: each program runs twice, with one entry and with COUNT (default 1000000), checks
# MESSAGES messages of FOLDER, and what it holds is read then; the difference is the list's.
#
#   tests/bench/bench_rspamd.sh FOLDER [COUNT [BUILD]]     needs contrib/install-deps bench
#
# gillnetd: RssAnon and RssShmem, and what is mapped of the filters (files base.*); pages of the
# exact index in the page cache are told beside it. rspamd (one worker, a multimap of URLs and
# nothing else): the sum over its processes of Pss, so that shared pages count once. Both are asked
# for a listed URL. Prints one JSON line; exit status 0: gillnetd needs at most 3 bytes an entry.
set -eu -o pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '6s/^# *//p' "$0" >&2; exit 64; }
mail=$(realpath "$1") count=${2:-1000000} build=${3:-$top/build/release}
root=$top/build/rspamd/root
messages=${MESSAGES:-100}
[ -x "$root/usr/bin/rspamd" ] || { echo "bench_rspamd: run contrib/install-deps bench" >&2; exit 1; }
dir=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null; wait; rm -rf "$dir"' EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 "$top/tests/bench/gen_urls.py" "$count" 1 >"$dir/all"
head -n 1 "$dir/all" >"$dir/one"
listed=$(cat "$dir/one")
find -L "$mail" -type f | sort | sed -n "1,${messages}p" >"$dir/messages"

await() { # COMMAND...: until it succeeds
    for _ in $(seq 6000); do "$@" 2>/dev/null && return; sleep 0.02; done
    echo "bench_rspamd: $* failed" >&2
    cat "$dir"/*.log >&2
    exit 1
}

# field FILE NAME...: the sum of these fields of a status file, in KiB
field() {
    local file=$1
    shift
    local pattern="^($(IFS='|'; echo "$*")):"
    awk -v pattern="$pattern" '$0 ~ pattern { sum += $2 } END { print sum + 0 }' "$file"
}

# mapped PID PATTERN: KiB resident of mapped files whose path has PATTERN
mapped() {
    awk -v pattern="$2" '/^[0-9a-f]+-[0-9a-f]+ / { is = $0 ~ pattern }
        /^Rss:/ && is { sum += $2 } END { print sum + 0 }' "/proc/$1/smaps"
}

gillnetd() { # LIST: anonymous, filter and index KiB
    local folder=$dir/gillnet.$1
    mkdir -p "$folder"
    cat >"$folder/gillnet.conf" <<CONF
state_dir = "$folder/state";
socket = "unix:$folder/sock";
lists = ( { name = "urls"; weight = 6.0; } );
CONF
    mkdir -m 750 "$folder/state"
    "$build/gillnet" -c "$folder/gillnet.conf" list import urls "$dir/$1" >"$folder/import.log" 2>&1
    "$build/gillnetd" -f -c "$folder/gillnet.conf" >"$dir/gillnetd.log" 2>&1 &
    daemon=$!
    await test -S "$folder/sock"
    "$build/tests/bench/milterload" -q -d "$mail" -n "$messages" "unix:$folder/sock" >"$dir/load.log"
    local pid=$daemon child
    child=$(pgrep -P "$daemon" | head -n 1 || true)
    [ -z "$child" ] || pid=$child
    echo "$(field "/proc/$pid/status" RssAnon RssShmem) $(mapped "$pid" '/base\.')" \
        "$(mapped "$pid" '/index\.')"
    kill -TERM "$daemon"
    wait "$daemon" || true
    daemon=
}

check() { # FILE: rspamd's answer
    curl -sS --data-binary "@$1" "http://127.0.0.1:$port/checkv2"
}

rspamd() { # LIST: Pss of all processes in KiB
    local folder=$dir/rspamd.$1
    mkdir -p "$folder" "$dir/hs"
    echo 'require "global_functions" ()' >"$folder/start.lua"
    cat >"$folder/rspamd.conf" <<CONF
options {
    pidfile = "$folder/pid"; tempdir = "$folder"; filters = ""; history_file = "$folder/history";
    url_tld = "$root/usr/share/rspamd/effective_tld_names.dat"; hs_cache_dir = "$dir/hs";
    dns { nameserver = ["127.0.0.1:$port:1"]; timeout = 0.1; retransmits = 0; }
    control_socket = "$folder/control.sock mode=0600"; rrd = ""; stats_file = "$folder/stats";
}
logging { type = "file"; filename = "$dir/rspamd.log"; level = "info"; }
worker "normal" { bind_socket = "127.0.0.1:$port"; count = 1; }
lua = "$folder/start.lua";
modules { path = "$root/usr/share/rspamd/plugins/multimap.lua"; }
multimap { BENCH_URLS { type = "url"; filter = "full"; map = "file://$dir/$1"; score = 1.0; } }
metric "default" { actions { reject = 100; } }
CONF
    LD_LIBRARY_PATH=$root/usr/lib/rspamd:$root/usr/lib/x86_64-linux-gnu "$root/usr/bin/rspamd" -f -i \
        -c "$folder/rspamd.conf" --var "LUALIBDIR=$root/usr/share/rspamd/lualib" \
        --var "SHAREDIR=$root/usr/share/rspamd" --var "PLUGINSDIR=$root/usr/share/rspamd/plugins" \
        --var "RULESDIR=$root/usr/share/rspamd/rules" --var "DBDIR=$folder" --var "RUNDIR=$folder" \
        --var "CONFDIR=$folder" --var "LOCAL_CONFDIR=$folder" --var "LOGDIR=$folder" \
        --var "TMPDIR=$folder" >"$dir/rspamd.out.log" 2>&1 &
    daemon=$!
    await curl -sSf -o /dev/null "http://127.0.0.1:$port/ping"
    printf 'From: <a@sender.example>\r\nSubject: x\r\n\r\nsee %s here\r\n' \
        "$(head -n 1 "$dir/$1")" >"$dir/listed"
    await has_match
    while read -r file; do
        check "$file" >/dev/null
    done <"$dir/messages"
    local sum=0 pid
    for pid in "$daemon" $(pgrep -P "$daemon"); do
        sum=$((sum + $(field "/proc/$pid/smaps_rollup" Pss)))
    done
    echo "$sum"
    kill -TERM "$daemon"
    wait "$daemon" || true
    daemon=
}

has_match() { check "$dir/listed" | grep -q BENCH_URLS; }

# in this order: what is left in the page cache helps neither
gillnetd one >"$dir/gillnet.before"
gillnetd all >"$dir/gillnet.after"
"$build/gillnet" -c "$dir/gillnet.all/gillnet.conf" lookup --quiet "$listed" >/dev/null && found=0 || found=$?
[ "$found" = 1 ] || { echo "bench_rspamd: gillnet does not find $listed" >&2; exit 1; }
rspamd one >/dev/null # compiles its patterns, which costs memory, and keeps them in a file
rspamd one >"$dir/rspamd.before"
rspamd all >"$dir/rspamd.after"

python3 - "$dir" "$count" "$messages" "$build" <<'PYTHON'
import json
import os
import platform
import sys

folder, count, messages, build = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def read(name):
    with open(f"{folder}/{name}", encoding="ascii") as file:
        return [int(word) * 1024 for word in file.read().split()]


before, after = read("gillnet.before"), read("gillnet.after")
growth = [b - a for a, b in zip(before, after)]
rspamd = read("rspamd.after")[0] - read("rspamd.before")[0]
with open(f"{folder}/all", "rb") as urls:
    mean = os.fstat(urls.fileno()).st_size / count
row = {
    "bench": "rspamd",
    "workload": f"{count} URLs of gen_urls.py, mean {mean:.1f} bytes; {messages} messages",
    "build": os.path.basename(build),
    "machine": f"{platform.machine()} {os.cpu_count()} cpus",
    "entries": count,
    "gillnetd_bytes_per_entry": round((growth[0] + growth[1]) / count, 2),
    "gillnetd_anonymous_mb": round(growth[0] / 1e6, 2),
    "gillnetd_filter_mapped_mb": round(growth[1] / 1e6, 2),
    "gillnetd_index_in_page_cache_mb": round(growth[2] / 1e6, 2),
    "rspamd_bytes_per_entry": round(rspamd / count, 1),
    "rspamd_mb": round(rspamd / 1e6, 1),
}
row["ok"] = row["gillnetd_bytes_per_entry"] <= 3
print(json.dumps(row))
sys.exit(0 if row["ok"] else 1)
PYTHON
