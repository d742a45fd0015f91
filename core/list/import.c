/*
 * import - entries are sorted outside memory, then merged into the next generation.
 */
#include "core/list/import.h"

#include "core/list/commit.h"
#include "core/list/compact.h"
#include "core/list/retention.h"

/* Memory of the sort before it goes to disk. */
enum { IMPORT_SORT_BYTES = 96 * 1024 * 1024 };

struct list_import {
    struct list_writer *w;
    struct sorter *sorter;
    struct buf scratch;
    char source[LIST_SOURCE_MAX];
    uint32_t time_s;
    uint64_t given;
};

enum err list_import_begin(struct list_writer *w, struct slice source,
                           struct list_import **ret, struct errinfo *reterr)
{
    enum err e = writer_check(w, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct list_import *im = calloc(1, sizeof(*im));
    if (!im) {
        return errinfo_nomem(reterr, w->dir);
    }
    im->w = w;
    im->time_s = writer_now_s();
    source = slice_head(source, LIST_SOURCE_MAX - 1);
    if (source.n > 0) {
        memcpy(im->source, source.p, source.n);
    }
    buf_init(&im->scratch, SORTER_DATA_MAX);
    e = sorter_new(w->dir, IMPORT_SORT_BYTES, &im->sorter, reterr);
    if (e != ERR_OK) {
        list_import_abort(&im);
        return e;
    }
    *ret = im;
    return ERR_OK;
}

enum err list_import_add(struct list_import *im, const struct feature_entry *e,
                         uint32_t expiry_s, struct errinfo *reterr)
{
    struct sorter_record r = {.order = im->given};
    struct writer_entry own;
    enum err failed = writer_entry_of(im->w, e, &own, reterr);
    if (failed != ERR_OK) {
        return failed;
    }
    r.digest = own.digest;
    buf_clear(&im->scratch);
    merge_data_print(own.class_type, expiry_s, own.text, &im->scratch);
    if (buf_failed(&im->scratch)) {
        return errinfo_nomem(reterr, "");
    }
    r.data = buf_slice(&im->scratch);
    failed = sorter_add(im->sorter, &r, reterr);
    if (failed == ERR_OK) {
        im->given++;
    }
    return failed;
}

/* Commits the generation with the new level, a new active segment after the import's segments, and
 * an empty memtable. The level holds the entries of the former memtable. */
static enum err import_publish(struct list_writer *w, struct merge *m,
                               struct errinfo *reterr)
{
    struct publication p = {
        .current = w->current,
        .tail = {.fd = -1},
    };
    struct list_current *c = &p.current;
    c->generation = m->level.number;
    c->tail = m->bulk.number + 1;
    c->updated_s = m->bulk.time_s;
    c->listed = m->totals_after.listed;
    c->revoked = m->totals_after.revoked;
    c->period_s = w->period_next_s;
    c->classes = merge_classes(m, &w->current);
    c->nlevels = m->from;
    if (m->level.entries > 0) { /* steps may take out all there was */
        p.fresh[c->nlevels] = m->index;
        m->index = NULL;
        c->level[c->nlevels++] = m->level;
    }
    return list_commit_fresh(w, &p, reterr);
}

enum err import_merge(struct list_writer *w, const struct merge_input *in,
                      struct merge *m, struct errinfo *reterr)
{
    uint64_t incoming = in->sorter ? sorter_count(in->sorter) : in->nsteps;
    m->in = in;
    m->bulk.dir = w->dir;
    m->bulk.key_id = w->key.id;
    m->bulk.number = w->tail.number;
    m->bulk.source = in->source;
    m->bulk.time_s = in->time_s;
    import_log_init(&m->bulk);
    enum err e = compact_prepare(w, incoming, m, reterr);
    THEN(e, merge_run(m, reterr));
    if (e == ERR_OK && m->is_made) {
        e = import_publish(w, m, reterr);
    }
    merge_fini(m);
    m->in = NULL;
    if (w->state == WRITER_READY) {
        writer_clean(w); /* removes the files of a failed import */
    }
    return e;
}

enum err list_import_commit(struct list_import **im, list_progress_fn *progress,
                            void *context, struct list_import_result *ret,
                            struct errinfo *reterr)
{
    struct list_import *i = *im;
    struct merge m = {.progress = progress, .context = context};
    if (progress) {
        progress(context, "sort", 0);
    }
    enum err e = sorter_finish(i->sorter, reterr);
    THEN(e, writer_settled(i->w, reterr));
    THEN(e, retention_roll(i->w, reterr));
    if (e == ERR_OK) {
        struct merge_input in = {
            .sorter = i->sorter, .source = slice_str(i->source), .time_s = i->time_s};
        e = import_merge(i->w, &in, &m, reterr);
    }
    if (e == ERR_OK) {
        *ret = m.result;
        ret->given = i->given;
    }
    list_import_abort(im);
    return e;
}

void list_import_abort(struct list_import **im)
{
    if (*im) {
        sorter_free(&(*im)->sorter);
        buf_fini(&(*im)->scratch);
        free(*im);
    }
    *im = NULL;
}
