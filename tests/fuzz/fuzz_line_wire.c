/* fuzz_line_wire - any bytes as questions and answers of filter lines: what is taken is within its
 * bounds, and printed again it has the same bytes. */
#include "core/list/line_wire.h"

#include "tests/fuzz/fuzz.h"

enum { MOST = LINE_WIRE_HEAD_BYTES + LINE_WIRE_ANSWER_MAX };

static void check_again(struct slice bytes, struct buf *again)
{
    FUZZ_CHECK(!buf_failed(again));
    FUZZ_CHECK(slice_eq(slice_from(buf_slice(again), LINE_WIRE_HEAD_BYTES), bytes));
}

static void read_question(struct slice bytes, struct buf *again)
{
    struct line_question q;
    if (bytes.n > LINE_WIRE_QUESTION_MAX || !line_question_parse(bytes, &q)) {
        return;
    }
    struct line_ref *refs = calloc(q.nrefs + 1, sizeof(*refs));
    FUZZ_CHECK(refs != NULL && q.nfilters <= LINE_WIRE_FILTERS);
    for (size_t i = 0; i < q.nrefs; i++) {
        refs[i] = line_question_ref(&q, i);
        FUZZ_CHECK(refs[i].filter < q.nfilters);
    }
    line_question_print(
        q.budget_us,
        slice_of((const char *)q.ids, (size_t)q.nfilters * BLOOMFILE_ID_BYTES), refs,
        q.nrefs, again);
    free(refs);
    check_again(bytes, again);
}

static void read_answer(struct slice bytes, struct buf *again)
{
    struct line_answer a;
    if (bytes.n > LINE_WIRE_ANSWER_MAX || !line_answer_parse(bytes, &a)) {
        return;
    }
    const uint8_t **lines = calloc(a.nlines + 1, sizeof(*lines));
    const uint8_t *next = a.sealed;
    FUZZ_CHECK(lines != NULL);
    for (size_t i = 0; i < a.nlines; i++) {
        lines[i] = a.has[i] ? next : NULL;
        next += a.has[i] ? LINE_SEALED_BYTES : 0;
    }
    line_answer_print(a.states, a.nfilters, lines, a.nlines, again);
    free(lines);
    check_again(bytes, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    struct buf again;
    uint8_t head[LINE_WIRE_HEAD_BYTES];
    size_t n = 0;

    if (size >= sizeof(head)) {
        memcpy(head, data, sizeof(head));
        (void)line_wire_head(head, LINE_WIRE_QUESTION, &n);
        (void)line_wire_head(head, LINE_WIRE_ANSWER, &n);
    }
    buf_init(&again, MOST);
    read_question(bytes, &again);
    buf_clear(&again);
    read_answer(bytes, &again);
    buf_fini(&again);
    return 0;
}
