/* celltable - the few counts that are too large for their cells. */
#include "core/filter/celltable.h"

#include "core/base/prng.h"
#include "core/base/std.h"

enum { SLOTS_LEAST = 16, MAX_LEAST = 1024, FULL_NUMERATOR = 7, FULL_DENOMINATOR = 8 };

static void set_used(struct celltable *t, uint64_t n)
{
    __atomic_store_n(&t->nused, n, __ATOMIC_RELAXED); /* a figure for others */
}

void celltable_init(struct celltable *t, uint64_t nslots_max)
{
    uint64_t max = MAX_LEAST;

    while (max < nslots_max) {
        max *= 2;
    }
    *t = (struct celltable){.nslots_max = max};
}

void celltable_fini(struct celltable *t)
{
    free(t->slots);
    t->slots = NULL;
    t->nslots = 0;
    set_used(t, 0);
}

/* The cell's slot, or the free one where it would go. */
static uint64_t slot_of(const struct celltable *t, uint64_t name)
{
    uint64_t i = prng_mix(name) & (t->nslots - 1);

    while (t->slots[i].cell && t->slots[i].cell != name) {
        i = (i + 1) & (t->nslots - 1);
    }
    return i;
}

uint64_t *celltable_get(const struct celltable *t, uint64_t cell)
{
    if (t->nslots == 0) {
        return NULL;
    }
    struct cell_slot *s = &t->slots[slot_of(t, cell + 1)];
    return s->cell ? &s->count : NULL;
}

static bool grow(struct celltable *t)
{
    struct celltable next = *t;

    next.nslots = t->nslots ? t->nslots * 2 : SLOTS_LEAST;
    if (next.nslots > t->nslots_max) {
        return false;
    }
    next.slots = calloc(next.nslots, sizeof(*next.slots));
    if (!next.slots) {
        return false;
    }
    for (uint64_t i = 0; i < t->nslots; i++) {
        if (t->slots[i].cell) {
            next.slots[slot_of(&next, t->slots[i].cell)] = t->slots[i];
        }
    }
    free(t->slots);
    t->slots = next.slots;
    __atomic_store_n(&t->nslots, next.nslots, __ATOMIC_RELAXED);
    return true;
}

bool celltable_put(struct celltable *t, uint64_t cell, uint64_t count)
{
    bool is_half = t->nused * 2 >= t->nslots;

    if (is_half && !grow(t) &&
        t->nused * FULL_DENOMINATOR >= t->nslots * FULL_NUMERATOR) {
        return false;
    }
    t->slots[slot_of(t, cell + 1)] = (struct cell_slot){cell + 1, count};
    set_used(t, t->nused + 1);
    return true;
}

/* Later slots of the same chain close the gap, so that no chain is cut. */
void celltable_remove(struct celltable *t, uint64_t cell)
{
    uint64_t mask = t->nslots - 1;
    uint64_t gap = slot_of(t, cell + 1);

    for (uint64_t i = (gap + 1) & mask; t->slots[i].cell; i = (i + 1) & mask) {
        uint64_t ideal = prng_mix(t->slots[i].cell) & mask;
        if (((i - ideal) & mask) >= ((i - gap) & mask)) {
            t->slots[gap] = t->slots[i];
            gap = i;
        }
    }
    t->slots[gap] = (struct cell_slot){0};
    set_used(t, t->nused - 1);
    if (t->nused == 0) {
        free(t->slots);
        t->slots = NULL;
        __atomic_store_n(&t->nslots, 0, __ATOMIC_RELAXED);
    }
}

uint64_t celltable_used(const struct celltable *t)
{
    return __atomic_load_n(&t->nused, __ATOMIC_RELAXED);
}

uint64_t celltable_memory(const struct celltable *t)
{
    return __atomic_load_n(&t->nslots, __ATOMIC_RELAXED) * sizeof(struct cell_slot);
}
