/*
 * shared_verify - compares the store with what this server put there: for `gillnet store verify`.
 *
 * First it asks each cell for this server's position, and checks that some parts of each of its
 * buckets exist and expire. Then it takes a sample of keys from some buckets of the log and asks
 * for their totals. No total may be lower than the sum that this server added: its records up to
 * the cell's position in the same answer. The scripts only read, one cell at a time, and the log is
 * read in small pieces.
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
/* Begins a comparison. counts: of the open ring. NULL: no memory. */
struct shared_verify *shared_verify_new(struct event_base *base, struct shared *shared,
                                        struct shared_counts *counts);
/* Call it when the ring closes: counts are no longer used. */
void shared_verify_stop(struct shared_verify *v);
/* Call it only after redis_free, or when v is done. Accepts NULL. */
void shared_verify_free(struct shared_verify **v);
bool shared_verify_is_done(const struct shared_verify *v);
/* Returns the report of a v that is done: rows of {"type": "summary"} and {"type": "finding"}. The
 * caller owns it. */
json_t *shared_verify_report(const struct shared_verify *v);

#endif
