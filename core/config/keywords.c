/* keywords - values that are one of a few words. */
#include <assert.h>

#include "core/base/nearest.h"
#include "core/config/config_value.h"

enum { KEYWORDS_MAX = 8 }; /* of one kind */

static const char *const log_targets[] = {
    "auto",
    [1 + LOG_TARGET_STDERR] = "stderr",
    [1 + LOG_TARGET_SYSLOG] = "syslog",
    [1 + LOG_TARGET_JOURNAL] = "journal",
};
static const char *const log_levels[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};
static const char *const log_formats[] = {"text", "json"};
static const char *const actions[ACTION_COUNT] = {"accept", "header", "quarantine",
                                                  "defer",  "reject", "discard"};
static const char *const error_actions[] = {
    [ACTION_ACCEPT] = "accept",
    [ACTION_DEFER] = "defer",
};
static const char *const account_actions[] = {
    [ACCOUNT_WARN] = "warn",
    [ACCOUNT_HOLD] = "hold",
    [ACCOUNT_DEFER] = "defer",
};
static const char *const filter_memories[] = {
    [FILTER_COPY] = "copy",
    [FILTER_MAP] = "map",
    [FILTER_STORE] = "store",
};
static const char *const filter_layouts[] = {
    [FILTER_ONE_LINE] = "one-line",
    [FILTER_TWO_LINES] = "two-lines",
    [FILTER_CLASSIC] = "classic",
    [FILTER_PARTITIONED] = "partitioned",
};
static const char *const list_shares[] = {
    [LIST_SHARE_NO] = "no",
    [LIST_SHARE_ENTRIES] = "entries",
    [LIST_SHARE_FILTERS] = "filters",
};
static const char *const url_matches[] = {
    [LIST_URL_EXACT] = "exact",
    [LIST_URL_NORMAL] = "normal",
    [LIST_URL_FOLDED] = "folded",
};
static const char *const count_units[] = {
    [COUNT_UNIT_MESSAGES] = "messages",
    [COUNT_UNIT_DELIVERIES] = "deliveries",
};
static const char *const windows[RULE_WINDOWS] = {"10m", "1h", "1d", "14d"};
static const char *const directions[] = {
    [DIRECTION_IN] = "in",
    [DIRECTION_OUT] = "out",
};
static const char *const roles[] = {
    [API_NONE] = "none",         [API_READ] = "read",   [API_REPORT] = "report",
    [API_MESSAGES] = "messages", [API_ADMIN] = "admin",
};
/* Without messages, which needs a token. */
static const char *const local_roles[] = {
    [API_NONE] = "none",
    [API_READ] = "read",
    [API_REPORT] = "report",
    [API_ADMIN] = "admin",
};

static const char *const mtas[] = {
    [QUARANTINE_AUTO] = "auto",
    [QUARANTINE_POSTFIX] = "postfix",
    [QUARANTINE_SENDMAIL] = "sendmail",
};
static const char *const user_releases[] = {
    [QUARANTINE_USERS_OFF] = "off",
    [QUARANTINE_USERS_OWN] = "own",
    [QUARANTINE_USERS_ANY] = "any",
};

static const char *const store_kinds[] = {
    [STORE_OFF] = "off",
    [STORE_REDIS] = "redis",
};
static const char *const store_modes[] = {
    [STORE_SINGLE] = "single",
    [STORE_SENTINEL] = "sentinel",
    [STORE_CLUSTER] = "cluster",
};

/* The words of a kind, by their value. Below `first`, and where NULL is, there is no word. */
struct keyword_set {
    const char *const *names;
    size_t n;
    size_t first;
    const char *example;
};
#define WORDS(names, first, example)         \
    {                                        \
        names, LENGTH(names), first, example \
    }
static const struct keyword_set sets[] = {
    [SCHEMA_LOG_TARGET] = WORDS(log_targets, 0, "\"syslog\""),
    [SCHEMA_LOG_LEVEL] = WORDS(log_levels, 0, "\"info\""),
    [SCHEMA_LOG_FORMAT] = WORDS(log_formats, 0, "\"text\""),
    [SCHEMA_ON_ERROR] = WORDS(error_actions, 0, "\"accept\""),
    [SCHEMA_ACCOUNT_ACTION] = WORDS(account_actions, 0, "\"warn\""),
    [SCHEMA_BULK_ALONE] = WORDS(actions, ACTION_HEADER, "\"header\""),
    [SCHEMA_FILTER_MEMORY] = WORDS(filter_memories, 0, "\"copy\""),
    [SCHEMA_FILTER_LAYOUT] = WORDS(filter_layouts, 0, "\"one-line\""),
    [SCHEMA_LIST_SHARE] = WORDS(list_shares, 0, "\"entries\""), /* or a bool */
    [SCHEMA_URL_MATCH] = WORDS(url_matches, 0, "\"normal\""),
    [SCHEMA_COUNT_UNIT] = WORDS(count_units, 0, "\"messages\""),
    [SCHEMA_WINDOW] = WORDS(windows, 0, "\"1d\""),
    [SCHEMA_DIRECTION] = WORDS(directions, 0, "\"in\""),
    [SCHEMA_ROLE] = WORDS(local_roles, 0, "\"read\""),
    [SCHEMA_MTA] = WORDS(mtas, 0, "\"auto\""),
    [SCHEMA_USER_RELEASE] = WORDS(user_releases, 0, "\"own\""),
    [SCHEMA_STORE_KIND] = WORDS(store_kinds, 0, "\"redis\""),
    [SCHEMA_STORE_MODE] = WORDS(store_modes, 0, "\"cluster\""),
};

const char *action_name(enum action a)
{
    assert(a < ACTION_COUNT);
    return actions[a];
}

bool filter_layout_by_name(struct slice name, enum filter_layout *ret)
{
    const int i = name_index(name, filter_layouts, LENGTH(filter_layouts));

    *ret = i >= 0 ? (enum filter_layout)i : *ret;
    return i >= 0;
}

const char *list_share_name(enum list_share s)
{
    return list_shares[s];
}

const char *list_url_match_name(enum list_url_match m)
{
    return url_matches[m];
}

const char *rule_window_name(enum rule_window w)
{
    return windows[w];
}

const char *api_role_name(enum api_role r)
{
    return roles[r];
}

bool api_role_by_name(struct slice name, enum api_role *ret)
{
    const int i = name_index(name, roles, LENGTH(roles));

    *ret = i >= 0 ? (enum api_role)i : *ret;
    return i >= 0;
}

/* Says which words may stand there, the nearest first. */
static bool refuse_word(const struct value_place *place,
                        const config_setting_t *setting, const struct keyword_set *set)
{
    struct slice written = slice_str(config_setting_get_string(setting));
    size_t least = nearest_most(written.n) + 1;
    const char *best = NULL;
    const char *words[KEYWORDS_MAX];
    size_t n = 0;
    char what[VALUE_TEXT_MAX] = "";
    char text[VALUE_TEXT_MAX + LENGTH("did you mean")];

    for (size_t i = set->first; i < set->n; i++) {
        words[n] = set->names[i];
        n += words[n] != NULL;
    }
    for (size_t i = 0, at = 0; i < n; i++) {
        struct slice word = slice_str(words[i]);
        size_t edits = nearest_edits(written, word);

        if (word.n >= 4 && slice_has_prefix(written, word)) { /* "warning" */
            edits = 1;
        }
        if (edits < least) {
            least = edits;
            best = word.p;
        }
        at += (size_t)snprintf(what + at, sizeof(what) - at, "%s\"%s\"",
                               i == 0       ? "write "
                               : i + 1 == n ? " or "
                                            : ", ",
                               word.p);
    }
    (void)snprintf(text, sizeof(text),
                   best != NULL ? "did you mean \"%s\"? %s" : "%s%s",
                   best != NULL ? best : "", what);
    return value_refuse(place, setting, ERR_RANGE, text);
}

bool keywords_has(enum schema_kind kind)
{
    return kind < LENGTH(sets) && sets[kind].names != NULL;
}

bool keywords_set(const struct value_place *place, const config_setting_t *setting)
{
    const enum schema_kind kind = place->row->kind;
    const struct keyword_set *set = &sets[kind];
    void *field = (char *)place->base + place->row->offset;
    int i = 0;

    if (kind == SCHEMA_LIST_SHARE && config_setting_type(setting) == CONFIG_TYPE_BOOL) {
        i = config_setting_get_bool(setting) ? LIST_SHARE_ENTRIES : LIST_SHARE_NO;
    } else {
        const char *s = value_string(place, setting, set->example);
        if (s == NULL) {
            return false;
        }
        i = name_index(slice_str(s), set->names + set->first, set->n - set->first);
        if (i < 0) {
            return refuse_word(place, setting, set);
        }
        i += (int)set->first;
    }
    if (kind == SCHEMA_LOG_TARGET) {
        struct config *c = place->base;
        c->log_target_auto = i == 0;
        c->log_target = i == 0 ? LOG_TARGET_STDERR : (enum log_target)(i - 1);
    } else if (kind == SCHEMA_LOG_FORMAT) {
        *(bool *)field = i == 1;
    } else {
        *(unsigned *)field = (unsigned)i; /* every enum of these kinds is one */
    }
    return true;
}

const char *keywords_text(const struct schema_row *row, const void *base)
{
    const void *field = (const char *)base + row->offset;
    size_t i = 0;

    if (row->kind == SCHEMA_LOG_TARGET) {
        const struct config *c = base;
        i = c->log_target_auto ? 0 : (size_t)c->log_target + 1;
    } else if (row->kind == SCHEMA_LOG_FORMAT) {
        i = *(const bool *)field;
    } else {
        i = *(const unsigned *)field;
    }
    return sets[row->kind].names[i];
}
