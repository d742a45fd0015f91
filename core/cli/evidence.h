/*
 * evidence - features, limits and such of a message, as JSON and for people.
 * Threads: one.
 */
#ifndef CORE_CLI_EVIDENCE_H
#define CORE_CLI_EVIDENCE_H

#include "core/cli/json.h"
#include "core/feature/feature.h"

enum { EVIDENCE_SHOWN = 200 }; /* bytes of a value for people */

const char *evidence_type_name(uint16_t type);
/* [{type, value}], with places also part, header and offset, null where there is none; NULL
 * without memory. */
json_t *evidence_features(const struct featureset *features, bool with_places);
/* ["mime_depth"] */
json_t *evidence_limits(unsigned limits);
/* "  from sender@evil.example" lines, with places "  url evil.example/  (1.2 at 345)"; and
 * "  limit mime_depth". */
void evidence_print_features(const struct featureset *features, bool with_places);
void evidence_print_limits(unsigned limits);

#endif
