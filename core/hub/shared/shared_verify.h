/*
 * shared_verify - compares the store with what this server put there: for `gillnet store verify`.
 *
 * First it asks each cell how far it has this server's records, and looks at some parts of each of
 * its buckets: whether they are there and expire. Then it takes some buckets of the log, in each a
 * sample of keys, and asks for their totals: none may be lower than what this server added, which
 * is the sum of its records up to the cell's position of the same answer. The store is asked by
 * scripts that only read, a cell at a time, and the log is read in small pieces.
 * Files: shared_verify, the turns and questions; shared_verify_sample, the keys.
 * Depends: base, counts, scripts, libevent, jansson.   Threads: that of the event loop.   Owns: its
 * report.
 */
#ifndef CORE_HUB_SHARED_SHARED_VERIFY_H
#define CORE_HUB_SHARED_SHARED_VERIFY_H

#include <jansson.h>

#include "core/hub/shared/shared_counts.h"

enum {
    SHARED_VERIFY_BUCKETS = 6, /* of the log: the two newest, others at random */
    SHARED_VERIFY_KEYS = 2048, /* of a bucket */
    SHARED_VERIFY_PARTS = 8,   /* of a bucket in a cell */
    SHARED_VERIFY_S = 60       /* then it gives up */
};

struct shared_verify;
/* counts: of the open ring. NULL: no memory. */
struct shared_verify *shared_verify_new(struct event_base *base, struct shared *shared,
                                        struct shared_counts *counts);
/* The ring closes: no counts any more. */
void shared_verify_stop(struct shared_verify *v);
/* Only after redis_free, or when it is done. Accepts NULL. */
void shared_verify_free(struct shared_verify **v);
bool shared_verify_is_done(const struct shared_verify *v);
/* The report, when it is done: {"type": "summary"} and {"type": "finding"} rows. The caller's. */
json_t *shared_verify_report(const struct shared_verify *v);

#endif
