/* bloomfile_header - the fields of a filter file's header, written, read and judged. */

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/filter/bloomfile_internal.h"

enum {
    HEADER_SUM_AT = BLOOMFILE_HEADER_BYTES - BLOOMFILE_SUM_BYTES,
    FORMAT_VERSION = 2
};
#define MAGIC SLICE_LIT("GNBLOOM1")

uint64_t bloomfile_lines_bytes(uint64_t nlines)
{
    return nlines * BLOOM_LINE_BYTES;
}

uint64_t bloomfile_block_count(uint64_t nlines)
{
    return (bloomfile_lines_bytes(nlines) + BLOOMFILE_BLOCK_BYTES - 1) /
           BLOOMFILE_BLOCK_BYTES;
}

uint64_t bloomfile_file_size(uint64_t nlines)
{
    return BLOOMFILE_HEADER_BYTES + bloomfile_lines_bytes(nlines) +
           bloomfile_block_count(nlines) * BLOOMFILE_SUM_BYTES;
}

enum err bloomfile_refuse(struct errinfo *reterr, enum err code, const char *path,
                          const char *what, const char *next)
{
    return errinfo_set(reterr, code, path, 0, "%s; the filter cannot be used: %s", what,
                       next);
}

/* The fields, in the order of the file. */
static struct bloomfile_header fields_read(struct slice bytes)
{
    struct cursor c = cursor_of(slice_from(bytes, MAGIC.n));
    struct bloomfile_header h = {0};
    struct bloomfile_facts *facts = &h.shape.facts;
    h.version = cursor_u32(&c);
    h.shape.layout = (enum bloom_layout)cursor_u32(&c);
    h.shape.nlines = cursor_u64(&c);
    h.shape.k = cursor_u32(&c);
    h.shape.hash = (enum bloomfile_hash)cursor_u32(&c);
    facts->digest_key = cursor_u32(&c);
    facts->position_key = cursor_u32(&c);
    facts->entries = cursor_u64(&c);
    facts->capacity = cursor_u64(&c);
    facts->generation = cursor_u64(&c);
    facts->period = cursor_u64(&c);
    struct slice origin = cursor_bytes(&c, BLOOMFILE_ORIGIN_BYTES);
    if (origin.n == BLOOMFILE_ORIGIN_BYTES) {
        memcpy(facts->origin, origin.p, BLOOMFILE_ORIGIN_BYTES);
    }
    facts->created_s = cursor_u64(&c);
    facts->role = (enum bloomfile_role)cursor_u32(&c);
    (void)cursor_u32(&c); /* reserved */
    h.table_sum = cursor_u64(&c);
    return h;
}

enum err bloomfile_header_write(const struct bloomfile_header *h, struct buf *ret)
{
    static const char zeros[BLOOMFILE_HEADER_BYTES];
    const struct bloomfile_facts *facts = &h->shape.facts;
    buf_add(ret, MAGIC);
    buf_add_u32(ret, FORMAT_VERSION);
    buf_add_u32(ret, (uint32_t)h->shape.layout);
    buf_add_u64(ret, h->shape.nlines);
    buf_add_u32(ret, h->shape.k);
    buf_add_u32(ret, (uint32_t)h->shape.hash);
    buf_add_u32(ret, facts->digest_key);
    buf_add_u32(ret, facts->position_key);
    buf_add_u64(ret, facts->entries);
    buf_add_u64(ret, facts->capacity);
    buf_add_u64(ret, facts->generation);
    buf_add_u64(ret, facts->period);
    buf_add(ret, slice_of((const char *)facts->origin, BLOOMFILE_ORIGIN_BYTES));
    buf_add_u64(ret, facts->created_s);
    buf_add_u32(ret, (uint32_t)facts->role);
    buf_add_u32(ret, 0);
    buf_add_u64(ret, h->table_sum);
    if (buf_failed(ret)) {
        return ERR_NOMEM;
    }
    buf_add(ret, slice_of(zeros, HEADER_SUM_AT - ret->n));
    if (buf_failed(ret)) {
        return ERR_NOMEM;
    }
    buf_add_u64(ret, checksum64(buf_slice(ret)));
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

/* Checks that this program can use the fields of a header. */
static enum err shape_check(const struct bloomfile_shape *s, const char *path,
                            const char *next, struct errinfo *reterr)
{
    const struct bloomfile_facts *facts = &s->facts;
    if (!bloom_layout_name(s->layout) || s->hash != BLOOMFILE_HASH_MIX ||
        facts->role < BLOOMFILE_BASE || facts->role > BLOOMFILE_REVOKED) {
        return errinfo_set(
            reterr, ERR_VERSION, path, 0,
            "layout %u, hash %u or role %u is unknown to this version of "
            "gillnet; the filter cannot be used: %s",
            s->layout, (unsigned)s->hash, (unsigned)facts->role, next);
    }
    if (bloom_check(s->layout, s->nlines, s->k) != ERR_OK || facts->capacity < 1) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "%" PRIu64 " lines, %u probes and room for %" PRIu64
                           " entries are impossible; the filter cannot be used: %s",
                           s->nlines, s->k, facts->capacity, next);
    }
    return ERR_OK;
}

enum err bloomfile_header_read(struct slice bytes, const char *path, const char *next,
                               struct bloomfile_header *ret, struct errinfo *reterr)
{
    if (bytes.n < BLOOMFILE_HEADER_BYTES) {
        return bloomfile_refuse(reterr, ERR_CORRUPT, path, "cut off in the header",
                                next);
    }
    if (!slice_has_prefix(bytes, MAGIC)) {
        return bloomfile_refuse(reterr, ERR_CORRUPT, path, "not a gillnet filter",
                                next);
    }
    struct bloomfile_header h = fields_read(bytes);
    if (h.version != FORMAT_VERSION) {
        /* a flipped bit here looks the same; both have the same next step */
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "made by another version of gillnet (file format %" PRIu32
                           ", this is %d); the filter cannot be used: %s",
                           h.version, FORMAT_VERSION, next);
    }
    struct cursor sum = cursor_of(slice_from(bytes, HEADER_SUM_AT));
    if (cursor_u64(&sum) != checksum64(slice_head(bytes, HEADER_SUM_AT))) {
        return bloomfile_refuse(reterr, ERR_CORRUPT, path,
                                "the header's checksum is wrong", next);
    }
    enum err e = shape_check(&h.shape, path, next, reterr);
    if (e == ERR_OK) {
        *ret = h;
    }
    return e;
}
