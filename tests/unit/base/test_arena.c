/*
 * test_arena - the cap to the byte, zeroes, alignment, and reuse.
 */
#include "core/base/arena.h"

#include "tests/unit/unit.h"

static void test_alloc__around_the_cap__is_exact(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        bool fits;
    } rows[] = {{999, true}, {1000, true}, {1001, false}, {SIZE_MAX, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena *a = arena_new(1000);
        assert_int_equal(arena_alloc(a, rows[i].size) != NULL, rows[i].fits);
        assert_int_equal(arena_is_full(a), !rows[i].fits);
        arena_free(&a);
        assert_null(a);
    }
    struct arena *none = NULL;
    arena_free(&none);
}

static void test_bytes__one_by_one__reach_the_cap_and_no_more(void **state)
{
    (void)state;
    struct arena *a = arena_new(100000); /* several chunks */
    for (int i = 0; i < 100000; i++) {
        char *p = arena_bytes(a, 1);
        assert_non_null(p);
        *p = 'x';
    }
    assert_int_equal(arena_used(a), 100000);
    assert_false(arena_is_full(a));
    assert_null(arena_bytes(a, 1));
    assert_true(arena_is_full(a));
    arena_free(&a);
}

static void test_full__smaller_requests_after__are_refused_too(void **state)
{
    (void)state;
    struct arena *a = arena_new(100);
    assert_null(arena_bytes(a, 101));
    assert_null(arena_bytes(a, 1));
    arena_reset(a);
    assert_false(arena_is_full(a));
    assert_non_null(arena_bytes(a, 100));
    arena_free(&a);
}

static void test_alloc__after_odd_bytes__is_aligned_and_zero(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 1; i < 200; i++) {
            memset(arena_bytes(a, i), 0xff, i);
            unsigned char *p = arena_alloc(a, i);
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            for (size_t k = 0; k < i; k++) {
                assert_int_equal(p[k], 0);
            }
            memset(p, 0xff, i);
        }
        arena_reset(a); /* the second round gets used memory again */
        assert_int_equal(arena_used(a), 0);
    }
    arena_free(&a);
}

static void test_alloc__sizes_around_a_chunk__do_not_overlap(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    enum { N = 400 };
    unsigned char *p[N];
    size_t size[N];
    for (size_t i = 0; i < N; i++) {
        size[i] = (i * 7919) % 40000;
        p[i] = arena_alloc(a, size[i]);
        assert_non_null(p[i]);
        if (size[i]) {
            memset(p[i], (int)(i % 251), size[i]);
        }
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < size[i]; k++) {
            assert_int_equal(p[i][k], i % 251);
        }
    }
    arena_reset(a);
    assert_non_null(arena_alloc(a, 3 << 20));
    arena_reset(a);
    assert_non_null(arena_alloc(a, 1));
    arena_free(&a);
}

static void test_array__overflow__is_refused(void **state)
{
    (void)state;
    struct arena *a = arena_new(SIZE_MAX);
    assert_null(arena_array(a, SIZE_MAX / 2, 4));
    assert_true(arena_is_full(a));
    arena_reset(a);
    assert_non_null(arena_array(a, 3, 8));
    assert_int_equal(arena_used(a), 24);
    arena_free(&a);
}

static void test_size_0__even_without_room__is_valid(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    assert_non_null(arena_alloc(a, 0));
    assert_non_null(arena_array(a, 0, 8));
    assert_false(arena_is_full(a));
    assert_null(arena_alloc(a, 1));
    arena_free(&a);
}

static void test_copy__text__gets_a_nul(void **state)
{
    (void)state;
    struct arena *a = arena_new(8);
    struct slice s = arena_copy(a, SLICE_LIT("a\0bc"));
    assert_int_equal(s.n, 4);
    assert_memory_equal(s.p, "a\0bc", 5);
    struct slice empty = arena_copy(a, SLICE_NONE);
    assert_non_null(empty.p);
    assert_int_equal(empty.n, 0);
    assert_null(arena_copy(a, SLICE_LIT("abc")).p); /* needs 4 of the 2 left */
    assert_true(arena_is_full(a));
    arena_free(&a);
}

/* Small and large blocks, in one chunk and in many; memory before the mark is unchanged. */
static void test_rewind__after_any_allocations__as_before(void **state)
{
    static const size_t sizes[] = {1, 100, 5000, 20000, 300000, 1000000};
    const size_t n = sizeof(sizes) / sizeof(sizes[0]);
    (void)state;
    for (size_t i = 0; i < n * n * n; i++) {
        struct arena *a = arena_new(64 << 20);
        char *before = i % 2 == 0 ? arena_bytes(a, sizes[i % n]) : NULL;
        if (before != NULL) {
            memset(before, 'b', sizes[i % n]);
        }
        struct arena_mark mark = arena_mark(a);
        size_t used = arena_used(a);
        for (int round = 0; round < 3; round++) {
            memset(arena_bytes(a, sizes[i / n % n]), 'x', sizes[i / n % n]);
            memset(arena_bytes(a, sizes[i / n / n]), 'y', sizes[i / n / n]);
            arena_rewind(a, &mark);
            assert_int_equal(arena_used(a), used);
        }
        for (size_t k = 0; before != NULL && k < sizes[i % n]; k++) {
            assert_int_equal(before[k], 'b');
        }
        assert_false(arena_is_full(a));
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc__around_the_cap__is_exact),
        cmocka_unit_test(test_bytes__one_by_one__reach_the_cap_and_no_more),
        cmocka_unit_test(test_full__smaller_requests_after__are_refused_too),
        cmocka_unit_test(test_alloc__after_odd_bytes__is_aligned_and_zero),
        cmocka_unit_test(test_alloc__sizes_around_a_chunk__do_not_overlap),
        cmocka_unit_test(test_array__overflow__is_refused),
        cmocka_unit_test(test_size_0__even_without_room__is_valid),
        cmocka_unit_test(test_copy__text__gets_a_nul),
        cmocka_unit_test(test_rewind__after_any_allocations__as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
