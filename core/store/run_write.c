/* run_write - blocks are filled one by one; the index is kept until the end. */

#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/store/run_internal.h"

enum {
    INDEX_MAX = 1 << 30, /* bytes of index: 134 million blocks, 512 GiB of run */
    RECORD_BYTES_MAX = 8 + RUN_COUNT_BYTES_MAX
};

struct run_writer {
    struct file_out out;
    struct run_id id;
    struct buf index;
    struct buf sources;
    uint64_t records;
    uint64_t total;
    uint64_t nblocks;
    uint64_t last;   /* key */
    unsigned n;      /* records in the block */
    unsigned used;   /* bytes of it; 0: none is begun */
    enum err failed; /* sticky */
    uint8_t block[RUN_BLOCK + RUN_SLACK];
};

enum err run_writer_new(const char *path, const struct run_id *id,
                        struct run_writer **ret, struct errinfo *reterr)
{
    static const char zeros[RUN_DATA_AT];
    struct run_writer *w = calloc(1, sizeof(*w));
    if (!w) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to write a run");
    }
    enum err e = file_out_open(&w->out, path, RUN_FILE_MODE, reterr);
    if (e != ERR_OK) {
        file_out_abort(&w->out);
        free(w);
        return e;
    }
    w->id = *id;
    buf_init(&w->index, INDEX_MAX);
    buf_init(&w->sources, INDEX_MAX);
    file_out_add(&w->out, slice_of(zeros, sizeof(zeros))); /* the headers' place */
    *ret = w;
    return ERR_OK;
}

void run_writer_source(struct run_writer *w, uint64_t start_s, uint64_t inc)
{
    buf_add_u64(&w->sources, start_s);
    buf_add_u64(&w->sources, inc);
}

static void store(uint8_t *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static void block_end(struct run_writer *w)
{
    if (w->used == 0) {
        return;
    }
    memset(w->block + w->used, 0, RUN_BLOCK - w->used);
    store(w->block + 8, w->n, 2);
    store(w->block + 10, w->used, 2);
    store(w->block + 12, w->nblocks, 4);
    struct slice all = slice_of((const char *)w->block, RUN_BLOCK);
    store(w->block, checksum64(slice_from(all, RUN_SUM_BYTES)), RUN_SUM_BYTES);
    file_out_add(&w->out, all);
    w->nblocks++;
    w->used = 0;
    w->n = 0;
}

static void put_count(struct run_writer *w, uint64_t v)
{
    while (v >= 0x80) {
        w->block[w->used++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    w->block[w->used++] = (uint8_t)v;
}

static void block_begin(struct run_writer *w, const struct run_record *record)
{
    block_end(w);
    buf_add_u64(&w->index, record->key);
    store(w->block + 16, record->key, 8);
    w->used = RUN_BLOCK_HEAD;
    put_count(w, record->count - 1);
}

static void put_gap(struct run_writer *w, const struct run_record *record)
{
    uint64_t v = (record->key - w->last - 1) << RUN_GAP_TAG_BITS;
    unsigned n = 1;
    while (n < 8 && v >> (8 * n)) {
        n++;
    }
    v |= (n - 1) | (record->count > 1 ? 8U : 0);
    store(w->block + w->used, v, n);
    w->used += n;
    if (record->count > 1) {
        put_count(w, record->count - 2);
    }
}

void run_writer_add(struct run_writer *w, const struct run_record *record)
{
    if (record->key <= w->last || record->count == 0) {
        w->failed = ERR_RANGE;
        return;
    }
    if (w->used == 0 || w->used + RECORD_BYTES_MAX > RUN_BLOCK ||
        record->key - w->last > RUN_GAP_MAX) {
        block_begin(w, record);
    } else {
        put_gap(w, record);
    }
    w->n++;
    w->last = record->key;
    w->records++;
    w->total = run_sum(w->total, record->count);
}

static void header_print(const struct run_writer *w, uint64_t tail_sum, struct buf *ret)
{
    static const char zeros[RUN_HEADER];
    buf_add_u64(ret, RUN_MAGIC);
    buf_add_u32(ret, RUN_VERSION);
    buf_add_u32(ret, w->id.key_id);
    buf_add(ret, slice_of((const char *)w->id.origin, RUN_ORIGIN_BYTES));
    buf_add_u64(ret, w->id.inc);
    buf_add_u64(ret, w->id.start_s);
    buf_add_u32(ret, w->id.len_s);
    buf_add_u32(ret, 0);
    buf_add_u64(ret, w->records);
    buf_add_u64(ret, w->total);
    buf_add_u64(ret, w->nblocks);
    buf_add_u64(ret, w->sources.n / RUN_SOURCE_BYTES);
    buf_add_u64(ret, tail_sum);
    buf_add(ret, slice_of(zeros, RUN_HEADER - RUN_SUM_BYTES - ret->n));
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

/* Index and sources, then both headers. */
static enum err finish(struct run_writer *w)
{
    block_end(w);
    buf_add(&w->index, buf_slice(&w->sources));
    struct buf header;
    buf_init(&header, RUN_HEADER);
    header_print(w, checksum64(buf_slice(&w->index)), &header);
    enum err e = w->failed;
    if (buf_failed(&w->index) || buf_failed(&w->sources) || buf_failed(&header)) {
        e = ERR_NOMEM;
    }
    if (e == ERR_OK) {
        file_out_add(&w->out, buf_slice(&w->index));
        file_out_put_at(&w->out, 0, buf_slice(&header));
        file_out_put_at(&w->out, RUN_HEADER, buf_slice(&header));
    }
    buf_fini(&header);
    return e;
}

enum err run_writer_commit(struct run_writer **writer, struct errinfo *reterr)
{
    struct run_writer *w = *writer;
    enum err e = finish(w);
    if (e == ERR_OK) {
        e = file_out_commit(&w->out, reterr);
    } else {
        (void)errinfo_set(reterr, e, w->out.path, 0, "cannot write the run: %s",
                          err_text(e));
    }
    run_writer_abort(writer);
    return e;
}

void run_writer_abort(struct run_writer **w)
{
    if (*w) {
        file_out_abort(&(*w)->out);
        buf_fini(&(*w)->index);
        buf_fini(&(*w)->sources);
        free(*w);
        *w = NULL;
    }
}
