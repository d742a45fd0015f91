"""The table of what fuzzing has reached, by target, from the profiles of a replay of the corpora."""
import json
import os
import subprocess


def replay(run, name):
    """The profile of a replay of all inputs of a target, or None."""
    raw, profile = run.work / f"{name}.profraw", run.work / f"{name}.profdata"
    subprocess.run([run.program(name), "-runs=0", "-timeout=60", "-rss_limit_mb=4096", *run.inputs(name)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                   env={**os.environ, "LLVM_PROFILE_FILE": str(raw)})
    merged = subprocess.run(["llvm-profdata", "merge", "-sparse", raw, "-o", profile], check=False)
    raw.unlink(missing_ok=True)
    return profile if merged.returncode == 0 else None


def lines_of(run, target):
    """(lines reached, lines) of the parser's own files."""
    profile = replay(run, target.name)
    if profile is None:
        return 0, 0
    out = subprocess.run(["llvm-cov", "export", "-summary-only", f"-instr-profile={profile}", run.program(target.name)],
                         capture_output=True, check=True).stdout
    own = [file["summary"]["lines"] for file in json.loads(out)["data"][0]["files"]
           if any(file["filename"].endswith(f"/{name}") for name in target.files)]
    return sum(lines["covered"] for lines in own), sum(lines["count"] for lines in own)


def row(run, target, entry):
    reached, count = lines_of(run, target)
    corpus = list((run.corpus / target.name).iterdir())
    share = f"{100 * reached / count:.0f} %" if count else "-"
    return (f"| `{target.name}` | {target.reads} | {entry.seconds / 60:.1f} | {entry.inputs:,} | {len(corpus):,} | "
            f"{entry.edges:,} | {share} of {count:,} |")


HEAD = """# What fuzzing has reached

`tests/fuzz/run -t` writes this table. Minutes are of the processor, over all runs; a run on another machine begins with the
seeds and the figures of this table. Edges are those of the whole program of a target. Lines are those of the parser's own
files (`tests/fuzz/parsers`), reached by the corpus and the seeds.

| target | reads | minutes | inputs run | corpus | edges | lines reached |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
"""


def write_table(run, targets, books, path):
    rows = [row(run, target, books.of(target.name)) for target in targets]
    hours = sum(books.of(target.name).seconds for target in targets) / 3600
    text = HEAD + "\n".join(rows) + f"\n\n{len(targets)} targets, {hours:.1f} processor hours.\n"
    path.write_text(text)
    print(text, end="")
    return 0
