/* test_find - URLs in running text. */
#include "core/text/find.h"

#include "tests/unit/text/text_test.h"

struct found {
    char text[1024];
    size_t n;
    size_t count;
    size_t bytes;
};

static void on_url(void *context, struct slice url)
{
    struct found *f = context;

    f->count++;
    f->bytes += url.n;
    if (f->n + url.n < sizeof(f->text)) {
        memcpy(f->text + f->n, url.p, url.n);
        f->n += url.n;
        f->text[f->n++] = '\n';
    }
}

static const struct {
    const char *in;
    const char *want; /* one a line */
} rows[] = {
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
    /* www. */
    {"www.a.b", "www.a.b\n"},
    {"go to WWW.A.B/c, now", "WWW.A.B/c\n"},
    {"(www.a.b)", "www.a.b\n"},
    {"x@www.a.b", ""},
    {"xwww.a.b awww.c", ""},
    {"-www.a.b .www.c _www.d", ""},
    {"www. a", ""},
    {"www..a", ""},
    {"www.", ""},
    {"http://www.a.b", "http://www.a.b\n"},
    {"\xe4\xb8\xadwww.a.b", "www.a.b\n"},
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
    {"http:/a.b", ""},
    {"tp://a.b", ""},
    {"://a.b", ""},
    {"http", ""},
    {"gopher://a.b", ""},
    {"http://http://", "http://http://\n"},
};

static void test_find__table__expected_urls(void **state)
{
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(rows); i++) {
        struct found f = {.n = 0};
        size_t n = strlen(rows[i].in);
        /* a copy of the exact size, so that ASan sees reads past the end */
        struct slice in = n > 0 ? repeat(rows[i].in, 1) : SLICE_NONE;

        find_urls(in, on_url, &f);
        check_text(rows[i].in, slice_of(f.text, f.n), slice_str(rows[i].want));
        repeat_free(in);
    }
}

static void test_find__nul_byte__ends_url(void **state)
{
    struct found f = {.n = 0};

    (void)state;
    find_urls(SLICE_LIT("http://a.b/c\0d"), on_url, &f);
    check_text("nul", slice_of(f.text, f.n), SLICE_LIT("http://a.b/c\n"));
}

static void test_find__megabytes__linear(void **state)
{
    static const char *const units[] = {
        "http://",        "http://a",    "www.",   ":",     ".",
        "http://) ",      "(",           "www.a ", "http:", "://",
        "http://a.b/)))", "\xe3\x80\x82"};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], (5 << 20) / strlen(units[i]));
        struct found f = {.n = 0};

        find_urls(in, on_url, &f);
        assert_true(f.bytes <= in.n);
        repeat_free(in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__table__expected_urls),
        cmocka_unit_test(test_find__nul_byte__ends_url),
        cmocka_unit_test(test_find__megabytes__linear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
