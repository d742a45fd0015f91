/*
 * query - look-up of values for people and programs, with the source of each answer.
 *
 * Values are looked up in batches. Add the values, test all of them at once, then confirm and rate
 * each value. For messages see core/list/listset.h.
 * Depends: base, config, feature.   Threads: one at a time per struct query.   Owns: the batch.
 */
#ifndef CORE_LIST_QUERY_H
#define CORE_LIST_QUERY_H

#include "core/list/listset.h"
#include "core/list/rating.h"
#include "core/message/feature/feature_value.h"

enum { QUERY_VALUES = 1024 /* of one batch */ };

/* One list of a query. */
struct query_list {
    const struct list_reader *reader;
    const char *origin;        /* server that owns it; NULL: local */
    double share;              /* ask_share: 0: its hits make nothing listed */
    bool may_revoke;           /* see LIST_SUPPRESSED_ELSEWHERE */
    struct rating_input voice; /* same for every value */
};
/* Local lists come first. Borrowed during the query. */
struct query_lists {
    const struct query_list *v;
    size_t n;
    size_t nown;
    size_t nlists; /* of all lists, queried or not */
    const struct config *config;
    unsigned derived; /* bits of feature_derived that some list needs */
};
/* Bits of feature_derived: the keys that only this list needs. */
unsigned ask_derived(const struct list_reader *r, const struct config_list *list);
/* Factor for the list's weight: 1 for a local list (origin NULL), peers.weights for a peer's list,
 * 0 if no list of the name is configured. */
double ask_share(const struct config *config, struct slice list, const char *origin);

struct query;
struct query *query_new(void); /* NULL: no memory */
void query_free(struct query **a);

/* Forgets the batch; the next values are for these lists. */
void query_begin(struct query *a, const struct query_lists *lists);
/* Adds a value (copied), read as feature_entry_parse does with the hint. Other errors than
 * ERR_NOMEM are the value's own, and it is not in the batch. */
enum err query_add(struct query *a, struct slice value, enum feature_type hint,
                   struct errinfo *reterr);
size_t query_count(const struct query *a);
/* No other value may be added before query_begin. */
bool query_is_full(const struct query *a);
/* Once, when all values of the batch are in. */
void query_test(struct query *a);

/* One key of a value on one list. */
struct query_match {
    size_t list;
    size_t at; /* of the key in the batch */
    enum list_answer answer;
    enum list_suppression silence; /* why it is ignored */
    const struct feature_key *key;
    struct list_provenance from;
};
/* Until the next call. */
struct query_result {
    struct slice value;  /* as given */
    uint16_t class_type; /* as it was read */
    struct rating_result result;
    const struct query_match
        *v; /* in the order of the lists; filters' errors are among them */
    size_t n;
};
/* The i-th value of the batch, after query_test. ERR_NOMEM. */
enum err query_answer(struct query *a, size_t i, uint64_t now_s,
                      struct query_result *ret);

#endif
