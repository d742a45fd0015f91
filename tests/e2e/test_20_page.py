"""The page as an administrator uses it all day: ten tasks and pictures, with a real MTA.

GILLNET_PICTURES names a folder: then pictures of each view are left there (contrib/page-pictures).
"""

import os
import subprocess

import message
import proc
import test_14_quarantine as quarantine

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
REFUSED = "refused.example"
OFFER = ("Our spring offer for every garden is here. Order until Sunday and we send the seeds, the soil and the tools for free.\r\n"
         "Twelve kinds of beans, nine kinds of tomatoes, and roses that flower until the first snow of the year comes.\r\n")


class Office(quarantine.Site):
    """A site with mail of each kind, made up."""

    lists = [("phish", 5.0, [message.LISTED]), ("refuse", 9.0, [REFUSED]), ("stale", 3.0, ["never-seen.example"]), ("allow", 0, [])]
    settings = ("thresholds = { header = 2.0; quarantine = 4.0; reject = 8.0; };\n"
                "journal = { subjects = true; addresses = true; };\n"
                "rules = ( { name = \"free\"; score = 2.5; description = \"something is free\"; all = ( { text = \"for free\"; } ); } );\n")

    def fill(self):
        """The queue id of the one message that is held by mistake."""
        for i in range(6):
            self.mta.send(message.build("Minutes of meeting %d" % i, body="See you on Monday.\r\n"), rcpt="ann@rcpt.example")
        for i in range(8):
            self.mta.send(message.build("Spring offer", body=OFFER + "Garden %d\r\n" % i), sender="news@garden.example",
                          rcpt="reader%d@rcpt.example" % i)
        reply = self.mta.send(message.build("Your account is blocked", url="http://%s/login" % REFUSED), sender="bank@fake.example")
        assert reply.startswith("5"), reply
        for i in range(3):
            self.hold("Confirm your password %d" % i, rcpt="bob@rcpt.example")
        return self.hold("Invoice of your builder", sender="builder@honest.example", rcpt="ann@rcpt.example")

    def walk(self, script, asked, **env):
        """Runs a script in Chromium; a line "@WORD" of it is a request to asked[WORD], after which it goes on."""
        env = dict(os.environ, GILLNET_BROWSER=os.environ.get("GILLNET_BROWSER", os.path.join(ROOT, "build/browser")),
                   GILLNET_SHOTS=os.environ.get("GILLNET_SHOTS", os.path.join(ROOT, "build/page-shots")), **env)
        said = []
        with subprocess.Popen(["node", os.path.join(HERE, script), "http://127.0.0.1:%d/" % self.port], env=env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
            for line in p.stdout:
                if line.startswith("@"):
                    asked[line[1:].strip()]()
                    p.stdin.write("done\n")
                    p.stdin.flush()
                else:
                    said.append(line)
                    print(line, end="", flush=True)
        assert p.returncode == 0, "".join(said)[-8000:]


def office(env):
    site = Office(env)
    site.start_helper()
    return site


def test_tasks__of_a_day__each_in_three_clicks_and_a_search(env):
    with office(env) as site:
        mistake = site.fill()
        token = site.token("admin")
        site.start_hub()

        def is_delivered():
            quarantine.delivered(site, "ann@rcpt.example", 7)
            assert mistake not in site.mta.held()

        site.walk("tasks.mjs", {"delivered": is_delivered}, GILLNET_TOKEN=token, GILLNET_HELD=mistake)


def test_pictures__of_each_view__are_made(env):
    with office(env) as site:
        mistake = site.fill()
        site.g.cli("report", "ham", "--id", mistake)
        site.g.cli("user", "set", "ann@rcpt.example", "sensitivity=high", "allow.addresses=builder@honest.example")
        token = site.token("admin")
        site.start_hub()
        folder = os.environ.get("GILLNET_PICTURES") or proc.scratch("pictures")
        site.walk("pictures.mjs", {}, GILLNET_TOKEN=token, GILLNET_PICTURES=folder)
        made = os.listdir(folder)
        assert {name.rsplit("-", 1)[1] for name in made} == {"light.webp", "dark.webp", "phone.webp"}, made
        assert len(made) >= 30, made
