#!/usr/bin/env python3
"""QR codes that the text or the HTML of a message draws or holds: qrencode makes them, gillnet extract reads them.

    test_drawn.py --gillnet PROGRAM
"""

import argparse
import base64
import html
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

LINK = "https://shop.example/order/"


def qrencode(form, link, margin=2):
    command = ["qrencode", "-t", form, "-m", str(margin), link]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def modules(link, margin):
    """Rows of booleans, dark is true; ASCII has two characters a module."""
    lines = qrencode("ASCII", link, margin).split("\n")[:-1]
    width = max(map(len, lines))
    return [[c == "#" for c in line.ljust(width)[::2]] for line in lines]


def table(link, cell):
    rows = ("".join(cell(dark) for dark in row) for row in modules(link, 1))
    return "<p>Scan:<table>" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table><p>Thanks"


def boxes(link):
    rows = ("".join(f"<span style='background:{'#000' if dark else '#fff'}'>&nbsp;&nbsp;</span>" for dark in row)
            for row in modules(link, 2))
    return "<br>\n".join(rows)


def image(link, padding=0):
    """A picture in an attribute, with a chunk of so many bytes before its pixels."""
    png = subprocess.run(["qrencode", "-o", "-", link], check=True, capture_output=True).stdout
    text = b"tEXta\0" + b"x" * padding
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    data = base64.b64encode(png[:33] + chunk + png[33:]).decode()
    return f'<p>Scan:<img alt=x src=" data:image/png;base64,{data}"><p>Thanks'


# Type and text of a message whose code leads to the link.
FORMS = {
    "UTF8": lambda link: ("plain", qrencode("UTF8", link)),
    "UTF8i": lambda link: ("plain", "Scan:\n" + qrencode("UTF8i", link)),
    "ASCII": lambda link: ("plain", qrencode("ASCII", link)),
    "ASCIIi": lambda link: ("plain", qrencode("ASCIIi", link)),
    "pre": lambda link: ("html", f"<p>Scan:<pre>{html.escape(qrencode('UTF8', link))}</pre>"),
    "br": lambda link: ("html", qrencode("UTF8i", link).replace(" ", "&nbsp;").replace("\n", "<br>\n")),
    "bgcolor": lambda link: ("html", table(link, lambda dark: f"<td bgcolor={'black' if dark else 'white'}></td>")),
    "style": lambda link: ("html", table(link, lambda dark: "<td style='width:4px;height:4px;background-color:"
                                         f"{'rgb(20, 20, 60)' if dark else '#ffe'}'></td>")),
    "inverted": lambda link: ("html", table(link, lambda dark: f"<td bgcolor={'#eee' if dark else 'navy'}></td>")),
    "boxes": lambda link: ("html", boxes(link)),
    "data": lambda link: ("html", image(link)),
    "data_long": lambda link: ("html", image(link, 200000)),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gillnet", required=True)
    args = parser.parse_args()
    bad = []
    for name, form in FORMS.items():
        kind, text = form(LINK + name)
        mail = f"From: a@a.example\nSubject: x\nMIME-Version: 1.0\nContent-Type: text/{kind}; charset=utf-8\n\n{text}\n"
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work) / "mail.eml"
            path.write_text(mail, encoding="utf-8")
            out = subprocess.run([args.gillnet, "extract", path], check=True, capture_output=True, text=True).stdout
        if f"shop.example/order/{name}" not in out or "QR code" not in out:
            bad.append(name)
    print(f"{len(FORMS) - len(bad)} of {len(FORMS)} codes are read")
    if bad:
        print(f"FAILED: {', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
