/*
 * feed_diff - a record: length of the text, flag, class, end, first date, digest, text; each sum
 * covers all records before it.
 */
#include "core/feed/feed_diff.h"

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/feed/feed_set.h"

enum {
    CHANGES_HEADER = 32,
    RECORD_HEAD = 2 + 2 + 1 + 4 + 4 + DIGEST_BYTES,
    SUM_BYTES = 8
};
#define CHANGES_MAGIC SLICE_LIT("GNFCHG01")

static uint64_t sum_with(uint64_t before, struct slice record)
{
    return checksum64(record) ^ (before << 1 | before >> 63);
}

/* ---- writing ---- */

enum err feed_diff_out_open(struct feed_diff_out *o, const char *path,
                            struct errinfo *reterr)
{
    static const char head[CHANGES_HEADER];
    *o = (struct feed_diff_out){.n = 0};
    enum err e = file_out_open(&o->out, path, FEED_SET_FILE_MODE, reterr);
    buf_init(&o->record, RECORD_HEAD + LIST_TEXT_MAX + SUM_BYTES);
    if (e == ERR_OK) {
        file_out_add(&o->out, slice_of(head, sizeof(head)));
    }
    return e;
}

void feed_diff_out_add(struct feed_diff_out *o, const struct refresh_item *item)
{
    const void *d = item->digest.b;
    buf_clear(&o->record);
    buf_add_u16(&o->record, (uint16_t)item->text.n);
    buf_add_u16(&o->record, item->class_type);
    buf_add_u8(&o->record, item->has_left);
    buf_add_u32(&o->record, item->expiry_s);
    buf_add_u32(&o->record, item->first_seen_s);
    buf_add(&o->record, slice_of(d, DIGEST_BYTES));
    buf_add(&o->record, item->text);
    o->sum = sum_with(o->sum, buf_slice(&o->record));
    buf_add_u64(&o->record, o->sum);
    o->n++;
    if (buf_failed(&o->record)) {
        o->out.failed = ERR_NOMEM;
    } else {
        file_out_add(&o->out, buf_slice(&o->record));
    }
}

enum err feed_diff_out_commit(struct feed_diff_out *o, struct errinfo *reterr)
{
    struct buf head;
    buf_init(&head, CHANGES_HEADER);
    buf_add(&head, CHANGES_MAGIC);
    buf_add_u64(&head, o->n);
    buf_add_u64(&head, o->sum);
    buf_add_u64(&head, checksum64(buf_slice(&head)));
    if (buf_failed(&head)) {
        o->out.failed = ERR_NOMEM;
    }
    file_out_put_at(&o->out, 0, buf_slice(&head));
    enum err e = file_out_commit(&o->out, reterr);
    buf_fini(&head);
    buf_fini(&o->record);
    return e;
}

void feed_diff_out_abort(struct feed_diff_out *o)
{
    file_out_abort(&o->out);
    buf_fini(&o->record);
}

/* ---- reading ---- */

enum err feed_diff_parse(struct feed_diff *c, struct slice bytes, const char *path,
                         struct errinfo *reterr)
{
    struct cursor head = cursor_of(slice_head(bytes, CHANGES_HEADER));
    struct slice magic = cursor_bytes(&head, CHANGES_MAGIC.n);
    struct feed_diff got = {.bytes = bytes, .at = CHANGES_HEADER};
    got.n = cursor_u64(&head);
    got.wanted = cursor_u64(&head);
    uint64_t sum = cursor_u64(&head);
    if (!cursor_ok(&head) || !slice_eq(magic, CHANGES_MAGIC) ||
        sum != checksum64(slice_head(bytes, CHANGES_HEADER - SUM_BYTES))) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the changes of an update are damaged");
    }
    *c = got;
    return ERR_OK;
}

enum err feed_diff_open(struct feed_diff *c, const char *path, struct errinfo *reterr)
{
    struct filemap map = {0};
    *c = (struct feed_diff){.n = 0};
    enum err e = filemap_open(&map, path, FILEMAP_READ, reterr);
    const void *p = map.p;
    THEN(e, feed_diff_parse(c, slice_of(p, map.n), path, reterr));
    if (e == ERR_OK) {
        c->map = map;
    } else {
        filemap_close(&map);
    }
    return e;
}

void feed_diff_close(struct feed_diff *c)
{
    filemap_close(&c->map);
    *c = (struct feed_diff){.n = 0};
}

bool feed_diff_next(void *context, struct refresh_item *ret, enum err *retfail)
{
    struct feed_diff *c = context;
    struct slice rest = slice_from(c->bytes, c->at);
    struct cursor in = cursor_of(rest);
    *retfail = ERR_OK;
    if (c->given == c->n) {
        *retfail = rest.n == 0 && c->sum == c->wanted ? ERR_OK : ERR_CORRUPT;
        return false;
    }
    size_t length = cursor_u16(&in);
    struct refresh_item item = {.class_type = cursor_u16(&in)};
    item.has_left = cursor_u8(&in) != 0;
    item.expiry_s = cursor_u32(&in);
    item.first_seen_s = cursor_u32(&in);
    struct slice digest = cursor_bytes(&in, DIGEST_BYTES);
    item.text = cursor_bytes(&in, length);
    uint64_t sum = cursor_u64(&in);
    if (!cursor_ok(&in) || length > LIST_TEXT_MAX ||
        sum != sum_with(c->sum, slice_head(rest, RECORD_HEAD + length))) {
        *retfail = ERR_CORRUPT;
        return false;
    }
    memcpy(item.digest.b, digest.p, DIGEST_BYTES);
    c->sum = sum;
    c->at += RECORD_HEAD + length + SUM_BYTES;
    c->given++;
    *ret = item;
    return true;
}
