/* test_address - address lists as mailers and spammers write them. */
#include "core/message/url/address.h"

#include "tests/unit/text/text_test.h"

enum { GOT_MAX = 8 };

static const struct {
    const char *in;
    /* "display|text|domain" of each address, one a line */
    const char *want;
} rows[] = {
    {"a@b.example", "|a@b.example|b.example\n"},
    {"<a@b.example>", "|a@b.example|b.example\n"},
    {"Joe Doe <a@B.Example>", "Joe Doe|a@b.example|b.example\n"},
    {"\"Doe, Joe\" <a@b.example>", "Doe, Joe|a@b.example|b.example\n"},
    {"\"Joe \\\"X\\\" Doe\" <a@b.c>", "Joe \"X\" Doe|a@b.c|b.c\n"},
    {"a@b.c (Joe)", "Joe|a@b.c|b.c\n"},
    {"a@b.c (Joe (the \\) one))", "Joe|a@b.c|b.c\n"},
    {"Joe (x) <a@b.c>", "Joe|a@b.c|b.c\n"},
    {"a@b.c, d@e.f,, ,g@h.i", "|a@b.c|b.c\n|d@e.f|e.f\n|g@h.i|h.i\n"},
    {"a@b.c; d@e.f", "|a@b.c|b.c\n|d@e.f|e.f\n"},
    /* the display is no address */
    {"\"a@b\" <c@d>", "a@b|c@d|d\n"},
    {"a@b <c@d>", "a@b|c@d|d\n"},
    {"\"x <a@b>\" <c@d>", "x <a@b>|c@d|d\n"},
    {"<a@b> <c@d>", "|a@b|b\n|c@d|d\n"},
    /* groups, routes */
    {"undisclosed-recipients:;", ""},
    {"G: a@b.c, Joe <d@e.f>; g@h.i", "|a@b.c|b.c\nJoe|d@e.f|e.f\n|g@h.i|h.i\n"},
    {"<@a,@b:c@d>", "|c@d|d\n"},
    {"<@a, e@f", "|e@f|f\n"},
    {"<@a, @b:c@d>, e@f", "|c@d|d\n|e@f|f\n"},
    /* local parts */
    {"\"joe\"@b.c", "|joe@b.c|b.c\n"},
    {"\"j o e\"@b.c", "|\"j o e\"@b.c|b.c\n"},
    {"a\"b\"@c.d", "|b@c.d|c.d\n"},
    {"<\"a\"\"b c\"@d.e>", "|\"b c\"@d.e|d.e\n"},
    {"\"a@b\"@c.d", "|\"a@b\"@c.d|c.d\n"},
    {"a@b@c.d", "|a@b@c.d|c.d\n"},
    {"Joe@B.C", "|Joe@b.c|b.c\n"},
    {"<a . b @ c . d>", "|a.b@c.d|c.d\n"},
    {"<a@(x)b.c>", "|a@b.c|b.c\n"},
    {"mailto:a@b.c", "|a@b.c|b.c\n"},
    {"Joe Doe a@b.c", "|a@b.c|b.c\n"},
    {"o'neil+tag=x@b.c", "|o'neil+tag=x@b.c|b.c\n"},
    {"\xc3\xa9@b.c", "|\xc3\xa9@b.c|b.c\n"},
    /* domains */
    {"a@b\xc3\xbc"
     "cher.example",
     "|a@xn--bcher-kva.example|xn--bcher-kva.example\n"},
    {"a@[1.2.3.4]", "|a@1.2.3.4|1.2.3.4\n"},
    {"a@[IPv6:2001:DB8::1]", "|a@2001:db8::1|2001:db8::1\n"},
    {"a@b.c.", "|a@b.c|b.c\n"},
    {"a@b.c/path", "|a@b.c|b.c\n"},
    {"a@[1.2.3]", ""},
    {"a@[x]", ""},
    {"a@[1.2.3.4", "|a@1.2.3.4|1.2.3.4\n"},
    /* not closed */
    {"<a@b.c", "|a@b.c|b.c\n"},
    {"<a@b.c, d@e.f", "|a@b.c|b.c\n|d@e.f|e.f\n"},
    {"\"Joe <a@b.c>", "\"Joe|a@b.c|b.c\n"},
    {"(Joe <a@b.c>", "(Joe|a@b.c|b.c\n"},
    {"\"a@b.c", "|a@b.c|b.c\n"},
    {"<<a@b.c>>", "|a@b.c|b.c\n"},
    {"a@b.c\\", "|a@b.c|b.c\n"},
    {"=?utf-8?q?J=2C?= <a@b.c>", "=?utf-8?q?J=2C?=|a@b.c|b.c\n"},
    /* none */
    {"", ""},
    {"joe", ""},
    {"<>", ""},
    {"@", ""},
    {"@b.c", ""},
    {"a@", ""},
    {"a@.", ""},
    {"joe <joe>", ""},
    {"a@b c@", "|a@b|b\n"},
};

static struct slice show(struct arena *arena, const struct address *list, size_t n)
{
    char *out = arena_bytes(arena, 4096);
    size_t used = 0;
    size_t i = 0;

    assert_non_null(out);
    for (i = 0; i < n; i++) {
        int wrote = snprintf(out + used, 4096 - used, "%.*s|%.*s|%.*s\n",
                             SLICE_ARGS(list[i].display), SLICE_ARGS(list[i].text),
                             SLICE_ARGS(list[i].domain));

        assert_true(wrote > 0);
        used += (size_t)wrote;
    }
    return slice_of(out, used);
}

static void test_list__table__expected_addresses(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct address got[GOT_MAX];
        struct slice more = SLICE_LIT("?");
        size_t n =
            address_list_parse(*state, slice_str(rows[i].in), got, GOT_MAX, &more);

        assert_int_equal(more.n, 0);
        check_text(rows[i].in, show(*state, got, n), slice_str(rows[i].want));
    }
}

/* The parser does not look behind the end of a list. */
static void test_list__cut_anywhere__reads_no_further(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        for (size_t n = 0; n <= strlen(rows[i].in); n++) {
            struct address got[GOT_MAX];
            char *exact = malloc(n + (n == 0)); /* a sanitizer sees its end */

            assert_non_null(exact);
            memcpy(exact, rows[i].in, n);
            (void)address_list_parse(*state, slice_of(exact, n), got, GOT_MAX, NULL);
            free(exact);
            arena_reset(*state);
        }
    }
}

static void test_list__round_max__more_told(void **state)
{
    struct slice in = SLICE_LIT("a@b.c, x, d@e.f, y");
    struct address got[3];
    struct slice more = SLICE_LIT("?");

    assert_int_equal(address_list_parse(*state, in, got, 1, &more), 1);
    assert_true(more.n > 0);
    assert_int_equal(address_list_parse(*state, in, got, 2, &more), 2);
    assert_int_equal(more.n, 0);
    assert_int_equal(address_list_parse(*state, in, got, 3, &more), 2);
    assert_int_equal(more.n, 0);
    assert_int_equal(address_list_parse(*state, in, got, 1, NULL), 1);
}

static void test_list__length_round_limit__limit_held(void **state)
{
    size_t n = 0;

    for (n = ADDRESS_BYTES_MAX - 1; n <= ADDRESS_BYTES_MAX + 1; n++) {
        struct slice local = repeat("a", n);
        char *text = arena_bytes(*state, n);
        struct address got;

        put_at(text, 0, local);
        put_at(text, n - 4, SLICE_LIT("@b.c"));
        assert_int_equal(address_parse(*state, slice_of(text, n), &got),
                         n <= ADDRESS_BYTES_MAX ? ERR_OK : ERR_SYNTAX);
        repeat_free(local);
    }
}

static void test_list__megabytes__little_memory(void **state)
{
    static const char *const units[] = {
        "a@b.c,", "a@b.c, ", "\"",   "(",  "((a)",  "\\",     "<",      ">",
        "@",      ":",       "a:@:", ",",  ";",     "\"\\\"", "\\\"",   "<a@b.c",
        "a@",     "<@a,@b:", "(a) ", "a ", "\"a\"", "@\"\"",  "a@b c ", "x@:x@: "};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], (3 << 20) / strlen(units[i]));
        struct address got[GOT_MAX];
        struct slice more = SLICE_NONE;

        (void)address_list_parse(*state, in, got, GOT_MAX, &more);
        assert_true(arena_used(*state) <= in.n + 65536);
        repeat_free(in);
        arena_reset(*state);
    }
}

static void test_parse__one_address__or_syntax(void **state)
{
    struct address got = {0};

    assert_int_equal(address_parse(*state, SLICE_LIT("<A@B.c>"), &got), ERR_OK);
    check_text("text", got.text, SLICE_LIT("A@b.c"));
    check_text("domain", got.domain, SLICE_LIT("b.c"));
    assert_int_equal(address_parse(*state, SLICE_LIT("a@b.c"), &got), ERR_OK);
    assert_int_equal(address_parse(*state, SLICE_LIT("<>"), &got), ERR_SYNTAX);
    assert_int_equal(address_parse(*state, SLICE_LIT(""), &got), ERR_SYNTAX);
    assert_int_equal(address_parse(*state, SLICE_LIT("postmaster"), &got), ERR_SYNTAX);
}

static void test_list__arena_full__more_told(void **state)
{
    struct arena *small = arena_new(2);
    struct address got[GOT_MAX];
    struct slice more = SLICE_NONE;

    (void)state;
    assert_int_equal(address_list_parse(small, SLICE_LIT("a@b.c"), got, GOT_MAX, &more),
                     0);
    assert_true(more.n > 0);
    assert_int_equal(address_parse(small, SLICE_LIT("a@b.c"), got), ERR_NOMEM);
    arena_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_list__table__expected_addresses),
        ARENA_TEST(test_list__cut_anywhere__reads_no_further),
        ARENA_TEST(test_list__round_max__more_told),
        ARENA_TEST(test_list__length_round_limit__limit_held),
        ARENA_TEST(test_list__megabytes__little_memory),
        ARENA_TEST(test_parse__one_address__or_syntax),
        ARENA_TEST(test_list__arena_full__more_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
