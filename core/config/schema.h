/*
 * schema - the table of configuration keys as data.
 *
 * Threads: constant.   Allocates: nothing.
 */
#ifndef CORE_CONFIG_SCHEMA_H
#define CORE_CONFIG_SCHEMA_H

#include "core/base/std.h"

enum schema_kind {
    SCHEMA_PATH,      /* absolute path */
    SCHEMA_SOCKET,    /* unix:/PATH, local:/PATH, /PATH, inet:..., inet6:... */
    SCHEMA_CONTROL,   /* absolute path that fits a Unix socket, or "" */
    SCHEMA_LISTEN,    /* HOST:PORT, [IPV6]:PORT, "auto" or "off" */
    SCHEMA_NAME,      /* user or group, or "" */
    SCHEMA_REPLY,     /* SMTP reply text with placeholders */
    SCHEMA_CATEGORY,  /* [a-z0-9_-]{1,32} */
    SCHEMA_MODE,      /* "0660" */
    SCHEMA_SIZE,      /* "16M": uint64_t */
    SCHEMA_TIME_US,   /* "250ms": uint64_t, microseconds */
    SCHEMA_TIME_S,    /* "600s": uint64_t, seconds */
    SCHEMA_COUNT,     /* unsigned */
    SCHEMA_BOOL,      /* bool */
    SCHEMA_SCORE,     /* double */
    SCHEMA_THRESHOLD, /* double; "off" is HUGE_VAL */
    SCHEMA_LOG_TARGET,
    SCHEMA_LOG_LEVEL,
    SCHEMA_LOG_FORMAT, /* bool: json */
    SCHEMA_ON_ERROR,
    SCHEMA_FILTER_MEMORY,
    SCHEMA_FILTER_LAYOUT,
    SCHEMA_URL_MATCH,  /* enum list_url_match */
    SCHEMA_LIST_SHARE, /* enum list_share; true: entries */
    SCHEMA_COUNT_UNIT,
    SCHEMA_TYPE,   /* name of a feature type, or "" */
    SCHEMA_WINDOW, /* enum rule_window */
    SCHEMA_BULK_ALONE,
    SCHEMA_SHARE,     /* double, a part of one */
    SCHEMA_NETWORKS,  /* n and struct ipnet * */
    SCHEMA_TOKENS,    /* struct config_strings, lower case */
    SCHEMA_ADDRESSES, /* struct config_strings */
    SCHEMA_DOMAINS,   /* struct config_strings */
    SCHEMA_URLS,      /* struct config_strings, http:// or https:// */
    SCHEMA_WEIGHTS,   /* struct config_strings, "NAME=NUMBER" */
    SCHEMA_FILE,      /* absolute path, or "" */
    SCHEMA_FEED_URL,  /* http://, https:// or file:///PATH, or "" */
    SCHEMA_TEXTS,     /* struct config_strings, as written */
    SCHEMA_LISTENS,   /* struct config_strings, HOST:PORT or unix:/PATH */
    SCHEMA_ROLE       /* enum api_role */
};

struct schema_row {
    const char *path;         /* of a list's or rule's key: its name in the group */
    const char *default_text; /* libconfig text */
    const char *help;
    size_t offset; /* in struct config, struct config_list or struct config_rule */
    double min;
    double max;
    enum schema_kind kind;
    bool reloadable;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): the rows add up */
enum {
    SCHEMA_KEYS = 0
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help) +1
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help)
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help)
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
    ,
    SCHEMA_LIST_KEYS = 0
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help)
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help) +1
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help)
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
    ,
    SCHEMA_RULE_KEYS = 0
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help)
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help)
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/schema.def"
#undef CONFIG_KEY
#undef CONFIG_LIST_KEY
#undef CONFIG_RULE_KEY
    ,
    SCHEMA_SUBSCRIBE_KEYS = 0
#define CONFIG_SUBSCRIBE_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/subscribe.def"
#undef CONFIG_SUBSCRIBE_KEY
    ,
    SCHEMA_FEED_KEYS = 0
#define CONFIG_FEED_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/feed.def"
#undef CONFIG_FEED_KEY
};
/* NOLINTEND(bugprone-macro-parentheses) */

extern const struct schema_row schema_keys[SCHEMA_KEYS];
extern const struct schema_row schema_list_keys[SCHEMA_LIST_KEYS];
extern const struct schema_row schema_rule_keys[SCHEMA_RULE_KEYS];
extern const struct schema_row schema_subscribe_keys[SCHEMA_SUBSCRIBE_KEYS];
extern const struct schema_row schema_feed_keys[SCHEMA_FEED_KEYS];

/* Name of a kind in texts: "size", "time", ... */
const char *schema_kind_name(enum schema_kind kind);

/* The key as it may be written in a file, at any depth, nearest to a misspelt one: its whole
 * path ("limits.parts"), or NULL when none is near. group is "", "limits", "lists", "rules", ... */
const char *schema_nearest(const char *group, const char *name);

/* Whether some key lies below this path ("limits" is a group). */
bool schema_is_group(const char *path);
/* Whether the group is a list of named groups: lists, rules, subscribe, feeds. */
bool schema_is_family(const char *group);

/* The row of a key in a group ("" outside of all); NULL: there is none. */
const struct schema_row *schema_find(const char *group, const char *name);

/* The path of a key or a group with this value as a file must have it:
 * "limits = { parts = ...; };". */
enum { SCHEMA_GROUP_MAX = 32, SCHEMA_FORM_MAX = 160 };
void schema_form(const char *path, const char *value, char dst[SCHEMA_FORM_MAX]);

#endif
