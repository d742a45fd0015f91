/* merged_run_write - runs of a bucket merged into one file, whose counts stay apart. */

#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/store/merged_run_internal.h"
#include "core/store/run_internal.h"

enum { INDEX_MAX = 1 << 30 };

struct sheet_writer {
    struct file_out out;
    struct buf tail; /* index, then sources */
    uint64_t records;
    uint64_t nblocks;
    uint64_t last; /* key */
    unsigned n;    /* records in the block */
    unsigned used; /* bytes of it; 0: none is begun */
    uint8_t block[MERGED_RUN_BLOCK];
};

static void store(uint8_t *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static void put(struct sheet_writer *w, uint64_t v)
{
    while (v >= 0x80) {
        w->block[w->used++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    w->block[w->used++] = (uint8_t)v;
}

static void block_end(struct sheet_writer *w)
{
    if (w->used == 0) {
        return;
    }
    memset(w->block + w->used, 0, MERGED_RUN_BLOCK - w->used);
    store(w->block + 8, w->n, 2);
    store(w->block + 10, w->used, 2);
    store(w->block + 12, w->nblocks, 4);
    struct slice all = slice_of((const char *)w->block, MERGED_RUN_BLOCK);
    store(w->block, checksum64(slice_from(all, MERGED_RUN_SUM_BYTES)),
          MERGED_RUN_SUM_BYTES);
    file_out_add(&w->out, all);
    w->nblocks++;
    w->used = 0;
    w->n = 0;
}

static void on_record(void *context, size_t source, const struct run_record *r)
{
    struct sheet_writer *w = context;

    if (w->used == 0 || w->used + MERGED_RUN_RECORD_BYTES_MAX > MERGED_RUN_BLOCK) {
        block_end(w);
        buf_add_u64(&w->tail, r->key);
        store(w->block + 16, r->key, 8);
        w->used = MERGED_RUN_BLOCK_HEAD;
        w->last = r->key;
    }
    put(w, r->key - w->last);
    put(w, source);
    put(w, r->count - 1);
    w->n++;
    w->last = r->key;
    w->records++;
}

static void print_sources(const struct run *const *runs, size_t n, struct buf *ret)
{
    for (size_t i = 0; i < n; i++) {
        const struct run_id *id = run_id(runs[i]);
        buf_add(ret, slice_of((const char *)id->origin, RUN_ORIGIN_BYTES));
        buf_add_u64(ret, id->inc);
        buf_add_u64(ret, run_records(runs[i]));
        buf_add_u64(ret, run_total(runs[i]));
        buf_add_u64(ret, runs[i]->sum);
    }
}

static void print_header(const struct sheet_writer *w, const struct run_id *id,
                         size_t nsources, struct buf *ret)
{
    static const char zeros[MERGED_RUN_HEADER];
    buf_add_u64(ret, MERGED_RUN_MAGIC);
    buf_add_u32(ret, MERGED_RUN_VERSION);
    buf_add_u32(ret, id->key_id);
    buf_add_u64(ret, id->start_s);
    buf_add_u32(ret, id->len_s);
    buf_add_u32(ret, (uint32_t)nsources);
    buf_add_u64(ret, w->records);
    buf_add_u64(ret, w->nblocks);
    buf_add_u64(ret, checksum64(buf_slice(&w->tail)));
    buf_add(ret, slice_of(zeros, MERGED_RUN_HEADER - MERGED_RUN_SUM_BYTES - ret->n));
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

static enum err finish(struct sheet_writer *w, const struct run *const *runs, size_t n)
{
    struct buf header;
    enum err e = ERR_OK;

    block_end(w);
    print_sources(runs, n, &w->tail);
    buf_init(&header, MERGED_RUN_HEADER);
    print_header(w, run_id(runs[0]), n, &header);
    if (buf_failed(&w->tail) || buf_failed(&header)) {
        e = ERR_NOMEM;
    } else {
        file_out_add(&w->out, buf_slice(&w->tail));
        file_out_put_at(&w->out, 0, buf_slice(&header));
    }
    buf_fini(&header);
    return e;
}

enum err merged_run_write(const char *path, const struct run *const *runs, size_t n,
                          size_t *retbad, struct errinfo *reterr)
{
    static const char zeros[MERGED_RUN_HEADER];
    struct sheet_writer *w = calloc(1, sizeof(*w));

    if (w == NULL || n == 0 || n > MERGED_RUN_SOURCES_MAX) {
        free(w);
        return errinfo_set(reterr, w == NULL ? ERR_NOMEM : ERR_LIMIT, path, 0,
                           "cannot write what several servers counted");
    }
    enum err e = file_out_open(&w->out, path, MERGED_RUN_FILE_MODE, reterr);
    if (e == ERR_OK) {
        buf_init(&w->tail, INDEX_MAX);
        file_out_add(&w->out, slice_of(zeros, sizeof(zeros))); /* the header's place */
        e = run_merge_each(runs, n, on_record, w, retbad);
        THEN(e, finish(w, runs, n));
        if (e == ERR_OK) {
            e = file_out_commit(&w->out, reterr);
        } else {
            (void)errinfo_set(reterr, e, path, 0,
                              "cannot write what several servers counted: %s",
                              err_text(e));
        }
        buf_fini(&w->tail);
    }
    file_out_abort(&w->out);
    free(w);
    return e;
}
