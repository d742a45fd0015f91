/*
 * shared_json - the status of the store as JSON: for the control socket, the page and metrics.
 *
 * openapi.yaml names the fields (Store). Numbers keep their names from shared_status.h.
 * Depends: jansson.   Threads: pure.
 */
#ifndef CORE_HUB_SHARED_SHARED_JSON_H
#define CORE_HUB_SHARED_SHARED_JSON_H

#include <jansson.h>

#include "core/hub/shared/shared_status.h"

/* mode: "single", "sentinel" or "cluster". The caller owns the result; NULL: no memory. */
json_t *shared_status_json(const struct shared_status *s, const char *mode);

#endif
