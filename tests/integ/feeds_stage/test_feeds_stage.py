#!/usr/bin/env python3
"""Real feeds through their stage: all are taken, each entry is found afterwards, and good mail is left alone.

Usage: test_feeds_stage.py STAGE_FILES
Feeds and mail: see feeds_and_ham() of tests/datafolder.py. Every good message that an entry hits is named.
"""
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))
import datafolder  # noqa: E402

BUILD = os.environ.get("GILLNET_BUILD", f"{ROOT}/build/release")
HAM_SHARE = 0.005
BLOCKS_ADS = ("stevenblack", "ultimatehosts", "adaway")  # advertising, which good mail has: counted apart


def unpack(paths, folder):
    """The feeds as plain files: {name: path}."""
    feeds = {}
    for path in paths:
        name = path.name.split(".txt")[0].split(".conf")[0].split(".csv")[0].replace(".", "-").lower()
        name = name.split("-tar-xz")[0][:32].strip("-_")
        out = folder / name
        if path.name.endswith(".tar.xz"):
            with tarfile.open(path) as tar, open(out, "wb") as f:
                for member in tar:
                    if member.isfile():
                        f.write(tar.extractfile(member).read() + b"\n")
        elif path.suffix == ".xz":
            out.write_bytes(lzma.open(path).read())
        else:
            out.write_bytes(path.read_bytes())
        feeds[name] = out
    return feeds


def halves(hams, folder):
    """Two folders: every other message is what the administrator knows, the rest is what comes."""
    known, fresh = folder / "known", folder / "fresh"
    for i, path in enumerate(sorted(f for ham in hams for f in ham.rglob("*.eml"))):
        half = known if i % 2 else fresh
        half.mkdir(exist_ok=True)
        shutil.copyfile(path, half / f"{i}-{path.name}")
    return known, fresh


def configure(folder, feeds):
    folder.mkdir(exist_ok=True)
    conf = folder / "gillnet.conf"
    rows = ",\n".join(f'{{ name = "{n}"; url = "file://{p}"; }}' for n, p in feeds.items())
    lists = ",\n".join(f'{{ name = "{n}"; category = "spam"; weight = 5.0; }}' for n in feeds)
    conf.write_text(f'state_dir = "{folder}/state"; shipped_rules = false;\nfeeds = ( {rows} );\nlists = ( {lists} );\n')
    (folder / "state").mkdir()
    return conf


def stage(program, conf):
    p = subprocess.run([program, conf], capture_output=True, text=True, timeout=400)
    assert p.returncode == 0, f"{p.returncode}\n{p.stdout}{p.stderr[-2000:]}"
    rows = [json.loads(line) for line in p.stdout.splitlines()]
    for row in rows:
        assert not row["refused"] and row["missing"] == 0 and row["asked"] > 0, row
        assert row["same"], row
    return rows


def check_ham(conf, hams):
    """The good messages that are hit: {file: [(list, type, value)]}, and how many there are."""
    hit, total = {}, 0
    p = subprocess.run([f"{BUILD}/gillnet", "-c", conf, "--json", "check", *hams],
                       capture_output=True, text=True, timeout=500)
    assert p.returncode in (0, 1), p.stderr[-2000:]
    for line in p.stdout.splitlines():
        message = json.loads(line)
        total += message["file"].endswith(".eml")
        found = {(h["list"], h["type"], h["value"]) for h in message["lists"]
                 if h["status"] == "confirmed"}
        if found:
            hit[message["file"]] = sorted(found)
    return hit, total


def main(program):
    with tempfile.TemporaryDirectory(prefix="gillnet-feeds-") as name:
        folder = pathlib.Path(name)
        feeds, hams = datafolder.feeds_and_ham(folder)
        feeds = unpack(feeds, folder)
        conf = configure(folder, feeds)
        rows = stage(program, conf)
        hit, total = check_ham(conf, hams)
        # the same with good mail of one's own: half of it is given, the other half is looked at
        known, fresh = halves(hams, folder)
        conf = configure(folder / "given", feeds)
        p = subprocess.run([f"{BUILD}/gillnet", "-c", conf, "feed", "ham", known], capture_output=True, text=True,
                           timeout=300)
        assert p.returncode == 0, p.stderr[-2000:]
        stage(program, conf)
        hit_fresh, total_fresh = check_ham(conf, [fresh])
    threats = {file for file, found in hit.items() if any(not f[0].startswith(BLOCKS_ADS) for f in found)}
    for file, found in sorted(hit.items()):
        print(pathlib.Path(file).name, "; ".join(f"{a}: {b}={c}" for a, b, c in found))
    for file, found in sorted(hit_fresh.items()):
        print("half given:", pathlib.Path(file).name, "; ".join(f"{a}: {b}={c}" for a, b, c in found))
    left_out = {}
    for row in rows:
        print(json.dumps(row))
        for word, n in row["excluded"].items():
            left_out[word] = left_out.get(word, 0) + n
    print(json.dumps({"feeds": len(rows), "entries": sum(r["entries"] for r in rows),
                      "asked": sum(r["asked"] for r in rows), "missing": 0,
                      "excluded": left_out, "ham": total, "ham_hit_by_threats": len(threats), "ham_hit": len(hit),
                      "ham_fresh": total_fresh, "ham_fresh_hit": len(hit_fresh)}))
    assert total > 1000 and len(threats) <= HAM_SHARE * total, f"{len(threats)} of {total} good messages"
    assert len(hit_fresh) <= HAM_SHARE * total_fresh, f"{len(hit_fresh)} of {total_fresh}, half of it given"
    return 0


if __name__ == "__main__":
    sys.exit(datafolder.run(main, sys.argv[1]))
