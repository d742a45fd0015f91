#!/usr/bin/env python3
"""A peer with the wrong key, certificate or protocol is refused, by the hub that serves and by the one that calls.

Usage: test_handshakes.py [TEST...]      ends like unittest. Needs the openssl program.
"""
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from ring import Ring, Server, invite, until

USE = "extendedKeyUsage=serverAuth,clientAuth"
NOW = ("20200101000000Z", "99991231235959Z")


def openssl(*args, text=None):
    p = subprocess.run(["openssl", *map(str, args)], input=text, capture_output=True, text=True)
    if p.returncode != 0:
        raise AssertionError(f"openssl {args}: {p.stderr}")
    return p.stdout


def private(path):
    """The private key alone of a file that may hold a certificate too."""
    return re.search(r"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----\n",
                     pathlib.Path(path).read_text(), re.S).group(0)


class Maker:
    """Certificates of every kind, of a given key or a new one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.n = 0

    def path(self, suffix):
        self.n += 1
        return self.folder / f"{self.n}.{suffix}"

    def key(self, kind="ED25519", *options):
        path = self.path("key")
        openssl("genpkey", "-algorithm", kind, *options, "-out", path)
        return path

    def certificate(self, key, times=NOW, use=USE, name="/O=gillnet/CN=x", issuer=None, md="null"):
        """issuer: (key, certificate) of the signer; None: its own key. Gives a file of certificate and key."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "index.txt").touch()
        (folder / "serial").write_text("01\n")
        (folder / "ca.cnf").write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndir={folder}\ndatabase={folder}/index.txt\nnew_certs_dir={folder}\n"
            f"serial={folder}/serial\npolicy=p\nunique_subject=no\nx509_extensions=x\n"
            f"[p]\norganizationName=optional\ncommonName=optional\n[x]\nbasicConstraints=CA:FALSE\n{use}\n"
            "[req]\ndistinguished_name=n\n[n]\n")
        openssl("req", "-new", "-key", key, "-subj", name, "-out", folder / "csr", "-config", folder / "ca.cnf")
        signer = ["-selfsign", "-keyfile", key] if issuer is None else ["-keyfile", issuer[0], "-cert", issuer[1]]
        openssl("ca", "-batch", "-notext", "-config", folder / "ca.cnf", "-in", folder / "csr", "-out",
                folder / "crt", "-startdate", times[0], "-enddate", times[1], "-md", md, *signer)
        out = self.path("pem")
        out.write_text((folder / "crt").read_text() + private(key))
        return out


def context(pem=None, server=False, version=ssl.TLSVersion.TLSv1_3, alpn="http/1.1"):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE  # the test does not judge the hub
    c.minimum_version = ssl.TLSVersion.TLSv1_2
    c.maximum_version = version
    if alpn:
        c.set_alpn_protocols([alpn])
    if pem:
        c.load_cert_chain(pem)
    return c


def ask(port, ctx, name=None, request="GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n"):
    """The begin of the answer; "" where there is none."""
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as raw:
            raw.settimeout(60)
            with ctx.wrap_socket(raw, server_hostname=name) as s:
                s.sendall(request.encode())
                out = b""
                while b"\r\n\r\n" not in out:
                    got = s.recv(65536)
                    if not got:
                        break
                    out += got
                return out.decode(errors="replace")
    except (ssl.SSLError, ConnectionError, TimeoutError, socket.timeout):
        return ""


class Handshakes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gillnet-tls-")
        self.make = Maker(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def bad_clients(self, key):
        """Name, context, server name: each wrong in one thing. key: of a member."""
        m = self.make
        stranger = m.key()
        ca_key = m.key()
        ca = m.certificate(ca_key, name="/O=other/CN=ca", use="keyUsage=keyCertSign")
        rsa = m.key("RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        weak = m.key("RSA", "-pkeyopt", "rsa_keygen_bits:1024")
        p256 = m.key("EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        good = m.certificate(key)
        chain = m.path("pem")
        ca_text = ca.read_text()
        chain.write_text(good.read_text() + ca_text[:ca_text.index("-----BEGIN PRIVATE")])
        rows = [
            ("expired", m.certificate(key, times=("20200101000000Z", "20210101000000Z"))),
            ("not yet valid", m.certificate(key, times=("20900101000000Z", "99991231235959Z"))),
            ("self-signed, of a stranger", m.certificate(stranger)),
            ("of another authority, a member's key", m.certificate(key, issuer=(ca_key, ca))),
            ("of an authority, a stranger's key", m.certificate(stranger, issuer=(ca_key, ca))),
            ("for servers alone", m.certificate(key, use="extendedKeyUsage=serverAuth")),
            ("for no use", m.certificate(key, use="keyUsage=digitalSignature")),
            ("two certificates", chain),
            ("RSA", m.certificate(rsa, md="sha256")),
            ("RSA of 1,024 bits, SHA-1", m.certificate(weak, md="sha1")),
            ("P-256", m.certificate(p256, md="sha256")),
            ("a name with a NUL", m.certificate(stranger, name="/O=gillnet/CN=member\\00.example")),
        ]
        def load(pem):
            c = context()
            c.set_ciphers("ALL:@SECLEVEL=0")
            c.load_cert_chain(pem)
            return c
        out = [(name, load(pem), None) for name, pem in rows]
        out += [("no certificate", context(), None),
                ("TLS 1.2 alone", context(good, version=ssl.TLSVersion.TLSv1_2), None),
                ("another protocol", context(good, alpn="h2"), None),
                ("join without an invitation", load(m.certificate(stranger)), "join.gillnet")]
        return out

    def test_bad_clients__refused(self):
        with Ring("alpha", "beta") as (a, b):
            key = b.state / "peers/signing.key"
            good = self.make.certificate(key)
            self.assertIn("200 OK", ask(a.port, context(good)), "what is right is let in")
            rows = self.bad_clients(key)
            self.assertEqual(len(rows), 16)
            for name, ctx, server_name in rows:
                at = b if server_name else a  # alpha's invitation still answers who used it
                before = at.stat("handshakes_refused")
                self.assertEqual(ask(at.port, ctx, server_name), "", name)
                until(lambda: at.stat("handshakes_refused") > before, f"{name} counted", log=at.logs)
            self.assertIn("200 OK", ask(a.port, context(good)))
            self.assertTrue(a.hub_lines("event=handshake", "result=refused"))

    def test_sessions__are_never_taken_up_again(self):
        with Ring("alpha", "beta") as (a, b):
            ctx = context(self.make.certificate(b.state / "peers/signing.key"))
            with socket.create_connection(("127.0.0.1", a.port), 60) as raw:
                with ctx.wrap_socket(raw) as s:
                    s.sendall(b"GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.assertIn(b"200", s.recv(100))
                    self.assertEqual(s.version(), "TLSv1.3")
                    self.assertFalse(s.session.has_ticket)
                    self.assertFalse(s.session_reused)
            # a client that sends early data needs a ticket: the hub gives none
            said = subprocess.run(["openssl", "s_client", "-connect", a.address, "-cert", b.state / "peers/signing.key",
                                   "-key", b.state / "peers/signing.key", "-alpn", "http/1.1", "-ign_eof"],
                                  input="GET /v1/manifest HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                                  capture_output=True, text=True, timeout=120).stdout
            self.assertIn("200 OK", said)
            self.assertNotIn("New Session Ticket", said)
            self.assertNotIn("Early data was accepted", said)

    def test_dropped_member__refused_at_once(self):
        with Ring("alpha", "beta") as (a, b):
            key = self.make.path("key")
            key.write_text((b.state / "peers/signing.key").read_text())
            ctx = context(self.make.certificate(key))
            b.stop()
            with socket.create_connection(("127.0.0.1", a.port), 60) as raw:
                with ctx.wrap_socket(raw) as s:
                    s.sendall(b"GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.assertIn(b"200", s.recv(65536))
                    s.recv(65536)
                    a.run("peer", "drop", "beta")
                    # an older connection is closed without an answer
                    s.settimeout(60)
                    try:
                        s.sendall(b"GET /v1/manifest HTTP/1.1\r\nHost: x\r\n\r\n")
                        got = s.recv(65536)
                    except (ssl.SSLError, ConnectionError):
                        got = b""
                    self.assertNotIn(b"200 OK", got)
            self.assertEqual(ask(a.port, ctx), "")

    def test_revoked_key__refused(self):
        with Ring("alpha", "beta") as (a, b):
            leaked = self.make.path("key")
            leaked.write_text((a.state / "peers/signing.key").read_text())
            ctx = context(self.make.certificate(leaked))
            self.assertIn("200 OK", ask(b.port, ctx))
            a.run("peer", "rotate", "--now")
            a.run("peer", "revoke-key")
            until(lambda: ask(b.port, ctx) == "", "beta refuses the leaked key", log=b.logs)
            until(lambda: b.connected() == {"alpha"}, "alpha under its new key", log=b.logs)

    def test_bad_servers__refused(self):
        """The hub calls an address where somebody else answers."""
        with Ring("alpha", "beta", "gamma") as (a, b, c):
            until(lambda: a.connected() == {"beta", "gamma"}, "all", log=a.logs)
            key = self.make.path("key")
            key.write_text((b.state / "peers/signing.key").read_text())
            other = self.make.path("key")
            other.write_text((c.state / "peers/signing.key").read_text())
            b.stop()
            m = self.make
            ca_key = m.key()
            ca = m.certificate(ca_key, name="/O=other/CN=ca", use="keyUsage=keyCertSign")
            rows = [("a stranger", m.certificate(m.key()), {}),
                    ("another member", m.certificate(other), {}),
                    ("expired", m.certificate(key, times=("20200101000000Z", "20210101000000Z")), {}),
                    ("not yet valid", m.certificate(key, times=("20900101000000Z", "99991231235959Z")), {}),
                    ("for clients alone", m.certificate(key, use="extendedKeyUsage=clientAuth"), {}),
                    ("of an authority", m.certificate(key, issuer=(ca_key, ca)), {}),
                    ("TLS 1.2", m.certificate(key), {"version": ssl.TLSVersion.TLSv1_2})]
            for name, pem, more in rows:
                got = self.serve(b.port, context(pem, server=True, **more))
                self.assertEqual(got, b"", name)
            self.assertIn(b"GET /v1/heads", self.serve(b.port, context(m.certificate(key), server=True)),
                          "what is right is asked")

    def serve(self, port, ctx):
        """Bytes of the hub to a server with this context, within its next tries, and one connection with a handshake."""
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(5)
            listener.settimeout(240)
            raw, _ = listener.accept()
            raw.settimeout(60)
            try:
                with ctx.wrap_socket(raw, server_side=True) as s:
                    return s.recv(65536)
            except (ssl.SSLError, ConnectionError, TimeoutError, socket.timeout):
                return b""


if __name__ == "__main__":
    unittest.main(verbosity=2)
