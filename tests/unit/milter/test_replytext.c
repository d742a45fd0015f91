/*
 * test_replytext - header values and reply texts: printable, folded, bounded.
 */
#include <stdio.h>
#include <string.h>

#include "milter/replytext.h"

#include "tests/unit/unit.h"

static void add(struct verdict *v, const char *name, double score, const char *detail)
{
    struct symbol *s = &v->symbols[v->nsymbols++];
    snprintf(s->name, sizeof(s->name), "%s", name);
    s->score = score;
    s->detail = slice_str(detail);
}

/* Printable ASCII, LF only before TAB, lines below 998, the whole bounded. */
static void check_header(const char *value)
{
    size_t line = 0;
    assert_true(strlen(value) < REPLYTEXT_HEADER_SIZE);
    for (const char *p = value; *p; p++) {
        if (*p == '\n') {
            assert_int_equal(p[1], '\t');
            line = 0;
        } else {
            assert_true((*p >= 0x20 && *p <= 0x7e) || (*p == '\t' && p[-1] == '\n'));
            line++;
            assert_true(line < 998);
        }
    }
}

static void test_status__verdicts__one_line_each(void **state)
{
    (void)state;
    char text[REPLYTEXT_HEADER_SIZE];
    struct verdict v = {.action = ACTION_HEADER, .score = 6.0};
    replytext_status(&v, ACTION_HEADER, 5.0, "", text);
    assert_string_equal(text, "Yes, action=header score=6.0 required=5.0");
    replytext_status(&v, ACTION_HEADER, 5.0, "d3k7p0vq9x2m", text);
    assert_string_equal(text,
                        "Yes, action=header score=6.0 required=5.0 case=d3k7p0vq9x2m");
    v.action = ACTION_ACCEPT;
    v.score = 0;
    v.limits = LIMIT_FLAG(mime_depth) | LIMIT_FLAG(urls);
    replytext_status(&v, ACTION_ACCEPT, 5.0, "", text);
    assert_string_equal(
        text, "No, action=accept score=0.0 required=5.0 limit=mime_depth limit=urls");
    v.allow = "domain";
    v.limits = 0;
    replytext_status(&v, ACTION_ACCEPT, 5.0, "", text);
    assert_string_equal(text, "No, action=accept score=0.0 required=5.0 allow=domain");
    v.fault = LIST_FAULT_LISTS;
    replytext_status(&v, ACTION_ACCEPT, 5.0, "", text);
    assert_string_equal(
        text, "No, action=accept score=0.0 required=5.0 allow=domain fault=lists");
    v.limits = UINT32_MAX >> (32 - LIMIT_FLAG_COUNT);
    replytext_status(&v, ACTION_ACCEPT, 5.0, "", text);
    check_header(text);
}

static void test_symbols__details__are_shown_escaped(void **state)
{
    (void)state;
    char text[REPLYTEXT_HEADER_SIZE];
    struct verdict v = {.nsymbols = 0};
    replytext_symbols(&v, text);
    assert_string_equal(text, "-");
    add(&v, "LIST_PHISH", 6.0, "url_domain=evil.example");
    replytext_symbols(&v, text);
    assert_string_equal(text, "LIST_PHISH(6.0)[url_domain=evil.example]");
    add(&v, "LIST_X", 0, "a]\r\nX-Evil:1\xff");
    replytext_symbols(&v, text);
    check_header(text);
    assert_non_null(strstr(text, "[a\\x5d\\x0d\\x0aX-Evil:1\\xff]"));
    assert_null(strstr(text, "\nX-Evil"));
}

static void test_symbols__at_the_limit__rest_is_counted(void **state)
{
    (void)state;
    static char detail[400];
    memset(detail, 'd', sizeof(detail) - 1);
    for (size_t n = 1; n <= VERDICT_SYMBOLS_MAX; n++) {
        char text[REPLYTEXT_HEADER_SIZE];
        struct verdict v = {.nsymbols = 0};
        for (size_t i = 0; i < n; i++) {
            char name[VERDICT_SYMBOL_NAME];
            snprintf(name, sizeof(name), "LIST_ABCDEFGHIJKLMNOPQRSTUVWXYZ_%hu",
                     (unsigned short)i);
            add(&v, name, 1.0, detail);
        }
        replytext_symbols(&v, text);
        check_header(text);
        if (n <= 4) { /* 4 x about 205 bytes fit 900 less the count's room */
            assert_null(strstr(text, "more)"));
        } else {
            char more[32];
            snprintf(more, sizeof(more), "(+%zu more)", n - 4);
            char *last = strstr(text, "(+");
            assert_non_null(last);
            assert_string_equal(last, more);
        }
    }
}

static void test_symbols__many__words_then_the_highest_scores(void **state)
{
    (void)state;
    static char detail[160];
    char text[REPLYTEXT_HEADER_SIZE];
    struct verdict v = {.nsymbols = 0};
    memset(detail, 'd', sizeof(detail) - 1);
    for (unsigned i = 0; i < 8; i++) {
        add(&v, "RULE_HELPER", 0, detail);
        v.symbols[i].is_helper = true;
    }
    add(&v, "RULE_SHADOW", 0, "");
    add(&v, "RULE_LOW", 0.5, "");
    add(&v, "KNOWN", -3.0, "");
    add(&v, "RULE_HIGH", 6.0, "");
    add(&v, "RULE_LOW_TOO", 0.5, "");
    add(&v, "RECIPIENTS_DISAGREE", 0, "");
    v.symbols[v.nsymbols - 1].is_word = true;
    replytext_symbol_names(&v, text, sizeof(text));
    assert_string_equal(text, "RECIPIENTS_DISAGREE(0.0),RULE_HIGH(6.0),KNOWN(-3.0),"
                              "RULE_LOW(0.5),RULE_LOW_TOO(0.5),RULE_SHADOW(0.0)");
    v.symbols[0].score = 2.0; /* by the settings of the recipient */
    replytext_symbols(&v, text);
    assert_true(strstr(text, "RULE_HELPER(2.0)[") > strstr(text, "KNOWN(-3.0)"));
    assert_true(strstr(text, "RULE_HELPER(2.0)[") < strstr(text, "RULE_LOW(0.5)"));
    v.nsymbols = 1;
    v.symbols[0].score = 0;
    replytext_symbols(&v, text);
    assert_string_equal(text, "-");
}

static void test_fold__lengths_around_the_limit__breaks_at_spaces_only(void **state)
{
    (void)state;
    for (size_t first = REPLYTEXT_FOLD - 2; first <= REPLYTEXT_FOLD + 2; first++) {
        char value[256];
        char text[REPLYTEXT_HEADER_SIZE];
        memset(value, 'a', first);
        value[first] = ' ';
        memset(value + first + 1, 'b', 20);
        value[first + 21] = '\0';
        replytext_fold(value, text);
        check_header(text);
        /* unfolding gives the value back */
        size_t n = 0;
        for (const char *p = text; *p; p++) {
            if (*p == '\n') {
                text[n++] = ' ';
                p++;
            } else {
                text[n++] = *p;
            }
        }
        text[n] = '\0';
        assert_string_equal(text, value);
    }
}

static void test_fold__longest_value__stays_whole(void **state)
{
    (void)state;
    for (size_t every = 1; every < 200; every++) {
        char value[REPLYTEXT_VALUE_MAX + 1];
        char text[REPLYTEXT_HEADER_SIZE];
        for (size_t i = 0; i < REPLYTEXT_VALUE_MAX; i++) {
            char c = i % (every + 1) == every ? ' ' : 'x';
            value[i] = c;
        }
        value[REPLYTEXT_VALUE_MAX] = '\0';
        replytext_fold(value, text);
        check_header(text);
        size_t folds = 0;
        for (const char *p = text; *p; p++) {
            folds += *p == '\n';
        }
        assert_int_equal(strlen(text), REPLYTEXT_VALUE_MAX + folds);
    }
}

static void reply_text(const char *template, const char *queue_id,
                       const struct verdict *v, char *ret)
{
    const struct replytext_names names = {queue_id, "d3k7p0vq9x2m"};
    replytext_reply(template, &names, v, ret);
}

static void test_reply__placeholders_and_percent__replaced_and_doubled(void **state)
{
    (void)state;
    char text[REPLYTEXT_REPLY_SIZE];
    struct verdict v = {.nsymbols = 0};
    add(&v, "LIST_PHISH", 6.0, "x");
    reply_text("100% spam {symbols}, id {id} {other}", "4Xyz", &v, text);
    assert_string_equal(text, "100%% spam LIST_PHISH(6.0), id 4Xyz {other}");
    reply_text("{case}, {id}", "4Xyz", &v, text);
    assert_string_equal(text, "d3k7p0vq9x2m, 4Xyz");
    reply_text("a\r\nb\x80", "", &v, text);
    assert_string_equal(text, "a??b?");
    reply_text("{id}", "%s%n", &v, text);
    assert_string_equal(text, "%%s%%n");
}

static void test_reply__lengths_around_the_limit__cut(void **state)
{
    (void)state;
    for (size_t n = REPLYTEXT_REPLY_MAX - 1; n <= REPLYTEXT_REPLY_MAX + 1; n++) {
        char template[REPLYTEXT_REPLY_MAX + 2];
        char text[REPLYTEXT_REPLY_SIZE];
        struct verdict v = {.nsymbols = 0};
        memset(template, '%', n);
        template[n] = '\0';
        reply_text(template, "", &v, text);
        size_t kept = n < REPLYTEXT_REPLY_MAX ? n : REPLYTEXT_REPLY_MAX;
        assert_int_equal(strlen(text), 2 * kept);
    }
}

static void test_names__buffer_too_small__cut_at_a_symbol(void **state)
{
    (void)state;
    char text[24];
    struct verdict v = {.nsymbols = 0};
    replytext_symbol_names(&v, text, sizeof(text));
    assert_string_equal(text, "-");
    add(&v, "LIST_A", 1.0, "");
    add(&v, "LIST_B", 2.5, "");
    replytext_symbol_names(&v, text, sizeof(text));
    assert_string_equal(text, "LIST_B(2.5),LIST_A(1.0)");
    replytext_symbol_names(&v, text, sizeof(text) - 1);
    assert_string_equal(text, "LIST_B(2.5)");
}

static void test_limits__flags__named(void **state)
{
    (void)state;
    char text[256];
    replytext_limits(0, text, sizeof(text));
    assert_string_equal(text, "-");
    replytext_limits(LIMIT_FLAG(message_bytes) | LIMIT_FLAG(charset), text,
                     sizeof(text));
    assert_string_equal(text, "message_bytes,charset");
    replytext_limits(LIMIT_FLAG(message_bytes) | LIMIT_FLAG(charset), text, 20);
    assert_string_equal(text, "message_bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status__verdicts__one_line_each),
        cmocka_unit_test(test_symbols__details__are_shown_escaped),
        cmocka_unit_test(test_symbols__at_the_limit__rest_is_counted),
        cmocka_unit_test(test_symbols__many__words_then_the_highest_scores),
        cmocka_unit_test(test_fold__lengths_around_the_limit__breaks_at_spaces_only),
        cmocka_unit_test(test_fold__longest_value__stays_whole),
        cmocka_unit_test(test_reply__placeholders_and_percent__replaced_and_doubled),
        cmocka_unit_test(test_reply__lengths_around_the_limit__cut),
        cmocka_unit_test(test_names__buffer_too_small__cut_at_a_symbol),
        cmocka_unit_test(test_limits__flags__named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
