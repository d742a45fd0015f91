/* unknown_url - URLs that no list knows, as the model of URLs rates them by their text. */
#include "core/verdict/verdict_internal.h"

enum { DETAIL_MAX = 256, DETAIL_URL_MAX = 160 };

static bool is_about(const struct list_hit *hit, struct slice url)
{
    struct slice host = url_vector_host(url);

    return slice_has_prefix(slice_str(feature_type_name(hit->report_type)),
                            SLICE_LIT("url")) &&
           (slice_is_at_or_below(host, hit->value) ||
            (slice_find(hit->value, '/') < hit->value.n &&
             slice_has_prefix(url, hit->value)));
}

static bool is_protected(const struct config_strings *names, struct slice host)
{
    for (size_t i = 0; i < names->n; i++) {
        if (slice_is_at_or_below(host, slice_str(names->v[i]))) {
            return true;
        }
    }
    return false;
}

/* A list has an opinion of it, even that of a person who revoked it; or the configuration has. */
static bool list_has_opinion(const struct judging *j, struct slice url)
{
    for (size_t i = 0; i < j->hits->n; i++) {
        const struct list_hit *hit = &j->hits->v[i];
        if (hit->answer != LIST_NO && hit->answer != LIST_FALSE_POSITIVE &&
            is_about(hit, url)) {
            return true;
        }
    }
    return is_protected(&j->facts.config->protected_domains, url_vector_host(url));
}

/* The link leads to the sender's own domain, and the sender proved that it is. */
static bool is_aligned(const struct judging *j, struct slice url)
{
    struct slice domain = SLICE_NONE;

    return allow_proved_from(&j->facts, &domain) &&
           url_vector_is_same_site(url_vector_host(url), domain);
}

static enum model_rating rating_of(const struct judging *j, const struct model_url *url)
{
    enum model_rating rating = model_url_rating(url->score);

    if (url->text.n == 0 || rating == MODEL_CLEAN || list_has_opinion(j, url->text)) {
        return MODEL_CLEAN;
    }
    return is_aligned(j, url->text) ? MODEL_SUSPICIOUS : rating;
}

static void add_url_symbol(struct judging *j, enum model_rating rating,
                           const struct model_url *url)
{
    double score = rating == MODEL_MALICIOUS ? j->facts.config->model.url_score : 0;
    struct slice shown = slice_head(url->text, DETAIL_URL_MAX);
    char text[DETAIL_MAX];

    if (j->v->nsymbols == VERDICT_SYMBOLS_MAX) {
        return;
    }
    (void)snprintf(text, sizeof(text), "%.2f, url=%.*s%s", url->score,
                   SLICE_ARGS(shown), shown.n < url->text.n ? "..." : "");
    verdict_add_symbol(j->v, "ML_",
                       rating == MODEL_MALICIOUS ? "DETECTED_MALICIOUS" : "SUSPICIOUS",
                       score, arena_copy(j->arena, slice_str(text)));
    j->v->symbols[j->v->nsymbols - 1].kind = SYMBOL_UNSURE;
    j->unsure += score;
}

void unknown_url_judge(struct judging *j)
{
    const struct model_answer *a = j->facts.context->model;
    enum model_rating worst = MODEL_CLEAN;
    const struct model_url *of = NULL;

    for (size_t i = 0; a != NULL && j->facts.config->model.urls && i < a->nurls; i++) {
        enum model_rating rating = rating_of(j, &a->url[i]);
        if (rating == MODEL_MALICIOUS) {
            j->v->malicious[j->v->nmalicious++] = a->url[i].text;
        }
        if (rating > worst) {
            worst = rating;
            of = &a->url[i];
        }
    }
    if (of != NULL) {
        add_url_symbol(j, worst, of);
    }
}
