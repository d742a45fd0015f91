/*
 * lookup_stats - rows in a hash table that never move; readers copy the file and look in the copy.
 */
#include "core/list/lookup_stats.h"

#include <pthread.h>

#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/list/list.h"

#define HITS_MAGIC UINT64_C(0x315354494848474e) /* "NGHHITS1" */

enum {
    HITS_VERSION = 1,
    HITS_MODE = 0644,
    NAME_WORDS = 5, /* of a list's name, NUL-padded */
    ROW_WORDS = 24,
    HEADER_WORDS = 8
};

/* Words in the machine's byte order: the file never leaves it. */
struct lookup_stats_row {
    uint64_t name[NAME_WORDS];
    uint64_t period;
    uint64_t is_used; /* 1: name and period are whole. Set last, with release */
    uint64_t asked_s; /* when gillnetd last requested the row */
    uint64_t since_s;
    uint64_t last_hit_s;
    uint64_t number[LOOKUP_STATS_NUMBERS];
    uint64_t spare[ROW_WORDS - NAME_WORDS - 5 - LOOKUP_STATS_NUMBERS];
};

struct hits_page {
    uint64_t magic;
    uint64_t version;
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t alive_s;
    uint64_t spare[HEADER_WORDS - 5];
    struct lookup_stats_row row[LOOKUP_STATS_ROWS];
};

_Static_assert(sizeof(struct lookup_stats_row) == ROW_WORDS * sizeof(uint64_t),
               "no padding");
_Static_assert(NAME_WORDS * sizeof(uint64_t) > LIST_NAME_MAX, "a name and its NUL");
_Static_assert((LOOKUP_STATS_ROWS & (LOOKUP_STATS_ROWS - 1)) == 0, "a power of two");

/* What a row says beside its numbers. */
struct row_name {
    size_t at;
    struct lookup_stats_row row;
};

struct lookup_stats {
    struct filemap map;
    pthread_mutex_t mutex; /* guards: the making of rows, used, names */
    unsigned used;
    /* rows stay where they are when the file is made again: others have pointers to them */
    struct row_name *names;
    size_t names_room;
    size_t nnames; /* at most `used`: fewer where there was no memory */
    char path[FILE_PATH_MAX];
};

struct hits_view {
    struct hits_page page;
};

static struct hits_page *page_of(struct lookup_stats *h)
{
    return (struct hits_page *)(void *)h->map.p;
}

static bool name_words(struct slice list, uint64_t ret[NAME_WORDS])
{
    if (!list_name_is_valid(list)) {
        return false;
    }
    memset(ret, 0, NAME_WORDS * sizeof(uint64_t));
    memcpy(ret, list.p, list.n);
    return true;
}

/* Names are the administrator's: nobody aims at this table, so the hash needs no key. */
static uint64_t row_hash(const uint64_t name[NAME_WORDS], uint64_t period)
{
    uint64_t words[NAME_WORDS + 1];
    memcpy(words, name, NAME_WORDS * sizeof(uint64_t));
    words[NAME_WORDS] = period;
    return checksum64(slice_of((const char *)words, sizeof(words)));
}

/* Acquire, partner of the release in row_make: a thread that sees is_used sees name and period. */
static bool is_used(const struct lookup_stats_row *row)
{
    return __atomic_load_n(&row->is_used, __ATOMIC_ACQUIRE) == 1;
}

/* Index of the row, or of the free place where it would be; LOOKUP_STATS_ROWS: neither. */
static size_t find_stats_row(const struct hits_page *page,
                             const uint64_t name[NAME_WORDS], uint64_t period,
                             bool *retfound)
{
    uint64_t at = row_hash(name, period);
    *retfound = false;
    for (size_t step = 0; step < LOOKUP_STATS_ROWS; step++) {
        size_t i = (at + step) & (LOOKUP_STATS_ROWS - 1);
        const struct lookup_stats_row *row = &page->row[i];
        if (!is_used(row)) {
            return i;
        }
        if (row->period == period && memcmp(row->name, name, sizeof(row->name)) == 0) {
            *retfound = true;
            return i;
        }
    }
    return LOOKUP_STATS_ROWS;
}

/* ---- opening ---- */

static enum err page_check(const struct hits_page *page, size_t n, const char *path,
                           struct errinfo *reterr)
{
    if (n < sizeof(*page) || page->magic != HITS_MAGIC) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is not a file of gillnet's list hits");
    }
    if (page->version != HITS_VERSION || page->rows != LOOKUP_STATS_ROWS ||
        page->row_bytes != sizeof(struct lookup_stats_row)) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "list hits of another version; use the programs of one "
                           "release");
    }
    return ERR_OK;
}

/* The file is read, not mapped: one that somebody truncates must not kill the reader. */
enum err lookup_stats_read(const char *path, struct hits_view **ret,
                           struct errinfo *reterr)
{
    struct buf bytes;
    struct hits_view *v = NULL;
    buf_init(&bytes, sizeof(struct hits_page));
    enum err e = file_read(path, &bytes, reterr);
    if (e == ERR_OK && !(v = calloc(1, sizeof(*v)))) {
        e = errinfo_nomem(reterr, path);
    }
    if (v) {
        struct slice s = buf_slice(&bytes);
        memcpy(&v->page, s.p, s.n < sizeof(v->page) ? s.n : sizeof(v->page));
        e = page_check(&v->page, s.n, path, reterr);
    }
    buf_fini(&bytes);
    if (e != ERR_OK) {
        free(v);
        return e;
    }
    *ret = v;
    return ERR_OK;
}

void lookup_stats_view_free(struct hits_view **v)
{
    free(*v);
    *v = NULL;
}

/* True if the name of a row of an earlier run is valid; the other fields are only numbers. */
static bool is_kept(const struct lookup_stats_row *row, uint64_t now_s)
{
    const char *name = (const char *)row->name;
    size_t n = strnlen(name, sizeof(row->name));
    return row->is_used == 1 && n < sizeof(row->name) &&
           list_name_is_valid(slice_of(name, n)) && row->asked_s <= now_s &&
           now_s - row->asked_s < LOOKUP_STATS_KEEP_S;
}

static void fill_head(struct hits_page *page)
{
    page->magic = HITS_MAGIC;
    page->version = HITS_VERSION;
    page->rows = LOOKUP_STATS_ROWS;
    page->row_bytes = sizeof(struct lookup_stats_row);
}

/* Without memory the row is lost if the file is cut. */
static void note_name(struct lookup_stats *h, size_t at,
                      const struct lookup_stats_row *row)
{
    if (array_room(&h->names, &h->names_room, h->nnames + 1, LOOKUP_STATS_ROWS,
                   sizeof(*h->names))) {
        struct row_name *name = &h->names[h->nnames++];
        *name = (struct row_name){.at = at, .row = {.period = row->period}};
        memcpy(name->row.name, row->name, sizeof(row->name));
        name->row.is_used = 1;
        name->row.since_s = row->since_s;
    }
}

static unsigned fill_page(struct lookup_stats *h, struct hits_page *page,
                          const struct hits_view *last, uint64_t now_s)
{
    unsigned used = 0;
    memset(page, 0, sizeof(*page));
    fill_head(page);
    page->alive_s = last ? last->page.alive_s : 0;
    for (size_t i = 0; last && i < LOOKUP_STATS_ROWS && used < LOOKUP_STATS_ROWS_USED;
         i++) {
        const struct lookup_stats_row *row = &last->page.row[i];
        bool is_found = false;
        if (!is_kept(row, now_s)) {
            continue;
        }
        size_t at = find_stats_row(page, row->name, row->period, &is_found);
        if (at < LOOKUP_STATS_ROWS && !is_found) {
            page->row[at] = *row;
            note_name(h, at, row);
            used++;
        }
    }
    return used;
}

struct filling {
    struct lookup_stats *stats;
    const char *path;
    uint64_t now_s;
};

/* Only the numbers of the file at path are used. */
static void fill_from_last(void *context, void *page)
{
    const struct filling *f = context;
    struct hits_view *last = NULL;
    (void)lookup_stats_read(
        f->path, &last, NULL); /* missing, damaged, another version: start at zero */
    f->stats->used = fill_page(f->stats, page, last, f->now_s);
    lookup_stats_view_free(&last);
}

enum err lookup_stats_open(const char *path, uint64_t now_s, struct lookup_stats **ret,
                           struct errinfo *reterr)
{
    struct lookup_stats *h = calloc(1, sizeof(*h));
    if (!h || pthread_mutex_init(&h->mutex, NULL) != 0) {
        free(h);
        return errinfo_nomem(reterr, path);
    }
    struct filling f = {h, path, now_s};
    const struct filemap_new fresh = {sizeof(struct hits_page), HITS_MODE,
                                      fill_from_last, &f};
    enum err e = path_make(h->path, reterr, "%s", path);
    THEN(e, filemap_make(&h->map, path, &fresh, reterr));
    if (e != ERR_OK) {
        lookup_stats_close(&h);
        return e;
    }
    *ret = h;
    return ERR_OK;
}

/* Rows of lost pages get their names again; they have counted from 0 since. */
static void mend_page(void *context, void *p)
{
    const struct filling *f = context;
    struct hits_page *page = p;

    fill_head(page);
    for (size_t i = 0; i < f->stats->nnames; i++) {
        const struct row_name *name = &f->stats->names[i];
        struct lookup_stats_row *row = &page->row[name->at];
        memcpy(row->name, name->row.name, sizeof(row->name));
        row->period = name->row.period;
        row->since_s = name->row.since_s;
        row->asked_s = f->now_s;
        row->is_used = 1;
    }
}

void lookup_stats_keep(struct lookup_stats *h, uint64_t now_s)
{
    struct filling f = {.stats = h, .now_s = now_s};
    const struct filemap_new fresh = {sizeof(struct hits_page), HITS_MODE, mend_page,
                                      &f};
    if (h != NULL) {
        pthread_mutex_lock(&h->mutex);
        (void)filemap_mend(&h->map, h->path, "numbers of look-ups in lists", &fresh);
        pthread_mutex_unlock(&h->mutex);
    }
}

void lookup_stats_close(struct lookup_stats **h)
{
    if (*h) {
        filemap_close(&(*h)->map);
        pthread_mutex_destroy(&(*h)->mutex);
        free((*h)->names);
        free(*h);
    }
    *h = NULL;
}

/* ---- counting ---- */

struct lookup_stats_row *lookup_stats_row_find(struct lookup_stats *h,
                                               struct slice list, uint64_t period)
{
    uint64_t name[NAME_WORDS];
    bool is_found = false;
    if (!name_words(list, name)) {
        return NULL;
    }
    size_t i = find_stats_row(page_of(h), name, period, &is_found);
    return is_found ? &page_of(h)->row[i] : NULL;
}

static struct lookup_stats_row *row_make(struct lookup_stats *h,
                                         const uint64_t name[NAME_WORDS],
                                         uint64_t period, uint64_t now_s)
{
    struct hits_page *page = page_of(h);
    bool is_found = false;
    size_t i = find_stats_row(page, name, period, &is_found);
    if (i == LOOKUP_STATS_ROWS || (!is_found && h->used == LOOKUP_STATS_ROWS_USED)) {
        return NULL;
    }
    struct lookup_stats_row *row = &page->row[i];
    if (!is_found) {
        memcpy(row->name, name, sizeof(row->name));
        row->period = period;
        row->since_s = now_s;
        note_name(h, i, row);
        __atomic_store_n(&row->is_used, 1, __ATOMIC_RELEASE);
        h->used++;
    }
    /* relaxed: only the next lookup_stats_open reads it */
    __atomic_store_n(&row->asked_s, now_s, __ATOMIC_RELAXED);
    return row;
}

struct lookup_stats_row *lookup_stats_row(struct lookup_stats *h, struct slice list,
                                          uint64_t period, uint64_t now_s)
{
    uint64_t name[NAME_WORDS];
    if (!name_words(list, name)) {
        return NULL;
    }
    pthread_mutex_lock(&h->mutex);
    struct lookup_stats_row *row = row_make(h, name, period, now_s);
    pthread_mutex_unlock(&h->mutex);
    return row;
}

/* Relaxed, as all that follow: a count orders nothing else. */
void lookup_stats_add(struct lookup_stats_row *row,
                      const struct lookup_stats_sums *sums)
{
    for (unsigned i = 0; i < LOOKUP_STATS_NUMBERS; i++) {
        if (sums->number[i] != 0) {
            (void)__atomic_fetch_add(&row->number[i], sums->number[i],
                                     __ATOMIC_RELAXED);
        }
    }
    /* of two threads the slower can win: an error of about a second */
    if (sums->last_hit_s > __atomic_load_n(&row->last_hit_s, __ATOMIC_RELAXED)) {
        __atomic_store_n(&row->last_hit_s, sums->last_hit_s, __ATOMIC_RELAXED);
    }
}

void lookup_stats_set(struct lookup_stats_row *row, enum lookup_stats_number number,
                      uint64_t value)
{
    __atomic_store_n(&row->number[number], value, __ATOMIC_RELAXED);
}

void lookup_stats_alive(struct lookup_stats *h, uint64_t now_s)
{
    __atomic_store_n(&page_of(h)->alive_s, now_s, __ATOMIC_RELAXED);
}

/* ---- reading ---- */

void lookup_stats_row_read(const struct lookup_stats_row *row,
                           struct lookup_stats_counts *ret)
{
    for (unsigned i = 0; i < LOOKUP_STATS_NUMBERS; i++) {
        ret->number[i] = __atomic_load_n(&row->number[i], __ATOMIC_RELAXED);
    }
    ret->last_hit_s = __atomic_load_n(&row->last_hit_s, __ATOMIC_RELAXED);
    ret->since_s = row->since_s;
}

uint64_t lookup_stats_view_alive_s(const struct hits_view *v)
{
    return v->page.alive_s;
}

bool lookup_stats_view_find(const struct hits_view *v, struct slice list,
                            uint64_t period, struct lookup_stats_counts *ret)
{
    uint64_t name[NAME_WORDS];
    bool is_found = false;
    if (!name_words(list, name)) {
        return false;
    }
    size_t i = find_stats_row(&v->page, name, period, &is_found);
    if (is_found) {
        lookup_stats_row_read(&v->page.row[i], ret);
    }
    return is_found;
}

double lookup_stats_observed_error(const struct lookup_stats_counts *c)
{
    uint64_t listed =
        c->number[LOOKUP_STATS_CONFIRMED] + c->number[LOOKUP_STATS_REVOKED];
    if (c->number[LOOKUP_STATS_TESTED] <= listed) {
        return -1.0;
    }
    return (double)c->number[LOOKUP_STATS_FALSE] /
           (double)(c->number[LOOKUP_STATS_TESTED] - listed);
}
