"""Each file that gillnetd has mapped is cut in place: it lives, answers rightly, says so once, and the file is sound again."""
import os
import re
import time
import unittest

from daemon import Daemon, gillnet
from mta import Mta

CONFIG = """
lists = ( { name = "phish"; filter_memory = "map"; } );
"""
MENDED = re.compile(r"event=\w+ .*result=(?:made|opened)_again")


def mapped(d):
    """{path: bytes} of the files of the state folder in the memory of gillnetd; what is removed is nobody's to cut."""
    with open(f"/proc/{d.proc.pid}/maps", encoding="utf-8") as f:
        paths = {line.split(None, 5)[5].strip() for line in f if d.state in line}
    return {path: os.path.getsize(path) for path in sorted(paths) if os.path.exists(path)}


def kind(path):
    """The name of a file without its numbers: a new generation takes the place of the old one."""
    folder, name = os.path.split(path)
    return os.path.join(folder, re.sub(r"\.\d[0-9a-f.-]*", "", name))


class CutFiles(unittest.TestCase):
    def send(self, d, host):
        m = Mta(d.target)
        m.hello()
        answer = m.message(body=f"See http://{host}/ today\r\n".encode())
        m.quit()
        return answer

    def check_mail(self, d):
        self.assertEqual(self.send(d, "evil.example").status()[:3], "Yes")  # in the index
        self.assertEqual(self.send(d, "new.example").status()[:3], "Yes")  # in the newest table
        self.assertEqual(self.send(d, "good.example").status()[:2], "No")

    def mended(self, d):
        return len(MENDED.findall(d.log()))

    def cut(self, d, path, size):
        """Cuts the file, sends mail, and waits for the one line and a sound file."""
        before = self.mended(d)
        case = self.send(d, "evil.example").case()
        size_before = os.path.getsize(path)
        os.truncate(path, size)
        if "memtable" in path:  # its list only says "possible" until it is opened again, a quarter of a second later
            d.wait_for(lambda: self.send(d, "evil.example") and self.mended(d) > before, f"a line about {path}")
            for host in "evil.example", "new.example":  # as far as their parts of the table are lost
                d.wait_for(lambda h=host: self.send(d, h).status()[:3] == "Yes", "the list")
        self.check_mail(d)
        self.assertIsNone(d.proc.poll())
        d.wait_for(lambda: self.mended(d) > before, f"a line about {path}")
        name = re.search(r"/lists/(\w+)/", path)
        if name:
            gillnet("list", "rebuild", name.group(1), "-c", d.conf)
            d.wait_for(lambda: not os.path.exists(path) or os.path.getsize(path) >= size_before or path not in mapped(d), f"another {path}")
            gillnet("list", "verify", name.group(1), "-c", d.conf)
        else:
            d.wait_for(lambda: not os.path.exists(path) or os.path.getsize(path) == size_before, f"all of {path}")
        time.sleep(1.2)  # a line at every tick would show
        self.assertEqual(self.mended(d), before + 1, d.log())
        self.check_mail(d)
        d.wait_for(lambda: gillnet("explain", case, "-c", d.conf, check=False).returncode == 0, f"case {case}")

    def test_each_mapped_file_cut__lives_answers_and_mends(self):
        with Daemon(CONFIG) as d:
            gillnet("list", "import", "phish", "-", "-c", d.conf, input="evil.example\nother.example\n")
            gillnet("list", "add", "phish", "new.example", "-c", d.conf)
            d.wait_for(lambda: d.stat("list_entries") == 3, "the list")
            self.check_mail(d)
            pid = d.proc.pid
            paths = mapped(d)
            for part in ("history", "stats", "lookups", "ham.log", "pending", "table", "periods", "index."):
                self.assertTrue([p for p in paths if part in p], f"{part} of {list(paths)}")
            for wanted in sorted({kind(path) for path in paths}):
                for share in (0, 0.53):  # the second is within a page
                    path = d.wait_for(lambda: [p for p in mapped(d) if kind(p) == wanted], f"a mapped {wanted}")[0]
                    with self.subTest(path=path, share=share):
                        self.cut(d, path, int(os.path.getsize(path) * share))
            self.assertEqual(d.proc.pid, pid)
            self.assertEqual(d.stat("on_error"), 0)


if __name__ == "__main__":
    unittest.main()
