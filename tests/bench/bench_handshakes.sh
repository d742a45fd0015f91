#!/bin/bash
# What 1,000 bad handshakes a second at the hub do to gillnetd's latency: the same mail at a fixed rate, while the
# flood goes to the hub, and while it goes to a program that only takes and closes connections (so that what the
# flood itself costs this machine is not laid to the hub). Rounds in turn, the median of each.
#
#   tests/bench/bench_handshakes.sh FOLDER [BUILD]     FOLDER: messages, one a file; BUILD: build/release
#
# Prints one JSON line. Exit status: 0 p99 with the hub at most 1.10 of that without, 1 not, 2 the flood did not
# reach 950 a second in every round (the machine is busy), 64 usage. The hub runs at nice 5 as in its unit; the unit's
# CPUWeight=20 against gillnetd's 100, which is about nice 7, is not imitated: there it gets less than here. The flood comes from
# 1,000 loopback addresses; half of it are a ClientHello and silence, half whole handshakes with a stranger's certificate.
set -eu -o pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '6s/^# *//p' "$0" >&2; exit 64; }
mail=$1
build=${2:-$top/build/release}
rounds=${ROUNDS:-5} rate=${RATE:-200} messages=${MESSAGES:-2000} port=${PORT:-18894}
dir=$(mktemp -d)
daemon='' hub='' sink='' flood=''
trap 'for p in $flood $sink $hub $daemon; do kill "$p" 2>/dev/null; done; wait; rm -rf "$dir"' EXIT

printf 'state_dir = "%s";\nsocket = "unix:%s/gillnetd.sock";\n' "$dir/state" "$dir" >"$dir/gillnet.conf"
"$build/gillnet" -c "$dir/gillnet.conf" peer ring create --name one --address "127.0.0.1:$port" >"$dir/create.log"
"$build/gillnetd" -f -c "$dir/gillnet.conf" >"$dir/gillnetd.log" 2>&1 &
daemon=$!
nice -n 5 "$build/gillnet-hub" -f -c "$dir/gillnet.conf" >"$dir/hub.log" 2>&1 & # as its unit does
hub=$!
openssl req -x509 -newkey ed25519 -nodes -keyout "$dir/key" -out "$dir/cert" -days 1 -subj /CN=stranger 2>/dev/null

cat >"$dir/flood.py" <<'PY'
"""flood.py PORT CERT KEY OUT: 1,000 handshakes a second, a quarter each of four processes, until SIGTERM; what is not
done in time is made up for. Each appends how many a second it began to OUT."""
import itertools, os, signal, socket, ssl, sys, time
port = int(sys.argv[1])
ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
ctx.load_cert_chain(sys.argv[2], sys.argv[3])
hello_in, hello_out = ssl.MemoryBIO(), ssl.MemoryBIO()
part, children = 0, []
for part in range(1, 4):
    pid = os.fork()
    if pid == 0:
        children = []
        break
    children.append(pid)
else:
    part = 0


ends = False  # no exception: one that is raised while Python frees something is lost


def on_term(number, frame):
    global ends
    ends = True
    for pid in children:
        os.kill(pid, signal.SIGTERM)


signal.signal(signal.SIGTERM, on_term)
half = ctx.wrap_bio(hello_in, hello_out)
try:
    half.do_handshake()
except ssl.SSLWantReadError:
    hello = hello_out.read()
begun = time.monotonic()
open_ones = []
for i in itertools.count(part, 4):
    if ends:
        break
    s = socket.socket()
    s.setblocking(False)
    try:
        s.bind((f"127.0.{i // 250 % 4}.{i % 250 + 2}", 0))
        s.connect_ex(("127.0.0.1", port))
        open_ones.append(s)
        if len(open_ones) > 25:
            old = open_ones.pop(0)
            try:
                if i // 4 % 2:
                    old.send(hello)
                else:
                    old.settimeout(0.02)
                    t = ctx.wrap_socket(old)
                    t.send(b"GET / HTTP/1.1\r\n\r\n")
                    t.close()
            except OSError:
                pass
            old.close()
    except OSError:
        s.close()
    wait = begun + i / 1000 - time.monotonic()
    if wait > 0:
        time.sleep(wait)
with open(sys.argv[4], "a") as f:
    f.write(f"{(i - part) / 4 / (time.monotonic() - begun)}\n")
for pid in children:
    os.waitpid(pid, 0)
PY
cat >"$dir/sink.py" <<'PY'
import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(128)
while True:
    s.accept()[0].close()
PY
nice -n 5 python3 "$dir/sink.py" $((port + 1)) &
sink=$!
for _ in $(seq 500); do [ -S "$dir/gillnetd.sock" ] && [ -S "$dir/state/peers/hub.ctl" ] && break; sleep 0.02; done

p99() { # PORT ROUND: of the mail while the flood goes there
    nice -n 10 python3 "$dir/flood.py" "$1" "$dir/cert" "$dir/key" "$dir/rate.$1.$2" &
    flood=$!
    "$build/tests/bench/milterload" -q -d "$mail" -c 8 -n "$messages" -r "$rate" -w 200 "unix:$dir/gillnetd.sock" \
        >"$dir/out"
    kill $flood
    wait $flood 2>/dev/null || true
    flood=''
    sed -n 's/.* p99 \([0-9.]*\) .*/\1/p' "$dir/out"
}

for i in $(seq "$rounds"); do
    p99 $((port + 1)) "$i" >>"$dir/without"
    p99 "$port" "$i" >>"$dir/with"
done
reached=$(for i in $(seq "$rounds"); do awk '{ n += $1 } END { print n }' "$dir/rate.$port.$i"; done | sort -n | head -1)
stat() { python3 - "$dir/state/peers/hub.ctl" "$1" <<'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"stat\n")
print(next(x.split()[1] for x in s.makefile() if x.startswith(sys.argv[2] + " ")))
PY
}
accepted=$(stat connections) refused=$(stat connections_refused) handshakes=$(stat handshakes_refused)
python3 - "$dir/without" "$dir/with" "$accepted" "$refused" "$handshakes" "$rate" "$messages" "$reached" <<'PY'
import json, os, statistics, sys
without, flooded = (statistics.median(map(float, open(f))) for f in sys.argv[1:3])
ratio = flooded / without
print(json.dumps({"bench": "handshakes", "p99_ms_without": without, "p99_ms_with": flooded, "ratio": round(ratio, 3),
                  "connections": int(sys.argv[3]), "refused_before_tls": int(sys.argv[4]),
                  "handshakes_refused": int(sys.argv[5]), "messages_s": int(sys.argv[6]),
                  "messages": int(sys.argv[7]), "flood_s": round(float(sys.argv[8])), "cpus": os.cpu_count()}))
sys.exit(2 if float(sys.argv[8]) < 950 else ratio > 1.10)
PY
