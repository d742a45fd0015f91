"""machine - a Debian of its own for a test: real systemd in namespaces, on a root folder that may be changed freely.

The root is an overlay over a folder (the machine's own / by default), so that folder stays unchanged. No network but
loopback, no devices. Needs root and a kernel with overlayfs and cgroup2. All of it ends with the test."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e"))
import proc  # noqa: E402

# They would change the kernel's settings, or wait for hardware.
MASKED = """systemd-sysctl.service systemd-modules-load.service systemd-remount-fs.service systemd-udevd.service
systemd-udev-trigger.service systemd-networkd.service systemd-resolved.service systemd-timesyncd.service
systemd-random-seed.service systemd-hwdb-update.service systemd-binfmt.service proc-sys-fs-binfmt_misc.automount
dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount
sys-fs-fuse-connections.mount kmod-static-nodes.service systemd-pstore.service systemd-logind.service
console-getty.service getty.target""".split()

BOOT = r"""
set -e
mount -t tmpfs -o mode=755 tmpfs "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
cd "$WORK/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for folder in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
chmod 1777 tmp
for file in null zero full random urandom tty; do touch "dev/$file"; mount --bind "/dev/$file" "dev/$file"; done
mkdir dev/pts dev/shm
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
touch dev/console
mount --bind "$CONSOLE" dev/console
mkdir -p ".$SHARE"
mount --bind "$SHARE" ".$SHARE"
rm -f var/lib/man-db/auto-update usr/sbin/policy-rc.d
[ "$LOWER" != / ] || rm -f etc/systemd/system/*.wants/* # the services of this machine
for unit in $MASKED; do ln -sf /dev/null "etc/systemd/system/$unit"; done
: >etc/machine-id
ip link set lo up
mount --make-rprivate /
mkdir -p mnt
pivot_root . mnt
umount -l /mnt
exec env -i container=gillnet PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=multi-user.target
"""


def cgroup_folder():
    """A group of its own in the second hierarchy."""
    with open("/proc/self/mounts", encoding="ascii") as f:
        places = [line.split()[1] for line in f if line.split()[2] == "cgroup2"]
    if not places:
        raise proc.SetupError("systemd needs cgroup2, which is not mounted here")
    folder = os.path.join(places[0], "gillnet-test-%d" % os.getpid())
    os.makedirs(folder, exist_ok=True)
    return folder


class Machine:
    """with Machine() as m: m.run("systemctl", "status")"""

    def __init__(self, lower="/"):
        self.share = proc.scratch("share", "/run")  # the same path inside and outside
        self.work = proc.scratch("machine")
        self.console = os.path.join(self.share, "console")
        open(self.console, "wb").close()
        self.cgroup = cgroup_folder()
        env = {**os.environ, "WORK": self.work, "LOWER": lower, "SHARE": self.share, "CONSOLE": self.console,
               "MASKED": " ".join(MASKED)}
        enter = "echo $$ >'%s/cgroup.procs' && exec unshare --cgroup --pid --mount --uts --ipc --net --fork " \
                "--kill-child=KILL --propagation private bash -c \"$BOOT\"" % self.cgroup
        with open(self.console, "ab") as log:
            self.child = proc.spawn(["bash", "-c", enter], env={**env, "BOOT": BOOT}, stdout=log, stderr=log)
        self.pid = proc.wait_for("the namespaces", self.first_process)
        proc.wait_for("systemd", self.is_up, 90)

    def first_process(self):
        if self.child.poll() is not None:
            raise proc.SetupError("the machine did not start: " + proc.read_text(self.console))
        found = proc.read_text("/proc/%d/task/%d/children" % (self.child.pid, self.child.pid)).split()
        return int(found[0]) if found else None

    def is_up(self):
        self.first_process()
        comm = proc.read_text("/proc/%d/comm" % self.pid).strip()
        return comm == "systemd" and self.run("systemctl", "is-active", "multi-user.target", check=False,
                                              ).stdout.strip() == "active"

    def run(self, *argv, check=True, data=None, timeout=300):
        """The finished process, its output as text."""
        done = subprocess.run(
            ["nsenter", "--target", str(self.pid), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *argv],
            input=data, stdin=None if data is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
        if check and done.returncode != 0:
            raise AssertionError("%s: status %d: %s" % (" ".join(argv), done.returncode, done.stdout))
        return done

    def sh(self, script, **kwargs):
        return self.run("sh", "-ec", script, **kwargs).stdout

    def stop(self):
        proc.stop(self.child, 0)
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            try:
                proc.wait_for("the group to be empty", lambda: not proc.read_text(folder + "/cgroup.procs"), 5)
                os.rmdir(folder)
            except (OSError, proc.SetupError):
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
