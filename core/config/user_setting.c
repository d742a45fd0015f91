/* user_setting - reads KEY=VALUE by the rows of the schema. */
#include "core/config/user_setting.h"

#include <math.h>

#include "core/base/nearest.h"
#include "core/config/config_value.h"

enum { NUMBER_MAX = 32, PATH_MAX_BYTES = 64, RULE_NAME_MAX = 32 };

/* The keys of which one may be set; NAME stands for the name of a rule or list. */
static const struct {
    const char *path;
    enum user_key key;
} known[] = {
    {"sensitivity", USER_SENSITIVITY},         {"thresholds.header", USER_THRESHOLD},
    {"thresholds.quarantine", USER_THRESHOLD}, {"thresholds.defer", USER_THRESHOLD},
    {"thresholds.reject", USER_THRESHOLD},     {"thresholds.discard", USER_THRESHOLD},
    {"rules.NAME.score", USER_SCORE},          {"rules.NAME.shadow", USER_SHADOW},
    {"rules.NAME.enabled", USER_ENABLED},      {"lists.NAME.weight", USER_SCORE},
    {"lists.NAME.shadow", USER_SHADOW},        {"lists.NAME.enabled", USER_ENABLED},
    {"allow.addresses", USER_ALLOW_ADDRESSES}, {"allow.domains", USER_ALLOW_DOMAINS},
    {"block.addresses", USER_BLOCK_ADDRESSES}, {"block.domains", USER_BLOCK_DOMAINS},
};

static enum err refuse_setting(struct errinfo *reterr, enum err e, struct slice key,
                               const char *why)
{
    return errinfo_set(reterr, e, "", 0, "%.*s: %s",
                       SLICE_ARGS(slice_head(key, PATH_MAX_BYTES)), why);
}

/* ---- keys ---- */

/* Whether a rule or a list can have the name. */
static bool is_name(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool is_letter = (s.p[i] >= 'a' && s.p[i] <= 'z') ||
                         (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_' ||
                         s.p[i] == '-';
        if (!is_letter) {
            return false;
        }
    }
    return s.n <= RULE_NAME_MAX;
}

/* "offer" of "offer.score"; empty: there is none. */
static struct slice name_before_key(struct slice rest)
{
    size_t last = rest.n;

    while (last > 0 && rest.p[last - 1] != '.') {
        last--;
    }
    return last > 0 ? slice_head(rest, last - 1) : SLICE_NONE;
}

static bool has_names(struct slice group)
{
    return slice_eq(group, SLICE_LIT("rules")) || slice_eq(group, SLICE_LIT("lists"));
}

/* Symbols are in upper case, and are mistaken for names. */
static bool has_symbol(struct slice key)
{
    struct slice name = key;
    const bool is_named = has_names(slice_cut(&name, '.'));
    size_t i = 0;

    name = name_before_key(name);
    while (i < name.n && !(name.p[i] >= 'A' && name.p[i] <= 'Z')) {
        i++;
    }
    return is_named && i < name.n;
}

/* Splits "rules.NAME.score"; other keys stay whole in *path, as their row has them. */
static struct slice name_in(struct slice key, char path[PATH_MAX_BYTES])
{
    struct slice rest = key;
    struct slice group = slice_cut(&rest, '.');
    const struct slice name = name_before_key(rest);

    (void)snprintf(path, PATH_MAX_BYTES, "%.*s",
                   SLICE_ARGS(slice_head(key, PATH_MAX_BYTES - 1)));
    if (!has_names(group) || name.n == 0 || !is_name(name)) {
        return SLICE_NONE;
    }
    (void)snprintf(
        path, PATH_MAX_BYTES, "%.*s.NAME.%.*s", SLICE_ARGS(group),
        SLICE_ARGS(slice_head(slice_from(rest, name.n + 1), PATH_MAX_BYTES / 2)));
    return name;
}

static enum err refuse_key(struct slice key, const char *path, struct errinfo *reterr)
{
    const char *best = known[0].path;
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < LENGTH(known); i++) {
        size_t edits = nearest_edits(slice_str(path), slice_str(known[i].path));
        best = edits < least ? known[i].path : best;
        least = edits < least ? edits : least;
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, "", 0,
                       "\"%.*s\" is no key that a user may have; the nearest one is %s",
                       SLICE_ARGS(slice_head(key, PATH_MAX_BYTES)), best);
}

static enum action action_of(const char *path)
{
    const char *name = strchr(path, '.') + 1;
    unsigned a = ACTION_HEADER;

    while (a < ACTION_COUNT - 1 && strcmp(action_name((enum action)a), name) != 0) {
        a++;
    }
    return (enum action)a;
}

/* ---- values ---- */

static bool read_score(struct slice text, double *ret)
{
    char copy[NUMBER_MAX];
    char *end = NULL;

    if (text.n == 0 || text.n >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *ret = strtod(copy, &end);
    return strspn(copy, "0123456789.-") == text.n && *end == '\0';
}

/* Within the bounds of the schema's row, which are those of the site's key. */
static enum err take_number(struct slice key, struct slice value,
                            const struct schema_row *row, struct user_setting *s,
                            struct errinfo *reterr)
{
    char form[FORM_MAX];

    if (row->kind == SCHEMA_THRESHOLD && slice_eq(value, SLICE_LIT("off"))) {
        s->number = HUGE_VAL;
        return ERR_OK;
    }
    if (read_score(value, &s->number) && s->number >= row->min &&
        s->number <= row->max) {
        return ERR_OK;
    }
    (void)snprintf(form, sizeof(form), "write a number from %g to %g%s", row->min,
                   row->max, row->kind == SCHEMA_THRESHOLD ? ", or off" : "");
    return refuse_setting(reterr, ERR_RANGE, key, form);
}

static enum err take_sensitivity(struct slice key, struct slice value,
                                 struct user_setting *s, struct errinfo *reterr)
{
    static const char *const words[] = {"low", "normal", "high"};
    static const double factors[] = {1.5, 1.0, 0.7};
    int at = name_index(value, words, LENGTH(words));

    if (at >= 0) {
        s->number = factors[at];
        return ERR_OK;
    }
    if (!read_score(value, &s->number) || s->number < USER_SENSITIVITY_LEAST ||
        s->number > USER_SENSITIVITY_MOST) {
        return refuse_setting(
            reterr, ERR_RANGE, key,
            "write low, normal, high, or the factor on thresholds, a number "
            "from 0.1 to 10");
    }
    return ERR_OK;
}

static enum err take_flag(struct slice key, struct slice value, struct user_setting *s,
                          struct errinfo *reterr)
{
    s->flag = slice_eq(value, SLICE_LIT("true"));
    return s->flag || slice_eq(value, SLICE_LIT("false"))
               ? ERR_OK
               : refuse_setting(reterr, ERR_SYNTAX, key, "write true or false");
}

static enum err take_values(struct slice key, struct slice value,
                            struct user_setting *s, struct errinfo *reterr)
{
    bool is_domain = s->key == USER_ALLOW_DOMAINS || s->key == USER_BLOCK_DOMAINS;
    struct slice rest = value;

    while (rest.p != NULL) {
        char copy[USER_NAME_MAX + 1];
        struct slice one = slice_cut(&rest, ',');
        if (one.n > USER_NAME_MAX) {
            return refuse_setting(reterr, ERR_SYNTAX, key,
                                  "one of its values is too long");
        }
        memcpy(copy, one.n > 0 ? one.p : "", one.n);
        copy[one.n] = '\0';
        const char *why =
            value_tidy(is_domain ? SCHEMA_DOMAINS : SCHEMA_ADDRESSES, copy);
        if (why == NULL && strlen(copy) != one.n) {
            why = "write a domain without a dot at its end";
        }
        if (why != NULL) {
            return refuse_setting(reterr, ERR_SYNTAX, key, why);
        }
    }
    s->values = value;
    return ERR_OK;
}

/* ---- one setting ---- */

/* The row of the site's key with the same name. */
static const struct schema_row *row_of(const struct user_setting *s, const char *path)
{
    if (s->key == USER_THRESHOLD) {
        return schema_find("thresholds", strchr(path, '.') + 1);
    }
    return s->is_list ? schema_find("lists", "weight") : schema_find("rules", "score");
}

static enum err take_value(struct slice key, const char *path, struct slice value,
                           struct user_setting *s, struct errinfo *reterr)
{
    switch (s->key) {
    case USER_SENSITIVITY:
        return take_sensitivity(key, value, s, reterr);
    case USER_THRESHOLD:
        s->action = action_of(path);
        return take_number(key, value, row_of(s, path), s, reterr);
    case USER_SCORE:
        return take_number(key, value, row_of(s, path), s, reterr);
    case USER_SHADOW:
    case USER_ENABLED:
        return take_flag(key, value, s, reterr);
    case USER_ALLOW_ADDRESSES:
    case USER_ALLOW_DOMAINS:
    case USER_BLOCK_ADDRESSES:
    case USER_BLOCK_DOMAINS:
        break;
    }
    return take_values(key, value, s, reterr);
}

enum err user_setting_parse(struct slice text, struct user_setting *ret,
                            struct errinfo *reterr)
{
    char path[PATH_MAX_BYTES];
    struct slice value = text;
    struct slice key = slice_cut(&value, '=');

    if (value.p == NULL || text.n > USER_VALUES_MAX) {
        return refuse_setting(reterr, ERR_SYNTAX, key,
                              value.p == NULL ? "write KEY=VALUE, without blanks"
                                              : "the setting is too long");
    }
    *ret = (struct user_setting){.name = name_in(key, path)};
    ret->is_list = slice_has_prefix(key, SLICE_LIT("lists."));
    for (size_t i = 0; i < LENGTH(known); i++) {
        if (strcmp(known[i].path, path) == 0) {
            ret->key = known[i].key;
            return take_value(key, path, value, ret, reterr);
        }
    }
    return has_symbol(key) ? refuse_setting(reterr, ERR_SYNTAX, key,
                                            "write the name of the rule or list: in "
                                            "lower case, without RULE_ or LIST_")
                           : refuse_key(key, path, reterr);
}

enum err user_setting_check(const struct config *c, const struct user_setting *s,
                            struct errinfo *reterr)
{
    bool is_of_rule = !s->is_list && (s->key == USER_SCORE || s->key == USER_SHADOW ||
                                      s->key == USER_ENABLED);

    for (size_t i = 0; is_of_rule && i < c->nrules; i++) {
        is_of_rule = !slice_eq(s->name, slice_str(c->rules[i].name));
    }
    return is_of_rule ? errinfo_set(reterr, ERR_NOT_FOUND, "", 0,
                                    "there is no rule \"%.*s\"; `gillnet config dump "
                                    "rules` shows the names",
                                    SLICE_ARGS(slice_head(s->name, PATH_MAX_BYTES)))
                      : ERR_OK;
}

enum err user_setting_check_twice(struct slice word, struct slice other,
                                  struct errinfo *reterr)
{
    struct slice key = slice_cut(&word, '=');

    return slice_eq(key, slice_cut(&other, '='))
               ? refuse_setting(reterr, ERR_SYNTAX, key,
                                "is set twice; write each key once")
               : ERR_OK;
}

/* ---- names ---- */

const char *user_name_tidy(struct slice text, char ret[USER_NAME_MAX + 1])
{
    if (text.n == 0 || text.n > USER_NAME_MAX) {
        return "write USER@DOMAIN or @DOMAIN, at most 320 bytes";
    }
    memcpy(ret, text.p, text.n);
    ret[text.n] = '\0';
    for (char *p = ret; *p != '\0'; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7f) {
            return "a name has no blanks and no control characters";
        }
        if (*p >= 'A' && *p <= 'Z') {
            *p = (char)(*p - 'A' + 'a');
        }
    }
    if (strlen(ret) != text.n || strchr(ret, '@') == NULL) {
        return "write USER@DOMAIN or @DOMAIN";
    }
    return *ret == '@' ? value_tidy(SCHEMA_DOMAINS, ret + 1)
                       : value_tidy(SCHEMA_ADDRESSES, ret);
}

bool user_name_drop_extension(char *name)
{
    char *plus = strchr(name, '+');
    const char *at = strrchr(name, '@');

    if (plus == NULL || plus == name || plus > at) {
        return false;
    }
    memmove(plus, at, strlen(at) + 1);
    return true;
}
