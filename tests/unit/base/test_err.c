/*
 * test_err - texts for people: never missing, never overrun.
 */
#include <errno.h>

#include "core/base/err.h"

#include "tests/unit/unit.h"

static void test_text__each_code__is_its_own(void **state)
{
    (void)state;
    for (int a = ERR_OK; a >= ERR_TIMEOUT; a--) {
        assert_string_not_equal(err_text((enum err)a), "unknown error");
        for (int b = ERR_OK; b > a; b--) {
            assert_string_not_equal(err_text((enum err)a), err_text((enum err)b));
        }
    }
    assert_string_equal(err_text((enum err) - 999), "unknown error");
}

static void test_of_errno__known_values__map(void **state)
{
    (void)state;
    static const struct {
        int errnum;
        enum err want;
    } rows[] = {
        {0, ERR_OK},           {ENOMEM, ERR_NOMEM},       {ENOSPC, ERR_NOSPACE},
        {EDQUOT, ERR_NOSPACE}, {ENOENT, ERR_NOT_FOUND},   {EEXIST, ERR_EXISTS},
        {EACCES, ERR_DENIED},  {EPERM, ERR_DENIED},       {EROFS, ERR_DENIED},
        {EIO, ERR_IO},         {ENAMETOOLONG, ERR_LIMIT}, {ETIMEDOUT, ERR_TIMEOUT},
        {12345, ERR_IO},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(err_of_errno(rows[i].errnum), rows[i].want);
    }
}

static void test_set__long_texts__are_cut(void **state)
{
    (void)state;
    char longer[2000];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    struct errinfo info;
    assert_int_equal(errinfo_set(&info, ERR_LIMIT, longer, 3, "%s", longer), ERR_LIMIT);
    assert_int_equal(strlen(info.source), ERRINFO_SOURCE_MAX - 1);
    assert_int_equal(strlen(info.text), ERRINFO_TEXT_MAX - 1);
    assert_int_equal(info.line, 3);
    assert_int_equal(info.code, ERR_LIMIT);
}

static void test_set__null_target__gives_the_code(void **state)
{
    (void)state;
    assert_int_equal(errinfo_set(NULL, ERR_KEY, "x", 0, "y"), ERR_KEY);
    errno = ENOSPC;
    assert_int_equal(errinfo_errno(NULL, "x", "y"), ERR_NOSPACE);
}

static void test_set__texts_of_the_target_itself__are_kept(void **state)
{
    (void)state;
    struct errinfo info;
    (void)errinfo_set(&info, ERR_IO, "file", 0, "inner");
    (void)errinfo_set(&info, ERR_CORRUPT, info.source, 7, "outer: %s", info.text);
    assert_string_equal(info.source, "file");
    assert_string_equal(info.text, "outer: inner");
}

static void test_errno__a_value__is_explained(void **state)
{
    (void)state;
    struct errinfo info;
    errno = EACCES;
    assert_int_equal(errinfo_errno(&info, "/x", "cannot open"), ERR_DENIED);
    assert_string_equal(info.text, "cannot open: Permission denied");
    errno = 99999;
    assert_int_equal(errinfo_errno(&info, "/x", "cannot open"), ERR_IO);
    assert_string_equal(info.text, "cannot open: unknown system error");
}

static void test_set__control_bytes__command_no_terminal(void **state)
{
    (void)state;
    struct errinfo info;
    (void)errinfo_set(&info, ERR_CORRUPT, "a\nb", 0, "%s", "\x1b[31mr\xc3\xb6t\x7f");
    assert_string_equal(info.source, "a?b");
    assert_string_equal(info.text, "?[31mr\xc3\xb6t?");
}

static void test_format__what_is_known__is_shown(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        unsigned line;
        const char *text;
        const char *want;
    } rows[] = {
        {"f.conf", 12, "bad", "f.conf:12: bad"}, {"f.conf", 0, "bad", "f.conf: bad"},
        {"", 12, "bad", "line 12: bad"},         {NULL, 0, "bad", "bad"},
        {"f.conf", 0, "", "f.conf: damaged"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct errinfo info;
        char out[64];
        (void)errinfo_set(&info, ERR_CORRUPT, rows[i].source, rows[i].line, "%s",
                          rows[i].text);
        assert_string_equal(errinfo_format(&info, out, sizeof(out)), rows[i].want);
    }
    struct errinfo info;
    char small[6];
    (void)errinfo_set(&info, ERR_IO, "abcdef", 1, "text");
    assert_string_equal(errinfo_format(&info, small, sizeof(small)), "abcde");
}

static void test_nomem__a_source__is_named(void **state)
{
    struct errinfo info;
    char out[64];
    (void)state;

    assert_int_equal(errinfo_nomem(&info, "f"), ERR_NOMEM);
    assert_string_equal(errinfo_format(&info, out, sizeof(out)), "f: out of memory");
    assert_int_equal(errinfo_nomem(NULL, "f"), ERR_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__each_code__is_its_own),
        cmocka_unit_test(test_of_errno__known_values__map),
        cmocka_unit_test(test_set__long_texts__are_cut),
        cmocka_unit_test(test_set__null_target__gives_the_code),
        cmocka_unit_test(test_set__texts_of_the_target_itself__are_kept),
        cmocka_unit_test(test_errno__a_value__is_explained),
        cmocka_unit_test(test_set__control_bytes__command_no_terminal),
        cmocka_unit_test(test_nomem__a_source__is_named),
        cmocka_unit_test(test_format__what_is_known__is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
