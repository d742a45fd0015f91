/*
 * config_feeds - what the groups of `feeds` must have, and what they agree on with each other.
 *
 * Threads: one, while the configuration is built.
 */
#ifndef CORE_CONFIG_CONFIG_FEEDS_H
#define CORE_CONFIG_CONFIG_FEEDS_H

#include "core/config/config.h"

/* Defaults for what they do not say; a feed that is enabled has a url; no list holds two feeds; types are known. */
void config_finish_feeds(struct config *c, const struct config_types *types,
                         struct config_errors *errors);

#endif
