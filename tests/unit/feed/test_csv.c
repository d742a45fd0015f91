/*
 * test_csv - the column that is read, and the cost of an open quote.
 */
#include "core/base/base.h"

#include "tests/unit/feed/seen.h"
#include "tests/unit/unit.h"

static void test_csv__column__then_by_name_number_or_look(void **state)
{
    static const struct {
        const char *text;
        const char *column;
        enum err e;
        const char *entries;
    } cases[] = {
        {"a,b\nx.example,y.example\n", "b", ERR_OK, "domain:y.example\n"},
        {"a,B\nx.example,y.example\n", "b", ERR_OK, "domain:y.example\n"},
        {"a,b\nx.example,y.example\n", "1", ERR_OK, "domain:x.example\n"},
        {"x.example,y.example\n", "2", ERR_OK, "domain:y.example\n"},
        {"x.example;y.example\n", "2", ERR_OK, "domain:y.example\n"},
        {"x.example\ty.example\n", "2", ERR_OK, "domain:y.example\n"},
        {"x.example,y.example\n", "3", ERR_OK, NULL},
        {"1,2,3,4,5,6,7,8,9,10,11,y.example\n", "12", ERR_OK, "domain:y.example\n"},
        {"x.example,y.example\n", "url", ERR_SYNTAX, NULL},
        {"x.example,y.example\n", "", ERR_SYNTAX, NULL},
        {"1,phish,y.example\n", "", ERR_OK, "domain:y.example\n"},
        {"1,\"http://pages.example/\"\"q\"\"\"\n", "", ERR_OK,
         "url:pages.example/\"q\"\n"},
        {"detail_url,url\nhttp://a.example/,http://b.example/\n", "", ERR_OK,
         "url:b.example\n"},
        {"url,domain\nx.example,y.example\n", "", ERR_OK, "url:x.example\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen s = {.n = 0};
        struct feed_options o = {.format = FEED_CSV,
                                 .csv_column = slice_str(cases[i].column)};
        enum err e = read_text(slice_str(cases[i].text), &o, &s);
        if (e != cases[i].e || (cases[i].entries != NULL) != (s.entries.n > 0) ||
            (s.entries.n > 0 && strcmp(s.entries.p, cases[i].entries) != 0)) {
            fail_msg("case %zu: %s, %s", i, err_text(e),
                     s.entries.n > 0 ? s.entries.p : "nothing");
        }
        seen_fini(&s);
    }
}

static void test_csv__quote_never_closed__then_all_lines_bad_and_reading_goes_on(
    void **state)
{
    struct buf b;
    struct seen s = {.n = 0};
    (void)state;
    buf_init(&b, 1 << 20);
    buf_add_str(&b, "n,url\n1,http://a.example/\n2,\"http://b.example/\n");
    for (int i = 0; i < 1000; i++) {
        buf_add_str(&b, "3,http://c.example/\n");
    }
    assert_int_equal(
        read_text(buf_slice(&b), &(struct feed_options){.format = FEED_CSV}, &s),
        ERR_OK);
    assert_int_equal(s.counts.lines, 1003);
    assert_int_equal(s.counts.entries + s.counts.bad + s.counts.ignored, 1003);
    assert_in_range(s.counts.bad, 16384 / 21, 16384 / 20 + 1);
    assert_int_equal(strncmp(s.bad.p, "3:2,\"http", 8), 0);
    seen_fini(&s);
    s = (struct seen){.n = 0};
    buf_clear(&b);
    buf_add_str(&b, "n,url\n1,http://a.example/\n2,\"http://b.example/\nx\n");
    assert_int_equal(
        read_text(buf_slice(&b), &(struct feed_options){.format = FEED_CSV}, &s),
        ERR_OK);
    assert_int_equal(s.counts.bad, 2);
    seen_fini(&s);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv__column__then_by_name_number_or_look),
        cmocka_unit_test(
            test_csv__quote_never_closed__then_all_lines_bad_and_reading_goes_on),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
