"""Rows of the proof as JSON lines, and the table that contrib/prove draws of them."""
import json
import sys

ZEROS = ("mail_lost", "acknowledged_lost", "doubled", "wrong_verdicts", "over_bound")
HEADS = ("tried", "mail lost", "acknowledged lost", "doubled", "wrong verdicts", "over a bound")


def say(part, fault, tried, note="", **faults):
    """One row on standard output; faults: lists of texts, which go to standard error, too."""
    for name, texts in faults.items():
        assert name in ZEROS, name
        for text in texts[:50]:
            print(f"{part}: {name}: {text}", file=sys.stderr)
    row = {"part": part, "fault": fault, "tried": tried, **{name: len(faults.get(name, ())) for name in ZEROS},
           "note": note}
    print(json.dumps(row), flush=True)


def add_up(rows):
    """One row for each part and fault; the numbers of several runs are added, the last note stays."""
    out = {}
    for row in rows:
        total = out.setdefault((row["part"], row["fault"]), {**row, **dict.fromkeys(("tried", *ZEROS), 0)})
        for name in ("tried", *ZEROS):
            total[name] += row.get(name, 0)
        total["note"] = row.get("note", "")
    return list(out.values())


def is_clean(rows):
    """Something was tried in each row, and nothing went wrong."""
    return bool(rows) and all(row["tried"] > 0 and not any(row.get(name, 0) for name in ZEROS) for row in rows)


def draw(rows):
    """The table as text of Markdown."""
    lines = ["| part | fault | " + " | ".join(HEADS) + " | note |", "| --- | --- |" + " ---: |" * len(HEADS) + " --- |"]
    for row in rows:
        numbers = " | ".join(f"{row.get(name, 0):,}" for name in ("tried", *ZEROS))
        lines.append(f"| {row['part']} | {row['fault']} | {numbers} | {row.get('note', '')} |")
    return "\n".join(lines)
