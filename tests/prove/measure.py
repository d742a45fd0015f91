"""Memory, descriptors, threads and latency, every few seconds into a file; and whether they stayed flat."""
import collections
import json
import os
import statistics
import time

WARM_S = 3600  # memory may grow in the first hour
LEAST_S = 1800  # is measured behind it before a slope is judged, and at all before descriptors and cost are
SLOPE_MAX = 1.0  # MB an hour
SPARE = 8  # descriptors and threads
STREAMS_OPEN = 64  # .stream files that a hub may hold open: SYNC_WRITERS_MAX
LATENCY_TIMES, LATENCY_MORE_S = 3, 0.05
CPU_TIMES = 2  # for a message
CALM = 0.5  # share of the processors that everything but gillnet may take while latency is judged
LEAST_CALM = 10  # samples
TICKS = os.sysconf("SC_CLK_TCK")


def descriptors(pid):
    """Open descriptors of a process."""
    folder, streams, others = f"/proc/{pid}/fd", 0, 0
    for name in os.listdir(folder):
        try:
            is_stream = os.readlink(f"{folder}/{name}").endswith(".stream")
        except FileNotFoundError:  # closed meanwhile
            continue
        streams += is_stream
        others += not is_stream
    return others + max(0, streams - STREAMS_OPEN)


def of_process(pid):
    """None: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            status = dict(line.split(":", 1) for line in file if ":" in line)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            numbers = file.read().rpartition(")")[2].split()
        return {"pid": pid, "cpu_s": (int(numbers[11]) + int(numbers[12])) / TICKS,
                "rss": int(status["VmRSS"].split()[0]), "anon": int(status["RssAnon"].split()[0]),
                "threads": int(status["Threads"]), "fds": descriptors(pid)}
    except (OSError, KeyError):
        return None


def processors():
    """(seconds that all processors worked, seconds that they had) since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / TICKS, sum(ticks) / TICKS


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Meter:
    def __init__(self, path, number):
        self.path, self.slice, self.begun = path, number, time.monotonic()
        self.worked, self.had = processors()
        self.last = {}  # pid -> its cpu_s

    def others(self, rows):
        """Share of the processors that everything but these processes took since the last call."""
        own = sum(row["cpu_s"] - self.last.get(row["pid"], 0) for row in rows)
        (worked, had), before = processors(), (self.worked, self.had)
        self.worked, self.had, self.last = worked, had, {row["pid"]: row["cpu_s"] for row in rows}
        return round((worked - before[0] - own) / max(had - before[1], 1 / TICKS), 2)

    def sample(self, processes, latencies, queued):
        found = {name: of_process(pid) for name, pid in processes.items()}
        times = collections.defaultdict(list)
        for time_of_day, seconds in latencies:
            times[time_of_day].append(round(seconds, 4))
        rows = {name: row for name, row in found.items() if row}
        line = {"slice": self.slice, "t": round(time.monotonic() - self.begun, 1), "queued": queued, "processes": rows,
                "others": self.others(rows.values()), "latency": times}
        with open(self.path, "a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")


def read(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def series(samples):
    """{(slice, process): [(t, row)]} of the longest time that one process lived in a slice."""
    lives = collections.defaultdict(list)
    for sample in samples:
        for name, row in sample["processes"].items():
            lives[sample["slice"], name, row["pid"]].append((sample["t"], row))
    longest = {}
    for (number, name, _), rows in lives.items():
        if len(rows) > len(longest.get((number, name), ())):
            longest[number, name] = rows
    return longest


def slope(rows, key="anon"):
    """(MB an hour, whether it may be judged) behind the warm-up; of a short run the second half."""
    whole = rows[-1][0] - rows[0][0]
    warm = rows[0][0] + (WARM_S if whole >= WARM_S + LEAST_S else whole / 2)
    late = [(t / 3600, row[key] / 1024) for t, row in rows if t >= warm]
    if len(late) < 3:
        return 0.0, False
    return statistics.linear_regression(*zip(*late)).slope, whole >= WARM_S + LEAST_S


def memory(samples):
    """(tried, what grew too fast, note)."""
    over, notes, judged = [], [], 0
    for (number, name), rows in sorted(series(samples).items()):
        value, is_judged = slope(rows)
        judged += is_judged
        notes.append(f"{name} {rows[-1][1]['anon'] / 1024:.0f} MB {value:+.1f} MB/h"
                     + ("" if is_judged else f" (too short to judge: {(rows[-1][0] - rows[0][0]) / 60:.0f} min)"))
        if is_judged and value >= SLOPE_MAX:
            over.append(f"slice {number}: RssAnon of {name} grows by {value:.1f} MB an hour")
    return len(series(samples)), over, "; ".join(notes[-5:])


def handles(samples):
    """Descriptors and threads: the least of the last third against the least of the first third."""
    over, notes = [], []
    for (number, name), rows in sorted(series(samples).items()):
        third = max(1, len(rows) // 3)
        for key in ("fds", "threads"):
            first, last = (min(row[key] for _, row in part) for part in (rows[:third], rows[-third:]))
            if last > first + SPARE and rows[-1][0] - rows[0][0] >= LEAST_S:
                over.append(f"slice {number}: {key} of {name}: {first}, later {last}")
            if key == "fds":
                notes.append(f"{name} {first} to {last}"
                             + ("" if rows[-1][0] - rows[0][0] >= LEAST_S else " (too short to judge)"))
    return len(series(samples)), over, "descriptors " + "; ".join(notes[-5:])


def thirds(samples):
    """(number, first third, last third) of the samples of each slice."""
    for number in sorted({sample["slice"] for sample in samples}):
        mine = [sample for sample in samples if sample["slice"] == number]
        yield number, mine[:len(mine) // 3], mine[-(len(mine) // 3):]


def times_of(samples):
    """{time of day: latencies}."""
    times = collections.defaultdict(list)
    for sample in samples:
        for name, values in sample["latency"].items():
            times[name] += values
    return times


def latency(samples):
    """The median at each time of day in the last third of a slice against the first, where the machine was calm."""
    over = []
    for number, *parts in thirds(samples):
        calm = [[sample for sample in part if sample["others"] < CALM] for part in parts]
        if min(map(len, calm)) < LEAST_CALM:
            continue
        first, last = map(times_of, calm)
        for name in first.keys() & last.keys():
            before, after = statistics.median(first[name]), statistics.median(last[name])
            if after > before * LATENCY_TIMES + LATENCY_MORE_S:
                over.append(f"slice {number}: median at {name} {before * 1000:.0f} ms, later {after * 1000:.0f} ms")
    note = "; ".join(f"{name} p50 {percentile(v, 0.5) * 1000:.0f} ms p99 {percentile(v, 0.99) * 1000:.0f} ms"
                     for name, v in sorted(times_of(samples).items()))
    busy = sum(sample["others"] >= CALM for sample in samples)
    note += f"; not judged: {busy} of {len(samples)} samples, in which other programs kept the machine busy"
    return sum(map(len, times_of(samples).values())), over, note


def cost(samples):
    """Processor time of gillnetd for a message, in the last third of a slice against the first. It includes the work
    beside mail, such as reloads, which is a larger share at night: each third must be long."""
    over, notes = [], []
    for number, *parts in thirds(samples):
        costs = []
        for part in parts:
            used = [sum(row["cpu_s"] for name, row in sample["processes"].items() if name.startswith("gillnetd"))
                    for sample in part]
            sent = sum(map(len, times_of(part[1:]).values()))
            costs.append((used[-1] - used[0]) * 1000 / sent if used and sent else 0)
        is_judged = bool(parts[1]) and parts[1][-1]["t"] >= LEAST_S
        notes.append(f"{costs[0]:.1f} ms, later {costs[1]:.1f} ms" + ("" if is_judged else " (too short to judge)"))
        if is_judged and costs[0] and costs[1] > costs[0] * CPU_TIMES:
            over.append(f"slice {number}: a message took {costs[0]:.1f} ms of processor time, later {costs[1]:.1f} ms")
    return sum(map(len, times_of(samples).values())), over, "; ".join(notes[-3:])
