/*
 * retention - periods of a list that ages: begins a new one, drops an inactive one.
 *
 * A drop makes a generation without the levels of that period. First the entries of people are
 * written into the log again; last the segments of the period are emptied. So the log matches the
 * generation in use at any time, also after a crash.
 * Depends: base, compact, writer.   Threads: the writer's.
 * Source: signature ageing by temporally ordered filters (Yan, Cho 2006, section 3); ADR 0023.
 */
#ifndef CORE_LIST_RETENTION_H
#define CORE_LIST_RETENTION_H

#include "core/list/list.h"

/* Begins the present period if the tail belongs to a former one: the entries of the tail become a
 * level of that period. Call this with no staged change. */
enum err retention_roll(struct list_writer *w, struct errinfo *reterr);

/* When an entry of the period that begins at period_s was last met (core/list/lookup_stats.h); 0:
 * never. */
typedef uint64_t list_last_hit_fn(void *context, uint64_t period_s);
struct list_aged {
    unsigned periods; /* dropped */
    uint64_t entries; /* dropped with them */
    uint64_t
        kept; /* entries of these periods that a person listed or revoked: they stay */
};
/* Drops the former periods whose end and last hit lie inactive_after_s before now. */
enum err list_age(struct list_writer *w, list_last_hit_fn *last_hit, void *context,
                  uint64_t now_s, struct list_aged *ret, struct errinfo *reterr);

#endif
