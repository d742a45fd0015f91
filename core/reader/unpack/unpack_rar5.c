/*
 * unpack_rar5 - which parts of a RAR 5 archive are encrypted.
 *
 * A head has a CRC of 4 bytes and numbers of seven bits a byte: length of the head, kind, flags,
 * length of the extra records, length of the data behind the head. An extra record of kind 1 in the
 * head of a file means encrypted data. Behind a head of kind 4 all heads are encrypted.
 * Source: "RAR 5.0 archive format", rarlab.
 */
#include "core/base/cursor.h"
#include "core/reader/unpack/unpack_internal.h"

enum {
    HEAD_FILE = 2,
    HEAD_CRYPT = 4,
    HEAD_END = 5,
    HEAD_HAS_EXTRA = 1,
    HEAD_HAS_DATA = 2,
    EXTRA_CRYPT = 1,
    CRC_BYTES = 4,
    NUMBER_BYTES = 10,
    NUMBER_BITS = 7,
    BYTE_BITS = 8,
    PROGRAM_MOST = 1 << 20 /* bytes of a program that may stand before an archive */
};

struct head {
    uint64_t kind;
    struct slice extra;
};

static uint64_t take_vint(struct cursor *c)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < NUMBER_BYTES; i++) {
        const uint8_t byte = cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << (i * NUMBER_BITS);
        if ((byte & 0x80) == 0) {
            return value;
        }
    }
    c->failed = true;
    return 0;
}

static bool take_rar5_head(struct cursor *c, struct head *ret)
{
    (void)cursor_bytes(c, CRC_BYTES);
    const uint64_t n = take_vint(c);
    struct cursor in = cursor_of(cursor_bytes(c, n <= SIZE_MAX ? (size_t)n : 0));
    ret->kind = take_vint(&in);
    const uint64_t flags = take_vint(&in);
    const uint64_t nextra = (flags & HEAD_HAS_EXTRA) != 0 ? take_vint(&in) : 0;
    const uint64_t ndata = (flags & HEAD_HAS_DATA) != 0 ? take_vint(&in) : 0;

    if (!cursor_ok(c) || !cursor_ok(&in) || nextra > in.rest.n) {
        return false;
    }
    ret->extra = slice_from(in.rest, in.rest.n - (size_t)nextra);
    (void)cursor_bytes(c, ndata <= c->rest.n ? (size_t)ndata : c->rest.n);
    return true;
}

static bool has_crypt(struct slice extra)
{
    struct cursor c = cursor_of(extra);

    while (c.rest.n > 0) {
        const uint64_t n = take_vint(&c);
        struct cursor in = cursor_of(cursor_bytes(&c, n <= SIZE_MAX ? (size_t)n : 0));
        const uint64_t kind = take_vint(&in);
        if (!cursor_ok(&c) || !cursor_ok(&in)) {
            return false;
        }
        if (kind == EXTRA_CRYPT) {
            return true;
        }
    }
    return false;
}

bool unpack_rar5_is_encrypted(struct slice bytes, uint64_t offset)
{
    static const struct slice mark = {"Rar!\x1a\x07\x01\0", 8};
    struct slice rest = slice_from(bytes, offset <= bytes.n ? (size_t)offset : bytes.n);
    struct head head;

    if (offset == 0) {
        const struct slice start = slice_head(rest, PROGRAM_MOST);
        const size_t at = slice_find_slice(start, mark);
        rest = slice_from(rest, at + mark.n);
    }
    struct cursor c = cursor_of(rest);
    while (take_rar5_head(&c, &head) && head.kind != HEAD_END) {
        if (head.kind == HEAD_CRYPT) {
            return true;
        }
        if (head.kind == HEAD_FILE) {
            return has_crypt(head.extra);
        }
    }
    return false;
}
