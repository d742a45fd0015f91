/*
 * listed - look-up of features while their message is still read.
 *
 * Used for features for which a message has no room (core/message/extract/overflow.h). Each look-up
 * pins the lists in use at that time. A list can keep at most LISTED_MOST features of a message.
 * The time for exact confirmations is bounded. Afterwards a hit of the filter is enough to keep a
 * feature, and the look-up at the end of the message checks the hit.
 * Depends: base, feature, list.   Threads: one at a time.   Allocates: on the heap, from the first
 * look-up on.
 */
#ifndef CORE_LIST_LISTED_H
#define CORE_LIST_LISTED_H

#include "core/list/listset.h"

enum { LISTED_MOST = 32 /* features of a message that one list keeps */ };

struct listed {
    struct list_manager *hold; /* borrowed; NULL: nothing is listed */
    struct arena *arena;       /* for one look-up; NULL before the first */
    uint64_t used_us;          /* time used for confirmations */
    uint64_t lines_us;         /* time used for waiting for filter lines */
    uint8_t *kept;             /* number of features that each list has kept */
};

/* Call listed_init before the first feature of a message, and listed_fini after the last. */
void listed_init(struct listed *l, struct list_manager *hold);
void listed_fini(struct listed *l);

/* Writes the indices of the listed features to ret, in rising order, and returns their number.
 * context is a struct listed; ret has room for all features. */
size_t listed_find(void *context, const struct featureset *features, uint32_t *ret);

#endif
