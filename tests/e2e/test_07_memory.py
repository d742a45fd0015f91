"""Memory of gillnetd for a million listed URLs; each is found, and a million others are not."""

import json
import os
import random
import re

import message
import proc

ENTRIES = 1000000
MAY_GROW = 3000000


def smaps(pid):
    """[(path, {key: bytes})] of every mapping."""
    found = []
    for line in proc.read_text("/proc/%d/smaps" % pid).splitlines():
        head = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$", line)
        if head:
            found.append((head[1], {}))
        elif line.endswith(" kB"):
            key, value, _ = line.split()
            found[-1][1][key.rstrip(":")] = int(value) * 1024
    return found


def cost(g):
    """RssAnon (with copies of base filters) + RssShmem, and the mapped bytes of filters."""
    status = dict(line.split(":", 1) for line in
                  proc.read_text("/proc/%d/status" % g.child.pid).splitlines())
    own = sum(int(status[key].split()[0]) * 1024 for key in ("RssAnon", "RssShmem"))
    filters = sum(values["Size"] for path, values in smaps(g.child.pid)
                  if re.search(r"/lists/.*/(base|recent)\.", path))
    return own, filters


def urls(seed, n):
    """Real-shaped: hosts of two or three labels, paths, some queries, many per host."""
    chooser = random.Random(seed)
    words = ["login", "secure", "account", "update", "wp-content", "img", "verify", "a", "index"]
    for i in range(n):
        host = "%s%d.%s.example" % (chooser.choice(words), i // 4, "%x" % chooser.getrandbits(20))
        path = "/".join(chooser.choice(words) for _ in range(chooser.randint(1, 4)))
        query = "?id=%d" % chooser.getrandbits(24) if i % 3 == 0 else ""
        yield "http://%s/%s/%d%s\n" % (host, path, i, query)


def pass_all(server, listed, word, tag):
    """One connection a message, before and after alike: threads and heap are warm then."""
    for i, url in enumerate(listed):
        rcpt = "%s%d@rcpt.example" % (tag, i)
        assert server.send(message.build(url=url), rcpt=rcpt).startswith("250")
        status = message.values(server.sink.wait(rcpt)[0], "X-Gillnet-Status")[0]
        assert status.startswith(word), (url, status)


def test_import__a_million_urls__memory_grows_by_3_mb_at_most(env):
    # without counts, whose tables are touched as mail comes
    g = env.gillnet(lists=[("phish", 6.5, [])], config="count = { messages_per_day = 0; };")
    g.cli("list", "add", "phish", "domain:first.example")
    feed = os.path.join(g.folder, "feed.txt")
    listed = []
    with open(feed, "w", encoding="ascii") as f:
        for i, url in enumerate(urls(1, ENTRIES)):
            f.write(url)
            if i % (ENTRIES // 100) == 0:
                listed.append(url.strip())
    with g, env.mta(g) as server:
        pass_all(server, listed, "No", "before")
        own, filters = cost(g)
        g.cli("list", "import", "phish", feed)
        proc.wait_for("the new generation", lambda: g.number("list_entries") >= ENTRIES)
        pass_all(server, listed, "Yes", "after")
        own_after, filters_after = cost(g)
    grown = own_after - own + filters_after - filters
    absent = os.path.join(g.folder, "absent.txt")
    with open(absent, "w", encoding="ascii") as f:
        f.writelines(urls(2, ENTRIES))
    for file, listed_there in ((feed, ENTRIES), (absent, 0)):
        answer = g.cli("--json", "lookup", "--quiet", "--file", file, check=False)
        assert json.loads(answer.stdout) == {
            "values": ENTRIES, "listed": listed_there, "not_listed": ENTRIES - listed_there,
            "other": 0, "bad": 0}, answer
    print("       RssAnon + RssShmem %d -> %d KiB, filters %d -> %d KiB: grown by %.2f MB" % (
        own // 1024, own_after // 1024, filters // 1024, filters_after // 1024,
        grown / 1e6))
    assert grown <= MAY_GROW, grown
