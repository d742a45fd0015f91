"""Reads the table tests/fuzz/parsers: which target reaches which parser, with which dictionaries."""
import dataclasses


@dataclasses.dataclass
class Target:
    name: str
    dictionaries: list
    longest: int  # bytes of an input
    files: list   # of the parser itself
    reads: str    # what the bytes are, and who sends them


def read(path, names=()):
    """The targets of the table, or those of these names. ValueError: a line or name is wrong."""
    targets = {}
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != 5:
            raise ValueError(f"{path}: not five columns: {line}")
        name, dictionaries, longest, files, reads = columns
        targets[name] = Target(name, dictionaries.split(), int(longest) * 1024, files.split(), reads)
    for name in names:
        if name not in targets:
            raise ValueError(f"there is no target {name}")
    return [targets[name] for name in names or targets]
