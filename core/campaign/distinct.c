#include "core/campaign/distinct.h"

#include <math.h>

enum { REGISTERS = 2 * DISTINCT_BYTES, REGISTER_BITS = 6, RANK_MAX = 15 };

static unsigned rank_at(const struct distinct *d, unsigned i)
{
    return d->set[i / 2] >> (i % 2 * 4) & RANK_MAX;
}

static void raise_register(struct distinct *d, uint32_t hash)
{
    unsigned i = hash % REGISTERS;
    uint32_t rest = hash >> REGISTER_BITS;
    unsigned rank = rest == 0 ? RANK_MAX : (unsigned)__builtin_ctz(rest) + 1;

    rank = rank < RANK_MAX ? rank : RANK_MAX;
    if (rank > rank_at(d, i)) {
        unsigned shift = i % 2 * 4;
        unsigned others = d->set[i / 2] & ~((unsigned)RANK_MAX << shift);
        d->set[i / 2] = (uint8_t)(others | rank << shift);
    }
}

void distinct_add(struct distinct *d, uint64_t hash)
{
    uint32_t key = (uint32_t)(hash >> 32);
    uint32_t known[DISTINCT_EXACT];

    if (d->n > DISTINCT_EXACT) {
        raise_register(d, key);
        return;
    }
    memcpy(known, d->set, sizeof(known));
    for (unsigned i = 0; i < d->n; i++) {
        if (known[i] == key) {
            return;
        }
    }
    if (d->n < DISTINCT_EXACT) {
        memcpy(d->set + sizeof(key) * d->n, &key, sizeof(key));
    } else {
        memset(d->set, 0, sizeof(d->set));
        for (unsigned i = 0; i < DISTINCT_EXACT; i++) {
            raise_register(d, known[i]);
        }
        raise_register(d, key);
    }
    d->n++;
}

uint64_t distinct_count(const struct distinct *d)
{
    const double alpha = 0.709; /* for 64 registers */
    const double m = REGISTERS;
    const double few = 2.5 * m; /* below, the empty registers say more */
    double sum = 0;
    unsigned nempty = 0;

    if (d->n <= DISTINCT_EXACT) {
        return d->n;
    }
    for (unsigned i = 0; i < REGISTERS; i++) {
        unsigned rank = rank_at(d, i);
        sum += 1.0 / (double)(1U << rank);
        nempty += rank == 0;
    }
    double estimate = alpha * m * m / sum;
    if (estimate <= few && nempty > 0) {
        estimate = m * log(m / nempty);
    }
    uint64_t n = (uint64_t)(estimate + 0.5);
    return n > DISTINCT_EXACT ? n : DISTINCT_EXACT + 1;
}
