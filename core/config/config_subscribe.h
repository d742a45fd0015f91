/*
 * config_subscribe - what the groups of `subscribe` must have, and what of one names a list.
 *
 * Threads: one, while the configuration is built.
 */
#ifndef CORE_CONFIG_CONFIG_SUBSCRIBE_H
#define CORE_CONFIG_CONFIG_SUBSCRIBE_H

#include "core/config/config.h"

/* Defaults for what they do not say; urls, key and lists must be there; no publisher, and no list of ours of one
 * publisher, twice. */
void config_finish_subscriptions(struct config *c, struct config_errors *errors);

#endif
