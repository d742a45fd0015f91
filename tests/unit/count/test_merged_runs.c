/* test_merged_runs - with any set of merged runs, an exact answer equals that of the runs. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/prng.h"
#include "core/base/random.h"
#include "core/count/count.h"
#include "core/count/merged_runs.h"
#include "core/count/remote_internal.h"

#include "tests/unit/tempdir.h"

enum {
    NOW = 2831472, /* the first bucket of a day */
    ORIGINS = 5,   /* the first are we */
    BUCKETS = 6,
    KEYS = 24,
    RUNS_MAX = 400,
    ROUNDS = 400
};

struct one_run {
    struct run_id id;
    uint64_t count[KEYS];
    bool is_there;
    bool is_in_day;
};

struct world {
    char dir[64];
    char counts[FILE_PATH_MAX];
    struct keyring keys;
    struct remote *r;
    struct origin_row rows[ORIGINS];
    struct one_run run[RUNS_MAX];
    size_t nruns;
    struct prng prng;
    unsigned nsheeted; /* questions that merged runs answered in part */
};

static uint64_t below(struct world *w, uint64_t n)
{
    return prng_next(&w->prng) % n;
}

static void write_origins(struct world *w)
{
    const struct origins o = {.self = {1}, .quorum = 1, .v = w->rows, .n = ORIGINS};
    assert_int_equal(origins_write(w->dir, &o, NULL), ERR_OK);
}

static void path_of(const struct world *w, const struct run_id *id,
                    char ret[FILE_PATH_MAX])
{
    char name[FILE_PATH_MAX];
    assert_int_equal(runset_name(id, name), ERR_OK);
    assert_int_equal(file_path(ret, "%s/runs/%s", w->counts, name), ERR_OK);
}

static void add_run(struct world *w)
{
    struct one_run *run = &w->run[w->nruns];
    char path[FILE_PATH_MAX];
    struct run_writer *rw = NULL;
    if (w->nruns == RUNS_MAX) {
        return;
    }
    *run = (struct one_run){.is_there = true};
    run->id = (struct run_id){
        .origin = {(uint8_t)(1 + below(w, ORIGINS + 1))}, /* the last is a stranger */
        .inc = w->nruns + 1,
        .start_s = (NOW - 1 - below(w, BUCKETS)) * COUNT_BUCKET_S,
        .len_s = COUNT_BUCKET_S,
        .key_id = w->keys.ring[below(w, 20) == 0].id};
    path_of(w, &run->id, path);
    assert_int_equal(run_writer_new(path, &run->id, &rw, NULL), ERR_OK);
    for (size_t k = 0; k < KEYS; k++) {
        run->count[k] = below(w, 3) ? 0 : 1 + below(w, 1000);
        if (run->count[k] > 0) {
            run_writer_add(rw, &(struct run_record){k + 1, run->count[k]});
        }
    }
    assert_int_equal(run_writer_commit(&rw, NULL), ERR_OK);
    w->nruns++;
}

static void remove_run(struct world *w)
{
    struct one_run *run = &w->run[below(w, w->nruns + 1)];
    char path[FILE_PATH_MAX];
    if (run->is_there && !run->is_in_day) {
        path_of(w, &run->id, path);
        assert_int_equal(unlink(path), 0);
        run->is_there = false;
    }
}

static void drop(struct world *w)
{
    uint8_t origin[RUN_ORIGIN_BYTES] = {(uint8_t)(2 + below(w, ORIGINS - 1))};
    assert_int_equal(merged_runs_drop(w->counts, origin, NULL), ERR_OK);
}

static void make_sheets(struct world *w)
{
    uint64_t at_s = 0;
    while (at_s != UINT64_MAX) {
        assert_int_equal(merged_runs_make_next(w->counts, NOW, &at_s, NULL), ERR_OK);
        if (below(w, 8) == 0) {
            return; /* stopped */
        }
    }
}

static void merge_day(struct world *w)
{
    char path[FILE_PATH_MAX];
    struct runset *set = NULL;
    assert_int_equal(file_path(path, "%s/runs", w->counts), ERR_OK);
    assert_int_equal(runset_open(path, NULL, NULL, &set, NULL), ERR_OK);
    assert_int_equal(runset_merge_days(set, NOW / COUNT_DAY_BUCKETS, NULL), ERR_OK);
    runset_close(&set);
    for (size_t i = 0; i < w->nruns; i++) {
        w->run[i].is_in_day = w->run[i].is_in_day || w->run[i].is_there;
    }
}

/* A byte of a merged run is another, behind the program's back. */
static void hurt(struct world *w)
{
    struct merged_runs_name name = {(NOW - 1 - below(w, BUCKETS)) * COUNT_BUCKET_S,
                                    COUNT_BUCKET_S, w->keys.ring[0].id};
    char path[FILE_PATH_MAX];
    struct stat st;
    assert_int_equal(merged_runs_path(w->counts, &name, path), ERR_OK);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        char byte = 0;
        assert_int_equal(fstat(fd, &st), 0);
        off_t at = (off_t)below(w, (uint64_t)st.st_size);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte = (char)(byte ^ (1 << below(w, 7)));
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        assert_int_equal(close(fd), 0);
    }
}

static void change_origins(struct world *w)
{
    static const enum origin_state states[] = {
        ORIGIN_ACTIVE, ORIGIN_ACTIVE, ORIGIN_LEFT, ORIGIN_DROPPED, ORIGIN_DISTRUSTED};
    w->rows[1 + below(w, ORIGINS - 1)].state =
        states[below(w, sizeof(states) / sizeof(states[0]))];
    write_origins(w);
}

static bool has_say(const struct world *w, const struct run_id *id)
{
    for (size_t i = 1; i < ORIGINS; i++) {
        if (w->rows[i].origin[0] == id->origin[0]) {
            return w->rows[i].state == ORIGIN_ACTIVE || w->rows[i].state == ORIGIN_LEFT;
        }
    }
    return false;
}

static void check(struct world *w)
{
    for (uint64_t key = 1; key <= KEYS; key++) {
        struct count_breakdown s;
        const uint64_t keys[KEYRING_MAX] = {key, key};
        const uint32_t ids[KEYRING_MAX] = {w->keys.ring[0].id, w->keys.ring[1].id};
        uint64_t day = 0;
        uint64_t all = 0;
        for (size_t i = 0; i < w->nruns; i++) {
            const struct one_run *run = &w->run[i];
            uint64_t n = has_say(w, &run->id) ? run->count[key - 1] : 0;
            day += run->is_there ? n : 0;
            all += run->is_there || run->is_in_day ? n : 0;
        }
        assert_true(count_breakdown_init(&s, NOW));
        remote_ask(w->r, keys, ids, KEYRING_MAX, NOW, &s);
        assert_true(count_breakdown_sum(&s, COUNT_1D) == day);
        assert_true(count_breakdown_sum(&s, COUNT_14D) == all);
        count_breakdown_fini(&s);
    }
    w->nsheeted += w->r->nmerged > 0 && w->r->nloose < w->r->list->n;
}

static int setup(void **state)
{
    static const char *const folders[] = {"peers", "peers/counts", "peers/counts/runs",
                                          "peers/counts/merged"};
    struct world *w = calloc(1, sizeof(*w));
    uint8_t bytes[HASHKEY_BYTES];
    assert_non_null(w);
    assert_true(tempdir_make_fast(w->dir));
    assert_int_equal(keyring_load_or_create(w->dir, &w->keys, NULL), ERR_OK);
    random_bytes(bytes, sizeof(bytes));
    keyring_key_of(bytes, &w->keys.ring[1]);
    w->keys.n = KEYRING_MAX;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char path[FILE_PATH_MAX];
        assert_int_equal(file_path(path, "%s/%s", w->dir, folders[i]), ERR_OK);
        assert_int_equal(file_make_dir(path, 0700, NULL), ERR_OK);
    }
    assert_int_equal(file_path(w->counts, "%s/peers/counts", w->dir), ERR_OK);
    for (unsigned i = 0; i < ORIGINS; i++) {
        w->rows[i] = (struct origin_row){.origin = {(uint8_t)(i + 1)}, .cap = 10};
        (void)snprintf(w->rows[i].name, sizeof(w->rows[i].name), "n%u", i);
    }
    write_origins(w);
    assert_int_equal(remote_open(w->dir, &w->keys, &w->r, NULL), ERR_OK);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    remote_close(&w->r);
    (void)tempdir_remove(w->dir);
    free(w);
    return 0;
}

static void test_sheets__whatever_changes__then_answers_are_those_of_the_runs(
    void **state)
{
    struct world *w = *state;
    const char *given = getenv("GILLNET_SEED"); /* NOLINT(concurrency-mt-unsafe) */
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : 0;
    if (given == NULL) {
        random_bytes(&seed, sizeof(seed));
    }
    print_message("GILLNET_SEED=%" PRIu64 "\n", seed);
    prng_init(&w->prng, seed, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        static void (*const act[])(struct world *) = {
            add_run, add_run,     add_run,     add_run,        add_run,   remove_run,
            drop,    make_sheets, make_sheets, change_origins, merge_day, hurt};
        act[below(w, sizeof(act) / sizeof(act[0]))](w);
        remote_refresh(w->r, NOW, NULL, NULL);
        check(w);
    }
    assert_true(w->nsheeted > ROUNDS / 4);
}

static void test_sheets__when_all_is_made__then_runs_are_asked_no_more(void **state)
{
    struct world *w = *state;
    char path[FILE_PATH_MAX];
    prng_init(&w->prng, 7, 0);
    for (unsigned i = 0; i < 100; i++) {
        add_run(w);
    }
    uint64_t at_s = 0;
    unsigned n = 0;
    for (; at_s != UINT64_MAX; n++) {
        assert_int_equal(merged_runs_make_next(w->counts, NOW, &at_s, NULL), ERR_OK);
    }
    assert_int_equal(n, BUCKETS + 1);
    remote_refresh(w->r, NOW, NULL, NULL);
    check(w);
    assert_true(w->r->nloose < BUCKETS); /* a second digest key's with one run */
    /* and when their day is past they go */
    at_s = 0;
    assert_int_equal(
        merged_runs_make_next(w->counts, NOW + COUNT_BUCKETS + 1, &at_s, NULL), ERR_OK);
    assert_true(at_s == UINT64_MAX);
    struct merged_runs_name name = {(uint64_t)(NOW - 1) * COUNT_BUCKET_S,
                                    COUNT_BUCKET_S, w->keys.ring[0].id};
    assert_int_equal(merged_runs_path(w->counts, &name, path), ERR_OK);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_sheets__whatever_changes__then_answers_are_those_of_the_runs, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_sheets__when_all_is_made__then_runs_are_asked_no_more, setup,
            teardown),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
