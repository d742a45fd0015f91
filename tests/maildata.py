"""The mail of a data folder, as loose files or packed, for tests that read all of it.

A data folder has mail/ham, mail/spam and mail/CAMPAIGNS.tsv (GROUP, size, checksum, FILE below mail;
tabs between).  A .tar.xz (or another .tar.*) anywhere in mail stands for a folder of its name; it is
unpacked into a folder of the test.  Any other layout is an error that names the file.
"""
import collections
import datetime
import email.parser
import email.policy
import email.utils
import os
import pathlib
import tarfile

NO_MAIL = ("cmds", "ORIGIN.md", "complete")
PACKED = (".tar.xz", ".tar.gz", ".tar.bz2", ".tar")


class Unusable(Exception):
    """The fault of a data folder, and its file."""


def is_given():
    """A data folder was named: if it does not exist, that is an error, not a reason to skip."""
    return "GILLNET_DATA" in os.environ


def folder(top):
    return pathlib.Path(os.environ.get("GILLNET_DATA", top.parent / "shared/data"))


def stem(path):
    return next((path.name[:-len(end)] for end in PACKED if path.name.endswith(end)), None)


def unpack(archive, to):
    """The members of an archive into the folder to; one folder around all of them is dropped."""
    name = stem(archive)
    try:
        with tarfile.open(archive) as tar:
            members = [m for m in tar.getmembers() if m.isfile()]
            for member in members:
                parts = pathlib.PurePosixPath(member.name).parts
                if parts[0] == ".":
                    parts = parts[1:]
                if len(parts) > 1 and parts[0] == name:
                    parts = parts[1:]
                member.name = str(pathlib.PurePosixPath(*parts))
                tar.extract(member, to, filter="data")
    except (tarfile.TarError, EOFError, OSError) as why:
        raise Unusable(f"{archive}: cannot be unpacked: {why}") from why
    if not members:
        raise Unusable(f"{archive}: holds no file")


def laid_out(mail, work):
    """A folder of loose files like mail: itself, or links and unpacked files, in work."""
    mail = mail.resolve()
    files = [p for p in sorted(mail.rglob("*")) if p.is_file()]
    packed = [p for p in files if stem(p) is not None]
    if not packed:
        return mail
    out = pathlib.Path(work) / "mail"
    for path in files:
        to = out / path.relative_to(mail)
        to.parent.mkdir(parents=True, exist_ok=True)
        if path in packed:
            unpack(path, to.parent / stem(path))
        else:
            to.symlink_to(path)
    return out


def mail_in(place):
    """The messages below a folder, in the order of their names."""
    out = sorted(p for p in place.rglob("*") if p.is_file() and p.name not in NO_MAIL and
                 p.suffix not in (".tsv", ".md"))
    for path in out:
        with open(path, "rb") as file:
            head = file.read(512)
        if b"\0" in head or b":" not in head:
            raise Unusable(f"{path}: is no message: a name and a colon are missing, or it is packed")
    return out


def read(place, work):
    """(folder of the mail, ham, spam) of a data folder's mail."""
    if not place.is_dir():
        raise Unusable(f"{place}: is no folder; a data folder has mail/ham and mail/spam")
    mail = laid_out(place, work)
    found = []
    for name in ("ham", "spam"):
        # of mail sorted in more than one folder: ham-real, ham-made
        folders = [p for p in sorted(mail.iterdir()) if p.is_dir() and
                   (p.name == name or p.name.startswith(name + "-"))]
        found.append([p for f in folders for p in mail_in(f)])
        if not found[-1]:
            raise Unusable(f"{place / name}: no mail is there; a data folder has mail/ham and "
                           f"mail/spam, loose or as .tar.xz")
    return mail, found[0], found[1]


def groups(mail):
    """{group: [files in the order of the list]} of mail/CAMPAIGNS.tsv."""
    tsv = mail / "CAMPAIGNS.tsv"
    if not tsv.is_file():
        raise Unusable(f"{tsv}: is missing; it names the groups of near replicas")
    out = collections.defaultdict(list)
    for number, line in enumerate(tsv.read_text().splitlines(), 1):
        if line.startswith("#") or not line:
            continue
        row = line.split("\t")
        path = mail / row[-1]
        if len(row) != 4 or not path.is_file():
            raise Unusable(f"{tsv}:{number}: GROUP, size, checksum and a FILE below {mail} must "
                           f"stand there: {line}")
        out[row[0]].append(path)
    return dict(out)


def when(path):
    """Seconds since 1970 by the last server that took it, or by its Date field; 0 when neither says."""
    with open(path, "rb") as file:
        message = email.parser.BytesHeaderParser(policy=email.policy.compat32).parse(file)
    received = [str(v).rpartition(";")[2] for v in message.get_all("received", [])[:1]]
    for value in received + [str(v) for v in message.get_all("date", [])]:
        try:
            date = email.utils.parsedate_to_datetime(value.strip())
        except (ValueError, TypeError, IndexError):
            continue
        if date.tzinfo is None:
            date = date.replace(tzinfo=datetime.timezone.utc)
        return date.timestamp()
    return 0


def in_order_of_time(paths):
    return [p for _, _, p in sorted((when(p), i, p) for i, p in enumerate(paths))]
