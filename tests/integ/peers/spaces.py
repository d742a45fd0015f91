"""Network namespaces joined by a bridge that loses packets and cuts servers off; all of it goes with the test.

The kernel's netem is not everywhere; nftables on the bridge loses just as well, in one place and counted.
"""
import json
import os
import subprocess
import sys

NET = "10.77.0"
HERE = 254


def enter():
    """Starts the program again in namespaces of its own (network, mounts, processes), which nothing outlives."""
    if os.environ.get("GILLNET_SPACES") != "1":
        if os.geteuid() != 0:
            print("needs root: network namespaces", file=sys.stderr)
            sys.exit(1)
        os.environ["GILLNET_SPACES"] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                              sys.executable, "-B", *sys.argv])


def run(*args, text=None):
    p = subprocess.run(args, input=text, capture_output=True, text=True)
    if p.returncode != 0:
        raise AssertionError(f"{' '.join(args)}: {p.stderr}{text or ''}")
    return p.stdout


class Spaces:
    """A namespace for each name, with the address of its place in the list."""

    def __init__(self, names):
        self.names = list(names)
        os.makedirs("/run/netns", exist_ok=True)
        run("mount", "-t", "tmpfs", "none", "/run/netns")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "ring", "type", "bridge")
        run("ip", "address", "add", f"{NET}.{HERE}/24", "dev", "ring")  # of the test: nothing is lost on its way
        run("ip", "link", "set", "ring", "up")
        for name in self.names:
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"to-{name}", "master", "ring", "up")
            for words in (["address", "add", f"{self.host(name)}/24", "dev", "eth0"],
                          ["link", "set", "lo", "up"], ["link", "set", "eth0", "up"]):
                run("ip", "-n", name, *words)
        self.lost = self.cut = 0

    def remove(self):
        for name in self.names:
            run("ip", "netns", "del", name)
        run("ip", "link", "del", "ring")
        run("umount", "/run/netns")
        run("nft", "delete", "table", "bridge", "weather")

    def host(self, name):
        return f"{NET}.{self.names.index(name) + 1}"

    def enter(self, name):
        return ["nsenter", f"--net=/run/netns/{name}"]

    def weather(self, percent=0, groups=(), cut_from_here=None):
        """Each packet between two servers is lost with this chance, and all between servers of different groups.
        cut_from_here: then also each packet between them and the test, and all of these servers."""
        self.count()
        rules = [f"numgen random mod 100 < {percent} counter name lost drop"]
        for a in groups:
            for b in groups:
                if a is not b:
                    rules.append(f"iifname {self.links(a)} oifname {self.links(b)} counter name cut drop")
        body = "\n".join(reversed(rules))
        ends = "" if cut_from_here is None else self.ends(rules[0], cut_from_here)
        run("nft", "-f", "-", text=f"""
table bridge weather {{ }}
delete table bridge weather
table bridge weather {{
    counter lost {{ }}
    counter cut {{ }}
    chain forward {{
        type filter hook forward priority 0; policy accept;
        {body}
    }}
    {ends}
}}
""")

    def ends(self, loss, names):
        """The chains of what the test itself gets and sends."""
        return "".join(f"""
    chain {hook} {{
        type filter hook {hook} priority 0; policy accept;
        {f'{way} {self.links(names)} counter name cut drop' if names else ''}
        {loss}
    }}""" for hook, way in (("input", "iifname"), ("output", "oifname")))

    def links(self, names):
        return "{ " + ", ".join(f'"to-{n}"' for n in names) + " }"

    def count(self):
        """Adds to lost and cut what the rules of now have dropped."""
        p = subprocess.run(["nft", "-j", "list", "counters"], capture_output=True, text=True)
        for row in json.loads(p.stdout or "{}").get("nftables", []):
            c = row.get("counter")
            if c and c["table"] == "weather":
                setattr(self, c["name"], getattr(self, c["name"]) + c["packets"])

    def link(self, name, is_up):
        run("ip", "link", "set", f"to-{name}", "up" if is_up else "down")
