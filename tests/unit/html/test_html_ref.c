/* test_html_ref - the whole table of names, each found closed, bare where it may be, and in order. */
#include "core/message/html/html_ref.h"

#include "tests/unit/text/text_test.h"

/* What the HTML standard has: 2231 names, 106 of them again without ';'. */
enum { NAMES = 2231 - 106, BARE_NAMES = 106 };

static struct name {
    struct slice name;
    struct slice text;
    bool bare;
} names[NAMES + 1];
static size_t nnames;

static int setup_names(void **state)
{
    static const struct slice letters[] = {
#define HTML_NAMES(letter, names) LIT(names),
#include "core/message/html/html_name.def"
#undef HTML_NAMES
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(letters); i++) {
        struct slice rest = letters[i];
        while (rest.n > 0 && nnames <= NAMES) {
            struct slice entry = slice_head(rest, slice_find(rest, ' '));
            size_t n = strcspn(entry.p, "=!");
            names[nnames++] = (struct name){.name = slice_head(entry, n),
                                            .text = slice_from(entry, n + 1),
                                            .bare = entry.p[n] == '!'};
            rest = slice_from(rest, entry.n + 1);
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
        nbare += names[i].bare ? 1 : 0;
        if (i > 0) {
            assert_true(slice_cmp(names[i - 1].name, names[i].name) < 0);
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

        (void)snprintf(what, sizeof what, "%.*s", SLICE_ARGS(names[i].name));
        check_text(what, text_of(names[i].name, true, in_value, dst), names[i].text);
        if (names[i].bare) {
            check_text(what, text_of(names[i].name, false, in_value, dst),
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
