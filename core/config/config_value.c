#include "core/config/config_value.h"

#include <math.h>

#include "core/config/condition.h"
#include "core/config/config_internal.h"
#include "core/config/unit.h"

enum { VALUE_WRITTEN_MAX = 32 };

static void *value_field(const struct schema_row *row, void *base)
{
    return (char *)base + row->offset;
}

/* The value as it was written, without quotes; empty for groups, lists and arrays. */
static struct slice written(const config_setting_t *setting,
                            char dst[VALUE_WRITTEN_MAX])
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_STRING:
        return slice_str(config_setting_get_string(setting));
    case CONFIG_TYPE_INT:
        (void)snprintf(dst, VALUE_WRITTEN_MAX, "%d", config_setting_get_int(setting));
        return slice_str(dst);
    case CONFIG_TYPE_FLOAT:
        (void)snprintf(dst, VALUE_WRITTEN_MAX, "%.12g",
                       config_setting_get_float(setting));
        return slice_str(dst);
    case CONFIG_TYPE_BOOL:
        return slice_str(config_setting_get_bool(setting) ? "true" : "false");
    default:
        return SLICE_NONE;
    }
}

/* The key's right form. False: it is unknown, or the same as the written one. */
static bool right_form(const struct value_place *place, const config_setting_t *setting,
                       char dst[FORM_MAX])
{
    char number[VALUE_WRITTEN_MAX];
    struct slice text = written(setting, number);
    bool is_string = config_setting_type(setting) == CONFIG_TYPE_STRING;

    if (text.n == 0 || setting->name == NULL || !form_value(place->row, text, dst)) {
        return false;
    }
    return !is_string || *dst != '"' || strlen(dst) != text.n + 2 ||
           memcmp(dst + 1, text.p, text.n) != 0;
}

bool value_refuse(const struct value_place *place, const config_setting_t *setting,
                  enum err code, const char *what)
{
    char form[FORM_MAX];

    if (right_form(place, setting, form)) {
        config_errors_add(place->errors, code, place->file, setting->line,
                          "%s: %s; here: %s = %s;", place->label, what, setting->name,
                          form);
    } else {
        config_errors_add(place->errors, code, place->file, setting->line, "%s: %s",
                          place->label, what);
    }
    return false;
}

const char *value_string(const struct value_place *place,
                         const config_setting_t *setting, const char *example)
{
    const char *s = NULL;

    if (config_setting_type(setting) == CONFIG_TYPE_STRING) {
        s = config_setting_get_string(setting);
    }
    if (s == NULL) {
        char what[VALUE_PATH_MAX];

        (void)snprintf(what, sizeof(what),
                       "this is a %s; write it in quotes, such as %s",
                       schema_kind_name(place->row->kind), example);
        value_refuse(place, setting, ERR_SYNTAX, what);
        return NULL;
    }
    if (strlen(s) >
        (place->row->kind == SCHEMA_PATH ? VALUE_PATH_MAX : VALUE_TEXT_MAX)) {
        value_refuse(place, setting, ERR_LIMIT, "the text is too long");
        return NULL;
    }
    for (const char *p = s; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f) {
            value_refuse(place, setting, ERR_SYNTAX,
                         *p == '\n'
                             ? "the text has a line break (control character); write "
                               "its closing quote in the line where it begins"
                             : "the text has a control character; write printable "
                               "ones only");
            return NULL;
        }
    }
    return s;
}

static bool store_text(const struct value_place *place, const config_setting_t *setting,
                       const char *text)
{
    char **field = value_field(place->row, place->base);
    char *copy = strdup(text);

    if (copy == NULL) {
        return value_refuse(place, setting, ERR_NOMEM, "out of memory");
    }
    free(*field);
    *field = copy;
    return true;
}

static bool set_path(const struct value_place *place, const config_setting_t *setting)
{
    char **field = value_field(place->row, place->base);
    const char *s = value_string(place, setting, "\"/var/lib/gillnet\"");
    size_t n = 0;

    if (s == NULL) {
        return false;
    }
    if (*s != '/') {
        return value_refuse(
            place, setting, ERR_RANGE,
            "write an absolute path; programs start in different folders");
    }
    if (!store_text(place, setting, s)) {
        return false;
    }
    for (n = strlen(*field); n > 1 && (*field)[n - 1] == '/'; n--) {
        (*field)[n - 1] = '\0';
    }
    return true;
}

static bool set_file(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"/etc/gillnet/feed.key\"");

    return s != NULL &&
           (*s == '\0' || *s == '/' ||
            value_refuse(
                place, setting, ERR_RANGE,
                "write an absolute path; programs start in different folders")) &&
           store_text(place, setting, s);
}

static bool set_shipped(const struct value_place *place,
                        const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"share/gillnet/prior\"");

    return s != NULL && store_text(place, setting, s);
}

/* Whether what is behind a URL's scheme names a host and, if any, a port that there can be. */
static bool has_sound_host(const char *rest)
{
    const char *end = rest + strcspn(rest, "/?#");
    const char *at = memrchr(rest, '@', (size_t)(end - rest));
    const char *host = at != NULL ? at + 1 : rest;
    bool is_bracketed = host < end && *host == '[';
    const char *close = is_bracketed ? memchr(host, ']', (size_t)(end - host)) : host;

    if (host == end || close == NULL) {
        return false;
    }
    const char *colon = memchr(close, ':', (size_t)(end - close));
    const char *host_end = colon != NULL ? colon : end;

    if (is_bracketed ? host_end != close + 1 : host_end == host) {
        return false;
    }
    size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;
    unsigned long number = digits > 0 ? strtoul(colon + 1, NULL, 10) : 1;

    return (colon == NULL || colon + 1 + digits == end) && number > 0 &&
           number <= UINT16_MAX;
}

static bool set_feed_url(const struct value_place *place,
                         const config_setting_t *setting)
{
    static const char *const schemes[] = {"http://", "https://", "file:///"};
    const char *s = value_string(place, setting, "\"https://feeds.example/urls.txt\"");
    bool is_known = false;

    for (size_t i = 0; s != NULL && i < LENGTH(schemes); i++) {
        size_t n = strlen(schemes[i]);

        is_known = is_known || (strncmp(s, schemes[i], n) == 0 && s[n] != '\0' &&
                                (*s == 'f' || has_sound_host(s + n)));
    }
    if (s != NULL && *s != '\0' && (!is_known || strpbrk(s, " \"<>\\") != NULL)) {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "write an address such as \"https://feeds.example/urls.txt\" or "
            "\"file:///srv/feeds/urls.txt\"");
    }
    return s != NULL && store_text(place, setting, s);
}

static bool check_unix_path(const struct value_place *place,
                            const config_setting_t *setting, const char *path)
{
    if (*path != '/' || path[1] == '\0') {
        return value_refuse(place, setting, ERR_RANGE, "write an absolute path");
    }
    if (path[strlen(path) - 1] == '@' || path[strlen(path) - 1] == '/') {
        char what[VALUE_TEXT_MAX + 128];

        (void)snprintf(what, sizeof(what),
                       "the path of a Unix socket names a file, without %s; write "
                       "\"unix:%.*s\"",
                       path[strlen(path) - 1] == '@' ? "@ and a host" : "/ at the end",
                       (int)strlen(path) - 1, path);
        return value_refuse(place, setting, ERR_SYNTAX, what);
    }
    if (strlen(path) > VALUE_SOCKET_PATH_MAX) {
        return value_refuse(
            place, setting, ERR_LIMIT,
            "the path of a Unix socket may have 107 bytes; choose a shorter "
            "one, such as one below /run");
    }
    return true;
}

/* PORT@HOST or HOST:PORT behind the scheme has a port from 1 to 65535, and a host. */
static bool check_inet(const struct value_place *place, const config_setting_t *setting,
                       const char *rest)
{
    const char *at = strchr(rest, '@');
    const char *colon = strrchr(rest, ':');
    const char *port = at == NULL && colon != NULL ? colon + 1 : rest;
    size_t digits = strspn(port, "0123456789");
    unsigned long number = strtoul(port, NULL, 10); /* too many digits: ULONG_MAX */

    if (digits == 0 || port + digits != (at != NULL ? at : port + strlen(port)) ||
        number == 0 || number > UINT16_MAX) {
        return value_refuse(
            place, setting, ERR_RANGE,
            "write a port from 1 to 65535, such as inet:8895@127.0.0.1");
    }
    if ((at != NULL && at[1] == '\0') ||
        (at == NULL && (colon == NULL || colon == rest))) {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "a port without a host would listen on every address of the "
            "machine; name the address, such as inet:8895@127.0.0.1");
    }
    return true;
}

static bool set_socket(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"unix:/run/gillnet/gillnetd.sock\"");
    const char *colon = NULL;
    bool is_unix = false;

    if (s == NULL) {
        return false;
    }
    colon = strchr(s, ':');
    is_unix = *s == '/' || strncmp(s, "unix:", 5) == 0 || strncmp(s, "local:", 6) == 0;
    if (is_unix) {
        return check_unix_path(place, setting, *s == '/' ? s : colon + 1) &&
               store_text(place, setting, s);
    }
    if ((strncmp(s, "inet:", 5) != 0 && strncmp(s, "inet6:", 6) != 0) ||
        colon[1] == '\0') {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "write unix:/PATH, inet:PORT@HOST or inet:HOST:PORT (inet6: for "
            "IPv6)");
    }
    return check_inet(place, setting, colon + 1) && store_text(place, setting, s);
}

static bool set_control(const struct value_place *place,
                        const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"/run/gillnet/gillnetd.ctl\"");

    return s != NULL && (*s == '\0' || check_unix_path(place, setting, s)) &&
           store_text(place, setting, s);
}

static bool set_listen(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"auto\" or \"192.0.2.1:8894\"");
    const char *colon = s != NULL ? strrchr(s, ':') : NULL;

    if (s == NULL) {
        return false;
    }
    if (strcmp(s, "auto") == 0 || strcmp(s, "off") == 0) {
        return store_text(place, setting, s);
    }
    if (strchr(s, '@') != NULL || strchr(s, '/') != NULL) {
        return value_refuse(place, setting, ERR_SYNTAX,
                            "write HOST:PORT, \"auto\" or \"off\"");
    }
    if (*s != '[' && colon != NULL && colon != strchr(s, ':')) {
        return value_refuse(place, setting, ERR_SYNTAX,
                            "put an IPv6 address in brackets, such as [::]:8894");
    }
    return check_inet(place, setting, s) && store_text(place, setting, s);
}

static bool set_name(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"postfix\"");

    if (s == NULL) {
        return false;
    }
    if (strlen(s) > 64 ||
        strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                  "0123456789_.-$") != strlen(s)) {
        return value_refuse(place, setting, ERR_SYNTAX,
                            "write the name or number of a user or group, or \"\"");
    }
    return store_text(place, setting, s);
}

static bool set_reply(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"Message refused, reference {id}\"");

    if (s == NULL) {
        return false;
    }
    if (*s == '\0' || strlen(s) > VALUE_REPLY_MAX) {
        return value_refuse(place, setting, ERR_LIMIT, "write 1 to 400 characters");
    }
    for (const char *p = s; *p != '\0'; p++) {
        if ((unsigned char)*p >= 0x80) {
            return value_refuse(place, setting, ERR_SYNTAX,
                                "a reply may have ASCII characters only");
        }
        if (*p == '{' && strncmp(p, "{id}", 4) != 0 && strncmp(p, "{case}", 6) != 0 &&
            strncmp(p, "{symbols}", 9) != 0) {
            return value_refuse(place, setting, ERR_SYNTAX,
                                "the placeholders are {id}, {case} and {symbols}");
        }
    }
    return store_text(place, setting, s);
}

static bool set_category(const struct value_place *place,
                         const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"phish\"");

    if (s == NULL) {
        return false;
    }
    if (*s == '\0' || strlen(s) > 32 ||
        strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(s)) {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "write one word of a-z, 0-9, _ and -, at most 32 characters");
    }
    return store_text(place, setting, s);
}

static bool set_mode(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"0660\"");

    return s != NULL &&
           (unit_mode(s, value_field(place->row, place->base)) ||
            value_refuse(place, setting, ERR_SYNTAX,
                         "write octal rights such as \"0660\", at most 0777"));
}

/* Within the row's bounds; otherwise an error that names them in the row's unit. */
static bool check_range(const struct value_place *place,
                        const config_setting_t *setting, double v)
{
    const struct schema_row *row = place->row;
    char least[UNIT_TEXT_MAX];
    char most[UNIT_TEXT_MAX];

    if (v >= row->min && v <= row->max) {
        return true;
    }
    value_bound_text(row, row->min, least);
    value_bound_text(row, row->max, most);
    if (row->kind == SCHEMA_SHARE && v > row->max && v <= 100) {
        config_errors_add(
            place->errors, ERR_RANGE, place->file, setting->line,
            "%s: out of range; write a value from %s to %s; %g percent is "
            "%g",
            place->label, least, most, v, v / 100);
        return false;
    }
    config_errors_add(place->errors, ERR_RANGE, place->file, setting->line,
                      "%s: out of range; write a value from %s to %s", place->label,
                      least, most);
    return false;
}

static bool set_size(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"16M\"");
    uint64_t v = 0;

    if (s == NULL) {
        return false;
    }
    if (!unit_size(s, &v)) {
        return value_refuse(place, setting, ERR_SYNTAX,
                            "write digits and a unit: B, K, M or G, such as \"16M\"");
    }
    if (!check_range(place, setting, (double)v)) {
        return false;
    }
    *(uint64_t *)value_field(place->row, place->base) = v;
    return true;
}

static bool set_time(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"250ms\" or \"10m\"");
    uint64_t v = 0;

    if (s == NULL) {
        return false;
    }
    if (!unit_time_us(s, &v)) {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "write digits and a unit: ms, s, m, h, d or w, such as \"250ms\" or "
            "\"10m\"");
    }
    if (place->row->kind == SCHEMA_TIME_S) {
        if (v % 1000000 != 0) {
            return value_refuse(place, setting, ERR_SYNTAX, "write whole seconds");
        }
        v /= 1000000;
    }
    if (!check_range(place, setting, (double)v)) {
        return false;
    }
    *(uint64_t *)value_field(place->row, place->base) = v;
    return true;
}

static bool set_count(const struct value_place *place, const config_setting_t *setting)
{
    int type = config_setting_type(setting);
    long long v = 0;

    if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) {
        return value_refuse(place, setting, ERR_SYNTAX,
                            "write a whole number without quotes, such as 500");
    }
    v = type == CONFIG_TYPE_INT ? config_setting_get_int(setting)
                                : config_setting_get_int64(setting);
    if (!check_range(place, setting, (double)v)) {
        return false;
    }
    *(unsigned *)value_field(place->row, place->base) = (unsigned)v;
    return true;
}

static bool set_bool(const struct value_place *place, const config_setting_t *setting)
{
    if (config_setting_type(setting) != CONFIG_TYPE_BOOL) {
        return value_refuse(place, setting, ERR_SYNTAX,
                            "write true or false, without quotes");
    }
    *(bool *)value_field(place->row, place->base) =
        config_setting_get_bool(setting) != 0;
    return true;
}

static bool set_score(const struct value_place *place, const config_setting_t *setting)
{
    bool may_be_off = place->row->kind == SCHEMA_THRESHOLD;
    double *field = value_field(place->row, place->base);
    double v = 0;

    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
        v = config_setting_get_int(setting);
        break;
    case CONFIG_TYPE_FLOAT:
        v = config_setting_get_float(setting);
        break;
    case CONFIG_TYPE_STRING:
        if (may_be_off && strcmp(config_setting_get_string(setting), "off") == 0) {
            *field = HUGE_VAL;
            return true;
        }
        __attribute__((fallthrough));
    default:
        return value_refuse(
            place, setting, ERR_SYNTAX,
            may_be_off ? "write a number without quotes, such as 5.0, or \"off\""
            : place->row->kind == SCHEMA_SHARE
                ? "write a number without quotes, such as 0.001"
                : "write a number without quotes, such as 5.0");
    }
    if (!check_range(place, setting, v)) {
        return false;
    }
    *field = v;
    return true;
}

static bool set_type(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"text_band\"");

    return s != NULL && store_text(place, setting, s);
}

static bool set_line(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"a text\"");

    return s != NULL && store_text(place, setting, s);
}

static bool set_date(const struct value_place *place, const config_setting_t *setting)
{
    const char *s = value_string(place, setting, "\"2027-06-30\"");

    return s != NULL &&
           (unit_date(s, value_field(place->row, place->base)) ||
            value_refuse(place, setting, ERR_SYNTAX,
                         "write a day as YEAR-MONTH-DAY, such as \"2027-06-30\""));
}

typedef bool set_fn(const struct value_place *place, const config_setting_t *setting);
static set_fn *const setters[] = {
    [SCHEMA_PATH] = set_path,
    [SCHEMA_SOCKET] = set_socket,
    [SCHEMA_CONTROL] = set_control,
    [SCHEMA_LISTEN] = set_listen,
    [SCHEMA_NAME] = set_name,
    [SCHEMA_REPLY] = set_reply,
    [SCHEMA_CATEGORY] = set_category,
    [SCHEMA_MODE] = set_mode,
    [SCHEMA_SIZE] = set_size,
    [SCHEMA_TIME_US] = set_time,
    [SCHEMA_TIME_S] = set_time,
    [SCHEMA_COUNT] = set_count,
    [SCHEMA_BOOL] = set_bool,
    [SCHEMA_SCORE] = set_score,
    [SCHEMA_THRESHOLD] = set_score,
    [SCHEMA_SHARE] = set_score,
    [SCHEMA_TYPE] = set_type,
    [SCHEMA_FILE] = set_file,
    [SCHEMA_SHIPPED] = set_shipped,
    [SCHEMA_FEED_URL] = set_feed_url,
    [SCHEMA_LINE] = set_line,
    [SCHEMA_DATE] = set_date,
    [SCHEMA_CONDITIONS] = conditions_set,
};

bool value_set(const struct value_place *place, const config_setting_t *setting)
{
    const enum schema_kind kind = place->row->kind;

    if (kind < LENGTH(setters) && setters[kind] != NULL) {
        return setters[kind](place, setting);
    }
    return keywords_has(kind) ? keywords_set(place, setting)
                              : elements_set(place, setting);
}
