/* sorter_run - runs read back from the temporary file. */

#include "core/store/sorter_internal.h"

enum { RECORD_MAX = SORTER_HEAD_BYTES + SORTER_DATA_MAX };

void sorter_unpack(const unsigned char *packed, struct sorter_record *ret)
{
    memcpy(ret->digest.b, packed, DIGEST_BYTES);
    memcpy(&ret->order, packed + SORTER_ORDER_AT, sizeof(ret->order));
    ret->data = slice_of((const char *)packed + SORTER_HEAD_BYTES,
                         sorter_packed_bytes(packed) - SORTER_HEAD_BYTES);
}

enum err sorter_reader_init(struct sorter_reader *r, int fd, uint64_t offset,
                            uint64_t end, size_t buffer_bytes)
{
    *r = (struct sorter_reader){.fd = fd, .offset = offset, .end = end};
    r->size = buffer_bytes > SORTER_HEAD_BYTES ? buffer_bytes : SORTER_HEAD_BYTES;
    r->buffer = malloc(r->size);
    return r->buffer ? ERR_OK : ERR_NOMEM;
}

void sorter_reader_fini(struct sorter_reader *r)
{
    free(r->buffer);
    r->buffer = NULL;
}

/* Moves what is left to the front and reads on until the buffer or the run ends. */
static enum err refill(struct sorter_reader *r)
{
    memmove(r->buffer, r->buffer + r->at, r->have - r->at);
    r->have -= r->at;
    r->at = 0;
    while (r->have < r->size && r->offset < r->end) {
        uint64_t left = r->end - r->offset;
        size_t want = r->size - r->have;
        ssize_t got = pread(r->fd, r->buffer + r->have,
                            left < want ? (size_t)left : want, (off_t)r->offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? err_of_errno(errno) : ERR_CORRUPT;
        }
        r->have += (size_t)got;
        r->offset += (uint64_t)got;
    }
    return ERR_OK;
}

/* Makes at least n bytes of the run lie in the buffer. */
static enum err ensure(struct sorter_reader *r, size_t n)
{
    if (r->have - r->at >= n) {
        return ERR_OK;
    }
    if (n > r->size) {
        unsigned char *bigger = realloc(r->buffer, n);
        if (!bigger) {
            return ERR_NOMEM;
        }
        r->buffer = bigger;
        r->size = n;
    }
    enum err e = refill(r);
    if (e == ERR_OK && r->have < n) {
        e = ERR_CORRUPT; /* the run ends within a record */
    }
    return e;
}

enum err sorter_reader_next(struct sorter_reader *r, const unsigned char **ret)
{
    *ret = NULL;
    if (r->at == r->have && r->offset == r->end) {
        return ERR_OK;
    }
    enum err e = ensure(r, SORTER_HEAD_BYTES);
    if (e != ERR_OK) {
        return e;
    }
    size_t n = sorter_packed_bytes(r->buffer + r->at);
    if (n > RECORD_MAX) {
        return ERR_CORRUPT;
    }
    e = ensure(r, n);
    if (e == ERR_OK) {
        *ret = r->buffer + r->at;
        r->at += n;
    }
    return e;
}
