"""mta - Postfix and Sendmail as private instances on loopback ports, from build/mta/root.

Nothing is installed: the programs are those that contrib/install-deps unpacked. Each instance has
its own folder, port, queue and log, relays every message to a sink, and asks the milter it is
given. Both need root, as the real ones do.
"""

import base64
import glob
import os
import re
import shutil
import socketserver
import subprocess
import threading
import time

import proc
from smtp import Client, Sink

# Users that every Debian has stand in for Postfix's own, so that the machine stays as it is.
POSTFIX_USER, POSTFIX_GROUP, POSTDROP_GROUP = "mail", "mail", "uucp"

LIBRARY_PATH = ":".join(
    [os.path.join(proc.MTA_ROOT, "usr/lib/postfix")]
    + sorted(glob.glob(os.path.join(proc.MTA_ROOT, "usr/lib/*-linux-gnu")))
    + sorted(glob.glob(os.path.join(proc.MTA_ROOT, "lib/*-linux-gnu")))
)


def check_environment():
    if os.geteuid() != 0:
        raise proc.SetupError("Postfix and Sendmail need root: run this as root")
    if not os.path.exists(os.path.join(proc.MTA_ROOT, "usr/lib/postfix/sbin/master")):
        raise proc.SetupError("no mail servers in %s: run contrib/install-deps test" % proc.MTA_ROOT)


def program(path):
    return os.path.join(proc.MTA_ROOT, path)


def write(path, text, mode=0o644):
    """A file, put in place whole, that looks a minute old: Postfix waits for a newer main.cf."""
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path + ".new", mode)
    then = time.time() - 60
    os.utime(path + ".new", (then, then))
    os.rename(path + ".new", path)


class Mta:
    """Base of both MTAs."""

    kind = "?"

    def __init__(self, milter=None, milter_options="", sink=None):
        """milter: a socket in gillnetd's spelling ("unix:PATH", "inet:PORT@HOST"), or None."""
        check_environment()
        self.folder = proc.scratch(self.kind)
        self.port = proc.free_port()
        self.milter = milter
        self.milter_options = milter_options
        self.own_sink = sink is None
        self.sink = sink or Sink()
        self.child = None

    def client(self, **kwargs):
        client = Client(self.port, **kwargs)
        client.ehlo()
        return client

    def send(self, message, **kwargs):
        with self.client() as client:
            return client.send(message, **kwargs)

    def log(self):
        return proc.read_text(self.log_file)

    def stop(self):
        if self.child:
            proc.stop(self.child)
            self.child = None
        if self.own_sink:
            self.sink.stop()
            self.own_sink = False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        if kind:
            print("the MTA's log:", self.log()[-4000:], sep="\n")
        self.stop()


MASTER_CF = """\
127.0.0.1:{port} inet n - n - {processes} smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
local unix - n n - - local
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""

# local_header_rewrite_clients: a client on loopback is treated as one from outside, whose headers
# Postfix leaves alone. XCLIENT: a test may say which address and login it comes with.
MAIN_CF = """\
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = {root}/usr/sbin
daemon_directory = {root}/usr/lib/postfix/sbin
meta_directory = {root}/etc/postfix
shlib_directory = {root}/usr/lib/postfix
import_environment = MAIL_CONFIG LD_LIBRARY_PATH={library_path}
export_environment = TZ MAIL_CONFIG LANG LD_LIBRARY_PATH={library_path}
mail_owner = {user}
setgid_group = {postdrop}
maillog_file = {folder}/mail.log
maillog_file_prefixes = {folder}
myhostname = mx.rcpt.example
mydomain = rcpt.example
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
disable_dns_lookups = yes
smtpd_peername_lookup = no
relay_domains = static:all
smtpd_relay_restrictions = reject_unauth_destination
smtpd_recipient_restrictions =
smtpd_authorized_xclient_hosts = 127.0.0.0/8
smtpd_client_event_limit_exceptions = static:all
smtpd_client_connection_count_limit = 0
smtpd_error_sleep_time = 0
smtpd_soft_error_limit = 1000000
smtpd_hard_error_limit = 1000000
smtpd_delay_reject = yes
smtpd_sasl_auth_enable = {sasl}
smtpd_sasl_path = {folder}/auth
smtpd_sasl_type = dovecot
smtp_line_length_limit = 0
local_header_rewrite_clients =
message_size_limit = 52428800
mailbox_size_limit = 0
in_flow_delay = 0
notify_classes =
bounce_queue_lifetime = 0
alias_maps =
default_transport = smtp:[127.0.0.1]:{sink}
relay_transport = smtp:[127.0.0.1]:{sink}
smtp_host_lookup = native
{extra}
"""

QUEUES = {
    "active": 0o700, "bounce": 0o700, "corrupt": 0o700, "defer": 0o700, "deferred": 0o700,
    "flush": 0o700, "hold": 0o700, "incoming": 0o700, "saved": 0o700, "trace": 0o700,
    "private": 0o700, "maildrop": 0o730, "public": 0o710,
}


def postfix_socket(spec):
    """gillnetd's spelling of a socket in Postfix's."""
    match = re.fullmatch(r"inet:(\d+)@(.+)", spec)
    return "inet:%s:%s" % (match[2], match[1]) if match else spec


def once_each(main_cf):
    """The last line of each name. Postfix warns of others while it starts, and its postlogd then waits for itself."""
    rows = (line.partition("=") for line in main_cf.splitlines() if "=" in line)
    return "".join(f"{name} = {value}\n" for name, value in {n.strip(): v.strip() for n, _, v in rows}.items())


class _AuthHandler(socketserver.StreamRequestHandler):
    """Dovecot's protocol as a client sees it: every PLAIN login is right."""

    def handle(self):
        self.wfile.write(b"VERSION\t1\t1\nMECH\tPLAIN\tplaintext\nSPID\t1\nCUID\t1\nDONE\n")
        for line in self.rfile:
            word = line.rstrip(b"\n").split(b"\t")
            if word[0] == b"AUTH":
                response = [w[5:] for w in word if w.startswith(b"resp=")][0]
                user = base64.b64decode(response).split(b"\0")[1]
                self.wfile.write(b"OK\t%s\tuser=%s\n" % (word[1], user))


class AuthServer(socketserver.ThreadingUnixStreamServer):
    """The service that Postfix queries for logins."""

    daemon_threads = True

    def __init__(self, path):
        super().__init__(path, _AuthHandler)
        os.chmod(path, 0o666)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class Postfix(Mta):
    kind = "postfix"

    def __init__(self, *args, extra="", processes="-", sasl=False, non_smtpd=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.log_file = os.path.join(self.folder, "mail.log")
        self.config = os.path.join(self.folder, "etc")
        if self.milter:
            options = self.milter_options or "default_action=tempfail"
            spec = "{ %s, %s }" % (postfix_socket(self.milter), options)
            extra += "\nsmtpd_milters = %s\nmilter_protocol = 6\n" % spec
            if non_smtpd:
                extra += "non_smtpd_milters = $smtpd_milters\n"
        self.make_folders()
        write(os.path.join(self.config, "master.cf"),
              MASTER_CF.format(port=self.port, processes=processes))
        write(os.path.join(self.config, "main.cf"), once_each(MAIN_CF.format(
            folder=self.folder, root=proc.MTA_ROOT, library_path=LIBRARY_PATH, user=POSTFIX_USER,
            postdrop=POSTDROP_GROUP, sink=self.sink.port, sasl="yes" if sasl else "no",
            extra=extra)))
        write(os.path.join(self.config, "dynamicmaps.cf"), "")
        self.auth = AuthServer(os.path.join(self.folder, "auth")) if sasl else None

    def make_folders(self):
        for name in ["etc", "queue", "queue/pid"]:
            os.mkdir(os.path.join(self.folder, name), 0o755)
        for name, mode in QUEUES.items():
            path = os.path.join(self.folder, "queue", name)
            os.mkdir(path)
            os.chmod(path, mode)
            self.chown(path, POSTDROP_GROUP if mode & 0o070 else POSTFIX_GROUP)
        data = os.path.join(self.folder, "data")
        os.mkdir(data, 0o700)
        self.chown(data, POSTFIX_GROUP)

    @staticmethod
    def chown(path, group):
        shutil.chown(path, POSTFIX_USER, group)

    def environment(self):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "MAIL_CONFIG": self.config,
                "LD_LIBRARY_PATH": LIBRARY_PATH}

    def start(self):
        master = program("usr/lib/postfix/sbin/master")
        with open(os.path.join(self.folder, "master.err"), "wb") as err:
            self.child = proc.spawn([master, "-d", "-c", self.config], stdout=err, stderr=err,
                                    env=self.environment())
        try:
            proc.wait_for("Postfix", lambda: self.child.poll() is not None
                          or proc.listens(self.port))
        finally:
            if self.child.poll() is not None:
                raise proc.SetupError("Postfix did not start: "
                                      + proc.read_text(os.path.join(self.folder, "master.err"))
                                      + self.log())

    def run(self, path, *argv, check=True, data=None):
        return subprocess.run([program(path), *argv], env=self.environment(), check=check,
                              input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, message, sender, rcpt):
        """Local submission through Postfix's own sendmail command (LF line ends)."""
        self.run("usr/sbin/sendmail", "-G", "-i", "-f", sender, rcpt, data=message)

    def held(self):
        """Queue ids on hold."""
        return [os.path.basename(p) for p in glob.glob(os.path.join(self.folder, "queue/hold/*"))]

    def held_message(self, queue_id):
        """The held message as Postfix shows it (LF line ends)."""
        return self.run("usr/sbin/postcat", "-qhb", queue_id).stdout

    def deferred(self):
        """Messages that wait because a delivery failed."""
        return glob.glob(os.path.join(self.folder, "queue/deferred/*/*"))


SENDMAIL_MC = """\
divert(-1)dnl
divert(0)dnl
OSTYPE(`linux')dnl
define(`QUEUE_DIR', `{folder}/queue')dnl
define(`confPID_FILE', `{folder}/sendmail.pid')dnl
define(`STATUS_FILE', `{folder}/status')dnl
define(`HELP_FILE', `{folder}/helpfile')dnl
define(`ALIAS_FILE', `{folder}/aliases')dnl
define(`confDOMAIN_NAME', `{name}')dnl
define(`confTO_IDENT', `0')dnl
define(`confDELIVERY_MODE', `i')dnl
define(`confEIGHT_BIT_HANDLING', `pass8')dnl
define(`confMAX_MESSAGE_SIZE', `52428800')dnl
define(`confLOG_LEVEL', `14')dnl
define(`confQUEUE_LA', `1000')dnl
define(`confREFUSE_LA', `1000')dnl
define(`confDELAY_LA', `1000')dnl
define(`confMAX_DAEMON_CHILDREN', `100')dnl
define(`confBAD_RCPT_THROTTLE', `0')dnl
define(`confPRIVACY_FLAGS', `')dnl
define(`confDONT_PROBE_INTERFACES', `true')dnl
define(`confTRUSTED_USER', `root')dnl
define(`confRUN_AS_USER', `root')dnl
define(`SMART_HOST', `esmtp:[127.0.0.1]')dnl
define(`ESMTP_MAILER_ARGS', `TCP $h {sink}')dnl
define(`SMTP_MAILER_LL', `2040')dnl
FEATURE(`accept_unqualified_senders')dnl
FEATURE(`accept_unresolvable_domains')dnl
FEATURE(`promiscuous_relay')dnl
FEATURE(`nocanonify')dnl
FEATURE(`no_default_msa')dnl
DAEMON_OPTIONS(`Name=MTA, Port={port}, Addr=127.0.0.1')dnl
{milter}
MAILER(`smtp')dnl
"""


class Sendmail(Mta):
    kind = "sendmail"

    def __init__(self, *args, retry=0, name="mx.rcpt.example", **kwargs):
        """retry: seconds between two tries; 0: one try. name: its host name, which no server that it
        sends to may have."""
        super().__init__(*args, **kwargs)
        self.retry, self.name = retry, name
        self.log_file = os.path.join(self.folder, "mail.log")
        self.queue = os.path.join(self.folder, "queue")
        os.mkdir(self.queue, 0o700)
        for name in ["aliases", "helpfile", "status"]:
            write(os.path.join(self.folder, name), "", 0o600)
        write(os.path.join(self.folder, "hosts"), "127.0.0.1 %s localhost\n" % name)
        self.make_config()

    def make_config(self):
        milter = ""
        if self.milter:
            spec = self.milter.replace("unix:", "local:", 1)
            options = self.milter_options or "F=T, T=C:5s;S:10s;R:10s;E:30s"
            milter = "INPUT_MAIL_FILTER(`gillnet', `S=%s, %s')dnl" % (spec, options)
        source = os.path.join(self.folder, "sendmail.mc")
        write(source, SENDMAIL_MC.format(folder=self.folder, sink=self.sink.port, port=self.port,
                                         milter=milter, name=self.name))
        cf = program("usr/share/sendmail/cf")
        made = subprocess.run(["m4", "-D_CF_DIR_=%s/" % cf, os.path.join(cf, "m4/cf.m4"), source],
                              check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).stdout
        with open(os.path.join(self.folder, "sendmail.cf"), "wb") as f:
            f.write(made)

    def start(self):
        # Its own host name and hosts file, or it waits for a name server; no /dev/log, or its
        # log would go to the machine's.
        sendmail = program("usr/libexec/sendmail/sendmail")
        script = ("hostname %s && mount --bind %s/hosts /etc/hosts && "
                  "{ [ ! -e /dev/log ] || mount --bind /dev/null /dev/log; } && "
                  "exec %s -C %s/sendmail.cf -bD%s" % (self.name, self.folder, sendmail, self.folder,
                                                      " -q%ds" % self.retry if self.retry else ""))
        with open(self.log_file, "ab") as log:
            self.child = proc.spawn(["unshare", "--uts", "--mount", "sh", "-c", script],
                                    stdout=log, stderr=log,
                                    env={"PATH": os.environ["PATH"],
                                         "LD_LIBRARY_PATH": LIBRARY_PATH})
        try:
            proc.wait_for("Sendmail", lambda: self.child.poll() is not None
                          or proc.listens(self.port))
        finally:
            if self.child.poll() is not None:
                raise proc.SetupError("Sendmail did not start: " + self.log())

    def held(self):
        """Queue ids in quarantine (their envelope file is hf...)."""
        return [os.path.basename(p)[2:] for p in glob.glob(os.path.join(self.queue, "hf*"))]

    def quarantine_reason(self, queue_id):
        """The q line of the envelope file."""
        text = proc.read_text(os.path.join(self.queue, "hf" + queue_id))
        found = [line[1:] for line in text.splitlines() if line.startswith("q")]
        return found[0] if found else None

    def held_message(self, queue_id):
        """Header lines of the envelope file, unfolded to "Name: value", and the body."""
        text = proc.read_text(os.path.join(self.queue, "hf" + queue_id))
        lines = re.findall(r"^H\?.*?\?(.*(?:\n[ \t].*)*)", text, re.M)
        body = proc.read_text(os.path.join(self.queue, "df" + queue_id))
        return ("\n".join(lines) + "\n\n" + body).encode("latin-1")

    def deferred(self):
        return glob.glob(os.path.join(self.queue, "qf*"))


KINDS = {"postfix": Postfix, "sendmail": Sendmail}
