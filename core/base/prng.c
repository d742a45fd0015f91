/* prng - splitmix64. */
#include "core/base/prng.h"

#include <assert.h>

static const uint64_t gamma_odd = 0x9e3779b97f4a7c15;

uint64_t prng_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

void prng_init(struct prng *p, uint64_t seed, uint64_t stream)
{
    p->state = prng_mix(prng_mix(seed + gamma_odd) ^ prng_mix(stream * gamma_odd + 1));
}

uint64_t prng_next(struct prng *p)
{
    p->state += gamma_odd;
    return prng_mix(p->state);
}

uint64_t prng_below(struct prng *p, uint64_t bound)
{
    assert(bound != 0);
    __extension__ unsigned __int128 product = prng_next(p);

    product *= bound;
    if ((uint64_t)product < bound) {
        uint64_t unfair = -bound % bound; /* low halves below it come once too often */
        while ((uint64_t)product < unfair) {
            product = prng_next(p);
            product *= bound;
        }
    }
    return (uint64_t)(product >> 64);
}

double prng_share(struct prng *p)
{
    return ((double)(prng_next(p) >> 11) + 0.5) * 0x1p-53;
}
