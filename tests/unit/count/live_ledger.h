/*
 * live_ledger - a running table filled at random, beside what the test itself counted.
 */
#ifndef TESTS_UNIT_COUNT_LIVE_LEDGER_H
#define TESTS_UNIT_COUNT_LIVE_LEDGER_H

#include <dirent.h>

#include "core/base/file.h"
#include "core/count/live.h"
#include "core/count/runset.h"

#include "tests/unit/tempdir.h"

enum { SHARDS = 16, POOL = 3000 };

static const struct run_id an_id = {.origin = {1, 2, 3},
                                    .inc = 77,
                                    .start_s = 600000,
                                    .len_s = COUNT_BUCKET_S,
                                    .key_id = 9};

static inline uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Counts that the test keeps itself. */
struct ledger {
    uint64_t key[POOL];
    uint64_t n[POOL];
};

static inline void ledger_init(struct ledger *l)
{
    uint64_t s = 99;
    for (size_t i = 0; i < POOL; i++) {
        l->key[i] = mix(&s) | 1;
        l->n[i] = 0;
    }
}

static inline void grow(struct live *l)
{
    assert_int_equal(live_grow_begin(l, NULL), ERR_OK);
    for (unsigned i = 0; i < SHARDS; i++) {
        live_grow_shard(l, i);
    }
    live_grow_end(l);
}

static inline void add(struct live *l, struct ledger *led, size_t i, uint64_t amount)
{
    uint64_t count = 0;
    unsigned shard = live_shard_of(led->key[i], SHARDS);
    if (live_wants_room(l)) {
        grow(l);
    }
    assert_true(live_add(l, shard, led->key[i], amount, &count));
    led->n[i] += amount;
    assert_int_equal(count, led->n[i]);
}

static inline void add_some(struct live *l, struct ledger *led, uint64_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = mix(s) % POOL;
        add(l, led, at, 1 + mix(s) % 5);
    }
}

static inline void flush(struct live *l)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        live_flush_shard(l, i);
    }
    assert_int_equal(live_flush(l, NULL), ERR_OK);
}

static inline void dirs(struct tempdir *t, char dir[64], char runs[80])
{
    (void)snprintf(dir, 64, "%s", t->path);
    (void)snprintf(runs, 80, "%s/runs", t->path);
    assert_int_equal(file_make_dir(runs, 0700, NULL), ERR_OK);
}

static inline size_t files_in(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) { /* NOLINT */
        n += e->d_type == DT_REG;
    }
    (void)closedir(d);
    return n;
}

/* The runs have the ledger's count of each key. */
static inline void check_runs(const char *runs, const struct ledger *led)
{
    struct runset *set = NULL;
    assert_int_equal(runset_open(runs, NULL, NULL, &set, NULL), ERR_OK);
    for (size_t i = 0; i < POOL; i++) {
        struct count_history h;
        runset_history(set, &led->key[i], &an_id.key_id, 1,
                       an_id.start_s / COUNT_BUCKET_S, &h);
        assert_int_equal(h.ndamaged, 0);
        assert_int_equal(h.bucket[0], led->n[i]);
    }
    runset_close(&set);
}

static inline struct live *new_live(const char *dir, const struct run_id *id)
{
    struct live *l = NULL;
    assert_int_equal(live_new(dir, id, SHARDS, 256, &l, NULL), ERR_OK);
    assert_false(live_is_volatile(l));
    return l;
}

static inline const char *wal_path(struct tempdir *t)
{
    return tempdir_file(t, "live.0000600000-000000000000004d.wal");
}

#endif
