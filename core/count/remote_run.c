/* remote_run - closed buckets of peers: feeds the sketch with the counts that it lacks. */

#include "core/base/log.h"
#include "core/count/remote_internal.h"

enum {
    BATCH = 4096,
    WHOLE_MAX = 16 /* runs without a stream that are fed at one look */
};

/* ---- refreshing ---- */

static void on_peer_damage(void *context, const struct errinfo *why)
{
    (void)context;
    log_errinfo("peer-counts", why);
}

void remote_refresh_runs(struct remote *r)
{
    struct errinfo why;
    enum err e = ERR_OK;

    if (!remote_has_changed(r->runs_dir, &r->runs_sign)) {
        return;
    }
    r->has_changed = true;
    if (!r->runs_sign.is_there) {
        remote_close_merged(r);
        runset_close(&r->runset); /* the folder is the hub's to make */
    } else if (r->runset == NULL) {
        e = runset_open(r->runs_dir, on_peer_damage, NULL, &r->runset, &why);
    } else {
        e = runset_refresh(r->runset, &why);
    }
    if (e != ERR_OK) {
        r->runs_sign = (struct remote_sign){.is_there = false}; /* tried again */
        if (!r->is_trouble) {
            log_errinfo("peer-counts", &why);
        }
    }
    r->is_trouble = e != ERR_OK;
}

/* ---- feeding ---- */

struct feeding {
    struct remote *r;
    remote_fn *fn;
    void *context;
    struct remote_fed *fresh;
    size_t n;
    unsigned nwhole;
};

/* Only what its stream did not tell. */
static void feed_bucket(const struct feeding *f, const struct run *run)
{
    const struct run_id *id = run_id(run);
    const struct remote_stream *s = remote_stream_of(f->r, id);
    struct run_record v[BATCH];
    struct run_cursor cursor;
    struct run_record record;
    size_t n = 0;
    enum err e;

    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        uint64_t before = s != NULL ? tally_get(&s->counts, record.key) : 0;
        if (e != ERR_OK || record.count <= before) {
            continue;
        }
        v[n++] = (struct run_record){record.key, record.count - before};
        if (n == BATCH) {
            f->fn(f->context, id->start_s / COUNT_BUCKET_S, v, n);
            n = 0;
        }
    }
    if (n > 0) {
        f->fn(f->context, id->start_s / COUNT_BUCKET_S, v, n);
    }
}

/* Whether all that was merged into a day's run is in the sketch: the day's run before, and the
 * buckets that became a part of it since. */
static bool is_explained(const struct remote *r, const struct run *run)
{
    const struct run_id *id = run_id(run);
    uint64_t total = 0;

    for (size_t i = 0; i < r->nfed; i++) {
        const struct remote_fed *f = &r->fed[i];
        bool is_same_day = f->id.start_s / COUNT_DAY_S == id->start_s / COUNT_DAY_S &&
                           f->id.key_id == id->key_id &&
                           memcmp(f->id.origin, id->origin, RUN_ORIGIN_BYTES) == 0;
        bool is_part = f->id.len_s == COUNT_DAY_S ||
                       (!f->is_in_day && run_has_source(run, f->id.start_s, f->id.inc));
        total += is_same_day && is_part ? f->total : 0;
    }
    return total >= run_total(run);
}

static bool is_usable(const struct remote *r, const struct runset_item *item)
{
    const struct run_id *id = &item->entry->id;

    return item->entry->run != NULL && keyring_find(&r->keys, id->key_id) != NULL &&
           remote_has_say(r, id->origin) &&
           !runset_place_is_none(runset_place_of(item, r->now));
}

/* Whether a run that is gone took nothing with it that a window still needs. */
static bool is_over(const struct remote *r, const struct run_id *id)
{
    uint64_t today = r->now / COUNT_DAY_BUCKETS;

    return id->start_s / COUNT_DAY_S + COUNT_DAYS < today ||
           (id->len_s == COUNT_BUCKET_S &&
            id->start_s / COUNT_BUCKET_S + COUNT_BUCKETS < r->now);
}

static void look_at_run(struct feeding *f, const struct runset_item *item, bool is_new)
{
    const struct runset_entry *e = item->entry;
    struct remote *r = f->r;

    f->fresh[f->n++] =
        (struct remote_fed){e->id, e->inode, run_total(e->run), item->is_in_day};
    if (f->fn == NULL || r->wants_rebuild) {
        return; /* the rebuild takes all */
    }
    if (e->id.len_s == COUNT_DAY_S) {
        r->wants_rebuild = !is_explained(r, e->run);
        return;
    }
    bool is_whole = remote_stream_of(r, &e->id) == NULL;
    f->nwhole += is_whole;
    /* it was replaced, or came after its day; or a whole history comes: a rebuild has its turns,
     * this has not */
    r->wants_rebuild =
        !is_new || item->is_in_day || (is_whole && f->nwhole > WHOLE_MAX);
    if (!r->wants_rebuild) {
        feed_bucket(f, e->run);
    }
}

/* Both lists have the same order: an entry in only one of them is new or gone. */
static void compare_runs(struct feeding *f, const struct runset_list *list)
{
    struct remote *r = f->r;
    size_t at = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct runset_entry *e = list->v[i].entry;
        if (!is_usable(r, &list->v[i])) {
            continue;
        }
        while (at < r->nfed && runset_id_cmp(&r->fed[at].id, &e->id) < 0) {
            r->wants_rebuild = r->wants_rebuild || !is_over(r, &r->fed[at].id);
            at++;
        }
        bool is_known = at < r->nfed && runset_id_cmp(&r->fed[at].id, &e->id) == 0;
        if (is_known && r->fed[at].inode == e->inode) {
            f->fresh[f->n] = r->fed[at];
            f->fresh[f->n++].is_in_day = list->v[i].is_in_day;
        } else {
            look_at_run(f, &list->v[i], !is_known);
        }
        at += is_known;
    }
    for (; at < r->nfed; at++) {
        r->wants_rebuild = r->wants_rebuild || !is_over(r, &r->fed[at].id);
    }
}

void remote_feed_runs(struct remote *r, remote_fn *fn, void *context)
{
    static struct runset_list none;
    struct feeding f = {.r = r, .fn = fn, .context = context};
    struct runset_list *list = r->runset != NULL ? runset_pin(r->runset) : &none;

    f.fresh = calloc(list->n + 1, sizeof(f.fresh[0]));
    if (f.fresh == NULL) {
        r->wants_rebuild = true; /* and until then as it was */
    } else {
        compare_runs(&f, list);
        free(r->fed);
        r->fed = f.fresh;
        r->nfed = f.n;
    }
    if (r->runset != NULL) {
        runset_unpin(r->runset, &list);
    }
}
