"""lists - memory of each filter with a long list of URLs, and the time until a change of a list counts in mail."""
import itertools
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

import filters
import gillnet as installed
import mail  # noqa: F401: finds gen_urls
import proc

HOSTS = 100_000  # of SpamAssassin's list: its lists live in its configuration
FIRST = "http://first-of-the-list.com/a"  # rspamd and SpamAssassin read URLs below real top-level domains alone
PLAYED = 100  # most messages before memory is read
CHANGE_S = 120
MAIL = b"From: <a@sender.example>\nTo: <b@rcpt.example>\nSubject: hello\nDate: Mon, 05 Jan 2026 09:01:00 +0000\n" \
       b"Message-ID: <1@sender.example>\n\nsee %s here\n"
MULTIMAP = 'COMPARE_LIST { type = "url"; filter = "full"; map = "%s"; score = 20.0; }\n'
RULE = "header COMPARE_LIST eval:check_uri_host_listed('COMPARE')\nscore COMPARE_LIST 20\n"


class NotListed(Exception):
    """The filter does not find an entry of its list."""


def write_urls(count, path):
    with open(path, "wb") as file:
        subprocess.run([sys.executable, os.path.join(proc.TOP, "tests/bench/gen_urls.py"), str(count)], stdout=file, check=True)
    shutil.chown(path, installed.USER, installed.GROUP)


def one_message(url, folder):
    """A folder with one message that has this URL."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "listed.eml"), "wb") as file:
        file.write(MAIL % url.encode())
    return folder


def rejected(subject, folder):
    """True when the filter rejects the message of the folder, as it does with what is listed."""
    run = filters.load_program("-n", "1", "-t", "60", "-d", folder, "-l", "/dev/stdout", filters.target(subject.sockets["unix"]))
    return b" reject " in run.stdout or b" replycode " in run.stdout


def await_rejection(subject, folder, limit):
    begun = time.monotonic()
    while not rejected(subject, folder):
        if time.monotonic() - begun > limit:
            raise NotListed("%s: an entry of its list does not count after %d s: %s" % (subject.name, limit, subject.log()[-1500:]))
        time.sleep(0.05)
    return time.monotonic() - begun


def gillnet(urls):
    one = filters.Gillnet(lists=[("compare", 20.0, [])], kinds=("unix",), rejects=True)
    one.run("list", "import", "compare", urls, timeout=1800)
    return one


def rspamd(urls):
    return filters.Rspamd(local={"multimap.conf": MULTIMAP % ("file://" + urls)}, rejects=True)


def spamassassin(hosts):
    """hosts: names, in lines of local.cf."""
    lines = ["enlist_uri_host (COMPARE) " + " ".join(hosts[i:i + 100]) for i in range(0, len(hosts), 100)]
    return filters.SpamAssassin(local="\n".join(lines) + "\n" + RULE, rejects=True)


def host_of(url):
    return url.split("/")[2]


def loaded(make, traffic, listed):
    """Bytes of memory with the list after some mail, and seconds from the start until it counts; those of make() are apart."""
    begun = time.monotonic()
    subject = make()
    prepared = time.monotonic() - begun
    try:
        begun = time.monotonic()
        subject.start_timed(traffic)
        await_rejection(subject, listed, 600)
        seconds = time.monotonic() - begun
        subject.settle()
        filters.load_program("-d", traffic, "-n", str(min(PLAYED, len(os.listdir(traffic)))), filters.target(subject.sockets["unix"]))
        return {"bytes": subject.memory(), "seconds": seconds, "prepared": prepared}
    finally:
        subject.stop()


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


def memory(sizes, traffic, folder):
    """{filter: {entries: {"bytes", "seconds"}}}; entries 1: the same set-up with FIRST alone."""
    os.makedirs(folder)
    shutil.chown(folder, installed.USER, installed.GROUP)
    everything = os.path.join(folder, "all")
    write_urls(max(sizes), everything)
    found = {"gillnet": {}, "rspamd": {}, "SpamAssassin": {}}
    for size in (1, *sizes):
        urls = os.path.join(folder, "urls")
        with open(everything, "rb") as source, open(urls, "wb") as file:
            file.write(FIRST.encode() + b"\n")
            file.writelines(itertools.islice(source, size - 1))
        shutil.chown(urls, installed.USER, installed.GROUP)
        message = one_message(FIRST, os.path.join(folder, "listed"))
        found["gillnet"][size] = loaded(lambda: gillnet(urls), traffic, message)
        before = found["rspamd"]
        growth = (before[sizes[0]]["bytes"] - before[1]["bytes"]) * size / sizes[0] if len(before) == 2 else 0
        if growth * 1.5 < available():
            before[size] = loaded(lambda: rspamd(urls), traffic, message)
    hosts = [host_of(FIRST)] + ["h%d.listed%d.com" % (n, n) for n in range(1, HOSTS)]
    for size in (1, min(HOSTS, sizes[0])):
        found["SpamAssassin"][size] = loaded(lambda: spamassassin(hosts[:size]), traffic, message)
    shutil.rmtree(folder)
    return found


class Change:
    """A filter with a short list, and how an administrator adds an entry to it."""

    def __init__(self, folder):
        self.urls = os.path.join(folder, "change-urls")
        with open(self.urls, "w", encoding="ascii") as file:
            file.write(FIRST + "\n")
        os.chmod(self.urls, 0o644)
        self.subjects = {"gillnet": gillnet(self.urls), "rspamd": rspamd(self.urls), "SpamAssassin": spamassassin([host_of(FIRST)])}

    def add(self, subject, url):
        if subject.name == "gillnet":
            subject.run("list", "add", "compare", url)
        elif subject.name == "rspamd":
            with open(self.urls, "a", encoding="ascii") as file:
                file.write(url + "\n")
        else:
            with open(subject.site + "/local.cf", "a", encoding="ascii") as file:
                file.write("enlist_uri_host (COMPARE) %s\n" % host_of(url))
            subject.children[0].send_signal(signal.SIGHUP)


def changes(rounds, traffic, folder):
    """{filter: median seconds from a change of its list until mail with the entry is rejected}."""
    os.makedirs(folder)
    shutil.chown(folder, installed.USER, installed.GROUP)
    change, taken = Change(folder), {}
    for subject in change.subjects.values():
        subject.start_timed(traffic)
    for subject in change.subjects.values():
        await_rejection(subject, one_message(FIRST, folder + "/first"), 60)
        subject.settle()
    wait = random.Random(mail.SEED)
    for number in range(rounds):
        for name, subject in change.subjects.items():
            url = "http://added-%s-%d.com/a" % (name.lower(), number)
            time.sleep(wait.random())
            begun = time.monotonic()
            change.add(subject, url)
            await_rejection(subject, one_message(url, os.path.join(folder, "%s%d" % (name, number))), CHANGE_S)
            taken.setdefault(name, []).append(time.monotonic() - begun)
    for subject in change.subjects.values():
        subject.stop()
    return {name: {"median": statistics.median(t), "max": max(t)} for name, t in taken.items()}
