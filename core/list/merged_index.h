/*
 * merged_index - the exact indexes of a list's levels as one: the newest record of a digest wins.
 *
 * Depends: base, store, entry.   Threads: constant; walks are one thread's.
 */
#ifndef CORE_LIST_MERGED_INDEX_H
#define CORE_LIST_MERGED_INDEX_H

#include "core/list/entry.h"
#include "core/list/files.h"

struct merged_index {
    uint32_t n;
    const struct index *index[LIST_LEVELS_MAX]; /* oldest first; borrowed; never NULL */
};

/* ERR_NOT_FOUND: in no level. ERR_CORRUPT: the newest record is damaged. *retlevel (may be NULL):
 * its level. */
enum err merged_index_get(const struct merged_index *s, const struct digest *d,
                          struct index_record *ret, uint32_t *retlevel);

/* As merged_index_get, for many digests: less work when they rise. */
struct stack_look;
enum err merged_lookup_new(const struct merged_index *s, struct stack_look **ret);
enum err merged_lookup_get(const struct stack_look *l, const struct digest *d,
                           struct index_record *ret, uint32_t *retlevel);
void merged_lookup_free(struct stack_look **l);

/* Walks all digests of levels from..n-1 in order, each once. */
struct stack_walk;
enum err merged_iter_new(const struct merged_index *s, uint32_t from,
                         struct stack_walk **ret);
/* False at the end; *reterr then tells a clean end (ERR_OK) from damage. */
bool merged_iter_next(struct stack_walk *w, struct digest *retdigest,
                      struct index_record *ret, enum err *reterr);
void merged_iter_free(struct stack_walk **w);

#endif
