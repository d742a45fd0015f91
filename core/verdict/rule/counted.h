/*
 * counted - conditions on counts: the sketch says which values may meet one, the exact counts
 * decide.
 *
 * The exact count of a key is read once for a message; a condition begins with its highest count.
 * Counts of peers confirm within their caps, their quorum and the number of peers that may lie
 * (core/count/breakdown.h, ADR 33). Bursts and ratios are of our own counts: those of peers may
 * arrive late, all at once. A damaged run leaves bursts, ratios and times undecided.
 * Threads: pure, except for the locks of the port.   Allocates: details, from the arena.   ADR
 * 0027.
 */
#ifndef CORE_VERDICT_RULE_COUNTED_H
#define CORE_VERDICT_RULE_COUNTED_H

#include "core/verdict/rule/rule_internal.h"

enum {
    COUNTED_TRIES_MAX = 8,  /* features of a message whose exact counts one condition reads */
    COUNTED_EXACT_MAX = 64, /* keys whose exact counts a message reads */
    COUNTED_NEWSLETTER =
        90, /* percent of the copies that one From domain must have sent */
    COUNTED_BUCKETS = COUNT_BUCKETS + 1, /* whose mean a burst is measured by */
    COUNTED_JUDGED_MAX = 32 /* keys whose judgements a message reads */
};

/* The exact counts of one key. */
struct exact {
    size_t key;                      /* in counts->v */
    struct count_breakdown shares;   /* by server; empty without memory */
    uint64_t windows[COUNT_WINDOWS]; /* within the caps: count_breakdown_bounded */
    uint64_t now;                    /* bucket */
    uint64_t most;   /* fullest bucket of the last day, of this server */
    uint64_t sum;    /* of its buckets */
    bool is_partial; /* a damaged run is missing */
    bool is_counted; /* distinct counts were read */
    uint64_t distinct[DISTINCT_KINDS];
};

/* The counts of one message, while it is judged. */
struct counting {
    const struct rule_case *c;
    const struct message_counts *counts; /* NULL: nothing is counted */
    unsigned limits;
    uint16_t first[VALUE_TABLE_TYPES]; /* of a type in counts->v, plus one; 0: none */
    uint16_t next[COUNT_FEATURES_MAX]; /* of the same type, plus one */
    size_t nexact;
    struct exact exact[COUNTED_EXACT_MAX];
    size_t njudged;
    struct {
        size_t key; /* in counts->v */
        struct judged of;
    } judged[COUNTED_JUDGED_MAX];
};

void counted_begin(struct counting *k, const struct rule_case *c);
void counted_end(struct counting *k);

/* By the sketch: undecided where a value may meet the condition, or nothing is counted. */
enum truth counted_sketch(const struct counting *k, const struct atom *a);
/* By the exact counts. *ret: the value that meets it, in exact or judged. */
enum truth counted_confirm(struct counting *k, const struct atom *a, uint32_t *ret);
/* Whether one proved domain sent nearly all copies of exact[i]; the From domain is proved. */
bool counted_is_newsletter(struct counting *k, const struct atom *a, uint32_t i);
/* "text=12ab... seen 57 times in 1d (own 1, alpha 56), 12 networks", of exact[i];
 * "from=a@b.example judged bad 99 of 100 times in 14d", of judged[i] */
struct slice counted_detail(const struct counting *k, const struct atom *a, uint32_t i);

#endif
