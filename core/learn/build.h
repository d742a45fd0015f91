/*
 * build - a model from a prior and a store: weights, counters of the second opinion, windows.
 *
 * The same store gives the same model. Ham is scored by a model that learnt the other three
 * quarters of the store, so its margins are those of unseen mail.
 * URLs are learnt beside, by weights of their own; of two URLs of one registrable domain the second
 * is no unseen one, so their quarters go by domain.
 * Threads: one at a time.   Allocates: a second set of weights while windows are measured.
 */
#ifndef CORE_LEARN_BUILD_H
#define CORE_LEARN_BUILD_H

#include "core/learn/ftrl.h"
#include "core/learn/vector_store.h"

/* Weights of messages and of URLs. */
struct weights {
    struct ftrl messages;
    struct ftrl urls;
};
enum err weights_init(struct weights *w);
void weights_fini(struct weights *w);
/* Learns a message and its URLs. */
void weights_learn(struct weights *w, const struct vector *v, bool is_spam,
                   float weight);

/* Learns the whole store, from the prior. */
enum err build_weights(struct weights *w, const struct model_data *m,
                       const struct store *s);
/* Weights, counters and totals of m from w and s. */
enum err build_publish(const struct weights *w, const struct store *s,
                       struct model_data *m);
/* The weights of the terms of a message as they are now. */
void build_publish_terms(const struct weights *w, const struct vector *v,
                         struct model_data *m);
/* Adds the terms of a message to the counters of the second opinion, and its URLs to the number of
 * URLs. weight: of the example. */
void build_count(struct model_data *m, const struct vector *v, bool is_spam,
                 float weight);
/* Margins and odds of every ham in the store, by models that did not learn it, as windows of each
 * kind, the last those of URLs; prior and counts stay as they are. m gives the prior. */
enum err build_windows(const struct model_data *m, struct store *s,
                       struct model_kind ret[VECTOR_KINDS + 1]);

#endif
