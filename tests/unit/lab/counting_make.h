/*
 * counting_make - counting filters in memory of their own, for the tests of this room.
 */
#ifndef TESTS_UNIT_LAB_COUNTING_MAKE_H
#define TESTS_UNIT_LAB_COUNTING_MAKE_H

#include "core/lab/counting.h"

#include "tests/unit/filter/keys.h"

static inline uint64_t *counting_memory(uint64_t nwords)
{
    uint64_t *words = aligned_alloc(64, nwords > 0 ? nwords * 8 : 64);
    assert_non_null(words);
    memset(words, 0, nwords * 8);
    return words;
}

static inline struct counting counting_make(const struct counting_shape *s,
                                            const struct hashkey *key)
{
    struct counting c;
    struct errinfo info = {.text = ""};
    if (counting_check(s, &info) != ERR_OK) {
        fail_msg("%s: %s", info.source, info.text);
    }
    uint64_t nslots = counting_slots(s);
    counting_init(&c, s, counting_memory(counting_words(s)),
                  nslots > 0 ? counting_memory(nslots) : NULL, key);
    return c;
}

static inline void counting_drop(struct counting *c)
{
    free(c->words);
    free(c->slots);
}

static inline struct counting_shape counting_flat(enum counting_variant variant,
                                                  unsigned bits, unsigned k, uint64_t m)
{
    return (struct counting_shape){.variant = variant,
                                   .layout = COUNTING_FLAT,
                                   .cell_bits = bits,
                                   .k = k,
                                   .nchunks = 1,
                                   .chunk_cells = m};
}

#endif
