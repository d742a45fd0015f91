"""gillnet-reader: its processes, its sandbox, and gillnetd when it is there, slow, dead or hostile."""
import email.message
import email.policy
import io
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile

import reader
from reader import BUILD, CODE, END, FACT, FILE_BEGIN, READY, Reader, ask, ask_raw, records, request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "milter"))
from daemon import Daemon, gillnet  # noqa: E402
from mta import Mta  # noqa: E402

CONF = """
thresholds = {{ header = 5.0; reject = 100.0; }};
lists = ( {{ name = "phish"; weight = 6.0; }} );
reader = {{ socket = "{}"; }};
limits = {{ reader = "{}"; }};
"""
LINK = "https://login.evil.example/verify"


def qr(content=LINK):
    return subprocess.run(["qrencode", "-o", "-", content], capture_output=True, check=True).stdout


def message(*files, body="See the attached file.\n"):
    m = email.message.EmailMessage(policy=email.policy.SMTP)
    m["From"], m["To"], m["Subject"] = "a@sender.example", "b@rcpt.example", "Invoice"
    m.set_content(body)
    for name, kind, data in files:
        main, sub = kind.split("/")
        m.add_attachment(data, maintype=main, subtype=sub, filename=name)
    return m


def hostile_server(path, answer):
    """Listens at path; answer(connection) for each. Returns a function that ends it."""
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(64)

    def serve():
        while True:
            try:
                c, _ = s.accept()
            except OSError:
                return
            with c:
                try:
                    answer(c)
                except OSError:
                    pass

    threading.Thread(target=serve, daemon=True).start()

    def end():
        s.shutdown(socket.SHUT_RDWR)
        s.close()
        os.unlink(path)

    return end


class OfReader(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory(prefix="gillnet-reader-")
        self.addCleanup(top.cleanup)
        self.top = top.name


class Sandbox(OfReader):
    def test_a_reader_that_is_taken_over__each_way_out_is_refused(self):
        p = subprocess.run([BUILD / "tests/integ/reader/reader_escape"], capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        self.assertGreaterEqual(p.stdout.count("refused "), 27)

    def test_processes__under_the_filter_and_gone_when_the_client_is(self):
        with Reader(self.top, "--processes", "3") as r:
            waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
            for s in waiting:
                s.connect(r.path)
                self.assertEqual(s.recv(64)[0], READY)
            for pid in r.children():
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                self.assertIn("Seccomp:\t2", status)
                self.assertIn("NoNewPrivs:\t1", status)
                files = {f.name: os.readlink(f) for f in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
                self.assertEqual((files.pop("0"), files.pop("1")), ("/dev/null", "/dev/null"))
                files.pop("2")  # with a sanitizer it stays
                self.assertEqual([f.split(":")[0] for f in files.values()], ["socket"])
            self.assertEqual(len(r.children()), 3)
            with socket.socket(socket.AF_UNIX) as fourth:  # waits its turn
                fourth.settimeout(1)
                fourth.connect(r.path)
                self.assertRaises(TimeoutError, fourth.recv, 64)
            for s in waiting:
                s.close()
            end = time.monotonic() + 60
            while r.children() and time.monotonic() < end:
                time.sleep(0.02)
            self.assertEqual(r.children(), [])
            self.assertIn((CODE, 1, "", LINK.encode()), ask(r.path, qr()))

    def test_requests_that_are_none__no_answer_and_no_harm(self):
        good = request(qr())
        rng = random.Random(21)
        with Reader(self.top) as r:
            for i in range(300):
                bad = bytearray(good[:rng.randrange(len(good))] if i % 3 == 0 else good)
                for _ in range(rng.randrange(1, 6)):
                    if len(bad) > 0:
                        bad[rng.randrange(min(len(bad), 90))] = rng.randrange(256)
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(60)
                    s.connect(r.path)
                    try:
                        s.sendall(bad)
                        s.shutdown(socket.SHUT_WR)
                        while s.recv(1 << 16):
                            pass
                    except OSError:
                        pass
            self.assertIsNone(r.process.poll())
            self.assertIn((CODE, 1, "", LINK.encode()), ask(r.path, qr()))

    def test_a_file_that_takes_memory_or_time__its_process_ends_alone(self):
        with Reader(self.top, "--memory", "64") as r:
            # a picture that says it has 60,000 x 60,000 pixels
            huge = b"P5\n60000 60000\n255\n" + bytes(1000)
            got = ask(r.path, huge, pixels=1 << 40)
            self.assertEqual(got[0][0], READY)
            self.assertIn((CODE, 1, "", LINK.encode()), ask(r.path, qr()))
            self.assertIsNone(r.process.poll())


class Ocr(OfReader):
    def test_text_in_a_picture__read_where_both_sides_want_it(self):
        drawn = subprocess.run(["convert", "-background", "white", "-font", "DejaVu-Sans", "-pointsize", "36",
                                "label:Your account is locked", "png:-"], capture_output=True, check=True).stdout
        with Reader(self.top, "--ocr", "eng") as r:
            texts = [v.decode() for k, _, _, v in ask(r.path, drawn, flags=1) if k == reader.TEXT]
            self.assertEqual(" ".join("".join(texts).split()), "Your account is locked")
            self.assertEqual([k for k, *_ in ask(r.path, drawn) if k == reader.TEXT], [])

    def test_a_language_that_is_not_there__said_at_the_start(self):
        p = subprocess.run([BUILD / "gillnet-reader", "--socket", f"{self.top}/r", "--ocr", "xxx"],
                           capture_output=True, text=True)
        self.assertNotEqual(p.returncode, 0)
        self.assertIn("install tesseract-ocr-eng", p.stderr)


class Mail(OfReader):
    def deliver(self, d, m):
        """The line of the message in the log, and the seconds it took."""
        raw = m.as_bytes()
        head, body = raw.split(b"\r\n\r\n", 1)
        mta = Mta(d.target)
        mta.hello()
        before = len(d.lines())
        begun = time.monotonic()
        answer = mta.message(headers=[(n, v) for n, v in m.items()], body=body)
        took = time.monotonic() - begun
        mta.quit()
        self.assertIn(answer.code, "ac")
        return d.wait_for(lambda: d.lines()[before:], "the line")[-1], took

    def daemon(self, limit="60s"):
        return Daemon(CONF.format(f"{self.top}/reader.sock", limit), lists={"phish": ["login.evil.example"]})

    def stat(self, d, name):
        return d.stat(name) if hasattr(d, "stat") else json.loads(
            gillnet("--json", "stat", name, "-c", d.conf).stdout.splitlines()[0])["value"]

    def test_a_code_in_a_picture__found_and_its_place_is_told(self):
        with Reader(self.top), self.daemon() as d:
            line, _ = self.deliver(d, message(("q.png", "image/png", qr())))
            self.assertEqual(line["action"], "header")
            self.assertIn("LIST_PHISH(6.0)", line["symbols"])
            self.assertIn("QR\\x20code\\x20in\\x20q.png", line["symbols"])

    def test_check__starts_a_reader_of_its_own_and_tells_the_place(self):
        with self.daemon() as d:
            path = pathlib.Path(self.top, "m.eml")
            path.write_bytes(message(("q.png", "image/png", qr())).as_bytes())
            p = subprocess.Popen([BUILD / "gillnet", "check", path, "-c", d.conf], stdout=subprocess.PIPE, text=True,
                                 start_new_session=True)
            self.assertIn("QR code in q.png", p.communicate()[0])
            d.wait_for(lambda: subprocess.run(["pgrep", "-s", str(p.pid)], stdout=subprocess.DEVNULL).returncode == 1,
                       "the end of its reader")
            rows = json.loads(gillnet("--json", "extract", str(path), "-c", d.conf).stdout)
            found = [f for f in rows["features"] if f["value"] == "login.evil.example"]
            self.assertEqual(found[0]["within"], "QR code in q.png")

    def test_an_archive_that_begins_like_a_picture__read_as_its_name_says(self):
        page = b'<html><a href="https://login.evil.example/verify">x</a></html>'
        with io.BytesIO() as f:
            with tarfile.open(fileobj=f, mode="w") as t:
                info = tarfile.TarInfo("BM")  # and a tar file begins with the name of its first entry
                info.size = 1
                t.addfile(info, io.BytesIO(b"x"))
                info = tarfile.TarInfo("in.html")
                info.size = len(page)
                t.addfile(info, io.BytesIO(page))
            tar = f.getvalue()
        with io.BytesIO() as f:
            f.write(qr("nothing"))
            with zipfile.ZipFile(f, "a") as z:
                z.writestr("in.html", page)
            packed = f.getvalue()
        with Reader(self.top), self.daemon() as d:
            for name, data in (("a.tar", tar), ("a.zip", packed)):
                line, _ = self.deliver(d, message((name, "application/octet-stream", data)))
                self.assertIn("LIST_PHISH(6.0)", line["symbols"], name)
                self.assertIn(f"in.html\\x20in\\x20{name}", line["symbols"])

    def test_no_reader__mail_passes_and_nothing_complains(self):
        with self.daemon() as d:
            line, _ = self.deliver(d, message(("q.png", "image/png", qr())))
            self.assertEqual(line["action"], "accept")
            self.assertNotIn("fault", gillnet("stat", "-c", d.conf).stdout)

    def test_a_dead_reader__fault_and_trait_until_it_is_back(self):
        with self.daemon() as d:
            pathlib.Path(self.top, "reader.sock").touch()
            line, took = self.deliver(d, message(("q.png", "image/png", qr())))
            self.assertEqual(line["action"], "accept")
            d.wait_log("event=reader result=away")
            self.assertIn("gillnet-reader does not answer", gillnet("stat", "-c", d.conf).stdout)

    def test_a_reader_that_hangs__delays_one_message_for_its_time_and_no_other(self):
        with Reader(self.top) as r, self.daemon("3s") as d:
            os.kill(r.process.pid, signal.SIGSTOP)
            try:
                _, took = self.deliver(d, message(("q.png", "image/png", qr())))
                self.assertGreater(took, 0.5)  # it waited: a quarter of the time is for the first picture
                waits = self.counted(d, "files_unasked")
                self.deliver(d, message(("q.png", "image/png", qr())))
                self.assertEqual(self.counted(d, "files_unasked"), waits + 1)
                d.wait_log("event=reader result=away")
            finally:
                os.kill(r.process.pid, signal.SIGCONT)

    def test_one_file_begun_and_one_that_waits_in_vain__busy_and_not_dead(self):
        taken = threading.Event()
        held = []

        def answer(c):  # the first waits in vain, the second is begun, the third is read
            held.append(c.dup())
            if len(held) == 1:
                return taken.set()
            c.sendall(reader.HEAD.pack(READY, 0, 0, 0))
            if len(held) > 2:
                c.sendall(reader.HEAD.pack(END, 0, 0, 0))

        end = hostile_server(f"{self.top}/reader.sock", answer)
        m = message(("q.png", "image/png", qr()))
        with self.daemon("4s") as d:
            first = threading.Thread(target=self.deliver, args=(d, m))
            first.start()
            self.assertTrue(taken.wait(60))
            self.deliver(d, m)
            first.join()
            self.deliver(d, m)
            self.assertEqual([self.counted(d, n) for n in ("files_read", "files_slow", "files_unasked")], [1, 2, 0])
            self.assertNotIn("result=away", d.log())
        for c in held:
            c.close()
        end()

    def counted(self, d, name):
        out = gillnet("--json", "stat", "-c", d.conf).stdout
        for row in map(json.loads, out.splitlines()):
            if row.get("name") == name:
                return row["value"]
        self.fail(f"no number {name}")

    def test_answers_that_are_none__the_message_passes(self):
        rng = random.Random(21)
        good = b"".join(reader.HEAD.pack(k, d, 0, len(v)) + v for k, d, v in (
            (READY, 0, b""), (reader.TEXT, 0, b"text"), (reader.LINK, 0, b"http://x.example/"),
            (FILE_BEGIN, 0, b"a.html\0text/html"), (reader.FILE_DATA, 0, b"<a href=http://y.example/>"),
            (reader.FILE_END, 1, b""), (reader.LOOK, 0, b"1.a"), (FACT, 1, b""), (END, 0, b"")))

        def answer(c):
            bad = bytearray(good)
            for _ in range(rng.randrange(0, 8)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            c.sendall(bytes(bad[:rng.randrange(len(bad) + 1)]) if rng.random() < 0.3 else bytes(bad))

        end = hostile_server(f"{self.top}/reader.sock", answer)
        with self.daemon("2s") as d:
            for _ in range(60):
                line, _ = self.deliver(d, message(("q.png", "image/png", qr())))
            self.assertIsNone(d.proc.poll())
        end()


if __name__ == "__main__":
    unittest.main(verbosity=2)
