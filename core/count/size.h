/*
 * size - how large the counts are for a number of messages a day, and what to expect of them.
 *
 * Everything follows from the traffic model (core/count/traffic.h): 40 keys a message, 60 % of them
 * first occurrences that stay in the doorkeeper, the others keys that come again. The presets are
 * computed for 10^4, 10^5, 10^6 and 10^7 messages a day; any number between them works too.
 * Expectations are for a steady fortnight of as many messages as planned.
 * Depends: base, filter (traffic).   Threads: pure.   Allocates: nothing.   Decisions: ADR 0028.
 */
#ifndef CORE_COUNT_SIZE_H
#define CORE_COUNT_SIZE_H

#include "core/base/err.h"

enum {
    COUNT_SIZE_WINDOWS = 4, /* in the order of enum count_window */
    COUNT_SIZE_LINE = 64,   /* bytes of a line of the doorkeeper or of cells */
    COUNT_SIZE_SHARDS_LEAST = 16,
    COUNT_SIZE_SHARDS_MOST = 256
};
/* Messages a day: fewer are planned as the least. */
#define COUNT_SIZE_MESSAGES_LEAST UINT64_C(1000)
#define COUNT_SIZE_MESSAGES_MOST  UINT64_C(100000000)

struct count_size {
    uint64_t messages_per_day;
    unsigned nshards; /* a power of two */
    uint64_t
        doorkeeper_lines; /* of all shards, as are the next two; multiples of nshards */
    uint64_t cell_lines;
    uint64_t
        live_slots; /* of the running bucket's table; a power of two for each shard */
    uint64_t memory_bytes; /* of the counts, the running tables included */
    uint64_t disk_bytes;   /* of 14 days, with the space that a merge needs */

    /* Numbers of keys, from which the sizes follow. */
    uint64_t bucket_keys;    /* different keys in a bucket of 10 minutes, on average */
    uint64_t day_keys;       /* in a day */
    uint64_t fortnight_keys; /* in 14 days */

    /* Expected values per window; the first window is exact. */
    double
        doorkeeper_false; /* share of first occurrences that the doorkeeper takes for seen */
    double noise_floor
        [COUNT_SIZE_WINDOWS]; /* share of keys never counted that read above 0, of 14 d above 1 */
    double error
        [COUNT_SIZE_WINDOWS]; /* share of keys that came again that read too high */
};

/* ERR_RANGE: 0, or more than COUNT_SIZE_MESSAGES_MOST. */
enum err count_size_for(uint64_t messages_per_day, struct count_size *ret);

#endif
