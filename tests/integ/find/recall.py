#!/usr/bin/env python3
"""Recall and precision of URLs in real mail.

Usage: recall.py --gillnet PROGRAM --canonical PROGRAM [--show N] [FOLDER...]
Folders: the SpamAssassin corpus (environment GILLNET_SA_CORPUS, else build/corpus/spamassassin)
and mail of the data folder (tests/datafolder.py); 77 when there is none.  Recall: of the URLs that a broad regular expression finds in the parts
as Python's email decodes them (of HTML with its character references read), at least 99.9 % are found.  Each one that is not is printed and must be of a kind listed in
excuse().  Precision: the host of every URL found lies in a decoded part or a header field.
"""
import argparse
import collections
import email
import email.header
import email.policy
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import datafolder  # noqa: E402

RECALL = 0.999
BATCH = 200
# One message has over 3,000 URLs, and a loaded machine must not make a difference.
CONF = 'state_dir = "{state}"; shipped_rules = false;\nlimits = {{ urls = 10000; features = 1000000; cpu = "60s"; }};\n'
URL = re.compile(r"""(?:https?|ftp)://[^\s<>"'`\x00-\x20\x7f]+|\bwww\.[a-z0-9-]+\.[^\s<>"'`\x00-\x20\x7f]+""", re.I)
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
NAMESPACES = ("www.w3.org", "www.w3c.org", "schemas.microsoft.com")
# Looked at one by one.
KNOWN = {
    "easy-ham-2/01177": "in the compressed RTF of winmail.dat, which Python does not read",
    "hard-ham-1/00024": "broken markup: the URL is a name of an attribute to browsers",
    "hard-ham-1/00196": "broken markup: background=\"\"http://...",
    "spam-1/00313": "text after the end of base64, which Python leaves out or reads as such",
    "spam-1/00470": "an attribute broken over lines, which browsers join: it is found so",
    "spam-2/00556": "src of <cursive type=..., whose quote is not closed: no attribute to browsers",
}
DEFANGED = re.compile(r"\s*[\[({](?:\.|dot)[\])}]\s*", re.I)
TAG = re.compile(r"<[^>]*>")


def decoded(part):
    data = part.get_payload(decode=True) or b""
    for charset in (part.get_content_charset() or "utf-8", "utf-8"):
        try:
            return data.decode(charset)
        except (LookupError, UnicodeError):
            pass
    return data.decode("latin-1")


def readings(path):
    """(texts of the text parts, everything that a URL may come from)."""
    with open(path, "rb") as f:
        raw = f.read()
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    texts, sources = [], [raw.decode("latin-1")]
    for part in message.walk():
        if part.is_multipart():
            continue
        text = decoded(part)
        sources.append(text)
        if part.get_content_maintype() != "text":
            continue
        texts.append((part.get_content_subtype(), text))
    for part in message.walk():
        for value in part.values():
            try:
                sources.append(str(email.header.make_header(email.header.decode_header(value))))
            except Exception:  # what cannot be decoded stands in the message itself
                pass
    return texts, sources


def trim(url):
    """Without what no reader takes for a part of it."""
    while url:
        last = url[-1]
        if last in ".,;:!?'*([{" or (last in ")]}" and url.count(last) > url.count("([{"[")]}".index(last)])):
            url = url[:-1]
        else:
            break
    return url


def wanted(texts):
    found = []
    for subtype, text in texts:
        reading = html.unescape(text) if subtype == "html" else text
        found += [trim(m.group()) for m in URL.finditer(reading)]
    return [u for u in dict.fromkeys(found) if re.search(r"[a-z0-9]", u.partition("//")[2] or u, re.I)]


def squash(text):
    text = INVISIBLE.sub("", text)
    return re.sub(r"\s+", "", text).lower()


def canonical(program, urls):
    lines = "".join(u.replace("\n", " ") + "\n" for u in urls).encode("utf-8", "surrogatepass")
    out = subprocess.run([program], input=lines, stdout=subprocess.PIPE, check=True).stdout
    return out.decode("utf-8", "replace").split("\n")[:-1]


def extracted(program, conf, paths):
    out = subprocess.run([program, "-c", conf, "extract", "--json", *map(str, paths)],
                         stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def host_of(canonical_url):
    return re.split(r"[/?:]", canonical_url)[0]


def known(path):
    return KNOWN.get(f"{path.parent.name.removeprefix('sa-')}/{path.name[:5]}")


def unwrapped(text):
    """With the escapes of links in links gone, as deep as they are unwrapped."""
    for _ in range(5):
        text = urllib.parse.unquote(text)
    return text


def places(sources):
    """All that a host may stand in, as it stands there to some reader."""
    return "\n".join(squash(reading) for text in sources for reading in
                     (text, html.unescape(text), html.unescape(TAG.sub("", text)), unwrapped(text),
                      DEFANGED.sub(".", text)))


def is_odd_address(program, host, sources):
    """One of the odd forms of addresses, or one with escapes."""
    if not re.fullmatch(r"[0-9.]+", host):
        return False
    urls = [u for text in sources for u in URL.findall(html.unescape(text))]
    return any(host_of(c) == host for c in canonical(program, urls))


def excuse(canon, ours):
    """Why gillnet rightly does not find this URL of the expression; None: it should find it."""
    if not canon:
        return "no URL by the WHATWG rules"
    if any(html.unescape(u) == canon for u in ours):
        return "in a script or comment, where character references are not read"
    if host_of(canon).startswith(NAMESPACES):
        return "the name of a document type or of an XML namespace"
    if any(html.unescape(u).startswith(canon.rstrip("/-_")) for u in ours):
        return "ends elsewhere: the expression ends at ', ours when it stands in such"
    host = host_of(canon)
    same_host = [u for u in ours if host_of(u) == host]
    if any(canon.startswith(u.rstrip("/")) or u.startswith(canon) for u in same_host):
        return "ends elsewhere: the expression knows no brackets, quotes or markup"
    return None


def half(url, texts):
    """A literal of a script that goes on with something unknown: no URL, and its host is told."""
    goes_on = re.compile(re.escape(url) + r"""['"]\s*\+""")
    return "half a link of a script" if any(goes_on.search(text) for _, text in texts) else None


def check(folder, args, conf, seen):
    paths = [p for p in sorted(folder.rglob("*.eml")) if p.name not in seen]
    seen.update(p.name for p in paths)
    if not paths:
        return True
    total = exact = nfound = 0
    excuses, misses, strays = collections.Counter(), [], []
    limited = collections.Counter()
    for at in range(0, len(paths), BATCH):
        batch = paths[at:at + BATCH]
        read = [readings(path) for path in batch]
        asked = [wanted(texts) for texts, _ in read]
        # one program for the batch: to start it costs more than its work
        canons = iter(canonical(args.canonical, [url for urls in asked for url in urls]))
        for path, message, (texts, sources), urls in zip(batch, extracted(args.gillnet, conf, batch), read, asked):
            ours = {f["value"] for f in message["features"] if f["type"] == "url_exact"}
            limited[" ".join(message["limits"])] += 1
            for url in urls:
                canon = next(canons)
                total += 1
                if canon in ours:
                    exact += 1
                    continue
                why = excuse(canon, ours) or half(url, texts) or known(path)
                excuses[why] += 1
                if why is None:
                    misses.append((path, url))
            text = places(sources) if ours else ""
            for url in ours:
                nfound += 1
                host = host_of(url)
                if host not in text and not is_odd_address(args.canonical, host, sources) and not known(path):
                    strays.append((path, url))
    print(f"{folder}: {len(paths)} messages, {total} URLs of the expression, {exact} the same, "
          f"{nfound} found")
    print("  limits met: " + (", ".join(f"{k} {v}" for k, v in limited.items() if k) or "none"))
    for why, count in excuses.most_common():
        print(f"  {count} {why or 'MISSED'}")
    for path, url in misses[:args.show]:
        print(f"  missed: {path.parent.name}/{path.name}: {url}")
    for path, url in strays[:args.show]:
        print(f"  in no part: {path.parent.name}/{path.name}: {url}")
    recall = 1 - len(misses) / total if total else 1.0
    print(f"  recall {100 * recall:.3f} %, in no part {len(strays)}")
    return recall >= RECALL and not strays


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gillnet", required=True)
    parser.add_argument("--canonical", required=True)
    parser.add_argument("--show", type=int, default=50)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gillnet-recall-") as state:
        conf = os.path.join(state, "gillnet.conf")
        with open(conf, "w") as f:
            f.write(CONF.format(state=state))
        folders = args.folders or datafolder.mail_folders(("mail/ham", "mail/spam"), state)
        if not folders:
            print("skipped: no corpus (contrib/fetch-corpus fetches it)")
            return 77
        seen = set()
        return 0 if all([check(f, args, conf, seen) for f in folders]) else 1


if __name__ == "__main__":
    sys.exit(datafolder.run(main))
