/*
 * user_verdict - whose settings judge a message: those of the site, its domain or its recipient.
 *
 * A setting of the user wins over one of the domain, and that over the site's. They change
 * thresholds (each by itself, or all by `sensitivity`), the scores of rules and lists, and who may
 * write (allow) or may not (block). A sender in allow needs the same proof as in allow.addresses of
 * the site. One that is blocked gets the symbol BLOCK with block_score. The more specific level
 * decides about a sender; within a level addresses come before domains and allow before block.
 * The verdict is made once, for the site; its symbols and thresholds are looked at again for each
 * recipient with settings of its own. If all agree, theirs is the verdict. If they disagree, the
 * message gets the mildest of their actions that lose or delay mail, else the mark that the site's
 * settings give it, and the symbol RECIPIENTS_DISAGREE; X-Gillnet-Score has the site's score, so
 * that a filter of the user (Sieve) can file by a threshold of its own. No text names a recipient.
 * A recipient whose settings are not known (more than USER_RECIPIENTS_MAX, a damaged entry) counts
 * as one who accepts the message: that never loses mail.
 * Files in reading order: user_table (the compiled file), user_settings (the levels merged),
 * user_verdict (the judgement), user_file (the text, its check and its compilation), user_change
 * (one name).
 * Example of a change: another setting is a row of `known` in core/config/user_setting.c, and its
 * case in user_settings_take.
 * Depends: base, config, feature, store, verdict.   Threads: any.   ADR 0066.
 */
#ifndef CORE_VERDICT_USER_USER_VERDICT_H
#define CORE_VERDICT_USER_USER_VERDICT_H

#include "core/verdict/user/user_table.h"
#include "core/verdict/verdict.h"

enum {
    USER_RECIPIENTS_MAX = 64 /* with settings of their own, of one message */
};

struct user_case {
    const struct config *config;
    struct users *users; /* NULL: only those of the configuration */
    const struct featureset *features;
    const struct verdict_context *context;
    const struct slice *rcpt; /* normalised */
    size_t nrcpt;
    uint64_t nall; /* recipients, also those that are not in rcpt */
    struct arena *arena;
};

/* Changes the verdict to that of the recipients. Does nothing when none has settings. */
void users_judge(const struct user_case *c, struct verdict *v);

/* The thresholds of one name, USER@DOMAIN or @DOMAIN as user_name_tidy makes it. */
void users_thresholds(const struct config *config, struct users *users,
                      struct slice name, double ret[ACTION_COUNT]);

#endif
