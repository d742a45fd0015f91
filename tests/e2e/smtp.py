"""smtp - a client that sends exactly the bytes it is given, and a sink that keeps what it gets.

Both are deliberately plain: no library between a test and the wire may change a byte.
"""

import socket
import socketserver
import threading

CRLF = b"\r\n"


class SmtpError(Exception):
    pass


def dot_stuff(message):
    """The DATA form of a message with CRLF line ends, final dot included."""
    if message and not message.endswith(CRLF):
        message += CRLF
    if message.startswith(b"."):
        message = b"." + message
    return message.replace(b"\r\n.", b"\r\n..") + b".\r\n"


def to_crlf(raw):
    """Line ends of a file as an MTA sends them; bare CRs too, which SMTP does not allow."""
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", CRLF)


class Client:
    """One SMTP connection. Every command returns its reply as "250 2.0.0 text" lines joined."""

    def __init__(self, port, host="127.0.0.1", source=None, timeout=60):
        self.sock = socket.create_connection(
            (host, port), timeout, source_address=(source, 0) if source else None
        )
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.sock.makefile("rb")
        self.banner = self.reply()

    def reply(self):
        lines = []
        while True:
            line = self.file.readline()
            if not line:
                raise SmtpError("connection closed after %r" % lines)
            lines.append(line.rstrip(CRLF).decode("latin-1"))
            if line[3:4] != b"-":
                return "\n".join(lines)

    def command(self, text):
        self.sock.sendall(text.encode("latin-1") + CRLF)
        return self.reply()

    def expect(self, text, code="2"):
        reply = self.command(text)
        if not reply.startswith(code):
            raise SmtpError("%s: %s" % (text, reply))
        return reply

    def ehlo(self, name="client.example"):
        return self.expect("EHLO " + name)

    def data(self, message):
        """After MAIL and RCPT: the message (CRLF) and the reply to its end."""
        self.expect("DATA", "354")
        self.sock.sendall(dot_stuff(message))
        return self.reply()

    def send(self, message, sender="alice@sender.example", rcpt="bob@rcpt.example"):
        """One transaction; the first reply that is not good ends it and is returned."""
        rcpts = [rcpt] if isinstance(rcpt, str) else rcpt
        for text in ["MAIL FROM:<%s>" % sender] + ["RCPT TO:<%s>" % r for r in rcpts]:
            reply = self.command(text)
            if not reply.startswith("2"):
                self.command("RSET")
                return reply
        reply = self.command("DATA")
        if not reply.startswith("354"):
            self.command("RSET")
            return reply
        self.sock.sendall(dot_stuff(message))
        return self.reply()

    def close(self):
        try:
            self.command("QUIT")
        except (OSError, SmtpError):
            pass
        self.drop()

    def drop(self):
        """Ends the connection as a client that vanishes."""
        self.file.close()
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _SinkHandler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    wbufsize = 0

    def say(self, line):
        self.wfile.write(line + CRLF)

    def handle(self):
        try:
            self.converse()
        except ConnectionError:
            pass  # the MTA was stopped; what was answered is kept

    def converse(self):
        sink = self.server.sink
        sender, rcpts = b"", []
        self.say(b"220 sink.example ESMTP")
        while True:
            line = self.rfile.readline()
            if not line:
                return
            verb = line[:4].upper()
            if verb == b"EHLO":
                self.wfile.write(b"250-sink.example\r\n250-8BITMIME\r\n250 SIZE 0\r\n")
            elif verb == b"MAIL":
                sender, rcpts = line, []
                self.say(b"250 2.1.0 ok")
            elif verb == b"RCPT":
                rcpts.append(line.split(b"<", 1)[1].split(b">")[0].decode("latin-1"))
                self.say(b"250 2.1.5 ok")
            elif verb == b"DATA":
                self.say(b"354 go on")
                sink.keep(sender, rcpts, self.read_message())
                self.say(b"250 2.0.0 kept")
            elif verb == b"QUIT":
                self.say(b"221 2.0.0 bye")
                return
            else:
                self.say(b"250 2.0.0 ok")

    def read_message(self):
        lines = []
        while True:
            line = self.rfile.readline()
            if not line or line == b".\r\n":
                return b"".join(lines)
            lines.append(line[1:] if line.startswith(b".") else line)


class _SinkServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


class Sink:
    """Takes every message and keeps it, byte for byte, under each of its recipients."""

    def __init__(self):
        self.lock = threading.Condition()
        self.messages = {}  # recipient -> [bytes]; guarded by lock
        self.server = _SinkServer(("127.0.0.1", 0), _SinkHandler)
        self.server.sink = self
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def keep(self, _sender, rcpts, message):
        with self.lock:
            for rcpt in rcpts:
                self.messages.setdefault(rcpt, []).append(message)
            self.lock.notify_all()

    def wait(self, rcpt, count=1, timeout=10):
        """The messages for rcpt once there are count of them."""
        with self.lock:
            self.lock.wait_for(lambda: len(self.messages.get(rcpt, [])) >= count, timeout)
            found = list(self.messages.get(rcpt, []))
        if len(found) < count:
            raise SmtpError("%d of %d messages for %s arrived" % (len(found), count, rcpt))
        return found

    def wait_total(self, count, timeout):
        """True once count recipients have a message."""
        with self.lock:
            return self.lock.wait_for(lambda: len(self.messages) >= count, timeout)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
