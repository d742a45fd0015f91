/*
 * traffic - a site's mail as a stream of counted keys, for benches, plans and virtual fortnights.
 *
 * The model behind every figure of the counts: a message counts 40 different keys; a key is one
 * never seen before with 60 %, else one of 2 x (messages a day) keys that come again, drawn by
 * Zipf's law with exponent 1. Nothing is stored: a key is a number, a first sight is the next
 * number of a counter, and a digest is made of the number where one is needed.
 * Depends: base.   Threads: one for each struct.   Allocates: nothing.
 * Source: rejection-inversion (Hormann, Derflinger 1996), constant time for any number of keys.
 */
#ifndef CORE_COUNT_TRAFFIC_H
#define CORE_COUNT_TRAFFIC_H

#include "core/base/digest.h"
#include "core/base/prng.h"

enum {
    TRAFFIC_KEYS = 40,          /* of a message */
    TRAFFIC_FIRST_PERCENT = 60, /* of them never seen before */
    TRAFFIC_REPEATED = 2,       /* x messages a day: keys that come again */
    TRAFFIC_DAYS = 14           /* of the fortnight */
};

/* The bit of a first sight; a key that comes again is its rank, from 1 for the most frequent. */
#define TRAFFIC_FIRST (UINT64_C(1) << 63)

struct traffic {
    struct prng prng;
    uint64_t counter; /* the number of the next first sight, TRAFFIC_FIRST set */
    uint64_t nranks;  /* keys that come again */
    double low;       /* the integral of 1/x where drawing begins and ends */
    double high;
    double near; /* a draw so near its rank needs no second look */
};

/* The same seed gives the same stream; the first sights of different seeds (their low 23 bits)
 * never meet for 2^40 keys, the keys that come again are the same. messages_per_day from 1. */
void traffic_init(struct traffic *t, uint64_t messages_per_day, uint64_t seed);

/* The keys of the next message, all different. */
void traffic_message(struct traffic *t, uint64_t ret[TRAFFIC_KEYS]);
/* A rank by Zipf's law, 1..nranks. */
uint64_t traffic_rank(struct traffic *t);

/* Makes the digest for a key of this number: splitmix64 twice, evenly spread. The first 8 bytes
 * (big-endian) alone differ for different numbers. */
void traffic_digest(uint64_t number, struct digest *ret);

/* How many of nranks keys are seen in draws of Zipf's law at least once, on average. */
double traffic_expected_ranks(uint64_t nranks, double draws);

#endif
