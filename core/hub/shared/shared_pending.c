/* shared_pending - what was counted less what was logged, by bucket and cell. */
#include "core/hub/shared/shared_pending.h"

#include "core/base/array.h"
#include "core/filter/tally.h"

enum { HALF = 32 };

/* Keys of a cell with more counted than logged. */
struct waiting {
    uint64_t *keys;
    size_t n;
    size_t room;
    size_t taken; /* of them in the record that is due */
    uint64_t since_us;
    bool is_urgent;
};

struct bucket {
    uint64_t start_s;
    struct tally counts; /* logged, and in the lower half what gillnetd counted */
    struct tally totals; /* of the store, where they are SHARED_URGENT_TOTAL or more */
    struct waiting cells[SHARED_CELLS];
    bool is_complete;
};

struct shared_pending {
    struct bucket *v[SHARED_BUCKETS_MAX]; /* by start_s */
    size_t n;
    struct bucket *due; /* that the record is of */
    struct run_record *record;
    size_t nrecord;
    size_t room;
};

static uint64_t counted_of(uint64_t both)
{
    return both & UINT32_MAX;
}

static uint64_t logged_of(uint64_t both)
{
    return both >> HALF;
}

/* Above 2^32 a count stays: too low, not too high. */
static uint64_t both_of(uint64_t logged, uint64_t counted)
{
    logged = logged < UINT32_MAX ? logged : UINT32_MAX;
    counted = counted < UINT32_MAX ? counted : UINT32_MAX;
    return logged << HALF | counted;
}

/* ---- life ---- */

struct shared_pending *shared_pending_new(void)
{
    return calloc(1, sizeof(struct shared_pending));
}

static void free_waiting_bucket(struct bucket *b)
{
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        free(b->cells[c].keys);
    }
    tally_fini(&b->counts);
    tally_fini(&b->totals);
    free(b);
}

void shared_pending_free(struct shared_pending **p)
{
    if (*p != NULL) {
        for (size_t i = 0; i < (*p)->n; i++) {
            free_waiting_bucket((*p)->v[i]);
        }
        free((*p)->record);
        free(*p);
        *p = NULL;
    }
}

/* ---- buckets ---- */

static struct bucket *find_bucket(const struct shared_pending *p, uint64_t start_s)
{
    for (size_t i = p->n; i > 0; i--) {
        if (p->v[i - 1]->start_s == start_s) {
            return p->v[i - 1];
        }
    }
    return NULL;
}

bool shared_pending_has(const struct shared_pending *p, uint64_t start_s)
{
    return find_bucket(p, start_s) != NULL;
}

static uint64_t waiting_of(const struct bucket *b)
{
    uint64_t n = 0;

    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        n += b->cells[c].n;
    }
    return n;
}

uint64_t shared_pending_close(struct shared_pending *p, uint64_t start_s)
{
    struct bucket *b = find_bucket(p, start_s);
    uint64_t lost = 0;
    size_t kept = 0;

    if (b == NULL) {
        return 0;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i] != b) {
            p->v[kept++] = p->v[i];
        }
    }
    p->n = kept;
    p->due = p->due == b ? NULL : p->due;
    lost = waiting_of(b);
    free_waiting_bucket(b);
    return lost;
}

uint64_t shared_pending_close_until(struct shared_pending *p, uint64_t start_s)
{
    uint64_t lost = 0;

    while (p->n > 0 && p->v[0]->start_s <= start_s) {
        lost += shared_pending_close(p, p->v[0]->start_s);
    }
    return lost;
}

bool shared_pending_open(struct shared_pending *p, uint64_t start_s, uint64_t *retlost)
{
    struct bucket *b = calloc(1, sizeof(*b));
    size_t i = 0;

    *retlost = 0;
    if (b == NULL) {
        return false;
    }
    if (p->n == SHARED_BUCKETS_MAX) {
        *retlost = shared_pending_close(p, p->v[0]->start_s);
    }
    b->start_s = start_s;
    tally_init(&b->counts);
    tally_init(&b->totals);
    for (i = p->n; i > 0 && p->v[i - 1]->start_s > start_s; i--) {
        p->v[i] = p->v[i - 1];
    }
    p->v[i] = b;
    p->n++;
    return true;
}

bool shared_pending_restore(struct shared_pending *p, uint64_t start_s,
                            const struct run_record *logged, size_t n)
{
    struct bucket *b = find_bucket(p, start_s);
    bool ok = b != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        uint64_t *both = tally_find(&b->counts, logged[i].key);

        if (both != NULL) {
            const uint64_t sum = run_sum(logged_of(*both), logged[i].count);

            *both = both_of(sum, sum > counted_of(*both) ? sum : counted_of(*both));
        } else {
            ok = tally_add(&b->counts, logged[i].key,
                           both_of(logged[i].count, logged[i].count));
        }
    }
    return ok;
}

/* ---- reports ---- */

static bool is_urgent(const struct bucket *b, uint64_t key, uint64_t more)
{
    const uint64_t total = tally_get(&b->totals, key) + more;

    return total >= SHARED_URGENT_TOTAL && more * SHARED_URGENT_SHARE >= total;
}

static bool note_waiting(struct waiting *w, uint64_t key, uint64_t now_us)
{
    if (!array_room(&w->keys, &w->room, w->n + 1, SIZE_MAX, sizeof(*w->keys))) {
        return false;
    }
    w->since_us = w->n == 0 ? now_us : w->since_us;
    w->keys[w->n++] = key;
    return true;
}

static bool report_one(struct bucket *b, const struct run_record *r, uint64_t now_us)
{
    struct waiting *w = &b->cells[shared_cell_of(r->key)];
    uint64_t *both = tally_find(&b->counts, r->key);
    const uint64_t logged = both != NULL ? logged_of(*both) : 0;
    const uint64_t before = both != NULL ? counted_of(*both) : 0;
    const uint64_t counted = counted_of(both_of(0, r->count));

    if (counted <= before || r->key == 0) {
        return true;
    }
    if (both == NULL) {
        if (!tally_add(&b->counts, r->key, both_of(0, counted))) {
            return false;
        }
    } else {
        *both = both_of(logged, counted);
    }
    if (before <= logged && counted > logged && !note_waiting(w, r->key, now_us)) {
        both = tally_find(&b->counts, r->key);
        *both = both_of(logged, logged); /* as if it had not been reported */
        return false;
    }
    w->is_urgent = w->is_urgent || is_urgent(b, r->key, counted - logged);
    return true;
}

bool shared_pending_report(struct shared_pending *p, const struct shared_report *r,
                           uint64_t now_us)
{
    struct bucket *b = find_bucket(p, r->start_s);
    bool ok = b != NULL;

    for (size_t i = 0; ok && i < r->n; i++) {
        ok = report_one(b, &r->totals[i], now_us);
    }
    if (ok) {
        b->is_complete = b->is_complete || r->is_complete;
    }
    return ok;
}

void shared_pending_learn(struct shared_pending *p, uint64_t start_s, uint64_t key,
                          uint64_t total)
{
    struct bucket *b = find_bucket(p, start_s);

    if (b == NULL || total < SHARED_URGENT_TOTAL) {
        return;
    }
    uint64_t *known = tally_find(&b->totals, key);
    if (known != NULL) {
        *known = total;
    } else {
        (void)tally_add(&b->totals, key, total); /* without it the cell is not urgent */
    }
}

/* ---- records ---- */

static bool is_cell_due(const struct bucket *b, const struct waiting *w,
                        uint64_t now_us, bool all)
{
    return w->n > 0 &&
           (all || b->is_complete || w->is_urgent || w->n >= SHARED_CELL_FULL ||
            now_us >= w->since_us + SHARED_HOLD_US);
}

static bool take_cell(struct shared_pending *p, struct bucket *b, struct waiting *w)
{
    const size_t n = w->n < SHARED_BATCH_PAIRS ? w->n : SHARED_BATCH_PAIRS;

    if (!array_room(&p->record, &p->room, p->nrecord + n, SIZE_MAX,
                    sizeof(*p->record))) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t both = tally_get(&b->counts, w->keys[i]);
        const uint64_t more = counted_of(both) - logged_of(both);

        p->record[p->nrecord++] = (struct run_record){
            w->keys[i], more < SHARED_AMOUNT_MAX ? more : SHARED_AMOUNT_MAX};
    }
    w->taken = n;
    return true;
}

bool shared_pending_due(struct shared_pending *p, uint64_t now_us, bool all,
                        struct shared_due *ret)
{
    p->nrecord = 0;
    p->due = NULL;
    for (size_t i = 0; i < p->n && p->nrecord == 0; i++) {
        p->due = p->v[i];
        for (unsigned c = 0; c < SHARED_CELLS; c++) {
            struct waiting *w = &p->due->cells[c];

            w->taken = 0;
            if (is_cell_due(p->due, w, now_us, all) && !take_cell(p, p->due, w)) {
                return false; /* later */
            }
        }
    }
    if (p->nrecord == 0) {
        return false;
    }
    qsort(p->record, p->nrecord, sizeof(*p->record), array_u64_cmp);
    *ret = (struct shared_due){p->due->start_s, p->record, p->nrecord};
    return true;
}

/* Keeps the keys that were not taken, or not in whole. */
static void settle_cell(struct bucket *b, struct waiting *w)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++) {
        const uint64_t both = tally_get(&b->counts, w->keys[i]);

        if (i >= w->taken || counted_of(both) > logged_of(both)) {
            w->keys[kept++] = w->keys[i];
        }
    }
    w->n = kept;
    w->taken = 0;
    w->is_urgent = w->is_urgent && kept > 0;
}

void shared_pending_logged(struct shared_pending *p)
{
    struct bucket *b = p->due;

    for (size_t i = 0; b != NULL && i < p->nrecord; i++) {
        uint64_t *both = tally_find(&b->counts, p->record[i].key);

        *both = both_of(logged_of(*both) + p->record[i].count, counted_of(*both));
    }
    for (unsigned c = 0; b != NULL && c < SHARED_CELLS; c++) {
        if (b->cells[c].taken > 0) {
            settle_cell(b, &b->cells[c]);
        }
    }
    p->nrecord = 0;
    p->due = NULL;
}

/* ---- questions ---- */

bool shared_pending_own(const struct shared_pending *p, uint64_t start_s, uint64_t key,
                        uint64_t *ret)
{
    const struct bucket *b = find_bucket(p, start_s);

    if (b == NULL) {
        return false;
    }
    *ret = logged_of(tally_get(&b->counts, key));
    return true;
}

uint64_t shared_pending_complete(const struct shared_pending *p, size_t *at)
{
    while (*at < p->n) {
        const struct bucket *b = p->v[(*at)++];

        if (b->is_complete && waiting_of(b) == 0) {
            return b->start_s;
        }
    }
    return 0;
}

uint64_t shared_pending_since(const struct shared_pending *p)
{
    uint64_t oldest = 0;

    for (size_t i = 0; i < p->n; i++) {
        for (unsigned c = 0; c < SHARED_CELLS; c++) {
            const struct waiting *w = &p->v[i]->cells[c];

            if (w->n > 0 && (oldest == 0 || w->since_us < oldest)) {
                oldest = w->since_us;
            }
        }
    }
    return oldest;
}
