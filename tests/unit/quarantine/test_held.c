/*
 * test_held - queue ids, header fields of a held message, and rows.
 */
#include "core/quarantine/held.h"

#include "tests/unit/unit.h"

static void test_id__letters_and_digits__are_ids_and_nothing_else(void **state)
{
    static const struct {
        const char *text;
        bool is_id;
    } rows[] = {
        {"2283EA820FA", true},
        {"4XyZ0k2Bz9z1pQ", true},
        {"6AS2bUnf003203", true},
        {"12345", true},
        {"1234", false},
        {"ALL", false},
        {"bcdfGHJKLMzNPQ", true},
        {"", false},
        {"-h12345", false},
        {"2283EA820FA ", false},
        {"2283EA820FA\n", false},
        {"../2283EA820FA", false},
        {"2283EA/20FA", false},
        {"2283EA820F*", false},
        {"2283EA820F;ls", false},
        {"2283EA820F\xc3\xa9", false},
        {"123456789012345678901234567890123", false},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(quarantine_is_id(slice_str(rows[i].text)), rows[i].is_id);
    }
    assert_false(quarantine_is_id(slice_of("12345\0", 6)));
}

static const char header[] =
    "Received: from x\n\tby y; now\n"
    "X-Gillnet-Status: Yes, action=quarantine score=5.5\n\trequired=4.0 case=1kz5tszkk2t3\n"
    "X-Gillnet-Symbols: LIST_PHISH(5.0)[url_domain=evil.example]\n"
    "from:  =?utf-8?q?M=C3=BCller?=\n  <m@x.example>\n"
    "Subject: one\n"
    "X-Gillnet-Status: No, action=accept score=0 case=000000000000\n"
    "Subject: two\n"
    "no field\n";

static json_t *row_of(const char *text, struct arena *arena)
{
    struct held h = {.id = SLICE_LIT("2283EA820FA"),
                     .time_s = 1795833447,
                     .bytes = 384,
                     .sender = SLICE_LIT("a@x.example\xff")};

    held_add_recipient(&h, SLICE_LIT("Bob@rcpt.example"));
    held_read_header(&h, slice_str(text), arena);
    return held_json(&h);
}

static void test_row__header_with_folds__has_the_first_of_each(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    json_t *row = row_of(header, arena);

    (void)state;
    assert_string_equal(held_text(row, "id"), "2283EA820FA");
    assert_int_equal(held_number(row, "time_s"), 1795833447);
    assert_string_equal(held_text(row, "sender"), "a@x.example\xef\xbf\xbd");
    assert_string_equal(held_text(row, "from"),
                        "=?utf-8?q?M=C3=BCller?= <m@x.example>");
    assert_string_equal(held_text(row, "subject"), "one");
    assert_string_equal(held_text(row, "case"), "1kz5tszkk2t3");
    assert_float_equal(json_number_value(json_object_get(row, "score")), 5.5, 1e-9);
    assert_true(held_is_gillnets(row));
    assert_true(held_has_recipient(row, "bob@RCPT.example"));
    assert_false(held_has_recipient(row, "bob@rcpt.example2"));
    assert_string_equal(held_text(row, "none"), "");
    json_decref(row);
    arena_free(&arena);
}

static void test_row__no_verdict_or_another__is_not_gillnets(void **state)
{
    static const char *const headers[] = {
        "",
        "\n",
        "Subject",
        "Subject:",
        "X-Gillnet-Status: Yes, action=header score=3",
        "X-Gillnet-Status: xaction=quarantine",
        "X-Gillnet-Status:\n action=quarantined"};

    (void)state;
    for (size_t i = 0; i < LENGTH(headers); i++) {
        struct arena *arena = arena_new(1 << 16);
        json_t *row = row_of(headers[i], arena);

        assert_false(held_is_gillnets(row));
        assert_string_equal(held_text(row, "case"), "");
        json_decref(row);
        arena_free(&arena);
    }
}

static void test_row__more_recipients_than_named__counts_all(void **state)
{
    struct held h = {.id = SLICE_LIT("12345")};

    (void)state;
    for (size_t i = 0; i < HELD_RECIPIENTS_MAX + 5; i++) {
        held_add_recipient(&h, SLICE_LIT("a@x.example"));
    }
    json_t *row = held_json(&h);
    assert_int_equal(held_number(row, "nrcpt"), HELD_RECIPIENTS_MAX + 5);
    assert_int_equal(json_array_size(json_object_get(row, "recipients")),
                     HELD_RECIPIENTS_MAX);
    json_decref(row);
}

static void test_rows__an_answer__leaves_out_what_is_no_object(void **state)
{
    json_t *rows =
        held_rows(SLICE_LIT("ok\n{\"id\":\"a1\"}\nnone\n[1]\n{\"id\":\"b2\"}\n{"));

    (void)state;
    assert_int_equal(json_array_size(rows), 2);
    assert_ptr_equal(held_find(rows, "b2"), json_array_get(rows, 1));
    assert_null(held_find(rows, "c3"));
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id__letters_and_digits__are_ids_and_nothing_else),
        cmocka_unit_test(test_row__header_with_folds__has_the_first_of_each),
        cmocka_unit_test(test_row__no_verdict_or_another__is_not_gillnets),
        cmocka_unit_test(test_row__more_recipients_than_named__counts_all),
        cmocka_unit_test(test_rows__an_answer__leaves_out_what_is_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
