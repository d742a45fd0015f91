/*
 * eval_report - tables, curves and mistakes of judged samples, for `gillnet eval`.
 */
#ifndef CORE_CLI_EVAL_REPORT_H
#define CORE_CLI_EVAL_REPORT_H

#include "core/cli/training.h"

enum { EVAL_BINS = 40 /* of the histograms, half a point each, from -5 on */ };

/* Messages of one source, or of all. */
struct eval_counts {
    size_t n[2];        /* ham, spam */
    size_t marked[2];   /* reach thresholds.header */
    size_t rejected[2]; /* reach thresholds.reject */
};
void eval_count(const struct config *config, const struct samples *s,
                const char *source, struct eval_counts *ret);
/* Area below the curve of rates: 1 is perfect, 0.5 chance. Sorts s by score. */
double eval_area(struct samples *s);
/* Prints the report as text or as JSON; returns an exit status. Sorts s. */
int eval_print(const struct cli *cli, struct samples *s);
/* Writes curve and histograms as an SVG picture. s is sorted by score, highest first. */
enum err eval_plot(const struct samples *s, const char *path, struct errinfo *reterr);

#endif
