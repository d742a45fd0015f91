/*
 * token - `gillnet hub token`: makes a token of the HTTP API and prints it once; lists them; takes one back.
 *
 * The file of tokens (api_auth.h) gets its SHA-256; the token itself is kept nowhere.
 * What root writes there is given to a group that the service has under its unit.
 * Depends: base, config.   Threads: one.
 */
#ifndef CORE_HUB_API_TOKEN_H
#define CORE_HUB_API_TOKEN_H

#include "core/config/config.h"

/* Returns the exit status (sysexits). */
int token_make(const struct config *config, const char *name, const char *role);
/* NAME and ROLE, a line each. */
int token_list(const struct config *config);
/* The hub reads the file before each request with a token: it serves no more at once. */
int token_revoke(const struct config *config, const char *name);

#endif
