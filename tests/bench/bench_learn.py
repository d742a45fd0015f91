#!/usr/bin/env python3
"""What gillnet learns from reports, beside SpamAssassin and rspamd with Bayes: the same mail for all three.

Usage: bench_learn.py [OPTION]... [DATA]     needs contrib/install-deps test bench

  DATA            folder of the mail (default ../shared/data); contrib/tune-rules.sources names its sources
  --gillnet FILE  program (default build/release/gillnet)
  --train N       most messages of a class to train with (default 1000)
  --test N        most messages of a source to test with (default 100)
  --teach HOW     report or train: how gillnet is given the reports (default report)
  --only NAMES    learners to measure, of gillnet,spamassassin,rspamd
  --seed S        seed of the choice (default 1)

Each source of spam is left out in turn: all learners train on the other sources and on ham (half of easy-ham, and one
of hard-ham and real mail; the other one is tested as ham of a source that nobody learnt). Then 50 and 200 messages are
reported: half of them spam of the tested source, never more than half of it, half of them ham. Near replicas
(CAMPAIGNS*.tsv) are never on both sides. Tested at the default thresholds: gillnet 5 (header), SpamAssassin 5, rspamd
6 (add header). No DNS, no network; redis and rspamd listen on the loopback in a folder of their own.

The second figure of each column leaves out rules that only hit because the gatherer redacted header fields: rules that
hit the message, but not a copy in which redacted addresses are plain ones.

Prints a table, and one JSON line at the end. SpamAssassin and rspamd do not learn with fewer than 200 messages of each
class, so their Bayes is measured after 200 reports only.
"""
import argparse
import collections
import concurrent.futures
import http.client
import importlib.machinery
import importlib.util
import json
import os
import platform
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SPAM = ("sa-spam", "glitchy-2023", "phishing", "other-spam")
UNSEEN = ("hard-ham", "real")  # ham: one of them is learnt, the other one tested
REPORTS = (0, 50, 200)
THRESHOLD = {"gillnet": 5.0, "spamassassin": 5.0, "rspamd": 6.0}
LEARNERS = tuple(THRESHOLD)
REDACTED = re.compile(rb"<?\[removed\]>?|<?\bphishing@pot\b(?!\.)>?")  # what gatherers put in place of an address
PLAIN = {b"message-id": b"<1697611655.4612669@mail.sender.example.net>", b"to": b"<reader@mx.example.com>",
         b"cc": b"<reader@mx.example.com>", b"bcc": b"<reader@mx.example.com>", b"delivered-to": b"reader@mx.example.com",
         b"received": b"<reader@mx.example.com>"}
SENDER = b"<person@sender.example.net>"  # in all other fields
FIELD = re.compile(rb"(?m)^([A-Za-z-]+):[^\n]*\n(?:[ \t][^\n]*\n)*")
DNS_MODULES = ("rbl surbl fuzzy_check asn spf dkim dmarc arc mx_check url_redirector reputation greylist ratelimit"
               " history_redis replies neural milter_headers dkim_signing p0f external_services antivirus"
               " rspamd_update bimi once_received_dns http_headers").split()


# ---- the mail ----

def load_tune_rules():
    """contrib/tune-rules as a module: it reads sources."""
    loader = importlib.machinery.SourceFileLoader("tune_rules", os.path.join(TOP, "contrib/tune-rules"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tune_rules", loader))
    loader.exec_module(module)
    return module


def read_campaigns(data):
    """{path: name of its campaign}."""
    result = {}
    for folder in ("mail", "mail-modern"):
        for name in sorted(os.listdir(os.path.join(data, folder))):
            if name.startswith("CAMPAIGNS"):
                with open(os.path.join(data, folder, name), encoding="utf-8") as file:
                    for line in file:
                        if line[0] != "#":
                            number, _, _, path = line.rstrip("\n").split("\t")
                            result[os.path.join(folder, path)] = (folder, name, number)
    return result


def read_messages(data):
    """{family: messages}; each has path, spam and campaign."""
    families = collections.defaultdict(list)
    campaign = read_campaigns(data)
    for m in load_tune_rules().read_sources(data)[0]:
        m.campaign = campaign.get(m.path, m.path)
        m.file = os.path.join(data, m.path)
        family = "synthetic" if m.source.startswith("synthetic/") else "real" if m.source.startswith("real/") else m.source
        m.family = family
        families[family].append(m)
    return families


def choose(messages, most, seed):
    """Whole campaigns of at most `most` messages together: (chosen, the others)."""
    groups = collections.defaultdict(list)
    for m in messages:
        groups[m.campaign].append(m)
    names = sorted(groups, key=str)
    random.Random(seed).shuffle(names)
    chosen, others = [], []
    for name in names:
        (chosen if len(chosen) + len(groups[name]) <= most else others).extend(groups[name])
    return chosen, others


def sample(messages, most, seed):
    return random.Random(seed).sample(messages, min(most, len(messages)))


class Round:
    """One source left out: what is trained, reported and tested."""

    def __init__(self, number, source, families, options):
        seed = options.seed
        self.source, unseen = source, UNSEEN[number % 2]
        half, rest = choose(families["easy-ham"], len(families["easy-ham"]) // 2, seed)
        # The reports of 50 are the first of those of 200: whole campaigns, so a count may be below.
        spam, tested = choose(families[source], min(100, len(families[source]) // 2), seed)
        ham, rest = choose(rest, 100, seed)
        self.reports = {0: [], 50: choose(spam, 25, seed)[0] + choose(ham, 25, seed)[0], 200: spam + ham}
        others = [m for f in SPAM if f != source for m in families[f]]
        wanted = half + [m for f in UNSEEN if f != unseen for m in families[f]]
        self.train = sample(others, options.train, seed) + sample(wanted, options.train, seed)
        self.test = sample(tested, options.test, seed) + sample(rest, options.test, seed)
        self.test += sample(families[unseen], options.test, seed) + sample(families["synthetic"], options.test, seed)


def repair(m, folder):
    """A copy of the message with plain addresses in place of redacted ones; None: nothing was redacted."""
    with open(m.file, "rb") as file:
        text = file.read()
    head = re.match(rb"(?:[^\r\n][^\n]*\n)*", text)[0]
    fixed = FIELD.sub(lambda f: REDACTED.sub(PLAIN.get(f[1].lower(), SENDER), f[0]), head)
    if fixed == head:
        return None
    path = os.path.join(folder, m.path.replace("/", "_"))
    with open(path, "wb") as file:
        file.write(fixed + text[len(head):])
    return path


# ---- the learners: each scans files to (score, {rule: score}), and learns messages ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Gillnet:
    """`gillnet` on a state folder of its own, without a daemon."""

    def __init__(self, options, folder):
        self.program, self.teach, self.dir = options.gillnet, options.teach, folder
        self.prior = os.path.join(folder, "prior")
        self.conf = os.path.join(folder, "gillnet.conf")
        os.mkdir(os.path.join(folder, "state"), 0o750)

    def configure(self):
        prior = 'model = { prior = "%s"; };\n' % self.prior if os.path.exists(self.prior) else ""
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write('state_dir = "%s/state";\n%s' % (self.dir, prior))

    def run(self, *args, may_fail=False):
        run = subprocess.run([self.program, "-c", self.conf, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if run.returncode > 1 and not may_fail:
            sys.exit("bench_learn: gillnet %s: %s" % (" ".join(args[:3]), run.stderr.decode(errors="replace")[-600:]))
        return run.stdout

    def folder_of(self, name, messages):
        """A folder of copies of the messages, which train and report read; they follow no links."""
        path = os.path.join(self.dir, name)
        os.makedirs(path)
        for m in messages:
            shutil.copyfile(m.file, os.path.join(path, m.path.replace("/", "_")))
        return path

    def train(self, messages):
        """The shipped prior has seen all sources, so one without the tested source takes its place."""
        self.configure()
        self.folders = [x for is_spam in (True, False) for x in
                        ("--spam" if is_spam else "--ham", self.folder_of("train-%d" % is_spam, [m for m in messages if m.spam == is_spam]))]
        self.run("train", "--prior", self.prior, *self.folders)
        self.configure()  # now with it

    def begin_reports(self):
        self.run("train", *self.folders)

    def report(self, name, messages):
        spam = self.folder_of(name + "-spam", [m for m in messages if m.spam])
        ham = self.folder_of(name + "-ham", [m for m in messages if not m.spam])
        if self.teach == "train":
            self.run("train", "--spam", spam, "--ham", ham)
        else:
            self.run("report", "spam", spam)
            self.run("report", "ham", ham)

    def scan(self, files):
        result = []
        for i in range(0, len(files), 2000):
            lines = self.run("--json", "check", *files[i:i + 2000]).splitlines()
            result += [(a["score"], {s["name"]: s["score"] for s in a["symbols"]}) for a in map(json.loads, lines)]
        return result

    def stop(self):
        pass


class SpamAssassin:
    """One process of learn_spamassassin.pl."""

    def __init__(self, _options, folder):
        root = os.path.join(os.environ.get("GILLNET_SPAMASSASSIN", TOP + "/build/spamassassin"), "root")
        site = os.path.join(folder, "site")
        os.makedirs(os.path.join(folder, "state"))
        os.makedirs(site)
        for name in os.listdir(root + "/etc/spamassassin"):
            if name.endswith(".pre"):
                shutil.copy(os.path.join(root, "etc/spamassassin", name), site)
        with open(os.path.join(site, "local.cf"), "w", encoding="utf-8") as file:
            file.write("use_bayes 1\nbayes_auto_learn 0\nbayes_path %s/state/bayes\nlock_method flock\ndns_available no\n" % folder)
        perl = [root + "/usr/share/perl5"]
        for base in sorted(os.listdir(root + "/usr/lib")):
            perl += [os.path.join(root, "usr/lib", base, "perl5", x) for x in ("5.36", "")]
        self.log = open(os.path.join(folder, "log"), "wb")
        self.proc = subprocess.Popen(
            ["perl", "-T", *["-I" + p for p in perl if os.path.isdir(p)], TOP + "/tests/bench/learn_spamassassin.pl",
             root + "/usr/share/spamassassin", site, folder + "/state"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=dict(os.environ, HOME=folder))

    def ask(self, line):
        self.proc.stdin.write(line.encode() + b"\n")
        self.proc.stdin.flush()
        answer = self.proc.stdout.readline()
        if not answer:
            sys.exit("bench_learn: SpamAssassin ended; see %s" % self.log.name)
        return json.loads(answer)

    def train(self, messages):
        for m in messages:
            self.proc.stdin.write(("%s %s\n" % ("spam" if m.spam else "ham", m.file)).encode())
        self.ask("flush")

    def report(self, _name, messages):
        self.train(messages)

    def scan(self, files):
        return [(a["score"], a["rules"]) for a in (self.ask("scan " + f) for f in files)]

    def stop(self):
        self.proc.stdin.close()
        self.proc.wait(60)
        self.log.close()


class Rspamd:
    """rspamd with its whole configuration and Bayes in a Redis of its own, both on the loopback."""

    def __init__(self, _options, folder):
        for last in (False, False, True):  # another program may take a port before its server does
            self.dir = tempfile.mkdtemp(dir=folder)
            self.port, self.control, self.redis_port = free_port(), free_port(), free_port()
            self.procs, self.log = [], open(os.path.join(self.dir, "log"), "wb")
            try:
                self.start_both(self.dir, os.path.join(os.environ.get("GILLNET_REDIS", TOP + "/build/redis"), "root/usr"))
                return
            except BaseException as e:
                self.stop()
                if last or not isinstance(e, (OSError, http.client.HTTPException)):
                    raise

    def start_both(self, folder, redis):
        libraries = redis + "/lib/x86_64-linux-gnu"
        self.start([redis + "/bin/redis-server", "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "",
                    "--appendonly", "no", "--dir", folder], libraries)
        self.root = os.path.join(os.environ.get("GILLNET_RSPAMD", TOP + "/build/rspamd"), "root")
        self.configure()
        var = {"CONFDIR": self.root + "/etc/rspamd", "LOCAL_CONFDIR": folder, "LUALIBDIR": self.root + "/usr/share/rspamd/lualib",
               "SHAREDIR": self.root + "/usr/share/rspamd", "PLUGINSDIR": self.root + "/usr/share/rspamd/plugins",
               "RULESDIR": self.root + "/usr/share/rspamd/rules", "WWWDIR": folder, "DBDIR": folder, "RUNDIR": folder,
               "LOGDIR": folder, "TMPDIR": folder}
        self.start([self.root + "/usr/bin/rspamd", "-f", "-i", "-c", self.root + "/etc/rspamd/rspamd.conf",
                    *[x for k, v in var.items() for x in ("--var", "%s=%s" % (k, v))]],
                   "%s/usr/lib/rspamd:%s/usr/lib/x86_64-linux-gnu" % (self.root, self.root))
        self.await_ping()

    def start(self, command, libraries):
        self.procs.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                           env=dict(os.environ, LD_LIBRARY_PATH=libraries)))

    def configure(self):
        local = os.path.join(self.dir, "local.d")
        override = os.path.join(self.dir, "override.d")
        os.mkdir(local)
        os.mkdir(override)
        files = {
            local + "/redis.conf": 'servers = "127.0.0.1:%d";\n' % self.redis_port,
            local + "/classifier-bayes.conf": 'servers = "127.0.0.1:%d";\nbackend = "redis";\nautolearn = false;\n' % self.redis_port,
            override + "/options.inc": 'dns { nameserver = ["127.0.0.1:%d:1"]; timeout = 0.05; retransmits = 0; }\n'
                                       'control_socket = "%s/control.sock mode=0600"; rrd = "";\n' % (free_port(), self.dir),
            override + "/worker-normal.inc": 'bind_socket = "127.0.0.1:%d"; count = 1;\n' % self.port,
            override + "/worker-controller.inc": 'bind_socket = "127.0.0.1:%d"; count = 1; secure_ip = "127.0.0.1";\n' % self.control,
            override + "/worker-proxy.inc": 'bind_socket = "127.0.0.1:%d"; count = 1;\n' % free_port(),
            **{"%s/%s.conf" % (override, name): "enabled = false;\n" for name in DNS_MODULES},
        }
        for path, text in files.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def await_ping(self):
        for _ in range(1200):
            try:
                for port in (self.port, self.control):
                    urllib.request.urlopen("http://127.0.0.1:%d/ping" % port, timeout=5).read()
                return
            except ConnectionError:
                pass
            except urllib.error.URLError as e:
                if not isinstance(e.reason, ConnectionError):
                    raise
            if any(proc.poll() is not None for proc in self.procs):
                break
            time.sleep(0.1)
        raise OSError("rspamd or redis does not answer; see %s" % self.log.name)

    def post(self, port, path, file):
        with open(file, "rb") as data:
            request = urllib.request.Request("http://127.0.0.1:%d/%s" % (port, path), data=data.read())
        try:
            return json.loads(urllib.request.urlopen(request, timeout=120).read() or b'{"error": "empty"}')
        except urllib.error.HTTPError as e:  # refused: already learnt, or it is sure without
            return {"error": e.read().decode(errors="replace")}

    def train(self, messages):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda m: self.post(self.control, "learnspam" if m.spam else "learnham", m.file), messages))
        self.refused = sum("error" in a for a in answers)

    def report(self, _name, messages):
        self.train(messages)

    def scan(self, files):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda f: self.post(self.port, "checkv2", f), files))
        for file, a in zip(files, answers):
            if "score" not in a:
                sys.exit("bench_learn: rspamd on %s: %s" % (file, a))
        return [(a["score"], {n: s.get("metric_score", s["score"]) for n, s in a["symbols"].items()}) for a in answers]

    def stop(self):
        for proc in reversed(self.procs):
            proc.send_signal(signal.SIGTERM)
        for proc in self.procs:
            try:
                proc.wait(20)
            except subprocess.TimeoutExpired:
                proc.kill()
                proc.wait()
        self.log.close()


# ---- the figures ----

class Marks:
    """Messages judged and marked, by column and group; marked with all rules, and without redacted ones."""

    def __init__(self):
        self.n = collections.defaultdict(lambda: [0, 0, 0])

    def add(self, column, group, score, without, threshold):
        row = self.n[column, group]
        row[0] += 1
        row[1] += score >= threshold - 1e-9
        row[2] += without >= threshold - 1e-9


def redacted_rules(learner, messages, folder):
    """{path: rules that hit only because of redacted fields}."""
    copies = [(m, repair(m, folder)) for m in messages]
    copies = [(m, copy) for m, copy in copies if copy]
    first = learner.scan([m.file for m, _ in copies])
    second = learner.scan([copy for _, copy in copies])
    return {m.path: set(a[1]) - set(b[1]) for (m, _), a, b in zip(copies, first, second)}


def judge(name, learner, column, test, redacted, marks, known=None):
    """known: answers of earlier rounds by file, for a learner that has learnt nothing."""
    known = {} if known is None else known
    files = [m.file for m in test if m.file not in known]
    known.update(zip(files, learner.scan(files)))
    for m in test:
        score, rules = known[m.file]
        without = score - sum(s for rule, s in rules.items() if rule in redacted.get(m.path, ()))
        marks.add(column, (m.spam, m.family), score, without, THRESHOLD[name])


def measure(name, kind, one, options, marks, known):
    """One round of one learner."""
    with tempfile.TemporaryDirectory(prefix="bench-learn-") as folder:
        os.mkdir(folder + "/copies")
        os.mkdir(folder + "/own")
        learner = kind(options, folder + "/own")
        try:
            if name == "gillnet":
                learner.train(one.train)
            redacted = redacted_rules(learner, one.test, folder + "/copies")
            judge(name, learner, name + " 0", one.test, redacted, marks, None if name == "gillnet" else known)
            if name == "gillnet":
                learner.begin_reports()
                done = set()
                for n in REPORTS[1:]:
                    learner.report("reports-%d" % n, [m for m in one.reports[n] if m.path not in done])
                    done |= {m.path for m in one.reports[n]}
                    judge(name, learner, "%s %d" % (name, n), one.test, redacted, marks)
            else:
                learner.train(one.train)
                learner.report("reports", one.reports[200])
                judge(name, learner, name + " Bayes", one.test, redacted, marks)
        finally:
            learner.stop()


def print_table(marks, columns):
    groups = sorted({g for _, g in marks.n}, key=lambda g: (not g[0], g[1]))
    print("%-18s %5s  " % ("marked, percent", "n") + "".join("%-20s" % c for c in columns))
    for group in groups:
        cells = [marks.n[c, group] for c in columns]
        n = max(c[0] for c in cells)
        print("%-5s%-13s %5d  " % ("spam" if group[0] else "ham", group[1], n) + "".join(
            "%-20s" % ("%6.1f (%5.1f)" % (100 * c[1] / c[0], 100 * c[2] / c[0]) if c[0] else "-") for c in cells))
    print("In brackets: without rules that hit because of redacted header fields.")


def result_of(marks, columns, options, seconds):
    rows = {}
    for (column, (spam, family)), (n, marked, without) in sorted(marks.n.items(), key=str):
        rows.setdefault(("spam " if spam else "ham ") + family, {})[column] = {
            "n": n, "marked": round(marked / n, 4), "without_redacted": round(without / n, 4)}
    behind = []
    if "gillnet 200" in columns:
        for group, row in rows.items():
            ours = row["gillnet 200"]["without_redacted"]
            behind += ["%s: %s" % (group, c) for c in columns if group.startswith("spam") and c.endswith(" Bayes")
                       and row[c]["without_redacted"] > ours]
    return {"bench": "learn", "workload": "train %d, test %d, seed %d" % (options.train, options.test, options.seed),
            "machine": "%s %d cpus" % (platform.machine(), os.cpu_count()), "seconds": round(seconds),
            "groups": rows, "behind": behind}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.path.join(TOP, "../shared/data"))
    parser.add_argument("--gillnet", default=os.path.join(TOP, "build/release/gillnet"))
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--test", type=int, default=100)
    parser.add_argument("--teach", choices=("report", "train"), default="report")
    parser.add_argument("--only", default=",".join(LEARNERS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.data = os.path.realpath(options.data)
    options.gillnet = os.path.realpath(options.gillnet)
    names = options.only.split(",")
    if set(names) - set(LEARNERS):
        parser.error("--only takes " + ",".join(LEARNERS))
    begun, known = time.monotonic(), {name: {} for name in names}
    families = read_messages(options.data)
    marks, kinds = Marks(), {"gillnet": Gillnet, "spamassassin": SpamAssassin, "rspamd": Rspamd}
    for number, source in enumerate(SPAM):
        one = Round(number, source, families, options)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:  # each has columns of its own
            for done in [pool.submit(measure, n, kinds[n], one, options, marks, known[n]) for n in names]:
                done.result()
        print("without %s: %d s" % (source, time.monotonic() - begun), file=sys.stderr)
    columns = [c for n in names for c in ([n + " %d" % r for r in REPORTS] if n == "gillnet" else [n + " 0", n + " Bayes"])]
    print_table(marks, columns)
    result = result_of(marks, columns, options, time.monotonic() - begun)
    print(json.dumps(result))
    return 1 if result["behind"] else 0


if __name__ == "__main__":
    sys.exit(main())
