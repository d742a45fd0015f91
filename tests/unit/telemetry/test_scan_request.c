/*
 * test_scan_request - printed requests are read back, others are refused with the reason.
 */
#include <stdio.h>

#include "core/telemetry/scan_request.h"

#include "tests/unit/unit.h"

static char room[SCAN_REQUEST_MAX];
static struct scan_request line;
static struct errinfo why;

static enum err parse(const char *rest)
{
    return scan_request_parse(slice_str(rest), room, &line, &why);
}

static void test_print__then_parsed_alike(void **state)
{
    (void)state;
    struct buf text;
    const struct scan_request want = {
        .bytes = 1234,
        .client = SLICE_LIT("2001:db8::1"),
        .helo = SLICE_LIT("a b%c"),
        .from = SLICE_LIT("<\xc3\xa9\n@x.example>"),
        .rcpt = {SLICE_LIT("a@b.example"), SLICE_LIT("=")},
        .nrcpt = 2,
        .is_authenticated = true};
    buf_init(&text, SCAN_REQUEST_MAX);
    scan_request_print(&want, &text);
    assert_string_equal(text.p, "scan 1234 client=2001:db8::1 helo=a%20b%25c "
                                "from=<%C3%A9%0A@x.example> rcpt=a@b.example rcpt== "
                                "auth=1\n");
    text.p[text.n - 1] = '\0';
    assert_int_equal(parse(text.p + 5), ERR_OK);
    assert_int_equal(line.bytes, 1234);
    assert_true(slice_eq(line.client, want.client));
    assert_true(slice_eq(line.helo, want.helo));
    assert_true(slice_eq(line.from, want.from));
    assert_int_equal(line.nrcpt, 2);
    assert_true(slice_eq(line.rcpt[1], want.rcpt[1]));
    assert_true(line.is_authenticated);
    assert_false(line.is_counting);
    buf_fini(&text);
}

static void test_parse__what_is_none__then_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        enum err want;
        const char *why;
    } rows[] = {
        {"", ERR_SYNTAX, "number"},
        {"x", ERR_SYNTAX, "number"},
        {"007", ERR_SYNTAX, "number"},
        {"67108865", ERR_LIMIT, "67108864"},
        {"99999999999999999999999999", ERR_LIMIT, "67108864"},
        {"1 ", ERR_SYNTAX, "understood"},
        {"1 helo", ERR_LIMIT, "1 to"},
        {"1 helo=", ERR_LIMIT, "1 to"},
        {"1 helo=%", ERR_SYNTAX, "%XX"},
        {"1 helo=%4", ERR_SYNTAX, "%XX"},
        {"1 helo=%4g", ERR_SYNTAX, "%XX"},
        {"1 helo=%00", ERR_SYNTAX, "%XX"},
        {"1 helo=\x7f", ERR_SYNTAX, "%XX"},
        {"1 helo=a helo=a", ERR_SYNTAX, "once"},
        {"1 auth=0", ERR_SYNTAX, "once"},
        {"1 count=1 count=1", ERR_SYNTAX, "once"},
        {"1 HELO=a", ERR_SYNTAX, "understood"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(parse(rows[i].rest), rows[i].want);
        if (strstr(why.text, rows[i].why) == NULL) {
            fail_msg("%s: %s", rows[i].rest, why.text);
        }
    }
    assert_int_equal(parse("0"), ERR_OK);
    assert_int_equal(parse("67108864 count=1"), ERR_OK);
    assert_true(line.is_counting);
}

static void test_parse__as_many_and_as_long_as_may_be__then_taken(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, (size_t)2 * SCAN_REQUEST_MAX);
    buf_add_str(&text, "5");
    for (int i = 0; i < SCAN_REQUEST_RCPTS; i++) {
        buf_printf(&text, " rcpt=r%d@x.example", i);
    }
    assert_int_equal(parse(text.p), ERR_OK);
    assert_int_equal(line.nrcpt, SCAN_REQUEST_RCPTS);
    buf_add_str(&text, " rcpt=one@more.example");
    assert_int_equal(parse(text.p), ERR_LIMIT);
    buf_clear(&text);
    buf_add_str(&text, "5 from=");
    for (int i = 0; i < SCAN_REQUEST_VALUE_MAX; i++) {
        buf_add_str(&text, "%41");
    }
    assert_int_equal(parse(text.p), ERR_OK);
    assert_int_equal(line.from.n, SCAN_REQUEST_VALUE_MAX);
    buf_add_str(&text, "A");
    assert_int_equal(parse(text.p), ERR_LIMIT);
    while (text.n <= SCAN_REQUEST_MAX) {
        buf_add_str(&text, " ");
    }
    assert_int_equal(parse(text.p), ERR_LIMIT);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print__then_parsed_alike),
        cmocka_unit_test(test_parse__what_is_none__then_refused),
        cmocka_unit_test(test_parse__as_many_and_as_long_as_may_be__then_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
