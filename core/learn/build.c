#include "core/learn/build.h"

#include <math.h>

#include "core/base/pages.h"
#include "core/base/prng.h"
#include "core/learn/odds.h"

enum { SCRATCH = 64 << 10, WEIGHT_MAX = 32767, NO_FOLD = -1, BALANCE_MAX = 10 };

static const float odds_reports =
    10.0F / 6.0F; /* a report weighs more in the second opinion */

static void take_prior(struct ftrl *f, const struct model_data *m)
{
    ftrl_clear(f);
    for (uint32_t i = 0; i < FTRL_WEIGHTS; i++) {
        if (m->prior[i] != 0) {
            ftrl_set(f, i, (float)m->prior[i] * m->prior_unit);
        }
    }
}

/* Mail of one sender or list is in one fold: the next newsletter is of a sender not yet known. */
static unsigned fold_of(uint16_t group)
{
    return (unsigned)((group * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % LEARNER_FOLDS;
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

/* URLs go by their own domain, messages by their sender. */
static void learn_but(struct weights *w, const struct kept *k, const struct vector *v,
                      float weight, int without)
{
    if (without == NO_FOLD || fold_of(k->group) != (unsigned)without) {
        (void)ftrl_learn(&w->messages, v, k->is_spam, weight);
    }
    for (size_t i = 0; i < v->nurls; i++) {
        if (without == NO_FOLD || fold_of(v->url[i].group) != (unsigned)without) {
            (void)ftrl_learn(&w->urls, &v->url[i], k->is_spam, weight);
        }
    }
}

static enum err learn_store(struct weights *w, const struct store *s, int without)
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
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            learn_but(w, k, &v, k->weight * weight[k->is_spam], without);
        }
        arena_reset(scratch);
    }
    free(order);
    arena_free(&scratch);
    return e;
}

static enum err learn_prior_and_store(struct weights *w, const struct model_data *m,
                                      const struct store *s, int without)
{
    take_prior(&w->messages, m);
    memset(w->urls.pair, 0, URL_VECTOR_HASHES * sizeof(*w->urls.pair));
    return learn_store(w, s, without);
}

enum err build_weights(struct weights *w, const struct model_data *m,
                       const struct store *s)
{
    return learn_prior_and_store(w, m, s, NO_FOLD);
}

enum err weights_init(struct weights *w)
{
    *w = (struct weights){.messages = {NULL}};
    enum err e = ftrl_init(&w->messages);
    THEN(e, ftrl_init(&w->urls));
    return e;
}

void weights_fini(struct weights *w)
{
    ftrl_fini(&w->messages);
    ftrl_fini(&w->urls);
}

void weights_learn(struct weights *w, const struct vector *v, bool is_spam,
                   float weight)
{
    const struct kept k = {.is_spam = is_spam};
    learn_but(w, &k, v, weight, NO_FOLD);
}

static int16_t unit_weight(float w)
{
    float u = roundf(w * MODEL_UNIT);
    u = fmaxf(-WEIGHT_MAX, fminf(WEIGHT_MAX, u));
    return (int16_t)u;
}

static float odds_weight(float weight)
{
    return weight > 1 ? weight * odds_reports : weight;
}

static void publish_terms(const struct ftrl *f, const struct vector *v, uint32_t mask,
                          int16_t *weight)
{
    for (size_t i = 0; i < v->n; i++) {
        uint32_t hash = v->term[i] & mask;
        weight[hash] = unit_weight(ftrl_weight(f, hash));
    }
}

void build_publish_terms(const struct weights *w, const struct vector *v,
                         struct model_data *m)
{
    publish_terms(&w->messages, v, VECTOR_HASH_MASK, m->weight);
    for (size_t i = 0; i < v->nurls; i++) {
        publish_terms(&w->urls, &v->url[i], URL_VECTOR_HASHES - 1, m->url_weight);
    }
}

void build_count(struct model_data *m, const struct vector *v, bool is_spam,
                 float weight)
{
    struct model_kind *urls = &m->head.urls;
    odds_count(m->seen, m->head.counted, v, is_spam, odds_weight(weight));
    for (size_t i = 0; i < v->nurls; i++) {
        odds_count(m->url_seen, m->head.urls_counted, &v->url[i], is_spam,
                   odds_weight(weight));
    }
    *(is_spam ? &urls->nspam : &urls->nham) += (uint32_t)v->nurls;
}

enum err build_publish(const struct weights *w, const struct store *s,
                       struct model_data *m)
{
    struct arena *scratch = arena_new(SCRATCH);
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < FTRL_WEIGHTS; i++) {
        int16_t weight = unit_weight(ftrl_weight(&w->messages, i));
        /* a page of zeros takes no memory until it is written */
        if (m->weight[i] != weight) {
            m->weight[i] = weight;
        }
    }
    for (uint32_t i = 0; i < URL_VECTOR_HASHES; i++) {
        m->url_weight[i] = unit_weight(ftrl_weight(&w->urls, i));
    }
    memset(m->seen, 0, sizeof(m->seen));
    memset(m->url_seen, 0, sizeof(m->url_seen));
    memset(m->head.counted, 0, sizeof(m->head.counted));
    memset(m->head.urls_counted, 0, sizeof(m->head.urls_counted));
    m->head.urls.nspam = 0;
    m->head.urls.nham = 0;
    m->head.nspam = 0;
    m->head.nham = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        struct vector v;
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            build_count(m, &v, k->is_spam, k->weight);
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

/* Models that did not learn one fold, and their scores of its examples. */
struct calibration {
    struct weights weights;
    struct model_seen *seen;
    struct model_seen *url_seen;
    float counted[2];
    float urls_counted[2];
    float *margin; /* scratch, for all ham of a kind */
    float *odds;
    size_t nurls; /* ham URLs that were scored */
    float *url_margin;
    float *url_odds;
};

static void count_but(struct calibration *c, const struct kept *k,
                      const struct vector *v, unsigned fold)
{
    float weight = odds_weight(k->weight);
    if (fold_of(k->group) != fold) {
        odds_count(c->seen, c->counted, v, k->is_spam, weight);
    }
    for (size_t i = 0; i < v->nurls; i++) {
        if (fold_of(v->url[i].group) != fold) {
            odds_count(c->url_seen, c->urls_counted, &v->url[i], k->is_spam, weight);
        }
    }
}

/* A reporter who has earned no trust cannot raise a threshold by calling spam ham. */
static bool is_surely_ham(const struct kept *k)
{
    return !k->is_spam && !kept_is_unproved(k);
}

static void score_one(struct calibration *c, struct kept *k, const struct vector *v,
                      unsigned fold)
{
    if (fold_of(k->group) == fold) {
        k->margin = ftrl_margin(&c->weights.messages, v);
        k->odds = (float)odds_of(c->seen, c->counted, v);
    }
    for (size_t i = 0; i < v->nurls && is_surely_ham(k); i++) {
        if (fold_of(v->url[i].group) == fold) {
            c->url_margin[c->nurls] = ftrl_margin(&c->weights.urls, &v->url[i]);
            c->url_odds[c->nurls++] =
                (float)odds_of(c->url_seen, c->urls_counted, &v->url[i]);
        }
    }
}

static enum err score_fold(struct calibration *c, const struct model_data *m,
                           struct store *s, unsigned fold)
{
    struct arena *scratch = arena_new(SCRATCH);
    enum err e = scratch != NULL ? learn_prior_and_store(&c->weights, m, s, (int)fold)
                                 : ERR_NOMEM;

    memset(c->seen, 0, MODEL_SEEN * sizeof(*c->seen));
    memset(c->url_seen, 0, URL_VECTOR_HASHES * sizeof(*c->url_seen));
    memset(c->counted, 0, sizeof(c->counted));
    memset(c->urls_counted, 0, sizeof(c->urls_counted));
    for (size_t i = 0; e == ERR_OK && i < 2 * s->n; i++) {
        struct kept *k = &s->kept[i % s->n];
        struct vector v;
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) != ERR_OK) {
            /* a damaged example is no ham */
        } else if (i < s->n) {
            count_but(c, k, &v, fold);
        } else {
            score_one(c, k, &v, fold);
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

static void fill_windows(struct calibration *c, const struct store *s,
                         struct model_kind ret[VECTOR_KINDS + 1])
{
    for (unsigned kind = 0; kind < VECTOR_KINDS; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++) {
            if (s->kept[i].kind == kind && is_surely_ham(&s->kept[i])) {
                c->margin[n] = s->kept[i].margin;
                c->odds[n++] = s->kept[i].odds;
            }
        }
        fill_window(&ret[kind].window, c->margin, n);
        fill_window(&ret[kind].odds, c->odds, n);
    }
    fill_window(&ret[VECTOR_KINDS].window, c->url_margin, c->nurls);
    fill_window(&ret[VECTOR_KINDS].odds, c->url_odds, c->nurls);
}

static enum err calibration_init(struct calibration *c, size_t n)
{
    *c = (struct calibration){.nurls = 0};
    enum err e = weights_init(&c->weights);
    c->margin = malloc((n + 1) * sizeof(float));
    c->odds = malloc((n + 1) * sizeof(float));
    c->url_margin = malloc((VECTOR_URLS * n + 1) * sizeof(float));
    c->url_odds = malloc((VECTOR_URLS * n + 1) * sizeof(float));
    c->seen = pages_new(MODEL_SEEN * sizeof(struct model_seen));
    c->url_seen = pages_new(URL_VECTOR_HASHES * sizeof(struct model_seen));
    bool has_all = c->margin != NULL && c->odds != NULL && c->url_margin != NULL &&
                   c->url_odds != NULL && c->seen != NULL && c->url_seen != NULL;
    return has_all ? e : ERR_NOMEM;
}

static void calibration_fini(struct calibration *c)
{
    weights_fini(&c->weights);
    free(c->margin);
    free(c->odds);
    free(c->url_margin);
    free(c->url_odds);
    pages_free(c->seen, MODEL_SEEN * sizeof(struct model_seen));
    pages_free(c->url_seen, URL_VECTOR_HASHES * sizeof(struct model_seen));
}

enum err build_windows(const struct model_data *m, struct store *s,
                       struct model_kind ret[VECTOR_KINDS + 1])
{
    struct calibration c;
    enum err e = calibration_init(&c, s->n);
    for (unsigned fold = 0; e == ERR_OK && s->n > 0 && fold < LEARNER_FOLDS; fold++) {
        e = score_fold(&c, m, s, fold);
    }
    if (e == ERR_OK) {
        fill_windows(&c, s, ret);
    }
    calibration_fini(&c);
    return e;
}
