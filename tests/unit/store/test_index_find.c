/* test_index_find - a walk that goes to a digest finds what index_get finds, wherever it was
 * before. */
#include "core/base/base.h"
#include "core/store/index.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

/* Digest number i of an ascending row. */
static struct digest digest_of(uint64_t i)
{
    struct digest d = {{0}};
    i *= UINT64_C(1000003);
    for (unsigned k = 0; k < 8; k++) {
        d.b[k] = (uint8_t)(i >> (56 - 8 * k));
    }
    d.b[15] = (uint8_t)i;
    return d;
}

static void build(const char *path, uint64_t n, struct index **ret)
{
    struct index_builder *b = NULL;
    assert_int_equal(index_builder_new(path, n, &b, NULL), ERR_OK);
    for (uint64_t i = 0; i < n; i++) {
        struct digest d = digest_of(i);
        struct index_record r = {.segment = (uint32_t)i, .status = 1};
        assert_int_equal(index_builder_add(b, &d, &r, NULL), ERR_OK);
    }
    assert_int_equal(index_builder_commit(&b, NULL), ERR_OK);
    assert_int_equal(index_open(path, ret, NULL), ERR_OK);
}

/* Digest i by a walk, and a missing one beside it. */
static void find_both(struct index_walk *w, uint64_t i)
{
    struct index_record r;
    struct digest d = digest_of(i);
    assert_int_equal(index_walk_find(w, &d, &r), ERR_OK);
    assert_int_equal(r.segment, i);
    d.b[14] ^= 1;
    assert_int_equal(index_walk_find(w, &d, &r), ERR_NOT_FOUND);
}

static void test_find__any_order__is_as_get(void **state)
{
    struct tempdir *t = *state;
    static const uint64_t sizes[] = {0, 1, 50, 20000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct index *ix = NULL;
        struct index_walk *w = NULL;
        struct index_record r;
        struct digest d;
        enum err e = ERR_OK;
        const uint64_t n = sizes[k];
        build(tempdir_file(t, "ix"), n, &ix);
        assert_int_equal(index_walk_new(ix, &w), ERR_OK);
        d = digest_of(n);
        assert_int_equal(index_walk_find(w, &d, &r), ERR_NOT_FOUND);
        for (uint64_t i = 0; i < n; i++) { /* rising, page after page */
            find_both(w, i);
        }
        for (uint64_t i = n; i > 0; i -= i < 7 ? i : 7) { /* falling */
            find_both(w, i - 1);
        }
        for (uint64_t i = 0; i < n; i += 997) { /* far apart, and the walk goes on */
            d = digest_of(i);
            assert_int_equal(index_walk_find(w, &d, &r), ERR_OK);
            assert_int_equal(index_walk_next(w, &d, &r, &e), i + 1 < n);
            assert_true(i + 1 >= n || r.segment == i + 1);
        }
        index_walk_free(&w);
        index_close(&ix);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_find__any_order__is_as_get, tempdir_setup,
                                        tempdir_teardown),
    };
    return base_init() != ERR_OK ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
