/*
 * count_numbers - the state of the counts in gillnetd's statistics page, with advice; for stat,
 * doctor and `count stat`. Threads: one.
 */
#ifndef CORE_CLI_COUNT_NUMBERS_H
#define CORE_CLI_COUNT_NUMBERS_H

#include <jansson.h>

#include "core/count/count.h"
#include "core/telemetry/stats.h"

struct count_numbers {
    uint64_t value[STAT_COUNT];  /* by enum stat_id, copied from the page */
    double doorkeeper_fill;      /* of the doorkeeper; 0 to 1 */
    double cells_fill;           /* of the lines of cells */
    double fill_ahead;           /* the larger of both after 14 such days */
    double noise[COUNT_WINDOWS]; /* shares */
    double noise_bound;          /* configured */
    uint64_t advised_messages;   /* messages_per_day to set; 0: the size is right */
    bool is_of_disk;             /* set by count_disk_look: no gillnetd runs */
    uint64_t running_since_s;    /* then: begin of the running table on disk; 0: none */
};

/* noise_bound: count.noise_floor. now_s tells the share of the 14 days that is counted. */
void count_numbers_get(const struct stats_view *page, double noise_bound,
                       uint64_t now_s, struct count_numbers *ret);

/* {"type": "counting", ...}; NULL without memory. */
json_t *count_numbers_json(const struct count_numbers *n);
/* Several lines, those after the first indented by two. */
void count_numbers_print(const struct count_numbers *n);

/* Calls fn with each fault and each advice. */
typedef void count_trouble_fn(void *context, bool is_serious, const char *text,
                              const char *advice);
void count_numbers_troubles(const struct count_numbers *n, count_trouble_fn *fn,
                            void *context);

/* ---- the disk, when no gillnetd runs ---- */

/* Sets the numbers of runs and of the running table from the state folder, zeros if there are none.
 * The other numbers stay. Changes nothing on disk. */
enum err count_disk_look(const char *state_dir, struct count_numbers *numbers,
                         struct errinfo *reterr);

#endif
