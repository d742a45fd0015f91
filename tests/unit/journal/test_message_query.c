/*
 * test_message_query - which rows each form of a term matches, what is refused and where, limits,
 * and that neither the order of terms nor hostile bytes matter.
 */
#include <stdio.h>

#include "core/base/case_id.h"
#include "core/base/prng.h"
#include "core/base/word_table.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/message_query.h"

#include "tests/unit/journal/records.h"
#include "tests/unit/unit.h"

#define HOUR_US UINT64_C(3600000000)
#define NOW_US  UINT64_C(1700000000000000)
static const struct keyring keys = {
    .n = 2, .ring = {{.id = 5, .bytes = {1, 2, 3}}, {.id = 6, .bytes = {7}}}};

/* A message of two hours ago. */
static const char case_text[] = "d3k7p0vq9x2m";
static const struct record_symbol symbols[] = {
    {WORD_ROW("LIST_PHISH"), 6.0, 0, WORD_ROW("secret detail")},
    {WORD_ROW("BULK_REPLICA"), 1.5, 1, {NULL, 0}}};
static const struct slice recipients[] = {WORD_ROW("joe@rcpt.example"),
                                          WORD_ROW("Ann.Lee@other.example")};

static struct message_row row_of_tests(void)
{
    struct message_row row = {
        .time_us = NOW_US - 2 * HOUR_US,
        .message_id = journal_message_id(&keys.ring[1], SLICE_LIT("x@y.z")),
        .queue_id = SLICE_LIT("4QaBcD"),
        .from = SLICE_LIT("Bounce@Mail.Evil.example"),
        .header_from = SLICE_LIT("boss@bank.example"),
        .subject = SLICE_LIT("Your invoice No. 7 \xc3\xa9t\xc3\xa9"),
        .to = recipients,
        .nto = LENGTH(recipients),
        .nrcpt = 5,
        .has_addr = true,
        .addr = {[10] = 0xff, 0xff, 192, 0, 2, 10},
        .action = ACTION_QUARANTINE,
        .score = 7.5,
        .size = 1234,
        .symbol = symbols,
        .nsymbols = LENGTH(symbols)};

    assert_true(case_id_read(slice_str(case_text), &row.case_id));
    return row;
}

static struct message_query *parsed(struct slice text)
{
    struct message_query *q = NULL;
    struct errinfo why = {.code = ERR_OK};

    if (message_query_parse(text, NOW_US, &q, &why) != ERR_OK) {
        fail_msg("%.*s: %s", SLICE_ARGS(text), why.text);
    }
    message_query_set_keys(q, &keys);
    return q;
}

static bool matches(const char *text, const struct message_row *row)
{
    struct message_query *q = parsed(slice_str(text));
    bool is = message_query_matches(q, row);

    message_query_free(&q);
    assert_null(q);
    return is;
}

static void test_grammar__each_form__matches_what_it_says(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        {"", true},
        {" \t\n ", true},
        {"from:evil.example", true},
        {"FROM:EVIL.EXAMPLE", true},
        {"from:boss@bank", true},
        {"from:joe", false},
        {"to:joe", true},
        {"to:ann.lee@OTHER", true},
        {"to:evil", false},
        {"subject:invoice", true},
        {"subject:\"invoice no. 7\"", true},
        {"subject:\"invoice  no. 7\"", false},
        {"subject:\xc3\xa9t\xc3\xa9", true},
        {"subject:bank", false},
        {"client:192.0.2.10", true},
        {"client:192.0.2.", true},
        {"client:192.0.3", false},
        {"client:host", false},
        {"symbol:LIST_PHISH", true},
        {"symbol:list_phish", true},
        {"symbol:LIST", false},
        {"symbol:LIST_*", true},
        {"symbol:list_*", true},
        {"symbol:PHISH*", false},
        {"symbol:*", true},
        {"action:quarantine", true},
        {"action:Quarantine", true},
        {"action:qua*", true},
        {"action:d*", false},
        {"action:*", true},
        {"action:reject", false},
        {"id:d3k7p0vq9x2m", true},
        {"id:D3K7POVQ9X2M", true},
        {"id:d3k7p0vq9x2n", false},
        {"id:d3k7p0vq9x2", false},
        {"id:4QaBcD", true},
        {"id:4qabcd", false},
        {"id:4QaBc", false},
        {"id:x@y.z", true},
        {"id:<x@y.z>", true},
        {"id:\"<x@y.z>\"", true},
        {"id:x@y", false},
        {"score:7.5", true},
        {"score:>7.5", false},
        {"score:>=7.5", true},
        {"score:>7", true},
        {"score:<7.5", false},
        {"score:<=7.5", true},
        {"score:<8", true},
        {"score:-3", true},
        {"score:8", false},
        {"since:3h", true},
        {"since:2h", true},
        {"since:1h", false},
        {"until:1h", true},
        {"until:2h", false},
        {"-until:2h", true},
        {"-since:1h", true},
        {"evil", true},
        {"bank.example", true},
        {"OTHER.example", true},
        {"INVOICE", true},
        {"192.0.2.10", true},
        {"4qabc", true},
        {"d3k7p", true},
        {"bulk_rep", true},
        {"secret", false},
        {"\"invoice No\"", true},
        {"\"no invoice\"", false},
        {"2001:db8::1", false},
        {"7:", false},
        {"-from:evil.example", false},
        {"-from:joe", true},
        {"-evil", false},
        {"-nobody", true},
        {"-\"no invoice\"", true},
        {"--evil", true},
        {"-symbol:NEWS*", true},
        {"from:evil to:joe action:quarantine score:>5", true},
        {"from:evil to:joe action:quarantine score:>9", false},
        {"  from:evil   -to:nobody  ", true},
        {"from:evil -to:joe", false},
    };
    struct message_row row = row_of_tests();

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (matches(rows[i].text, &row) != rows[i].is) {
            fail_msg("%s: not %d", rows[i].text, (int)rows[i].is);
        }
    }
}

/* Texts whose beginning comes again within them. */
static void test_parts__that_repeat_themselves__are_found(void **state)
{
    static const struct {
        const char *sought;
        const char *text;
        bool is;
    } rows[] = {{"aab", "aaab", true},
                {"abab", "abaabab", true},
                {"ababc", "abababc", true},
                {"aabaaab", "aabaabaaab", true},
                {"aabaaab", "aabaabaaac", false},
                {"a", "", false}};
    struct message_row row = row_of_tests();

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[64];
        row.subject = slice_str(rows[i].text);
        (void)snprintf(text, sizeof(text), "subject:%s", rows[i].sought);
        assert_int_equal(matches(text, &row), rows[i].is);
    }
}

/* Every text of a and b up to six bytes in every one up to eight: as a search by hand. */
static void test_parts__all_short_texts__as_a_plain_search(void **state)
{
    struct message_row row = row_of_tests();

    (void)state;
    for (unsigned n = 1; n <= 6; n++) {
        for (unsigned bits = 0; bits < 1U << n; bits++) {
            char text[16] = "subject:";
            for (unsigned k = 0; k < n; k++) {
                text[8 + k] = (char)('a' + (bits >> k & 1));
            }
            struct message_query *q = parsed(slice_of(text, 8 + n));
            for (unsigned other = 0; other < 1U << 8; other++) {
                char subject[8];
                for (unsigned k = 0; k < 8; k++) {
                    subject[k] = (char)('a' + (other >> k & 1));
                }
                row.subject = slice_of(subject, 8);
                bool is = slice_find_slice(row.subject, slice_of(text + 8, n)) < 8;
                assert_int_equal(message_query_matches(q, &row), is);
            }
            message_query_free(&q);
        }
    }
}

static void test_rows__without_a_value__do_not_match_it(void **state)
{
    struct message_row row = {.unjudged = SLICE_LIT("memory")};

    (void)state;
    assert_true(matches("", &row));
    assert_false(matches("score:<5", &row));
    assert_false(matches("score:-100", &row));
    assert_true(matches("-score:-100", &row));
    assert_false(matches("client:0", &row));
    assert_false(matches("client:.", &row));
    assert_false(matches("id:x@y.z", &row));
    assert_false(matches("id:000000000000", &row));
    assert_false(matches("symbol:*", &row));
    assert_false(matches("from:a", &row));
    assert_true(matches("action:accept", &row));
}

static void test_addresses__of_ipv6__are_found_by_their_text(void **state)
{
    struct message_row row = row_of_tests();

    (void)state;
    memset(row.addr, 0, sizeof(row.addr));
    row.addr[0] = 0x20;
    row.addr[1] = 0x01;
    row.addr[2] = 0x0d;
    row.addr[3] = 0xb8;
    row.addr[15] = 1;
    assert_true(matches("client:2001:DB8::1", &row));
    assert_true(matches("2001:db8:", &row));
    assert_false(matches("client:192.", &row));
}

static void test_errors__say_where_and_what_to_write(void **state)
{
    static const struct {
        const char *text;
        enum err code;
        const char *why;
    } rows[] = {
        {"a form:x", ERR_SYNTAX,
         "column 3: form:x: there is no such field; write one of from:, to:, subject:, "
         "client:, symbol:, action:, id:, score:, since:, until:, or put the text in "
         "quotes"},
        {"-http://x", ERR_SYNTAX, "column 2: http://x: there is no such field"},
        {"to:", ERR_SYNTAX, "column 1: to:: write a text right behind it"},
        {"score: 5", ERR_SYNTAX, "column 1: score:: write a text right behind it"},
        {"a -", ERR_SYNTAX, "column 3: -: write a text right behind it"},
        {"a \"\"", ERR_SYNTAX, "column 3: \"\": there is nothing between the quotes"},
        {"to:\"\"", ERR_SYNTAX, "column 1: to:\"\": there is nothing between"},
        {"\xc3\xa9t\xc3\xa9 \"b", ERR_SYNTAX, "column 5: \"b: the closing quote is"},
        {"to:\"", ERR_SYNTAX, "column 1: to:\": the closing quote is missing"},
        {"\"a\"b", ERR_SYNTAX, "column 4: b: write a blank behind the closing quote"},
        {"a\"b\"", ERR_SYNTAX, "column 2: \"b\": a quote may only begin"},
        {"score:x", ERR_SYNTAX,
         "column 1: score:x: write a number: score:5 (at least)"},
        {"score:>", ERR_SYNTAX, "column 1: score:>: write a number"},
        {"score:0x10", ERR_SYNTAX, "column 1: score:0x10: write a number"},
        {"score:nan", ERR_SYNTAX, "column 1: score:nan: write a number"},
        {"score:1e9", ERR_SYNTAX, "column 1: score:1e9: write a number"},
        {"score:--5", ERR_SYNTAX, "column 1: score:--5: write a number"},
        {"score:1.2.3", ERR_SYNTAX, "column 1: score:1.2.3: write a number"},
        {"score:-", ERR_SYNTAX, "column 1: score:-: write a number"},
        {"since:7", ERR_RANGE, "column 1: since:7: write how long ago that is"},
        {"x until:yesterday", ERR_RANGE, "column 3: until:yesterday: write how long"},
        {"since:1000000d", ERR_RANGE, "column 1: since:1000000d: write how long ago"},
        {"action:rejct", ERR_SYNTAX,
         "column 1: action:rejct: there is no such action; write accept, header, "
         "quarantine, defer, reject, discard, or the beginning of one and *"},
        {"action:x*", ERR_SYNTAX, "column 1: action:x*: there is no such action"},
        {"symbol:A*B", ERR_SYNTAX, "column 1: symbol:A*B: a * may stand at the end"},
        {"symbol:A**", ERR_SYNTAX, "column 1: symbol:A**: a * may stand at the end"},
        {"a\x01", ERR_SYNTAX, "column 2: ?: leave out the control character"},
        {"\x7f", ERR_SYNTAX, "column 1: ?: leave out the control character"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct message_query *q = NULL;
        struct errinfo why = {.code = ERR_OK};
        enum err e = message_query_parse(slice_str(rows[i].text), NOW_US, &q, &why);
        if (e != rows[i].code || q != NULL ||
            strncmp(why.text, rows[i].why, strlen(rows[i].why)) != 0) {
            fail_msg("%s: %d %s", rows[i].text, (int)e, why.text);
        }
        assert_int_equal(message_query_parse(slice_str(rows[i].text), NOW_US, &q, NULL),
                         e);
    }
    struct message_query *q = NULL;
    assert_int_equal(message_query_parse(SLICE_LIT("a\0b"), NOW_US, &q, NULL),
                     ERR_SYNTAX);
}

static void test_limits__below_at_and_above(void **state)
{
    static char text[MESSAGE_QUERY_TEXT_MAX + 1];
    struct message_query *q = NULL;
    struct errinfo why = {.code = ERR_OK};
    struct message_row row = row_of_tests();

    (void)state;
    memset(text, 'a', sizeof(text));
    for (size_t n = MESSAGE_QUERY_WORD_MAX - 1; n <= MESSAGE_QUERY_WORD_MAX; n++) {
        assert_int_equal(message_query_parse(slice_of(text, n), NOW_US, &q, &why),
                         ERR_OK);
        row.subject = slice_of(text, n);
        assert_true(message_query_matches(q, &row));
        row.subject = slice_of(text, n - 1);
        assert_false(message_query_matches(q, &row));
        message_query_free(&q);
    }
    assert_int_equal(message_query_parse(slice_of(text, MESSAGE_QUERY_WORD_MAX + 1),
                                         NOW_US, &q, &why),
                     ERR_LIMIT);
    assert_non_null(strstr(why.text, "a text to look for has at most 64 bytes"));
    memcpy(text, "id:", 3); /* which is compared as a whole */
    for (size_t n = sizeof(text) - 2; n < sizeof(text); n++) {
        assert_int_equal(message_query_parse(slice_of(text, n), NOW_US, &q, &why),
                         ERR_OK);
        row.queue_id = slice_of(text + 3, n - 3);
        assert_true(message_query_matches(q, &row));
        message_query_free(&q);
    }
    assert_int_equal(
        message_query_parse(slice_of(text, sizeof(text)), NOW_US, &q, &why), ERR_LIMIT);
    assert_string_equal(why.text, "column 1025: a query has at most 1024 bytes");
    for (size_t n = 0; n < sizeof(text) / 2; n++) {
        text[2 * n] = 'a';
        text[2 * n + 1] = ' ';
    }
    for (size_t n = MESSAGE_QUERY_TERMS_MAX - 1; n <= MESSAGE_QUERY_TERMS_MAX; n++) {
        assert_int_equal(message_query_parse(slice_of(text, 2 * n), NOW_US, &q, &why),
                         ERR_OK);
        message_query_free(&q);
    }
    assert_int_equal(
        message_query_parse(slice_of(text, 2 * MESSAGE_QUERY_TERMS_MAX + 1), NOW_US, &q,
                            &why),
        ERR_LIMIT);
    assert_string_equal(why.text, "column 65: a: a query has at most 32 terms");
}

static void test_keys__without_them__a_message_id_is_not_found(void **state)
{
    struct message_row row = row_of_tests();
    struct message_query *q = NULL;

    (void)state;
    assert_int_equal(message_query_parse(SLICE_LIT("id:x@y.z"), NOW_US, &q, NULL),
                     ERR_OK);
    assert_false(message_query_matches(q, &row));
    message_query_set_keys(q, &keys);
    assert_true(message_query_matches(q, &row));
    message_query_free(&q);
}

static void test_period__is_what_the_terms_leave(void **state)
{
    static const struct {
        const char *text;
        uint64_t since_h; /* ago; 0: none */
        uint64_t until_h;
    } rows[] = {{"evil", 0, 0},
                {"since:5h since:3h", 3, 0},
                {"until:1h until:2h", 0, 2},
                {"since:5h until:1h", 5, 1},
                {"-until:5h -since:1h", 5, 1}};

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct message_query *q = parsed(slice_str(rows[i].text));
        uint64_t since = 1;
        uint64_t until = 1;
        message_query_period(q, &since, &until);
        assert_int_equal(since,
                         rows[i].since_h == 0 ? 0 : NOW_US - rows[i].since_h * HOUR_US);
        assert_int_equal(until,
                         rows[i].until_h == 0 ? 0 : NOW_US - rows[i].until_h * HOUR_US);
        message_query_free(&q);
    }
}

/* ---- random queries ---- */

static const char *const terms[] = {
    "from:evil",  "-from:evil",    "to:joe",   "-to:ann",   "subject:invoice",
    "client:192", "symbol:LIST_*", "symbol:X", "action:d*", "id:4Q1",
    "score:>5",   "-score:5",      "since:1h", "until:3h",  "\"invoice n\"",
    "-bank",      "example",       "\xff\xfe"};

/* Bytes of any kind, as a slice of `bytes`. */
static struct slice random_text(struct prng *p, char *bytes, size_t size)
{
    size_t n = prng_below(p, size + 1);

    for (size_t i = 0; i < n; i++) {
        bytes[i] = (char)prng_below(p, 256);
    }
    return slice_of(bytes, n);
}

static struct slice joined(const size_t *order, size_t n, char *text, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s ", terms[order[i]]);
    }
    return slice_of(text, at);
}

static void test_order__of_terms__means_nothing(void **state)
{
    struct prng p;
    unsigned nmatching = 0;

    (void)state;
    prng_init(&p, 20, 0);
    for (unsigned round = 0; round < 4000; round++) {
        char text[MESSAGE_QUERY_TEXT_MAX];
        char bytes[64];
        size_t order[8];
        size_t n = 1 + prng_below(&p, LENGTH(order));
        struct message_row row = row_of_tests();
        bool wanted = true;

        row.action = (enum action)prng_below(&p, ACTION_COUNT);
        row.score = (double)prng_below(&p, 10);
        if (prng_below(&p, 2) == 0) {
            row.from = random_text(&p, bytes, sizeof(bytes));
        }
        for (size_t i = 0; i < n; i++) {
            order[i] = prng_below(&p, LENGTH(terms));
            wanted = wanted && matches(terms[order[i]], &row);
        }
        for (size_t i = 0; i < n; i++) { /* all rotations */
            struct message_query *q = parsed(joined(order, n, text, sizeof(text)));
            assert_int_equal(message_query_matches(q, &row), wanted);
            message_query_free(&q);
            size_t first = order[0];
            memmove(order, order + 1, (n - 1) * sizeof(order[0]));
            order[n - 1] = first;
        }
        nmatching += wanted;
    }
    assert_in_range(nmatching, 100, 3900);
}

static void test_minus__before_any_term__turns_it_round(void **state)
{
    struct message_row row = row_of_tests();

    (void)state;
    for (size_t i = 0; i < LENGTH(terms); i++) {
        char text[64];
        bool is_negated = *terms[i] == '-';
        (void)snprintf(text, sizeof(text), "%s%s", is_negated ? "" : "-",
                       terms[i] + is_negated);
        assert_int_equal(matches(text, &row), !matches(terms[i], &row));
    }
}

static void test_bytes__of_any_kind__are_read_or_refused(void **state)
{
    static const char alphabet[] = "fromtidscea:\"-* >5h\x01\xc3\xa9";
    struct message_row row = row_of_tests();
    struct prng p;
    unsigned nread = 0;

    (void)state;
    prng_init(&p, 21, 0);
    for (unsigned round = 0; round < 20000; round++) {
        char *text = malloc(24); /* its end is one of memory, for the sanitizer */
        size_t n = prng_below(&p, 25);
        struct message_query *q = NULL;
        struct errinfo why = {.code = ERR_OK};
        assert_non_null(text);
        for (size_t i = 0; i < n; i++) {
            text[i] = alphabet[prng_below(&p, sizeof(alphabet))];
        }
        char *exact = malloc(n > 0 ? n : 1);
        assert_non_null(exact);
        memcpy(exact, text, n);
        free(text);
        if (message_query_parse(slice_of(exact, n), NOW_US, &q, &why) == ERR_OK) {
            free(exact); /* the query has a copy */
            (void)message_query_matches(q, &row);
            message_query_free(&q);
            nread++;
        } else {
            assert_true(strncmp(why.text, "column ", 7) == 0);
            free(exact);
        }
    }
    assert_in_range(nread, 200, 19800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar__each_form__matches_what_it_says),
        cmocka_unit_test(test_parts__that_repeat_themselves__are_found),
        cmocka_unit_test(test_parts__all_short_texts__as_a_plain_search),
        cmocka_unit_test(test_rows__without_a_value__do_not_match_it),
        cmocka_unit_test(test_addresses__of_ipv6__are_found_by_their_text),
        cmocka_unit_test(test_errors__say_where_and_what_to_write),
        cmocka_unit_test(test_limits__below_at_and_above),
        cmocka_unit_test(test_keys__without_them__a_message_id_is_not_found),
        cmocka_unit_test(test_period__is_what_the_terms_leave),
        cmocka_unit_test(test_order__of_terms__means_nothing),
        cmocka_unit_test(test_minus__before_any_term__turns_it_round),
        cmocka_unit_test(test_bytes__of_any_kind__are_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
