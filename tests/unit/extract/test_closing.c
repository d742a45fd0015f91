/*
 * test_closing - lines that are held, their order when passed on, and the bounds of each kind.
 */
#include <stdio.h>

#include "core/message/extract/closing.h"

#include "tests/unit/unit.h"

enum { KINDS = 3, LONG_LINE = 5 * CLOSING_SHINGLES };

/* Shingles are numbered as they come. */
struct taken {
    size_t n[KINDS];
    uint64_t last[KINDS];
    bool is_in_order;
};

static void take(void *context, enum closing_kind kind, const uint64_t *shingles,
                 size_t n)
{
    struct taken *t = context;
    for (size_t i = 0; i < n; i++) {
        t->is_in_order = t->is_in_order && shingles[i] > t->last[kind];
        t->last[kind] = shingles[i];
        t->n[kind]++;
    }
}

static uint64_t number;

static void line(struct closing *c, const char *text, size_t nwords)
{
    (void)closing_begin(c, slice_str(text));
    for (size_t i = 0; i < nwords; i++) {
        closing_shingle(c, ++number);
    }
    closing_end(c, slice_str(text), 1, nwords);
}

static void test_take__of_any_number_of_lines__gets_each_shingle_once(void **state)
{
    static const size_t words[] = {0, 1, 7, CLOSING_SHINGLES, 3 * CLOSING_SHINGLES + 1};
    (void)state;
    for (size_t nlines = 1; nlines < 3 * CLOSING_LINES; nlines += 7) {
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            struct taken t = {.is_in_order = true};
            static struct closing c;
            closing_init(&c, take, &t);
            number = 0;
            for (size_t i = 0; i < nlines; i++) {
                line(&c, i % 5 == 0 ? "> quoted" : "own", words[w]);
                assert_true(c.nlines < CLOSING_LINES &&
                            c.nshingles <= CLOSING_SHINGLES);
            }
            (void)closing_mark(&c, NULL, 0);
            for (size_t k = 0; k < KINDS; k++) {
                closing_give(&c, (enum closing_kind)k);
            }
            size_t nquoted = (nlines + 4) / 5;
            assert_int_equal(t.n[CLOSING_OWN], (nlines - nquoted) * words[w]);
            assert_int_equal(t.n[CLOSING_QUOTED], nquoted * words[w]);
            assert_int_equal(c.nquoted, nquoted * words[w]);
            assert_int_equal(t.n[CLOSING_LEFT], 0);
            assert_true(t.is_in_order);
        }
    }
}

/* Lines of fewer words than a shingle has, and then a long one. */
static void test_take__held_lines_have_no_shingles__room_is_made_in_the_open_line(
    void **state)
{
    const struct slice text = SLICE_LIT("own");
    (void)state;
    for (size_t nlines = 1; nlines < 2 * CLOSING_LINES; nlines++) {
        struct taken t = {.is_in_order = true};
        static struct closing c;
        closing_init(&c, take, &t);
        for (size_t i = 0; i < nlines; i++) {
            (void)closing_begin(&c, text);
            closing_end(&c, text, 1, 1);
        }
        (void)closing_begin(&c, text);
        for (size_t i = 1; i <= LONG_LINE; i++) {
            closing_shingle(&c, i);
            assert_true(c.nshingles <= CLOSING_SHINGLES);
        }
        closing_end(&c, text, 1, LONG_LINE);
        closing_give(&c, CLOSING_OWN);
        assert_int_equal(t.n[CLOSING_OWN], LONG_LINE);
        assert_true(t.is_in_order);
    }
}

static size_t words_left(const char *const *lines, size_t n, size_t words_of_last)
{
    static struct closing c;
    struct taken t = {.is_in_order = true};
    closing_init(&c, take, &t);
    for (size_t i = 0; i < n; i++) {
        line(&c, lines[i], lines[i][0] == '-' ? 0 : i + 1 == n ? words_of_last : 2);
    }
    return closing_mark(&c, NULL, 0);
}

static void test_signature__longer_than_signatures_are__is_text(void **state)
{
    static const char *const one[] = {"own", "-- ", "Jane"};
    const char *many[CLOSING_SIGNATURE_LINES + 3] = {"own", "--\r\n"};
    (void)state;
    assert_int_equal(words_left(one, 3, CLOSING_SIGNATURE_WORDS),
                     CLOSING_SIGNATURE_WORDS);
    assert_int_equal(words_left(one, 3, CLOSING_SIGNATURE_WORDS + 1), 0);
    for (size_t i = 2; i < CLOSING_SIGNATURE_LINES + 3; i++) {
        many[i] = "Jane";
    }
    assert_true(words_left(many, CLOSING_SIGNATURE_LINES + 2, 2) > 0);
    assert_int_equal(words_left(many, CLOSING_SIGNATURE_LINES + 3, 2), 0);
}

static void test_attribution__longer_than_three_lines__is_its_last_line(void **state)
{
    static struct closing c;
    struct taken t = {.is_in_order = true};
    (void)state;
    closing_init(&c, take, &t);
    line(&c, "own", 5);
    line(&c, "", 0);
    line(&c, "On Monday", 2);
    line(&c, "Jane wrote:", 2);
    line(&c, "> quoted", 3);
    assert_int_equal(c.nquoted, 2 + 2 + 3);
    for (size_t i = 0; i < CLOSING_ATTRIBUTION_LINES; i++) {
        line(&c, "own", 4);
    }
    line(&c, "he says:", 2);
    line(&c, "> quoted", 3);
    assert_int_equal(c.nquoted, 7 + 2 + 3);
    line(&c, "own", 2); /* without a colon nobody is named */
    line(&c, "> quoted", 3);
    assert_int_equal(c.nquoted, 12 + 3);
}

static void test_begin__where_quotes_begin_and_end__says_so(void **state)
{
    static const struct {
        const char *text;
        bool is_other;
    } rows[] = {{"own", false},  {"> a", true},       {">b", false},
                {" > c", false}, {"", false},         {"JM> d", false},
                {"own", true},   {"JAMES> e", false}, {"a > b", false}};
    static struct closing c;
    struct taken t = {.is_in_order = true};
    (void)state;
    closing_init(&c, take, &t);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(closing_begin(&c, slice_str(rows[i].text)), rows[i].is_other);
        closing_end(&c, slice_str(rows[i].text), 1, rows[i].text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take__of_any_number_of_lines__gets_each_shingle_once),
        cmocka_unit_test(
            test_take__held_lines_have_no_shingles__room_is_made_in_the_open_line),
        cmocka_unit_test(test_signature__longer_than_signatures_are__is_text),
        cmocka_unit_test(test_attribution__longer_than_three_lines__is_its_last_line),
        cmocka_unit_test(test_begin__where_quotes_begin_and_end__says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
