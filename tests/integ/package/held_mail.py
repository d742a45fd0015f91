"""held_mail - a Postfix on a machine, whose held mail is listed, released and deleted through the installed units.

The hub asks gillnet-queue over its socket, and gillnet-digest.service mails a digest: each as systemd starts it, with
all that its unit takes away."""

import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e"))
import mta  # noqa: E402
import proc  # noqa: E402
from test_first_mail import LISTED, delivered, send, wait_for_server  # noqa: E402

# Postfix as contrib/install-deps unpacked it, with users that every Debian has.
POSTFIX = r"""
cp -an %(root)s/usr/sbin/. /usr/sbin/
cp -an %(root)s/usr/lib/. /usr/lib/
mkdir -p /etc/postfix /var/lib/postfix /var/spool/postfix
chown %(user)s /var/lib/postfix
cp -an %(root)s/etc/postfix/. /etc/postfix/
ldconfig
useradd -m reader
cat >/etc/postfix/main.cf <<END
compatibility_level = 3.6
mail_owner = %(user)s
setgid_group = %(group)s
shlib_directory = /usr/lib/postfix
daemon_directory = /usr/lib/postfix/sbin
maillog_file = /var/log/mail.log
myhostname = mx.rcpt.example
mydestination = localhost
inet_interfaces = loopback-only
inet_protocols = ipv4
disable_dns_lookups = yes
alias_maps =
mailbox_size_limit = 0
smtpd_milters = unix:%(socket)s
END
cat >/etc/postfix/master.cf <<END
25 inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
flush unix n - n 1000? 0 flush
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
local unix - n n - - local
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
END
cat >/etc/systemd/system/postfix.service <<END
[Service]
Type=forking
ExecStart=/usr/sbin/postfix start
ExecStop=/usr/sbin/postfix stop
END
echo 'thresholds = { header = 4.0; quarantine = 8.0; reject = 1000.0; };' >/etc/gillnet/conf.d/held.conf
gillnet list add phish %(listed)s
systemctl daemon-reload
systemctl start postfix || { journalctl --no-pager -u postfix; cat /var/log/mail.log; exit 1; }
systemctl reload gillnetd
"""
ASK = """
curl -sS --fail-with-body -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' %s http://127.0.0.1:8896%s
"""
# CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_SETGID, CAP_SETUID
CAPABILITIES = "00000000000000cf"


def ask(machine, token, path, body=None):
    data = "" if body is None else "-d '%s'" % json.dumps(body)
    return json.loads(machine.sh(ASK % (token, data, path)))


def held(machine):
    """The ids of the held messages, as Postfix says."""
    rows = [json.loads(line) for line in machine.sh("postqueue -j").splitlines()]
    return [row["queue_id"] for row in rows if row["queue_name"] == "hold"]


def hold(machine, subject):
    before = held(machine)
    reply = send(machine, subject)
    assert reply.startswith("250"), reply
    (new,) = proc.wait_for("a held message", lambda: [i for i in held(machine) if i not in before])
    return new


def check_sandbox(machine):
    """A connection without a request: the process behind it has no more rights than the unit leaves it."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("/proc/%d/root/run/gillnet-queue.sock" % machine.pid)
        pid = proc.wait_for("gillnet-queue", lambda: machine.sh("pgrep -x gillnet-queue || true").strip())
        status = dict(line.split(":\t", 1) for line in machine.sh("cat /proc/%s/status" % pid).splitlines())
        assert (status["NoNewPrivs"], status["Seccomp"], status["CapBnd"], status["CapEff"]) \
            == ("1", "2", CAPABILITIES, CAPABILITIES), status
        for path, told in (("etc/gillnet", "Read-only file system"), ("var/lib/gillnet", "Read-only file system"),
                           ("var/spool/postfix", "")):
            said = machine.sh("cd /proc/%s/root/%s && { touch here && rm here; } 2>&1 || true" % (pid, path))
            assert told in said and bool(told) == bool(said), (path, said)
        assert machine.sh("ls /proc/%s/root/var/lib/gillnet" % pid) == "", "the state folder is to be seen"
        assert machine.sh("/proc/%s/root/bin/true 2>&1 || true" % pid), "any program can be run"


def check_units(machine):
    assert machine.sh("systemctl is-active gillnet-queue.socket") == "active\n"
    assert machine.sh("stat -c '%U %a' /run/gillnet-queue.sock") == "_gillnet-hub 600\n"
    assert machine.sh("systemctl is-enabled gillnet-digest.timer || true") == "disabled\n"
    machine.sh("systemctl enable --now gillnet-digest.timer")
    assert "gillnet-digest.service" in machine.sh("systemctl list-timers --no-pager")
    units = "gillnet-queue.socket gillnet-queue@.service gillnet-digest.service gillnet-digest.timer"
    said = machine.sh("cd /lib/systemd/system && systemd-analyze verify --man=no %s 2>&1 || true" % units)
    assert "gillnet" not in said, said


def run(machine, milter):
    check_units(machine)
    machine.sh(POSTFIX % {"root": mta.proc.MTA_ROOT, "user": mta.POSTFIX_USER, "group": mta.POSTDROP_GROUP,
                          "socket": milter, "listed": LISTED})
    wait_for_server(machine)
    token = machine.sh("gillnet hub token held admin 2>/dev/null | tail -n 1").strip()
    first, second = hold(machine, "first"), hold(machine, "second")
    check_sandbox(machine)
    proc.wait_for("the hub knows the token", lambda: machine.run(
        "sh", "-ec", ASK % (token, "", "/v1/quarantine"), check=False).returncode == 0)
    rows = ask(machine, token, "/v1/quarantine")["held"]
    assert sorted(row["id"] for row in rows) == sorted([first, second]), rows

    machine.sh("systemctl start gillnet-digest.service")
    text = proc.wait_for("the digest", lambda: machine.sh("cat /var/mail/reader 2>/dev/null || true"), 60)
    assert "2 messages held for reader@localhost" in text and "  first\n" in text and "  second\n" in text, text
    machine.sh("systemctl start gillnet-digest.service")  # nothing is new, so nobody gets one

    ask(machine, token, "/v1/quarantine/release", {"id": first})
    delivered(machine, "first")
    ask(machine, token, "/v1/quarantine/delete", {"id": second})
    assert held(machine) == []
    assert "Subject: second\n" not in machine.sh("cat /var/mail/reader")
    hub = machine.sh("id -u _gillnet-hub").strip()
    log = machine.sh("journalctl --no-pager -o cat -t gillnet-queue -u 'gillnet-queue@*'")
    for word in ("list", r"release\x20" + first, r"delete\x20" + second):
        assert 'event=queue request="%s" uid=%s result="ok"' % (word, hub) in log, log
    machine.sh("systemctl stop postfix gillnet-digest.timer && rm -r /etc/gillnet/conf.d/held.conf /etc/postfix")
