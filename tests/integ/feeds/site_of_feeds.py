"""A web server whose answers a test says, a proxy, and certificates: for feeds."""
import base64
import contextlib
import datetime
import http.server
import os
import pathlib
import select
import socket
import ssl
import subprocess
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server.site
        with site.lock:
            site.asked.append((self.path, dict(self.headers)))
        try:
            site.pages[self.path.split("?")[0]](self)
        except KeyError:
            self.say(404, b"not here\n")
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def say(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), str(value))
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data):
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


class Site:
    """pages: path -> function of the handler. text() makes a page that knows conditions."""

    def __init__(self, tls=None):
        self.lock = threading.Lock()
        self.asked = []
        self.pages = {}
        self.end = threading.Event()  # what hangs ends with the test
        self.http = Server(("127.0.0.1", 0), Handler)
        self.http.site = self
        self.port = self.http.server_address[1]
        self.scheme = "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme = "https"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path="/feed.txt", host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def text(self, body, path="/feed.txt", tag=None, modified=None, **fields):
        def page(h):
            if tag and h.headers.get("If-None-Match") == tag:
                return h.say(304, ETag=tag)
            if modified and not tag and h.headers.get("If-Modified-Since") == modified:
                return h.say(304, Last_Modified=modified)
            more = dict(fields)
            if tag:
                more["ETag"] = tag
            if modified:
                more["Last_Modified"] = modified
            return h.say(200, body if isinstance(body, bytes) else body.encode(), **more)
        self.pages[path] = page

    def close(self):
        self.end.set()
        self.http.shutdown()
        self.http.server_close()


class Proxy:
    """CONNECT, and plain requests with the whole address; knows who came through."""

    def __init__(self):
        self.asked = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                got = connection.recv(4096)
                if not got:
                    return
                head += got
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            self.asked.append((method, target))
            if method == "CONNECT":
                host, port = target.rsplit(":", 1)
                with socket.create_connection(("127.0.0.1", int(port)), 20) as to:
                    connection.sendall(b"HTTP/1.1 200 go on\r\n\r\n")
                    self.carry(connection, to)
                return
            place, _, path = target.split("://")[1].partition("/")
            with socket.create_connection(("127.0.0.1", int(place.rsplit(":", 1)[1])), 20) as to:
                to.sendall(head.replace(target.encode(), b"/" + path.encode(), 1))
                self.carry(connection, to)

    def carry(self, a, b):
        with contextlib.suppress(ConnectionError):  # either side may break off
            while True:
                for s in select.select([a, b], [], [], 20)[0]:
                    got = s.recv(65536)
                    if not got:
                        return
                    (b if s is a else a).sendall(got)

    def close(self):
        self.socket.close()


def certificates(folder):
    """An authority, and the certificates it made: {name: (chain, key)}; "ca": its file."""
    folder = pathlib.Path(folder)

    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True, timeout=60, cwd=folder)

    made = {"ca": folder / "ca.pem"}
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
            "-out", "ca.pem", "-days", "30", "-subj", "/CN=an authority")
    for name, host, days in (("good", "IP:127.0.0.1,DNS:feeds.example", "30"), ("wrong_name", "DNS:other.example", "30"),
                             ("expired", "IP:127.0.0.1", "-1"), ("unknown", "IP:127.0.0.1", "30")):
        (folder / "ext").write_text(f"subjectAltName={host}\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
                "-out", f"{name}.csr", "-subj", f"/CN={name}")
        if name == "unknown":
            openssl("x509", "-req", "-in", f"{name}.csr", "-signkey", f"{name}.key", "-out", f"{name}.pem", "-days", days,
                    "-extfile", "ext")
        else:
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                    "-out", f"{name}.pem", "-days", days, "-extfile", "ext")
        made[name] = (folder / f"{name}.pem", folder / f"{name}.key")
    return made


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
