/*
 * test_message_ring - rows come back as they were added; the newest stay within rows and bytes;
 * what is dropped is gone.
 */
#include <ctype.h>

#include "core/base/base.h"
#include "core/base/case_id.h"
#include "core/base/prng.h"
#include "core/verdict/journal/message_ring.h"

#include "tests/unit/journal/records.h"

enum { SMALL = 50, MANY = 5000, LONG_TEXT = RECORD_TEXT_MAX };

static void assert_slices(struct slice a, struct slice b)
{
    assert_int_equal(a.n, b.n);
    assert_true(slice_eq(a, b));
}

static void assert_same_row(const struct message_row *a, const struct message_row *b)
{
    assert_int_equal(a->time_us, b->time_us);
    assert_int_equal(a->case_id, b->case_id);
    assert_int_equal(a->message_id, b->message_id);
    assert_int_equal(a->nrcpt, b->nrcpt);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->action, b->action);
    assert_int_equal(a->is_outgoing, b->is_outgoing);
    assert_int_equal(a->has_addr, b->has_addr);
    assert_true(!a->has_addr || memcmp(a->addr, b->addr, sizeof(a->addr)) == 0);
    assert_float_equal(a->score, b->score, 0);
    assert_slices(a->queue_id, b->queue_id);
    assert_slices(a->from, b->from);
    assert_slices(a->header_from, b->header_from);
    assert_slices(a->subject, b->subject);
    assert_slices(a->unjudged, b->unjudged);
    assert_int_equal(a->nto, b->nto);
    for (size_t i = 0; i < a->nto; i++) {
        assert_slices(a->to[i], b->to[i]);
    }
    assert_int_equal(a->nsymbols, b->nsymbols);
    for (size_t i = 0; i < a->nsymbols; i++) {
        assert_slices(a->symbol[i].name, b->symbol[i].name);
        assert_float_equal(a->symbol[i].score, b->symbol[i].score, 0);
    }
}

static struct message_ring *make(size_t rows)
{
    struct message_ring *r = message_ring_new(rows);

    assert_non_null(r);
    return r;
}

/* Adds example i as number i. */
static void add(struct message_ring *r, uint64_t i, uint64_t file)
{
    static struct example e;

    example_fill(&e, i);
    e.record.number = i;
    message_ring_add(r, &e.record, file);
}

static void assert_numbers(const struct message_ring *r, uint64_t from, uint64_t to)
{
    static struct message_view v;

    assert_int_equal(message_ring_count(r), to - from);
    for (uint64_t i = from; i < to; i++) {
        message_ring_read(r, i - from, &v);
        assert_int_equal(v.number, i);
        assert_int_equal(v.row.case_id & 0xffffff, i);
    }
    assert_int_equal(message_ring_newest(r), to > from ? to - 1 : 0);
}

/* Records with each kind of field, also those that are packed in a way of their own. */
static void vary(struct example *e, uint64_t i)
{
    static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2};
    static char text[LONG_TEXT];

    example_fill(e, i);
    e->record.number = i;
    memset(text, 'x', sizeof(text));
    if (i % 4 == 0) {
        memcpy(e->record.addr, mapped, sizeof(mapped));
    }
    if (i % 3 == 0) {
        e->record.header_from = SLICE_LIT("Other@else.example");
    }
    e->record.is_outgoing = i % 5 == 0;
    e->record.unjudged = i % 7 == 0 ? SLICE_LIT("message too long") : SLICE_NONE;
    e->record.subject = i % 6 == 0 ? slice_of(text, sizeof(text)) : SLICE_NONE;
    e->record.score = -1.234 * (double)i;
    e->record.symbol[1].score = i % 2 == 0 ? -0.001 : 123456.789;
    for (size_t k = e->record.ntexts_rcpt; k < i % RECORD_RCPTS; k++) {
        e->record.rcpt[k] = e->record.rcpt[0];
        e->record.ntexts_rcpt = k + 1;
    }
}

static void test_ring__when_a_row_is_added__then_it_is_read_as_it_was(void **state)
{
    static struct example e;
    static struct message_view v;
    struct message_row want;
    struct message_ring *r = make(SMALL);

    (void)state;
    for (uint64_t i = 1; i <= SMALL; i++) {
        vary(&e, i);
        message_ring_add(r, &e.record, 3);
        message_row_of(&e.record, &want);
        message_ring_read(r, message_ring_count(r) - 1, &v);
        assert_int_equal(v.number, i);
        assert_same_row(&v.row, &want);
    }
    message_ring_free(&r);
}

static void test_ring__when_it_is_full__then_the_oldest_go(void **state)
{
    struct message_ring *r = make(SMALL);

    (void)state;
    assert_numbers(r, 1, 1);
    for (uint64_t i = 1; i <= MANY; i++) {
        add(r, i, 1);
        assert_numbers(r, i < SMALL ? 1 : i - SMALL + 1, i + 1);
    }
    message_ring_free(&r);
}

/* The texts of row i, by which it is known. */
static struct slice text_of(uint64_t i, struct prng *p, char *buffer)
{
    const size_t n = LONG_TEXT / 2 + prng_below(p, LONG_TEXT / 2 + 1);

    memset(buffer, (int)('a' + i % 26), LONG_TEXT);
    return slice_of(buffer, n);
}

static void assert_one_letter(struct slice s, uint64_t i)
{
    for (size_t k = 0; k < s.n; k++) {
        assert_int_equal(s.p[k], 'a' + i % 26);
    }
}

static void test_ring__when_texts_have_any_length__then_no_row_is_overwritten(
    void **state)
{
    static struct example e;
    static struct message_view v;
    static char from[LONG_TEXT];
    static char subject[LONG_TEXT];
    struct message_ring *r = make(SMALL);
    struct prng p;
    size_t least = SMALL;

    (void)state;
    prng_init(&p, 20, 1);
    for (uint64_t i = 1; i <= MANY; i++) {
        example_fill(&e, i);
        e.record.number = i;
        e.record.from = text_of(i, &p, from);
        e.record.subject = text_of(i, &p, subject);
        message_ring_add(r, &e.record, 1);
        const size_t n = message_ring_count(r);
        assert_true(n > 0 && n <= SMALL);
        least = i > SMALL && n < least ? n : least;
        for (size_t at = 0; at < n; at++) {
            message_ring_read(r, at, &v);
            assert_int_equal(v.number, i - n + 1 + at);
            assert_one_letter(v.row.from, v.number);
            assert_one_letter(v.row.subject, v.number);
        }
    }
    assert_true(least < SMALL);     /* the bytes were short */
    assert_true(least > SMALL / 3); /* and were used */
    message_ring_free(&r);
}

static void test_ring__of_the_most_rows__then_32_megabytes_at_most(void **state)
{
    struct message_ring *r = make(MESSAGE_RING_ROWS_MAX + 1);

    (void)state;
    assert_true(message_ring_bytes(r) <= 32U << 20);
    for (uint64_t i = 1; i <= MESSAGE_RING_ROWS_MAX + 10; i++) {
        add(r, i, 1);
    }
    assert_numbers(r, 11, MESSAGE_RING_ROWS_MAX + 11);
    message_ring_free(&r);
}

static void test_ring__when_a_number_does_not_rise__then_it_is_not_added(void **state)
{
    struct message_ring *r = make(SMALL);

    (void)state;
    add(r, 7, 1);
    add(r, 7, 1);
    add(r, 6, 1);
    assert_numbers(r, 7, 8);
    message_ring_free(&r);
}

static void test_ring_below__then_rows_with_smaller_numbers(void **state)
{
    struct message_ring *r = make(SMALL);

    (void)state;
    assert_int_equal(message_ring_below(r, 5), 0);
    for (uint64_t i = 1; i <= 4 * SMALL; i++) {
        add(r, 2 * i, 1);
    }
    const uint64_t first = 2 * (3 * SMALL + 1);
    assert_int_equal(message_ring_below(r, 0), 0);
    assert_int_equal(message_ring_below(r, first), 0);
    assert_int_equal(message_ring_below(r, first + 1), 1);
    assert_int_equal(message_ring_below(r, first + 2), 1);
    assert_int_equal(message_ring_below(r, UINT64_MAX), SMALL);
    message_ring_free(&r);
}

static void test_ring__when_files_go__then_their_rows_go(void **state)
{
    struct message_ring *r = make(SMALL);

    (void)state;
    assert_true(message_ring_first_file(r) == UINT64_MAX);
    for (uint64_t i = 1; i <= 30; i++) {
        add(r, i, i <= 10 ? 4 : 6);
    }
    message_ring_drop_before(r, 4);
    assert_numbers(r, 1, 31);
    message_ring_drop_before(r, 5);
    assert_numbers(r, 11, 31);
    assert_int_equal(message_ring_first_file(r), 6);
    message_ring_drop_before(r, UINT64_MAX);
    assert_numbers(r, 1, 1);
    add(r, 3, 7);
    assert_numbers(r, 3, 4);
    message_ring_clear(r);
    assert_numbers(r, 1, 1);
    add(r, 1, 7);
    assert_numbers(r, 1, 2);
    message_ring_free(&r);
}

static void test_ring__when_there_are_too_many_names__then_the_last_are_left_out(
    void **state)
{
    static struct example e;
    static struct message_view v;
    char name[RECORD_NAME_MAX];
    struct message_ring *r = make(SMALL);

    (void)state;
    for (uint64_t i = 1; i <= MESSAGE_RING_NAMES + 10; i++) {
        example_fill(&e, i);
        e.record.number = i;
        (void)snprintf(name, sizeof(name), "RULE_%llu", (unsigned long long)i);
        e.record.symbol[0].name = slice_str(name);
        message_ring_add(r, &e.record, 1);
        message_ring_read(r, message_ring_count(r) - 1, &v);
        const bool has_room = i < MESSAGE_RING_NAMES; /* one is BULK_REPLICA */
        assert_int_equal(v.row.nsymbols, has_room ? 2 : 1);
        assert_slices(v.row.symbol[0].name,
                      has_room ? slice_str(name) : SLICE_LIT("BULK_REPLICA"));
    }
    message_ring_free(&r);
}

/* A part of a case id, in lower case, finds its row. */
static void assert_part_of_id_is_found(const struct message_ring *r, size_t at,
                                       const char *part)
{
    static struct message_ring_query prepared;
    static struct message_view v;
    struct message_query *q = NULL;
    struct errinfo why;
    char low[CASE_ID_SIZE] = "";

    for (size_t i = 0; part[i] != '\0'; i++) {
        low[i] = (char)tolower((unsigned char)part[i]);
    }
    assert_int_equal(message_query_parse(slice_str(low), 0, &q, &why), ERR_OK);
    message_ring_prepare(r, q, &prepared);
    assert_true(message_ring_matches(r, at, &prepared, &v));
    message_query_free(&q);
}

static void test_ring_matches__then_as_the_query_says_of_the_whole_row(void **state)
{
    static const char *const queries[] = {
        "",
        "sender7@",
        "SENDER7",
        "other@ELSE",
        "from:else",
        "to:joe3",
        "subject:xxx",
        "xxx",
        "list_phish",
        "symbol:BULK_*",
        "symbol:bulk_replica",
        "symbol:none",
        "-symbol:LIST_PHISH",
        "-sender1",
        "192.0.2",
        "192.0.2.0",
        "::",
        "client:::2",
        "client:2",
        "KMN",
        "3n40",
        "000",
        "a",
        "client:192.0",
        "4q0000",
        "id:4Q00000b",
        "score:<-20",
        "action:accept",
        "00000",
        "nowhere",
        "sender replica",
        "sender1 -symbol:LIST_PHISH",
        "rcpt.example",
        "\"er1@s\"",
        "message",
        "too",
    };
    static struct example e;
    static struct message_view v;
    static struct message_ring_query prepared;
    struct message_ring *r = make(SMALL);
    struct errinfo why;
    size_t found = 0;

    (void)state;
    for (uint64_t i = 1; i <= SMALL; i++) {
        vary(&e, i);
        e.record.nsymbols = i % 3;
        message_ring_add(r, &e.record, 1);
    }
    for (size_t k = 0; k < LENGTH(queries); k++) {
        struct message_query *q = NULL;
        assert_int_equal(message_query_parse(slice_str(queries[k]), 0, &q, &why),
                         ERR_OK);
        message_ring_prepare(r, q, &prepared);
        for (size_t at = 0; at < message_ring_count(r); at++) {
            char id[CASE_ID_SIZE];
            message_ring_read(r, at, &v);
            if (k == 0) {
                assert_part_of_id_is_found(r, at, case_id_print(v.row.case_id, id) + 4);
            }
            const bool want = message_query_matches(q, &v.row);
            assert_int_equal(message_ring_matches(r, at, &prepared, &v), want);
            found += want;
        }
        message_query_free(&q);
    }
    assert_true(found > SMALL);
    message_ring_free(&r);
}

static void test_ring__of_no_rows__then_empty(void **state)
{
    struct message_ring *r = make(0);

    (void)state;
    add(r, 1, 1);
    assert_numbers(r, 1, 1);
    message_ring_clear(r);
    message_ring_free(&r);
    message_ring_free(&r);
}

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring__when_a_row_is_added__then_it_is_read_as_it_was),
        cmocka_unit_test(test_ring__when_it_is_full__then_the_oldest_go),
        cmocka_unit_test(
            test_ring__when_texts_have_any_length__then_no_row_is_overwritten),
        cmocka_unit_test(test_ring__of_the_most_rows__then_32_megabytes_at_most),
        cmocka_unit_test(test_ring__when_a_number_does_not_rise__then_it_is_not_added),
        cmocka_unit_test(test_ring_below__then_rows_with_smaller_numbers),
        cmocka_unit_test(test_ring__when_files_go__then_their_rows_go),
        cmocka_unit_test(
            test_ring__when_there_are_too_many_names__then_the_last_are_left_out),
        cmocka_unit_test(test_ring_matches__then_as_the_query_says_of_the_whole_row),
        cmocka_unit_test(test_ring__of_no_rows__then_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
