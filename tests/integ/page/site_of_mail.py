"""A site whose mail sets every text that mail can set to a script, and the walk through the views that show mail."""
import json
import pathlib
import socket
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests/integ/milter"))
from mta import Mta  # noqa: E402


class Queue:
    """Answers as gillnet-queue does, for a hub that no MTA stands behind; held: the rows, text: of each message."""

    def __init__(self, path, held, text):
        self.held, self.text = held, text
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def answer(self, word, queue_id):
        if word == "list":
            return "ok\n" + "".join(json.dumps(row) + "\n" for row in self.held)
        if queue_id not in [row["id"] for row in self.held]:
            return f"error no message {queue_id} is held\n"
        if word != "show":
            self.held = [row for row in self.held if row["id"] != queue_id]
        return "ok\n" + (self.text if word == "show" else "")

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                line = connection.makefile().readline().rstrip("\n")
                connection.sendall(self.answer(*line.partition(" ")[::2]).encode())


def held(i, **more):
    return {"id": f"4XnYx31tq8z1F{i:02}", "time_s": 1795833447 + i, "bytes": 384, "sender": f"a{i}@sender.example",
            "recipients": [f"b{i}@here.example"], "nrcpt": 1, "from": f"A{i} <a{i}@sender.example>", "subject": f"bill {i}",
            "reason": "", "symbols": "LIST_PHISH(5.0)", "case": "", "score": 5.0 + i, "gillnet": True, **more}


# ---- hostile texts ----

def script(name):
    """A text that runs as a script wherever it enters as markup, as an address or as a handler."""
    return f"\"><img src=x onerror=canary('{name}')><script>canary('{name}')</script><svg/onload=canary('{name}')>' onmouseover=canary('{name}') {{{{7*7}}}}"


REVERSED = "\u202egnp.exe\u202c\u200b\u2066"
LONG = "w" * 998
FIELDS = ["Subject", "From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Return-Path", "Message-ID", "In-Reply-To", "References", "Date", "Received",
          "List-Id", "List-Unsubscribe", "List-Post", "List-Archive", "X-Mailer", "User-Agent", "Organization", "Comments", "Keywords", "Importance",
          "X-Priority", "Precedence", "Auto-Submitted", "Content-Description", "Content-ID", "Content-Location", "Content-Language", "Thread-Topic",
          "Authentication-Results", "ARC-Authentication-Results", "ARC-Seal", "DKIM-Signature", "Received-SPF", "X-Originating-IP", "X-Spam-Status",
          "X-Gillnet-Status", "X-Gillnet-Symbols", "Feedback-ID", "Errors-To", "Disposition-Notification-To", "MIME-Version"]


def plain(**headers):
    return [("From", "Al <a@sender.example>"), ("Subject", "hello"), *headers.items()]


def hostile():
    """(name of the text, arguments of Mta.hello, arguments of Mta.message)."""
    for name in FIELDS:
        evil = script(name)
        usual = [h for h in plain() if h[0] != name]
        value = f"{evil} <a@sender.example>" if name in ("From", "To", "Sender", "Reply-To", "Cc") else f"<{evil}@sender.example>" if name == "Message-ID" else evil
        yield name, {}, {"headers": [*usual, (name, value)], "body": b"see http://evil.example/pay\r\n"}
    yield "field name", {}, {"headers": plain(**{"X-<script>canary('name')</script>": "x"})}
    yield "From address", {}, {"headers": [("From", "<\"<script>canary('local')</script>\"@sender.example>"), ("Subject", "x")]}
    yield "From domain", {}, {"headers": [("From", "<a@<img/src=x/onerror=canary('domain')>.example>"), ("Subject", "x")]}
    yield "envelope sender", {}, {"headers": plain(), "sender": "<\"<script>canary('envelope')</script>\"@sender.example>"}
    yield "recipient", {}, {"headers": plain(), "to": "<\"<img/src=x/onerror=canary('rcpt')>\"@here.example>"}
    yield "HELO", {"helo": "<script>canary('helo')</script>.example"}, {"headers": plain()}
    yield "client name", {"name": "<script>canary('ptr')</script>.example"}, {"headers": plain()}
    yield "queue id", {}, {"headers": plain(), "queue_id": "<img/src=x/onerror=canary('queue')>"}
    for name in ("Subject", "From"):
        yield f"{name}, encoded", {}, {"headers": [h for h in plain() if h[0] != name]
                                       + [(name, "=?utf-8?q?" + "".join(f"={b:02X}" for b in script(f"encoded {name}").encode())[:900] + "?= <a@sender.example>")]}
    yield "Subject, reversed", {}, {"headers": [("From", "a@sender.example"), ("Subject", f"{script('reversed')} {REVERSED}")]}
    yield "Subject, long", {}, {"headers": [("From", "a@sender.example"), ("Subject", LONG)]}
    yield "Subject, Latin-1", {}, {"headers": [("From", "a@sender.example"), ("Subject", b"\xe9\xff<script>canary('latin')</script>")]}
    evil = script("part").encode()
    parts = {
        "text": b"Content-Type: text/plain\r\n\r\n" + evil,
        "HTML": b"Content-Type: text/html\r\n\r\n<title>" + evil + b"</title><p title='" + evil + b"'>" + evil,
        "link": b"Content-Type: text/html\r\n\r\n<a href=\"javascript:canary('link')\">x</a> <a href=\"http://evil.example/<script>canary('path')</script>?q=<img/src=x/onerror=canary('query')>#<svg/onload=canary('fragment')>\">y</a>",
        "host": b"Content-Type: text/plain\r\n\r\nhttp://<img/src=x/onerror=canary('host')>.evil.example/",
        "address": b"Content-Type: text/html\r\n\r\n<a href=\"mailto:<script>canary('mailto')</script>@evil.example\">x</a> <a href=\"tel:<script>canary('tel')</script>\">y</a>",
        "attachment name": b"Content-Type: application/zip; name=\"<script>canary('name')</script>.zip\"\r\nContent-Disposition: attachment; filename=\"<img/src=x/onerror=canary('file')>.zip\"\r\n\r\nPK\x03\x04 " + evil,
        "attachment type": b"Content-Type: <script>canary('type')</script>/x\r\nContent-Disposition: attachment; filename=x\r\n\r\nabc " + evil,
        "charset": b"Content-Type: text/plain; charset=\"<script>canary('charset')</script>\"\r\n\r\nabc",
        "encoding": b"Content-Type: text/plain\r\nContent-Transfer-Encoding: <script>canary('cte')</script>\r\n\r\nabc",
        "message in it": b"Content-Type: message/rfc822\r\n\r\nSubject: <script>canary('inner')</script>\r\nFrom: <script>canary('inner')</script> <x@y.example>\r\n\r\nabc",
    }
    for name, part in parts.items():
        yield f"part: {name}", {}, {"headers": plain(**{"Content-Type": "multipart/mixed; boundary=\"b\""}), "body": b"--b\r\n" + part + b"\r\n--b--\r\n"}
    yield "boundary", {}, {"headers": plain(**{"Content-Type": "multipart/mixed; boundary=\"<script>canary('boundary')</script>\""}),
                           "body": b"--<script>canary('boundary')</script>\r\nContent-Type: text/plain\r\n\r\nabc\r\n--<script>canary('boundary')</script>--\r\n"}


# Values on lists, so that they stand in the evidence of a message.
LISTED = ["evil.example", "http://evil.example/<script>canary('path')</script>?q=<img/src=x/onerror=canary('query')>", f"subject:{script('Subject')}",
          "attachment_name:<img/src=x/onerror=canary('file')>.zip", f"display_name:{script('From')}"]


def send(socket_path, greeting, mail):
    m = Mta(f"unix:{socket_path}")
    m.hello(**greeting)
    m.mail(mail.get("sender", "<a@sender.example>"))
    m.rcpt(mail.get("to", "<b@here.example>"))
    m.data(mail.get("queue_id"))
    for name, value in mail["headers"]:
        m.header(name, value)
    m.end_headers()
    m.body(mail.get("body", b"hello there\r\n"))
    m.end()
    m.quit()


def raw(mail):
    """The message as bytes, for the page's examination."""
    head = b"".join(n.encode() + b": " + (v if isinstance(v, bytes) else v.encode()) + b"\r\n" for n, v in mail["headers"])
    return head + b"\r\n" + mail.get("body", b"hello there\r\n")
