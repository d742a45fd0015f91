/*
 * build - a model from a prior and a store: weights, counters of the second opinion, windows.
 *
 * The same store gives the same model. Ham is scored by a model that learnt the other three
 * quarters of the store, so its margins are those of unseen mail.
 * Threads: one at a time.   Allocates: a second set of weights while windows are measured.
 */
#ifndef CORE_LEARN_BUILD_H
#define CORE_LEARN_BUILD_H

#include "core/learn/ftrl.h"
#include "core/learn/vector_store.h"

/* Sets the weights to the prior's. */
void build_prior(struct ftrl *f, const struct model_data *m);
/* Learns the whole store. */
enum err build_weights(struct ftrl *f, const struct model_data *m,
                       const struct store *s);
/* Weights, counters and totals of m from f and s. */
enum err build_publish(const struct ftrl *f, const struct store *s,
                       struct model_data *m);
/* The weight of one term, and its counter, as they are now. */
void build_publish_terms(const struct ftrl *f, const struct vector *v,
                         struct model_data *m);
/* The weight of an example in the counters of the second opinion. */
float build_odds_weight(float weight);
/* Margins and odds of every ham in the store, by models that did not learn it, as windows of each
 * kind; ret[kind].prior and the counts stay as they are. m gives the prior and the counters. */
enum err build_windows(const struct model_data *m, struct store *s,
                       struct model_kind ret[VECTOR_KINDS]);

#endif
