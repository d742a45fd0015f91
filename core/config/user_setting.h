/*
 * user_setting - one setting of a user or of a domain: "KEY=VALUE" with the names of the
 * configuration.
 *
 *   sensitivity=low|normal|high|NUMBER              thresholds.ACTION=NUMBER|off
 *   rules.NAME.score=NUMBER   .shadow=BOOL   .enabled=BOOL
 *   lists.NAME.weight=NUMBER  .shadow=BOOL   .enabled=BOOL
 *   allow.addresses=A,B   allow.domains=A,B   block.addresses=A,B   block.domains=A,B
 *
 * The groups of `users` in the configuration have them as texts, the file `users` as words of a
 * line. The room core/verdict/user applies them.
 * Threads: pure.   Allocates: nothing; the results point into the text.   ADR 0066.
 */
#ifndef CORE_CONFIG_USER_SETTING_H
#define CORE_CONFIG_USER_SETTING_H

#include "core/config/config.h"

enum {
    USER_NAME_MAX = 320,   /* bytes of USER@DOMAIN */
    USER_VALUES_MAX = 1024 /* bytes of one setting */
};
#define USER_SENSITIVITY_LEAST 0.1
#define USER_SENSITIVITY_MOST  10.0

enum user_key {
    USER_SENSITIVITY, /* number: the factor on thresholds */
    USER_THRESHOLD,   /* of action; number, HUGE_VAL: off */
    USER_SCORE,       /* of the rule or list called name */
    USER_SHADOW,
    USER_ENABLED,
    USER_ALLOW_ADDRESSES, /* values, with commas between */
    USER_ALLOW_DOMAINS,
    USER_BLOCK_ADDRESSES,
    USER_BLOCK_DOMAINS
};

struct user_setting {
    enum user_key key;
    enum action action;
    bool is_list; /* name is of a list, else of a rule */
    struct slice name;
    double number;
    bool flag;
    struct slice values;
};

/* ERR_SYNTAX, ERR_RANGE, ERR_NOT_FOUND: reterr's text says what is wrong; its source and line are
 * the caller's. */
enum err user_setting_parse(struct slice text, struct user_setting *ret,
                            struct errinfo *reterr);
/* ERR_NOT_FOUND: it is about a rule that the configuration has not. */
enum err user_setting_check(const struct config *c, const struct user_setting *s,
                            struct errinfo *reterr);

/* ERR_SYNTAX: both words, which are settings, have the same key. */
enum err user_setting_check_twice(struct slice word, struct slice other,
                                  struct errinfo *reterr);

/* USER@DOMAIN or @DOMAIN, as they are stored: ASCII letters in lower case, the domain as A-labels.
 * NULL, or what is wrong. */
const char *user_name_tidy(struct slice text, char ret[USER_NAME_MAX + 1]);
/* "anna+shop@example.org" becomes "anna@example.org". False: the name, which is tidy, has no
 * extension. */
bool user_name_drop_extension(char *name);

#endif
