/*
 * test_message_row - a row has what its record has; its JSON is UTF-8 for mail of any bytes, and
 * leaves out empty members; symbols by their share of the score.
 */
#include "core/base/word_table.h"
#include "core/verdict/journal/message_row.h"

#include "tests/unit/journal/records.h"
#include "tests/unit/unit.h"

static char *json_of(const struct message_row *row)
{
    json_t *value = message_row_json(row);
    assert_non_null(value);
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15));

    json_decref(value);
    assert_non_null(text);
    return text;
}

static void test_row__of_a_record__has_all_of_it(void **state)
{
    struct example *e = calloc(1, sizeof(*e));
    struct message_row row;

    (void)state;
    assert_non_null(e);
    example_fill(e, 12);
    e->record.nrcpt = 3;
    e->record.addr[10] = 0xff;
    e->record.addr[11] = 0xff;
    message_row_of(&e->record, &row);
    char *text = json_of(&row);
    assert_string_equal(
        text,
        "{\"time\":\"2023-11-14T22:13:20Z\",\"case\":\"0x410000000c\",\"id\":\"4Q00000c\","
        "\"from\":\"sender12@sender.example\",\"header_from\":\"sender12@sender.example\","
        "\"to\":[\"joe2@rcpt.example\"],\"recipients\":3,\"client\":{\"address\":\"0.0.0.12\"},"
        "\"subject\":\"hello\",\"size\":1012,\"action\":\"header\",\"score\":7.5,"
        "\"outgoing\":false,\"symbols\":[{\"name\":\"LIST_PHISH\",\"score\":6.0},"
        "{\"name\":\"BULK_REPLICA\",\"score\":1.5}]}");
    free(text);
    free(e);
}

static void test_json__without_values__leaves_them_out(void **state)
{
    const struct message_row row = {.unjudged = SLICE_LIT("memory"),
                                    .is_outgoing = true};
    char *text = json_of(&row);

    (void)state;
    assert_string_equal(
        text, "{\"time\":\"1970-01-01T00:00:00Z\",\"case\":\"000000000000\","
              "\"id\":\"\",\"from\":\"\",\"to\":[],\"recipients\":0,\"client\":{},"
              "\"size\":0,\"action\":\"accept\",\"score\":null,\"outgoing\":true,"
              "\"reason\":\"memory\",\"symbols\":[]}");
    free(text);
}

static void test_json__of_hostile_bytes__is_utf8(void **state)
{
    static const struct slice to[] = {WORD_ROW("\xff\0</script>\x1b[2J")};
    const struct message_row row = {.subject = SLICE_LIT("\xc3(\"\\\n\xe2\x80\xae"),
                                    .to = to,
                                    .nto = 1,
                                    .nrcpt = 1};
    char *text = json_of(&row);

    (void)state;
    assert_non_null(strstr(text, "\"\xef\xbf\xbd\xef\xbf\xbd</script>\\u001B[2J\""));
    assert_non_null(strstr(text, "\"\xef\xbf\xbd(\\\"\\\\\\n\xe2\x80\xae\""));
    free(text);
}

static void test_symbols__come_by_their_share(void **state)
{
    static const struct record_symbol v[] = {{WORD_ROW("A"), 1, 0, {NULL, 0}},
                                             {WORD_ROW("B"), 0, 0, {NULL, 0}},
                                             {WORD_ROW("C"), -4, 0, {NULL, 0}},
                                             {WORD_ROW("D"), 1, 0, {NULL, 0}},
                                             {WORD_ROW("E"), 2, 0, {NULL, 0}}};
    static const size_t order[] = {2, 4, 0, 3};

    (void)state;
    for (size_t i = 0; i < LENGTH(order); i++) {
        assert_ptr_equal(message_row_symbol(v, LENGTH(v), i), &v[order[i]]);
    }
    assert_null(message_row_symbol(v, LENGTH(v), LENGTH(order)));
    assert_null(message_row_symbol(v, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row__of_a_record__has_all_of_it),
        cmocka_unit_test(test_json__without_values__leaves_them_out),
        cmocka_unit_test(test_json__of_hostile_bytes__is_utf8),
        cmocka_unit_test(test_symbols__come_by_their_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
