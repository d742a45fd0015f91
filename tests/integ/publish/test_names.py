#!/usr/bin/env python3
"""A subscription's https place must have the name that its URL says, from an authority that this machine trusts.

Usage: test_names.py GILLNET [TEST...]   like test_publish.py. Root: the authorities of this machine are others for the hub's
process alone. Needs the openssl program.
"""
import pathlib
import ssl
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import test_publish  # noqa: E402
from test_handshakes import Maker  # noqa: E402

TRUSTING = ('mount -t tmpfs none /etc/ssl/certs && cp "$1" /etc/ssl/certs/ca-certificates.crt && shift && exec "$@"')
NUL = b"localhost\0.evil.example"


def san(text):
    return f"extendedKeyUsage=serverAuth\nsubjectAltName={text}"


class NamesTest(test_publish.PublishTest):
    def setUp(self):
        super().setUp()
        folder = self.folder / "tls"
        folder.mkdir()
        self.make = Maker(folder)
        self.authority = self.make_authority("ours")
        self.followed = 0

    def make_authority(self, name):
        key = self.make.key()
        return key, self.make.certificate(key, name=f"/O={name}/CN=authority",
                                          use="basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign")

    def serve(self, pem):
        site = test_publish.Site(self, self.place)
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(pem)
        site.server.handle_error = lambda *_: None  # a client that hangs up is what is wanted
        site.server.socket = c.wrap_socket(site.server.socket, server_side=True, do_handshake_on_connect=False)
        return site

    def follow_as(self, host, pem):
        """Whether a new subscriber took the list from there, and its output."""
        site = self.serve(pem)
        self.followed += 1
        config = self.subscribe([f"https://{host}:{site.server.server_address[1]}"], name=f"s{self.followed}")
        done = subprocess.run(["unshare", "--mount", "sh", "-c", TRUSTING, "sh", self.authority[1],
                               test_publish.GILLNET.parent / "gillnet-hub", "-c", config, "--once"],
                              capture_output=True, text=True, timeout=300, check=False)
        is_listed = self.is_listed("https://evil5.example/pay", config)
        self.assertEqual(done.returncode == 0, is_listed, done.stderr)
        self.assertEqual(bool(site.asked), is_listed, "nothing is asked of who is somebody else")
        return is_listed, done.stderr

    def test_place__with_the_name_of_another__is_not_asked(self):
        m, ours, key = self.make, self.authority, self.make.key()
        der = bytes([0x30, len(NUL) + 2, 0x82, len(NUL)]) + NUL
        rows = [
            ("its name", "localhost", True, {"use": san("DNS:localhost")}),
            ("its address", "127.0.0.1", True, {"use": san("IP:127.0.0.1")}),
            ("another name", "localhost", False, {"use": san("DNS:lists.club.example")}),
            ("another address", "127.0.0.1", False, {"use": san("IP:127.0.0.2")}),
            ("its address as a name", "127.0.0.1", False, {"use": san("DNS:127.0.0.1")}),
            ("any name", "localhost", False, {"use": san("DNS:*")}),
            ("any name below it", "localhost", False, {"use": san("DNS:*.localhost")}),
            ("its name, a NUL, another", "localhost", False, {"use": san("DER:" + der.hex(":"))}),
            ("another authority", "localhost", False,
             {"use": san("DNS:localhost"), "issuer": self.make_authority("theirs")}),
            ("itself", "localhost", False, {"use": san("DNS:localhost"), "issuer": None}),
            ("expired", "localhost", False, {"use": san("DNS:localhost"), "times": ("20200101000000Z", "20210101000000Z")}),
            ("not yet valid", "localhost", False,
             {"use": san("DNS:localhost"), "times": ("20900101000000Z", "99991231235959Z")}),
            ("for clients", "localhost", False, {"use": "extendedKeyUsage=clientAuth\nsubjectAltName=DNS:localhost"}),
        ]
        for what, host, is_good, more in rows:
            got, said = self.follow_as(host, m.certificate(key, **{"issuer": ours, **more}))
            self.assertEqual(got, is_good, f"{what}: {said}")


def load_tests(loader, tests, pattern):
    """Not those of test_publish once more."""
    return unittest.TestSuite([NamesTest("test_place__with_the_name_of_another__is_not_asked")])


if __name__ == "__main__":
    test_publish.GILLNET = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
