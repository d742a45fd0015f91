/* line_query - references sorted by filter and number, so that each line is asked for once. */
#include "core/list/line_query.h"

#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/list/line_wire.h"
#include "core/telemetry/stats.h"

struct line_query {
    const struct level *level[LINE_WIRE_FILTERS]; /* by the filter of a reference */
    unsigned nlevels;
    struct line_ref *refs;
    size_t nrefs;
    size_t room;
    struct buf answer;
    const uint8_t **lines; /* of refs, sealed, in answer; NULL: it did not come */
    uint8_t states[LINE_WIRE_FILTERS];
    uint64_t deadline_us;
};

struct line_query *line_query_new(void)
{
    struct line_query *q = calloc(1, sizeof(*q));
    if (q) {
        buf_init(&q->answer, LINE_WIRE_ANSWER_MAX);
        memset(q->states, LINE_STATE_UNKNOWN, sizeof(q->states));
    }
    return q;
}

void line_query_free(struct line_query **query)
{
    struct line_query *q = *query;
    if (q) {
        buf_fini(&q->answer);
        free(q->refs);
        free(q->lines);
        free(q);
    }
    *query = NULL;
}

/* ---- gathering ---- */

/* LINE_WIRE_FILTERS: it has no place. */
static unsigned level_place(const struct line_query *q, const struct level *l)
{
    unsigned i = 0;
    while (i < q->nlevels && q->level[i] != l) {
        i++;
    }
    return i < q->nlevels ? i : (unsigned)LINE_WIRE_FILTERS;
}

static unsigned level_put(struct line_query *q, const struct level *l)
{
    unsigned at = level_place(q, l);
    if (at == LINE_WIRE_FILTERS && q->nlevels < LINE_WIRE_FILTERS) {
        at = q->nlevels++;
        q->level[at] = l;
    }
    return at;
}

static void digest_put(struct line_query *q, unsigned filter, const struct digest *d)
{
    uint64_t number[BLOOM_KEY_LINES];
    unsigned n = bloom_line_numbers(&q->level[filter]->base.bloom, d, number);
    if (!array_room(&q->refs, &q->room, q->nrefs + n, LINE_WIRE_LINES,
                    sizeof(*q->refs))) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        q->refs[q->nrefs++] =
            (struct line_ref){.filter = (uint16_t)filter, .number = number[i]};
    }
}

void line_query_add(struct line_query *q, const struct list_reader *r,
                    const struct digest *d, size_t n)
{
    for (uint32_t i = 0; i < r->current.nlevels; i++) {
        const struct level *l = r->level[i];
        unsigned filter =
            level_is_remote(l) ? level_put(q, l) : (unsigned)LINE_WIRE_FILTERS;
        for (size_t k = 0; filter < LINE_WIRE_FILTERS && k < n; k++) {
            digest_put(q, filter, &d[k]);
        }
    }
}

static int ref_cmp(const void *a, const void *b)
{
    const struct line_ref *x = a;
    const struct line_ref *y = b;
    if (x->filter != y->filter) {
        return x->filter < y->filter ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

static void refs_sort(struct line_query *q)
{
    size_t n = 0;
    qsort(q->refs, q->nrefs, sizeof(*q->refs), ref_cmp);
    for (size_t i = 0; i < q->nrefs; i++) {
        if (n == 0 || ref_cmp(&q->refs[n - 1], &q->refs[i]) != 0) {
            q->refs[n++] = q->refs[i];
        }
    }
    q->nrefs = n;
}

/* ---- asking ---- */

static void question_print(const struct line_query *q, uint64_t budget_us,
                           struct buf *ret)
{
    uint8_t ids[LINE_WIRE_FILTERS * BLOOMFILE_ID_BYTES];
    for (unsigned i = 0; i < q->nlevels; i++) {
        memcpy(ids + (size_t)i * BLOOMFILE_ID_BYTES, q->level[i]->base.id,
               BLOOMFILE_ID_BYTES);
    }
    line_question_print(
        (uint32_t)budget_us,
        slice_of((const char *)ids, (size_t)q->nlevels * BLOOMFILE_ID_BYTES), q->refs,
        q->nrefs, ret);
}

/* The answer must be about this question. */
static enum err answer_take(struct line_query *q)
{
    struct line_answer a;
    if (!line_answer_parse(buf_slice(&q->answer), &a) || a.nfilters != q->nlevels ||
        a.nlines != q->nrefs) {
        return ERR_CORRUPT;
    }
    memcpy(q->states, a.states, a.nfilters);
    const uint8_t *next = a.sealed;
    for (size_t i = 0; i < a.nlines; i++) {
        q->lines[i] = a.has[i] ? next : NULL;
        next += a.has[i] ? LINE_SEALED_BYTES : 0;
    }
    return ERR_OK;
}

static const char *fault_of(enum err e)
{
    switch (e) {
    case ERR_NOT_FOUND:
        return "gillnet-hub does not run, or without the store, and lists with "
               "filter_memory = \"store\" have no opinion; start it again";
    case ERR_TIMEOUT:
        return "filter lines come later than store.deadline, and lists with "
               "filter_memory = \"store\" have no opinion; see gillnet-hub's log";
    case ERR_CORRUPT:
        return "gillnet-hub answers with what are no filter lines; do gillnetd and "
               "gillnet-hub have the same version?";
    default:
        return "gillnet-hub cannot be asked for filter lines, and lists with "
               "filter_memory = \"store\" have no opinion; see its log";
    }
}

static const char *fault_of_state(enum line_state s)
{
    switch (s) {
    case LINE_STATE_LATE:
        return fault_of(ERR_TIMEOUT);
    case LINE_STATE_NO_STORE:
        return "the store does not answer, and lists with filter_memory = \"store\" "
               "have no opinion; see gillnet-hub's log";
    case LINE_STATE_UNKNOWN:
        return "gillnet-hub does not have the filters of this server's lists: does it "
               "read the same state_dir, and can it?";
    case LINE_STATE_IN_STORE:
    case LINE_STATE_BEING_PUT:
    case LINE_STATES:
        break;
    }
    return "filter lines are missing in the store, and their lists have no opinion; "
           "gillnet-hub puts them there again";
}

/* The fault of the first line that is missing; NULL: none is, or they can be read from the file. */
static const char *lines_fault(const struct line_query *q)
{
    for (size_t i = 0; i < q->nrefs; i++) {
        enum line_state s = (enum line_state)q->states[q->refs[i].filter];
        if (!q->lines[i] && s != LINE_STATE_BEING_PUT) {
            return fault_of_state(s);
        }
    }
    return NULL;
}

void line_query_ask(struct line_query *q, struct line_client *client,
                    uint64_t budget_us)
{
    struct buf question;
    if (q->nrefs == 0) {
        return;
    }
    refs_sort(q);
    q->deadline_us = clock_mono_us() + budget_us;
    q->lines = calloc(q->nrefs, sizeof(*q->lines));
    buf_init(&question, LINE_WIRE_HEAD_BYTES + LINE_WIRE_QUESTION_MAX);
    question_print(q, budget_us, &question);
    enum err e =
        buf_failed(&question) || !q->lines
            ? ERR_NOMEM
            : line_client_ask(client, buf_slice(&question), q->deadline_us, &q->answer);
    THEN(e, answer_take(q));
    buf_fini(&question);
    stats_add(STAT_line_questions, 1);
    if (e == ERR_OK) {
        line_client_note(client, lines_fault(q));
    } else if (e != ERR_LOCKED) { /* which repeats an older fault */
        line_client_note(client, fault_of(e));
    }
}

/* ---- testing ---- */

enum line_says { LINE_SAYS_NO, LINE_SAYS_PERHAPS, LINE_SAYS_NOTHING };

static enum line_says bits_say(const struct bloom *b, const struct digest *d,
                               unsigned i, const uint64_t *line)
{
    return bloom_line_has(b, d, i, line) ? LINE_SAYS_PERHAPS : LINE_SAYS_NO;
}

/* From the file, without waiting. */
static enum line_says file_says(const struct line_query *q, const struct level *l,
                                const struct digest *d, unsigned i, uint64_t number)
{
    enum { BLOCK_LINES = BLOOMFILE_BLOCK_BYTES / BLOOM_LINE_BYTES };
    char block[BLOOMFILE_BLOCK_BYTES];
    uint64_t line[BLOOM_LINE_BYTES / 8];
    size_t n = 0;
    if (clock_mono_us() >= q->deadline_us ||
        bloomfile_block_read(&l->base, number / BLOCK_LINES, false, block, &n) !=
            ERR_OK) {
        return LINE_SAYS_NOTHING;
    }
    memcpy(line, block + number % BLOCK_LINES * BLOOM_LINE_BYTES, sizeof(line));
    return bits_say(&l->base.bloom, d, i, line);
}

static enum line_says line_says(const struct line_query *q, const struct list_reader *r,
                                unsigned filter, const struct digest *d, unsigned i,
                                uint64_t number)
{
    const struct level *l = q->level[filter];
    struct line_ref ref = {.filter = (uint16_t)filter, .number = number};
    struct line_name name = {&r->key, l->base.id, number};
    uint64_t line[BLOOM_LINE_BYTES / 8];
    const struct line_ref *found =
        q->lines ? bsearch(&ref, q->refs, q->nrefs, sizeof(ref), ref_cmp) : NULL;
    const uint8_t *sealed = found ? q->lines[found - q->refs] : NULL;
    if (sealed && line_unseal(&name, sealed, line)) {
        return bits_say(&l->base.bloom, d, i, line);
    }
    return q->states[filter] == LINE_STATE_BEING_PUT ? file_says(q, l, d, i, number)
                                                     : LINE_SAYS_NOTHING;
}

/* "No" of one line is final, whatever the other says. */
static enum line_says level_says(const struct line_query *q,
                                 const struct list_reader *r, unsigned filter,
                                 const struct digest *d)
{
    uint64_t number[BLOOM_KEY_LINES];
    enum line_says all = LINE_SAYS_PERHAPS;
    if (filter == LINE_WIRE_FILTERS) {
        return LINE_SAYS_NOTHING;
    }
    unsigned n = bloom_line_numbers(&q->level[filter]->base.bloom, d, number);
    for (unsigned i = 0; i < n && all != LINE_SAYS_NO; i++) {
        enum line_says one = line_says(q, r, filter, d, i, number[i]);
        all = one == LINE_SAYS_PERHAPS ? all : one;
    }
    return all;
}

bool line_query_test(const struct line_query *q, const struct list_reader *r,
                     const struct digest *d, size_t n, uint8_t *rethit)
{
    bool is_whole = true;
    list_reader_test(r, d, n, rethit);
    for (size_t k = 0; k < n; k++) {
        bool is_silent = false;
        for (uint32_t i = r->current.nlevels; i > 0 && !rethit[k]; i--) {
            const struct level *l = r->level[i - 1];
            if (level_is_remote(l)) {
                enum line_says says = level_says(q, r, level_place(q, l), &d[k]);
                rethit[k] = says == LINE_SAYS_PERHAPS;
                is_silent = is_silent || says == LINE_SAYS_NOTHING;
            }
        }
        is_whole = is_whole && (!is_silent || rethit[k]);
    }
    return is_whole;
}
