/*
 * plan_command - shared by the parts of `gillnet plan`: the question, and one row for each layout.
 *
 * cmd_plan.c reads the question and computes the rows; the others show them.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_LAB_PLAN_COMMAND_H
#define CORE_LAB_PLAN_COMMAND_H

#include "core/cli/cli.h"
#include "core/lab/cost.h"
#include "core/lab/layout.h"
#include "core/lab/plan.h"
#include "core/lab/prices.h"
#include "core/lab/scheme.h"

enum { PLANNING_ROWS = LAYOUT_END - LAYOUT_FIRST };

struct planning_row {
    enum layout layout;
    bool is_refused;
    bool is_measured; /* its times */
    bool keeps;       /* the wished error; true without a wish */
    struct errinfo why;
    struct layout_size size;
    struct layout_time time;
};

struct planning {
    struct layout_wish wish;
    enum scheme_kind scheme;
    bool measures;
    enum layout chosen; /* --layout, or what gillnet builds by itself */
    size_t nrows;
    struct planning_row rows[PLANNING_ROWS];
};

/* The row of the chosen layout; NULL where it is refused. */
const struct planning_row *planning_chosen(const struct planning *p);

/* The textbook's m, k and error, the rows, and the table of equation (1). False: no memory. */
bool planning_print(const struct planning *p, bool json);

/* The gain of the refined variant (conservative update) at the same cells an item and k, measured
 * in Experiment 3 of the paper: shares of keys that are counted wrong, and the share of the cells
 * with which the refined variant is as good as the plain one with all of them. */
struct planning_refined {
    double plain;
    double refined;
    double share;
};
/* ERR_RANGE: too many probes or cells to simulate. Takes seconds. */
enum err planning_refined(const struct plan_counting *c, struct planning_refined *ret,
                          struct errinfo *reterr);
/* r is NULL for the plain variant. */
bool planning_print_counting(const struct plan_counting *c,
                             const struct planning_refined *r, bool json);
/* best is NULL where no point is allowed. */
bool planning_print_costs(const struct cost_question *q, const struct cost *all,
                          size_t n, const struct cost *best, bool json);

/* Times the layout on this machine with memory of at most PLANNING_MEASURE_BYTES, for a larger
 * filter scaled as the built-in figures grow. */
enum { PLANNING_MEASURE_BYTES = 256 * 1024 * 1024 };
enum err planning_measure(const struct layout_size *size, uint64_t most_bytes,
                          struct layout_time *ret, struct errinfo *reterr);

/* Writes a picture: error by bits an item for every layout, and the chosen point. */
enum err planning_plot(const struct planning *p, const char *path,
                       struct errinfo *reterr);

/* `plan --store`: the store that the servers of a ring share. An exit status. */
struct planning_store_words { /* as they were written; NULL: not there */
    const char *hosts;
    const char *replicas;
    const char *messages;
};
int planning_store(const struct planning_store_words *w, const struct prices *prices,
                   bool json);

/* `plan --messages-per-day`: memory, disk and errors of counting. An exit status. */
int planning_count(const char *messages, bool json);

#endif
