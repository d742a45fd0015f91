/* shared_positions - numbers of records, and the position of each cell. */
#include "core/hub/shared/shared_positions.h"

#include <assert.h>

#include "core/base/array.h"

enum { WORD_BITS = 64 };

/* ---- life ---- */

void positions_init(struct shared_positions *p, uint64_t last)
{
    *p =
        (struct shared_positions){.last = last, .last_at_ask = last, .is_asking = true};
}

void positions_fini(struct shared_positions *p)
{
    free(p->v);
    p->v = NULL;
    p->n = 0;
    p->room = 0;
}

void positions_restart(struct shared_positions *p)
{
    p->n = 0;
    p->last = 0;
    p->last_at_ask = 0;
    p->is_asking = false;
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        p->cells[c] = (struct shared_cell){.is_known = true, .was_heard = true};
    }
}

/* ---- records ---- */

bool record_has(const struct shared_record *record, unsigned cell)
{
    return (record->cells[cell / WORD_BITS] >> (cell % WORD_BITS) & 1) != 0;
}

bool positions_add(struct shared_positions *p, const struct shared_record *record)
{
    assert(record->number > p->last || p->n == 0 ||
           record->number > p->v[p->n - 1].number);
    if (!array_room(&p->v, &p->room, p->n + 1, SIZE_MAX, sizeof(*p->v))) {
        return false;
    }
    p->v[p->n++] = *record;
    p->last = record->number > p->last ? record->number : p->last;
    return true;
}

void positions_forget(struct shared_positions *p, uint64_t start_s)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].start_s != start_s) {
            p->v[kept++] = p->v[i];
        }
    }
    p->n = kept;
}

/* The first record with a number above this one. */
static size_t record_after(const struct shared_positions *p, uint64_t number)
{
    size_t low = 0;
    size_t high = p->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (p->v[middle].number > number) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool positions_is_waiting(const struct shared_positions *p,
                          const struct shared_record *record)
{
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        if (record_has(record, c) && p->cells[c].position < record->number) {
            return true;
        }
    }
    return false;
}

bool positions_is_bucket_waiting(const struct shared_positions *p, uint64_t start_s)
{
    for (size_t i = p->n; i > 0; i--) {
        if (p->v[i - 1].start_s == start_s && positions_is_waiting(p, &p->v[i - 1])) {
            return true;
        }
    }
    return false;
}

const struct shared_record *positions_oldest(const struct shared_positions *p,
                                             unsigned cell)
{
    for (size_t i = record_after(p, p->cells[cell].scanned); i < p->n; i++) {
        if (record_has(&p->v[i], cell)) {
            return &p->v[i];
        }
    }
    return NULL;
}

/* ---- positions ---- */

static void place(struct shared_cell *c, uint64_t position)
{
    c->scanned = position;
    c->position = position;
    c->is_known = true;
    c->was_heard = true;
}

static bool is_one_unheard(const struct shared_positions *p)
{
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        if (!p->cells[c].was_heard) {
            return true;
        }
    }
    return false;
}

bool positions_hear(struct shared_positions *p, unsigned cell, uint64_t position)
{
    struct shared_cell *c = &p->cells[cell];

    if (c->is_busy) {
        return true; /* the answer of its batch tells it too, and later */
    }
    const bool is_ahead = position > (c->was_heard ? p->last : p->last_at_ask);
    if (is_ahead) {
        c->was_heard = true;
    } else {
        place(c, position);
    }
    p->is_asking = p->is_asking && is_one_unheard(p);
    return !is_ahead;
}

void positions_doubt(struct shared_positions *p)
{
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        p->cells[c].is_known = p->cells[c].is_known && p->cells[c].is_busy;
    }
}

/* ---- batches ---- */

bool positions_next(struct shared_positions *p, unsigned cell, size_t *ret)
{
    struct shared_cell *c = &p->cells[cell];

    if (p->is_asking || !c->is_known || c->is_busy) {
        return false;
    }
    for (size_t i = record_after(p, c->scanned); i < p->n; i++) {
        if (record_has(&p->v[i], cell)) {
            *ret = i;
            return true;
        }
        c->scanned = p->v[i].number;
    }
    return false;
}

size_t positions_following(const struct shared_positions *p, unsigned cell, size_t i)
{
    const uint64_t start_s = p->v[i].start_s;

    for (i++; i < p->n; i++) {
        if (record_has(&p->v[i], cell)) {
            return p->v[i].start_s == start_s ? i : p->n;
        }
    }
    return p->n;
}

void positions_skip(struct shared_positions *p, unsigned cell, size_t i)
{
    p->v[i].cells[cell / WORD_BITS] &= ~(UINT64_C(1) << (cell % WORD_BITS));
}

void positions_sent(struct shared_positions *p, unsigned cell)
{
    p->cells[cell].is_busy = true;
}

void positions_added(struct shared_positions *p, unsigned cell, uint64_t number)
{
    p->cells[cell].is_busy = false;
    place(&p->cells[cell], number);
}

void positions_failed(struct shared_positions *p, unsigned cell, bool is_known)
{
    p->cells[cell].is_busy = false;
    p->cells[cell].is_known = is_known;
}
