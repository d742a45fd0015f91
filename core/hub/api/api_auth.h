/*
 * api_auth - roles of clients: tokens from a file, local clients, and protection against foreign
 * web pages.
 *
 * A token is a secret. The file holds its SHA-256, one "NAME ROLE HEX" a line, # for comments. The
 * file is read again when it changed. A file that other users may read or change is not used.
 * Hashes are compared in constant time.
 * Depends: base, config.   Threads: any.   Owns: the table.   ADR 0042.
 */
#ifndef CORE_HUB_API_API_AUTH_H
#define CORE_HUB_API_API_AUTH_H

#include "core/config/config.h"
#include "core/hub/http/http_request.h"

enum { API_NAME_MAX = 32, API_TOKENS_MAX = 1000, API_TOKENS_BYTES = 256 * 1024 };

/* How the client's name is known. */
enum api_proof { API_UNPROVEN, API_BY_TOKEN, API_BY_PROXY };
struct api_who {
    enum api_role role;
    enum api_proof proof;
    char name[API_USER_NAME_MAX + 1]; /* of the token or user; "local", "anonymous" */
};

/* A name that a token may have. */
bool api_token_name_is_valid(struct slice s);
/* Cuts the next word off a line of the file; empty at its end. */
struct slice api_token_word(struct slice *line);

struct api_tokens;
/* Whether the token of this client is still in the table, with this role. */
bool api_tokens_have(struct api_tokens *t, const struct api_who *who);
struct api_tokens *api_tokens_new(void); /* NULL: no memory */
void api_tokens_free(struct api_tokens **t);
/* Reads the file if it changed since the last call. Call this before each request with a token, so
 * that a revoked token is refused at once. */
void api_tokens_look(struct api_tokens *t, const char *path);

/* The role that api.proxy_users gives to a name. */
enum api_role api_proxy_role(const struct config *config, struct slice name);

/* Finds name and role of the client. False: the Authorization field holds no known token. is_local:
 * the connection comes from loopback or a Unix socket (is_unix). A request is not local if a proxy
 * forwarded it, or if its Host or Referer field names another host. */
bool api_who(struct api_tokens *t, const struct config *config,
             const struct http_request *request, bool is_local, bool is_unix,
             struct api_who *ret);

/* Protects against DNS rebinding and requests by pages of other sites. NULL: the request may be
 * answered; else the reason for the refusal. is_unix: the Host field is not checked. */
const char *api_foreign(const struct config *config, const struct http_request *request,
                        bool is_unix);

/* ---- `gillnet hub token` ---- */

/* Each returns the exit status (sysexits). token_make prints the token once; it is kept nowhere. A
 * file that root writes is given to a group that the service has under its unit. */
int token_make(const struct config *config, const char *name, const char *role);
/* NAME and ROLE, a line each. */
int token_list(const struct config *config);
/* The hub reads the file before each request with a token, so the token is refused at once. */
int token_revoke(const struct config *config, const char *name);

#endif
