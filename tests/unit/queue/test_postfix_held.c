/*
 * test_postfix_held - output of postqueue -j and postcat -qeh, also hostile.
 */
#include "core/quarantine/queue/postfix_held.h"

#include "tests/unit/unit.h"

static void test_listing__a_held_message__is_read(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct held h;

    (void)state;
    assert_true(postfix_held_read(
        SLICE_LIT("{\"queue_name\": \"hold\", \"queue_id\": \"2283EA820FA\", "
                  "\"arrival_time\": 1795833447, \"message_size\": 384, "
                  "\"forced_expire\": false, \"sender\": \"alice@sender.example\", "
                  "\"recipients\": [{\"address\": \"bob@rcpt.example\"}, "
                  "{\"address\": \"a\\nb\", \"delay_reason\": \"x\"}]}"),
        &h, arena));
    assert_true(slice_eq(h.id, SLICE_LIT("2283EA820FA")));
    assert_int_equal(h.time_s, 1795833447);
    assert_int_equal(h.bytes, 384);
    assert_true(slice_eq(h.sender, SLICE_LIT("alice@sender.example")));
    assert_int_equal(h.nrcpt, 2);
    assert_true(slice_eq(h.rcpt[1], SLICE_LIT("a\nb")));
    arena_free(&arena);
}

static void test_listing__other_or_damaged__is_left_out(void **state)
{
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"queue_name\": \"deferred\", \"queue_id\": \"2283EA820FA\"}",
        "{\"queue_name\": \"holdx\", \"queue_id\": \"2283EA820FA\"}",
        "{\"queue_name\": \"hold\"}",
        "{\"queue_name\": \"hold\", \"queue_id\": 2283}",
        "{\"queue_name\": \"hold\", \"queue_id\": \"ALL\"}",
        "{\"queue_name\": \"hold\", \"queue_id\": \"-r12345\"}",
        "{\"queue_name\": \"deferred\", \"queue_name\": \"hold\", \"queue_id\": \"12345\"}",
    };
    struct arena *arena = arena_new(1 << 16);
    struct held h;

    (void)state;
    for (size_t i = 0; i < LENGTH(lines); i++) {
        assert_false(postfix_held_read(slice_str(lines[i]), &h, arena));
    }
    arena_free(&arena);
}

static void test_postcat__several_messages__are_cut_at_its_own_lines(void **state)
{
    struct slice output = SLICE_LIT("*** ENVELOPE RECORDS hold/A1234 ***\n"
                                    "sender: *** MESSAGE CONTENTS hold/Z9999 ***\n"
                                    "*** MESSAGE CONTENTS hold/A1234 ***\n"
                                    "Subject: one\n"
                                    " *** HEADER EXTRACTED hold/A1234 ***\n"
                                    "X: *** HEADER EXTRACTED hold/A1234 ***\n"
                                    "*** HEADER EXTRACTED hold/B1234 ***\n"
                                    "*** HEADER EXTRACTED hold/A1234 ***\n"
                                    "*** MESSAGE FILE END hold/A1234 ***\n"
                                    "*** ENVELOPE RECORDS deferred/B1234 ***\n"
                                    "*** MESSAGE CONTENTS deferred/B1234 ***\n"
                                    "*** HEADER EXTRACTED deferred/B1234 ***\n"
                                    "*** MESSAGE CONTENTS hold/C1234 ***\n"
                                    "Subject: cut");
    struct slice id;
    struct slice header;

    (void)state;
    assert_true(postfix_next_header(&output, &id, &header));
    assert_true(slice_eq(id, SLICE_LIT("A1234")));
    assert_true(slice_eq(header, SLICE_LIT("Subject: one\n"
                                           " *** HEADER EXTRACTED hold/A1234 ***\n"
                                           "X: *** HEADER EXTRACTED hold/A1234 ***\n"
                                           "*** HEADER EXTRACTED hold/B1234 ***\n")));
    assert_true(postfix_next_header(&output, &id, &header));
    assert_int_equal(id.n, 0);
    assert_int_equal(header.n, 0);
    assert_false(postfix_next_header(&output, &id, &header));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listing__a_held_message__is_read),
        cmocka_unit_test(test_listing__other_or_damaged__is_left_out),
        cmocka_unit_test(test_postcat__several_messages__are_cut_at_its_own_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
