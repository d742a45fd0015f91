/*
 * subscribe - the configured publishers, each fetched at its interval by one thread.
 *
 * The thread keeps large lists and slow web servers away from the event loop.
 * core/ring/publish/subscription.h decides which objects are valid. Works with a ring or without
 * one.
 * Depends: base, config, ring, libcurl.   Threads: its own; all functions from one other.   Owns:
 * STATE/peers/subscriptions and STATE/peers/origins.subscriptions.   ADR 0037.
 */
#ifndef CORE_HUB_FETCH_SUBSCRIBE_H
#define CORE_HUB_FETCH_SUBSCRIBE_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/config/config.h"

struct subscribe;
/* Starts, and removes subscriptions that are no longer configured. ERR_LOCKED: another hub runs.
 * is_once: fetches each publisher once. *ret is NULL if there are no subscriptions and never were
 * any. */
enum err subscribe_new(const struct config *config, bool is_once,
                       struct subscribe **ret, struct errinfo *reterr);
/* Ends within a second, or after the list that is being imported. Accepts NULL. */
void subscribe_free(struct subscribe **s);

/* Ends *io and starts again with config. Logs a failure and sets *io to NULL then. */
void subscribe_renew(struct subscribe **io, const struct config *config, bool is_once);

/* True if each publisher was fetched once (is_once). *retfailed: incomplete ones. s NULL: all in
 * config. */
bool subscribe_is_done(struct subscribe *s, const struct config *config,
                       unsigned *retfailed);
/* One object for each subscription. s may be NULL. */
json_t *subscribe_rows(struct subscribe *s);

#endif
