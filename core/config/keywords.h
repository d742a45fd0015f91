/*
 * keywords - values that are one of a few words; private to this room.
 *
 * Threads: as value.h.   Owns: nothing.
 */
#ifndef CORE_CONFIG_KEYWORDS_H
#define CORE_CONFIG_KEYWORDS_H

#include "core/config/config_value.h"

/* value_set for the kinds whose values are words. */
bool words_set(const struct value_place *place, const config_setting_t *setting);

#endif
