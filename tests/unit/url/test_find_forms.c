/* test_find_forms - links in forms that only some client opens, and words that none does. */
#include "tests/unit/url/find_rows.h"

#define PDF "\xe2\x80\xac"

static void test_find__bare_words__no_links(void **state)
{
    static const struct row rows[] = {
        {"sign.in terminal.app main.cf java.security",
         "bare:sign.in\nbare:terminal.app\nbare:main.cf\nbare:java.security\n"},
        {"file.name a@b.name", "bare:file.name\nmailto:a@b.name\n"},
        {"end.Next ends.It was.No", "bare:end.Next\nbare:ends.It\nbare:was.No\n"},
        {"setup.py b-2.4.zip Core.pm:12",
         "bare:setup.py\nbare:b-2.4.zip\nbare:Core.pm\n"},
        {"node.js e.g a.txt smtp.mail", ""},
        {"i.am 9.am 2.0.9-sf.net 1.163.com",
         "bare:i.am\nbare:9.am\nbare:2.0.9-sf.net\n1.163.com\n"},
        /* what makes a link of one */
        {"sign.in/x sign.in?x=y www.sign.in http://sign.in",
         "sign.in/x\nsign.in?x=y\nwww.sign.in\nhttp://sign.in\n"},
        {"sign.co.in terminal.web.app yiez7too.cc",
         "sign.co.in\nterminal.web.app\nyiez7too.cc\n"},
        {"evil.xyz evil.berlin evil.de evil.info",
         "evil.xyz\nevil.berlin\nevil.de\nevil.info\n"},
        /* a file or a variable is not even a name */
        {"$obj.name %s.name src/main.cf ../lib.pl", ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__in_code_or_header__no_bare_words(void **state)
{
    static const struct row rows[] = {{"sign.in www.sign.in", "www.sign.in\n"}};

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_CODE);
    check_rows(rows, COUNT_OF(rows), FIND_IN_HEADER);
}

static void test_find__after_sign__as_clients_open_it(void **state)
{
    static const struct row rows[] = {
        {"@evil.com", "bare:evil.com\n"},
        {"@evil.com:8080/x @evil.com:8080", "evil.com:8080/x\nevil.com:8080\n"},
        {"joe@evil.com:8080/x", "mailto:joe@evil.com\nevil.com:8080/x\n"},
        {"joe@evil.com:8080", "mailto:joe@evil.com\nevil.com:8080\n"},
        {"joe@evil.com/x joe@evil.com:file",
         "mailto:joe@evil.com\nmailto:joe@evil.com\n"},
        {"joe@evil.com: hello", "mailto:joe@evil.com\n"},
        {"joe:pw@www.evil.com/ joe:pw@evil.com/x", "www.evil.com/\nevil.com/x\n"},
        {"joe:pw@www.evil.com", "www.evil.com\n"},
        {"joe:pw@evil.com", "mailto:pw@evil.com\n"},
        {"mailto:pw@www.evil.com", "mailto:pw@www.evil.com\n"},
        {"http://user:80@evil.com", "http://user:80@evil.com\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

/* Of a longer name the end is looked at, as if it began there. */
static void test_find__long_name_before_the_sign__its_end_is_the_address(void **state)
{
    for (size_t n = FIND_LOCAL_MAX - 1; n <= FIND_LOCAL_MAX + 1; n++) {
        char text[2 * FIND_LOCAL_MAX];
        char want[2 * FIND_LOCAL_MAX];
        const size_t kept = n < FIND_LOCAL_MAX ? n : FIND_LOCAL_MAX;
        const struct row row = {text, want};

        (void)snprintf(text, sizeof(text), "%0*d@evil.com", (int)n, 1);
        (void)snprintf(want, sizeof(want), "mailto:%s\n", text + n - kept);
        check_rows(&row, 1, FIND_IN_PROSE);
    }
    (void)state;
}

static void test_find__message_id__no_address(void **state)
{
    static const struct row rows[] = {
        {"Message-ID: <a.b@c.com>", ""},
        {"> References: <a@c.com>\r\n>\t<b@c.com> <d@c.com>", ""},
        {"In message <a@c.com>, Joe <joe@c.com> wrote", "mailto:joe@c.com\n"},
        {"message-id=<a@c.com> <b@d.com>,<joe@c.com>", "mailto:joe@c.com\n"},
        {"Message-ID: a@c.com", "mailto:a@c.com\n"},
        {"a long line of text that stands before the field and says nothing to it\n"
         "Message-ID: <a.b@c.com>",
         ""},
        {"From: Joe <joe@c.com>", "mailto:joe@c.com\n"},
        {"smtp.mail=x@c.com header.i=y@c.com", "mailto:x@c.com\nmailto:y@c.com\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__separator_in_other_spelling__as_browsers_open_it(void **state)
{
    static const struct row rows[] = {
        {"http:///evil.com/x http:////////evil.com",
         "http://evil.com/x\nhttp://evil.com\n"},
        {"http:/evil.com/x http:evil.com", "http://evil.com/x\nhttp://evil.com\n"},
        {"https:192.0.2.1/x http:/joe@evil.com/",
         "https://192.0.2.1/x\nhttp://joe@evil.com/\n"},
        {"http:x ahttp:/evil.com/ http:8080 http:a.b", "evil.com/\n"},
        {"http:\\\\evil.com\\x http:\\evil.com http:\\/evil.com",
         "http:\\\\evil.com\\x\nhttp://evil.com\nhttp:\\/evil.com\n"},
        {"http%3A%2F%2Fevil.com%2Fx%3Fy%3D1", "http://evil.com/x?y=1\n"},
        {"u=http%3a%2f%2fevil.com%2fx&v=1", "http://evil.com/x\n"},
        {"hxxps%3A//evil.com/x", "https://evil.com/x\n"},
        {"http%253A%252F%252Fevil.com%252Fx", "http://evil.com/x\n"},
        {"http:&#47;&#47;evil.com http&colon;//evil.com http&#58;&sol;&#x2F;evil.com",
         "http://evil.com\nhttp://evil.com\nhttp://evil.com\n"},
        {"http\xef\xbc\x9a\xef\xbc\x8f\xef\xbc\x8f"
         "evil.com",
         "http://evil.com\n"},
        {"50% of a&b 100%", ""},
        {"www.evil.com\\x", "www.evil.com\nwww.evil.com\\x\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__other_scheme_with_host__opened_as_url(void **state)
{
    static const struct row rows[] = {
        {"ftps://evil.com/x sftp://joe:pw@evil.com",
         "http://evil.com/x\nftp://joe:pw@evil.com\n"},
        {"intent://evil.com/x#Intent;scheme=https;S.browser_fallback_url="
         "http%3A%2F%2Fevil.org%2Fy;end",
         "http://evil.com/x\nhttp://evil.org/y\n"},
        {"view-source:http://evil.com/ googlechrome://navigate?url=http://evil.org/",
         "http://evil.com/\nhttp://evil.org/\n"},
        {"file://evil.com/x file:////192.0.2.1/x file:///evil.com/x",
         "http://evil.com/x\nhttp://192.0.2.1/x\nother:file:///evil.com/x\n"},
        {"search-ms:query=a&crumb=location:\\\\evil.com\\x", "http://evil.com\\x\n"},
        {"\\\\evil.com\\x \\\\192.0.2.1\\x \\\\evil.com@SSL\\x",
         "evil.com\nevil.com\\x\n192.0.2.1\n192.0.2.1\\x\nevil.com\n"},
        {"C:\\\\Windows\\\\terminal.app \\\\\\\\evil.in\\\\x",
         "bare:terminal.app\nevil.in\nevil.in\\\\x\n"},
        {"android-app://com.evil.app/x", "other:android-app://com.evil.app/x\n"},
        {"irc://server/c", "other:irc://server/c\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

/* No name of the DNS has such a character: the host may end before it. */
static void test_find__delimiter_in_host__both_readings(void **state)
{
    static const struct row rows[] = {
        {"http://a.com'https://b.com", "http://a.com\nhttps://b.com\n"},
        {"http://a.com,ftp://b.com;http://c.com",
         "http://a.com\nftp://b.com\nhttp://c.com\n"},
        {"http://a.com|http://b.com/x", "http://a.com\nhttp://b.com/x\n"},
        {"src=http://a.com'/>", "http://a.com\nhttp://a.com'/\n"},
        {"http://a.com&b.de/x", "http://a.com\nhttp://a.com&b.de/x\n"},
        {"http://a&b.de/x", "http://a&b.de/x\n"},
        {"http://me,you:x@b.de/", "http://me,you:x@b.de/\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__share_in_code__found(void **state)
{
    static const struct row rows[] = {{"\\\\evil.com\\x a.evil.com", "evil.com\n"}};

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_CODE);
}

static void test_find__turned_by_override__as_stored_and_as_shown(void **state)
{
    static const struct row rows[] = {
        {"see " RLO "moc.live" PDF " now", "bare:moc.live\nevil.com\n"},
        {"http://" RLO "x/moc.live", "http://x/moc.live\nhttp://evil.com/x\n"},
        {"a " RLO "gro.live\nb.com", "bare:gro.live\nb.com\nevil.org\nb.com\n"},
        {"a.com " RLO "ed.live" PDF, "a.com\nbare:ed.live\na.com\nevil.de\n"},
        {RLO "evil.com", "evil.com\nbare:moc.live\n"},
        {"\xc2\xae \xc3\xae a.com", "a.com\n"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), FIND_IN_PROSE);
}

static void test_find__long_turned_line__link_at_its_end_is_found(void **state)
{
    enum { LONG = 20000 };
    static const size_t at[] = {4083, 4090, 10000, LONG - 9};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(at); i++) {
        char *text = malloc(LONG);
        struct found f = {.n = 0};

        assert_non_null(text);
        memset(text, ' ', LONG);
        put_at(text, 0, SLICE_LIT(RLO));
        put_at(text, at[i], SLICE_LIT("moc.1live"));
        find_in_text(slice_of(text, LONG), FIND_IN_PROSE, on_find, &f);
        assert_true(slice_find_slice(slice_of(f.text, f.n), SLICE_LIT("evil1.com\n")) <
                    f.n);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__bare_words__no_links),
        cmocka_unit_test(test_find__in_code_or_header__no_bare_words),
        cmocka_unit_test(test_find__after_sign__as_clients_open_it),
        cmocka_unit_test(test_find__long_name_before_the_sign__its_end_is_the_address),
        cmocka_unit_test(test_find__message_id__no_address),
        cmocka_unit_test(test_find__separator_in_other_spelling__as_browsers_open_it),
        cmocka_unit_test(test_find__other_scheme_with_host__opened_as_url),
        cmocka_unit_test(test_find__delimiter_in_host__both_readings),
        cmocka_unit_test(test_find__share_in_code__found),
        cmocka_unit_test(test_find__turned_by_override__as_stored_and_as_shown),
        cmocka_unit_test(test_find__long_turned_line__link_at_its_end_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
