#!/usr/bin/env python3
"""Reads the vectors of the exchange with nothing of gillnet: a second implementation of contrib/doc/protocol.md.

usage: second.py FOLDER    (tests/data/peers)

Every line of every vector is made again from its `header` and `payload` (of heads: from `bytes`) and compared. Each object is
also changed in one byte of each field, which must be refused.
"""
import ctypes
import hashlib
import os
import struct
import sys

ZERO = bytes(32)
COUNT, LIST, MEMBER, TEXT, MEMBER_REVOKED = 1, 2, 3, 4, 5
DELTA, SNAP, HEARTBEAT, PROOF = 1, 2, 4, 5
TYPES = {DELTA: (COUNT, LIST, TEXT), SNAP: (COUNT, LIST, MEMBER, TEXT, MEMBER_REVOKED), HEARTBEAT: (0,), PROOF: (0,)}
NAME_FIRST = set(b'abcdefghijklmnopqrstuvwxyz0123456789')


class Refused(Exception):
    pass


def need(holds, why):
    if not holds:
        raise Refused(why)


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


# ---- Ed25519, RFC 8032 5.1.7

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT_OF_MINUS_1 % P
    need(y < P and (x * x - x2) % P == 0 and (x or not sign), 'point')
    return P - x if x & 1 != sign else x


def decode(data):
    y = int.from_bytes(data, 'little')
    sign, y = y >> 255, y & (2**255 - 1)
    x = recover_x(y, sign)
    return x, y, 1, x * y % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = add(q, p)
        p, n = add(p, p), n >> 1
    return q


BASE_Y = 4 * pow(5, -1, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def verify(key, message, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], 'little')
    need(s < L, 'signature')
    h = int.from_bytes(hashlib.sha512(r + key + message).digest(), 'little') % L
    a, b = times(s, BASE), add(decode(r), times(h, decode(key)))
    need((a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0, 'signature')


# ---- 2 objects

def stream(data):
    k = dict(zip(('origin', 'inc', 'start_s', 'len_s', 'ring_key', 'kind', 'zeros', 'list'),
                 struct.unpack('<16sQQIIH6s32s', data)))
    count, none, kind = k['kind'] == COUNT, k['kind'] == 0, k['kind']
    need(k['zeros'] == bytes(6), 'zeros of the stream')
    name = k['list'].rstrip(b'\0')
    need(b'\0' not in name, 'list')
    k['known'] = kind <= MEMBER_REVOKED
    if k['known']:
        need(any(k['origin']), 'origin')
        need(k['inc'] or none, 'inc')
        need(k['start_s'] % 600 == 0 and k['start_s'] if count else k['start_s'] == 0, 'start')
        need(k['len_s'] == (600 if count else 0), 'len')
        need(k['ring_key'] == 0 or kind not in (TEXT, 0), 'digest key')
        if count or none:
            need(name == b'', 'list')
        else:
            need(name and name[0] in NAME_FIRST and all(c in NAME_FIRST | set(b'_-') for c in name), 'list')
    k['name'] = name.decode()
    k['stream_id'] = digest(data)[:16]
    return k


def header(data):
    need(len(data) == 384, 'length')
    magic, major, minor, kind_of, flags, zeros = struct.unpack('<4sBBHH6s', data[:16])
    need(magic == b'GNXO', 'magic')
    need(major == 1, 'version')
    need(zeros == bytes(6) and data[280:320] == bytes(40), 'zeros')
    o = stream(data[32:112])
    o.update(zip(('ring', 'key_id', 'seq', 'base_seq', 'prev', 'root', 'payload_hash', 'records', 'total', 'raw_len',
                  'sent_len', 'created_ms', 'expires_ms'),
                 struct.unpack('<16s', data[16:32]) + struct.unpack('<QQQ32s32s32sQQQQQQ', data[112:280])))
    o.update(type=kind_of, flags=flags, hash=digest(data[:320]))
    need(kind_of in TYPES and o['kind'] in TYPES[kind_of], 'type')
    has_stream, kind = o['kind'] != 0, o['kind']
    need(flags == 0 or (flags == 1 and kind_of == SNAP and kind == COUNT), 'flags')
    need(o['seq'] >= 1, 'seq')
    need(o['base_seq'] == (o['seq'] - 1 if kind_of == DELTA else 0), 'base')
    need((o['prev'] != ZERO) == (has_stream and o['seq'] > 1), 'prev')
    lengths(o)
    need(o['total'] >= o['records'] and (o['records'] or not o['total']) if kind == COUNT else o['total'] == 0, 'total')
    need(kind not in (MEMBER, MEMBER_REVOKED) or o['root'] == o['payload_hash'], 'root')
    need(o['created_ms'], 'created')
    need(o['expires_ms'] > o['created_ms'] if kind_of == HEARTBEAT else o['expires_ms'] == 0, 'expires')
    return o


def is_packed(o):
    return o['type'] == DELTA or (o['kind'] == TEXT and o['records'] > 0)


def lengths(o):
    n, raw, sent, kind = o['records'], o['raw_len'], o['sent_len'], o['kind']
    if kind == 0:
        need(n == (2 if o['type'] == PROOF else 0) and raw == 384 * n, 'records')
    elif kind in (MEMBER, MEMBER_REVOKED):
        need(raw > 0, 'raw length')
    else:
        least, most = {COUNT: (2, 20), LIST: (19, 25), TEXT: (5, 8203)}[kind]
        need(least * n <= raw <= most * n, 'raw length')
    need(o['type'] != DELTA or n > 0, 'records')
    need(raw <= (16 if o['type'] == DELTA else 256) << 20, 'raw length')
    if is_packed(o):
        need(1 <= sent <= ((16 << 20) + (64 << 10) if o['type'] == DELTA else 257 << 20), 'sent length')
    else:
        need(sent == raw, 'sent length')


# ---- 3 payloads

def unpack(packed, raw_len):
    need(packed[:4] == b'\x28\xb5\x2f\xfd' and len(packed) > 5, 'frame')
    bits = packed[4]
    single, size = bits >> 5 & 1, (1, 2, 4, 8)[bits >> 6]
    need(bits & 0x1b == 0 and bits & 4 and (single or bits >> 6), 'frame')
    at = 5 if single else 6
    content = int.from_bytes(packed[at:at + size], 'little') + (256 if size == 2 else 0)
    base = 1 << 10 + (packed[5] >> 3)
    need(content == raw_len and (content if single else base + base // 8 * (packed[5] & 7)) <= 8 << 20, 'frame')
    at += size
    last = 0
    while not last:
        block = int.from_bytes(packed[at:at + 3], 'little')
        last, kind, n = block & 1, block >> 1 & 3, block >> 3
        need(kind != 3 and (n or last), 'block')
        at += 3 + (1 if kind == 1 else n)
    need(at + 4 == len(packed), 'frame')
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(raw_len + 1)
    need(zstd.ZSTD_decompress(out, raw_len, packed, len(packed)) == raw_len, 'frame')
    return out.raw[:raw_len]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        need(len(self.data) - self.at >= n, 'cut off')
        self.at += n
        return self.data[self.at - n:self.at]

    def leb(self, most=2**64 - 1):
        v, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            v |= (byte & 127) << shift
            if byte < 128:
                need((byte or not shift) and v <= most, 'number')
                return v
            shift += 7


def records(o, raw):
    r, n = Reader(raw), o['records']
    if o['kind'] == COUNT:
        keys, key = [], 0
        for gap in [r.leb() for _ in range(n)]:
            need(gap, 'gap')
            key += gap
            keys.append(key)
        counts = [r.leb() for _ in range(n)]
        need(all(counts) and key < 2**64 and sum(counts) == o['total'], 'total')
        out = list(zip(keys, counts))
    else:
        text = o['kind'] == TEXT
        names = [r.leb(8192) if text else r.take(16) for _ in range(n)]
        steps = [(b >> 4, b & 15) for b in r.take(n)]
        types = [r.leb(65535) for _ in range(n)]
        expiries = [r.leb(2**32 - 1) for _ in range(n)]
        if text:
            need(all(names), 'text')
            names = [r.take(k) for k in names]
        order = list(zip(types, names)) if text else names
        need(all(a < b for a, b in zip(order, order[1:])), 'order')
        need(all(a != b and a < 3 and b < 3 and (o['type'] == DELTA or a == 0) for a, b in steps), 'step')
        out = [s + (t, e, name) for s, t, e, name in zip(steps, types, expiries, names)]
    need(r.at == len(raw), 'left over')
    return out


# ---- 4 roots

def root(o, rows):
    def term(data):
        return int.from_bytes(digest(o['ring'] + struct.pack('<H', o['kind']) + data), 'little')
    total = 0
    for row in rows:
        if o['kind'] == COUNT:
            total += row[1] * term(struct.pack('<Q', row[0]))
        else:
            before, after, kind, expiry, name = row
            for state, sign in ((before, -1), (after, 1)):
                total += sign * term(struct.pack('<HIB', kind, expiry, state) + name) if state else 0
    return (total % 2**256).to_bytes(32, 'little')


def receive(head, payload, key):
    """The lines of a vector."""
    o = header(head)
    need(o['key_id'] == int.from_bytes(digest(key)[:8], 'little'), 'key')
    verify(key, b'gillnet-exchange/1\0' + head[:320], head[320:])
    need(len(payload) == o['sent_len'] and digest(payload) == o['payload_hash'], 'payload')
    raw = unpack(payload, o['raw_len']) if is_packed(o) else payload
    rows = records(o, raw) if o['kind'] in (COUNT, LIST, TEXT) else []
    if o['kind'] in (COUNT, LIST, TEXT):  # in the vectors all begin with an empty stream
        need(root(o, rows) == o['root'], 'root')
    if o['type'] == PROOF:
        a, b = header(raw[:384]), header(raw[384:])
        need(a['hash'] != b['hash'] and (a['stream_id'], a['seq']) == (b['stream_id'], b['seq']), 'proof')
        for half in (raw[:384], raw[384:]):
            verify(key, b'gillnet-exchange/1\0' + half[:320], half[320:])
    lines = [('header', head), ('payload', payload), ('raw', raw), ('hash', o['hash'])]
    lines += [(k, o[k]) for k in ('type', 'flags', 'ring')] + of_stream(o)
    lines += [(k, o[k]) for k in ('key_id', 'seq', 'base_seq', 'prev', 'root', 'payload_hash', 'records', 'total', 'raw_len',
                                  'sent_len', 'created_ms', 'expires_ms')]
    for row in rows:
        if o['kind'] == COUNT:
            lines.append(('record', '%d %d' % row))
        else:
            lines.append(('record', '%d %d %d %d %s %s' % (row[:4] + ('text' if o['kind'] == TEXT else 'digest', row[4].hex()))))
    return lines


def of_stream(k):
    return [(n, k[n]) for n in ('origin', 'inc', 'start_s', 'len_s', 'ring_key', 'kind')] + \
        [('list', k['name'] or '-'), ('stream_id', k['stream_id'])]


# ---- 5 heads

def heads(data):
    r = Reader(data)
    need(r.take(4) == b'GNXH', 'magic')
    n, version = struct.unpack('<IQ', r.take(12))
    need(n <= 65536, 'heads')
    lines = [('bytes', data), ('version', version)]
    for _ in range(n):
        head = r.take(192)
        k = stream(head[:80])
        flags, zeros, seq, name, first, snap_seq, snap, rest = struct.unpack('<H6sQ32sQQ32s16s', head[80:])
        need(zeros == bytes(6) and rest == bytes(16) and k['kind'], 'zeros')
        if not k['known']:
            continue
        need(flags == 0 or (flags == 1 and k['kind'] == COUNT and snap_seq == seq), 'flags')
        need(seq and 1 <= first <= seq + 1 and snap_seq <= seq, 'seq')
        need((snap == ZERO) == (snap_seq == 0) and (snap_seq != seq or snap == name), 'snap')
        lines += of_stream(k) + [('flags', flags), ('seq', seq), ('hash', name), ('from', first), ('snap_seq', snap_seq),
                                 ('snap', snap)]
    beats = struct.unpack('<I', r.take(4))[0]
    need(beats <= 1024, 'heartbeats')
    lines += [('heartbeat', r.take(384)) for _ in range(beats)]
    need(r.at == len(data), 'left over')
    return lines


# ---- the vectors

def text(lines):
    return ''.join('%s %s\n' % (k, v.hex() if isinstance(v, bytes) else v) for k, v in lines)


def read(path):
    with open(path, encoding='ascii') as f:
        whole = f.read()
    first = {}
    for line in whole.splitlines():
        name, _, value = line.partition(' ')
        first.setdefault(name, value)
    return whole, first


def is_refused(fn, *args):
    try:
        fn(*args)
    except Refused:
        return True
    return False


def main():
    folder = sys.argv[1]
    _, first = read(os.path.join(folder, 'keys.txt'))
    key = bytes.fromhex(first['public'])
    count = 0
    for name in sorted(os.listdir(folder)):
        whole, first = read(os.path.join(folder, name))
        if 'header' in first:
            head, payload = bytes.fromhex(first['header']), bytes.fromhex(first['payload'])
            assert text(receive(head, payload, key)) == whole, name
            for at in list(range(0, 320, 37)) + [320, 383]:
                bad = head[:at] + bytes([head[at] ^ 1]) + head[at + 1:]
                assert is_refused(receive, bad, payload, key), (name, at)
            count += 1
        elif 'bytes' in first:
            data = bytes.fromhex(first['bytes'])
            assert text(heads(data)) == whole, name
            assert is_refused(heads, data[:-1]) and is_refused(heads, data + b'\0'), name
            count += 1
    assert count >= 11, count
    print('%d vectors read' % count)


if __name__ == '__main__':
    main()
