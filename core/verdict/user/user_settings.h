/*
 * user_settings - the settings in force for one recipient: site, domain and user merged.
 *
 * Private to this room.   Threads: pure.   Allocates: nothing; texts are borrowed.
 */
#ifndef CORE_VERDICT_USER_USER_SETTINGS_H
#define CORE_VERDICT_USER_USER_SETTINGS_H

#include "core/config/user_thresholds.h"
#include "core/verdict/allow.h"

enum { USER_CHANGES_MAX = 64 /* rules and lists that one recipient changes */ };

enum user_sender { USER_SENDER_NEUTRAL, USER_SENDER_ALLOWED, USER_SENDER_BLOCKED };
enum user_flag { USER_FLAG_UNSET, USER_FLAG_NO, USER_FLAG_YES };

/* What one recipient changes of a rule or a list. */
struct user_change {
    bool is_list;
    struct slice name;
    bool has_score;
    double score;
    enum user_flag shadow;
    enum user_flag enabled;
};

struct user_settings {
    struct user_thresholds thresholds;
    double threshold[ACTION_COUNT]; /* in force, after user_settings_end */
    size_t nchanges;
    struct user_change changes[USER_CHANGES_MAX];
    enum user_sender sender;
    struct slice value; /* of the sender that decided */
    bool is_damaged;    /* something in it could not be read: all may be milder */
};

/* The site's. */
void user_settings_begin(struct user_settings *s, const struct config *config);
/* Adds one level: the words of the compiled file, then those of a group of the configuration (NULL:
 * none). Less specific levels come first. */
void user_settings_take(struct user_settings *s, const struct allow_case *message,
                        struct slice words, const struct config_strings *set);
/* After the last level. */
void user_settings_end(struct user_settings *s);

/* The score of a symbol for this recipient. */
double user_settings_score(const struct user_settings *s, const struct config *config,
                           const struct symbol *symbol);

#endif
