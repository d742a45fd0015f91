/*
 * text_test - helpers of the tests of core/message/text: an arena per test, comparing slices.
 */
#ifndef TESTS_UNIT_TEXT_TEXT_TEST_H
#define TESTS_UNIT_TEXT_TEXT_TEST_H

#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/slice.h"

#include "tests/unit/unit.h"

/* SLICE_LIT for static tables, where ISO C wants no compound literal */
#define LIT(literal)                    \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }

enum { TEST_ARENA = 64 << 20 };

static inline int setup_arena(void **state)
{
    *state = arena_new(TEST_ARENA);
    return *state == NULL ? -1 : 0;
}

static inline int teardown_arena(void **state)
{
    struct arena *arena = *state;

    arena_free(&arena);
    return 0;
}

/* Fails with both texts when they differ; `what` is the name of the case. */
static inline void check_text(const char *what, struct slice got, struct slice want)
{
    if (!slice_eq(got, want)) {
        fail_msg("%s: got \"%.*s\" (%zu), want \"%.*s\" (%zu)", what, (int)got.n,
                 got.n > 0 ? got.p : "", got.n, (int)want.n, want.n > 0 ? want.p : "",
                 want.n);
    }
}

static inline void put_at(char *dst, size_t at, struct slice s)
{
    memcpy(dst + at, s.p, s.n);
}

/* count copies of unit, on the heap, at its exact size so that ASan sees the end. */
static inline struct slice repeat(const char *unit, size_t count)
{
    size_t n = strlen(unit);
    char *p = malloc(n * count);
    size_t i = 0;

    assert_non_null(p);
    for (i = 0; i < count; i++) {
        put_at(p, i * n, slice_of(unit, n));
    }
    return slice_of(p, n * count);
}

static inline void repeat_free(struct slice s)
{
    union {
        const char *in;
        void *out;
    } p = {.in = s.p};

    free(p.out);
}

#define ARENA_TEST(test) \
    cmocka_unit_test_setup_teardown(test, setup_arena, teardown_arena)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
