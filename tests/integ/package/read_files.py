"""read_files - an attached file on a machine, read through the installed units.

gillnetd asks gillnet-reader over its socket, each as systemd starts it, with all that its unit takes away."""

import email.message
import email.policy
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e"))
import mta  # noqa: E402
import proc  # noqa: E402
from message import LISTED, values  # noqa: E402

SOCKET = "/run/gillnet-reader.sock"
# Mail, state and configuration, which a hostile file in a library must not reach.
HIDDEN = "etc/gillnet var/lib/gillnet run/gillnet var/spool var/mail root home"
DEATHS = 8  # more than systemd takes within ten seconds by default


def with_code():
    """A mail whose only link is the QR code in its picture."""
    m = email.message.EmailMessage(policy=email.policy.SMTP)
    m["From"], m["To"], m["Subject"] = "alice@sender.example", "bob@rcpt.example", "invoice"
    m["Date"], m["Message-ID"] = "Sat, 28 Nov 2026 12:00:00 +0000", "<code@sender.example>"
    m.set_content("See the attached picture.\n")
    picture = subprocess.run(["qrencode", "-o", "-", "http://www.%s/login" % LISTED], check=True,
                             stdout=subprocess.PIPE).stdout
    m.add_attachment(picture, maintype="image", subtype="png", filename="invoice.png")
    return m.as_bytes()


def connect(machine):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect("/proc/%d/root%s" % (machine.pid, SOCKET))
    return s


def main_pid(machine):
    return machine.sh("systemctl show -P MainPID gillnet-reader").strip()


def check_sandbox(machine):
    """A connection without a request: the processes on the other end have no more rights than the unit leaves them."""
    with connect(machine) as s:
        assert s.recv(64), "no process has begun"
        user = machine.sh("id -u _gillnet-reader").strip()
        child = machine.sh("pgrep -P " + main_pid(machine)).split()[0]
        for pid in main_pid(machine), child:
            status = dict(line.split(":\t", 1) for line in machine.sh("cat /proc/%s/status" % pid).splitlines())
            assert (status["NoNewPrivs"], status["Seccomp"], status["CapBnd"], status["Uid"].split()[0]) \
                == ("1", "2", "0" * 16, user), status
            assert machine.sh("cd /proc/%s/root && ls -A %s 2>/dev/null | grep -v '^$\\|:$' || true"
                              % (pid, HIDDEN)) == "", "folders are to be seen"
            assert machine.sh("readlink /proc/%s/ns/net" % pid) != machine.sh("readlink /proc/self/ns/net")
            said = machine.sh("cd /proc/%s/root && for d in . tmp var/cache dev/shm; do touch $d/here 2>&1; done || true" % pid)
            assert "./here" in said and "var/cache/here" in said, "a folder can be written: " + said


def check_units(machine):
    assert machine.sh("systemctl is-active gillnet-reader.socket") == "active\n"
    assert machine.sh("stat -c '%%U %%a' %s" % SOCKET) == "_gillnet 600\n"
    said = machine.sh("cd /lib/systemd/system && systemd-analyze verify --man=no gillnet-reader.socket "
                      "gillnet-reader.service 2>&1 || true")
    assert "gillnet" not in said, said


def doctor(machine):
    return [line for line in machine.run("gillnet", "doctor", check=False).stdout.splitlines() if "  reader: " in line]


def check_deaths(machine):
    """The socket stays when the program dies again and again, and whoever connects starts it."""
    for _ in range(DEATHS):
        pid = main_pid(machine)
        machine.sh("kill -KILL " + pid)
        with connect(machine) as s:
            assert s.recv(64), "no process has begun"
        assert main_pid(machine) != pid
    assert machine.sh("systemctl is-active gillnet-reader.socket") == "active\n"


def marked(milter):
    with mta.Postfix(milter="unix:" + milter) as postfix:
        postfix.send(with_code(), rcpt="bob@rcpt.example")
        raw = postfix.sink.wait("bob@rcpt.example")[0]
    return values(raw, "X-Gillnet-Status")[0].startswith("Yes")


def run(machine, milter):
    check_units(machine)
    machine.sh("echo 'limits = { reader = \"60s\"; };' >/etc/gillnet/conf.d/reader.conf && systemctl reload gillnetd")
    assert doctor(machine) == ["ok    reader: %s answers" % SOCKET], doctor(machine)
    check_sandbox(machine)
    assert marked(milter)
    log = machine.sh("journalctl --no-pager -o cat -u gillnetd")
    assert r"QR\x20code\x20in\x20invoice.png" in log, log
    check_deaths(machine)
    assert marked(milter)
    machine.sh("systemctl stop gillnet-reader.socket gillnet-reader")
    assert not marked(milter)  # it passes, unread
    assert len(doctor(machine)) == 1 and doctor(machine)[0].startswith("warn  reader: "), doctor(machine)
    machine.sh("rm /etc/gillnet/conf.d/reader.conf && systemctl start gillnet-reader.socket gillnet-reader && "
               "systemctl reload gillnetd")
