"""svg - bar charts as SVG, without a library."""
import html
import math

WIDTH, LABEL, BAR, GAP, TOP = 800, 270, 20, 8, 44
COLOURS = {"gillnet": "#1b7f5c", "rspamd": "#c7692a", "SpamAssassin": "#5a5fa8", "nothing": "#888888"}
STYLE = ("text{font:13px sans-serif;fill:#222}.t{font-weight:bold;font-size:15px}"
         "@media(prefers-color-scheme:dark){text{fill:#ddd}}")


def width_of(value, largest, smallest, logarithmic):
    """Pixels of a bar; a logarithmic scale begins at a tenth of the smallest value, so each factor of ten is as wide."""
    room = WIDTH - LABEL - 120
    if value <= 0 or largest <= 0:
        return 0
    if not logarithmic:
        return room * value / largest
    return room * math.log(10 * value / smallest) / math.log(10 * largest / smallest)


def bars(title, rows, logarithmic=False):
    """rows: (label, filter, value, text of the value); text None: not measured. The SVG as text."""
    values = [v for _, _, v, text in rows if text and v > 0]
    largest, smallest = max(values, default=1), min(values, default=1)
    height = TOP + len(rows) * (BAR + GAP) + GAP
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s"><style>%s</style>'
           % (WIDTH, height, html.escape(title, True), STYLE),
           '<text class="t" x="8" y="24">%s</text>' % html.escape(title + (" (logarithmic scale)" if logarithmic else ""))]
    for number, (label, name, value, text) in enumerate(rows):
        y = TOP + number * (BAR + GAP)
        wide = width_of(value, largest, smallest, logarithmic) if text else 0
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LABEL - 8, y + 15, html.escape(label)))
        out.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (LABEL, y, wide, BAR, COLOURS[name]))
        out.append('<text x="%.1f" y="%d">%s</text>' % (LABEL + wide + 6, y + 15, html.escape(text or "not measured")))
    return "\n".join(out + ["</svg>", ""])
