"""The control socket: requests, bounds, and clients that misbehave."""
import socket
import time
import unittest

from daemon import Daemon


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("").start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__(None, None, None)

    def raw(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(60)
        s.connect(f"{self.daemon.folder}/gillnetd.ctl")
        return s

    def test_requests__answered(self):
        d = self.daemon
        self.assertRegex(d.control("ping"), rf"^ok gillnetd \S+ pid={d.proc.pid} sessions=0 messages=0\n$")
        self.assertTrue(d.control("stat").startswith("ok "))
        self.assertTrue(d.control("reload").startswith("ok reloaded\n"))
        self.assertTrue(d.control(" ping \r").startswith("ok"))
        for bad in ("", "pin", "ping ping", "shutdown", "\0", "\xff"):
            self.assertTrue(d.control(bad).startswith("error "), bad)

    def test_line_lengths_around_the_limit(self):
        for n in (255, 256, 257, 32767, 32768, 32769, 100000):
            try:
                self.assertTrue(self.daemon.control(b"x" * (n - 1) + b"\n").startswith("error "))
            except (BrokenPipeError, ConnectionResetError):
                self.assertGreater(n, 32768)

    def test_request_in_pieces__answered(self):
        s = self.raw()
        for c in b"ping\n":
            s.sendall(bytes([c]))
            time.sleep(0.01)
        self.assertTrue(s.recv(4096).startswith(b"ok"))
        s.close()

    def test_silent_clients__dropped_and_others_served(self):
        silent = [self.raw() for _ in range(7)]
        self.assertTrue(self.daemon.control("ping").startswith("ok"))
        for s in silent:  # raw's time limit ends a wait in vain
            self.assertEqual(s.recv(1), b"")
            s.close()

    def test_more_clients_than_slots__wait_for_their_turn(self):
        many = [self.raw() for _ in range(12)]
        for s in many:
            s.sendall(b"ping\n")
        for s in many:
            self.assertTrue(s.recv(4096).startswith(b"ok"))
            s.close()


if __name__ == "__main__":
    unittest.main()
