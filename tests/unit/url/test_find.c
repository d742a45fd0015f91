/* test_find - URLs and addresses in running text. */
#include "core/message/url/longurl.h"

#include "tests/unit/url/find_rows.h"

#define ZWSP   "\xe2\x80\x8b"
#define LRM    "\xe2\x80\x8e"
#define SHY    "\xc2\xad"
#define MIDDLE "\xe4\xb8\xad" /* U+4E2D */
#define STOP   "\xe3\x80\x82" /* U+3002, the ideographic full stop */
#define FORTY  "0123456789012345678901234567890123456789"

static void test_find__scheme__expected_urls(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {"no link: here. at all", ""},
        {"http://a.b/c", "http://a.b/c\n"},
        {"see http://a.b/c?d=e&f#g now", "http://a.b/c?d=e&f#g\n"},
        {"HTTPS://A.B ftp://c.d", "HTTPS://A.B\nftp://c.d\n"},
        {"http://a.b/c.", "http://a.b/c\n"},
        {"http://a.b/c?!,;:...", "http://a.b/c\n"},
        {"<http://a.b/c>", "http://a.b/c\n"},
        {"(http://a.b/c)", "http://a.b/c\n"},
        {"[http://a.b/c]", "http://a.b/c\n"},
        {"{http://a.b/c}", "http://a.b/c\n"},
        {"\"http://a.b/c\"", "http://a.b/c\n"},
        {"'http://a.b/c', 'http://d.e','http://f.g'",
         "http://a.b/c\nhttp://d.e\nhttp://f.g\n"},
        {"it's http://a.b/it's", "http://a.b/it's\n"},
        {"`http://a.b/c`", "http://a.b/c\n"},
        {"*http://a.b/c*", "http://a.b/c\n"},
        {"http://a.b/x_(y)", "http://a.b/x_(y)\n"},
        {"(see http://a.b/x_(y)).", "http://a.b/x_(y)\n"},
        {"http://a.b/(x", "http://a.b/(x\n"},
        {"http://a.b/(", "http://a.b/\n"},
        {"http://[::1]/x", "http://[::1]/x\n"},
        {"href=http://a.b/>x", "http://a.b/\n"},
        {"xhttp://a.b/", "http://a.b/\n"},
        {"http://a.b/?u=http://c.d/", "http://a.b/?u=http://c.d/\n"},
        {"http://a.b/\\c", "http://a.b/\\c\n"},
        {"line http://a.b/c\r\nhttp://d.e", "http://a.b/c\nhttp://d.e\n"},
        /* UTF-8 punctuation and spaces */
        {"http://a.b/c\xe3\x80\x82"
         "d",
         "http://a.b/c\n"},
        {"\xe2\x80\x9chttp://a.b/c\xe2\x80\x9d", "http://a.b/c\n"},
        {"\xc2\xabhttp://a.b/c\xc2\xbb", "http://a.b/c\n"},
        {"http://a.b/c\xc2\xa0"
         "d",
         "http://a.b/c\n"},
        {"http://a.b/c\xef\xbc\x8c"
         "d",
         "http://a.b/c\n"},
        {"http://a.b/\xc3\xa9\xe4\xb8\xad", "http://a.b/\xc3\xa9\xe4\xb8\xad\n"},
        {"http://a.b/\xe3\x80", "http://a.b/\xe3\x80\n"},
        /* none */
        {"http://", ""},
        {"http:// a", ""},
        {"http://)", ""},
        {"://a.b", ""},
        {"http", ""},
        {"gopher://a.b/c, d", "other:gopher://a.b/c,\n"},
        {"http://http://", "http://http://\n"},
        /* in brackets and quotes */
        {"(http://a.b/c)d", "http://a.b/c\n"},
        {"[url=http://a.b/c]d[/url]", "http://a.b/c\n"},
        {"[d](http://a.b/c)", "http://a.b/c\n"},
        {"-----http://www.a.b----------", "http://www.a.b\n"},
        {"<https://a.b/c>", "https://a.b/c\n"},
        /* backslashes, user names, addresses */
        {"https:\\\\192.0.2.1\\x", "https:\\\\192.0.2.1\\x\n"},
        {"{\"a\":\"https:\\/\\/a.com\\/x\"}", "https://a.com\\/x\n"},
        {"http://a.com@b.com/", "http://a.com@b.com/\n"},
        {"https://u:p@[::1]:8/x", "https://u:p@[::1]:8/x\n"},
        {"http://-a.com http://b-.com", ""},
        {"http://-a.blog.com", "http://-a.blog.com\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__no_scheme__expected_hosts(void **state)
{
    static const struct row rows[] = {
        {"www.a.de", "www.a.de\n"},
        {"go to WWW.A.DE/c, now", "WWW.A.DE/c\n"},
        {"(www.a.de)", "www.a.de\n"},
        {"example.com", "example.com\n"},
        {"Example.Com and EXAMPLE.ORG.", "Example.Com\nEXAMPLE.ORG\n"},
        {"see example.co.uk:8080/x?y=z#w, now", "example.co.uk:8080/x?y=z#w\n"},
        {"example.com: a, example.com?", "example.com\nexample.com\n"},
        {"example.com?a=b example.com#c", "example.com?a=b\nexample.com#c\n"},
        {"\"example.com\" 'example.net' <example.org>",
         "example.com\nexample.net\nexample.org\n"},
        {"a..example.com..net", "example.com\n"},
        {".....www.a.de.....", "www.a.de\n"},
        {"-----www.a.de-----", "www.a.de\n"},
        {"=www.a.de \\b.com", "www.a.de\nb.com\n"},
        {"a_b.example.com a.exa_mple.com", "a_b.example.com\n"},
        {"a-.com", ""},
        {"xn--bcher-kva.example.xn--p1ai", "xn--bcher-kva.example.xn--p1ai\n"},
        {"foo.github.io", "foo.github.io\n"},
        {"example.com.Then more", "example.com\n"},
        {"a@www.b", ""},
        {"www. a www..a www.", ""},
        /* none */
        {"file.txt notes.doc a.exe x.php www.x.php", ""},
        {"e.g. i.e. a.m. p.m. U.S. U.S.A. z.B. etc.", ""},
        {"1.2.3 10.0.0.1 v1.2.3 1.0-rc.2 3.14 66.94.230.32/", ""},
        {"README.md/x", "README.md/x\n"},
        {"com co.uk com.au .com", ""},
        {"t.co/abc", "t.co/abc\n"},
        {"163.com 51.la", "163.com\nbare:51.la\n"},
        {"quau0wig.quau0wig www.a.invalid com.foo.web", ""},
        {"$obj.name %s.com src/main.cc ../lib.pl", ""},
        {"a.name+x@example.com", "mailto:a.name+x@example.com\n"},
        {"M0\"-AE/9Y.KN:_0D2F:95^H*:I,8", ""},
        {"example.za", ""},
        {"www.example.co.za", "www.example.co.za\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__other_scripts__expected_finds(void **state)
{
    static const struct row rows[] = {
        {MIDDLE "www.a.de", "www.a.de\n"},
        {MIDDLE "example.com" MIDDLE MIDDLE, "example.com\n"},
        {MIDDLE "http://example.com" MIDDLE MIDDLE, "http://example.com\n"},
        {"http://example.com/a" MIDDLE,
         "http://example.com/a\nhttp://example.com/a" MIDDLE "\n"},
        {"http://" MIDDLE ".com/", "http://" MIDDLE ".com/\n"},
        {MIDDLE "x" MIDDLE ".com", MIDDLE "x" MIDDLE ".com\n"},
        {MIDDLE MIDDLE "a@example.com" MIDDLE, "mailto:a@example.com\n"},
        /* U+4E2D U+56FD is a top level, the rest is text */
        {"\xe4\xbe\x8b." MIDDLE "\xe5\x9b\xbd\xe6\xac\xa2\xe8\xbf\x8e",
         "\xe4\xbe\x8b." MIDDLE "\xe5\x9b\xbd\n"},
        /* b\xc3\xbccher.example, Cyrillic .\xd1\x80\xd1\x84 in capitals */
        {"b\xc3\xbc"
         "cher.de",
         "b\xc3\xbc"
         "cher.de\n"},
        {"\xd1\x82\xd0\xb5\xd1\x81\xd1\x82.\xd0\xa0\xd0\xa4",
         "\xd1\x82\xd0\xb5\xd1\x81\xd1\x82.\xd0\xa0\xd0\xa4\n"},
        /* Hangul particle */
        {"example.com\xec\x97\x90\xec\x84\x9c", "example.com\n"},
        /* wide dots and letters */
        {"www" STOP "example" STOP "com" STOP MIDDLE, "www.example.com\n"},
        {"http://www" STOP "example" STOP "com/x" STOP MIDDLE,
         "http://www.example.com/x\n"},
        {"http://example.com" STOP "Then", "http://example.com\n"},
        {"\xef\xbd\x81\xef\xbc\x8e"
         "com",
         "\xef\xbd\x81.com\n"},
        {MIDDLE STOP MIDDLE STOP, ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__defanged__as_meant(void **state)
{
    static const struct row rows[] = {
        {"hxxp://evil[.]com/x", "http://evil.com/x\n"},
        {"hXXps://evil(.)com/x[.]php", "https://evil.com/x.php\n"},
        {"h**p://evil.com", "http://evil.com\n"},
        {"http[:]//evil.com/a", "http://evil.com/a\n"},
        {"http[://]evil.com/a", "http://evil.com/a\n"},
        {"evil[.]com evil(dot)com evil[DOT]co{.}uk",
         "evil.com\nevil.com\nevil.co.uk\n"},
        {"evil [.] com and evil (dot) com/x", "evil.com\nevil.com/x\n"},
        {"evil[.] com evil [.]com", ""},
        {"joe[at]evil[.]com joe (at) evil (dot) com",
         "mailto:joe@evil.com\nmailto:joe@evil.com\n"},
        {"joe[.]doe[@]evil[.]com", "mailto:joe.doe@evil.com\n"},
        {"192[.]0[.]2[.]1 hxxp://192[.]0[.]2[.]1/", "http://192.0.2.1/\n"},
        {"http://a.com/x(dot)y", "http://a.com/x(dot)y\n"},
        {"a[at]b (at) [.] (dot)", ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__invisible__taken_out(void **state)
{
    static const struct row rows[] = {
        {"http://ev" ZWSP "il.com", "http://evil.com\n"},
        {"ht" ZWSP "tp://evil" SHY ".com", "http://evil.com\n"},
        {"ev" SHY "il." ZWSP "c" LRM "om/x", "evil.com/x\n"},
        {"joe@ev" ZWSP "il.com", "mailto:joe@evil.com\n"},
        {"jo" ZWSP "e@evil.com", "mailto:joe@evil.com\n"},
        {"http://a.com/x" ZWSP, "http://a.com/x\n"},
        {"http://a.com/x" ZWSP "y", "http://a.com/x\nhttp://a.com/xy\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__over_lines__both_readings(void **state)
{
    static const struct row rows[] = {
        {"<http://a.com/b\r\n  c/d>", "http://a.com/b\nhttp://a.com/bc/d\n"},
        {"<URL:http://a.com/b\nc>", "http://a.com/b\nhttp://a.com/bc\n"},
        {"<http://exam\nple.com/>", "http://exam\nhttp://example.com/\n"},
        {"<http://a.com/b?c=\nd.com/&e=http://f.com/> g.com",
         "http://a.com/b?c=\nhttp://a.com/b?c=d.com/&e=http://f.com/\nhttp://f.com/\n"
         "g.com\n"},
        {"<URL:http://a.com/>", "http://a.com/\n"},
        {"<http://a.com/b\nc d", "http://a.com/b\n"},
        {"<http://a.com/b\nhttp://c.com/>",
         "http://a.com/b\nhttp://a.com/bhttp://c.com/\nhttp://c.com/\n"},
        {"<http://a.com/1\n2\n3\n4\n5\n6\n7\n8>",
         "http://a.com/1\nhttp://a.com/12345678\n"},
        {"<http://a.com/1\n2\n3\n4\n5\n6\n7\n8\n9>", "http://a.com/1\n"},
        {"http://a.com/b/\nc/d", "http://a.com/b/\n"},
        {"http://a.com/" FORTY FORTY "/\r\nabc=d e",
         "http://a.com/" FORTY FORTY "/\nhttp://a.com/" FORTY FORTY "/abc=d\n"},
        {"http://a.com/" FORTY FORTY "\nThe end", "http://a.com/" FORTY FORTY "\n"},
        {"http://a.com/" FORTY FORTY "/\nhttp://b.com/1",
         "http://a.com/" FORTY FORTY "/\nhttp://b.com/1\n"},
        {"http://a.com/" FORTY FORTY "/\n- item", "http://a.com/" FORTY FORTY "/\n"},
        {"http://a.com/" FORTY FORTY "/\nftp://b.com/1",
         "http://a.com/" FORTY FORTY "/\nftp://b.com/1\n"},
        {"http://a.com/" FORTY FORTY "/\nb.com/1",
         "http://a.com/" FORTY FORTY "/\nb.com/1\n"},
        {"http://a.com/" FORTY FORTY "\nfile_2.deb", "http://a.com/" FORTY FORTY "\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__addresses__found(void **state)
{
    static const struct row rows[] = {
        {"joe@example.com", "mailto:joe@example.com\n"},
        {"<joe.doe+x@a.example.co.uk>, b", "mailto:joe.doe+x@a.example.co.uk\n"},
        {"mailto:Joe@example.com?subject=x", "mailto:Joe@example.com\n"},
        {"MAILTO://joe@foo.bar", "mailto:joe@foo.bar\n"},
        {"b@www.example.com", "mailto:b@www.example.com\n"},
        {"'joe@example.com' *joe@example.com*",
         "mailto:joe@example.com\nmailto:joe@example.com\n"},
        {"<sent-49-foo=addr.com@verper.com>",
         "mailto:sent-49-foo=addr.com@verper.com\n"},
        {"joe@example.com.", "mailto:joe@example.com\n"},
        {"joe@example.com,stuff", "mailto:joe@example.com\n"},
        {"\xc3\xb1@\xd1\x82\xd0\xb5\xd1\x81\xd1\x82.\xd1\x80\xd1\x84",
         "mailto:\xc3\xb1@\xd1\x82\xd0\xb5\xd1\x81\xd1\x82.\xd1\x80\xd1\x84\n"},
        {"joe@localhost joe.@localhost a@b@c mailto:joe", ""},
        {"joe@koja3fui.koja3fui pic@2x.png 3@1.2.3", ""},
        {"@", ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__other_schemes__told_apart(void **state)
{
    static const struct row rows[] = {
        {"<irc://a.b:22/c>", "other:irc://a.b:22/c\n"},
        {"<tel:+15550100> <a+b+c:d>", "other:tel:+15550100\nother:a+b+c:d\n"},
        {"<m:abc> keyword:car a: b note:x", ""},
        {"<tel:+1 5>", ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__in_code__only_marked_hosts(void **state)
{
    static const struct row rows[] = {
        {"p.link { background: url(http://a.com/x) } a.top www.b.com a.com",
         "http://a.com/x\nwww.b.com\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_CODE);
}

static unsigned flags_of(const char *text)
{
    struct found f = {.n = 0};

    find_in_text(slice_str(text), FIND_IN_PROSE, on_find, &f);
    return f.flags;
}

static void test_find__flags__say_what_was_done(void **state)
{
    (void)state;
    assert_int_equal(flags_of("http://a.com/"), 0);
    assert_int_equal(flags_of("a.com"), FIND_NO_SCHEME);
    assert_int_equal(flags_of("mailto:a@b.com"), 0);
    assert_int_equal(flags_of("http:\\/\\/a.com\\/"), 0);
    assert_int_equal(flags_of("http[:]//a.com/"), FIND_DEFANGED);
    assert_int_equal(flags_of("hxxp://a.com/"), FIND_DEFANGED);
    assert_int_equal(flags_of("http://a[.]com/"), FIND_DEFANGED);
    assert_int_equal(flags_of("a[at]b.com"), FIND_DEFANGED | FIND_NO_SCHEME);
    assert_int_equal(flags_of("http://a" ZWSP ".com/"), FIND_HIDDEN);
    assert_int_equal(flags_of("h" ZWSP "ttp://a.com/"), FIND_HIDDEN);
    assert_int_equal(flags_of("<http://a.com/b\nc>"), FIND_JOINED | FIND_SHORT);
}

static void test_find__mended_text__shortened_above_limit(void **state)
{
    static const int over[] = {-1, 0, 1};
    const size_t kept = LONGURL_PATH_MAX + 1; /* and the byte that was too many */
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(over); i++) {
        size_t n =
            FIND_MENDED_MAX + (size_t)(over[i] + 4); /* "[.]" is 2 bytes longer */
        char *text = malloc(n);
        struct found f = {.n = 0};

        assert_non_null(text);
        memset(text, 'x', n);
        put_at(text, 0, SLICE_LIT("hxxp://a[.]com/"));
        find_in_text(slice_of(text, n - 2), FIND_IN_PROSE, on_find, &f);
        assert_int_equal(f.count, 1);
        assert_int_equal(f.bytes, over[i] > 0 ? strlen("http://a.com") + kept
                                              : (size_t)(FIND_MENDED_MAX + over[i]));
        assert_int_equal((f.flags & FIND_CUT) != 0, over[i] > 0);
        free(text);
    }
}

/* The host of a text that needs mending stands behind more than is kept of it. */
static void test_find__mended_text_with_long_user__host_found(void **state)
{
    static const char *const marks[] = {"hxxp://", ("http://" ZWSP), "http[:]//"};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(marks); i++) {
        size_t n = 3 * FIND_MENDED_MAX;
        char *text = malloc(n);
        struct found f = {.n = 0};

        assert_non_null(text);
        memset(text, 'x', n);
        put_at(text, 0, slice_str(marks[i]));
        put_at(text, n - 9, SLICE_LIT("@a[.]de/b"));
        find_in_text(slice_of(text, n), FIND_IN_PROSE, on_find, &f);
        assert_int_equal(f.count, 1);
        assert_true(f.ends_so);
        free(text);
    }
}

static void test_find__long_plain_url__whole(void **state)
{
    enum { LONG = 100000 };
    char *text = malloc(LONG);
    struct found f = {.n = 0};

    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG);
    put_at(text, 0, SLICE_LIT("http://a.com/"));
    find_in_text(slice_of(text, LONG), FIND_IN_PROSE, on_find, &f);
    assert_int_equal(f.bytes, LONG);
    assert_int_equal(f.flags, 0);
    free(text);
}

static void test_find__long_host__none(void **state)
{
    static const size_t sizes[] = {253, 254, FIND_HOST_MAX, FIND_HOST_MAX + 1, 100000};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(sizes); i++) {
        char *text = malloc(sizes[i]);
        struct found f = {.n = 0};
        size_t k = 0;

        assert_non_null(text);
        for (k = 0; k < sizes[i]; k++) {
            text[k] = (sizes[i] - k) % 4 == 0 ? '.' : 'm';
        }
        put_at(text, sizes[i] - 4, SLICE_LIT(".com"));
        text[0] = 'a';
        find_in_text(slice_of(text, sizes[i]), FIND_IN_PROSE, on_find, &f);
        assert_int_equal(f.count, sizes[i] <= 253 ? 1 : 0);
        free(text);
    }
}

static void test_find__nul_byte__ends_url(void **state)
{
    struct found f = {.n = 0};

    (void)state;
    find_in_text(SLICE_LIT("http://a.b/c\0d"), FIND_IN_PROSE, on_find, &f);
    check_text("nul", slice_of(f.text, f.n), SLICE_LIT("http://a.b/c\n"));
}

static void test_find__megabytes__linear(void **state)
{
    static const char long_line[] = "http://a.de/" FORTY FORTY "/\n";
    static const char *const units[] = {"http://",
                                        "http://a",
                                        "www.",
                                        ":",
                                        ".",
                                        "http://) ",
                                        "(",
                                        "www.a ",
                                        "http:",
                                        "://",
                                        "http://a.b/)))",
                                        "http://a.de,",
                                        "ab://a.de,b.de;",
                                        STOP,
                                        "a.b.",
                                        "@",
                                        "[.]",
                                        "a@",
                                        "(dot)",
                                        " [.] ",
                                        "a[at]",
                                        ZWSP,
                                        MIDDLE,
                                        "\xe4\xb8\xad.",
                                        "ab\xe4\xb8\xad.",
                                        "<http://a\n",
                                        "<http://a.de/\n>",
                                        long_line,
                                        "<ab:",
                                        "a",
                                        "x.y+",
                                        "http://\xe2\x80\x8b",
                                        "\xe2\x80\xae.",
                                        "\xe2\x80\xae"
                                        "a\n",
                                        "http%3A%2F%2F",
                                        "http&colon;/",
                                        "http:/",
                                        "ab://a:",
                                        "\\\\a.de\\",
                                        "\\",
                                        "<a@b.de> ",
                                        "a:1@b.de:1/ "};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], (1 << 20) / strlen(units[i]));
        struct found f = {.n = 0};

        find_in_text(in, FIND_IN_PROSE, on_find, &f);
        assert_true(f.bytes <= 2 * in.n + FIND_MENDED_MAX);
        repeat_free(in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__scheme__expected_urls),
        cmocka_unit_test(test_find__no_scheme__expected_hosts),
        cmocka_unit_test(test_find__other_scripts__expected_finds),
        cmocka_unit_test(test_find__defanged__as_meant),
        cmocka_unit_test(test_find__invisible__taken_out),
        cmocka_unit_test(test_find__over_lines__both_readings),
        cmocka_unit_test(test_find__addresses__found),
        cmocka_unit_test(test_find__other_schemes__told_apart),
        cmocka_unit_test(test_find__in_code__only_marked_hosts),
        cmocka_unit_test(test_find__flags__say_what_was_done),
        cmocka_unit_test(test_find__mended_text__shortened_above_limit),
        cmocka_unit_test(test_find__mended_text_with_long_user__host_found),
        cmocka_unit_test(test_find__long_plain_url__whole),
        cmocka_unit_test(test_find__long_host__none),
        cmocka_unit_test(test_find__nul_byte__ends_url),
        cmocka_unit_test(test_find__megabytes__linear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
