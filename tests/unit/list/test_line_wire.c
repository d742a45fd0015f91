/* test_line_wire - what is printed is read back, and nothing else. */
#include "core/list/line_wire.h"

#include "tests/unit/unit.h"

enum { REFS = 3 };

static const char ids[] = "0123456789abcdefFEDCBA9876543210";
static const struct line_ref refs[REFS] = {{0, 5}, {1, 0}, {1, UINT64_MAX}};

static struct slice behind_head(const struct buf *b, enum line_wire_kind kind)
{
    size_t n = 0;
    assert_true(line_wire_head((const uint8_t *)b->p, kind, &n));
    assert_int_equal(n + LINE_WIRE_HEAD_BYTES, b->n);
    return slice_from(buf_slice(b), LINE_WIRE_HEAD_BYTES);
}

static void test_line_question__printed__read_back_and_no_piece_of_it(void **state)
{
    struct buf b;
    struct line_question q;
    (void)state;
    buf_init(&b, 1000);
    line_question_print(20000, slice_of(ids, sizeof(ids) - 1), refs, REFS, &b);
    struct slice bytes = behind_head(&b, LINE_WIRE_QUESTION);
    assert_true(line_question_parse(bytes, &q));
    assert_int_equal(q.budget_us, 20000);
    assert_int_equal(q.nfilters, 2);
    assert_memory_equal(q.ids, ids, 32);
    assert_int_equal(q.nrefs, REFS);
    for (size_t i = 0; i < REFS; i++) {
        struct line_ref ref = line_question_ref(&q, i);
        assert_int_equal(ref.filter, refs[i].filter);
        assert_true(ref.number == refs[i].number);
    }
    for (size_t n = 0; n < bytes.n; n++) {
        assert_false(line_question_parse(slice_head(bytes, n), &q));
    }
    buf_add_u8(&b, 0);
    assert_false(
        line_question_parse(slice_from(buf_slice(&b), LINE_WIRE_HEAD_BYTES), &q));
    b.p[b.n - 11] = 2; /* a filter that is not among them */
    assert_false(
        line_question_parse(slice_of(b.p + LINE_WIRE_HEAD_BYTES, bytes.n), &q));
    buf_fini(&b);
}

static void test_line_answer__printed__read_back_and_no_piece_of_it(void **state)
{
    static const uint8_t states[] = {LINE_STATE_IN_STORE, LINE_STATE_LATE};
    static const uint8_t one[LINE_SEALED_BYTES] = "one";
    static const uint8_t two[LINE_SEALED_BYTES] = "two";
    const uint8_t *const lines[] = {one, NULL, two};
    struct buf b;
    struct line_answer a;
    (void)state;
    buf_init(&b, 1000);
    line_answer_print(states, 2, lines, 3, &b);
    struct slice bytes = behind_head(&b, LINE_WIRE_ANSWER);
    assert_true(line_answer_parse(bytes, &a));
    assert_int_equal(a.nfilters, 2);
    assert_memory_equal(a.states, states, 2);
    assert_int_equal(a.nlines, 3);
    assert_memory_equal(a.has, "\1\0\1", 3);
    assert_memory_equal(a.sealed, one, LINE_SEALED_BYTES);
    assert_memory_equal(a.sealed + LINE_SEALED_BYTES, two, LINE_SEALED_BYTES);
    for (size_t n = 0; n < bytes.n; n++) {
        assert_false(line_answer_parse(slice_head(bytes, n), &a));
    }
    b.p[LINE_WIRE_HEAD_BYTES + 2] = LINE_STATES;
    assert_false(line_answer_parse(bytes, &a));
    b.p[LINE_WIRE_HEAD_BYTES + 2] = 0;
    b.p[LINE_WIRE_HEAD_BYTES + 9] = 2; /* neither there nor missing */
    assert_false(line_answer_parse(bytes, &a));
    buf_fini(&b);
}

static void test_line_wire_head__another_kind_or_too_long__refused(void **state)
{
    uint8_t head[LINE_WIRE_HEAD_BYTES] = "GNLQ";
    size_t n = 0;
    (void)state;
    assert_true(line_wire_head(head, LINE_WIRE_QUESTION, &n));
    assert_false(line_wire_head(head, LINE_WIRE_ANSWER, &n));
    memset(head + 4, 0xff, 4);
    assert_false(line_wire_head(head, LINE_WIRE_QUESTION, &n));
    memcpy(head, "GNLA", 4);
    assert_false(line_wire_head(head, LINE_WIRE_ANSWER, &n));
}

static void test_line_state_name__every_state__has_one(void **state)
{
    (void)state;
    for (unsigned s = 0; s < LINE_STATES; s++) {
        assert_true(strlen(line_state_name((enum line_state)s)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_question__printed__read_back_and_no_piece_of_it),
        cmocka_unit_test(test_line_answer__printed__read_back_and_no_piece_of_it),
        cmocka_unit_test(test_line_wire_head__another_kind_or_too_long__refused),
        cmocka_unit_test(test_line_state_name__every_state__has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
