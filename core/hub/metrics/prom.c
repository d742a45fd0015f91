#include "core/hub/metrics/prom.h"

#include <math.h>
#include <stdarg.h>

/* Whole numbers below are written exactly. */
#define WHOLE_MAX 1e15

void prom_family(struct prom *p, const char *name, enum prom_type type,
                 const char *help)
{
    static const char *const types[] = {
        [PROM_COUNTER] = "counter",
        [PROM_GAUGE] = "gauge",
        [PROM_HISTOGRAM] = "histogram",
    };

    p->name = name;
    buf_printf(p->to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, types[type]);
}

static void add_number(struct buf *to, double v)
{
    if (isnan(v)) {
        buf_add_str(to, "NaN");
    } else if (isinf(v)) {
        buf_add_str(to, v > 0 ? "+Inf" : "-Inf");
    } else if (v == floor(v) && fabs(v) < WHOLE_MAX) {
        buf_printf(to, "%" PRId64, (int64_t)v);
    } else {
        buf_printf(to, "%.15g", v);
    }
}

static void add_label(struct buf *to, bool is_first, const char *name,
                      const char *value)
{
    buf_add_char(to, is_first ? '{' : ',');
    buf_add_str(to, name);
    buf_add_str(to, "=\"");
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            buf_add_char(to, '\\');
        }
        buf_add_char(to, (char)(*c >= ' ' && *c < 0x7f ? *c : '?'));
    }
    buf_add_char(to, '"');
}

static void end_row(struct buf *to, bool has_labels, double value)
{
    buf_add_str(to, has_labels ? "} " : " ");
    add_number(to, value);
    buf_add_char(to, '\n');
}

void prom_row(struct prom *p, double value, ...)
{
    const char *label = NULL;
    bool is_first = true;
    va_list ap;

    buf_add_str(p->to, p->name);
    va_start(ap, value);
    while ((label = va_arg(ap, const char *)) != NULL) {
        add_label(p->to, is_first, label, va_arg(ap, const char *));
        is_first = false;
    }
    va_end(ap);
    end_row(p->to, !is_first, value);
}

void prom_alone(struct prom *p, const char *name, enum prom_type type, const char *help,
                double value)
{
    prom_family(p, name, type, help);
    prom_row(p, value, PROM_END);
    p->name = NULL;
}

/* A row of the family's name and more, with the label if there is one. */
static void add_part(struct prom *p, const char *suffix, const char *label,
                     const char *value, double v)
{
    buf_printf(p->to, "%s%s", p->name, suffix);
    if (label != NULL) {
        add_label(p->to, true, label, value);
    }
    end_row(p->to, label != NULL, v);
}

void prom_histogram(struct prom *p, const struct prom_ranges *r, const char *label,
                    const char *value)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < r->n; i++) {
        sum += r->count[i];
        buf_printf(p->to, "%s_bucket", p->name);
        if (label != NULL) {
            add_label(p->to, true, label, value);
        }
        buf_add_str(p->to, label != NULL ? ",le=\"" : "{le=\"");
        add_number(p->to, i + 1 < r->n ? r->end[i] : HUGE_VAL);
        buf_add_char(p->to, '"');
        end_row(p->to, true, (double)sum);
    }
    add_part(p, "_sum", label, value, r->sum);
    add_part(p, "_count", label, value, (double)sum);
}
