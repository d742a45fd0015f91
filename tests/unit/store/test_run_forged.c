/* test_run_forged - runs whose sums are right and whose content is not. */
#include "core/base/checksum.h"

#include "tests/unit/store/run_image.h"

/* Writes v at p, little-endian as in the file. */
static void put_u64(char *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++) {
        p[i] = (char)(v >> (8 * i));
    }
}

/* Makes all sums of a run right again: of its blocks, of its tail, of both headers. */
static void seal(struct image whole, size_t blocks)
{
    enum { BLOCKS_AT = 8192, HEADER_TAIL_SUM = 12 + 4 + 16 + 8 + 8 + 4 + 4 + 32 };
    char *tail = whole.p + BLOCKS_AT + blocks * 4096;
    for (size_t i = 0; i < blocks; i++) {
        char *block = whole.p + BLOCKS_AT + i * 4096;
        put_u64(block, checksum64(slice_of(block + 8, 4096 - 8)));
    }
    for (size_t copy = 0; copy < 2; copy++) {
        char *header = whole.p + copy * 4096;
        put_u64(header + HEADER_TAIL_SUM,
                checksum64(slice_of(tail, whole.n - (size_t)(tail - whole.p))));
        put_u64(header + 4088, checksum64(slice_of(header, 4088)));
    }
}

static void test_damage__when_sums_are_right_but_a_key_goes_back__then_corrupt(
    void **state)
{
    struct tempdir *t = *state;
    static const struct run_record two[] = {{UINT64_MAX - 9, 1}, {UINT64_MAX - 2, 1}};
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, two, 2);
    struct image whole = read_image(path);
    put_u64(whole.p + 8192 + 16,
            UINT64_MAX - 5); /* the key behind it passes the last */
    put_u64(whole.p + 8192 + 4096, UINT64_MAX - 5);
    seal(whole, 1);
    write_image(path, whole.p, whole.n);
    struct run *r = NULL;
    uint64_t count = 0;
    struct run_cursor c;
    struct run_record record;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    assert_int_equal(run_get(r, UINT64_MAX - 5, &count), ERR_OK);
    assert_int_equal(run_get(r, UINT64_MAX - 2, &count), ERR_CORRUPT);
    assert_int_equal(run_verify(r, NULL), ERR_CORRUPT);
    run_cursor_init(&c, r, 0, UINT64_MAX);
    assert_int_equal(run_cursor_next(&c, &record), ERR_OK);
    assert_int_equal(run_cursor_next(&c, &record), ERR_CORRUPT);
    assert_int_equal(run_cursor_next(&c, &record), ERR_NOT_FOUND);
    run_close(&r);
    free(whole.p);
}

static void test_damage__when_sums_are_right_but_blocks_overlap__then_verify_tells(
    void **state)
{
    struct tempdir *t = *state;
    static const struct run_record three[] = {{5, 1}, {9, 1}, {UINT64_MAX - 1, 1}};
    const char *path = tempdir_file(t, "a.run");
    for (uint64_t first = 6; first <= 10; first++) { /* of the second block */
        write_run(path, &an_id, three, 3);
        struct image whole = read_image(path);
        put_u64(whole.p + 8192 + 4096 + 16, first);
        put_u64(whole.p + 8192 + 8192 + 8, first);
        seal(whole, 2);
        write_image(path, whole.p, whole.n);
        struct run *r = NULL;
        assert_int_equal(run_open(path, &r, NULL), ERR_OK);
        assert_int_equal(run_verify(r, NULL), first <= 9 ? ERR_CORRUPT : ERR_OK);
        run_close(&r);
        free(whole.p);
    }
}

/* Sizes that are right only modulo 2^64: 4104 bytes a block and 16 a source. */
static void test_open__when_the_sizes_of_the_header_wrap__then_corrupt(void **state)
{
    enum { RECORDS_AT = 56, TOTAL_AT = 64, BLOCKS_AT = 72, SOURCES_AT = 80 };
    struct tempdir *t = *state;
    static const struct run_record one = {5, 1};
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, &one, 1);
    struct image whole = read_image(path);
    struct run *r = NULL;
    uint64_t inverse = 1; /* of 513 = 4104 / 8 */
    for (unsigned i = 0; i < 6; i++) {
        inverse *= 2 - 513 * inverse;
    }
    for (uint64_t sources = 1; sources < 200; sources++) {
        uint64_t blocks = (1 - 2 * sources * inverse) & (UINT64_MAX >> 3);
        assert_true(blocks * 4104 + sources * 16 == 4104);
        for (size_t copy = 0; copy < 2; copy++) {
            char *header = whole.p + copy * 4096;
            put_u64(header + RECORDS_AT, blocks);
            put_u64(header + TOTAL_AT, blocks);
            put_u64(header + BLOCKS_AT, blocks);
            put_u64(header + SOURCES_AT, sources);
        }
        seal(whole, 1);
        write_image(path, whole.p, whole.n);
        assert_int_equal(run_open(path, &r, NULL), ERR_CORRUPT);
    }
    free(whole.p);
}

static void test_open__when_the_keys_of_the_index_do_not_rise__then_corrupt(
    void **state)
{
    struct tempdir *t = *state;
    static const struct run_record three[] = {
        {5, 1}, {UINT64_MAX / 2, 1}, {UINT64_MAX - 1, 1}};
    static const uint64_t wrong[][3] = {
        {5, 5, 9}, {5, 9, 9}, {5, 4, 9}, {5, 9, 8}, {0, 5, 9}};
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, three, 3);
    struct image whole = read_image(path);
    struct run *r = NULL;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct errinfo info;
        for (size_t k = 0; k < 3; k++) {
            put_u64(whole.p + 8192 + k * 4096 + 16, wrong[i][k]);
            put_u64(whole.p + 8192 + 3 * 4096 + 8 * k, wrong[i][k]);
        }
        seal(whole, 3);
        write_image(path, whole.p, whole.n);
        assert_int_equal(run_open(path, &r, &info), ERR_CORRUPT);
        assert_non_null(strstr(info.text, "not in order"));
    }
    free(whole.p);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_damage__when_sums_are_right_but_a_key_goes_back__then_corrupt),
        TEST(test_damage__when_sums_are_right_but_blocks_overlap__then_verify_tells),
        TEST(test_open__when_the_sizes_of_the_header_wrap__then_corrupt),
        TEST(test_open__when_the_keys_of_the_index_do_not_rise__then_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
