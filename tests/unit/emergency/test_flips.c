/* test_flips - mail under load while emergency mode begins and ends many times: every listed host
 * is found, and no other one. */
#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/base/thread.h"
#include "core/verdict/emergency/emergency.h"
#include "core/verdict/emergency/emergency_meter.h"

#include "tests/unit/list/set_fixture.h"

enum {
    MAIL_THREADS = 3,
    FLIPS = 200,
    LISTED = 2000,
    FLOOD = 100000,
    MESSAGES_LEAST = 50
};

static struct {
    struct set_fixture *x;
    struct emergency *e;
    atomic_bool stops;
    atomic_uint judged;
    atomic_uint in_the_mode;
    atomic_uint missed;
    atomic_uint wrong;
} world;

static bool has_list(const struct verdict *v)
{
    for (size_t i = 0; i < v->nsymbols; i++) {
        if (strcmp(v->symbols[i].name, "LIST_TEST") == 0) {
            return v->symbols[i].score == 6;
        }
    }
    return false;
}

/* One message with one URL, as gillnetd judges it. */
static bool is_marked(const char *host, struct arena *arena)
{
    const struct config *config = world.x->config;
    const struct listset *lists = list_manager_acquire(world.x->h);
    struct featureset *features = featureset_new(arena, 10);
    struct list_hits hits;
    static _Thread_local struct verdict v;
    const struct verdict_context context = {
        .is_emergency = emergency_is_on(world.e),
        .trusts_filters = emergency_trusts_filters(world.e, config),
        .evidence = emergency_add_symbols,
        .evidence_context = world.e};

    (void)featureset_add(features, FEATURE_url_host, slice_str(host));
    verdict_evaluate(config, lists, features, &context, 0, arena, &v, &hits);
    emergency_note(world.e, config, features, lists, &hits, clock_wall_us() / 1000000);
    list_manager_release(world.x->h, &lists);
    atomic_fetch_add(&world.in_the_mode, context.is_emergency ? 1 : 0);
    return has_list(&v);
}

static void *send_mail(void *context)
{
    struct arena *arena = arena_new(1 << 20);
    char host[64];

    (void)context;
    for (unsigned i = 0; !atomic_load(&world.stops); i++) {
        (void)snprintf(host, sizeof(host), "host-%u.example", i % LISTED);
        arena_reset(arena);
        atomic_fetch_add(&world.missed, is_marked(host, arena) ? 0 : 1);
        (void)snprintf(host, sizeof(host), "good-%u.example", i);
        arena_reset(arena);
        atomic_fetch_add(&world.wrong, is_marked(host, arena) ? 1 : 0);
        atomic_fetch_add(&world.judged, 1);
    }
    arena_free(&arena);
    return NULL;
}

/* Waits until messages were judged since `from`. */
static void let_mail_through(unsigned from)
{
    while (atomic_load(&world.judged) < from + MAIL_THREADS) {
        (void)usleep(50);
    }
}

/* Begins and ends the mode, with other lists and a revocation elsewhere meanwhile. */
static void flip(struct list_writer *w, unsigned n, uint64_t *now_s, uint64_t *checks)
{
    bool wants_on = n % 2 == 0;

    *now_s += EMERGENCY_SAMPLE_S;
    *checks += wants_on ? FLOOD : 0;
    emergency_tick(world.e, world.x->config, *checks, *now_s);
    assert_int_equal(emergency_is_on(world.e), wants_on);
    if (n % 20 == 0) {
        import_range(world.x->f, w, LISTED + n, LISTED + n + 10, 0);
    }
    refresh(world.x);
    let_mail_through(atomic_load(&world.judged));
}

static void flips_under_load(void **state, const char *options)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    pthread_t threads[MAIL_THREADS];
    uint64_t now_s = clock_wall_us() / 1000000;
    uint64_t checks = 0;
    char text[300];

    import_range(x->f, w, 0, LISTED, 0);
    config_release(&x->config);
    (void)snprintf(
        text, sizeof(text),
        "shipped_rules = false; lists = ( { name = \"test\"; weight = 6.0; } );"
        "emergency = { enter = 200.0; %s };",
        options);
    x->config = load(x, text);
    refresh(x);
    memset(&world, 0, sizeof(world));
    world.x = x;
    world.e = emergency_new(x->f->state);
    emergency_tick(world.e, x->config, checks, now_s);
    for (unsigned i = 0; i < MAIL_THREADS; i++) {
        assert_int_equal(thread_start(&threads[i], send_mail, NULL), 0);
    }
    for (unsigned n = 0; n < FLIPS; n++) {
        flip(w, n, &now_s, &checks);
    }
    atomic_store(&world.stops, true);
    for (unsigned i = 0; i < MAIL_THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    list_writer_close(&w);
    emergency_free(&world.e);
    print_message("%u messages with a listed host, %u look-ups in the mode\n",
                  atomic_load(&world.judged), atomic_load(&world.in_the_mode));
    assert_int_equal(atomic_load(&world.missed), 0);
    assert_int_equal(atomic_load(&world.wrong), 0);
    assert_true(atomic_load(&world.in_the_mode) > MESSAGES_LEAST);
    assert_true(atomic_load(&world.judged) > FLIPS);
}

static void test_mail__mode_flips__then_nothing_is_missed(void **state)
{
    flips_under_load(state, "");
}

static void test_mail__mode_flips_and_verification_waived__then_nothing_is_missed(
    void **state)
{
    flips_under_load(state, "unverified = true;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SET_TEST(test_mail__mode_flips__then_nothing_is_missed),
        SET_TEST(test_mail__mode_flips_and_verification_waived__then_nothing_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
