#!/usr/bin/env python3
"""Torture mail beside which another parser's reading is recorded: subject, addresses, names.

Usage: torture.py --gillnet PROGRAM [--show]
Rows: the messages of mail/torture of the data folder (tests/datafolder.py), packed or not, that have
a file expected/NNN.json (their LF form) or expected/NNN.crlf.json (CRLF form), and rows of our own.
A recording of another form, or a data folder without any, is an error that names the file.
A row is the subject, the From, Reply-To or Sender addresses, or the attachment names of one message
in one form; that both see none is agreement, and counted apart.  At least 95 % must agree, each
that does not must be explained below.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import datafolder  # noqa: E402

AGREEMENT = 0.95
SENDERS = {"from": "from", "reply_to": "reply_to", "sender": "sender"}

# (folder/message, what): why ours is the better reading.
EXPLAINED = {
    ("stalwart-malformed-dovecot/017", "names"):
        "no semicolon before the boundary: the recorded reader loses the multipart and all in it; "
        "a reader that forgives shows the picture, so it counts",
}

# Rows without data, as (message, {type: values}).
OWN = [
    (b"From: Joe <Joe@Example.COM>\nSubject: =?utf-8?q?caf=C3=A9?=\n\nx\n",
     {"subject": ["caf\u00e9"], "from": ["Joe@example.com"]}),
    (b"Sender: a@b.com\nReply-To: g: c@d.com, e@f.com;\n"
     b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
     b"Content-Type: x/y; name*0=one; name*1=.bin\n\n--b\n"
     b"Content-Disposition: attachment; filename*=utf-8''%E2%82%AC.txt\n\n--b--\n",
     {"sender": ["a@b.com"], "reply_to": ["c@d.com", "e@f.com"],
      "names": ["one.bin", "\u20ac.txt"]}),
]


def address(text):
    """Domain in lower case, as ours."""
    local, at, domain = text.strip().rpartition("@")
    return local + at + domain.lower()


def addresses(value):
    """Every address of an Address value."""
    found, stack = [], [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if isinstance(item.get("address"), str):
                found.append(address(item["address"]))
            stack.extend(v for k, v in item.items() if k not in ("name", "address"))
        elif isinstance(item, list):
            stack.extend(item)
    return {a for a in found if "@" in a}


def words(text):
    return " ".join(text.split())


def file_name(text):
    return words(re.split(r"[/\\]", text)[-1]).lower()


def attribute(part, header, name):
    for field in part["headers"]:
        if field["name"] == header and isinstance(field["value"], dict):
            for a in (field["value"].get("ContentType") or {}).get("attributes") or []:
                if a["name"] == name:
                    return a["value"]
    return None


def names_of(message):
    """File names of all parts, those of embedded messages too."""
    found, stack = set(), [message]
    while stack:
        for part in stack.pop()["parts"]:
            for name in (attribute(part, "content_disposition", "filename"),
                         attribute(part, "content_type", "name")):
                if name:
                    found.add(file_name(name))
            body = part.get("body")
            if isinstance(body, dict) and isinstance(body.get("Message"), dict):
                stack.append(body["Message"])
    return found - {""}


def check_form(path, message):
    """Unusable where the recording is not what this test reads."""
    stack = [message]
    while stack:
        parts = stack.pop()["parts"]
        for part in parts:
            for field in part["headers"]:
                if not isinstance(field["name"], str):
                    raise datafolder.Unusable(f"{path}: a header name is no text but {field['name']!r:.80}")
            body = part.get("body")
            if isinstance(body, dict) and isinstance(body.get("Message"), dict):
                stack.append(body["Message"])
        if not parts:
            raise datafolder.Unusable(f"{path}: a message without parts")


def recorded(path):
    try:
        message = json.loads(path.read_text(encoding="utf-8"))
        check_form(path, message)
        return rows_of(message)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise datafolder.Unusable(f"{path}: not a recorded reading as others are: {error!r}") from error


def rows_of(message):
    rows = {"subject": set(), "names": names_of(message)}
    for what in SENDERS:
        rows[what] = set()
    for field in message["parts"][0]["headers"]:
        if field["name"] == "subject" and isinstance(field["value"], dict):
            rows["subject"].add(words(field["value"].get("Text", "")))
        elif field["name"] in SENDERS:
            rows[field["name"]] |= addresses(field["value"])
    rows["subject"] -= {""}
    return rows


def read_all(gillnet, files):
    """Every file is read to its end; how many."""
    with tempfile.TemporaryDirectory() as state:
        conf = pathlib.Path(state, "conf")
        conf.write_text(f'state_dir = "{state}"; shipped_rules = false;\n')
        done = subprocess.run([gillnet, "extract", "-c", conf, "--json", *files],
                              stdout=subprocess.PIPE, check=True)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    names = [re.sub(r":\d+$", "", json.loads(line)["file"]) for line in lines]  # FILE:2 of a mailbox
    assert list(dict.fromkeys(names)) == [str(f) for f in files]
    return len(files)


def ours(gillnet, messages):
    """Output of gillnet extract for each of the messages."""
    with tempfile.TemporaryDirectory() as folder:
        conf = pathlib.Path(folder, "conf")
        conf.write_text(f'state_dir = "{folder}"; shipped_rules = false;\n')
        files = []
        for i, data in enumerate(messages):
            files.append(pathlib.Path(folder, f"{i}.eml"))
            files[-1].write_bytes(data)
        done = subprocess.run([gillnet, "extract", "-c", conf, "--json", *files],
                              stdout=subprocess.PIPE, check=True)
    seen = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        row = json.loads(line)
        values = {"subject": set(), "names": set(), **{w: set() for w in SENDERS}}
        for feature in row["features"]:
            what = {"attachment_name": "names"}.get(feature["type"], feature["type"])
            if what in values:
                values[what].add(feature["value"])
        seen[row["file"]] = values
    return [seen[str(f)] for f in files]


def collect(folder):
    """(label, bytes, expected) of every recorded reading."""
    rows = []
    for expected in sorted(folder.rglob("expected/*.json")):
        number, _, form = expected.name.removesuffix(".json").partition(".")
        message = expected.parent.parent / f"{number}.eml"
        if not message.exists():  # a recording of a message that the folder does not have
            continue
        data = message.read_bytes().replace(b"\r\n", b"\n")
        if form == "crlf":
            data = data.replace(b"\n", b"\r\n")
        label = f"{message.parent.name}/{number}" + (".crlf" if form else "")
        rows.append((label, data, recorded(expected)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gillnet", required=True)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    rows = [(f"own/{i}", m, {k: set(v) for k, v in want.items()})
            for i, (m, want) in enumerate(OWN)]
    data = datafolder.folder()
    if data:
        with tempfile.TemporaryDirectory(prefix="gillnet-torture-") as work:
            folder = datafolder.mail_folder(data, "mail/torture", work)
            files = datafolder.messages(folder)
            print(f"torture: {read_all(args.gillnet, files)} messages read without an abnormal end")
            theirs = collect(folder)
            if not theirs:
                raise datafolder.Unusable(f"{folder}: no recorded reading (expected/NNN.json) in it")
            rows += theirs
    else:
        print("torture: no data folder, rows of our own alone")
    count = agreed = nothing = unexplained = 0
    for (label, _, want), got in zip(rows, ours(args.gillnet, [r[1] for r in rows])):
        for what in ("subject", "names", *SENDERS):
            expected = want.get(what, set())
            count += 1
            nothing += not expected and not got[what]
            if expected == got[what]:
                agreed += 1
                continue
            why = EXPLAINED.get((label.removesuffix(".crlf"), what))
            unexplained += why is None
            print(f"{label} {what}: ours {sorted(got[what])}, theirs {sorted(expected)}: "
                  f"{why or 'NOT EXPLAINED'}")
    print(f"torture: {count} rows, {agreed} agree ({agreed / count:.1%}), of "
          f"{count - nothing} with something to see {agreed - nothing}; {unexplained} not explained, "
          f"{len(rows)} messages")
    return 1 if unexplained or agreed < AGREEMENT * count else 0


if __name__ == "__main__":
    sys.exit(datafolder.run(main))
