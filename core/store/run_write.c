/* run_write - blocks are filled one by one; the sources are kept until the end. */

#include "core/base/checksum.h"
#include "core/store/run_internal.h"

enum { RECORD_BYTES_MAX = 8 + BLOCK_NUMBER_BYTES_MAX };

struct run_writer {
    struct block_writer blocks;
    struct run_id id;
    struct buf sources;
    uint64_t records;
    uint64_t total;
    uint64_t last;   /* key */
    enum err failed; /* sticky */
};

enum err run_writer_new(const char *path, const struct run_id *id,
                        struct run_writer **ret, struct errinfo *reterr)
{
    struct run_writer *w = calloc(1, sizeof(*w));
    if (!w) {
        return errinfo_nomem(reterr, path);
    }
    w->id = *id;
    buf_init(&w->sources, INT_MAX);
    enum err e = block_writer_open(&w->blocks, path, 2, reterr);
    if (e != ERR_OK) {
        run_writer_abort(&w);
        return e;
    }
    *ret = w;
    return ERR_OK;
}

void run_writer_source(struct run_writer *w, uint64_t start_s, uint64_t inc)
{
    buf_add_u64(&w->sources, start_s);
    buf_add_u64(&w->sources, inc);
}

static void put_gap(struct block_writer *b, uint64_t last,
                    const struct run_record *record)
{
    uint64_t v = (record->key - last - 1) << RUN_GAP_TAG_BITS;
    unsigned n = 1;
    while (n < 8 && v >> (8 * n)) {
        n++;
    }
    v |= (n - 1) | (record->count > 1 ? 8U : 0);
    le_put(b->bytes + b->used, v, 8); /* at the block's end into its slack */
    b->used += n;
    if (record->count > 1) {
        block_put_number(b, record->count - 2);
    }
}

void run_writer_add(struct run_writer *w, const struct run_record *record)
{
    if (record->key <= w->last || record->count == 0) {
        w->failed = ERR_RANGE;
        return;
    }
    struct block_writer *b = &w->blocks;
    if (b->used == 0 || b->used + RECORD_BYTES_MAX > RUN_BLOCK ||
        record->key - w->last > RUN_GAP_MAX) {
        block_writer_begin(b, record->key);
        block_put_number(b, record->count - 1);
    } else {
        put_gap(b, w->last, record);
    }
    b->n++;
    w->last = record->key;
    w->records++;
    w->total = run_sum(w->total, record->count);
}

static void header_print(const struct run_writer *w, struct buf *ret)
{
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
    buf_add_u64(ret, w->blocks.nblocks);
    buf_add_u64(ret, w->sources.n / RUN_SOURCE_BYTES);
    buf_add_u64(ret, checksum64(buf_slice(&w->blocks.tail)));
}

static enum err finish_run(struct run_writer *w)
{
    struct buf header;
    block_writer_end(&w->blocks);
    buf_add(&w->blocks.tail, buf_slice(&w->sources));
    buf_init(&header, BLOCK_FILE_HEADER);
    header_print(w, &header);
    enum err e = buf_failed(&w->sources) ? ERR_NOMEM : w->failed;
    THEN(e, block_writer_finish(&w->blocks, &header));
    buf_fini(&header);
    return e;
}

enum err run_writer_commit(struct run_writer **writer, struct errinfo *reterr)
{
    struct run_writer *w = *writer;
    enum err e = finish_run(w);
    if (e == ERR_OK) {
        e = file_out_commit(&w->blocks.out, reterr);
    } else {
        (void)errinfo_set(reterr, e, w->blocks.out.path, 0, "cannot write the run: %s",
                          err_text(e));
    }
    run_writer_abort(writer);
    return e;
}

void run_writer_abort(struct run_writer **w)
{
    if (*w) {
        block_writer_abort(&(*w)->blocks);
        buf_fini(&(*w)->sources);
        free(*w);
        *w = NULL;
    }
}
