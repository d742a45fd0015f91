#!/usr/bin/env python3
"""Compare the leaf parts that core/message/mail finds with those of GMime and of Python's email.

Usage: compare.py --ours PROGRAM [--gmime PROGRAM] [--show N] [FOLDER...]
Folders: the SpamAssassin corpus (environment GILLNET_SA_CORPUS, else build/corpus/spamassassin)
and the mail of the data folder (tests/datafolder.py).  At least 99 % of the leaf parts must be those
of at least one oracle (same type, size and SHA-256), in each folder; 77: no folder is there.

Remaining differences, by class (every file that differs was looked at):
  * text after the end of base64 (list footers): ours decodes what can be decoded, as mail clients
    do with concatenated base64; the oracles stop at the padding (spam-2/00588, 00853, 00960, 01309)
  * broken quoted-printable: each of the three keeps or drops other bytes of "=" that begins no
    escape (hard-ham-1/00005, spam-2/00673, 00734, 01041, 01304, nice__mime7)
  * base64 with foreign padding (mimekit content-length.007)
  * no semicolon after the type: ours reads the parameters all the same (stalwart 017,
    enmime mime-bad-content-type), the oracles lose type or parts
  * a multipart whose boundary never comes: the oracles make its text one leaf, ours has it
    as text outside the parts, which is not compared (badmime2)
"""
import argparse
import collections
import email
import email.policy
import functools
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import datafolder  # noqa: E402

AGREEMENT = 0.99
BATCH = 200


def normal(data):
    """As leafsum.c has it: LF line ends, no blanks before them or at the end."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return re.sub(b"[ \t]+(?=\n|\\Z)", b"", data)


def python_leaves(path):
    """[(type, size, sha256)] as email sees them; None when it gives up."""
    try:
        with open(path, "rb") as f:
            message = email.message_from_binary_file(f, policy=email.policy.compat32)
        leaves = []
        stack = [message]
        while stack:
            part = stack.pop()
            if part.is_multipart():
                stack.extend(reversed(part.get_payload()))
                continue
            data = normal(part.get_payload(decode=True) or b"")
            leaves.append((part.get_content_type(), len(data), hashlib.sha256(data).hexdigest()))
        return leaves
    except Exception:  # an oracle that fails has no opinion
        return None


def program_leaves(program, paths):
    """{path: [(type, size, sha256)]} of one of the two C programs; a crash loses one file."""
    found = {}
    for at in range(0, len(paths), BATCH):
        batch = [str(p) for p in paths[at:at + BATCH]]
        out = subprocess.run([program, *batch], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout
        leaves = None
        for line in out.decode("ascii", "replace").splitlines():
            words = line.split(" ")
            if words[0] == "FILE":
                leaves = found.setdefault(line[5:], [])
            elif words[0] == "PART" and len(words) == 5:
                leaves.append((urllib.parse.unquote(words[1]), int(words[2]), words[3]))
    return found


def counter(leaves):
    return collections.Counter(leaves or [])


def show(path, mine, oracles):
    print(f"--- {path}")
    for name, leaves in (("ours", mine), *oracles.items()):
        print(f"  {name}", [(t, n, h[:8]) for t, n, h in leaves or []])


def compare(folder, args):
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in
                   (".md", ".tsv", ".py", ".json") and p.name != "complete")
    ours = program_leaves(args.ours, paths)
    gmime = program_leaves(args.gmime, paths) if args.gmime else {}
    total = same = files_same = shown = 0
    for path in paths:
        mine = ours.get(str(path))
        if mine is None:
            print(f"{path}: ours gave nothing")
            return False
        oracles = {"gmime": gmime.get(str(path)), "python": python_leaves(path)}
        counts = [counter(v) for v in oracles.values() if v is not None]
        either = functools.reduce(lambda a, b: a | b, counts, counter(None))
        hits = sum((counter(mine) & either).values())
        want = max(len(mine), min((sum(c.values()) for c in counts), default=0))
        total += want
        same += hits
        files_same += hits == want
        if hits != want and shown < args.show:
            shown += 1
            show(path, mine, oracles)
    rate = same / total if total else 1.0
    print(f"{folder}: {len(paths)} files, {files_same} alike; leaf parts {same} of {total} = "
          f"{100 * rate:.3f} %")
    return rate >= AGREEMENT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--gmime")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gillnet-mime-") as work:
        folders = args.folders or datafolder.mail_folders(("mail/ham", "mail/spam", "mail/torture"), work)
        if not folders:
            print("no mail to compare on: run contrib/fetch-corpus")
            return 77
        good = [compare(folder, args) for folder in folders]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(datafolder.run(main))
