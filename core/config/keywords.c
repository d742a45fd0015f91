/* keywords - values that are one of a few words. */
#include "core/config/keywords.h"

#include "core/base/nearest.h"

static const char *const log_targets[] = {"stderr", "syslog", "journal"};
static const char *const log_levels[] = {"error", "warn", "info", "debug"};

static void *field_of(const struct schema_row *row, void *base)
{
    return (char *)base + row->offset;
}

/* what: all words in quotes. Names the nearest first. */
static bool refuse_word(const struct value_place *place,
                        const config_setting_t *setting, const char *what)
{
    struct slice written = slice_str(config_setting_get_string(setting));
    size_t least = nearest_most(written.n) + 1;
    struct slice best = SLICE_NONE;
    char text[VALUE_TEXT_MAX];

    for (const char *p = strchr(what, '"'); p != NULL; p = strchr(p, '"')) {
        struct slice word = slice_of(p + 1, strcspn(p + 1, "\""));
        size_t edits = nearest_edits(written, word);

        if (word.n >= 4 && slice_has_prefix(written, word)) { /* "warning" */
            edits = 1;
        }
        if (edits < least) {
            least = edits;
            best = word;
        }
        p = word.p + word.n + 1;
    }
    (void)snprintf(text, sizeof(text),
                   best.n > 0 ? "did you mean \"%.*s\"? %s" : "%.*s%s",
                   SLICE_ARGS(best), what);
    return value_refuse(place, setting, ERR_RANGE, text);
}

static bool set_log_target(const struct value_place *place,
                           const config_setting_t *setting)
{
    struct config *c = place->base;
    const char *s = value_string(place, setting, "\"syslog\"");
    int i = s != NULL ? name_index(slice_str(s), log_targets, 3) : -1;

    if (s == NULL) {
        return false;
    }
    if (i < 0 && strcmp(s, "auto") != 0) {
        return refuse_word(place, setting,
                           "write \"auto\", \"stderr\", \"syslog\" or \"journal\"");
    }
    c->log_target_auto = i < 0;
    c->log_target = i < 0 ? LOG_TARGET_STDERR : (enum log_target)i;
    return true;
}

static bool set_log_level(const struct value_place *place,
                          const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"info\"");
    int i = s != NULL ? name_index(slice_str(s), log_levels, 4) : -1;

    if (s != NULL && i < 0) {
        refuse_word(place, setting, "write \"error\", \"warn\", \"info\" or \"debug\"");
    }
    if (i >= 0) {
        *(enum log_level *)field_of(place->row, place->base) = (enum log_level)i;
    }
    return i >= 0;
}

static bool set_log_format(const struct value_place *place,
                           const config_setting_t *setting)
{
    static const char *const formats[] = {"text", "json"};
    const char *s = value_string(place, setting, "\"text\"");
    int i = s != NULL ? name_index(slice_str(s), formats, 2) : -1;

    if (s != NULL && i < 0) {
        value_refuse(place, setting, ERR_RANGE, "write \"text\" or \"json\"");
    }
    if (i >= 0) {
        *(bool *)field_of(place->row, place->base) = i == 1;
    }
    return i >= 0;
}

static bool set_on_error(const struct value_place *place,
                         const config_setting_t *setting)
{
    static const char *const names[] = {"accept", "defer"};
    const char *s = value_string(place, setting, "\"accept\"");
    int i = s != NULL ? name_index(slice_str(s), names, 2) : -1;

    if (s != NULL && i < 0) {
        refuse_word(place, setting, "write \"accept\" or \"defer\"");
    }
    if (i >= 0) {
        *(enum action *)field_of(place->row, place->base) =
            i == 0 ? ACTION_ACCEPT : ACTION_DEFER;
    }
    return i >= 0;
}

static bool set_filter_memory(const struct value_place *place,
                              const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"copy\"");

    for (int i = 0; s != NULL && i < FILTER_MEMORY_COUNT; i++) {
        if (strcmp(s, filter_memory_name((enum filter_memory)i)) == 0) {
            *(enum filter_memory *)field_of(place->row, place->base) =
                (enum filter_memory)i;
            return true;
        }
    }
    return s != NULL && refuse_word(place, setting, "write \"copy\" or \"map\"");
}

static bool set_list_share(const struct value_place *place,
                           const config_setting_t *setting)
{
    enum list_share *field = field_of(place->row, place->base);

    if (config_setting_type(setting) == CONFIG_TYPE_BOOL) {
        *field = config_setting_get_bool(setting) ? LIST_SHARE_ENTRIES : LIST_SHARE_NO;
        return true;
    }
    const char *s = value_string(place, setting, "\"entries\"");
    for (int i = 0; s != NULL && i < LIST_SHARE_COUNT; i++) {
        if (strcmp(s, list_share_name((enum list_share)i)) == 0) {
            *field = (enum list_share)i;
            return true;
        }
    }
    return s != NULL &&
           refuse_word(place, setting, "write \"no\", \"entries\" or \"filters\"");
}

static bool set_url_match(const struct value_place *place,
                          const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"normal\"");

    for (unsigned i = 0; s != NULL && i < LIST_URL_COUNT; i++) {
        if (strcmp(s, list_url_match_name((enum list_url_match)i)) == 0) {
            *(enum list_url_match *)field_of(place->row, place->base) =
                (enum list_url_match)i;
            return true;
        }
    }
    return s != NULL &&
           refuse_word(place, setting, "write \"exact\", \"normal\" or \"folded\"");
}

static bool set_filter_layout(const struct value_place *place,
                              const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"one-line\"");
    enum filter_layout layout = FILTER_ONE_LINE;

    if (s == NULL) {
        return false;
    }
    if (!filter_layout_by_name(slice_str(s), &layout)) {
        return refuse_word(place, setting,
                           "write \"one-line\", \"two-lines\", \"classic\" or "
                           "\"partitioned\"");
    }
    *(enum filter_layout *)field_of(place->row, place->base) = layout;
    return true;
}

static bool set_count_unit(const struct value_place *place,
                           const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"messages\"");

    for (int i = 0; s != NULL && i < COUNT_UNITS; i++) {
        if (strcmp(s, count_unit_name((enum count_unit)i)) == 0) {
            *(enum count_unit *)field_of(place->row, place->base) = (enum count_unit)i;
            return true;
        }
    }
    return s != NULL &&
           refuse_word(place, setting, "write \"messages\" or \"deliveries\"");
}

static bool set_window(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"1d\"");

    for (int i = 0; s != NULL && i < RULE_WINDOWS; i++) {
        if (strcmp(s, rule_window_name((enum rule_window)i)) == 0) {
            *(enum rule_window *)field_of(place->row, place->base) =
                (enum rule_window)i;
            return true;
        }
    }
    return s != NULL &&
           refuse_word(place, setting, "write \"10m\", \"1h\", \"1d\" or \"14d\"");
}

static bool set_bulk_alone(const struct value_place *place,
                           const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"header\"");

    for (int i = ACTION_HEADER; s != NULL && i < ACTION_COUNT; i++) {
        if (strcmp(s, action_name((enum action)i)) == 0) {
            *(enum action *)field_of(place->row, place->base) = (enum action)i;
            return true;
        }
    }
    return s != NULL && refuse_word(place, setting,
                                    "write \"header\", \"quarantine\", \"defer\", "
                                    "\"reject\" or \"discard\"");
}

static bool set_role(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"read\"");

    return s != NULL &&
           (api_role_by_name(slice_str(s), field_of(place->row, place->base)) ||
            refuse_word(place, setting,
                        "write \"none\", \"read\", \"report\" or \"admin\""));
}

/* NOLINTNEXTLINE(hicpp-multiway-paths-covered): the other kinds are no words */
bool words_set(const struct value_place *place, const config_setting_t *setting)
{
    switch ((int)place->row->kind) {
    case SCHEMA_LOG_TARGET:
        return set_log_target(place, setting);
    case SCHEMA_LOG_LEVEL:
        return set_log_level(place, setting);
    case SCHEMA_LOG_FORMAT:
        return set_log_format(place, setting);
    case SCHEMA_ON_ERROR:
        return set_on_error(place, setting);
    case SCHEMA_FILTER_MEMORY:
        return set_filter_memory(place, setting);
    case SCHEMA_LIST_SHARE:
        return set_list_share(place, setting);
    case SCHEMA_FILTER_LAYOUT:
        return set_filter_layout(place, setting);
    case SCHEMA_URL_MATCH:
        return set_url_match(place, setting);
    case SCHEMA_COUNT_UNIT:
        return set_count_unit(place, setting);
    case SCHEMA_WINDOW:
        return set_window(place, setting);
    case SCHEMA_ROLE:
        return set_role(place, setting);
    case SCHEMA_BULK_ALONE:
        return set_bulk_alone(place, setting);
    default:
        return false;
    }
}
