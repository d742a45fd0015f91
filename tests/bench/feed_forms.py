#!/usr/bin/env python3
"""Write the URLs of standard input as a feed in a provider's form.

Usage: feed_forms.py phishtank.csv|phishtank.json|stix.json < URLS
"""
import csv
import json
import sys

TIME = "2026-01-02T03:04:05+00:00"


def phishtank_row(number, url):
    return {"phish_id": str(number), "url": url, "phish_detail_url": f"http://tank.example/{number}",
            "submission_time": TIME, "verified": "yes", "verification_time": TIME, "online": "yes",
            "target": "Other"}


def indicator(number, url):
    quoted = url.replace("\\", "\\\\").replace("'", "\\'")
    return {"type": "indicator", "spec_version": "2.1", "pattern_type": "stix",
            "id": f"indicator--00000000-0000-4000-8000-{number:012d}",
            "pattern": f"[url:value = '{quoted}']", "valid_from": TIME}


def main(form):
    rows = enumerate(line.rstrip("\n") for line in sys.stdin)
    if form == "phishtank.csv":
        table = csv.DictWriter(sys.stdout, phishtank_row(0, ""), lineterminator="\n")
        table.writeheader()
        table.writerows(phishtank_row(*row) for row in rows)
        return
    make = {"phishtank.json": phishtank_row, "stix.json": indicator}[form]
    print('{"type": "bundle", "objects": [' if form == "stix.json" else "[")
    for number, url in rows:
        print((",\n" if number else "") + json.dumps(make(number, url)), end="")
    print("\n]}" if form == "stix.json" else "\n]")


if __name__ == "__main__":
    main(sys.argv[1])
