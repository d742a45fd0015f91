/*
 * test_steps - a list set digest by digest holds exactly what was said, through merges, closings,
 * expiries and repetitions.
 */
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/list/mirror.h"
#include "core/list/reader.h"

#include "tests/unit/list/list_fixture.h"

enum { DIGESTS = 30000, EPOCH_S = 1800000000 };

struct model {
    struct fixture *f;
    struct list_writer *w;
    uint64_t seed;
    struct mirror_entry state[DIGESTS]; /* in order of digest */
    struct mirror_entry step[DIGESTS];
    size_t n;
    size_t at;
};

static uint64_t next_random(struct model *m)
{
    uint64_t z = m->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void open_list(struct model *m)
{
    MUST(m->f, mirror_open(m->f->state, SLICE_LIT("theirs"), &m->f->keys,
                           m->f->keys.ring[0].id, &m->w, &m->f->info));
}

static int setup(void **state)
{
    struct model *m = calloc(1, sizeof(*m));
    void *f = NULL;
    fixture_setup(&f);
    m->f = f;
    random_bytes(&m->seed, sizeof(m->seed));
    print_message("seed %llu\n", (unsigned long long)m->seed);
    for (size_t i = 0; i < DIGESTS; i++) {
        uint64_t half = (uint64_t)i * 7919;
        for (unsigned b = 0; b < 8; b++) { /* rising */
            m->state[i].digest.b[b] = (uint8_t)(half >> (56 - 8 * b));
        }
    }
    open_list(m);
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct model *m = *state;
    void *f = m->f;
    list_writer_close(&m->w);
    fixture_teardown(&f);
    free(m);
    return 0;
}

static bool give(void *context, struct mirror_entry *ret)
{
    struct model *m = context;
    if (m->at == m->n) {
        return false;
    }
    *ret = m->step[m->at++];
    return true;
}

static void apply(struct model *m)
{
    m->at = 0;
    MUST(m->f, mirror_apply(m->w, give, m, m->n, SLICE_LIT("peer:a"), &m->f->info));
    for (size_t i = 0, k = 0; i < m->n; k++) {
        if (digest_cmp(&m->state[k].digest, &m->step[i].digest) == 0) {
            m->state[k] = m->step[i++];
        }
    }
}

static void choose(struct model *m, size_t n)
{
    size_t every = DIGESTS / n;
    m->n = 0;
    for (size_t i = next_random(m) % every; i < DIGESTS; i += every) {
        struct mirror_entry *s = &m->step[m->n++];
        *s = (struct mirror_entry){.digest = m->state[i].digest};
        s->status = (uint8_t)(next_random(m) % 3);
        s->class_type = (uint16_t)(1 + next_random(m) % 9);
        s->expiry_s =
            next_random(m) % 2 ? 0 : 3600 * (uint32_t)(1 + next_random(m) % 9);
    }
}

static void compare(struct model *m)
{
    struct mirror_iter *walk = NULL;
    struct mirror_entry got;
    enum err e = ERR_OK;
    uint64_t n = 0;
    MUST(m->f, mirror_iter_new(m->w, &walk, &m->f->info));
    for (size_t i = 0; i < DIGESTS; i++) {
        const struct mirror_entry *want = &m->state[i];
        struct mirror_entry one = {.digest = want->digest};
        if (i % 97 == 0) {
            MUST(m->f, mirror_get(m->w, &one, &m->f->info));
            assert_int_equal(one.status, want->status);
        }
        if (want->status == 0) {
            continue;
        }
        n++;
        assert_true(mirror_iter_next(walk, &got, &e));
        assert_int_equal(digest_cmp(&got.digest, &want->digest), 0);
        assert_int_equal(got.status, want->status);
        assert_int_equal(got.class_type, want->class_type);
        assert_int_equal(got.expiry_s, want->expiry_s);
    }
    assert_false(mirror_iter_next(walk, &got, &e));
    assert_int_equal(e, ERR_OK);
    assert_int_equal(mirror_count(m->w), n);
    mirror_iter_free(&walk);
    struct mirror_lookup *look = NULL;
    MUST(m->f, mirror_lookup_new(m->w, &look, &m->f->info));
    for (size_t i = 0; i < DIGESTS; i++) {
        const struct mirror_entry *want = &m->state[i];
        struct mirror_entry one = {.digest = want->digest, .status = 77};
        MUST(m->f, mirror_lookup_get(look, &one, &m->f->info));
        assert_int_equal(one.status, want->status);
        if (want->status != 0) {
            assert_int_equal(one.class_type, want->class_type);
            assert_int_equal(one.expiry_s, want->expiry_s);
        }
    }
    mirror_lookup_free(&look);
}

static void test_steps__when_any_are_taken__then_the_list_is_what_was_said(void **state)
{
    struct model *m = *state;
    static const size_t sizes[] = {15000, 100, 7000, 10000, 60, 7500, 7500, 15000, 3};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        choose(m, sizes[i]);
        apply(m);
        compare(m);
        apply(m); /* once more: nothing changes */
        compare(m);
        list_writer_close(&m->w);
        open_list(m);
        compare(m);
    }
}

static void test_blank__when_anything_was_ever_said__then_it_is_not(void **state)
{
    struct model *m = *state;
    assert_true(mirror_is_empty(m->w));
    m->n = 1;
    m->step[0] = (struct mirror_entry){.digest = m->state[0].digest, .status = 1};
    apply(m);
    assert_false(mirror_is_empty(m->w));
    m->step[0].status = 0;
    apply(m); /* taken out again: a record says so */
    assert_false(mirror_is_empty(m->w));
    list_writer_close(&m->w);
    open_list(m);
    assert_false(mirror_is_empty(m->w));
    choose(m, 15000);
    apply(m);
    assert_false(mirror_is_empty(m->w));
}

static void test_steps__when_all_are_taken_out__then_nothing_is_left(void **state)
{
    struct model *m = *state;
    for (unsigned round = 0; round < 2; round++) {
        choose(m, DIGESTS / 2);
        apply(m);
        choose(m, DIGESTS);
        for (size_t i = 0; i < m->n; i++) {
            m->step[i].status = 0;
        }
        apply(m);
        compare(m);
        assert_int_equal(mirror_count(m->w), 0);
    }
}

static void test_steps__when_rebuilt_from_the_log__then_they_are_the_same(void **state)
{
    struct model *m = *state;
    choose(m, 15000);
    apply(m);
    choose(m, 90);
    apply(m);
    MUST(m->f, list_rebuild(m->w, NULL, NULL, &m->f->info));
    compare(m);
}

static void test_steps__when_the_order_falls__then_nothing_is_changed(void **state)
{
    struct model *m = *state;
    static const size_t sizes[] = {100, 10000};
    for (size_t i = 0; i < 2; i++) {
        choose(m, sizes[i]);
        m->step[m->n / 2] = m->step[0];
        m->at = 0;
        assert_int_equal(mirror_apply(m->w, give, m, m->n, SLICE_LIT("peer:a"), NULL),
                         ERR_RANGE);
    }
}

static void test_reader__when_an_entry_expired__then_it_is_not_listed(void **state)
{
    struct model *m = *state;
    struct list_reader *r = NULL;
    struct mirror_entry s[3] = {m->state[0], m->state[1], m->state[2]};
    for (unsigned i = 0; i < 3; i++) {
        m->step[i] = s[i];
        m->step[i].class_type = 3;
        m->step[i].status = i == 2 ? ENTRY_REVOKED : ENTRY_LISTED;
        m->step[i].expiry_s = i == 1 ? 0 : 3600;
    }
    m->n = 3;
    apply(m);
    MUST(m->f, list_reader_open(m->f->state, SLICE_LIT("theirs"), &m->f->keys, &r,
                                &m->f->info));
    static const enum list_answer want[2][3] = {
        {LIST_CONFIRMED, LIST_CONFIRMED, LIST_REVOKED},
        {LIST_FALSE_POSITIVE, LIST_CONFIRMED, LIST_REVOKED}};
    for (unsigned late = 0; late < 2; late++) {
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(
                list_reader_confirm(r, &s[i].digest, late ? EPOCH_S : 1800),
                want[late][i]);
        }
    }
    list_reader_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_blank__when_anything_was_ever_said__then_it_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_steps__when_any_are_taken__then_the_list_is_what_was_said, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_steps__when_all_are_taken_out__then_nothing_is_left, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_steps__when_rebuilt_from_the_log__then_they_are_the_same, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_steps__when_the_order_falls__then_nothing_is_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_reader__when_an_entry_expired__then_it_is_not_listed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
