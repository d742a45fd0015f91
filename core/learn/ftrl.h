/*
 * ftrl - online logistic regression over hashed terms (FTRL-proximal).
 *
 * A term's value is one over the root of the number of terms of its group, so a long text weighs
 * as much as a short one, and a thousand added words cannot drown the form of a message. Groups of
 * blocks: ftrl.c. The margin is the sum of weight times value over all terms; above 0 the message
 * is rather spam. Weights move from the prior's towards what was learnt, the less the more often a
 * term was learnt already.
 * Threads: one at a time.   Owns: its memory.   Depends: base.
 * Source: McMahan et al., Ad Click Prediction (2013), algorithm 1, with per-coordinate rates.
 */
#ifndef CORE_LEARN_FTRL_H
#define CORE_LEARN_FTRL_H

#include "core/learn/vector.h"

enum {
    FTRL_WEIGHTS = 1 << VECTOR_HASH_BITS,
    FTRL_GROUPS = 4,
    FTRL_WORDS = 0 /* the group of words */
};
/* Words take no more than this from a margin: anybody can add hamlike words. */
#define FTRL_FLOOR (-0.25F)

struct ftrl_pair {
    float z;
    float n;
};

struct ftrl {
    struct ftrl_pair *pair; /* FTRL_WEIGHTS */
};

/* The group of a block. */
unsigned ftrl_group(enum vector_block block);
/* The value of the terms of each block. */
void ftrl_values(const struct vector *v, float ret[VECTOR_BLOCKS]);

/* The sum of the groups, words with this floor. */
float ftrl_sum(const float group[FTRL_GROUPS], float floor);

/* All weights 0. ERR_NOMEM. */
enum err ftrl_init(struct ftrl *f);
void ftrl_fini(struct ftrl *f);
void ftrl_clear(struct ftrl *f);
/* Sets the weight of a term that was not learnt yet. */
void ftrl_set(struct ftrl *f, uint32_t hash, float weight);
float ftrl_weight(const struct ftrl *f, uint32_t hash);
float ftrl_margin(const struct ftrl *f, const struct vector *v);
/* Learns one message; weight is how many messages it stands for. Returns the margin before. */
float ftrl_learn(struct ftrl *f, const struct vector *v, bool is_spam, float weight);

#endif
