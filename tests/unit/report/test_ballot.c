/*
 * test_ballot - the reporters who decide an item, and the lesson of its end about the voters.
 */
#include <stdio.h>

#include "core/report/ballot.h"

#include "tests/unit/unit.h"

#define DAY   ((uint64_t)86400)
#define START (20000 * DAY)

enum { DAYS = 60, NEWCOMERS = 1000 /* reporters above this are unknown */ };

/* A table in which reporters 1 to n were proved right on DAYS days; the time after. */
static struct trust *people(unsigned n, uint64_t *retnow)
{
    struct trust *t = NULL;
    assert_int_equal(trust_new(TRUST_REPORTERS_MAX, &t), ERR_OK);
    for (unsigned day = 0; day < DAYS; day++) {
        for (unsigned who = 1; who <= n; who++) {
            const struct trust_outcome o = {.reporter = who,
                                            .report = 1 + (uint64_t)day * n + who,
                                            .is_confirmed = true,
                                            .by = TRUST_BY_LIST};
            assert_true(trust_admit(t, who, START + day * DAY));
            trust_learn(t, &o, START + day * DAY);
        }
    }
    *retnow = START + DAYS * DAY;
    return t;
}

/* n votes of reporters from number `first` on. */
static void vote(struct ballot *b, struct trust *t, uint64_t first, unsigned n,
                 bool is_spam, uint64_t now_s)
{
    for (unsigned i = 0; i < n; i++) {
        const struct vote v = {.reporter = first + i,
                               .report = 1000000 + first + i,
                               .time_s = now_s,
                               .is_spam = is_spam};
        assert_true(trust_admit(t, first + i, now_s));
        (void)ballot_put(b, t, &v);
    }
}

static void speak(struct ballot *b, struct trust *t, enum ballot_voice voice,
                  uint64_t number, bool is_spam, uint64_t now_s)
{
    const struct vote v = {.reporter = number,
                           .report = number,
                           .time_s = now_s,
                           .is_spam = is_spam,
                           .voice = (uint8_t)voice};
    assert_true(ballot_put(b, t, &v));
}

static enum standing standing_of(const struct ballot *b, const struct trust *t,
                                 uint64_t copies, uint64_t now_s)
{
    struct tally sum;
    ballot_count(b, t, now_s, &sum);
    return tally_standing(&sum, copies);
}

/* Votes by number of voters, and the standing that follows. */
static void test_tally_standing__by_who_voted(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned known_spam;
        unsigned new_spam;
        unsigned known_ham;
        unsigned new_ham;
        unsigned traps;
        uint64_t copies;
        enum standing is;
    } rows[] = {
        {"nobody", 0, 0, 0, 0, 0, 0, STANDING_OPEN},
        {"one trusted reporter", 1, 0, 0, 0, 0, 0, STANDING_OPEN},
        {"two trusted reporters", 2, 0, 0, 0, 0, 0, STANDING_OPEN},
        {"three trusted reporters", 3, 0, 0, 0, 0, 0, STANDING_SPAM},
        {"three, and enough copies to ask for more", 3, 0, 0, 0, 0, 200, STANDING_OPEN},
        {"newcomers, ever so many", 0, 60, 0, 0, 0, 0, STANDING_OPEN},
        {"one trusted reporter and newcomers", 1, 60, 0, 0, 0, 0, STANDING_OPEN},
        {"a trap alone", 0, 0, 0, 0, 1, 0, STANDING_TRAPPED},
        {"five traps", 0, 0, 0, 0, 5, 0, STANDING_TRAPPED},
        {"traps, newcomers", 0, 50, 0, 0, 5, 0, STANDING_TRAPPED},
        {"a trap, and somebody who wants it", 0, 0, 0, 1, 1, 0, STANDING_OPEN},
        {"a trap, one trusted reporter and newcomers", 1, 50, 0, 0, 1, 0,
         STANDING_TRAPPED},
        {"a trap and two trusted reporters", 2, 0, 0, 0, 1, 0, STANDING_TRAPPED},
        {"a trap and three trusted reporters", 3, 0, 0, 0, 1, 0, STANDING_SPAM},
        {"twenty trusted reporters", 20, 0, 0, 0, 0, 0, STANDING_SPAM},
        {"twenty, one trusted recipient wants it", 20, 0, 1, 0, 0, 0,
         STANDING_DISPUTED},
        {"twenty, a newcomer wants it", 20, 0, 0, 1, 0, 0, STANDING_SPAM},
        {"twenty, three newcomers want it", 20, 0, 0, 3, 0, 0, STANDING_DISPUTED},
        {"four trusted ones, three newcomers want it", 4, 0, 0, 3, 0, 0,
         STANDING_DISPUTED},
        {"newcomers want it", 0, 0, 0, 40, 0, 0, STANDING_OPEN},
        {"trusted recipients want it", 0, 0, 3, 0, 0, 0, STANDING_HAM},
        {"they want it, liars do not", 0, 40, 3, 0, 0, 0, STANDING_HAM},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint64_t now = 0;
        struct trust *t = people(40, &now);
        struct ballot b = {0};
        vote(&b, t, 1, rows[i].known_spam, true, now);
        vote(&b, t, 31, rows[i].known_ham, false, now);
        vote(&b, t, NEWCOMERS, rows[i].new_spam, true, now);
        vote(&b, t, NEWCOMERS + 1000, rows[i].new_ham, false, now);
        for (unsigned k = 0; k < rows[i].traps; k++) {
            speak(&b, t, BALLOT_TRAP, 5000 + k, true, now);
        }
        enum standing is = standing_of(&b, t, rows[i].copies, now);
        if (is != rows[i].is) {
            fail_msg("%s: %s", rows[i].name, standing_name(is));
        }
        ballot_fini(&b);
        trust_free(&t);
    }
}

static void test_tally_standing__the_administrator__decides_alone(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(40, &now);
    struct ballot b = {0};
    vote(&b, t, 1, 30, true, now);
    speak(&b, t, BALLOT_ADMIN, 5000, false, now + 1);
    assert_int_equal(standing_of(&b, t, 0, now + 1), STANDING_HAM);
    speak(&b, t, BALLOT_ADMIN, 5001, true, now + 2); /* another administrator, later */
    assert_int_equal(standing_of(&b, t, 1000000, now + 2), STANDING_SPAM);
    ballot_fini(&b);
    trust_free(&t);
}

static void test_ballot_put__a_second_vote__replaces_the_first(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(4, &now);
    struct ballot b = {0};
    struct tally sum;
    vote(&b, t, 1, 4, true, now);
    vote(&b, t, 1, 4, true, now + 1);
    assert_int_equal(b.n, 4);
    vote(&b, t, 1, 4, false, now + 2);
    ballot_count(&b, t, now, &sum);
    assert_int_equal(sum.nspam, 0);
    assert_int_equal(sum.nham, 4);
    ballot_take(&b, 1000000 + 1);
    assert_int_equal(b.n, 3);
    ballot_take(&b, 1);
    assert_int_equal(b.n, 3);
    ballot_fini(&b);
    trust_free(&t);
}

static void test_ballot_put__full_of_newcomers__makes_room_for_trust(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(4, &now);
    struct ballot b = {0};
    vote(&b, t, NEWCOMERS, 3 * BALLOT_SIDE_MAX, true, now);
    assert_int_equal(b.n, BALLOT_SIDE_MAX);
    vote(&b, t, 1, 4, true, now);
    assert_int_equal(b.n, BALLOT_SIDE_MAX);
    assert_int_equal(standing_of(&b, t, 0, now), STANDING_SPAM);
    vote(&b, t, NEWCOMERS + 1000, 3 * BALLOT_SIDE_MAX, false, now); /* the other side */
    assert_int_equal(b.n, BALLOT_VOTES_MAX);
    assert_int_equal(standing_of(&b, t, 0, now), STANDING_DISPUTED);
    ballot_fini(&b);
    trust_free(&t);
}

/* ---- the end ---- */

static bool ends(const struct ballot *b, const struct trust *t, uint64_t now_s,
                 struct ballot_end *ret)
{
    struct tally sum;
    ballot_count(b, t, now_s, &sum);
    return tally_ends(&sum, 0, now_s, ret);
}

static void test_ballot_settle__majority_of_a_day__teaches_the_newcomers(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(4, &now);
    struct ballot b = {0};
    struct ballot_end end;
    vote(&b, t, 1, 4, true, now);
    vote(&b, t, NEWCOMERS, 1, true, now);
    vote(&b, t, NEWCOMERS + 1, 1, false, now);
    assert_false(ends(&b, t, now + BALLOT_WAIT_S - 1, &end));
    now += BALLOT_WAIT_S;
    assert_true(ends(&b, t, now, &end));
    assert_true(end.is_spam);
    assert_int_equal(end.by, TRUST_BY_MAJORITY);
    ballot_settle(&b, t, &end, now);
    struct trust_numbers n;
    assert_true(trust_look(t, NEWCOMERS, now, &n));
    assert_float_equal(n.agreed, 0.5, 1e-9);
    assert_true(
        trust_look(t, NEWCOMERS + 1, now, &n)); /* who wanted it loses nothing */
    assert_float_equal(n.bad, 0, 1e-9);
    ballot_fini(&b);
    trust_free(&t);
}

static void test_tally_ends__a_trap_has_it__unless_somebody_wants_it(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(4, &now);
    struct ballot b = {0};
    struct ballot_end end;
    struct trust_numbers n;
    vote(&b, t, NEWCOMERS, 1, true, now);
    speak(&b, t, BALLOT_TRAP, 5000, true, now);
    vote(&b, t, NEWCOMERS + 1, 1, true,
         now + 1); /* nobody sees a trap: it gains, too */
    assert_true(ends(&b, t, now + 1, &end));
    assert_true(end.is_spam);
    assert_int_equal(end.by, TRUST_BY_TRAP);
    ballot_settle(&b, t, &end, now + 1);
    assert_true(trust_look(t, NEWCOMERS + 1, now + 1, &n));
    assert_float_equal(n.trapped, 1, 1e-6);
    vote(&b, t, NEWCOMERS + 2, 1, false, now + 2);
    assert_false(ends(&b, t, now + 2, &end));
    ballot_fini(&b);
    trust_free(&t);
}

static void test_ballot_settle__a_majority_that_needs_the_voter__gives_it_nothing(
    void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(3, &now);
    struct ballot b = {0};
    struct ballot_end end;
    vote(&b, t, 1, 3, true, now);
    now += BALLOT_WAIT_S;
    assert_true(ends(&b, t, now, &end));
    ballot_settle(&b, t, &end, now);
    struct trust_numbers n;
    assert_true(trust_look(t, 1, now, &n));
    assert_float_equal(n.agreed, 0, 1e-9);
    ballot_fini(&b);
    trust_free(&t);
}

/* Liars without trust agree with one another for a year. */
static void test_ballot_settle__liars_agree_with_one_another__gain_nothing(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(0, &now);
    for (unsigned day = 0; day < 365; day++, now += DAY) {
        struct ballot b = {0};
        struct ballot_end end;
        for (unsigned i = 0; i < 30; i++) {
            const struct vote v = {.reporter = i + 1,
                                   .report = 1 + day * 30 + i,
                                   .time_s = now,
                                   .is_spam = true};
            assert_true(trust_admit(t, i + 1, now));
            assert_true(ballot_put(&b, t, &v));
        }
        assert_false(ends(&b, t, now + 2 * BALLOT_WAIT_S, &end));
        ballot_fini(&b);
    }
    assert_float_equal(trust_weight(t, 1, now), TRUST_NEW, 1e-9);
    trust_free(&t);
}

static void test_ballot_settle__a_release__costs_the_spam_voters_half(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(40, &now);
    struct ballot b = {0};
    struct ballot_end end;
    struct trust_numbers before;
    struct trust_numbers after;
    vote(&b, t, 1, 12, true, now);
    assert_false(ends(&b, t, now, &end));
    vote(&b, t, 31, 1, false, now + 60);
    assert_true(ends(&b, t, now + 60, &end));
    assert_false(end.is_spam);
    assert_int_equal(end.by, TRUST_BY_RELEASE);
    assert_true(trust_look(t, 1, now + 60, &before));
    assert_true(trust_look(t, 31, now + 60, &after));
    double wanted = after.proved;
    ballot_settle(&b, t, &end, now + 60);
    assert_true(trust_look(t, 1, now + 60, &after));
    assert_float_equal(after.proved, before.proved / 2, 1e-6);
    assert_true(
        trust_look(t, 31, now + 60, &after)); /* a release proves nobody right */
    assert_float_equal(after.proved, wanted, 1e-6);
    ballot_fini(&b);
    trust_free(&t);
}

static void test_ballot_settle__votes_after_the_evidence__gain_nothing(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(0, &now);
    struct ballot b = {0};
    struct trust_numbers n;
    vote(&b, t, 1, 1, true, now);
    vote(&b, t, 2, 1, true, now + 10);
    vote(&b, t, 3, 1, false, now + 10);
    const struct ballot_end end = {
        .is_spam = true, .by = TRUST_BY_LIST, .known_s = now + 5};
    ballot_settle(&b, t, &end, now + 20);
    assert_true(trust_look(t, 1, now + 20, &n));
    assert_float_equal(n.proved, 1, 1e-6);
    assert_true(trust_look(t, 2, now + 20, &n));
    assert_float_equal(n.proved, 0, 1e-6);
    assert_true(trust_look(t, 3, now + 20, &n));
    assert_true(n.bad > 0);
    ballot_fini(&b);
    trust_free(&t);
}

static void test_tally_ends__the_administrator__ends_it_at_once(void **state)
{
    (void)state;
    uint64_t now = 0;
    struct trust *t = people(20, &now);
    struct ballot b = {0};
    struct ballot_end end;
    vote(&b, t, 1, 20, true, now);
    speak(&b, t, BALLOT_ADMIN, 5000, false, now + 9);
    assert_true(ends(&b, t, now + 9, &end));
    assert_false(end.is_spam);
    assert_int_equal(end.by, TRUST_BY_ADMIN);
    assert_int_equal(end.known_s, now + 9);
    ballot_settle(&b, t, &end, now + 9);
    assert_true(trust_weight(t, 1, now + 9) < TRUST_ESTABLISHED);
    ballot_fini(&b);
    trust_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tally_standing__by_who_voted),
        cmocka_unit_test(test_tally_standing__the_administrator__decides_alone),
        cmocka_unit_test(test_ballot_put__a_second_vote__replaces_the_first),
        cmocka_unit_test(test_ballot_put__full_of_newcomers__makes_room_for_trust),
        cmocka_unit_test(test_ballot_settle__majority_of_a_day__teaches_the_newcomers),
        cmocka_unit_test(test_tally_ends__a_trap_has_it__unless_somebody_wants_it),
        cmocka_unit_test(
            test_ballot_settle__a_majority_that_needs_the_voter__gives_it_nothing),
        cmocka_unit_test(
            test_ballot_settle__liars_agree_with_one_another__gain_nothing),
        cmocka_unit_test(test_ballot_settle__a_release__costs_the_spam_voters_half),
        cmocka_unit_test(test_ballot_settle__votes_after_the_evidence__gain_nothing),
        cmocka_unit_test(test_tally_ends__the_administrator__ends_it_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
