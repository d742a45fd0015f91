/*
 * merge - three streams in digest order: the index, the recent table, the import.
 */
#include "core/list/merge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cursor.h"

/* Offsets in the index have 32 bits; an import longer than this takes several segments. */
enum { BULK_BYTES_MAX = 1024 * 1024 * 1024 };

/* The bulk segments of one import, made as they are needed. */
struct bulk {
    struct list_writer *w;
    struct file_out out;
    bool is_open;
    uint32_t number; /* of the last one begun; the tail's number when none was */
    struct slice source;
    uint32_t time_s;
    uint32_t source_at;
    struct buf scratch;
};

struct recent_entry {
    struct digest digest;
    struct index_record record;
};

struct merge {
    struct build build;
    struct bulk bulk;
    struct list_import_result result;
    struct index_walk *walk;
    struct recent_entry base; /* next of the index */
    bool has_base;
    struct recent_entry *recent; /* the recent table in digest order */
    size_t nrecent;
    size_t at_recent;
    struct sorter *sorter; /* NULL: no import */
    struct sorter_record import;
    bool has_import;
    uint64_t steps;
    uint64_t expected;
};

void merge_data_print(uint16_t class_type, uint32_t expiry_s, struct slice text,
                      struct buf *ret)
{
    buf_add_u16(ret, class_type);
    buf_add_u32(ret, expiry_s);
    buf_add(ret, text);
}

static enum err bulk_begin(struct bulk *b, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (b->number >= UINT32_MAX - 1) {
        return errinfo_set(reterr, ERR_LIMIT, b->w->dir, 0, "too many segments");
    }
    enum err e = list_file_path(path, b->w->dir, LIST_FILE_LOG, b->number + 1, reterr);
    if (e == ERR_OK) {
        e = file_out_open(&b->out, path, LIST_FILE_MODE, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    b->number++;
    b->is_open = true;
    struct segment_header h = {
        .number = b->number,
        .key_id = b->w->key.id,
        .kind = SEGMENT_BULK,
        .created_s = b->time_s,
    };
    struct log_record named = {
        .kind = RECORD_SOURCE, .time_s = b->time_s, .text = b->source};
    buf_clear(&b->scratch);
    segment_header_print(&h, &b->scratch);
    b->source_at = b->source.n > 0 ? SEGMENT_HEADER_BYTES : 0;
    if (b->source.n > 0) {
        segment_record_print(&named, &b->scratch);
    }
    file_out_add(&b->out, buf_slice(&b->scratch));
    return buf_failed(&b->scratch)
               ? errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory for a record")
               : ERR_OK;
}

static enum err bulk_end(struct bulk *b, struct errinfo *reterr)
{
    b->is_open = false;
    return file_out_commit(&b->out, reterr);
}

/* Writes r and says in r where. */
static enum err bulk_add(struct bulk *b, struct log_record *r, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (b->is_open && b->out.written >= BULK_BYTES_MAX) {
        e = bulk_end(b, reterr);
    }
    if (e == ERR_OK && !b->is_open) {
        e = bulk_begin(b, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    r->segment = b->number;
    r->offset = (uint32_t)b->out.written;
    r->source_at = b->source_at;
    buf_clear(&b->scratch);
    segment_record_print(r, &b->scratch);
    if (buf_failed(&b->scratch)) {
        return errinfo_set(reterr, ERR_NOMEM, b->w->dir, 0, "no memory for a record");
    }
    file_out_add(&b->out, buf_slice(&b->scratch));
    return ERR_OK;
}

static void bulk_fini(struct bulk *b)
{
    if (b->is_open) {
        file_out_abort(&b->out);
    }
    buf_fini(&b->scratch);
}

static int compare_recent(const void *a, const void *b)
{
    const struct recent_entry *x = a;
    const struct recent_entry *y = b;
    return digest_cmp(&x->digest, &y->digest);
}

/* Copies the recent table, sorted. */
static enum err recent_sorted(const struct recent *r, struct merge *m,
                              struct errinfo *reterr)
{
    m->recent = calloc(RECENT_SLOTS, sizeof(*m->recent));
    if (!m->recent) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0,
                           "no memory for the recent entries");
    }
    for (uint64_t i = 0; i < RECENT_SLOTS; i++) {
        struct exact_value v;
        struct recent_entry *to = &m->recent[m->nrecent];
        enum err e = exact_at(&r->table, i, &to->digest, &v);
        if (e == ERR_CORRUPT) {
            return errinfo_set(
                reterr, e, m->build.w->dir, 0,
                "the recent table is damaged; open the list again: it is "
                "then rebuilt from the log");
        }
        if (e == ERR_OK) {
            to->record = entry_unpack(&v);
            m->nrecent++;
        }
    }
    qsort(m->recent, m->nrecent, sizeof(*m->recent), compare_recent);
    return ERR_OK;
}

static enum err next_base(struct merge *m, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    m->has_base = index_walk_next(m->walk, &m->base.digest, &m->base.record, &e);
    if (!m->has_base && e != ERR_OK) {
        return errinfo_set(reterr, e, m->build.w->dir, 0,
                           "the index is damaged; run `gillnet list rebuild %s`",
                           m->build.w->name);
    }
    return ERR_OK;
}

static enum err next_import(struct merge *m, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    m->has_import = m->sorter && sorter_next(m->sorter, &m->import, &e);
    if (!m->has_import && e != ERR_OK) {
        return errinfo_set(reterr, e, m->build.w->dir, 0,
                           "cannot read back the sorted import; nothing was changed");
    }
    return ERR_OK;
}

/* The smallest digest that any stream has next. */
static bool smallest(const struct merge *m, struct digest *ret)
{
    const struct digest *d = NULL;
    if (m->has_base) {
        d = &m->base.digest;
    }
    if (m->at_recent < m->nrecent &&
        (!d || digest_cmp(&m->recent[m->at_recent].digest, d) < 0)) {
        d = &m->recent[m->at_recent].digest;
    }
    if (m->has_import && (!d || digest_cmp(&m->import.digest, d) < 0)) {
        d = &m->import.digest;
    }
    if (d) {
        *ret = *d;
    }
    return d != NULL;
}

/* Applies the import's entry for the digest of *state; writes it to the log when it changes
 * anything. */
static enum err apply_import(struct merge *m, struct index_record *state, bool *has,
                             struct errinfo *reterr)
{
    struct cursor c = cursor_of(m->import.data);
    struct log_record r = {.kind = RECORD_IMPORT, .time_s = m->bulk.time_s};
    r.class_type = cursor_u16(&c);
    r.expiry_s = cursor_u32(&c);
    r.text = c.rest;
    r.digest = m->import.digest;
    bool stands = *has && !entry_is_expired(state, r.time_s);
    if (stands && state->status == ENTRY_REVOKED) {
        m->result.revoked++;
    } else if (stands) {
        m->result.known++;
    } else {
        m->result.added++;
    }
    if (!entry_fold(state, *has, &r)) {
        return ERR_OK;
    }
    enum err e = bulk_add(&m->bulk, &r, reterr);
    if (e == ERR_OK) {
        state->segment = r.segment;
        state->offset = r.offset;
        *has = true;
    }
    return e;
}

/* Takes everything known of digest d from the streams into the build. */
static enum err merge_digest(struct merge *m, const struct digest *d,
                             struct errinfo *reterr)
{
    struct index_record state = {0};
    bool has = false;
    enum err e = ERR_OK;
    if (m->has_base && digest_cmp(&m->base.digest, d) == 0) {
        state = m->base.record;
        has = true;
        e = next_base(m, reterr);
    }
    if (m->at_recent < m->nrecent &&
        digest_cmp(&m->recent[m->at_recent].digest, d) == 0) {
        /* already folded over what the index knew */
        state = m->recent[m->at_recent].record;
        has = true;
        m->at_recent++;
    }
    bool is_first = true;
    while (e == ERR_OK && m->has_import && digest_cmp(&m->import.digest, d) == 0) {
        if (is_first) {
            e = apply_import(m, &state, &has, reterr);
        } else {
            m->result.duplicates++;
        }
        is_first = false;
        if (e == ERR_OK) {
            e = next_import(m, reterr);
        }
    }
    return e == ERR_OK && has ? build_add(&m->build, d, &state, reterr) : e;
}

static enum err merge_run(struct merge *m, struct errinfo *reterr)
{
    struct digest d;
    enum err e = next_base(m, reterr);
    if (e == ERR_OK) {
        e = next_import(m, reterr);
    }
    while (e == ERR_OK && smallest(m, &d)) {
        e = merge_digest(m, &d, reterr);
        if (++m->steps % BUILD_PROGRESS_EVERY == 0 && m->build.progress) {
            m->build.progress(m->build.context, "index",
                              (double)m->steps / (double)m->expected);
        }
    }
    if (e == ERR_OK && m->bulk.is_open) {
        e = bulk_end(&m->bulk, reterr);
    }
    return e;
}

/* Everything up to the first record of the build. */
static enum err merge_start(struct merge *m, struct errinfo *reterr)
{
    struct list_writer *w = m->build.w;
    if (!w->index) {
        return errinfo_set(reterr, w->index_why.code, w->index_why.source, 0,
                           "%s; run `gillnet list rebuild %s`", w->index_why.text,
                           w->name);
    }
    enum err e = recent_sorted(&w->recent, m, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = index_walk_new(w->index, &m->walk);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, w->dir, 0, "cannot walk the index: %s",
                           err_text(e));
    }
    m->expected = index_count(w->index) + m->nrecent;
    if (m->sorter) {
        m->expected += sorter_count(m->sorter);
    }
    return build_begin(&m->build, w->current.generation + 1, m->expected, reterr);
}

static enum err merge_finish(struct merge *m, struct errinfo *reterr)
{
    struct list_writer *w = m->build.w;
    bool has_bulk = m->bulk.number != w->tail.number;
    if (m->sorter && !has_bulk) {
        build_abort(&m->build); /* the import says nothing new */
        m->result.entries = recent_numbers_get(&w->recent).totals.listed;
        return ERR_OK;
    }
    uint64_t updated_s =
        has_bulk ? m->bulk.time_s : recent_numbers_get(&w->recent).updated_s;
    uint64_t listed = m->build.totals.listed;
    enum err e = build_publish(&m->build, m->bulk.number + 1, updated_s, reterr);
    m->result.entries = listed;
    return e;
}

static void merge_free(struct merge *m)
{
    bulk_fini(&m->bulk);
    index_walk_free(&m->walk);
    free(m->recent);
    free(m);
}

enum err list_merge(struct list_writer *w, const struct merge_input *in,
                    list_progress_fn *progress, void *context,
                    struct list_import_result *ret, struct errinfo *reterr)
{
    struct merge *m = calloc(1, sizeof(*m));
    if (!m) {
        return errinfo_set(reterr, ERR_NOMEM, w->dir, 0, "no memory to merge the list");
    }
    m->build = (struct build){.w = w, .progress = progress, .context = context};
    m->bulk.w = w;
    m->bulk.number = w->tail.number;
    buf_init(&m->bulk.scratch, RECORD_BYTES_MAX);
    if (in) {
        m->sorter = in->sorter;
        m->bulk.source = slice_head(in->source, LIST_SOURCE_MAX - 1);
        m->bulk.time_s = in->time_s;
    }
    enum err e = merge_start(m, reterr);
    if (e == ERR_OK) {
        e = merge_run(m, reterr);
    }
    if (e != ERR_OK) {
        build_abort(&m->build);
    } else {
        /* the walk reads the index that publishing closes */
        index_walk_free(&m->walk);
        e = merge_finish(m, reterr);
    }
    if (e == ERR_OK) {
        *ret = m->result;
    }
    merge_free(m);
    return e;
}
