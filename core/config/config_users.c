/* config_users - the settings in the groups of `users`. */
#include "core/config/config_internal.h"
#include "core/config/user_setting.h"

void config_finish_users(struct config *c, struct config_errors *errors)
{
    for (size_t i = 0; i < c->nusers; i++) {
        const struct config_user *u = &c->users[i];
        struct config_source where = c->origin->group[SCHEMA_USERS][i].named;

        for (size_t k = 0; k < u->set.n; k++) {
            struct user_setting s;
            struct errinfo why = {.text = ""};
            enum err e = user_setting_parse(slice_str(u->set.v[k]), &s, &why);

            THEN(e, user_setting_check(c, &s, &why));
            if (e != ERR_OK) {
                config_errors_add(errors, e, c->origin->files[where.file], where.line,
                                  "users.%.80s.set: %s", u->name, why.text);
            }
        }
    }
}
