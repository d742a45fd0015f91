#!/usr/bin/env python3
"""Counts sentences that a technical reader is likely to stumble over, per folder and per rule.

Usage: plain.py [-l RULE] [-m PERCENT] [ROOT]    exit 0, or 1: a folder is above PERCENT
-l lists every sentence that RULE finds ("all": any rule). Reads comments and string literals of C
files, comments of Python and configuration, man pages and Markdown. A rule is a hint: a sentence
may break one and still be the clearest.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

NEG = r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|unless)\b"
RULES = {
    # a relative clause does a noun's work at the head of a sentence: "What is built serves nobody", "Whom it names is called"
    "clause-subject": re.compile(r"^(?:What|Whom|Who|Whose|Whoever|Whomever|Whatever|That which)\b(?! (?:to|if)\b)(?!.*\?\W*$)"),
    # the same inside: "x - what the parts share", "; what is live fills", "to who publishes it", "than what the bucket had"
    "clause-noun": re.compile(r"(?:[:;-]|, and|, but| and| of| for| by| to| from| on| in| than| as|, ) ?"
                              r"\b(?:what|whom|whoever|whatever|who) (?!(?:to|if|kind|happens|it is|they are|theory|its first)\b)(?!the \w+[.,;]?$)\w+|"
                              r"\b(?:by|under|from|to|with) which (?:keys?|names?)\b"),
    # possessives as attributes: "trouble of ours", "a file of gillnetd's", "nobody's"
    "of-ours": re.compile(r"\b(?:of (?:ours|theirs|yours|hers|gillnetd's)|(?:is|are|was|were|what is) (?:ours|theirs|nobody's)|nobody's)\b", re.I),
    # pronoun left alone: "that is none", "none is", "that is not there"
    "bare-none": re.compile(r"\b(?:(?:that|which|it) (?:is|are|was) (?:none|not there|there)|none (?:is|are|was|that|of (?:it|those|these|whom))|"
                            r"no such one|nothing of (?:it|that|them|which)|such (?:a one|ones?)|one (?:that is|which is) (?:none|not))\b", re.I),
    # "so many", "so long", "so" as measures whose size stands elsewhere
    "so-many": re.compile(r"\b(?:for so long|so (?:many|long|often|much|large|far|few)(?! (?:as|that|longer)\b))\b(?=[ ,.;:)])", re.I),
    # things that speak, hear and are asked
    "speaking-things": re.compile(r"\b(?:(?:is|are|was|were|be|been|being) (?:asked(?! for)|told|heard|believed)|hears? of|says? (?:nothing|no)|"
                                  r"spoke against|word on|has a say|have (?:a|no) say|to be asked)\b"),
    # words that technical English no longer uses so
    "dated": re.compile(r"\b(?:anew|of late|no more(?! than)|any more(?! than)|but for|therein|thereof|whereof|hence|likewise|"
                        r"all the same|made good|goes on with|go on with|gives? way|lets? go|taken up again|takes everything up|turned away|"
                        r"(?:take[ns]?|took) (?:it |them |these |that )?back|of those who|(?:is|are) over(?=[ ]?[,.;:)]|$)|aside)\b", re.I),
    "no-pile": re.compile(r"(?:" + NEG + r"[^.]*?){3,}", re.I),
    # two colons in one sentence
    "colon-chain": re.compile(r"^(?!(?:False|True|NULL|ERR_\w+|Depends|Threads|Source|Format)\b)[^:]*[a-z)]: (?!(?:NULL|ERR_))[^:]*[a-z)]: "),
    # "Of one." "Likewise." "Else nothing.": a sentence that cannot be read alone
    "fragment": re.compile(r"^(?:Of|Else|Behind|Beside|Its|Both|Likewise)\b(?:\W+\w+){0,4}\.?$"),
    # the complement before the verb, the subject after it: "In it lie ...", "Of each only what is needed"
    "inverted": re.compile(r"^(?:Of|In|On|Behind|Beside|Beyond|To|From|Before|After) (?:each|it|them|these|those|this|that|one|all|the \w+|what)\b[, ]+"
                           r"(?:only|is|are|was|were|lies?|stands?|goes|go|comes?|come|belongs?|serves?|peers|they)\b"),
}
READ = re.compile(r"\.(?:c|h|def|md|conf|py|[1-8])$|conf\.minimal$")
SKIP = re.compile(r"tests/lint/plain.py|tests/data|tests/fuzz|contrib/(?:cmake|grafana|prometheus/|gen-|fetch-)")



def text_blocks(path, s):
    """Yields (line number, text)."""
    def line(at):
        return s.count("\n", 0, at) + 1

    if path.endswith((".c", ".h", ".def")):
        for m in re.finditer(r"/\*(.*?)\*/", s, re.S):
            yield line(m.start()), re.sub(r"\n\s*\*? ?", "\n", m.group(1))
        code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), s, flags=re.S)
        for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', code):
            t = re.sub(r'"\s*"', "", m.group())[1:-1]
            if path.startswith("tests/") or re.search(r'[={]\s*\\?"|;\s*\\n|<\w+', t):
                continue  # test data
            if len(re.findall(r"[A-Za-z]{2,}", t)) >= 4 and "#include" not in t:
                yield line(m.start()), t
    elif re.search(r"\.[1-8]$", path):
        t = re.sub(r"(?m)^\.(?:\\\".*|Sh.*|Ss.*|Dd.*|Dt.*|Os.*|Bl.*|El.*|Bd.*|Ed.*|It.*|Pp.*|sp.*)$", "\n\n", s)
        t = re.sub(r"(?m)^\.(?:[A-Z][a-z])\s*", "", t)
        for m in re.finditer(r"(?:[^\n]+\n?)+", t):
            yield t.count("\n", 0, m.start()) + 1, m.group()
    elif path.endswith(".md"):
        t = re.sub(r"(?s)```.*?```", lambda m: "\n" * m.group().count("\n"), s)
        for m in re.finditer(r"(?m)(?:^(?!    |#|\|)[^\n]+\n?)+", t):
            yield t.count("\n", 0, m.start()) + 1, m.group()
    else:
        for m in re.finditer(r"(?m)(?:^[ \t]*(?:#|//)[^\n]*\n?)+", s):
            t = re.sub(r"(?m)^[ \t]*(?:#|//)+ ?(?:> .*)?", "", m.group())
            yield line(m.start()), t


def sentences(text):
    text = re.sub(r"`[^`]*`|https?://\S+|<[^>]*>", "X", re.sub(r"\s+", " ", re.sub(r"\n\s*\n", ". ", text)))
    for x in re.split(r"(?<=[.!?])\s+(?=[A-Z(])| {2,}", text):
        x = x.strip(" *-")
        if len(re.findall(r"[A-Za-z]{2,}", x)) >= 2:
            yield x


def folder_of(path):
    if "/" not in path or path.startswith(("milter", "conf", "systemd")):
        return path.split("/")[0]
    return "/".join(path.split("/")[:2])


def main():
    args = argparse.ArgumentParser()
    args.add_argument("-l", metavar="RULE")
    args.add_argument("-m", metavar="PERCENT", type=float)
    args.add_argument("root", nargs="?", default=".")
    args = args.parse_args()
    files = subprocess.run(["git", "-C", args.root, "ls-files"], capture_output=True, text=True,
                           check=True).stdout.split("\n")
    total, hit, rule = collections.Counter(), collections.Counter(), collections.Counter()
    for path in (f for f in files if READ.search(f) and not SKIP.match(f)):
        with open(os.path.join(args.root, path), encoding="utf-8") as f:
            text = f.read()
        for line, block in text_blocks(path, text):
            for sentence in sentences(block):
                names = [n for n, rx in RULES.items() if rx.search(sentence)]
                total[folder_of(path)] += 1
                hit[folder_of(path)] += bool(names)
                rule.update(names)
                if args.l in names or (names and args.l == "all"):
                    print(f"{path}:{line}: [{','.join(names)}] {sentence}")
    worst = max((100 * hit[k] / total[k] for k in total), default=0)
    if not args.l:
        for k in sorted(total):
            print(f"{k:24} {hit[k]:5} of {total[k]:6} sentences  {100 * hit[k] / total[k]:5.1f} %")
        print("\n".join(f"  {n:16} {rule[n]:5}" for n in RULES))
    return 1 if args.m is not None and worst > args.m else 0


if __name__ == "__main__":
    sys.exit(main())
