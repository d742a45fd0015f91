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
    SCHEMA_ACCOUNT_ACTION,
    SCHEMA_FILTER_MEMORY,
    SCHEMA_FILTER_LAYOUT,
    SCHEMA_URL_MATCH,  /* enum list_url_match */
    SCHEMA_LIST_SHARE, /* enum list_share; true: entries */
    SCHEMA_COUNT_UNIT,
    SCHEMA_TYPE,       /* name of a feature type, or "" */
    SCHEMA_LINE,       /* any text of one line, or "" */
    SCHEMA_DATE,       /* uint64_t, unix time of the day's end; "": 0 */
    SCHEMA_WINDOW,     /* enum rule_window */
    SCHEMA_DIRECTION,  /* enum condition_direction */
    SCHEMA_CONDITIONS, /* struct config_conditions */
    SCHEMA_BULK_ALONE,
    SCHEMA_SHARE,        /* double, a part of one */
    SCHEMA_NETWORKS,     /* n and struct ipnet * */
    SCHEMA_TOKENS,       /* struct config_strings, lower case */
    SCHEMA_ADDRESSES,    /* struct config_strings */
    SCHEMA_DOMAINS,      /* struct config_strings */
    SCHEMA_RECIPIENTS,   /* struct config_strings, USER@DOMAIN or @DOMAIN */
    SCHEMA_URLS,         /* struct config_strings, http:// or https:// */
    SCHEMA_WEIGHTS,      /* struct config_strings, "NAME=NUMBER" */
    SCHEMA_FILE,         /* absolute path, or "" */
    SCHEMA_SHIPPED,      /* path that may be relative, or "" */
    SCHEMA_FEED_URL,     /* http://, https:// or file:///PATH, or "" */
    SCHEMA_TEXTS,        /* struct config_strings, as written */
    SCHEMA_LISTENS,      /* struct config_strings, HOST:PORT or unix:/PATH */
    SCHEMA_ROLE,         /* enum api_role */
    SCHEMA_MTA,          /* enum quarantine_mta */
    SCHEMA_USER_RELEASE, /* enum quarantine_users */
    SCHEMA_STORE_KIND,
    SCHEMA_STORE_MODE
};

struct schema_row {
    const char *path;         /* of a list's or rule's key: its name in the group */
    const char *default_text; /* libconfig text */
    const char *help;
    size_t offset; /* in struct config, or in an element of a family */
    double min;
    double max;
    enum schema_kind kind;
    bool reloadable;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): the rows add up */
enum {
    SCHEMA_KEYS = 0
#define CONFIG_KEY(path, kind, field, min, max, def, reload, help) +1
#include "core/config/schema.def"
    ,
    SCHEMA_LIST_KEYS = 0
#define CONFIG_LIST_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/schema.def"
    ,
    SCHEMA_RULE_KEYS = 0
#define CONFIG_RULE_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/schema.def"
    ,
    SCHEMA_RULE_GROUP_KEYS = 0
#define CONFIG_RULE_GROUP_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/schema.def"
    ,
    SCHEMA_VALUE_SET_KEYS = 0
#define CONFIG_VALUE_SET_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/schema.def"
    ,
    SCHEMA_SUBSCRIBE_KEYS = 0
#define CONFIG_SUBSCRIBE_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/subscribe.def"
    ,
    SCHEMA_FEED_KEYS = 0
#define CONFIG_FEED_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/feed.def"
    ,
    SCHEMA_USER_KEYS = 0
#define CONFIG_USER_KEY(path, kind, field, min, max, def, help) +1
#include "core/config/user.def"
};
/* NOLINTEND(bugprone-macro-parentheses) */

extern const struct schema_row schema_keys[SCHEMA_KEYS];

/* A family: a list of groups that have names and the same keys. Each is an array of struct config
 * whose elements begin with char *name; one more of them holds the defaults. */
enum {
    SCHEMA_LISTS,
    SCHEMA_RULES,
    SCHEMA_SUBSCRIPTIONS,
    SCHEMA_FEEDS,
    SCHEMA_RULE_GROUPS,
    SCHEMA_VALUE_SETS,
    SCHEMA_USERS,
    SCHEMA_FAMILIES
};
enum { SCHEMA_FAMILY_KEYS_MAX = 32 };
struct schema_family {
    const char *group;   /* "lists" */
    const char *one;     /* "list" */
    const char *example; /* of one group */
    const struct schema_row *rows;
    size_t nrows;
    size_t most;     /* groups */
    size_t bytes;    /* of an element */
    size_t array;    /* offsets in struct config: of the pointer to the array, */
    size_t count;    /* of its length */
    size_t defaults; /* and of the element with the defaults */
};
extern const struct schema_family schema_families[SCHEMA_FAMILIES];

/* Name of a kind in texts: "size", "time", ... */
const char *schema_kind_name(enum schema_kind kind);

/* The whole path ("limits.parts") of the key nearest to a misspelt one, at any depth, or NULL when
 * no key is near. group is "", "limits", "lists", "rules", ... */
const char *schema_nearest(const char *group, const char *name);

/* Whether some key lies below this path ("limits" is a group). */
bool schema_is_group(const char *path);
/* The family of that name: lists, rules, subscribe, ...; NULL: there is none. */
const struct schema_family *schema_family(const char *group);

/* The row of a key in a group ("" outside of all); NULL: there is none. */
const struct schema_row *schema_find(const char *group, const char *name);

/* The path of a key or a group with this value as a file must have it:
 * "limits = { parts = ...; };". */
enum { SCHEMA_GROUP_MAX = 32, SCHEMA_FORM_MAX = 160 };
void schema_form(const char *path, const char *value, char dst[SCHEMA_FORM_MAX]);

#endif
