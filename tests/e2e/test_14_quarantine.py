"""Held mail: listed, shown, released, deleted, and the digest with its links, with real queues."""

import email
import email.policy
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import threading

import gillnet
import message
import mta as mtas
import proc

# The rights that the unit gillnet-queue@.service leaves to root.
SANDBOX = ["setpriv", "--no-new-privs", "--bounding-set",
           "-all,+dac_override,+dac_read_search,+fowner,+chown,+setuid,+setgid"]
HOLD = "thresholds = { header = 2.0; quarantine = 4.0; };\n"


class Helper:
    """gillnet-queue as systemd starts it: one process for each connection."""

    def __init__(self, path, command, environment):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        os.chmod(path, 0o666)
        self.listener.listen(8)
        self.command, self.environment = command, environment
        self.log = b""
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # closed
            with connection:
                done = subprocess.run(self.command, env=self.environment, stdin=connection, stdout=connection,
                                      stderr=subprocess.PIPE, timeout=60)
                self.log += done.stderr

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Site:
    """gillnetd and an MTA that holds listed mail; commands run as root, where the MTA runs."""

    lists = [("phish", 5.0, [message.LISTED])]
    settings = HOLD

    def __init__(self, env, more="", **kwargs):
        self.env = env
        self.port = proc.free_port()
        self.g = env.gillnet(lists=self.lists)
        self.mta = env.mta(self.g, **kwargs)
        if env.is_postfix():
            programs, place = mtas.program("usr/sbin"), self.mta.config
        else:
            programs = mtas.program("usr/libexec/sendmail")
            place = os.path.join(self.mta.folder, "sendmail.cf")
        self.queue = os.path.join(proc.socket_folder(), "queue.sock")
        self.tokens = os.path.join(self.g.folder, "tokens")
        self.helper = self.hub = None
        self.g.write_config(
            self.settings + 'api = { listen = [ "127.0.0.1:%d" ]; tokens_file = "%s"; };\n'
            'quarantine = { mta = "%s"; programs = "%s"; mta_config = "%s"; socket = "%s"; '
            'url = "http://127.0.0.1:%d"; from = "filter@rcpt.example"; %s };\n'
            % (self.port, self.tokens, env.kind, programs, place, self.queue, self.port, more))

    def command(self, program, *argv, sandbox=()):
        argv = [*sandbox, os.path.join(proc.BUILD, program), "-c", self.g.config, *argv]
        if not self.env.is_postfix():  # its host name and hosts file
            argv = ["nsenter", "--target", str(self.mta.child.pid), "--uts", "--mount", *argv]
        return argv

    def environment(self):
        return {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": mtas.LIBRARY_PATH}

    def run(self, *argv, status=0):
        done = subprocess.run(self.command("gillnet", "quarantine", *argv), timeout=60, env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == status, (argv, done)
        return done

    def rows(self, *argv):
        return [json.loads(line) for line in self.run("list", "--json", *argv).stdout.splitlines()]

    def hold(self, subject="listed", **kwargs):
        """Sends a message that is held; its queue id."""
        before = set(self.mta.held())
        reply = self.mta.send(message.listed(subject), **kwargs)
        assert reply.startswith("250"), reply
        (new,) = proc.wait_for("a held message", lambda: set(self.mta.held()) - before)
        self.g.verdict(new)
        return new

    def start_helper(self):
        self.helper = Helper(self.queue, self.command("gillnet-queue", sandbox=SANDBOX), self.environment())

    def start_hub(self):
        program = shutil.copy(os.path.join(proc.BUILD, "gillnet-hub"), gillnet.programs())
        with open(os.path.join(self.g.folder, "hub.log"), "wb") as log:
            self.hub = proc.spawn([program, "-f", "-c", self.g.config], stdout=log, stderr=log,
                                  user=gillnet.USER, group=gillnet.GROUP)
        proc.wait_for("the hub", lambda: proc.listens(self.port))

    def token(self, role):
        done = subprocess.run(self.command("gillnet-hub", "token", role, role), check=True, stdout=subprocess.PIPE)
        os.chmod(self.tokens, 0o640)
        shutil.chown(self.tokens, gillnet.USER, gillnet.GROUP)
        return done.stdout.decode().strip()

    def ask(self, method, path, body=None, **headers):
        """(status, head, body) of a request to the hub."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def digest(self, rcpt):
        """The one digest that a recipient got: (mail, text, {word: [path of a link]})."""
        (raw,) = delivered(self, rcpt, 1)
        mail = email.message_from_bytes(raw, policy=email.policy.default)
        text = mail.get_content()
        links = {}
        for word, path in re.findall(r"(Deliver|unwanted).*: +http://127.0.0.1:%d(/q/[0-9a-f]{32})" % self.port, text):
            links.setdefault(word, []).append(path)
        return mail, text, links

    def __enter__(self):
        self.g.start()
        self.mta.start()
        return self

    def __exit__(self, *arguments):
        if self.helper:
            self.helper.close()
        if self.hub:
            proc.stop(self.hub)
        self.mta.stop()
        self.g.__exit__(*arguments)


def delivered(site, rcpt, count):
    return proc.wait_for("%d messages for %s" % (count, rcpt),
                         lambda: len(site.mta.sink.messages.get(rcpt, [])) >= count
                         and site.mta.sink.messages[rcpt])


def test_list__a_message_is_held__has_its_evidence(env):
    with Site(env) as site:
        first = site.hold("one")
        second = site.hold("two", rcpt=["bob@rcpt.example", "ann@rcpt.example"])
        rows = site.rows()
        assert [r["id"] for r in rows] == [first, second] or {r["id"] for r in rows} == {first, second}
        row = next(r for r in rows if r["id"] == second)
        assert row["gillnet"] and row["sender"] == "alice@sender.example", row
        assert sorted(row["recipients"]) == ["ann@rcpt.example", "bob@rcpt.example"], row
        assert row["nrcpt"] == 2 and row["score"] == 5.0 and len(row["case"]) == 12, row
        assert "LIST_PHISH" in row["symbols"] and "subject" not in row, row
        assert [r["id"] for r in site.rows("--rcpt", "ANN@rcpt.example")] == [second]
        assert second.encode() in site.run("list").stdout


def test_list__an_administrator_holds_mail__is_shown_with_all_alone(env):
    if not env.is_postfix():
        return  # Sendmail has no such table
    with Site(env, extra="smtpd_client_restrictions = check_client_access static:HOLD") as site:
        reply = site.mta.send(message.build("harmless"))
        assert reply.startswith("250"), reply
        (held,) = proc.wait_for("the held message", site.mta.held)
        site.g.verdict(held)
        assert site.rows() == [] and site.run("digest").stdout == b""
        (row,) = site.rows("--all")
        assert (row["id"], row["gillnet"]) == (held, False), row


def test_show__held__as_the_queue_has_it(env):
    with Site(env) as site:
        queue_id = site.hold()
        shown = site.run("show", queue_id).stdout
        if env.is_postfix():
            assert shown == site.mta.held_message(queue_id), shown
        assert message.split(shown)[1].replace(b"\n", b"\r\n") == message.split(message.listed())[1]
        assert b"Subject: listed\n" in shown


def test_release__held__is_delivered_whole_and_not_held_again(env):
    with Site(env) as site:
        queue_id = site.hold()
        said = site.run("release", queue_id).stdout
        assert b"released, and reported as ham" in said, said
        (got,) = delivered(site, "bob@rcpt.example", 1)
        assert message.without_own(got) == message.listed(), got
        assert site.mta.held() == [] and site.rows("--all") == []
        assert site.g.log().count("action=quarantine") == 1  # no milter looked at it again
        done = site.run("release", queue_id, status=69)
        assert b"no message %s is held" % queue_id.encode() in done.stderr, done.stderr


def test_delete__held__is_gone(env):
    with Site(env) as site:
        gone, kept = site.hold("gone"), site.hold("kept")
        site.run("delete", gone)
        assert site.mta.held() == [kept]
        assert [r["id"] for r in site.rows()] == [kept]
        site.run("delete", gone, status=69)
        if not env.is_postfix():
            assert sorted(os.listdir(site.mta.queue)) == ["df" + kept, "hf" + kept]
        assert site.mta.sink.messages == {}


def test_ids__not_held_or_malformed__are_refused(env):
    with Site(env) as site:
        kept = site.hold()
        for queue_id in ["ALL", "-h", "../x", "a b", kept + "\n", kept[:5] + "*", ""]:
            for word in ["show", "release", "delete"]:
                done = site.run(word, "--", queue_id, status=64)
                assert done.stdout == b"", done
        for word in ["show", "release", "delete"]:
            site.run(word, kept[:-1], status=69)  # the beginning of one that is held
            site.run(word, "4XyZ012345678z", status=69)
        assert site.mta.held() == [kept]


def test_digest__mail_is_held__comes_with_links_to_those_who_may(env):
    with Site(env) as site:
        site.hold("first \"<b>\" http://bad.example")
        site.hold("second", rcpt=["bob@rcpt.example", "ann@rcpt.example"])
        dry = site.run("digest", "--dry-run").stdout
        assert b"To: bob@rcpt.example\n" in dry and b"ONE-TIME-LINK" in dry, dry
        assert site.mta.sink.messages == {} and not os.path.exists(os.path.join(site.g.state, "quarantine"))
        site.run("digest")
        mail, text, links = site.digest("bob@rcpt.example")
        assert mail["From"] == "filter@rcpt.example" and mail["To"] == "bob@rcpt.example"
        assert mail["Subject"] == "2 messages held for bob@rcpt.example", mail["Subject"]
        assert mail["Auto-Submitted"] == "auto-generated" and mail["Message-ID"] and mail["Date"].datetime
        assert mail.defects == [] and "http[:]//bad.example" in text and "http://bad.example" not in text, text
        assert len(links["Deliver"]) == 1 and len(links["unwanted"]) == 2, text  # one is not bob's alone
        _, text, links = site.digest("ann@rcpt.example")
        assert "second" in text and "first" not in text and list(links) == ["unwanted"], text
        stored = b"".join(open(os.path.join(folder, name), "rb").read() for folder, _, names
                          in os.walk(os.path.join(site.g.state, "quarantine")) for name in names)
        assert links["unwanted"][0][3:].encode() not in stored  # hashes alone
        assert site.run("digest").stdout == b""  # nothing new
        assert len(site.mta.held()) == 2


def test_link__get_and_post__only_the_post_releases_and_once(env):
    with Site(env, **({} if env.is_postfix() else {"retry": 1})) as site:
        site.start_helper()
        site.hold("held <b>&", rcpt="eve@rcpt.example")
        site.run("digest")
        _, _, links = site.digest("eve@rcpt.example")
        site.start_hub()
        (path,) = links["Deliver"]
        for method in ["GET", "HEAD", "GET"]:  # a webmail's link has cross-site
            status, head, page = site.ask(method, path, Sec_Fetch_Site="cross-site")
            assert status == 200 and head["Content-Type"] == "text/html; charset=utf-8", (status, page)
            assert "default-src 'none'" in head["Content-Security-Policy"], head.items()
            assert head["Cache-Control"] == "no-store" and head["Referrer-Policy"] == "same-origin", head.items()
        assert b"held &lt;b&gt;&amp;" in page and b"<b>" not in page and b"<script" not in page, page
        assert b'action="%s/use"' % path[3:].encode() in page, page
        assert len(site.mta.held()) == 1 and len(site.mta.sink.messages["eve@rcpt.example"]) == 1
        status, _, _ = site.ask("POST", path + "/use", Origin="https://evil.example")
        assert status == 403
        assert site.ask("POST", path)[0] == 405 and site.ask("GET", path + "/use")[0] == 405
        assert site.ask("POST", "/q/%s/use" % ("0" * 32))[0] == 404
        status, _, page = site.ask("POST", path + "/use", Origin="http://127.0.0.1:%d" % site.port)
        assert status == 200 and b"on its way" in page, page
        got = delivered(site, "eve@rcpt.example", 2)[1]
        assert message.without_own(got) == message.listed("held <b>&"), got
        assert site.mta.held() == [] and site.g.log().count("action=quarantine") == 1
        for method, where in [("POST", path + "/use"), ("GET", path)]:
            status, _, page = site.ask(method, where)
            assert status == 410 and b"was used" in page, (status, page)
        status, _, page = site.ask("POST", links["unwanted"][0] + "/use")
        assert status == 410 and b"no longer held" in page, page


def test_link__the_helper_is_away__works_later(env):
    with Site(env, more='user_release = "any";', **({} if env.is_postfix() else {"retry": 1})) as site:
        held = site.hold("held", rcpt=["eve@rcpt.example", "ann@rcpt.example"])
        site.run("digest")
        _, _, links = site.digest("eve@rcpt.example")
        site.start_hub()
        status, _, page = site.ask("POST", links["Deliver"][0] + "/use")
        assert status == 503 and b"Nothing was changed" in page, (status, page)
        site.start_helper()
        status, _, page = site.ask("POST", links["unwanted"][0] + "/use")
        assert status == 200 and b"reported as unwanted" in page, (status, page)
        assert site.mta.held() == [held]
        status, _, page = site.ask("POST", links["Deliver"][0] + "/use")
        assert status == 200, page
        delivered(site, "eve@rcpt.example", 2)
        delivered(site, "ann@rcpt.example", 2)


def test_api__admin_asks__lists_releases_and_deletes(env):
    with Site(env, **({} if env.is_postfix() else {"retry": 1})) as site:
        site.start_helper()
        first, second = site.hold("one"), site.hold("two")
        token = site.token("admin")
        site.start_hub()

        def ask(method, path, body=None, bearer=token):
            status, _, answer = site.ask(method, path, body and json.dumps(body), Authorization="Bearer " + bearer,
                                         Content_Type="application/json")
            return status, json.loads(answer)

        assert site.ask("GET", "/v1/quarantine")[0] == 401
        status, answer = ask("GET", "/v1/quarantine")
        assert status == 200 and {r["id"] for r in answer["held"]} == {first, second}, answer
        assert all("subject" not in r for r in answer["held"]), answer
        assert ask("GET", "/v1/quarantine?rcpt=nobody%40rcpt.example")[1]["held"] == []
        status, answer = ask("GET", "/v1/explain?id=" + first)
        assert status == 200 and answer["held"] is True and answer["sentence"].startswith("Quarantined: "), answer
        assert answer["campaign"]["messages"] == 2 and answer["reports"] == [] and answer["queue_id"] == first, answer
        assert [(h["list"], h["listed_now"]) for h in answer["lists"]] == [("phish", True)], answer["lists"]
        status, answer = ask("GET", "/v1/quarantine/message?id=" + first)
        assert status == 200 and "Subject: one\n" in answer["text"] and not answer["cut"], answer
        status, answer = ask("POST", "/v1/quarantine/release", {"id": first})
        assert (status, answer["id"], answer["state"], answer["reported"]) == (200, first, "released", True), answer
        report = answer["report"]["id"]
        answer = ask("GET", "/v1/explain?id=" + first)[1]
        assert answer["held"] is False and answer["reported"] == "ham", answer
        assert [r["id"] for r in answer["reports"]] == [report], answer
        assert ask("POST", "/v1/reports/undo", {"id": report})[0] == 200
        answer = ask("GET", "/v1/explain?id=" + first)[1]
        assert "reported" not in answer and answer["reports"][0]["undone"], answer
        delivered(site, "bob@rcpt.example", 1)
        assert ask("POST", "/v1/quarantine/delete", {"id": second})[0] == 200
        assert site.mta.held() == []
        for word in ["release", "delete"]:
            assert ask("POST", "/v1/quarantine/" + word, {"id": second})[0] == 404
            assert ask("POST", "/v1/quarantine/" + word, {"id": "ALL"})[0] == 422
        assert b'request="list"' in site.helper.log, site.helper.log


def test_api__many_at_once__each_is_released_or_says_why(env):
    with Site(env, **({} if env.is_postfix() else {"retry": 1})) as site:
        site.start_helper()
        ids = [site.hold("number %d" % i) for i in range(3)]
        token = site.token("messages")
        site.start_hub()

        def change(word, which):
            status, _, answer = site.ask("POST", "/v1/quarantine/" + word, json.dumps({"ids": which}),
                                         Authorization="Bearer " + token, Content_Type="application/json")
            assert status == 200, answer
            return [(r["id"], r["state"]) for r in json.loads(answer)["results"]]

        gone = ids[0][:-1] + ("0" if ids[0][-1] != "0" else "1")  # of the same form
        assert change("release", [ids[0], gone, ids[1]]) == [(ids[0], "released"), (gone, "failed"), (ids[1], "released")]
        delivered(site, "bob@rcpt.example", 2)
        assert site.mta.held() == [ids[2]]
        assert change("delete", [ids[2]]) == [(ids[2], "deleted")]
        assert site.mta.held() == [] and len(site.mta.sink.messages["bob@rcpt.example"]) == 2
