/* merged_run_write - runs of a bucket merged into one file, whose counts stay apart. */

#include "core/base/checksum.h"
#include "core/store/merged_run_internal.h"
#include "core/store/run_internal.h"

struct merged_run_writer {
    struct block_writer blocks;
    uint64_t records;
    uint64_t last; /* key */
};

static void on_record(void *context, size_t source, const struct run_record *r)
{
    struct merged_run_writer *w = context;

    struct block_writer *b = &w->blocks;
    if (b->used == 0 || b->used + MERGED_RUN_RECORD_BYTES_MAX > MERGED_RUN_BLOCK) {
        block_writer_begin(b, r->key);
        w->last = r->key;
    }
    block_put_number(b, r->key - w->last);
    block_put_number(b, source);
    block_put_number(b, r->count - 1);
    b->n++;
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

static void print_header(const struct merged_run_writer *w, const struct run_id *id,
                         size_t nsources, struct buf *ret)
{
    buf_add_u64(ret, MERGED_RUN_MAGIC);
    buf_add_u32(ret, MERGED_RUN_VERSION);
    buf_add_u32(ret, id->key_id);
    buf_add_u64(ret, id->start_s);
    buf_add_u32(ret, id->len_s);
    buf_add_u32(ret, (uint32_t)nsources);
    buf_add_u64(ret, w->records);
    buf_add_u64(ret, w->blocks.nblocks);
    buf_add_u64(ret, checksum64(buf_slice(&w->blocks.tail)));
}

static enum err finish_merged_run(struct merged_run_writer *w,
                                  const struct run *const *runs, size_t n)
{
    struct buf header;

    block_writer_end(&w->blocks);
    print_sources(runs, n, &w->blocks.tail);
    buf_init(&header, BLOCK_FILE_HEADER);
    print_header(w, run_id(runs[0]), n, &header);
    enum err e = block_writer_finish(&w->blocks, &header);
    buf_fini(&header);
    return e;
}

enum err merged_run_write(const char *path, const struct run *const *runs, size_t n,
                          size_t *retbad, struct errinfo *reterr)
{
    struct merged_run_writer *w = calloc(1, sizeof(*w));

    if (w == NULL || n == 0 || n > MERGED_RUN_SOURCES_MAX) {
        free(w);
        return errinfo_set(reterr, w == NULL ? ERR_NOMEM : ERR_LIMIT, path, 0,
                           "cannot write what several servers counted");
    }
    enum err e = block_writer_open(&w->blocks, path, 1, reterr);
    if (e == ERR_OK) {
        e = run_merge_each(runs, n, on_record, w, retbad);
        THEN(e, finish_merged_run(w, runs, n));
        if (e == ERR_OK) {
            e = file_out_commit(&w->blocks.out, reterr);
        } else {
            (void)errinfo_set(reterr, e, path, 0,
                              "cannot write what several servers counted: %s",
                              err_text(e));
        }
    }
    block_writer_abort(&w->blocks);
    free(w);
    return e;
}
