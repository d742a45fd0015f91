/*
 * bench_remote - the exact count of one key in a ring: from all peers' runs, and from merged runs.
 *
 * Usage: bench_remote [--peers N] [--keys N]   (default 29 peers; 3,000 different keys in ten
 * minutes of each, thirty times as many in a day). One JSON line. Each peer has 14 runs of days and
 * 144 of buckets, as this server has. Times are processor time of one thread, with the files in the
 * page cache: a key in the local 158 runs, and the same with the peers' counts, before and after
 * the runs are merged. All servers saw half of the keys in every bucket, and no server saw the
 * other half. ratio compares the time with merged runs to the local runs alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/prng.h"
#include "core/count/count.h"
#include "core/count/merged_runs.h"
#include "core/count/remote.h"

#include "tests/unit/tempdir.h"

enum { DAY_KEYS = 30, LOOKUPS = 300, WARM_UP = 30, POPULAR = 64 };
#define NOW (UINT64_C(20000 + 14) * COUNT_DAY_BUCKETS + COUNT_DAY_BUCKETS - 1)

struct bench {
    char dir[64];
    char own[FILE_PATH_MAX];
    char counts[FILE_PATH_MAX];
    struct keyring keys;
    unsigned peers;
    size_t nkeys;
    uint64_t popular[POPULAR];
    struct prng prng;
};

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool write_run(struct bench *b, const char *folder, const struct run_id *id,
                      size_t n)
{
    char name[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    uint64_t *key = malloc((n + POPULAR) * sizeof(*key));

    if (key == NULL || runset_name(id, name) != ERR_OK ||
        file_path(path, "%s/%s", folder, name) != ERR_OK ||
        run_writer_new(path, id, &w, NULL) != ERR_OK) {
        free(key);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        key[i] = prng_next(&b->prng) | 1;
    }
    memcpy(key + n, b->popular, sizeof(b->popular));
    qsort(key, n + POPULAR, sizeof(*key), by_number);
    for (size_t i = 0; i < n + POPULAR; i++) {
        if (i == 0 || key[i] != key[i - 1]) {
            run_writer_add(w, &(struct run_record){key[i], 1 + i % 3});
        }
    }
    free(key);
    return run_writer_commit(&w, NULL) == ERR_OK;
}

static bool write_server(struct bench *b, const char *folder, uint8_t origin)
{
    struct run_id id = {.origin = {origin}, .key_id = b->keys.ring[0].id};
    bool is_good = true;

    id.len_s = COUNT_DAY_S;
    for (uint64_t d = 0; d < COUNT_DAYS && is_good; d++) {
        id.start_s = (20000 + d) * COUNT_DAY_S;
        is_good = write_run(b, folder, &id, b->nkeys * DAY_KEYS);
    }
    id.len_s = COUNT_BUCKET_S;
    id.inc = 1;
    for (uint64_t i = 0; i < COUNT_BUCKETS && is_good; i++) {
        id.start_s = (NOW - COUNT_BUCKETS + i) * COUNT_BUCKET_S;
        is_good = write_run(b, folder, &id, b->nkeys);
    }
    return is_good;
}

static bool make_folder(const struct bench *b, const char *name,
                        char ret[FILE_PATH_MAX])
{
    return file_path(ret, "%s/%s", b->dir, name) == ERR_OK &&
           file_make_dir(ret, 0700, NULL) == ERR_OK;
}

static bool prepare(struct bench *b)
{
    char path[FILE_PATH_MAX];
    struct origin_row row[ORIGINS_MAX];
    struct origins o = {.self = {0xff}, .quorum = 2, .v = row, .n = b->peers};
    bool is_good = keyring_load_or_create(b->dir, &b->keys, NULL) == ERR_OK &&
                   make_folder(b, "own", b->own) && make_folder(b, "peers", path) &&
                   make_folder(b, "peers/counts", b->counts) &&
                   make_folder(b, "peers/counts/merged", path) &&
                   make_folder(b, "peers/counts/runs", path);

    for (unsigned i = 0; i < POPULAR; i++) {
        b->popular[i] = prng_next(&b->prng) | 1;
    }
    is_good = is_good && write_server(b, b->own, 0xff);
    for (unsigned i = 0; i < b->peers && is_good; i++) {
        row[i] = (struct origin_row){
            .origin = {(uint8_t)(i + 1)}, .cap = 10, .state = ORIGIN_ACTIVE};
        (void)snprintf(row[i].name, sizeof(row[i].name), "n%u", i);
        is_good = write_server(b, path, (uint8_t)(i + 1));
    }
    return is_good && origins_write(b->dir, &o, NULL) == ERR_OK;
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Microseconds a key; remote NULL: local counts only. *retsum: the sum of all counts, which must
 * not change. */
static double ask(struct bench *b, struct runset *own, struct remote *remote,
                  uint64_t *retsum)
{
    struct prng prng;
    uint64_t begun = 0;

    prng_init(&prng, 5, 0);
    *retsum = 0;
    for (unsigned i = 0; i < LOOKUPS + WARM_UP; i++) {
        uint64_t key = i % 2 ? prng_next(&prng) : b->popular[i % POPULAR];
        const uint64_t keys[KEYRING_MAX] = {key};
        const uint32_t ids[KEYRING_MAX] = {b->keys.ring[0].id};
        struct count_breakdown s;
        if (i == WARM_UP) {
            begun = cpu_ns();
        }
        if (!count_breakdown_init(&s, NOW)) {
            return 0;
        }
        runset_history(own, keys, ids, 1, NOW, &s.v[0].history);
        if (remote != NULL) {
            remote_ask(remote, keys, ids, 1, NOW, &s);
            *retsum +=
                count_breakdown_sum(&s, COUNT_14D) + count_breakdown_sum(&s, COUNT_1D);
        }
        count_breakdown_fini(&s);
    }
    return (double)(cpu_ns() - begun) / 1000 / LOOKUPS;
}

static bool make_sheets(const struct bench *b, double *retms)
{
    uint64_t at_s = 0;
    uint64_t begun = cpu_ns();
    enum err e = ERR_OK;

    while (e == ERR_OK && at_s != UINT64_MAX) {
        e = merged_runs_make_next(b->counts, NOW, &at_s, NULL);
    }
    *retms = (double)(cpu_ns() - begun) / 1000000 / COUNT_BUCKETS;
    return e == ERR_OK;
}

static int run(struct bench *b)
{
    struct runset *own = NULL;
    struct remote *remote = NULL;
    uint64_t sum[3];
    double ms = 0;

    if (!prepare(b) || runset_open(b->own, NULL, NULL, &own, NULL) != ERR_OK ||
        remote_open(b->dir, &b->keys, &remote, NULL) != ERR_OK) {
        (void)fputs("bench_remote: the runs cannot be made\n", stderr);
        return 1;
    }
    remote_refresh(remote, NOW, NULL, NULL);
    double alone = ask(b, own, NULL, &sum[0]);
    double loose = ask(b, own, remote, &sum[1]);
    bool is_good = make_sheets(b, &ms);
    remote_refresh(remote, NOW, NULL, NULL);
    double sheets = ask(b, own, remote, &sum[2]);
    remote_close(&remote);
    runset_close(&own);
    printf(
        "{\"bench\": \"remote\", \"peers\": %u, \"keys\": %zu, \"own_us\": %.1f, "
        "\"runs_us\": %.1f, \"sheets_us\": %.1f, \"ratio_runs\": %.2f, \"ratio\": %.2f, "
        "\"sheet_ms\": %.1f}\n",
        b->peers, b->nkeys, alone, loose, sheets, loose / alone, sheets / alone, ms);
    if (!is_good || sum[1] != sum[2]) {
        (void)fputs("bench_remote: the answers differ\n", stderr);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct bench b = {.peers = 29, .nkeys = 3000};

    for (int i = 1; i + 1 < argc; i += 2) {
        unsigned long v = strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--peers") == 0 && v > 0 && v < ORIGINS_MAX) {
            b.peers = (unsigned)v;
        } else if (strcmp(argv[i], "--keys") == 0 && v > 0) {
            b.nkeys = v;
        }
    }
    prng_init(&b.prng, 1, 0);
    if (base_init() != ERR_OK || !tempdir_make_fast(b.dir)) {
        return 1;
    }
    int status = run(&b);
    (void)tempdir_remove(b.dir);
    return status;
}
