/*
 * verify - folds the whole log and compares it with index, filter and memtable.
 *
 * Findings are kept until the end. If a writer committed meanwhile, they can concern replaced
 * files, and the check is repeated.
 */
#include <stdarg.h>

#include "core/base/clock.h"
#include "core/list/files.h"
#include "core/list/level.h"
#include "core/list/memtable.h"
#include "core/list/merged_index.h"
#include "core/list/replay.h"

enum { FINDINGS_MAX = 500, VERIFY_ATTEMPTS = 3 };

struct verify {
    char dir[FILE_PATH_MAX];
    const char *name;
    const struct keyring *keys;
    struct errinfo *findings; /* FINDINGS_MAX */
    unsigned kept;
    uint64_t found;
    uint64_t now_s;
    struct list_current current;
    struct level *level[LIST_LEVELS_MAX];
    bool is_whole; /* no index of them is damaged */
    struct stack_walk *walk;
    struct digest at; /* next of the levels */
    struct index_record at_record;
    bool has_at;
    struct memtable recent;
    bool has_recent;
    uint32_t tail_last;
    bool is_log_damaged;
};

static void keep_finding(void *context, const struct errinfo *finding)
{
    struct verify *v = context;
    v->found++;
    if (v->kept < FINDINGS_MAX) {
        v->findings[v->kept++] = *finding;
    }
}

static void add_finding(struct verify *v, enum err code, const char *source,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
static void add_finding(struct verify *v, enum err code, const char *source,
                        const char *format, ...)
{
    char text[ERRINFO_TEXT_MAX];
    struct errinfo info;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    errinfo_set(&info, code, source, 0, "%s", text);
    keep_finding(v, &info);
}

/* A failure to open a file, with what cures it. */
static void add_rebuild_finding(struct verify *v, const struct errinfo *what)
{
    add_finding(v, what->code, what->source, "%.300s; run `gillnet list rebuild %s`",
                what->text, v->name);
}

/* ---- opening ---- */

/* A level with its two files and as many records as CURRENT says. */
static void open_level(struct verify *v, uint32_t i)
{
    const struct list_level *names = &v->current.level[i];
    const struct level_open how = {v->dir,
                                   &v->keys->node,
                                   keyring_find(v->keys, v->current.key_id),
                                   v->current.key_id,
                                   BLOOMFILE_COPY,
                                   true};
    struct errinfo info;
    if (level_open(&how, names, &v->level[i], &info) != ERR_OK) {
        v->is_whole = false;
        add_rebuild_finding(v, &info);
        return;
    }
    const struct level *l = v->level[i];
    if (!l->has_base) {
        add_rebuild_finding(v, &l->base_why);
    }
    if (!l->has_front && l->front_why.code != ERR_OK &&
        l->front_why.code != ERR_NOT_FOUND) {
        add_rebuild_finding(v, &l->front_why);
    }
    if (!l->index) {
        v->is_whole = false;
        add_rebuild_finding(v, &l->index_why);
        return;
    }
    if (index_count(l->index) != names->entries) {
        add_finding(v, ERR_CORRUPT, v->dir,
                    "index %" PRIu64 " holds %" PRIu64
                    " entries where CURRENT says %" PRIu64
                    "; run `gillnet list rebuild %s`",
                    names->number, index_count(l->index), names->entries, v->name);
    }
}

static void open_recent(struct verify *v)
{
    struct memtable_ids ids = {v->current.generation, v->current.tail,
                               v->current.key_id};
    struct errinfo info;
    enum err e =
        memtable_open(v->dir, &ids, &v->keys->node, FILEMAP_READ, &v->recent, &info);
    v->has_recent = e == ERR_OK;
    if (e != ERR_OK && e != ERR_RANGE) {
        /* not damage if of another boot: the next writer makes a new one */
        add_finding(
            v, e, info.source,
            "%.300s; the next change of the list (`gillnet list add %s ...`) rebuilds it "
            "from the log",
            info.text, v->name);
    }
}

/* ---- comparing ---- */

static void next_at(struct verify *v)
{
    enum err e = ERR_OK;
    v->has_at = v->walk && merged_iter_next(v->walk, &v->at, &v->at_record, &e);
    if (e != ERR_OK) {
        add_finding(v, e, v->dir, "the index is damaged; run `gillnet list rebuild %s`",
                    v->name);
    }
}

/* Every entry of every index is known to the filter over it. */
static void check_filter(struct verify *v, const struct level *l)
{
    struct index_walk *walk = NULL;
    struct digest d;
    struct index_record r;
    enum err e = index_walk_new(l->index, &walk);
    while (e == ERR_OK && index_walk_next(walk, &d, &r, &e)) {
        if (!bloom_test(&l->base.bloom, &d) ||
            (l->has_front && !bloom_test(&l->front.bloom, &d))) {
            add_finding(v, ERR_CORRUPT, v->dir,
                        "filter %" PRIu64
                        " does not know an entry of its index; run `gillnet "
                        "list rebuild %s`",
                        l->names.number, v->name);
        }
    }
    index_walk_free(&walk);
}

static void check_filters(struct verify *v)
{
    for (uint32_t i = 0; i < v->current.nlevels; i++) {
        const struct level *l = v->level[i];
        if (l && l->index && l->has_base) {
            check_filter(v, l);
        }
    }
}

static bool same_record(const struct index_record *a, const struct index_record *b)
{
    return a->status == b->status && a->flags == b->flags &&
           a->class_type == b->class_type && a->segment == b->segment &&
           a->offset == b->offset && a->expiry_s == b->expiry_s;
}

/* Compares the index with the log before the tail: *want is the state of d, if has. */
static void compare_index(struct verify *v, const struct digest *d, bool has,
                          const struct index_record *want)
{
    if (!v->walk) {
        return;
    }
    while (v->has_at && digest_cmp(&v->at, d) < 0) {
        add_finding(
            v, ERR_CORRUPT, v->dir,
            v->is_log_damaged
                ? "the index alone holds an entry (segment %" PRIu32 ", offset %" PRIu32
                  ") that the damaged log lacks; restore the log from a backup, "
                  "`gillnet list rebuild %s` would not bring it back"
                : "the index holds an entry that the log does not have (segment "
                  "%" PRIu32 ", offset %" PRIu32 "); run `gillnet list rebuild %s`",
            v->at_record.segment, v->at_record.offset, v->name);
        next_at(v);
    }
    if (v->has_at && digest_cmp(&v->at, d) == 0) {
        if (!has || !same_record(&v->at_record, want)) {
            add_finding(v, ERR_CORRUPT, v->dir,
                        "the index says other than the log (segment %" PRIu32
                        ", offset %" PRIu32 "); run `gillnet list rebuild %s`",
                        v->at_record.segment, v->at_record.offset, v->name);
        }
        next_at(v);
    } else if (has && !entry_is_expired(want, v->now_s)) {
        add_finding(v, ERR_CORRUPT, v->dir,
                    "an entry of the log (segment %" PRIu32 ", offset %" PRIu32
                    ") is missing in the index; run `gillnet list rebuild %s`",
                    want->segment, want->offset, v->name);
    }
}

/* Compares the memtable with the tail: *want is the state of d, or newer. */
static void compare_recent(struct verify *v, const struct digest *d,
                           const struct index_record *want)
{
    struct index_record got;
    if (!v->has_recent) {
        return;
    }
    bool is_newer = memtable_get(&v->recent, d, &got) == ERR_OK &&
                    (got.segment > want->segment ||
                     (got.segment == want->segment && got.offset > want->offset));
    if (!is_newer &&
        (memtable_get(&v->recent, d, &got) != ERR_OK || !same_record(&got, want))) {
        add_finding(v, ERR_CORRUPT, v->dir,
                    "a recent change (segment %" PRIu32 ", offset %" PRIu32
                    ") is not in the recent table; run `gillnet list rebuild %s`",
                    want->segment, want->offset, v->name);
    }
}

/* Folds the records of one digest: before the tail for the index, all for the memtable. */
static enum err compare_digest(struct verify *v, struct replay *r,
                               struct log_record rec, struct errinfo *reterr)
{
    struct index_record state = {0};
    struct index_record base = {0};
    struct digest d = rec.digest;
    bool has = false;
    bool has_base = false;
    bool has_tail = false;
    enum err e = ERR_OK;
    while (e == ERR_OK && replay_peek(r, &rec) && digest_cmp(&rec.digest, &d) == 0) {
        has = entry_fold(&state, has, &rec) || has;
        if (rec.segment < v->current.tail) {
            base = state;
            has_base = has;
        } else {
            has_tail = true;
        }
        e = replay_next(r, reterr);
    }
    compare_index(v, &d, has_base, &base);
    if (has_tail) {
        compare_recent(v, &d, &state);
    }
    return e;
}

static enum err compare_all(struct verify *v, struct replay *r, struct errinfo *reterr)
{
    struct log_record rec;
    enum err e = ERR_OK;
    v->is_log_damaged = r->damage > 0;
    next_at(v);
    while (e == ERR_OK && replay_peek(r, &rec)) {
        e = compare_digest(v, r, rec, reterr);
    }
    struct digest last;
    memset(last.b, 0xff, sizeof(last.b));
    struct index_record none = {0};
    compare_index(v, &last, false, &none);
    return e;
}

/* ---- one pass ---- */

static enum err read_segments(struct verify *v, struct replay *r,
                              struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (uint32_t n = 1; e == ERR_OK && n < v->tail_last; n++) {
        e = replay_segment(r, n, false, 0, reterr);
    }
    /* the memtable has the acknowledged length of the tail */
    uint64_t limit = v->has_recent ? memtable_numbers_get(&v->recent).tail_bytes : 0;
    uint64_t before = r->bytes;
    THEN(e, replay_segment(r, v->tail_last, !v->has_recent, limit, reterr));
    if (e == ERR_OK && r->bytes - before < limit) {
        add_finding(v, ERR_CORRUPT, v->dir,
                    "segment %" PRIu32
                    " of the log is shorter than what was acknowledged; "
                    "restore it from a backup or repeat the latest changes",
                    v->tail_last);
    }
    return e;
}

static void check_log(struct verify *v)
{
    struct errinfo info = {0};
    struct replay r = {.dir = v->dir,
                       .key_id = v->current.key_id,
                       .on_damage = keep_finding,
                       .context = v};
    enum err e = replay_begin(&r, &info);
    THEN(e, read_segments(v, &r, &info));
    THEN(e, replay_finish(&r, &info));
    if (e == ERR_OK && v->is_whole) {
        struct merged_index levels = levels_stack(v->level, v->current.nlevels);
        e = merged_iter_new(&levels, 0, &v->walk);
        errinfo_set(&info, e, v->dir, 0, "cannot walk the index: %s", err_text(e));
    }
    THEN(e, compare_all(v, &r, &info));
    if (e != ERR_OK) {
        keep_finding(v, &info);
    }
    merged_iter_free(&v->walk);
    replay_end(&r);
}

static void verify_close(struct verify *v)
{
    for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
        level_release(&v->level[i]);
    }
    if (v->has_recent) {
        memtable_close(&v->recent);
    }
    v->has_recent = false;
}

static void verify_once(struct verify *v)
{
    struct errinfo info;
    v->kept = 0;
    v->found = 0;
    v->current = (struct list_current){0};
    enum err e = current_read(v->dir, LIST_CURRENT, &v->current, &info);
    if (e != ERR_OK) {
        add_rebuild_finding(v, &info);
        return;
    }
    if (!keyring_find(v->keys, v->current.key_id)) {
        add_finding(v, ERR_KEY, v->dir,
                    "made with the digest key %08" PRIx32
                    ", which keys/digest.key does not hold; put that key back",
                    v->current.key_id);
    }
    v->is_whole = true;
    for (uint32_t i = 0; i < v->current.nlevels; i++) {
        open_level(v, i);
    }
    open_recent(v);
    v->tail_last = v->has_recent ? memtable_numbers_get(&v->recent).segment
                                 : list_tail_last(v->dir, v->current.tail);
    check_filters(v);
    check_log(v);
    verify_close(v);
}

static bool was_replaced(const struct verify *v)
{
    struct list_current now;
    return current_read(v->dir, LIST_CURRENT, &now, NULL) == ERR_OK &&
           now.generation != v->current.generation;
}

/* Repeats the check while a writer commits. */
static void verify_steadily(struct verify *v)
{
    for (unsigned i = 0; i < VERIFY_ATTEMPTS; i++) {
        verify_once(v);
        if (v->found == 0 || !was_replaced(v)) {
            break;
        }
    }
}

/* Hands the findings out; returns the code of the first. */
static enum err report_findings(const struct verify *v, list_finding_fn *on_finding,
                                void *context)
{
    for (unsigned i = 0; i < v->kept; i++) {
        on_finding(context, &v->findings[i]);
    }
    if (v->found > v->kept) {
        struct errinfo info;
        errinfo_set(&info, ERR_LIMIT, v->dir, 0, "and %" PRIu64 " more findings",
                    v->found - v->kept);
        on_finding(context, &info);
    }
    return v->kept > 0 ? v->findings[0].code : ERR_OK;
}

/* The folder of the list, which must be there. */
static enum err find_list(struct verify *v, const char *state_dir,
                          struct errinfo *reterr)
{
    struct stat st;
    enum err e = list_dir_path(v->dir, state_dir, slice_str(v->name), reterr);
    if (e == ERR_OK && stat(v->dir, &st) != 0) {
        return errinfo_errno(reterr, v->dir, "cannot find the list");
    }
    return e;
}

enum err list_verify(const char *state_dir, struct slice name,
                     const struct keyring *keys, list_finding_fn *on_finding,
                     void *context)
{
    struct errinfo info;
    char text[LIST_NAME_MAX + 2]; /* one too long stays too long */
    struct verify *v = calloc(1, sizeof(*v));
    if (v) {
        v->findings = calloc(FINDINGS_MAX, sizeof(*v->findings));
    }
    if (!v || !v->findings) {
        free(v);
        enum err e = errinfo_nomem(&info, state_dir);
        on_finding(context, &info);
        return e;
    }
    (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(name));
    v->name = text;
    v->keys = keys;
    v->now_s = clock_wall_us() / 1000000;
    enum err e = find_list(v, state_dir, &info);
    if (e == ERR_OK) {
        verify_steadily(v);
        e = report_findings(v, on_finding, context);
    } else {
        on_finding(context, &info);
    }
    free(v->findings);
    free(v);
    return e;
}
