/*
 * test_api_history - a day of gillnetd as JSON, with and without a gillnetd that answers.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/count/count_protocol.h"
#include "core/hub/api/api_history.h"
#include "core/telemetry/history.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { US = 1000000 };

static const uint64_t now = 1800000000; /* ten minutes begin here */

struct world {
    struct tempdir *dir;
    struct config config;
    struct keyring keys;
    struct api_history *h;
    char state[80];
    char socket[80];
    char page[128];
    int listen_fd;
    atomic_uint nasked;
    pthread_t thread;
};

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    void *dir = NULL;
    assert_non_null(w);
    assert_int_equal(tempdir_setup(&dir), 0);
    w->dir = dir;
    (void)snprintf(w->state, sizeof(w->state), "%s/state", w->dir->path);
    (void)snprintf(w->socket, sizeof(w->socket), "%s/ctl", w->dir->path);
    assert_int_equal(keyring_load_or_create(w->state, &w->keys, NULL), ERR_OK);
    (void)snprintf(w->page, sizeof(w->page), "%s/counts", w->state);
    assert_int_equal(mkdir(w->page, 0700), 0);
    (void)snprintf(w->page, sizeof(w->page), "%s/" STATE_HISTORY_FILE, w->state);
    w->config.state_dir = w->state;
    w->config.control_socket = w->socket;
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        w->config.threshold[a] = a == ACTION_HEADER ? 5.0 : HUGE_VAL;
    }
    w->h = api_history_new();
    assert_non_null(w->h);
    clock_set_for_test(now * US, 5 * (uint64_t)US);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;
    void *dir = w->dir;
    api_history_free(&w->h);
    clock_unset_for_test();
    free(w);
    return tempdir_teardown(&dir);
}

static json_t *ask(struct world *w)
{
    json_t *all = api_history_json(w->h, &w->config);
    assert_non_null(all);
    return all;
}

static json_int_t at(json_t *o, const char *list, size_t i, const char *name)
{
    return json_integer_value(
        json_object_get(json_array_get(json_object_get(o, list), i), name));
}

/* ---- a gillnetd that counts: i in the i-th bucket before now ---- */

static void count_exact_of(void *context, const struct digest digest[KEYRING_MAX],
                           struct count_history *ret)
{
    (void)context;
    (void)digest;
    *ret = (struct count_history){.now = now / HISTORY_BUCKET_S, .first_s = 600};
    for (unsigned i = 0; i <= COUNT_BUCKETS; i++) {
        ret->bucket[i] = i;
    }
    ret->day[0] = 7;
}

static void *serve(void *context)
{
    struct world *w = context;
    const struct count_port port = {.context = w, .exact = count_exact_of};
    int fd = -1;
    while ((fd = accept(w->listen_fd, NULL, NULL)) >= 0) {
        char line[4096];
        ssize_t n = recv(fd, line, sizeof(line), 0);
        struct buf answer;
        buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
        count_wire_answer(slice_trim(slice_of(line, n > 0 ? (size_t)n : 0)), &port,
                          &w->keys, &answer);
        w->nasked++; /* before whoever asked knows */
        (void)send(fd, answer.p, answer.n, MSG_NOSIGNAL);
        buf_fini(&answer);
        close(fd);
    }
    return NULL;
}

static void start_server(struct world *w)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", w->socket);
    w->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(w->listen_fd, (struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(w->listen_fd, 8), 0);
    assert_int_equal(pthread_create(&w->thread, NULL, serve, w), 0);
}

static void stop_server(struct world *w)
{
    (void)shutdown(w->listen_fd, SHUT_RDWR);
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    close(w->listen_fd);
    (void)unlink(w->socket);
}

static void fill_page(const struct world *w)
{
    uint64_t number[HISTORY_NUMBERS] = {[HISTORY_MESSAGES] = 1, [HISTORY_HEADER] = 1};
    double score = 6.1;
    struct history_key key = {.type = 65,
                              .day = 40,
                              .at_s = now,
                              .n = 4,
                              .text = "a\xff"
                                      "bc"};
    key.digest[0].b[0] = 1;
    assert_int_equal(history_open(w->page, now, NULL), ERR_OK);
    history_message(now, number, &score);
    history_message(now - 700, number, &score);
    history_time(HISTORY_LOOKUP, 30000, 1);
    history_symbol(now, SLICE_LIT("LIST_PHISH"));
    history_key(&key);
    history_close();
}

static void test_json__no_page__a_day_of_zeros(void **state)
{
    struct world *w = *state;
    json_t *all = ask(w);
    assert_int_equal(json_integer_value(json_object_get(all, "bucket_s")), 600);
    assert_int_equal(json_array_size(json_object_get(all, "buckets")), 145);
    assert_int_equal(at(all, "buckets", 144, "at"), now);
    assert_int_equal(at(all, "buckets", 0, "at"), now - 86400);
    assert_int_equal(at(all, "buckets", 144, "messages"), 0);
    assert_int_equal(json_array_size(json_object_get(all, "symbols")), 0);
    assert_int_equal(json_array_size(json_object_get(all, "bulk")), 0);
    json_decref(all);
}

static void test_json__a_day__all_of_it(void **state)
{
    struct world *w = *state;
    fill_page(w);
    json_t *all = ask(w);
    assert_int_equal(at(all, "buckets", 144, "header"), 1);
    assert_int_equal(at(all, "buckets", 142, "messages"), 1);
    assert_int_equal(at(all, "buckets", 143, "messages"), 0);
    json_t *scores = json_object_get(all, "scores");
    assert_int_equal(json_array_size(json_object_get(scores, "edges")), 71);
    assert_int_equal(json_array_size(json_object_get(scores, "counts")), 72);
    /* 6.0 to 6.5: below the 24th edge */
    assert_int_equal(
        json_integer_value(json_array_get(json_object_get(scores, "counts"), 23)), 2);
    json_t *thresholds = json_object_get(scores, "thresholds");
    assert_int_equal(json_object_size(thresholds), 5);
    assert_true(json_real_value(json_object_get(thresholds, "header")) > 4.9);
    assert_true(json_is_null(json_object_get(thresholds, "reject")));
    assert_int_equal(at(all, "symbols", 0, "day"), 1);
    json_t *lookup = json_object_get(json_object_get(all, "latency"), "lookup");
    assert_int_equal(json_integer_value(json_object_get(lookup, "sum_us")), 30);
    assert_int_equal(json_integer_value(json_object_get(lookup, "count")), 1);
    assert_int_equal(json_array_size(json_object_get(lookup, "le_us")) + 1,
                     json_array_size(json_object_get(lookup, "counts")));
    /* no server answers for the key: the value at the time of the message */
    assert_int_equal(at(all, "bulk", 0, "w1d"), 40);
    json_t *key = json_array_get(json_object_get(all, "bulk"), 0);
    assert_string_equal(json_string_value(json_object_get(key, "type")), "text");
    assert_string_equal(json_string_value(json_object_get(key, "value")),
                        "a\xef\xbf\xbd"
                        "bc");
    assert_int_equal(json_array_size(json_object_get(key, "spark")), 0);
    json_decref(all);
}

static void test_json__gillnetd_answers__sparks_asked_once_a_minute(void **state)
{
    struct world *w = *state;
    fill_page(w);
    start_server(w);
    json_t *all = ask(w);
    json_t *key = json_array_get(json_object_get(all, "bulk"), 0);
    json_t *spark = json_object_get(key, "spark");
    assert_int_equal(json_array_size(spark), 48);
    assert_int_equal(json_integer_value(json_array_get(spark, 47)), 0 + 1 + 2);
    assert_int_equal(json_integer_value(json_array_get(spark, 0)), 141 + 142 + 143);
    assert_int_equal(at(all, "bulk", 0, "w10m"), 0 + 1);
    assert_int_equal(at(all, "bulk", 0, "w1d"), 144 * 145 / 2);
    json_decref(all);
    json_decref(ask(w));
    clock_advance_us(59 * (uint64_t)US);
    json_decref(ask(w));
    assert_int_equal(w->nasked, 1);
    clock_advance_us(US);
    json_decref(ask(w));
    stop_server(w);
    assert_int_equal(w->nasked, 2);
}

static void test_json__a_new_key__asked_soon(void **state)
{
    struct world *w = *state;
    json_decref(ask(w)); /* nothing there yet */
    fill_page(w);
    start_server(w);
    json_decref(ask(w));
    assert_int_equal(w->nasked, 0);
    clock_advance_us(API_HISTORY_AGAIN_S * (uint64_t)US);
    json_t *all = ask(w);
    assert_int_equal(at(all, "bulk", 0, "w10m"), 1);
    json_decref(all);
    clock_advance_us(API_HISTORY_AGAIN_S * (uint64_t)US);
    json_decref(ask(w));
    stop_server(w);
    assert_int_equal(w->nasked, 1);
}

static void test_json__gillnetd_is_silent__waited_for_no_longer_than_said(void **state)
{
    struct world *w = *state;
    fill_page(w);
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", w->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(fd, 8), 0);
    clock_unset_for_test();
    uint64_t before = clock_mono_us();
    json_t *all = ask(w);
    assert_true(clock_mono_us() - before >= API_HISTORY_WAIT_MS * UINT64_C(1000));
    assert_int_equal(json_array_size(json_object_get(all, "bucket_s")), 0);
    json_decref(all);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json__no_page__a_day_of_zeros, begin, end),
        cmocka_unit_test_setup_teardown(test_json__a_day__all_of_it, begin, end),
        cmocka_unit_test_setup_teardown(
            test_json__gillnetd_answers__sparks_asked_once_a_minute, begin, end),
        cmocka_unit_test_setup_teardown(test_json__a_new_key__asked_soon, begin, end),
        cmocka_unit_test_setup_teardown(
            test_json__gillnetd_is_silent__waited_for_no_longer_than_said, begin, end),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
