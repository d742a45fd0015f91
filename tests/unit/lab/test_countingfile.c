/* Counting filters as files: round trips, sums, saturation, every byte damaged, and files that must
 * not be added. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/lab/countingfile.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum {
    CELLS = 1000,
    KEYS = 60,
    BITS_AT = 16,
    K_AT = 20,
    CELLS_AT = 32,
    NSOURCES_AT = 64
};

static const struct hashkey ring = {.id = 7, .bytes = "0123456789abcde"};
static const struct hashkey other_ring = {.id = 8, .bytes = "edcba9876543210"};

static uint64_t key_of(uint64_t i)
{
    return 0x9e3779b97f4a7c15 * (i + 1);
}

struct site {
    const struct hashkey *key;
    unsigned bits;
    uint64_t cells;
    unsigned k;
    uint8_t origin;
    uint64_t first_s;
    uint64_t times; /* key i is counted i * times times */
};

static const struct site usual = {&ring, 8, CELLS, 4, 1, 600, 1};

static void fill(struct countingfile *f, const struct site *s)
{
    assert_int_equal(countingfile_new(f, s->bits, s->cells, s->k, s->key, NULL),
                     ERR_OK);
    for (uint64_t i = 1; i < KEYS; i++) {
        countingfile_add(f, key_of(i), i * s->times);
    }
    f->facts.nsources = 1;
    memset(f->facts.sources[0].origin, s->origin, COUNTINGFILE_ORIGIN_BYTES);
    f->facts.sources[0].first_s = s->first_s;
    f->facts.sources[0].end_s = s->first_s + 600;
}

static void write_site(const char *dir, const char *name, const struct site *s,
                       char ret[FILE_PATH_MAX])
{
    struct countingfile f;
    assert_int_equal(file_path(ret, "%s/%s", dir, name), ERR_OK);
    fill(&f, s);
    assert_int_equal(countingfile_write(&f, ret, NULL), ERR_OK);
    countingfile_close(&f);
}

static void test_countingfile__written_and_opened__counts_are_the_same(void **state)
{
    static const unsigned widths[] = {4, 5, 6, 8, 16};
    char path[FILE_PATH_MAX];
    for (unsigned w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
        struct site s = usual;
        struct countingfile before;
        struct countingfile after = {.bytes = 0};
        s.bits = widths[w];
        fill(&before, &s);
        write_site(((struct tempdir *)*state)->path, "a", &s, path);
        assert_int_equal(countingfile_open(&after, path, &ring, NULL), ERR_OK);
        for (uint64_t i = 0; i < 2 * KEYS; i++) {
            struct counting_read a = countingfile_get(&before, key_of(i));
            struct counting_read b = countingfile_get(&after, key_of(i));
            assert_int_equal(a.count, b.count);
            assert_int_equal(a.is_saturated, b.is_saturated);
            if (i > 0 && i < KEYS) {
                assert_true(b.count >= i || b.is_saturated);
            }
        }
        assert_int_equal(after.facts.keys, KEYS - 1);
        assert_int_equal(after.facts.total, KEYS * (KEYS - 1) / 2);
        countingfile_close(&before);
        countingfile_close(&after);
    }
}

static void test_countingfile_merge__two_sites__counts_add_and_saturate(void **state)
{
    char a[FILE_PATH_MAX];
    char b[FILE_PATH_MAX];
    struct countingfile all = {.bytes = 0};
    struct site second = usual;
    second.origin = 2;
    second.times = 4;
    write_site(((struct tempdir *)*state)->path, "a", &usual, a);
    write_site(((struct tempdir *)*state)->path, "b", &second, b);
    assert_int_equal(countingfile_open(&all, a, &ring, NULL), ERR_OK);
    assert_int_equal(countingfile_merge(&all, b, NULL), ERR_OK);
    for (uint64_t i = 1; i < KEYS; i++) {
        struct counting_read r = countingfile_get(&all, key_of(i));
        assert_true(r.count >= (5 * i < 255 ? 5 * i : 255));
        assert_int_equal(r.is_saturated, r.count == 255);
    }
    assert_true(countingfile_get(&all, key_of(KEYS - 1)).is_saturated); /* 295 */
    assert_true(countingfile_count_cells(&all).saturated > 0);
    assert_int_equal(all.facts.nsources, 2);
    assert_int_equal(all.facts.total, 5 * KEYS * (KEYS - 1) / 2);
    countingfile_close(&all);
}

static void test_countingfile_merge__other_parameters__refused_by_name(void **state)
{
    static const struct {
        const char *named;
        struct site site;
        enum err e;
    } rows[] = {
        {"number of cells", {&ring, 8, CELLS + 1, 4, 2, 600, 1}, ERR_RANGE},
        {"k is", {&ring, 8, CELLS, 5, 2, 600, 1}, ERR_RANGE},
        {"width of a cell", {&ring, 16, CELLS, 4, 2, 600, 1}, ERR_UNSUPPORTED},
        {"digest key", {&other_ring, 8, CELLS, 4, 2, 600, 1}, ERR_KEY},
        {"count twice", {&ring, 8, CELLS, 4, 1, 600, 1}, ERR_RANGE},
        {"count twice", {&ring, 8, CELLS, 4, 1, 1100, 1}, ERR_RANGE},
    };
    char a[FILE_PATH_MAX];
    char b[FILE_PATH_MAX];
    struct countingfile all = {.bytes = 0};
    write_site(((struct tempdir *)*state)->path, "a", &usual, a);
    assert_int_equal(countingfile_open(&all, a, NULL, NULL), ERR_OK);
    uint64_t sum = checksum64(slice_of((const char *)all.c.words, all.bytes));
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct errinfo why = {.text = ""};
        write_site(((struct tempdir *)*state)->path, "b", &rows[i].site, b);
        assert_int_equal(countingfile_merge(&all, b, &why), rows[i].e);
        if (strstr(why.text, rows[i].named) == NULL) {
            fail_msg("row %u: %s", i, why.text);
        }
        assert_int_equal(checksum64(slice_of((const char *)all.c.words, all.bytes)),
                         sum);
        assert_int_equal(all.facts.nsources, 1);
    }
    struct site next_bucket = usual;
    next_bucket.first_s = 1200;
    write_site(((struct tempdir *)*state)->path, "b", &next_bucket, b);
    assert_int_equal(countingfile_merge(&all, b, NULL), ERR_OK);
    countingfile_close(&all);
}

static void test_countingfile_merge__64_sources_are_the_most(void **state)
{
    char path[FILE_PATH_MAX];
    struct countingfile all = {.bytes = 0};
    struct site s = usual;
    for (unsigned i = 0; i <= COUNTINGFILE_SOURCES_MAX; i++) {
        s.first_s = 600 * (uint64_t)(i + 1);
        write_site(((struct tempdir *)*state)->path, "a", &s, path);
        enum err e = i == 0 ? countingfile_open(&all, path, NULL, NULL)
                            : countingfile_merge(&all, path, NULL);
        assert_int_equal(e, i < COUNTINGFILE_SOURCES_MAX ? ERR_OK : ERR_LIMIT);
    }
    assert_int_equal(countingfile_write(&all, path, NULL), ERR_OK);
    countingfile_close(&all);
    assert_int_equal(countingfile_open(&all, path, &ring, NULL), ERR_OK);
    assert_int_equal(all.facts.nsources, COUNTINGFILE_SOURCES_MAX);
    countingfile_close(&all);
}

static enum err open_bytes(const char *dir, const struct buf *bytes, size_t n)
{
    char path[FILE_PATH_MAX];
    struct countingfile f = {.bytes = 0};
    struct errinfo why = {.text = ""};
    assert_int_equal(file_path(path, "%s/x", dir), ERR_OK);
    assert_int_equal(file_write_atomic(path, slice_of(bytes->p, n), 0600, NULL),
                     ERR_OK);
    enum err e = countingfile_open(&f, path, &ring, &why);
    assert_true(e == ERR_OK || why.text[0] != '\0');
    countingfile_close(&f);
    return e;
}

static void read_bytes(const char *path, struct buf *ret)
{
    buf_init(ret, 1 << 20);
    assert_int_equal(file_read(path, ret, NULL), ERR_OK);
}

static void test_countingfile_open__damaged_anywhere__refused(void **state)
{
    char path[FILE_PATH_MAX];
    struct buf bytes;
    write_site(((struct tempdir *)*state)->path, "a", &usual, path);
    read_bytes(path, &bytes);
    assert_int_equal(open_bytes(((struct tempdir *)*state)->path, &bytes, bytes.n),
                     ERR_OK);
    for (size_t i = 0; i < bytes.n; i += i < 100 ? 1 : 13) {
        bytes.p[i] = (char)(bytes.p[i] ^ 0x10);
        assert_int_not_equal(
            open_bytes(((struct tempdir *)*state)->path, &bytes, bytes.n), ERR_OK);
        bytes.p[i] = (char)(bytes.p[i] ^ 0x10);
        assert_int_not_equal(open_bytes(((struct tempdir *)*state)->path, &bytes, i),
                             ERR_OK);
    }
    buf_add_char(&bytes, 'x');
    assert_int_equal(open_bytes(((struct tempdir *)*state)->path, &bytes, bytes.n),
                     ERR_CORRUPT);
    buf_fini(&bytes);
}

/* The checksum is right: somebody made it up. */
static void test_countingfile_open__impossible_header__refused(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        unsigned n;
    } rows[] = {
        {BITS_AT, 7, 4},     {BITS_AT, 0, 4},        {K_AT, 0, 4},
        {K_AT, 17, 4},       {CELLS_AT, 0, 8},       {CELLS_AT, UINT64_MAX, 8},
        {NSOURCES_AT, 0, 4}, {NSOURCES_AT, 65, 4},   {NSOURCES_AT, 2, 4},
        {12, 3, 4},          {CELLS_AT, 2000000, 8}, {28, 1, 4},
    };
    char path[FILE_PATH_MAX];
    write_site(((struct tempdir *)*state)->path, "a", &usual, path);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf bytes;
        read_bytes(path, &bytes);
        memcpy(bytes.p + rows[i].at, &rows[i].value, rows[i].n);
        uint64_t sum =
            checksum64(slice_of(bytes.p, COUNTINGFILE_HEADER_BYTES - sizeof(sum)));
        memcpy(bytes.p + COUNTINGFILE_HEADER_BYTES - sizeof(sum), &sum, sizeof(sum));
        if (open_bytes(((struct tempdir *)*state)->path, &bytes, bytes.n) !=
            ERR_CORRUPT) {
            fail_msg("row %u", i);
        }
        buf_fini(&bytes);
    }
}

static void test_countingfile_open__another_ring_key__named(void **state)
{
    char path[FILE_PATH_MAX];
    struct countingfile f = {.bytes = 0};
    struct errinfo why = {.text = ""};
    write_site(((struct tempdir *)*state)->path, "a", &usual, path);
    assert_int_equal(countingfile_open(&f, path, &other_ring, &why), ERR_KEY);
    assert_non_null(strstr(why.text, "00000007"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_countingfile__written_and_opened__counts_are_the_same, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_countingfile_merge__two_sites__counts_add_and_saturate, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_countingfile_merge__other_parameters__refused_by_name, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_countingfile_merge__64_sources_are_the_most, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_countingfile_open__damaged_anywhere__refused, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_countingfile_open__impossible_header__refused, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_countingfile_open__another_ring_key__named,
                                        tempdir_setup, tempdir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
