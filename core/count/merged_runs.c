/* merged_runs - which are wanted, and made; which are over, and removed. */
#include "core/count/merged_runs.h"

#include <dirent.h>

#include "core/count/runset_internal.h"

enum {
    NAME_DIGITS = 10,
    LEN_DIGITS = 5,
    ID_DIGITS = 8,
    NAME_LEN = NAME_DIGITS + 1 + LEN_DIGITS + 1 + ID_DIGITS,
    FIRST_ROOM = 256
};
#define SUFFIX ".sheet"

/* ---- names ---- */

enum err merged_runs_path(const char *dir, const struct merged_runs_name *name,
                          char ret[FILE_PATH_MAX])
{
    return file_path(ret,
                     "%s/" MERGED_RUNS_FOLDER "/%010" PRIu64 "-%05" PRIu32 "-%08" PRIx32
                     "" SUFFIX,
                     dir, name->start_s, name->len_s, name->key_id);
}

static bool read_number(struct slice digits, unsigned base, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : base;
        if (digit >= base) {
            return false;
        }
        *ret = *ret * base + digit;
    }
    return true;
}

bool merged_runs_name_parse(struct slice name, struct merged_runs_name *ret)
{
    uint64_t v[3];

    if (name.n != NAME_LEN + sizeof(SUFFIX) - 1 ||
        !slice_eq(slice_from(name, NAME_LEN), SLICE_LIT(SUFFIX)) ||
        name.p[NAME_DIGITS] != '-' || name.p[NAME_DIGITS + 1 + LEN_DIGITS] != '-' ||
        !read_number(slice_head(name, NAME_DIGITS), 10, &v[0]) ||
        !read_number(slice_head(slice_from(name, NAME_DIGITS + 1), LEN_DIGITS), 10,
                     &v[1]) ||
        !read_number(slice_of(name.p + NAME_LEN - ID_DIGITS, ID_DIGITS), 16, &v[2])) {
        return false;
    }
    *ret = (struct merged_runs_name){v[0], (uint32_t)v[1], (uint32_t)v[2]};
    return true;
}

/* ---- which runs there are ---- */

struct names {
    struct run_id *v; /* by begin, ring key, origin, incarnation */
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

static bool names_add(struct names *s, const struct run_id *id)
{
    if (s->n == s->room) {
        size_t room = s->room == 0 ? FIRST_ROOM : 2 * s->room;
        struct run_id *more = realloc(s->v, room * sizeof(*more));
        if (more == NULL) {
            return false;
        }
        s->v = more;
        s->room = room;
    }
    s->v[s->n++] = *id;
    return true;
}

/* The runs of the last day's buckets. */
static enum err list_runs(const char *dir, uint64_t now, struct names *ret,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = file_path(path, "%s/runs", dir);
    DIR *d = e == ERR_OK ? opendir(path) : NULL;
    const struct dirent *entry;

    if (d == NULL) {
        return e != ERR_OK ? errinfo_set(reterr, e, dir, 0, "the path is too long")
                           : errinfo_errno(reterr, path, "cannot open the folder");
    }
    /* cppcheck-suppress readdirCalled ; the stream is ours alone */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this thread's own */
    while (e == ERR_OK && (entry = readdir(d)) != NULL) {
        struct run_id id;
        if (runset_name_parse(slice_str(entry->d_name), &id) &&
            id.len_s == COUNT_BUCKET_S && is_of_last_day(id.start_s, now) &&
            ret->n < RUNSET_RUNS_MAX && !names_add(ret, &id)) {
            e = errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory for its names");
        }
    }
    (void)closedir(d);
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

/* One with a damaged block is left out, to be asked itself: its fault shows there. */
static enum err write_sheet(const char *path, struct run **runs, size_t n,
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

/* n runs of one bucket and ring key. */
static enum err make(const char *dir, const char *path, const struct run_id *v,
                     size_t n, struct errinfo *reterr)
{
    struct run **runs = calloc(n, sizeof(struct run *));
    char file[FILE_PATH_MAX];
    char name[FILE_PATH_MAX];
    size_t nopen = 0;

    if (runs == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to make it");
    }
    for (size_t i = 0; i < n; i++) {
        if (runset_name(&v[i], name) == ERR_OK &&
            file_path(file, "%s/runs/%s", dir, name) == ERR_OK &&
            run_open(file, &runs[nopen], NULL) == ERR_OK) {
            nopen++;
        }
    }
    enum err e = write_sheet(path, runs, nopen, reterr);
    for (size_t i = 0; i < n; i++) {
        run_close(&runs[i]);
    }
    free(runs);
    return e;
}

/* ---- what is over ---- */

typedef bool sheets_fn(const void *context, const struct merged_runs_name *name,
                       const char *path);

static enum err remove_if(const char *dir, sheets_fn *is_over, const void *context,
                          struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    const struct dirent *entry;
    enum err e = file_path(folder, "%s/" MERGED_RUNS_FOLDER, dir);

    if (e != ERR_OK) {
        return errinfo_set(reterr, e, dir, 0, "the path is too long");
    }
    DIR *d = opendir(folder);
    if (d == NULL) {
        return errno == ENOENT
                   ? ERR_OK
                   : errinfo_errno(reterr, folder, "cannot open the folder");
    }
    /* cppcheck-suppress readdirCalled ; the stream is ours alone */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this thread's own */
    while ((entry = readdir(d)) != NULL) {
        struct merged_runs_name name;
        char path[FILE_PATH_MAX];
        if (merged_runs_name_parse(slice_str(entry->d_name), &name) &&
            file_path(path, "%s/%s", folder, entry->d_name) == ERR_OK &&
            is_over(context, &name, path) && unlink(path) != 0 && errno != ENOENT) {
            e = errinfo_errno(reterr, path, "cannot remove it");
        }
    }
    (void)closedir(d);
    return e;
}

/* No run of it is there any more; or the day is past. */
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
        merged_run_open(path, &s, NULL) != ERR_OK; /* nobody knows: it goes, too */

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
            e = make(dir, path, first, some, reterr);
        }
    }
    *io_start_s = e == ERR_OK ? made_s : UINT64_MAX;
    if (e == ERR_OK && made_s == UINT64_MAX) {
        e = remove_if(dir, has_no_runs, &runs, reterr);
    }
    free(runs.v);
    return e;
}
