#!/usr/bin/env python3
"""The ham log, which the checks of feeds use: which messages, good or not, across a restart."""
import struct
import unittest

from daemon import Daemon
from mta import Mta

HEAD, SLOT = 56, 24 + 8 * 64


def records(d):
    """[(is good, number of keys)] of the ham log, as core/telemetry/ham_log.c lays it out."""
    with open(f"{d.state}/counts/ham.log", "rb") as f:
        data = f.read()
    found = []
    for at in range(HEAD, len(data) - SLOT + 1, SLOT):
        total, time_s, network, flags, n = struct.unpack_from("=IIQII", data, at)
        if total:
            found.append((bool(flags & 1), n, time_s, network))
    return found


def send(d, body):
    m = Mta(d.target)
    m.hello()
    m.message(body=body)
    m.quit()


class HamLog(unittest.TestCase):
    def test_message__when_examined__then_the_ham_log_has_it(self):
        with Daemon(lists={"phish": ["evil.example"]}) as d:
            send(d, b"http://shop.example/a\r\n")
            send(d, b"http://evil.example/a\r\n")
            d.wait_for(lambda: len(records(d)) == 2, "two messages")
            d.stop()
            d.start()
            send(d, b"nothing\r\n")
            d.wait_for(lambda: len(records(d)) == 3, "one more")
            got = records(d)
            self.assertEqual([good for good, *_ in got], [True, False, True])
            self.assertTrue(all(n > 2 for _, n, *_ in got), got)


if __name__ == "__main__":
    unittest.main()
