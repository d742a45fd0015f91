"""Faults of single system calls, at each of them in turn: kill -9, EIO and ENOSPC, and calls that take long.

A path is something that changes files. It runs once to count the calls; then it runs again in a fresh folder for
each of them, or for an even sample (FAULTS). Both daemons start afterwards, and all is compared with the ledger.
"""
import errno

import fault_mta
import fault_world
from fault_ledger import Checker
from fault_orders import CHANGES, EVER, FAIL, KILL, MEMORY, NAME, READ, SIZE, WAIT, WRITE, Orders
from fault_probe import begin, end, probe, write

HOSTS = 6  # messages of a path with mail
SLOW_MS = 50
NEW = "new.example"


# Paths: each runs under orders and enters into the ledger what was acknowledged.

def list_add(checker, env):
    values = [f"many{n}.example" for n in range(40)]
    done = checker.site.run("list", "add", "phish", "-", text="".join(f"domain:{v}\n" for v in values), env=env)
    acknowledged = {line[len("ok domain:"):] for line in done.stdout.splitlines() if line.startswith("ok domain:")}
    checker.ledger.listed.update({v: "phish" for v in acknowledged})


def list_revoke(checker, env):
    value = fault_world.ADDED
    done = checker.site.run("list", "revoke", "phish", f"domain:{value}", env=env)
    if f"ok domain:{value}" in done.stdout:
        checker.ledger.listed.pop(value)
        checker.ledger.revoked[value] = "phish"
    else:
        checker.ledger.unsure.add(value)


def list_import(checker, env):
    text = "".join(f"http://i{n}.example/p\n" for n in range(3000)) + NEW + "\n"
    done = checker.site.run("list", "import", "phish", "-", text=text, env=env)
    if done.returncode == 0:
        checker.ledger.listed[NEW] = "phish"


def list_rebuild(checker, env):
    checker.site.run("list", "rebuild", "phish", env=env)


def feed_import(checker, env):
    """The feed has one entry more; the hub must not fetch it first."""
    feed = checker.site.top.parent / "feed.txt"
    before = feed.read_text()
    feed.write_text(before + f"domain:{NEW}\n")
    try:
        done = checker.site.run("feed", "update", "--force", "fed", env=env)
    finally:
        feed.write_text(before)
    if done.returncode == 0:
        checker.ledger.listed[NEW] = "fed"


def user_set(checker, env):
    name = "anna@here.example"
    done = checker.site.run("user", "set", name, "thresholds.header=3.5", env=env)
    if done.returncode == 0:
        checker.ledger.users[name] = "3.5"
    else:
        checker.ledger.unsure.add(name)


def tune_set(checker, env):
    done = checker.site.run("tune", "set", "thresholds.header=4.25", env=env)
    if "is in force" in done.stdout:
        checker.ledger.tuned["thresholds.header"] = "4.25"
    else:
        checker.ledger.unsure.add("thresholds.header")


def report(checker, env):
    one = checker.world.report("second", env=env)
    if one:
        checker.ledger.reports.add(one)


def backup(checker, env):
    """A backup that was acknowledged holds; one that was not is in nobody's way."""
    site = checker.site
    path = site.top / "backup.gnb"
    done = site.run("backup", path, env=env)
    if done.returncode == 0 and site.run("backup", "--verify", path).returncode != 0:
        checker.out.found("acknowledged_lost", "the backup does not hold")
    again = site.run("backup", path)
    if again.returncode != 0:
        checker.out.notes.append(f"no backup afterwards: {again.returncode} {again.stderr.strip()}")
    path.unlink(missing_ok=True)


def publish(checker, env):
    """A subscriber must hold each publication that was acknowledged; here: the next one goes well."""
    site = checker.site
    web = site.top / "web"
    done = site.run("publish", web, "phish", env=env)
    again = site.run("publish", web, "phish")
    if again.returncode != 0:
        checker.out.found("acknowledged_lost", f"no publication afterwards: {again.stderr.strip()}")


def held_mail(checker, env):
    """A link that was mailed works; so it is on the disk before the mail goes out."""
    checker.site.run("quarantine", "digest", "--since", "30d", env=env, as_root=True)
    checker.ledger.links |= fault_mta.links(checker.site.top.parent / "digests")


def mail(checker, env):
    """gillnetd from its start to its end: counts, journal, correspondents, embargo, statistics."""
    site = checker.site
    site.env = env
    begin(checker, "gillnetd", required=False)
    for n in range(HOSTS):
        host = f"m{n}.example"
        try:
            answer = fault_world.send(site, host)
            fault_world.send(site, host, sender="ann@here.example", rcpt=f"x{n}@their.example", login="ann")
        except TimeoutError:
            checker.out.found("mail_lost", f"no answer to mail with {host}")
            continue
        checker.ledger.sent(host, answer)
    stopped(checker)


def stopped(checker):
    if checker.may_die:
        checker.site.stop()
        checker.died = False
    else:
        end(checker)
    checker.site.env = {}


def hub(checker, env):
    """The hub from its start to its end: publishes to the ring, takes from a member, a publisher and a feed."""
    site = checker.site
    site.env = env
    begin(checker, "gillnet-hub", required=False)
    if not checker.died:
        site.run("peer", "status")
        site.run("feed", "update", "--force", "fed")
    stopped(checker)


PATHS = (list_add, list_revoke, list_import, list_rebuild, feed_import, user_set, tune_set, report, backup, publish,
         held_mail, mail, hub)


# Action and value, whether it lasts, the calls that count, and the number of steps.
FAULTS = {
    "kill -9": (KILL, 0, False, CHANGES, 40),
    "EIO": (FAIL, errno.EIO, False, CHANGES | READ, 16),
    "ENOSPC (and in all later calls)": (FAIL, errno.ENOSPC, True, WRITE | SIZE | NAME, 16),
    "no memory": (FAIL, errno.ENOMEM, False, MEMORY, 16),
}
_calls = {}  # (path, fault) -> calls of a whole run


def cells(_):
    out = [(f"{fault} at each call, {path.__name__.replace('_', ' ')}", at_call, (path.__name__, fault, step))
           for fault, (*_, steps) in FAULTS.items() for path in PATHS for step in range(steps)]
    out += [("slow disk", slow, (path.__name__,)) for path in PATHS]
    out += [(f"every call fails for a while, {errno.errorcode[n]}", every_call, (n,)) for n in (errno.EIO, errno.ENOSPC)]
    return out


def opened(world):
    (world.base / "digests").write_text("")
    site, ledger, said = world.fresh()
    checker = Checker(site, ledger, said)
    checker.world = world
    return checker, Orders(site)


def number_of(world, path, fault, step):
    """The call to hit: each, or an even sample; None: there are fewer calls."""
    _, _, _, kinds, steps = FAULTS[fault]
    if (path, fault) not in _calls:
        checker, orders = opened(world)
        orders.count(kinds)
        globals()[path](checker, orders.env())
        _calls[path, fault] = orders.calls()
    calls = _calls[path, fault]
    if calls <= steps:
        return step + 1 if step < calls else None
    return 1 + step * (calls - 1) // (steps - 1)


def at_call(world, _, path, fault, step):
    number = number_of(world, path, fault, step)
    if number is None:
        return None
    checker, orders = opened(world)
    action, value, stays, kinds, _ = FAULTS[fault]
    checker.may_die = action == KILL
    orders.at(kinds, number, EVER if stays else number, action, value)
    globals()[path](checker, orders.env())
    if orders.calls() < number:
        checker.out.notes.append("was not reached")
    orders.clear()
    checker.may_die = False
    after(checker)
    checker.out.notes = [f"call {number} of {_calls[path, fault]}: {note}" for note in checker.out.notes]
    return checker.out


def after(checker):
    """The fault is over: the next start, and everything is there."""
    begin(checker)
    probe(checker)
    write(checker)
    checker.check()
    end(checker)
    checker.settle()


def slow(world, _, path):
    checker, orders = opened(world)
    orders.at(CHANGES | READ, 1, EVER, WAIT, SLOW_MS)
    globals()[path](checker, orders.env())
    orders.clear()
    after(checker)
    return checker.out


def every_call(world, _, value):
    """Both daemons run while their disk fails; then it is well again."""
    checker, orders = opened(world)
    checker.site.env = orders.env()
    begin(checker)
    probe(checker)
    orders.at(CHANGES, 1, EVER, FAIL, value)
    for _ in range(3):
        probe(checker)
        write(checker, env=orders.env())
    orders.clear()
    probe(checker)
    write(checker)
    end(checker)
    checker.site.env = {}
    after(checker)
    return checker.out
