/*
 * segment - printing and reading of log records; finding the way again after damage.
 */
#include "core/list/segment.h"

#include <endian.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/list/files.h"

enum { SEGMENT_VERSION = 1, COPY_BYTES_MAX = 64 * 1024 * 1024 };
#define SEGMENT_MAGIC SLICE_LIT("GNLOG001")
/* Bytes that occur in no UTF-8 text, so that texts can hold no false marks. */
static const char record_mark[4] = {'\xfe', '\xf8', '\xff', '\xf9'};

void segment_header_print(const struct segment_header *h, struct buf *ret)
{
    struct buf b;
    buf_init(&b, SEGMENT_HEADER_BYTES);
    buf_add(&b, SEGMENT_MAGIC);
    buf_add_u32(&b, SEGMENT_VERSION);
    buf_add_u32(&b, h->number);
    buf_add_u32(&b, h->key_id);
    buf_add_u32(&b, (uint32_t)h->kind);
    buf_add_u64(&b, h->created_s);
    buf_add_u64(&b, checksum64(buf_slice(&b)));
    if (buf_failed(&b)) {
        ret->failed = true;
    }
    buf_add(ret, buf_slice(&b));
    buf_fini(&b);
}

enum err segment_header_parse(struct slice bytes, const char *path,
                              struct segment_header *ret, struct errinfo *reterr)
{
    struct cursor c = cursor_of(slice_head(bytes, SEGMENT_HEADER_BYTES));
    struct slice magic = cursor_bytes(&c, SEGMENT_MAGIC.n);
    uint32_t version = cursor_u32(&c);
    struct segment_header h = {0};
    h.number = cursor_u32(&c);
    h.key_id = cursor_u32(&c);
    uint32_t kind = cursor_u32(&c);
    h.created_s = cursor_u64(&c);
    uint64_t sum = cursor_u64(&c);
    if (!cursor_ok(&c) || !slice_eq(magic, SEGMENT_MAGIC)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "not a segment of a list's log (its head is damaged)");
    }
    if (version != SEGMENT_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "written by another version of gillnet (format %" PRIu32 ")",
                           version);
    }
    if (sum != checksum64(slice_head(bytes, SEGMENT_HEADER_BYTES - 8)) ||
        (kind != SEGMENT_BULK && kind != SEGMENT_TAIL)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the segment's head is damaged (its checksum is wrong)");
    }
    h.kind = (enum segment_kind)kind;
    *ret = h;
    return ERR_OK;
}

static uint32_t record_sum(uint32_t length, struct slice body)
{
    return checksum32(body) ^ length;
}

static char *put_le(char *p, uint64_t v, size_t n)
{
    v = htole64(v);
    memcpy(p, &v, n);
    return p + n;
}

/* Written in place: a merge prints a record for each step. */
void segment_record_print(const struct log_record *r, struct buf *ret)
{
    const size_t seen = r->kind == RECORD_FEED ? RECORD_SEEN_BYTES : 0;
    const size_t length = RECORD_FIXED_BYTES + seen + r->text.n;
    char *head = buf_extend(ret, RECORD_HEAD_BYTES + length);
    if (!head) {
        return;
    }
    char *body = head + RECORD_HEAD_BYTES;
    char *p = put_le(body, (uint8_t)r->kind, 2); /* no flags */
    p = put_le(p, r->class_type, 2);
    p = put_le(p, r->time_s, 4);
    p = put_le(p, r->expiry_s, 4);
    p = put_le(p, r->source_at, 4);
    memcpy(p, r->digest.b, DIGEST_BYTES);
    p = put_le(p + DIGEST_BYTES, r->first_seen_s, seen);
    if (r->text.n > 0) {
        memcpy(p, r->text.p, r->text.n);
    }
    memcpy(head, record_mark, sizeof(record_mark));
    p = put_le(head + sizeof(record_mark), length, 4);
    (void)put_le(p, record_sum((uint32_t)length, slice_of(body, length)), 4);
}

bool segment_record_parse(struct slice bytes, struct log_record *ret, size_t *retsize)
{
    struct cursor c = cursor_of(bytes);
    struct slice mark = cursor_bytes(&c, sizeof(record_mark));
    uint32_t length = cursor_u32(&c);
    uint32_t sum = cursor_u32(&c);
    if (!cursor_ok(&c) || memcmp(mark.p, record_mark, sizeof(record_mark)) != 0 ||
        length < RECORD_FIXED_BYTES || length > RECORD_BODY_MAX) {
        return false;
    }
    struct slice body = cursor_bytes(&c, length);
    if (!cursor_ok(&c) || record_sum(length, body) != sum) {
        return false;
    }
    struct cursor in = cursor_of(body);
    uint8_t kind = cursor_u8(&in);
    uint8_t flags = cursor_u8(&in);
    struct log_record r = {.kind = (enum record_kind)kind};
    r.class_type = cursor_u16(&in);
    r.time_s = cursor_u32(&in);
    r.expiry_s = cursor_u32(&in);
    r.source_at = cursor_u32(&in);
    struct slice digest = cursor_bytes(&in, DIGEST_BYTES);
    r.first_seen_s = kind == RECORD_FEED ? cursor_u32(&in) : 0;
    r.text = in.rest;
    if (!cursor_ok(&in) || kind < RECORD_ADD || kind > RECORD_FEED || flags != 0 ||
        r.text.n > RECORD_TEXT_MAX) {
        return false;
    }
    memcpy(r.digest.b, digest.p, DIGEST_BYTES);
    *ret = r;
    *retsize = RECORD_HEAD_BYTES + (size_t)length;
    return true;
}

struct segment_scan segment_scan_of(struct slice bytes, uint32_t number, size_t from)
{
    return (struct segment_scan){.bytes = bytes, .number = number, .at = from};
}

/* Offset of the first whole record at or after from; the end when there is none. Linear: marks
 * are found by memmem, and a record that fails is at most RECORD_BYTES_MAX long. */
static size_t find_record(struct slice bytes, size_t from)
{
    while (from < bytes.n) {
        struct slice rest = slice_from(bytes, from);
        from += slice_find_slice(rest, slice_of(record_mark, sizeof(record_mark)));
        struct log_record r;
        size_t size = 0;
        if (from >= bytes.n ||
            segment_record_parse(slice_from(bytes, from), &r, &size)) {
            break;
        }
        from++;
    }
    return from < bytes.n ? from : bytes.n;
}

enum segment_found segment_next(struct segment_scan *s, struct log_record *ret)
{
    s->skipped = 0;
    if (s->at >= s->bytes.n) {
        return SEGMENT_END;
    }
    size_t size = 0;
    /* offsets in the index have 32 bits; writers end segments long before */
    if (s->at <= UINT32_MAX &&
        segment_record_parse(slice_from(s->bytes, s->at), ret, &size)) {
        ret->segment = s->number;
        ret->offset = (uint32_t)s->at;
        s->at += size;
        return SEGMENT_RECORD;
    }
    size_t next = s->at <= UINT32_MAX ? find_record(s->bytes, s->at + 1) : s->bytes.n;
    s->skipped = next - s->at;
    s->at = next;
    return next < s->bytes.n ? SEGMENT_DAMAGE : SEGMENT_TORN;
}

enum err segment_open(const char *dir, uint32_t number, struct segment *ret,
                      struct errinfo *header_err, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct segment s = {0};
    enum err e = list_file_path(path, dir, LIST_FILE_LOG, number, reterr);
    bool is_large = list_file_mark(dir, LIST_FILE_LOG, number).size > COPY_BYTES_MAX;
    THEN(e, filemap_open(&s.map, path, is_large ? FILEMAP_READ : FILEMAP_COPY, reterr));
    if (e != ERR_OK) {
        return e;
    }
    const void *bytes = s.map.p;
    e = segment_header_parse(slice_of(bytes, s.map.n), path, &s.header, header_err);
    if (e == ERR_OK && s.header.number != number) {
        e = errinfo_set(header_err, ERR_CORRUPT, path, 0,
                        "this is segment %" PRIu32 " under another's name",
                        s.header.number);
    }
    s.has_header = e == ERR_OK;
    *ret = s;
    return ERR_OK;
}

void segment_close(struct segment *s)
{
    filemap_close(&s->map);
}

struct segment_scan segment_scan_all(const struct segment *s, uint32_t number)
{
    const void *bytes = s->map.p;
    return segment_scan_of(slice_of(bytes, s->map.n), number,
                           s->has_header ? SEGMENT_HEADER_BYTES : 0);
}

enum err segment_create(const char *dir, const struct segment_header *h,
                        struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf b;
    buf_init(&b, SEGMENT_HEADER_BYTES);
    segment_header_print(h, &b);
    enum err e = buf_failed(&b)
                     ? errinfo_nomem(reterr, dir)
                     : list_file_path(path, dir, LIST_FILE_LOG, h->number, reterr);
    THEN(e, file_write_atomic(path, buf_slice(&b), LIST_FILE_MODE, reterr));
    buf_fini(&b);
    return e;
}
