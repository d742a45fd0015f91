/*
 * test_params - parameters of MIME fields, well formed and as they really come.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/mail/params.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 22 };

static void test_main__with_quotes_comments_and_spaces__is_the_value_alone(void **state)
{
    static const struct {
        const char *field;
        const char *value;
    } rows[] = {
        {"text/html", "text/html"},
        {"  text/html ; charset=x", "text/html"},
        {"text/html;charset=x", "text/html"},
        {"text/html charset=x", "text/html"},
        {"(comment) text/html (more)", "text/html"},
        {"\"text/html\"; x=y", "text/html"},
        {"", ""},
        {";", ""},
        {"(open", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(
            slice_eq(param_main(slice_str(rows[i].field)), slice_str(rows[i].value)));
    }
}

static void test_param__as_mailers_write_it__is_found(void **state)
{
    static const struct {
        const char *field;
        const char *name;
        const char *token;
        const char *text;
    } rows[] = {
        {"m/x; boundary=abc", "boundary", "abc", "abc"},
        {"m/x; boundary=\"a b\"", "boundary", "a b", "a b"},
        {"m/x; boundary=abc (comment)", "boundary", "abc", "abc (comment)"},
        {"m/x; BOUNDARY = abc ; y=z", "boundary", "abc", "abc"},
        {"m/x boundary=abc", "boundary", "abc", "abc"},
        {"m/x; a=\"1\" boundary=\"abc\"", "boundary", "abc", "abc"},
        {"m/x; a=\";boundary=no\"; boundary=yes", "boundary", "yes", "yes"},
        {"m/x; boundary=one; boundary=two", "boundary", "one", "one"},
        {"m/x;;; boundary=abc;", "boundary", "abc", "abc"},
        {"m/x; (boundary=no) boundary=abc", "boundary", "abc", "abc"},
        {"m/x; boundary=\"open", "boundary", "open", "open"},
        {"m/x; xboundary=no", "boundary", "", ""},
        {"m/x; boundary", "boundary", "", ""},
        {"a; filename=\"a \\\"b\\\" c.txt\"", "filename", "a \"b\" c.txt",
         "a \"b\" c.txt"},
        {"a; filename=\"C:\\dir\\f.txt\"", "filename", "C:\\dir\\f.txt",
         "C:\\dir\\f.txt"},
        {"a; filename=my file.pdf", "filename", "my file.pdf", "my file.pdf"},
        {"a; filename=\"=?utf-8?q?caf=C3=A9?=\"", "filename",
         "=?utf-8?q?caf=C3=A9?=", "caf\xc3\xa9"},
        {"a; filename*=utf-8''caf%C3%A9", "filename", "caf\xc3\xa9", "caf\xc3\xa9"},
        {"a; filename*=iso-8859-1'en'caf%E9", "filename", "caf\xc3\xa9", "caf\xc3\xa9"},
        {"a; filename=x; filename*=utf-8''y", "filename", "x", "y"},
        {"a; filename*0=ab; filename*1=cd", "filename", "abcd", "abcd"},
        {"a; filename*1=cd; filename*0=ab", "filename", "abcd", "abcd"},
        {"a; filename*0*=utf-8''%41; filename*1=%42; filename*2*=%43", "filename",
         "A%42C", "A%42C"},
        {"a; filename*0=ab; filename*2=no", "filename", "ab", "ab"},
        {"a; filename*1=ab; filename*2=cd", "filename", "abcd", "abcd"},
        {"a; filename*0=a; filename*0=b", "filename", "a", "a"},
        {"a; filename*9999=a", "filename", "", ""},
        {"a; filename*x=a", "filename", "", ""},
        {"a; filename*=broken%4", "filename", "broken%4", "broken%4"},
        {"a; filename*=", "filename", "", ""},
    };
    (void)state;
    struct arena *a = arena_new(ARENA);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slice field = slice_str(rows[i].field);
        struct slice name = slice_str(rows[i].name);
        struct slice token = param_token(a, field, name);
        struct slice text = param_text(a, field, name);
        if (!slice_eq(token, slice_str(rows[i].token)) ||
            !slice_eq(text, slice_str(rows[i].text))) {
            fail_msg("%s: \"%.*s\" and \"%.*s\"", rows[i].field, SLICE_ARGS(token),
                     SLICE_ARGS(text));
        }
    }
    arena_free(&a);
}

static void test_param__pieces_at_and_above_the_limit__later_ones_are_left(void **state)
{
    (void)state;
    struct arena *a = arena_new(ARENA);
    char field[4096] = "a";
    size_t at = 1;
    for (int i = 0; i <= PARAM_PIECES_MAX; i++) {
        at += (size_t)snprintf(field + at, sizeof(field) - at, "; n*%d=x", i);
    }
    assert_int_equal(param_text(a, slice_str(field), SLICE_LIT("n")).n,
                     PARAM_PIECES_MAX);
    arena_free(&a);
}

/* 1 MB of each of these takes no noticeable time; a quadratic parser would not come back. */
static void test_param__hostile_field__is_linear(void **state)
{
    static const char *const units[] = {"(",      "\"",   ";",    "n*0=", "\\",
                                        "n=\"\\", "n*=%", "(\\)", "; n",  "' '"};
    enum { SIZE = 1 << 20 };
    (void)state;
    char *field = malloc(SIZE);
    assert_non_null(field);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t unit = strlen(units[i]);
        for (size_t k = 0; k < SIZE; k++) {
            field[k] = units[i][k % unit];
        }
        struct arena *a = arena_new(ARENA);
        (void)param_text(a, slice_of(field, SIZE), SLICE_LIT("n"));
        (void)param_token(a, slice_of(field, SIZE), SLICE_LIT("n"));
        (void)param_main(slice_of(field, SIZE));
        arena_free(&a);
    }
    free(field);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_main__with_quotes_comments_and_spaces__is_the_value_alone),
        cmocka_unit_test(test_param__as_mailers_write_it__is_found),
        cmocka_unit_test(
            test_param__pieces_at_and_above_the_limit__later_ones_are_left),
        cmocka_unit_test(test_param__hostile_field__is_linear),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
