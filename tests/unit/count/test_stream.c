/* test_stream - streams of counts: round trips, torn ends, flipped bits, foreign files. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/count/stream.h"

#include "tests/unit/tempdir.h"

enum { RECORDS = 5, PAIRS = 7 };

static const struct run_id an_id = {
    .origin = {0xab, 2, 3}, .inc = 77, .start_s = 600000, .len_s = 600, .key_id = 9};

struct sink {
    size_t n;
    uint64_t keys;
    uint64_t sum;
};

static void take(void *context, const struct run_record *record)
{
    struct sink *s = context;
    s->n++;
    s->keys += record->key;
    s->sum += record->count;
}

static void add_record(struct stream_writer *w, uint64_t seq)
{
    struct run_record v[PAIRS];
    for (unsigned i = 0; i < PAIRS; i++) {
        v[i] = (struct run_record){.key = seq * 100 + i + 1, .count = seq};
    }
    assert_int_equal(stream_writer_add(w, seq, v, PAIRS, NULL), ERR_OK);
}

/* A stream of RECORDS records with seq 1, 2, ...; its path. */
static const char *make_stream(const struct tempdir *t, uint64_t nrecords)
{
    static char path[FILE_PATH_MAX];
    struct stream_writer *w = NULL;
    uint64_t seq = 99;
    assert_int_equal(stream_path(path, t->path, &an_id), ERR_OK);
    (void)unlink(path);
    assert_int_equal(stream_writer_open(t->path, &an_id, &w, &seq, NULL), ERR_OK);
    assert_int_equal(seq, 0);
    for (uint64_t i = 1; i <= nrecords; i++) {
        add_record(w, i);
    }
    stream_writer_close(&w);
    return path;
}

static char *read_file(const char *path, size_t *retn)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(file_read(path, &b, NULL), ERR_OK);
    *retn = b.n;
    return b.p;
}

/* In place: the file stays the same one. */
static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)n), 0);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_stream__when_followed__then_each_pair_comes_once(void **state)
{
    const struct tempdir *t = *state;
    const char *path = make_stream(t, 2);
    struct pair_log_place r;
    struct sink sink = {0};
    assert_int_equal(stream_reader_open(path, &r, NULL), ERR_OK);
    assert_memory_equal(&r.id, &an_id, sizeof(an_id));
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
    assert_int_equal(sink.n, 2 * PAIRS);
    assert_int_equal(sink.sum, 3 * PAIRS);
    assert_int_equal(r.seq, 2);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
    assert_int_equal(sink.n, 2 * PAIRS);

    struct stream_writer *w = NULL;
    uint64_t seq = 0;
    assert_int_equal(stream_writer_open(t->path, &an_id, &w, &seq, NULL), ERR_OK);
    assert_int_equal(seq, 2);
    add_record(w, 7); /* objects that change nothing lie between */
    assert_int_equal(stream_writer_add(w, 7, NULL, 0, NULL), ERR_RANGE);
    assert_int_equal(stream_writer_add(w, 8, NULL, STREAM_RECORD_MAX + 1, NULL),
                     ERR_LIMIT);
    assert_int_equal(stream_writer_add(w, 8, NULL, 0, NULL), ERR_OK);
    stream_writer_close(&w);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
    assert_int_equal(sink.n, 3 * PAIRS);
    assert_int_equal(r.seq, 8);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_NOT_FOUND);
}

static void test_stream__when_its_end_is_torn__then_it_waits_for_the_rest(void **state)
{
    const struct tempdir *t = *state;
    const char *path = make_stream(t, 3);
    size_t n = 0;
    char *bytes = read_file(path, &n);
    size_t record = (n - PAIR_LOG_HEADER) / 3;

    for (size_t cut = PAIR_LOG_HEADER; cut <= n; cut++) {
        struct pair_log_place r;
        struct sink sink = {0};
        write_file(path, bytes, cut);
        assert_int_equal(stream_reader_open(path, &r, NULL), ERR_OK);
        assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
        assert_int_equal(sink.n, (cut - PAIR_LOG_HEADER) / record * PAIRS);
        write_file(path, bytes, n);
        assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
        assert_int_equal(sink.n, 3 * PAIRS);
    }
    for (size_t cut = 0; cut < PAIR_LOG_HEADER; cut++) {
        struct pair_log_place r;
        write_file(path, bytes, cut);
        assert_int_equal(stream_reader_open(path, &r, NULL), ERR_CORRUPT);
    }
    free(bytes);
}

static void test_stream_writer__when_the_end_is_torn__then_it_is_cut(void **state)
{
    const struct tempdir *t = *state;
    const char *path = make_stream(t, 3);
    size_t n = 0;
    char *bytes = read_file(path, &n);
    size_t record = (n - PAIR_LOG_HEADER) / 3;

    for (size_t cut = 0; cut <= n; cut++) {
        struct stream_writer *w = NULL;
        struct stat st;
        uint64_t seq = 99;
        uint64_t whole = cut < PAIR_LOG_HEADER ? 0 : (cut - PAIR_LOG_HEADER) / record;
        write_file(path, bytes, cut);
        assert_int_equal(stream_writer_open(t->path, &an_id, &w, &seq, NULL), ERR_OK);
        assert_int_equal(seq, whole);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, PAIR_LOG_HEADER + whole * record);
        stream_writer_close(&w);
    }
    free(bytes);
}

/* A flipped bit is found, and nothing of its record is handed over. */
static void test_stream__when_a_bit_is_flipped__then_no_pair_is_wrong(void **state)
{
    const struct tempdir *t = *state;
    const char *path = make_stream(t, 2);
    size_t n = 0;
    char *bytes = read_file(path, &n);
    size_t record = (n - PAIR_LOG_HEADER) / 2;

    for (size_t bit = 0; bit < n * 8; bit++) {
        struct pair_log_place r;
        struct sink sink = {0};
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        write_file(path, bytes, n);
        enum err e = stream_reader_open(path, &r, NULL);
        if (bit / 8 < PAIR_LOG_HEADER) {
            assert_int_equal(e, ERR_CORRUPT);
        } else {
            size_t good = bit / 8 - PAIR_LOG_HEADER < record ? 0 : PAIRS;
            assert_int_equal(e, ERR_OK);
            e = stream_reader_next(&r, path, take, &sink, NULL);
            /* a number of pairs that is too large may look like a record not yet whole */
            assert_true(e == ERR_CORRUPT || e == ERR_OK);
            assert_int_equal(sink.n, good);
        }
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    free(bytes);
}

static void test_stream__when_another_takes_its_place__then_it_is_not_followed(
    void **state)
{
    const struct tempdir *t = *state;
    const char *path = make_stream(t, 2);
    struct pair_log_place r;
    struct sink sink = {0};
    size_t n = 0;
    char temp[FILE_PATH_MAX + 8];

    assert_int_equal(stream_reader_open(path, &r, NULL), ERR_OK);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
    char *bytes = read_file(path, &n);
    (void)snprintf(temp, sizeof(temp), "%s.x", path);
    FILE *f = fopen(temp, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(temp, path), 0);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_CORRUPT);

    assert_int_equal(stream_reader_open(path, &r, NULL), ERR_OK);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_OK);
    write_file(path, bytes, n - 1);
    assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_CORRUPT);
    free(bytes);
}

/* A whole record with a right sum may still hold what cannot be. */
static void test_stream__when_a_pair_is_nothing__then_it_is_refused(void **state)
{
    const struct tempdir *t = *state;
    static const struct run_record bad[] = {{0, 1}, {1, 0}};

    for (size_t i = 0; i < 2; i++) {
        const char *path = make_stream(t, 1);
        struct stream_writer *w = NULL;
        struct pair_log_place r;
        struct sink sink = {0};
        uint64_t seq = 0;
        assert_int_equal(stream_writer_open(t->path, &an_id, &w, &seq, NULL), ERR_OK);
        assert_int_equal(stream_writer_add(w, 2, &bad[i], 1, NULL), ERR_OK);
        stream_writer_close(&w);
        assert_int_equal(stream_reader_open(path, &r, NULL), ERR_OK);
        assert_int_equal(stream_reader_next(&r, path, take, &sink, NULL), ERR_CORRUPT);
        assert_int_equal(sink.n, PAIRS);
    }
}

static void test_stream__when_the_file_is_foreign__then_it_is_refused(void **state)
{
    struct tempdir *t = *state;
    const char *path = make_stream(t, 1);
    struct pair_log_place r;
    struct stream_writer *w = NULL;
    uint64_t seq = 0;
    struct run_id other = an_id;
    char moved[FILE_PATH_MAX];

    other.inc = 78;
    assert_int_equal(stream_path(moved, t->path, &other), ERR_OK);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(stream_writer_open(t->path, &other, &w, &seq, NULL), ERR_CORRUPT);
    assert_null(w);
    assert_int_equal(unlink(moved), 0);

    assert_int_equal(symlink("/etc/passwd", moved), 0);
    assert_int_equal(stream_reader_open(moved, &r, NULL), ERR_DENIED);
    assert_int_equal(stream_writer_open(t->path, &other, &w, &seq, NULL), ERR_DENIED);
    assert_int_equal(unlink(moved), 0);
    assert_int_equal(mkfifo(moved, 0600), 0);
    assert_int_equal(stream_reader_open(moved, &r, NULL), ERR_CORRUPT);
    assert_int_equal(stream_writer_open(t->path, &other, &w, &seq, NULL), ERR_CORRUPT);
    assert_int_equal(unlink(moved), 0);
    assert_int_equal(stream_reader_open(moved, &r, NULL), ERR_NOT_FOUND);
    other.start_s++;
    assert_int_equal(stream_writer_open(t->path, &other, &w, &seq, NULL), ERR_RANGE);
}

static void test_stream_name__when_it_is_no_streams__then_it_is_passed_over(
    void **state)
{
    static const struct {
        const char *name;
        bool is_one;
    } cases[] = {
        {"00000000000927c0-000000000000004d-00000009.stream", true},
        {"00000000000927c0-000000000000004D-00000009.stream", false},
        {"00000000000927c1-000000000000004d-00000009.stream", false},
        {"ffffffffffffffff-000000000000004d-00000009.stream", false},
        {"00000000000927c0-000000000000004d-00000009.stream.tmp", false},
        {"00000000000927c0-000000000000004d-0000000.stream", false},
        {"00000000000927c0-000000000000004d-00000009", false},
        {"", false},
        {"-", false},
        {"..", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run_id id = {.inc = 0};
        assert_int_equal(stream_name_parse(slice_str(cases[i].name), &id),
                         cases[i].is_one);
        if (cases[i].is_one) {
            assert_int_equal(id.start_s, an_id.start_s);
            assert_int_equal(id.inc, an_id.inc);
            assert_int_equal(id.key_id, an_id.key_id);
            assert_int_equal(id.len_s, 600);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_stream__when_followed__then_each_pair_comes_once, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_stream__when_its_end_is_torn__then_it_waits_for_the_rest,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_stream_writer__when_the_end_is_torn__then_it_is_cut, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_stream__when_a_bit_is_flipped__then_no_pair_is_wrong, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_stream__when_another_takes_its_place__then_it_is_not_followed,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_stream__when_a_pair_is_nothing__then_it_is_refused, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_stream__when_the_file_is_foreign__then_it_is_refused, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test(
            test_stream_name__when_it_is_no_streams__then_it_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
