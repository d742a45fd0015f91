#!/usr/bin/env python3
"""Counts on disk as a person sees them: check --count, lookup, count verify, export and import.

Usage: test_counts.py GILLNET [TEST...]     GILLNET is the program; ends like unittest.
Needs nothing but Python.
"""
import fcntl
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import unittest

import test_cli

MAIL = pathlib.Path(__file__).resolve().parents[3] / "tests/data/mail/listed-url.eml"
SENDER = "envelope_from:joe@evil.example"


class Counts(test_cli.Case):
    def count(self, n=1, **more):
        """Counts the message n times, each time by a process of its own."""
        for i in range(n):
            args = {"--from": "joe@evil.example", "--rcpt": f"r{i}@rcpt.example", **more}
            row = self.json("check", "--count", *(x for kv in args.items() for x in kv), MAIL)[0]
        return {c["type"]: c for c in row["counts"]}

    def row(self, value=SENDER):
        rows = [r for r in self.json("lookup", value) if "counted_as" in r]
        return rows[0] if rows else None

    def runs(self):
        return sorted((self.state / "counts/runs").glob("*.run"))

    def test_nothing_counted__says_so(self):
        self.assertEqual(self.json("check", MAIL)[0]["counts"], [])
        self.assertIsNone(self.row("evil.example"))
        self.assertEqual(self.json("count", "verify")[-1]["damaged"] if self.state.exists() else 0, 0)

    def test_each_process_counts_on(self):
        for n in range(1, 4):
            got = self.count()["envelope_from"]
            self.assertEqual([got[w] for w in ("w1h", "w1d", "w14d")], [n] * 3)
        row = self.row()
        self.assertEqual([row[w] for w in ("w10m", "w1h", "w1d", "w14d")], [3] * 4)
        self.assertEqual((len(row["buckets"]), len(row["days"])), (145, 15))
        self.assertEqual((sum(row["buckets"]), sum(row["days"])), (3, 3))
        self.assertEqual(sum(row["distinct"]["recipients"]), 1)
        self.assertLessEqual(row["bucket"], time.time())
        self.assertTrue(row["exact"])

    def test_values__as_what_they_may_be(self):
        self.count(2)
        for value, types in {"evil.example": {"url_domain", "envelope_domain"},
                             "login.evil.example": {"url_host"},
                             "http://login.evil.example/account?id=42":
                                 {"url", "url_host", "url_domain", "url_template"},
                             "info@sender.example": {"from", "return_path"},
                             "absent.example": set()}.items():
            rows = self.json("lookup", value)
            self.assertEqual({r["counted_as"] for r in rows if "counted_as" in r}, types, value)
            self.assertTrue(all(r["w1d"] == 2 for r in rows if "counted_as" in r), value)
        self.assertIn("not counted", self.run_it("lookup", "absent.example")[0])
        for typed in ("text_band:1.2.3", "template_sender:" + "0" * 32):
            self.assertEqual(self.row(typed)["w14d"], 0)
        self.run_it("lookup", "text_band:", rc=65)

    def test_bars__of_the_locale(self):
        self.count(2)
        for locale, full in (("C.UTF-8", "\u2588"), ("C", "#")):
            out = subprocess.run([test_cli.GILLNET, "-c", self.conf, "lookup", SENDER], check=True,
                                 env={**os.environ, "LC_ALL": locale}, capture_output=True).stdout
            lines = out.decode().splitlines()
            self.assertTrue(any(line.startswith("  12 h ago to now") and line.endswith(full)
                                for line in lines), out)
            if locale == "C":
                out.decode("ascii")

    def test_bulk__confirmed_by_the_exact_counts(self):
        self.configure('thresholds = { header = 5.0; };\nrules = ( { name = "same"; type = "body"; '
                       'count = 3; score = 7.0; newsletter = false; } );\n')
        for n in range(1, 5):
            rc = 1 if n >= 3 else 0
            row = self.json("check", "--count", MAIL, rc=rc)[0]
            self.assertEqual([s["name"] for s in row["symbols"] if s["name"].startswith("BULK")],
                             ["BULK_SAME"] if n >= 3 else [], row["symbols"])

    def test_export_and_import__the_same_counts__twice_is_once(self):
        self.count(3)
        self.count(1)  # takes the running table of the one before for a run
        text, _ = self.run_it("count", "export")
        self.assertRegex(text, r"\Ain_[0-9a-f]{16}_0_10m_[0-9]+ [0-9]+\n")
        kept = self.folder / "kept.txt"
        kept.write_text(text)
        before = self.row()["w1d"]
        for run in self.runs():
            run.unlink()
        for live in (self.state / "counts").glob("live.*"):
            live.unlink()
        self.assertEqual(self.row()["w1d"], 0)
        for _ in range(2):
            self.run_it("count", "import", kept)
            self.assertEqual(self.row()["w1d"], before - 1)  # the last one was still running
        self.run_it("count", "import", "--source", "other", kept)
        self.assertEqual(self.row()["w1d"], 2 * (before - 1))
        self.assertEqual(self.count()["envelope_from"]["w1d"], 2 * (before - 1) + 1)

    def test_filters_by_hand__added_once__not_inside_a_ring(self):
        today = time.strftime("%Y-%m-%d", time.gmtime())
        size = ("--cells", 100000, "--k", 5)
        files = [self.folder / name for name in ("a", "b", "all")]
        ring = None
        for path, times in ((files[0], 2), (files[1], 3)):
            self.state = self.folder / path.name.upper()
            self.configure()
            if ring:  # the same digest key, copied by hand
                (self.state / "keys").mkdir(parents=True)
                (self.state / "keys/digest.key").write_bytes(ring)
                (self.state / "keys/digest.key").chmod(0o640)
            self.count(times)
            self.count(1)  # takes the running table for a run
            ring = (self.state / "keys/digest.key").read_bytes()
            row = self.json("count", "export", "--filter", path, "--day", today, *size)[0]
            self.assertEqual((row["sources"], row["cells"], row["k"], row["cell_bits"]),
                             (1, 100000, 5, 8))
            self.assertGreater(row["keys"], 5)
        row = self.json("count", "merge", "--output", files[2], files[0], files[1])[0]
        self.assertEqual(row["sources"], 2)
        self.assertEqual(row["cells_saturated"], 0)
        # a filter has the counts of both servers for a value, and none for an absent value
        for path, times in ((files[0], 2), (files[1], 3), (files[2], 5)):
            row = self.json("lookup", "--counts", path, SENDER, rc=1)[0]
            self.assertEqual((row["counted_as"], row["at_most"], row["saturated"]), ("envelope_from", times, False))
        out, _ = self.run_it("lookup", "--counts", files[2], SENDER, "absent.example", rc=1)
        self.assertIn("joe@evil.example: counted as envelope_from: at most 5 times", out)
        self.assertIn("absent.example: not counted", out)
        self.assertEqual(out.count("by server"), 2)
        self.run_it("lookup", "--counts", files[2], "absent.example", rc=0)
        self.run_it("lookup", "--counts", files[2], rc=64)
        self.run_it("lookup", "--counts", files[2], "--all", SENDER, rc=64)
        self.run_it("lookup", "--counts", self.folder / "absent", SENDER, rc=66)
        self.state = self.folder / "other"  # of another ring
        self.configure()
        self.count(1)
        self.assertIn("key", self.run_it("lookup", "--counts", files[2], SENDER, rc=78)[1])
        self.state = self.folder / "B"
        self.configure()
        # what was merged is not merged again
        err = self.run_it("count", "merge", "--output", self.folder / "x", files[2], files[0], rc=65)[1]
        self.assertIn("count twice", err)
        small = self.folder / "small"
        self.run_it("count", "export", "--filter", small, "--day", today, "--cells", 5)
        err = self.run_it("count", "merge", "--output", self.folder / "x", files[0], small, rc=65)[1]
        self.assertIn("cells", err)
        self.assertFalse((self.folder / "x").exists())
        damaged = bytearray(files[1].read_bytes())
        damaged[5000] ^= 1
        (self.folder / "damaged").write_bytes(damaged)
        err = self.run_it("count", "merge", "--output", files[2], files[1], self.folder / "damaged", rc=65)[1]
        self.assertIn("block 0 is damaged", err)
        for args in (("--filter", files[0], "--prefix", "in"), ("--cells", 5)):
            self.run_it("count", "export", *args, rc=64)
        self.run_it("count", "export", "--filter", files[0], "--k", 17, rc=65)
        self.run_it("count", "merge", "--output", files[2], files[0], rc=64)
        (self.state / "peers").mkdir()
        (self.state / "peers/manifest").write_text("x")
        for args in (("export", "--filter", files[0]),
                     ("merge", "--output", files[2], files[0], files[1])):
            self.assertIn("is in a ring", self.run_it("count", *args, rc=69)[1])

    def test_import__of_days_with_their_buckets__nothing_twice(self):
        today = int(time.time()) // 86400
        day, bucket = today - 1, (today - 1) * 144 + 143
        key = "mass_in_" + "ab" * 8
        self.count(1)
        self.run_it("count", "import", "-", stdin=f"{key}_14_1d_{day} 5\n{key}_14_10m_{bucket} 2\n"
                    f"{key}_14_10m_{bucket} 1\n")
        lines = [line for line in self.run_it("count", "export")[0].splitlines() if "abab" in line]
        self.assertEqual(lines, [f"in_{'ab' * 8}_0_1d_{day} 5", f"in_{'ab' * 8}_0_10m_{bucket} 3"])
        self.count(1)
        self.assertEqual(self.run_it("count", "import", "-", stdin=f"{key}_14_1d_{day} 5\n")[1], "")
        self.count(1)  # and what came in earlier for that day is part of it
        day_text = time.strftime("%Y-%m-%d", time.gmtime(day * 86400))
        out, _ = self.run_it("count", "export", "--day", day_text, "--prefix", "x_y")
        self.assertEqual(out, f"x_y_{'ab' * 8}_0_1d_{day} 5\nx_y_{'ab' * 8}_0_10m_{bucket} 3\n")

    def test_import__bad_lines__named_and_the_others_taken(self):
        self.count(1)
        bucket = int(time.time()) // 600 - 3
        good = "in_" + "cd" * 16 + f"_14_10m_{bucket} 7"
        _, err = self.run_it("count", "import", "-", rc=65, stdin=f"# note\n\n{good}\n{good} x\nin_12\n"
                             f"{good[:-1]}0\n{good[:-1]}-1\n{'A' * 20000}\n")
        for line in (4, 5, 6, 7, 8):
            self.assertIn(f"-:{line}: ", err)
        self.assertIn("in_" + "cd" * 8 + f"_0_10m_{bucket} 7", self.run_it("count", "export")[0])

    def test_import__of_the_future__refused_and_nothing_lost(self):
        self.count(2)
        today = int(time.time()) // 86400
        key = "in_" + "ab" * 8
        for wrong in (f"1d_{today + 1}", "1d_99999", f"10m_{int(time.time()) // 600 + 2}"):
            before = self.runs()
            out, err = self.run_it("count", "import", "--source", "s", "-", rc=65, stdin=f"{key}_0_{wrong} 3\n")
            self.assertIn("-:1: its period begins at ", err)
            self.assertIn("leave the line out", err)
            self.assertIn("0 keys in 0 runs, 1 bad lines", out)
            self.assertEqual(self.runs(), before)
        running = int(time.time()) // 600
        self.run_it("count", "import", "-", stdin=f"{key}_0_10m_{running} 3\n{key}_0_1d_{today} 9\n")
        self.count()
        self.assertEqual(self.row()["w14d"], 3)

    def test_import__older_than_the_fortnight__left_out_and_said(self):
        self.count(1)
        today = int(time.time()) // 86400
        key = "in_" + "ab" * 8
        out, err = self.run_it("count", "import", "-", stdin=f"{key}_0_1d_{today - 15} 3\n"
                               f"{key}_0_10m_{(today - 15) * 144} 3\n{key}_0_1d_{today - 14} 3\n")
        self.assertIn("2 lines are left out", err)
        self.assertIn("1 keys in 1 runs, 0 bad lines", out)
        self.assertEqual(len([r for r in self.runs() if "86400" in r.name or "1d" in r.name]), 1)

    def test_import__while_another_counts__refused_before_it_reads(self):
        self.count(1)
        with open(self.state / "counts/LOCK", "rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            proc = subprocess.Popen([test_cli.GILLNET, "-c", self.conf, "count", "import", "-"],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                self.assertEqual(proc.wait(60), 75, "it waits for its input")
                self.assertIn(b"stop it for the import", proc.stderr.read())
            finally:
                proc.kill()
                proc.communicate()

    def test_lookup__last_seen__not_in_the_future(self):
        self.count(1)
        row = self.row()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.assertLessEqual(row["first_seen"], row["last_seen"])
        self.assertLessEqual(row["last_seen"], now)

    def test_many_recipients__all_count(self):
        args = [x for i in range(5) for x in ("--rcpt", f"r{i}@rcpt.example")]
        for command in (("check", "--count"), ("check",)):
            row = self.json(*command, "--from", "joe@evil.example", *args, MAIL)[0]
            got = {c["type"]: c for c in row["counts"]}["envelope_from"]
            self.assertEqual((got["w1d"], got["distinct"]["recipients"]), (1, 5))
        self.configure('count = { unit = "deliveries"; };\n')
        row = self.json("check", "--count", "--from", "joe@evil.example", *args, MAIL)[0]
        self.assertEqual({c["type"]: c for c in row["counts"]}["envelope_from"]["w1d"], 6)
        self.run_it("check", *["--rcpt=a@b.example"] * 1001, MAIL, rc=64)

    def test_stat__without_gillnetd__of_what_is_on_disk(self):
        self.assertIn("nothing was counted yet", self.run_it("count", "stat")[0])
        self.count(1)
        for command in (("count", "stat"), ("stat", "--all")):
            out, _ = self.run_it(*command)
            self.assertIn("the counts are kept", out)
            self.assertIn("a running table, begun at ", out)
        self.count(1)
        out, _ = self.run_it("count", "stat")
        self.assertRegex(out, "on disk .* in 1 runs of 10 minutes and 0 of days, 0 damaged")
        row = self.json("count", "stat")[-1]
        self.assertEqual((row["bucket_runs"], row["running_since"] % 600), (1, 0))
        self.assertGreater(row["running_since"], 0)

    def test_gillnetd_goes__says_what_was_not_counted(self):
        self.count(1)
        mails = []
        for i in range(4):
            mails.append(self.folder / f"m{i}.eml")
            mails[-1].write_bytes(MAIL.read_bytes())
        path = self.state / "gillnetd.ctl"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen(8)

            def serve():  # it says that it counts, and is gone
                with server.accept()[0] as one:
                    one.recv(4096)
                    server.close()
                    path.unlink()
                    one.sendall(b"ok\ncount_messages_per_day 10000\n")
            thread = threading.Thread(target=serve)
            thread.start()
            _, err = self.run_it("check", "--count", *mails, rc=66)
            thread.join()
        self.assertIn(f"4 of 4 messages were not counted, from {mails[0]} on; ", err)

    def test_too_many_messages_a_day__refused_by_name_and_line(self):
        self.configure("count = { messages_per_day = 1000000000; };\n")
        _, err = self.run_it("config", "check", rc=78)
        self.assertRegex(err, r":[0-9]+: .*messages_per_day.*0 to 100000000")

    def test_damage__named__and_the_others_serve(self):
        self.count(3)
        runs = self.runs()
        self.assertGreaterEqual(len(runs), 2)
        self.assertEqual(self.json("count", "verify")[-1]["damaged"], 0)
        data = bytearray(runs[0].read_bytes())
        data[len(data) // 2:len(data) // 2 + 8] = b"\xff" * 8
        data[:16] = data[4096:4112] = b"\0" * 16
        runs[0].write_bytes(data)
        rows = self.json("count", "verify", rc=65)
        self.assertIn(runs[0].name, rows[0]["file"])
        self.assertEqual(rows[-1]["damaged"], 1)
        self.assertGreaterEqual(self.row()["w1d"], 1)
        self.assertIn(runs[0].name, self.run_it("doctor", rc=1)[0])

    def test_damaged_wal__named(self):
        self.count(1)
        wal = next((self.state / "counts").glob("live.*.wal"))
        data = bytearray(wal.read_bytes())
        sums = self.json("count", "verify")[-1]
        self.assertEqual((sums["wals"], sums["damaged"]), (1, 0))
        wal.write_bytes(data[:-5])  # as one that is being written
        self.assertEqual(self.json("count", "verify")[-1]["damaged"], 0)
        data[100] ^= 1
        wal.write_bytes(data)
        rows = self.json("count", "verify", rc=65)
        self.assertIn(wal.name, rows[0]["file"])
        self.assertIn("record 1 at byte 64", rows[0]["text"])
        data[1] ^= 1
        wal.write_bytes(data)
        self.assertEqual(self.json("count", "verify", rc=65)[-1]["damaged"], 1)

    def test_usage(self):
        for args in ((), ("nothing",), ("stat", "x"), ("verify", "x"), ("export", "x"), ("import",),
                     ("export", "--day", "2026-02-30"), ("export", "--day", "yesterday"),
                     ("import", "a", "b")):
            self.run_it("count", *args, rc=64)
        self.count(2)
        self.run_it("count", "import", "/nonexistent", rc=66)
        self.run_it("count", "export", "--prefix", "a b", rc=65)


if __name__ == "__main__":
    test_cli.GILLNET = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
