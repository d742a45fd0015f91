/*
 * keywords - values that are one of a few words; private to this room.
 *
 * Threads: as config_value.h.   Owns: nothing.
 */
#ifndef CORE_CONFIG_KEYWORDS_H
#define CORE_CONFIG_KEYWORDS_H

#include "core/config/config_value.h"

bool keywords_has(enum schema_kind kind);

/* value_set for those kinds. */
bool keywords_set(const struct value_place *place, const config_setting_t *setting);
/* The word of the value. */
const char *keywords_text(const struct schema_row *row, const void *base);

#endif
