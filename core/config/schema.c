#include "core/config/schema.h"

#include <string.h>

#include "core/config/config.h"

const struct schema_row schema_keys[SCHEMA_KEYS] = {
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help) \
    {path, def, help, offsetof(struct config, field), min, max, SCHEMA_##kind, reload},
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help)
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help)
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
};

const struct schema_row schema_list_keys[SCHEMA_LIST_KEYS] = {
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help)
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_list, field), \
     min,  max, SCHEMA_##kind, true},
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help)
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
};

const struct schema_row schema_rule_keys[SCHEMA_RULE_KEYS] = {
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help)
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help)
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_rule, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
};

const struct schema_row schema_subscribe_keys[SCHEMA_SUBSCRIBE_KEYS] = {
#define CONFIG_SUBSCRIBE_KEY(path, kind, field, min, max, def, help)        \
    {path, def, help,          offsetof(struct config_subscription, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/subscribe.def"
#undef CONFIG_SUBSCRIBE_KEY
};

const struct schema_row schema_feed_keys[SCHEMA_FEED_KEYS] = {
#define CONFIG_FEED_KEY(path, kind, field, min, max, def, help)     \
    {path, def, help,          offsetof(struct config_feed, field), \
     min,  max, SCHEMA_##kind, true},
#include "core/config/feed.def"
#undef CONFIG_FEED_KEY
};

const char *schema_kind_name(enum schema_kind kind)
{
    static const char *const names[] = {
        [SCHEMA_PATH] = "path",           [SCHEMA_SOCKET] = "socket",
        [SCHEMA_CONTROL] = "path",        [SCHEMA_NAME] = "name",
        [SCHEMA_REPLY] = "text",          [SCHEMA_CATEGORY] = "word",
        [SCHEMA_MODE] = "rights",         [SCHEMA_SIZE] = "size",
        [SCHEMA_TIME_US] = "time",        [SCHEMA_TIME_S] = "time",
        [SCHEMA_COUNT] = "number",        [SCHEMA_BOOL] = "true or false",
        [SCHEMA_SCORE] = "score",         [SCHEMA_THRESHOLD] = "score or \"off\"",
        [SCHEMA_LOG_TARGET] = "word",     [SCHEMA_LOG_LEVEL] = "word",
        [SCHEMA_LOG_FORMAT] = "word",     [SCHEMA_ON_ERROR] = "word",
        [SCHEMA_NETWORKS] = "networks",   [SCHEMA_TOKENS] = "words",
        [SCHEMA_ADDRESSES] = "addresses", [SCHEMA_DOMAINS] = "domains",
        [SCHEMA_LISTEN] = "address",      [SCHEMA_WEIGHTS] = "weights",
        [SCHEMA_FILTER_MEMORY] = "word",  [SCHEMA_URL_MATCH] = "word",
        [SCHEMA_FILTER_LAYOUT] = "word",  [SCHEMA_LIST_SHARE] = "word",
        [SCHEMA_SHARE] = "share",         [SCHEMA_COUNT_UNIT] = "word",
        [SCHEMA_BULK_ALONE] = "word",     [SCHEMA_TYPE] = "word",
        [SCHEMA_WINDOW] = "word",         [SCHEMA_URLS] = "URLs",
        [SCHEMA_FILE] = "path",           [SCHEMA_FEED_URL] = "URL",
        [SCHEMA_TEXTS] = "texts",         [SCHEMA_LISTENS] = "addresses",
        [SCHEMA_ROLE] = "word",
    };

    return names[kind];
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

enum { NAME_COMPARED = 40 };

/* Levenshtein distance of two short names; longer ones are never near. */
static size_t distance(const char *a, const char *b)
{
    size_t na = strlen(a);
    size_t nb = strlen(b);
    size_t row[NAME_COMPARED + 1];

    if (na > NAME_COMPARED || nb > NAME_COMPARED) {
        return NAME_COMPARED;
    }
    for (size_t j = 0; j <= nb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);

            diagonal = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    return row[nb];
}

struct nearest {
    const char *group;
    const char *name;
    const char *best;
    size_t score; /* distance * 2, and 1 more for a key of another group */
};

static void consider(struct nearest *n, const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *last = dot != NULL ? dot + 1 : path;
    size_t group_len = dot != NULL ? (size_t)(dot - path) : 0;
    bool is_sibling =
        strlen(n->group) == group_len && strncmp(path, n->group, group_len) == 0;
    size_t score = distance(n->name, last) * 2 + (is_sibling ? 0 : 1);

    if (score < n->score) {
        n->score = score;
        n->best = path;
    }
}

const char *schema_nearest(const char *group, const char *name)
{
    static const char *const others[] = {
        "lists",     "list_defaults",  "log",   "limits",     "thresholds", "allow",
        "count",     "lists.name",     "rules", "rules.name", "hub",        "peers",
        "subscribe", "subscribe.name", "feeds", "feeds.name", "api",        "alerts",
#define CONFIG_FEED_KEY(path, kind, field, min, max, def, help) "feeds." path,
#include "core/config/feed.def"
#undef CONFIG_FEED_KEY
#define CONFIG_SUBSCRIBE_KEY(path, kind, field, min, max, def, help) "subscribe." path,
#include "core/config/subscribe.def"
#undef CONFIG_SUBSCRIBE_KEY
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help)
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help) \
    "lists." path, "list_defaults." path,
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help) "rules." path,
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
    };
    /* about a third of the name may be wrong */
    size_t wrong = strlen(name) < 5 ? 1 : strlen(name) < 9 ? 2 : strlen(name) / 3;
    struct nearest n = {group, name, NULL, wrong * 2 + 2};

    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        consider(&n, schema_keys[i].path);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        consider(&n, others[i]);
    }
    return n.best;
}
