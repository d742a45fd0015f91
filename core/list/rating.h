/*
 * rating - what the answers of all lists make of one value: CLEAN to KNOWN_MALICIOUS.
 *
 * The words are those of requirement 31; rating.def is their only table and says when each is
 * given. They do not decide about mail: scores do (core/verdict). `requires blocking` is what a
 * caller without scores should do: the weights of the lists that confirm the value, once a list,
 * reach the lowest threshold that is set, so that a message with this value alone would be marked,
 * and it is not allowed here. Confidence is the chance, from what was counted, that the word is
 * right (ADR 0021):
 *   CLEAN, FALSE_POSITIVE   lists asked / lists there are: filters and index never miss
 *   SUSPICIOUS              of a list that could not confirm: (c + 1) / (c + f + 2), with c hits
 *                           of its filters confirmed so far and f not
 *   MALICIOUS               (e + 1) / (e + r + 2), with e entries of the list that stand and r
 *                           that were revoked
 *   KNOWN_MALICIOUS         1 for a person's own entry, else 1 - the product of (1 - confidence)
 *                           over the lists that confirm it
 * Depends: base, config, list.h.   Threads: pure.   Allocates: nothing.
 * Source: Laplace's rule of succession for the shares.
 */
#ifndef CORE_LIST_RATING_H
#define CORE_LIST_RATING_H

#include "core/config/config.h"
#include "core/list/list.h"

enum rating {
#define RATING(name, from_lists, when) STANDING_##name,
#include "core/list/rating.def"
#undef RATING
    RATING_COUNT
};

const char *rating_name(enum rating s);   /* "CLEAN", ... */
const char *rating_when(enum rating s);   /* the mapping, for people */
bool rating_is_from_lists(enum rating s); /* false: reserved, never given */

/* One list's answer for the value. */
struct rating_input {
    size_t
        list; /* answers of one list come together and count once, by the strongest */
    enum list_answer answer;
    bool is_explicit; /* a person's own entry */
    bool is_allow;    /* category allow: never makes anything worse */
    bool is_shadow;
    double weight;   /* what a confirmed hit of it scores here */
    uint64_t listed; /* of the list: entries that stand, and that were revoked */
    uint64_t revoked;
    uint64_t confirmed; /* of the list: hits of its filters so far */
    uint64_t false_positives;
};

struct rating_sum {
    enum rating now;
    double confidence;
    double
        doubt; /* product of (1 - confidence) of the lists that confirm, but the last */
    double last;  /* confidence of the last list that confirms */
    size_t lists; /* that confirm */
    size_t list;  /* the last one */
    double score; /* weights of the lists that confirm, but the last */
    double last_score;
    bool is_allowed;
};

/* lists that were asked, of all that should have been. */
struct rating_sum rating_begin(size_t nasked, size_t nlists);
void rating_add(struct rating_sum *s, const struct rating_input *v);
/* The value is one of our own names, or allowed here. */
void standing_allow(struct rating_sum *s);

struct rating_result {
    enum rating standing;
    bool requires_blocking;
    double confidence; /* 0..1 */
};
struct rating_result rating_end(const struct rating_sum *s,
                                const struct config *config);

#endif
