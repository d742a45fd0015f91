/*
 * feature_json - features, limits and any bytes as JSON.
 *
 * Depends: base, feature.h.   Threads: pure.   Allocates: jansson's values, which the caller owns;
 * NULL without memory.
 */
#ifndef CORE_MESSAGE_FEATURE_FEATURE_JSON_H
#define CORE_MESSAGE_FEATURE_FEATURE_JSON_H

#include <jansson.h>

#include "core/base/slice.h"
#include "core/message/feature/feature.h"

/* A string of bytes of any kind: those that are not UTF-8, and NUL, become U+FFFD. */
json_t *json_text(struct slice bytes);

/* How values for people are printed: on one line, and 0.1 + 0.2 as 0.3. */
#define JSON_LINE (JSON_COMPACT | JSON_REAL_PRECISION(15))
/* [{type, value}], with places also part, header and offset, null where there is none. */
json_t *json_features(const struct featureset *features, bool with_places);
/* LIMIT_FLAG bits: ["mime_depth"] */
json_t *json_limits(unsigned limits);

#endif
