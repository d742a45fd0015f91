"""Debian's promtool, unpacked under build/prometheus by contrib/install-deps test."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("GILLNET_PROMETHEUS", ROOT / "build/prometheus")) / "root/usr/bin/promtool"
RULES = ROOT / "contrib/prometheus/gillnet.rules.yml"


def run(*args, text=None):
    """(exit status, everything it said)"""
    if not PROGRAM.exists():
        raise AssertionError(f"{PROGRAM} is missing: run contrib/install-deps test")
    p = subprocess.run([PROGRAM, *map(str, args)], input=text, capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout + p.stderr


def rules():
    """{alert: {"expr", "severity", "summary", "description", "action"}} of our file, which is written regularly."""
    out = {}
    for part in RULES.read_text().split("\n      - alert: ")[1:]:
        name, rest = part.split("\n", 1)
        expr, rest = rest.split("\n        for: ", 1)
        rule = {"expr": " ".join(expr.split("expr:", 1)[1].replace(">-", "", 1).split())}
        for line in rest.splitlines():
            key, colon, value = line.strip().partition(": ")
            if colon and key in ("severity", "summary", "description", "action"):
                rule[key] = value.strip('"')
        out[name] = rule
    return out
