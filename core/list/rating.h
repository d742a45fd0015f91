/*
 * rating - rating of one value from the answers of all lists, CLEAN to KNOWN_MALICIOUS.
 *
 * rating.def is the only table of ratings and explains each. Ratings do not decide about mail:
 * scores do (core/verdict). `requires blocking` is for callers without scores: it is set if the
 * weights of the lists that confirm the value, each list once, reach the lowest threshold that is
 * set, and the value is not allowed here. Confidence is the probability, from the counts, that the
 * rating is right (ADR 0021):
 *   CLEAN, FALSE_POSITIVE   lists queried / all lists, because filters and index never miss
 *   SUSPICIOUS              of a list that could not confirm: (c + 1) / (c + f + 2), with c hits
 *                           of its filters confirmed so far and f not
 *   MALICIOUS               (e + 1) / (e + r + 2), with e entries of the list that stand and r
 *                           that were revoked
 *   ML_DETECTED_MALICIOUS   as MALICIOUS; such a list is no second one for KNOWN_MALICIOUS
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
#define RATING(name, is_given, when) RATING_##name,
#include "core/list/rating.def"
#undef RATING
    RATING_COUNT
};

const char *rating_name(enum rating s); /* "CLEAN", ... */
const char *rating_when(enum rating s); /* the mapping, for people */
bool rating_is_given(enum rating s);    /* false: reserved, never given */

/* Answer of one list for the value. */
struct rating_input {
    size_t
        list; /* answers of one list come together and count once, by the strongest */
    enum list_answer answer;
    bool is_explicit; /* a person's own entry */
    bool is_allow;    /* category allow: never makes anything worse */
    bool is_learnt;   /* category ml */
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
    double
        learnt; /* the highest confidence of lists of category ml; 0: none confirms it */
    bool is_allowed;
};

/* Of nlists lists nasked were queried. */
struct rating_sum rating_begin(size_t nasked, size_t nlists);
void rating_add(struct rating_sum *s, const struct rating_input *v);
/* Notes that the value is protected or allowed here. */
void rating_allow(struct rating_sum *s);

struct rating_result {
    enum rating rating;
    bool requires_blocking;
    double confidence; /* 0..1 */
};
struct rating_result rating_end(const struct rating_sum *s,
                                const struct config *config);

#endif
