/* tally - counts of keys in memory. */
#include "core/count/tally.h"

#include "core/base/prng.h"
#include "core/base/random.h"

enum { SLOTS_LEAST = 64, FULL_NUM = 3, FULL_DEN = 4 };

void tally_init(struct tally *t)
{
    *t = (struct tally){.n = 0};
    random_bytes(&t->seed, sizeof(t->seed));
}

void tally_fini(struct tally *t)
{
    free(t->slots);
    t->slots = NULL;
    t->nslots = 0;
    t->n = 0;
}

/* The slot of key, or the free one where it would go. There is one: the table is never full. */
static struct run_record *slot_of(const struct tally *t, uint64_t key)
{
    size_t mask = t->nslots - 1;
    size_t i = (size_t)prng_mix(key ^ t->seed) & mask;

    while (t->slots[i].key != 0 && t->slots[i].key != key) {
        i = (i + 1) & mask;
    }
    return &t->slots[i];
}

static bool grow(struct tally *t)
{
    struct tally more = {.nslots = t->nslots == 0 ? SLOTS_LEAST : 2 * t->nslots,
                         .n = t->n,
                         .seed = t->seed};

    more.slots = calloc(more.nslots, sizeof(more.slots[0]));
    if (more.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->nslots; i++) {
        if (t->slots[i].key != 0) {
            *slot_of(&more, t->slots[i].key) = t->slots[i];
        }
    }
    free(t->slots);
    *t = more;
    return true;
}

bool tally_add(struct tally *t, uint64_t key, uint64_t amount)
{
    if (t->n >= t->nslots / FULL_DEN * FULL_NUM && !grow(t)) {
        return false;
    }
    struct run_record *slot = slot_of(t, key);
    t->n += slot->key == 0;
    slot->key = key;
    slot->count = slot->count > UINT64_MAX - amount ? UINT64_MAX : slot->count + amount;
    return true;
}

uint64_t tally_get(const struct tally *t, uint64_t key)
{
    return t->nslots == 0 ? 0 : slot_of(t, key)->count;
}

void tally_each(const struct tally *t, tally_fn *fn, void *context)
{
    for (size_t i = 0; i < t->nslots; i++) {
        if (t->slots[i].key != 0) {
            fn(context, t->slots[i].key, t->slots[i].count);
        }
    }
}
