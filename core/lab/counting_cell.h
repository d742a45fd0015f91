/*
 * counting_cell - packed cells and the way from a key to them: for counting*.c, not for others.
 *
 * A cell is named by its packed index: word = index / per, where per is the cells that fit a
 * 64-bit word (16, 12, 10, 8, 4); no cell crosses words. Inline, so that where the width is a
 * constant the divisions are multiplications.
 * Threads: pure except counting_store.   Allocates: nothing.
 */
#ifndef CORE_LAB_COUNTING_CELL_H
#define CORE_LAB_COUNTING_CELL_H

#include "core/lab/counting.h"

/* Where a key's cells lie: packed indices. */
struct counting_place {
    uint64_t chunk; /* not set where positions are given */
    uint64_t at[COUNTING_K_MAX];
};

static inline uint64_t counting_mask(unsigned bits)
{
    return ((uint64_t)1 << bits) - 1;
}

static inline unsigned counting_per(unsigned bits)
{
    return 64 / bits;
}

static inline uint64_t counting_load(const uint64_t *words, uint64_t at, unsigned bits)
{
    unsigned per = counting_per(bits);
    return words[at / per] >> (at % per * bits) & counting_mask(bits);
}

static inline void counting_store(uint64_t *words, uint64_t at, unsigned bits,
                                  uint64_t value)
{
    unsigned per = counting_per(bits);
    uint64_t shift = at % per * bits;
    uint64_t *word = &words[at / per];
    *word = (*word & ~(counting_mask(bits) << shift)) | value << shift;
}

/* Where n keys (at most COUNTING_BATCH) lie, their words on the way into the cache.
 * Returns n. */
size_t counting_place_batch(const struct counting *c, const struct digest *d, size_t n,
                            struct counting_place *ret);
/* The count with the amount; the count. */
uint64_t counting_add_place(struct counting *c, const struct counting_place *p,
                            uint64_t amount);
uint64_t counting_get_place(const struct counting *c, const struct counting_place *p);

static inline struct counting_read counting_read_of(const struct counting *c,
                                                    uint64_t count)
{
    return (struct counting_read){.count = count, .is_saturated = count >= c->cap};
}

/* Never wraps: cap stands for "cap or more". */
static inline uint64_t counting_sum(uint64_t a, uint64_t b, uint64_t cap)
{
    return b > cap - a ? cap : a + b;
}

static inline bool counting_is_split(const struct counting *c)
{
    return c->shape.layout == COUNTING_SPLIT;
}

/* The cells of a split filter, of any width (counting_split.c). */
uint64_t counting_split_load(const struct counting *c, uint64_t at);
void counting_split_store(struct counting *c, uint64_t at, uint64_t value);
/* ERR_NOSPACE: a table of dst is too small. */
enum err counting_split_copy(struct counting *dst, const struct counting *src);

/* Alike except for the slots and the key; reterr names the difference. */
enum err counting_alike(const struct counting *a, const struct counting *b,
                        struct errinfo *reterr);

#endif
