"""nginx as a child process, from Debian's package unpacked under build/nginx (contrib/install-deps test): own folder,
loopback only, with the files of contrib/nginx."""
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
UNPACKED = pathlib.Path(os.environ.get("GILLNET_NGINX", ROOT / "build/nginx")) / "root"

MAIN = """{modules}
daemon off;
master_process on;
user root;
worker_processes 1;
pid {top}/pid;
error_log {top}/error.log info;
events {{ worker_connections 512; }}
{body}
"""
HTTP = """http {{
    log_format lines '$status $upstream_cache_status $request_method $request_uri';
    access_log {top}/access.log lines;
    client_body_temp_path {top}/body;
    proxy_temp_path {top}/proxy;
    fastcgi_temp_path {top}/fastcgi;
    uwsgi_temp_path {top}/uwsgi;
    scgi_temp_path {top}/scgi;
    {site}
}}
"""


def program():
    path = UNPACKED / "usr/sbin/nginx"
    if not path.exists():
        raise AssertionError(f"{path} is missing: contrib/install-deps test")
    return path


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))  # PR_SET_PDEATHSIG


class Nginx:
    def __init__(self, top, port):
        self.top = pathlib.Path(top)
        self.top.mkdir(exist_ok=True)
        self.port = port
        self.process = None

    def write(self, site):
        """What http { } holds."""
        self.write_main("", HTTP.format(top=self.top, site=site))

    def write_main(self, modules, body):
        (self.top / "nginx.conf").write_text(MAIN.format(top=self.top, modules=modules, body=body))

    def start(self):
        libraries = ":".join(str(p) for p in (UNPACKED / "usr/lib").glob("*-linux-gnu*"))
        env = {**os.environ, "LD_LIBRARY_PATH": libraries}
        with open(self.top / "stderr.log", "ab") as log:
            self.process = subprocess.Popen([str(program()), "-p", str(self.top), "-c", str(self.top / "nginx.conf"),
                                             "-e", str(self.top / "error.log")],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
                                            preexec_fn=_die_with_parent)
        end = time.monotonic() + 30
        while True:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"nginx does not start\n{self.logs()}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return self
            except OSError:
                time.sleep(0.05)

    def restart(self, site):
        self.stop()
        self.write(site)
        return self.start()

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def lines(self, *words):
        """Of the access log: "STATUS CACHE METHOD URI"."""
        path = self.top / "access.log"
        text = path.read_text() if path.exists() else ""
        return [line for line in text.splitlines() if all(w in line for w in words)]

    def logs(self):
        return "".join(f"--- nginx {p.name}\n" + p.read_text(errors="replace")[-5000:]
                       for p in (self.top / n for n in ("stderr.log", "error.log", "access.log")) if p.exists())
