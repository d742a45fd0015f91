"""What every fault is tried with: daemons that start and end, mail with and without a listed link, and new entries."""
import time

import fault_world

SERIAL = iter(range(1, 1 << 30))


def begin(checker, *programs, required=True):
    """Starts the daemons; one that does not serve must say why."""
    for program in checker.site.start(*programs):
        checker.died = True
        status = checker.site.procs[program].poll()
        if required:
            checker.miss("wrong_verdicts", f"{program} does not start: {status}", "start")


HOSTS = (fault_world.IMPORTED, fault_world.ADDED, fault_world.CLEAN)


def probe(checker, hosts=HOSTS, anything=()):
    """Mail: every message has an answer, or the MTA's default; a link that the ledger lists hits, and no other.

    anything: links of mail that may pass unjudged, because there is nothing to judge with."""
    if "gillnetd" in checker.site.died():
        return ended(checker)
    for host in (*hosts, *anything):
        try:
            answer = fault_world.send(checker.site, host)
        except TimeoutError:
            checker.out.found("mail_lost", f"no answer to mail with {host}")
            continue
        checker.ledger.sent(host, answer)
        if answer is None:
            if host in anything and "gillnetd" not in checker.site.died():
                continue
            ended(checker)
            return checker.miss("wrong_verdicts", f"the MTA's default for mail with {host}")
        judge(checker, host, host in anything, answer)
    return None


def judge(checker, host, may_pass, answer):
    if answer.code == "d":
        checker.out.found("mail_lost", f"mail with {host} was discarded")
    if host in checker.ledger.unsure:
        return
    is_listed = host in checker.ledger.listed
    if fault_world.has_hit(answer) and not is_listed:
        checker.out.found("wrong_verdicts", f"{host} is not listed, and hit: {answer.key()}")
    elif is_listed and not may_pass and not fault_world.has_hit(answer):
        checker.miss("wrong_verdicts", f"no hit of {host}: {answer.code}{answer.text}", "lists", "keys", "list phish")


def ended(checker):
    """A daemon that ended by itself is a finding, whatever it said."""
    time.sleep(0.05)  # a connection breaks before the process is seen to have ended
    for program, status in checker.site.died().items():
        if not checker.died and not checker.may_die:
            checker.out.found("wrong_verdicts", f"{program} ended with {status}")
        checker.site.procs.pop(program)


def write(checker, env=None):
    """New entries, which are in the ledger if the command says ok."""
    n = next(SERIAL)
    site, ledger = checker.site, checker.ledger
    value = f"new{n}.example"
    done = site.run("list", "add", "phish", f"domain:{value}", env=env)
    checker.said.add(done.stderr)
    if done.returncode == 0 and f"ok domain:{value}" in done.stdout:
        ledger.listed[value] = "phish"
    name = f"user{n}@here.example"
    done = site.run("user", "set", name, "thresholds.header=4.5", env=env)
    checker.said.add(done.stderr)
    if done.returncode == 0:
        ledger.users[name] = "4.5"


def end(checker):
    ended(checker)
    checker.said.gather(checker.site)
    for program, status in checker.site.stop().items():
        checker.out.notes.append(f"{program}: the end is {status}")
    checker.died = False
