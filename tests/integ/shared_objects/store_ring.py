"""Three servers of one owner whose hubs share a store and cannot reach each other."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/integ/peers"), str(ROOT / "tests/integ/redis")]
from ring import Ring, until  # noqa: E402
from mta import Mta  # noqa: E402

LISTS = 'lists = ( { name = "phish"; category = "phish"; weight = 9.0; share = "entries"; } );\n'
APART = 'hub = { listen = "off"; };\n'
NAMES = ("alpha", "beta", "gamma")


def store(*servers, mode="single", more=""):
    quoted = ", ".join(f'"{s}"' for s in servers)
    return f'store = {{ kind = "redis"; mode = "{mode}"; servers = [ {quoted} ]; {more} }};\n'


class Apart:
    """A ring whose servers joined over the network once; since then they only have the store."""

    def __init__(self, config, names=NAMES, daemons=True, lists=LISTS):
        self.config, self.names, self.daemons, self.lists = config, names, daemons, lists
        self.ring = Ring(*names, kind="own", config={n: lists for n in names})

    def __enter__(self):
        servers = self.ring.__enter__()
        try:
            until(lambda: all(len(s.connected()) == len(servers) - 1 for s in servers), "all of them", log=servers[0].logs)
            for s in servers:
                s.stop()
                s.write(self.lists + APART + self.config)
            for s in servers:
                s.hub()
                if self.daemons:
                    s.daemon()
        except BaseException:
            self.ring.__exit__(AssertionError, None, None)
            raise
        return servers

    def __exit__(self, *how):
        self.ring.__exit__(*how)


def symbols(server, host):
    """Of a message with a link to that host, as gillnetd judges it."""
    m = Mta(f"unix:{server.top}/{server.name}.sock")
    m.hello()
    answer = m.message(headers=[("From", "Bob <bob@shop.example>"), ("Subject", "x"), ("Message-ID", f"<{host}@x.example>")],
                       body=f"Look here: http://{host}/a/b\r\n".encode(), sender="<a@sender.example>")
    m.quit()
    return dict(answer.headers()).get("X-Gillnet-Symbols", "")


def in_force(server, host):
    return "LIST_PHISH(9.0)" in symbols(server, host)


def listed(server, host):
    """As a command reads it from the disk."""
    rows = server.json("lookup", f"url_host:{host}", rc=None)
    return any(r.get("status") == "confirmed" for r in rows)


def add(server, *hosts):
    server.run("list", "add", "--create", "phish", "--type", "url_host", *hosts)


def revoke(server, *hosts):
    server.run("list", "revoke", "phish", "--type", "url_host", *hosts, rc=None)  # 1: the server did not list it itself


def logs(servers):
    return lambda: "".join(s.logs() for s in servers)
