#include "core/config/user_thresholds.h"

#include <math.h>

void user_thresholds_begin(struct user_thresholds *t, const struct config *c)
{
    *t = (struct user_thresholds){.factor = 1};
    memcpy(t->score, c->threshold, sizeof(t->score));
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        t->is_scaled[a] = true;
    }
}

void user_thresholds_level(struct user_thresholds *t)
{
    memset(t->is_own, 0, sizeof(t->is_own));
}

void user_thresholds_take(struct user_thresholds *t, const struct user_setting *s)
{
    if (s->key == USER_THRESHOLD) {
        t->score[s->action] = s->number;
        t->is_scaled[s->action] = false;
        t->is_own[s->action] = true;
    } else if (s->key == USER_SENSITIVITY) {
        t->factor = s->number;
        for (unsigned a = 0; a < ACTION_COUNT; a++) {
            t->is_scaled[a] = !t->is_own[a];
        }
    }
}

void user_thresholds_take_words(struct user_thresholds *t, struct slice words)
{
    while (words.p != NULL) {
        struct user_setting s;
        if (user_setting_parse(slice_cut(&words, ' '), &s, NULL) == ERR_OK) {
            user_thresholds_take(t, &s);
        }
    }
}

void user_thresholds_get(const struct user_thresholds *t, double ret[ACTION_COUNT])
{
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        ret[a] = t->score[a] * (t->is_scaled[a] ? t->factor : 1);
    }
}

enum err user_thresholds_check(const struct user_thresholds *t, struct errinfo *reterr)
{
    double threshold[ACTION_COUNT];

    user_thresholds_get(t, threshold);
    return thresholds_check_order(threshold, t->is_own, reterr);
}

enum err thresholds_check_order(const double threshold[ACTION_COUNT],
                                const bool is_own[ACTION_COUNT], struct errinfo *reterr)
{
    for (unsigned a = ACTION_HEADER + 1; a < ACTION_COUNT; a++) {
        for (unsigned milder = ACTION_HEADER; milder < a; milder++) {
            if ((is_own[a] || is_own[milder]) && isfinite(threshold[milder]) &&
                threshold[a] < threshold[milder]) {
                return errinfo_set(
                    reterr, ERR_RANGE, "", 0,
                    "thresholds.%s: %g is below thresholds.%s (%g), which would never "
                    "apply; let the scores rise with the harshness, or set "
                    "thresholds.%s=off",
                    action_name((enum action)a), threshold[a],
                    action_name((enum action)milder), threshold[milder],
                    action_name((enum action)milder));
            }
        }
    }
    return ERR_OK;
}
