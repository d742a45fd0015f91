"""Start and stop: sockets, stale and taken ones, messages in flight, service manager, trouble."""
import ctypes
import errno
import glob
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from daemon import BUILD, Daemon, gillnet
from mta import Closed, Mta

PIDFD_GETFD = 438


def tcp_sockets(pid):
    """Copies of the TCP sockets of a child: listeners and accepted connections."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                if not os.readlink(f"/proc/{pid}/fd/{number}").startswith("socket:"):
                    continue
            except FileNotFoundError:  # closed since the folder was read
                continue
            fd = libc.syscall(PIDFD_GETFD, process, int(number), 0)
            if fd < 0 and ctypes.get_errno() == errno.EBADF:
                continue
            if fd < 0:
                raise OSError(ctypes.get_errno(), "pidfd_getfd")
            s = socket.socket(fileno=fd)
            if s.family == socket.AF_INET:
                yield s
            else:
                s.close()
    finally:
        os.close(process)


class Options(unittest.TestCase):
    def run_gillnetd(self, *args):
        return subprocess.run([f"{BUILD}/gillnetd", *args], capture_output=True, text=True, timeout=30)

    def test_version_help_and_bad_usage(self):
        self.assertRegex(self.run_gillnetd("-V").stdout, r"^gillnetd \d+\.\d+\.\d+\n$")
        self.assertEqual(self.run_gillnetd("--version").stdout, self.run_gillnetd("-V").stdout)
        self.assertEqual(self.run_gillnetd("-h").returncode, 0)
        self.assertEqual(self.run_gillnetd("-x").returncode, 64)
        self.assertEqual(self.run_gillnetd("what").returncode, 64)
        self.assertEqual(self.run_gillnetd("-c", "/nonexistent").returncode, 78)

    def test_t__prints_both_mtas_lines_or_every_error(self):
        d = Daemon("")
        p = self.run_gillnetd("-t", "-c", d.conf)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn(f"gillnet_milter = {{ unix:{d.folder}/milter.sock, ", p.stdout)
        self.assertIn(f"`S=local:{d.folder}/milter.sock, ", p.stdout)
        p = self.run_gillnetd("-t", "-c", d.conf, "-p", "inet:8895@127.0.0.1")
        self.assertIn("inet:127.0.0.1:8895", p.stdout)
        self.assertIn("S=inet:8895@127.0.0.1,", p.stdout)
        p = self.run_gillnetd("-t", "-c", d.conf, "-p", "inet:8895")
        self.assertEqual(p.returncode, 64)
        self.assertIn("every address", p.stderr)
        d.write('lists = ( { name = "old"; inactive_after = "9d"; } );')
        p = self.run_gillnetd("-t", "-c", d.conf)
        self.assertEqual((p.returncode, p.stderr), (0, "gillnetd: warning: list old: inactive_after has no effect without period: "
                                                    "entries that do not age by periods are never dropped; set period, such as \"7d\"\n"))
        d.write('no_such = 1;\nlists = ( { name = "a"; types = [ "other_wrong" ]; } );')
        p = self.run_gillnetd("-t", "-c", d.conf)
        self.assertEqual(p.returncode, 78)
        self.assertIn("no_such", p.stderr)
        self.assertIn("other_wrong", p.stderr)
        shutil.rmtree(d.folder)


class Sockets(unittest.TestCase):
    def usual(self, target):
        m = Mta(target)
        m.hello()
        self.assertEqual(m.message().code, "c")
        m.quit()

    def test_unix__mode_and_owner_as_configured__removed_at_the_end(self):
        with Daemon('socket_mode = "0666"; socket_group = "daemon";') as d:
            st = os.stat(f"{d.folder}/milter.sock")
            self.assertTrue(stat.S_ISSOCK(st.st_mode))
            if os.geteuid() == 0:
                import grp
                self.assertEqual(grp.getgrgid(st.st_gid).gr_name, "daemon")
            self.assertEqual(stat.S_IMODE(st.st_mode), 0o666)
            self.assertEqual(stat.S_IMODE(os.stat(f"{d.folder}/gillnetd.ctl").st_mode), 0o660)
            self.usual(d.target)
            left = [f for f in os.listdir(d.folder) if f.endswith(".new")]
            self.assertEqual(left, [])
            d.stop()
            self.assertFalse(os.path.exists(f"{d.folder}/milter.sock"))
            self.assertFalse(os.path.exists(f"{d.folder}/gillnetd.ctl"))

    def test_unix__stale_after_kill__taken_over(self):
        d = Daemon("").start()
        d.kill()
        self.assertTrue(os.path.exists(f"{d.folder}/milter.sock"))
        d.start()
        self.usual(d.target)
        d.__exit__(None, None, None)

    def test_second_instance__refused_with_status_69(self):
        with Daemon("") as d:
            p = subprocess.run([f"{BUILD}/gillnetd", "-f", "-c", d.conf], capture_output=True,
                               text=True, timeout=30)
            self.assertEqual(p.returncode, 69)
            self.assertIn("another instance", p.stderr)
            # nor does it touch the page of the one that runs
            self.usual(d.target)
            d.wait_for(lambda: d.stat("messages") == 1, "the count of the message")
            numbers = gillnet("stat", "--all", "-c", d.conf).stdout
            self.assertRegex(numbers, rf"(?m)^pid +{d.proc.pid} ")
            self.assertRegex(numbers, r"(?m)^messages +1 ")
            other = Daemon("", target=d.target)
            p = subprocess.run([f"{BUILD}/gillnetd", "-f", "-c", other.conf], capture_output=True,
                               text=True, timeout=30)
            self.assertEqual(p.returncode, 69)
            shutil.rmtree(other.folder)
            self.usual(d.target)

    def test_inet__taken__refused_with_status_69(self):
        with Daemon("", target="inet:127.0.0.1:18896") as d:
            other = Daemon("", target=d.target)
            p = subprocess.run([f"{BUILD}/gillnetd", "-f", "-c", other.conf], capture_output=True,
                               text=True, timeout=30)
            self.assertEqual(p.returncode, 69)
            shutil.rmtree(other.folder)
            self.usual(d.target)

    def test_inet__answers_are_sent_at_once(self):
        """Without TCP_NODELAY each message of a real Postfix waits for its delayed acknowledgement."""
        with Daemon("", target="inet:127.0.0.1:18898") as d:
            m = Mta(d.target)
            m.hello()
            sockets = list(tcp_sockets(d.proc.pid))
            self.assertEqual([s.getsockname()[1] for s in sockets], [18898, 18898])
            for s in sockets:
                with s:
                    self.assertEqual(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), 1)
            m.quit()

    def test_inet6__serves(self):
        with Daemon("", target="inet:[::1]:18897") as d:
            self.usual("inet:::1:18897")
            d.wait_log("sendmail=inet6:18897@[::1]")

    def test_not_a_socket_there__refused_and_kept(self):
        d = Daemon("")
        with open(f"{d.folder}/milter.sock", "w", encoding="utf-8") as f:
            f.write("precious")
        p = subprocess.run([f"{BUILD}/gillnetd", "-f", "-c", d.conf], capture_output=True, text=True,
                           timeout=30)
        self.assertEqual(p.returncode, 69)
        with open(f"{d.folder}/milter.sock", encoding="utf-8") as f:
            self.assertEqual(f.read(), "precious")
        shutil.rmtree(d.folder)

    def test_newer_instance__its_socket_is_kept_when_the_older_ends(self):
        # as a user who is not root: libmilter then removes what lies under the name it bound
        wrap = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
        folder = tempfile.mkdtemp(prefix="gillnetd-test-")
        if wrap:
            os.chown(folder, 65534, 65534)
        older = Daemon("", folder=folder, wrap=wrap)
        older.start()
        m = Mta(older.target)
        m.hello()
        m.mail()  # in flight: the older one waits for it
        older.wait_for(lambda: older.stat("messages_open") == 1, "the message")
        older.signal(signal.SIGTERM)
        older.wait_for(lambda: not os.path.exists(f"{folder}/milter.sock"), "the socket to go")
        newer = Daemon("", folder=folder, wrap=wrap)
        newer.start()
        inode = os.stat(f"{folder}/milter.sock").st_ino
        m.rcpt()
        m.data()
        self.assertEqual(m.end_headers(), "c")
        self.assertEqual(m.end().code, "c")
        m.quit()
        older.stop()
        self.assertEqual(os.stat(f"{folder}/milter.sock").st_ino, inode)
        self.usual(newer.target)
        newer.stop()
        shutil.rmtree(folder)


class Stop(unittest.TestCase):
    def test_term__messages_in_flight_are_finished(self):
        d = Daemon("").start()
        flying = []
        for i in range(8):
            m = Mta(d.target)
            m.hello()
            m.mail()
            m.rcpt()
            m.data()
            m.header("Subject", "x")
            flying.append(m)
        idle = Mta(d.target)
        idle.hello()
        # the MTA has sent everything up to here before the signal is seen
        d.wait_for(lambda: d.stat("messages_open") == 8, "eight messages")
        d.signal(signal.SIGTERM)
        d.wait_for(lambda: not os.path.exists(f"{d.folder}/milter.sock"), "the socket to go")
        with self.assertRaises(OSError):
            Mta(d.target)
        for m in flying:
            m.end_headers()
            m.body(b"text\r\n")
            self.assertEqual(m.end().code, "c")
        self.assertEqual(d.proc.wait(30), 0)
        self.assertIn("event=stopped", d.log())
        self.assertNotIn("cut=", d.log())
        idle.close()
        d.__exit__(None, None, None)

    def test_second_term__does_not_wait(self):
        d = Daemon("").start()
        m = Mta(d.target)
        m.hello()
        m.mail()
        d.wait_for(lambda: d.stat("messages_open") == 1, "the message")
        d.signal(signal.SIGTERM)
        time.sleep(0.3)
        self.assertIsNone(d.proc.poll())
        d.signal(signal.SIGTERM)
        self.assertEqual(d.proc.wait(30), 0)
        d.wait_log("cut=1")
        m.close()
        d.__exit__(None, None, None)

    def test_int__as_term(self):
        d = Daemon("").start()
        d.signal(signal.SIGINT)
        self.assertEqual(d.proc.wait(30), 0)
        d.__exit__(None, None, None)

    def test_stop_under_load__clean_every_time(self):
        for _ in range(5):
            d = Daemon("").start()
            codes = []

            def load():
                try:
                    m = Mta(d.target)
                    m.hello()
                    while True:
                        codes.append(m.message().code)
                except (Closed, OSError):
                    pass

            threads = [threading.Thread(target=load) for _ in range(4)]
            for t in threads:
                t.start()
            d.wait_for(lambda: len(codes) > 20, "messages to flow")
            d.stop()  # fails unless the status is 0
            for t in threads:
                t.join()
            self.assertEqual(set(codes), {"c"})
            d.__exit__(None, None, None)


class Manager(unittest.TestCase):
    def test_notify__ready_reloading_stopping_watchdog(self):
        folder = tempfile.mkdtemp(prefix="gillnetd-test-")
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(f"{folder}/notify")
        s.settimeout(20)
        d = Daemon("", env={"NOTIFY_SOCKET": f"{folder}/notify", "WATCHDOG_USEC": "30000000"})
        d.start()
        seen = []

        def until(what):
            while True:
                seen.append(s.recv(4096).decode())
                if re.search(what, seen[-1], re.M):
                    return seen[-1]

        until("^READY=1")
        until("^WATCHDOG=1")
        d.signal(signal.SIGHUP)
        self.assertRegex(until("^RELOADING=1"), r"MONOTONIC_USEC=\d+")
        until("^READY=1")
        d.signal(signal.SIGTERM)
        until("^STOPPING=1")
        self.assertEqual(d.proc.wait(30), 0)
        d.__exit__(None, None, None)
        shutil.rmtree(folder)


class Rules(unittest.TestCase):
    """The compiled patterns of one start serve the next, and those of a reload too."""
    RULE = 'rules = ( { name = "greets"; all = ( { feature = "subject"; pattern = "%s"; } ); } );'

    def start(self, d):
        d.start()
        return re.search(r"event=rules .*cache=(\S+)", d.log()).group(1)

    def greets(self, d, subject):
        m = Mta(d.target)
        m.hello()
        a = m.message(headers=[("From", "<a@b.example>"), ("Subject", subject)])
        m.quit()
        return "RULE_GREETS" in dict(a.headers()).get("X-Gillnet-Symbols", "")

    def test_second_start__compiles_nothing(self):
        d = Daemon(self.RULE % "hello")
        self.assertEqual(self.start(d), "written")
        self.assertTrue(self.greets(d, "well, hello"))
        d.stop()
        self.assertEqual(self.start(d), "hit")
        self.assertTrue(self.greets(d, "well, hello"))
        self.assertFalse(self.greets(d, "well, goodbye"))
        d.write(self.RULE % "goodbye")
        self.assertTrue(d.control("reload").startswith("ok reloaded"))
        self.assertTrue(self.greets(d, "well, goodbye"))
        d.stop()
        self.assertEqual(self.start(d), "hit")
        self.assertTrue(self.greets(d, "well, goodbye"))
        d.stop()
        with open(f"{d.state}/rules.cache", "r+b") as f:
            f.seek(-100, os.SEEK_END)
            f.write(b"damaged")
        old, new = (f"{d.state}/rules.cache.{name}.tmp" for name in ("old", "new"))
        for name in (old, new):  # of a killed writer, and of one that may be at work
            with open(name, "wb"):
                pass
        os.utime(old, (0, time.time() - 4000))
        self.assertEqual(self.start(d), "written")
        self.assertEqual((os.path.exists(old), os.path.exists(new)), (False, True))
        os.unlink(new)
        self.assertTrue(self.greets(d, "well, goodbye"))
        d.stop()
        shutil.rmtree(d.folder)


class Trouble(unittest.TestCase):
    def usual(self, d):
        m = Mta(d.target)
        m.hello()
        a = m.message()
        self.assertEqual(a.code, "c")
        m.quit()
        return a

    def test_keys_are_made_where_there_are_none(self):
        with Daemon("") as d:
            self.usual(d)
            self.assertTrue(os.path.exists(f"{d.folder}/keys/digest.key"))

    def test_damaged_keys__mail_flows_and_the_fault_is_named(self):
        d = Daemon("")
        os.mkdir(f"{d.folder}/keys")
        with open(f"{d.folder}/keys/digest.key", "w", encoding="utf-8") as f:
            f.write("not a key\n")
        with d:
            self.assertIn(" fault=keys_unreadable", self.usual(d).status().replace("\n\t", " "))
            d.wait_log("digest.key")
            self.assertIn("fault: keys: ", gillnet("stat", "-c", d.conf, check=False).stdout)
            # mended: it is seen without a restart
            os.unlink(f"{d.folder}/keys/digest.key")
            gillnet("list", "add", "--create", "phish", "clean.example", "-c", d.conf)
            d.wait_for(lambda: self.usual(d).status() == "No, action=accept score=0.0 required=5.0", "the lists")
            d.wait_for(lambda: "fault: keys: " not in gillnet("stat", "-c", d.conf, check=False).stdout,
                       "the fault to go")

    def test_filter_cut_short_while_in_use__goes_on_answering(self):
        d = Daemon('lists = ( { name = "phish"; weight = 6.0; } );')
        with open(f"{d.folder}/feed", "w", encoding="utf-8") as f:
            f.writelines(f"http://evil{i}.example/x\n" for i in range(50000))
        gillnet("list", "import", "phish", f.name, "-c", d.conf)
        with d:
            for base in glob.glob(f"{d.folder}/lists/phish/base.*"):
                os.truncate(base, 0)
            m = Mta(d.target)
            m.hello()
            for i in range(0, 50000, 5000):
                a = m.message(body=b"see http://evil%d.example/x\r\n" % i)
                self.assertEqual(a.status()[:3], "Yes")
            m.quit()

    def test_statistics_page_cannot_be_made__mail_flows(self):
        d = Daemon("")
        with open(f"{d.folder}/counts", "w", encoding="utf-8") as f:
            f.write("a file where a folder should be")
        with d:
            self.usual(d)
            d.wait_log("counts")
            d.wait_for(lambda: d.stat("messages") == 1, "the count of the message")

    @unittest.skipIf(os.geteuid() != 0, "mounting a small disk needs root")
    def test_full_disk__mail_flows_and_the_fault_is_named(self):
        folder = tempfile.mkdtemp(prefix="gillnetd-test-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=750", "tmpfs", folder], check=True)
        try:
            with open(f"{folder}/filler", "wb", buffering=0) as f:
                try:
                    while f.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            with Daemon("", state=folder) as d:
                a = self.usual(d)
                self.assertEqual(a.status(), "No, action=accept score=0.0 required=5.0 fault=keys_unreadable")
                d.wait_for(lambda: re.search("(?i)no space|full", d.log()), "the full disk in the log")
                # room again: the next start is a healthy one
                d.stop()
                os.unlink(f"{folder}/filler")
                d.start()
                self.usual(d)
                self.assertTrue(os.path.exists(f"{folder}/keys/digest.key"))
        finally:
            subprocess.run(["umount", folder], check=True)
            os.rmdir(folder)

    def test_damaged_list__mail_flows_and_the_fault_is_named(self):
        d = Daemon("", lists={"phish": ["http://evil.example/x"]})
        with open(f"{d.folder}/lists/phish/CURRENT", "r+b") as f:
            f.seek(4)
            f.write(b"\xff\xff\xff\xff")
        with d:
            self.assertIn(" fault=lists", self.usual(d).status())
            self.assertGreater(d.stat("lists_failed"), 0)
            d.wait_log("phish")

    def test_folder_of_lists_vanishes__former_lists_serve_and_the_fault_is_named(self):
        with Daemon("", lists={"phish": ["evil.example"]}) as d:
            os.rename(f"{d.folder}/lists", f"{d.folder}/away")
            d.wait_for(lambda: "event=lists " in d.log(), "a line about the folder")
            d.wait_for(lambda: "fault: lists: " in gillnet("stat", "-c", d.conf, check=False).stdout,
                       "the fault in the statistics")
            m = Mta(d.target)
            self.assertTrue(m.message(body=b"http://evil.example/\r\n").status().startswith("Yes"))
            m.quit()
            os.rename(f"{d.folder}/away", f"{d.folder}/lists")
            d.wait_for(lambda: "result=readable" in d.log(), "a line about the folder")

    def test_list_added_while_running__found(self):
        with Daemon('lists = ( { name = "phish"; weight = 6.0; } );') as d:
            body = b"see http://evil.example/x\r\n"
            m = Mta(d.target)
            m.hello()
            self.assertEqual(m.message(body=body).status()[:2], "No")
            gillnet("list", "add", "--create", "phish", "http://evil.example/x", "-c", d.conf)
            d.wait_for(lambda: m.message(body=body).status()[:3] == "Yes", "the entry")
            m.quit()

    def test_kill_in_mid_message_and_restart__normal_service(self):
        d = Daemon("").start()
        m = Mta(d.target)
        m.hello()
        m.mail()
        d.kill()
        with self.assertRaises((Closed, OSError)):
            m.data()
            m.header("c", "b")
            m.end()
        d.start()
        self.usual(d)
        d.wait_for(lambda: d.stat("messages") == 1, "the count of the message")
        d.__exit__(None, None, None)


if __name__ == "__main__":
    unittest.main()
