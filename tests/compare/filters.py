"""filters - gillnet, rspamd and SpamAssassin as their packages set them up, each in a folder of its own.

Each filter has start() and stop(), the milter sockets it listens on (sockets: "unix" and "inet"), its
processes (roots), scan(files), which judges messages, and learn(files, is_spam). No filter rejects
or defers: all mark mail only, so that each transaction ends alike. None asks DNS.
"""
import concurrent.futures
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import gillnet as installed
import mta
import proc
import processes

CLIENT, CLIENT_NAME = "192.0.2.10", "mail.sender.example"  # from outside, as each filter sees it
WORKERS = os.cpu_count()
SCANS = 2 * WORKERS  # requests at a time
BATCH = 1000  # files of one `gillnet check`
START_S = 300
REJECT_AT = 15.0  # with rejects: what a listed URL is answered with
SPAM_AT = {"gillnet": 5.0, "rspamd": 6.0, "SpamAssassin": 5.0}  # each filter's own default for "mark it"

# Modules of rspamd's default set that ask DNS or the network; without answers they only wait.
RSPAMD_ASKS = "rbl surbl fuzzy_check asn spf dkim dmarc arc mx_check url_redirector dkim_signing rspamd_update hfilter".split()
# Modules that need Redis and more mail than one run has, or that defer mail.
RSPAMD_APART = "greylist ratelimit neural reputation".split()


def part(name):
    """Folder of an unpacked Debian package (contrib/install-deps compare)."""
    root = os.path.join(os.environ.get("GILLNET_" + name.upper(), os.path.join(proc.TOP, "build", name)), "root")
    if not os.path.isdir(root):
        raise proc.SetupError("no %s: run contrib/install-deps compare" % root)
    return root


def libraries(root, *more):
    folders = [os.path.join(root, m) for m in more]
    return ":".join(folders + glob.glob(root + "/usr/lib/*-linux-gnu") + glob.glob(root + "/lib/*-linux-gnu"))


def load_program(*argv):
    """Runs milterload as an MTA that a client outside talks to."""
    return subprocess.run([os.path.join(proc.BUILD, "tests/bench/milterload"), "-q", "-i", CLIENT, *argv],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def answers(spec, mail):
    return load_program("-n", "1", "-t", str(START_S), "-d", mail, target(spec)).returncode == 0


def target(spec):
    """gillnetd's spelling of a socket in milterload's."""
    kind, _, place = spec.partition(":")
    port, _, host = place.partition("@")
    return spec if kind == "unix" else "inet:%s:%s" % (host, port)


class NoNames(socketserver.ThreadingUDPServer):
    """A name server that knows no name: whoever asks has its answer at once, and none waits."""

    daemon_threads = True

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            question, reply = self.request
            if len(question) >= 12:
                reply.sendto(question[:2] + struct.pack(">H", 0x8183) + question[4:6] + bytes(6) + question[12:],
                             self.client_address)

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.port = self.server_address[1]


class Filter:
    """What the three have in common."""

    name = "?"

    def __init__(self):
        self.folder = proc.scratch(self.name.lower())
        shutil.chown(self.folder, installed.USER, installed.GROUP)
        self.place = proc.socket_folder()
        shutil.chown(self.place, installed.USER, installed.GROUP)
        self.children = []

    @property
    def roots(self):
        return [c.pid for c in self.children]

    def spawn(self, argv, env=None, log="log", **user):
        with open(os.path.join(self.folder, log), "ab") as out:
            child = proc.spawn(argv, stdout=out, stderr=out, env=dict({"PATH": os.environ["PATH"]}, **(env or {})), **user)
        self.children.append(child)
        return child

    def start_timed(self, mail):
        """Seconds from the start until the filter has answered a message of this folder over its Unix socket."""
        begun = time.monotonic()
        self.start()
        while time.monotonic() - begun < START_S:
            if any(c.poll() is not None for c in self.children):
                break
            if answers(self.sockets["unix"], mail):
                return time.monotonic() - begun
            time.sleep(0.005)
        raise proc.SetupError("%s does not answer: %s" % (self.name, self.log()[-2000:]))

    def log(self):
        return proc.read_text(os.path.join(self.folder, "log"))

    def stop(self):
        for child in reversed(self.children):
            proc.stop(child)
        self.children = []

    def settle(self, seconds=2.0, limit=90):
        """Waits until the filter is idle: what it prepares in the background is done."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            before = processes.cpu(self.roots)
            time.sleep(seconds)
            if processes.cpu(self.roots) - before <= 0.02 * seconds:
                return

    def only_unix(self):
        """Ends what is there for the other socket alone."""

    def memory(self):
        return processes.memory(self.roots)

    def cpu(self):
        return processes.cpu(self.roots)


def copy_state(source, to):
    """The compiled patterns of a state folder, and the keys that seal them, with their owners."""
    subprocess.run(["cp", "-a", "--", source + "/keys", source + "/rules.cache", to], check=True)


class Gillnet(Filter):
    """gillnetd for each kind of socket, and gillnet-reader, which opens attached files."""

    name = "gillnet"
    patterns = None  # a folder with compiled patterns, made once in a run as once on a server, and their keys

    def __init__(self, prior=None, lists=(), kinds=("unix", "inet"), rejects=False):
        """prior: a file of weights, "" for none; None: the shipped one. lists: as e2e's Gillnet takes them."""
        super().__init__()
        self.prior = os.path.join(self.folder, "prior") if prior != "" else ""
        if self.prior:
            shutil.copy(prior or os.path.join(proc.TOP, "contrib/model/prior"), self.prior)
            os.chmod(self.prior, 0o644)
        self.reader = os.path.join(self.place, "reader.sock")
        more = 'shipped_rules = true;\nmodel = { prior = "%s"; };\nreader = { socket = "%s"; };\n' % (self.prior, self.reader)
        more += "thresholds = { reject = %s; };\n" % REJECT_AT if rejects else ""
        self.daemons = {k: installed.Gillnet(k, more, lists) for k in kinds}
        self.sockets = {k: d.socket for k, d in self.daemons.items()}
        for daemon in self.daemons.values() if Gillnet.patterns else ():
            copy_state(Gillnet.patterns, daemon.state)

    def start(self):
        shutil.copy(os.path.join(proc.BUILD, "gillnet-reader"), self.folder)
        self.spawn([self.folder + "/gillnet-reader", "--socket", self.reader], user=installed.USER, group=installed.GROUP)
        for daemon in self.daemons.values():
            daemon.start(START_S)
            self.children.append(daemon.child)
        if not Gillnet.patterns:
            Gillnet.patterns = proc.scratch("patterns")
            copy_state(self.daemons["unix"].state, Gillnet.patterns)

    def log(self):
        return self.daemons["unix"].log() + super().log()

    def only_unix(self):
        """One gillnetd has one socket; the second one was there for the comparison."""
        other = self.daemons.pop("inet", None)
        if other:
            self.children.remove(other.child)
            other.stop()

    def run(self, *argv, **kwargs):
        return self.daemons["unix"].cli(*argv, **kwargs)

    def learn(self, folders):
        """folders: {is_spam: folder}."""
        self.run("train", "--spam", folders[True], "--ham", folders[False], timeout=1200)

    def scan(self, files):
        found = []
        for i in range(0, len(files), BATCH):
            lines = self.run("--json", "check", *files[i:i + BATCH]).stdout.splitlines()
            found += [(a["score"], [s["name"] for s in a["symbols"]]) for a in map(json.loads, lines)]
        return found

    def version(self):
        return self.run("--version").stdout.decode().split()[1]


class Rspamd(Filter):
    """Debian's rspamd: all workers of its configuration, milter by its proxy worker; Redis where Bayes is wanted."""

    name = "rspamd"
    patterns = None  # compiled once in a run, as once on a server

    def __init__(self, bayes=False, local=None, rejects=False):
        """local: {file below local.d: text}, as an administrator writes it."""
        super().__init__()
        self.names = NoNames()
        self.root = part("rspamd")
        self.port, self.control, self.redis_port = proc.free_port(), proc.free_port(), proc.free_port()
        self.bayes = bayes
        inet = proc.free_port()
        self.sockets = {"unix": "unix:%s/rspamd.sock" % self.place, "inet": "inet:%d@127.0.0.1" % inet}
        Rspamd.patterns = Rspamd.patterns or proc.scratch("patterns")
        override = {
            "options.inc": 'hs_cache_dir = "%s";\n' % Rspamd.patterns +
                           'dns { nameserver = ["127.0.0.1:%d:1"]; }\ncontrol_socket = "%s/control.sock mode=0600";\n'
                           'pidfile = "%s/pid";\n' % (self.names.port, self.folder, self.folder),
            "worker-normal.inc": 'bind_socket = "127.0.0.1:%d";\ncount = %d;\n' % (self.port, WORKERS),
            "worker-controller.inc": 'bind_socket = "127.0.0.1:%d";\nsecure_ip = "127.0.0.1";\n' % self.control,
            "worker-proxy.inc": 'bind_socket = "%s/rspamd.sock mode=0666";\nbind_socket = "127.0.0.1:%d";\n'
                                'upstream "local" { default = yes; hosts = "127.0.0.1:%d"; }\n' % (self.place, inet, self.port),
            "actions.conf": "%sgreylist = null;\n" % ("" if rejects else "reject = null;\n"),
            **{m + ".conf": "enabled = false;\n" for m in RSPAMD_ASKS + RSPAMD_APART},
        }
        local = dict(local or {})
        if bayes:
            local["redis.conf"] = 'servers = "127.0.0.1:%d";\n' % self.redis_port
            local["classifier-bayes.conf"] = 'servers = "127.0.0.1:%d";\n' % self.redis_port
        for kind, files in (("override.d", override), ("local.d", local)):
            os.mkdir(os.path.join(self.folder, kind))
            for name, text in files.items():
                with open(os.path.join(self.folder, kind, name), "w", encoding="utf-8") as file:
                    file.write(text)

    def start(self):
        if self.bayes:
            redis = part("redis")
            self.spawn([redis + "/usr/bin/redis-server", "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "",
                        "--appendonly", "no", "--dir", self.folder], {"LD_LIBRARY_PATH": libraries(redis)})
            proc.wait_for("Redis", lambda: proc.listens(self.redis_port))
        share = self.root + "/usr/share/rspamd"
        places = {"CONFDIR": self.root + "/etc/rspamd", "LOCAL_CONFDIR": self.folder, "LUALIBDIR": share + "/lualib",
                  "SHAREDIR": share, "PLUGINSDIR": share + "/plugins", "RULESDIR": share + "/rules",
                  **{k: self.folder for k in ("WWWDIR", "DBDIR", "RUNDIR", "LOGDIR", "TMPDIR")}}
        self.spawn([self.root + "/usr/bin/rspamd", "-f", "-i", "-c", self.root + "/etc/rspamd/rspamd.conf",
                    *[x for k, v in places.items() for x in ("--var", "%s=%s" % (k, v))]],
                   {"LD_LIBRARY_PATH": libraries(self.root, "usr/lib/rspamd")})

    def log(self):
        return proc.read_text(self.folder + "/rspamd.log")[-3000:] + super().log()

    def stop(self):
        super().stop()
        for path in glob.glob(self.place + "/rspamd.sock"):
            os.unlink(path)

    def post(self, port, path, file):
        """Its answer; {"error": why} where it refuses, as for mail that it already knows."""
        with open(file, "rb") as data:
            request = urllib.request.Request("http://127.0.0.1:%d/%s" % (port, path), data=data.read(), headers={
                "IP": CLIENT, "Helo": CLIENT_NAME, "From": "alice@sender.example", "Rcpt": "bob@rcpt.example"})
        try:
            return json.loads(urllib.request.urlopen(request, timeout=120).read() or b'{"error": "empty"}')
        except urllib.error.HTTPError as e:
            return {"error": e.read().decode(errors="replace")}

    def learn(self, folders):
        for is_spam, folder in folders.items():
            with concurrent.futures.ThreadPoolExecutor(SCANS) as pool:
                list(pool.map(lambda f, to="learnspam" if is_spam else "learnham": self.post(self.control, to, f),
                              sorted(glob.glob(folder + "/*"))))

    def scan(self, files):
        with concurrent.futures.ThreadPoolExecutor(SCANS) as pool:
            answers = list(pool.map(lambda f: self.post(self.port, "checkv2", f), files))
        for file, a in zip(files, answers):
            if "score" not in a:
                raise proc.SetupError("rspamd on %s: %s" % (file, a))
        return [(a["score"], list(a["symbols"])) for a in answers]

    def version(self):
        out = subprocess.run([self.root + "/usr/bin/rspamd", "--version"], stdout=subprocess.PIPE, check=True,
                                  env={"LD_LIBRARY_PATH": libraries(self.root, "usr/lib/rspamd")}).stdout.decode()
        return re.search(r"[Vv]ersion ([0-9.]+)", out)[1]


class SpamAssassin(Filter):
    """Debian's spamd with as many children as cores, and spamass-milter for each kind of socket."""

    name = "SpamAssassin"

    def __init__(self, local="", learns_alone=True, rejects=False):
        """local: more lines of local.cf. learns_alone: by its own scores, as shipped."""
        super().__init__()
        self.options = ["-r", "%d" % REJECT_AT] if rejects else []
        self.root = part("spamassassin")
        self.port = proc.free_port()
        self.sockets = {"unix": "unix:%s/spamass.sock" % self.place, "inet": "inet:%d@127.0.0.1" % proc.free_port()}
        self.site = os.path.join(self.folder, "site")
        shutil.copytree(self.root + "/etc/spamassassin", self.site)
        with open(self.site + "/local.cf", "a", encoding="utf-8") as file:
            file.write(local + ("" if learns_alone else "\nbayes_auto_learn 0\n"))
        for name in ("state", "home"):
            os.mkdir(os.path.join(self.folder, name))
            shutil.chown(os.path.join(self.folder, name), installed.USER, installed.GROUP)

    def perl(self):
        folders = [self.root + "/usr/share/perl5", *glob.glob(self.root + "/usr/lib/*/perl5/5.*"),
                   *glob.glob(self.root + "/usr/lib/*/perl5")]
        return ["perl", "-T", *["-I" + f for f in folders]]

    def start(self):
        self.spawn([*self.perl(), self.root + "/usr/sbin/spamd", "-L", "--allow-tell", "--nouser-config",
                    "--max-children", str(WORKERS), "--min-children", str(WORKERS), "--listen", "127.0.0.1:%d" % self.port,
                    "--siteconfigpath", self.site, "--configpath", self.root + "/usr/share/spamassassin",
                    "--helper-home-dir", self.folder + "/home", "--syslog", self.folder + "/home/spamd.log"],
                   {"HOME": self.folder + "/home"}, user=installed.USER, group=installed.GROUP)
        for spec in self.sockets.values():
            self.start_milter(spec)

    def start_milter(self, spec):
        """spamass-milter calls /usr/bin/spamc, which lies over this folder in a name space of its own."""
        kind, _, place = spec.partition(":")
        script = ('mount -t overlay overlay -o "lowerdir=$0/usr/bin:/usr/bin" /usr/bin && umask 0 && '
                  'exec setpriv --reuid %s --regid %s --clear-groups --pdeathsig KILL -- "$@"' % (installed.USER, installed.GROUP))
        self.spawn(["unshare", "--mount", "sh", "-c", script, self.root, self.root + "/usr/sbin/spamass-milter",
                    "-p", place if kind == "unix" else spec, *self.options, "--", "-d", "127.0.0.1", "-p", str(self.port)])

    def log(self):
        return proc.read_text(self.folder + "/home/spamd.log")[-3000:] + super().log()

    def stop(self):
        super().stop()
        for path in glob.glob(self.place + "/spamass.sock"):
            os.unlink(path)

    def ask(self, command, file, **fields):
        """The answer of spamd, by the protocol of spamc."""
        with open(file, "rb") as data:
            message = data.read()
        lines = ["%s SPAMC/1.5" % command, "Content-length: %d" % len(message)]
        lines += ["%s: %s" % (k.replace("_", "-"), v) for k, v in fields.items()]
        with socket.create_connection(("127.0.0.1", self.port), 300) as s:
            s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + message)
            s.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: s.recv(65536), b"")).decode("latin-1")
        if " 0 EX_OK" not in answer.split("\n")[0]:
            raise proc.SetupError("spamd on %s: %s" % (file, answer[:200]))
        return answer

    def learn(self, folders):
        for is_spam, folder in folders.items():
            for file in sorted(glob.glob(folder + "/*")):
                self.ask("TELL", file, Message_class="spam" if is_spam else "ham", Set="local")

    def scan(self, files):
        def one(file):
            answer = self.ask("SYMBOLS", file)
            return (float(re.search(r"^Spam: \w+ ; (-?[0-9.]+) /", answer, re.M)[1]),
                    answer.partition("\r\n\r\n")[2].strip().split(","))

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(one, files))

    def version(self):
        with open(self.root + "/usr/share/perl5/Mail/SpamAssassin.pm", encoding="utf-8") as file:
            number = re.search(r'\$VERSION = "([0-9]+)\.([0-9]{3})([0-9]{3})', file.read())  # as Perl writes 4.0.1
        return "%d.%d.%d" % tuple(map(int, number.groups()))
