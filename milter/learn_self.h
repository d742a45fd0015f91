/*
 * learn_self - examples that mail gives without a report.
 *
 * Ham: mail of the site's own users, answers to it, mail of known correspondents, and newsletters
 * of proved senders who have written here for LEARN_SELF_KNOWN_S and whom nobody reported. Spam:
 * marked mail with a confirmed hit on a list. Each source has a key model.learn_NAME, and
 * `gillnet model forget NAME` takes out what it taught.
 * A message leaves a copy of its vector in a queue, and the thread of learn.c learns it within a
 * second, so mail never waits. If the queue is full, the example is dropped: the next one does as
 * well. LEARN_SELF_SENDER a day of one sender and LEARN_SELF_DAY a day of one source are learnt, so
 * nobody crowds the others out of the store.
 * Threads: learn_self_take from one, the others from any.   Owns: the queue.   ADR 0070.
 */
#ifndef MILTER_LEARN_SELF_H
#define MILTER_LEARN_SELF_H

#include "core/learn/learner.h"
#include "core/verdict/verdict.h"

#include "milter/session.h"

enum {
    LEARN_SELF_QUEUE = 128,
    LEARN_SELF_DAY = 400,
    LEARN_SELF_SENDER = 5,
    LEARN_SELF_SENDERS = 4096, /* of whom the number of the day is known */
    LEARN_SELF_KNOWN_S = 13 * 86400
};

/* A message from outside was judged. judgements: verdict_judgements. */
void learn_self_received(const struct message *m, const struct verdict_context *context,
                         const struct featureset *features, unsigned judgements,
                         const struct verdict *v);
/* A login or a trusted network sent a message to people outside, which no program wrote. */
void learn_self_sent(struct message *m, const struct featureset *features);

/* Learns what waits. */
void learn_self_take(struct learner *l);
/* Drops what waits. */
void learn_self_end(void);

#endif
