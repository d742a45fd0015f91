/*
 * browse_json - an entry of a list as the API and the commands print it.
 *
 * Threads: pure.   Allocates: the value, which the caller owns; NULL without memory.
 */
#ifndef CORE_LIST_BROWSE_JSON_H
#define CORE_LIST_BROWSE_JSON_H

#include <jansson.h>

#include "core/list/browse.h"

/* {type, value, status, explicit, who, reason, first_seen_s, changed_s, expires_s}. status: listed
 * or revoked. who and changed_s: of the last change. value: null without text; reason, changed_s
 * and expires_s: null if there is none. */
json_t *browse_entry_json(const struct browse_entry *e);

#endif
