#include <math.h>

#include "core/base/utf8.h"
#include "core/config/condition.h"
#include "core/config/schema.h"
#include "core/config/unit.h"

static void *row_field(const struct schema_row *row, void *base)
{
    return (char *)base + row->offset;
}

static const void *const_field_of(const struct schema_row *row, const void *base)
{
    return (const char *)base + row->offset;
}

static bool is_text(enum schema_kind kind)
{
    return kind == SCHEMA_PATH || kind == SCHEMA_SOCKET || kind == SCHEMA_CONTROL ||
           kind == SCHEMA_NAME || kind == SCHEMA_REPLY || kind == SCHEMA_CATEGORY ||
           kind == SCHEMA_TYPE || kind == SCHEMA_LISTEN || kind == SCHEMA_FILE ||
           kind == SCHEMA_SHIPPED || kind == SCHEMA_FEED_URL || kind == SCHEMA_LINE;
}

static bool is_strings(enum schema_kind kind)
{
    return kind == SCHEMA_TOKENS || kind == SCHEMA_ADDRESSES ||
           kind == SCHEMA_DOMAINS || kind == SCHEMA_RECIPIENTS ||
           kind == SCHEMA_WEIGHTS || kind == SCHEMA_URLS || kind == SCHEMA_TEXTS ||
           kind == SCHEMA_LISTENS;
}

void value_free(const struct schema_row *row, void *base)
{
    if (is_text(row->kind)) {
        char **field = row_field(row, base);

        free(*field);
        *field = NULL;
    } else if (is_strings(row->kind)) {
        elements_strings_free(row_field(row, base));
    } else if (row->kind == SCHEMA_NETWORKS) {
        struct elements_networks field = elements_networks_of(row, base);

        free(*field.v);
        *field.v = NULL;
        *field.n = 0;
    } else if (row->kind == SCHEMA_CONDITIONS) {
        conditions_free(row_field(row, base));
    }
}

bool value_copy(const struct schema_row *row, void *to, const void *from)
{
    const void *source = const_field_of(row, from);
    void *field = row_field(row, to);

    if (is_text(row->kind)) {
        *(char **)field = strdup(*(char *const *)source);
        return *(char **)field != NULL;
    }
    if (is_strings(row->kind)) {
        return elements_strings_copy(field, source);
    }
    if (row->kind == SCHEMA_CONDITIONS) {
        return true; /* the defaults have none */
    }
    if (keywords_has(row->kind)) {
        *(unsigned *)field = *(const unsigned *)source; /* no family has log.format */
        return true;
    }
    switch (row->kind) {
    case SCHEMA_TIME_S:
    case SCHEMA_DATE:
    case SCHEMA_SIZE:
        *(uint64_t *)field = *(const uint64_t *)source;
        return true;
    case SCHEMA_BOOL:
        *(bool *)field = *(const bool *)source;
        return true;
    case SCHEMA_COUNT:
        *(unsigned *)field = *(const unsigned *)source;
        return true;
    default: /* SCHEMA_SCORE, SCHEMA_SHARE; groups of families have no other kinds */
        *(double *)field = *(const double *)source;
        return true;
    }
}

void value_add_quoted(struct buf *b, struct slice s)
{
    buf_add_char(b, '"');
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        size_t n = utf8_length(p, s.n - i);

        if (n == 0) {
            buf_add_str(b, "\\ufffd");
            n = 1;
        } else if (*p < 0x20 || *p == 0x7f) {
            buf_printf(b, "\\u%04x", *p);
        } else if (*p == '"' || *p == '\\') {
            buf_add_char(b, '\\');
            buf_add_char(b, (char)*p);
        } else {
            buf_add(b, slice_of(s.p + i, n));
        }
        i += n;
    }
    buf_add_char(b, '"');
}

static void add_quoted(struct buf *b, const char *s)
{
    value_add_quoted(b, slice_str(s));
}

static void add_score(struct buf *b, double v)
{
    char text[UNIT_TEXT_MAX];

    if (v == HUGE_VAL) {
        buf_add_str(b, "\"off\"");
        return;
    }
    (void)snprintf(text, sizeof(text), "%.15g", v);
    buf_add_str(b, text);
    if (strpbrk(text, ".e") == NULL) {
        buf_add_str(b, ".0");
    }
}

static void add_networks(const struct schema_row *row, const void *base,
                         struct buf *ret)
{
    size_t n = 0;
    const struct ipnet *v = elements_networks_at(row, base, &n);
    char text[UNIT_TEXT_MAX];

    buf_add_char(ret, '[');
    for (size_t i = 0; i < n; i++) {
        unit_network_text(&v[i], text);
        buf_add_str(ret, i > 0 ? ", " : "");
        add_quoted(ret, text);
    }
    buf_add_char(ret, ']');
}

static void add_strings(const struct config_strings *s, struct buf *ret)
{
    buf_add_char(ret, '[');
    for (size_t i = 0; i < s->n; i++) {
        buf_add_str(ret, i > 0 ? ", " : "");
        add_quoted(ret, s->v[i]);
    }
    buf_add_char(ret, ']');
}

/* False: the kind has no unit. */
static bool unit_text(enum schema_kind kind, uint64_t v, char dst[UNIT_TEXT_MAX])
{
    if (kind == SCHEMA_SIZE) {
        unit_size_text(v, dst);
    } else if (kind == SCHEMA_TIME_US || kind == SCHEMA_TIME_S) {
        unit_time_us_text(kind == SCHEMA_TIME_S ? v * 1000000 : v, dst);
    } else {
        return false;
    }
    return true;
}

void value_text(const struct schema_row *row, const void *base, struct buf *ret)
{
    const void *field = const_field_of(row, base);
    char text[UNIT_TEXT_MAX];

    if (is_text(row->kind)) {
        add_quoted(ret, *(char *const *)field);
        return;
    }
    if (is_strings(row->kind)) {
        add_strings(field, ret);
        return;
    }
    switch (row->kind) {
    case SCHEMA_SIZE:
    case SCHEMA_TIME_US:
    case SCHEMA_TIME_S:
        (void)unit_text(row->kind, *(const uint64_t *)field, text);
        add_quoted(ret, text);
        break;
    case SCHEMA_DATE:
        unit_date_text(*(const uint64_t *)field, text);
        add_quoted(ret, text);
        break;
    case SCHEMA_CONDITIONS:
        conditions_text(field, ret);
        break;
    case SCHEMA_MODE:
        buf_printf(ret, "\"%04o\"", *(const unsigned *)field);
        break;
    case SCHEMA_COUNT:
        buf_printf(ret, "%u", *(const unsigned *)field);
        break;
    case SCHEMA_BOOL:
        buf_add_str(ret, *(const bool *)field ? "true" : "false");
        break;
    case SCHEMA_SCORE:
    case SCHEMA_THRESHOLD:
    case SCHEMA_SHARE:
        add_score(ret, *(const double *)field);
        break;
    case SCHEMA_NETWORKS:
        add_networks(row, base, ret);
        break;
    default:
        add_quoted(ret, keywords_text(row, base));
        break;
    }
}

void value_bound_text(const struct schema_row *row, double bound,
                      char dst[UNIT_TEXT_MAX])
{
    if (!unit_text(row->kind, bound > 0 ? (uint64_t)bound : 0, dst)) {
        (void)snprintf(dst, UNIT_TEXT_MAX, "%.15g", bound);
    }
}
