/*
 * shared_past - questions to the shared store for the past of keys: 15 days, and the ten minutes of
 * a day.
 *
 * A script reads the past of many keys of a cell in one call. The call names the anchor of the cell
 * alone (ADR 0079). The script reads the ten minutes of those days alone that have counts of a key.
 * A bounded number of keys waits for each cell. A key without room waits for its next total.
 * Depends: base, count, redis, shared.   Threads: that of the event loop.   ADR 0080.
 */
#ifndef CORE_HUB_SHARED_SHARED_PAST_H
#define CORE_HUB_SHARED_SHARED_PAST_H

#include "core/count/runset.h"
#include "core/hub/shared/shared.h"

/* Takes a key's past; in h only now, bucket and day are set. */
typedef void shared_past_fn(void *context, uint64_t key, const struct count_history *h);

struct shared_past;
/* NULL: no memory. */
struct shared_past *shared_past_new(struct shared *shared, shared_past_fn *fn,
                                    void *context);
/* Call it only when no call of p to the store is open. Accepts NULL. */
void shared_past_free(struct shared_past **p);
void shared_past_want(struct shared_past *p, uint64_t key);
/* Asks for keys that wait, with `now` as the newest bucket; one call for each cell at a time. */
void shared_past_ask(struct shared_past *p, uint64_t now);
uint64_t shared_past_asked(const struct shared_past *p); /* keys, since the start */

#endif
