/*
 * message - the counts of one message: every counted feature in, all windows out, in one call.
 *
 * Distinct counters come first: for the types that count them, each pair (key, recipient), (key,
 * client network) and (key, sender's domain) that was not seen before on this UTC day raises the
 * key's number of distinct ones by one. The sketch decides if a pair is new. It takes at most 0.1 %
 * of new pairs (the noise floor) for known ones, so a distinct count is low by at most that share,
 * and by the pairs of a message beyond COUNT_PAIRS_MAX.
 * Depends: base, config, feature, count.h.   Threads: any.   Allocates: from the arena.   ADR 0027.
 */
#ifndef CORE_COUNT_MESSAGE_H
#define CORE_COUNT_MESSAGE_H

#include "core/base/arena.h"
#include "core/config/config.h"
#include "core/count/count.h"
#include "core/message/feature/feature.h"

enum count_distinct {
    DISTINCT_RCPT,
    DISTINCT_NETWORK,
    DISTINCT_SENDER,
    DISTINCT_KINDS
};
const char *count_distinct_name(
    unsigned kind); /* "recipients", "networks", "senders" */

enum {
    COUNT_PAIRS_MAX = 512,
    COUNT_RCPT_MAX = 256, /* recipients of one message that become pairs */
    COUNT_FEATURES_MAX = 1024
};

/* One counted feature of a message. */
struct counted {
    const struct feature *feature;
    struct digest digest[KEYRING_MAX];
    struct count_value
        value;         /* from the sketch: at least the truth; this message is in it */
    bool has_distinct; /* of this type distinct ones are counted */
    uint64_t distinct[DISTINCT_KINDS]; /* of today or yesterday, the larger */
};

/* Counts of one message. */
struct message_counts {
    const struct count_port *port; /* NULL: no counting; n is 0 */
    const struct keyring *keys;    /* that the digests were made with */
    size_t n;
    struct counted *v; /* in the order of the features */
    uint64_t amount;   /* that was added to each: 1, or the recipients; 0: only read */
    bool is_cut;       /* more features than COUNT_FEATURES_MAX, or no memory */
};

/* Facts about a message that are not features. */
struct message_facts {
    const struct slice *rcpt; /* normalised recipient addresses */
    size_t nrcpt;             /* of rcpt */
    uint64_t ndeliveries; /* recipients in all; amount when recipients are counted */
};

/* Counts the message (facts->ndeliveries times when the configuration counts deliveries), or with
 * amount 0 only reads (is_reading). port may be NULL. */
void count_message(const struct count_port *port, const struct keyring *keys,
                   const struct config *config, const struct featureset *features,
                   const struct message_facts *facts, bool is_reading,
                   struct arena *arena, struct message_counts *ret);

/* Gets the counts of each server for one feature. False: there is no ring; the caller need not try
 * other features. Free with count_breakdown_fini. */
bool message_counts_shares(const struct message_counts *counts, const struct counted *c,
                           struct count_breakdown *ret);

/* The digests under which a value is counted, with the configured prefix. */
void count_digest(const struct keyring *keys, const struct config *config,
                  uint16_t type, struct slice value, struct digest ret[KEYRING_MAX]);
/* The digests of the number of distinct ones of that key on a day (unix time / 86400). */
void count_distinct_digest(const struct keyring *keys,
                           const struct digest key[KEYRING_MAX],
                           enum count_distinct kind, uint64_t day,
                           struct digest ret[KEYRING_MAX]);

#endif
