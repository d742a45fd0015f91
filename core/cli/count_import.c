/* count_import - `gillnet count import`: text keys with counts, into runs of their own. */
#include <sysexits.h>

#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/cli/count_commands.h"
#include "core/cli/print.h"
#include "core/count/runset.h"
#include "core/count/textkey.h"

enum { IMPORT_RECORDS_MAX = 1 << 25, SAID_MAX = 20, US_PER_S = 1000000 };

/* One line. */
struct item {
    uint64_t start_s;
    uint64_t key;
    uint64_t count;
    uint32_t len_s;
};

struct import {
    struct cli *cli;
    const char *file;
    const char *source; /* name of the runs: a second import with it replaces them */
    char runs[FILE_PATH_MAX];
    uint8_t origin[RUN_ORIGIN_BYTES];
    uint64_t inc;
    struct item *v;
    size_t n;
    size_t room;
    uint64_t now_s;
    uint64_t bad;
    uint64_t nold;    /* lines of periods older than every window */
    uint64_t written; /* runs */
    uint64_t keys;    /* in them */
    struct runset *set;
    int status; /* of a line that stopped the reading */
};

/* ---- reading ---- */

static int keep_item(struct import *x, const struct item *item)
{
    struct errinfo why = {.code = ERR_OK};

    if (!array_room(&x->v, &x->room, x->n + 1, IMPORT_RECORDS_MAX, sizeof(*x->v))) {
        errinfo_set(&why, ERR_LIMIT, x->file, 0,
                    "more than %d keys, or no memory for them; split the file and give "
                    "each part a --source",
                    (int)IMPORT_RECORDS_MAX);
        return cli_fail(&why);
    }
    x->v[x->n++] = *item;
    return 0;
}

/* A period of the future would set the clock of counting forward, and all other counts would
 * expire. */
static enum err refuse_future(const struct import *x, const struct item *item,
                              struct errinfo *reterr)
{
    char begin[TEXT_TIME_MAX];
    char now[TEXT_TIME_MAX];

    return errinfo_set(reterr, ERR_RANGE, "", 0,
                       "its period begins at %s and it is %s: set the clock of the "
                       "machine that is wrong, or leave the line out",
                       text_time(item->start_s, begin), text_time(x->now_s, now));
}

static bool is_old(const struct import *x, const struct item *item)
{
    return item->start_s / COUNT_DAY_S + COUNT_DAYS < x->now_s / COUNT_DAY_S;
}

/* "KEY COUNT". */
static enum err read_item(struct slice line, struct item *ret, struct errinfo *reterr)
{
    struct textkey key;
    struct slice text = slice_head(line, slice_find(line, ' '));
    struct slice number = slice_trim(slice_from(line, text.n));
    enum err e = textkey_parse(text, &key, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (!slice_to_u64(number, 10, UINT64_MAX / 2, &ret->count) || ret->count == 0) {
        return errinfo_set(reterr, ERR_SYNTAX, "", 0,
                           "behind the key stands its count, 1 or more");
    }
    ret->start_s = textkey_begin_s(&key);
    ret->len_s = (uint32_t)textkey_period_s(key.period);
    ret->key = textkey_key64(&key);
    return ERR_OK;
}

/* False stops: x->status. */
static bool read_item_line(void *context, struct slice value, unsigned line)
{
    struct import *x = context;
    struct errinfo why = {.code = ERR_OK};
    struct item item;
    enum err e = read_item(value, &item, &why);

    if (e == ERR_OK && item.start_s > x->now_s) {
        e = refuse_future(x, &item, &why);
    }
    if (e != ERR_OK) {
        x->bad++;
        if (x->bad <= SAID_MAX) {
            cli_say("%s:%u: %s", x->file, line, why.text);
        }
    } else if (is_old(x, &item)) {
        x->nold++;
    } else {
        x->status = keep_item(x, &item);
    }
    return x->status == 0;
}

/* ---- writing ---- */

/* Buckets before days, by time. */
static int by_period(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;

    if (x->len_s != y->len_s) {
        return x->len_s < y->len_s ? -1 : 1;
    }
    return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

/* By period, then by key. */
static int by_run(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    int order = by_period(a, b);

    return order != 0 ? order : x->key < y->key ? -1 : x->key > y->key;
}

/* Whether the file has a key of this bucket, or day. */
static bool has_run(const struct import *x, uint64_t start_s, uint32_t len_s)
{
    const struct item wanted = {.start_s = start_s, .len_s = len_s};

    return x->n > 0 && bsearch(&wanted, x->v, x->n, sizeof(x->v[0]), by_period) != NULL;
}

struct sources {
    const struct import *x;
    struct run_writer *w;
};

static bool is_ours(const struct import *x, const struct run *run)
{
    return memcmp(run_id(run)->origin, x->origin, sizeof(x->origin)) == 0;
}

/* Adds a bucket of an earlier import that is not in this one. */
static bool add_earlier(void *context, const struct run *run)
{
    struct sources *s = context;
    uint64_t start_s = run_id(run)->start_s;

    if (is_ours(s->x, run) && !has_run(s->x, start_s, COUNT_BUCKET_S)) {
        run_writer_source(s->w, start_s, s->x->inc);
    }
    return true;
}

/* Names the runs of buckets that are in a day's run, so that each is counted once. */
static void add_sources(struct import *x, struct run_writer *w, uint64_t day_s)
{
    struct sources s = {.x = x, .w = w};

    for (uint64_t at = day_s; at < day_s + COUNT_DAY_S; at += COUNT_BUCKET_S) {
        if (has_run(x, at, COUNT_BUCKET_S)) {
            run_writer_source(w, at, x->inc);
        }
    }
    runset_each(x->set, COUNT_BUCKET_S, day_s, day_s + COUNT_DAY_S, add_earlier, &s);
}

static enum err write_run(struct import *x, size_t first, size_t end,
                          struct errinfo *reterr)
{
    char name[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    bool is_day = x->v[first].len_s == COUNT_DAY_S;
    struct run_id id = {.inc = is_day ? 0 : x->inc, /* as merged days have it */
                        .start_s = x->v[first].start_s,
                        .len_s = x->v[first].len_s,
                        .key_id = x->cli->keys.ring[0].id};

    memcpy(id.origin, x->origin, sizeof(id.origin));
    enum err e =
        runset_name(&id, name) == ERR_OK
            ? path_make(path, reterr, "%s/%s", x->runs, name)
            : errinfo_set(reterr, ERR_LIMIT, x->runs, 0, "the path is too long");
    THEN(e, run_writer_new(path, &id, &w, reterr));
    if (e != ERR_OK) {
        return e;
    }
    if (is_day) {
        add_sources(x, w, id.start_s);
    }
    for (size_t i = first; i < end;) {
        struct run_record record = {.key = x->v[i].key, .count = 0};
        for (; i < end && x->v[i].key == record.key; i++) {
            uint64_t room = UINT64_MAX / 2 - record.count;
            record.count += x->v[i].count < room ? x->v[i].count : room;
        }
        run_writer_add(w, &record);
        x->keys++;
    }
    x->written++;
    return run_writer_commit(&w, reterr);
}

struct search {
    const struct import *x;
    uint64_t start_s;
    bool found;
};

static bool look_for_source(void *context, const struct run *run)
{
    struct search *s = context;
    s->found =
        run_id(run)->inc != s->x->inc && run_has_source(run, s->start_s, s->x->inc);
    return !s->found;
}

/* Whether an earlier import of the bucket was merged into a day. It cannot be replaced alone
 * then. */
static bool is_merged(struct import *x, const struct item *item)
{
    struct search s = {.x = x, .start_s = item->start_s};
    uint64_t day_s = item->start_s - item->start_s % COUNT_DAY_S;

    if (item->len_s == COUNT_BUCKET_S && !has_run(x, day_s, COUNT_DAY_S)) {
        runset_each(x->set, COUNT_DAY_S, day_s, day_s + 1, look_for_source, &s);
    }
    return s.found;
}

static int write_runs(struct import *x)
{
    struct errinfo why = {.code = ERR_OK};
    uint64_t left_out = 0;

    if (x->n > 0) {
        qsort(x->v, x->n, sizeof(x->v[0]), by_run);
    }
    for (size_t first = 0; first < x->n;) {
        size_t end = first + 1;
        while (end < x->n && by_period(&x->v[first], &x->v[end]) == 0) {
            end++;
        }
        if (is_merged(x, &x->v[first])) {
            left_out++;
        } else if (write_run(x, first, end, &why) != ERR_OK) {
            return cli_fail(&why);
        }
        first = end;
    }
    if (left_out > 0) {
        cli_say(
            "%" PRIu64
            " buckets are left out: an import from this source is part of their days "
            "already",
            left_out);
    }
    return left_out > 0 || x->bad > 0 ? EX_DATAERR : CLI_CLEAN;
}

static void name_source(struct import *x)
{
    uint8_t sum[KEYRING_DERIVED_BYTES];
    const char *base = strrchr(x->file, '/');

    if (x->source == NULL) {
        x->source = base == NULL ? x->file : base + 1;
    }
    keyring_derive(&x->cli->keys.ring[0], x->source, 0, sum);
    memcpy(x->origin, sum, sizeof(x->origin));
    memcpy(&x->inc, sum + sizeof(x->origin), sizeof(x->inc));
    x->inc |= 1; /* 0 stands for merged ones */
}

static int take_in(struct import *x)
{
    x->now_s = clock_wall_us() / US_PER_S;
    int status = text_each_line(x->file, read_item_line, x, &x->bad);

    THEN(status, x->status);
    if (status != 0) {
        return status;
    }
    status = write_runs(x);
    if (x->nold > 0) {
        cli_say("%" PRIu64 " lines are left out: they are older than 14 days", x->nold);
    }
    printf("%" PRIu64 " keys in %" PRIu64 " runs, %" PRIu64 " bad lines\n", x->keys,
           x->written, x->bad);
    return status;
}

/* Holds the counts' lock: gillnetd's sketch would miss the imported counts. */
static int import(struct import *x)
{
    struct filelock lock = {.fd = -1};
    struct errinfo why = {.code = ERR_OK};
    char path[FILE_PATH_MAX];
    int status = 0;
    enum err e = path_make(path, &why, "%s/counts", x->cli->config->state_dir);
    THEN(e, file_make_dir(path, 02750, &why));
    THEN(e, path_make(path, &why, "%s/counts/LOCK", x->cli->config->state_dir));
    THEN(e, filelock_take(&lock, path, &why));
    if (e == ERR_LOCKED) {
        errinfo_set(
            &why, e, path, 0,
            "gillnetd counts there; stop it for the import; the imported counts are "
            "used from its next start");
    }
    THEN(e, runset_open(x->runs, NULL, NULL, &x->set, &why));
    status = e == ERR_OK ? take_in(x) : cli_fail(&why);
    if (x->set != NULL) {
        runset_close(&x->set);
    }
    filelock_drop(&lock);
    return status;
}

int count_cmd_import(struct cli *cli, int argc, char **argv)
{
    struct import x = {.cli = cli};
    const struct cli_option table[] = {{"--source", &x.source, NULL, NULL}};
    int status =
        cli_arguments(CLI_FORM("count", table, 1, 1,
                               "import takes one file, or - for standard input"),
                      &argc, argv);

    if (status != 0) {
        return status;
    }
    x.file = argv[1];
    status = cli_keys(cli, true);
    THEN(status, count_cmd_runs_dir(cli, x.runs));
    if (status == 0) {
        name_source(&x);
        status = import(&x);
    }
    free(x.v);
    return status;
}
