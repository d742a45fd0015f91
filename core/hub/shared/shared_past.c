/* shared_past - questions and answers of the script. */
#include "core/hub/shared/shared_past.h"

#include "core/base/array.h"
#include "core/base/cursor.h"
#include "core/hub/shared/shared_scripts.h"
#include "core/hub/shared/shared_view.h"

enum {
    SLOTS = COUNT_BUCKETS + 1 + COUNT_DAYS + 1, /* of a history: buckets, then days */
    SLOT_BYTES = 5,
    KEY_BYTES = 8
};

struct question {
    struct shared_past *p;
    unsigned cell;
    uint64_t now;
    size_t n;
    uint64_t keys[SHARED_ASKED_OF_CELL];
};

struct cell {
    uint64_t keys[SHARED_ASKED_OF_CELL]; /* that wait, some twice */
    size_t n;
    bool is_busy;
    struct question question; /* that is open */
};

struct shared_past {
    struct shared *shared;
    shared_past_fn *fn;
    void *context;
    unsigned next; /* cell whose turn it is */
    uint64_t asked;
    struct cell cells[SHARED_CELLS];
};

struct shared_past *shared_past_new(struct shared *shared, shared_past_fn *fn,
                                    void *context)
{
    struct shared_past *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        return NULL;
    }
    p->shared = shared;
    p->fn = fn;
    p->context = context;
    return p;
}

void shared_past_free(struct shared_past **p)
{
    free(*p);
    *p = NULL;
}

uint64_t shared_past_asked(const struct shared_past *p)
{
    return p->asked;
}

void shared_past_want(struct shared_past *p, uint64_t key)
{
    struct cell *c = &p->cells[shared_cell_of(key)];

    if (c->n < SHARED_ASKED_OF_CELL) {
        c->keys[c->n++] = key;
    }
}

/* ---- answers ---- */

/* One key's slots. False: the bytes are no answer to this question. */
static bool take_slots(struct cursor *c, struct count_history *ret)
{
    unsigned n = cursor_u8(c);

    for (unsigned i = 0; i < n; i++) {
        unsigned slot = cursor_u8(c);
        uint64_t count = __builtin_bswap32(cursor_u32(c));

        if (slot <= COUNT_BUCKETS) {
            ret->bucket[slot] = count;
        } else if (slot < SLOTS) {
            ret->day[slot - COUNT_BUCKETS - 1] = count;
        }
    }
    return cursor_ok(c);
}

static void take_answer(const struct question *q, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);

    for (size_t i = 0; i < q->n; i++) {
        struct count_history h = {.now = q->now};

        if (!take_slots(&c, &h)) {
            return;
        }
        q->p->fn(q->p->context, q->keys[i], &h);
    }
}

static void take_past_answer(void *context, const struct redis_answer *a)
{
    const struct question *q = context;

    q->p->cells[q->cell].is_busy = false;
    if (a->fault == REDIS_FAULT_NONE && a->reply->nodes[0].kind == RESP_TEXT) {
        take_answer(q, resp_text(a->reply, 0));
    } /* else the next totals of these keys ask again */
}

/* ---- questions ---- */

static void put_keys(const struct question *q, char bytes[])
{
    for (size_t i = 0; i < q->n; i++) {
        uint64_t key = __builtin_bswap64(q->keys[i]);
        memcpy(bytes + i * KEY_BYTES, &key, KEY_BYTES);
    }
}

static void ask_store(struct question *q)
{
    struct shared_past *p = q->p;
    char bytes[SHARED_ASKED_OF_CELL * KEY_BYTES];
    char tag[8];
    char start[32];

    (void)snprintf(tag, sizeof(tag), "%02x", q->cell);
    (void)snprintf(start, sizeof(start), "%llu",
                   (unsigned long long)(q->now * COUNT_BUCKET_S));
    put_keys(q, bytes);
    const struct shared_name anchor = shared_name(p->shared, tag, "");
    const struct slice key = slice_str(anchor.text);
    const struct slice args[] = {slice_str(start), slice_of(bytes, q->n * KEY_BYTES)};
    const struct shared_script_call call = {.keys = &key,
                                            .nkeys = 1,
                                            .args = args,
                                            .nargs = LENGTH(args),
                                            .may_repeat = true,
                                            .answer = take_past_answer,
                                            .context = q};
    p->cells[q->cell].is_busy =
        shared_script_run(shared_redis(p->shared), SHARED_SCRIPT_PAST, &call) == ERR_OK;
}

static size_t ask_cell(struct shared_past *p, unsigned cell, uint64_t now)
{
    struct cell *c = &p->cells[cell];
    struct question *q = &c->question;

    if (c->n == 0 || c->is_busy) {
        return 0;
    }
    *q = (struct question){.p = p, .cell = cell, .now = now};
    qsort(c->keys, c->n, sizeof(c->keys[0]), array_u64_cmp);
    for (size_t i = 0; i < c->n; i++) {
        if (q->n == 0 || q->keys[q->n - 1] != c->keys[i]) {
            q->keys[q->n++] = c->keys[i];
        }
    }
    c->n = 0;
    p->asked += q->n;
    ask_store(q);
    return q->n;
}

void shared_past_ask(struct shared_past *p, uint64_t now)
{
    size_t n = 0;

    for (unsigned i = 0; i < SHARED_CELLS && n < SHARED_ASKED_KEYS; i++) {
        n += ask_cell(p, p->next, now);
        p->next = (p->next + 1) % SHARED_CELLS;
    }
}
