"""Packets that no MTA sends end their connection and nothing else; system calls of packets."""
import os
import socket
import struct
import unittest

from daemon import Daemon
from mta import Mta
from test_abuse import rss_kb

LISTS = {"phish": ["http://evil.example/x"]}
WEIGHT = 'rules = ();\nlists = ( { name = "phish"; weight = 6.0; } );\n'
BODY = b"see http://evil.example/x\r\n"
CLIENT = b"client.example\0" + b"4" + struct.pack("!H", 12345) + b"192.0.2.10\0"


def packet(cmd, data=b"", length=None):
    return struct.pack("!I", len(data) + 1 if length is None else length) + cmd + data


# Packets to send after the negotiation. One is odd, and the packet after it makes libmilter use it.
ODD = {
    "unpaired": [
        packet(b"D", b"C{client_addr}\x00192.0.2.1\0{client_resolve}\0") + packet(b"C", CLIENT),
        packet(b"D", b"Ci\0") + packet(b"C", CLIENT),
        packet(b"C", CLIENT) + packet(b"D", b"M{auth_authen}\0\0x\0") + packet(b"M", b"<a@b>\0"),
    ],
    "unterminated": [
        packet(b"D", b"C{client_addr}\x00192.0.2.1") + packet(b"C", CLIENT),
        packet(b"D", b"Cj") + packet(b"C", CLIENT),
        packet(b"C", b"client.example"),
        packet(b"C", CLIENT[:-1]),
        packet(b"C", CLIENT) + packet(b"H", b"client.example"),
        packet(b"C", CLIENT) + packet(b"M", b"<a@b>"),
        packet(b"C", CLIENT) + packet(b"M", b"<a@b>\0") + packet(b"R", b"<c@d>"),
        packet(b"C", CLIENT) + packet(b"M", b"<a@b>\0") + packet(b"R", b"<c@d>\0") + packet(b"L", b"Subject\0x"),
    ],
    "short": [
        packet(b"D"), packet(b"C"), packet(b"C", b"client.example\0"), packet(b"C", b"client.example\0004\0"),
        packet(b"C", CLIENT) + packet(b"H"), packet(b"C", CLIENT) + packet(b"M"), packet(b"O", b"\0\0\0\6"),
        packet(b"C", CLIENT) + packet(b"M", b"<a@b>\0") + packet(b"R", b"<c@d>\0") + packet(b"L", b"Subject\0"),
    ],
    "empty": [packet(b"C", CLIENT, 0), packet(b"", b"", 0) * 9],
    "long": [packet(b"C", b"", 0xffffffff), packet(b"B", b"", 0x80000000), packet(b"L", b"", 1 << 21),
             packet(b"D", b"", 1 << 17)],
    "unknown": [packet(b"Z", b"zzz"), packet(b"\0", b"zzz"), packet(b"\xff", b""), packet(b"c", CLIENT)],
}


class Odd(unittest.TestCase):
    def play(self, d, data, cuts):
        m = Mta(d.target)
        try:
            for i in range(len(data)) if cuts else ():
                m.sock.sendall(data[i:i + 1])
            m.sock.sendall(b"" if cuts else data)
            while m.sock.recv(65536):
                pass
        except ConnectionError:
            pass
        m.close()

    def test_each_class__the_connection_ends_and_no_other(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            other = Mta(d.target)
            other.hello()
            n = 0
            for fault, cases in ODD.items():
                for data in cases:
                    for cuts in (False, True):
                        with self.subTest(fault=fault, data=data, cuts=cuts):
                            self.play(d, data, cuts)
                            n += 1
                            d.wait_for(lambda: d.stat("packets_refused") == n, "the count")
                d.wait_for(lambda: f"event=packet_refused fault={fault} " in d.log(), "the line")
                self.assertEqual(other.message(body=BODY).status()[:3], "Yes")
            self.assertEqual(d.log().count("event=packet_refused"), len(ODD), "one of a kind a minute")
            other.quit()
            d.wait_for(lambda: d.stat("sessions_open") == 0, "all to be closed")

    def test_inet__named_with_its_address(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with Daemon(WEIGHT, target=f"inet:127.0.0.1:{port}") as d:
            self.play(d, ODD["unpaired"][0], False)
            d.wait_for(lambda: "fault=unpaired command=D bytes=42 peer=[127.0.0.1]:" in d.log(), "the line")

    def test_odd_in_the_middle_of_a_message__what_came_before_is_not_harmed(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            self.assertEqual(m.message(body=BODY).status()[:3], "Yes")
            m.mail()
            m.rcpt()
            m.sock.sendall(packet(b"D", b"Tx\0"))
            self.assertEqual(m.sock.recv(1), b"")
            d.wait_for(lambda: d.stat("messages_aborted") == 1, "its end")


class Ahead(unittest.TestCase):
    def test_many_packets_in_one_write_and_one_packet_in_many__same_answer(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            want = m.message(body=BODY).key()[2:]
            real, kept = m.sock, []

            class Late:
                def sendall(self, data):
                    kept.append(data)

                def recv(self, n):
                    real.sendall(b"".join(kept))
                    kept.clear()
                    return real.recv(n)

            m.sock = Late()
            for _ in range(50):
                self.assertEqual(m.message(body=BODY, headers=[("Subject", "x" * 900)] * 90).status()[:3], "Yes")
                self.assertEqual(m.message(body=BODY).key()[2:], want)
            m.sock = real
            m.quit()

    def test_calls_of_a_message__few(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            headers = [(f"X-H{i}", "v" * 40) for i in range(30)]
            m.message(headers, BODY)
            before, n = d.stat("socket_calls"), 100
            for _ in range(n):
                self.assertEqual(m.message(headers, BODY).status()[:3], "Yes")
            calls = (d.stat("socket_calls") - before) / n
            self.assertLessEqual(calls, 20)
            m.quit()

    def test_idle_after_work__holds_nothing(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            held = [Mta(d.target) for _ in range(200)]
            for m in held[:20]:
                m.hello()
                m.message([("Subject", "hello")], b"x" * 60000)
            before = rss_kb(d.proc.pid)
            for m in held:
                m.hello()
                m.message([("Subject", "hello")], b"x" * 60000)
            if not os.environ.get("GILLNET_BUILD", "").endswith(("asan", "tsan")):
                self.assertLess((rss_kb(d.proc.pid) - before) / 200, 30, "KiB a connection")
            for m in held:
                m.quit()


if __name__ == "__main__":
    unittest.main()
