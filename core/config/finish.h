/*
 * finish - what can only be said once every file is read: inheritance, and keys that must agree.
 *
 * Threads: one, while the configuration is built.
 */
#ifndef CORE_CONFIG_FINISH_H
#define CORE_CONFIG_FINISH_H

#include "core/config/config.h"

/* Lists take from list_default what they do not say; the control socket gets its default;
 * thresholds that were set must rise with the harshness of the action; rules must be able to apply;
 * types (may be NULL) must know the names of feature types. */
void config_finish(struct config *c, const struct config_types *types,
                   struct config_errors *errors);

#endif
