#include "core/lab/cost.h"

#include <math.h>

#include "core/lab/plan.h"

static const double gigabyte = 1e9;
static const double million = 1e6;

void cost_defaults(struct cost_prices *retprices, struct cost_grid *retgrid)
{
    static const double errors[] = {1e-4, 5e-4, 1e-3, 5e-3, 1e-2};

    *retprices = (struct cost_prices){.memory_gb = 0.50,
                                      .instance = 150,
                                      .instances = 1,
                                      .false_positive_query = 0.0001,
                                      .false_positive = 0.01,
                                      .unconfirmed = 1};
    *retgrid = (struct cost_grid){.nerrors = LENGTH(errors)};
    memcpy(retgrid->errors, errors, sizeof(errors));
}

static double instances_for(const struct cost_prices *p, double gb)
{
    double needed = p->instance_gb > 0 ? ceil(gb / p->instance_gb) : 1;

    return fmax(needed, p->instances);
}

enum err cost_at(const struct cost_question *q, double items, double error,
                 struct cost *ret, struct errinfo *reterr)
{
    const struct cost_prices *p = &q->prices;
    struct cost c = {.items = items, .wanted_error = error, .total = HUGE_VAL};
    enum err e = plan_check_items(items, reterr);

    if (e == ERR_OK) {
        struct layout_wish wish = {.items = (uint64_t)items, .error = error};
        e = layout_plan(q->layout, &wish, &c.size, reterr);
    }
    if (e == ERR_OK) {
        double gb = (double)c.size.bytes / gigabyte;
        double queries = q->queries_per_day * COST_DAYS;
        double let_through = queries * c.size.error;
        c.instances = instances_for(p, gb);
        c.memory = gb * p->memory_gb;
        c.machines = c.instances * p->instance;
        c.queries = let_through * p->false_positive_query;
        c.false_positives = let_through * p->unconfirmed * p->false_positive;
        c.total = c.memory + c.machines + c.queries + c.false_positives;
        c.per_million = c.total / (queries / million);
        c.is_allowed = error <= q->max_error;
    }
    *ret = c;
    return e;
}

enum err cost_search(const struct cost_question *q, const struct cost_grid *grid,
                     struct cost ret[COST_GRID_MAX * COST_GRID_MAX], size_t *retbest)
{
    size_t n = 0;
    bool is_found = false;
    size_t best = 0;

    for (size_t i = 0; i < grid->nitems; i++) {
        for (size_t e = 0; e < grid->nerrors; e++, n++) {
            /* what cannot be had is not allowed */
            (void)cost_at(q, grid->items[i], grid->errors[e], &ret[n], NULL);
            if (ret[n].is_allowed && (!is_found || ret[n].total < ret[best].total)) {
                is_found = true;
                best = n;
            }
        }
    }
    if (!is_found) {
        return ERR_NOT_FOUND;
    }
    *retbest = best;
    return ERR_OK;
}
