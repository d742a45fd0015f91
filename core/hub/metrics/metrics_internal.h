/*
 * metrics_internal - the parts of the answer.
 */
#ifndef CORE_HUB_METRICS_METRICS_INTERNAL_H
#define CORE_HUB_METRICS_METRICS_INTERNAL_H

#include "core/hub/metrics/metrics_snapshot.h"
#include "core/hub/metrics/prom.h"

/* gillnetd: statistics page, history. metrics_mail.c */
void metrics_add_mail(struct prom *p, const struct metrics_snapshot *s);
/* metrics_lists.c */
void metrics_add_lists(struct prom *p, const struct metrics_snapshot *s);
void metrics_add_feeds(struct prom *p, const struct metrics_snapshot *s);
void metrics_add_new_entries(struct prom *p, const struct metrics_snapshot *s,
                             const char *name);
void metrics_add_peers(struct prom *p, const struct metrics_snapshot *s);
/* metrics_shared.c */
void metrics_add_shared(struct prom *p, const struct metrics_snapshot *s);
/* The API's and the hub's own, alerts. metrics_hub.c */
void metrics_add_hub(struct prom *p, const struct metrics_snapshot *s);

/* Once more under the source document's names (requirement 152) and those of Prometheus for a
 * process. */
void metrics_add_mail_source(struct prom *p, const struct metrics_snapshot *s);
void metrics_add_hub_source(struct prom *p, const struct metrics_snapshot *s);

/* A number or boolean of a row; 0 if it is missing. */
double metrics_number(const json_t *row, const char *key);
/* A text of a row; "" if it is missing. */
const char *metrics_text(const json_t *row, const char *key);

/* One family whose rows are fields of rows of the board. */
struct metrics_field {
    const char *name;
    enum prom_type type;
    const char *help;
    const char *key;
    double scale; /* from the row's unit to the family's */
};
/* A row for each of rows that has the field, labelled with the text of `named`. */
void metrics_add_fields(struct prom *p, const json_t *rows, const char *label,
                        const char *named, const struct metrics_field *f, size_t n);

#endif
