/*
 * test_logline - the log line of a message: each key, hostile values, and its bounds.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "core/base/log.h"

#include "milter/logline.h"

#include "tests/unit/unit.h"

static struct verdict verdict;
static struct slice rcpt[LOGLINE_RCPTS];

static void add(const char *name, double score, const char *detail)
{
    struct symbol *s = &verdict.symbols[verdict.nsymbols++];
    snprintf(s->name, sizeof(s->name), "%s", name);
    s->score = score;
    s->detail = slice_str(detail);
}

/* A message with all that each one has. */
static struct logline plain_line(void)
{
    verdict = (struct verdict){.action = ACTION_REJECT, .score = 12};
    add("LIST_PHISH", 12, "url=evil.example/x");
    rcpt[0] = SLICE_LIT("<c@d>");
    return (struct logline){.queue_id = "4XyZ",
                            .verdict = &verdict,
                            .done = ACTION_REJECT,
                            .wanted = ACTION_REJECT,
                            .required = 10,
                            .client_address = "192.0.2.1",
                            .client_name = SLICE_LIT("mx.example"),
                            .helo = SLICE_LIT("mx.example"),
                            .has_addresses = true,
                            .from = SLICE_LIT("<a@b>"),
                            .rcpt = rcpt,
                            .nrcpt = 1,
                            .message_id = SLICE_LIT("<x@y>"),
                            .size = 1234,
                            .us = 340};
}

static void assert_line(const struct logline *l, const char *want)
{
    char *line = logline_text(l);

    assert_non_null(line);
    assert_string_equal(line, want);
    free(line);
}

static void assert_has(const struct logline *l, const char *part)
{
    char *line = logline_text(l);

    assert_non_null(line);
    if (strstr(line, part) == NULL) {
        fail_msg("no \"%s\" in %s", part, line);
    }
    free(line);
}

static void test_text__each_key__in_its_order(void **state)
{
    struct logline l = plain_line();

    (void)state;
    assert_line(&l, "4XyZ: action=reject score=12.0 required=10.0 "
                    "symbols=LIST_PHISH(12.0)[url=evil.example/x] "
                    "client=mx.example[192.0.2.1] helo=mx.example from=<a@b> nrcpt=1 "
                    "to=<c@d> mid=<x@y> size=1234 limits=- config=0 us=340");
    add("BULK", 1.5, "");
    l.done = ACTION_ACCEPT;
    l.case_id = "d3k7p0vq9x2m";
    l.reason = "shadow";
    l.nstripped = 2;
    l.left_forged = true;
    l.generation = 7;
    l.client_name = SLICE_NONE;
    l.helo = SLICE_NONE;
    verdict.fault = LIST_FAULT_LISTS;
    verdict.limits = LIMIT_FLAG(urls) | LIMIT_FLAG(parts);
    assert_line(&l, "4XyZ: action=accept score=12.0 required=10.0 "
                    "symbols=LIST_PHISH(12.0)[url=evil.example/x],BULK(1.5) "
                    "client=unknown[192.0.2.1] helo=- from=<a@b> nrcpt=1 to=<c@d> "
                    "mid=<x@y> size=1234 limits=parts,urls config=7 us=340 "
                    "case=d3k7p0vq9x2m reason=shadow wanted=reject fault=lists "
                    "stripped=2 forged=left");
    l = (struct logline){.queue_id = "4XyZ",
                         .reason = "trusted_network",
                         .required = (double)INFINITY,
                         .client_address = "unknown"};
    assert_line(&l, "4XyZ: action=accept score=0.0 required=off symbols=- "
                    "client=unknown[unknown] helo=- from=- nrcpt=0 to=- mid=- size=0 "
                    "limits=- config=0 us=0 reason=trusted_network");
}

static void test_text__without_addresses__names_nobody(void **state)
{
    struct logline l = plain_line();

    (void)state;
    l.has_addresses = false;
    assert_has(&l, " from=- nrcpt=1 to=- mid=<x@y> ");
}

static void test_text__recipients__three_are_named(void **state)
{
    struct logline l = plain_line();

    (void)state;
    rcpt[1] = SLICE_LIT("<e,\"f\"@g>");
    rcpt[2] = SLICE_LIT("<h\\ \xc3@i>");
    l.nrcpt = 2;
    assert_has(&l, " nrcpt=2 to=<c@d>,<e\\x2c\\x22f\\x22@g> mid=");
    l.nrcpt = 3;
    assert_has(&l, " nrcpt=3 to=<c@d>,<e\\x2c\\x22f\\x22@g>,<h\\x5c\\x20\\xc3@i> mid=");
    l.nrcpt = 4;
    assert_has(&l,
               " nrcpt=4 to=<c@d>,<e\\x2c\\x22f\\x22@g>,<h\\x5c\\x20\\xc3@i>,... mid=");
}

static void test_text__hostile_detail__stays_in_its_brackets(void **state)
{
    struct logline l = plain_line();
    char lengthy[LOGLINE_DETAIL + 2];
    char want[LOGLINE_DETAIL + 8];

    (void)state;
    verdict.symbols[0].detail = SLICE_LIT("a]b[c,d e\x7f\n");
    assert_has(&l, "(12.0)[a\\x5db\\x5bc\\x2cd\\x20e\\x7f\\x0a] ");
    memset(lengthy, 'x', sizeof(lengthy));
    verdict.symbols[0].detail = slice_of(lengthy, LOGLINE_DETAIL - 2);
    snprintf(want, sizeof(want), "[%.*s] ", LOGLINE_DETAIL - 2, lengthy);
    assert_has(&l, want);
    verdict.symbols[0].detail = slice_of(lengthy, LOGLINE_DETAIL + 1);
    snprintf(want, sizeof(want), "[%.*s...] ", LOGLINE_DETAIL - 3, lengthy);
    assert_has(&l, want);
}

static void test_text__many_symbols__the_rest_is_counted(void **state)
{
    struct logline l = plain_line();
    char lengthy[LOGLINE_DETAIL - 1];

    (void)state;
    memset(lengthy, 'x', sizeof(lengthy) - 1);
    lengthy[sizeof(lengthy) - 1] = '\0';
    verdict.nsymbols = 0;
    for (unsigned i = 0; i < 20; i++) {
        add("SYMBOL", 1, lengthy);
    }
    /* 131 bytes each, and a comma: 13 of them have more than 1,600 */
    assert_has(&l, "xxx],SYMBOL(1.0)[xxx");
    assert_has(&l, "xxx],+7 client=");
}

static json_t *parsed(const struct logline *l)
{
    char *line = logline_json(l);

    assert_non_null(line);
    assert_true(strlen(line) <= LOG_LINE_MAX);
    for (const char *p = line; *p != '\0'; p++) {
        assert_true(*p >= ' ' && *p <= '~');
    }
    json_t *o = json_loads(line, 0, NULL);
    assert_non_null(o);
    free(line);
    return o;
}

static const char *text_at(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text != NULL ? text : "none";
}

static void test_json__each_key__as_in_the_text(void **state)
{
    struct logline l = plain_line();
    json_t *o = parsed(&l);

    (void)state;
    assert_string_equal(text_at(o, "queue_id"), "4XyZ");
    assert_string_equal(text_at(o, "action"), "reject");
    assert_string_equal(text_at(o, "client"), "192.0.2.1");
    assert_string_equal(text_at(o, "client_name"), "mx.example");
    assert_string_equal(text_at(o, "helo"), "mx.example");
    assert_string_equal(text_at(o, "from"), "<a@b>");
    assert_string_equal(text_at(o, "mid"), "<x@y>");
    assert_string_equal(json_string_value(json_array_get(json_object_get(o, "to"), 0)),
                        "<c@d>");
    assert_int_equal(json_integer_value(json_object_get(o, "nsymbols")), 1);
    const json_t *symbol = json_array_get(json_object_get(o, "symbols"), 0);
    assert_string_equal(text_at(symbol, "name"), "LIST_PHISH");
    assert_string_equal(text_at(symbol, "detail"), "url=evil.example/x");
    assert_int_equal(json_integer_value(json_object_get(o, "size")), 1234);
    assert_int_equal(json_integer_value(json_object_get(o, "us")), 340);
    assert_null(json_object_get(o, "case"));
    assert_null(json_object_get(o, "wanted"));
    assert_null(json_object_get(o, "stripped"));
    json_decref(o);
    l.done = ACTION_HEADER;
    l.case_id = "d3k7p0vq9x2m";
    l.reason = "shadow";
    l.nstripped = 2;
    l.left_forged = true;
    l.required = (double)INFINITY;
    l.has_addresses = false;
    verdict.fault = LIST_FAULT_LISTS;
    o = parsed(&l);
    assert_string_equal(text_at(o, "case"), "d3k7p0vq9x2m");
    assert_string_equal(text_at(o, "reason"), "shadow");
    assert_string_equal(text_at(o, "wanted"), "reject");
    assert_string_equal(text_at(o, "fault"), "lists");
    assert_string_equal(text_at(o, "forged"), "left");
    assert_int_equal(json_integer_value(json_object_get(o, "stripped")), 2);
    assert_true(json_is_null(json_object_get(o, "required")));
    assert_true(json_is_null(json_object_get(o, "from")));
    assert_int_equal(json_array_size(json_object_get(o, "to")), 0);
    json_decref(o);
}

/* Each byte of a value can take six of the line. */
static void test_json__long_hostile_values__cut_until_the_line_fits(void **state)
{
    struct logline l = plain_line();
    char lengthy[4096];

    (void)state;
    memset(lengthy, '\x01', sizeof(lengthy));
    verdict.nsymbols = 0;
    for (unsigned i = 0; i < VERDICT_SYMBOLS_MAX; i++) {
        add("SYMBOL", 1, "");
        verdict.symbols[i].detail = slice_of(lengthy, sizeof(lengthy));
    }
    l.from = slice_of(lengthy, sizeof(lengthy));
    l.helo = l.from;
    l.message_id = l.from;
    json_t *o = parsed(&l);
    assert_int_equal(json_integer_value(json_object_get(o, "nsymbols")),
                     VERDICT_SYMBOLS_MAX);
    assert_true(json_array_size(json_object_get(o, "symbols")) > 0);
    assert_true(strlen(text_at(o, "from")) >= 8);
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__each_key__in_its_order),
        cmocka_unit_test(test_text__without_addresses__names_nobody),
        cmocka_unit_test(test_text__recipients__three_are_named),
        cmocka_unit_test(test_text__hostile_detail__stays_in_its_brackets),
        cmocka_unit_test(test_text__many_symbols__the_rest_is_counted),
        cmocka_unit_test(test_json__each_key__as_in_the_text),
        cmocka_unit_test(test_json__long_hostile_values__cut_until_the_line_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
