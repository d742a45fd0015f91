/*
 * summary_json - headlines, periods and servers as JSON: of the API and of `gillnet stat --json`.
 *
 * Depends: base, telemetry, jansson.   Threads: any.
 */
#ifndef CORE_SUMMARY_SUMMARY_JSON_H
#define CORE_SUMMARY_SUMMARY_JSON_H

#include "core/summary/servers.h"

/* {"at", "state", "needs", "alerts", "today": {"messages", ...}, "refused", "feeds", "version"};
 * feeds is null or {"oldest_good_s", "oldest_age_s"}. NULL: no memory, as all below. */
json_t *headline_json(const struct headline *h);
/* The buckets of a history: [{"at", "messages", "accept", ...}]. */
json_t *buckets_json(const struct history_bucket *v, size_t n);
/* {"servers": [...], "total": {"messages", ...}, "missing": [names]}: each server has its name,
 * whether it is this one ("self"), "summary" (state of its summary), "age_s", "why", and its
 * headline, or null. */
enum err servers_json(const struct servers_ask *ask, json_t **ret,
                      struct errinfo *reterr);
/* {"period", "bucket_s", "buckets", "servers": [{"name", "self", "summary", "age_s", "why"}],
 * "missing"}; server is a name, "" for this one, or "all", which adds all current ones.
 * ERR_NOT_FOUND: no server has the name. */
enum err servers_history_json(const struct servers_ask *ask, struct slice server,
                              json_t **ret, struct errinfo *reterr);

#endif
