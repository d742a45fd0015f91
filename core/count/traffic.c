/* traffic - the model of a site's mail. */
#include "core/count/traffic.h"

#include <assert.h>
#include <math.h>

enum {
    SEED_BITS = 23, /* of a first sight's number, below TRAFFIC_FIRST */
    COUNTER_BITS = 40,
    EXACT_RANKS = 1024, /* of an expectation, one by one; behind them by slices */
    TRIES = 64          /* for a key that the message has not yet */
};

static const double slice_growth = 1.01;

void traffic_init(struct traffic *t, uint64_t messages_per_day, uint64_t seed)
{
    assert(messages_per_day != 0);
    uint64_t stream = seed & ((UINT64_C(1) << SEED_BITS) - 1);

    prng_init(&t->prng, seed, 0);
    t->counter = TRAFFIC_FIRST | stream << COUNTER_BITS;
    t->nranks = messages_per_day * TRAFFIC_REPEATED;
    /* With exponent 1 the density is 1/x, its integral log x and its inverse exp x. */
    t->low = log(1.5) - 1;
    t->high = log((double)t->nranks + 0.5);
    t->near = 2 - exp(log(2.5) - 0.5);
}

uint64_t traffic_rank(struct traffic *t)
{
    for (;;) {
        double u = t->high + prng_share(&t->prng) * (t->low - t->high);
        double x = exp(u);
        double rank = fmin(fmax(floor(x + 0.5), 1), (double)t->nranks);
        if (rank - x <= t->near || u >= log(rank + 0.5) - 1 / rank) {
            return (uint64_t)rank;
        }
    }
}

/* One key, without regard to messages. */
static uint64_t next_key(struct traffic *t)
{
    if (prng_below(&t->prng, 100) < TRAFFIC_FIRST_PERCENT) {
        return t->counter++;
    }
    return traffic_rank(t);
}

static bool is_in_message(const uint64_t *keys, unsigned n, uint64_t key)
{
    for (unsigned i = 0; i < n; i++) {
        if (keys[i] == key) {
            return true;
        }
    }
    return false;
}

void traffic_message(struct traffic *t, uint64_t ret[TRAFFIC_KEYS])
{
    for (unsigned i = 0; i < TRAFFIC_KEYS; i++) {
        uint64_t key = next_key(t);
        for (unsigned try = 0; is_in_message(ret, i, key); try++) {
            /* A site with fewer keys than a message has runs out of them. */
            key = try < TRIES ? traffic_rank(t) : t->counter++;
        }
        ret[i] = key;
    }
}

void traffic_digest(uint64_t number, struct digest *ret)
{
    uint64_t half = prng_mix(number);

    for (unsigned i = 0; i < DIGEST_BYTES; i++) {
        if (i == DIGEST_BYTES / 2) {
            half = prng_mix(half ^ TRAFFIC_FIRST);
        }
        ret->b[i] = (uint8_t)(half >> (56 - 8 * (i % (DIGEST_BYTES / 2))));
    }
}

double traffic_expected_ranks(uint64_t nranks, double draws)
{
    double sum = 0; /* of 1/rank over all ranks */
    double seen = 0;
    double rank = 1;
    double n = (double)nranks;

    for (uint64_t i = 1; i <= nranks && i <= EXACT_RANKS; i++) {
        sum += 1 / (double)i;
    }
    if (n > EXACT_RANKS) {
        sum += log((n + 0.5) / (EXACT_RANKS + 0.5));
    }
    while (rank <= n) {
        double width =
            rank <= EXACT_RANKS ? 1 : fmin(rank * (slice_growth - 1), n + 1 - rank);
        double middle = rank + (width - 1) / 2;
        seen += width * -expm1(-draws / sum / middle);
        rank += width;
    }
    return seen;
}
