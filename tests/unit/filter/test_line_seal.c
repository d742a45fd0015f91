/* test_line_seal - lines that lie elsewhere say what the filter says, and nothing else is taken for
 * them. */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/random.h"
#include "core/filter/line_seal.h"

#include "tests/unit/tempdir.h"

enum { KEYS = 40000, LINES = 3000, K = 8, BLOCK_LINES = BLOOMFILE_BLOCK_BYTES / 64 };

static const struct hashkey key = {.id = 7, .bytes = "0123456789abcde"};
static const struct hashkey other_key = {.id = 8, .bytes = "0123456789abcdf"};

static void fill(struct bloomfile *f, enum bloom_layout layout)
{
    struct errinfo info;
    assert_int_equal(bloomfile_new(f, layout, LINES, K, &key, &info), ERR_OK);
    f->facts.digest_key = key.id;
    for (unsigned i = 0; i < KEYS / 2; i++) {
        struct digest d;
        digest_make(&key, 1, slice_of((const char *)&i, sizeof(i)), &d);
        bloom_add(&f->bloom, &d);
    }
}

static void test_bloom_line_has__lines_one_by_one__as_bloom_test(void **state)
{
    static const enum bloom_layout layouts[] = {BLOOM_ONE_LINE, BLOOM_TWO_LINES};
    (void)state;
    for (size_t i = 0; i < LENGTH(layouts); i++) {
        struct bloomfile f;
        unsigned hits = 0;
        fill(&f, layouts[i]);
        for (unsigned n = 0; n < KEYS; n++) {
            struct digest d;
            uint64_t number[BLOOM_KEY_LINES];
            digest_make(&key, 1, slice_of((const char *)&n, sizeof(n)), &d);
            unsigned lines = bloom_line_numbers(&f.bloom, &d, number);
            assert_int_equal(lines, layouts[i] == BLOOM_ONE_LINE ? 1 : 2);
            bool has = true;
            for (unsigned k = 0; k < lines; k++) {
                assert_true(number[k] < LINES);
                has = bloom_line_has(&f.bloom, &d, k, f.bloom.words + number[k] * 8) &&
                      has;
            }
            assert_int_equal(has, bloom_test(&f.bloom, &d));
            hits += has;
        }
        assert_true(hits >= KEYS / 2 && hits < KEYS / 2 + KEYS / 20);
        bloomfile_close(&f);
    }
}

static void test_line_unseal__anything_but_that_line__refused(void **state)
{
    uint8_t id[BLOOMFILE_ID_BYTES] = "sixteen letters";
    uint8_t other_id[BLOOMFILE_ID_BYTES] = "sixteen lettera";
    const struct line_name name = {&key, id, 5};
    const struct line_name wrong[] = {
        {&key, id, 6}, {&key, other_id, 5}, {&other_key, id, 5}};
    uint64_t line[8] = {0};
    uint64_t got[8];
    uint8_t sealed[LINE_SEALED_BYTES];
    static const uint8_t zeros[LINE_SEALED_BYTES];
    (void)state;
    assert_false(line_unseal(&name, zeros, got)); /* lost memory is no empty line */
    line_seal(&name, line, sealed);
    assert_true(line_unseal(&name, sealed, got));
    assert_memory_equal(got, line, sizeof(line));
    random_bytes(line, sizeof(line));
    line_seal(&name, line, sealed);
    assert_true(line_unseal(&name, sealed, got));
    assert_memory_equal(got, line, sizeof(line));
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_false(line_unseal(&wrong[i], sealed, got));
    }
    for (size_t bit = 0; bit < LINE_SEALED_BYTES * (size_t)8; bit++) {
        sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(line_unseal(&name, sealed, got));
        sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* Writes f and opens it as remote. */
static void write_open(struct tempdir *t, struct bloomfile *f, struct bloomfile *ret)
{
    const struct bloomfile_want want = {
        .key = &other_key, .other_key = &key, .hold = BLOOMFILE_REMOTE};
    struct errinfo info;
    char path[TEMPDIR_PATH];
    (void)snprintf(path, sizeof(path), "%s/filter", t->path);
    assert_int_equal(bloomfile_write(f, path, &info), ERR_OK);
    assert_int_equal(bloomfile_open(ret, path, &want, &info), ERR_OK);
}

static void test_bloomfile_open__remote__named_by_its_lines_and_keys(void **state)
{
    struct tempdir *t = *state;
    struct bloomfile f;
    struct bloomfile first;
    struct bloomfile later;
    fill(&f, BLOOM_ONE_LINE);
    write_open(t, &f, &first);
    f.facts.generation = 9; /* another server's is the same */
    f.facts.entries = 12;
    write_open(t, &f, &later);
    assert_memory_equal(first.id, later.id, BLOOMFILE_ID_BYTES);
    bloomfile_close(&later);
    f.facts.digest_key = 9;
    write_open(t, &f, &later);
    assert_memory_not_equal(first.id, later.id, BLOOMFILE_ID_BYTES);
    bloomfile_close(&later);
    f.facts.digest_key = key.id;
    f.bloom.words[LINES * 8 - 1] ^= 1;
    write_open(t, &f, &later);
    assert_memory_not_equal(first.id, later.id, BLOOMFILE_ID_BYTES);
    bloomfile_close(&later);
    bloomfile_close(&first);
    bloomfile_close(&f);
}

static void test_bloomfile_block_read__of_the_file__verified(void **state)
{
    struct tempdir *t = *state;
    struct bloomfile f;
    struct bloomfile r;
    static char block[BLOOMFILE_BLOCK_BYTES];
    char path[TEMPDIR_PATH];
    size_t n = 0;
    uint64_t bad = 0;
    fill(&f, BLOOM_ONE_LINE);
    write_open(t, &f, &r);
    assert_int_equal(bloomfile_blocks(&r), 3);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(bloomfile_block_read(&r, i, true, block, &n), ERR_OK);
        assert_int_equal(n, i < 2 ? BLOOMFILE_BLOCK_BYTES
                                  : (LINES - 2 * BLOCK_LINES) * 64);
        assert_memory_equal(block, (char *)f.bloom.words + i * BLOOMFILE_BLOCK_BYTES,
                            n);
        enum err e =
            bloomfile_block_read(&r, i, false, block, &n); /* it was just read */
        assert_true(e == ERR_OK || e == ERR_TIMEOUT);
    }
    assert_int_equal(bloomfile_block_read(&r, 3, true, block, &n), ERR_CORRUPT);
    assert_int_equal(bloomfile_scrub(&r, 0, 3, &bad), ERR_OK);
    (void)snprintf(path, sizeof(path), "%s/filter", t->path);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 4096 + BLOOMFILE_BLOCK_BYTES), 1);
    assert_int_equal(bloomfile_block_read(&r, 1, true, block, &n), ERR_CORRUPT);
    assert_int_not_equal(bloomfile_block_read(&r, 1, false, block, &n), ERR_OK);
    assert_int_equal(bloomfile_block_read(&r, 0, true, block, &n), ERR_OK);
    assert_int_equal(bloomfile_scrub(&r, 0, 3, &bad), ERR_CORRUPT);
    assert_int_equal(bad, 1);
    assert_int_equal(ftruncate(fd, 4096 + BLOOMFILE_BLOCK_BYTES), 0);
    assert_int_not_equal(bloomfile_block_read(&r, 2, true, block, &n), ERR_OK);
    assert_int_not_equal(bloomfile_block_read(&r, 2, false, block, &n), ERR_OK);
    assert_int_equal(close(fd), 0);
    bloomfile_close(&r);
    bloomfile_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom_line_has__lines_one_by_one__as_bloom_test),
        cmocka_unit_test(test_line_unseal__anything_but_that_line__refused),
        cmocka_unit_test_setup_teardown(
            test_bloomfile_open__remote__named_by_its_lines_and_keys, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_bloomfile_block_read__of_the_file__verified, tempdir_setup,
            tempdir_teardown),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
