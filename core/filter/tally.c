/* tally - counts of keys in memory. */
#include "core/filter/tally.h"

#include "core/base/prng.h"
#include "core/base/random.h"
#include "core/filter/mix.h"

enum { SLOTS_LEAST = 16, MAX_LEAST = 1024 };

void tally_init(struct tally *t)
{
    *t = (struct tally){.nslots_max = SIZE_MAX / sizeof(struct tally_slot)};
    random_bytes(&t->seed, sizeof(t->seed));
}

void tally_init_bounded(struct tally *t, uint64_t nslots_max)
{
    uint64_t max = MAX_LEAST;

    while (max < nslots_max) {
        max *= 2;
    }
    *t = (struct tally){.nslots_max = max};
}

void tally_fini(struct tally *t)
{
    free(t->slots);
    t->slots = NULL;
    figure_set(&t->nslots, 0);
    figure_set(&t->n, 0);
}

static uint64_t first_slot(const struct tally *t, uint64_t key)
{
    return prng_mix(key ^ t->seed) & (t->nslots - 1);
}

/* The slot of key, or the free one where it would go. There is one: the table is never full. */
static uint64_t key_slot(const struct tally *t, uint64_t key)
{
    uint64_t i = first_slot(t, key);

    while (t->slots[i].key != 0 && t->slots[i].key != key) {
        i = (i + 1) & (t->nslots - 1);
    }
    return i;
}

uint64_t *tally_find(const struct tally *t, uint64_t key)
{
    if (t->nslots == 0) {
        return NULL;
    }
    struct tally_slot *s = &t->slots[key_slot(t, key)];
    return s->key != 0 ? &s->count : NULL;
}

uint64_t tally_get(const struct tally *t, uint64_t key)
{
    return t->nslots == 0 ? 0 : t->slots[key_slot(t, key)].count;
}

static bool grow_slots(struct tally *t)
{
    struct tally more = *t;

    more.nslots = t->nslots == 0 ? SLOTS_LEAST : 2 * t->nslots;
    more.slots = more.nslots <= t->nslots_max
                     ? calloc(more.nslots, sizeof(more.slots[0]))
                     : NULL;
    if (more.slots == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < t->nslots; i++) {
        if (t->slots[i].key != 0) {
            more.slots[key_slot(&more, t->slots[i].key)] = t->slots[i];
        }
    }
    free(t->slots);
    t->slots = more.slots;
    figure_set(&t->nslots, more.nslots);
    return true;
}

bool tally_add(struct tally *t, uint64_t key, uint64_t amount)
{
    if (t->n >= t->nslots / 4 * 3 && !grow_slots(t) && t->n >= t->nslots / 8 * 7) {
        return false;
    }
    struct tally_slot *s = &t->slots[key_slot(t, key)];
    if (s->key == 0) {
        s->key = key;
        figure_set(&t->n, t->n + 1);
    }
    s->count = s->count > UINT64_MAX - amount ? UINT64_MAX : s->count + amount;
    return true;
}

/* Later slots of the same chain close the gap, so that no chain is cut. */
void tally_remove(struct tally *t, uint64_t key)
{
    uint64_t mask = t->nslots - 1;
    uint64_t gap = key_slot(t, key);

    for (uint64_t i = (gap + 1) & mask; t->slots[i].key != 0; i = (i + 1) & mask) {
        uint64_t ideal = first_slot(t, t->slots[i].key);
        if (((i - ideal) & mask) >= ((i - gap) & mask)) {
            t->slots[gap] = t->slots[i];
            gap = i;
        }
    }
    t->slots[gap] = (struct tally_slot){0};
    figure_set(&t->n, t->n - 1);
    if (t->n == 0) {
        tally_fini(t);
    }
}

void tally_each(const struct tally *t, tally_fn *fn, void *context)
{
    for (uint64_t i = 0; i < t->nslots; i++) {
        if (t->slots[i].key != 0) {
            fn(context, t->slots[i].key, t->slots[i].count);
        }
    }
}

uint64_t tally_used(const struct tally *t)
{
    return figure_get(&t->n);
}

uint64_t tally_memory(const struct tally *t)
{
    return figure_get(&t->nslots) * sizeof(struct tally_slot);
}
