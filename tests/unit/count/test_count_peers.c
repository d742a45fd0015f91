/* test_count_peers - counts of peers in the counts, against a plain list of additions by server. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/count/count.h"
#include "core/count/count_internal.h"
#include "core/count/stream.h"

#include "tests/unit/tempdir.h"

#define S      ((uint64_t)1000000)
#define BUCKET ((uint64_t)COUNT_BUCKET_S * S)
#define START  (UINT64_C(19663) * (uint64_t)COUNT_DAY_S * S) /* 2023-11-02 */

enum { PEERS = 3, KEYS = 40, OPEN_MAX = 64, STEPS = 500, MESSAGES_PER_DAY = 1000 };

struct event {
    unsigned who; /* 0: we; then peers */
    uint64_t bucket;
    unsigned key;
    uint64_t amount;
};

/* A stream that the hub has open. */
struct open {
    unsigned who;
    struct run_id id;
    struct stream_writer *w;
    uint64_t seq;
    uint64_t count[KEYS];
};

struct ring {
    char dir[64];
    struct keyring keys;
    struct count *count;
    struct origins origins;
    struct origin_row rows[PEERS + 1];
    struct event *v;
    size_t n;
    struct open open[OPEN_MAX];
    size_t nopen;
    uint64_t inc;
    uint64_t seed;
    unsigned dropped; /* whose runs go */
};

static void path_in(const struct ring *r, const char *name, char ret[FILE_PATH_MAX])
{
    assert_int_equal(file_path(ret, "%s/%s", r->dir, name), ERR_OK);
}

static void make_dir(const struct ring *r, const char *name)
{
    char path[FILE_PATH_MAX];
    path_in(r, name, path);
    assert_int_equal(file_make_dir(path, 0700, NULL), ERR_OK);
}

static void write_origins(struct ring *r)
{
    r->origins.v = r->rows;
    r->origins.n = PEERS + 1;
    r->origins.quorum = 2;
    assert_int_equal(origins_write(r->dir, &r->origins, NULL), ERR_OK);
}

static void open_count(struct ring *r)
{
    struct errinfo why;
    const struct count_options options = {
        .state_dir = r->dir, .keys = &r->keys, .messages_per_day = MESSAGES_PER_DAY};
    if (count_open(&options, &r->count, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    count_tick(r->count);
}

static int setup(void **state)
{
    struct ring *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    assert_true(tempdir_make_fast(r->dir));
    assert_int_equal(keyring_load_or_create(r->dir, &r->keys, NULL), ERR_OK);
    clock_set_for_test(START, 1000 * S);
    for (unsigned i = 0; i <= PEERS; i++) {
        r->rows[i] = (struct origin_row){
            .origin = {(uint8_t)(i + 1)}, .cap = 10, .state = ORIGIN_ACTIVE};
        (void)snprintf(r->rows[i].name, sizeof(r->rows[i].name), "peer%u", i);
    }
    memcpy(r->origins.self, r->rows[0].origin, ORIGIN_BYTES);
    *state = r;
    return 0;
}

static void close_streams(struct ring *r)
{
    for (size_t i = 0; i < r->nopen; i++) {
        stream_writer_close(&r->open[i].w);
    }
    r->nopen = 0;
}

static int teardown(void **state)
{
    struct ring *r = *state;
    close_streams(r);
    count_close(&r->count);
    clock_unset_for_test();
    (void)tempdir_remove(r->dir);
    free(r->v);
    free(r);
    return 0;
}

static void join_ring(struct ring *r)
{
    make_dir(r, "peers");
    make_dir(r, "peers/counts");
    make_dir(r, "peers/counts/runs");
    write_origins(r);
}

static uint64_t now_of(void)
{
    return clock_wall_us() / BUCKET;
}

static void digest_of(const struct ring *r, unsigned key,
                      struct digest ret[KEYRING_MAX])
{
    char text[16];
    int n = snprintf(text, sizeof(text), "key %u", key);
    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    for (unsigned i = 0; i < r->keys.n; i++) {
        digest_make(&r->keys.ring[i], 14, slice_of(text, (size_t)n), &ret[i]);
    }
}

static uint64_t key_of(const struct ring *r, unsigned key)
{
    struct digest d[KEYRING_MAX];
    digest_of(r, key, d);
    return count_key64(&d[0]);
}

static void note(struct ring *r, unsigned who, uint64_t bucket, unsigned key,
                 uint64_t amount)
{
    if (r->n % 1024 == 0) {
        r->v = realloc(r->v, (r->n + 1024) * sizeof(r->v[0]));
        assert_non_null(r->v);
    }
    r->v[r->n++] = (struct event){who, bucket, key, amount};
}

static struct count_value own(struct ring *r, unsigned key, uint64_t amount)
{
    struct count_item item = {.amount = amount};
    digest_of(r, key, item.digest);
    count_batch(r->count, &item, 1);
    if (amount > 0) {
        note(r, 0, atomic_load(&r->count->now), key, amount);
    }
    return item.value;
}

/* ---- a hub ---- */

static struct open *stream_for(struct ring *r, unsigned who, uint64_t bucket)
{
    for (size_t i = 0; i < r->nopen; i++) {
        if (r->open[i].who == who && r->open[i].id.start_s == bucket * COUNT_BUCKET_S) {
            return &r->open[i];
        }
    }
    if (r->nopen == OPEN_MAX) {
        return NULL;
    }
    struct open *o = &r->open[r->nopen++];
    char dir[FILE_PATH_MAX];
    path_in(r, "peers/counts", dir);
    *o = (struct open){.who = who};
    o->id = (struct run_id){.inc = ++r->inc,
                            .start_s = bucket * COUNT_BUCKET_S,
                            .len_s = COUNT_BUCKET_S,
                            .key_id = r->keys.ring[0].id};
    memcpy(o->id.origin, r->rows[who].origin, ORIGIN_BYTES);
    assert_int_equal(stream_writer_open(dir, &o->id, &o->w, &o->seq, NULL), ERR_OK);
    assert_int_equal(o->seq, 0);
    return o;
}

static int by_key(const void *a, const void *b)
{
    const struct run_record *x = a;
    const struct run_record *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void told(struct ring *r, unsigned who, uint64_t bucket, unsigned key,
                 uint64_t amount)
{
    struct open *o = stream_for(r, who, bucket);
    const struct run_record v = {key_of(r, key), amount};
    if (o != NULL) {
        assert_int_equal(stream_writer_add(o->w, ++o->seq, &v, 1, NULL), ERR_OK);
        o->count[key] += amount;
        note(r, who, bucket, key, amount);
    }
}

static void run_path(const struct ring *r, const struct run_id *id,
                     char ret[FILE_PATH_MAX])
{
    char name[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    path_in(r, "peers/counts/runs", dir);
    assert_int_equal(runset_name(id, name), ERR_OK);
    assert_int_equal(file_path(ret, "%s/%s", dir, name), ERR_OK);
}

/* The run may have what the stream never told, and the file of the stream may stay for a while. */
static void closed(struct ring *r, size_t at, unsigned more, bool stays)
{
    struct open *o = &r->open[at];
    struct run_record v[KEYS];
    size_t n = 0;
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;

    if (more < KEYS) {
        o->count[more] += 2;
        note(r, o->who, o->id.start_s / COUNT_BUCKET_S, more, 2);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        if (o->count[i] > 0) {
            v[n++] = (struct run_record){key_of(r, i), o->count[i]};
        }
    }
    qsort(v, n, sizeof(v[0]), by_key);
    run_path(r, &o->id, path);
    assert_int_equal(run_writer_new(path, &o->id, &w, NULL), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        run_writer_add(w, &v[i]);
    }
    assert_int_equal(run_writer_commit(&w, NULL), ERR_OK);
    if (stays) {
        count_tick(r->count);
    }
    char counts[FILE_PATH_MAX];
    path_in(r, "peers/counts", counts);
    assert_int_equal(stream_path(path, counts, &o->id), ERR_OK);
    assert_int_equal(unlink(path), 0);
    stream_writer_close(&o->w);
    r->open[at] = r->open[--r->nopen];
}

static void merge_days(struct ring *r)
{
    char dir[FILE_PATH_MAX];
    struct runset *set = NULL;
    path_in(r, "peers/counts/runs", dir);
    assert_int_equal(runset_open(dir, NULL, NULL, &set, NULL), ERR_OK);
    assert_int_equal(runset_merge_days(set, now_of() / COUNT_DAY_BUCKETS, NULL),
                     ERR_OK);
    assert_int_equal(runset_expire(set, now_of(), NULL), ERR_OK);
    runset_close(&set);
}

static bool remove_run(void *context, const struct run *run)
{
    char path[FILE_PATH_MAX];
    struct ring *r = context;
    if (run_id(run)->origin[0] - 1U == r->dropped) {
        run_path(r, run_id(run), path);
        assert_int_equal(unlink(path), 0);
    }
    return true;
}

static void drop(struct ring *r, unsigned who, bool also_files)
{
    char path[FILE_PATH_MAX];
    char counts[FILE_PATH_MAX];
    struct runset *set = NULL;
    size_t kept = 0;

    r->dropped = who;
    r->rows[who].state = ORIGIN_DROPPED;
    write_origins(r);
    if (!also_files) {
        return;
    }
    path_in(r, "peers/counts", counts);
    for (size_t i = r->nopen; i-- > 0;) {
        if (r->open[i].who == who) {
            assert_int_equal(stream_path(path, counts, &r->open[i].id), ERR_OK);
            assert_int_equal(unlink(path), 0);
            stream_writer_close(&r->open[i].w);
            r->open[i] = r->open[--r->nopen];
        }
    }
    path_in(r, "peers/counts/runs", path);
    assert_int_equal(runset_open(path, NULL, NULL, &set, NULL), ERR_OK);
    runset_each(set, COUNT_BUCKET_S, 0, UINT64_MAX, remove_run, r);
    runset_each(set, COUNT_DAY_S, 0, UINT64_MAX, remove_run, r);
    runset_close(&set);
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].who != who) {
            r->v[kept++] = r->v[i];
        }
    }
    r->n = kept;
}

/* ---- the truth ---- */

static uint64_t truth_of(const struct ring *r, unsigned who, unsigned key, uint64_t now,
                         unsigned w)
{
    static const uint64_t back[] = {1, 6, COUNT_BUCKETS};
    uint64_t sum = 0;
    bool has_say = who == 0 || r->rows[who].state == ORIGIN_ACTIVE ||
                   r->rows[who].state == ORIGIN_LEFT;
    for (size_t i = 0; has_say && i < r->n; i++) {
        const struct event *e = &r->v[i];
        if (e->who != who || e->key != key || e->bucket > now) {
            continue;
        }
        uint64_t days = now / COUNT_DAY_BUCKETS - e->bucket / COUNT_DAY_BUCKETS;
        bool is_in = w == COUNT_14D ? days <= COUNT_DAYS : now - e->bucket <= back[w];
        sum += is_in ? e->amount : 0;
    }
    return sum;
}

/* The exact count of each server is the truth; the sketch has at least their sum. Returns how many
 * windows read more than a fifth too much. */
static unsigned check_key(struct ring *r, unsigned key)
{
    struct digest digest[KEYRING_MAX];
    struct count_breakdown shares;
    uint64_t now = atomic_load(&r->count->now);
    struct count_value sketch = own(r, key, 0);
    unsigned above = 0;

    digest_of(r, key, digest);
    count_exact_shares(r->count, digest, &shares);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        uint64_t sum = 0;
        for (unsigned who = 0; who <= PEERS; who++) {
            uint64_t want = truth_of(r, who, key, now, w);
            uint64_t got = 0;
            for (unsigned i = 0; i < shares.n; i++) {
                const struct origin_row *o = shares.v[i].origin;
                bool is_it = who == 0
                                 ? o == NULL
                                 : o != NULL && o->origin[0] == r->rows[who].origin[0];
                got += is_it ? shares.v[i].w[w] : 0;
            }
            if (got != want) {
                fail_msg("seed %" PRIu64 " key %u window %u of %u: %" PRIu64
                         " instead of %" PRIu64,
                         r->seed, key, w, who, got, want);
            }
            sum += want;
        }
        assert_int_equal(count_breakdown_sum(&shares, w), sum);
        if (sketch.w[w] < sum) {
            fail_msg("seed %" PRIu64 " key %u window %u: sketch %" PRIu64
                     " below %" PRIu64,
                     r->seed, key, w, sketch.w[w], sum);
        }
        above += sketch.w[w] > sum + sum / 5 + 1;
    }
    count_breakdown_fini(&shares);
    return above;
}

static unsigned check_all(struct ring *r)
{
    unsigned above = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        above += check_key(r, i);
    }
    return above;
}

/* ---- tests ---- */

static void test_peers__no_folder__nothing_is_looked_for(void **state)
{
    struct ring *r = *state;
    char path[FILE_PATH_MAX];
    open_count(r);
    (void)own(r, 1, 3);
    count_tick(r->count);
    assert_int_equal(check_all(r), 0);
    path_in(r, "peers", path);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_peers__counts_come_close_and_go__all_answers_follow(void **state)
{
    struct ring *r = *state;
    open_count(r);
    join_ring(r);
    uint64_t now = now_of();
    (void)own(r, 1, 3);
    told(r, 1, now, 1, 5);
    told(r, 2, now, 1, 7);
    told(r, 1, now - 1, 1, 11);
    told(r, 1, now - 3, 1, 13);
    told(r, 1, now - 300, 1, 17);
    told(r, 3, now + 1, 1, 100); /* its clock is ahead */
    count_tick(r->count);
    assert_int_equal(check_all(r), 0);
    assert_int_equal(own(r, 1, 0).w[COUNT_10M], 3 + 5 + 7 + 11);
    assert_int_equal(own(r, 1, 0).w[COUNT_14D], 3 + 5 + 7 + 11 + 13 + 17);
    clock_advance_us(BUCKET);
    count_tick(r->count);
    assert_int_equal(check_all(r), 0);
    assert_int_equal(own(r, 1, 0).w[COUNT_10M], 3 + 5 + 7 + 100);
    closed(r, 0, 2, true);
    closed(r, 0, KEYS, false);
    count_tick(r->count);
    (void)check_all(r);
    drop(r, 1, false);
    count_tick(r->count);
    assert_int_equal(check_all(r), 0);
    assert_int_equal(own(r, 2, 0).w[COUNT_14D], 0);
    r->rows[1].state = ORIGIN_LEFT; /* no longer dropped: its files are still there */
    write_origins(r);
    count_tick(r->count);
    assert_int_equal(check_all(r), 0);
    drop(r, 1, true);
    count_tick(r->count);
    assert_int_equal(check_all(r), 0);
    count_close(&r->count);
    open_count(r);
    assert_int_equal(check_all(r), 0);
}

static void step(struct ring *r)
{
    uint64_t now = now_of();
    unsigned who = 1 + (unsigned)(lrand48() % PEERS);
    unsigned key = (unsigned)(lrand48() % KEYS);
    uint64_t amount = lrand48() % 10 == 0 ? (uint64_t)(lrand48() % 100000) : 1;
    static const long backs[] = {0, 0, 0, 1, 1, 2, 5, 140, 146, 500, 1900, 2300};
    long what = lrand48() % 100;

    if (what < 25) {
        (void)own(r, key, amount + 1);
    } else if (what < 55) {
        long back = backs[lrand48() % (long)(sizeof(backs) / sizeof(backs[0]))];
        told(r, who, lrand48() % 20 == 0 ? now + 1 : now - (uint64_t)back, key,
             amount + 1);
    } else if (what < 70 && r->nopen > 0) {
        closed(r, (size_t)lrand48() % r->nopen, (unsigned)(lrand48() % (2L * KEYS)),
               lrand48() % 2 == 0);
    } else if (what < 85) {
        clock_advance_us(lrand48() % 8 == 0 ? BUCKET * (uint64_t)(lrand48() % 2)
                                            : BUCKET / 4);
    } else if (what == 85) {
        for (long i = lrand48() % 200; i > 0; i--) {
            clock_advance_us(BUCKET);
            count_tick(r->count);
        }
    } else if (what == 86) {
        (void)own(r, key, 1); /* else the clock begins at the last count */
        count_close(&r->count);
        open_count(r);
    } else if (what < 89) {
        drop(r, who, lrand48() % 2 == 0);
    } else if (what < 93) {
        r->rows[who].state = lrand48() % 2 ? ORIGIN_ACTIVE : ORIGIN_LEFT;
        write_origins(r);
    } else if (what < 96) {
        merge_days(r);
    } else {
        count_tick(r->count);
        (void)check_all(r);
    }
}

static void test_peers__anything_happens__exact_by_origin_and_never_below(void **state)
{
    (void)state;
    const char *only = getenv("GILLNET_SEED"); /* NOLINT(concurrency-mt-unsafe) */
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    for (uint64_t seed = first; seed < first + (only != NULL ? 1 : 6); seed++) {
        struct ring *r = NULL;
        (void)setup((void **)&r);
        print_message("seed %" PRIu64 "\n", seed);
        srand48((long)seed);
        r->seed = seed;
        join_ring(r);
        open_count(r);
        for (unsigned i = 0; i < STEPS; i++) {
            step(r);
        }
        count_tick(r->count);
        (void)check_all(r);
        (void)own(r, 0, 1);
        count_close(&r->count);
        open_count(r);
        assert_int_equal(check_all(r), 0); /* nothing is in it twice */
        (void)teardown((void **)&r);
    }
}

/* ---- while others count and ask ---- */

struct asker {
    struct ring *r;
    atomic_bool *is_over;
    uint64_t added;
};

static void *ask_on(void *context)
{
    struct asker *a = context;
    while (!atomic_load(a->is_over)) {
        for (unsigned key = 0; key < KEYS; key++) {
            struct count_item item = {.amount = key == 0 ? 1 : 0};
            struct digest digest[KEYRING_MAX];
            struct count_breakdown shares;
            digest_of(a->r, key, item.digest);
            count_batch(a->r->count, &item, 1);
            a->added += item.amount;
            digest_of(a->r, key, digest);
            count_exact_shares(a->r->count, digest, &shares);
            if (shares.n == 0 || count_breakdown_bounded(&shares, COUNT_1D) >
                                     count_breakdown_sum(&shares, COUNT_1D)) {
                abort();
            }
            count_breakdown_fini(&shares);
        }
    }
    return NULL;
}

static void test_peers__while_threads_count_and_ask__nothing_is_lost(void **state)
{
    struct ring *r = *state;
    atomic_bool is_over = false;
    struct asker askers[2] = {{.r = r, .is_over = &is_over},
                              {.r = r, .is_over = &is_over}};
    pthread_t threads[2];
    join_ring(r);
    open_count(r);
    assert_int_equal(pthread_create(&threads[0], NULL, ask_on, &askers[0]), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, ask_on, &askers[1]), 0);
    srand48(11);
    for (unsigned i = 0; i < 60; i++) {
        for (unsigned k = 0; k < 10; k++) {
            told(r, 1 + k % PEERS, now_of() - k % 3, 1 + k, k + 1);
        }
        if (i % 10 == 9) {
            clock_advance_us(BUCKET);
            closed(r, 0, KEYS, i % 20 == 9);
        }
        if (i % 20 == 5) {
            drop(r, 1, i % 40 == 5);
        } else if (i % 20 == 8) {
            r->rows[1].state = ORIGIN_ACTIVE;
            write_origins(r);
        }
        count_tick(r->count);
    }
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    for (unsigned key = 1; key < KEYS; key++) {
        (void)check_key(r, key);
    }
    assert_true(own(r, 0, 0).w[COUNT_14D] >= askers[0].added + askers[1].added);
}

#define RING(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING(test_peers__no_folder__nothing_is_looked_for),
        RING(test_peers__counts_come_close_and_go__all_answers_follow),
        RING(test_peers__while_threads_count_and_ask__nothing_is_lost),
        cmocka_unit_test(test_peers__anything_happens__exact_by_origin_and_never_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
