/* test_charset - charset names that are true, wrong or hostile. */
#include "core/message/text/charset.h"
#include "core/message/text/charset_name.h"

#include "tests/unit/text/text_test.h"

struct row {
    const char *charset;
    struct slice in;
    struct slice want;
    bool known;
};

static const struct row rows[] = {
    {"us-ascii", LIT("plain"), LIT("plain"), true},
    {"utf-8", LIT("caf\xc3\xa9"), LIT("caf\xc3\xa9"), true},
    {"UTF8", LIT("\xf0\x9f\x98\x80"), LIT("\xf0\x9f\x98\x80"), true},
    /* lies */
    {"us-ascii", LIT("caf\xc3\xa9"), LIT("caf\xc3\xa9"), false},
    {"iso-8859-1", LIT("caf\xc3\xa9"), LIT("caf\xc3\xa9"), false},
    {"utf-8", LIT("caf\xe9 \xc3\xa9"), LIT("caf\xc3\xa9 \xc3\xa9"), false},
    {"", LIT("caf\xe9"), LIT("caf\xc3\xa9"), false},
    {"x-none", LIT("\xc3\xa9\xe9"), LIT("\xc3\xa9\xc3\xa9"), false},
    {"x-none", LIT("abc"), LIT("abc"), false},
    {"ibm-37", LIT("http://a.b/"), LIT("http://a.b/"), false},
    {"../../etc/passwd", LIT("abc"), LIT("abc"), false},
    {"utf-8\0x", LIT("abc"), LIT("abc"), true},
    /* latin-1 is windows-1252 */
    {"iso-8859-1", LIT("\x80\x93\x81\xff"),
     LIT("\xe2\x82\xac\xe2\x80\x9c\xc2\x81\xc3\xbf"), true},
    {"Windows-1252", LIT("\x99"), LIT("\xe2\x84\xa2"), true},
    {"latin1",
     LIT("a\xe9"
         "b"),
     LIT("a\xc3\xa9"
         "b"),
     true},
    /* not well-formed UTF-8: overlong, surrogate, past the end, cut off */
    {"utf-8", LIT("\xc0\xaf"), LIT("\xc3\x80\xc2\xaf"), false},
    {"utf-8", LIT("\xed\xa0\x80"), LIT("\xc3\xad\xc2\xa0\xe2\x82\xac"), false},
    {"utf-8", LIT("\xf4\x90\x80\x80"), LIT("\xc3\xb4\xc2\x90\xe2\x82\xac\xe2\x82\xac"),
     false},
    {"utf-8", LIT("\xe2\x82"), LIT("\xc3\xa2\xe2\x80\x9a"), false},
    {"iso-8859-1", LIT("\xc3\xa9\xe9"), LIT("\xc3\x83\xc2\xa9\xc3\xa9"), true},
    /* ICU */
    {"koi8-r", LIT("\xd2\xd5"), LIT("\xd1\x80\xd1\x83"), true},
    {"windows-1251", LIT("\xf0\xf3"), LIT("\xd1\x80\xd1\x83"), true},
    {"gb2312", LIT("\xd6\xd0"), LIT("\xe4\xb8\xad"), true},
    {"big5", LIT("\xa4\xa4"), LIT("\xe4\xb8\xad"), true},
    {"shift_jis", LIT("\x92\x86"), LIT("\xe4\xb8\xad"), true},
    {"euc-kr", LIT("\xc7\xd1"), LIT("\xed\x95\x9c"), true},
    {"ISO-2022-JP", LIT("\x1b$BCf\x1b(B!"), LIT("\xe4\xb8\xad!"), true},
    {"iso-8859-2", LIT("\xb1"), LIT("\xc4\x85"), true},
    {"iso-8859-15", LIT("\xa4"), LIT("\xe2\x82\xac"), true},
    {"utf-7", LIT("a+AOk-z"), LIT("a\xc3\xa9z"), true},
    {"utf-7", LIT("http+ADo-//a"), LIT("http://a"), true},
    {"utf-7", LIT("a+2D0-"), LIT("a\xef\xbf\xbd"), true}, /* half a pair */
    {"utf-7", LIT("a+2D0-b"),
     LIT("a\xef\xbf\xbd"
         "b"),
     true},
    {"hz-gb-2312", LIT("~{VP~}"), LIT("\xe4\xb8\xad"), true},
    {"utf-16",
     LIT("\xff\xfe"
         "a\0\xe9\0"),
     LIT("a\xc3\xa9"), true},
    {"utf-16", LIT("\xfe\xff\0a\0\xe9"), LIT("a\xc3\xa9"), true},
    {"utf-16le", LIT("\x3d\xd8\x00\xde"), LIT("\xf0\x9f\x98\x80"), true},
    {"utf-16le",
     LIT("\xff\xfe"
         "a\0"),
     LIT("a"), true},
    /* malformed input never fails */
    {"gb2312",
     LIT("a\xff"
         "b"),
     LIT("a\xef\xbf\xbd"
         "b"),
     true},
    {"utf-16le", LIT("a\0b"), LIT("a\xef\xbf\xbd"), true},
    {"utf-16be", LIT("\xd8\x41\0b"),
     LIT("\xef\xbf\xbd"
         "b"),
     true},
    /* ASCII behind a lead byte or an escape that means nothing is text */
    {"euc-kr", LIT("\x81[\xff\x80"), LIT("\xef\xbf\xbd[\xef\xa3\xb7\xc2\x80"), true},
    {"shift_jis", LIT("\x82@\xfchttp"), LIT("\xef\xbf\xbd@\xef\xbf\xbdhttp"), true},
    {"big5",
     LIT("\x87"
         "f"),
     LIT("\xef\xbf\xbd"
         "f"),
     true},
    {"gb2312",
     LIT("\x80"
         "5"),
     LIT("\xe2\x82\xac"
         "5"),
     true},
    {"iso-2022-jp", LIT("\x1b$B\x22/\x1b(B"), LIT("\xef\xbf\xbd"), true},
    {"iso-2022-jp", LIT("a\x1b$)Cbc"), LIT("a\xef\xbf\xbd$)Cbc"), true},
    {"utf-8", LIT(""), LIT(""), true},
};

static void test_to_utf8__table__expected_text(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        bool known = !rows[i].known;
        struct slice got =
            charset_to_utf8(*state, slice_str(rows[i].charset), rows[i].in, &known);

        check_text(rows[i].charset, got, rows[i].want);
        if (known != rows[i].known) {
            fail_msg("row %zu (%s): known is %d", i, rows[i].charset, known);
        }
    }
}

static void test_to_utf8__nothing_to_change__input_itself(void **state)
{
    struct slice in = SLICE_LIT("caf\xc3\xa9");
    size_t used = arena_used(*state);

    assert_ptr_equal(charset_to_utf8(*state, SLICE_LIT("utf-8"), in, NULL).p, in.p);
    in = SLICE_LIT("plain");
    assert_ptr_equal(charset_to_utf8(*state, SLICE_LIT("koi8-r"), in, NULL).p, in.p);
    assert_int_equal(arena_used(*state), used);
}

/* Pieces of ICU's output must not tear a character. */
static void test_to_utf8__long_text__every_character_whole(void **state)
{
    size_t lead = 0;

    for (lead = 0; lead < 3; lead++) {
        struct slice in = repeat("\x3d\xd8\x01\xde", 5000);
        struct slice text = slice_of(in.p + 4 * lead, in.n - 4 * lead);
        struct slice got = charset_to_utf8(*state, SLICE_LIT("utf-16le"), text, NULL);

        assert_int_equal(got.n, text.n);
        assert_true(charset_is_utf8(got));
        assert_int_equal(slice_find_slice(got, SLICE_LIT("\xef\xbf\xbd")), got.n);
        repeat_free(in);
    }
}

static void test_to_utf8__megabytes_of_noise__valid_utf8(void **state)
{
    static const char *const names[] = {
        "utf-8",  "iso-8859-1", "gb18030", "iso-2022-kr", "utf-7",
        "utf-16", "big5",       "hz",      "euc-tw",      "x-none"};
    const size_t size = 1 << 20;
    char *noise = malloc(size);
    uint32_t seed = 1;
    size_t i = 0;

    assert_non_null(noise);
    for (i = 0; i < size; i++) {
        seed = seed * 1664525U + 1013904223U;
        noise[i] = (char)(unsigned char)(seed >> 24);
    }
    for (i = 0; i < COUNT_OF(names); i++) {
        struct slice got =
            charset_to_utf8(*state, slice_str(names[i]), slice_of(noise, size), NULL);

        assert_non_null(got.p);
        assert_true(charset_is_utf8(got));
        arena_reset(*state);
    }
    free(noise);
}

static void test_to_utf8__arena_full__no_text(void **state)
{
    struct arena *small = arena_new(2);

    (void)state;
    assert_null(
        charset_to_utf8(small, SLICE_LIT("latin1"), SLICE_LIT("\xe9\xe9\xe9"), NULL).p);
    assert_null(
        charset_to_utf8(small, SLICE_LIT("koi8-r"), SLICE_LIT("\xe9\xe9\xe9"), NULL).p);
    assert_true(arena_is_full(small));
    arena_free(&small);
}

static void test_is_ascii__each_place__seen(void **state)
{
    char text[40];
    size_t i = 0;

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_true(charset_is_ascii(slice_of(text, sizeof(text))));
    assert_true(charset_is_ascii(SLICE_NONE));
    for (i = 0; i < sizeof(text); i++) {
        text[i] = (char)(unsigned char)0x80;
        assert_false(charset_is_ascii(slice_of(text, sizeof(text))));
        assert_false(charset_is_utf8(slice_of(text, sizeof(text))));
        text[i] = 'a';
    }
}

/* A misspelt ICU name in the table would make its charset unknown. */
static void test_name__every_icu_charset__opens(void **state)
{
    static const char *const names[] = {
        "gb18030", "hz",     "big5",   "euc-tw", "euc-jp",     "iso-2022-jp",
        "sjis",    "euc-kr", "utf-7",  "utf-16", "tis-620",    "iso-2022-kr",
        "cp437",   "cp866",  "koi8-u", "mac",    "iso8859-9",  "iso-2022-cn",
        "cp1250",  "cp1251", "cp1253", "cp1255", "cp1256",     "cp1257",
        "cp1258",  "latin2", "l3",     "greek",  "arabic",     "hebrew",
        "cp850",   "cp852",  "cp858",  "cp775",  "iso8859-13", "iso8859-14"};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(names); i++) {
        bool known = false;

        (void)charset_to_utf8(*state, slice_str(names[i]), SLICE_LIT("\xb1~+\x1b"),
                              &known);
        if (!known) {
            fail_msg("%s does not open", names[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_to_utf8__table__expected_text),
        ARENA_TEST(test_to_utf8__nothing_to_change__input_itself),
        ARENA_TEST(test_to_utf8__long_text__every_character_whole),
        ARENA_TEST(test_to_utf8__megabytes_of_noise__valid_utf8),
        ARENA_TEST(test_to_utf8__arena_full__no_text),
        ARENA_TEST(test_is_ascii__each_place__seen),
        ARENA_TEST(test_name__every_icu_charset__opens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
