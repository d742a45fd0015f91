/*
 * odds - the second opinion: log odds of a message by how many spam and ham each term stood in.
 *
 * Naive Bayes over the terms of core/learn/vector.h, each group on the scale of core/learn/ftrl.h.
 * Threads: pure.
 */
#ifndef CORE_LEARN_ODDS_H
#define CORE_LEARN_ODDS_H

#include "core/learn/model.h"

enum { ODDS_UNIT = 4 /* a counter's units of one message */ };

/* Above 0: rather spam. seen: counters of ham and spam by hash; counted: how many were counted. */
double odds_of(const struct model_seen *seen, const float counted[2],
               const struct vector *v);
/* Whether a term stood in spam of this weight at least, and in no ham. */
bool odds_only_spam(const struct model_seen *seen, uint32_t term, float weight);
/* Adds a message of this weight, or takes it out. */
void odds_count(struct model_seen *seen, float counted[2], const struct vector *v,
                bool is_spam, float weight);

#endif
