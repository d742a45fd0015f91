/*
 * campaign_evidence - the keys by which a message belongs to a campaign, and its sample.
 *
 * Near-duplicate keys count one by one. The other keys of the text are used only if a message has
 * no near-duplicate keys, because it is short. The keys html_structure, subject_skeleton, body and
 * template_sender are weak: unrelated mail of one product or program shares them, so one alone
 * is not enough (ADR 0073).
 * Private to this room.   Threads: pure.   Allocates: nothing; texts are the features'.
 */
#ifndef CORE_CAMPAIGN_CAMPAIGN_EVIDENCE_H
#define CORE_CAMPAIGN_CAMPAIGN_EVIDENCE_H

#include "core/base/keyring.h"
#include "core/count/message.h"

enum {
    EVIDENCE_MAX = 40,
    EVIDENCE_ATTACHMENTS = 4,
    /* Weights are in halves, for keys that count half. */
    CAMPAIGN_JOIN = 14
};

/* Near-duplicate keys are of an epoch of 30 days, and a message has those of two. */
enum evidence_epoch { EVIDENCE_ALWAYS, EVIDENCE_NEW, EVIDENCE_OLD };

struct evidence_key {
    uint64_t digest; /* the beginning of the one under which it is counted */
    uint8_t type;    /* enum feature_type */
    uint8_t weight;
    uint8_t epoch; /* enum evidence_epoch */
};

struct evidence {
    size_t n;
    struct evidence_key v[EVIDENCE_MAX];
    struct slice subject; /* empty: none */
    struct slice sender;  /* address of From, or of the envelope */
    uint64_t network;     /* digest of the client's network; 0: unknown */
    uint64_t domain;      /* digest of the sender's domain; 0: unknown */
};

/* A message, and how its features are named. */
struct evidence_case {
    const struct config *config;
    const struct keyring *keys;
    const struct featureset *features;
    const struct message_counts
        *counts; /* has digests; NULL or none: they are made here */
};
/* In halves; 0: keys of this type make no campaign. */
unsigned evidence_weight(uint16_t type);
void evidence_make(const struct evidence_case *c, struct evidence *ret);

#endif
