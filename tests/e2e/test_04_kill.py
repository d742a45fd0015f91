"""gillnetd goes away in the middle of a message: the MTA's default action, then normal service."""

import os
import signal
import threading
import time

import message

from smtp import dot_stuff

OWN = "x-gillnet-status"


def begin(mta):
    """A client that has sent half of a message, and the other half."""
    client = mta.client()
    client.expect("MAIL FROM:<alice@sender.example>")
    client.expect("RCPT TO:<bob@rcpt.example>")
    client.expect("DATA", "354")
    stuffed = dot_stuff(message.build(body="0123456789" * 7 + "\r\n" * 20000))
    half = len(stuffed) // 2
    client.sock.sendall(stuffed[:half])
    time.sleep(0.3)  # the MTA takes it in
    return client, stuffed[half:]


def finish(client, rest):
    client.sock.sendall(rest)
    reply = client.reply()
    client.close()
    return reply


def check_normal(mta, rcpt):
    reply = mta.send(message.build(), rcpt=rcpt)
    assert reply.startswith("250"), reply
    assert OWN in message.names(mta.sink.wait(rcpt)[0])


def test_kill__in_mid_message__tempfail_then_normal(env):
    with env.gillnet() as g, env.mta(g) as mta:
        check_normal(mta, "before@rcpt.example")
        client, rest = begin(mta)
        g.kill()
        reply = finish(client, rest)
        assert reply.startswith("451"), reply
        reply = mta.send(message.build(), rcpt="away@rcpt.example")
        assert reply.startswith("451"), reply
        g.start()
        check_normal(mta, "after@rcpt.example")
        assert sorted(mta.sink.messages) == ["after@rcpt.example", "before@rcpt.example"]


def test_kill__mta_is_told_to_accept__message_passes_unmarked(env):
    options = "default_action=accept" if env.is_postfix() else "T=C:5s;S:10s;R:10s;E:30s"
    with env.gillnet() as g, env.mta(g, milter_options=options) as mta:
        client, rest = begin(mta)
        g.kill()
        reply = finish(client, rest)
        assert reply.startswith("250"), reply
        assert OWN not in message.names(mta.sink.wait("bob@rcpt.example")[0])
        g.start()
        check_normal(mta, "after@rcpt.example")


def test_kill__hundred_times_between_messages__every_message_is_answered(env):
    """The next start works with every state of the disk at a kill (stale sockets, half-written files)."""
    rounds = 100 if env.slow else 10
    with env.gillnet() as g, env.mta(g) as mta:
        for i in range(rounds):
            check_normal(mta, "m%d@rcpt.example" % i)
            g.kill()
            g.start()


def test_term__in_mid_message__message_finishes(env):
    g = env.gillnet()
    with env.mta(g) as mta:
        g.start()
        client, rest = begin(mta)
        os.kill(g.child.pid, signal.SIGTERM)
        time.sleep(1)
        assert g.child.poll() is None, "it left a message in flight"
        reply = finish(client, rest)
        assert reply.startswith("250"), reply
        assert OWN in message.names(mta.sink.wait("bob@rcpt.example")[0])
        assert g.child.wait(30) == 0
        g.start()
        check_normal(mta, "after@rcpt.example")
        assert g.stop() == 0


def test_reload__under_load__nothing_is_deferred_or_cut(env):
    """Good and broken configurations in turn while messages flow; the same process lives on."""
    with env.gillnet() as g, env.mta(g) as mta:
        pid, over, replies = g.child.pid, threading.Event(), []

        def flow():
            with mta.client() as client:
                while not over.is_set():
                    replies.append(client.send(message.build(), rcpt="flow@rcpt.example"))

        threads = [threading.Thread(target=flow) for _ in range(2)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + (10 if env.slow else 2)
        n = 0
        while time.monotonic() < end:
            g.write_config("deadline = 2;" if n % 2 else 'deadline = "3s";')
            g.child.send_signal(signal.SIGHUP if n % 3 else signal.SIGUSR1)
            n += 1
            time.sleep(0.005)
        over.set()
        for thread in threads:
            thread.join()
        assert g.child.pid == pid and g.child.poll() is None
        assert replies and all(r.startswith("250") for r in replies), set(replies)
        mta.sink.wait("flow@rcpt.example", len(replies))
        g.write_config('log = { level = "debug"; };')
        assert g.cli("reload").returncode == 0
        g.write_config("nonsense = 1;")
        refused = g.cli("reload", check=False)
        assert refused.returncode >= 64 and b"nonsense" in refused.stdout + refused.stderr
