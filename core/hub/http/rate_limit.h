/*
 * rate_limit - limits on the cost of one address, one peer or one failure.
 *
 * Token buckets, a table of them by address (an IPv4 address or an IPv6 /64), and waits between
 * tries. A full table evicts the address that was not seen for the longest time.
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
/* Takes n tokens if the bucket has them. More than the burst are given when the bucket is full, and
 * owed. Otherwise *retwait_s (may be NULL) is the time to wait. */
bool bucket_take(struct bucket *b, const struct bucket_rate *rate, double n,
                 uint64_t now_us, unsigned *retwait_s);

enum {
    RATE_LIMIT_ADDRESSES = 4096,
    RATE_LIMIT_SLOTS = 8, /* where an address may be */
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
    /* after no answer: nobody tells when a broken network is repaired */
    BACKOFF_UNHEARD_MS = 5000
};
/* The wait after a number of failures in a row (1 or more). It doubles up to longest_ms; its upper
 * half is random, to spread servers that fail together. */
unsigned backoff_ms(unsigned failures, unsigned longest_ms, uint32_t random);

#endif
