"""Packages encrypted with a password as MS-OFFCRYPTO has it; the cipher is that of the program openssl."""
import base64
import hashlib
import hmac
import struct
import subprocess

import compound


def cipher(mode, key, iv, data):
    option = ["-iv", iv.hex()] if iv else []
    return subprocess.run(["openssl", "enc", "-e", f"-aes-{8 * len(key)}-{mode}", "-nopad", "-K", key.hex(), *option],
                          input=data.ljust(-(-len(data) // 16) * 16, b"\0"), stdout=subprocess.PIPE, check=True).stdout


def spun(name, salt, password, count):
    last = hashlib.new(name, salt + password.encode("utf-16le")).digest()
    for i in range(count):
        last = hashlib.new(name, struct.pack("<I", i) + last).digest()
    return last


def file_of(description, package):
    return compound.cfb({"EncryptionInfo": description, "EncryptedPackage": package.ljust(4096, b"\0")})


def agile(data, password, name="sha512", bits=256, count=1000):
    salt, package_salt = bytes(range(16)), bytes(range(16, 32))
    key = bytes(range(bits // 8))
    last = spun(name, salt, password, count)

    def locked(purpose, value):
        own = hashlib.new(name, last + bytes.fromhex(purpose)).digest()
        return base64.b64encode(cipher("cbc", own.ljust(bits // 8, b"\x36")[:bits // 8], salt, value)).decode()

    check = b"sixteen bytes ok"
    size = hashlib.new(name).digest_size
    same = (f'saltSize="16" blockSize="16" keyBits="{bits}" hashSize="{size}" cipherAlgorithm="AES" '
            f'cipherChaining="ChainingModeCBC" hashAlgorithm="{name.upper()}"')
    package = struct.pack("<Q", len(data))
    for i in range(-(-len(data) // 4096)):
        iv = hashlib.new(name, package_salt + struct.pack("<I", i)).digest()[:16]
        package += cipher("cbc", key, iv, data[4096 * i:4096 * i + 4096])
    package = package.ljust(4096, b"\0")

    def sealed(purpose, value):
        iv = hashlib.new(name, package_salt + bytes.fromhex(purpose)).digest()[:16]
        return base64.b64encode(cipher("cbc", key, iv, value)).decode()

    seal = bytes(range(size))
    xml = (f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
           f'<encryption xmlns="http://schemas.microsoft.com/office/2006/encryption" '
           f'xmlns:p="http://schemas.microsoft.com/office/2006/keyEncryptor/password">'
           f'<keyData {same} saltValue="{base64.b64encode(package_salt).decode()}"/>'
           f'<dataIntegrity encryptedHmacKey="{sealed("5fb2ad010cb9e1f6", seal)}" '
           f'encryptedHmacValue="{sealed("a0677f02b22c8433", hmac.new(seal, package, name).digest())}"/><keyEncryptors>'
           f'<keyEncryptor uri="http://schemas.microsoft.com/office/2006/keyEncryptor/password">'
           f'<p:encryptedKey spinCount="{count}" {same} saltValue="{base64.b64encode(salt).decode()}" '
           f'encryptedVerifierHashInput="{locked("fea7d2763b4b9e79", check)}" '
           f'encryptedVerifierHashValue="{locked("d7aa0f6d3061344e", hashlib.new(name, check).digest())}" '
           f'encryptedKeyValue="{locked("146e0be7abacd0d6", key)}"/></keyEncryptor></keyEncryptors></encryption>')
    return file_of(struct.pack("<HHI", 4, 4, 0x40) + xml.encode(), package)


def standard(data, password, bits=128):
    salt = bytes(range(16))
    last = hashlib.sha1(spun("sha1", salt, password, 50000) + bytes(4)).digest()
    halves = b"".join(hashlib.sha1(bytes(b ^ pad for b in last.ljust(64, b"\0"))).digest() for pad in (0x36, 0x5c))
    key = halves[:bits // 8]
    check = b"sixteen bytes ok"
    name = "Microsoft Enhanced RSA and AES Cryptographic Provider\0".encode("utf-16le")
    head = struct.pack("<IIIIIIII", 0x24, 0, 0x660d + bits // 64 - 1, 0x8004, bits, 0x18, 0, 0) + name
    description = (struct.pack("<HHII", 4, 2, 0x24, len(head)) + head + struct.pack("<I", 16) + salt + cipher("ecb", key, b"", check)
                   + struct.pack("<I", 20) + cipher("ecb", key, b"", hashlib.sha1(check).digest()))
    return file_of(description, struct.pack("<Q", len(data)) + cipher("ecb", key, b"", data))
