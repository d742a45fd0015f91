"""Servers of one owner, each with gillnetd and hub, that share a store."""
import select
import socket
import threading
import time

from store import BUILD, Folder, Ring, config, until  # noqa: F401
from mta import Mta
from test_cluster import Cluster


class Hosts:
    """with Hosts("alpha", "beta") as h: h.servers, h.redis; config: text for all of them."""

    def __init__(self, *names, text="", extra="", delay=None, is_cluster=False):
        """delay: seconds that the store's answers wait, by name of the server (a proxy)."""
        self.names, self.text, self.extra, self.delay, self.is_cluster = names, text, extra, delay or {}, is_cluster

    def __enter__(self):
        self.folder = Folder().__enter__()
        if self.is_cluster:
            self.cluster = Cluster(self.folder, 1500)
            self.redis = self.cluster.nodes[0]
        else:
            self.redis = self.folder.redis("appendonly yes", "appendfsync always").wait()
        mode = "cluster" if self.is_cluster else "single"
        self.slow = {n: Slow(self.redis.port, d) for n, d in self.delay.items()}
        port = {n: self.slow[n].port if n in self.slow else self.redis.port for n in self.names}
        self.ring = Ring(*self.names, kind="own",
                         config={n: self.text + config([f"127.0.0.1:{port[n]}"], mode, self.extra)
                                 for n in self.names})
        try:
            self.servers = self.ring.__enter__()
            for s in self.servers:
                s.daemon()
        except BaseException:
            self.__exit__(AssertionError, None, None)
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            if hasattr(self, "servers") or kind is None:
                self.ring.__exit__(kind, value, trace)
        finally:
            for s in self.slow.values():
                s.close()
            self.folder.__exit__()


class Slow:
    """A proxy before the store whose answers wait; while is_cut, nothing passes either way."""

    def __init__(self, port, seconds):
        self.target, self.seconds, self.is_open, self.is_cut = port, seconds, True, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while self.is_open:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.pass_on, args=(client, server), daemon=True).start()

    def pass_on(self, client, server):
        late = []  # (bytes, due)
        clock = threading.Event()
        threading.Thread(target=self.deliver, args=(client, late, clock), daemon=True).start()
        try:
            while self.is_open:
                if self.is_cut:
                    time.sleep(0.05)
                    continue
                for s in select.select([client, server], [], [], 0.1)[0]:
                    got = s.recv(65536)
                    if not got:
                        return
                    if s is client:
                        server.sendall(got)
                    else:
                        late.append((got, time.monotonic() + self.seconds))
                        clock.set()
        except OSError:
            pass
        finally:
            client.close()
            server.close()

    def deliver(self, client, late, clock):
        while self.is_open:
            clock.wait(1)
            clock.clear()
            while late:
                got, due = late[0]
                time.sleep(max(0, due - time.monotonic()))
                while self.is_cut and self.is_open:
                    time.sleep(0.05)
                late.pop(0)
                try:
                    client.sendall(got)
                except OSError:
                    return

    def close(self):
        self.is_open = False
        self.listener.close()


def send(server, sender, network=10, rcpts=1):
    """Symbols of a message of the sender that comes over SMTP from a network."""
    m = Mta(f"unix:{server.top}/{server.name}.sock")
    assert m.hello(address=f"192.0.{network}.10") == "c"
    answer = m.message(headers=(("From", f"<{sender}>"), ("Subject", "pills")), body=b"pills\r\n", sender=f"<{sender}>",
                       rcpts=rcpts)
    m.quit()
    return dict(answer.headers()).get("X-Gillnet-Symbols", "")


def row(server, sender):
    """What the server knows of the sender's counts."""
    rows = server.json("lookup", f"envelope_from:{sender}", rc=None)
    return next((r for r in rows if "counted_as" in r), {})


def seen(server, sender, window="w1d"):
    return row(server, sender).get(window, 0)


def harmful(server, sender, window="w1d"):
    got = row(server, sender)
    return got.get("counts", got).get(window, 0)


def wait_seen(server, sender, n, what="", seconds=60):
    until(lambda: seen(server, sender) == n, f"{n} of {sender} at {server.name} {what}", seconds=seconds,
          log=lambda: f"{row(server, sender)}\n{server.logs()}")
