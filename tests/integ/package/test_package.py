#!/usr/bin/env python3
"""The Debian packages: contents, installation, upgrade under load, downgrade, removal and purge, under real systemd.

    test_package.py [--full]       with --full 10,000 messages for each upgrade

The packages hold the programs of GILLNET_BUILD (contrib/package --build)."""

import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../../e2e"))
import held_mail  # noqa: E402
import message  # noqa: E402
import mta  # noqa: E402
import proc  # noqa: E402
from load import Load  # noqa: E402
from machine import Machine  # noqa: E402

OLD, NEW = "0.1.0", "0.1.1"
FILES = """/usr/sbin/gillnetd /usr/bin/gillnet /etc/gillnet/gillnet.conf /etc/gillnet/conf.d/
/etc/gillnet/feeds.d/openphish.conf /lib/systemd/system/gillnetd.service /usr/lib/sysusers.d/gillnet.conf
/usr/lib/tmpfiles.d/gillnet.conf /usr/share/doc/gillnet/gillnet.conf.minimal
/usr/share/man/man8/gillnetd.8.gz /usr/share/man/man1/gillnet.1.gz /usr/share/man/man5/gillnet.conf.5.gz
/usr/share/doc/gillnet/gillnetd-inet.conf /usr/share/doc/gillnet/digest.txt /usr/libexec/gillnet/gillnet-queue
/lib/systemd/system/gillnet-queue.socket /lib/systemd/system/gillnet-queue@.service /usr/share/man/man8/gillnet-queue.8.gz
/lib/systemd/system/gillnet-digest.service /lib/systemd/system/gillnet-digest.timer /usr/share/gillnet/prior""".split()
HUB_FILES = ["/usr/libexec/gillnet/gillnet-hub", "/lib/systemd/system/gillnet-hub.service"]
# folder, owner, group, mode: systemd/gillnet.tmpfiles
FOLDERS = [("/var/lib/gillnet", "_gillnet", "_gillnet", "2750"),
           ("/var/lib/gillnet/keys", "_gillnet", "_gillnet-keys", "2770"),
           ("/var/lib/gillnet/lists", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/peers", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/feeds", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/quarantine", "_gillnet-hub", "_gillnet", "2750")]


def output(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(folder):
    """The packages of the build, and the same ones with a newer version and changed conffiles."""
    output(os.path.join(proc.TOP, "contrib/package"), "--build", proc.BUILD, "--version", OLD, "--to", folder)
    for name in ["gillnet", "gillnet-hub"]:
        tree = os.path.join(folder, "tree-" + name)
        output("dpkg-deb", "-R", package(folder, name, OLD), tree)
        control = os.path.join(tree, "DEBIAN/control")
        text = proc.read_text(control).replace("Version: " + OLD, "Version: " + NEW)
        with open(control, "w", encoding="ascii") as f:
            f.write(text.replace("gillnet (= %s)" % OLD, "gillnet (= %s)" % NEW))
        for conffile in glob.glob(tree + "/etc/gillnet/**/*.conf", recursive=True):
            with open(conffile, "a", encoding="ascii") as f:
                f.write("# a comment of the newer version\n")
        output("dpkg-deb", "-Znone", "--root-owner-group", "-b", tree, package(folder, name, NEW))
        shutil.rmtree(tree)


def package(folder, name, version):
    return os.path.join(folder, "%s_%s_%s.deb" % (name, version, output("dpkg", "--print-architecture").strip()))


def check_contents(folder):
    def listed(name):
        text = output("dpkg-deb", "-c", package(folder, name, OLD))
        return {line.split()[5][1:] for line in text.splitlines()}, text

    files, text = listed("gillnet")
    missing = [f for f in FILES if f not in files]
    assert not missing, missing
    assert all(" root/root " in line for line in text.splitlines()), text
    assert not [f for f in files if f.startswith(("/usr/local", "/var", "/run"))], files
    assert not [f for f in files if f.endswith("gillnet-hub")], "the hub's program is in the wrong package"
    hub, _ = listed("gillnet-hub")
    missing = [f for f in HUB_FILES if f not in hub]
    assert not missing, missing
    assert not [f for f in files & hub if not f.endswith("/")], "files of both packages"
    names = {os.path.basename(f).split("_")[0] for f in glob.glob(folder + "/*_%s_*.deb" % OLD)}
    assert names == {"gillnet", "gillnet-hub", "gillnet-dbgsym", "gillnet-hub-dbgsym"}, names
    symbols = output("dpkg-deb", "-c", package(folder, "gillnet-dbgsym", OLD))
    assert len(re.findall(r"/[0-9a-f]{38}\.debug$", symbols, re.M)) == 4, symbols
    conffiles = output("dpkg-deb", "-I", package(folder, "gillnet", OLD), "conffiles").split()
    assert sorted(conffiles) == sorted(f for f in files if f.startswith("/etc/") and not f.endswith("/"))


class Site:
    """A machine with the packages on it, and a real Postfix outside that reaches its gillnetd."""

    def __init__(self, machine, packages):
        self.m, self.packages = machine, os.path.join(machine.share, "packages")
        shutil.copytree(packages, self.packages)
        self.socket = os.path.join(machine.share, "mta", "gillnetd.sock")

    def dpkg(self, version):
        return self.m.run("dpkg", "--force-confold", "--force-downgrade", "-i",
                          *[package(self.packages, n, version) for n in ["gillnet", "gillnet-hub"]]).stdout

    def version(self):
        return self.m.sh("dpkg-query -W -f '${Version}' gillnet")

    def install(self):
        self.dpkg(OLD)
        for unit in ["gillnetd", "gillnet-hub"]:
            assert self.m.sh("systemctl is-active %s; systemctl is-enabled %s" % (unit, unit)) == "active\nenabled\n"
        for folder, *want in FOLDERS:
            got = self.m.sh("stat -c '%%U %%G %%a' %s" % folder).split()
            assert got == want, (folder, got)
        assert "_gillnet-keys" in self.m.sh("id -nG _gillnet") and "_gillnet-keys" in self.m.sh("id -nG _gillnet-hub")
        log = self.m.sh("journalctl --no-pager -o cat -u gillnetd")
        assert "event=start" in log and "prior" not in log, log  # /usr/share/gillnet/prior is read
        # as Policy wants it: nothing of the packages' own in a writable place of others
        assert self.m.sh("gillnetd -t >/dev/null && gillnet stat >/dev/null && man -w gillnetd") \
            == "/usr/share/man/man8/gillnetd.8.gz\n"

    def configure(self):
        """An administrator changes gillnet.conf, lists a host, and puts the socket where the MTA reaches it."""
        self.m.sh("""
            install -d -m 777 "$1"
            echo '# changed here' >>/etc/gillnet/gillnet.conf
            echo 'socket = "unix:%s"; socket_mode = "0666"; lists = ({ name = "phish"; weight = 12.0; });' \
                >/etc/gillnet/conf.d/site.conf
            mkdir -p /etc/systemd/system/gillnetd.service.d /srv/mine
            printf '[Service]\\nReadWritePaths=%s\\n' >/etc/systemd/system/gillnetd.service.d/site.conf
            echo %s >/run/entries
            gillnet list import phish /run/entries
            systemctl daemon-reload
            systemctl restart gillnetd""".replace('"$1"', os.path.dirname(self.socket))
                  % (self.socket, os.path.dirname(self.socket), message.LISTED))

    def change_by_hub(self):
        """The hub, with no more than its unit's rights, changes a list that root made under any umask."""
        self.m.sh("""
            (umask 077; echo other.example | gillnet list import other -)
            runuser -u _gillnet -- sh -c 'for f in /var/lib/gillnet/lists/other/*; do test -r "$f" || exit 1; done'
            token=$(gillnet hub token test admin 2>/dev/null | tail -n 1)
            for i in $(seq 40); do  # the hub sees a new list within a second
                curl -sS --fail-with-body --retry 20 --retry-connrefused --retry-delay 1 -H "Authorization: Bearer $token" \
                    -H 'Content-Type: application/json' -d '{"values":["other.example"],"list":"other"}' \
                    http://127.0.0.1:8896/v1/revoke && exit 0
                sleep 0.5
            done
            exit 1""")
        assert self.m.run("gillnet", "lookup", "other.example", check=False).returncode == 0

    def marks(self):
        with mta.Postfix(milter="unix:" + self.socket) as postfix:
            postfix.send(message.listed(), rcpt="bob@rcpt.example")
            status = message.values(postfix.sink.wait("bob@rcpt.example")[0], "X-Gillnet-Status")
        return status and status[0].startswith("Yes")

    def replace_under_load(self, default_action, versions, count):
        assert self.m.sh("systemctl show -P NFileDescriptorStore gillnetd") == "1\n"
        with mta.Postfix(milter="unix:" + self.socket,
                         milter_options="default_action=" + default_action) as postfix:
            load = Load(postfix, count)
            for i, version in enumerate(versions):
                proc.wait_for("the load", lambda n=i: load.sent >= count * (n + 1) // (len(versions) + 1), 300)
                before = self.m.sh("systemctl show -P MainPID gillnetd")
                self.dpkg(version)
                assert self.m.sh("systemctl show -P MainPID gillnetd") != before, "gillnetd was not restarted"
                assert self.version() == version
            load.judge("packages, %s, %d replacements" % (default_action, len(versions)))

    def check_upgraded(self):
        """Changed configuration files are kept, unchanged ones are replaced, and the list is there."""
        assert "# changed here" in self.m.sh("cat /etc/gillnet/gillnet.conf")
        assert "newer version" not in self.m.sh("cat /etc/gillnet/gillnet.conf")
        assert "newer version" in self.m.sh("cat /etc/gillnet/feeds.d/openphish.conf")
        assert self.m.run("gillnet", "lookup", message.LISTED, check=False).returncode == 1

    def remove(self):
        self.m.run("dpkg", "--remove", "gillnet-hub", "gillnet")
        assert self.m.sh("systemctl is-active gillnetd || true") in ("inactive\n", "unknown\n")
        assert self.m.sh("ls /var/lib/gillnet/lists") and self.m.sh("cat /etc/gillnet/conf.d/site.conf")
        self.dpkg(OLD)  # and back: nothing was lost
        assert self.m.run("gillnet", "lookup", message.LISTED, check=False).returncode == 1

    def purge(self):
        self.m.sh("mkdir -p /srv/mine && touch /srv/mine/state && install -d /var/spool/postfix/gillnet")
        self.m.run("dpkg", "--purge", "gillnet-hub", "gillnet")
        left = self.m.sh("ls -d /var/lib/gillnet /etc/gillnet /run/gillnet 2>/dev/null || true")
        assert left == "", left
        self.m.sh("test -e /srv/mine/state && test -d /var/spool/postfix/gillnet")
        left = self.m.sh("find /etc /usr /lib/systemd -xdev -name '*gillnet*' ! -path '*/gillnetd.service.d*'"
                         " 2>/dev/null || true")
        assert left == "", left


def main():
    full = "--full" in sys.argv[1:]
    count = 10000 if full else 500
    packages = proc.scratch("packages")
    build(packages)
    check_contents(packages)
    print("ok     packages built, lintian clean, contents complete")
    with Machine() as machine:
        site = Site(machine, packages)
        site.install()
        print("ok     installed: users, groups, folders, services")
        site.configure()
        assert site.marks()
        site.change_by_hub()
        print("ok     the hub changes a list that root made")
        held_mail.run(machine, site.socket)
        print("ok     held mail through gillnet-queue.socket and gillnet-digest.service")
        site.replace_under_load("accept", [NEW, OLD, NEW] if full else [NEW], count)
        site.check_upgraded()
        site.replace_under_load("tempfail", [OLD], count)
        assert site.marks()
        print("ok     upgraded and downgraded under load")
        site.remove()
        site.purge()
        print("ok     removed, put back, purged")


if __name__ == "__main__":
    main()
