/* test_text_scan - patterns on the text of a message, which comes in pieces. */
#include "tests/unit/rule/ruled.h"

static const struct {
    const char *pattern;
    const char *text;
    bool holds;
} rows[] = {
    {"free money", "some FREE \r\n\t  Money here", true},
    {"free money", "freemoney", false},
    {"free money here", "free\xc2\xa0\xe2\x80\x83money \xe3\x80\x80here", true},
    {"^free", "  free", true},
    {"gr\xc3\xbc\xc3\x9f"
     "e",
     "viele GR\xc3\x9c\xc3\x9f"
     "E an alle",
     true},
    {"\xd0\xb2\xd1\x8b\xd0\xb8\xd0\xb3", "\xd0\x92\xd0\xab\xd0\x98\xd0\x93\xd0\xa0",
     true},
    {"a.b",
     "a\xf0\x9f\x98\x80"
     "b",
     true},
    {"a.b",
     "a\xff"
     "b",
     true},
    {"\\\\b(win|prize) (now|today)\\\\b", "you win  today!", true},
    {"\\\\b(win|prize) (now|today)\\\\b", "you win todays", false},
    {"begin.{0,40}end", "begin a\nb c end", true},
};

/* Cut anywhere between characters; a cut is an end of a line, so only before white space. */
static void test_text__each_row__then_as_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[300];

        snprintf(text, sizeof(text), ALL("{ text = \"%s\"; }"), rows[i].pattern);
        ruled_load(text);
        ruled_text(rows[i].text, 0);
        if (ruled_holds() != rows[i].holds) {
            fail_msg("row %zu: %s", i, rows[i].pattern);
        }
    }
}

static void test_text__padding_of_megabytes__then_hides_nothing(void **state)
{
    size_t n = 8 << 20;
    char *text = malloc(n + 100);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)(i % 97 == 0 ? ' ' : 'a' + (char)(i % 26));
    }
    memcpy(text + n, " click  here\nnow", 17);
    ruled_load(ALL("{ text = \"click here now\"; }"));
    ruled_text(text, 0);
    assert_true(ruled_holds());
    free(text);
}

/* A match over the bounds of what is scanned at once, at every place. */
static void test_text__a_match_at_every_offset__then_found(void **state)
{
    char *text = malloc(5000);

    (void)state;
    ruled_load(ALL("{ text = \"b\xc3\xa4"
                   "d\"; }"));
    for (size_t at = 4085; at < 4105; at++) {
        memset(text, 'x', at);
        memcpy(text + at,
               "B\xc3\x84"
               "D.",
               6);
        ruled_message();
        ruled_text(text, 0);
        assert_true(ruled_holds());
    }
    free(text);
}

/* 4,096 bytes of it, in each part anew. */
static void test_text__at_the_top__then_not_below(void **state)
{
    char text[8000];

    (void)state;
    ruled_load(ALL("{ text = \"free\"; top = true; }"));
    for (size_t at = 4080; at < 4110; at++) {
        memset(text, 'x', at);
        memcpy(text + at, " free ", 7);
        ruled_message();
        ruled_text(text, 0);
        assert_int_equal(ruled_holds(), at + strlen(" free") <= 4096);
        ruled_message();
        ruled_part(text, 0);
        ruled_text("free", 0);
        assert_true(ruled_holds());
    }
}

static void test_text__blocks__then_white_space_between_them(void **state)
{
    (void)state;
    ruled_load(RULE("any = ( { text = \"one two\"; } );"));
    ruled_text("onetwo", 3);
    assert_true(ruled_holds());
    assert_string_equal(ruled.shown[0].detail, "text=/one two/");
}

static void test_text__nobody_read_it__then_undecided(void **state)
{
    (void)state;
    ruled_load(NONE("{ text = \"one\"; }"));
    assert_true(ruled_holds()); /* a message without text */
    ruled.c.text = NULL;
    assert_false(ruled_holds());
}

static void test_text__no_rule_asks__then_it_is_not_read(void **state)
{
    (void)state;
    ruled_load(ALL("{ trait = \"html_form\"; }"));
    assert_null(ruled.text);
    assert_null(ruled.limits.on_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_text__each_row__then_as_it_says),
        TEST(test_text__padding_of_megabytes__then_hides_nothing),
        TEST(test_text__a_match_at_every_offset__then_found),
        TEST(test_text__at_the_top__then_not_below),
        TEST(test_text__blocks__then_white_space_between_them),
        TEST(test_text__nobody_read_it__then_undecided),
        TEST(test_text__no_rule_asks__then_it_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
