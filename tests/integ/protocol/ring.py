#!/usr/bin/env python3
"""Reads the frozen manifest and token with nothing of gillnet: sections 7 to 9 of contrib/doc/protocol.md.

usage: ring.py FOLDER    (tests/data/ring)
"""
import base64
import json
import pathlib
import struct
import sys

import second


FIELDS = {"ring", "version", "created_ms", "expires_ms", "threshold", "admins", "members", "ring_keys", "default_cap",
          "quorum", "default_records_per_day"}


def is_signed(key, message, signature):
    try:
        second.verify(key, message, signature)
    except second.Refused:
        return False
    return True


def read_manifest(text):
    """The body, after all rules about keys and signatures."""
    lines = text.split("\n")
    assert lines[0] == "gillnet-ring-manifest 1" and lines[-1] == ""
    body, signers = json.loads(lines[1]), set()
    assert set(body) - {"kind"} == FIELDS and body.get("kind", "federation") in ("own", "federation")
    for line in lines[2:-1]:
        word, key, signature = line.split(" ")
        assert word == "signature" and key not in signers
        assert is_signed(bytes.fromhex(key), b"gillnet-manifest/1\0" + lines[1].encode(), bytes.fromhex(signature))
        signers.add(key)
    assert len(signers & set(body["admins"])) >= body["threshold"]
    for member in body["members"]:
        for k in member["keys"]:
            message = b"gillnet-key/1\0" + bytes.fromhex(k["key"]) + struct.pack("<Q", k["not_before_ms"])
            assert is_signed(bytes.fromhex(member["identity"]), message, bytes.fromhex(k["signature"]))
    return body


# ---- ChaCha20-Poly1305, RFC 8439

def chacha20(key, counter, nonce):
    mask = 0xffffffff
    first = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    s = first[:]
    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                s[x] = (s[x] + s[y]) & mask
                s[z] ^= s[x]
                s[z] = (s[z] << n | s[z] >> 32 - n) & mask
    return struct.pack("<16I", *((x + y) & mask for x, y in zip(s, first)))


def unseal(key, aad, sealed):
    nonce = bytes(12)
    one = chacha20(key, 0, nonce)
    r = int.from_bytes(one[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    text, tag = sealed[:-16], sealed[-16:]
    data = aad + bytes(-len(aad) % 16) + text + bytes(-len(text) % 16) + struct.pack("<QQ", len(aad), len(text))
    a = 0
    for i in range(0, len(data), 16):
        a = (a + int.from_bytes(data[i:i + 16] + b"\1", "little")) * r % (2**130 - 5)
    a = (a + int.from_bytes(one[16:32], "little")) % 2**128
    assert a.to_bytes(16, "little") == tag
    return bytes(x ^ y for x, y in zip(text, chacha20(key, 1, nonce)))


def read_token(token):
    assert token.startswith("gnp1-")
    raw = base64.urlsafe_b64decode(token[5:] + "=" * (-len(token[5:]) % 4))
    assert second.digest(raw[:-4])[:4] == raw[-4:]
    expires, key, ident, secret, n = struct.unpack_from("<I32s8s16sB", raw)
    assert len(raw) == 61 + n + 32 + 4
    return {"expires_s": str(expires), "server_key": key.hex(), "id": ident.hex(), "secret": secret.hex(),
            "address": raw[61:61 + n].decode()}, raw[:61 + n], raw[61 + n:-4]


def main():
    folder = pathlib.Path(sys.argv[1])
    text = (folder / "manifest.txt").read_text()
    body = read_manifest(text)
    for i in range(24, text.index("\n", 24), 61):  # a change anywhere in the body
        try:
            read_manifest(text[:i] + chr(ord(text[i]) ^ 1) + text[i + 1:])
        except (AssertionError, ValueError, KeyError):
            continue
        raise AssertionError(i)
    own = read_manifest((folder / "manifest-own.txt").read_text())
    assert "kind" not in body and own == body | {"kind": "own"}
    values, request = (folder / "token.txt").read_text().split("\n\n")
    values = dict(line.split(" ") for line in values.split("\n"))
    got, aad, sealed = read_token(values["token"])
    for name, value in got.items():
        assert values[name] == value, name
    assert unseal(bytes.fromhex(values["seal"]), aad, sealed).hex() == values["ring_key"]
    assert struct.unpack("<I", second.digest(bytes.fromhex(values["ring_key"]))[:4])[0] == int(values["ring_key_id"], 16)
    asked = dict(line.split(" ") for line in request.strip().split("\n"))
    assert (asked["id"], asked["secret"]) == (got["id"], got["secret"])
    assert asked["identity"] == body["members"][1]["identity"] and asked["key"] == body["members"][1]["keys"][0]["key"]
    print("manifest and token read")


if __name__ == "__main__":
    main()
