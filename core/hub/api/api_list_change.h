/*
 * api_list_change - changes of lists by clients of the API: values are revoked or added.
 *
 * Waits for STATE/lists/LOCK; durable and seen by gillnetd at once when it returns.
 * Depends: base, config, feature, list.   Threads: a worker's; one at a time for a struct.   Owns:
 * nothing.
 */
#ifndef CORE_HUB_API_API_LIST_CHANGE_H
#define CORE_HUB_API_API_LIST_CHANGE_H

#include <jansson.h>

#include "core/hub/api/api_internal.h"

struct api_change {
    struct list_watcher *lists;
    const struct config *config;
    struct arena *arena;
    struct query *ask;
    const atomic_bool *stop;
    const char *who;        /* of the token */
    struct slice reason;    /* checked (core/list/entry_source.h); empty: none */
    enum feature_type type; /* of values without one; FEATURE_NONE: by their look */
    uint32_t expiry_s;      /* of additions; 0: never */
    json_t *rows;           /* what was changed: [{value, list, entry, type, status,
                              was_listed}] */
};

/* A change by the client of a call. */
struct api_change api_change_of(struct api_call *call);

/* True if all values are valid; why names the first that is not. */
bool api_change_check(struct arena *arena, const struct slice *values, size_t n,
                      struct errinfo *reterr);
/* Revokes the values on this list, or (list n 0) on each list that holds one of them itself, not
 * only a parent of it. Entries of peers are revoked on the local list of the same name. */
enum err api_change_revoke(struct api_change *c, struct slice list,
                           const struct slice *values, size_t n,
                           struct errinfo *reterr);
/* Adds the values to this list. */
enum err api_change_add(struct api_change *c, struct slice list,
                        const struct slice *values, size_t n, struct errinfo *reterr);

#endif
