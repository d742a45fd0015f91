/* test_resp - replies of Redis, whole and in pieces, true and hostile; commands. */
#include "core/base/slice.h"
#include "core/hub/redis/resp.h"

#include "tests/unit/redis/resp_shape.h"
#include "tests/unit/unit.h"

struct row {
    const char *bytes;
    const char *want; /* the shape, or the fault behind "fault: " */
};

static const struct row replies[] = {
    {"+OK\r\n", "'OK'"},
    {"-ERR no\r\n", "!'ERR no'"},
    {":-42\r\n", "-42"},
    {":+7\r\n", "7"},
    {":9223372036854775807\r\n", "9223372036854775807"},
    {":-9223372036854775808\r\n", "-9223372036854775808"},
    {"$0\r\n\r\n", "''"},
    {"$7\r\na\r\nb\r\nc\r\n", "'a\\x0d\\x0ab\\x0d\\x0ac'"},
    {"$-1\r\n", "null"},
    {"*-1\r\n", "null"},
    {"_\r\n", "null"},
    {"*0\r\n", "[]"},
    {"%0\r\n", "{}"},
    {"#t\r\n", "true"},
    {"#f\r\n", "false"},
    {",-1.5e3\r\n", "'-1.5e3'"},
    {",inf\r\n", "'inf'"},
    {"(123456789012345678901234567890\r\n", "'123456789012345678901234567890'"},
    {"!5\r\nERR x\r\n", "!'ERR x'"},
    {"=8\r\ntxt:a b \r\n", "'a b '"},
    {"*3\r\n:1\r\n*2\r\n+a\r\n*0\r\n$1\r\nb\r\n", "[1 ['a' []] 'b']"},
    {"%2\r\n+k\r\n:1\r\n+l\r\n*1\r\n_\r\n", "{'k' 1 'l' [null]}"},
    {"~2\r\n:1\r\n:2\r\n", "[1 2]"},
    {">2\r\n+message\r\n+x\r\n", ">['message' 'x']"},
    {"|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n+b\r\n:2\r\n", "[1 2]"},
    {"|0\r\n+x\r\n", "'x'"},
};

static const struct row faults[] = {
    {"\r\n", "a byte that begins no reply"},
    {"HTTP/1.1 400 Bad Request\r\n", "a byte that begins no reply"},
    {"+OK\n", "a line that does not end in CR LF"},
    {"+\n", "a line that does not end in CR LF"},
    {":\r\n", "a malformed integer"},
    {":1x\r\n", "a malformed integer"},
    {":9223372036854775808\r\n", "a malformed integer"},
    {":-9223372036854775809\r\n", "a malformed integer"},
    {"$x\r\n", "a length that is no number"},
    {"$-2\r\n", "a length that is no number"},
    {"$?\r\n", "a length that is no number"},
    {"!-1\r\n", "a length that is no number"},
    {"%-1\r\n", "a length that is no number"},
    {"$67108865\r\n", "a reply of too many bytes"},
    {"$9223372036854775807\r\n", "a reply of too many bytes"},
    {"$99999999999999999999\r\n", "a length that is no number"},
    {"*1048577\r\n", "a reply of too many elements"},
    {"%524289\r\n", "a reply of too many elements"},
    {"%9223372036854775807\r\n", "a reply of too many elements"},
    {"*1048576\r\n", "a reply of too many elements"},
    {"*2\r\n*1048575\r\n", "a reply of too many elements"},
    {"$1\r\nabc\r\n", "a text that does not end in CR LF"},
    {"=3\r\ntxt\r\n", "a verbatim text without its kind"},
    {"=5\r\ntxtab\r\n", "a verbatim text without its kind"},
    {"#x\r\n", "a malformed truth value"},
    {"_x\r\n", "a null with a value"},
    {",\r\n", "a malformed number"},
    {",one\r\n", "a malformed number"},
    {"*1\r\n>1\r\n+x\r\n", "a push within a reply"},
};

/* Feeds in pieces of `step` bytes, the first of `first`; the last status. */
static enum resp_status feed(struct resp *r, struct slice all, size_t first,
                             size_t step)
{
    enum resp_status status = RESP_MORE;
    size_t n = first;

    while (status == RESP_MORE && all.n > 0) {
        struct slice part = slice_head(all, n);
        const size_t before = part.n;

        status = resp_feed(r, &part);
        all = slice_from(all, before - part.n);
        n = step;
    }
    return status;
}

static void check_reply(struct resp *r, const struct row *row, size_t first,
                        size_t step)
{
    struct buf shape;

    buf_init(&shape, 4096);
    assert_int_equal(feed(r, slice_str(row->bytes), first, step), RESP_DONE);
    resp_shape(&shape, r);
    assert_string_equal(shape.p, row->want);
    buf_fini(&shape);
}

static void test_feed__any_split__same_reply(void **state)
{
    struct resp r;

    (void)state;
    resp_init(&r);
    for (size_t i = 0; i < LENGTH(replies); i++) {
        const size_t n = strlen(replies[i].bytes);

        for (size_t at = 1; at <= n; at++) {
            check_reply(&r, &replies[i], at, n);
        }
        check_reply(&r, &replies[i], 1, 1);
    }
    resp_fini(&r);
}

static void test_feed__replies_in_a_row__each_taken_alone(void **state)
{
    struct slice all = SLICE_LIT("+a\r\n*1\r\n:5\r\n$1\r\nz\r\n");
    const char *const want[] = {"'a'", "[5]", "'z'"};
    struct resp r;
    struct buf shape;

    (void)state;
    resp_init(&r);
    buf_init(&shape, 4096);
    for (size_t i = 0; i < LENGTH(want); i++) {
        assert_int_equal(resp_feed(&r, &all), RESP_DONE);
        buf_clear(&shape);
        resp_shape(&shape, &r);
        assert_string_equal(shape.p, want[i]);
    }
    assert_int_equal(all.n, 0);
    assert_int_equal(resp_feed(&r, &all), RESP_MORE);
    buf_fini(&shape);
    resp_fini(&r);
}

static void test_feed__hostile__named_fault_at_any_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(faults); i++) {
        const size_t n = strlen(faults[i].bytes);

        for (size_t at = 1; at <= n; at++) {
            struct resp r;

            resp_init(&r);
            assert_int_equal(feed(&r, slice_str(faults[i].bytes), at, n), RESP_FAULT);
            assert_string_equal(r.fault, faults[i].want);
            resp_fini(&r);
        }
    }
}

/* The status after `each` was fed `times` times. */
static enum resp_status feed_again(struct resp *r, const char *each, size_t times)
{
    enum resp_status status = RESP_MORE;

    for (size_t i = 0; i < times && status == RESP_MORE; i++) {
        struct slice part = slice_str(each);

        status = resp_feed(r, &part);
    }
    return status;
}

static void test_feed__nested_too_deep__fault(void **state)
{
    struct resp r;

    (void)state;
    resp_init(&r);
    assert_int_equal(feed_again(&r, "*1\r\n", RESP_DEPTH_MAX), RESP_MORE);
    assert_int_equal(feed_again(&r, ":1\r\n", 1), RESP_DONE);
    assert_int_equal(feed_again(&r, "*1\r\n", RESP_DEPTH_MAX + 1), RESP_FAULT);
    assert_string_equal(r.fault, "a reply that is nested too deep");
    resp_fini(&r);
}

static void test_feed__endless_line__fault(void **state)
{
    struct resp r;

    (void)state;
    resp_init(&r);
    assert_int_equal(feed_again(&r, "+", 1), RESP_MORE);
    assert_int_equal(feed_again(&r, "xxxxxxxx", RESP_LINE_MAX / 8), RESP_MORE);
    assert_int_equal(feed_again(&r, "x", 1), RESP_FAULT);
    assert_string_equal(r.fault, "a line that is too long");
    resp_fini(&r);
}

static void test_feed__endless_attributes__fault(void **state)
{
    struct resp r;

    (void)state;
    resp_init(&r);
    assert_int_equal(feed_again(&r, "|1\r\n+a\r\n:1\r\n", RESP_ELEMENTS_MAX),
                     RESP_FAULT);
    assert_string_equal(r.fault, "a reply of too many elements");
    assert_true(r.room < 16); /* dropped ones take no memory */
    resp_fini(&r);
}

static void test_feed__elements_up_to_the_limit__reply(void **state)
{
    struct resp r;
    struct slice head = SLICE_LIT("*1048575\r\n");

    (void)state;
    resp_init(&r);
    assert_int_equal(resp_feed(&r, &head), RESP_MORE);
    assert_int_equal(feed_again(&r, "_\r\n", RESP_ELEMENTS_MAX - 1), RESP_DONE);
    assert_int_equal(r.nnodes, RESP_ELEMENTS_MAX);
    assert_int_equal(feed_again(&r, "+a\r\n", 1), RESP_DONE);
    assert_true(r.room * sizeof(*r.nodes) <= RESP_KEPT_BYTES); /* and given back */
    resp_fini(&r);
}

static void test_below__walks__over_whole_neighbours(void **state)
{
    struct resp r;
    struct slice s =
        SLICE_LIT("*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n%1\r\n+k\r\n+v\r\n+z\r\n");

    (void)state;
    resp_init(&r);
    assert_int_equal(resp_feed(&r, &s), RESP_DONE);
    const size_t map = resp_below(&r, 0, 1);
    assert_true(slice_eq(resp_text(&r, resp_below(&r, 0, 2)), SLICE_LIT("z")));
    assert_int_equal(resp_below(&r, 0, 3), 0);
    assert_int_equal(resp_below(&r, resp_below(&r, 0, 2), 0), 0);
    assert_true(slice_eq(resp_text(&r, resp_value(&r, map, "k")), SLICE_LIT("v")));
    assert_int_equal(resp_value(&r, map, "v"), 0);
    assert_int_equal(resp_value(&r, resp_below(&r, 0, 2), "k"), 0);
    resp_fini(&r);
}

static void test_add_command__any_bytes__bulk_strings(void **state)
{
    const struct slice args[] = {SLICE_LIT("SET"), SLICE_LIT("k\r\n"),
                                 slice_of("\0", 1), SLICE_NONE};
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    resp_add_command(&b, args, LENGTH(args));
    assert_true(slice_eq(
        buf_slice(&b),
        SLICE_LIT("*4\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$1\r\n\0\r\n$0\r\n\r\n")));
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feed__any_split__same_reply),
        cmocka_unit_test(test_feed__replies_in_a_row__each_taken_alone),
        cmocka_unit_test(test_feed__hostile__named_fault_at_any_split),
        cmocka_unit_test(test_feed__nested_too_deep__fault),
        cmocka_unit_test(test_feed__endless_line__fault),
        cmocka_unit_test(test_feed__endless_attributes__fault),
        cmocka_unit_test(test_feed__elements_up_to_the_limit__reply),
        cmocka_unit_test(test_below__walks__over_whole_neighbours),
        cmocka_unit_test(test_add_command__any_bytes__bulk_strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
