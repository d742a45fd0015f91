/* remote_merged - peers' runs read for one key: merged runs first, the other runs one by one. */
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/count/remote_internal.h"

/* ---- which there are ---- */

static void merged_fini(struct remote_merged *s)
{
    merged_run_close(&s->merged);
    free(s->item);
    *s = (struct remote_merged){.merged = NULL};
}

static void unmap(struct remote *r)
{
    free(r->loose);
    r->loose = NULL;
    r->nloose = 0;
    if (r->list != NULL) {
        runset_unpin(r->runset, &r->list);
    }
}

void remote_close_merged(struct remote *r)
{
    unmap(r);
    for (size_t i = 0; i < r->nmerged; i++) {
        merged_fini(&r->merged[i]);
    }
    free(r->merged);
    r->merged = NULL;
    r->nmerged = 0;
    r->merged_sign = (struct remote_sign){.is_there = false};
}

static bool is_of_bucket(const struct merged_runs_name *n, const struct merged_run *s)
{
    const struct merged_run_facts *f = merged_run_facts(s);

    return n->start_s == f->start_s && n->len_s == f->len_s && n->key_id == f->key_id;
}

/* Takes it over from those that were open, if it is the same file, or opens it. False: it is not to
 * be used. */
static bool load_merged(struct remote *r, const char *path,
                        const struct merged_runs_name *name, struct remote_merged *ret)
{
    struct stat st;

    if (lstat(path, &st) != 0) {
        return false;
    }
    *ret = (struct remote_merged){.name = *name, .inode = (uint64_t)st.st_ino};
    for (size_t i = 0; i < r->nmerged; i++) {
        struct remote_merged *old = &r->merged[i];
        if (old->merged != NULL && old->inode == ret->inode &&
            memcmp(&old->name, name, sizeof(*name)) == 0 &&
            merged_run_facts(old->merged)->bytes == (uint64_t)st.st_size) {
            *ret = *old;
            old->merged = NULL;
            old->item = NULL;
            return true;
        }
    }
    struct errinfo why;
    enum err e = merged_run_open(path, &ret->merged, &why);
    if (e == ERR_OK && !is_of_bucket(name, ret->merged)) {
        merged_run_close(&ret->merged);
        e = errinfo_set(&why, ERR_CORRUPT, path, 0,
                        "it is of another bucket than its name says");
    }
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        log_errinfo("peer-counts", &why); /* the runs are read instead */
    }
    return e == ERR_OK;
}

static void list_merged(struct remote *r, const char *folder)
{
    struct remote_merged *fresh = calloc(MERGED_RUNS_MAX, sizeof(*fresh));
    size_t n = 0;
    struct dir_walk w = dir_walk_begin(folder, DIR_OPTIONAL);

    while (fresh != NULL && n < MERGED_RUNS_MAX && dir_walk_next(&w)) {
        struct merged_runs_name name;
        char path[FILE_PATH_MAX];
        if (merged_runs_name_parse(slice_str(w.name), &name) &&
            keyring_find(&r->keys, name.key_id) != NULL &&
            file_path(path, "%s/%s", folder, w.name) == ERR_OK &&
            load_merged(r, path, &name, &fresh[n])) {
            n++;
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    for (size_t i = 0; i < r->nmerged; i++) {
        merged_fini(&r->merged[i]);
    }
    free(r->merged);
    r->merged = fresh;
    r->nmerged = n;
}

/* ---- what they stand for ---- */

/* Marks the runs that are in it: each in one merged run. */
static void map_merged(struct remote *r, struct remote_merged *s, bool *is_covered)
{
    const struct merged_run_facts *f = merged_run_facts(s->merged);
    size_t n = f->nsources;
    struct run_id id = {
        .start_s = s->name.start_s, .len_s = s->name.len_s, .key_id = s->name.key_id};

    free(s->item);
    s->item = calloc(n, sizeof(struct runset_item *));
    s->nitems = 0;
    for (size_t i = 0; s->item != NULL && i < n; i++) {
        const struct merged_run_source *source = &f->sources[i];
        id.inc = source->inc;
        memcpy(id.origin, source->origin, RUN_ORIGIN_BYTES);
        const struct runset_item *item = runset_find_item(r->list, &id);
        bool is_it = item != NULL && item->entry->run != NULL &&
                     merged_run_has(s->merged, i, item->entry->run);
        if (is_it && !is_covered[item - r->list->v]) {
            is_covered[item - r->list->v] = true;
            s->item[i] = item;
            s->nitems++;
        }
    }
}

/* Without memory all runs are loose: slow, and right. */
static void map(struct remote *r)
{
    unmap(r);
    if (r->runset == NULL) {
        return;
    }
    r->list = runset_pin(r->runset);
    bool *is_covered = calloc(r->list->n + 1, sizeof(*is_covered));
    r->loose = calloc(r->list->n + 1, sizeof(struct runset_item *));
    for (size_t i = 0; i < r->nmerged; i++) {
        struct remote_merged *s = &r->merged[i];
        if (is_covered != NULL && r->loose != NULL) {
            map_merged(r, s, is_covered);
        } else {
            s->nitems = 0;
        }
    }
    for (size_t i = 0; r->loose != NULL && i < r->list->n; i++) {
        if (is_covered == NULL || !is_covered[i]) {
            r->loose[r->nloose++] = &r->list->v[i];
        }
    }
    free(is_covered);
}

void remote_refresh_merged(struct remote *r)
{
    char folder[FILE_PATH_MAX];
    struct runset_list *now = r->runset != NULL ? runset_pin(r->runset) : NULL;
    bool has_changed = now != r->list;

    if (now != NULL) {
        runset_unpin(r->runset, &now);
    }
    if (file_path(folder, "%s/" MERGED_RUNS_FOLDER, r->dir) == ERR_OK &&
        remote_has_changed(folder, &r->merged_sign)) {
        list_merged(r, folder);
        has_changed = true;
    }
    if (has_changed) {
        map(r);
    }
}

/* ---- asking ---- */

/* Adds the count that a run has of key. If the run cannot be read, the history of its origin is
 * marked as damaged. */
static void ask_run(const struct runset_item *item, uint64_t key, uint64_t now,
                    struct count_breakdown *io)
{
    const struct runset_entry *e = item->entry;
    struct runset_place place = runset_place_of(item, now);
    uint64_t count = 0;

    if (runset_place_is_none(place)) {
        return;
    }
    enum err got = e->run != NULL ? run_get(e->run, key, &count) : ERR_CORRUPT;
    if (got == ERR_NOT_FOUND) {
        return;
    }
    struct count_part *share = count_breakdown_of(io, e->id.origin);
    if (share != NULL && got == ERR_OK) {
        count_history_take(&share->history, place, count);
    } else if (share != NULL) {
        share->history.ndamaged++;
    }
}

/* Whether a window has the bucket: its runs may each be in their day or not. */
static bool is_in_window(const struct remote_merged *s, uint64_t now)
{
    for (size_t i = 0; i < merged_run_facts(s->merged)->nsources; i++) {
        if (s->item[i] != NULL &&
            !runset_place_is_none(runset_place_of(s->item[i], now))) {
            return true;
        }
    }
    return false;
}

static void ask_items(const struct remote_merged *s, uint64_t key, uint64_t now,
                      struct count_breakdown *io)
{
    for (size_t i = 0; i < merged_run_facts(s->merged)->nsources; i++) {
        if (s->item[i] != NULL) {
            ask_run(s->item[i], key, now, io);
        }
    }
}

static void ask_merged(struct remote_merged *s, uint64_t key, uint64_t now,
                       struct count_breakdown *io)
{
    struct merged_run_pair pair[MERGED_RUN_SOURCES_MAX];
    size_t n = 0;

    if (!is_in_window(s, now)) {
        return;
    }
    if (merged_run_get(s->merged, key, pair, &n) != ERR_OK) {
        /* relaxed: a word for the log */
        if (!__atomic_exchange_n(&s->was_bad, true, __ATOMIC_RELAXED)) {
            log_warn(
                "event=peer-counts merged_run=%llu: a block is damaged; its runs are "
                "read instead, which takes longer",
                (unsigned long long)s->name.start_s);
        }
        ask_items(s, key, now, io);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct runset_item *item = s->item[pair[i].source];
        if (item == NULL) {
            continue;
        }
        struct runset_place place = runset_place_of(item, now);
        struct count_part *share = runset_place_is_none(place)
                                       ? NULL
                                       : count_breakdown_of(io, item->entry->id.origin);
        if (share != NULL) {
            count_history_take(&share->history, place, pair[i].count);
        }
    }
}

void remote_ask_runs(struct remote *r, const struct remote_question *q,
                     struct count_breakdown *io)
{
    size_t n = r->list == NULL ? 0 : r->loose != NULL ? r->nloose : r->list->n;

    for (size_t i = 0; i < n; i++) {
        const struct runset_item *item =
            r->loose != NULL ? r->loose[i] : &r->list->v[i];
        const uint64_t *key =
            runset_key_for(q->keys, q->key_ids, q->nkeys, item->entry->id.key_id);
        if (key != NULL) {
            ask_run(item, *key, q->now, io);
        }
    }
    for (size_t i = 0; i < r->nmerged; i++) {
        struct remote_merged *s = &r->merged[i];
        const uint64_t *key =
            runset_key_for(q->keys, q->key_ids, q->nkeys, s->name.key_id);
        if (key != NULL && s->nitems > 0) {
            ask_merged(s, *key, q->now, io);
        }
    }
}
