"""What gillnetd learns without a report: whose mail, how much of it, and how it is taken out again."""
import json
import pathlib
import shutil
import tempfile
import time
import unittest

from daemon import ROOT, Daemon, gillnet
from test_correspondents import ANN, BOB, CONFIG, LISTS, PROOF, URL, client, play

WORDS = "the meeting of our group is on %s in room %d, please bring the figures of last year with you\r\n"


def learnt(d):
    """(spam, ham) that were learnt."""
    out = gillnet("-c", d.conf, "--json", "model", "show", check=False).stdout
    rows = [r for r in map(json.loads, out.splitlines()) if r["kind"] != "url"]
    return sum(r["spam"] for r in rows), sum(r["ham"] for r in rows)


def settled(d, want):
    """The same, once it is what is wanted and stays that for two ticks; else what it is after a while."""
    end = time.time() + 30
    while learnt(d) != want and time.time() < end:
        time.sleep(0.1)
    time.sleep(2.5)
    return learnt(d)


def mail(d, sender, rcpt, number, headers=(), user=None, text=""):
    m = client(d)
    body = WORDS % (["monday", "friday"][number % 2], number) + text
    answer = play(m, sender, [rcpt], [*headers, ("From", sender), ("Subject", f"meeting {number}")], body.encode(), user=user)
    m.quit()
    return answer


class Itself(unittest.TestCase):
    def test_own_users__five_a_day_of_one_login(self):
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            for number in range(8):
                mail(d, ANN, BOB, number, user="ann")
            self.assertEqual(settled(d, (0, 5)), (0, 5))
            mail(d, "carl@our.example", BOB, 9, user="carl")
            self.assertEqual(settled(d, (0, 6)), (0, 6))
            gillnet("-c", d.conf, "model", "forget", "outgoing")
            self.assertEqual(settled(d, (0, 0)), (0, 0))

    def test_known_sender__proved_alone(self):
        with Daemon(CONFIG % "spam" + "model = { learn_outgoing = false; };", lists=LISTS) as d:
            mail(d, ANN, BOB, 1, user="ann")
            mail(d, BOB, ANN, 2)
            mail(d, "eve@their.example", ANN, 3, headers=[PROOF])
            mail(d, BOB, ANN, 4, headers=[PROOF])
            self.assertEqual(settled(d, (0, 1)), (0, 1))  # nobody wrote to eve, and the first has no proof

    def test_listed__marked_mail_is_spam(self):
        with Daemon(CONFIG % "spam", lists=LISTS) as d:
            mail(d, BOB, ANN, 1, text=f"see {URL}\r\n")
            mail(d, BOB, ANN, 2, text="see http://good.example/\r\n")
            self.assertEqual(settled(d, (1, 0)), (1, 0))

    def test_prior__damaged_or_missing__the_rest_is_learnt_and_it_is_said_once(self):
        for content in (b"no prior", None):
            with tempfile.TemporaryDirectory(prefix="gillnet-prior-") as folder:
                prior = pathlib.Path(folder, "prior")
                if content is not None:
                    prior.write_bytes(content)
                with Daemon(CONFIG % "spam" + f'model = {{ prior = "{prior}"; }};', lists=LISTS) as d:
                    mail(d, ANN, BOB, 1, user="ann")
                    self.assertEqual(settled(d, (0, 1)), (0, 1))
                    warnings = [line for line in d.log().splitlines() if f'error="{prior}' in line]
                    self.assertEqual(len(warnings), 1, d.log())
                    self.assertIn("install gillnet again, or change model.prior", warnings[0])
                    faults = gillnet("-c", d.conf, "stat", check=False).stdout.count(f"prior: {prior}")
                    self.assertEqual(faults, content is not None)
                    shutil.copyfile(pathlib.Path(ROOT, "contrib/model/prior"), prior)
                    d.wait_for(lambda: "event=model prior=read" in d.log(), "the prior")
                    d.wait_for(lambda: f"prior: {prior}" not in gillnet("-c", d.conf, "stat", check=False).stdout, "no fault")

    def test_off__nothing(self):
        off = "model = { learn_outgoing = false; learn_known = false; learn_listed = false; };"
        with Daemon(CONFIG % "spam" + off, lists=LISTS) as d:
            mail(d, ANN, BOB, 1, user="ann")
            mail(d, BOB, ANN, 2, headers=[PROOF])
            mail(d, BOB, ANN, 3, text=f"see {URL}\r\n")
            self.assertEqual(settled(d, (0, 0)), (0, 0))


if __name__ == "__main__":
    unittest.main()
