/*
 * user_thresholds - the thresholds of one recipient: of the site, his domain and himself, and
 * whether they rise with the harshness of the actions.
 *
 * Levels come from the least specific to the most specific. The sensitivity of a level is a factor
 * on the thresholds of the levels before it; the last one is in force.
 * Threads: pure.   Allocates: nothing.   ADR 0066.
 */
#ifndef CORE_CONFIG_USER_THRESHOLDS_H
#define CORE_CONFIG_USER_THRESHOLDS_H

#include "core/config/user_setting.h"

struct user_thresholds {
    double score[ACTION_COUNT];   /* without the factor */
    bool is_scaled[ACTION_COUNT]; /* the factor applies to it */
    bool is_own[ACTION_COUNT];    /* the last level set it */
    double factor;
};

/* Those of the site. */
void user_thresholds_begin(struct user_thresholds *t, const struct config *c);
/* The settings that come next are of a more specific level. */
void user_thresholds_level(struct user_thresholds *t);
/* USER_SENSITIVITY and USER_THRESHOLD; others change nothing. */
void user_thresholds_take(struct user_thresholds *t, const struct user_setting *s);
/* The same of words with blanks between; those that cannot be read are passed over. */
void user_thresholds_take_words(struct user_thresholds *t, struct slice words);
void user_thresholds_get(const struct user_thresholds *t, double ret[ACTION_COUNT]);
/* ERR_RANGE: a threshold of the last level hides another, or is hidden. */
enum err user_thresholds_check(const struct user_thresholds *t, struct errinfo *reterr);

/* Those that a name inherits: of the site, of the words of its domain, and of the domain's group in
 * the configuration. The next settings are its own. */
void config_users_thresholds(const struct config *c, const char *name,
                             struct slice words, struct user_thresholds *ret);

/* ERR_RANGE: a threshold is below that of a milder action, which would never apply. Pairs of which
 * none is_own are passed over. */
enum err thresholds_check_order(const double threshold[ACTION_COUNT],
                                const bool is_own[ACTION_COUNT],
                                struct errinfo *reterr);

#endif
