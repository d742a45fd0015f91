/*
 * count_json - how often keys were counted, as JSON.
 *
 * Depends: message.h, feature.   Threads: pure except for the calls of the port.   Allocates:
 * jansson's values, which the caller owns; NULL without memory.
 */
#ifndef CORE_COUNT_COUNT_JSON_H
#define CORE_COUNT_COUNT_JSON_H

#include <jansson.h>

#include "core/count/judged.h"

/* {"w10m": 1, "w1h": 1, "w1d": 2, "w14d": 9} */
json_t *count_json_windows(const uint64_t w[COUNT_WINDOWS]);
/* [1, 2, ...] */
json_t *count_json_row(const uint64_t *v, size_t n);
/* If there are peers, adds own and counts (windows; counts are bounded as for harm) and peers, the
 * list [{"origin": "1f...", "name": "alpha", "cap": 10, "w10m": 1, ...}] of the peers that counted
 * the key. */
void count_json_add_shares(json_t *object, const struct count_breakdown *s);
/* {"good": {"w10m": 1, ...}, "bad": ..., "called_spam": ..., ...} */
json_t *count_json_judged(const struct judged *j);
/* [{type, value, exact, w10m, w1h, w1d, w14d, distinct, own, peers}]; distinct (recipients,
 * networks, senders) where it is counted; own and peers (exact, see count_json_add_shares) where
 * peers counted it. Features never seen are left out. */
json_t *count_json(const struct message_counts *counts, bool is_exact);

#endif
