/*
 * test_property - random sequences of everything that changes a list, against a model in memory.
 *
 * Seeds are fixed and named when a check fails. The model knows nothing of files: a state for
 * each entry, changed by the rule of list.h (what a person said stands until a person says
 * otherwise; an import lists for the longest time that was given).
 */
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/list/listset.h"

#include "tests/unit/list/list_fixture.h"

enum {
    NOW = 1700000000,
    ENTRIES = 400,
    STEPS = 220,
    FILLER = 1000000, /* numbers of entries that only take room */
    FILL = 3000,      /* two of them are more than the recent table holds */
    EXPIRY_MAX = 60
};

#if defined(__SANITIZE_THREAD__)
#    define IS_SLOW true
#else
#    define IS_SLOW false
#endif

static uint64_t next_random(uint64_t *x)
{
    *x += 0x9e3779b97f4a7c15;
    uint64_t z = (*x ^ (*x >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t *x, uint64_t n)
{
    return next_random(x) % n;
}

/* ---- the model ---- */

enum said { NOTHING, ADDED, REVOKED, IMPORTED };

struct model_entry {
    enum said said;
    uint64_t expiry_s; /* 0: never */
};

static bool model_stands(const struct model_entry *m, uint64_t now_s)
{
    return m->said != NOTHING && (m->expiry_s == 0 || m->expiry_s > now_s);
}

static void model_import(struct model_entry *m, uint64_t expiry_s, uint64_t now_s)
{
    if (model_stands(m, now_s)) {
        bool is_longer = m->expiry_s != 0 && (expiry_s == 0 || expiry_s > m->expiry_s);
        if (m->said != IMPORTED || !is_longer) {
            return;
        }
    }
    *m = (struct model_entry){IMPORTED, expiry_s};
}

static bool answer_fits(enum list_answer a, const struct model_entry *m, uint64_t now_s)
{
    if (!model_stands(m, now_s)) {
        return is_absent(a);
    }
    return a == (m->said == REVOKED ? LIST_REVOKED : LIST_CONFIRMED);
}

/* ---- one sequence, one thread ---- */

struct run {
    struct fixture *f;
    uint64_t seed;
    uint64_t random;
    uint64_t now_s;
    uint64_t fillers;
    struct list_writer *w;
    struct list_reader *r;
    struct model_entry model[ENTRIES];
    char last[32]; /* what was done last */
};

static void reload(struct run *run)
{
    list_reader_close(&run->r);
    run->r = open_reader(run->f);
    if (list_reader_fault(run->r)) {
        fail_msg("seed %llu: after %s: %s", (unsigned long long)run->seed, run->last,
                 list_reader_fault(run->r));
    }
}

static void check_all(struct run *run)
{
    for (uint64_t n = 0; n < ENTRIES; n++) {
        enum list_answer a = ask_number(run->r, n, run->now_s);
        if (!answer_fits(a, &run->model[n], run->now_s)) {
            fail_msg("seed %llu: after %s entry %llu is %s, the model says %d until "
                     "%llu, now %llu",
                     (unsigned long long)run->seed, run->last, (unsigned long long)n,
                     list_answer_name(a), run->model[n].said,
                     (unsigned long long)run->model[n].expiry_s,
                     (unsigned long long)run->now_s);
        }
    }
}

static uint32_t some_expiry(struct run *run)
{
    bool has = below(&run->random, 2) == 0;
    return has ? (uint32_t)(run->now_s + 1 + below(&run->random, EXPIRY_MAX)) : 0;
}

static void step_add(struct run *run)
{
    char text[64];
    uint64_t n = below(&run->random, ENTRIES);
    uint32_t expiry_s = some_expiry(run);
    struct feature_entry e = entry_number(n, text);
    MUST(run->f, list_add(run->w, &e, SLICE_LIT("test"), expiry_s, &run->f->info));
    run->model[n] = (struct model_entry){ADDED, expiry_s};
}

static void step_revoke(struct run *run)
{
    uint64_t n = below(&run->random, ENTRIES);
    revoke_number(run->f, run->w, n);
    run->model[n] = (struct model_entry){REVOKED, 0};
}

static void step_import(struct run *run)
{
    uint64_t from = below(&run->random, ENTRIES);
    uint64_t to = from + 1 + below(&run->random, ENTRIES - from);
    uint32_t expiry_s = some_expiry(run);
    import_range(run->f, run->w, from, to, expiry_s);
    for (uint64_t n = from; n < to; n++) {
        model_import(&run->model[n], expiry_s, run->now_s);
    }
}

/* Takes what was said into the immutable files. */
static void step_merge(struct run *run)
{
    import_range(run->f, run->w, FILLER + run->fillers, FILLER + run->fillers + 1, 0);
    run->fillers++;
}

/* Many at once: a compaction begins now and then, and goes on while the next steps are made. */
static void fill(struct fixture *f, struct list_writer *w, uint64_t from)
{
    char text[64];
    for (uint64_t n = from; n < from + FILL; n++) {
        struct list_change c = {.entry = entry_number(n, text)};
        MUST(f, list_stage(w, &c, SLICE_LIT("test"), &f->info));
    }
    MUST(f, list_flush(w, &f->info));
}

static void step_fill(struct run *run)
{
    fill(run->f, run->w, FILLER + run->fillers);
    run->fillers += FILL;
}

/* Several changes with one sync, of one entry too. */
static void step_stage(struct run *run)
{
    for (uint64_t i = below(&run->random, 40); i > 0; i--) {
        char text[64];
        uint64_t n = below(&run->random, ENTRIES);
        bool is_revoke = below(&run->random, 3) == 0;
        struct list_change c = {
            .entry = entry_number(n, text),
            .is_revoke = is_revoke,
            .expiry_s = is_revoke ? 0 : some_expiry(run),
        };
        MUST(run->f, list_stage(run->w, &c, SLICE_LIT("test"), &run->f->info));
        run->model[n] = (struct model_entry){is_revoke ? REVOKED : ADDED, c.expiry_s};
    }
    MUST(run->f, list_flush(run->w, &run->f->info));
}

static void step_restart(struct run *run)
{
    list_writer_close(&run->w);
    run->w = open_writer(run->f);
}

static void step_rebuild(struct run *run)
{
    MUST(run->f, list_rebuild(run->w, NULL, NULL, &run->f->info));
}

static void step_time(struct run *run)
{
    run->now_s += 1 + below(&run->random, EXPIRY_MAX / 2);
    clock_set_for_test(run->now_s * 1000000, 1000000);
}

static const struct {
    const char *name;
    void (*run)(struct run *run);
    unsigned weight;
    bool is_seen; /* by a reader that was open before */
} steps[] = {
    {"add", step_add, 30, true},        {"revoke", step_revoke, 15, true},
    {"import", step_import, 10, false}, {"merge", step_merge, 6, false},
    {"fill", step_fill, 4, true},       {"stage", step_stage, 12, true},
    {"restart", step_restart, 4, true}, {"rebuild", step_rebuild, 5, false},
    {"time", step_time, 10, true},      {"reload", reload, 5, true},
};

static void one_step(struct run *run)
{
    enum { N = sizeof(steps) / sizeof(steps[0]) };
    unsigned sum = 0;
    for (size_t i = 0; i < N; i++) {
        sum += steps[i].weight;
    }
    uint64_t at = below(&run->random, sum);
    size_t i = 0;
    while (at >= steps[i].weight) {
        at -= steps[i++].weight;
    }
    (void)snprintf(run->last, sizeof(run->last), "%s", steps[i].name);
    uint64_t generation = run->w->current.generation;
    steps[i].run(run);
    if (!steps[i].is_seen || run->w->current.generation != generation) {
        reload(run);
    }
}

static void test_list__random_sequences__answers_as_the_model(void **state)
{
    struct fixture *f = *state;
    static const uint64_t seeds[] = {1, 2, 3, 4, 20261121};
    for (size_t i = 0; i < (IS_SLOW ? 2 : sizeof(seeds) / sizeof(seeds[0])); i++) {
        struct run run = {.f = f, .seed = seeds[i], .random = seeds[i], .now_s = NOW};
        clock_set_for_test(run.now_s * 1000000, 1000000);
        run.w = open_writer(f);
        run.r = open_reader(f);
        for (unsigned s = 0; s < STEPS; s++) {
            one_step(&run);
            check_all(&run);
        }
        list_writer_close(&run.w);
        (void)snprintf(run.last, sizeof(run.last), "the end");
        reload(&run);
        check_all(&run);
        list_reader_close(&run.r);
        clock_unset_for_test();
        assert_verified(f);
        assert_int_equal(tempdir_remove(f->dir), 0);
    }
}

/* ---- readers in threads ---- */

enum {
    READERS = 2,
    CHANGES = 260,
    HISTORY = CHANGES + 1,
    HOT = 24,   /* entries that are changed again and again */
    GROUP = 32, /* entries of one import, which appear together */
    GROUPS = 12,
    GROUP_AT = 5000
};

/* State of an entry from each change on; written before the change is made. */
struct history {
    struct {
        unsigned change;
        enum said said;
    } v[HISTORY];
    atomic_uint n;
};

struct race {
    struct fixture *f;
    struct list_manager *h;
    struct config *config;
    struct history hot[HOT];
    atomic_uint done;  /* changes that have returned */
    atomic_uint fresh; /* of these, those before the last whole refresh began */
    atomic_bool ends;
    atomic_ullong asked;
    atomic_ullong wrong;
    atomic_ullong halves;
    atomic_uint first_wrong;
};

static void will_be(struct history *h, unsigned change, enum said said)
{
    unsigned n = atomic_load_explicit(&h->n, memory_order_relaxed);
    h->v[n].change = change;
    h->v[n].said = said;
    atomic_store_explicit(&h->n, n + 1, memory_order_release);
}

/* Did the entry have this answer at some moment from change `from` on? */
static bool was_so(const struct history *h, unsigned from, enum list_answer a)
{
    unsigned n = atomic_load_explicit(&h->n, memory_order_acquire);
    for (unsigned i = n; i-- > 0;) {
        struct model_entry m = {h->v[i].said, 0};
        if (answer_fits(a, &m, NOW)) {
            return true;
        }
        if (h->v[i].change <= from) {
            return false; /* all before was over by then */
        }
    }
    struct model_entry none = {NOTHING, 0};
    return answer_fits(a, &none, NOW);
}

static void ask_hot(struct race *x, const struct list_reader *r, unsigned from)
{
    for (uint64_t n = 0; n < HOT; n++) {
        enum list_answer a = ask_number(r, n, NOW);
        if (!was_so(&x->hot[n], from, a)) {
            atomic_store(&x->first_wrong, (unsigned)n + 1);
            atomic_fetch_add(&x->wrong, 1);
        }
        atomic_fetch_add(&x->asked, 1);
    }
}

/* A snapshot has a whole import or no part of it. */
static void ask_groups(struct race *x, const struct list_reader *r)
{
    for (uint64_t g = 0; g < GROUPS; g++) {
        unsigned there = 0;
        for (uint64_t i = 0; i < GROUP; i++) {
            there += ask_number(r, GROUP_AT + g * GROUP + i, NOW) == LIST_CONFIRMED;
        }
        if (there != 0 && there != GROUP) {
            atomic_fetch_add(&x->halves, 1);
        }
    }
}

static void *reader_thread(void *context)
{
    struct race *x = context;
    while (!atomic_load(&x->ends)) {
        unsigned from = atomic_load(&x->fresh); /* before the snapshot is taken */
        const struct listset *s = list_manager_acquire(x->h);
        if (listset_count(s) == 1) {
            ask_hot(x, listset_reader(s, 0), from);
            ask_groups(x, listset_reader(s, 0));
        } else {
            atomic_fetch_add(&x->wrong, 1);
        }
        list_manager_release(x->h, &s);
    }
    return NULL;
}

static void *refresh_thread(void *context)
{
    struct race *x = context;
    struct errinfo info;
    while (!atomic_load(&x->ends)) {
        unsigned done = atomic_load(&x->done);
        if (list_manager_refresh(x->h, x->config, &info) == ERR_OK) {
            atomic_store(&x->fresh, done);
        }
        list_manager_free_retired(x->h);
        struct timespec t = {0, 2 * 1000 * 1000};
        (void)nanosleep(&t, NULL);
    }
    return NULL;
}

static void change_hot(struct race *x, struct list_writer *w, unsigned change,
                       uint64_t *random)
{
    uint64_t n = below(random, HOT);
    if (below(random, 3) == 0) {
        will_be(&x->hot[n], change, REVOKED);
        revoke_number(x->f, w, n);
    } else {
        will_be(&x->hot[n], change, ADDED);
        add_number(x->f, w, n);
    }
}

static void change(struct race *x, struct list_writer **w, unsigned number,
                   uint64_t *random, uint64_t *group)
{
    uint64_t kind = below(random, 100);
    if (kind < 6 && *group < GROUPS) {
        uint64_t from = GROUP_AT + (*group)++ * GROUP;
        import_range(x->f, *w, from, from + GROUP, 0);
    } else if (kind < 10) {
        MUST(x->f, list_rebuild(*w, NULL, NULL, &x->f->info));
    } else if (kind < 16) {
        fill(x->f, *w, FILLER + (uint64_t)number * FILL);
    } else if (kind < 19) {
        list_writer_close(w);
        *w = open_writer(x->f);
    } else {
        change_hot(x, *w, number, random);
    }
    atomic_store(&x->done, number);
}

static struct config *empty_config(struct fixture *f)
{
    char path[128];
    struct buf text;
    struct config *c = NULL;
    struct config_errors errors = {0};
    snprintf(path, sizeof(path), "%s/gillnet.conf", f->state);
    buf_init(&text, 1000);
    buf_printf(&text, "state_dir = \"%s\";\n", f->state);
    MUST(f, file_write_atomic(path, buf_slice(&text), 0600, &f->info));
    buf_fini(&text);
    assert_int_equal(config_load(path, NULL, &c, &errors), ERR_OK);
    return c;
}

static void race(struct fixture *f, uint64_t seed)
{
    struct race *x = calloc(1, sizeof(*x));
    pthread_t thread[READERS + 1];
    uint64_t random = seed;
    uint64_t group = 0;
    assert_non_null(x);
    x->f = f;
    x->config = empty_config(f);
    struct list_writer *w = open_writer(f);
    x->h = list_manager_new(f->state, &f->keys);
    assert_non_null(x->h);
    MUST(f, list_manager_refresh(x->h, x->config, &f->info));
    assert_int_equal(pthread_create(&thread[READERS], NULL, refresh_thread, x), 0);
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, reader_thread, x), 0);
    }
    for (unsigned number = 1; number <= CHANGES; number++) {
        change(x, &w, number, &random, &group);
    }
    list_writer_close(&w);
    atomic_store(&x->ends, true);
    for (unsigned i = 0; i <= READERS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    if (x->wrong + x->halves > 0) {
        fail_msg("seed %llu: %llu answers that never held (entry %d), %llu halves of "
                 "imports, of %llu",
                 (unsigned long long)seed, atomic_load(&x->wrong),
                 (int)atomic_load(&x->first_wrong) - 1, atomic_load(&x->halves),
                 atomic_load(&x->asked));
    }
    assert_true(x->asked > 0);
    list_manager_free(&x->h);
    config_release(&x->config);
    free(x);
    assert_verified(f);
    assert_int_equal(tempdir_remove(f->dir), 0);
}

static void test_listset__readers_beside_a_writer__each_answer_held(void **state)
{
    static const uint64_t seeds[] = {11, 12, 13};
    for (size_t i = 0; i < (IS_SLOW ? 1 : sizeof(seeds) / sizeof(seeds[0])); i++) {
        race(*state, seeds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_list__random_sequences__answers_as_the_model, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_listset__readers_beside_a_writer__each_answer_held, fixture_setup,
            fixture_teardown),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
