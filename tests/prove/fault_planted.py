"""Losses that are planted: the ledger has what was never written, and the matrix must notice each.  A matrix that
finds nothing proves something only if it finds these."""
import fault_probe
import fault_world
from fault_ledger import Checker, Findings


def plant(ledger):
    """One of each kind that the checks look for: how many of each finding must come."""
    answered, sent = ledger.counted[fault_world.IMPORTED]
    ledger.counted[fault_world.IMPORTED] = (answered + 1, sent + 1)
    answered, sent = ledger.counted[fault_world.ADDED]
    ledger.counted[fault_world.ADDED] = (answered - 1, sent - 1)
    ledger.listed["planted.example"] = "phish"
    ledger.revoked[fault_world.GREY] = "grey"
    ledger.cases.add("000000000000")
    ledger.users["planted@here.example"] = "4.5"
    ledger.tuned["thresholds.reject"] = "9"
    ledger.reports.add("000000000000")
    ledger.answered[next(iter(ledger.answered))] = "planted"
    return {"acknowledged_lost": 7, "doubled": 1, "wrong_verdicts": 1}


def cells(_):
    return [("a planted loss is noticed", planted, ())]


def planted(world, _):
    """Each plant must be a finding, and so must a hit that does not come, and a daemon that ends."""
    site, ledger, said = world.fresh()
    out = Findings()
    false = ledger.copy()
    wanted = plant(false)
    found = Checker(site, false, said).check()
    for kind, number in wanted.items():
        if getattr(found, kind) != number:
            out.found(kind, f"noticed {getattr(found, kind)} of {number}: {found.notes}")
    checker = Checker(site, ledger, world.said())
    ledger.listed[fault_world.CLEAN] = "phish"
    fault_probe.begin(checker, "gillnetd")
    fault_probe.probe(checker, hosts=(fault_world.CLEAN,))
    checker.settle()
    site.procs["gillnetd"].kill()
    site.procs["gillnetd"].wait()
    fault_probe.ended(checker)
    if checker.out.wrong_verdicts != 2:
        out.found("wrong_verdicts", f"a missing hit and an ended daemon, noticed: {checker.out.notes}")
    return out
