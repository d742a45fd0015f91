#include "core/config/advice.h"

/* An allowed sender counts once somebody proved it: a server that we trust, or a login. */
static bool allow_is_idle(const struct config *c)
{
    return c->allow_domains.n + c->allow_addresses.n > 0 &&
           c->trusted_authserv.n == 0 && c->skip_authenticated;
}

bool config_advice(const struct config *c, size_t i, struct config_advice *ret)
{
    if (i > 0 || !allow_is_idle(c)) {
        return false;
    }
    *ret = (struct config_advice){
        "allow.domains and allow.addresses let no mail from outside through: nothing proves who "
        "sent it, because trusted_authserv is empty",
        "put OpenDKIM and OpenDMARC in front of gillnetd, and their AuthservID (as a rule the "
        "host's name) into trusted_authserv; gillnet setup postfix or gillnet setup sendmail "
        "does the latter"};
    return true;
}
