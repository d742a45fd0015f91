/* follow - journals and runs of the last buckets, read as they grow. */
#include "core/base/array.h"
#include "core/base/dir_walk.h"
#include "core/count/follow_internal.h"

/* A look, with the first error met. */
struct look {
    struct follow *f;
    uint64_t now_s;
    follow_fn *fn;
    void *context;
    enum err e;
    struct errinfo *reterr;
};

static void note_error(struct look *l, enum err e, const struct errinfo *why)
{
    if (l->e == ERR_OK && e != ERR_OK) {
        l->e = e;
        if (l->reterr != NULL) {
            *l->reterr = *why;
        }
    }
}

/* ---- life ---- */

static void bucket_fini(struct follow_bucket *b)
{
    for (size_t i = 0; i < b->nsources; i++) {
        tally_fini(&b->sources[i].counts);
    }
    free(b->sources);
    free(b->changed);
    *b = (struct follow_bucket){.start_s = b->start_s, .is_complete = b->is_complete};
}

enum err follow_open(const char *state_dir, const struct keyring *keys,
                     struct follow **ret, struct errinfo *reterr)
{
    uint8_t derived[KEYRING_DERIVED_BYTES];
    struct follow *f = calloc(1, sizeof(*f));

    if (f == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    keyring_derive(&keys->node, COUNT_ORIGIN_PURPOSE, 0, derived);
    memcpy(f->origin, derived, sizeof(f->origin));
    f->key_id = keys->ring[0].id;
    enum err e = path_make(f->dir, reterr, "%s/counts", state_dir);
    THEN(e, path_make(f->runs, reterr, "%s/runs", f->dir));
    if (e != ERR_OK) {
        free(f);
        return e;
    }
    *ret = f;
    return ERR_OK;
}

void follow_close(struct follow **f)
{
    if (*f != NULL) {
        for (size_t i = 0; i < (*f)->n; i++) {
            bucket_fini(&(*f)->v[i]);
        }
        free(*f);
        *f = NULL;
    }
}

/* ---- what the folders have ---- */

typedef void name_fn(struct look *l, struct slice name);

static enum err each_name(struct look *l, const char *dir, name_fn *fn,
                          struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);

    while (dir_walk_next(&w)) {
        fn(l, slice_str(w.name));
    }
    return dir_walk_end(&w, ERR_OK, reterr);
}

static void too_many(struct look *l, const char *dir)
{
    struct errinfo why;

    note_error(l,
               errinfo_set(
                   &why, ERR_LIMIT, dir, 0,
                   "too many files of the last hours; the counts of the others are not "
                   "published to peers"),
               &why);
}

static void take_file(struct look *l, struct slice name)
{
    struct follow *f = l->f;
    struct live_name n = live_name_parse(name);

    if (n.kind == LIVE_OTHER || n.start_s < f->oldest_s || n.start_s > f->newest_s ||
        n.start_s % COUNT_BUCKET_S != 0) {
        return;
    }
    if (f->nfiles == FOLLOW_JOURNALS_MAX) {
        too_many(l, f->dir);
    } else {
        f->files[f->nfiles++] = n;
    }
}

static void take_id(struct look *l, struct slice name)
{
    struct follow *f = l->f;
    struct run_id id;

    if (!runset_name_parse(name, &id) || id.len_s != COUNT_BUCKET_S ||
        id.start_s < f->oldest_s || id.start_s > f->newest_s ||
        id.key_id != f->key_id ||
        memcmp(id.origin, f->origin, sizeof(id.origin)) != 0) {
        return;
    }
    if (f->nids == FOLLOW_RUNS_MAX) {
        too_many(l, f->runs);
    } else {
        f->ids[f->nids++] = id;
    }
}

/* Journals first: a bucket whose journal is gone by then has its run. */
static enum err list(struct look *l, struct errinfo *reterr)
{
    struct follow *f = l->f;
    uint64_t running_s = l->now_s - l->now_s % COUNT_BUCKET_S;
    uint64_t reach_s = (uint64_t)FOLLOW_BUCKETS * COUNT_BUCKET_S;

    f->oldest_s = running_s > reach_s ? running_s - reach_s : 0;
    f->newest_s = running_s + (uint64_t)2 * COUNT_BUCKET_S; /* the clock was set back */
    f->nfiles = 0;
    f->nids = 0;
    enum err e = each_name(l, f->dir, take_file, reterr);
    return e != ERR_OK ? e : each_name(l, f->runs, take_id, reterr);
}

/* ---- buckets ---- */

/* NULL: no room; FOLLOW_KEPT_MAX is more than the buckets of one look. */
static struct follow_bucket *bucket_of(struct follow *f, uint64_t start_s)
{
    size_t i = 0;

    while (i < f->n && f->v[i].start_s < start_s) {
        i++;
    }
    if (i < f->n && f->v[i].start_s == start_s) {
        return &f->v[i];
    }
    if (f->n == FOLLOW_KEPT_MAX) {
        return NULL;
    }
    memmove(&f->v[i + 1], &f->v[i], (f->n - i) * sizeof(f->v[0]));
    f->n++;
    f->v[i] = (struct follow_bucket){.start_s = start_s};
    return &f->v[i];
}

static void forget_old(struct follow *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].start_s < f->oldest_s || f->v[i].start_s > f->newest_s) {
            bucket_fini(&f->v[i]);
        } else {
            f->v[kept++] = f->v[i];
        }
    }
    f->n = kept;
}

struct follow_source *follow_source(struct follow_bucket *b, uint64_t inc)
{
    for (size_t i = 0; i < b->nsources; i++) {
        if (b->sources[i].inc == inc) {
            return &b->sources[i];
        }
    }
    struct follow_source *more =
        realloc(b->sources, (b->nsources + 1) * sizeof(b->sources[0]));
    if (more == NULL) {
        return NULL;
    }
    b->sources = more;
    struct follow_source *s = &more[b->nsources++];
    *s = (struct follow_source){.inc = inc};
    tally_init(&s->counts);
    return s;
}

static void settle_changed(struct follow_bucket *b)
{
    size_t kept = 0;

    if (b->nchanged > 1) {
        qsort(b->changed, b->nchanged, sizeof(b->changed[0]), array_u64_cmp);
    }
    for (size_t i = 0; i < b->nchanged; i++) {
        if (kept == 0 || b->changed[kept - 1] != b->changed[i]) {
            b->changed[kept++] = b->changed[i];
        }
    }
    b->nchanged = kept;
}

static bool note_changed(struct follow_bucket *b, uint64_t key)
{
    if (b->nchanged == b->changed_room) {
        settle_changed(b); /* nobody takes them: each is kept once */
        size_t need = b->nchanged > b->changed_room / 2 ? b->changed_room + 1 : 1;
        if (!array_room(&b->changed, &b->changed_room, need, SIZE_MAX,
                        sizeof(b->changed[0]))) {
            return false;
        }
    }
    b->changed[b->nchanged++] = key;
    return true;
}

/* The source's count of key is at least `count` now. */
bool follow_raise(struct follow_bucket *b, struct follow_source *s, uint64_t key,
                  uint64_t count)
{
    uint64_t before = tally_get(&s->counts, key);

    return count <= before ||
           (note_changed(b, key) && tally_add(&s->counts, key, count - before));
}

/* ---- telling ---- */

static uint64_t total_of(const struct follow_bucket *b, uint64_t key)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < b->nsources; i++) {
        sum = run_sum(sum, tally_get(&b->sources[i].counts, key));
    }
    return sum;
}

/* An empty bucket was never reported. */
static bool is_bucket_empty(const struct follow_bucket *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->nsources; i++) {
        n += b->sources[i].counts.n;
    }
    return n == 0;
}

static enum err tell_bucket(struct look *l, struct follow_bucket *b, bool is_complete,
                            struct errinfo *reterr)
{
    if (b->nchanged == 0 && (!is_complete || is_bucket_empty(b))) {
        b->is_complete = is_complete;
        return ERR_OK;
    }
    settle_changed(b);
    struct run_record *v = calloc(b->nchanged + 1, sizeof(v[0]));
    if (v == NULL) {
        return errinfo_nomem(reterr, l->f->dir);
    }
    for (size_t i = 0; i < b->nchanged; i++) {
        v[i] = (struct run_record){b->changed[i], total_of(b, b->changed[i])};
    }
    enum err e = l->fn(l->context, b->start_s, v, b->nchanged, is_complete);
    free(v);
    if (e != ERR_OK) {
        l->e = l->e == ERR_OK ? e : l->e; /* the text is the teller's */
        return ERR_OK;
    }
    b->nchanged = 0;
    b->is_complete = is_complete;
    return ERR_OK;
}

static void look_at_bucket(struct look *l, struct follow_bucket *b)
{
    const struct follow *f = l->f;
    struct errinfo why = {.code = ERR_OK};
    bool is_running = false;
    enum err e = ERR_OK;
    enum err worst = ERR_OK;

    for (size_t i = 0; i < f->nfiles; i++) {
        if (f->files[i].start_s != b->start_s) {
            continue;
        }
        is_running = true;
        if (f->files[i].kind == LIVE_JOURNAL) {
            e = follow_read_journal(f, b, &f->files[i], &why);
            note_error(l, e, &why);
        }
    }
    for (size_t i = 0; i < f->nids; i++) {
        if (f->ids[i].start_s == b->start_s) {
            e = follow_read_run(f, b, &f->ids[i], &why);
            worst = e != ERR_OK && e != ERR_CORRUPT && e != ERR_VERSION ? e : worst;
            note_error(l, e, &why);
        }
    }
    bool is_over = l->now_s >= b->start_s + COUNT_BUCKET_S + FOLLOW_GRACE_S;
    note_error(l, tell_bucket(l, b, !is_running && is_over && worst == ERR_OK, &why),
               &why);
    if (b->is_complete) {
        bucket_fini(b);
    }
}

enum err follow_look(struct follow *f, uint64_t now_s, follow_fn *fn, void *context,
                     struct errinfo *reterr)
{
    struct look l = {.f = f,
                     .now_s = now_s,
                     .fn = fn,
                     .context = context,
                     .e = ERR_OK,
                     .reterr = reterr};
    enum err e = list(&l, reterr);

    if (e != ERR_OK) {
        return e;
    }
    forget_old(f);
    for (size_t i = 0; i < f->nfiles; i++) {
        (void)bucket_of(f, f->files[i].start_s);
    }
    for (size_t i = 0; i < f->nids; i++) {
        (void)bucket_of(f, f->ids[i].start_s);
    }
    for (size_t i = 0; i < f->n; i++) {
        if (!f->v[i].is_complete) {
            look_at_bucket(&l, &f->v[i]);
        }
    }
    return l.e;
}
