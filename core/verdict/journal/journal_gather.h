/*
 * journal_gather - the evidence of a message as a record.
 *
 * Of each counted type the record has the features with the highest counts, one for each window.
 * The caller adds envelope, answer and config_id, which takes long to compute.
 * Threads: pure.   Allocates: names from the arena.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_GATHER_H
#define CORE_VERDICT_JOURNAL_JOURNAL_GATHER_H

#include "core/verdict/journal/record.h"
#include "core/verdict/verdict.h"

struct journal_case {
    const struct config *config;
    const struct featureset *features;
    const struct listset *lists; /* those that were looked up */
    const struct list_hits *hits;
    const struct verdict_context *context;
    const struct verdict *verdict;
};

/* Fills a record of record_init; texts are borrowed from the message. */
void journal_gather(const struct journal_case *c, struct arena *arena,
                    struct record *ret);
/* The verdict and details of symbols. */
void journal_gather_verdict(const struct config *config, const struct verdict *v,
                            struct record *ret);
/* In place of a verdict: why there is none, such as "login" or "memory". */
void journal_gather_unjudged(const struct config *config, struct slice reason,
                             struct record *ret);

#endif
