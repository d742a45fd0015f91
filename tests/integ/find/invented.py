#!/usr/bin/env python3
"""Links that no client would make: bare words in good mail that were taken for hosts.

Usage: invented.py --gillnet PROGRAM [--show N] [FOLDER...]
Folders: the ham of the data folder (GILLNET_DATA); 77 when there is none.  A link is bare when its host
stands in the message without a scheme, "www.", a path or a port.  A bare link is real when its host, or a domain
above it, is used elsewhere in that mail: in a URL with a scheme or "www.", or behind an @.  All others were
read; a host that is not in read_hosts.txt counts as invented.  At most 1 message in 1,000 of all folders together
may have one.  --show prints the words that are bare_host.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recall  # noqa: E402

ALLOWED = 1 / 1000
USED = re.compile(r"(?://|www\.|@)([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)", re.I)
# One host a line; "~" before those that the text does not mean as hosts.
READ = pathlib.Path(__file__).with_name("read_hosts.txt")


def read_hosts():
    lines = READ.read_text(encoding="ascii").split("\n")
    return {line.lstrip("~") for line in lines if line and not line.startswith("#")}


def parents(host):
    labels = host.lower().split(".")
    return {".".join(labels[i:]) for i in range(len(labels) - 1)}


def used_in(paths):
    used = collections.Counter()
    for path in paths:
        texts, sources = recall.readings(path)
        for host in {m.group(1).lower() for text in sources for m in USED.finditer(text)}:
            used.update(parents(host))
    return used


def bare_of(message, sources):
    """Hosts of the message that stand there bare only."""
    text = "\n".join(recall.squash(s).replace("=\n", "") for s in sources)
    hosts = {f["value"] for f in message["features"] if f["type"] == "url_host"}
    marked = re.compile(r"(?://(?:[^/\s]*@)?|www\.)%s|%s[:/?]")
    return [h for h in hosts if re.fullmatch(r"[a-z0-9._-]+", h) and not h.startswith("www.") and
            not re.search(marked.pattern % (re.escape(h), re.escape(h)), text, re.I)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gillnet", required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    data = pathlib.Path(os.environ.get("GILLNET_DATA", str(recall.TOP.parent / "shared/data")))
    usual = [data / "mail/ham", data / "mail-modern/ham-real", data / "mail-modern/ham-synthetic"]
    folders = [f for f in args.folders or usual if f.is_dir()]
    if not folders:
        print("skipped: no mail")
        return 77
    read = read_hosts()
    used = used_in(sorted(p for f in folders for p in f.rglob("*.eml")))
    total = bad = 0
    with tempfile.TemporaryDirectory(prefix="gillnet-invented-") as state:
        conf = os.path.join(state, "gillnet.conf")
        with open(conf, "w") as f:
            f.write(recall.CONF.format(state=state))
        for folder in folders:
            paths = sorted(folder.rglob("*.eml"))
            links, words, invented, where = 0, collections.Counter(), collections.Counter(), set()
            for at in range(0, len(paths), recall.BATCH):
                batch = paths[at:at + recall.BATCH]
                for path, message in zip(batch, recall.extracted(args.gillnet, conf, batch)):
                    bare = bare_of(message, recall.readings(path)[1])
                    links += len(bare)
                    words.update(f["value"] for f in message["features"] if f["type"] == "bare_host")
                    for host in bare:
                        if not parents(host) & used.keys() and host not in read:
                            invented[host] += 1
                            where.add(path)
            print(f"{folder}: {len(paths)} messages, {links} bare links, {len(where)} messages with an invented one, "
                  f"{sum(words.values())} bare words")
            print("  " + " ".join(f"{h}:{n}" for h, n in sorted(invented.items())))
            if args.show:
                print("  words: " + " ".join(f"{h}:{n}" for h, n in sorted(words.items())))
            total += len(paths)
            bad += len(where)
    print(f"invented: {bad} of {total} messages")
    return 0 if bad <= total * ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
