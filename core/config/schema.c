#include "core/config/schema.h"

#include "core/base/nearest.h"
#include "core/config/config.h"

const struct schema_row schema_keys[SCHEMA_KEYS] = {
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help) \
    {path, def, help, offsetof(struct config, field), min, max, SCHEMA_##kind, reload},
#include "core/config/schema.def"
};

static const struct schema_row list_keys[SCHEMA_LIST_KEYS] = {
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_list, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/schema.def"
};

static const struct schema_row rule_keys[SCHEMA_RULE_KEYS] = {
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_rule, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/schema.def"
};

static const struct schema_row rule_group_keys[SCHEMA_RULE_GROUP_KEYS] = {
#define CONFIG_RULE_GROUP_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_rule_group, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/schema.def"
};

static const struct schema_row value_set_keys[SCHEMA_VALUE_SET_KEYS] = {
#define CONFIG_VALUE_SET_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_value_set, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/schema.def"
};

static const struct schema_row subscribe_keys[SCHEMA_SUBSCRIBE_KEYS] = {
#define CONFIG_SUBSCRIBE_KEY(path, kind, field, min, max, def, help)        \
    {path, def, help,          offsetof(struct config_subscription, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/subscribe.def"
};

static const struct schema_row feed_keys[SCHEMA_FEED_KEYS] = {
#define CONFIG_FEED_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_feed, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/feed.def"
};

static const struct schema_row user_keys[SCHEMA_USER_KEYS] = {
#define CONFIG_USER_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_user, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/user.def"
};

#define ROWS(rows) rows, LENGTH(rows)
#define PLACES(element, v, n, fallback)                                             \
    sizeof(struct element), offsetof(struct config, v), offsetof(struct config, n), \
        offsetof(struct config, fallback)
const struct schema_family schema_families[SCHEMA_FAMILIES] = {
    [SCHEMA_LISTS] = {"lists", "list", "{ name = \"phish\"; weight = 8.0; }",
                      ROWS(list_keys), 256,
                      PLACES(config_list, lists, nlists, list_default)},
    [SCHEMA_RULES] = {"rules", "rule",
                      "{ name = \"replica\"; type = \"text_band\"; count = 20; }",
                      ROWS(rule_keys), 4096,
                      PLACES(config_rule, rules, nrules, rule_default)},
    [SCHEMA_SUBSCRIPTIONS] =
        {"subscribe", "subscription",
         "{ name = \"lists\"; urls = [ \"https://lists.example\" ]; "
         "key = \"...\"; }",
         ROWS(subscribe_keys), 32,
         PLACES(config_subscription, subscriptions, nsubscriptions,
                subscription_default)},
    [SCHEMA_FEEDS] = {"feeds", "feed",
                      "{ name = \"phish\"; url = \"https://feeds.example/urls.txt\"; }",
                      ROWS(feed_keys), 256,
                      PLACES(config_feed, feeds, nfeeds, feed_default)},
    [SCHEMA_RULE_GROUPS] = {"rule_groups", "group of rules",
                            "{ name = \"names\"; cap = 2.0; }", ROWS(rule_group_keys),
                            256,
                            PLACES(config_rule_group, rule_groups, nrule_groups,
                                   rule_group_default)},
    [SCHEMA_VALUE_SETS] = {"value_sets", "set of values",
                           "{ name = \"freemail\"; values = [ \"gmail.com\" ]; }",
                           ROWS(value_set_keys), 256,
                           PLACES(config_value_set, value_sets, nvalue_sets,
                                  value_set_default)},
    [SCHEMA_USERS] =
        {"users", "user",
         "{ name = \"anna@example.org\"; set = [ \"sensitivity=high\" ]; }",
         ROWS(user_keys), 1000, PLACES(config_user, users, nusers, user_default)},
};

_Static_assert(LENGTH(list_keys) <= SCHEMA_FAMILY_KEYS_MAX &&
                   LENGTH(rule_keys) <= SCHEMA_FAMILY_KEYS_MAX &&
                   LENGTH(subscribe_keys) <= SCHEMA_FAMILY_KEYS_MAX &&
                   LENGTH(feed_keys) <= SCHEMA_FAMILY_KEYS_MAX,
               "the sources of a family's keys have room");
_Static_assert(offsetof(struct config_list, name) == 0 &&
                   offsetof(struct config_rule, name) == 0 &&
                   offsetof(struct config_subscription, name) == 0 &&
                   offsetof(struct config_feed, name) == 0 &&
                   offsetof(struct config_rule_group, name) == 0 &&
                   offsetof(struct config_value_set, name) == 0 &&
                   offsetof(struct config_user, name) == 0,
               "an element begins with its name");

const char *schema_kind_name(enum schema_kind kind)
{
    static const char *const names[SCHEMA_STORE_MODE + 1] = {
        [SCHEMA_PATH] = "path",
        [SCHEMA_SOCKET] = "socket",
        [SCHEMA_CONTROL] = "path",
        [SCHEMA_NAME] = "name",
        [SCHEMA_REPLY] = "text",
        [SCHEMA_MODE] = "rights",
        [SCHEMA_SIZE] = "size",
        [SCHEMA_TIME_US] = "time",
        [SCHEMA_TIME_S] = "time",
        [SCHEMA_COUNT] = "number",
        [SCHEMA_BOOL] = "true or false",
        [SCHEMA_SCORE] = "score",
        [SCHEMA_THRESHOLD] = "score or \"off\"",
        [SCHEMA_NETWORKS] = "networks",
        [SCHEMA_TOKENS] = "words",
        [SCHEMA_ADDRESSES] = "addresses",
        [SCHEMA_DOMAINS] = "domains",
        [SCHEMA_RECIPIENTS] = "addresses and @domains",
        [SCHEMA_LISTEN] = "address",
        [SCHEMA_WEIGHTS] = "weights",
        [SCHEMA_SHARE] = "share",
        [SCHEMA_URLS] = "URLs",
        [SCHEMA_FILE] = "path",
        [SCHEMA_SHIPPED] = "path",
        [SCHEMA_FEED_URL] = "URL",
        [SCHEMA_TEXTS] = "texts",
        [SCHEMA_LISTENS] = "addresses",
        [SCHEMA_LINE] = "text",
        [SCHEMA_DATE] = "date",
        [SCHEMA_CONDITIONS] = "conditions",
    };

    return names[kind] != NULL ? names[kind] : "word";
}

bool schema_is_group(const char *path)
{
    size_t n = strlen(path);

    if (strcmp(path, "list_defaults") == 0) {
        return true;
    }
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        if (strncmp(schema_keys[i].path, path, n) == 0 &&
            schema_keys[i].path[n] == '.') {
            return true;
        }
    }
    return false;
}

/* Prices of a candidate, in half edits: a key of another place is worth two of them. */
enum { PRICE_EDIT = 2, PRICE_ELSEWHERE = 3 };

struct nearest {
    const char *group;
    struct slice name;
    const char *best;
    size_t price;
};

static void consider(struct nearest *n, const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *last = dot != NULL ? dot + 1 : path;
    size_t group_len = dot != NULL ? (size_t)(dot - path) : 0;
    bool is_sibling =
        strlen(n->group) == group_len && strncmp(path, n->group, group_len) == 0;
    size_t edits = nearest_edits(n->name, slice_str(last));
    size_t whole =
        nearest_edits(n->name, slice_str(path)); /* log_level for log.level */
    size_t least = edits < whole ? edits : whole;
    size_t price = least * PRICE_EDIT + (is_sibling ? 0 : PRICE_ELSEWHERE);

    if (least <= nearest_most(n->name.n) && price < n->price) {
        n->price = price;
        n->best = path;
    }
}

const struct schema_family *schema_family(const char *group)
{
    for (size_t i = 0; i < SCHEMA_FAMILIES; i++) {
        if (strcmp(group, schema_families[i].group) == 0) {
            return &schema_families[i];
        }
    }
    return NULL;
}

const struct schema_row *schema_find(const char *group, const char *name)
{
    size_t length = strlen(group);

    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        const char *path = schema_keys[i].path;

        if (length == 0 ? strcmp(path, name) == 0
                        : strncmp(path, group, length) == 0 && path[length] == '.' &&
                              strcmp(path + length + 1, name) == 0) {
            return &schema_keys[i];
        }
    }
    const struct schema_family *f = strcmp(group, "list_defaults") == 0
                                        ? &schema_families[SCHEMA_LISTS]
                                        : schema_family(group);
    for (size_t i = 0; f != NULL && i < f->nrows; i++) {
        if (strcmp(f->rows[i].path, name) == 0) {
            return &f->rows[i];
        }
    }
    return NULL;
}

void schema_form(const char *path, const char *value, char dst[SCHEMA_FORM_MAX])
{
    const char *dot = strchr(path, '.');
    const char *key = dot != NULL ? dot + 1 : path;
    char group[SCHEMA_GROUP_MAX] = "";

    (void)snprintf(group, sizeof(group), "%.*s", (int)strcspn(path, "."), path);
    const bool is_family = schema_family(group) != NULL;
    if (is_family && (dot == NULL || strcmp(key, "name") == 0)) {
        (void)snprintf(dst, SCHEMA_FORM_MAX, "%s = ( { name = \"...\"; } );", group);
    } else if (is_family) {
        (void)snprintf(dst, SCHEMA_FORM_MAX, "%s = ( { name = \"...\"; %s = %s; } );",
                       group, key, value);
    } else if (dot != NULL) {
        (void)snprintf(dst, SCHEMA_FORM_MAX, "%s = { %s = %s; };", group, key, value);
    } else if (schema_is_group(path)) {
        (void)snprintf(dst, SCHEMA_FORM_MAX, "%s = { ... };", path);
    } else {
        (void)snprintf(dst, SCHEMA_FORM_MAX, "%s = %s;", path, value);
    }
}

const char *schema_nearest(const char *group, const char *name)
{
    static const char *const others[] = {
        "lists",      "list_defaults",   "log",         "limits",
        "thresholds", "allow",           "count",       "lists.name",
        "rules",      "rules.name",      "hub",         "peers",
        "subscribe",  "subscribe.name",  "feeds",       "feeds.name",
        "api",        "alerts",          "rule_groups", "rule_groups.name",
        "value_sets", "value_sets.name", "users",       "users.name",
        "quarantine", "store",
#define CONFIG_RULE_GROUP_KEY(path, kind, field, min, max, def, help) \
    "rule_groups." path,
#define CONFIG_VALUE_SET_KEY(path, kind, field, min, max, def, help) "value_sets." path,
#define CONFIG_USER_KEY(path, kind, field, min, max, def, help)      "users." path,
#include "core/config/user.def"
#define CONFIG_FEED_KEY(path, kind, field, min, max, def, help) "feeds." path,
#include "core/config/feed.def"
#define CONFIG_SUBSCRIBE_KEY(path, kind, field, min, max, def, help) "subscribe." path,
#include "core/config/subscribe.def"
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help) \
    "lists." path, "list_defaults." path,
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help) "rules." path,
#include "core/config/schema.def"
    };
    struct nearest n = {group, slice_str(name), NULL, SIZE_MAX};

    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        consider(&n, schema_keys[i].path);
    }
    for (size_t i = 0; i < LENGTH(others); i++) {
        consider(&n, others[i]);
    }
    return n.best;
}
