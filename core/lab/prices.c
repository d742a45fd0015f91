#include "core/lab/prices.h"

#include <libconfig.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/config/config_internal.h"
#include "core/config/precheck.h"

struct key {
    const char *name;
    size_t offset; /* of a double, or of struct prices_numbers */
    double least;
    double most;
    bool is_grid;
};

static const struct key keys[] = {
    {"memory_gb", offsetof(struct prices, memory_gb), 0, 1e15, false},
    {"instance", offsetof(struct prices, instance), 0, 1e15, false},
    {"instance_gb", offsetof(struct prices, instance_gb), 0, 1e15, false},
    {"instances", offsetof(struct prices, instances), 0, 1e6, false},
    {"false_positive_query", offsetof(struct prices, false_positive_query), 0, 1e15,
     false},
    {"false_positive", offsetof(struct prices, false_positive), 0, 1e15, false},
    {"unconfirmed", offsetof(struct prices, unconfirmed), 0, 1, false},
    {"queries_per_day", offsetof(struct prices, queries_per_day), 1, 1e15, false},
    {"max_error", offsetof(struct prices, max_error), 1e-12, 1, false},
    {"errors", offsetof(struct prices, errors), 1e-12, 0.999999, true},
    {"items", offsetof(struct prices, items), 1, 1e12, true},
};
enum { KEYS = LENGTH(keys) };

struct reading {
    const char *file;
    struct prices *p;
    struct config_errors *errors;
};

static void on_scan_finding(void *context, unsigned line, enum err code,
                            const char *text)
{
    const struct reading *r = context;
    bool is_number = strcmp(text, SCAN_TOO_LARGE) == 0;

    config_errors_add(r->errors, code, r->file, line, "%s",
                      is_number ? "the number is too large for this notation; write it "
                                  "as 3e9"
                                : text);
}

/* False, and an error, where the setting is no number within the key's bounds. */
static bool read_number(const struct reading *r, const struct key *k,
                        const config_setting_t *setting, double *ret)
{
    unsigned line = (unsigned)config_setting_source_line(setting);
    double v = 0;

    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
        v = config_setting_get_int(setting);
        break;
    case CONFIG_TYPE_INT64:
        v = (double)config_setting_get_int64(setting);
        break;
    case CONFIG_TYPE_FLOAT:
        v = config_setting_get_float(setting);
        break;
    default:
        config_errors_add(r->errors, ERR_SYNTAX, r->file, line,
                          "%s: write a number without quotes, such as 0.5 or 1e9",
                          k->name);
        return false;
    }
    if (!(v >= k->least && v <= k->most)) { /* NaN too */
        config_errors_add(r->errors, ERR_RANGE, r->file, line,
                          "%s: %g is not from %g to %g", k->name, v, k->least, k->most);
        return false;
    }
    *ret = v;
    return true;
}

static void read_grid(const struct reading *r, const struct key *k,
                      const config_setting_t *setting, struct prices_numbers *ret)
{
    int n = config_setting_length(setting);
    unsigned line = (unsigned)config_setting_source_line(setting);

    if (!config_setting_is_array(setting) && !config_setting_is_list(setting)) {
        config_errors_add(r->errors, ERR_SYNTAX, r->file, line,
                          "%s: write several numbers in square brackets, such as [1e6, "
                          "2e6]",
                          k->name);
        return;
    }
    if (n < 1 || n > PRICES_GRID_MAX) {
        config_errors_add(r->errors, ERR_LIMIT, r->file, line,
                          "%s: %d numbers; give 1 to %d", k->name, n, PRICES_GRID_MAX);
        return;
    }
    ret->n = 0;
    for (int i = 0; i < n; i++) {
        const config_setting_t *one = config_setting_get_elem(setting, (unsigned)i);
        if (read_number(r, k, one, &ret->v[i])) {
            ret->n++;
        }
    }
}

static void read_setting(const struct reading *r, const config_setting_t *setting)
{
    const char *name = config_setting_name(setting);
    char *base = (char *)r->p;

    for (size_t i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        if (strcmp(k->name, name) != 0) {
            continue;
        }
        if (k->is_grid) {
            struct prices_numbers grid = {.n = 0};
            read_grid(r, k, setting, &grid);
            memcpy(base + k->offset, &grid, sizeof(grid));
        } else {
            double v = 0;
            (void)read_number(r, k, setting, &v);
            memcpy(base + k->offset, &v, sizeof(v));
        }
        return;
    }
    config_errors_add(r->errors, ERR_SYNTAX, r->file,
                      (unsigned)config_setting_source_line(setting),
                      "there is no price named %.100s; gillnet(1) lists them", name);
}

static void parse(const struct reading *r, const struct buf *text)
{
    config_t parsed;

    config_init(&parsed);
    if (config_read_string(&parsed, text->p != NULL ? text->p : "") == CONFIG_TRUE) {
        const config_setting_t *root = config_root_setting(&parsed);
        for (int i = 0; i < config_setting_length(root); i++) {
            read_setting(r, config_setting_get_elem(root, (unsigned)i));
        }
    } else {
        const char *what = config_error_text(&parsed);
        config_errors_add(
            r->errors, ERR_SYNTAX, r->file, (unsigned)config_error_line(&parsed),
            "%s; each line is NAME = NUMBER;", what != NULL ? what : "syntax error");
    }
    config_destroy(&parsed);
}

enum err prices_load(const char *file, struct prices *p,
                     struct config_errors *reterrors)
{
    struct reading r = {.file = file, .p = p, .errors = reterrors};
    struct errinfo why = {0};
    struct buf text;
    enum err e = ERR_OK;

    buf_init(&text, PRICES_FILE_MAX);
    e = file_read(file, &text, &why);
    text.max++;
    buf_add_char(&text, '\n'); /* libconfig wants one after a comment */
    if (e != ERR_OK) {
        config_errors_add(reterrors, e, file, 0, "%s", why.text);
    } else if (scan_config(buf_slice(&text), on_scan_finding, &r)) {
        parse(&r, &text);
    }
    buf_fini(&text);
    return reterrors->n > 0 ? reterrors->v[0].code : ERR_OK;
}
