/* line_wire - heads, questions and answers; a parser gives views, so nothing is copied. */
#include "core/list/line_wire.h"

#include "core/base/cursor.h"
#include "core/base/le.h"

enum { REF_BYTES = 10 };

const char *line_state_name(enum line_state s)
{
    static const char *const names[] = {
        [LINE_STATE_IN_STORE] = "in store", [LINE_STATE_BEING_PUT] = "being put",
        [LINE_STATE_LATE] = "late",         [LINE_STATE_NO_STORE] = "no store",
        [LINE_STATE_UNKNOWN] = "unknown",
    };
    return names[s];
}

bool line_wire_head(const uint8_t head[LINE_WIRE_HEAD_BYTES], enum line_wire_kind kind,
                    size_t *retbytes)
{
    size_t most = kind == LINE_WIRE_QUESTION ? (size_t)LINE_WIRE_QUESTION_MAX
                                             : (size_t)LINE_WIRE_ANSWER_MAX;
    *retbytes = le_get(head + 4, 4);
    return le_get(head, 4) == (uint64_t)kind && *retbytes <= most;
}

static void head_print(enum line_wire_kind kind, size_t bytes, struct buf *ret)
{
    buf_add_u32(ret, (uint32_t)kind);
    buf_add_u32(ret, (uint32_t)bytes);
}

void line_question_print(uint32_t budget_us, struct slice ids,
                         const struct line_ref *refs, size_t nrefs, struct buf *ret)
{
    head_print(LINE_WIRE_QUESTION, 10 + ids.n + nrefs * REF_BYTES, ret);
    buf_add_u32(ret, budget_us);
    buf_add_u16(ret, (uint16_t)(ids.n / BLOOMFILE_ID_BYTES));
    buf_add(ret, ids);
    buf_add_u32(ret, (uint32_t)nrefs);
    for (size_t i = 0; i < nrefs; i++) {
        buf_add_u16(ret, refs[i].filter);
        buf_add_u64(ret, refs[i].number);
    }
}

struct line_ref line_question_ref(const struct line_question *q, size_t i)
{
    const uint8_t *p = q->refs + i * REF_BYTES;
    return (struct line_ref){.filter = (uint16_t)le_get(p, 2),
                             .number = le_get(p + 2, 8)};
}

bool line_question_parse(struct slice bytes, struct line_question *ret)
{
    struct cursor c = cursor_of(bytes);
    ret->budget_us = cursor_u32(&c);
    ret->nfilters = cursor_u16(&c);
    if (ret->nfilters > LINE_WIRE_FILTERS) {
        return false;
    }
    struct slice ids = cursor_bytes(&c, (size_t)ret->nfilters * BLOOMFILE_ID_BYTES);
    ret->nrefs = cursor_u32(&c);
    if (ret->nrefs > LINE_WIRE_LINES) {
        return false;
    }
    struct slice refs = cursor_bytes(&c, ret->nrefs * REF_BYTES);
    if (!cursor_done(&c)) {
        return false;
    }
    ret->ids = (const uint8_t *)ids.p;
    ret->refs = (const uint8_t *)refs.p;
    for (size_t i = 0; i < ret->nrefs; i++) {
        if (line_question_ref(ret, i).filter >= ret->nfilters) {
            return false;
        }
    }
    return true;
}

void line_answer_print(const uint8_t *states, unsigned nfilters,
                       const uint8_t *const *lines, size_t nlines, struct buf *ret)
{
    size_t nhas = 0;
    for (size_t i = 0; i < nlines; i++) {
        nhas += lines[i] != NULL;
    }
    head_print(LINE_WIRE_ANSWER, 6 + nfilters + nlines + nhas * LINE_SEALED_BYTES, ret);
    buf_add_u16(ret, (uint16_t)nfilters);
    buf_add(ret, slice_of((const char *)states, nfilters));
    buf_add_u32(ret, (uint32_t)nlines);
    for (size_t i = 0; i < nlines; i++) {
        buf_add_u8(ret, lines[i] != NULL);
    }
    for (size_t i = 0; i < nlines; i++) {
        if (lines[i] != NULL) {
            buf_add(ret, slice_of((const char *)lines[i], LINE_SEALED_BYTES));
        }
    }
}

/* Each of n bytes at p is below `end`; *retsum: their sum. */
static bool all_below(const uint8_t *p, size_t n, unsigned end, size_t *retsum)
{
    *retsum = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] >= end) {
            return false;
        }
        *retsum += p[i];
    }
    return true;
}

bool line_answer_parse(struct slice bytes, struct line_answer *ret)
{
    struct cursor c = cursor_of(bytes);
    size_t nhas = 0;
    ret->nfilters = cursor_u16(&c);
    struct slice states = cursor_bytes(&c, ret->nfilters);
    ret->nlines = cursor_u32(&c);
    if (ret->nlines > LINE_WIRE_LINES) {
        return false;
    }
    struct slice has = cursor_bytes(&c, ret->nlines);
    ret->states = (const uint8_t *)states.p;
    ret->has = (const uint8_t *)has.p;
    if (!cursor_ok(&c) || !all_below(ret->states, states.n, LINE_STATES, &nhas) ||
        !all_below(ret->has, has.n, 2, &nhas)) {
        return false;
    }
    ret->sealed = (const uint8_t *)cursor_bytes(&c, nhas * LINE_SEALED_BYTES).p;
    return cursor_done(&c);
}
