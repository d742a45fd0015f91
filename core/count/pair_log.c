/* pair_log - one reader and one writer for journals and streams. */
#include "core/count/pair_log.h"

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/le.h"

enum { VERSION = 1, SUMMED = PAIR_LOG_HEADER - PAIR_LOG_SUM };

/* ---- writing ---- */

void pair_log_id_print(const struct run_id *id, struct buf *ret)
{
    buf_add(ret, slice_of((const char *)id->origin, RUN_ORIGIN_BYTES));
    buf_add_u64(ret, id->inc);
    buf_add_u64(ret, id->start_s);
    buf_add_u32(ret, id->len_s);
    buf_add_u32(ret, id->key_id);
}

void pair_log_header_print(const struct pair_log_form *form, const struct run_id *id,
                           struct buf *ret)
{
    buf_add_u64(ret, form->magic);
    buf_add_u32(ret, VERSION);
    buf_add_u32(ret, 0);
    pair_log_id_print(id, ret);
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

uint64_t pair_log_salt(struct slice header)
{
    return ~checksum64(header);
}

void pair_record_begin(struct buf *ret)
{
    static const char head[PAIR_RECORD_HEAD];

    buf_add(ret, slice_of(head, sizeof(head)));
}

void pair_record_add(struct buf *ret, uint64_t key, uint64_t number)
{
    buf_add_u64(ret, key);
    buf_add_u64(ret, number);
}

void pair_record_end(struct buf *ret, const struct pair_log_form *form, uint64_t seq,
                     uint64_t salt)
{
    if (buf_failed(ret)) {
        return;
    }
    le_put(ret->p, form->record_magic, 4);
    le_put(ret->p + 4, (ret->n - PAIR_RECORD_HEAD) / PAIR_BYTES, 4);
    le_put(ret->p + 8, seq, 8);
    buf_add_u64(ret, checksum64(buf_slice(ret)) ^ salt);
}

/* ---- reading ---- */

struct run_id pair_log_id_parse(struct cursor *c)
{
    struct run_id id = {.inc = 0};
    struct slice origin = cursor_bytes(c, RUN_ORIGIN_BYTES);

    if (origin.n == RUN_ORIGIN_BYTES) {
        memcpy(id.origin, origin.p, RUN_ORIGIN_BYTES);
    }
    id.inc = cursor_u64(c);
    id.start_s = cursor_u64(c);
    id.len_s = cursor_u32(c);
    id.key_id = cursor_u32(c);
    return id;
}

enum err pair_log_open(const char *path, struct pair_log *ret, struct errinfo *reterr)
{
    struct stat st;

    *ret = (struct pair_log){.path = path, .fd = -1};
    buf_init(&ret->bytes, SIZE_MAX / 2);
    enum err e = file_sys_open_regular(path, O_RDONLY, &ret->fd, &ret->size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (fstat(ret->fd, &st) != 0) {
        e = errinfo_errno(reterr, path, "cannot examine the file");
        pair_log_close(ret);
        return e;
    }
    ret->inode = (uint64_t)st.st_ino;
    return ERR_OK;
}

void pair_log_close(struct pair_log *l)
{
    buf_fini(&l->bytes);
    fd_close(&l->fd);
}

/* Reads n bytes into l->bytes. ERR_NOT_FOUND: the file was cut after it was opened. */
static enum err load_part(struct pair_log *l, uint64_t at, size_t n,
                          struct errinfo *reterr)
{
    buf_clear(&l->bytes);
    char *p = buf_extend(&l->bytes, n);
    if (p == NULL) {
        return errinfo_nomem(reterr, l->path);
    }
    if (file_read_at(l->fd, at, p, n) == n) {
        return ERR_OK;
    }
    return errno == 0 ? ERR_NOT_FOUND
                      : errinfo_errno(reterr, l->path, "cannot read the file");
}

enum err pair_log_begin(struct pair_log *l, const struct pair_log_form *form,
                        struct pair_log_place *ret, uint32_t *retversion,
                        struct errinfo *reterr)
{
    enum err e = load_part(l, 0, PAIR_LOG_HEADER, reterr);

    if (e != ERR_OK) {
        return e == ERR_NOT_FOUND ? ERR_CORRUPT : e;
    }
    struct slice header = buf_slice(&l->bytes);
    struct cursor c = cursor_of(header);
    uint64_t magic = cursor_u64(&c);
    *retversion = cursor_u32(&c);
    (void)cursor_u32(&c);
    struct run_id id = pair_log_id_parse(&c);
    if (magic != form->magic ||
        cursor_u64(&c) != checksum64(slice_head(header, SUMMED))) {
        return ERR_CORRUPT;
    }
    if (*retversion != VERSION) {
        return ERR_VERSION;
    }
    *ret = (struct pair_log_place){.id = id,
                                   .inode = l->inode,
                                   .at = PAIR_LOG_HEADER,
                                   .salt = pair_log_salt(header)};
    return ERR_OK;
}

enum err pair_log_next(struct pair_log *l, const struct pair_log_form *form,
                       struct pair_log_place *p, struct slice *retpairs,
                       struct errinfo *reterr)
{
    uint64_t left = l->size > p->at ? l->size - p->at : 0;

    if (left < PAIR_RECORD_HEAD) {
        return ERR_NOT_FOUND;
    }
    enum err e = load_part(l, p->at, PAIR_RECORD_HEAD, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct cursor c = cursor_of(buf_slice(&l->bytes));
    uint32_t magic = cursor_u32(&c);
    uint32_t n = cursor_u32(&c);
    uint64_t seq = cursor_u64(&c);
    if (magic != form->record_magic || n > form->pairs_max || seq <= p->seq ||
        (form->is_dense && seq != p->seq + 1)) {
        return ERR_CORRUPT;
    }
    size_t summed = PAIR_RECORD_HEAD + (size_t)n * PAIR_BYTES;
    if (left < summed + PAIR_LOG_SUM) {
        return ERR_NOT_FOUND; /* memory is taken only for bytes that the file has */
    }
    e = load_part(l, p->at, summed + PAIR_LOG_SUM, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct slice record = slice_head(buf_slice(&l->bytes), summed);
    struct cursor end = cursor_of(slice_from(buf_slice(&l->bytes), summed));
    if (cursor_u64(&end) != (checksum64(record) ^ p->salt)) {
        return ERR_CORRUPT;
    }
    *retpairs = slice_from(record, PAIR_RECORD_HEAD);
    p->at += summed + PAIR_LOG_SUM;
    p->seq = seq;
    return ERR_OK;
}
