"""Runs the tests of a build, each alone, so that a mutant can harm nothing but itself.

A mutant may remove, signal and fill what the code never would. So each test runs in namespaces of its own: the
machine's files cannot be written, the folders of temporary files are empty, no other process can be signalled, and
all processes die with the test.
"""
import contextlib
import dataclasses
import json
import os
import subprocess
import tempfile
import time

# In the namespaces; the work folder may itself lie under /tmp, so it waits on /mnt.
ENTER = """
set -e
mount --bind "$MUTATE_WORK" /mnt
for folder in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o size=1g,mode=1777 tmpfs $folder; done
[ -d "$MUTATE_WORK" ] || mkdir -p "$MUTATE_WORK"
mount --bind /mnt "$MUTATE_WORK"
umount /mnt
mount -o remount,bind,ro "$MUTATE_WORK"
mount -o remount,bind,ro /
if [ -n "$GILLNET_MUTANT_SEEN" ]; then
    mount --bind "$MUTATE_WORK/seen" "$MUTATE_WORK/seen"
    mount -o remount,bind,rw "$MUTATE_WORK/seen"
fi
echo 1000 >/proc/self/oom_score_adj
cd "$MUTATE_IN"
unset MUTATE_WORK MUTATE_IN
exec "$@"
"""
MEMORY_LEFT = 1500 * 1024  # kB of the machine's memory; below that a test is stopped


@dataclasses.dataclass
class Test:
    """A test as ctest knows it, and what its run without a mutant showed."""
    name: str
    command: list
    environment: dict
    folder: str
    labels: list
    skip: int
    seconds: float = 0.0
    seen: frozenset = frozenset()


def listed(build):
    """All tests of the folder BUILD; ctest names no command of a program that is not built."""
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, stdout=subprocess.PIPE).stdout
    tests = []
    for test in json.loads(out)["tests"]:
        more = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(e.split("=", 1) for e in more.get("ENVIRONMENT", []))
        tests.append(Test(test["name"], test.get("command", ["false"]), environment,
                          more.get("WORKING_DIRECTORY", build), more.get("LABELS", []),
                          more.get("SKIP_RETURN_CODE", -1)))
    return tests


def memory_left():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))


def step_back():
    """The lowest priority; where the kernel shares the processor by session, its session's, too."""
    os.nice(19)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as file:
        file.write("19")


class Place:
    """Where tests run: WORK holds the tree and its build."""

    def __init__(self, work):
        self.work = work
        self.enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            self.enter.append("--map-root-user")
        os.makedirs(work + "/seen", exist_ok=True)
        probe = Test("probe", ["true"], {}, work, [], -1)
        if self.run(probe, 30)[0] != "passed":
            raise OSError("no namespaces of its own for a test: run as root, or allow user namespaces")

    def run(self, test, limit, mutant=0, seen=None):
        """(passed, failed, skipped, timeout or memory; seconds). SEEN is a file of work/seen."""
        environment = {**os.environ, "TMPDIR": "/tmp", "GILLNET_MUTANT": str(mutant), "GILLNET_MUTANT_SEEN": seen or "",
                       **test.environment, "MUTATE_WORK": self.work, "MUTATE_IN": test.folder}
        start = time.monotonic()
        with subprocess.Popen([*self.enter, "sh", "-c", ENTER, "sh", *test.command], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True, preexec_fn=step_back) as process:
            end = self.wait(process, test, start + limit)
        return end, time.monotonic() - start

    @staticmethod
    def wait(process, test, until):
        while True:
            try:
                code = process.wait(0.5)
            except subprocess.TimeoutExpired:
                short = memory_left() < MEMORY_LEFT
                if short or time.monotonic() > until:
                    process.kill()  # and with it the namespace
                    process.wait()
                    return "memory" if short else "timeout"
                continue
            if code == test.skip:
                return "skipped"
            return "passed" if code == 0 else "failed"

    def survey(self, test, count, limit):
        """Runs TEST without a mutant and notes its seconds and the mutants, of COUNT, that it reaches; whether it passes."""
        with tempfile.NamedTemporaryFile(dir=self.work + "/seen") as file:
            os.chmod(file.name, 0o666)  # programs that give up root write it too
            file.truncate(count + 1)
            end, test.seconds = self.run(test, limit, seen=file.name)
            test.seen = frozenset(n for n, hit in enumerate(file.read()) if hit)
        return end == "passed"
