#!/usr/bin/env python3
"""No good mail reaches a limit that scores: the limits against padding must not harm honest senders.

Usage: test_ham.py --gillnet PROGRAM [FOLDER...]     exit 0 good, 1 not, 77 there is no mail
Mail: ham of the data folder (tests/datafolder.py) and of the SpamAssassin corpus (GILLNET_SA_CORPUS,
else build/corpus/spamassassin).  Prints each message that has a symbol LIMIT_* with a score, and how
many meet which limit without one.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import datafolder  # noqa: E402

HAM = ("mail/ham",)
MORE_HAM = ("mail-modern/ham-real", "mail-modern/ham-synthetic")  # where the data folder has it
BATCH = 500


def messages(folders, work):
    """Good mail of the folders, else of all that there is."""
    if folders:
        return [f for folder in folders for f in datafolder.messages(folder)]
    found, data = [], datafolder.folder()
    for name in HAM + tuple(n for n in MORE_HAM if data and (data / n).is_dir()) if data else ():
        found += datafolder.messages(datafolder.mail_folder(data, name, work))
    corpus = datafolder.corpus()
    return found + sorted(corpus.glob("*ham*/*.eml") if corpus else ())


def check(gillnet, conf, files):
    done = subprocess.run([gillnet, "-c", conf, "--json", "check", *files], stdout=subprocess.PIPE)
    assert done.returncode in (0, 1), done.returncode
    return [json.loads(line) for line in done.stdout.decode("utf-8", "replace").splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gillnet", required=True)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    met, marked, count = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory(prefix="gillnet-ham-") as work, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        files = messages(args.folders, work)
        if not files:
            print("no ham: contrib/fetch-corpus fetches some")
            return 77
        conf = pathlib.Path(work, "gillnet.conf")
        conf.write_text(f'state_dir = "{work}/state"; shipped_rules = false;\n')
        batches = [files[i:i + BATCH] for i in range(0, len(files), BATCH)]
        for rows in workers.map(lambda batch: check(args.gillnet, conf, batch), batches):
            count += len(rows)
            for row in rows:
                met.update(row["limits"])
                signs = {s["name"]: s["score"] for s in row["symbols"] if s["name"].startswith("LIMIT_") and s["score"]}
                marked += bool(signs)
                if signs:
                    print(row["file"], signs)
    assert count == len(files), f"{count} of {len(files)} messages were read"
    print(f"ham: {count} messages, {marked} marked by a limit; limits met: {dict(met)}")
    return 1 if marked else 0


if __name__ == "__main__":
    sys.exit(datafolder.run(main))
