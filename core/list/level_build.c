/*
 * level_build - index and filter grow together; the filter is sized for the records expected.
 */
#include "core/list/level_build.h"

enum {
    /* a filter that is too large by more than this part is built again */
    SHRINK_PART = 8
};

static bool has_front(const struct build *b)
{
    return b->order.filter.has_front && b->order.is_oldest;
}

static enum err one_new(const struct build *b, enum bloom_layout layout, uint64_t n,
                        double error, struct bloomfile *ret, struct errinfo *reterr)
{
    const struct build_order *o = &b->order;
    uint64_t nlines = 0;
    unsigned k = 0;
    enum err e = bloom_size(layout, n > 0 ? n : 1, error, &nlines, &k);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, o->dir, 0,
                           "no filter of layout %u can hold %" PRIu64
                           " entries with an error of %g; change filter_layout or "
                           "filter_error",
                           (unsigned)layout, n, error);
    }
    return bloomfile_new(ret, layout, nlines, k, &o->node, reterr);
}

static enum err filter_new(struct build *b, uint64_t n, struct errinfo *reterr)
{
    const struct build_order *o = &b->order;
    double share = o->is_oldest ? OLDEST_LEVEL_SHARE : NEWER_LEVEL_SHARE;
    enum err e = one_new(b, (enum bloom_layout)o->filter.layout, n,
                         o->filter.error * share, &b->filter, reterr);
    if (e == ERR_OK && has_front(b)) {
        e = one_new(b, BLOOM_ONE_LINE, n, BLOOM_FRONT_ERROR, &b->front, reterr);
    }
    return e;
}

static void filter_flush(struct build *b)
{
    bloom_add_batch(&b->filter.bloom, b->some, b->nsome);
    if (has_front(b)) {
        bloom_add_batch(&b->front.bloom, b->some, b->nsome);
    }
    b->nsome = 0;
}

static void filter_add(struct build *b, const struct digest *d)
{
    b->some[b->nsome++] = *d;
    if (b->nsome == BUILD_SOME) {
        filter_flush(b);
    }
}

enum err build_begin(struct build *b, const struct build_order *order,
                     struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    *b = (struct build){.order = *order, .first = UINT32_MAX};
    enum err e =
        list_file_path(path, order->dir, LIST_FILE_INDEX, order->number, reterr);
    THEN(e, index_builder_new(path, order->expected, &b->index, reterr));
    THEN(e, filter_new(b, order->expected, reterr));
    if (e != ERR_OK) {
        build_abort(b);
    }
    return e;
}

enum err build_add(struct build *b, const struct digest *d,
                   const struct index_record *r, struct errinfo *reterr)
{
    enum err e = index_builder_add(b->index, d, r, reterr);
    if (e == ERR_OK) {
        filter_add(b, d);
        b->count++;
        if (r->expiry_s != ENTRY_GONE_S) {
            feature_classes_add(&b->classes, r->class_type);
        }
        b->first = r->segment < b->first ? r->segment : b->first;
        b->last = r->segment > b->last ? r->segment : b->last;
    }
    return e;
}

/* Replaces the filter by a smaller one when far fewer records came than expected. */
static enum err filter_shrink(struct build *b, const struct index *ix,
                              struct errinfo *reterr)
{
    struct index_walk *walk = NULL;
    struct digest d;
    struct index_record r;
    bloomfile_close(&b->filter);
    bloomfile_close(&b->front);
    b->nsome = 0;
    enum err e = filter_new(b, b->count, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = index_walk_new(ix, &walk);
    while (e == ERR_OK && index_walk_next(walk, &d, &r, &e)) {
        filter_add(b, &d);
    }
    index_walk_free(&walk);
    return e == ERR_OK ? ERR_OK
                       : errinfo_set(reterr, e, b->order.dir, 0,
                                     "cannot walk the new index: %s", err_text(e));
}

static enum err one_write(const struct build *b, struct bloomfile *f,
                          enum list_file kind, struct errinfo *reterr)
{
    const struct build_order *o = &b->order;
    char path[FILE_PATH_MAX];
    enum err e = list_file_path(path, o->dir, kind, o->number, reterr);
    if (e != ERR_OK) {
        return e;
    }
    f->facts.role = BLOOMFILE_BASE;
    f->facts.digest_key = o->key_id;
    f->facts.entries = b->count;
    f->facts.generation = o->number;
    f->facts.period = o->period_s;
    return bloomfile_write(f, path, reterr);
}

static enum err filter_write(struct build *b, const struct index *ix,
                             struct errinfo *reterr)
{
    const struct build_order *o = &b->order;
    enum err e = ERR_OK;
    if (b->count < o->expected - o->expected / SHRINK_PART ||
        (o->filter.is_shared && b->count != o->expected)) {
        e = filter_shrink(b, ix, reterr);
    }
    if (e == ERR_OK) {
        filter_flush(b);
        e = one_write(b, &b->filter, LIST_FILE_BASE, reterr);
    }
    if (e == ERR_OK && has_front(b)) {
        e = one_write(b, &b->front, LIST_FILE_FRONT, reterr);
    }
    return e;
}

enum err build_finish(struct build *b, struct list_level *ret, struct index **retindex,
                      struct errinfo *reterr)
{
    const struct build_order *o = &b->order;
    char path[FILE_PATH_MAX];
    struct index *ix = NULL;
    enum err e = index_builder_commit(&b->index, reterr);
    THEN(e, list_file_path(path, o->dir, LIST_FILE_INDEX, o->number, reterr));
    THEN(e, index_open(path, &ix, reterr));
    if (e == ERR_OK && index_count(ix) != b->count) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "the new index does not hold what was put in; the former "
                        "generation stays, examine the disk");
    }
    THEN(e, filter_write(b, ix, reterr));
    if (e != ERR_OK) {
        index_close(&ix);
        return e;
    }
    bloomfile_close(&b->filter);
    bloomfile_close(&b->front);
    *ret = (struct list_level){.number = o->number,
                               .entries = b->count,
                               .period_s = o->period_s,
                               .first = b->count > 0 ? b->first : 0,
                               .last = b->last};
    *retindex = ix;
    return ERR_OK;
}

void build_abort(struct build *b)
{
    index_builder_abort(&b->index);
    bloomfile_close(&b->filter);
    bloomfile_close(&b->front);
}
