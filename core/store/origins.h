/*
 * origins - the servers that peers' lists and counts come from, and the weight of each.
 *
 * STATE/peers/origins, text, written by the hub from the ring's manifest, read by gillnetd and the
 * commands: the line "gillnet-origins 1", "self ORIGIN", "quorum N", then for each member "ORIGIN
 * NAME CAP STATE" (32 hexadecimal digits, [a-z0-9_-]+, a number, active|left|dropped|distrusted).
 * The counts and lists of other origins are ignored. STATE/peers/origins.subscriptions has the same
 * form and names the publishers that are followed: their lists are looked up as peers' are, and of
 * counts they have none (cap 0). Their lists lie under an origin of their own, so a row may have a
 * fifth word: the origin that the publisher's key would have in a ring, so that a member who
 * publishes is one.
 * Depends: base.   Threads: constant once read.   ADR 0033.
 */
#ifndef CORE_STORE_ORIGINS_H
#define CORE_STORE_ORIGINS_H

#include "core/base/err.h"

enum { ORIGIN_BYTES = 16, ORIGIN_NAME_MAX = 32, ORIGINS_MAX = 256 };
#define ORIGIN_NO_CAP (UINT64_C(1) << 53) /* more than anybody counts */
enum origin_state { ORIGIN_ACTIVE, ORIGIN_LEFT, ORIGIN_DROPPED, ORIGIN_DISTRUSTED };

struct origin_row {
    uint8_t origin[ORIGIN_BYTES];
    uint8_t owner[ORIGIN_BYTES]; /* whose word it is; zeros: its own */
    uint64_t cap;                /* of its counts in a verdict, over a whole window */
    enum origin_state state;
    bool is_same_owner; /* a server of this ring, which is of kind own */
    char name[ORIGIN_NAME_MAX + 1];
};

struct origins {
    uint8_t self[ORIGIN_BYTES];
    /* peers that must have counted a key before their counts do harm; 0: one owner has them all */
    unsigned quorum;
    struct origin_row *v;
    unsigned n;
};

/* Reads both files. ERR_NOT_FOUND: no ring and no subscription; *ret is empty. */
enum err origins_read(const char *state_dir, struct origins *ret,
                      struct errinfo *reterr);
enum err origins_write(const char *state_dir, const struct origins *o,
                       struct errinfo *reterr);
/* Of o the rows alone count. */
enum err origins_write_subscriptions(const char *state_dir, const struct origins *o,
                                     struct errinfo *reterr);
/* It speaks for itself: owner is not another's. */
bool origin_is_own(const struct origin_row *row);
void origins_fini(struct origins *o);
const struct origin_row *origins_find(const struct origins *o,
                                      const uint8_t origin[ORIGIN_BYTES]);

#endif
