#!/usr/bin/env python3
"""From the package to the first marked message, in three commands, beside a mail server as Debian installs it.

    test_first_mail.py postfix|sendmail

In a Debian 12 of its own (mmdebstrap, real systemd): Postfix with its smtpd in a chroot, or Sendmail."""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../../e2e"))
import proc  # noqa: E402
from machine import Machine  # noqa: E402

HOST = "mx.rcpt.example"
SERVERS = {"postfix": "postfix", "sendmail": "sendmail"}
LISTED = "login.evil.example"
COMMANDS = """apt-get -y install ./gillnet_*.deb ./gillnet-reader_*.deb
gillnet setup %s
gillnet list import phish feed.txt"""
SEND = """
import sys
sys.path.insert(0, sys.argv[1])
import message
from smtp import Client
client = Client(25)
client.ehlo()
raw = message.build(sys.argv[3], url=sys.argv[2])
print(client.send(raw, sender="reader@localhost", rcpt="reader@localhost"))
client.close()
"""


def make_root(folder, server):
    """Debian 12 with the mail server, the packages in /root, and their dependencies in apt's cache."""
    root, packages = os.path.join(folder, "root"), os.path.join(folder, "packages")
    subprocess.run([os.path.join(proc.TOP, "contrib/package"), "--build", proc.BUILD, "--to", packages],
                   check=True, stdout=subprocess.DEVNULL)
    hooks = [
        "--essential-hook=echo postfix postfix/main_mailer_type select Internet Site | "
        "chroot \"$1\" debconf-set-selections",
        "--essential-hook=echo postfix postfix/mailname string %s | chroot \"$1\" debconf-set-selections" % HOST,
        "--essential-hook=echo %s >\"$1/etc/hostname\"" % HOST,
        "--essential-hook=echo 127.0.0.1 %s localhost >\"$1/etc/hosts\"" % HOST,
        "--customize-hook=cp %s/gillnet_*.deb %s/gillnet-reader_*.deb \"$1/root/\"" % (packages, packages),
        # mmdebstrap's own apt takes no recommended packages, and the machine's does
        "--customize-hook=chroot \"$1\" sh -c 'cd /root && apt-get -y -o APT::Install-Recommends=true --download-only "
        "install ./gillnet_*.deb ./gillnet-reader_*.deb'",
        "--customize-hook=chroot \"$1\" useradd -m reader",
        "--customize-hook=: >\"$1/etc/resolv.conf\"",
    ]
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "--format=directory", "--skip=cleanup/apt",
                    "--include=systemd,systemd-sysv,iproute2,m4,make," + SERVERS[server], *hooks, "bookworm", root],
                   check=True, stdout=subprocess.DEVNULL)
    return root


def send(machine, subject):
    """A message with a listed link, to the server's port 25; its reply."""
    done = subprocess.run(["nsenter", "--target", str(machine.pid), "-n", sys.executable, "-B", "-c", SEND,
                           os.path.join(HERE, "../../e2e"), "http://%s/verify" % LISTED, subject],
                          check=True, stdout=subprocess.PIPE, text=True, timeout=120)
    return done.stdout


def delivered(machine, subject):
    """The mailbox of the reader, once the message of this subject is in it."""
    def mailbox():
        text = machine.sh("cat /var/mail/reader 2>/dev/null || true")
        return "Subject: %s\n" % subject in text and text

    return proc.wait_for("the message in the mailbox", mailbox, 60)


def wait_for_server(machine):
    def answers():
        return machine.run("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/25 && head -n 1 <&3", check=False,
                           timeout=60).stdout.startswith("220")

    proc.wait_for("the mail server", answers, 90)


# Sendmail refuses connections above a load of 12, which tests in parallel easily make.
BUSY = r"""
sed -i "0,/^MAILER_DEFINITIONS/s//define(\`confREFUSE_LA', \`1000')dnl\ndefine(\`confQUEUE_LA', \`1000')dnl\n&/" \
    /etc/mail/sendmail.mc
grep -q confREFUSE_LA /etc/mail/sendmail.mc
m4 /etc/mail/sendmail.mc >/etc/mail/sendmail.cf.new
mv /etc/mail/sendmail.cf.new /etc/mail/sendmail.cf
systemctl restart sendmail
"""


def run(root, server):
    with Machine(root) as machine:
        if server == "sendmail":
            machine.sh(BUSY)
        wait_for_server(machine)
        if server == "postfix":
            assert "smtp inet n - y" in machine.sh("postconf -M smtp/inet | tr -s ' '"), "smtpd is not chrooted"
        reply = send(machine, "before")
        assert reply.startswith("250"), reply
        assert "X-Gillnet-" not in delivered(machine, "before")
        machine.sh("printf 'http://%s/verify\\n' >/root/feed.txt" % LISTED)
        start = time.monotonic()
        for command in (COMMANDS % server).splitlines():
            done = machine.run("sh", "-c", "cd /root && " + command, check=False, timeout=600)
            print("# %s\n%s" % (command, done.stdout))
            assert done.returncode == 0, "status %d" % done.returncode
        time.sleep(1)  # gillnetd looks four times a second whether a list is new
        print("reply:", send(machine, "after"))
        after = delivered(machine, "after").split("Subject: before\n")[-1]
        print(after)
        assert "X-Gillnet-Status: Yes" in after, after
        doctor = machine.run("gillnet", "doctor", check=False).stdout
        assert "ok    reader: /run/gillnet-reader.sock answers" in doctor, doctor
        print("ok     %s: first marked message after %d commands and %.0f s"
              % (server, len(COMMANDS.splitlines()), time.monotonic() - start))
        machine.sh("cd /root && dpkg -i gillnet_*.deb gillnet-reader_*.deb")  # what an upgrade does to users and folders
        send(machine, "upgraded")
        upgraded = delivered(machine, "upgraded").split("Subject: after\n")[-1]
        assert "X-Gillnet-Status: Yes" in upgraded, upgraded
        print("ok     %s: still wired after an upgrade" % server)


if __name__ == "__main__":
    run(make_root(proc.scratch("debian", "/var/tmp"), sys.argv[1]), sys.argv[1])
