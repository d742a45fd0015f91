/*
 * prom - writes the text format of Prometheus, version 0.0.4.
 *
 * The rows of a family follow it without a gap. Names and help texts are the program's own; values
 * of labels may be anything: bytes that could break the format or are no ASCII become '?'. Depends:
 * base.   Threads: one.   Owns: nothing.
 */
#ifndef CORE_HUB_METRICS_PROM_H
#define CORE_HUB_METRICS_PROM_H

#include "core/base/buf.h"

enum prom_type { PROM_COUNTER, PROM_GAUGE, PROM_HISTOGRAM };

struct prom {
    struct buf *to;   /* borrowed; its failure is the caller's to see */
    const char *name; /* of the family at hand; borrowed until the next */
};

void prom_family(struct prom *p, const char *name, enum prom_type type,
                 const char *help);
#define PROM_END ((const char *)NULL)
/* One row. Then come pairs of a label's name and value, and PROM_END. */
void prom_row(struct prom *p, double value, ...) __attribute__((sentinel));
/* A family of one row without labels; its name is not needed afterwards. */
void prom_alone(struct prom *p, const char *name, enum prom_type type, const char *help,
                double value);

/* Ranges of values, each counted for itself; the last of the n has no upper end. */
struct prom_ranges {
    size_t n;
    const double *end; /* n - 1, rising */
    const uint64_t *count;
    double sum;
};
/* The rows of a histogram with one label; NULL: with none. */
void prom_histogram(struct prom *p, const struct prom_ranges *r, const char *label,
                    const char *value);

#endif
