/*
 * odds - the second opinion: log odds of a message by how many spam and ham each term stood in.
 *
 * Naive Bayes over the terms of core/learn/vector.h, each group on the scale of core/learn/ftrl.h.
 * Threads: pure.
 */
#ifndef CORE_LEARN_ODDS_H
#define CORE_LEARN_ODDS_H

#include "core/learn/model.h"

/* Whether the message itself was counted, and as what: then it is left out. */
enum odds_counted { ODDS_UNSEEN, ODDS_OF_HAM, ODDS_OF_SPAM };

/* Above 0: rather spam. */
double odds_of(const struct model_data *m, const struct vector *v,
               enum odds_counted counted);

#endif
