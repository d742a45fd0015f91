/*
 * bloom_split - digests dealt out to threads, each of which builds its own lines of one Bloom
 * filter.
 *
 * Depends: bloom.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_LAB_BLOOM_SPLIT_H
#define CORE_LAB_BLOOM_SPLIT_H

#include "core/filter/bloom.h"

enum { BLOOM_PARTS_MAX = 64 }; /* threads that build one filter */

/* For threads that each have only some of the digests: deals n out to `parts` owners of equal
 * shares of the lines (bloom_part_first), so that each adds what all dealt it, by
 * bloom_add_range. ret[p] holds retcount[p], which grows, and has room for n more; a digest may
 * go to more than one. parts is 1 to BLOOM_PARTS_MAX. */
void bloom_split(const struct bloom *b, const struct digest *d, size_t n,
                 unsigned parts, struct digest *const ret[], size_t *retcount);
/* The first line of a part's share; of part `parts`: nlines. */
uint64_t bloom_part_first(const struct bloom *b, unsigned part, unsigned parts);

#endif
