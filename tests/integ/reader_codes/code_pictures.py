"""Pictures of codes as they come in mail, made by qrencode, zint and ImageMagick.

Each class of CLASSES makes one kind of picture from a payload; a seed decides all its details.
"""
import pathlib
import random
import string
import subprocess

DARK = ["#000000", "#1a237e", "#7f0000", "#004d40", "#3e2723", "#4a148c"]
LIGHT = ["#ffffff", "#fff9c4", "#e0f7fa", "#fce4ec", "#f1f8e9", "#ffe0b2"]
# Foreground and background of much the same lightness: only a colour tells them apart.
ALIKE = [("#e00000", "#007a00"), ("#c000c0", "#808000"), ("#0060ff", "#b05000"), ("#d02020", "#3878ff"),
         ("#008080", "#c03060")]


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdin=subprocess.DEVNULL)


def payload_of(rnd, longest=60):
    letters = string.ascii_lowercase + string.digits
    name = "".join(rnd.choices(letters, k=rnd.randint(4, 12)))
    path = "".join(rnd.choices(letters + string.ascii_uppercase, k=rnd.randint(1, longest - 38)))
    tail = rnd.choice(["", "", "?to=k%C3%B6ln", "#ü"]) if longest >= 60 else ""
    return f"https://{name}.example/{path}{tail}"


def qr(out, payload, size=5, level="M", margin=4, dark="000000", light="ffffff"):
    run("qrencode", "-o", out, "-s", size, "-l", level, "-m", margin, f"--foreground={dark}",
        f"--background={light}", "--", payload)


def zint(out, kind, payload, scale, *more):
    run("zint", "-o", out, "-b", kind, f"--scale={scale}", "--whitesp=2", "--vwhitesp=2", *more, "-d", payload)


def side_of(file):
    text = subprocess.run(["identify", "-format", "%w %h", file], check=True, capture_output=True, text=True).stdout
    return [int(n) for n in text.split()]


def plain(rnd, payload, out):
    qr(out, payload, rnd.randint(3, 8), rnd.choice("LMQH"), rnd.choice([2, 4]))


def rotated(rnd, payload, out):
    qr(out, payload, rnd.randint(4, 7))
    run("convert", out, "-background", "white", "-rotate", rnd.uniform(0, 360), out)


def skewed(rnd, payload, out):
    qr(out, payload, 8, margin=6)
    side = side_of(out)[0]
    pairs = []
    for x, y in ((0, 0), (side, 0), (side, side), (0, side)):
        to = [v + rnd.uniform(0, side * 0.16) * (1 if v == 0 else -1) for v in (x, y)]
        pairs.append(f"{x},{y} {to[0]:.1f},{to[1]:.1f}")
    run("convert", out, "-virtual-pixel", "white", "-distort", "Perspective", "  ".join(pairs), out)


def inverted(rnd, payload, out):
    qr(out, payload, rnd.randint(3, 8))
    run("convert", out, "-negate", "-bordercolor", rnd.choice(["black", "white"]), "-border",
        rnd.randint(0, 40), out)


def jpeg20(rnd, payload, out):
    qr(out, payload, rnd.randint(3, 6), "L")
    jpeg = out.with_suffix(".jpg")
    run("convert", out, "-rotate", rnd.choice([0, 0, rnd.uniform(-9, 9)]), "-quality", 20, jpeg)
    return jpeg


def logo(rnd, payload, out):
    qr(out, payload, 7, "H")
    share = rnd.uniform(18, 26)
    run("convert", out, "(", "-size", "100x100", f"xc:{rnd.choice(DARK)}", "-fill", "white", "-draw",
        "circle 50,50 50,20", "-bordercolor", "white", "-border", 6, "-resize", "%dx" % (share * 2.4), ")",
        "-gravity", "center", "-composite", out)


def border(rnd, file):
    """Some that cut a code give each part a border of its own."""
    if rnd.random() < 0.3:
        run("convert", file, "-bordercolor", "white", "-border", rnd.randint(1, 20), file)


def split2(rnd, payload, out):
    """Returns the parts in the order of reading."""
    qr(out, payload, rnd.randint(4, 7), margin=rnd.choice([2, 4]))
    share = rnd.choice([50, 50, rnd.randint(30, 70)])
    size, rest = (f"{share}%x100%", "East") if rnd.random() < 0.5 else (f"100%x{share}%", "South")
    parts = [out.with_name(f"{out.stem}-{i}.png") for i in range(2)]
    run("convert", out, "-crop", f"{size}+0+0", "+repage", parts[0])
    width, height = side_of(parts[0])
    across, down = side_of(out)
    run("convert", out, "-gravity", rest, "-crop",
        f"{across - width or across}x{down - height or down}+0+0", "+repage", parts[1])
    for part in parts:
        border(rnd, part)
    return parts


def split4(rnd, payload, out):
    """Likewise."""
    qr(out, payload, rnd.randint(4, 7), margin=rnd.choice([2, 4]))
    across, down = rnd.choice([(2, 2), (2, 2), (4, 1), (1, 4)])
    run("convert", out, "-crop", f"{across}x{down}@", "+repage", out.with_name(out.stem + "-%d.png"))
    return [out.with_name(f"{out.stem}-{i}.png") for i in range(4)]


def split_among(rnd, payload, out):
    """Parts that other pictures of the message stand around, some of the same size."""
    parts = split2(rnd, payload, out)
    width, height = side_of(parts[0])
    others = [out.with_name(f"{out.stem}-other{i}.png") for i in range(rnd.randint(2, 6))]
    for other in others:
        size = f"{width}x{height}" if rnd.random() < 0.5 else f"{rnd.randint(20, 300)}x{rnd.randint(20, 200)}"
        run("convert", "-seed", rnd.randrange(10**6), "-size", size, "plasma:fractal", other)
    return others[1:] + parts + others[:1]


def below_halves(rnd, payload, out):
    """Below halves of other codes, on which ZXing 1.4 fails an assertion when it seeks Micro QR."""
    rows = [out.with_name(f"{out.stem}-{i}.png") for i in range(4)]
    for row in rows:
        qr(out, payload_of(rnd), rnd.randint(2, 7))
        high = rnd.randint(60, 200)
        run("convert", "(", out, "-crop", f"50%x100%+{rnd.randint(0, 60)}+{rnd.randint(0, 30)}", "+repage", "-resize",
            f"{rnd.randint(60, 250)}x{high}!", ")", "-seed", rnd.randrange(10**6), "-size",
            f"{rnd.randint(80, 400)}x{high}", "plasma:fractal", "+append", row)
    qr(out, payload, 5)
    run("convert", *rows, out, "-append", out)
    for row in rows:
        row.unlink()


def coloured(rnd, payload, out):
    dark, light = rnd.choice(ALIKE) if rnd.random() < 0.6 else (rnd.choice(DARK), rnd.choice(LIGHT))
    if rnd.random() < 0.3:
        dark, light = light, dark
    qr(out, payload, rnd.randint(4, 7), dark=dark[1:], light=light[1:])
    if rnd.random() < 0.3:
        jpeg = out.with_suffix(".jpg")
        run("convert", out, "-quality", 85, jpeg)
        return jpeg
    return out


def tiny(rnd, payload, out):
    qr(out, payload, rnd.choice([1, 2]), "L")
    if rnd.random() < 0.3:
        run("convert", out, "-bordercolor", "white", "-border", 100, out)


def huge(rnd, payload, out):
    qr(out, payload, rnd.randint(35, 60))


def blurred(rnd, payload, out):
    size = rnd.randint(4, 8)
    qr(out, payload, size)
    run("convert", out, "-blur", f"0x{size * rnd.uniform(0.3, 0.55):.2f}", out)


def pale(rnd, payload, out):
    low = rnd.randint(90, 200)
    qr(out, payload, rnd.randint(4, 7), dark="%02x%02x%02x" % ((low,) * 3),
       light="%02x%02x%02x" % ((low + rnd.randint(16, 30),) * 3))


def on_photo(rnd, payload, out):
    qr(out, payload, rnd.randint(3, 6), margin=rnd.choice([2, 4]))
    jpeg = out.with_suffix(".jpg")
    run("convert", "-size", f"{rnd.randint(500, 1000)}x{rnd.randint(500, 900)}", "-seed",
        rnd.randrange(10**6), "plasma:", "(", out, "-background", "none", "-virtual-pixel", "none", "-rotate",
        rnd.uniform(-30, 30), ")", "-geometry", f"+{rnd.randint(0, 250)}+{rnd.randint(0, 250)}", "-composite",
        "-quality", rnd.randint(50, 90), jpeg)
    return jpeg


def gradient(rnd, payload, out):
    qr(out, payload, rnd.randint(4, 7))
    side = side_of(out)[0]
    run("convert", out, "(", "-size", f"{side}x{side}", f"gradient:{rnd.choice(DARK)}-{rnd.choice(['#c62828', '#1565c0', '#2e7d32'])}",
        ")", "-compose", "Lighten", "-composite", "(", "-size", f"{side}x{side}",
        f"gradient:#ffffff-{rnd.choice(['#909090', '#b0c0d0', '#d0b0a0'])}", "-rotate", rnd.choice([0, 90, 180]), ")",
        "-compose", "Multiply", "-composite", out)


def dots(rnd, payload, out):
    zint(out, "QRCODE", payload, rnd.choice([3, 4, 5]), "--dotty", f"--dotsize={rnd.choice([0.7, 0.8, 0.9])}",
         "--eci=26", "--secure=3")


def no_quiet(rnd, payload, out):
    qr(out, payload, rnd.randint(3, 7), margin=0)
    if rnd.random() < 0.5:
        run("convert", out, "-bordercolor", rnd.choice(["black", "#303030", "#808080"]), "-border",
            rnd.choice([1, 3, 20]), out)


def several(rnd, payload, out):
    """Returns the payloads too."""
    second, third = payload_of(rnd), payload_of(rnd)
    parts = []
    for i, text in enumerate((payload, second, third)):
        parts.append(out.with_name(f"{out.stem}-part{i}.png"))
        qr(parts[-1], text, rnd.randint(3, 6))
    run("convert", parts[0], parts[1], "-background", "white", "+append", "(", parts[2], ")", "-append", out)
    return out, [payload, second, third]


def transparent(rnd, payload, out):
    if rnd.random() < 0.5:
        qr(out, payload, rnd.randint(3, 7), dark="000000ff", light="ffffff00")
    else:
        qr(out, payload, rnd.randint(3, 7), dark="ffffffff", light="00000000")


def data_matrix(rnd, payload, out):
    zint(out, "DATAMATRIX", payload, rnd.choice([2, 3, 4]), "--eci=26", rnd.choice(["--square", "--esc"]))
    spoil(rnd, out)


def aztec(rnd, payload, out):
    zint(out, "AZTEC", payload, rnd.choice([2, 3, 4]), "--eci=26")
    spoil(rnd, out)


def spoil(rnd, out):
    """One of the things that happen to any code."""
    way = rnd.choice(["none", "rotate", "negate", "blur", "grey"])
    if way == "rotate":
        run("convert", out, "-background", "white", "-rotate", rnd.uniform(0, 360), out)
    elif way == "negate":
        run("convert", out, "-negate", out)
    elif way == "blur":
        run("convert", out, "-blur", "0x1", out)
    elif way == "grey":
        run("convert", out, "+level", "40%,60%", out)


CLASSES = [plain, rotated, skewed, inverted, jpeg20, logo, split2, split4, split_among, below_halves, coloured, tiny, huge, blurred,
           pale, on_photo, gradient, dots, no_quiet, several, transparent, data_matrix, aztec]


def make(kind, seed, folder):
    """Returns the files and the payloads that they show."""
    rnd = random.Random(f"{kind.__name__} {seed}")
    payload = payload_of(rnd, 50 if kind in (data_matrix, aztec) else 60)
    out = pathlib.Path(folder, f"{kind.__name__}-{seed}.png")
    made = kind(rnd, payload, out)
    payloads = [payload]
    if isinstance(made, tuple):
        made, payloads = made
    files = made if isinstance(made, list) else [made or out]
    return files, payloads


def make_empty(seed, folder):
    """A picture without a code."""
    rnd = random.Random(f"empty {seed}")
    out = pathlib.Path(folder, f"empty-{seed}.{rnd.choice(['png', 'jpg'])}")
    size = f"{rnd.randint(200, 700)}x{rnd.randint(150, 500)}"
    way = rnd.choice(["plasma", "text", "table", "noise", "shapes", "stripes"])
    base = ["convert", "-seed", rnd.randrange(10**6), "-size", size]
    if way == "plasma":
        run(*base, "plasma:fractal", out)
    elif way == "text":  # lines of strokes like letters, since a machine may have no font
        draw, high = [], rnd.randint(6, 16)
        for y in range(10, 400, high * 2):
            for x in range(10, rnd.randint(100, 600), high):
                draw += ["-draw", f"line {x},{y} {x + rnd.randint(0, high - 2)},{y + high}",
                         "-draw", f"line {x},{y + rnd.randint(0, high)} {x + high - 2},{y + rnd.randint(0, high)}"]
        run(*base, f"xc:{rnd.choice(LIGHT)}", "-stroke", rnd.choice(DARK), *draw, out)
    elif way == "noise":
        run(*base, "xc:gray", "+noise", "Random", "-scale", rnd.choice(["100%", "300%"]),
            *(["-threshold", "50%"] if rnd.random() < 0.5 else []), out)
    else:
        draw = []
        for i in range(rnd.randint(20, 150)):
            x, y, side = rnd.randint(0, 600), rnd.randint(0, 400), rnd.randint(4, 90)
            if way == "table":
                x, y, side = i % 12 * 40, i // 12 * 40, 36
            elif way == "stripes":
                x, y, side = i * rnd.randint(3, 5), 0, 0
            shape = {"table": f"rectangle {x},{y} {x + side},{y + side}", "stripes": f"rectangle {x},0 {x + rnd.randint(1, 3)},400",
                     "shapes": rnd.choice([f"circle {x},{y} {x},{y + side}", f"rectangle {x},{y} {x + side},{y + side}"])}[way]
            draw += ["-fill", rnd.choice(DARK + LIGHT) if way != "stripes" else "black", "-draw", shape]
        run(*base, "xc:white", *draw, out)
    return out
