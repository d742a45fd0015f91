#include "core/learn/ftrl.h"

#include <math.h>

#include "core/base/pages.h"

/* Measured (ADR 0070): rates from 0.1 to 0.5 differ by less than two points. */
static const float rate = 1.0F;   /* alpha */
static const float steady = 1.0F; /* beta */
static const float ridge = 0.05F; /* lambda 2 */

enum { MARGIN_MAX = 30 };

unsigned ftrl_group(enum vector_block block)
{
    static const uint8_t groups[VECTOR_BLOCKS] = {
        [VECTOR_SUBJECT] = 0, [VECTOR_TEXT] = 0,   [VECTOR_NAME] = 1,
        [VECTOR_FIELD] = 1,   [VECTOR_PART] = 1,   [VECTOR_HTML] = 1,
        [VECTOR_LOOK] = 1,    [VECTOR_LINK] = 1,   [VECTOR_LINK_WORD] = 1,
        [VECTOR_SIGN] = 2,    [VECTOR_SENDER] = 3, [VECTOR_RELATION] = 3};
    return groups[block];
}

void ftrl_values(const struct vector *v, float ret[VECTOR_BLOCKS])
{
    unsigned n[FTRL_GROUPS] = {0};
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        n[ftrl_group((enum vector_block)b)] += v->count[b];
    }
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        unsigned count = n[ftrl_group((enum vector_block)b)];
        ret[b] = count > 0 ? 1.0F / sqrtf((float)count) : 0.0F;
    }
}

enum err ftrl_init(struct ftrl *f)
{
    f->pair = pages_new(FTRL_WEIGHTS * sizeof(*f->pair));
    return f->pair != NULL ? ERR_OK : ERR_NOMEM;
}

void ftrl_fini(struct ftrl *f)
{
    pages_free(f->pair, FTRL_WEIGHTS * sizeof(*f->pair));
    f->pair = NULL;
}

void ftrl_clear(struct ftrl *f)
{
    memset(f->pair, 0, FTRL_WEIGHTS * sizeof(*f->pair));
}

static float pair_weight(const struct ftrl_pair *p)
{
    return -p->z / ((steady + sqrtf(p->n)) / rate + ridge);
}

void ftrl_set(struct ftrl *f, uint32_t hash, float weight)
{
    f->pair[hash] = (struct ftrl_pair){.z = -weight * (steady / rate + ridge)};
}

float ftrl_weight(const struct ftrl *f, uint32_t hash)
{
    return pair_weight(&f->pair[hash]);
}

float ftrl_sum(const float group[FTRL_GROUPS], float floor)
{
    float sum = fmaxf(group[FTRL_WORDS], floor);
    for (unsigned g = FTRL_WORDS + 1; g < FTRL_GROUPS; g++) {
        sum += group[g];
    }
    return sum;
}

static float margin_of(const struct ftrl *f, const struct vector *v, float floor)
{
    float value[VECTOR_BLOCKS];
    float group[FTRL_GROUPS] = {0};
    ftrl_values(v, value);
    for (size_t i = 0; i < v->n; i++) {
        unsigned block = v->term[i] >> VECTOR_HASH_BITS;
        group[ftrl_group((enum vector_block)block)] +=
            pair_weight(&f->pair[v->term[i] & VECTOR_HASH_MASK]) * value[block];
    }
    return ftrl_sum(group, floor);
}

float ftrl_margin(const struct ftrl *f, const struct vector *v)
{
    return margin_of(f, v, FTRL_FLOOR);
}

static void step(struct ftrl_pair *p, float gradient)
{
    float weight = pair_weight(p);
    float n = p->n + gradient * gradient;
    p->z += gradient - (sqrtf(n) - sqrtf(p->n)) / rate * weight;
    p->n = n;
}

float ftrl_learn(struct ftrl *f, const struct vector *v, bool is_spam, float weight)
{
    float value[VECTOR_BLOCKS];
    float margin = margin_of(f, v, -(float)MARGIN_MAX);
    float bounded = fmaxf(-(float)MARGIN_MAX, fminf((float)MARGIN_MAX, margin));
    float error = (1.0F / (1.0F + expf(-bounded)) - (is_spam ? 1.0F : 0.0F)) * weight;
    ftrl_values(v, value);
    for (size_t i = 0; i < v->n; i++) {
        step(&f->pair[v->term[i] & VECTOR_HASH_MASK],
             error * value[v->term[i] >> VECTOR_HASH_BITS]);
    }
    return margin;
}
