/*
 * token - `gillnet hub token NAME ROLE`: makes a token of the HTTP API and prints it once.
 *
 * The file of tokens (api_auth.h) gets its SHA-256; the token itself is kept nowhere.
 * Depends: base, config.   Threads: one.
 */
#ifndef CORE_HUB_TOKEN_H
#define CORE_HUB_TOKEN_H

#include "core/config/config.h"

/* Returns the exit status (sysexits). */
int token_make(const struct config *config, const char *name, const char *role);

#endif
