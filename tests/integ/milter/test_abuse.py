"""More connections, slower ones and bigger messages than are good: mail keeps flowing."""
import os
import resource
import time
import unittest

from daemon import Daemon
from mta import Mta

LISTS = {"phish": ["http://evil.example/x"]}
WEIGHT = 'rules = ();\nlists = ( { name = "phish"; weight = 6.0; } );\n'
BODY = b"see http://evil.example/x\r\n"


def rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


class Sessions(unittest.TestCase):
    def test_over_the_cap__accepted_unexamined_counted_and_logged_once(self):
        with Daemon(WEIGHT + "limits: { sessions = 4; };", lists=LISTS) as d:
            held = []
            for _ in range(4):
                m = Mta(d.target)
                self.assertEqual(m.hello(), "c")
                held.append(m)
            for _ in range(5):
                m = Mta(d.target)
                self.assertTrue(m.replies("C"))
                self.assertEqual(m.hello(), "a")
                m.quit()
            self.assertEqual(d.stat("sessions_refused"), 5)
            d.wait_for(lambda: "event=sessions_limit" in d.log(), "the log line")
            self.assertEqual(d.log().count("event=sessions_limit"), 1)
            self.assertEqual(held[0].message(body=BODY).status()[:3], "Yes")
            held.pop().quit()
            d.wait_for(lambda: d.stat("sessions_open") == 3, "room")
            m = Mta(d.target)
            self.assertEqual(m.hello(), "c")
            self.assertEqual(m.message(body=BODY).status()[:3], "Yes")
            for m in held:
                m.quit()

    def test_many_idle_sessions__small(self):
        n = 1000
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with Daemon("") as d:
            idle = [Mta(d.target) for _ in range(50)]
            for m in idle:
                m.hello()
                m.message()
            before = rss_kb(d.proc.pid)
            for _ in range(n):
                m = Mta(d.target)
                m.hello()
                idle.append(m)
            grown = rss_kb(d.proc.pid) - before
            if not os.environ.get("GILLNET_BUILD", "").endswith(("asan", "tsan")):
                # libmilter's own context is most of it
                self.assertLess(grown / n, 6, "KiB a session")
            for m in idle:
                m.close()
            d.wait_for(lambda: d.stat("sessions_open") == 0, "sessions to close")

    def test_descriptors_used_up__waits_and_goes_on(self):
        import subprocess
        with Daemon("", wrap=("prlimit", "--nofile=64:64")) as d:
            d.wait_log("event=listen")
            many = []
            try:
                for _ in range(80):
                    many.append(Mta(d.target, timeout=1))
            except OSError:
                pass
            pid = d.proc.pid
            ticks = sum(int(x) for x in open(f"/proc/{pid}/stat", encoding="ascii").read()
                        .rsplit(")", 1)[1].split()[11:13])
            time.sleep(1)
            now = sum(int(x) for x in open(f"/proc/{pid}/stat", encoding="ascii").read()
                      .rsplit(")", 1)[1].split()[11:13])
            self.assertLess(now - ticks, 30, "CPU ticks while waiting for a descriptor")
            d.wait_log("event=accept")
            for m in many:
                m.close()
            m = Mta(d.target)
            m.hello()
            self.assertEqual(m.message().code, "c")
            m.quit()


class Slow(unittest.TestCase):
    def test_slow_loris__others_are_served_and_it_is_cut(self):
        with Daemon(WEIGHT + 'limits: { session_idle = "2s"; };', lists=LISTS) as d:
            slow = [Mta(d.target, negotiate=False) for _ in range(40)]
            for m in slow:
                m.sock.sendall(b"\0\0\0")
            m = Mta(d.target)
            m.hello()
            self.assertEqual(m.message(body=BODY).status()[:3], "Yes")
            m.quit()
            cut = 0
            for s in slow:
                s.sock.settimeout(15)
                cut += s.sock.recv(1) == b""
                s.close()
            self.assertEqual(cut, 40)

    def test_one_byte_at_a_time__same_answer(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            real = m.sock

            class Drip:
                def sendall(self, data):
                    for i in range(len(data)):
                        real.sendall(data[i:i + 1])

                def recv(self, n):
                    return real.recv(n)

            m.sock = Drip()
            a = m.message(body=BODY)
            m.sock = real
            self.assertEqual(a.key()[2:], m.message(body=BODY).key()[2:])
            m.quit()


class Big(unittest.TestCase):
    def test_attachment_over_the_limit__text_behind_it_read_and_the_limit_named(self):
        with Daemon(WEIGHT + 'limits: { message_bytes = "64K"; };', lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            image = b"\r\n--b\r\nContent-Type: image/png\r\n\r\n" + b"y" * 3000000
            text = b"\r\n--b\r\nContent-Type: text/plain\r\n\r\n" + BODY + b"\r\n--b--\r\n"
            a = m.message([("Content-Type", "multipart/mixed; boundary=b")], image + text)
            self.assertIn("limit=message_bytes", a.status())
            self.assertEqual(a.status()[:3], "Yes")
            self.assertIn("message_bytes", d.wait_line(m.qid)["limits"])
            m.quit()

    def test_many_recipients_and_headers__accepted(self):
        with Daemon(WEIGHT, lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            headers = [(f"X-H{i}", "v" * 50) for i in range(3000)]
            a = m.message(headers, BODY, rcpts=2000)
            self.assertEqual(a.code, "c")
            self.assertIn("limit=", a.status().replace("\n\t", " "))
            self.assertEqual(d.wait_line(m.qid)["nrcpt"], "2000")
            m.quit()

    def test_memory_cap__accepted_with_a_header(self):
        with Daemon(WEIGHT + 'limits: { memory = "64K"; };', lists=LISTS) as d:
            m = Mta(d.target)
            m.hello()
            a = m.message([(f"X-{i}", "v" * 900) for i in range(300)],
                          b"".join(b"http://h%d.example/\r\n" % i for i in range(2000)))
            self.assertEqual(a.code, "c")
            self.assertRegex(a.status(), "limit=|reason=memory")
            m.quit()


if __name__ == "__main__":
    unittest.main()
