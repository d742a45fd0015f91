/*
 * feed_set - the checksum is a chain over blocks, so that it is made while the records come.
 */
#include "core/feed/feed_set.h"

#include "core/base/checksum.h"
#include "core/base/cursor.h"

enum { SET_VERSION = 1, BLOCK_BYTES = 4096 * FEED_SET_RECORD_BYTES };
#define SET_MAGIC SLICE_LIT("GNFSET01")

/* ---- the form ---- */

uint64_t set_form(enum url_match match)
{
    return 1 + (uint64_t)match;
}

static void print_header(const struct feed_set_out *o, struct buf *ret)
{
    buf_add(ret, SET_MAGIC);
    buf_add_u32(ret, SET_VERSION);
    buf_add_u32(ret, o->key_id);
    buf_add_u64(ret, o->n);
    buf_add_u64(ret, o->sum);
    buf_add_u64(ret, o->form);
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

/* The sum of the former blocks (sum) and this one. */
static uint64_t chain(uint64_t sum, struct slice block)
{
    struct buf b;
    buf_init(&b, 2 * sizeof(uint64_t));
    buf_add_u64(&b, sum);
    buf_add_u64(&b, checksum64(block));
    uint64_t next = checksum64(buf_slice(&b));
    buf_fini(&b);
    return next;
}

static const struct digest *digest_at(const struct feed_set *s, uint64_t i)
{
    const void *p = s->record + i * FEED_SET_RECORD_BYTES;
    return p;
}

/* The blocks have this sum, and their digests rise. */
static bool is_set_whole(const struct feed_set *s, uint64_t sum)
{
    const char *p = (const char *)s->record;
    size_t left = (size_t)s->n * FEED_SET_RECORD_BYTES;
    uint64_t is = 0;
    while (left > 0) {
        size_t size = left < BLOCK_BYTES ? left : (size_t)BLOCK_BYTES;
        is = chain(is, slice_of(p, size));
        p += size;
        left -= size;
    }
    bool rises = true;
    for (uint64_t i = 1; rises && i < s->n; i++) {
        rises = digest_cmp(digest_at(s, i - 1), digest_at(s, i)) < 0;
    }
    return is == sum && rises;
}

/* ---- reading ---- */

enum err feed_set_parse(struct feed_set *s, struct slice bytes, const char *path,
                        struct errinfo *reterr)
{
    struct cursor c = cursor_of(slice_head(bytes, FEED_SET_HEADER_BYTES));
    struct slice magic = cursor_bytes(&c, SET_MAGIC.n);
    uint32_t version = cursor_u32(&c);
    struct feed_set got = {.key_id = cursor_u32(&c)};
    got.n = cursor_u64(&c);
    uint64_t sum = cursor_u64(&c);
    got.form = cursor_u64(&c);
    uint64_t head_sum = cursor_u64(&c);
    if (!cursor_ok(&c) || !slice_eq(magic, SET_MAGIC) ||
        head_sum != checksum64(slice_head(bytes, FEED_SET_HEADER_BYTES - 8))) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is no version of a feed, or its head is damaged");
    }
    if (version != SET_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "written by another version of gillnet");
    }
    const void *record = bytes.p + FEED_SET_HEADER_BYTES;
    got.record = record;
    if ((bytes.n - FEED_SET_HEADER_BYTES) / FEED_SET_RECORD_BYTES != got.n ||
        (bytes.n - FEED_SET_HEADER_BYTES) % FEED_SET_RECORD_BYTES != 0 ||
        !is_set_whole(&got, sum)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this version of a feed is damaged (its checksum is wrong)");
    }
    *s = got;
    return ERR_OK;
}

enum err feed_set_open(struct feed_set *s, const char *path, struct errinfo *reterr)
{
    struct filemap map = {0};
    *s = (struct feed_set){.n = 0};
    enum err e = filemap_open(&map, path, FILEMAP_READ, reterr);
    const void *p = map.p;
    THEN(e, feed_set_parse(s, slice_of(p, map.n), path, reterr));
    if (e == ERR_OK) {
        s->map = map;
    } else {
        filemap_close(&map);
    }
    return e;
}

void feed_set_close(struct feed_set *s)
{
    filemap_close(&s->map);
    *s = (struct feed_set){.n = 0};
}

void feed_set_get(const struct feed_set *s, uint64_t i, struct feed_set_entry *ret)
{
    const void *p = s->record + i * FEED_SET_RECORD_BYTES;
    struct cursor c = cursor_of(slice_of(p, FEED_SET_RECORD_BYTES));
    memcpy(ret->digest.b, cursor_bytes(&c, DIGEST_BYTES).p, DIGEST_BYTES);
    ret->first_seen_s = cursor_u32(&c);
    ret->expiry_s = cursor_u32(&c);
}

bool feed_set_has(const struct feed_set *s, const struct digest *d)
{
    uint64_t from = 0;
    uint64_t to = s->n;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        int order = digest_cmp(digest_at(s, middle), d);
        if (order == 0) {
            return true;
        }
        from = order < 0 ? middle + 1 : from;
        to = order < 0 ? to : middle;
    }
    return false;
}

/* ---- writing ---- */

static void flush_records(struct feed_set_out *o)
{
    if (o->block.n > 0) {
        o->sum = chain(o->sum, buf_slice(&o->block));
        file_out_add(&o->out, buf_slice(&o->block));
        buf_clear(&o->block);
    }
}

enum err feed_set_out_open(struct feed_set_out *o, const char *path,
                           const struct set_kind *kind, struct errinfo *reterr)
{
    static const char head[FEED_SET_HEADER_BYTES];
    *o = (struct feed_set_out){.key_id = kind->key_id,
                               .form = set_form(kind->url_match)};
    enum err e = file_out_open(&o->out, path, FEED_SET_FILE_MODE, reterr);
    buf_init(&o->block, BLOCK_BYTES);
    if (e == ERR_OK) {
        file_out_add(&o->out, slice_of(head, sizeof(head)));
    }
    return e;
}

void feed_set_out_add(struct feed_set_out *o, const struct feed_set_entry *e)
{
    if (o->n > 0 && digest_cmp(&o->last, &e->digest) >= 0) {
        o->out.failed = ERR_RANGE;
    }
    o->last = e->digest;
    o->n++;
    const void *d = e->digest.b;
    buf_add(&o->block, slice_of(d, DIGEST_BYTES));
    buf_add_u32(&o->block, e->first_seen_s);
    buf_add_u32(&o->block, e->expiry_s);
    if (o->block.n == BLOCK_BYTES || buf_failed(&o->block)) {
        o->out.failed = buf_failed(&o->block) ? ERR_NOMEM : o->out.failed;
        flush_records(o);
    }
}

enum err feed_set_out_commit(struct feed_set_out *o, struct errinfo *reterr)
{
    struct buf head;
    buf_init(&head, FEED_SET_HEADER_BYTES);
    flush_records(o);
    print_header(o, &head);
    if (buf_failed(&head) || buf_failed(&o->block)) {
        o->out.failed = ERR_NOMEM;
    }
    file_out_put_at(&o->out, 0, buf_slice(&head));
    enum err e = file_out_commit(&o->out, reterr);
    buf_fini(&head);
    buf_fini(&o->block);
    return e;
}

void feed_set_out_abort(struct feed_set_out *o)
{
    file_out_abort(&o->out);
    buf_fini(&o->block);
}
