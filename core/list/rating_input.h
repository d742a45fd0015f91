/*
 * rating_input - what each list is like, so that its answers can be summed up to a rating (rating.h).
 *
 * Depends: base, config, listset.h, lookup_stats.h, rating.h.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_LIST_RATING_INPUT_H
#define CORE_LIST_RATING_INPUT_H

#include "core/list/listset.h"
#include "core/list/lookup_stats.h"
#include "core/list/rating.h"

/* Where the facts are: the configuration, and what look-ups came to as gillnetd has it (hits) or as another
 * process reads it (view). Without either nothing is known of that yet. */
struct rating_sources {
    const struct config *config;
    struct lookup_stats *hits;
    const struct hits_view *view;
};

/* The voice of a list but for its answer, which the caller puts in. */
struct rating_input rating_input_of(const struct rating_sources *v,
                                    const struct list_reader *r);

/* What the value of the i-th hit is called by all lists of the set that answered for it. */
struct rating_result rating_of_hit(const struct rating_sources *v,
                                   const struct listset *set,
                                   const struct list_hits *hits, size_t i);

#endif
