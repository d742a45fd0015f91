"""page - the figures of a comparison as tables, a page in Markdown, and pictures."""
import os

import svg

NAMES = ("gillnet", "rspamd", "SpamAssassin")
COLUMNS = (("gillnet shipped", "gillnet"), ("gillnet rules", "gillnet, empty model"), ("rspamd shipped", "rspamd"),
           ("SpamAssassin shipped", "SpamAssassin"), ("gillnet trained", "gillnet, trained"),
           ("rspamd trained", "rspamd, trained"), ("SpamAssassin trained", "SpamAssassin, trained"))
KINDS = ("spam", "ham", "newsletters")
TARGETS = {"rspamd": 4.0, "SpamAssassin": 250.0}  # CPU a message, times gillnet's
CPU_ROW, LOAD_ROW = "CPU a message behind Postfix, ms", "CPU a message at full load, ms"


class Row:
    """One figure of each filter. less: the smaller value is better. values: None where it was not measured."""

    def __init__(self, title, values, less=True):
        self.title, self.values, self.less = title, values, less

    def ratio(self, other):
        """How many times better gillnet is; None: unknown. A figure below what can be measured counts as it."""
        ours, theirs = self.values.get("gillnet"), self.values.get(other)
        if ours is None or theirs is None:
            return None
        ours, theirs = max(ours, 1e-3), max(theirs, 1e-3)
        return theirs / ours if self.less else ours / theirs


def number(value):
    if value is None:
        return "not measured"
    if abs(value) >= 100:
        return "{:,.0f}".format(value)
    return "%.3g" % value


def plain_rows(result):
    """All rows of speed and memory."""
    speed, rows = result["speed"], []

    def add(title, pick, less=True):
        rows.append(Row(title, {n: pick(n) for n in NAMES}, less))

    add(CPU_ROW, lambda n: speed["cpu_ms"][n])
    add(LOAD_ROW, lambda n: speed["cpu_alone_ms"][n])
    add("messages a second, %d connections" % result["connections"], lambda n: speed["rate"][n], less=False)
    for kind, title in (("unix", "Unix socket"), ("inet", "TCP")):
        for share in ("p50", "p99"):
            add("added to a transaction, %s, %s, ms" % (title, share), lambda n, k=kind, s=share: speed["added_ms"][n][k][s])
    add("memory idle, MB", lambda n: speed["memory"][n]["idle"] / 1e6)
    add("memory after the load, MB", lambda n: speed["memory"][n]["after"] / 1e6)
    add("first start until the first answer, s", lambda n: speed["starts"][n]["first"])
    add("later start until the first answer, s", lambda n: speed["starts"][n]["again"])
    for size in result["sizes"]:
        add("memory with a list of {:,} URLs, MB".format(size), lambda n, s=str(size): list_value(result, n, s, "bytes", 1e6))
        add("start with a list of {:,} URLs, s".format(size), lambda n, s=str(size): list_value(result, n, s, "seconds", 1))
    add("change of a list until it counts, s", lambda n: result["changes"][n]["median"])
    return rows


def list_value(result, name, size, key, unit):
    """SpamAssassin has other lists, of hosts; they are told apart from the rows of URLs."""
    found = result["lists"][name].get(size) if name != "SpamAssassin" else None
    return found[key] / unit if found else None


def behind(rows):
    """Sentences: rows in which another filter is better."""
    return ["%s: %s %s, gillnet %s" % (r.title, n, number(r.values[n]), number(r.values["gillnet"]))
            for r in rows for n in NAMES[1:] if r.ratio(n) is not None and r.ratio(n) < 1]


def missed(rows):
    """Sentences: targets that were not reached."""
    return ["%s: %s needs %.3g times gillnet's, the target is %g" % (row.title, n, row.ratio(n), t)
            for row in rows if row.title in (CPU_ROW, LOAD_ROW) for n, t in TARGETS.items() if row.ratio(n) < t]


def table(head, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])


def speed_table(rows):
    def times(row, name):
        ratio = row.ratio(name)
        return "" if ratio is None else "%.3g" % ratio

    return table(["", *NAMES, "rspamd : gillnet", "SpamAssassin : gillnet"],
                 [[r.title, *[number(r.values[n]) for n in NAMES], times(r, "rspamd"), times(r, "SpamAssassin")] for r in rows])


def groups(catch):
    keys = {key for column in catch["table"].values() for key in column}
    return sorted(keys, key=lambda k: (KINDS.index(k.split(" ")[0]), k))


def share(cell):
    return "%.1f" % (100 * cell[1] / cell[0]) if cell and cell[0] else "-"


def sums(catch, column, kind):
    cells = [c for key, c in catch["table"].get(column, {}).items() if key.split(" ")[0] == kind]
    return [sum(c[0] for c in cells), sum(c[1] for c in cells)]


def catch_table(catch):
    lines = []
    for kind in KINDS:
        total = sums(catch, COLUMNS[0][0], kind)
        lines.append(["**%s**" % kind, str(total[0]), *["**%s**" % share(sums(catch, c, kind)) for c, _ in COLUMNS]])
        lines += [[key.split(" ")[1], str(catch["table"][COLUMNS[0][0]][key][0]),
                   *[share(catch["table"].get(c, {}).get(key)) for c, _ in COLUMNS]]
                  for key in groups(catch) if key.startswith(kind)]
    return table(["marked, %", "messages", *[title for _, title in COLUMNS]], lines)


def pictures(result, rows):
    """{file name: SVG}."""
    by_title = {r.title: r for r in rows}

    def of_rows(title, titles, unit, logarithmic):
        return svg.bars(title, [("%s, %s" % (n, label) if label else n, n, by_title[t].values[n] or 0,
                                 by_title[t].values[n] is not None and number(by_title[t].values[n]) + " " + unit)
                                for t, label in titles for n in NAMES], logarithmic)

    sizes = [("memory idle, MB", "no list")] + [("memory with a list of {:,} URLs, MB".format(s), "{:,}".format(s)) for s in result["sizes"]]
    marked = [("%s, %s" % (title, kind), title.split(",")[0], float(share(sums(result["catch"], c, kind)).replace("-", "0")),
               share(sums(result["catch"], c, kind)) + " %") for kind in KINDS for c, title in COLUMNS]
    return {"cpu.svg": of_rows("CPU a message", [(CPU_ROW, ""), (LOAD_ROW, "full load")], "ms", True),
            "added.svg": of_rows("Added to an SMTP transaction", [("added to a transaction, %s, %s, ms" % (k, s), "%s %s" % (k.split()[0], s))
                                                                  for k in ("Unix socket", "TCP") for s in ("p50", "p99")], "ms", True),
            "memory.svg": of_rows("Memory", sizes, "MB", False),
            "catch.svg": svg.bars("Mail that is marked", marked)}


def text(result):
    """The page."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.md"), encoding="utf-8") as file:
        frame = file.read()
    rows, speed, catch = plain_rows(result), result["speed"], result["catch"]
    hosts = result["lists"]["SpamAssassin"]
    most = max(hosts, key=int)
    late = behind(rows)
    words = {
        "MACHINE": result["machine"], "DATE": result["date"], "COMMIT": result["commit"], "MINUTES": "%.0f" % (result["seconds"] / 60),
        "VERSIONS": ", ".join("%s %s" % pair for pair in result["versions"].items()),
        "MESSAGES": str(result["messages"]), "ROUNDS": str(result["rounds"]), "CORES": str(result["cores"]),
        "SPEED": speed_table(rows), "CATCH": catch_table(catch), "SOURCES": "; ".join(catch["rounds"]),
        "TRAIN": str(catch["train"]), "P50": number(speed["smtp_ms"]["p50"]), "P99": number(speed["smtp_ms"]["p99"]),
        "NOTHING_UNIX": number(speed["added_ms"]["nothing"]["unix"]["p50"]),
        "NOTHING_INET": number(speed["added_ms"]["nothing"]["inet"]["p50"]),
        "NOTHING_RATE": number(speed["rate"]["nothing"]),
        "HOSTS": "{:,}".format(int(most)), "HOSTS_MB": number(hosts[most]["bytes"] / 1e6),
        "HOSTS_BYTES": number((hosts[most]["bytes"] - hosts["1"]["bytes"]) / int(most)), "HOSTS_S": number(hosts[most]["seconds"]),
        "LONGEST": "{:,}".format(result["sizes"][-1]),
        "IMPORT_S": number(result["lists"]["gillnet"][str(result["sizes"][-1])]["prepared"]),
        "BEHIND": "\n".join("- %s." % line for line in late) if late else "- No row: gillnet is ahead in each.",
    }
    for word, value in words.items():
        frame = frame.replace("@%s@" % word, value)
    return frame
