/* test_follow - gillnetd's counts as the hub reads them, at random times, through crashes. */
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/count/follow.h"
#include "core/count/live.h"
#include "core/count/live_format.h"
#include "core/count/runset.h"

#include "tests/unit/tempdir.h"

enum { KEYS = 200, SHARDS = 16, SLOTS = 4096, START_S = 1200000, BUCKETS = 64 };

/* Counts of one bucket that were reported. */
struct told {
    uint64_t count[KEYS];
    unsigned ncomplete;
};

struct world {
    char dir[80];
    char counts[128];
    char runs[160];
    struct keyring keys;
    uint8_t origin[RUN_ORIGIN_BYTES];
    struct follow *f;
    struct told told[BUCKETS];
    bool refuses;
    unsigned ncalls;
};

static uint64_t key_of(unsigned i)
{
    return (uint64_t)(i + 1) * UINT64_C(0x0102030405060708);
}

static unsigned index_of(uint64_t key)
{
    unsigned i = 0;
    while (i < KEYS && key_of(i) != key) {
        i++;
    }
    assert_true(i < KEYS);
    return i;
}

static enum err on_told(void *context, uint64_t start_s,
                        const struct run_record *totals, size_t n, bool is_complete)
{
    struct world *w = context;
    struct told *t = &w->told[(start_s - START_S) / COUNT_BUCKET_S];

    w->ncalls++;
    if (w->refuses) {
        return ERR_NOSPACE;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned at = index_of(totals[i].key);
        assert_true(i == 0 || totals[i - 1].key < totals[i].key);
        assert_true(totals[i].count > t->count[at]);
        t->count[at] = totals[i].count;
    }
    assert_int_equal(t->ncomplete, 0);
    t->ncomplete += is_complete;
    return ERR_OK;
}

static enum err look(struct world *w, uint64_t now_s)
{
    return follow_look(w->f, now_s, on_told, w, NULL);
}

static int world_setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    uint8_t derived[KEYRING_DERIVED_BYTES];
    char dir[64];
    assert_non_null(w);
    assert_true(tempdir_make_fast(dir));
    (void)snprintf(w->dir, sizeof(w->dir), "%s", dir);
    (void)snprintf(w->counts, sizeof(w->counts), "%s/counts", w->dir);
    (void)snprintf(w->runs, sizeof(w->runs), "%s/runs", w->counts);
    assert_int_equal(keyring_load_or_create(w->dir, &w->keys, NULL), ERR_OK);
    keyring_derive(&w->keys.node, COUNT_ORIGIN_PURPOSE, 0, derived);
    memcpy(w->origin, derived, sizeof(w->origin));
    assert_int_equal(follow_open(w->dir, &w->keys, &w->f, NULL), ERR_OK);
    assert_int_equal(look(w, START_S), ERR_NOT_FOUND);
    assert_int_equal(mkdir(w->counts, 0700), 0);
    assert_int_equal(mkdir(w->runs, 0700), 0);
    *state = w;
    return 0;
}

static int world_teardown(void **state)
{
    struct world *w = *state;
    follow_close(&w->f);
    (void)tempdir_remove(w->dir);
    free(w);
    return 0;
}

/* ---- a gillnetd ---- */

struct counting {
    struct live *live;
    uint64_t inc;
    uint64_t bucket;
    uint64_t count[KEYS]; /* of this incarnation */
    uint64_t kept[KEYS];  /* of it, in the journal */
};

static void begin(const struct world *w, struct counting *c, uint64_t inc,
                  uint64_t bucket)
{
    struct run_id id = {.inc = inc,
                        .start_s = START_S + bucket * COUNT_BUCKET_S,
                        .len_s = COUNT_BUCKET_S,
                        .key_id = w->keys.ring[0].id};
    memcpy(id.origin, w->origin, sizeof(id.origin));
    *c = (struct counting){.inc = inc, .bucket = bucket};
    assert_int_equal(live_new(w->counts, &id, SHARDS, SLOTS, &c->live, NULL), ERR_OK);
}

static void add(struct counting *c, unsigned key, uint64_t amount)
{
    uint64_t sum = 0;
    uint64_t k = key_of(key);
    assert_true(live_add(c->live, live_shard_of(k, SHARDS), k, amount, &sum));
    c->count[key] += amount;
}

static void flush(struct counting *c)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        live_flush_shard(c->live, i);
    }
    assert_int_equal(live_flush(c->live, NULL), ERR_OK);
    memcpy(c->kept, c->count, sizeof(c->kept));
}

static void seal(const struct world *w, struct counting *c)
{
    enum err e = live_seal(c->live, w->runs, NULL);
    assert_true(e == ERR_OK || e == ERR_NOT_FOUND);
    live_forget(c->live);
    live_free(&c->live, true);
    memcpy(c->kept, c->count, sizeof(c->kept));
}

static void check(const struct world *w, uint64_t bucket, const uint64_t want[KEYS])
{
    for (unsigned i = 0; i < KEYS; i++) {
        assert_int_equal(w->told[bucket].count[i], want[i]);
    }
}

/* ---- tests ---- */

static void test_follow__when_a_bucket_runs_and_ends__then_all_is_told(void **state)
{
    struct world *w = *state;
    struct counting c;

    begin(w, &c, 1, 0);
    add(&c, 3, 5);
    assert_int_equal(look(w, START_S), ERR_OK);
    assert_int_equal(w->told[0].count[3], 0); /* not in the journal yet */
    flush(&c);
    assert_int_equal(look(w, START_S), ERR_OK);
    assert_int_equal(w->told[0].count[3], 5);
    unsigned ncalls = w->ncalls;
    assert_int_equal(look(w, START_S), ERR_OK);
    assert_int_equal(w->ncalls, ncalls); /* nothing changed, nothing is reported */
    add(&c, 3, 1);
    add(&c, 4, 9);
    flush(&c);
    assert_int_equal(look(w, START_S + 100), ERR_OK);
    assert_int_equal(w->told[0].count[3], 6);
    add(&c, 5, 2); /* after the last journal: only the run has it */
    seal(w, &c);
    assert_int_equal(look(w, START_S + 659), ERR_OK);
    check(w, 0, c.count);
    assert_int_equal(w->told[0].ncomplete, 0);
    assert_int_equal(look(w, START_S + 660), ERR_OK);
    assert_int_equal(w->told[0].ncomplete, 1);
    assert_int_equal(look(w, START_S + 661), ERR_OK);
    assert_int_equal(w->told[0].ncomplete, 1);
}

static void test_follow__when_a_table_waits_for_its_run__then_not_complete(void **state)
{
    struct world *w = *state;
    struct counting c;

    begin(w, &c, 1, 0);
    add(&c, 3, 5);
    flush(&c);
    assert_int_equal(look(w, START_S + 2000), ERR_OK);
    assert_int_equal(w->told[0].ncomplete, 0);
    seal(w, &c);
    assert_int_equal(look(w, START_S + 2001), ERR_OK);
    assert_int_equal(w->told[0].ncomplete, 1);
}

static void test_follow__when_it_is_refused__then_it_is_told_again(void **state)
{
    struct world *w = *state;
    struct counting c;

    begin(w, &c, 1, 0);
    w->refuses = true;
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < KEYS; i++) {
            add(&c, i, 1);
        }
        flush(&c);
        assert_int_equal(look(w, START_S + round), ERR_NOSPACE);
    }
    w->refuses = false;
    assert_int_equal(look(w, START_S + 100), ERR_OK);
    check(w, 0, c.count);
    w->refuses = true;
    seal(w, &c);
    assert_int_equal(look(w, START_S + 1000), ERR_NOSPACE);
    w->refuses = false;
    assert_int_equal(look(w, START_S + 1000), ERR_OK);
    assert_int_equal(w->told[0].ncomplete, 1);
}

static void test_follow__when_the_journal_is_written_anew__then_nothing_doubles(
    void **state)
{
    struct world *w = *state;
    struct counting c;
    char path[FILE_PATH_MAX];

    begin(w, &c, 1, 0);
    add(&c, 1, 4);
    flush(&c);
    assert_int_equal(look(w, START_S), ERR_OK);
    assert_int_equal(live_journal_path(path, w->counts, live_id(c.live)), ERR_OK);
    /* another file with the same counts in one record, and a new one: as flush_anew makes it */
    struct buf old;
    buf_init(&old, 1 << 20);
    add(&c, 2, 7);
    flush(&c);
    assert_int_equal(file_read(path, &old, NULL), ERR_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(look(w, START_S), ERR_OK);
    assert_int_equal(file_write_atomic(path, buf_slice(&old), 0600, NULL), ERR_OK);
    assert_int_equal(look(w, START_S), ERR_OK);
    check(w, 0, c.count);
    buf_fini(&old);
    live_free(&c.live, true);
}

static void test_follow__when_the_journal_is_damaged__then_what_is_whole_is_told(
    void **state)
{
    struct world *w = *state;
    struct counting c;
    char path[FILE_PATH_MAX];

    begin(w, &c, 1, 0);
    add(&c, 1, 4);
    flush(&c);
    add(&c, 2, 4);
    flush(&c);
    assert_int_equal(live_journal_path(path, w->counts, live_id(c.live)), ERR_OK);
    struct buf whole;
    buf_init(&whole, 1 << 20);
    assert_int_equal(file_read(path, &whole, NULL), ERR_OK);
    for (size_t bit = 0; bit < whole.n * 8; bit += 7) {
        whole.p[bit / 8] = (char)(whole.p[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(file_write_atomic(path, buf_slice(&whole), 0600, NULL),
                         ERR_OK);
        whole.p[bit / 8] = (char)(whole.p[bit / 8] ^ 1 << bit % 8);
        memset(w->told, 0, sizeof(w->told));
        follow_close(&w->f);
        assert_int_equal(follow_open(w->dir, &w->keys, &w->f, NULL), ERR_OK);
        (void)look(w, START_S);
        assert_true(w->told[0].count[1] == 0 || w->told[0].count[1] == 4);
        assert_true(w->told[0].count[2] == 0 || w->told[0].count[2] == 4);
        assert_true(bit <
                        (whole.n - PAIR_RECORD_HEAD - PAIR_BYTES - PAIR_LOG_SUM) * 8 ||
                    (w->told[0].count[1] == 4 && w->told[0].count[2] == 0));
    }
    buf_fini(&whole);
    live_free(&c.live, true);
}

static void test_follow__when_counts_are_imported__then_they_are_not_ours(void **state)
{
    struct world *w = *state;
    struct counting c;

    w->origin[0] ^= 1;
    begin(w, &c, 1, 0);
    add(&c, 3, 5);
    flush(&c);
    assert_int_equal(look(w, START_S), ERR_OK);
    seal(w, &c);
    assert_int_equal(look(w, START_S), ERR_OK);
    assert_int_equal(w->told[0].count[3], 0);
}

/* gillnetd counts, is killed, loses its power, counts on; the hub looks and starts again at any
 * time. Reported counts never exceed the stored ones, and reach them in the end. */
static void play(struct world *w, uint64_t seed)
{
    static uint64_t want[BUCKETS][KEYS];
    uint64_t now_s = START_S;
    uint64_t inc = 1;
    struct counting c;

    memset(want, 0, sizeof(want));
    memset(w->told, 0, sizeof(w->told));
    srand48((long)seed);
    begin(w, &c, inc, 0);
    while (c.bucket < 12) {
        long what = lrand48() % 100;
        if (what < 50) {
            add(&c, (unsigned)(lrand48() % KEYS), 1 + (uint64_t)(lrand48() % 3));
        } else if (what < 65) {
            flush(&c);
        } else if (what < 90) {
            now_s = START_S + c.bucket * COUNT_BUCKET_S + (uint64_t)(lrand48() % 600);
            assert_int_equal(look(w, now_s), ERR_OK);
        } else if (what < 94) {
            uint64_t bucket = c.bucket + 1;
            seal(w, &c);
            for (unsigned i = 0; i < KEYS; i++) {
                want[bucket - 1][i] += c.kept[i];
            }
            begin(w, &c, inc, bucket);
        } else if (what <
                   97) { /* killed, or without power: then only the journal is left */
            struct live_recovered saved;
            uint64_t bucket = c.bucket;
            bool has_power = lrand48() % 2 == 0;
            live_free(&c.live, false);
            live_set_boot_for_test(has_power ? "a" : "b");
            assert_int_equal(live_recover(w->counts, w->runs, &saved, NULL), ERR_OK);
            live_set_boot_for_test("a");
            for (unsigned i = 0; i < KEYS; i++) {
                want[bucket][i] += has_power ? c.count[i] : c.kept[i];
            }
            begin(w, &c, ++inc, bucket);
        } else {
            follow_close(&w->f);
            assert_int_equal(follow_open(w->dir, &w->keys, &w->f, NULL), ERR_OK);
            memset(w->told, 0, sizeof(w->told));
        }
        for (unsigned i = 0; i < KEYS; i++) {
            assert_true(w->told[c.bucket].count[i] <= want[c.bucket][i] + c.kept[i]);
        }
    }
    live_free(&c.live, true);
    assert_int_equal(look(w, START_S + (uint64_t)14 * COUNT_BUCKET_S), ERR_OK);
    for (uint64_t b = 0; b < 12; b++) {
        check(w, b, want[b]);
        bool is_empty = true;
        for (unsigned i = 0; i < KEYS; i++) {
            is_empty = is_empty && want[b][i] == 0;
        }
        assert_int_equal(w->told[b].ncomplete, is_empty ? 0 : 1);
    }
}

static void test_follow__when_all_goes_wrong__then_the_totals_are_told(void **state)
{
    (void)state;
    live_set_boot_for_test("a");
    for (uint64_t seed = 1; seed <= 40; seed++) {
        void *w = NULL;
        print_message("seed %" PRIu64 "\n", seed);
        (void)world_setup(&w);
        play(w, seed);
        (void)world_teardown(&w);
    }
    live_set_boot_for_test(NULL);
}

static void test_follow__when_it_starts__then_the_last_hours_are_told(void **state)
{
    struct world *w = *state;

    for (uint64_t b = 0; b < 40; b++) {
        struct counting c;
        begin(w, &c, 1, b);
        add(&c, (unsigned)b, 3);
        seal(w, &c);
    }
    uint64_t now_s = START_S + (uint64_t)40 * COUNT_BUCKET_S;
    assert_int_equal(look(w, now_s), ERR_OK);
    for (unsigned b = 0; b < 40; b++) {
        bool is_told = b + FOLLOW_BUCKETS >= 40;
        assert_int_equal(w->told[b].count[b], is_told ? 3 : 0);
        assert_int_equal(w->told[b].ncomplete, is_told && b < 39 ? 1 : 0);
    }
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(test_follow__when_a_bucket_runs_and_ends__then_all_is_told),
        WORLD(test_follow__when_a_table_waits_for_its_run__then_not_complete),
        WORLD(test_follow__when_it_is_refused__then_it_is_told_again),
        WORLD(test_follow__when_the_journal_is_written_anew__then_nothing_doubles),
        WORLD(test_follow__when_the_journal_is_damaged__then_what_is_whole_is_told),
        WORLD(test_follow__when_counts_are_imported__then_they_are_not_ours),
        WORLD(test_follow__when_it_starts__then_the_last_hours_are_told),
        cmocka_unit_test(test_follow__when_all_goes_wrong__then_the_totals_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
