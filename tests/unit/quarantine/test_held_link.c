/*
 * test_held_link - links of digests: made, used once, reopened, expired, and tokens of any form.
 */
#include "core/base/base.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/quarantine/held.h"
#include "core/quarantine/held_link.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { NOW_S = 1000, THEN_S = 2000 };

static void make_link(const struct tempdir *t, const char *action,
                      char token[HELD_TOKEN_SIZE])
{
    json_t *row = json_pack("{s:s, s:i, s:s}", "id", "2283EA820FA", "time_s", 77,
                            "subject", "hello");

    const struct held_link_terms terms = {row, "bob@rcpt.example", action, THEN_S};

    assert_int_equal(held_link_make(t->path, &terms, token, NULL), ERR_OK);
    json_decref(row);
    assert_int_equal(strlen(token), HELD_TOKEN_CHARS);
}

static enum held_link_state state_of(const struct tempdir *t, const char *token,
                                     uint64_t now_s)
{
    json_t *link = NULL;
    enum held_link_state s = held_link_read(t->path, slice_str(token), now_s, &link);

    assert_int_equal(s == HELD_LINK_OPEN, link != NULL);
    json_decref(link);
    return s;
}

static void test_link__made__is_bound_and_no_file_has_its_token(void **state)
{
    struct tempdir *t = *state;
    char token[HELD_TOKEN_SIZE];
    char other[HELD_TOKEN_SIZE];
    json_t *link = NULL;

    make_link(t, HELD_LINK_RELEASE, token);
    make_link(t, HELD_LINK_SPAM, other);
    assert_string_not_equal(token, other);
    assert_int_equal(held_link_read(t->path, slice_str(token), NOW_S, &link),
                     HELD_LINK_OPEN);
    assert_string_equal(held_text(link, "id"), "2283EA820FA");
    assert_int_equal(held_number(link, "time_s"), 77);
    assert_string_equal(held_text(link, "recipient"), "bob@rcpt.example");
    assert_string_equal(held_text(link, "action"), "release");
    json_decref(link);
    struct dir_walk w = dir_walk_begin(tempdir_file(t, "quarantine/links"), DIR_NEEDED);
    while (dir_walk_next(&w)) {
        assert_null(strstr(w.name, token));
    }
    assert_int_equal(dir_walk_end(&w, ERR_OK, NULL), ERR_OK);
}

static void test_link__used__stays_used_until_reopened(void **state)
{
    struct tempdir *t = *state;
    char token[HELD_TOKEN_SIZE];

    make_link(t, HELD_LINK_RELEASE, token);
    assert_true(held_link_use(t->path, slice_str(token)));
    assert_false(held_link_use(t->path, slice_str(token)));
    assert_int_equal(state_of(t, token, NOW_S), HELD_LINK_USED);
    held_link_reopen(t->path, slice_str(token));
    assert_int_equal(state_of(t, token, NOW_S), HELD_LINK_OPEN);
    assert_true(held_link_use(t->path, slice_str(token)));
}

static void test_link__its_time_is_over__is_expired_and_swept(void **state)
{
    struct tempdir *t = *state;
    char token[HELD_TOKEN_SIZE];
    char used[HELD_TOKEN_SIZE];

    make_link(t, HELD_LINK_RELEASE, token);
    make_link(t, HELD_LINK_RELEASE, used);
    assert_true(held_link_use(t->path, slice_str(used)));
    assert_int_equal(state_of(t, token, THEN_S - 1), HELD_LINK_OPEN);
    assert_int_equal(state_of(t, token, THEN_S), HELD_LINK_EXPIRED);
    assert_int_equal(held_link_sweep(t->path, THEN_S - 1, NULL), ERR_OK);
    assert_int_equal(state_of(t, used, NOW_S), HELD_LINK_USED);
    assert_int_equal(held_link_sweep(t->path, THEN_S, NULL), ERR_OK);
    assert_int_equal(state_of(t, token, NOW_S), HELD_LINK_UNKNOWN);
    assert_int_equal(state_of(t, used, NOW_S), HELD_LINK_UNKNOWN);
}

static void test_link__token_of_another_form__is_unknown(void **state)
{
    struct tempdir *t = *state;
    char token[HELD_TOKEN_SIZE];
    static const char *const tokens[] = {"",
                                         "x",
                                         "../../../../../../../../etc/passw",
                                         "00000000000000000000000000000000",
                                         "0000000000000000000000000000000",
                                         "000000000000000000000000000000000",
                                         "0000000000000000000000000000000G"};

    make_link(t, HELD_LINK_RELEASE, token);
    for (size_t i = 0; i < LENGTH(tokens); i++) {
        assert_int_equal(state_of(t, tokens[i], NOW_S), HELD_LINK_UNKNOWN);
        assert_false(held_link_use(t->path, slice_str(tokens[i])));
    }
    token[5] = token[5] == '0' ? '1' : '0';
    assert_int_equal(state_of(t, token, NOW_S), HELD_LINK_UNKNOWN);
    token[5] = '\0'; /* a NUL is no digit */
    json_t *link = NULL;
    assert_int_equal(
        held_link_read(t->path, slice_of(token, HELD_TOKEN_CHARS), NOW_S, &link),
        HELD_LINK_UNKNOWN);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_link__made__is_bound_and_no_file_has_its_token),
        TEST(test_link__used__stays_used_until_reopened),
        TEST(test_link__its_time_is_over__is_expired_and_swept),
        TEST(test_link__token_of_another_form__is_unknown),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
