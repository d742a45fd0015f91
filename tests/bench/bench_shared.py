#!/usr/bin/env python3
"""Counts through the hub's code into one server of Redis, beside redis-benchmark's INCR in the same run; memory a
counter; traffic of a host.

Usage: bench_shared.py [speed|memory|traffic...]     prints one JSON line each. Needs contrib/install-deps test.
"""
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integ/redis"))
from servers import ENV, REDIS, Folder  # noqa: E402

BENCH = ROOT / "build/release/tests/bench/bench_shared"
DAY_S = 86400


def info(redis, section, name):
    return float(next(line.split(":")[1] for line in redis.command("INFO", section).splitlines()
                      if line.startswith(name + ":")))


def cpu(redis):
    return info(redis, "cpu", "used_cpu_user") + info(redis, "cpu", "used_cpu_sys")


def run(redis, *args):
    before = cpu(redis)
    out = subprocess.run([BENCH, args[0], f"127.0.0.1:{redis.port}", *map(str, args[1:])], check=True,
                         capture_output=True, text=True).stdout
    return {**json.loads(out), "redis_cpu_s": round(cpu(redis) - before, 2)}


def incr(redis):
    out = subprocess.run([REDIS / "bin/redis-benchmark", "-p", str(redis.port), "-t", "incr", "-r", "1000000", "-n", "4000000",
                          "-P", "500", "-c", "4", "--csv"], env=ENV, check=True, capture_output=True, text=True).stdout
    return float(out.splitlines()[-1].split(",")[1].strip('"'))


def speed(redis):
    rows = {}
    for name, share in (("uniform", 0), ("half_of_one_key", 50)):
        redis.command("FLUSHALL")
        rows[name] = run(redis, "speed", share)
        rows[name]["updates_per_redis_cpu_s"] = round(rows[name]["batches"] and
                                                      rows[name]["updates_per_s"] * rows[name]["seconds"]
                                                      / rows[name]["redis_cpu_s"])
    redis.command("FLUSHALL")
    return {**rows, "incr_per_s": incr(redis), "skew": round(rows["half_of_one_key"]["increments_per_s"]
                                                             / rows["uniform"]["increments_per_s"], 2)}


def counters(redis):
    """Fields of all parts."""
    script = ("local n = 0 for _, k in ipairs(redis.call('KEYS', '*:*:*:*')) do n = n + redis.call('HLEN', k) - 1 end "
              "return n")
    return int(redis.command("EVAL", script, 0))


def memory(redis):
    rows = {}
    for messages in (1000000, 50000000):
        redis.command("FLUSHALL")
        before = info(redis, "memory", "used_memory_dataset")
        empty = info(redis, "memory", "used_memory")
        rows[messages] = run(redis, "memory", messages)
        n = counters(redis)
        rows[messages]["counters"] = n
        rows[messages]["bytes_a_counter"] = round((info(redis, "memory", "used_memory") - empty) / n, 2)
        rows[messages]["bytes_a_counter_dataset"] = round((info(redis, "memory", "used_memory_dataset") - before) / n, 2)
    return rows


def calls(redis, name):
    row = next((line for line in redis.command("INFO", "commandstats").splitlines()
                if line.startswith(f"cmdstat_{name}:")), "calls=0,")
    return int(row.split("calls=")[1].split(",")[0])


def look(redis):
    """Bytes in and out, and pairs: each is counted in its bucket and its day."""
    return [*(info(redis, "stats", f"total_net_{w}_bytes") for w in ("input", "output")), calls(redis, "hincrby") / 2]


def wait_for_openings(redis, bench):
    """The parts of a day and of its first bucket are made in the first seconds."""
    size = -1
    while (now := int(redis.command("DBSIZE"))) != size or calls(redis, "exists") == 0:
        size = now
        time.sleep(3)
        assert bench.poll() is None, "too short: it was over before the openings"
    return look(redis)


def traffic(redis):
    """What a host sends and gets in a day, from the bytes of a pair once the day is open; the opening is a row of its own."""
    rows = {}
    for hosts, seconds in ((3, 3000), (50, 200)):
        redis.command("FLUSHALL")
        redis.command("CONFIG", "RESETSTAT")
        with subprocess.Popen([BENCH, "traffic", f"127.0.0.1:{redis.port}", str(hosts), str(seconds)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as bench:
            opened = wait_for_openings(redis, bench)
            row = json.loads(bench.communicate()[0])
        out, back, pairs = (z - a for a, z in zip(opened, look(redis)))
        a_day = row["pairs"] / hosts / seconds * DAY_S
        rows[hosts] = {**row, "bytes_a_pair": round((out + back) / pairs, 1), "pairs_a_day_and_host": round(a_day),
                       "mb_a_day_and_host": round((out + back) / pairs * a_day / 1e6),
                       "mb_of_the_opening": round(sum(opened[:2]) / hosts / 1e6, 1)}
    rows["ratio"] = round(rows[50]["mb_a_day_and_host"] / rows[3]["mb_a_day_and_host"], 3)
    return rows


def main(names):
    with Folder() as folder:
        for name in names or ["speed", "memory", "traffic"]:
            redis = folder.redis().wait()
            print(json.dumps({"bench": name, **globals()[name](redis)}), flush=True)
            redis.kill()


if __name__ == "__main__":
    main(sys.argv[1:])
