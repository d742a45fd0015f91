/*
 * overflow - look-up of features for which a message has no room, while the message is read.
 *
 * A sender must not be able to hide a listed feature behind many others. Features without room are
 * gathered in batches. Each batch is looked up in the lists, and its listed features are kept after
 * all. The others are dropped: they are neither counted nor shown.
 * Threads: one at a time.   Allocates: a batch on the heap, from the first such feature on.
 */
#ifndef CORE_MESSAGE_EXTRACT_OVERFLOW_H
#define CORE_MESSAGE_EXTRACT_OVERFLOW_H

#include "core/base/arena.h"
#include "core/message/feature/feature.h"

enum {
    OVERFLOW_BATCH = 128,      /* features of one look-up */
    OVERFLOW_BYTES = 4 << 20,  /* memory of a batch */
    OVERFLOW_LATELY = 1 << 12, /* recent features that are remembered; a power of two */
};

/* Writes the indices of the listed features to ret, in rising order, and returns their number. ret
 * has room for all features. NULL: there are no lists. */
typedef size_t listed_fn(void *context, const struct featureset *features,
                         uint32_t *ret);

struct overflow {
    listed_fn *listed;
    void *context;           /* of listed */
    struct featureset *kept; /* the message's */
    struct arena *arena;     /* of the batch; NULL before the first one */
    struct featureset *batch;
    uint64_t *lately; /* hashes of features looked up, each at its own place */
};

/* From now on o takes the features for which kept has no room. kept is borrowed. */
void overflow_init(struct overflow *o, struct featureset *kept, listed_fn *listed,
                   void *context);
/* Looks up the features of the open batch. */
void overflow_ask(struct overflow *o);
void overflow_fini(struct overflow *o);

#endif
