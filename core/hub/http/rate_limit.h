/*
 * rate_limit - how much one address, one peer or one failure may cost.
 *
 * Token buckets; a table of them by address (an IPv4 address, an IPv6 /64), bounded: the address unseen
 * longest gives way; waits between tries.
 * Threads: one.   Owns: its table.   Depends: base.
 */
#ifndef CORE_HUB_HTTP_RATE_LIMIT_H
#define CORE_HUB_HTTP_RATE_LIMIT_H

#include "core/base/std.h"

struct sockaddr;

struct bucket_rate {
    double per_s;
    double burst;
};
struct bucket {
    double tokens;
    uint64_t at_us; /* 0: never used, it is full */
};
/* Takes n if they are there; more than the burst is had when it is full, and owed. Else *retwait_s (may be NULL) says
 * when to come again. */
bool bucket_take(struct bucket *b, const struct bucket_rate *rate, double n,
                 uint64_t now_us, unsigned *retwait_s);

enum {
    RATE_LIMIT_ADDRESSES = 4096,
    RATE_LIMIT_SLOTS = 8, /* in which an address may lie */
    RATE_LIMIT_KNOWN_S = 3600
};

/* Connections: of one address, and of all that did not show a member's key lately. */
extern const struct bucket_rate rate_limit_address_rate;
extern const struct bucket_rate rate_limit_all_rate;

struct rate_limit;
struct rate_limit *rate_limit_new(void); /* NULL: no memory */
void rate_limit_free(struct rate_limit **l);
/* Whether a new connection from there may shake hands. */
bool rate_limit_admit(struct rate_limit *l, const struct sockaddr *from,
                      uint64_t now_us);
/* Takes one of the tokens that this address has at that rate. */
bool rate_limit_take(struct rate_limit *l, const struct sockaddr *from,
                     const struct bucket_rate *rate, uint64_t now_us,
                     unsigned *retwait_s);
/* A member came from there. */
void rate_limit_know(struct rate_limit *l, const struct sockaddr *from,
                     uint64_t now_us);

enum {
    BACKOFF_FIRST_MS = 1000,
    BACKOFF_MOST_MS = 60000,
    /* after no answer: a net that was cut is whole again without notice */
    BACKOFF_UNHEARD_MS = 5000
};
/* Wait after so many failures (from 1) in a row: doubling up to longest_ms, and random in its upper half so that many do
 * not come together. */
unsigned backoff_ms(unsigned failures, unsigned longest_ms, uint32_t random);

#endif
