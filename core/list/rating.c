/*
 * rating - the table of ratings, and the strongest rating of the lists' answers.
 */
#include "core/list/rating.h"

static const struct {
    const char *name;
    bool is_given;
    const char *when;
} table[RATING_COUNT] = {
#define RATING(name, is_given, when) {#name, is_given, when},
#include "core/list/rating.def"
#undef RATING
};

const char *rating_name(enum rating s)
{
    return table[s].name;
}

const char *rating_when(enum rating s)
{
    return table[s].when;
}

bool rating_is_given(enum rating s)
{
    return table[s].is_given;
}

/* Laplace: the chance of the next success after these. */
static double succession(uint64_t successes, uint64_t failures)
{
    return ((double)successes + 1) / ((double)successes + (double)failures + 2);
}

struct rating_sum rating_begin(size_t nasked, size_t nlists)
{
    double share = nlists == 0 ? 1.0 : (double)nasked / (double)nlists;
    return (struct rating_sum){.now = RATING_CLEAN, .confidence = share, .doubt = 1.0};
}

static void raise(struct rating_sum *s, enum rating to, double confidence)
{
    if (to > s->now || (to == s->now && confidence > s->confidence)) {
        s->now = to;
        s->confidence = confidence;
    }
}

static void add_confirmed(struct rating_sum *s, const struct rating_input *v)
{
    double own = v->is_explicit ? 1.0 : succession(v->listed, v->revoked);
    if (s->lists == 0 || v->list != s->list) {
        s->doubt *= 1.0 - s->last;
        s->last = own;
        s->score += s->last_score;
        s->last_score = 0;
        s->list = v->list;
        s->lists++;
    } else if (own > s->last) {
        s->last = own;
    }
    s->last_score = v->weight > s->last_score ? v->weight : s->last_score;
    double all = 1.0 - s->doubt * (1.0 - s->last);
    bool is_known = v->is_explicit || s->lists > 1;
    raise(s, is_known ? RATING_KNOWN_MALICIOUS : RATING_MALICIOUS, all);
}

void rating_add(struct rating_sum *s, const struct rating_input *v)
{
    bool is_possible = v->answer == LIST_POSSIBLE || v->answer == LIST_UNVERIFIED;
    if (v->answer == LIST_NO || v->answer == LIST_REVOKED) {
        return;
    }
    if (v->is_allow) {
        s->is_allowed = s->is_allowed || v->answer == LIST_CONFIRMED;
        return;
    }
    if (v->answer == LIST_FALSE_POSITIVE) {
        raise(s, RATING_FALSE_POSITIVE, s->confidence);
    } else if (is_possible) {
        raise(s, RATING_SUSPICIOUS, succession(v->confirmed, v->false_positives));
    } else if (v->is_shadow) {
        raise(s, RATING_SUSPICIOUS,
              v->is_explicit ? 1.0 : succession(v->listed, v->revoked));
    } else if (v->is_learnt && !v->is_explicit) {
        double own = succession(v->listed, v->revoked);
        s->learnt = own > s->learnt ? own : s->learnt;
    } else {
        add_confirmed(s, v);
    }
}

void rating_allow(struct rating_sum *s)
{
    s->is_allowed = true;
}

struct rating_result rating_end(const struct rating_sum *s, const struct config *config)
{
    double score = s->score + s->last_score;
    bool is_learnt = s->learnt > 0 && s->lists == 0;
    bool is_enough = config_action(config, score) != ACTION_ACCEPT;

    return (struct rating_result){.rating =
                                      is_learnt ? RATING_ML_DETECTED_MALICIOUS : s->now,
                                  .requires_blocking = is_enough && !s->is_allowed,
                                  .confidence = is_learnt ? s->learnt : s->confidence};
}
