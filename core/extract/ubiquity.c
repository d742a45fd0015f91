#include "core/extract/ubiquity.h"

#include <stdlib.h>

struct slot {
    uint64_t shingle; /* 0: free */
    uint16_t sender[UBIQUITY_SENDERS];
    uint16_t nsenders;
};
_Static_assert(sizeof(struct slot) == 16, "a slot is as large as the header says");

struct ubiquity {
    size_t mask; /* of buckets */
    struct slot slot[];
};

struct ubiquity *ubiquity_new(size_t nshingles)
{
    size_t nbuckets = 1;
    if (nshingles > UBIQUITY_SHINGLES_MAX) {
        return NULL;
    }
    while (nbuckets * UBIQUITY_WAYS < nshingles) {
        nbuckets *= 2;
    }
    struct ubiquity *u =
        calloc(1, sizeof *u + nbuckets * UBIQUITY_WAYS * sizeof u->slot[0]);
    if (u != NULL) {
        u->mask = nbuckets - 1;
    }
    return u;
}

void ubiquity_free(struct ubiquity **u)
{
    free(*u);
    *u = NULL;
}

static size_t bucket_of(const struct ubiquity *u, uint64_t shingle)
{
    return ((size_t)(shingle >> 20) & u->mask) * UBIQUITY_WAYS;
}

bool ubiquity_has(const struct ubiquity *u, uint64_t shingle)
{
    const struct slot *bucket = &u->slot[bucket_of(u, shingle)];
    for (size_t i = 0; i < UBIQUITY_WAYS; i++) {
        if (bucket[i].shingle == shingle) {
            return bucket[i].nsenders >= UBIQUITY_SENDERS;
        }
    }
    return false;
}

static bool add_sender(struct slot *slot, uint16_t sender)
{
    for (size_t i = 0; i < slot->nsenders; i++) {
        if (slot->sender[i] == sender) {
            return slot->nsenders >= UBIQUITY_SENDERS;
        }
    }
    if (slot->nsenders < UBIQUITY_SENDERS) {
        slot->sender[slot->nsenders++] = sender;
    }
    return slot->nsenders >= UBIQUITY_SENDERS;
}

bool ubiquity_learn(struct ubiquity *u, uint64_t shingle, uint64_t sender)
{
    struct slot *bucket = &u->slot[bucket_of(u, shingle)];
    uint16_t tag =
        (uint16_t)(sender ^ (sender >> 16) ^ (sender >> 32) ^ (sender >> 48));
    struct slot *least = &bucket[0];
    if (shingle == 0) {
        return false;
    }
    for (size_t i = 0; i < UBIQUITY_WAYS; i++) {
        if (bucket[i].shingle == shingle) {
            return add_sender(&bucket[i], tag);
        }
        if (bucket[i].nsenders < least->nsenders) {
            least = &bucket[i];
        }
    }
    *least = (struct slot){.shingle = shingle, .sender = {tag}, .nsenders = 1};
    return UBIQUITY_SENDERS == 1;
}
