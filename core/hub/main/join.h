/*
 * join - enters a ring with a token: one request to the server that invited, whose key the token pins.
 *
 * Depends: base, config, peer.   Threads: one.   ADR 0034.
 */
#ifndef CORE_HUB_MAIN_JOIN_H
#define CORE_HUB_MAIN_JOIN_H

#include "core/config/config.h"

/* Prints what came of it; returns the exit status (sysexits). */
int join_run(const struct config *config, const char *token);

#endif
