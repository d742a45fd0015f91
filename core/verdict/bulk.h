/*
 * bulk - counts of a message -> symbols of bulk; private to this room.
 *
 * A rule reads the counts of one feature type. The sketch says which features may have reached its
 * threshold; the exact counts confirm it, and nothing else leads to a symbol. The exact count of a
 * key is read once for a message; a rule begins with its highest count. Counts of peers confirm
 * within their caps, their quorum and the number of peers that may lie (core/count/breakdown.h, ADR
 * 33). Only our own counts show a burst.
 * Threads: pure, except for the locks of the port.   Allocates: details, from the arena.   ADR
 * 0027.
 */
#ifndef CORE_VERDICT_BULK_H
#define CORE_VERDICT_BULK_H

#include "core/verdict/allow.h"

enum {
    BULK_TRIES_MAX = 8,  /* features of a message whose exact counts one rule reads */
    BULK_EXACT_MAX = 64, /* keys whose exact counts a message reads */
    BULK_NEWSLETTER =
        90, /* percent of the copies that one From domain must have sent */
    BULK_BUCKETS = COUNT_BUCKETS + 1 /* whose mean a burst is measured by */
};

/* prefix is "BULK_", name the rule's, and detail says which counts met it. */
typedef void bulk_symbol_fn(void *context, const char *prefix, const char *name,
                            double score, struct slice detail);
/* Whether an allow list takes the value from the rules. */
typedef bool bulk_exempt_fn(const void *context, struct slice value);

struct bulk_case {
    const struct allow_case *facts;
    uint64_t deadline_mono_us; /* no exact count is read after it; 0: none */
    struct arena *arena;
    bulk_symbol_fn *on_symbol;
    bulk_exempt_fn *is_exempt;
    void *context; /* of both */
};

/* Whether the message has the trait that the rule wants, if it wants one. */
bool bulk_has_trait(const struct allow_case *facts, const struct config_rule *rule);

/* Runs the rules of the configuration over the counts of the context (NULL: there is nothing to
 * say). Returns LIMIT_FLAG bits. */
unsigned bulk_judge(const struct bulk_case *c);

#endif
