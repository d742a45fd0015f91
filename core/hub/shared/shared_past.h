/*
 * shared_past - questions to the shared store for the past of keys: 15 days, and the ten minutes of
 * a day.
 *
 * A script reads them, for many keys of a cell in one call; it names the anchor of the cell alone
 * (ADR 0079), and reads of a key no more than the ten minutes of those days that have counts of it.
 * Keys wait by cell, a bounded number; a key that finds no room is wanted again by its next total.
 * Depends: base, count, redis, shared.   Threads: that of the event loop.   ADR 0080.
 */
#ifndef CORE_HUB_SHARED_SHARED_PAST_H
#define CORE_HUB_SHARED_SHARED_PAST_H

#include "core/count/runset.h"
#include "core/hub/shared/shared.h"

/* A key's past: only now, bucket and day are set. */
typedef void shared_past_fn(void *context, uint64_t key, const struct count_history *h);

struct shared_past;
/* NULL: no memory. */
struct shared_past *shared_past_new(struct shared *shared, shared_past_fn *fn,
                                    void *context);
/* Only when no call of it is open at the store. Accepts NULL. */
void shared_past_free(struct shared_past **p);
void shared_past_want(struct shared_past *p, uint64_t key);
/* Asks for keys that wait, with `now` as the newest bucket; one call for each cell at a time. */
void shared_past_ask(struct shared_past *p, uint64_t now);
uint64_t shared_past_asked(const struct shared_past *p); /* keys, since the start */

#endif
