/* Votes by item: matches, standing, undo, age, and floods of newcomers. */
#include "core/base/base.h"
#include "core/report/votes.h"

#include "tests/unit/unit.h"

enum { NOW_S = 1800000000, DAY_S = 86400, BANDS = 12 };

static const struct hashkey key = {.id = 1, .bytes = {1, 2, 3}};

struct bench {
    struct votes *votes;
    uint64_t number;
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    b->votes = votes_new(&key);
    assert_non_null(b->votes);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    votes_free(&b->votes);
    free(b);
    return 0;
}

static struct report *report_by(const char *who, bool is_spam, uint64_t message)
{
    struct report *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->entry = REPORT_GIVEN;
    r->is_spam = is_spam;
    r->time_s = NOW_S;
    r->message = message;
    r->reporter = slice_str(who);
    return r;
}

static void put(struct report *r, uint64_t digest, enum report_proof proof)
{
    r->items[r->nitems++] = (struct report_item){digest, 0, (uint8_t)proof};
}

/* Returns the id. */
static uint64_t give(struct bench *b, struct report *r)
{
    uint64_t id = 1000 + ++b->number;

    r->number = b->number;
    r->id = id;
    votes_note(b->votes, r);
    free(r);
    return id;
}

static void undo(struct bench *b, uint64_t id)
{
    struct report *r = report_by("administrator", false, 0);

    r->entry = REPORT_UNDONE;
    r->id = id;
    r->number = ++b->number;
    votes_note(b->votes, r);
    free(r);
}

/* A list has the value since known_s. */
static void list_value(struct bench *b, uint64_t value, bool is_listed,
                       uint64_t known_s, uint64_t now_s)
{
    struct report *r = report_by("", is_listed, 0);

    r->entry = REPORT_LISTED;
    r->reporter = SLICE_NONE;
    r->way = SLICE_LIT("manual");
    r->known_s = known_s;
    r->time_s = now_s;
    r->number = ++b->number;
    memcpy(r->listed.b, &value, sizeof(value));
    put(r, value, REPORT_NO_PROOF);
    votes_note(b->votes, r);
    free(r);
}

static double trust_of(struct bench *b, const char *who, uint64_t now_s)
{
    return votes_trust(b->votes, slice_str(who), now_s);
}

/* A report of a text with a value, such as a domain. */
static uint64_t give_value(struct bench *b, const char *who, bool is_spam,
                           uint64_t text, uint64_t value, uint64_t time_s)
{
    struct report *r = report_by(who, is_spam, text * 31);

    r->time_s = time_s;
    put(r, text, REPORT_EXACT);
    put(r, value, REPORT_NO_PROOF);
    return give(b, r);
}

/* A report of one text. */
static uint64_t give_text(struct bench *b, const char *who, bool is_spam, uint64_t text)
{
    struct report *r = report_by(who, is_spam, text * 31);

    put(r, text, REPORT_EXACT);
    return give(b, r);
}

static struct votes_opinion opinion_of(struct bench *b, const struct votes_item *items,
                                       size_t n)
{
    struct votes_opinion o;

    votes_judge(b->votes, items, n, 0, NOW_S, &o);
    return o;
}

static enum standing standing_of(struct bench *b, uint64_t text)
{
    const struct votes_item item = {.digest = {text}, .n = 1, .proof = REPORT_EXACT};

    return opinion_of(b, &item, 1).standing;
}

static void test_judge__the_administrator__decides_and_the_last_word_counts(
    void **state)
{
    struct bench *b = *state;

    assert_int_equal(standing_of(b, 5), STANDING_OPEN);
    uint64_t spam = give_text(b, REPORT_ADMINISTRATOR, true, 5);
    assert_int_equal(standing_of(b, 5), STANDING_SPAM);
    assert_int_equal(standing_of(b, 6), STANDING_OPEN);
    uint64_t ham = give_text(b, REPORT_ADMINISTRATOR, false, 5);
    assert_int_equal(standing_of(b, 5), STANDING_HAM);
    undo(b, ham);
    assert_int_equal(standing_of(b, 5), STANDING_SPAM);
    undo(b, spam);
    assert_int_equal(standing_of(b, 5), STANDING_OPEN);
}

static void test_listed__before_and_after__teaches_who_knew_it_first(void **state)
{
    struct bench *b = *state;
    const struct votes_item item = {.digest = {77}, .n = 1};
    const struct votes_item other = {.digest = {78}, .n = 1};

    (void)give_value(b, "early", true, 5, 77, NOW_S);
    (void)give_value(b, "late", true, 5, 77, NOW_S + 100);
    (void)give_value(b, "early", true, 6, 77, NOW_S + 100);
    (void)give_value(b, "reader", false, 5, 77, NOW_S + 100);
    (void)give_value(b, "elsewhere", true, 5, 78, NOW_S);
    assert_true(votes_await_list(b->votes, &item, UINT64_MAX, NOW_S + 200));
    list_value(b, 77, true, NOW_S + 50, NOW_S + 200);
    assert_false(votes_await_list(b->votes, &item, UINT64_MAX, NOW_S + 200));
    assert_true(votes_await_list(b->votes, &other, UINT64_MAX, NOW_S + 200));
    assert_float_equal(trust_of(b, "early", NOW_S + 200), 0.0625, 1e-6);
    assert_float_equal(trust_of(b, "late", NOW_S + 200), TRUST_NEW, 1e-6);
    assert_float_equal(trust_of(b, "reader", NOW_S + 200), TRUST_NEW, 1e-6);
    assert_float_equal(trust_of(b, "elsewhere", NOW_S + 200), TRUST_NEW, 1e-6);
    list_value(b, 77, true, NOW_S + 50, NOW_S + 300); /* once */
    assert_float_equal(trust_of(b, "early", NOW_S + 300), 0.0625, 1e-6);
    list_value(b, 77, false, 0, NOW_S + 400);
    assert_float_equal(trust_of(b, "early", NOW_S + 400), TRUST_NEW, 1e-6);
}

static void test_await_list__what_cannot_learn__is_not_asked_again(void **state)
{
    struct bench *b = *state;
    const struct votes_item item = {.digest = {77}, .n = 1};

    (void)give_value(b, "ann", true, 5, 77, NOW_S);
    assert_false(votes_await_list(b->votes, &item, NOW_S - 1, NOW_S));
    assert_false(votes_await_list(b->votes, &item, UINT64_MAX, NOW_S));
    uint64_t id = give_value(b, "bob", true, 6, 77, NOW_S);
    assert_true(votes_await_list(b->votes, &item, UINT64_MAX, NOW_S));
    assert_false(votes_await_list(b->votes, &item, UINT64_MAX, NOW_S + BALLOT_OLD_S));
    (void)give_value(b, REPORT_TRAP, true, 7, 77, NOW_S);
    undo(b, id);
    assert_false(votes_await_list(b->votes, &item, UINT64_MAX, NOW_S));
}

static void test_listed__on_four_days__establishes_reporters_without_an_administrator(
    void **state)
{
    struct bench *b = *state;
    static const char *const who[] = {"ann", "bob", "eve", "joe"};

    for (uint64_t day = 0; day < 8; day++) {
        uint64_t now_s = NOW_S + day * DAY_S;
        for (unsigned i = 0; i < LENGTH(who); i++) {
            (void)give_value(b, who[i], true, 100 + day, 200 + day, now_s);
        }
        list_value(b, 200 + day, true, now_s + 60, now_s + 60);
    }
    uint64_t end_s = NOW_S + 8 * DAY_S;
    for (unsigned i = 0; i < 3; i++) {
        assert_true(trust_of(b, who[i], end_s) >= 2 * TRUST_ESTABLISHED - 0.01);
        (void)give_value(b, who[i], true, 300, 301, end_s);
    }
    (void)give_value(b, who[3], true, 300, 301, end_s);
    assert_int_equal(standing_of(b, 300), STANDING_SPAM);
}

static void test_listing_at__listed_and_taken_back__shows_those_that_hold(void **state)
{
    struct bench *b = *state;
    struct votes_listing l;

    for (uint64_t value = 1; value <= VOTES_LISTINGS_MAX + 1; value++) {
        list_value(b, value, true, NOW_S, NOW_S);
    }
    size_t n = 0;
    while (votes_listing_at(b->votes, n, &l)) {
        n++;
    }
    assert_int_equal(n, VOTES_LISTINGS_MAX - VOTES_LISTINGS_MAX / 8 + 1);
    assert_true(votes_listing_at(b->votes, n - 1, &l));
    assert_int_equal(l.digest[0], VOTES_LISTINGS_MAX + 1);
    assert_string_equal(l.list, "manual");
    list_value(b, VOTES_LISTINGS_MAX + 1, false, 0, NOW_S);
    assert_false(votes_listing_at(b->votes, n - 1, &l));
    votes_age(b->votes, NOW_S + VOTES_LISTING_S, 0);
    assert_false(votes_listing_at(b->votes, 0, &l));
}

static void test_judge__newcomers__decide_nothing_however_many(void **state)
{
    struct bench *b = *state;
    char who[32];

    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(who, sizeof(who), "liar%u", i);
        (void)give_text(b, who, true, 5);
    }
    assert_int_equal(standing_of(b, 5), STANDING_OPEN);
    /* nor do they hide the administrator's word, given before */
    (void)give_text(b, REPORT_ADMINISTRATOR, true, 9);
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(who, sizeof(who), "liar%u", i);
        (void)give_text(b, who, false, 9);
    }
    assert_int_equal(standing_of(b, 9), STANDING_SPAM);
}

static void test_judge__bands__only_several_of_one_report_make_a_replica(void **state)
{
    struct bench *b = *state;
    struct votes_item items[BANDS];
    struct report *r = report_by(REPORT_ADMINISTRATOR, true, 1);

    for (unsigned i = 0; i < BANDS; i++) {
        put(r, 100 + i, REPORT_BAND);
        items[i] =
            (struct votes_item){.digest = {100 + i}, .n = 1, .proof = REPORT_BAND};
    }
    (void)give(b, r);
    assert_int_equal(opinion_of(b, items, VOTES_BANDS).standing, STANDING_SPAM);
    assert_int_equal(opinion_of(b, items, VOTES_BANDS - 1).standing, STANDING_OPEN);
    /* a band each of many other reports is none */
    for (unsigned i = 0; i < BANDS; i++) {
        r = report_by(REPORT_ADMINISTRATOR, true, 10 + i);
        put(r, 500 + i, REPORT_BAND);
        (void)give(b, r);
        items[i].digest[0] = 500 + i;
    }
    assert_int_equal(opinion_of(b, items, BANDS).standing, STANDING_OPEN);
}

static void test_judge__links_alone__are_said_to_be_links(void **state)
{
    struct bench *b = *state;
    const struct votes_item link = {.digest = {7}, .n = 1, .proof = REPORT_LINK};
    const struct votes_item name = {.digest = {8}, .n = 1, .proof = REPORT_NO_PROOF};
    struct report *r = report_by(REPORT_ADMINISTRATOR, true, 1);

    put(r, 7, REPORT_LINK);
    put(r, 8, REPORT_NO_PROOF);
    (void)give(b, r);
    struct votes_opinion o = opinion_of(b, &link, 1);
    assert_int_equal(o.standing, STANDING_SPAM);
    assert_true(o.is_link);
    assert_int_equal(opinion_of(b, &name, 1).standing, STANDING_OPEN);
}

static void test_judge__another_digest_key__finds_the_item(void **state)
{
    struct bench *b = *state;
    const struct votes_item item = {.digest = {1, 5}, .n = 2, .proof = REPORT_EXACT};

    (void)give_text(b, REPORT_ADMINISTRATOR, true, 5);
    assert_int_equal(opinion_of(b, &item, 1).standing, STANDING_SPAM);
}

static void test_judge__a_trap__is_a_hint(void **state)
{
    struct bench *b = *state;

    (void)give_text(b, REPORT_TRAP, true, 5);
    assert_int_equal(standing_of(b, 5), STANDING_TRAPPED);
}

static void test_standing__same_message_again__is_known(void **state)
{
    struct bench *b = *state;
    struct votes_report r;
    uint64_t id = give_text(b, "anna", true, 5);

    assert_true(votes_standing(b->votes, SLICE_LIT("anna"), 5 * 31, &r));
    assert_int_equal(r.id, id);
    assert_true(r.is_spam);
    assert_false(votes_standing(b->votes, SLICE_LIT("bob"), 5 * 31, &r));
    assert_false(votes_standing(b->votes, SLICE_LIT("anna"), 6 * 31, &r));
    undo(b, id);
    assert_false(votes_standing(b->votes, SLICE_LIT("anna"), 5 * 31, &r));
    assert_true(votes_find(b->votes, id, &r));
    assert_true(r.is_undone);
}

static void test_called__one_reporter__counts_once_and_newcomers_do_not(void **state)
{
    struct bench *b = *state;
    const struct votes_item item = {.digest = {5}, .n = 1};
    struct votes_called c;

    for (unsigned i = 0; i < 3; i++) {
        struct report *r = report_by(REPORT_ADMINISTRATOR, true, 100 + i);
        put(r, 5, REPORT_NO_PROOF);
        (void)give(b, r);
    }
    (void)give_text(b, "anna", true, 5);
    votes_called(b->votes, &item, 0, NOW_S, &c);
    assert_int_equal(c.spam, 1);
    assert_int_equal(c.good, 0);
    votes_called(b->votes, &item, NOW_S + 1, NOW_S + 2, &c);
    assert_int_equal(c.spam, 0);
    (void)give_text(b, REPORT_ADMINISTRATOR, false, 5);
    votes_called(b->votes, &item, 0, NOW_S, &c);
    assert_int_equal(c.spam, 0);
    assert_int_equal(c.good, 1);
    assert_true(c.is_cleared);
}

static void test_age__old_reports__are_forgotten(void **state)
{
    struct bench *b = *state;
    struct votes_report r;
    uint64_t id = give_text(b, REPORT_ADMINISTRATOR, true, 5);
    struct report *later = report_by(REPORT_ADMINISTRATOR, true, 6);

    later->time_s = NOW_S + DAY_S;
    put(later, 6, REPORT_EXACT);
    (void)give(b, later);
    votes_age(b->votes, NOW_S + DAY_S, NOW_S + 1);
    assert_int_equal(standing_of(b, 5), STANDING_OPEN);
    assert_int_equal(standing_of(b, 6), STANDING_SPAM);
    assert_false(votes_find(b->votes, id, &r));
}

/* More votes than are kept: the oldest go, the newest are found. */
static void test_note__more_than_fit__forgets_the_oldest(void **state)
{
    struct bench *b = *state;
    const unsigned each = 200;
    const unsigned most = VOTES_MAX / each + 500;

    for (unsigned i = 0; i < most; i++) {
        struct report *r = report_by(REPORT_ADMINISTRATOR, true, 1 + i);
        for (unsigned k = 0; k < each; k++) {
            put(r, 1000000 + (uint64_t)i * each + k, REPORT_EXACT);
        }
        (void)give(b, r);
    }
    assert_true(votes_count(b->votes) <= VOTES_MAX);
    assert_int_equal(standing_of(b, 1000000), STANDING_OPEN);
    assert_int_equal(standing_of(b, 1000000 + (uint64_t)(most - 1) * each),
                     STANDING_SPAM);
    assert_int_equal(standing_of(b, 1000000 + (uint64_t)(most - 800) * each),
                     STANDING_SPAM);
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_judge__the_administrator__decides_and_the_last_word_counts),
        BENCH_TEST(test_judge__newcomers__decide_nothing_however_many),
        BENCH_TEST(test_judge__bands__only_several_of_one_report_make_a_replica),
        BENCH_TEST(test_judge__links_alone__are_said_to_be_links),
        BENCH_TEST(test_judge__another_digest_key__finds_the_item),
        BENCH_TEST(test_judge__a_trap__is_a_hint),
        BENCH_TEST(test_standing__same_message_again__is_known),
        BENCH_TEST(test_called__one_reporter__counts_once_and_newcomers_do_not),
        BENCH_TEST(test_listed__before_and_after__teaches_who_knew_it_first),
        BENCH_TEST(test_await_list__what_cannot_learn__is_not_asked_again),
        BENCH_TEST(
            test_listed__on_four_days__establishes_reporters_without_an_administrator),
        BENCH_TEST(test_listing_at__listed_and_taken_back__shows_those_that_hold),
        BENCH_TEST(test_age__old_reports__are_forgotten),
        BENCH_TEST(test_note__more_than_fit__forgets_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
