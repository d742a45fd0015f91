/*
 * rating_input - properties of each list, for the rating of its answers (rating.h).
 *
 * Depends: base, config, listset.h, lookup_stats.h, rating.h.   Threads: pure.   Allocates:
 * nothing.
 */
#ifndef CORE_LIST_RATING_INPUT_H
#define CORE_LIST_RATING_INPUT_H

#include "core/list/listset.h"
#include "core/list/lookup_stats.h"
#include "core/list/rating.h"

/* Sources of the properties: the configuration, and the counters of look-ups in gillnetd (hits) or
 * read by another process (view). hits and view may be NULL. */
struct rating_sources {
    const struct config *config;
    struct lookup_stats *hits;
    const struct hits_view *view;
};

/* The input of a list; the caller adds the answer. */
struct rating_input rating_input_of(const struct rating_sources *v,
                                    const struct list_reader *r);

/* Rating of the value of the i-th hit by all lists of the set. */
struct rating_result rating_of_hit(const struct rating_sources *v,
                                   const struct listset *set,
                                   const struct list_hits *hits, size_t i);

#endif
