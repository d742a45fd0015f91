/* merged_runs - makes missing merged runs and removes expired ones. */
#include "core/count/merged_runs.h"

#include "core/base/array.h"
#include "core/base/dir_walk.h"
#include "core/count/runset_internal.h"

/* ---- names ---- */

enum err merged_runs_path(const char *dir, const struct merged_runs_name *name,
                          char ret[FILE_PATH_MAX])
{
    return file_path(ret,
                     "%s/" MERGED_RUNS_FOLDER "/%010" PRIu64 "-%05" PRIu32 "-%08" PRIx32
                     ".merged",
                     dir, name->start_s, name->len_s, name->key_id);
}

bool merged_runs_name_parse(struct slice name, struct merged_runs_name *ret)
{
    uint64_t start_s = 0;
    uint64_t len_s = 0;
    uint64_t key_id = 0;

    if (!runset_cut_number(&name, 10, 10, 10, '-', &start_s) ||
        !runset_cut_number(&name, 10, 5, 5, '-', &len_s) ||
        !runset_cut_number(&name, 16, 8, 8, '.', &key_id) ||
        !slice_eq(name, SLICE_LIT("merged"))) {
        return false;
    }
    *ret = (struct merged_runs_name){start_s, (uint32_t)len_s, (uint32_t)key_id};
    return true;
}

/* ---- which runs there are ---- */

struct names {
    struct run_id *v; /* by begin, digest key, origin, incarnation */
    size_t n;
    size_t room;
};

static int by_place(const void *a, const void *b)
{
    const struct run_id *x = a;
    const struct run_id *y = b;
    if (x->start_s != y->start_s) {
        return x->start_s < y->start_s ? -1 : 1;
    }
    return x->key_id != y->key_id ? (x->key_id < y->key_id ? -1 : 1)
                                  : runset_id_cmp(x, y);
}

static bool is_of_last_day(uint64_t start_s, uint64_t now)
{
    uint64_t bucket = start_s / COUNT_BUCKET_S;
    return bucket < now && now - bucket <= COUNT_BUCKETS;
}

/* The runs of the last day's buckets. */
static enum err list_runs(const char *dir, uint64_t now, struct names *ret,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/runs", dir);

    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(path, DIR_NEEDED);
    while (e == ERR_OK && dir_walk_next(&w)) {
        struct run_id id;
        if (!runset_name_parse(slice_str(w.name), &id) || id.len_s != COUNT_BUCKET_S ||
            !is_of_last_day(id.start_s, now) || ret->n >= RUNSET_RUNS_MAX) {
            continue;
        }
        if (!array_room(&ret->v, &ret->room, ret->n + 1, RUNSET_RUNS_MAX, sizeof(id))) {
            e = errinfo_nomem(reterr, path);
        } else {
            ret->v[ret->n++] = id;
        }
    }
    e = dir_walk_end(&w, e, reterr);
    if (ret->n > 0) {
        qsort(ret->v, ret->n, sizeof(ret->v[0]), by_place);
    }
    return e;
}

/* ---- making one ---- */

static bool has_source(const struct merged_run *s, const struct run_id *id)
{
    const struct merged_run_facts *f = merged_run_facts(s);

    for (size_t i = 0; i < f->nsources; i++) {
        const struct merged_run_source *source = &f->sources[i];
        if (source->inc == id->inc &&
            memcmp(source->origin, id->origin, RUN_ORIGIN_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_made(const char *path, const struct run_id *v, size_t n)
{
    struct merged_run *s = NULL;
    bool is_same =
        merged_run_open(path, &s, NULL) == ERR_OK && merged_run_facts(s)->nsources == n;

    for (size_t i = 0; i < n && is_same; i++) {
        is_same = has_source(s, &v[i]);
    }
    merged_run_close(&s);
    return is_same;
}

/* A run with a damaged block is left out: it is read directly, and its damage is reported there. */
static enum err write_merged(const char *path, struct run **runs, size_t n,
                             struct errinfo *reterr)
{
    enum err e = ERR_CORRUPT;

    while (e == ERR_CORRUPT && n >= MERGED_RUNS_LEAST) {
        size_t bad = 0;
        e = merged_run_write(path, (const struct run *const *)runs, n, &bad, reterr);
        if (e == ERR_CORRUPT) {
            struct run *last = runs[--n];
            run_close(&runs[bad]);
            runs[bad] = bad == n ? NULL : last;
            runs[n] = NULL;
        }
    }
    return e == ERR_CORRUPT ? ERR_OK : e;
}

/* n runs of one bucket and digest key. */
static enum err make_merged_run(const char *dir, const char *path,
                                const struct run_id *v, size_t n,
                                struct errinfo *reterr)
{
    struct run **runs = calloc(n, sizeof(struct run *));
    char file[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX];
    size_t nopen = 0;

    if (runs == NULL) {
        return errinfo_nomem(reterr, path);
    }
    enum err e = path_make(folder, reterr, "%s/runs", dir);
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        if (runset_path(folder, &v[i], file, NULL) == ERR_OK &&
            run_open(file, &runs[nopen], NULL) == ERR_OK) {
            nopen++;
        }
    }
    THEN(e, write_merged(path, runs, nopen, reterr));
    for (size_t i = 0; i < n; i++) {
        run_close(&runs[i]);
    }
    free(runs);
    return e;
}

/* ---- removing ---- */

typedef bool file_fn(const void *context, const struct merged_runs_name *name,
                     const char *path);

static enum err remove_if(const char *dir, file_fn *is_over, const void *context,
                          struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    enum err e = path_make(folder, reterr, "%s/" MERGED_RUNS_FOLDER, dir);

    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(folder, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        struct merged_runs_name name;
        char path[FILE_PATH_MAX];
        if (merged_runs_name_parse(slice_str(w.name), &name) &&
            file_path(path, "%s/%s", folder, w.name) == ERR_OK &&
            is_over(context, &name, path) && unlink(path) != 0 && errno != ENOENT) {
            e = errinfo_errno(reterr, path, "cannot remove it");
        }
    }
    return dir_walk_end(&w, e, reterr);
}

/* True if the bucket has no runs, or is older than a day. */
static bool has_no_runs(const void *context, const struct merged_runs_name *name,
                        const char *path)
{
    const struct names *runs = context;

    (void)path;
    for (size_t i = 0; i < runs->n; i++) {
        if (runs->v[i].start_s == name->start_s && runs->v[i].key_id == name->key_id) {
            return false;
        }
    }
    return true;
}

static bool names_origin(const void *context, const struct merged_runs_name *name,
                         const char *path)
{
    struct merged_run *s = NULL;
    bool has =
        merged_run_open(path, &s, NULL) != ERR_OK; /* unknown contents: removed too */

    (void)name;
    for (size_t i = 0; !has && i < merged_run_facts(s)->nsources; i++) {
        has = memcmp(merged_run_facts(s)->sources[i].origin, context,
                     RUN_ORIGIN_BYTES) == 0;
    }
    merged_run_close(&s);
    return has;
}

enum err merged_runs_drop(const char *dir, const uint8_t origin[RUN_ORIGIN_BYTES],
                          struct errinfo *reterr)
{
    return remove_if(dir, names_origin, origin, reterr);
}

/* ---- */

enum err merged_runs_make_next(const char *dir, uint64_t now, uint64_t *io_start_s,
                               struct errinfo *reterr)
{
    struct names runs = {.v = NULL};
    enum err e = list_runs(dir, now, &runs, reterr);
    uint64_t made_s = UINT64_MAX; /* the bucket of this turn */
    size_t n = 0;

    for (size_t i = 0; e == ERR_OK && i < runs.n; i += n) {
        const struct run_id *first = &runs.v[i];
        const struct merged_runs_name name = {first->start_s, first->len_s,
                                              first->key_id};
        char path[FILE_PATH_MAX];
        for (n = 1; i + n < runs.n && first[n].start_s == first->start_s &&
                    first[n].key_id == first->key_id;) {
            n++;
        }
        size_t some = n < MERGED_RUN_SOURCES_MAX ? n : MERGED_RUN_SOURCES_MAX;
        if (first->start_s > made_s) {
            break;
        }
        e = merged_runs_path(dir, &name, path);
        if (e == ERR_OK && first->start_s > *io_start_s && n >= MERGED_RUNS_LEAST &&
            !is_made(path, first, some)) {
            made_s = first->start_s;
            e = make_merged_run(dir, path, first, some, reterr);
        }
    }
    *io_start_s = e == ERR_OK ? made_s : UINT64_MAX;
    if (e == ERR_OK && made_s == UINT64_MAX) {
        e = remove_if(dir, has_no_runs, &runs, reterr);
    }
    free(runs.v);
    return e;
}
