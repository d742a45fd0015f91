/* plan_refined - `plan --dcc --variant refined`: cells that conservative update saves, measured. */
#include <math.h>

#include "core/lab/experiment.h"
#include "core/lab/plan_command.h"

/* The paper's own planning case: every key 20 times, all insertions mixed. */
enum { PLAN_EXPERIMENT = 3, PLAN_ROUNDS = 20, PLAN_STEPS = 64 };

/* The mean error of both variants with cells cells for EXPERIMENT_KEYS keys. */
static enum err measure_errors(struct experiment_scratch *s, uint32_t cells, unsigned k,
                               double *plain, double *refined)
{
    struct experiment_tally tallies[PLAN_ROUNDS * EXPERIMENT_COLUMNS_MAX];
    const struct experiment e = {
        .number = PLAN_EXPERIMENT, .m = cells, .k = k, .seed = 1};
    struct experiment_mean mean;
    enum err error = ERR_OK;

    for (size_t r = 0; r < PLAN_ROUNDS; r++) {
        THEN(error, experiment_round(s, &e, r, &tallies[r * EXPERIMENT_COLUMNS_MAX]));
    }
    if (error != ERR_OK) {
        return error;
    }
    experiment_sum_up(&tallies[0], PLAN_ROUNDS, EXPERIMENT_COLUMNS_MAX, &mean);
    *plain = mean.mean;
    experiment_sum_up(&tallies[1], PLAN_ROUNDS, EXPERIMENT_COLUMNS_MAX, &mean);
    *refined = mean.mean;
    return ERR_OK;
}

/* The least share of cells, in steps of 1/PLAN_STEPS, whose refined error is at most the limit. */
static enum err find_share(struct experiment_scratch *s, uint32_t cells, unsigned k,
                           double limit, double *ret)
{
    unsigned low = 0;
    unsigned high = PLAN_STEPS;
    enum err error = ERR_OK;

    while (error == ERR_OK && high - low > 1) {
        const unsigned middle = (low + high) / 2;
        const uint32_t fewer = (uint32_t)((uint64_t)cells * middle / PLAN_STEPS);
        double plain = 1;
        double refined = 1;
        if (fewer > 0) {
            error = measure_errors(s, fewer, k, &plain, &refined);
        }
        *(refined <= limit ? &high : &low) = middle;
    }
    *ret = (double)high / PLAN_STEPS;
    return error;
}

enum err planning_refined(const struct plan_counting *c, struct planning_refined *ret,
                          struct errinfo *reterr)
{
    const double cells = floor((double)c->cells / (double)c->items * EXPERIMENT_KEYS);
    struct experiment_scratch *s = NULL;
    enum err e = ERR_OK;

    if (c->k > EXPERIMENT_K_MAX || !(cells >= 1 && cells <= EXPERIMENT_CELLS_MAX)) {
        return errinfo_set(reterr, ERR_RANGE, "--variant", 0,
                           "refined: is simulated for 1 to %d probes and at most %d "
                           "cells an item; give fewer",
                           EXPERIMENT_K_MAX, EXPERIMENT_CELLS_MAX / EXPERIMENT_KEYS);
    }
    e = experiment_new(&s);
    THEN(e, measure_errors(s, (uint32_t)cells, c->k, &ret->plain, &ret->refined));
    THEN(e, find_share(s, (uint32_t)cells, c->k, ret->plain, &ret->share));
    experiment_free(&s);
    return e == ERR_NOMEM ? errinfo_nomem(reterr, "plan") : e;
}
