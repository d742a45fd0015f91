#!/usr/bin/env python3
"""Compares the texts of the page with their table: core/hub/api/page/texts.js has a row for each text, and no other.

A text is a literal in t("...") or plural("..."), the content of an element with data-t, or the value of data-t-label or
data-t-placeholder. A row has one text for each language, with the same {names} and the same `code` as its key.
  check_texts.py             complains; exit 1 when it did
  check_texts.py --missing   prints the keys without a row
"""
import html
import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "core/hub/api/page"
LANGUAGES = ["de", "fr", "es", "ja"]
ONE_FORM = ["ja"]  # languages without a plural
STRING = r'"((?:[^"\\]|\\.)*)"'


def keys_of_script(text):
    return {json.loads(f'"{m[1]}"'): m[0].startswith("plural") for m in re.finditer(rf"\b(?:t|plural)\(\s*{STRING}", text)}


def keys_of_page(text):
    found = re.findall(r"<(\w+)[^>]*\sdata-t(?=[\s>])[^>]*>(.*?)</\1>", text, re.S)
    marked = re.findall(r'data-t-(?:label|placeholder)="([^"]*)"', text)
    return {" ".join(html.unescape(t).split()): False for t in [inner for _, inner in found] + marked}


def calls_without_literal(name, text):
    return [f"{name}: {m[0]}...: the key must be a literal" for m in re.finditer(r"(?<![\w.])(?:t|plural)\((?!\s*\")[^)]{0,30}", text)]


def complaints_of_row(key, is_plural, row):
    parts = lambda text: sorted(set(re.findall(r"\{\w+\}|`[^`]*`", text)))
    if len(row) != len(LANGUAGES):
        yield f"{key!r}: {len(row)} texts instead of {len(LANGUAGES)}"
    for language, text in zip(LANGUAGES, row):
        if not text.strip():
            yield f"{key!r}: {language} is empty"
        if parts(text) != parts(key):
            yield f"{key!r}: {language} has {parts(text)} instead of {parts(key)}"
        forms = 1 if not is_plural or language in ONE_FORM else key.count("|") + 1
        if is_plural and text.count("|") + 1 != forms:
            yield f"{key!r}: {language} has {text.count('|') + 1} forms instead of {forms}"


def main():
    keys = keys_of_page((PAGE / "index.html").read_text())
    said = []
    for file in sorted(PAGE.glob("*.js")):
        if file.name == "texts.js":
            continue
        text = re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.M)
        keys |= keys_of_script(text)
        if file.name != "language.js":
            said += calls_without_literal(file.name, text)
    table = (PAGE / "texts.js").read_text() if (PAGE / "texts.js").exists() else ""
    rows = {}
    for m in re.finditer(rf"^  {STRING}: (\[.*\]),$", table, re.M):
        key = json.loads(f'"{m[1]}"')
        said += [f"{key!r}: two rows"] if key in rows else []
        rows[key] = json.loads(m[2])
    if len(sys.argv) > 1 and sys.argv[1] == "--missing":
        print("\n".join(json.dumps(k, ensure_ascii=False) for k in keys if k not in rows))
        return 0
    said += [f"{k!r}: no row in texts.js" for k in keys if k not in rows]
    said += [f"{k!r}: a row that nothing uses" for k in rows if k not in keys]
    for key, row in rows.items():
        said += complaints_of_row(key, keys.get(key, False), row)
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
