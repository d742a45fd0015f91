/*
 * build - the write order: data, then what names it, CURRENT last.
 */
#include "core/list/build.h"

#include "core/filter/bloomfile.h"

/* What a new generation consists of until it is published. */
struct parts {
    struct index *index;
    struct recent recent;
    struct tail tail;
};

static void parts_close(struct parts *p)
{
    index_close(&p->index);
    recent_close(&p->recent);
    tail_close(&p->tail);
}

static void tell(const struct build *b, const char *stage, double share)
{
    if (b->progress) {
        b->progress(b->context, stage, share);
    }
}

enum err build_begin(struct build *b, uint64_t generation, uint64_t expected,
                     struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    b->generation = generation;
    b->now_s = writer_now_s();
    enum err e = list_file_path(path, b->w->dir, LIST_FILE_INDEX, generation, reterr);
    if (e == ERR_OK) {
        e = index_builder_new(path, expected, &b->index, reterr);
    }
    return e;
}

enum err build_add(struct build *b, const struct digest *d,
                   const struct index_record *r, struct errinfo *reterr)
{
    if (entry_is_expired(r, b->now_s)) {
        return ERR_OK;
    }
    enum err e = index_builder_add(b->index, d, r, reterr);
    if (e == ERR_OK) {
        entry_count(&b->totals, r, false, r);
        b->count++;
    }
    return e;
}

/* Fills the filter from the finished index, so that it holds exactly what the index holds and
 * is sized by a count that is known. */
static enum err filter_fill(const struct build *b, const struct index *ix,
                            struct bloomfile *f, struct errinfo *reterr)
{
    struct index_walk *walk = NULL;
    enum err e = index_walk_new(ix, &walk);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, b->w->dir, 0, "cannot walk the new index");
    }
    struct digest d;
    struct index_record r;
    uint64_t n = 0;
    while (index_walk_next(walk, &d, &r, &e)) {
        bloom_add(&f->bloom, &d);
        if (++n % BUILD_PROGRESS_EVERY == 0) {
            tell(b, "filter", (double)n / (double)b->count);
        }
    }
    index_walk_free(&walk);
    if (e != ERR_OK || n != b->count) {
        return errinfo_set(reterr, ERR_CORRUPT, b->w->dir, 0,
                           "the new index does not hold what was put in; the former "
                           "generation stays, examine the disk");
    }
    return ERR_OK;
}

static enum err filter_write(const struct build *b, const struct index *ix,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct bloomfile f;
    enum err e = list_file_path(path, b->w->dir, LIST_FILE_BASE, b->generation, reterr);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t lines = bloom_lines_for(b->count, LIST_FILTER_BITS);
    e = bloomfile_new(&f, BLOOM_ONE_LINE, lines, LIST_FILTER_K, &b->w->node, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = filter_fill(b, ix, &f, reterr);
    if (e == ERR_OK) {
        f.facts.digest_key = b->w->key.id;
        f.facts.entries = b->count;
        f.facts.generation = b->generation;
        e = bloomfile_write(&f, path, reterr);
    }
    bloomfile_close(&f);
    return e;
}

static enum err index_finish(struct build *b, struct parts *p, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    tell(b, "index", 1);
    enum err e = index_builder_commit(&b->index, reterr);
    if (e == ERR_OK) {
        e = list_file_path(path, b->w->dir, LIST_FILE_INDEX, b->generation, reterr);
    }
    if (e == ERR_OK) {
        e = index_open(path, &p->index, reterr);
    }
    return e;
}

static enum err recent_start(const struct build *b, const struct list_current *c,
                             struct parts *p, struct errinfo *reterr)
{
    struct recent_ids ids = {c->generation, c->tail, c->key_id};
    struct recent image;
    enum err e = recent_new(&ids, &b->w->node, &image, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct recent_numbers n = {
        .tail_bytes = SEGMENT_HEADER_BYTES,
        .updated_s = c->updated_s,
        .totals = b->totals,
    };
    recent_numbers_set(&image, &n);
    e = recent_save(&image, b->w->dir, reterr);
    recent_close(&image);
    if (e == ERR_OK) {
        e = recent_open(b->w->dir, &ids, &b->w->node, FILEMAP_WRITE, &p->recent,
                        reterr);
    }
    return e;
}

static enum err tail_start(const struct build *b, const struct list_current *c,
                           struct parts *p, struct errinfo *reterr)
{
    struct segment_header h = {
        .number = c->tail,
        .key_id = c->key_id,
        .kind = SEGMENT_TAIL,
        .created_s = b->now_s,
    };
    enum err e = segment_create(b->w->dir, &h, reterr);
    if (e == ERR_OK) {
        e = tail_open(&p->tail, b->w->dir, c->tail, SEGMENT_HEADER_BYTES, reterr);
    }
    return e;
}

/* Everything that the new CURRENT will name. */
static enum err parts_make(struct build *b, const struct list_current *c,
                           struct parts *p, struct errinfo *reterr)
{
    enum err e = index_finish(b, p, reterr);
    if (e == ERR_OK) {
        e = filter_write(b, p->index, reterr);
    }
    if (e == ERR_OK) {
        e = tail_start(b, c, p, reterr);
    }
    if (e == ERR_OK) {
        e = recent_start(b, c, p, reterr);
    }
    return e;
}

/* The former CURRENT is kept beside the new one. A failure in the last step leaves open which
 * of the two a reader will find: the writer must not go on with either. */
static enum err current_replace(struct list_writer *w, const struct list_current *c,
                                struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (w->state == WRITER_READY && w->current.generation != 0) {
        e = current_write(w->dir, LIST_CURRENT_PREV, &w->current, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct errinfo info;
    e = current_write(w->dir, LIST_CURRENT, c, &info);
    if (e != ERR_OK) {
        w->state = WRITER_STOPPED;
        w->why = info;
        return errinfo_set(reterr, e, info.source, 0, "%s", info.text);
    }
    return ERR_OK;
}

enum err build_publish(struct build *b, uint32_t tail, uint64_t updated_s,
                       struct errinfo *reterr)
{
    struct list_writer *w = b->w;
    struct parts p = {.tail = {.fd = -1}};
    struct list_current c = {
        .generation = b->generation,
        .tail = tail,
        .key_id = w->key.id,
        .created_s = w->current.created_s != 0 ? w->current.created_s : b->now_s,
        .updated_s = updated_s,
        .listed = b->totals.listed,
        .revoked = b->totals.revoked,
    };
    enum err e = parts_make(b, &c, &p, reterr);
    if (e == ERR_OK) {
        e = current_replace(w, &c, reterr);
    }
    if (e != ERR_OK) {
        parts_close(&p);
        build_abort(b);
        return e;
    }
    writer_close_generation(w);
    w->index = p.index;
    w->recent = p.recent;
    w->tail = p.tail;
    w->current = c;
    w->state = WRITER_READY;
    writer_clean(w);
    return ERR_OK;
}

void build_abort(struct build *b)
{
    index_builder_abort(&b->index);
    /* after a failed replacement of CURRENT either generation may be the one that serves */
    if (b->w->state == WRITER_READY) {
        writer_clean(b->w);
    }
}
