/* runset - a list of the files in the folder; readers pin it, a change replaces all of it. */
#include "core/count/runset.h"

#include <endian.h>

#include "core/base/dir_walk.h"
#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/count/runset_internal.h"

enum { DIR_MODE = 0750, HEX_ORIGIN = 2 * RUN_ORIGIN_BYTES };

/* ---- names ---- */

enum err runset_name(const struct run_id *id, char ret[FILE_PATH_MAX])
{
    char origin[HEX_ORIGIN + 1];
    hex_print(id->origin, RUN_ORIGIN_BYTES, origin);
    return file_path(ret,
                     "%010" PRIu64 "-%05" PRIu32 "-%s-%016" PRIx64 "-%08" PRIx32 ".run",
                     id->start_s, id->len_s, origin, id->inc, id->key_id);
}

bool runset_cut_number(struct slice *s, unsigned base, size_t least, size_t most,
                       char end, uint64_t *ret)
{
    uint64_t v = 0;
    size_t n = 0;
    for (; n < s->n && n < most; n++) {
        int digit = s->p[n] >= 'A' && s->p[n] <= 'F' ? -1 : hex_digit_value(s->p[n]);
        if (digit < 0 || (unsigned)digit >= base) {
            break;
        }
        v = v * base + (unsigned)digit;
    }
    if (n < least || (end != '\0' && (n == s->n || s->p[n] != end))) {
        return false;
    }
    *s = slice_from(*s, n + (end != '\0'));
    *ret = v;
    return true;
}

static bool cut_origin(struct slice *s, uint8_t ret[RUN_ORIGIN_BYTES])
{
    uint64_t half[2];
    if (!runset_cut_number(s, 16, 16, 16, '\0', &half[0]) ||
        !runset_cut_number(s, 16, 16, 16, '-', &half[1])) {
        return false;
    }
    half[0] = htobe64(half[0]);
    half[1] = htobe64(half[1]);
    memcpy(ret, half, RUN_ORIGIN_BYTES);
    return true;
}

/* Other files in the folder are ignored. */
bool runset_name_parse(struct slice name, struct run_id *ret)
{
    struct run_id id = {.inc = 0};
    uint64_t len = 0;
    uint64_t key_id = 0;
    if (!runset_cut_number(&name, 10, 10, 10, '-', &id.start_s) ||
        !runset_cut_number(&name, 10, 5, 5, '-', &len) ||
        !cut_origin(&name, id.origin) ||
        !runset_cut_number(&name, 16, 16, 16, '-', &id.inc) ||
        !runset_cut_number(&name, 16, 8, 8, '.', &key_id) ||
        !slice_eq(name, SLICE_LIT("run"))) {
        return false;
    }
    id.len_s = (uint32_t)len;
    id.key_id = (uint32_t)key_id;
    *ret = id;
    return (len == COUNT_BUCKET_S || len == COUNT_DAY_S) && id.start_s % len == 0;
}

enum err runset_path(const char *dir, const struct run_id *id, char ret[FILE_PATH_MAX],
                     struct errinfo *reterr)
{
    char name[FILE_PATH_MAX];
    (void)runset_name(id, name); /* at most 100 bytes */
    return path_make(ret, reterr, "%s/%s", dir, name);
}

/* ---- order ---- */

static int number_cmp(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int runset_id_cmp(const struct run_id *x, const struct run_id *y)
{
    const int by[] = {number_cmp(x->len_s, y->len_s),
                      number_cmp(x->start_s, y->start_s),
                      memcmp(x->origin, y->origin, RUN_ORIGIN_BYTES),
                      number_cmp(x->key_id, y->key_id), number_cmp(x->inc, y->inc)};
    size_t i = 0;
    while (i + 1 < LENGTH(by) && by[i] == 0) {
        i++;
    }
    return by[i];
}

static int by_id(const void *a, const void *b)
{
    const struct runset_item *x = a;
    const struct runset_item *y = b;
    return runset_id_cmp(&x->entry->id, &y->entry->id);
}

static int item_cmp(const void *id, const void *item)
{
    return runset_id_cmp(id, &((const struct runset_item *)item)->entry->id);
}

const struct runset_item *runset_find_item(const struct runset_list *list,
                                           const struct run_id *id)
{
    return bsearch(id, list->v, list->n, sizeof(list->v[0]), item_cmp);
}

struct runset_entry *runset_find(const struct runset_list *list,
                                 const struct run_id *id)
{
    const struct runset_item *item = runset_find_item(list, id);
    return item ? item->entry : NULL;
}

const struct runset_entry *runset_day_of(const struct runset_list *list,
                                         const struct run_id *id)
{
    struct run_id day = *id;
    day.inc = 0;
    day.len_s = COUNT_DAY_S;
    day.start_s -= day.start_s % COUNT_DAY_S;
    return runset_find(list, &day);
}

/* ---- pins ---- */

struct runset_list *runset_pin(struct runset *s)
{
    pthread_mutex_lock(&s->lock);
    struct runset_list *list = s->now;
    list->refs++;
    pthread_mutex_unlock(&s->lock);
    return list;
}

static void entry_free(struct runset_entry *e)
{
    run_close(&e->run);
    free(e);
}

void runset_unpin(struct runset *s, struct runset_list **pinned)
{
    struct runset_list *list = *pinned;
    size_t ndead = 0;
    *pinned = NULL;
    pthread_mutex_lock(&s->lock);
    bool is_last = --list->refs == 0;
    for (size_t i = 0; is_last && i < list->n; i++) {
        struct runset_entry *e = list->v[i].entry;
        if (--e->refs == 0) {
            list->v[ndead++].entry = e;
        }
    }
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < ndead; i++) {
        entry_free(list->v[i].entry);
    }
    if (is_last) {
        free(list);
    }
}

/* ---- loading ---- */

struct loading {
    struct runset *set;
    struct runset_list *old; /* may be NULL */
    struct runset_list *fresh;
    size_t room;
    size_t nopen[2]; /* files; of buckets, of days */
    runset_damage_fn *on_damage;
    void *context;
};

static void tell_damage(const struct loading *l, const struct errinfo *why)
{
    if (l->on_damage) {
        l->on_damage(l->context, why);
    }
}

static void open_run(struct loading *l, struct runset_entry *e, const char *path)
{
    struct errinfo why;
    e->why = run_open(path, &e->run, &why);
    if (e->why == ERR_OK && runset_id_cmp(run_id(e->run), &e->id) != 0) {
        run_close(&e->run);
        e->why = errinfo_set(&why, ERR_CORRUPT, path, 0,
                             "the run is of another time or server than its name says; "
                             "give it its name back or remove it");
    }
    if (e->why != ERR_OK) {
        tell_damage(l, &why);
        return;
    }
    bool is_day = e->id.len_s == COUNT_DAY_S;
    e->is_open = l->nopen[0] + l->nopen[1] < RUNSET_FILES_OPEN &&
                 (is_day || l->nopen[0] < RUNSET_BUCKETS_OPEN);
    l->nopen[is_day] += e->is_open;
    if (!e->is_open) {
        run_rest(e->run);
    }
}

static bool list_add(struct loading *l, struct runset_entry *e)
{
    if (l->fresh->n == l->room) {
        size_t room = l->room * 2;
        struct runset_list *more =
            realloc(l->fresh, sizeof(*more) + room * sizeof(more->v[0]));
        if (!more) {
            return false;
        }
        l->fresh = more;
        l->room = room;
    }
    l->fresh->v[l->fresh->n++] = (struct runset_item){e, false};
    return true;
}

/* Takes the file over from the old list when it is the same one, else opens it. */
static enum err load_one(struct loading *l, const struct run_id *id)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    enum err e = runset_path(l->set->dir, id, path, NULL);
    if (e != ERR_OK || lstat(path, &st) != 0) {
        return ERR_OK; /* gone meanwhile */
    }
    struct runset_entry *entry = l->old ? runset_find(l->old, id) : NULL;
    bool is_known = entry && entry->inode == (uint64_t)st.st_ino &&
                    entry->bytes == (uint64_t)st.st_size;
    if (is_known) {
        pthread_mutex_lock(&l->set->lock);
        entry->refs++;
        pthread_mutex_unlock(&l->set->lock);
        l->nopen[id->len_s == COUNT_DAY_S] += entry->is_open;
    } else {
        entry = calloc(1, sizeof(*entry));
        if (!entry) {
            return ERR_NOMEM;
        }
        entry->id = *id;
        entry->inode = (uint64_t)st.st_ino;
        entry->bytes = (uint64_t)st.st_size;
        entry->refs = 1;
        open_run(l, entry, path);
    }
    if (!list_add(l, entry)) {
        pthread_mutex_lock(&l->set->lock);
        bool is_last = --entry->refs == 0;
        pthread_mutex_unlock(&l->set->lock);
        if (is_last) {
            entry_free(entry);
        }
        return ERR_NOMEM;
    }
    return ERR_OK;
}

static enum err load_all(struct loading *l, struct errinfo *reterr)
{
    const char *dir = l->set->dir;
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    enum err e = ERR_OK;
    bool is_full = false;
    while (e == ERR_OK && !is_full && dir_walk_next(&w)) {
        struct run_id id;
        if (!runset_name_parse(slice_str(w.name), &id)) {
            continue;
        }
        is_full = l->fresh->n >= RUNSET_RUNS_MAX;
        e = is_full ? ERR_OK : load_one(l, &id);
        if (e != ERR_OK) {
            (void)errinfo_nomem(reterr, dir);
        }
    }
    e = dir_walk_end(&w, e, reterr);
    if (is_full) {
        struct errinfo why;
        (void)errinfo_set(&why, ERR_LIMIT, dir, 0,
                          "more than %d runs of counts; those beyond are left out, "
                          "counts are too low",
                          RUNSET_RUNS_MAX);
        tell_damage(l, &why);
    }
    return e;
}

static void mark_days(struct runset_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct runset_item *item = &list->v[i];
        const struct run_id *id = &item->entry->id;
        if (id->len_s != COUNT_BUCKET_S) {
            continue;
        }
        const struct runset_entry *day = runset_day_of(list, id);
        item->is_in_day =
            day && day->run && run_has_source(day->run, id->start_s, id->inc);
    }
}

enum err runset_reload(struct runset *s, runset_damage_fn *on_damage, void *context,
                       struct errinfo *reterr)
{
    enum { ROOM = 256 };
    struct loading l = {.set = s,
                        .old = s->now,
                        .room = ROOM,
                        .on_damage = on_damage,
                        .context = context};
    l.fresh = calloc(1, sizeof(*l.fresh) + ROOM * sizeof(l.fresh->v[0]));
    if (!l.fresh) {
        return errinfo_nomem(reterr, s->dir);
    }
    l.fresh->refs = 1;
    enum err e = load_all(&l, reterr);
    if (e != ERR_OK) {
        runset_unpin(s, &l.fresh);
        return e;
    }
    qsort(l.fresh->v, l.fresh->n, sizeof(l.fresh->v[0]), by_id);
    mark_days(l.fresh);
    pthread_mutex_lock(&s->lock);
    s->now = l.fresh;
    pthread_mutex_unlock(&s->lock);
    if (l.old) {
        runset_unpin(s, &l.old);
    }
    return ERR_OK;
}

/* ---- life ---- */

enum err runset_open(const char *dir, runset_damage_fn *on_damage, void *context,
                     struct runset **ret, struct errinfo *reterr)
{
    size_t n = strlen(dir) + 1;
    enum err e = file_make_dir(dir, DIR_MODE, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct runset *s = calloc(1, sizeof(*s) + n);
    if (!s) {
        return errinfo_nomem(reterr, dir);
    }
    memcpy(s->dir, dir, n);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->change, NULL);
    e = runset_reload(s, on_damage, context, reterr);
    if (e != ERR_OK) {
        runset_close(&s);
        return e;
    }
    *ret = s;
    return ERR_OK;
}

void runset_close(struct runset **set)
{
    struct runset *s = *set;
    if (!s) {
        return;
    }
    if (s->now) {
        runset_unpin(s, &s->now);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->change);
    free(s);
    *set = NULL;
}

void runset_log_damage(void *context, const struct errinfo *why)
{
    (void)context;
    log_errinfo("counts", why);
}

enum err runset_refresh(struct runset *s, struct errinfo *reterr)
{
    pthread_mutex_lock(&s->change);
    enum err e = runset_reload(s, runset_log_damage, NULL, reterr);
    pthread_mutex_unlock(&s->change);
    return e;
}

/* ---- asking ---- */

void runset_each(struct runset *s, uint32_t len_s, uint64_t first_s, uint64_t end_s,
                 runset_each_fn *fn, void *context)
{
    struct runset_list *list = runset_pin(s);
    for (size_t i = 0; i < list->n; i++) {
        const struct runset_entry *e = list->v[i].entry;
        bool fits = e->run && e->id.len_s == len_s && e->id.start_s >= first_s &&
                    e->id.start_s < end_s;
        if (fits && !fn(context, e->run)) {
            break;
        }
    }
    runset_unpin(s, &list);
}

void runset_stat(struct runset *s, struct runset_stat *ret)
{
    struct runset_stat st = {0};
    struct runset_list *list = runset_pin(s);
    for (size_t i = 0; i < list->n; i++) {
        const struct runset_entry *e = list->v[i].entry;
        bool is_day = e->id.len_s == COUNT_DAY_S;
        st.nbuckets += !is_day;
        st.ndays += is_day;
        st.ndamaged += e->run == NULL;
        st.bytes += e->bytes;
        if (st.oldest_s == 0 || e->id.start_s < st.oldest_s) {
            st.oldest_s = e->id.start_s;
        }
        if (!is_day && e->id.start_s > st.newest_s) {
            st.newest_s = e->id.start_s;
        }
    }
    runset_unpin(s, &list);
    st.ndamaged += (size_t)__atomic_load_n(&s->lost_blocks, __ATOMIC_RELAXED);
    *ret = st;
}
