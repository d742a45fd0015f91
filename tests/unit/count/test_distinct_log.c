/* test_distinct_log - members written by gillnetd, followed by the hub, over restarts and damage. */
#include <glob.h>

#include "core/base/file.h"
#include "core/count/distinct_log.h"

#include "tests/unit/tempdir.h"

enum { KEY_ID = 7, FIRST = 2831472 };

struct bench {
    char dir[64];
    char counts[128];
    struct distinct_writer *writer;
    struct distinct_reader *reader;
    uint64_t next; /* triple */
    uint64_t read;
    uint64_t sum;
};

static void begin_writer(struct bench *b, uint64_t inc, uint32_t key_id)
{
    const struct run_id id = {.origin = {1}, .inc = inc, .key_id = key_id};

    distinct_writer_free(&b->writer);
    b->writer = distinct_writer_new(b->counts, &id);
    assert_non_null(b->writer);
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    assert_true(tempdir_make_fast(b->dir));
    (void)snprintf(b->counts, sizeof(b->counts), "%s/counts", b->dir);
    b->reader = distinct_reader_new(b->dir, KEY_ID);
    assert_non_null(b->reader);
    assert_int_equal(distinct_reader_look(b->reader, NULL, NULL, NULL), ERR_OK);
    assert_int_equal(mkdir(b->counts, 0700), 0);
    begin_writer(b, 1, KEY_ID);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    distinct_writer_free(&b->writer);
    distinct_reader_free(&b->reader);
    (void)tempdir_remove(b->dir);
    free(b);
    return 0;
}

static void add(struct bench *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const struct distinct_triple t = {++b->next, 2 * b->next, 3 * b->next};
        distinct_writer_add(b->writer, &t);
    }
}

static void flush(struct bench *b, uint64_t bucket)
{
    struct errinfo why;

    if (distinct_writer_flush(b->writer, bucket, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
}

static void take(void *context, const struct distinct_triple *t)
{
    struct bench *b = context;

    assert_int_equal(t->number, 2 * t->key);
    assert_int_equal(t->pair, 3 * t->key);
    b->read++;
    b->sum += t->key;
}

static uint64_t look(struct bench *b)
{
    struct errinfo why;
    uint64_t before = b->read;

    if (distinct_reader_look(b->reader, take, b, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    return b->read - before;
}

static size_t files(const struct bench *b, char retfirst[256])
{
    char pattern[256];
    glob_t g;

    (void)snprintf(pattern, sizeof(pattern), "%s/members.*", b->counts);
    size_t n = glob(pattern, 0, NULL, &g) == 0 ? g.gl_pathc : 0;
    if (n > 0) {
        (void)snprintf(retfirst, 256, "%s", g.gl_pathv[0]);
    }
    globfree(&g);
    return n;
}

static void test_look__each_member_once__over_buckets_and_restarts(void **state)
{
    struct bench *b = *state;
    char first[256];

    for (uint64_t bucket = FIRST; bucket < FIRST + 20; bucket++) {
        add(b, bucket % 7);
        flush(b, bucket);
        if (bucket % 3 == 0) {
            begin_writer(b, bucket, KEY_ID);
        }
        add(b, 2);
        flush(b, bucket);
        (void)look(b);
        assert_int_equal(b->read, b->next);
        assert_int_equal(look(b), 0);
        assert_in_range(files(b, first), 1, 4);
    }
    assert_int_equal(b->sum, b->next * (b->next + 1) / 2);
    flush(b, FIRST + 30); /* nothing was met: no file */
    assert_in_range(files(b, first), 1, 4);
}

static void test_add__more_than_there_is_room_for__leaves_the_rest_out(void **state)
{
    struct bench *b = *state;

    add(b, DISTINCT_LOG_MAX + 10);
    flush(b, FIRST);
    assert_int_equal(look(b), DISTINCT_LOG_MAX);
    add(b, 1);
    flush(b, FIRST);
    assert_int_equal(look(b), 1);
}

static void test_look__at_another_digest_key__reads_nothing(void **state)
{
    struct bench *b = *state;

    begin_writer(b, 1, KEY_ID + 1);
    add(b, 3);
    flush(b, FIRST);
    assert_int_equal(look(b), 0);
}

/* A file that is cut, or has other bytes, is read up to there; the next one is read. */
static void test_look__at_damage__reads_up_to_it(void **state)
{
    struct bench *b = *state;
    char path[256];
    struct buf bytes;

    for (unsigned i = 0; i < 3; i++) {
        add(b, 5);
        flush(b, FIRST);
    }
    assert_int_equal(files(b, path), 1);
    buf_init(&bytes, 1 << 20);
    assert_int_equal(file_read(path, &bytes, NULL), ERR_OK);
    size_t n = bytes.n;
    for (size_t i = 0; i < 2 * n; i++) {
        struct distinct_reader *fresh = distinct_reader_new(b->dir, KEY_ID);
        size_t size = i < n ? i : n;
        b->read = 0;
        if (i >= n) {
            bytes.p[i - n] ^= 1;
        }
        assert_int_equal(file_write_atomic(path, slice_of(bytes.p, size), 0600, NULL),
                         ERR_OK);
        assert_int_equal(distinct_reader_look(fresh, take, b, NULL), ERR_OK);
        assert_int_equal(distinct_reader_look(fresh, take, b, NULL), ERR_OK);
        assert_in_range(b->read, 0, 10);
        assert_int_equal(b->read % 5, 0);
        if (i >= n) {
            bytes.p[i - n] ^= 1;
        }
        distinct_reader_free(&fresh);
    }
    buf_fini(&bytes);
    add(b, 1);
    flush(b, FIRST + 1);
    b->read = 0;
    (void)look(b);
    assert_in_range(b->read, 1, 11);
}

static void test_mark__of_any_digest__is_told_from_others(void **state)
{
    struct digest d = {.b = {1, 2, 3, 4, 5, 6, 7, 8, 9}};

    (void)state;
    assert_false(count_is_member_key(UINT64_C(0x0102030405060708)));
    count_mark_member(&d);
    assert_int_equal(d.b[5], 6);
    assert_int_equal(d.b[8], 9);
    assert_true(count_is_member_key(UINT64_C(0x010203040506) << 16 |
                                    (unsigned)d.b[6] << 8 | d.b[7]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_look__each_member_once__over_buckets_and_restarts),
        T(test_add__more_than_there_is_room_for__leaves_the_rest_out),
        T(test_look__at_another_digest_key__reads_nothing),
        T(test_look__at_damage__reads_up_to_it),
#undef T
        cmocka_unit_test(test_mark__of_any_digest__is_told_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
