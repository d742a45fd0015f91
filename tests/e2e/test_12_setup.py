"""`gillnet setup`: wires a real MTA to gillnetd, tests it, takes it away again, or puts all back."""

import os
import subprocess

import gillnet
import message
import mta as mta_module
import proc
from smtp import Client

PLACES = ["inet:127.0.0.1:8891", "unix:opendmarc/opendmarc.sock", "inet:localhost:11332"]


def setup(g, mta, *argv, command="setup", postconf=None):
    """`gillnet setup` as root: (exit status, its output)."""
    places = (["--postconf", postconf or mta_module.program("usr/sbin/postconf"),
               "--postconf-dir", mta.config] if mta.kind == "postfix" else
              ["--sendmail-mc", os.path.join(mta.folder, "sendmail.mc"),
               "--cf-dir", mta_module.program("usr/share/sendmail/cf")])
    etc = os.path.join(g.folder, "etc")
    os.makedirs(etc, exist_ok=True)
    if command == "setup":
        words = ["setup", mta.kind, "--etc", etc] + places
    else:
        words = ["doctor"] + (places if mta.kind == "postfix" else
                              ["--sendmail-cf", os.path.join(mta.folder, "sendmail.cf")])
    done = subprocess.run([os.path.join(gillnet.programs(), "gillnet"), "-c", g.config, *words, *argv],
                          env={"LD_LIBRARY_PATH": mta_module.LIBRARY_PATH, "PATH": "/usr/bin:/bin"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    return done.returncode, done.stdout.decode()


def debian(mta, milters=(), submission=None):
    """The private instance as Debian installs it, smtpd and cleanup in a chroot (Postfix), with
    milters in front and, for Postfix, a submission service on that port."""
    if mta.kind == "sendmail":
        path = os.path.join(mta.folder, "sendmail.mc")
        lines = "".join("INPUT_MAIL_FILTER(`%s', `S=%s')dnl\n" % m for m in milters)
        text = proc.read_text(path).replace("MAILER(", lines + "MAILER_DEFINITIONS\nMAILER(")
        mta_module.write(path, text)
        mta_make(mta)
        return
    master = os.path.join(mta.config, "master.cf")
    text = proc.read_text(master).replace("inet n - n - - smtpd", "inet n - y - - smtpd")
    text = text.replace("cleanup unix n - n", "cleanup unix n - y")
    if submission:
        text += ("127.0.0.1:%d inet n - y - - smtpd\n  -o syslog_name=postfix/submission\n"
                 "  -o smtpd_milters=%s\n  -o milter_default_action=accept\n"
                 % (submission, PLACES[0]))
        text += ("127.0.0.1:%d inet n - y - - smtpd\n  -o smtpd_milters=\n"
                 "  -o smtpd_sasl_auth_enable=yes\n" % proc.free_port())
        text += "127.0.0.1:%d inet n - y - - smtpd\n  -o smtpd_milters=\n" % proc.free_port()
    mta_module.write(master, text)
    main = os.path.join(mta.config, "main.cf")
    own = "config_directory = %s\n" % mta.config
    if milters:
        own += "milter_default_action = accept\nsmtpd_milters = %s\n" % ", ".join(milters)
    mta_module.write(main, proc.read_text(main) + own)


def files(mta):
    names = (["etc/main.cf", "etc/master.cf"] if mta.kind == "postfix" else
             ["sendmail.mc", "sendmail.cf"])
    return [proc.read_text(os.path.join(mta.folder, name)) for name in names]


def settings(mta):
    """Contents of the files without blanks and the notes of the m4 macros."""
    return [[line.split() for line in text.splitlines() if not line.startswith("#")]
            for text in files(mta)]


def conf_d(g):
    return os.path.join(g.folder, "conf.d")


def test_setup__stock_debian__wired_tested_and_undone(env):
    submission = proc.free_port()
    g = env.gillnet(lists=[("phish", 6.5, ["domain:" + message.LISTED])],
                    config="outgoing = false;")
    with env.mta() as mta:
        debian(mta, submission=submission)
        before, said_before = settings(mta), files(mta)
        status, text = setup(g, mta, "--dry-run")
        assert status == 0 and "would  " in text and "done  " not in text, text
        assert files(mta) == said_before and not os.path.exists(conf_d(g)), text
        status, text = setup(g, mta)
        assert status == 1 and "note   gillnetd does not run: start it" in text, text
        with g:
            mta_restart(mta)
            status, text = setup(g, mta)
            assert status == 0 and "test   " in text and "nobody got mail" in text, text
            after = files(mta)
            status, text = setup(g, mta)
            assert status == 0 and "found  nothing to change" in text, text
            assert files(mta) == after, text
            assert "event=probe result=dropped" in g.log()
            mta.send(message.listed())
            raw = mta.sink.wait("bob@rcpt.example")[0]
            assert message.values(raw, "x-gillnet-status")[0].startswith("Yes"), raw
            if env.is_postfix():  # two services for people, and one for mail seen before
                assert after[1].count("$gillnet_milter") == 2, after[1]
                with Client(submission) as client:
                    client.ehlo()
                    client.send(message.listed(), rcpt="carol@rcpt.example")
                raw = mta.sink.wait("carol@rcpt.example")[0]
                assert message.values(raw, "x-gillnet-status")[0].startswith("Yes"), raw
            _, text = setup(g, mta, command="doctor")
            assert "fail  postfix" not in text and "fail  sendmail" not in text, text
            assert "fail  socket" not in text, text
        status, text = setup(g, mta, "--undo")
        assert status == 0, text
        assert settings(mta) == before, text
        assert not os.path.exists(conf_d(g)) or os.listdir(conf_d(g)) == [], text
        assert not os.path.exists(os.path.join(mta.folder, "queue/gillnet")), text


def mta_restart(mta):
    """Sendmail takes its new sendmail.cf only then; Postfix was told to reload."""
    if mta.kind == "sendmail":
        proc.stop(mta.child)
        mta.start()


def test_setup__other_milters__behind_those_that_prove_before_rspamd(env):
    milters = (PLACES if env.is_postfix() else
               [("opendkim", PLACES[0]), ("dmarc", "local:/run/opendmarc/opendmarc.sock"),
                ("rspamd", "inet:11332@localhost")])
    g = env.gillnet()
    mta = env.mta()
    try:
        debian(mta, milters)
        os.makedirs(os.path.join(g.folder, "etc"))
        mta_module.write(os.path.join(g.folder, "etc/opendkim.conf"),
                         "# AuthservID no.example\nauthservid\tauth.example  # ours\n")
        status, text = setup(g, mta)
        assert status == 1 and "OpenDKIM, OpenDMARC, rspamd" in text, text
        assert "gillnetd stands behind OpenDKIM, OpenDMARC" in text, text
        first = files(mta)[0]
        order = [first.index(word) for word in
                 (["opendmarc.sock", ", $gillnet_milter", ", inet:localhost:11332"]
                  if env.is_postfix() else ["`dmarc'", "`gillnet'", "`rspamd'"])]
        assert order == sorted(order), first
        conf = proc.read_text(os.path.join(conf_d(g), "setup-%s.conf" % mta.kind))
        assert 'trusted_authserv = [ "auth.example", "mx.rcpt.example" ];' in conf, conf
        # what a person adds afterwards stays
        name = "etc/main.cf" if env.is_postfix() else "sendmail.mc"
        path = os.path.join(mta.folder, name)
        mta_module.write(path, proc.read_text(path).replace("inet:localhost:11332",
                                                            "inet:localhost:11332, inet:[::1]:9")
                         if env.is_postfix() else
                         proc.read_text(path).replace("MAILER_DEF", "dnl mine\nMAILER_DEF"))
        status, text = setup(g, mta, "--undo")
        rest = files(mta)[0]
        assert ("inet:[::1]:9" if env.is_postfix() else "dnl mine") in rest, rest
        assert "gillnet" not in rest.replace("/gillnet-", ""), rest
    finally:
        mta.stop()


def mta_make(mta):
    """sendmail.cf from the sendmail.mc that a test changed."""
    cf = mta_module.program("usr/share/sendmail/cf")
    made = subprocess.run(["m4", "-D_CF_DIR_=%s/" % cf, os.path.join(cf, "m4/cf.m4"),
                           os.path.join(mta.folder, "sendmail.mc")], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    mta_module.write(os.path.join(mta.folder, "sendmail.cf"), made.decode())


def test_setup__failure_in_the_middle__all_is_as_it_was(env):
    g = env.gillnet()
    mta = env.mta()
    try:
        debian(mta, submission=proc.free_port())
        postconf = None
        if env.is_postfix():  # master.cf cannot be written once main.cf was
            postconf = os.path.join(mta.folder, "postconf")
            mta_module.write(postconf, "#!/bin/sh\ncase \"$*\" in\n*' -P '*) echo disk full >&2; exit 1;;\n"
                             "esac\nexec %s \"$@\"\n" % mta_module.program("usr/sbin/postconf"), 0o755)
        else:
            path = os.path.join(mta.folder, "sendmail.mc")
            mta_module.write(path, proc.read_text(path)
                             + "define(`confINPUT_MAIL_FILTERS', `a')dnl\n")
        before = files(mta)
        status, text = setup(g, mta, postconf=postconf)
        assert status >= 64, text
        assert ("disk full" if env.is_postfix() else "confINPUT_MAIL_FILTERS") in text, text
        assert "everything is as it was" in text, text
        assert files(mta) == before, text
        assert not os.path.exists(conf_d(g)) or os.listdir(conf_d(g)) == [], text
        assert not os.path.exists(os.path.join(mta.folder, "queue/gillnet")), text
        folder = os.path.dirname(os.path.join(mta.folder, "etc/x" if env.is_postfix() else "x"))
        assert not [n for n in os.listdir(folder) if ".gillnet-" in n], os.listdir(folder)
    finally:
        mta.stop()
