/*
 * condition - the conditions of a rule: from a list of groups into a flat array, and back.
 *
 * Threads: one configuration, one thread while it is built.   Owns: nothing; the struct does.
 */
#ifndef CORE_CONFIG_CONDITION_H
#define CORE_CONFIG_CONDITION_H

#include "core/config/config_value.h"

/* value_set for the kind CONDITIONS: replaces all of them. */
bool conditions_set(const struct value_place *place, const config_setting_t *setting);
void conditions_free(struct config_conditions *c);
/* As they would be written: "( { trait = \"html_form\"; } )". */
void conditions_text(const struct config_conditions *c, struct buf *ret);

#endif
