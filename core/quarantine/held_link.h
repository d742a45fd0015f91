/*
 * held_link - the links of digests: each lets one recipient do one thing with one message, once.
 *
 * A link ends in a token of 128 random bits. STATE/quarantine/links has a file for each token,
 * whose name is the token's SHA-256, so whoever reads the folder has no link. The file binds the
 * token to the recipient, the queue id, the time of the message's arrival and the action. A used
 * link is renamed before the action begins, so of two requests one gets it.
 * Depends: base.   Threads: any.   Allocates: JSON, which the caller owns.   ADR 0072.
 */
#ifndef CORE_QUARANTINE_HELD_LINK_H
#define CORE_QUARANTINE_HELD_LINK_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/base/slice.h"

enum { HELD_TOKEN_CHARS = 32, HELD_TOKEN_SIZE = HELD_TOKEN_CHARS + 1 };

#define HELD_LINK_RELEASE "release"
#define HELD_LINK_SPAM    "spam"
#define HELD_LINK_PAGE    "page" /* the recipient's own page; of no message */

struct held_link_terms {
    const json_t *row; /* of the message (held.h); an empty object for HELD_LINK_PAGE */
    const char *recipient;
    const char *action;
    uint64_t expires_s;
};
enum err held_link_make(const char *state_dir, const struct held_link_terms *terms,
                        char rettoken[HELD_TOKEN_SIZE], struct errinfo *reterr);

enum held_link_state {
    HELD_LINK_OPEN,
    HELD_LINK_USED,
    HELD_LINK_EXPIRED,
    HELD_LINK_UNKNOWN
};
/* Reads the link of a token of any form. *ret: {id, time_s, recipient, action, expires_s, from,
 * subject}, NULL unless it is open. */
enum held_link_state held_link_read(const char *state_dir, struct slice token,
                                    uint64_t now_s, json_t **ret);
/* Uses an open link. False: another request was faster, or the disk refuses. */
bool held_link_use(const char *state_dir, struct slice token);
/* Opens it again, because the action failed. */
void held_link_reopen(const char *state_dir, struct slice token);

/* Removes the links that have expired. */
enum err held_link_sweep(const char *state_dir, uint64_t now_s, struct errinfo *reterr);

#endif
