/*
 * test_member - the truth table, the same answers in either order, and the choice of the order.
 */
#include <pthread.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/list/member.h"

#include "tests/unit/unit.h"

static const struct hashkey ring = {.id = 5, .bytes = "0123456789abcde"};

enum { SPAM = 3000, REVOKED_FROM = 2000, REVOKED_TO = 4000, FOREIGN = 20000 };

static struct digest digest_number(uint64_t n)
{
    struct digest d;
    digest_make(&ring, 100, slice_of((const char *)&n, sizeof(n)), &d);
    return d;
}

static void fill(struct bloomfile *f, enum bloom_layout layout, uint64_t first,
                 uint64_t end)
{
    struct errinfo info;
    uint64_t nlines = 0;
    unsigned k = 0;
    assert_int_equal(bloom_size(layout, 5000, 0.001, &nlines, &k), ERR_OK);
    assert_int_equal(bloomfile_new(f, layout, nlines, k, &ring, &info), ERR_OK);
    for (uint64_t i = first; i < end; i++) {
        struct digest d = digest_number(i);
        bloom_add(&f->bloom, &d);
    }
}

/* In spam: 0..3000, taken back: 2000..4000. */
static struct member *member_new(enum bloom_layout layout)
{
    struct member *m = calloc(1, sizeof(*m));
    assert_non_null(m);
    fill(&m->spam, layout, 0, SPAM);
    fill(&m->revoked, layout, REVOKED_FROM, REVOKED_TO);
    m->has_revoked = true;
    m->users = 1;
    return m;
}

static void test_answer__truth_table(void **state)
{
    (void)state;
    for (unsigned layout = BLOOM_ONE_LINE; layout <= BLOOM_PARTITIONED; layout++) {
        struct member *m = member_new((enum bloom_layout)layout);
        unsigned odd = 0;
        for (uint64_t i = 0; i < FOREIGN; i++) {
            struct digest d = digest_number(i);
            enum member_answer a = member_answer(m, &d);
            if (i >= REVOKED_FROM && i < SPAM) {
                assert_int_equal(a, MEMBER_REVOKED);
            } else if (i < SPAM) {
                assert_int_not_equal(a, MEMBER_NO);
                odd += a != MEMBER_POSSIBLE; /* a false yes of revoked hides it */
            } else {
                odd += a != MEMBER_NO; /* whatever revoked says alone */
            }
        }
        assert_true(odd <= FOREIGN * 0.003);
        m->has_revoked = false;
        struct digest d = digest_number(REVOKED_FROM);
        assert_int_equal(member_answer(m, &d), MEMBER_POSSIBLE);
        member_release(&m);
    }
}

static void ask_all(struct member *m, size_t batch, uint8_t *rethit)
{
    static struct digest d[FOREIGN];
    for (uint64_t i = 0; i < FOREIGN; i++) {
        d[i] = digest_number(i);
    }
    memset(rethit, 0, FOREIGN);
    for (size_t i = 0; i < FOREIGN; i += batch) {
        size_t n = FOREIGN - i < batch ? FOREIGN - i : batch;
        member_test_batch(m, d + i, n, rethit + i);
    }
}

static void test_batch__either_order_or_sampled__the_answers_of_one_by_one(void **state)
{
    static uint8_t hit[FOREIGN];
    static const size_t batches[] = {1, 7, 128, 129, FOREIGN};
    (void)state;
    struct member *m = member_new(BLOOM_ONE_LINE);
    for (unsigned order = 0; order < 3; order++) {
        m->is_order_fixed = order < 2;
        atomic_store(&m->order, order < 2 ? order : 0);
        for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++) {
            ask_all(m, batches[b], hit);
            for (uint64_t i = 0; i < FOREIGN; i++) {
                struct digest d = digest_number(i);
                assert_int_equal(hit[i], member_answer(m, &d) == MEMBER_POSSIBLE);
            }
        }
    }
    /* what another filter found stays found */
    uint8_t already[2] = {1, 1};
    struct digest d[2] = {digest_number(0), digest_number(FOREIGN)};
    member_test_batch(m, d, 2, already);
    assert_int_equal(already[0] + already[1], 2);
    member_release(&m);
}

static void test_order_best__by_rates_and_sizes(void **state)
{
    enum { SMALL = 1 << 16, LARGE = 1 << 28 };
    static const struct {
        struct member_rates rates;
        enum member_order best;
    } rows[] = {
        {{0, 0, 0, LARGE, LARGE}, MEMBER_SPAM_FIRST},
        /* mostly clean mail: nearly all end in the spam filter */
        {{100000, 100, 100, LARGE, LARGE}, MEMBER_SPAM_FIRST},
        {{100000, 5000, 100, LARGE, SMALL}, MEMBER_SPAM_FIRST},
        /* nearly all in spam, half of it taken back: asking revoked first saves half */
        {{100000, 95000, 50000, LARGE, LARGE}, MEMBER_REVOKED_FIRST},
        {{100000, 95000, 100, LARGE, LARGE}, MEMBER_SPAM_FIRST},
        /* a small revoked filter costs little: worth it from an eighth */
        {{100000, 50000, 12000, LARGE, SMALL}, MEMBER_REVOKED_FIRST},
        {{100000, 50000, 5000, LARGE, SMALL}, MEMBER_SPAM_FIRST},
        /* a small spam filter is always asked first */
        {{100000, 50000, 40000, SMALL, LARGE}, MEMBER_SPAM_FIRST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (member_order_best(&rows[i].rates) != rows[i].best) {
            fail_msg("row %zu", i);
        }
    }
}

/* The mix of what is asked turns: mail of which all was listed and taken back, then clean. */
static void test_batch__a_skewed_mix__changes_the_order_and_back(void **state)
{
    (void)state;
    struct member *m = member_new(BLOOM_ONE_LINE);
    uint8_t hit[128] = {0};
    struct digest d[128];
    for (unsigned i = 0; i < 128; i++) {
        d[i] = digest_number(REVOKED_FROM + i);
    }
    for (unsigned i = 0; i < 128 * MEMBER_SAMPLE_EVERY; i++) {
        member_test_batch(m, d, 128, hit);
    }
    assert_int_equal(atomic_load(&m->order), MEMBER_REVOKED_FIRST);
    for (unsigned i = 0; i < 128; i++) {
        d[i] = digest_number(FOREIGN + i);
    }
    for (unsigned i = 0; i < 3 * 128 * MEMBER_SAMPLE_EVERY; i++) {
        member_test_batch(m, d, 128, hit);
    }
    assert_int_equal(atomic_load(&m->order), MEMBER_SPAM_FIRST);
    member_release(&m);
}

static void *ask_again_and_again(void *arg)
{
    struct member *m = arg;
    for (unsigned round = 0; round < 400; round++) {
        uint8_t hit[100] = {0};
        struct digest d[100];
        for (unsigned i = 0; i < 100; i++) {
            d[i] = digest_number(REVOKED_FROM - 50 + i);
        }
        member_test_batch(m, d, 100, hit);
        for (unsigned i = 0; i < 100; i++) {
            if (hit[i] != (member_answer(m, &d[i]) == MEMBER_POSSIBLE)) {
                return m;
            }
        }
    }
    return NULL;
}

static void test_batch__many_threads__same_answers(void **state)
{
    (void)state;
    struct member *m = member_new(BLOOM_TWO_LINES);
    pthread_t thread[4];
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, ask_again_and_again, m), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    member_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer__truth_table),
        cmocka_unit_test(
            test_batch__either_order_or_sampled__the_answers_of_one_by_one),
        cmocka_unit_test(test_order_best__by_rates_and_sizes),
        cmocka_unit_test(test_batch__a_skewed_mix__changes_the_order_and_back),
        cmocka_unit_test(test_batch__many_threads__same_answers),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
