"""Embargo in gillnetd: kill -9 at any moment brings no second 451; reload; a disk that refuses."""
import itertools
import os
import random
import re
import threading
import time
import unittest

from daemon import Daemon, gillnet
from mta import Closed, Mta

LISTED = "evil.example"
CONFIG = 'thresholds = { header = 5.0; embargo = 3.0; };\n' \
    'embargo = { time = "1s"; };\n' \
    'lists = ( { name = "grey"; weight = 4.0; } );\n'
KILLS = 500 if os.environ.get("GILLNET_FULL") else 30
CLIENTS = 4


NETWORKS = itertools.count()


def send(daemon, name, rcpts=1):
    """A grey message of a sender and with a text of that name; the final answer. Each comes from a
    network never seen before: without the memory a retry would be a first contact again."""
    m = Mta(daemon.target)
    n = next(NETWORKS)
    try:
        assert m.hello(address=f"10.{n >> 8 & 255}.{n & 255}.1") == "c"
        return m.message(headers=(("From", f"<a@{name}.example>"), ("Subject", name)),
                         body=f"{name} says: see http://{LISTED}/{name}\r\n".encode(),
                         sender=f"<a@{name}.example>", rcpts=rcpts)
    finally:
        m.close()


def is_held(answer):
    if answer.code == "y":
        assert answer.text.startswith("451 4.7.1 First message from you"), answer.text
        return True
    assert answer.code == "c", (answer.code, answer.text)
    return False


class Clients:
    """Send new messages until gillnetd is gone; held: names of those that were answered 451."""

    serial = itertools.count()

    def __init__(self, daemon):
        self.daemon = daemon
        self.held = []
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]
        for t in self.threads:
            t.start()

    def run(self):
        while True:
            name = f"d{next(self.serial)}"
            try:
                if is_held(send(self.daemon, name)):
                    self.held.append(name)
            except (Closed, OSError):
                return

    def join(self):
        for t in self.threads:
            t.join()
        return self.held


class Embargo(unittest.TestCase):
    def daemon(self, config=CONFIG, **kwargs):
        d = Daemon(config, lists={"grey": [f"domain:{LISTED}"]}, **kwargs)
        self.addCleanup(d.__exit__, None, None, None)
        return d.start()

    def test_kill__at_any_moment__nobody_gets_a_second_451(self):
        seed = int(os.environ.get("GILLNET_SEED", time.time_ns() % 1000000))
        print(f"GILLNET_SEED={seed}")
        rng = random.Random(seed)
        d = self.daemon()
        checked = 0
        for _ in range(KILLS):
            clients = Clients(d)
            d.wait_for(lambda: clients.held, "the first 451")
            time.sleep(rng.random() * 0.1)
            d.kill()
            held = clients.join()
            d.start()
            for name in held[-20:]:
                self.assertFalse(is_held(send(d, name)), name)
            checked += len(held[-20:])
        self.assertGreaterEqual(checked, KILLS)

    def test_reload__switched_on_and_off(self):
        off = CONFIG.replace("embargo = 3.0;", "")
        d = self.daemon(off)
        self.assertFalse(is_held(send(d, "one")))
        self.assertFalse(os.path.exists(f"{d.state}/counts/gillnetd.embargo"))
        d.write(CONFIG)
        self.assertTrue(d.control("reload").startswith("ok"))
        self.assertTrue(is_held(send(d, "two")))
        d.write(off)
        self.assertTrue(d.control("reload").startswith("ok"))
        self.assertFalse(is_held(send(d, "three")))

    def test_explain__of_an_embargoed_message__says_so(self):
        d = self.daemon()
        self.assertTrue(is_held(send(d, "one")))
        d.wait_for(lambda: " case=" in d.log(), "the line of the message")
        case = re.search(r" case=(\S+)", d.log())[1]
        score = float(re.search(r" score=(\S+)", d.log())[1])
        told = gillnet("-c", d.conf, "explain", case).stdout
        self.assertTrue(told.startswith(f"Embargoed: {score:.1f} of 3.0; "), told)
        self.assertNotIn("the MTA could not", told)
        self.assertIn(f"with thresholds.embargo above {score:.2f}: ", told)
        self.assertIn("without LIST_GREY (4.0): no embargo\n", told)
        self.assertIn(" 1 recipient\n", told)

    def test_same_message__on_many_connections_at_once__held_once(self):
        d = self.daemon()
        for n in range(20):
            answers = []
            threads = [threading.Thread(target=lambda: answers.append(is_held(send(d, f"s{n}"))))
                       for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(sorted(answers), [False] * 7 + [True])

    def test_file__cannot_be_made__mail_goes_on(self):
        d = self.daemon()
        os.mkdir(f"{d.state}/counts/gillnetd.embargo")
        self.assertFalse(is_held(send(d, "one")))
        d.wait_for(lambda: "event=embargo" in d.log(), "the fault in the log")
        self.assertEqual(d.stat("embargoed"), 0)


if __name__ == "__main__":
    unittest.main()
