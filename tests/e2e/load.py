"""load - eight SMTP clients at once, while a test replaces gillnetd."""

import threading

import message
import proc

OWN = "x-gillnet-status"
RCPT = "load@rcpt.example"
PER_CONNECTION = (1, 1, 1, 1, 5, 10, 20, 40)  # messages of one SMTP connection, by client
UNEXAMINED_MAX = 8  # of 10,000


class Load:
    """Eight clients that send count messages; how they were answered."""

    def __init__(self, mta, count):
        self.mta, self.count, self.left, self.sent = mta, count, count, 0
        self.replies = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(n,)) for n in PER_CONNECTION]
        for thread in self.threads:
            thread.start()

    def turn(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def run(self, per_connection):
        more = self.turn()
        while more:
            try:
                with self.mta.client() as client:
                    for _ in range(per_connection):
                        self.note(client.send(message.build(), rcpt=RCPT))
                        more = self.turn()
                        if not more:
                            break
            except Exception as e:  # a connection refused or cut is an answer, too
                self.note(repr(e))
                more = self.turn()

    def note(self, reply):
        with self.lock:
            self.sent += 1
            self.replies.append(reply)

    def wait_for(self, n):
        proc.wait_for("%d messages" % n, lambda: self.sent >= n, 300)

    def judge(self, what):
        """Waits for the end: each message was accepted, arrived, and (but for UNEXAMINED_MAX of 10,000) was marked."""
        for thread in self.threads:
            thread.join()
        bad = [r for r in self.replies if not r.startswith("250")]
        arrived = self.mta.sink.wait(RCPT, self.count - len(bad))
        unexamined = sum(OWN not in message.names(m) for m in arrived)
        print("%s: %d sent, %d deferred or refused, %d lost, %d unexamined"
              % (what, self.sent, len(bad), self.count - len(bad) - len(arrived), unexamined))
        assert not bad, (len(bad), bad[:3])
        assert len(arrived) == self.count
        assert unexamined <= UNEXAMINED_MAX * self.count // 10000, unexamined
