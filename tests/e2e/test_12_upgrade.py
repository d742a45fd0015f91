"""gillnetd is replaced under load as the package's upgrade does it: by a restart of its unit. No message is
deferred or lost, and (next to) none passes unexamined, with every default action of the MTA."""

import array
import os
import shutil
import signal
import socket
import threading

import gillnet
import message
import proc
from load import Load

OWN = "x-gillnet-status"


class Unit:
    """The part of systemd for gillnetd.service: it keeps the socket (FileDescriptorStoreMax) and gives it to the next
    process. The environment of the unit is the one of systemd/gillnetd.service."""

    def __init__(self, installation, programs):
        self.installation = installation
        self.path = os.path.join(installation.folder, "manager")
        self.kept = {}
        self.child = None
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        os.chmod(self.path, 0o666)
        self.ready = threading.Event()
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        self.start(programs)

    def environment(self):
        with open(os.path.join(proc.TOP, "systemd/gillnetd.service"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        given = dict(line[len("Environment="):].split("=", 1) for line in lines
                     if line.startswith("Environment="))
        return {"PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": self.path, **given}

    def listen(self):
        """Takes notifications, with the descriptors that come with them, until stop closes the socket."""
        while True:
            try:
                text, extra, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(4 * 16))
            except OSError:
                return
            if not text:
                return
            lines = text.decode().splitlines()
            names = [line[len("FDNAME="):] for line in lines if line.startswith("FDNAME=")]
            fds = array.array("i")
            for level, kind, data in extra:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    fds.frombytes(data)
            if "FDSTORE=1" in lines:
                self.kept[names[0]] = fds[0]
            if "FDSTOREREMOVE=1" in lines:
                os.close(self.kept.pop(names[0]))
            if "READY=1" in lines:
                self.ready.set()

    def start(self, programs):
        self.ready.clear()
        env, script = self.environment(), ""
        for i, fd in enumerate(self.kept.values()):
            script += "exec %d<&%d-; " % (3 + i, fd)  # moved: no second copy stays open
        if self.kept:
            env["LISTEN_FDS"] = str(len(self.kept))
            env["LISTEN_FDNAMES"] = ":".join(self.kept)
            script += "export LISTEN_PID=$$; "
        script += "exec %s -f -c %s" % (os.path.join(programs, "gillnetd"), self.installation.config)
        with open(self.installation.log_file, "ab") as log:
            self.child = proc.spawn(["bash", "-c", script], stdout=log, stderr=log, env=env,
                                    pass_fds=list(self.kept.values()), user=gillnet.USER,
                                    group=gillnet.GROUP, extra_groups=[gillnet.mta.POSTFIX_GROUP])

        def ready():
            if self.child.poll() is not None:
                raise proc.SetupError("gillnetd ended: " + self.installation.log())
            return self.ready.is_set()

        proc.wait_for("gillnetd to be ready", ready, 60)

    def restart(self, programs, how=signal.SIGTERM):
        self.child.send_signal(how)
        self.child.wait(60)
        self.start(programs)

    def stop(self):
        status = proc.stop(self.child, 60)
        for fd in self.kept.values():
            os.close(fd)
        self.kept.clear()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(b"", self.path)  # ends the listener
        self.listener.join()
        self.socket.close()
        return status


def other_version():
    """A second copy of the programs in a separate folder, as the package of another version installs them."""
    folder = proc.scratch("other")
    for name in ["gillnet", "gillnetd"]:
        shutil.copy(os.path.join(gillnet.programs(), name), folder)
    return folder


def replace_under_load(env, default_action, how=signal.SIGTERM):
    count = 10000 if env.slow else 400
    old, new = gillnet.programs(), other_version()
    g = env.gillnet()
    unit = Unit(g, old)
    options = "default_action=" + default_action
    with env.mta(g, milter_options=options) as mta:
        load = Load(mta, count)
        for i, programs in enumerate([new, old]):
            load.wait_for(count * (i + 1) // 3)
            unit.restart(programs, how)
        load.judge(default_action + ", 2 restarts")
        assert unit.kept, "gillnetd gave its manager no socket"
        assert unit.stop() == 0


def test_restart__under_load_default_accept__none_deferred_lost_or_unexamined(env):
    replace_under_load(env, "accept")


def test_restart__under_load_default_tempfail__none_deferred_lost_or_unexamined(env):
    replace_under_load(env, "tempfail")


def test_restart__with_another_socket__the_kept_one_is_dropped(env):
    g = env.gillnet()
    unit = Unit(g, gillnet.programs())
    first = g.socket[len("unix:"):]
    g.socket += "2"
    g.write_config("")
    unit.restart(gillnet.programs())
    assert len(unit.kept) == 1, unit.kept
    with env.mta(g) as mta:
        mta.send(message.build(), rcpt="moved@rcpt.example")
        assert OWN in message.names(mta.sink.wait("moved@rcpt.example")[0])
    with socket.socket(socket.AF_UNIX) as s:
        assert s.connect_ex(first) != 0, "the socket that is no longer configured still answers"
    assert unit.stop() == 0


def test_restart__file_of_the_socket_removed__a_new_one_is_made(env):
    g = env.gillnet()
    unit = Unit(g, gillnet.programs())
    os.unlink(g.socket[len("unix:"):])
    unit.restart(gillnet.programs())
    with env.mta(g) as mta:
        mta.send(message.build(), rcpt="again@rcpt.example")
        assert OWN in message.names(mta.sink.wait("again@rcpt.example")[0])
    assert unit.stop() == 0
