/*
 * test_rating - which word the lists' answers earn, and how sure it is.
 */
#include <math.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/list/rating.h"

#include "tests/unit/unit.h"

#define FEED(n, a)                                             \
    {                                                          \
        .list = (n), .answer = (a), .listed = 98, .revoked = 0 \
    }

static const struct {
    const char *what;
    struct rating_input voice[3];
    size_t n;
    size_t asked; /* of 4 lists */
    enum rating rating;
    double confidence;
} table[] = {
    {"nothing", {{0}}, 0, 4, RATING_CLEAN, 1.0},
    {"nothing, a list missing", {{0}}, 0, 3, RATING_CLEAN, 0.75},
    {"revoked", {FEED(0, LIST_REVOKED)}, 1, 4, RATING_CLEAN, 1.0},
    {"false positive",
     {FEED(0, LIST_FALSE_POSITIVE)},
     1,
     4,
     RATING_FALSE_POSITIVE,
     1.0},
    {"false positive, a list missing",
     {FEED(0, LIST_FALSE_POSITIVE)},
     1,
     3,
     RATING_FALSE_POSITIVE,
     0.75},
    {"possible, nothing counted",
     {FEED(0, LIST_POSSIBLE)},
     1,
     4,
     RATING_SUSPICIOUS,
     0.5},
    {"possible, filters mostly right",
     {{.answer = LIST_POSSIBLE, .confirmed = 8, .false_positives = 0}},
     1,
     4,
     RATING_SUSPICIOUS,
     0.9},
    {"one feed", {FEED(0, LIST_CONFIRMED)}, 1, 4, RATING_MALICIOUS, 0.99},
    {"one feed, often revoked",
     {{.answer = LIST_CONFIRMED, .listed = 1, .revoked = 1}},
     1,
     4,
     RATING_MALICIOUS,
     0.5},
    {"one feed, two keys of it",
     {FEED(0, LIST_CONFIRMED), FEED(0, LIST_CONFIRMED)},
     2,
     4,
     RATING_MALICIOUS,
     0.99},
    {"two feeds",
     {FEED(0, LIST_CONFIRMED), FEED(1, LIST_CONFIRMED)},
     2,
     4,
     RATING_KNOWN_MALICIOUS,
     0.9999},
    {"three feeds, one by two keys",
     {FEED(0, LIST_CONFIRMED), FEED(1, LIST_CONFIRMED), FEED(1, LIST_CONFIRMED)},
     3,
     4,
     RATING_KNOWN_MALICIOUS,
     0.9999},
    {"a person's own",
     {{.answer = LIST_CONFIRMED, .is_explicit = true}},
     1,
     4,
     RATING_KNOWN_MALICIOUS,
     1.0},
    {"revoked here, listed there",
     {FEED(0, LIST_REVOKED), FEED(1, LIST_CONFIRMED)},
     2,
     4,
     RATING_MALICIOUS,
     0.99},
    {"shadow",
     {{.answer = LIST_CONFIRMED, .is_shadow = true, .listed = 98}},
     1,
     4,
     RATING_SUSPICIOUS,
     0.99},
    {"a person's own, in a shadow list",
     {{.answer = LIST_CONFIRMED, .is_shadow = true, .is_explicit = true}},
     1,
     4,
     RATING_SUSPICIOUS,
     1.0},
    {"shadow and feed",
     {{.answer = LIST_CONFIRMED, .is_shadow = true, .is_explicit = true},
      FEED(1, LIST_CONFIRMED)},
     2,
     4,
     RATING_MALICIOUS,
     0.99},
    {"allow",
     {{.answer = LIST_CONFIRMED, .is_allow = true, .is_explicit = true}},
     1,
     4,
     RATING_CLEAN,
     1.0},
    {"possible on an allow list",
     {{.answer = LIST_POSSIBLE, .is_allow = true}},
     1,
     4,
     RATING_CLEAN,
     1.0},
    {"possible and confirmed",
     {FEED(0, LIST_POSSIBLE), FEED(1, LIST_CONFIRMED)},
     2,
     4,
     RATING_MALICIOUS,
     0.99},
};

/* As by default: only header is set. */
static const struct config config = {.threshold = {[ACTION_HEADER] = 5.0,
                                                   [ACTION_QUARANTINE] = HUGE_VAL,
                                                   [ACTION_DEFER] = HUGE_VAL,
                                                   [ACTION_REJECT] = HUGE_VAL,
                                                   [ACTION_DISCARD] = HUGE_VAL}};

static void test_rating__for_answers__then_word_and_confidence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct rating_sum s = rating_begin(table[i].asked, 4);
        for (size_t v = 0; v < table[i].n; v++) {
            rating_add(&s, &table[i].voice[v]);
        }
        struct rating_result r = rating_end(&s, &config);
        if (r.rating != table[i].rating || r.confidence < table[i].confidence - 1e-9 ||
            r.confidence > table[i].confidence + 1e-9) {
            fail_msg("%s: %s %.6f", table[i].what, rating_name(r.rating), r.confidence);
        }
        assert_true(rating_is_given(r.rating));
    }
}

/* One list's confirmed hit of a weight. */
static struct rating_input heavy(size_t list, double weight)
{
    return (struct rating_input){
        .list = list, .answer = LIST_CONFIRMED, .listed = 98, .weight = weight};
}

static bool blocks(const struct rating_input *v, size_t n)
{
    struct rating_sum s = rating_begin(4, 4);

    for (size_t i = 0; i < n; i++) {
        rating_add(&s, &v[i]);
    }
    return rating_end(&s, &config).requires_blocking;
}

static void test_rating__for_weights__then_blocked_from_the_lowest_threshold(
    void **state)
{
    const struct rating_input enough[] = {heavy(0, 5.0)};
    const struct rating_input light[] = {heavy(0, 1.0)};
    const struct rating_input twice_of_one[] = {heavy(0, 3.0), heavy(0, 3.0)};
    const struct rating_input of_two[] = {heavy(0, 4.9), heavy(1, 0.1)};
    struct rating_input allowed[] = {heavy(0, 12.0), heavy(1, 6.0)};
    struct rating_input doubted[] = {heavy(0, 12.0)};

    (void)state;
    allowed[1].is_allow = true;
    doubted[0].answer = LIST_POSSIBLE;
    assert_true(blocks(enough, 1));
    assert_false(blocks(light, 1));
    assert_false(blocks(twice_of_one, 2));
    assert_true(blocks(of_two, 2));
    assert_false(blocks(allowed, 2));
    assert_false(blocks(doubted, 1));
    assert_false(blocks(NULL, 0));
}

static void test_rating__for_all_answers__then_confidence_is_a_share(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5 * 8 * 8; i++) {
        struct rating_sum s = rating_begin(i % 3, 2);
        struct rating_input v = {.answer = (enum list_answer)(i % 5),
                                 .is_explicit = i / 5 % 2 == 1,
                                 .is_allow = i / 10 % 2 == 1,
                                 .is_shadow = i / 20 % 2 == 1,
                                 .listed = UINT64_MAX,
                                 .revoked = i / 40};
        for (v.list = 0; v.list < 3; v.list++) {
            rating_add(&s, &v);
        }
        struct rating_result r = rating_end(&s, &config);
        assert_true(r.confidence >= 0.0 && r.confidence <= 1.0);
        assert_true(!v.is_allow || !r.requires_blocking);
        assert_true(!v.is_shadow || !r.requires_blocking);
    }
}

static void test_rating__of_a_learnt_list__then_its_own_word_and_no_second_opinion(
    void **state)
{
    struct rating_input ml = {.list = 0,
                              .answer = LIST_CONFIRMED,
                              .is_learnt = true,
                              .weight = 9,
                              .listed = 8};
    const struct rating_input phish = {
        .list = 1, .answer = LIST_CONFIRMED, .weight = 1, .listed = 8};
    struct rating_sum s = rating_begin(2, 2);
    (void)state;
    rating_add(&s, &ml);
    struct rating_result r = rating_end(&s, &config);
    assert_int_equal(r.rating, RATING_ML_DETECTED_MALICIOUS);
    assert_false(r.requires_blocking);
    rating_add(&s, &phish);
    r = rating_end(&s, &config);
    assert_int_equal(r.rating, RATING_MALICIOUS);
    ml.is_explicit = true;
    s = rating_begin(2, 2);
    rating_add(&s, &ml);
    assert_int_equal(rating_end(&s, &config).rating, RATING_KNOWN_MALICIOUS);
}

/* Requirement 31 names them; the manual has every one. */
static void test_rating__for_words__then_those_of_the_manual(void **state)
{
    static const char *const names[] = {
        "CLEAN",           "FALSE_POSITIVE",        "SUSPICIOUS",     "MALICIOUS",
        "BLOCKED_PATTERN", "ML_DETECTED_MALICIOUS", "KNOWN_MALICIOUS"};
    struct buf page;
    (void)state;
    buf_init(&page, 1 << 20);
    assert_int_equal(
        file_read(GILLNET_SOURCE_DIR "/contrib/man/gillnet.1", &page, NULL), ERR_OK);
    assert_int_equal(RATING_COUNT, sizeof(names) / sizeof(names[0]));
    for (unsigned i = 0; i < RATING_COUNT; i++) {
        struct slice line = slice_str(rating_when((enum rating)i));
        assert_string_equal(rating_name((enum rating)i), names[i]);
        assert_true(slice_find_slice(buf_slice(&page), line) < page.n);
    }
    buf_fini(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rating__for_answers__then_word_and_confidence),
        cmocka_unit_test(
            test_rating__for_weights__then_blocked_from_the_lowest_threshold),
        cmocka_unit_test(test_rating__for_all_answers__then_confidence_is_a_share),
        cmocka_unit_test(
            test_rating__of_a_learnt_list__then_its_own_word_and_no_second_opinion),
        cmocka_unit_test(test_rating__for_words__then_those_of_the_manual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
