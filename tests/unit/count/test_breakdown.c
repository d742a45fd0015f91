/* test_breakdown - limits of the counts of peers: caps, quorum, liars. */
#include "core/count/breakdown.h"

#include "tests/unit/unit.h"

enum { PEERS_MAX = 30 };

/* A key that we counted `own` times, and peers as often as `peers` says; a -1 ends these. */
static void make_ring(struct count_breakdown *s, uint64_t own, const int64_t *peers,
                      uint64_t cap, unsigned quorum)
{
    struct origin_row rows[PEERS_MAX];
    struct origins o = {.self = {255}, .quorum = quorum, .v = rows, .n = 0};

    for (unsigned i = 0; i < PEERS_MAX && peers[i] >= 0; i++) {
        rows[o.n++] = (struct origin_row){
            .origin = {(uint8_t)(i + 1)}, .cap = cap, .state = ORIGIN_ACTIVE};
    }
    assert_true(count_breakdown_init(s, 1000));
    assert_true(count_breakdown_set_origins(s, &o));
    s->v[0].history.bucket[0] = own;
    s->v[0].history.day[0] = own;
    for (unsigned i = 0; i < o.n; i++) {
        if (peers[i] > 0) {
            struct count_part *share = count_breakdown_of(s, rows[i].origin);
            assert_non_null(share);
            share->history.bucket[3] = (uint64_t)peers[i];
            share->history.day[0] = (uint64_t)peers[i];
        }
    }
    count_breakdown_end(s);
}

static void make(struct count_breakdown *s, uint64_t own, const int64_t *peers,
                 uint64_t cap)
{
    make_ring(s, own, peers, cap, 2);
}

static void test_bounded__when_they_are_one_owners__then_all_add_up(void **state)
{
    static const struct {
        int64_t peers[9];
        uint64_t cap;    /* of the configuration */
        unsigned quorum; /* likewise */
        uint64_t want;
    } cases[] = {
        {{10, -1}, 0, 0, 25},
        {{10, 0, -1}, 0, 0, 25},
        {{1000, 1, 1, 1, 1, 1, 1, -1}, 0, 0, 1021}, /* no liars among them */
        {{10, -1}, 4, 0, 19},                       /* stricter */
        {{10, -1}, 0, 2, 15},
        {{10, 10, -1}, 0, 2, 35},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct count_breakdown s;
        make_ring(&s, 15, cases[i].peers, ORIGIN_NO_CAP, 0);
        count_breakdown_limit(&s, cases[i].cap, cases[i].quorum, UINT64_MAX);
        assert_int_equal(count_breakdown_bounded(&s, 2), cases[i].want);
        count_breakdown_fini(&s);
    }
}

static void test_bounded__by_what_peers_say__cap_quorum_and_liars(void **state)
{
    static const struct {
        uint64_t own;
        uint64_t want;
        int64_t peers[12];
    } cases[] = {
        {5, 5, {-1}},              /* no ring */
        {5, 5, {0, 0, -1}},        /* nobody saw it */
        {5, 5, {3, 0, -1}},        /* one: below the quorum */
        {5, 11, {3, 3, -1}},       /* two of two: all count */
        {5, 16, {1, 1000000, -1}}, /* the cap */
        {5, 8, {3, 3, 0, -1}},     /* of three one may lie */
        {5, 5, {3, 0, 0, -1}},
        {5, 8, {1, 2, 1000000, -1}},
        {1, 6, {1, 1, 1, 1, 1, 1, 1, 1, -1}},       /* of eight, three */
        {1, 2, {999, 999, 999, 1, 0, 0, 0, 0, -1}}, /* three liars */
        {1, 1, {999, 999, 999, 0, 0, 0, 0, 0, -1}},
        {1, 11, {999, 999, 999, 999, 0, 0, 0, 0, -1}}, /* four */
        {0, 0, {0, 0, 0, 0, 0, 0, 0, 0, -1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct count_breakdown s;
        make(&s, cases[i].own, cases[i].peers, 10);
        assert_int_equal(count_breakdown_bounded(&s, 2), cases[i].want);
        assert_int_equal(count_breakdown_bounded(&s, 0), cases[i].own);
        count_breakdown_fini(&s);
    }
}

/* Thirty servers that each saw one copy. */
static void test_bounded__when_a_mailing_is_spread__then_it_is_bulk(void **state)
{
    int64_t peers[PEERS_MAX];
    struct count_breakdown s;
    (void)state;
    for (unsigned i = 0; i < PEERS_MAX; i++) {
        peers[i] = i < PEERS_MAX - 1 ? 1 : -1;
    }
    make(&s, 1, peers, 10);
    assert_int_equal(count_breakdown_sum(&s, 3), 30);
    assert_int_equal(count_breakdown_bounded(&s, 3), 27);
    count_breakdown_fini(&s);
}

/* Three liars of eight peers never raise a count above that of the honest servers. */
static void test_bounded__when_three_of_eight_lie__then_never_above_the_truth(
    void **state)
{
    (void)state;
    srand48(7);
    for (unsigned round = 0; round < 20000; round++) {
        int64_t peers[9];
        struct count_breakdown s;
        uint64_t own = (uint64_t)(lrand48() % 20);
        uint64_t honest = own;
        for (unsigned i = 0; i < 8; i++) {
            bool lies = i < 3;
            peers[i] =
                lies ? lrand48() % 3 == 0 ? 0 : lrand48() % 1000 : lrand48() % 15;
            honest += lies ? 0 : (uint64_t)(peers[i] < 10 ? peers[i] : 10);
        }
        peers[8] = -1;
        make(&s, own, peers, 10);
        uint64_t bounded = count_breakdown_bounded(&s, 2);
        if (bounded > honest || bounded < own) {
            fail_msg("round %u: %lu, not between %lu and %lu", round,
                     (unsigned long)bounded, (unsigned long)own, (unsigned long)honest);
        }
        count_breakdown_fini(&s);
    }
}

static void test_limit__by_the_configuration__only_ever_less(void **state)
{
    static const int64_t peers[] = {9, 9, -1};
    static const struct {
        uint64_t cap;
        unsigned quorum;
        uint64_t want;
    } cases[] = {{0, 0, 18}, {4, 0, 8}, {100, 0, 18}, {0, 1, 18}, {0, 3, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct count_breakdown s;
        make(&s, 0, peers, 10);
        count_breakdown_limit(&s, cases[i].cap, cases[i].quorum, UINT64_MAX);
        assert_int_equal(count_breakdown_bounded(&s, 3), cases[i].want);
        assert_int_equal(count_breakdown_sum(&s, 3), 18);
        count_breakdown_fini(&s);
    }
}

/* Strangers, dropped members and this server have no share; a member without a cap adds no count
 * and is no peer of the quorum. */
static void test_shares__who_has_no_say__has_none(void **state)
{
    struct origin_row rows[] = {
        {.origin = {1}, .name = "self", .cap = 10, .state = ORIGIN_ACTIVE},
        {.origin = {2}, .name = "dropped", .cap = 10, .state = ORIGIN_DROPPED},
        {.origin = {3}, .name = "distrusted", .cap = 10, .state = ORIGIN_DISTRUSTED},
        {.origin = {4}, .name = "left", .cap = 10, .state = ORIGIN_LEFT},
        {.origin = {5}, .name = "list", .cap = 0, .state = ORIGIN_ACTIVE},
        {.origin = {6}, .name = "b", .cap = UINT64_MAX, .state = ORIGIN_ACTIVE},
    };
    const struct origins o = {.self = {1}, .quorum = 1, .v = rows, .n = 6};
    const uint8_t nobody[ORIGIN_BYTES] = {9};
    struct count_breakdown s;
    (void)state;
    assert_true(count_breakdown_init(&s, 1000));
    assert_true(count_breakdown_set_origins(&s, &o));
    assert_null(count_breakdown_of(&s, nobody));
    for (unsigned i = 0; i < 3; i++) {
        assert_null(count_breakdown_of(&s, rows[i].origin));
    }
    for (unsigned i = 3; i < 6; i++) {
        struct count_part *share = count_breakdown_of(&s, rows[i].origin);
        assert_non_null(share);
        assert_ptr_equal(share, count_breakdown_of(&s, rows[i].origin));
        share->history.day[0] = UINT64_MAX - 3;
    }
    count_breakdown_end(&s);
    assert_int_equal(count_breakdown_bounded(&s, 3), UINT64_MAX - 3 + 3);
    assert_true(count_breakdown_sum(&s, 3) == UINT64_MAX);
    assert_true(count_breakdown_all(&s, 3) == UINT64_MAX);
    count_breakdown_fini(&s);
    count_breakdown_fini(&s);
    assert_int_equal(count_breakdown_bounded(&s, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded__by_what_peers_say__cap_quorum_and_liars),
        cmocka_unit_test(test_bounded__when_they_are_one_owners__then_all_add_up),
        cmocka_unit_test(test_bounded__when_a_mailing_is_spread__then_it_is_bulk),
        cmocka_unit_test(
            test_bounded__when_three_of_eight_lie__then_never_above_the_truth),
        cmocka_unit_test(test_limit__by_the_configuration__only_ever_less),
        cmocka_unit_test(test_shares__who_has_no_say__has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
