"""Archives byte by byte: RAR 4 and RAR 5 with stored files, CAB, cpio, and files of
compress(1)."""
import struct
import zlib


def rar4_block(kind, flags, body, data=b""):
    rest = struct.pack("<BHH", kind, flags, 7 + len(body)) + body
    return struct.pack("<H", zlib.crc32(rest) & 0xFFFF) + rest + data


def rar4_file(name, data, flags=0, wrong=0):
    body = struct.pack("<IIBIIBBHI", len(data), len(data), 3, zlib.crc32(data) ^ wrong, 0x5A210000, 20, 0x30,
                       len(name), 0o100644) + name
    if flags & 0x400:  # salt of an encrypted file
        body += bytes(8)
    return rar4_block(0x74, 0x8000 | flags, body, data)


def rar4(files, flags=0, file_flags=0, wrong=0):
    """files: (name, bytes). flags 0x80: all heads are encrypted. file_flags 4: data are encrypted."""
    return (b"Rar!\x1a\x07\x00" + rar4_block(0x73, flags, bytes(6)) +
            b"".join(rar4_file(name, data, file_flags, wrong) for name, data in files) +
            rar4_block(0x7B, 0x4000, b""))


def vint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def rar5_block(kind, flags, body, data=b"", extra=b""):
    flags |= (1 if extra else 0) | (2 if kind in (2, 3) else 0)
    head = vint(kind) + vint(flags)
    if extra:
        head += vint(len(extra))
    if flags & 2:
        head += vint(len(data))
    head += body + extra
    head = vint(len(head)) + head
    return struct.pack("<I", zlib.crc32(head)) + head + data


def rar5_file(name, data, extra=b"", wrong=0, directory=False):
    body = (vint(1 if directory else 4) + vint(len(data)) + vint(0o40755 if directory else 0o100644) +
            (b"" if directory else struct.pack("<I", zlib.crc32(data) ^ wrong)) + vint(0) + vint(1) +
            vint(len(name)) + name)
    return rar5_block(2, 0, body, data, extra)


# version, flags, KDF count, salt, vector, check of the password
RAR5_CRYPT = vint(0) + vint(1) + bytes([15]) + bytes(16) + bytes(16) + bytes(12)


def rar5(files, encrypted=(), wrong=0, head=b"", directories=()):
    """files: (name, bytes); those whose name is in encrypted say that their data are."""
    record = vint(1) + RAR5_CRYPT
    out = b"Rar!\x1a\x07\x01\x00" + head + rar5_block(1, 0, vint(0))
    for name in directories:
        out += rar5_file(name, b"", directory=True)
    for name, data in files:
        out += rar5_block(3, 0, vint(4) + vint(2) + vint(0) + struct.pack("<I", zlib.crc32(b"no")) + vint(0) + vint(1) +
                          vint(3) + b"CMT", b"no") if name.startswith(b"noted") else b""
        out += rar5_file(name, data, vint(len(record)) + record if name in encrypted else b"", wrong)
    return out + rar5_block(5, 0, vint(0))


def rar5_all_encrypted():
    """An archive whose heads are encrypted: behind the head of kind 4 nothing can be read."""
    crypt = vint(0) + vint(1) + bytes([15]) + bytes(16) + bytes(12)
    return b"Rar!\x1a\x07\x01\x00" + rar5_block(4, 0, crypt) + bytes(range(256)) * 2


def cab(files, mszip, checksum=0):
    """One folder of files (name, bytes), stored or MSZIP. A sum of 0 is not checked."""
    everything = b"".join(data for _, data in files)
    blocks, last = [], b""
    for at in range(0, len(everything), 0x8000):
        plain = everything[at:at + 0x8000]
        packed = plain
        if mszip:
            packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=last) if last else zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = b"CK" + packer.compress(plain) + packer.flush()
        blocks.append(struct.pack("<IHH", checksum, len(packed), len(plain)) + packed)
        last = plain
    rows, at = b"", 0
    for name, data in files:
        rows += struct.pack("<IIHHHH", len(data), at, 0, 0x5A21, 0, 0xA0 if any(c > 127 for c in name) else 0x20)
        rows += name + b"\0"
        at += len(data)
    start = 36 + 8 + len(rows)
    size = start + sum(map(len, blocks))
    return (b"MSCF" + struct.pack("<IIIIIBBHHHHH", 0, size, 0, 36 + 8, 0, 3, 1, 1, len(files), 0, 1, 0) +
            struct.pack("<IHH", start, len(blocks), 1 if mszip else 0) + rows + b"".join(blocks))


def cpio_head(name, mode, size, inode=1):
    fields = (inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, len(name) + 1, 0)
    text = b"070701" + b"".join(b"%08X" % n for n in fields) + name + b"\0"
    return text + bytes(-len(text) % 4)


def cpio(files):
    """The newer format of cpio(1)."""
    out = b"".join(cpio_head(name, 0o100644, len(data), i + 1) + data + bytes(-len(data) % 4)
                   for i, (name, data) in enumerate(files))
    return out + cpio_head(b"TRAILER!!!", 0, 0)


CLEAR, FIRST = 256, 257


def lzw(data):
    """A file of compress(1), at most 16 bits a code, that never clears its table."""
    table = {bytes([i]): i for i in range(256)}
    codes, word = [], b""
    for byte in data:
        longer = word + bytes([byte])
        if longer in table:
            word = longer
            continue
        codes.append(table[word])
        if len(table) < (1 << 16) - 1:
            table[longer] = len(table) + 1  # 256 is CLEAR
        word = bytes([byte])
    return lzw_codes(codes + [table[word]] * bool(word))


def lzw_codes(codes):
    bits, width = [], 9
    grows = CLEAR not in codes
    for i, code in enumerate(codes):  # whoever reads has added i - 1 words
        if FIRST + i - 1 >= 1 << width and width < 16 and grows:
            width += 1
        bits.append(f"{code:0{width}b}"[::-1])
    bits = "".join(bits)
    bits += "0" * (-len(bits) % 8)
    return b"\x1f\x9d\x90" + bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
