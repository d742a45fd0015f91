/*
 * test_watch - reload: a good configuration is published, a bad one changes nothing; signals
 * reload and never stop.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/telemetry/stats.h"

#include "milter/ring_key.h"
#include "milter/service.h"
#include "milter/signals.h"
#include "milter/watcher.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum {
    SLOW_RULES = 80,
    SLOWEST_RULES = 400,
    PATIENCE_MS = 100,
    NEVER_MS = 86400000,
    PACE_MS = 250
};

static char file[TEMPDIR_PATH];
static struct list_manager *lists;

static void write_config(const struct tempdir *t, const char *more)
{
    snprintf(file, sizeof(file), "%s/gillnet.conf", t->path);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fprintf(f, "state_dir = \"%s\"; shipped_rules = false;\n%s\n", t->path, more);
    assert_int_equal(fclose(f), 0);
}

static void begin(const struct tempdir *t)
{
    struct keyring keys = {.n = 1};
    struct config *c = NULL;
    struct config_errors errors = {.n = 0};
    random_bytes(&keys.ring[0], sizeof(keys.ring[0]));
    random_bytes(&keys.node, sizeof(keys.node));
    write_config(t, "");
    assert_int_equal(config_load(file, NULL, &c, &errors), ERR_OK);
    lists = list_manager_new(t->path, &keys);
    assert_non_null(lists);
    service_init(c, lists, false, 10);
    assert_int_equal(watch_start(file, lists, false), ERR_OK);
}

static void end(void)
{
    watch_stop();
    assert_true(service_close_gate(0));
    service_fini();
    list_manager_free(&lists);
}

static uint64_t generation(bool *retadds)
{
    uint64_t g;
    struct config *c = service_config(&g);
    *retadds = c->add_headers;
    config_release(&c);
    return g;
}

static void test_reload__good_and_bad__published_or_refused_whole(void **state)
{
    struct tempdir *t = *state;
    struct buf text;
    bool adds;
    begin(t);
    assert_int_equal(generation(&adds), 0);
    assert_true(adds);

    buf_init(&text, 65536);
    write_config(t, "add_headers = false;");
    assert_int_equal(watch_reload(&text), ERR_OK);
    assert_int_equal(generation(&adds), 1);
    assert_false(adds);

    buf_clear(&text);
    uint64_t failed = stats_get(STAT_reloads_failed);
    write_config(t, "add_headers = true;\nno_such_key = 1;\ndeadline = \"soon\";");
    assert_int_not_equal(watch_reload(&text), ERR_OK);
    assert_int_equal(generation(&adds), 1);
    assert_false(adds);
    assert_int_equal(stats_get(STAT_reloads_failed), failed + 1);
    assert_non_null(strstr(text.p, "no_such_key")); /* every error of the run */
    assert_non_null(strstr(text.p, "deadline"));

    buf_clear(&text);
    unlink(file);
    assert_int_not_equal(watch_reload(&text), ERR_OK);
    assert_int_equal(generation(&adds), 1);

    buf_clear(&text);
    write_config(t, "socket = \"unix:/elsewhere.sock\";");
    assert_int_equal(watch_reload(&text), ERR_OK);
    assert_non_null(strstr(text.p, "restart is needed for: socket"));
    buf_fini(&text);
    end();
}

static void store_ring(const char *state_dir, const struct keyring *k, unsigned first)
{
    struct hashkey v[KEYRING_MAX] = {k->ring[first], k->ring[1 - first]};
    assert_int_equal(keyring_store_ring(state_dir, v, KEYRING_MAX, NULL), ERR_OK);
}

static bool says_restart(void)
{
    struct buf text;
    buf_init(&text, 65536);
    assert_int_equal(watch_reload(&text), ERR_OK);
    bool says = strstr(text.p, "keys/digest.key") != NULL;
    buf_fini(&text);
    return says;
}

static bool has_fault(const char *page, const char *begin)
{
    struct stats_view view;
    bool has = false;

    assert_int_equal(stats_read(page, &view, NULL), ERR_OK);
    for (size_t i = 0; i < view.nfaults; i++) {
        has = has || strncmp(view.fault[i], begin, strlen(begin)) == 0;
    }
    return has;
}

static bool has_ring_fault(const char *page)
{
    return has_fault(page, "digest-key: ");
}

static void test_ring_key__another_is_written_with__said_until_restarted(void **state)
{
    const struct tempdir *t = *state;
    char page[TEMPDIR_PATH + 8];
    uint8_t bytes[HASHKEY_BYTES];
    struct keyring k;
    snprintf(page, sizeof(page), "%s/stats", t->path);
    assert_int_equal(stats_open(page, NULL), ERR_OK);
    assert_int_equal(keyring_load_or_create(t->path, &k, NULL), ERR_OK);
    random_bytes(bytes, sizeof(bytes));
    keyring_key_of(bytes, &k.ring[1]);
    ring_key_set(t->path, k.ring[0].id);
    begin(t);
    assert_false(says_restart());
    store_ring(t->path, &k, 0); /* it is to come */
    assert_false(says_restart());
    assert_false(has_ring_fault(page));
    store_ring(t->path, &k, 1); /* it is in force */
    assert_true(says_restart());
    assert_true(has_ring_fault(page));
    store_ring(t->path, &k, 0);
    assert_false(says_restart());
    assert_false(has_ring_fault(page));
    end();
    stats_close();
}

/* Threads of this process, and in *retidle those that run only when no other wants to. */
static unsigned count_threads(unsigned *retidle)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    struct dirent *e = NULL;

    *retidle = 0;
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        long tid = strtol(e->d_name, NULL, 10);

        n += tid > 0;
        *retidle += tid > 0 && sched_getscheduler((pid_t)tid) == SCHED_IDLE;
    }
    (void)closedir(d);
    return n;
}

/* Rules that take seconds to compile. */
static void write_slow_rules(const struct tempdir *t, unsigned n)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_str(&b, "rules = (\n");
    for (unsigned i = 0; i < n; i++) {
        buf_printf(&b,
                   "%s{ name = \"slow%u\"; score = 0.1; all = ( { text = "
                   "\"word%u.{0,60}end%u\"; } ); }",
                   i > 0 ? ",\n" : "", i, i, i);
    }
    buf_add_str(&b, ");\n");
    write_config(t, b.p);
    buf_fini(&b);
}

static bool await(bool (*is)(const char *page), const char *page)
{
    for (int i = 0; i < 300000; i++) { /* five minutes, for a loaded machine */
        struct timespec ms = {.tv_nsec = 1000000};

        if (is(page)) {
            return true;
        }
        nanosleep(&ms, NULL);
    }
    return false;
}

static bool is_idle(const char *page)
{
    (void)page;
    unsigned idle = 0;

    (void)count_threads(&idle);
    return idle > 0;
}

static bool has_reload_fault(const char *page)
{
    return has_fault(page, "reload: ");
}

static bool is_published(const char *page)
{
    bool adds = false;

    (void)page;
    return generation(&adds) == 1;
}

static void test_reload__slow__told_and_idle_priority_is_left(void **state)
{
    const struct tempdir *t = *state;
    char page[TEMPDIR_PATH + 8];
    bool adds = false;

    snprintf(page, sizeof(page), "%s/stats", t->path);
    assert_int_equal(stats_open(page, NULL), ERR_OK);
    watch_set_patience(PATIENCE_MS);
    begin(t);
    write_slow_rules(t, SLOW_RULES);
    watch_ask_reload();
    assert_true(geteuid() != 0 || await(is_idle, page));
    assert_true(await(has_reload_fault, page));
    assert_false(is_idle(page));
    assert_int_equal(generation(&adds), 0); /* it still compiles */
    assert_true(await(is_published, page));
    assert_false(has_reload_fault(page));
    end();
    stats_close();
}

static bool has_lists_fault(const char *page)
{
    return has_fault(page, "lists: ");
}

static bool has_no_lists_fault(const char *page)
{
    return !has_fault(page, "lists: ");
}

static void test_look__asked_for__before_its_time(void **state)
{
    const struct tempdir *t = *state;
    char page[TEMPDIR_PATH + 8];
    char folder[TEMPDIR_PATH + 8];

    snprintf(page, sizeof(page), "%s/stats", t->path);
    snprintf(folder, sizeof(folder), "%s/lists", t->path);
    assert_int_equal(stats_open(page, NULL), ERR_OK);
    watch_set_pace(NEVER_MS);
    begin(t);
    FILE *f = fopen(folder, "w"); /* where a folder ought to be */
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    watch_ask_look();
    assert_true(await(has_lists_fault, page));
    assert_int_equal(unlink(folder), 0);
    watch_ask_look();
    assert_true(await(has_no_lists_fault, page));
    end();
    watch_set_pace(PACE_MS);
    stats_close();
}

/* The thread is left with its work, so this is the last test of the process. */
static void test_stop__while_rules_are_compiled__then_at_once(void **state)
{
    const struct tempdir *t = *state;
    unsigned idle = 0;

    begin(t);
    write_slow_rules(t, SLOWEST_RULES);
    watch_ask_reload();
    assert_true(geteuid() != 0 || await(is_idle, ""));
    end();
    assert_true(count_threads(&idle) > 1); /* it still compiles */
}

static void *ask(void *context)
{
    (void)context;
    for (int i = 0; i < 3; i++) {
        struct buf text;
        buf_init(&text, 65536);
        assert_int_equal(watch_reload(&text), ERR_OK);
        buf_fini(&text);
    }
    return NULL;
}

static void test_reload__many_ask_at_once__each_is_answered(void **state)
{
    pthread_t threads[4];
    begin(*state);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask, NULL), 0);
    }
    for (int i = 0; i < 1000; i++) {
        watch_ask_reload();
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    end();
}

/* ---- signals ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards: the two below */
static unsigned nreloads;
static unsigned nstops;

static void note_reload(void)
{
    pthread_mutex_lock(&lock);
    nreloads++;
    pthread_mutex_unlock(&lock);
}

static void note_stop(void)
{
    pthread_mutex_lock(&lock);
    nstops++;
    pthread_mutex_unlock(&lock);
}

static void no_tick(void)
{
}

static unsigned reloads(void)
{
    pthread_mutex_lock(&lock);
    unsigned n = nreloads;
    pthread_mutex_unlock(&lock);
    return n;
}

/* The part of libmilter's signal thread. */
static void *wait_like_libmilter(void *context)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    assert_int_equal(sigwait(&set, context), 0);
    return NULL;
}

static void await_reloads(unsigned n)
{
    for (int i = 0; i < 5000 && reloads() < n; i++) {
        struct timespec ms = {.tv_nsec = 1000000};
        nanosleep(&ms, NULL);
    }
    assert_true(reloads() >= n);
}

static void test_signals__hup_usr1_and_term__reload_and_stop_once(void **state)
{
    (void)state;
    static const struct signal_hooks hooks = {
        .reload = note_reload, .tick = no_tick, .stop = note_stop};
    pthread_t waiter;
    int got = 0;
    signals_block();
    assert_int_equal(signals_start(&hooks), ERR_OK);
    assert_int_equal(pthread_create(&waiter, NULL, wait_like_libmilter, &got), 0);
    kill(getpid(), SIGHUP);
    await_reloads(1);
    kill(getpid(), SIGUSR1);
    await_reloads(2);
    for (int i = 0; i < 10000; i++) {
        kill(getpid(), SIGHUP);
    }
    await_reloads(3);
    kill(getpid(), SIGINT);
    pthread_join(waiter, NULL);
    assert_int_equal(got, SIGTERM); /* never HUP; INT would cut sessions */
    assert_int_equal(nstops, 1);
    assert_false(signals_is_urgent());
    kill(getpid(), SIGTERM);
    assert_true(signals_is_urgent());
    signals_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_reload__good_and_bad__published_or_refused_whole, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_ring_key__another_is_written_with__said_until_restarted, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_reload__slow__told_and_idle_priority_is_left, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_reload__many_ask_at_once__each_is_answered,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_look__asked_for__before_its_time,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test(test_signals__hup_usr1_and_term__reload_and_stop_once),
        cmocka_unit_test_setup_teardown(
            test_stop__while_rules_are_compiled__then_at_once, tempdir_setup,
            tempdir_teardown),
    };
    assert_int_equal(base_init(), ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
