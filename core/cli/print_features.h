/*
 * print_features - features, limits and such of a message for people; as JSON: core/message/feature/feature_json.h.
 * Threads: one.
 */
#ifndef CORE_CLI_PRINT_FEATURES_H
#define CORE_CLI_PRINT_FEATURES_H

#include "core/message/feature/feature.h"

enum { EVIDENCE_SHOWN = 200 }; /* bytes of a value for people */

/* "  from sender@evil.example" lines, with places "  url evil.example/  (1.2 at 345)"; and
 * "  limit mime_depth". */
void evidence_print_features(const struct featureset *features, bool with_places);
void evidence_print_limits(unsigned limits);

#endif
