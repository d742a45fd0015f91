/* runset_maintain - merges days and removes expired runs. */

#include "core/count/runset_internal.h"

/* ---- merging ---- */

/* Whether the run waits to be merged into its day: of a whole day before today. */
static bool waits(const struct runset_list *list, const struct runset_item *item,
                  uint64_t today)
{
    const struct run_id *id = &item->entry->id;
    if (id->len_s != COUNT_BUCKET_S || item->is_in_day || !item->entry->run ||
        id->start_s / COUNT_DAY_S >= today) {
        return false;
    }
    /* A day's run that only the system refused (no memory, say) is not to be replaced. */
    const struct runset_entry *day = runset_day_of(list, id);
    return !day || day->run || day->why == ERR_CORRUPT;
}

static bool same_day(const struct run_id *a, const struct run_id *b)
{
    return a->start_s / COUNT_DAY_S == b->start_s / COUNT_DAY_S &&
           a->key_id == b->key_id &&
           memcmp(a->origin, b->origin, RUN_ORIGIN_BYTES) == 0;
}

/* Lists the runs to merge with the run at `first`: the present run of the day, and the others that
 * wait. */
static size_t gather_runs(const struct runset_list *list, size_t first, uint64_t today,
                          const struct run *ret[RUNSET_MERGE_MAX])
{
    const struct run_id *id = &list->v[first].entry->id;
    const struct runset_entry *day = runset_day_of(list, id);
    size_t n = 0;
    if (day && day->run) {
        ret[n++] = day->run;
    }
    for (size_t i = first; i < list->n && n < RUNSET_MERGE_MAX; i++) {
        const struct runset_item *item = &list->v[i];
        if (waits(list, item, today) && same_day(id, &item->entry->id)) {
            ret[n++] = item->entry->run;
        }
    }
    return n;
}

static enum err merge_into(struct runset *s, const struct run *const *runs, size_t n,
                           const struct run_id *day, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    uint64_t damaged = 0;
    enum err e = runset_path(s->dir, day, path, reterr);
    THEN(e, run_writer_new(path, day, &w, reterr));
    if (e != ERR_OK) {
        return e;
    }
    e = run_merge(runs, n, w, &damaged);
    if (e != ERR_OK) {
        run_writer_abort(&w);
        return errinfo_set(reterr, e, path, 0, "cannot merge the runs of a day: %s",
                           err_text(e));
    }
    e = run_writer_commit(&w, reterr);
    if (e == ERR_OK && damaged > 0) {
        struct errinfo why;
        (void)errinfo_set(&why, ERR_CORRUPT, path, 0,
                          "%" PRIu64 " damaged blocks of its runs are left out: counts "
                          "of that day are too low",
                          damaged);
        runset_log_damage(NULL, &why);
        __atomic_fetch_add(&s->lost_blocks, damaged, __ATOMIC_RELAXED);
    }
    return e;
}

/* Merges what waits at `first`; the day's run replaces its predecessor at one stroke, and says
 * what it has, so that a stop at any moment counts nothing twice. */
static enum err merge_one(struct runset *s, size_t first, uint64_t today,
                          struct errinfo *reterr)
{
    const struct run **runs = malloc(RUNSET_MERGE_MAX * sizeof(const struct run *));
    struct runset_list *list = runset_pin(s);
    enum err e = ERR_NOMEM;
    if (runs) {
        struct run_id day = list->v[first].entry->id;
        day.inc = 0;
        day.len_s = COUNT_DAY_S;
        day.start_s -= day.start_s % COUNT_DAY_S;
        size_t n = gather_runs(list, first, today, runs);
        e = merge_into(s, runs, n, &day, reterr);
    } else {
        (void)errinfo_nomem(reterr, s->dir);
    }
    runset_unpin(s, &list);
    free(runs);
    return e;
}

/* Index of the first run that waits; list's length: none. */
static size_t first_waiting(struct runset *s, uint64_t today, size_t *retn)
{
    struct runset_list *list = runset_pin(s);
    size_t i = 0;
    while (i < list->n && !waits(list, &list->v[i], today)) {
        i++;
    }
    *retn = list->n;
    runset_unpin(s, &list);
    return i;
}

enum err runset_merge_days(struct runset *s, uint64_t today, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    pthread_mutex_lock(&s->change);
    while (e == ERR_OK) {
        size_t n = 0;
        size_t first = first_waiting(s, today, &n);
        if (first == n) {
            break;
        }
        e = merge_one(s, first, today, reterr);
        THEN(e, runset_reload(s, runset_log_damage, NULL, reterr));
    }
    pthread_mutex_unlock(&s->change);
    return e;
}

/* ---- expiring ---- */

static bool is_over(const struct runset_list *list, const struct runset_item *item,
                    uint64_t now)
{
    const struct run_id *id = &item->entry->id;
    const uint64_t today = now / COUNT_DAY_BUCKETS;
    const uint64_t bucket = id->start_s / COUNT_BUCKET_S;
    const uint64_t day = id->start_s / COUNT_DAY_S;
    if (bucket >= now || day > today) {
        return false;
    }
    if (today - day > COUNT_DAYS) {
        return true;
    }
    if (id->len_s != COUNT_BUCKET_S || now - bucket <= COUNT_BUCKETS) {
        return false;
    }
    /* one that is damaged will never be merged; it goes when its day is done without it */
    return item->is_in_day || (!item->entry->run && item->entry->why == ERR_CORRUPT &&
                               runset_day_of(list, id));
}

static enum err remove_over(struct runset *s, const struct runset_list *list,
                            uint64_t now, size_t *retn, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < list->n; i++) {
        char path[FILE_PATH_MAX];
        if (!is_over(list, &list->v[i], now) ||
            runset_path(s->dir, &list->v[i].entry->id, path, NULL) != ERR_OK) {
            continue;
        }
        if (unlink(path) != 0 && errno != ENOENT) {
            e = errinfo_errno(reterr, path, "cannot remove an expired run");
        } else {
            ++*retn;
        }
    }
    return e;
}

/* No sync: a run that comes back after a power loss is over again. */
enum err runset_expire(struct runset *s, uint64_t now, struct errinfo *reterr)
{
    size_t n = 0;
    pthread_mutex_lock(&s->change);
    struct runset_list *list = runset_pin(s);
    enum err e = remove_over(s, list, now, &n, reterr);
    runset_unpin(s, &list);
    if (n > 0) {
        struct errinfo why;
        enum err reloaded =
            runset_reload(s, runset_log_damage, NULL, e == ERR_OK ? reterr : &why);
        THEN(e, reloaded);
    }
    pthread_mutex_unlock(&s->change);
    return e;
}
