#!/usr/bin/env python3
"""datafolder - the data folder of the tests: real mail, feeds and vectors that others wrote.

The folder is GILLNET_DATA, else shared/data beside the source tree; mail in it may be packed (maildata).
A test asks for what it needs:
- no folder at all: the test runs on the project's own data, and says so;
- a folder without what is asked for, or with something odd: Unusable, which names the file.

Usage: datafolder.py      says which folder it is; exit 1 where it lacks what tests ask for
"""
import functools
import os
import pathlib
import sys

import maildata
from maildata import Unusable

TOP = pathlib.Path(__file__).resolve().parents[1]
LAYOUT = ("feeds", "html", "urls", "lists/public_suffix_list.dat")
MAIL = ("mail/ham", "mail/spam", "mail/torture")
OWN_FEEDS = ("adblock.txt", "dnsmasq.conf", "domains.txt", "hosts.txt", "unbound.conf")  # where there is no data folder


def folder():
    """The data folder, None where there is none.  Unusable: GILLNET_DATA names none."""
    named = os.environ.get("GILLNET_DATA")
    path = pathlib.Path(named) if named else TOP.parent / "shared/data"
    if path.is_dir():
        return path
    if named:
        raise Unusable(f"{path}: GILLNET_DATA names no folder")
    return None


def needed(path):
    """The path, which must be there."""
    if not path.exists():
        raise Unusable(f"{path}: missing from the data folder")
    return path


@functools.cache
def _loose(place, work):
    """The folder place of mail, with what is packed in it, or is it as a whole, unpacked below work."""
    work = pathlib.Path(work) / place.name
    packed = place.with_name(place.name + maildata.PACKED[0])
    if packed.is_file() and not place.exists():
        maildata.unpack(packed, work / "whole")
        place = work / "whole"
    return maildata.laid_out(needed(place), work)


def mail_folder(data, name, work):
    """The folder data/name of loose messages, such as mail/ham.  Unusable: there is none, or it is damaged."""
    first, *rest = pathlib.PurePosixPath(name).parts
    path = _loose(data / first, str(work)).joinpath(*rest)
    if not path.is_dir():
        raise Unusable(f"{data / name}: missing from the data folder, and not packed there")
    return path


def messages(place):
    """Every message below the folder.  Unusable: there is none."""
    found = sorted(f for f in place.rglob("*") if f.suffix in (".eml", ".msg") and f.is_file())
    if not found:
        raise Unusable(f"{place}: no mail (*.eml, *.msg) in it")
    return found


def corpus():
    """Folder of the SpamAssassin corpus (contrib/fetch-corpus), None where it was not fetched."""
    path = pathlib.Path(os.environ.get("GILLNET_SA_CORPUS") or TOP / "build/corpus/spamassassin")
    return path if path.is_dir() else None


def mail_folders(names, work):
    """The corpus, and the folders of these names where there is a data folder; Unusable: it lacks one."""
    data, found = folder(), [corpus()] if corpus() else []
    return found + [mail_folder(data, name, work) for name in names if data]


def feeds_and_ham(work):
    """Files of real feeds, and folders of good mail; without a data folder our own feeds and the corpus.

    Unusable: the data folder lacks one, or there is no good mail at all.
    """
    data = folder()
    if data:
        feeds = sorted(f for f in needed(data / "feeds").iterdir() if f.is_file() and f.suffix != ".md")
        if not feeds:
            raise Unusable(f"{data / 'feeds'}: no feed in it")
        return feeds, [mail_folder(data, "mail/ham", work)]
    if not corpus():
        raise Unusable(f"{TOP / 'build/corpus/spamassassin'}: no mail; contrib/fetch-corpus fetches it")
    return [TOP / "tests/data/feeds" / name for name in OWN_FEEDS], sorted(corpus().glob("*ham*"))


def run(main, *args):
    """main's exit status; 1, and why, when the data folder is unusable."""
    try:
        return main(*args)
    except Unusable as why:
        print(f"FAILED: {why}")
        return 1


def main():
    data = folder()
    print(f"data folder: {data.resolve() if data else 'none, tests run on our own data and on build/corpus'}")
    for name in LAYOUT if data else ():
        needed(data / name)
    for name in MAIL if data else ():
        packed = [data / (part + end) for part in ("mail", name) for end in maildata.PACKED]
        if not any(path.exists() for path in packed):
            needed(data / name)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
