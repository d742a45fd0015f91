/*
 * test_history - the page of history: a day of it, over restarts, damage, many threads.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/telemetry/history.h"
#include "core/telemetry/history_page.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { THREADS = 4, ROUNDS = 5000 };

static const uint64_t now = 1800000000; /* a bucket, an hour begin here */

static struct history_view view;

static void look(const char *path, uint64_t now_s)
{
    assert_int_equal(history_read(path, now_s, &view, NULL), ERR_OK);
}

static void open_page(struct tempdir *t, uint64_t now_s)
{
    struct errinfo why;
    assert_int_equal(history_open(tempdir_file(t, "history"), now_s, &why), ERR_OK);
}

static void add(uint64_t at_s, enum history_number what, double score)
{
    uint64_t number[HISTORY_NUMBERS] = {[HISTORY_MESSAGES] = 1, [HISTORY_BYTES] = 100};
    number[what] = 1;
    history_message(at_s, number, &score);
}

static void test_messages__over_a_day__each_in_its_ten_minutes(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    for (unsigned i = 0; i < 300; i++) { /* two days and two hours */
        add(now + i * UINT64_C(600), HISTORY_REJECT, 1.0);
        add(now + i * UINT64_C(600) + 599, HISTORY_ACCEPT, 1.0);
    }
    uint64_t end = now + 299 * UINT64_C(600) + 30;
    look(t->file, end);
    for (unsigned i = 0; i < HISTORY_BUCKETS; i++) {
        const struct history_bucket *b = &view.bucket[i];
        assert_int_equal(b->at_s, now + (299 - 144 + i) * UINT64_C(600));
        assert_int_equal(b->number[HISTORY_MESSAGES], 2);
        assert_int_equal(b->number[HISTORY_REJECT], 1);
        assert_int_equal(b->number[HISTORY_ACCEPT], 1);
        assert_int_equal(b->number[HISTORY_BYTES], 200);
    }
    /* the running hour (5 of its 6 ten minutes) and 24 before it; 10 ranges above -5 + 12 * 0.5 */
    assert_int_equal(view.score[13], 2 * (24 * 6 + 6));
    look(t->file, end + 3600); /* nothing came since: the last hour is empty */
    assert_int_equal(view.bucket[HISTORY_BUCKETS - 1].number[HISTORY_MESSAGES], 0);
    assert_int_equal(view.bucket[HISTORY_BUCKETS - 7].number[HISTORY_MESSAGES], 2);
    look(t->file, end + 3 * UINT64_C(86400));
    for (unsigned i = 0; i < HISTORY_BUCKETS; i++) {
        assert_int_equal(view.bucket[i].number[HISTORY_MESSAGES], 0);
    }
    assert_int_equal(view.score[13], 0);
    history_close();
}

static void test_clock__goes_back__then_counting_goes_on(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    add(now + 160 * UINT64_C(600), HISTORY_ACCEPT, 0);
    add(now, HISTORY_ACCEPT, 0); /* the same slot */
    add(now, HISTORY_ACCEPT, 0);
    look(t->file, now);
    assert_int_equal(view.bucket[HISTORY_BUCKETS - 1].number[HISTORY_ACCEPT], 2);
    history_close();
}

static void test_scores__edges__are_the_beginnings_of_ranges(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    static const double scores[] = {-1e9, -5.01, -5, -4.51, 0, 0.49, 29.99, 30, 1e9};
    for (size_t i = 0; i < sizeof(scores) / sizeof(scores[0]); i++) {
        add(now, HISTORY_ACCEPT, scores[i]);
    }
    look(t->file, now);
    assert_int_equal(view.score[0], 2);
    assert_int_equal(view.score[1], 2);
    assert_int_equal(view.score[11], 2);
    assert_int_equal(view.score[HISTORY_SCORES - 2], 1);
    assert_int_equal(view.score[HISTORY_SCORES - 1], 2);
    assert_true(history_score_edge(0) < -4.99 && history_score_edge(0) > -5.01);
    assert_true(history_score_edge(HISTORY_SCORES - 2) > 29.99);
    assert_true(history_score_edge(HISTORY_SCORES - 2) < 30.01);
    history_close();
}

static void test_times__edges__are_the_ends_of_ranges(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    history_time(HISTORY_PARSE, 0, 1);
    history_time(HISTORY_PARSE, 1000, 1);
    history_time(HISTORY_PARSE, 1001, 3);
    history_time(HISTORY_PARSE, UINT64_C(10000000000), 1);
    history_time(HISTORY_PARSE, UINT64_C(10000000001), 1);
    history_url_checks(2, 5);
    history_url_checks(HISTORY_STATUSES, 5); /* none */
    look(t->file, now);
    const struct history_times *p = &view.time[HISTORY_PARSE];
    assert_int_equal(p->count[0], 2);
    assert_int_equal(p->count[1], 3);
    assert_int_equal(p->count[HISTORY_TIMES - 2], 1);
    assert_int_equal(p->count[HISTORY_TIMES - 1], 1);
    assert_int_equal(p->n, 7);
    assert_int_equal(p->sum_ns, 1000 + 3003 + UINT64_C(20000000001));
    assert_int_equal(view.time[HISTORY_LOOKUP].n, 0);
    assert_int_equal(view.url_checks[2], 5);
    history_close();
}

static const struct history_symbol *symbol(const char *name)
{
    static const struct history_symbol none;

    for (size_t i = 0; i < view.nsymbols; i++) {
        if (strcmp(view.symbol[i].name, name) == 0) {
            return &view.symbol[i];
        }
    }
    return &none;
}

static void test_symbols__day_and_total__the_most_frequent_first(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    history_symbol(now, SLICE_LIT("LIST_OLD"));
    for (int i = 0; i < 3; i++) {
        history_symbol(now + UINT64_C(30) * 3600, SLICE_LIT("BULK_TEXT"));
    }
    for (int i = 0; i < 2; i++) {
        history_symbol(now + UINT64_C(30) * 3600, SLICE_LIT("RULE_Z"));
    }
    history_symbol(now + UINT64_C(30) * 3600, SLICE_LIT("LIST_B"));
    history_symbol(now + UINT64_C(30) * 3600, SLICE_LIT("LIST_A"));
    look(t->file, now + UINT64_C(30) * 3600);
    static const char *const order[] = {"BULK_TEXT", "RULE_Z", "LIST_A", "LIST_B",
                                        "LIST_OLD"};
    assert_int_equal(view.nsymbols, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(view.symbol[i].name, order[i]);
    }
    assert_int_equal(view.symbol[0].day, 3);
    assert_int_equal(symbol("LIST_OLD")->day, 0);
    assert_int_equal(symbol("LIST_OLD")->total, 1);
    history_close();
}

static void test_symbols__many__in_falling_order_of_the_day(void **state)
{
    enum { MANY = 23 };
    struct tempdir *t = *state;
    open_page(t, now);
    for (unsigned i = 0; i < MANY; i++) {
        char name[HISTORY_SYMBOL_NAME];
        (void)snprintf(name, sizeof(name), "RULE_%u", i);
        for (unsigned hits = 0; hits <= i * 7 % MANY; hits++) {
            history_symbol(now, slice_str(name));
        }
    }
    look(t->file, now);
    assert_int_equal(view.nsymbols, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(view.symbol[i].day, MANY - i);
    }
    history_close();
}

static void test_symbols__too_many__the_others_are_one(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    char name[32];
    for (int i = 0; i < 2 * HISTORY_SYMBOLS; i++) {
        (void)snprintf(name, sizeof(name), "LIST_%d", i);
        history_symbol(now, slice_str(name));
        history_symbol(now, slice_str(name));
    }
    look(t->file, now);
    uint64_t total = 0;
    for (size_t i = 0; i < view.nsymbols; i++) {
        total += view.symbol[i].total;
    }
    assert_int_equal(total, 4 * HISTORY_SYMBOLS);
    assert_true(view.nsymbols > HISTORY_SYMBOLS / 2);
    assert_true(symbol("other")->total > HISTORY_SYMBOLS);
    history_close();
}

static struct history_key key_of(unsigned id, uint64_t day, uint64_t at_s)
{
    struct history_key k = {.type = 65, .day = day, .at_s = at_s};
    memcpy(k.digest[0].b, &id, sizeof(id));
    k.n = (size_t)snprintf(k.text, sizeof(k.text), "key %u", id);
    return k;
}

static void test_keys__more_than_places__the_most_seen_stay(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    assert_int_equal(history_key_floor(), HISTORY_KEY_LEAST);
    for (unsigned i = 0; i < 100; i++) {
        struct history_key k = key_of(i, i, now);
        history_key(&k);
    }
    assert_int_equal(history_key_floor(), 100 - HISTORY_KEYS);
    struct history_key again = key_of(99, 500, now + 1);
    history_key(&again);
    look(t->file, now + 1);
    assert_int_equal(view.nkeys, HISTORY_KEYS);
    assert_int_equal(view.key[0].day, 500);
    assert_memory_equal(view.key[0].text, "key 99", 6);
    assert_int_equal(view.key[HISTORY_KEYS - 1].day, 100 - HISTORY_KEYS);
    for (unsigned i = 0; i < HISTORY_KEYS; i++) {
        assert_true(i == 0 || view.key[i].day == 99 - i);
    }
    history_close();
}

static void test_keys__not_seen_for_a_day__give_way(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    for (unsigned i = 0; i < HISTORY_KEYS; i++) {
        struct history_key k = key_of(i, 1000000 + i, now);
        history_key(&k);
    }
    struct history_key light = key_of(1000, 20, now);
    history_key(&light);
    look(t->file, now);
    assert_int_equal(view.key[HISTORY_KEYS - 1].day, 1000000);
    light.at_s = now + 86400;
    history_key(&light);
    look(t->file, now + 86400);
    assert_int_equal(view.nkeys, 1);
    assert_int_equal(view.key[0].day, 20);
    assert_int_equal(history_key_floor(), HISTORY_KEY_LEAST);
    history_close();
}

static void test_open__again__all_goes_on(void **state)
{
    struct tempdir *t = *state;
    open_page(t, now);
    add(now, HISTORY_HEADER, 3);
    history_time(HISTORY_URL, 700, 2);
    history_url_checks(1, 1);
    history_symbol(now, SLICE_LIT("LIST_PHISH"));
    struct history_key k = key_of(1, 30, now);
    history_key(&k);
    history_close();
    add(now, HISTORY_HEADER, 3); /* nowhere */
    open_page(t, now + 60);
    add(now + 60, HISTORY_HEADER, 3);
    history_symbol(now + 60, SLICE_LIT("LIST_PHISH"));
    look(t->file, now + 60);
    assert_int_equal(view.bucket[HISTORY_BUCKETS - 1].number[HISTORY_HEADER], 2);
    assert_int_equal(view.time[HISTORY_URL].n, 2);
    assert_int_equal(view.url_checks[1], 1);
    assert_int_equal(view.nsymbols, 1);
    assert_int_equal(view.symbol[0].day, 2);
    assert_int_equal(view.nkeys, 1);
    open_page(t, now + 60); /* without a close */
    look(t->file, now + 60);
    assert_int_equal(view.symbol[0].total, 2);
    history_close();
    struct stat st;
    assert_int_equal(stat(t->file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void patch(const char *path, size_t offset, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, (off_t)offset), n);
    (void)close(fd);
}

static void test_open__damaged_or_of_another_version__begins_anew(void **state)
{
    struct tempdir *t = *state;
    static const uint32_t version = 77;
    struct errinfo why;
    for (int damage = 0; damage < 4; damage++) {
        open_page(t, now);
        add(now, HISTORY_HEADER, 3);
        history_close();
        if (damage == 0) {
            patch(t->file, 0, "X", 1);
        } else if (damage == 1) {
            patch(t->file, offsetof(struct history_page, version), &version, 4);
        } else if (damage == 2) {
            assert_int_equal(truncate(t->file, sizeof(struct history_page) - 1), 0);
        } else {
            assert_int_equal(truncate(t->file, 3), 0);
        }
        enum err e = history_read(t->file, now, &view, &why);
        assert_int_equal(e, damage == 1 ? ERR_VERSION : ERR_CORRUPT);
        open_page(t, now);
        add(now, HISTORY_HEADER, 3);
        look(t->file, now);
        assert_int_equal(view.bucket[HISTORY_BUCKETS - 1].number[HISTORY_HEADER], 1);
        history_close();
        assert_int_equal(unlink(t->file), 0);
    }
    assert_int_equal(history_read(t->file, now, &view, &why), ERR_NOT_FOUND);
}

/* A writer that was killed amid the keys leaves their number odd. */
static void test_read__keys_never_settle__are_taken_as_they_are(void **state)
{
    static const uint64_t odd = 7;
    struct tempdir *t = *state;
    struct history_key k = key_of(1, 20, now);
    open_page(t, now);
    history_key(&k);
    history_close();
    patch(t->file, offsetof(struct history_page, key_seq), &odd, sizeof(odd));
    look(t->file, now);
    assert_int_equal(view.nkeys, 1);
    assert_int_equal(view.key[0].day, 20);
}

static void test_read_buckets__cut__whole_ten_minutes_or_corrupt(void **state)
{
    const off_t part = offsetof(struct history_page, hour);
    struct tempdir *t = *state;
    struct history_page *page = NULL;
    open_page(t, now);
    add(now, HISTORY_HEADER, 3);
    history_close();
    assert_int_equal(truncate(t->file, part), 0);
    assert_int_equal(history_page_read_buckets(t->file, &page, NULL), ERR_OK);
    free(page);
    page = NULL;
    assert_int_equal(truncate(t->file, part - 1), 0);
    assert_int_equal(history_page_read_buckets(t->file, &page, NULL), ERR_CORRUPT);
    assert_null(page);
}

/* Random bytes behind a good header: nothing is read beyond the page, names stay valid. */
static void test_open__random_bytes_behind_the_header__bounded(void **state)
{
    struct tempdir *t = *state;
    static struct history_page page;
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 20; round++) {
        open_page(t, now);
        history_close();
        size_t from = offsetof(struct history_page, bucket);
        unsigned char *bytes = (unsigned char *)&page;
        for (size_t i = from; i < sizeof(page); i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes[i] = (unsigned char)(round % 2 ? seed : seed % 2);
        }
        patch(t->file, from, bytes + from, sizeof(page) - from);
        look(t->file, now);
        open_page(t, now);
        look(t->file, now);
        for (size_t i = 0; i < view.nsymbols; i++) {
            assert_true(strnlen(view.symbol[i].name, HISTORY_SYMBOL_NAME) <
                        HISTORY_SYMBOL_NAME);
        }
        for (size_t i = 0; i < view.nkeys; i++) {
            assert_true(view.key[i].n <= HISTORY_KEY_TEXT);
        }
        history_close();
    }
}

/* Where the one symbol of the page stands. */
static size_t row_at(const char *path)
{
    struct history_page *page = NULL;
    size_t at = 0;
    assert_int_equal(history_page_read(path, &page, NULL), ERR_OK);
    while (at < HISTORY_OTHER && page->row[at].is_used != 1) {
        at++;
    }
    free(page);
    assert_true(at < HISTORY_OTHER);
    return offsetof(struct history_page, row) + at * sizeof(struct history_row);
}

/* Another process may write the page. A symbol without a valid name is not shown. */
static void test_read__names_that_are_none__are_left_out(void **state)
{
    static const struct {
        char name[HISTORY_SYMBOL_NAME];
        bool is_sound;
    } rows[] = {{"AZ_09", true}, {"A", true},    {"_", true},        {"", false},
                {"a", false},    {"z", false},   {"A B", false},     {"A-B", false},
                {"@A", false},   {"A[", false},  {"A/", false},      {"A:", false},
                {"<B>", false},  {"A\n", false}, {"\xc3\x84", false}};
    struct tempdir *t = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char whole[HISTORY_SYMBOL_NAME];
        open_page(t, now);
        history_symbol(now, SLICE_LIT("REAL"));
        history_close();
        size_t row = row_at(t->file);
        patch(t->file, row + offsetof(struct history_row, name), rows[i].name,
              sizeof(rows[i].name));
        look(t->file, now);
        assert_int_equal(view.nsymbols, rows[i].is_sound);
        if (rows[i].is_sound) {
            assert_string_equal(view.symbol[0].name, rows[i].name);
        }
        memset(whole, 'A', sizeof(whole)); /* one without an end */
        patch(t->file, row + offsetof(struct history_row, name), whole, sizeof(whole));
        look(t->file, now);
        assert_int_equal(view.nsymbols, 0);
        assert_int_equal(unlink(t->file), 0);
    }
}

static void test_open__where_no_file_can_be__then_counting_goes_nowhere(void **state)
{
    struct tempdir *t = *state;
    struct errinfo why;
    assert_int_equal(history_open(tempdir_file(t, "no/folder"), now, &why),
                     ERR_NOT_FOUND);
    add(now, HISTORY_HEADER, 3);
    history_close();
}

static void *count(void *context)
{
    const unsigned *id = context;
    char name[32];
    for (unsigned i = 0; i < ROUNDS; i++) {
        add(now + i / 10 * UINT64_C(600), HISTORY_ACCEPT, (double)(i % 40));
        (void)snprintf(name, sizeof(name), "LIST_%u", i % 50);
        history_symbol(now, slice_str(name));
        history_time(HISTORY_MESSAGE, i, 1);
        struct history_key k = key_of(i % 100 + *id * 1000, 10 + i % 77, now);
        history_key(&k);
    }
    return NULL;
}

static void test_threads__count_and_read__nothing_is_lost(void **state)
{
    struct tempdir *t = *state;
    pthread_t thread[THREADS];
    unsigned id[THREADS];
    open_page(t, now);
    for (unsigned i = 0; i < THREADS; i++) {
        id[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, count, &id[i]), 0);
    }
    for (int i = 0; i < 100; i++) {
        look(t->file, now);
        for (size_t k = 0; k < view.nkeys; k++) { /* no key is a mix of two */
            unsigned of = 0;
            memcpy(&of, view.key[k].digest[0].b, sizeof of);
            char text[HISTORY_KEY_TEXT];
            (void)snprintf(text, sizeof(text), "key %u", of);
            assert_int_equal(view.key[k].n, strlen(text));
            assert_memory_equal(view.key[k].text, text, view.key[k].n);
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    look(t->file, now);
    assert_int_equal(view.time[HISTORY_MESSAGE].n, THREADS * ROUNDS);
    assert_int_equal(view.nsymbols, 50);
    for (size_t i = 0; i < view.nsymbols; i++) {
        assert_int_equal(view.symbol[i].total, THREADS * ROUNDS / 50);
    }
    assert_int_equal(view.nkeys, HISTORY_KEYS);
    history_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_messages__over_a_day__each_in_its_ten_minutes, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_clock__goes_back__then_counting_goes_on,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_scores__edges__are_the_beginnings_of_ranges, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_times__edges__are_the_ends_of_ranges,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_symbols__day_and_total__the_most_frequent_first, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_symbols__many__in_falling_order_of_the_day,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_symbols__too_many__the_others_are_one,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_keys__more_than_places__the_most_seen_stay,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_keys__not_seen_for_a_day__give_way,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_open__again__all_goes_on, tempdir_setup,
                                        tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_open__damaged_or_of_another_version__begins_anew, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_open__random_bytes_behind_the_header__bounded, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_read__keys_never_settle__are_taken_as_they_are, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_read_buckets__cut__whole_ten_minutes_or_corrupt, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_read__names_that_are_none__are_left_out,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_open__where_no_file_can_be__then_counting_goes_nowhere, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_threads__count_and_read__nothing_is_lost,
                                        tempdir_setup, tempdir_teardown),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
