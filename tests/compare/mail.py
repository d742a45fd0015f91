"""mail - the messages of the comparison, by source, and copies of them that all filters judge.

Without a folder of mail the sources are the groups of the SpamAssassin corpus (contrib/fetch-corpus). With
one they are also those of contrib/tune-rules.sources. A round trains on some sources and tests on others.
"""
import os
import random
import re
import sys

import proc

sys.path[:0] = [os.path.join(proc.TOP, "tests"), os.path.join(proc.TOP, "tests/bench")]
import bench_learn  # noqa: E402
import datafolder  # noqa: E402

SEED = 1
MOST_BYTES = 256 * 1024  # of a message: below what spamc leaves out
SPAM_SHARE = 0.25
NEWSLETTERS = ("hard-ham", "hard-ham-1", "real", "synthetic")  # families of ham that nobody writes by hand


class Message:
    def __init__(self, path, spam, source):
        self.path, self.spam, self.source = path, spam, source

    @property
    def group(self):
        kind = "spam" if self.spam else "newsletters" if self.source in NEWSLETTERS else "ham"
        return kind, self.source

    def text(self):
        """Its bytes, without the line of an mbox file, and with plain addresses in place of redacted ones."""
        with open(self.path, "rb") as file:
            text = re.sub(rb"\AFrom [^\n]*\n", b"", file.read())
        head = re.match(rb"(?:[^\r\n][^\n]*\n)*", text)[0]
        return bench_learn.FIELD.sub(lambda f: bench_learn.REDACTED.sub(
            bench_learn.PLAIN.get(f[1].lower(), bench_learn.SENDER), f[0]), head) + text[len(head):]


class Round:
    """What is learnt, and what is judged before and after."""

    def __init__(self, name, train, test):
        self.name, self.train, self.test = name, train, test


def corpus():
    """{source: messages} of the SpamAssassin corpus."""
    place = datafolder.corpus()
    if not place:
        raise proc.SetupError("no mail: run contrib/fetch-corpus")
    return {folder.name: [Message(str(p), folder.name.startswith("spam"), folder.name) for p in sorted(folder.iterdir())
                          if p.is_file() and p.stat().st_size <= MOST_BYTES]
            for folder in sorted(place.iterdir()) if folder.is_dir()}


def pick(messages, most):
    return random.Random(SEED).sample(messages, min(most, len(messages)))


def traffic(count):
    """Messages of the corpus in random order, a quarter of them spam."""
    every = [m for messages in corpus().values() for m in messages]
    spam = round(count * SPAM_SHARE)
    chosen = pick([m for m in every if m.spam], spam) + pick([m for m in every if not m.spam], count - spam)
    random.Random(SEED).shuffle(chosen)
    return chosen


def corpus_rounds(train, test):
    groups = corpus()
    for learnt, tested in (("1", "2"), ("2", "1")):
        yield Round("corpus, second half" if tested == "2" else "corpus, first half",
                    pick(groups["spam-" + learnt], train) + pick(groups["easy-ham-" + learnt], train),
                    [m for g in ("spam-" + tested, "easy-ham-" + tested, "hard-ham-1") for m in pick(groups[g], test)])


def data_rounds(data, train, test):
    """Each source of spam is left out in turn, as bench_learn.py does."""
    class Options:
        pass

    Options.train, Options.test, Options.seed = train, test, SEED
    families = bench_learn.read_messages(str(data))
    for number, source in enumerate(bench_learn.SPAM):
        one = bench_learn.Round(number, source, families, Options)
        train_set, test_set = ([Message(m.file, m.spam, m.family) for m in messages if os.path.getsize(m.file) <= MOST_BYTES]
                               for messages in (one.train, one.test))
        yield Round("without " + source, train_set, test_set)


def rounds(train, test):
    data = datafolder.folder()
    is_whole = data and all((data / place / "spam").is_dir() for place in ("mail", "mail-modern"))
    return list(data_rounds(data, train, test) if is_whole else corpus_rounds(train, test))


def write_copies(messages, folder):
    """Copies of the messages in a new folder, in their order; the paths."""
    os.makedirs(folder)
    paths = []
    for number, message in enumerate(messages):
        paths.append(os.path.join(folder, "%05d.eml" % number))
        with open(paths[-1], "wb") as file:
            file.write(message.text())
    return paths
