#!/usr/bin/env python3
"""Real feeds (feeds_and_ham() of tests/datafolder.py) from a web server to a running hub: all are taken,
every line is asked for over the HTTP API, and real good mail is checked against the lists. Each good message hit is named.

The lists are set as the presets of conf/feeds.d say: what names criminals has a weight; lists of blocked hosts of the web
(advertising, tracking) are in shadow and asked about links alone.
Usage: test_real.py [TEST...]      ends like unittest. GILLNET_BUILD names the build folder.
"""
import collections
import http.client
import json
import lzma
import pathlib
import re
import shutil
import sys
import tarfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
from test_fetch import Feeds  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import datafolder  # noqa: E402
from ring import free_port  # noqa: E402

HAM_SHARE = 0.005
BATCH = 20000
ADS = ("stevenblack", "ultimatehosts", "adaway")
LINKS = ["url", "url_host"]
NAME = re.compile(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")


def joined(path):
    """The files of an archive as one."""
    with tarfile.open(path) as tar:
        return b"\n".join(tar.extractfile(m).read() for m in tar if m.isfile())


def bodies(paths):
    """{feed: (path on the server, bytes as they are served, the same as text)}."""
    found = {}
    for path in paths:
        name = re.sub(r"\.(txt|conf|csv|tar)\b|\.xz$", "", path.name).replace(".", "-").lower().strip("-")
        raw = joined(path) if ".tar" in path.name else path.read_bytes()
        text = lzma.decompress(raw) if path.suffix == ".xz" and ".tar" not in path.name else raw
        found[name] = (f"/{path.name}", raw, text.decode("utf-8", "replace"))
    return found


def value_of(line):
    """Value that a line of one of these feeds lists, as a user would look it up; None: no value."""
    line = re.split(r"\s#", line)[0].strip()
    if not line or line[0] in "#!" or line == "server:" or line.startswith("phish_id,"):
        return None
    row = line.split(",")
    if len(row) == 8:
        return row[1]
    for form in (r"\|\|(.*?)(?:\^|\^\$all)?$", r"address=/(.*)/#?$", r'local-zone: "(.*?)\.?" .*', r"\*\.(.*)",
                 r"(?:0\.0\.0\.0|127\.0\.0\.1)\s+(.*)"):
        found = re.fullmatch(form, line)
        if found:
            line = found[1]
            break
    if line.startswith("/"):
        return None  # a path of any host
    is_url = "://" not in line and ("/" in line or re.fullmatch(r"(\[.*\]|[^:]*):\d+", line))
    return f"http://{line}" if is_url else line


def is_held(name, value, result):
    """The list of this feed holds the value itself, not only something above it."""
    key = value.lower() if NAME.fullmatch(value.lower()) else None
    return any(m["list"] == name and m["status"] == "confirmed" and key in (None, m["key"])
               for m in result.get("matches") or ())


class Real(Feeds):
    def setUp(self):
        super().setUp()
        self.api = free_port()
        feeds, self.hams = datafolder.feeds_and_ham(self.top)
        self.bodies = bodies(feeds)
        for name, (path, raw, _) in self.bodies.items():
            self.site.text(raw, path)
            self.feed(name, self.site.url(path), format="auto", keep="0s", decompressed_bytes="100M")

    def write(self, as_presets=True):
        """as_presets False: all lists alike, asked about all that a message has."""
        super().write()
        ads = f'category = "unwanted"; weight = 2.0; shadow = true; types = {json.dumps(LINKS)};'
        threats = 'category = "malware"; weight = 6.0;'
        lists = ",\n".join(f'{{ name = "{n}"; {ads if as_presets and n.startswith(ADS) else threats} }}' for n in self.feeds)
        text = self.s.conf.read_text().replace("api = { listen = []; };\n", "")
        self.s.conf.write_text(f'{text}lists = ( {lists} );\napi = {{ listen = [ "127.0.0.1:{self.api}" ]; values = 100000; '
                               'body_bytes = "32M"; };\n')

    def update_all(self):
        return {r["name"]: r for r in self.s.json("feed", "update", *self.feeds, rc=None)}

    def check(self, values):
        c = http.client.HTTPConnection("127.0.0.1", self.api, timeout=120)
        c.request("POST", "/v1/check", json.dumps({"values": values}), {"Content-Type": "application/json"})
        answer = c.getresponse()
        body = answer.read()
        c.close()
        self.assertEqual(answer.status, 200, body[:500])
        return json.loads(body)["results"]

    def ask_all(self):
        """Of each feed: how many of its lines are listed, unreadable, and readable but not listed (left out)."""
        lines = {n: collections.Counter(v for v in map(value_of, text.splitlines()) if v)
                 for n, (_, _, text) in self.bodies.items()}
        counts = {n: collections.Counter() for n in lines}
        values = sorted({v for feed in lines.values() for v in feed})
        self.missing = []
        for i in range(0, len(values), BATCH):
            part = values[i:i + BATCH]
            for v, r in zip(part, self.check(part), strict=True):
                for name, feed in lines.items():
                    if v in feed:
                        what = "held" if is_held(name, v, r) else "unread" if r["status"] == "INVALID" else "excluded"
                        counts[name][what] += feed[v]
                        if what != "held":
                            self.missing.append((name, what, v))
        return counts

    def check_ham(self, title, *folders):
        """The good messages that a list holds anything of: {file: "list: type=value; ..."}, and how many there are."""
        hit, total = {}, 0
        for m in self.s.json("check", *(f.resolve() for f in folders or self.hams)):
            total += m["file"].endswith(".eml")
            found = sorted({f"{h['list']}: {h['type']}={h['value']}" for h in m["lists"] if h["status"] == "confirmed"})
            if found:
                hit[pathlib.Path(m["file"]).name] = "; ".join(found)
        for name, found in sorted(hit.items()):
            print(f"{title}: {name} {found}")
        return hit, total

    def halves(self):
        """Every other good message in the one folder, the rest in the other."""
        folders = [pathlib.Path(self.top) / "ham-0", pathlib.Path(self.top) / "ham-1"]
        for i, path in enumerate(sorted(f for ham in self.hams for f in ham.rglob("*.eml"))):
            folders[i % 2].mkdir(exist_ok=True)
            shutil.copyfile(path, folders[i % 2] / f"{i}-{path.name}")
        return folders

    def test_all_are_taken__every_line_is_held__and_good_mail_is_left_alone(self):
        self.hub()
        rows = self.update_all()
        counts = self.ask_all()
        for name, c in counts.items():
            r = rows[name]
            print(name, r["result"], r["format"], r["entries"], "entries, lines:", dict(c), flush=True)
            self.assertIn(r["result"], ("ok", "same"), r)
            self.assertEqual(self.row(name)["state"], "ok")
            self.assertEqual(c["excluded"], r["excluded"], (name, [m for m in self.missing if m[0] == name][:20]))
            self.assertLessEqual(c["unread"], r["bad_lines"], (name, [m for m in self.missing if m[0] == name][:20]))
        all_lines = sum(counts.values(), collections.Counter())
        presets, total = self.check_ham("as the presets say")
        scored = {f for f, found in presets.items() if any(not x.startswith(ADS) for x in found.split("; "))}
        self.write(as_presets=False)
        alike, _ = self.check_ham("all alike")
        held_out, tested = {}, 0
        folders = self.halves()
        for known, fresh in (folders, folders[::-1]):
            self.s.run("feed", "ham", known)
            self.update_all()
            hit, n = self.check_ham("half given", fresh)
            held_out |= hit
            tested += n
        print(json.dumps({"feeds": len(rows), "entries": sum(r["entries"] for r in rows.values()), "lines": dict(all_lines),
                          "ham": total, "hit_as_presets": len(presets), "of_them_scored": len(scored), "hit_all_alike": len(alike),
                          "held_out_ham": tested, "hit_held_out": len(held_out)}))
        self.assertGreater(total, 1000)
        self.assertLessEqual(len(scored), HAM_SHARE * total)
        self.assertLessEqual(len(held_out), HAM_SHARE * tested)
        self.s.stop()


if __name__ == "__main__":
    unittest.main(verbosity=1)
