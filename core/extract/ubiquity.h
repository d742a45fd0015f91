/*
 * ubiquity - which shingles many senders write: footers, boilerplate, quoted headers.
 *
 * Told (shingle, sender) pairs, it remembers of each shingle up to UBIQUITY_SENDERS different
 * senders; from then on it is common, and tells no two messages to be replicas. Bounded: in a
 * full bucket the shingle of the fewest senders gives way, so that common ones stay. A sender
 * may be taken for another one in 65,535 times.
 * Threads: asking from any while nobody learns.   Owns: its table.   Depends: base.
 */
#ifndef CORE_EXTRACT_UBIQUITY_H
#define CORE_EXTRACT_UBIQUITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UBIQUITY_SENDERS = 3, /* so many make a shingle common */
    UBIQUITY_WAYS = 4,    /* shingles of a bucket */
    UBIQUITY_SHINGLES_MAX = 1 << 26
};

struct ubiquity;

/* For about nshingles different ones, 16 bytes each. NULL: no memory, or too many. */
struct ubiquity *ubiquity_new(size_t nshingles);
void ubiquity_free(struct ubiquity **u);

/* sender: a hash of who sent it. True when the shingle is common by now. */
bool ubiquity_learn(struct ubiquity *u, uint64_t shingle, uint64_t sender);
bool ubiquity_has(const struct ubiquity *u, uint64_t shingle);

#endif
