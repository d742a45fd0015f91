"""table - one table of rows, and how it is counted."""
import dataclasses
import typing


def field(*names):
    """Reads the values of these fields of an answer, joined."""
    return lambda answer: b"".join(value for name, value in answer if name in names)


@dataclasses.dataclass
class Table:
    """rows(root) gives (question, want): a question is (kind, text) or (kind, text, second); want is what read()
    makes of the answer, or another question whose answer must read the same."""
    name: str
    rows: typing.Callable
    read: typing.Callable
    first: str  # the table of this kind that the tests know
    share: float  # % of its rows that are alike, those that are explained among the others
    same: typing.Callable = lambda want, got: want == got
    others: tuple = ()  # (reason, is_one(question, want)): rows of another purpose, which are counted apart
    below: float = 2  # points that this table may lie below the first


def as_text(value):
    return value.encode() if isinstance(value, str) else value


def count(table, root, ask):
    """(rows, alike, {reason: rows}, [(question, want, got)] that differ)"""
    pairs = list(table.rows(root))
    answers = ask([question for question, _ in pairs] + [want for _, want in pairs if isinstance(want, tuple)])
    second = iter(answers[len(pairs):])
    rows = alike = 0
    apart, differing = {}, []
    for (question, want), answer in zip(pairs, answers):
        wanted = table.read(next(second)) if isinstance(want, tuple) else as_text(want)
        reason = next((reason for reason, is_one in table.others if is_one(question, want)), None)
        if reason:
            apart[reason] = apart.get(reason, 0) + 1
            continue
        rows += 1
        got = table.read(answer)
        if table.same(wanted, got):
            alike += 1
        else:
            differing.append((question, wanted, got))
    return rows, alike, apart, differing
