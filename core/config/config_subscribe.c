/* config_subscribe - inheritance and agreement of the groups of `subscribe`. */

#include <strings.h>

#include "core/config/config_internal.h"
#include "core/config/config_value.h"

enum { KEY_HEX = 64, NAME_MAX_BYTES = 32, URLS_MAX = 16, LISTS_MAX = 64 };

static void refuse_subscription(const struct config *c, size_t at, const char *key,
                                const char *why, struct config_errors *errors)
{
    struct config_source where = c->origin->group[SCHEMA_SUBSCRIPTIONS][at].named;

    config_errors_add(errors, ERR_SYNTAX, c->origin->files[where.file], where.line,
                      "subscribe.%s.%s: %s", c->subscriptions[at].name, key, why);
}

static bool name_fits(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool is_first =
            (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9');
        if (!is_first && (i == 0 || (s.p[i] != '_' && s.p[i] != '-'))) {
            return false;
        }
    }
    return s.n > 0 && s.n <= NAME_MAX_BYTES;
}

bool config_subscription_map(const char *text, struct slice *rettheirs,
                             struct slice *retours)
{
    struct slice ours = slice_str(text);
    struct slice theirs = slice_cut(&ours, '=');

    ours = ours.p == NULL ? theirs : ours;
    *rettheirs = theirs;
    *retours = ours;
    return name_fits(theirs) && name_fits(ours);
}

/* The error in the lists, or NULL. */
static const char *check_lists(const struct config_strings *lists)
{
    if (lists->n == 0 || lists->n > LISTS_MAX) {
        return "name the lists to follow, such as [ \"phish\" ]; at most 64";
    }
    for (size_t i = 0; i < lists->n; i++) {
        struct slice theirs;
        struct slice ours;
        struct slice other;
        if (!config_subscription_map(lists->v[i], &theirs, &ours)) {
            return "write names of lists, such as \"phish\", or \"theirs=ours\"";
        }
        for (size_t j = 0; j < i; j++) {
            struct slice skipped;
            (void)config_subscription_map(lists->v[j], &skipped, &other);
            if (slice_eq(other, ours) || slice_eq(skipped, theirs)) {
                return "two of them are the same list";
            }
        }
    }
    return NULL;
}

static void check_subscription(const struct config *c, size_t at,
                               struct config_errors *errors)
{
    const struct config_subscription *s = &c->subscriptions[at];
    const char *why = check_lists(&s->lists);

    if (s->urls.n == 0 || s->urls.n > URLS_MAX) {
        refuse_subscription(c, at, "urls",
                            "say where the publisher is found; at most 16 addresses",
                            errors);
    }
    if (strlen(s->key) != KEY_HEX ||
        strspn(s->key, "0123456789abcdefABCDEF") != KEY_HEX) {
        refuse_subscription(
            c, at, "key",
            "write the publisher's key, the 64 hexadecimal digits that `gillnet "
            "publish` shows there",
            errors);
    }
    if (why != NULL) {
        refuse_subscription(c, at, "lists", why, errors);
    }
    for (size_t i = 0; i < at; i++) {
        if (strcasecmp(c->subscriptions[i].key, s->key) == 0) {
            refuse_subscription(c, at, "key",
                                "another subscription has the same publisher; put its "
                                "lists into one",
                                errors);
        }
    }
}

void config_finish_subscriptions(struct config *c, struct config_errors *errors)
{
    for (size_t i = 0; i < c->nsubscriptions && errors->n == 0; i++) {
        check_subscription(c, i, errors);
    }
}
