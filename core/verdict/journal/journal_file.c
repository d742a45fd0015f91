#include "core/verdict/journal/journal_file.h"

#include <time.h>

#include "core/base/array.h"
#include "core/base/dir_walk.h"
#include "core/base/le.h"

enum {
    PART_BITS = 24 /* of the number of a file, below its day */,
    DECIMAL = 10,
    DATE_DIGITS = 8,
    MESSAGES_NAME = 22,
    REPORTS_NAME = 16
};
#define MESSAGES_PREFIX "messages-"
#define REPORTS_PREFIX  "reports-"

/* ---- names ---- */

void journal_file_print(const struct journal_name_of *name, char ret[JOURNAL_FILE_NAME])
{
    time_t at = (time_t)(name->day * JOURNAL_DAY_S);
    struct tm tm = {.tm_mday = 1};
    char date[DATE_DIGITS + 8];

    (void)gmtime_r(&at, &tm);
    (void)strftime(date, sizeof(date), "%Y%m%d", &tm);
    if (name->kind == JOURNAL_MESSAGES) {
        (void)snprintf(ret, JOURNAL_FILE_NAME, MESSAGES_PREFIX "%s-%04u", date,
                       name->part);
    } else {
        (void)snprintf(ret, JOURNAL_FILE_NAME, REPORTS_PREFIX "%s", date);
    }
}

static bool read_day(struct slice digits, uint64_t *ret)
{
    uint64_t date = 0;

    if (digits.n != DATE_DIGITS || !slice_to_u64(digits, DECIMAL, 99991231, &date)) {
        return false;
    }
    struct tm tm = {.tm_year = (int)(date / 10000) - 1900,
                    .tm_mon = (int)(date / 100 % 100) - 1,
                    .tm_mday = (int)(date % 100)};
    time_t at = timegm(&tm);
    *ret = (uint64_t)at / JOURNAL_DAY_S;
    return at >= 0;
}

bool journal_file_read(struct slice text, struct journal_name_of *ret)
{
    struct journal_name_of name = {.kind = JOURNAL_REPORTS};
    struct slice rest = text;
    uint64_t part = 0;
    char same[JOURNAL_FILE_NAME];

    if (slice_has_prefix(text, SLICE_LIT(MESSAGES_PREFIX))) {
        name.kind = JOURNAL_MESSAGES;
        rest = slice_from(text, strlen(MESSAGES_PREFIX));
    } else if (slice_has_prefix(text, SLICE_LIT(REPORTS_PREFIX))) {
        rest = slice_from(text, strlen(REPORTS_PREFIX));
    } else {
        return false;
    }
    if (!read_day(slice_cut(&rest, '-'), &name.day) ||
        (rest.n > 0 && !slice_to_u64(rest, DECIMAL, 999999, &part))) {
        return false;
    }
    name.part = (unsigned)part;
    journal_file_print(&name, same);
    *ret = name;
    return slice_eq(slice_str(same), text);
}

uint64_t journal_file_number(const struct journal_name_of *name)
{
    return (name->day << PART_BITS) + name->part;
}

static int by_age(const void *a, const void *b)
{
    const struct journal_name_of *x = a;
    const struct journal_name_of *y = b;

    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->day != y->day) {
        return x->day < y->day ? -1 : 1;
    }
    return x->part < y->part ? -1 : x->part > y->part;
}

static enum err list_file(struct journal_files *f, const char *dir, const char *text,
                          struct errinfo *reterr)
{
    struct journal_name_of name;
    char path[FILE_PATH_MAX];
    struct stat st;

    if (!journal_file_read(slice_str(text), &name)) {
        return ERR_OK;
    }
    enum err e = path_make(path, reterr, "%s/%s", dir, text);
    if (e != ERR_OK || lstat(path, &st) != 0) {
        return e; /* it was just removed */
    }
    if (!array_room(&f->v, &f->room, f->n + 1, JOURNAL_FILES_MAX, sizeof(*f->v))) {
        return errinfo_nomem(reterr, dir);
    }
    name.size = (uint64_t)st.st_size;
    f->bytes += name.size;
    f->v[f->n++] = name;
    return ERR_OK;
}

enum err journal_files_list(const char *dir, struct journal_files *ret,
                            struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    enum err e = ERR_OK;

    *ret = (struct journal_files){.v = NULL};
    while (e == ERR_OK && dir_walk_next(&w)) {
        e = list_file(ret, dir, w.name, reterr);
    }
    e = dir_walk_end(&w, e, reterr);
    if (e != ERR_OK) {
        journal_files_fini(ret);
    } else if (ret->n > 1) {
        qsort(ret->v, ret->n, sizeof(*ret->v), by_age);
    }
    return e;
}

void journal_files_fini(struct journal_files *f)
{
    free(f->v);
    *f = (struct journal_files){.v = NULL};
}

/* ---- records ---- */

struct journal_walk journal_walk_begin(struct slice frames)
{
    return (struct journal_walk){.bytes = frames};
}

/* Moves at to the next whole frame; *retn: its bytes. False: there is none. */
static bool find_whole(struct journal_walk *w, size_t *retn)
{
    char magic[4];

    le_put(magic, RECORD_MAGIC, sizeof(magic));
    for (size_t at = w->at; at < w->bytes.n; at++) {
        struct slice rest = slice_from(w->bytes, at);
        at += slice_find_slice(rest, slice_of(magic, sizeof(magic)));
        if (at < w->bytes.n &&
            record_look(slice_from(w->bytes, at), retn) == RECORD_WHOLE) {
            w->at = at;
            return true;
        }
    }
    return false;
}

bool journal_walk_next(struct journal_walk *w, struct slice *retframe)
{
    size_t n = 0;
    size_t from = w->at;

    if (w->at >= w->bytes.n) {
        return false;
    }
    if (record_look(slice_from(w->bytes, w->at), &n) != RECORD_WHOLE) {
        if (!find_whole(w, &n)) {
            w->is_cut_off = true;
            w->at = w->bytes.n;
            return false;
        }
        w->damaged_at = w->damaged == 0 ? from : w->damaged_at;
        w->damaged++;
    }
    *retframe = slice_head(slice_from(w->bytes, w->at), n);
    w->at += n;
    w->whole = w->at;
    return true;
}
