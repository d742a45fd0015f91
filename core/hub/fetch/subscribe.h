/*
 * subscribe - the publishers that the configuration names, each asked at its interval, by a thread of their own.
 *
 * A large list that arrives must not hold up the exchange with peers, and a web server that is slow
 * nobody: so nothing of this runs on the event loop. What a subscription believes is core/ring/publish/subscription.h's.
 * Works with a ring or without one.
 * Depends: base, config, peer, libcurl.   Threads: its own; all functions from one other.   Owns:
 * STATE/peers/subscriptions and STATE/peers/origins.subscriptions.   ADR 0037.
 */
#ifndef CORE_HUB_FETCH_SUBSCRIBE_H
#define CORE_HUB_FETCH_SUBSCRIBE_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/config/config.h"

struct subscribe;
/* Begins; what is not configured any more is removed. ERR_LOCKED: another hub does this. is_once: each
 * publisher is asked once. *ret is NULL when there is nothing to follow and never was. */
enum err subscribe_new(const struct config *config, bool is_once,
                       struct subscribe **ret, struct errinfo *reterr);
/* Ends within a second, or when a list that is being taken is. Accepts NULL. */
void subscribe_free(struct subscribe **s);

/* Ends *io and begins anew as config says. What fails is logged; *io is NULL then, and all else goes on. */
void subscribe_renew(struct subscribe **io, const struct config *config, bool is_once);

/* Each publisher was asked (is_once). *retfailed: of how many not all could be had. s NULL: of all that config names. */
bool subscribe_is_done(struct subscribe *s, const struct config *config,
                       unsigned *retfailed);
/* An object for each. s may be NULL. */
json_t *subscribe_rows(struct subscribe *s);

#endif
