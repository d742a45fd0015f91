/* block_file - headers, blocks and keys of sorted files. */
#include "core/store/block_file.h"

#include "core/base/checksum.h"

enum {
    SUM_BYTES = 8,
    SUMMED = BLOCK_FILE_HEADER - SUM_BYTES,
    FILE_MODE = 0640,
    TAIL_MAX = 1 << 30 /* bytes: 134 million blocks, 512 GiB of file */
};

/* ---- writing ---- */

enum err block_writer_open(struct block_writer *w, const char *path, unsigned nheaders,
                           struct errinfo *reterr)
{
    static const char zeros[BLOCK_FILE_HEADER];
    enum err e = file_out_open(&w->out, path, FILE_MODE, reterr);

    buf_init(&w->tail, TAIL_MAX);
    w->nheaders = nheaders;
    for (unsigned i = 0; e == ERR_OK && i < nheaders; i++) {
        file_out_add(&w->out, slice_of(zeros, sizeof(zeros)));
    }
    return e;
}

void block_writer_end(struct block_writer *w)
{
    if (w->used == 0) {
        return;
    }
    memset(w->bytes + w->used, 0, BLOCK_BYTES - w->used);
    le_put(w->bytes + 8, w->n, 2);
    le_put(w->bytes + 10, w->used, 2);
    le_put(w->bytes + 12, w->nblocks, 4);
    struct slice all = slice_of((const char *)w->bytes, BLOCK_BYTES);
    le_put(w->bytes, checksum64(slice_from(all, SUM_BYTES)), SUM_BYTES);
    file_out_add(&w->out, all);
    w->nblocks++;
    w->used = 0;
    w->n = 0;
}

void block_writer_begin(struct block_writer *w, uint64_t key)
{
    block_writer_end(w);
    buf_add_u64(&w->tail, key);
    le_put(w->bytes + 16, key, 8);
    w->used = BLOCK_HEAD;
}

enum err block_writer_finish(struct block_writer *w, struct buf *header)
{
    static const char zeros[BLOCK_FILE_HEADER];

    if (!buf_failed(header)) {
        buf_add(header, slice_of(zeros, SUMMED - header->n));
        buf_add_u64(header, checksum64(buf_slice(header)));
    }
    if (buf_failed(&w->tail) || buf_failed(header)) {
        return ERR_NOMEM;
    }
    file_out_add(&w->out, buf_slice(&w->tail));
    for (unsigned i = 0; i < w->nheaders; i++) {
        file_out_put_at(&w->out, (uint64_t)i * BLOCK_FILE_HEADER, buf_slice(header));
    }
    return ERR_OK;
}

void block_writer_abort(struct block_writer *w)
{
    file_out_abort(&w->out);
    buf_fini(&w->tail);
}

/* ---- reading ---- */

enum err block_header_read(int fd, uint64_t at, uint64_t magic,
                           char bytes[BLOCK_FILE_HEADER], struct cursor *ret,
                           uint32_t *retversion)
{
    if (file_read_at(fd, at, bytes, BLOCK_FILE_HEADER) != BLOCK_FILE_HEADER) {
        return ERR_CORRUPT;
    }
    struct cursor sum = cursor_of(slice_of(bytes + SUMMED, SUM_BYTES));
    *ret = cursor_of(slice_of(bytes, SUMMED));
    if (cursor_u64(ret) != magic ||
        cursor_u64(&sum) != checksum64(slice_of(bytes, SUMMED))) {
        return ERR_CORRUPT;
    }
    *retversion = cursor_u32(ret);
    return ERR_OK;
}

const char *block_tail_read(int fd, uint64_t at, size_t n, uint64_t nblocks,
                            uint64_t sum, uint64_t **ret)
{
    uint64_t *tail = malloc(n + 1);

    *ret = tail;
    if (tail == NULL || file_read_at(fd, at, tail, n) != n) {
        return "its index cannot be read";
    }
    if (checksum64(slice_of((const char *)tail, n)) != sum) {
        return "the checksum of its index is wrong";
    }
    for (uint64_t i = 0; i < nblocks; i++) {
        tail[i] = le64toh(tail[i]);
    }
    return NULL;
}

bool block_read(int fd, uint64_t at, uint64_t i, uint64_t first_key,
                uint8_t bytes[BLOCK_BYTES])
{
    if (file_read_at(fd, at, bytes, BLOCK_BYTES) != BLOCK_BYTES) {
        return false;
    }
    struct slice all = slice_of((const char *)bytes, BLOCK_BYTES);
    unsigned used = block_used(bytes);
    return le_get(bytes, SUM_BYTES) == checksum64(slice_from(all, SUM_BYTES)) &&
           block_records(bytes) > 0 && used > BLOCK_HEAD && used <= BLOCK_BYTES &&
           le_get(bytes + 12, 4) == (uint32_t)i && block_first_key(bytes) == first_key;
}

uint64_t block_before(const uint64_t *keys, uint64_t n, uint64_t key)
{
    __extension__ typedef unsigned __int128 u128;
    uint64_t low = (uint64_t)(((u128)key * n) >> 64);
    uint64_t high = low + 1;

    for (uint64_t step = 1; low > 0 && keys[low] >= key; step *= 2) {
        high = low;
        low = low > step ? low - step : 0;
    }
    for (uint64_t step = 1; high < n && keys[high] < key; step *= 2) {
        low = high;
        high = n - high > step ? high + step : n;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
