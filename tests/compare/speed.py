"""speed - what each filter costs: time that it adds to SMTP, CPU, messages a second, memory, start."""
import re
import statistics
import time

import filters
import mail  # noqa: F401: finds bench_latency
import bench_latency
import mta
import proc
from smtp import dot_stuff, to_crlf

CONNECTIONS = 2 * filters.WORKERS
WARM_UP = 5  # messages of each server that do not count
# How often a filter is given the same messages, so that each is measured for a few seconds.
PASSES = {"gillnet": 8, "rspamd": 4, "SpamAssassin": 1, "nothing": 8}
IDLE_S = 5.0  # how long what a filter uses while idle is measured
AFTERWARDS_S = 0.3  # for what a filter does behind its last reply
DISCARD = "default_transport = discard:\nrelay_transport = discard:\n"
XCLIENT = "XCLIENT ADDR=%s NAME=%s HELO=%s" % (filters.CLIENT, filters.CLIENT_NAME, filters.CLIENT_NAME)


class Noop:
    """The milter that does nothing."""

    name = "nothing"

    def __init__(self):
        self.sockets = {kind: bench_latency.noop(kind) for kind in ("unix", "inet")}


def connect(server):
    client = server.client()
    client.expect(XCLIENT)
    client.ehlo(filters.CLIENT_NAME)
    return client


def transact(client, stuffed):
    """Seconds from MAIL to the reply to the end of the message."""
    begun = time.perf_counter()
    client.expect("MAIL FROM:<alice@sender.example>")
    client.expect("RCPT TO:<bob@rcpt.example>")
    client.expect("DATA", "354")
    client.sock.sendall(stuffed)
    reply = client.reply()
    if not reply.startswith("250"):
        raise proc.SetupError("a message was not taken: " + reply)
    return time.perf_counter() - begun


class Usage:
    """CPU that a filter needs for a turn of messages; what it uses while idle is taken off."""

    def __init__(self, subjects):
        self.subjects = {s.name: s for s in subjects if hasattr(s, "roots")}
        before = {name: s.cpu() for name, s in self.subjects.items()}
        time.sleep(IDLE_S)
        self.idle = {name: (s.cpu() - before[name]) / IDLE_S for name, s in self.subjects.items()}
        self.spent = {name: 0.0 for name in self.subjects}

    def turn(self, name, play):
        """The result of play(), whose CPU counts for this filter."""
        subject = self.subjects.get(name)
        if subject is None:
            return play()
        before, begun = subject.cpu(), time.monotonic()
        result = play()
        time.sleep(AFTERWARDS_S)
        self.spent[name] += subject.cpu() - before - self.idle[name] * (time.monotonic() - begun)
        return result

    def each(self, messages):
        """Seconds a message, after so many messages of each filter."""
        return {name: max(0.0, spent) / messages[name] for name, spent in self.spent.items()}


def start_servers(subjects):
    """{(filter, kind of socket): Postfix}; ("none", ""): without a filter."""
    servers = {("none", ""): mta.Postfix(extra=DISCARD)}
    servers.update({(s.name, kind): mta.Postfix(milter=s.sockets[kind], extra=DISCARD)
                    for s in subjects for kind in s.sockets})
    for server in servers.values():
        server.start()
    return servers


def through_postfix(subjects, messages, rounds):
    """Seconds of each message without a filter; {filter: {socket: [added seconds of each message]}}; {filter: CPU seconds a message}."""
    stuffed = [dot_stuff(to_crlf(m.text())) for m in messages]
    servers = start_servers(subjects)
    clients = {key: connect(server) for key, server in servers.items()}
    for client in clients.values():
        for text in stuffed[:WARM_UP]:
            transact(client, text)
    times, usage = {key: [] for key in servers}, Usage(subjects)
    for r in range(rounds):
        for key, client in clients.items():
            times[key] += usage.turn(key[0], lambda c=client, part=stuffed[r::rounds]: [transact(c, text) for text in part])
    for key, client in clients.items():
        client.close()
        servers[key].stop()
    plain, added = times.pop(("none", "")), {}
    for (name, kind), taken in times.items():
        added.setdefault(name, {})[kind] = [a - b for a, b in zip(taken, plain)]
    return plain, added, usage.each({s.name: len(messages) * len(s.sockets) for s in subjects})


def play(subject, folder, count):
    """Messages a second that the filter answers at its Unix socket, without Postfix."""
    run = filters.load_program("-d", folder, "-n", str(count), "-c", str(CONNECTIONS), filters.target(subject.sockets["unix"]))
    if run.returncode:
        raise proc.SetupError("%s: %s%s" % (subject.name, run.stdout.decode(), run.stderr.decode()))
    return float(re.search(rb"msgs/s ([0-9.]+)", run.stdout)[1])


def throughput(subjects, folder, count, rounds):
    """{filter: median messages a second}, {filter: CPU seconds a message}."""
    rates, usage = {s.name: [] for s in subjects}, Usage(subjects)
    for subject in subjects:
        play(subject, folder, max(CONNECTIONS, count // 10))
    for _ in range(rounds):
        for subject in subjects:
            rates[subject.name].append(usage.turn(subject.name, lambda s=subject: play(s, folder, count * PASSES[s.name])))
    return ({name: statistics.median(r) for name, r in rates.items()},
            usage.each({s.name: count * PASSES[s.name] * rounds for s in subjects}))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def starts(kinds, folder, rounds):
    """Seconds from a start until the first answer, and bytes when idle; the first start, which prepares files, is apart."""
    taken, idle = {name: [] for name in kinds}, {name: [] for name in kinds}
    made = {name: make() for name, make in kinds.items()}
    for _ in range(rounds + 1):
        for name, one in made.items():
            taken[name].append(one.start_timed(folder))
            one.settle()
            idle[name].append(one.memory())
            one.stop()
    return ({name: {"first": t[0], "again": statistics.median(t[1:])} for name, t in taken.items()},
            {name: statistics.median(t[1:]) for name, t in idle.items()})


def measure(options, traffic, folder):
    """All of it: start, memory idle, latency, throughput, memory after it."""
    result = {}
    result["starts"], idle = starts({"gillnet": lambda: filters.Gillnet(kinds=("unix",)), "rspamd": filters.Rspamd,
                                     "SpamAssassin": filters.SpamAssassin}, folder, options.rounds)
    subjects = [filters.Gillnet(), filters.Rspamd(), filters.SpamAssassin()]
    for subject in subjects:
        subject.start_timed(folder)
    for subject in subjects:
        subject.settle()
    both = [Noop(), *subjects]
    plain, added, cpu = through_postfix(both, traffic, options.rounds)
    result["smtp_ms"] = {"p50": 1e3 * percentile(plain, 0.5), "p99": 1e3 * percentile(plain, 0.99)}
    result["added_ms"] = {name: {kind: {"p50": 1e3 * statistics.median(t), "p99": 1e3 * percentile(t, 0.99)}
                                 for kind, t in by_kind.items()} for name, by_kind in added.items()}
    result["cpu_ms"] = {name: 1e3 * seconds for name, seconds in cpu.items()}
    for subject in subjects:
        subject.only_unix()
    rates, alone = throughput(both, folder, len(traffic), options.rounds)
    result["rate"] = rates
    result["cpu_alone_ms"] = {name: 1e3 * seconds for name, seconds in alone.items()}
    result["memory"] = {s.name: {"idle": idle[s.name], "after": s.memory()} for s in subjects}
    result["versions"] = {s.name: s.version() for s in subjects}
    for subject in subjects:
        subject.stop()
    return result
