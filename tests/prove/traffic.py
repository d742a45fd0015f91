"""Mail as a day brings it, compressed: who sends what and when; and the sink that writes down what arrived."""
import math
import queue
import random
import re
import threading
import time

from sites import MAIL_HEADER, TOP
import datafolder
import message
from smtp import Client, Sink, SmtpError, dot_stuff, to_crlf

SPAM_SHARE = 0.25
PLANTED = {True: 0.6, False: 0.25}  # share of spam and of ham with such a URL: on a list, or not on any
SIZE_MAX = 200000  # of a message of the corpus
WORKERS = 24
TRIES, AGAIN_S = 20, 3  # of a message that is deferred
# Fields of a message that cannot have a link in front of its body.
NO_TEXT = re.compile(rb"^content-(type:\s*(?!text/(plain|html))|transfer-encoding:\s*base64)|charset=\W*utf-?16", re.I | re.M)


class Mailbag:
    """Real mail, made unique by an id, with a URL in front of its text where one is given."""

    def __init__(self, work):
        self.files = {False: [], True: []}
        if datafolder.corpus():
            for path in sorted(datafolder.corpus().rglob("*")):
                if path.is_file() and path.parent != datafolder.corpus():
                    self.files["spam" in path.parent.name].append(path)
        if datafolder.folder():
            for is_spam, name in ((False, "mail/ham"), (True, "mail/spam")):
                self.files[is_spam] += datafolder.messages(datafolder.mail_folder(datafolder.folder(), name, work))
        if not self.files[True]:
            own = TOP / "tests/data/mail"
            self.files = {False: [own / "clean.eml"], True: [own / "clean.eml"]}
        for kind, files in self.files.items():
            self.files[kind] = [f for f in files if f.stat().st_size <= SIZE_MAX and f.name != "cmds"]

    def message(self, chooser, identity, is_spam, url=None):
        while True:
            raw = to_crlf(chooser.choice(self.files[is_spam]).read_bytes())
            raw = re.sub(rb"\AFrom [^\n]*\n", b"", raw)
            head, gap, body = raw.partition(b"\r\n\r\n")
            if gap and not (url and NO_TEXT.search(head)):
                break
        head = re.sub(rb"^(message-id|x-prove-id):[^\n]*\n([ \t][^\n]*\n)*", b"", head + b"\r\n", flags=re.I | re.M)
        own = f"X-Prove-Id: {identity}\r\nMessage-ID: <{identity}@prove.example>\r\n".encode()
        link = b""
        if url:
            link = b'<a href="%s">go</a>\r\n' if re.search(rb"^content-type:\s*text/html", head, re.I | re.M) else b"%s\r\n"
            link %= url.encode()
        return own + head + b"\r\n" + link + body


class RecordingSink(Sink):
    """Keeps nothing but a line of the ledger for each message, which is on disk before the MTA hears 250."""

    def __init__(self, ledger):
        super().__init__()
        self.ledger = ledger

    def keep(self, _sender, rcpts, raw):
        found = MAIL_HEADER.search(raw)
        if found:
            self.ledger.write("arrived", id=found[1].decode(), **seen(raw))


def seen(raw):
    """What gillnetd wrote on a message."""
    head = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0].replace(b"\n", b"\r\n") + b"\r\n\r\n"
    status = message.values(head, "X-Gillnet-Status")
    return {"symbols": " ".join(message.values(head, "X-Gillnet-Symbols")),
            "examined": bool(status) and status[0].startswith(("Yes,", "No,"))}


class Day:
    """Rate of mail over a day that is compressed into seconds: a fifth of the mean at night, 1.8 of it at noon, and
    once a day, at a time that the seed says, ten times the rate of then for a thirtieth of the day."""

    SPIKE, SPIKE_SHARE = 10, 1 / 30

    def __init__(self, mean, seconds, seed):
        self.mean, self.seconds, self.seed = mean, seconds, seed

    def rate(self, at):
        """(messages a second, name of the time of day) at seconds since the begin."""
        day, place = divmod(at / self.seconds, 1)
        rate = self.mean * (1 - 0.8 * math.cos(2 * math.pi * place))
        begin = random.Random(f"{self.seed}/{day}").uniform(0.3, 0.7)
        if begin <= place < begin + self.SPIKE_SHARE:
            return rate * self.SPIKE, "spike"
        return rate, ("night", "morning", "noon", "evening")[int((place + 1 / 8) % 1 * 4)]


class Traffic:
    """Sends until stop(); arrivals are random and do not wait for each other."""

    def __init__(self, ledger, mtas, lists, bag, day, seed, prefix):
        """mtas: {site: MTA}; lists: what changes.Lists knows of values; prefix: of all ids."""
        self.ledger, self.mtas, self.lists, self.bag, self.day = ledger, mtas, lists, bag, day
        self.chooser, self.prefix = random.Random(seed), prefix
        self.waiting = queue.Queue()
        self.latencies, self.lock = [], threading.Lock()  # (time of day, seconds) since the last take
        self.sent = 0
        self.reported = []  # (site, raw, is spam) of some accepted mail, for reports
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self._work) for _ in range(WORKERS)]
        self.clock = threading.Thread(target=self._arrive)

    def start(self):
        self.begun = time.monotonic()
        for thread in (*self.threads, self.clock):
            thread.start()

    def stop(self):
        """No new mail; what waits is sent, or deferred for good."""
        self.ending.set()
        self.clock.join()
        for _ in self.threads:
            self.waiting.put(None)
        for thread in self.threads:
            thread.join()

    def take(self):
        with self.lock:
            taken, self.latencies = self.latencies, []
        return taken

    def _arrive(self):
        due = 0.0
        while not self.ending.is_set():
            rate, time_of_day = self.day.rate(due)
            due += self.chooser.expovariate(rate)
            if self.ending.wait(max(0, self.begun + due - time.monotonic())):
                return
            self.sent += 1
            self.waiting.put(self._mail(time_of_day))

    def _mail(self, time_of_day):
        is_spam = self.chooser.random() < SPAM_SHARE
        site = self.chooser.choice("aaab" if "b" in self.mtas else "a")
        name = value = url = None
        if self.chooser.random() < PLANTED[is_spam]:
            name, value = self.lists.value(self.chooser, is_spam)
            url = value if "//" in value else f"http://{value}/{self.sent}/"
        identity = f"{self.prefix}-{self.sent}"
        return {"id": identity, "site": site, "value": value, "list": name, "spike": time_of_day == "spike",
                "when": time_of_day, "spam": is_spam, "tries": 0,
                "raw": self.bag.message(self.chooser, identity, is_spam, url),
                "sender": f"s{self.chooser.randrange(400)}@sender{self.chooser.randrange(80)}.example",
                "rcpt": f"u{self.chooser.randrange(300)}@rcpt.example"}

    def _work(self):
        while (mail := self.waiting.get()) is not None:
            self._send(mail)

    def _send(self, mail):
        mail["tries"] += 1
        self.ledger.write("mail", **{k: mail[k] for k in ("id", "site", "value", "list", "spike")})
        code, text = self._converse(mail)
        self.ledger.write("reply", id=mail["id"], code=code, text=text)
        if code == 250 and self.chooser.random() < 0.05:
            self.reported.append(mail)
        if 400 <= code < 500 and mail["tries"] < TRIES:
            time.sleep(AGAIN_S)
            self._send(mail)

    def _converse(self, mail):
        """(code, text) of the reply that decides; 0 where it never came, 421 where nothing was sent."""
        asked = False
        try:
            with Client(self.mtas[mail["site"]].port) as client:
                client.ehlo()
                for text in (f"MAIL FROM:<{mail['sender']}>", f"RCPT TO:<{mail['rcpt']}>", "DATA"):
                    reply = client.command(text)
                    if reply[:1] not in "23":
                        return int(reply[:3]), reply
                asked = True
                begun = time.monotonic()
                client.sock.sendall(dot_stuff(mail["raw"]))
                reply = client.reply()
                with self.lock:
                    self.latencies.append((mail["when"], time.monotonic() - begun))
                return int(reply[:3]), reply
        except (OSError, SmtpError, ValueError) as why:
            return (0 if asked else 421), repr(why)
