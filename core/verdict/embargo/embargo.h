/*
 * embargo - a grey message of a first contact is answered 451 once, and never twice.
 *
 * Grey is a score from thresholds.embargo on whose action is accept, header or quarantine. Not
 * embargoed are allowed, outgoing and authenticated mail, known correspondents, answers and proved
 * newsletters. A first contact is what identity calls so, or a From domain that was not counted in
 * the 14 days before. A domain without proof is one also if its network was not counted.
 * A message that is answered 451 is remembered in two ways:
 *  - as a copy (From, body and a recipient). The same copy is never answered 451 again, at any
 *    time and from any network. A retry is no second message, so it is not counted.
 *  - as a kind (the sender's domain, the network and the near-duplicate keys of the text; without
 *    the network if the domain is proved). Other copies of the kind are answered 451 during
 *    embargo.time, each once, and later not at all.
 * If the memory is full or cannot be used, nobody is embargoed.
 * Files in reading order: embargo (the decision), embargo_keys (a message's keys), embargo_store
 * (the file). Example of a change: mail that is never to be embargoed is one line in is_exempt.
 * Depends: verdict, identity, count, feature.   Threads: any.   Owns: the store.   ADR 0067.
 */
#ifndef CORE_VERDICT_EMBARGO_EMBARGO_H
#define CORE_VERDICT_EMBARGO_EMBARGO_H

#include "core/base/keyring.h"
#include "core/verdict/verdict.h"

/* The memory, in the state folder. */
#define STATE_EMBARGO_FILE "counts/gillnetd.embargo"

enum {
    EMBARGO_COPIES_MAX = 256, /* recipients; a message to more is not embargoed */
    EMBARGO_BANDS = 4,        /* near-duplicate keys of a text that are remembered */
    EMBARGO_KINDS_MAX = 2 * EMBARGO_BANDS
};

struct embargo;
/* The file is opened when the first message needs it. */
struct embargo *embargo_new(const char *state_dir, const struct hashkey *key);
void embargo_free(struct embargo **e); /* accepts NULL */

/* A message and the facts about it. */
struct embargo_case {
    const struct config *config;
    const struct featureset *features;
    const struct verdict_context
        *context;             /* of embargo_judge; not read by embargo_recall */
    const struct slice *rcpt; /* normalised recipients */
    size_t nrcpt;             /* of rcpt */
    size_t ndeliveries;       /* recipients in all */
    uint64_t now_s;           /* Unix time */
};

/* The copies of one message, and what is remembered of them. */
struct embargo_recall {
    size_t ncopies; /* 0: embargo is off, or cannot apply to the message */
    uint64_t copy[EMBARGO_COPIES_MAX];
    bool was_answered; /* 451, before */
    bool was_back;     /* and came again before */
    uint32_t time_s;   /* of the first 451 */
};

/* To be called before the message is counted. e may be NULL. */
void embargo_recall(struct embargo *e, const struct embargo_case *c,
                    struct embargo_recall *ret);
/* It is a retry of a message that was counted when it was answered 451. */
bool embargo_is_retry(const struct embargo_recall *r);
/* After the verdict. Sets v->is_embargoed, with symbol EMBARGO, if the message shall be answered
 * 451. That it will be is remembered then. A message that came back gets symbol EMBARGOED. */
void embargo_judge(struct embargo *e, const struct embargo_case *c,
                   const struct embargo_recall *r, struct arena *arena,
                   struct verdict *v);

#endif
