/* ole_vba - source of the macros of a project. Source: MS-OVBA 2.3.4.2 (dir), 2.4.1 (packing). */

#include "core/base/cursor.h"
#include "core/reader/document/ole_text.h"

enum {
    CHUNK = 4096, /* bytes of source that are packed together */
    CHUNK_PACKED = 0x8000,
    CHUNK_MARK = 0x3000,
    SOURCE_MAX = 16 << 20, /* bytes of one module */
    MODULES = 2000
};

enum dir_record {
    DIR_CODEPAGE = 0x0003,
    DIR_VERSION = 0x0009, /* is two bytes longer than it says */
    DIR_MODULE_NAME = 0x0019,
    DIR_MODULE_OFFSET = 0x0031,
    DIR_STREAM_WIDE = 0x0032,
    DIR_MODULE_END = 0x002b
};

/* A copy of earlier bytes of the chunk: the further it is, the more bits has the distance. */
static bool copy_earlier(struct buf *to, size_t begin, unsigned token)
{
    unsigned bits = 4;

    while (bits < 12 && (size_t)1 << bits < to->n - begin) {
        bits++;
    }
    const size_t n = (token & 0xffffU >> bits) + 3;
    const size_t back = (token >> (16 - bits)) + 1;
    if (back > to->n - begin) {
        return false;
    }
    for (size_t i = 0; i < n && to->n - begin < CHUNK; i++) {
        buf_add_char(to, to->p[to->n - back]);
    }
    return true;
}

static bool unpack_chunk(struct buf *to, struct slice chunk)
{
    struct cursor c = cursor_of(chunk);
    const size_t begin = to->n;

    while (c.rest.n > 0 && !buf_failed(to)) {
        const unsigned flags = cursor_u8(&c);
        for (unsigned i = 0; i < 8 && c.rest.n > 0; i++) {
            if ((flags >> i & 1) == 0) {
                buf_add_char(to, (char)cursor_u8(&c));
            } else if (!copy_earlier(to, begin, cursor_u16(&c)) || !cursor_ok(&c)) {
                return false;
            }
        }
    }
    return true;
}

/* False: the bytes are not packed like a module, or break off. Earlier chunks stay in the
 * buffer. */
static bool unpack(struct buf *to, struct slice packed)
{
    struct cursor c = cursor_of(packed);

    if (cursor_u8(&c) != 1) {
        return false;
    }
    while (c.rest.n > 0 && !buf_failed(to)) {
        const unsigned head = cursor_u16(&c);
        const size_t n = (head & 0x0fff) + 1;
        if (!cursor_ok(&c) || (head & 0x7000) != CHUNK_MARK) {
            return false;
        }
        const struct slice chunk = cursor_bytes(&c, n < c.rest.n ? n : c.rest.n);
        if ((head & CHUNK_PACKED) == 0) {
            buf_add(to, chunk);
        } else if (!unpack_chunk(to, chunk)) {
            return false;
        }
    }
    return true;
}

struct project {
    struct ole *o;
    const struct ole_folder *folder;
    unsigned codepage;
    uint32_t offset;
    unsigned nmodules;
    struct buf stream; /* name of the module's stream */
};

static void read_module(struct project *p)
{
    struct ole_stream s;
    struct buf packed;
    struct buf source;

    if (p->stream.n == 0 || p->nmodules++ >= MODULES ||
        !ole_open(p->o, p->folder, p->stream.p, &s)) {
        return;
    }
    buf_init(&packed, SOURCE_MAX);
    buf_init(&source, 4 * (size_t)SOURCE_MAX);
    ole_at(p->o, "macro %s", p->stream.p);
    if (!unpack(&packed, slice_from(s.bytes, p->offset))) {
        ole_keep(p->o, found_fact(p->o->f, RECORD_DAMAGED));
    }
    text_add_narrow(p->o, &source, p->codepage, buf_slice(&packed));
    if (source.n > 0) {
        ole_keep(p->o, found_script(p->o->f, RECORD_VBA, buf_slice(&source)));
    }
    buf_fini(&source);
    buf_fini(&packed);
    ole_close(&s);
}

static void read_record(struct project *p, unsigned id, struct slice value)
{
    struct cursor c = cursor_of(value);

    switch (id) {
    case DIR_CODEPAGE:
        p->codepage = cursor_u16(&c);
        break;
    case DIR_MODULE_NAME:
        buf_clear(&p->stream);
        p->offset = 0;
        break;
    case DIR_STREAM_WIDE:
        buf_clear(&p->stream);
        text_add_wide(&p->stream, value);
        break;
    case DIR_MODULE_OFFSET:
        p->offset = cursor_u32(&c);
        break;
    case DIR_MODULE_END:
        read_module(p);
        buf_clear(&p->stream);
        break;
    default:
        break;
    }
}

static void read_dir(struct project *p, struct slice dir)
{
    struct cursor c = cursor_of(dir);

    while (c.rest.n > 0 && !p->o->is_over) {
        const unsigned id = cursor_u16(&c);
        const uint32_t n = cursor_u32(&c);
        const struct slice value =
            cursor_bytes(&c, id == DIR_VERSION ? (size_t)n + 2 : n);
        if (!cursor_ok(&c)) {
            break;
        }
        read_record(p, id, value);
    }
}

void vba_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    struct project p = {.o = o, .folder = folder};
    struct ole_stream s;
    struct buf dir;

    if (!ole_open(o, folder, "_VBA_PROJECT", &s)) {
        return; /* a stream that has this name by chance */
    }
    ole_close(&s);
    ole_keep(o, found_fact(o->f, RECORD_MACRO));
    buf_init(&dir, SOURCE_MAX);
    buf_init(&p.stream, FOUND_NAME_MAX);
    if (!unpack(&dir, bytes)) {
        ole_keep(o, found_fact(o->f, RECORD_DAMAGED));
    }
    read_dir(&p, buf_slice(&dir));
    buf_fini(&p.stream);
    buf_fini(&dir);
}
