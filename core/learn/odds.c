#include "core/learn/odds.h"

#include <math.h>

double odds_of(const struct model_data *m, const struct vector *v,
               enum odds_counted counted)
{
    float value[VECTOR_BLOCKS];
    float nham = (float)m->head.nham + 1;
    float nspam = (float)m->head.nspam + 1;
    double sum = 0;
    ftrl_values(v, value);
    for (size_t i = 0; i < v->n; i++) {
        const uint16_t *seen = m->seen[(v->term[i] & VECTOR_HASH_MASK) % MODEL_SEEN];
        float ham = (float)seen[0] - (counted == ODDS_OF_HAM && seen[0] > 0);
        float spam = (float)seen[1] - (counted == ODDS_OF_SPAM && seen[1] > 0);
        if (ham + spam > 0) {
            float odds = logf((spam + 0.5F) / nspam / ((ham + 0.5F) / nham));
            sum += (double)(odds * value[v->term[i] >> VECTOR_HASH_BITS]);
        }
    }
    return sum;
}
