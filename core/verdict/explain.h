/*
 * explain - a judged message as JSON: the object that `gillnet check --json` and the `scan` request
 * of gillnetd print.
 *
 * Depends: count, feature, list, verdict.h.   Threads: pure, except for the port of the counts.
 * Allocates: jansson's values, which the caller owns.
 */
#ifndef CORE_VERDICT_EXPLAIN_H
#define CORE_VERDICT_EXPLAIN_H

#include <jansson.h>

#include "core/list/rating_input.h"
#include "core/verdict/verdict.h"

struct explain_case {
    struct slice file; /* "-": it came from no file */
    const struct verdict *verdict;
    const struct featureset *features;
    const struct listset *lists; /* those that were looked up */
    const struct list_hits *hits;
    const struct rating_sources *voices;
    const struct message_counts *counts;
    const struct identity *identity;
    bool counts_are_exact;
    uint64_t time_us; /* that the message took */
};

/* {file, action, score, identity, symbols, features, lists, counts, limits, time_us}, and unproved
 * where allow names a sender that nothing proves; NULL without memory. */
json_t *explain_json(const struct explain_case *c);

#endif
