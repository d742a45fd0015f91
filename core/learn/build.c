#include "core/learn/build.h"

#include <math.h>

#include "core/base/prng.h"
#include "core/learn/odds.h"
#include "core/learn/quantile.h"

enum { SCRATCH = 64 << 10, WEIGHT_MAX = 32767, SEEN_MAX = 65535, NO_FOLD = -1 };

static const double doubt_rate = 0.02; /* share of ham that may score a little */

void build_prior(struct ftrl *f, const struct model_data *m)
{
    ftrl_clear(f);
    for (uint32_t i = 0; i < FTRL_WEIGHTS; i++) {
        if (m->prior[i] != 0) {
            ftrl_set(f, i, (float)m->prior[i] * m->prior_unit);
        }
    }
    ftrl_set_bias(f, m->head.prior_bias);
}

static unsigned fold_of(size_t i)
{
    return (unsigned)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % LEARNER_FOLDS;
}

/* How much a message of each class weighs, so that both weigh the same together. */
static void class_weights(const struct store *s, float ret[2])
{
    double sum[2] = {0, 0};
    for (size_t i = 0; i < s->n; i++) {
        sum[s->kept[i].is_spam] += 1;
    }
    ret[0] = 1.0F;
    ret[1] = 1.0F;
    if (sum[0] > 0 && sum[1] > 0) {
        unsigned less = sum[0] < sum[1] ? 0 : 1;
        ret[less] = (float)fmin(3, sqrt(sum[1 - less] / sum[less]));
    }
}

/* The order of a pass: a shuffle that depends on the number of examples alone. */
static uint32_t *order_of(size_t n)
{
    uint32_t *order = malloc((n + 1) * sizeof(*order));
    struct prng random;
    prng_init(&random, n, 0);
    for (size_t i = 0; order != NULL && i < n; i++) {
        order[i] = (uint32_t)i;
    }
    for (size_t i = n; order != NULL && i > 1; i--) {
        size_t j = prng_below(&random, i);
        uint32_t t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
    return order;
}

static enum err learn_store(struct ftrl *f, const struct store *s, int without)
{
    float weight[2];
    struct arena *scratch = arena_new(SCRATCH);
    uint32_t *order = order_of(s->n);
    enum err e = scratch != NULL && order != NULL ? ERR_OK : ERR_NOMEM;
    class_weights(s, weight);
    for (size_t i = 0; e == ERR_OK && i < LEARNER_PASSES * s->n; i++) {
        size_t at = order[i % s->n];
        const struct kept *k = &s->kept[at];
        struct vector v;
        if (without != NO_FOLD && fold_of(at) == (unsigned)without) {
            continue;
        }
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            (void)ftrl_learn(f, &v, k->is_spam, k->weight * weight[k->is_spam]);
        }
        arena_reset(scratch);
    }
    free(order);
    arena_free(&scratch);
    return e;
}

enum err build_weights(struct ftrl *f, const struct model_data *m, const struct store *s)
{
    build_prior(f, m);
    return learn_store(f, s, NO_FOLD);
}

static int16_t unit_weight(float w)
{
    float u = roundf(w * MODEL_UNIT);
    u = fmaxf(-WEIGHT_MAX, fminf(WEIGHT_MAX, u));
    return (int16_t)u;
}

void build_count(struct model_data *m, const struct vector *v, bool is_spam, int by)
{
    for (size_t i = 0; i < v->n; i++) {
        uint16_t *seen = &m->seen[(v->term[i] & VECTOR_HASH_MASK) % MODEL_SEEN][is_spam];
        if (by > 0 ? *seen < SEEN_MAX : *seen > 0) {
            *seen = (uint16_t)(*seen + by);
        }
    }
}

void build_publish_terms(const struct ftrl *f, const struct vector *v,
                         struct model_data *m)
{
    for (size_t i = 0; i < v->n; i++) {
        uint32_t hash = v->term[i] & VECTOR_HASH_MASK;
        m->weight[hash] = unit_weight(ftrl_weight(f, hash));
    }
    m->head.bias = ftrl_bias(f);
}

enum err build_publish(const struct ftrl *f, const struct store *s,
                       struct model_data *m)
{
    struct arena *scratch = arena_new(SCRATCH);
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < FTRL_WEIGHTS; i++) {
        m->weight[i] = unit_weight(ftrl_weight(f, i));
    }
    memset(m->seen, 0, sizeof(m->seen));
    m->head.bias = ftrl_bias(f);
    m->head.nspam = 0;
    m->head.nham = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        struct vector v;
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            build_count(m, &v, k->is_spam, 1);
        }
        arena_reset(scratch);
    }
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        m->head.kind[k].nham = s->count[k][0];
        m->head.kind[k].nspam = s->count[k][1];
        m->head.nham += s->count[k][0];
        m->head.nspam += s->count[k][1];
    }
    m->head.applied = s->applied;
    arena_free(&scratch);
    return ERR_OK;
}

/* ---- thresholds ---- */

static enum err score_fold(struct ftrl *f, const struct model_data *m, struct store *s,
                           unsigned fold)
{
    struct arena *scratch = arena_new(SCRATCH);
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    build_prior(f, m);
    enum err e = learn_store(f, s, (int)fold);
    for (size_t i = 0; e == ERR_OK && i < s->n; i++) {
        struct kept *k = &s->kept[i];
        struct vector v;
        if (fold_of(i) == fold &&
            vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            k->margin = ftrl_margin(f, &v);
            k->odds = (float)odds_of(m, &v, k->is_spam ? ODDS_OF_SPAM : ODDS_OF_HAM);
        }
        arena_reset(scratch);
    }
    arena_free(&scratch);
    return e;
}

static void set_threshold(struct model_kind *k, float *margin, float *odds, size_t n,
                          double rate)
{
    k->window = (uint32_t)n;
    k->threshold = quantile_threshold(margin, n, rate);
    k->doubt = quantile_threshold(margin, n, doubt_rate);
    size_t above = 0;
    for (size_t i = 0; i < n; i++) {
        above += margin[i] > k->threshold;
    }
    k->rate = (float)quantile_bound(above, n);
    (void)quantile_threshold(odds, n, rate); /* sorts */
    k->odds = quantile_of(odds, n, 0.5);
}

/* Thresholds of the ham that is of this kind, or of all for VECTOR_KINDS. */
static void measure(const struct store *s, unsigned kind, double rate,
                    struct model_kind *ret)
{
    float *margin = malloc((s->n + 1) * sizeof(*margin));
    float *odds = malloc((s->n + 1) * sizeof(*odds));
    size_t n = 0;
    ret->window = 0;
    for (size_t i = 0; margin != NULL && odds != NULL && i < s->n; i++) {
        if (!s->kept[i].is_spam && (kind == VECTOR_KINDS || s->kept[i].kind == kind)) {
            margin[n] = s->kept[i].margin;
            odds[n++] = s->kept[i].odds;
        }
    }
    if (n >= MODEL_LEAST) {
        set_threshold(ret, margin, odds, n, rate);
    }
    free(margin);
    free(odds);
}

enum err build_thresholds(const struct model_data *m, struct store *s, double rate,
                          struct thresholds *ret)
{
    struct ftrl f;
    struct model_kind all = {.window = 0};
    enum err e = ftrl_init(&f);
    memset(ret, 0, sizeof(*ret));
    for (unsigned fold = 0; e == ERR_OK && fold < LEARNER_FOLDS; fold++) {
        e = score_fold(&f, m, s, fold);
    }
    for (unsigned kind = 0; e == ERR_OK && kind < VECTOR_KINDS; kind++) {
        measure(s, kind, rate, &ret->kind[kind]);
    }
    measure(s, VECTOR_KINDS, rate, &all);
    ret->doubt = all.doubt;
    ret->sure = all.threshold;
    ftrl_fini(&f);
    return e;
}

void build_set_thresholds(struct model_data *m, const struct thresholds *t)
{
    for (unsigned kind = 0; kind < VECTOR_KINDS; kind++) {
        struct model_kind *k = &m->head.kind[kind];
        struct model_kind set = t->kind[kind];
        set.nspam = k->nspam;
        set.nham = k->nham;
        *k = set;
    }
    m->head.doubt = t->doubt;
    m->head.sure = t->sure;
}
