"""Held mail: listed, shown, released, deleted, and the digest with its links, with real queues."""

import json
import os
import socket
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

import gillnet
import message
import mta as mtas
import proc

HOLD = "thresholds = { header = 2.0; quarantine = 4.0; };\n"


class Site:
    """gillnetd and an MTA that holds listed mail; commands run as root, where the MTA runs."""

    def __init__(self, env, config="", **kwargs):
        self.env = env
        self.g = env.gillnet(HOLD + config, lists=[("phish", 5.0, [message.LISTED])])
        self.mta = env.mta(self.g, **kwargs)
        if env.is_postfix():
            programs, place = mtas.program("usr/sbin"), self.mta.config
        else:
            programs = mtas.program("usr/libexec/sendmail")
            place = os.path.join(self.mta.folder, "sendmail.cf")
        self.queue = os.path.join(proc.socket_folder(), "queue.sock")
        self.config = (HOLD + config + 'quarantine = { mta = "%s"; programs = "%s"; mta_config = "%s"; '
                       'socket = "%s"; from = "filter@rcpt.example"; %s };\n'
                       % (env.kind, programs, place, self.queue, kwargs.pop("more", "")))
        self.g.write_config(self.config)

    def configure(self, more):
        self.g.write_config(self.config.replace("from = ", more + " from = "))

    def command(self, program, *argv):
        argv = [os.path.join(proc.BUILD, program), "-c", self.g.config, *argv]
        if not self.env.is_postfix():  # its host name and hosts file
            argv = ["nsenter", "--target", str(self.mta.child.pid), "--uts", "--mount", *argv]
        return argv

    def environment(self):
        return {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": mtas.LIBRARY_PATH}

    def run(self, *argv, user=None, status=0):
        done = subprocess.run(self.command("gillnet", "quarantine", *argv), timeout=60, user=user,
                              env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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

    def hold_without_gillnet(self, subject):
        """As an administrator holds mail by hand."""
        queue_id = self.hold(subject)
        return queue_id

    def __enter__(self):
        self.g.start()
        self.mta.start()
        return self

    def __exit__(self, *arguments):
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
