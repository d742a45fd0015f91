"""catch - share of spam that is marked and of good mail that is marked, as shipped and after the same training."""
import collections
import concurrent.futures
import os

import filters
import mail
import proc


def counts(name, messages, answers):
    """{"kind source": [judged, marked]}."""
    found = collections.defaultdict(lambda: [0, 0])
    for message, (score, _) in zip(messages, answers):
        cell = found[" ".join(message.group)]
        cell[0] += 1
        cell[1] += score >= filters.SPAM_AT[name] - 1e-9
    return found


def add(total, more):
    for key, (judged, marked) in more.items():
        cell = total.setdefault(key, [0, 0])
        cell[0] += judged
        cell[1] += marked


class Learner:
    """One filter: a fresh installation, and one trained with a round's mail."""

    def __init__(self, name, fresh, trained):
        self.name, self.fresh, self.trained = name, fresh, trained


def train_gillnet(folders):
    """The shipped weights have seen these sources: weights of the round's own mail take their place."""
    empty = filters.Gillnet(prior="", kinds=("unix",))
    prior = os.path.join(empty.daemons["unix"].state, "compare.prior")
    empty.run("train", "--prior", prior, "--spam", folders[True], "--ham", folders[False], timeout=1200)
    one = filters.Gillnet(prior=prior, kinds=("unix",))
    one.learn(folders)
    return one


def train_rspamd(folders):
    one = filters.Rspamd(bayes=True)
    one.start_timed(folders[True])
    one.learn(folders)
    return one


def train_spamassassin(folders):
    one = filters.SpamAssassin(learns_alone=False)
    one.start_timed(folders[True])
    one.learn(folders)
    return one


def started(make, folder):
    one = make()
    one.start_timed(folder)
    return one


LEARNERS = (
    Learner("gillnet", lambda _: filters.Gillnet(kinds=("unix",)), train_gillnet),
    Learner("rspamd", lambda folder: started(filters.Rspamd, folder), train_rspamd),
    Learner("SpamAssassin", lambda folder: started(lambda: filters.SpamAssassin(learns_alone=False), folder), train_spamassassin),
)


def judge(make, learner, one, paths, place):
    """Counts of one installation, which is stopped afterwards."""
    subject = make(place)
    try:
        return counts(learner.name, one.test, subject.scan(paths))
    finally:
        subject.stop()


def measure_round(number, one, folder, table):
    """table: {column: {group: [judged, marked]}}."""
    base = os.path.join(folder, str(number))
    paths = mail.write_copies(one.test, base + "-test")
    taught = {spam: base + ("-spam" if spam else "-ham") for spam in (True, False)}
    for spam, place in taught.items():
        mail.write_copies([m for m in one.train if m.spam == spam], place)

    def work(learner):
        fresh = judge(learner.fresh, learner, one, paths, taught[True])
        bare = (judge(lambda _: filters.Gillnet(prior="", kinds=("unix",)), learner, one, paths, None)
                if learner.name == "gillnet" else None)
        trained = judge(lambda _: learner.trained(taught), learner, one, paths, None)
        return learner.name, fresh, bare, trained

    with concurrent.futures.ThreadPoolExecutor(len(LEARNERS)) as pool:
        for name, fresh, bare, trained in pool.map(work, LEARNERS):
            add(table.setdefault(name + " shipped", {}), fresh)
            add(table.setdefault(name + " trained", {}), trained)
            if bare:
                add(table.setdefault(name + " rules", {}), bare)


def measure(options):
    table, taken = {}, mail.rounds(options.train, options.test)[:options.most_rounds]
    folder = proc.scratch("catch")
    for number, one in enumerate(taken):
        measure_round(number, one, folder, table)
    return {"table": table, "rounds": [one.name for one in taken],
            "train": max(len(one.train) for one in taken), "test": max(len(one.test) for one in taken)}
