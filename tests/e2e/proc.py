"""proc - folders, ports and processes of the end-to-end tests; all of it goes when a test ends."""

import atexit
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("GILLNET_BUILD", os.path.join(TOP, "build", "release")))
MTA_ROOT = os.path.join(os.environ.get("GILLNET_MTA", os.path.join(TOP, "build", "mta")), "root")
sys.path.insert(0, os.path.join(TOP, "tests"))
from ports import free_port  # noqa: E402, F401: used as proc.free_port

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class SetupError(Exception):
    """The environment is not what the tests need: a failure, never a skip."""


def scratch(name, where=None):
    """A folder that every user may enter, removed at exit (kept where GILLNET_KEEP is set)."""
    folder = tempfile.mkdtemp(prefix="gillnet-%s-" % name, dir=where)
    os.chmod(folder, 0o755)
    if os.environ.get("GILLNET_KEEP"):
        print("kept: " + folder)
    else:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def socket_folder():
    """For Unix sockets: Sendmail accepts none below a world-writable folder such as /tmp."""
    return scratch("socket", "/run")


def _die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def spawn(argv, **kwargs):
    """A child that dies with us, even when we are killed. start_new_session: its own group."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    user = {k: kwargs.pop(k) for k in ("user", "group", "extra_groups") if k in kwargs}
    if user:  # the parent-death signal is cleared by a change of user: set it behind that
        argv = ["setpriv", "--reuid", user["user"], "--regid", user["group"]] + (
            ["--groups", ",".join(user["extra_groups"])] if user.get("extra_groups")
            else ["--clear-groups"]
        ) + ["--pdeathsig", "KILL", "--"] + argv
    child = subprocess.Popen(argv, start_new_session=True, preexec_fn=_die_with_parent, **kwargs)
    atexit.register(stop, child, 0)
    return child


def stop(child, grace=15):
    """SIGTERM, then SIGKILL to its whole group after grace seconds; returns the exit status."""
    if child.poll() is None and grace:
        child.terminate()
        try:
            return child.wait(grace)
        except subprocess.TimeoutExpired:
            pass
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


def wait_for(what, condition, timeout=20):
    """Calls condition until it is true; the value. SetupError names what never came."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise SetupError("waited %d s in vain for %s" % (timeout, what))
        time.sleep(0.02)


def listens(port):
    with socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex(("127.0.0.1", port)) == 0


def read_text(path):
    try:
        with open(path, encoding="latin-1") as f:
            return f.read()
    except FileNotFoundError:
        return ""
