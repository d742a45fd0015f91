"""gillnet - gillnetd and the command line in a folder of their own, as a user without rights."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess

import mta
import proc

# A user that every Debian has, in the group of Postfix's user, as _gillnet is on a real server.
USER, GROUP = "news", "news"
_bin = None


def programs():
    """The folder with copies of both programs that every user may run."""
    global _bin
    if not _bin:
        for name in ["gillnet", "gillnetd"]:
            if not os.path.exists(os.path.join(proc.BUILD, name)):
                raise proc.SetupError("no %s in %s: build first" % (name, proc.BUILD))
        _bin = proc.scratch("bin")
        for name in ["gillnet", "gillnetd"]:
            shutil.copy(os.path.join(proc.BUILD, name), _bin)
    return _bin


class Gillnet:
    """One installation: configuration, state folder, socket; gillnetd when started."""

    def __init__(self, socket_kind="unix", config="", lists=(), state_dir=None, conf_d=None):
        """lists: (name, weight, [entries]); config: text behind the settings made here."""
        mta.check_environment()
        self.folder = proc.scratch("gillnetd")
        self.state = state_dir or os.path.join(self.folder, "state")
        if not state_dir:
            os.mkdir(self.state, 0o750)
        shutil.chown(self.state, USER, GROUP)
        if socket_kind == "unix":
            place = proc.socket_folder()
            shutil.chown(place, USER, GROUP)
            self.socket = "unix:%s/gillnetd.sock" % place
        else:
            self.socket = "inet:%d@127.0.0.1" % proc.free_port()
        self.config = os.path.join(self.folder, "gillnet.conf")
        self.log_file = os.path.join(self.folder, "gillnetd.log")
        self.child = None
        self.lists = lists
        self.write_config(config)
        for name, _, entries in lists:
            if entries:
                self.cli("list", "add", name, *entries)

    def write_config(self, config):
        groups = ",\n".join('{ name = "%s"; weight = %s;%s }' % (name, float(weight), ' category = "allow";' if name == "allow" else "")
                            for name, weight, _ in self.lists)
        shipped = "" if "shipped_rules" in config else "shipped_rules = false;"
        mta.write(self.config, 'state_dir = "%s";\nsocket = "%s";\nsocket_group = "%s";\n'
                  "lists = ( %s );\n%s\n%s\n"
                  % (self.state, self.socket, mta.POSTFIX_GROUP, groups, shipped, config))

    def _as_user(self):
        return {"user": USER, "group": GROUP, "extra_groups": [mta.POSTFIX_GROUP]}

    def cli(self, *argv, check=True, data=None, timeout=600):
        """`gillnet ARGV`: the finished process; check: an exit status above 1 is an error."""
        done = subprocess.run([os.path.join(programs(), "gillnet"), "-c", self.config, *argv],
                              input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout, umask=0o027, **self._as_user())
        if check and (done.returncode > 1 or done.returncode < 0):
            raise AssertionError("gillnet %s: status %d: %s%s" % (
                " ".join(argv)[:200], done.returncode, done.stdout.decode("latin-1"),
                done.stderr.decode("latin-1")))
        return done

    def json_lines(self, *argv, **kwargs):
        out = self.cli(*argv, "--json", **kwargs).stdout
        return [json.loads(line) for line in out.splitlines()]

    def start(self, timeout=20):
        """Returns when gillnetd has told its service manager that it is ready."""
        notify = os.path.join(self.folder, "notify")
        if os.path.exists(notify):
            os.unlink(notify)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(notify)
            os.chmod(notify, 0o666)
            with open(self.log_file, "ab") as log:
                self.child = proc.spawn(
                    [os.path.join(programs(), "gillnetd"), "-f", "-c", self.config],
                    stdout=log, stderr=log, env={"NOTIFY_SOCKET": notify, "PATH": "/usr/bin:/bin"},
                    **self._as_user())
            s.settimeout(0.1)

            def ready():
                if self.child.poll() is not None:
                    raise proc.SetupError("gillnetd ended with status %d: %s"
                                          % (self.child.returncode, self.log()))
                try:
                    return b"READY=1" in s.recv(4096)
                except TimeoutError:
                    return False

            proc.wait_for("gillnetd to be ready", ready, timeout)
        return self

    def log(self):
        return proc.read_text(self.log_file)

    def verdict(self, queue_id, timeout=5):
        """The log line of a message as a dict."""
        pattern = re.compile(r"^.*?\b%s: (action=.*)\n" % re.escape(queue_id), re.M)
        match = proc.wait_for("the log line of %s" % queue_id,
                              lambda: pattern.search(self.log()), timeout)
        return dict(pair.split("=", 1) for pair in match[1].split(" "))

    def verdicts(self, count):
        """queue id -> log line as a dict, once count messages are in the log: a line follows
        the reply that the MTA has already passed on."""
        def logged():
            found = re.findall(r"(\S+): (action=.*)\n", self.log())
            return (found,) if len(found) >= count else None

        (lines,) = proc.wait_for("%d log lines" % count, logged)
        return {qid: dict(pair.split("=", 1) for pair in line.split(" ")) for qid, line in lines}

    def number(self, name):
        """A number of `gillnet stat`."""
        return next(line["value"] for line in self.json_lines("stat")
                    if line["type"] == "number" and line["name"] == name)

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()

    def stop(self, grace=30):
        if self.child:
            status = proc.stop(self.child, grace)
            self.child = None
            return status
        return None

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        status = self.stop()
        if kind is None and status not in (0, None):
            raise AssertionError("gillnetd ended with status %d:\n%s" % (status, self.log()))
