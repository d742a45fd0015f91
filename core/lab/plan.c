#include "core/lab/plan.h"

#include <math.h>

static const double ln2 = 0.693147180559945309417;
/* Terms of a falling series below this share of the sum no longer change it. */
static const double term_end = 1e-18;

enum err plan_check_items(double items, struct errinfo *reterr)
{
    if (isnan(items) || items < 1) {
        return errinfo_set(reterr, ERR_RANGE, "items", 0,
                           "there must be at least 1; give the entries that the filter "
                           "will hold, such as 1000000");
    }
    if (items > (double)PLAN_ITEMS_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "items", 0,
                           "more than 10^12; plan several filters and let each hold a "
                           "part");
    }
    return ERR_OK;
}

enum err plan_check_error(double error, struct errinfo *reterr)
{
    if (isnan(error) || error <= 0) {
        return errinfo_set(reterr, ERR_RANGE, "error", 0,
                           "no filter is without error; give a share above 0, such as "
                           "0.001 for one in a thousand");
    }
    if (error >= 1) {
        return errinfo_set(reterr, ERR_RANGE, "error", 0,
                           "it is a share below 1: 0.001 for one in a thousand");
    }
    return ERR_OK;
}

/* ---- membership ---- */

double plan_error(uint64_t m, unsigned k, uint64_t n)
{
    if (m <= 1) {
        return n > 0 ? 1 : 0;
    }
    double log_empty = (double)k * (double)n * log1p(-1 / (double)m);
    return pow(-expm1(log_empty), k);
}

double plan_error_approx(double m, double k, double n)
{
    return pow(-expm1(-k * n / m), k);
}

double plan_best_k(double m, double n)
{
    return ln2 * m / n;
}

unsigned plan_k(double m, double n)
{
    double k = round(plan_best_k(m, n));

    if (k < 1) {
        return 1;
    }
    return k < PLAN_K_MAX ? (unsigned)k : PLAN_K_MAX;
}

double plan_least_error(double m, double n)
{
    return exp(-ln2 * plan_best_k(m, n));
}

double plan_bits(double n, double error)
{
    return fmax(1, round(-n * log(error) / (ln2 * ln2)));
}

double plan_error_of_load(double load, unsigned k)
{
    return pow(load, k);
}

double plan_compression(double m, double n, double bits_per_signature)
{
    return bits_per_signature * n / m;
}

/* ---- counting ---- */

enum err plan_check_counting(const struct plan_counting *c, struct errinfo *reterr)
{
    if (c->items < 1 || c->items > PLAN_ITEMS_MAX) {
        return plan_check_items((double)c->items, reterr);
    }
    if (c->cells < 1 || c->cells > PLAN_BITS_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "cells", 0,
                           "give 1 to 2^60; as many as there are items is a start");
    }
    if (c->k < 1 || c->k > PLAN_K_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "k", 0, "give 1 to %d; 4 is the paper's",
                           PLAN_K_MAX);
    }
    if (c->threshold < 1 || c->threshold > PLAN_THRESHOLD_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "threshold", 0,
                           "give 1 to %d; 20 is the paper's", PLAN_THRESHOLD_MAX);
    }
    return ERR_OK;
}

static double insertions(const struct plan_counting *c)
{
    return (double)c->items * c->k;
}

double plan_log_cell(const struct plan_counting *c, uint64_t j)
{
    double all = insertions(c);
    double m = (double)c->cells;
    double sum = 0;

    if ((double)j > all) {
        return -HUGE_VAL;
    }
    if (c->cells == 1) {
        return (double)j < all ? -HUGE_VAL : 0;
    }
    sum = (all - (double)j) * log1p(-1 / m);
    for (uint64_t i = 0; i < j; i++) {
        sum += log((all - (double)i) / ((double)(i + 1) * m));
    }
    return sum;
}

/* log of P(c = from) + P(c = from + 1) + ... where these fall: from is above the mean. */
static double log_upper(const struct plan_counting *c, uint64_t from)
{
    double all = insertions(c);
    double term = 1;
    double sum = 1;
    double j = (double)from;

    while (j < all && term > term_end * sum) {
        term *= (all - j) / ((j + 1) * ((double)c->cells - 1));
        sum += term;
        j++;
    }
    return plan_log_cell(c, from) + log(sum);
}

/* log of P(c = from) + P(c = from - 1) + ... + P(c = 0) where these fall. */
static double log_lower(const struct plan_counting *c, uint64_t from)
{
    double all = insertions(c);
    double term = 1;
    double sum = 1;

    for (uint64_t j = from; j > 0 && term > term_end * sum; j--) {
        term *= (double)j * ((double)c->cells - 1) / (all - (double)j + 1);
        sum += term;
    }
    return plan_log_cell(c, from) + log(sum);
}

double plan_log_cell_reaches(const struct plan_counting *c)
{
    double all = insertions(c);

    if ((double)c->threshold > all) {
        return -HUGE_VAL;
    }
    if (c->cells == 1 || c->threshold == 0) {
        return 0;
    }
    if ((double)c->threshold > all / (double)c->cells) {
        return fmin(0, log_upper(c, c->threshold));
    }
    /* 1 - lower; nothing is lost where lower is small */
    return log1p(-fmin(1, exp(log_lower(c, c->threshold - 1))));
}

double plan_log_dcc_error(const struct plan_counting *c)
{
    return c->k * plan_log_cell_reaches(c);
}
