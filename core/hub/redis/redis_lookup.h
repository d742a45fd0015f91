/*
 * redis_lookup - the addresses of a host, found by a thread while the event loop goes on.
 *
 * Depends: base.   Threads: that of the event loop; each name has one thread of its own.
 */
#ifndef CORE_HUB_REDIS_REDIS_LOOKUP_H
#define CORE_HUB_REDIS_REDIS_LOOKUP_H

#include <netdb.h>

#include "core/base/std.h"

struct redis_lookup;

/* NULL: no memory, or no thread. An address in numbers needs no thread. */
struct redis_lookup *redis_lookup_new(const char *host, unsigned port);
/* Whether it has ended; then *ret has the addresses, or NULL and *retwhy a text. They are valid
 * until it is dropped. */
bool redis_lookup_is_done(struct redis_lookup *l, const struct addrinfo **ret,
                          const char **retwhy);
/* Never waits: a thread that still works frees it. *l becomes NULL; accepts NULL. */
void redis_lookup_drop(struct redis_lookup **l);

#endif
