/* model_url - the model of URLs: the score of a URL, and the term that it gives its message. */
#include <math.h>

#include "core/learn/model.h"
#include "core/learn/odds.h"

static const double margin_full = 3; /* as of messages (model.c) */
static const double odds_full = 1;
static const double share_begin = 0.1;

enum model_rating model_url_rating(double score)
{
    if (score >= MODEL_URL_MALICIOUS) {
        return MODEL_MALICIOUS;
    }
    return score > MODEL_URL_SUSPICIOUS ? MODEL_SUSPICIOUS : MODEL_CLEAN;
}

static double margin_of(const struct model_data *m, const struct vector *url)
{
    float value[VECTOR_BLOCKS];
    double sum = 0;

    ftrl_values(url, value);
    for (size_t i = 0; i < url->n; i++) {
        uint32_t hash = url->term[i] & (URL_VECTOR_HASHES - 1);
        sum += (double)m->url_weight[hash] / MODEL_UNIT *
               (double)value[url->term[i] >> VECTOR_HASH_BITS];
    }
    return sum;
}

/* The share of ham at which model_score gives its full score, so that at `wanted` it gives
 * MODEL_URL_MALICIOUS of it. */
static double full_share(double wanted)
{
    return share_begin * pow(wanted / share_begin, 1 / MODEL_URL_MALICIOUS);
}

static double score_of(const struct model_data *m, const struct model_options *options,
                       const struct vector *url, double margin)
{
    const struct model_kind *k = &m->head.urls;
    double rare = full_share(options->url_false_positives);

    if (!(margin > 0) || k->nspam < MODEL_LEAST || k->nham < MODEL_LEAST) {
        return 0; /* the second opinion can only take away */
    }
    double odds = odds_of(m->url_seen, m->head.urls_counted, url);
    double first =
        model_score(margin, margin_full, model_share(&k->window, margin), rare);
    double second = model_score(odds, odds_full, model_share(&k->odds, odds), rare);
    return sqrt(first * second) / MODEL_FULL_SCORE;
}

void model_judge_urls(const struct model_data *m, const struct model_options *options,
                      struct vector *v, uint32_t *room, struct model_answer *ret)
{
    static const char *const term[] = {NULL, "url-suspicious", "url-malicious"};
    double worst = 0;

    ret->nurls = v->nurls;
    for (size_t i = 0; i < v->nurls; i++) {
        double margin = margin_of(m, &v->url[i]);
        double score = score_of(m, options, &v->url[i], margin);
        ret->url[i] = (struct model_url){v->url[i].text, score, margin};
        worst = fmax(worst, score);
    }
    enum model_rating rating = model_url_rating(worst);
    if (rating == MODEL_CLEAN || v->n >= VECTOR_TERMS) {
        return;
    }
    memcpy(room, v->term, v->n * sizeof(*room));
    room[v->n++] = (uint32_t)VECTOR_SIGN << VECTOR_HASH_BITS |
                   vector_hash(VECTOR_SIGN, slice_str(term[rating]));
    v->count[VECTOR_SIGN]++;
    v->term = room;
}
