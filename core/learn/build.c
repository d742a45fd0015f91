#include "core/learn/build.h"

#include <math.h>

#include "core/base/pages.h"
#include "core/base/prng.h"
#include "core/learn/odds.h"

enum { SCRATCH = 64 << 10, WEIGHT_MAX = 32767, NO_FOLD = -1, BALANCE_MAX = 10 };

static const float odds_reports =
    10.0F / 6.0F; /* a report weighs more in the second opinion */

void build_prior(struct ftrl *f, const struct model_data *m)
{
    ftrl_clear(f);
    for (uint32_t i = 0; i < FTRL_WEIGHTS; i++) {
        if (m->prior[i] != 0) {
            ftrl_set(f, i, (float)m->prior[i] * m->prior_unit);
        }
    }
}

/* Mail of one sender or list is in one fold: the next newsletter is of a sender not yet known. */
static unsigned fold_of(const struct kept *k)
{
    return (unsigned)((k->group * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % LEARNER_FOLDS;
}

/* How much a message of each class weighs, so that both weigh the same together. */
static void class_weights(const struct store *s, float ret[2])
{
    double sum[2] = {0, 0};
    for (size_t i = 0; i < s->n; i++) {
        sum[s->kept[i].is_spam] += (double)s->kept[i].weight;
    }
    for (unsigned c = 0; c < 2; c++) {
        double share = sum[c] > 0 ? (sum[0] + sum[1]) / 2 / sum[c] : 1;
        ret[c] = (float)fmin(share, BALANCE_MAX);
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
        if (without != NO_FOLD && fold_of(k) == (unsigned)without) {
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

enum err build_weights(struct ftrl *f, const struct model_data *m,
                       const struct store *s)
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

float build_odds_weight(float weight)
{
    return weight > 1 ? weight * odds_reports : weight;
}

void build_publish_terms(const struct ftrl *f, const struct vector *v,
                         struct model_data *m)
{
    for (size_t i = 0; i < v->n; i++) {
        uint32_t hash = v->term[i] & VECTOR_HASH_MASK;
        m->weight[hash] = unit_weight(ftrl_weight(f, hash));
    }
}

enum err build_publish(const struct ftrl *f, const struct store *s,
                       struct model_data *m)
{
    struct arena *scratch = arena_new(SCRATCH);
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < FTRL_WEIGHTS; i++) {
        int16_t weight = unit_weight(ftrl_weight(f, i));
        /* a page of zeros takes no memory until it is written */
        if (m->weight[i] != weight) {
            m->weight[i] = weight;
        }
    }
    memset(m->seen, 0, sizeof(m->seen));
    memset(m->head.counted, 0, sizeof(m->head.counted));
    m->head.nspam = 0;
    m->head.nham = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        struct vector v;
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            odds_count(m->seen, m->head.counted, &v, k->is_spam,
                       build_odds_weight(k->weight));
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

/* ---- windows ---- */

/* Counters of all examples but those of the fold. */
static void count_others(const struct store *s, unsigned fold, struct arena *scratch,
                         struct model_seen *seen, float counted[2])
{
    memset(seen, 0, MODEL_SEEN * sizeof(*seen));
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        struct vector v;
        if (fold_of(k) != fold &&
            vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            odds_count(seen, counted, &v, k->is_spam, build_odds_weight(k->weight));
        }
        arena_reset(scratch);
    }
}

static enum err score_fold(struct ftrl *f, const struct model_data *m, struct store *s,
                           unsigned fold, struct model_seen *seen)
{
    float counted[2] = {0, 0};
    struct arena *scratch = arena_new(SCRATCH);
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    build_prior(f, m);
    enum err e = learn_store(f, s, (int)fold);
    count_others(s, fold, scratch, seen, counted);
    for (size_t i = 0; e == ERR_OK && i < s->n; i++) {
        struct kept *k = &s->kept[i];
        struct vector v;
        if (fold_of(k) == fold &&
            vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            k->margin = ftrl_margin(f, &v);
            k->odds = (float)odds_of(seen, counted, &v);
        }
        arena_reset(scratch);
    }
    arena_free(&scratch);
    return e;
}

static int falling(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;
    return (left < right) - (left > right);
}

static void fill_window(struct model_window *w, float *value, size_t n)
{
    qsort(value, n, sizeof(*value), falling);
    w->n = (uint32_t)n;
    w->kept = (uint32_t)(n < MODEL_TAIL ? n : MODEL_TAIL);
    memcpy(w->tail, value, w->kept * sizeof(*value));
}

/* A reporter who has earned no trust cannot raise a threshold by calling spam ham. */
static bool is_surely_ham(const struct kept *k)
{
    return !k->is_spam && !kept_is_unproved(k);
}

enum err build_windows(const struct model_data *m, struct store *s,
                       struct model_kind ret[VECTOR_KINDS])
{
    struct ftrl f;
    float *margin = malloc((s->n + 1) * sizeof(*margin));
    float *odds = malloc((s->n + 1) * sizeof(*odds));
    struct model_seen *seen = pages_new(MODEL_SEEN * sizeof(*seen));
    enum err e = ftrl_init(&f);
    if (margin == NULL || odds == NULL || seen == NULL) {
        e = ERR_NOMEM;
    }
    for (unsigned fold = 0; e == ERR_OK && s->n > 0 && fold < LEARNER_FOLDS; fold++) {
        e = score_fold(&f, m, s, fold, seen);
    }
    for (unsigned kind = 0; e == ERR_OK && kind < VECTOR_KINDS; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++) {
            if (s->kept[i].kind == kind && is_surely_ham(&s->kept[i])) {
                margin[n] = s->kept[i].margin;
                odds[n++] = s->kept[i].odds;
            }
        }
        fill_window(&ret[kind].window, margin, n);
        fill_window(&ret[kind].odds, odds, n);
    }
    free(margin);
    free(odds);
    pages_free(seen, MODEL_SEEN * sizeof(*seen));
    ftrl_fini(&f);
    return e;
}
