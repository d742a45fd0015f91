#!/usr/bin/env python3
"""Keys of the look of pictures: near replicas share one, other pictures share none.

    looks.py --looks PROGRAM [--every N] [--report] [FOLDER...]

Each Nth picture of the folders (default: the photographs and flags of contrib/fetch-corpus, which count as
unrelated where their files differ) is changed by ImageMagick.  --report prints the table and judges nothing: for
sources whose pictures may be related.
"""

import argparse
import collections
import hashlib
import itertools
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import datafolder  # noqa: E402

PICTURES = datafolder.TOP / "build/corpus/pictures"
LEAST_SHARED = 0.90  # of the pictures, for each change
MOST_PAIRS = 1e-4  # of unrelated pictures that share a key
LEAST_PICTURES = 500
STEP = 200  # files a command line
FONT = "DejaVu-Sans"


def write(text):
    """A line of text in the lower part of the picture."""
    return ["-font", FONT, "-pointsize", "14", "-gravity", "SouthWest", "-fill", "black", "-undercolor", "white",
            "-annotate", "+12+20", text]


# How a picture is changed, in the order of the table.  A file's name ends in the format that it is stored in.
CHANGES = {
    "0.25x": (["-resize", "25%"], "png"),
    "0.5x": (["-resize", "50%"], "png"),
    "1.5x": (["-resize", "150%"], "png"),
    "3x": (["-filter", "Triangle", "-resize", "300%"], "png"),
    "wider": (["-resize", "120%x100%"], "png"),
    "JPEG 20": (["-quality", "20"], "jpg"),
    "JPEG 50": (["-quality", "50"], "jpg"),
    "JPEG 90": (["-quality", "90"], "jpg"),
    "WebP 50": (["-quality", "50"], "webp"),
    "GIF": ([], "gif"),
    "middle 90 %": (["-gravity", "Center", "-crop", "90%x90%+0+0", "+repage"], "png"),
    "left off": (["-gravity", "East", "-crop", "90%x100%+0+0", "+repage"], "png"),
    "right off": (["-gravity", "West", "-crop", "90%x100%+0+0", "+repage"], "png"),
    "top off": (["-gravity", "South", "-crop", "100%x90%+0+0", "+repage"], "png"),
    "bottom off": (["-gravity", "North", "-crop", "100%x90%+0+0", "+repage"], "png"),
    "corner 90 %": (["-gravity", "NorthWest", "-crop", "90%x90%+0+0", "+repage"], "png"),
    "other text": (write("Rebate of a half until 9 May, now"), "jpg"),
    "brighter": (["-evaluate", "Add", "10%"], "png"),
    "darker": (["-evaluate", "Subtract", "10%"], "png"),
    "gamma 0.7": (["-gamma", "0.7"], "png"),
    "gamma 1.4": (["-gamma", "1.4"], "png"),
    "contrast": (["-brightness-contrast", "0x-20"], "png"),
    "noise": (["-seed", "1", "-attenuate", "0.2", "+noise", "Gaussian"], "png"),
}
# What the changes are compared with: "other text" with a picture that has a text, all others with the picture.
UNCHANGED = {"as it is": ([], "png"), "text": (write("Order 48213 is on its way to you"), "jpg")}

# Pictures without a look, as arguments of ImageMagick, and one that only lacks what the others have.
PLASMA = ["-seed", "3"]
NO_LOOKS = {
    "one colour": ["-size", "300x200", "xc:orange"],
    "grain": ["-size", "300x200", "xc:orange", *PLASMA, "-attenuate", "0.2", "+noise", "Gaussian"],
    "gradient": ["-size", "300x200", "gradient:black-white"],
    "stripes": ["-size", "300x67", "xc:red", "xc:white", "xc:blue", "-append"],
    "small": [*PLASMA, "-size", "15x15", "plasma:red-blue"],
    "pixel": ["-size", "1x1", "xc:red"],
    "rule": [*PLASMA, "-size", "1700x100", "plasma:red-blue"],
}
A_LOOK = [*PLASMA, "-size", "300x200", "plasma:red-blue"]
NO_LOOKS["transparent"] = [*A_LOOK, "-alpha", "set", "-channel", "A", "-evaluate", "set", "0"]


def run(*command):
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)


def change(picture, work, changes):
    """Writes the changed pictures as FOLDER/NAME/CHANGE.FORMAT."""
    folder = work / picture.stem
    folder.mkdir()
    command = ["convert", f"{picture}[0]", "-strip", "-alpha", "set", "-depth", "8"]
    for name, (options, form) in changes.items():
        flat = ["-background", "white", "-flatten"] if form == "jpg" else []
        command += ["(", "+clone", *flat, *options, "-write", folder / f"{name}.{form}".replace("%", "percent"),
                    "+delete", ")"]
    run(*command, "null:")


def keys_of(looks, files):
    """The set of keys of each file."""
    found = []
    for i in range(0, len(files), STEP):
        some = files[i:i + STEP]
        run("mogrify", "-format", "pam", "-alpha", "set", "-type", "TrueColorMatte", "-depth", "8", "-strip", *some)
        pams = [file.with_suffix(".pam") for file in some]
        out = subprocess.run([looks, *pams], check=True, capture_output=True, text=True).stdout
        found += [set(line.split()) for line in out.splitlines()]
        for pam in pams:
            pam.unlink()
    return dict(zip(files, found, strict=True))


def replicas(looks, pictures, work):
    """How many pictures share a key with each of their changes; how many have keys at all."""
    shared, n = collections.Counter(), 0
    for picture in pictures:
        change(picture, work, {**UNCHANGED, **CHANGES})
        keys = {f.stem: k for f, k in keys_of(looks, sorted((work / picture.stem).iterdir())).items()}
        keys = {name.replace("percent", "%"): k for name, k in keys.items()}
        if not keys["as it is"]:
            continue
        n += 1
        for name in CHANGES:
            other = keys["text"] if name == "other text" else keys["as it is"]
            shared[name] += bool(keys[name] & other)
    return shared, n


def unrelated(looks, pictures, work):
    """Pairs of pictures that share a key, and the number of pictures that have keys."""
    for i, picture in enumerate(pictures):
        (work / f"{i:05}{picture.suffix}").symlink_to(picture.resolve())
    keys = keys_of(looks, sorted(work.iterdir()))
    holders = collections.defaultdict(list)
    for file, found in keys.items():
        for key in found:
            holders[key].append(pictures[int(file.stem)])
    pairs = {pair for files in holders.values() for pair in itertools.combinations(files, 2)}
    return sorted(pairs), sum(1 for found in keys.values() if found), max(map(len, keys.values()), default=0)


def wrong_looks(looks, work):
    """Pictures that have keys though they have no look; or the other way."""
    files = []
    for name, options in {**NO_LOOKS, "a look": A_LOOK}.items():
        files.append(work / f"{name}.png")
        run("convert", *options, files[-1])
    return [file.stem for file, keys in keys_of(looks, files).items() if bool(keys) != (file.stem == "a look")]


def distinct(folders):
    """The pictures of the folders, each once."""
    found = {}
    for folder in folders:
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name != "complete":
                found.setdefault(hashlib.sha256(file.read_bytes()).digest(), file)
    return list(found.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--looks", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("folders", nargs="*", type=pathlib.Path, default=[PICTURES / "photos", PICTURES / "flags"])
    args = parser.parse_args()
    if not all(folder.is_dir() for folder in args.folders):
        print("no pictures: contrib/fetch-corpus fetches some")
        return 77
    pictures = distinct(args.folders)
    with tempfile.TemporaryDirectory() as work:
        bad = wrong_looks(args.looks, pathlib.Path(work))
    with tempfile.TemporaryDirectory() as work:
        pairs, n, most = unrelated(args.looks, pictures, pathlib.Path(work))
    share = len(pairs) / (n * (n - 1) / 2)
    print(f"{len(pictures)} pictures, {n} with keys, {most} keys at most; {len(pairs)} pairs share one: {share:.1e}")
    for one, other in pairs[:20]:
        print(f"  {one.name} {other.name}")
    if n < LEAST_PICTURES or share >= MOST_PAIRS:
        bad.append("unrelated pictures")
    with tempfile.TemporaryDirectory() as work:
        shared, n = replicas(args.looks, pictures[::args.every], pathlib.Path(work))
    for name in CHANGES:
        print(f"{name:12} {shared[name]:5} of {n} {100 * shared[name] / n:6.1f} %")
        if shared[name] < LEAST_SHARED * n:
            bad.append(name)
    if bad and not args.report:
        print(f"FAILED: {', '.join(bad)}")
    return 1 if bad and not args.report else 0


if __name__ == "__main__":
    sys.exit(main())
