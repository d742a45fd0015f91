/* test_html_ref - the whole table of names, each found closed, bare where it may be, and in order. */
#include "core/base/word_table.h"
#include "core/message/html/html_ref.h"

#include "tests/unit/text/text_test.h"

/* What the HTML standard has: 2231 names, 106 of them again without ';'. */
enum { NAMES = 2231 - 106, BARE_NAMES = 106 };

static struct word names[NAMES + 1];
static size_t nnames;

static int setup_names(void **state)
{
    static const struct slice rows[] = {
#define HTML_NAMES(row) LIT(row),
#include "core/message/html/html_name.def"
#undef HTML_NAMES
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice row = rows[i];
        while (nnames <= NAMES && word_cut(&row, &names[nnames])) {
            nnames++;
        }
    }
    return 0;
}

/* What stands for "&name" and ';' or not, before a blank. */
static struct slice text_of(struct slice name, bool is_closed, bool in_value,
                            char dst[HTML_REF_OUT])
{
    struct html_ref r;
    bool done = false;
    size_t i = 0;

    html_ref_init(&r);
    for (i = 0; i < name.n; i++) {
        assert_true(html_ref_add(&r, name.p[i], &done));
        assert_false(done);
    }
    assert_true(html_ref_add(&r, is_closed ? ';' : ' ', &done) == is_closed);
    assert_true(done == is_closed);
    return html_ref_text(&r, in_value, is_closed ? ';' : ' ', dst);
}

static void test_names__table__whole_and_in_order(void **state)
{
    size_t nbare = 0;
    size_t i = 0;

    (void)state;
    assert_int_equal(nnames, NAMES);
    for (i = 0; i < nnames; i++) {
        nbare += names[i].mark == '!';
        if (i > 0) {
            assert_true(slice_cmp(names[i - 1].key, names[i].key) < 0);
        }
    }
    assert_int_equal(nbare, BARE_NAMES);
}

static void test_text__each_name__stands_for_its_text(void **state)
{
    char dst[HTML_REF_OUT];
    size_t i = 0;

    (void)state;
    for (i = 0; i < nnames; i++) {
        bool in_value = i % 2 == 0;
        char what[HTML_REF_HELD];

        (void)snprintf(what, sizeof(what), "%.*s", SLICE_ARGS(names[i].key));
        check_text(what, text_of(names[i].key, true, in_value, dst), names[i].text);
        if (names[i].mark == '!') {
            check_text(what, text_of(names[i].key, false, in_value, dst),
                       names[i].text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names__table__whole_and_in_order),
        cmocka_unit_test(test_text__each_name__stands_for_its_text),
    };

    return cmocka_run_group_tests(tests, setup_names, NULL);
}
