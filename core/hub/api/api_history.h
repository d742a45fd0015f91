/*
 * api_history - the answer of GET /v1/history: mail of the last day.
 *
 * The page of history is read at each call. The counts of the most frequent keys come from
 * gillnetd, once a minute or when there are new keys.
 * Depends: base, config, count, feature, hub/gillnetd.h.   Threads: any; callers wait for each
 * other, and for gillnetd at most API_HISTORY_WAIT_MS.   ADR 0042.
 */
#ifndef CORE_HUB_API_API_HISTORY_H
#define CORE_HUB_API_API_HISTORY_H

#include <jansson.h>

#include "core/config/config.h"

enum {
    API_HISTORY_SPARKS = 48, /* half hours of a key, the oldest first */
    API_HISTORY_KEEP_S = 60, /* between two requests for all counts */
    API_HISTORY_AGAIN_S = 5, /* the same, if there is a new key */
    API_HISTORY_WAIT_MS = 2000
};

struct api_history;
/* NULL: no memory. */
struct api_history *api_history_new(void);
void api_history_free(struct api_history **h);

/* {"bucket_s", "buckets", "scores", "symbols", "latency", "bulk"}; all numbers are 0 without a
 * page. NULL: no memory. */
json_t *api_history_json(struct api_history *h, const struct config *config);

/* {"header": 5.0, "reject": null, ...} of the configuration; null: off. */
json_t *api_thresholds_json(const struct config *config);

#endif
