#include "core/learn/odds.h"

#include <math.h>

enum { SEEN_MAX = 65535 };

static const float doubt = 0.5F;  /* added to each count */
static const float shrink = 5.0F; /* a term of so many messages counts by half */

static const float natural = 0.6931472F; /* logarithm of 2 */
static const float words_floor = -0.5F;  /* as FTRL_FLOOR, here to base 2 */

/* The logarithm to base 2, to 0.01: a tenth of logf's time, and hundreds are needed. */
static float fast_log2(float x)
{
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof(bits));
    float exponent = (float)((int)(bits >> 23) - 127);
    bits = (bits & 0x7fffff) | 0x3f800000;
    memcpy(&x, &bits, sizeof(x));
    return exponent + (x - 1) * (1.3465F - 0.3465F * (x - 1));
}

static const uint16_t *counter(const struct model_seen *seen, uint32_t term)
{
    return seen[(term & VECTOR_HASH_MASK) % MODEL_SEEN].n;
}

double odds_of(const struct model_seen *seen, const float counted[2],
               const struct vector *v)
{
    float value[VECTOR_BLOCKS];
    float group[FTRL_GROUPS] = {0};
    float all = fast_log2((counted[0] + 1) / (counted[1] + 1));
    ftrl_values(v, value);
    for (size_t i = 0; i < v->n; i++) {
        const uint16_t *both = counter(seen, v->term[i]);
        float ham = (float)both[0] / ODDS_UNIT;
        float spam = (float)both[1] / ODDS_UNIT;
        if (ham + spam > 0) {
            unsigned block = v->term[i] >> VECTOR_HASH_BITS;
            float odds = fast_log2((spam + doubt) / (ham + doubt)) + all;
            odds *= (ham + spam) / (ham + spam + shrink);
            group[ftrl_group((enum vector_block)block)] += odds * value[block];
        }
    }
    return (double)(ftrl_sum(group, words_floor) * natural);
}

bool odds_only_spam(const struct model_seen *seen, uint32_t term, float weight)
{
    const uint16_t *both = counter(seen, term);
    return both[0] == 0 && (float)both[1] >= weight * ODDS_UNIT;
}

void odds_count(struct model_seen *seen, float counted[2], const struct vector *v,
                bool is_spam, float weight)
{
    int units = (int)lroundf(weight * ODDS_UNIT);
    for (size_t i = 0; i < v->n; i++) {
        uint16_t *n = &seen[(v->term[i] & VECTOR_HASH_MASK) % MODEL_SEEN].n[is_spam];
        int sum = *n + units;
        sum = sum < 0 ? 0 : sum;
        *n = (uint16_t)(sum > SEEN_MAX ? SEEN_MAX : sum);
    }
    counted[is_spam] = fmaxf(0.0F, counted[is_spam] + weight);
}
