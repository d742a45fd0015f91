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
import read_files  # noqa: E402
from load import Load  # noqa: E402
from machine import Machine  # noqa: E402

OLD, NEW = "0.1.0", "0.1.1"
FILES = """/usr/sbin/gillnetd /usr/bin/gillnet /etc/gillnet/gillnet.conf /etc/gillnet/conf.d/
/etc/gillnet/feeds.d/openphish.conf /lib/systemd/system/gillnetd.service /usr/lib/sysusers.d/gillnet.conf
/usr/lib/tmpfiles.d/gillnet.conf /usr/share/doc/gillnet/gillnet.conf.minimal
/usr/share/man/man8/gillnetd.8.gz /usr/share/man/man1/gillnet.1.gz /usr/share/man/man5/gillnet.conf.5.gz
/usr/share/doc/gillnet/gillnetd-inet.conf /usr/share/doc/gillnet/gillnet-hub-proxy.conf /usr/share/doc/gillnet/digest.txt /usr/libexec/gillnet/gillnet-queue
/lib/systemd/system/gillnet-queue.socket /lib/systemd/system/gillnet-queue@.service /usr/share/man/man8/gillnet-queue.8.gz
/lib/systemd/system/gillnet-digest.service /lib/systemd/system/gillnet-digest.timer /usr/share/gillnet/prior""".split()
PARTS = {"gillnet-hub": ["/usr/libexec/gillnet/gillnet-hub", "/lib/systemd/system/gillnet-hub.service"],
         "gillnet-reader": ["/usr/libexec/gillnet/gillnet-reader", "/lib/systemd/system/gillnet-reader.service",
                            "/lib/systemd/system/gillnet-reader.socket"]}
NAMES = ["gillnet", *PARTS]
# folder, owner, group, mode: systemd/gillnet.tmpfiles
FOLDERS = [("/var/lib/gillnet", "_gillnet", "_gillnet", "2750"),
           ("/var/lib/gillnet/keys", "_gillnet", "_gillnet-keys", "2770"),
           ("/var/lib/gillnet/lists", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/peers", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/feeds", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/quarantine", "_gillnet-hub", "_gillnet", "2750"),
           ("/var/lib/gillnet/changes", "_gillnet-hub", "_gillnet-keys", "2770"),
           ("/var/lib/gillnet/tuning", "_gillnet-hub", "_gillnet", "2750"),
           ("/run/gillnet-hub", "_gillnet-hub", "_gillnet-proxy", "2750")]


def output(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(folder):
    """The packages of the build, and the same ones with a newer version and changed conffiles."""
    output(os.path.join(proc.TOP, "contrib/package"), "--build", proc.BUILD, "--version", OLD, "--to", folder)
    for name in NAMES:
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
    for name, wanted in PARTS.items():
        part, _ = listed(name)
        missing = [f for f in wanted if f not in part]
        assert not missing, missing
        assert not [f for f in files & part if not f.endswith("/")], "files of both packages"
    names = {os.path.basename(f).split("_")[0] for f in glob.glob(folder + "/*_%s_*.deb" % OLD)}
    assert names == {name + end for name in NAMES for end in ("", "-dbgsym")}, names
    # the libraries of formats, and their licences, are those of one package
    assert "poppler" in output("dpkg-deb", "-f", package(folder, "gillnet-reader", OLD), "Depends")
    assert "poppler" not in output("dpkg-deb", "-f", package(folder, "gillnet", OLD), "Depends")
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
                          *[package(self.packages, n, version) for n in NAMES]).stdout

    def version(self):
        return self.m.sh("dpkg-query -W -f '${Version}' gillnet")

    def install(self):
        self.dpkg(OLD)
        for unit in ["gillnetd", "gillnet-hub", "gillnet-reader.socket"]:
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

    def name_users(self):
        """The hub, with its unit and drop-in, takes the field of the proxy's login alone."""
        self.m.sh("""
            install -D -m 644 /usr/share/doc/gillnet/gillnet-hub-proxy.conf /etc/systemd/system/gillnet-hub.service.d/proxy.conf
            useradd -r -G _gillnet-proxy theproxy && useradd -r -G _gillnet-proxy another
            echo 'api = { listen = [ "127.0.0.1:8896", "unix:/run/gillnet-hub/api.sock" ]; proxies = [ "unix:theproxy" ];
                          proxy_users = [ "anna=admin" ]; };' >/etc/gillnet/conf.d/proxy.conf
            systemctl daemon-reload
            systemctl restart gillnet-hub""")
        ask = "runuser -u %s -- curl -s -o /dev/null -w '%%{http_code}' --unix-socket /run/gillnet-hub/api.sock " \
            "-H 'Gillnet-User: anna' http://localhost/v1/changes%s"
        assert self.m.sh("stat -c '%U %G %a' /run/gillnet-hub/api.sock") == "_gillnet-hub _gillnet-proxy 660\n"
        assert self.m.sh(ask % ("theproxy", "")) == "200"
        assert self.m.sh(ask % ("another", "")) == "403"
        assert self.m.sh(ask % ("nobody", " || true")) == "000"  # not of the socket's group
        self.m.sh("rm -r /etc/gillnet/conf.d/proxy.conf /etc/systemd/system/gillnet-hub.service.d && "
                  "systemctl daemon-reload && systemctl restart gillnet-hub && userdel theproxy && userdel another")

    def marks(self):
        with mta.Postfix(milter="unix:" + self.socket) as postfix:
            postfix.send(message.listed(), rcpt="bob@rcpt.example")
            status = message.values(postfix.sink.wait("bob@rcpt.example")[0], "X-Gillnet-Status")
        return status and status[0].startswith("Yes")

    def processes(self):
        return [self.m.sh("systemctl show -P MainPID " + unit).strip() for unit in ("gillnetd", "gillnet-reader")]

    def replace_under_load(self, default_action, versions, count):
        assert self.m.sh("systemctl show -P NFileDescriptorStore gillnetd") == "1\n"
        with mta.Postfix(milter="unix:" + self.socket,
                         milter_options="default_action=" + default_action) as postfix:
            load = Load(postfix, count)
            for i, version in enumerate(versions):
                proc.wait_for("the load", lambda n=i: load.sent >= count * (n + 1) // (len(versions) + 1), 300)
                before = self.processes()
                self.dpkg(version)
                after = self.processes()
                assert "0" not in after and not set(after) & set(before), "not restarted: %s" % after
                assert self.version() == version
            load.judge("packages, %s, %d replacements" % (default_action, len(versions)))

    def check_upgraded(self):
        """Changed configuration files are kept, unchanged ones are replaced, and the list is there."""
        assert "# changed here" in self.m.sh("cat /etc/gillnet/gillnet.conf")
        assert "newer version" not in self.m.sh("cat /etc/gillnet/gillnet.conf")
        assert "newer version" in self.m.sh("cat /etc/gillnet/feeds.d/openphish.conf")
        assert self.m.run("gillnet", "lookup", message.LISTED, check=False).returncode == 1

    def remove(self):
        self.m.run("dpkg", "--remove", *reversed(NAMES))
        assert self.m.sh("ls /run/gillnet-reader.sock 2>/dev/null || true") == ""
        assert self.m.sh("systemctl is-active gillnetd || true") in ("inactive\n", "unknown\n")
        assert self.m.sh("ls /var/lib/gillnet/lists") and self.m.sh("cat /etc/gillnet/conf.d/site.conf")
        self.dpkg(OLD)  # and back: nothing was lost
        assert self.m.run("gillnet", "lookup", message.LISTED, check=False).returncode == 1

    def purge(self):
        self.m.sh("mkdir -p /srv/mine && touch /srv/mine/state && install -d /var/spool/postfix/gillnet")
        self.m.run("dpkg", "--purge", *reversed(NAMES))
        left = self.m.sh("ls -d /var/lib/gillnet /etc/gillnet /run/gillnet /run/gillnet-hub 2>/dev/null || true")
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
        site.name_users()
        print("ok     a proxy's login names users over the hub's socket")
        held_mail.run(machine, site.socket)
        print("ok     held mail through gillnet-queue.socket and gillnet-digest.service")
        read_files.run(machine, site.socket)
        print("ok     attached files through gillnet-reader.socket and its service")
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
