"""Compound files, macro projects, messages and sections of OneNote, written byte by byte."""
import struct

FREE, END, FAT = 0xffffffff, 0xfffffffe, 0xfffffffd
SECTOR = 512


def cfb(tree, clsid=bytes(16)):
    """A compound file of TREE: {name: bytes, or a dict for a storage}."""
    entries, sectors, fat = [], [], []

    def store(data):
        if not data:
            return END
        first = len(sectors)
        for at in range(0, len(data), SECTOR):
            sectors.append(data[at:at + SECTOR].ljust(SECTOR, b"\0"))
            fat.append(len(sectors))
        fat[-1] = END
        return first

    small, small_fat = bytearray(), []

    def store_small(data):
        if not data:
            return END
        first = len(small_fat)
        for at in range(0, len(data), 64):
            small.extend(data[at:at + 64].ljust(64, b"\0"))
            small_fat.append(len(small_fat) + 1)
        small_fat[-1] = END
        return first

    def add(name, kind, child=FREE, start=END, size=0, left=FREE, right=FREE, uid=bytes(16)):
        entries.append([name, kind, left, right, child, start, size, uid])
        return len(entries) - 1

    def children(tree):
        ids = []
        for name, value in tree.items():
            if isinstance(value, dict):
                number = add(name, 1)
                entries[number][4] = children(value)
            elif len(value) < 4096:
                number = add(name, 2, start=store_small(value), size=len(value))
            else:
                number = add(name, 2, start=store(value), size=len(value))
            ids.append(number)
        ids.sort(key=lambda i: (len(entries[i][0]), entries[i][0].upper()))
        for left, right in zip(ids, ids[1:]):
            entries[left][3] = right  # a list is a tree, too
        return ids[0] if ids else FREE

    add("Root Entry", 5, uid=clsid)
    entries[0][4] = children(tree)
    entries[0][6] = len(small)
    entries[0][5] = store(bytes(small))
    small_at = store(struct.pack(f"<{len(small_fat)}I", *small_fat).ljust(-(-len(small_fat) * 4 // SECTOR) * SECTOR, b"\xff"))
    directory = b"".join(
        (name.encode("utf-16le") + b"\0\0").ljust(64, b"\0")
        + struct.pack("<HBBIII", len(name.encode("utf-16le")) + 2, kind, 1, left, right, child) + uid
        + bytes(20) + struct.pack("<IQ", start, size)
        for name, kind, left, right, child, start, size, uid in entries)
    while len(directory) % SECTOR:
        directory += bytes(64) + struct.pack("<HBBIII", 0, 0, 0, FREE, FREE, FREE) + bytes(16 + 20 + 12)
    directory = directory[:len(directory) // SECTOR * SECTOR]
    directory_at = store(directory)
    nfat = 1
    while nfat * 128 < len(sectors) + nfat:
        nfat += 1
    first_fat = len(sectors)
    fat += [FAT] * nfat
    fat += [FREE] * (nfat * 128 - len(fat))
    table = struct.pack(f"<{len(fat)}I", *fat)
    head = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
            + struct.pack("<HHHHH6xIIIIIIIII", 0x3e, 3, 0xfffe, 9, 6, 0, nfat, directory_at, 0, 4096,
                          small_at, -(-len(small_fat) // 128), END, 0)
            + struct.pack("<109I", *([first_fat + i for i in range(nfat)] + [FREE] * (109 - nfat))))
    return head + b"".join(sectors) + table


def packed(source):
    """The packing of MS-OVBA 2.4.1: literals, and copies of earlier bytes of the chunk."""
    out = b"\x01"
    for begin in range(0, len(source), 4096):
        chunk, body, at = source[begin:begin + 4096], b"", 0
        while at < len(chunk):
            flags, tokens = 0, b""
            for bit in range(8):
                if at >= len(chunk):
                    break
                bits = max(4, (at - 1).bit_length() if at > 1 else 4)
                best, back = 0, 0
                for start in range(max(0, at - 300), at):
                    n = 0
                    while at + n < len(chunk) and n < 18 and chunk[start + n] == chunk[at + n]:
                        n += 1
                    if n > best:
                        best, back = n, at - start
                if best >= 3 and best - 3 <= 0xffff >> bits:
                    tokens += struct.pack("<H", (back - 1) << (16 - bits) | (best - 3))
                    flags |= 1 << bit
                    at += best
                else:
                    tokens += chunk[at:at + 1]
                    at += 1
            body += bytes([flags]) + tokens
        out += struct.pack("<H", 0xb000 | len(body) - 1) + body
    return out


def project(modules, codepage=1252, encoding="cp1252"):
    """The storage of a macro project of MODULES: {name: source}."""
    def row(kind, data):
        return struct.pack("<HI", kind, len(data)) + data

    rows = row(1, struct.pack("<I", 1)) + row(3, struct.pack("<H", codepage)) + row(4, b"Project")
    rows += struct.pack("<HIIH", 9, 4, 1, 2) + row(0x0f, struct.pack("<H", len(modules)))
    streams = {"_VBA_PROJECT": b"\xcc\x61\xff\xff\0\0\0"}
    for name, source in modules.items():
        wide = name.encode("utf-16le")
        rows += row(0x19, name.encode(encoding)) + row(0x47, wide) + row(0x1a, name.encode(encoding)) + row(0x32, wide)
        rows += row(0x31, struct.pack("<I", 100)) + row(0x21, b"") + row(0x2b, b"")
        streams[name] = b"p-code".ljust(100, b"\xaa") + packed(source.encode(encoding))
    rows += row(0x10, b"")
    return {"VBA": {"dir": packed(rows), **streams}, "PROJECT": b"ID=\"{}\"\r\n"}


def native(name, data, path="C:\\fakepath\\"):
    """The content of \\1Ole10Native."""
    body = struct.pack("<H", 2) + name + b"\0" + path.encode() + name + b"\0" + struct.pack("<HH", 0, 3)
    temporary = b"C:\\Temp\\" + name + b"\0"
    body += struct.pack("<I", len(temporary)) + temporary + struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(body)) + body


def moniker(url):
    data = url.encode("utf-16le") + b"\0\0"
    return b"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b" + struct.pack("<I", len(data)) + data


def message(properties, codepage=1252, attachments=(), head=32):
    """The storage of a message of Outlook. PROPERTIES: {(number, type): bytes}; ATTACHMENTS: the same, where
    the value of a message is a dict."""
    tree = {"__properties_version1.0": bytes(head) + struct.pack("<HHIII", 3, 0x3ffd, 6, codepage, 0)}
    for (number, kind), value in properties.items():
        tree[f"__substg1.0_{number:04X}{kind:04X}"] = value
    for i, attachment in enumerate(attachments):
        inner = {"__properties_version1.0": bytes(8)}
        for (number, kind), value in attachment.items():
            inner[f"__substg1.0_{number:04X}{kind:04X}"] = value
        tree[f"__attach_version1.0_#{i:08X}"] = inner
    return tree


def wide(text):
    return text.encode("utf-16le")


def rtf_packed(text):
    """Packed RTF that holds nothing but literals and the mark of the end (MS-OXRTFCP)."""
    out, at = b"", 207
    for begin in range(0, len(text), 8):
        part = text[begin:begin + 8]
        at += len(part)
        out += b"\0" + part if len(part) == 8 else bytes([1 << len(part)]) + part
    if len(text) % 8 == 0:
        out += b"\1"
    out += bytes([(at % 4096) >> 4, (at % 4096) << 4 & 0xf0])
    return struct.pack("<IIII", len(out) + 12, len(text), 0x75465a4c, 0) + out


ONE = b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3"


def section(texts=(), ascii_texts=(), files=()):
    """A section of OneNote as far as its readers look: values behind their lengths, files behind their marks."""
    out = ONE + bytes(1008)
    for text in texts:
        data = wide(text)
        out += struct.pack("<HI", 1, 0x1c001c22) + struct.pack("<I", len(data)) + data + bytes(6)
    for text in ascii_texts:
        out += struct.pack("<I", len(text)) + text + bytes(5)
    for data in files:
        out += (b"\xe7\x16\xe3\xbd\x65\x26\x11\x45\xa4\xc4\x8d\x4d\x0b\x7a\x9e\xac" + struct.pack("<QIQ", len(data), 0, 0)
                + data.ljust(-(-len(data) // 8) * 8, b"\0")
                + b"\x22\xa7\xfb\x71\x79\x0f\x0b\x4a\xbb\x13\x89\x92\x56\x42\x6b\x24")
    return out + bytes(64)
