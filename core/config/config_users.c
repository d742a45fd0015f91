/* config_users - the settings in the groups of `users`. */
#include "core/config/config_internal.h"
#include "core/config/user_thresholds.h"

static const struct config_user *user_of(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->nusers; i++) {
        if (strcmp(c->users[i].name, name) == 0) {
            return &c->users[i];
        }
    }
    return NULL;
}

static enum err check_setting(const struct config *c, const struct config_user *u,
                              size_t at, struct errinfo *reterr)
{
    struct user_setting s;
    struct slice word = slice_str(u->set.v[at]);
    enum err e = user_setting_parse(word, &s, reterr);

    THEN(e, user_setting_check(c, &s, reterr));
    for (size_t i = 0; e == ERR_OK && i < at; i++) {
        e = user_setting_check_twice(word, slice_str(u->set.v[i]), reterr);
    }
    return e;
}

static void take_group(struct user_thresholds *t, const struct config_user *u)
{
    for (size_t i = 0; u != NULL && i < u->set.n; i++) {
        user_thresholds_take_words(t, slice_str(u->set.v[i]));
    }
}

void config_users_thresholds(const struct config *c, const char *name,
                             struct slice words, struct user_thresholds *ret)
{
    const char *domain = strrchr(name, '@');

    user_thresholds_begin(ret, c);
    if (domain != NULL && domain != name) {
        user_thresholds_take_words(ret, words);
        take_group(ret, user_of(c, domain));
    }
    user_thresholds_level(ret);
}

void config_finish_users(struct config *c, struct config_errors *errors)
{
    for (size_t i = 0; i < c->nusers; i++) {
        const struct config_user *u = &c->users[i];
        struct config_source where = c->origin->group[SCHEMA_USERS][i].named;
        struct user_thresholds t;
        struct errinfo why = {.text = ""};

        for (size_t k = 0; k < u->set.n; k++) {
            enum err e = check_setting(c, u, k, &why);
            if (e != ERR_OK) {
                config_errors_add(errors, e, c->origin->files[where.file], where.line,
                                  "users.%.80s.set: %s", u->name, why.text);
            }
        }
        config_users_thresholds(c, u->name, SLICE_NONE, &t);
        take_group(&t, u);
        enum err e = user_thresholds_check(&t, &why);
        if (e != ERR_OK) {
            config_errors_add(errors, e, c->origin->files[where.file], where.line,
                              "users.%.80s.set: %s", u->name, why.text);
        }
    }
}
