/*
 * link_patterns - the rules for emergency mode, asked about single URLs.
 *
 * The rules of the configuration with emergency = true, compiled alone; of what they can be about,
 * only the feature url is there. A rule that names another, ordinary one makes all of them
 * unusable here.
 * Depends: config, feature, rule.   Threads: any.   Owns: a reference to the configuration.
 */
#ifndef CORE_HUB_STATUS_LINK_PATTERNS_H
#define CORE_HUB_STATUS_LINK_PATTERNS_H

#include "core/base/arena.h"
#include "core/config/config.h"

struct link_patterns;
/* Takes long with many patterns. The log names rules that cannot be used. NULL: no memory. */
struct link_patterns *link_patterns_new(const struct config *config);
bool link_patterns_is_of(const struct link_patterns *p, const struct config *config);
struct link_patterns *link_patterns_acquire(struct link_patterns *p); /* accepts NULL */
void link_patterns_release(struct link_patterns **p);                 /* accepts NULL */

/* Name of the first rule that holds for the URL, as extraction writes it; NULL: none. */
const char *link_patterns_find(const struct link_patterns *p, struct slice url,
                               struct arena *arena);

#endif
