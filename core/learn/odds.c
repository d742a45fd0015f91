#include "core/learn/odds.h"

#include <math.h>

enum { SEEN_MAX = 65535 };

static const float doubt = 0.5F;  /* added to each count */
static const float shrink = 2.0F; /* what was seen this often counts by half */

static const uint16_t *counter(const struct model_seen *seen, uint32_t term)
{
    return seen[(term & VECTOR_HASH_MASK) % MODEL_SEEN].n;
}

double odds_of(const struct model_seen *seen, const float counted[2],
               const struct vector *v)
{
    float value[VECTOR_BLOCKS];
    double sum = 0;
    ftrl_values(v, value);
    for (size_t i = 0; i < v->n; i++) {
        const uint16_t *both = counter(seen, v->term[i]);
        float ham = (float)both[0];
        float spam = (float)both[1];
        if (ham + spam > 0) {
            float odds = logf((spam + doubt) / (counted[1] + 1) /
                              ((ham + doubt) / (counted[0] + 1)));
            odds *= (ham + spam) / (ham + spam + shrink);
            sum += (double)(odds * value[v->term[i] >> VECTOR_HASH_BITS]);
        }
    }
    return sum;
}

void odds_count(struct model_seen *seen, float counted[2], const struct vector *v,
                bool is_spam, int weight)
{
    for (size_t i = 0; i < v->n; i++) {
        uint16_t *n = &seen[(v->term[i] & VECTOR_HASH_MASK) % MODEL_SEEN].n[is_spam];
        int sum = *n + weight;
        sum = sum < 0 ? 0 : sum;
        *n = (uint16_t)(sum > SEEN_MAX ? SEEN_MAX : sum);
    }
    counted[is_spam] = fmaxf(0.0F, counted[is_spam] + (float)weight);
}
