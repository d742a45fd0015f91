/*
 * test_record - a record comes back as it was written; bytes that are cut or changed are refused,
 * or cost the texts alone; a person is erased in place.
 */
#include "core/base/le.h"
#include "core/verdict/journal/record.h"

#include "tests/unit/journal/records.h"

static struct record parsed;

static void assert_slices(struct slice a, struct slice b)
{
    assert_int_equal(a.n, b.n);
    assert_true(slice_eq(a, b));
}

static void assert_same(const struct record *a, const struct record *b)
{
    assert_int_equal(a->time_us, b->time_us);
    assert_int_equal(a->case_id, b->case_id);
    assert_slices(a->queue_id, b->queue_id);
    assert_slices(a->unjudged, b->unjudged);
    assert_int_equal(a->message_id, b->message_id);
    assert_int_equal(a->has_addr, b->has_addr);
    assert_true(!a->has_addr || memcmp(a->addr, b->addr, 16) == 0);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->identity, b->identity);
    assert_int_equal(a->limits, b->limits);
    assert_int_equal(a->wanted, b->wanted);
    assert_true(a->score == b->score && a->sure == b->sure && a->firm == b->firm);
    for (size_t i = 0; i < RECORD_THRESHOLDS; i++) {
        assert_true(a->threshold[i] == b->threshold[i]);
    }
    assert_int_equal(a->ntraits, b->ntraits);
    assert_memory_equal(a->trait, b->trait, a->ntraits * sizeof(a->trait[0]));
    assert_int_equal(a->nsymbols, b->nsymbols);
    for (size_t i = 0; i < a->nsymbols; i++) {
        assert_slices(a->symbol[i].name, b->symbol[i].name);
        assert_slices(a->symbol[i].detail, b->symbol[i].detail);
        assert_true(a->symbol[i].score == b->symbol[i].score);
        assert_int_equal(a->symbol[i].part, b->symbol[i].part);
    }
    assert_int_equal(a->nhits, b->nhits);
    assert_slices(a->hit[0].value, b->hit[0].value);
    assert_true(a->hit[0].weight == b->hit[0].weight);
    assert_int_equal(a->ncounts, b->ncounts);
    assert_memory_equal(a->count[0].w, b->count[0].w, sizeof(a->count[0].w));
    assert_memory_equal(a->count[0].distinct, b->count[0].distinct,
                        sizeof(a->count[0].distinct));
    assert_int_equal(a->nhashes, b->nhashes);
    assert_memory_equal(a->hash, b->hash, a->nhashes * sizeof(a->hash[0]));
    assert_int_equal(a->nitems, b->nitems);
    for (size_t i = 0; i < a->nitems; i++) {
        assert_int_equal(a->item[i].digest, b->item[i].digest);
        assert_int_equal(a->item[i].type, b->item[i].type);
        assert_int_equal(a->item[i].proof, b->item[i].proof);
    }
    assert_slices(a->from, b->from);
    assert_slices(a->subject, b->subject);
    assert_slices(a->rcpt[0], b->rcpt[0]);
}

static void test_init__over_any_bytes__is_a_record_without_anything(void **state)
{
    (void)state;
    memset(&parsed, 0xa5, sizeof(parsed));
    record_init(&parsed, RECORD_MESSAGE);
    assert_int_equal(parsed.kind, RECORD_MESSAGE);
    assert_int_equal(parsed.number, 0);
    assert_int_equal(parsed.ntraits + parsed.nsymbols + parsed.nhits + parsed.ntypes,
                     0);
    assert_int_equal(parsed.ncounts + parsed.nhashes + parsed.nitems, 0);
    assert_int_equal(parsed.from.n + parsed.header_from.n + parsed.subject.n, 0);
    assert_int_equal(parsed.ntexts_rcpt, 0);
    assert_true(parsed.has_texts && !parsed.is_erased && !parsed.is_cut);
}

static void test_record__when_it_is_written__then_it_is_read_back(void **state)
{
    struct example e;
    struct buf frame;
    size_t n = 0;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        example_fill(&e, i);
        e.record.unjudged = i % 5 == 4 ? SLICE_LIT("memory") : SLICE_NONE;
        e.record.score = i % 4 == 0 ? 1.0 / 3 : i % 4 == 1 ? -2.125 : e.record.score;
        record_print(&e.record, &frame);
        record_number(frame.p, i + 1);
        assert_int_equal(record_look(buf_slice(&frame), &n), RECORD_WHOLE);
        assert_int_equal(n, frame.n);
        assert_true(record_parse(buf_slice(&frame), &parsed));
        assert_int_equal(parsed.number, i + 1);
        assert_true(parsed.has_texts && !parsed.is_erased && !parsed.is_cut);
        assert_same(&e.record, &parsed);
        buf_fini(&frame);
    }
}

static void test_record__when_it_is_full__then_it_stays_within_3_kb(void **state)
{
    static struct example e;
    static char text[RECORD_TEXT_MAX];
    struct buf frame;

    (void)state;
    example_fill(&e, 1);
    memset(text, 'x', sizeof(text));
    e.record.nsymbols = RECORD_SYMBOLS;
    e.record.ncounts = RECORD_COUNTS;
    e.record.nhits = RECORD_HITS;
    e.record.nhashes = RECORD_HASHES;
    for (size_t i = 0; i < RECORD_SYMBOLS; i++) {
        e.record.symbol[i] = (struct record_symbol){
            slice_of(text, RECORD_NAME_MAX), 1.1, 0, slice_of(text, sizeof(text))};
    }
    for (size_t i = 1; i < RECORD_COUNTS; i++) {
        e.record.count[i] = e.record.count[0];
    }
    for (size_t i = 1; i < RECORD_HITS; i++) {
        e.record.hit[i] = e.record.hit[0];
    }
    record_print(&e.record, &frame);
    assert_false(buf_failed(&frame));
    assert_true(frame.n <= RECORD_MAX);
    record_number(frame.p, 1);
    assert_true(record_parse(buf_slice(&frame), &parsed));
    assert_true(parsed.is_cut);
    assert_true(parsed.score == e.record.score);
    assert_slices(parsed.from, e.record.from);
    buf_fini(&frame);
}

static void test_record__when_any_bit_flips__then_it_is_refused_or_loses_texts(
    void **state)
{
    struct buf frame;
    size_t n = 0;

    (void)state;
    example_frame(5, 9, &frame);
    size_t texts = frame.n - RECORD_TEXTS_SUM - (size_t)le_get(frame.p + 6, 2);
    char *hostile = malloc(frame.n); /* exactly, for the sanitizer */
    assert_non_null(hostile);
    for (size_t bit = 0; bit < frame.n * 8; bit++) {
        memcpy(hostile, frame.p, frame.n);
        hostile[bit / 8] ^= (char)(1 << bit % 8);
        enum record_state s = record_look(slice_of(hostile, frame.n), &n);
        if (bit / 8 < texts) {
            assert_int_not_equal(s, RECORD_WHOLE);
            continue;
        }
        assert_int_equal(s, RECORD_WHOLE);
        assert_true(record_parse(slice_of(hostile, n), &parsed));
        assert_false(parsed.has_texts);
        assert_int_equal(parsed.from.n, 0);
        assert_int_equal(parsed.nsymbols, 2);
    }
    free(hostile);
    buf_fini(&frame);
}

static void test_record__when_it_is_cut__then_it_is_not_whole(void **state)
{
    struct buf frame;
    size_t n = 0;

    (void)state;
    example_frame(5, 9, &frame);
    for (size_t cut = 1; cut < frame.n; cut++) {
        char *head = malloc(cut);
        assert_non_null(head);
        memcpy(head, frame.p, cut);
        assert_int_equal(record_look(slice_of(head, cut), &n), RECORD_CUT_OFF);
        free(head);
    }
    buf_fini(&frame);
}

static void erase(const char *person, unsigned want)
{
    struct example e;
    struct buf frame;
    struct slice part;

    example_fill(&e, 3);
    e.record.symbol[0].detail = SLICE_LIT("from=Sender3@sender.example (+2 more)");
    record_print(&e.record, &frame);
    record_number(frame.p, 1);
    assert_int_equal(record_erase(frame.p, frame.n, slice_str(person), &part), want);
    assert_true(record_parse(buf_slice(&frame), &parsed));
    assert_true(parsed.has_texts);
    assert_int_equal(parsed.is_erased, want > 0);
    assert_int_equal(slice_find_slice(buf_slice(&frame), slice_str(person)) < frame.n,
                     false);
    buf_fini(&frame);
}

static void test_record__when_a_person_is_forgotten__then_every_text_with_it_goes(
    void **state)
{
    (void)state;
    erase("sender3@sender.example", 3);
    assert_int_equal(parsed.from.n + parsed.header_from.n, 0);
    assert_int_equal(parsed.symbol[0].detail.n, 0);
    assert_true(parsed.symbol[1].detail.n > 0);
    erase("joe3@rcpt.example", 1);
    assert_int_equal(parsed.rcpt[0].n, 0);
    erase("nobody@rcpt.example", 0);
}

static void test_record__when_an_address_is_part_of_another__then_that_stays(
    void **state)
{
    struct buf frame;
    struct slice part;

    (void)state;
    example_frame(3, 1, &frame);
    assert_int_equal(
        record_erase(frame.p, frame.n, SLICE_LIT("oe3@rcpt.example"), &part), 0);
    assert_int_equal(
        record_erase(frame.p, frame.n, SLICE_LIT("joe3@rcpt.exampl"), &part), 0);
    assert_int_equal(
        record_erase(frame.p, frame.n, SLICE_LIT("JOE3@rcpt.example"), &part), 1);
    buf_fini(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init__over_any_bytes__is_a_record_without_anything),
        cmocka_unit_test(test_record__when_it_is_written__then_it_is_read_back),
        cmocka_unit_test(test_record__when_it_is_full__then_it_stays_within_3_kb),
        cmocka_unit_test(
            test_record__when_any_bit_flips__then_it_is_refused_or_loses_texts),
        cmocka_unit_test(test_record__when_it_is_cut__then_it_is_not_whole),
        cmocka_unit_test(
            test_record__when_a_person_is_forgotten__then_every_text_with_it_goes),
        cmocka_unit_test(
            test_record__when_an_address_is_part_of_another__then_that_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
