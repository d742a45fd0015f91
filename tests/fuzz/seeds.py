"""The inputs of tests/fuzz/seeds that come from corpora: named by their SHA-1, chosen by coverage."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOTAL_MOST = 2_000_000  # bytes of all seeds, those that have other names included
ONE_MOST = 8192         # bytes of one that is chosen
CHOSEN_MOST = 60        # of one target: every check replays them
SUM = re.compile(r"[0-9a-f]{40}")


def total(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def gains(control):
    """(features that no smaller input has, path) for each input of a merge's control file."""
    lines = control.read_text().splitlines()
    paths = lines[2:2 + int(lines[0])]
    for line in lines[2 + len(paths):]:
        word, _, rest = line.partition(" ")
        if word == "FT":
            number, *features = rest.split()
            yield len(features), pathlib.Path(paths[int(number)])


def choose(run, name, share):
    """The inputs that reach most, in at most share bytes."""
    with tempfile.TemporaryDirectory() as folder:
        control = pathlib.Path(folder) / "control"
        merged = pathlib.Path(folder) / "merged"
        merged.mkdir()
        subprocess.run([run.program(name), "-merge=1", "-timeout=10", "-rss_limit_mb=2048", "-max_len=65536",
                        f"-merge_control_file={control}", merged, *run.inputs(name)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                       env={**os.environ, "LLVM_PROFILE_FILE": "/dev/null"})
        found = sorted(gains(control), key=lambda row: (-row[0], row[1].name)) if control.exists() else []
    chosen = []
    for _, path in found:
        size = path.stat().st_size
        if len(chosen) < CHOSEN_MOST and 0 < size <= min(share, ONE_MOST) and SUM.fullmatch(path.name):
            chosen.append(path)
            share -= size
    return chosen


def minimise(run, targets, folder):
    """Replaces the chosen inputs of these targets. A target has an equal share of what is free."""
    with tempfile.TemporaryDirectory() as kept:
        free = TOTAL_MOST - total(folder)
        for target in targets:  # they stay inputs of the merge until all are chosen
            free += sum(p.stat().st_size for p in (folder / target.name).glob("*") if SUM.fullmatch(p.name))
        for left, target in zip(range(len(targets), 0, -1), targets):
            copy = pathlib.Path(kept) / target.name
            copy.mkdir()
            for path in choose(run, target.name, free // left):
                shutil.copy(path, copy)
            free -= total(copy)
        for target in targets:
            for path in (folder / target.name).glob("*"):
                if SUM.fullmatch(path.name):
                    path.unlink()
            for path in (pathlib.Path(kept) / target.name).iterdir():
                shutil.copy(path, folder / target.name)
    print(f"run: {total(folder)} bytes in {folder}", file=sys.stderr)
    return 0
