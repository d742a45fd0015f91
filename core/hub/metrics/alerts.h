/*
 * alerts - the built-in evaluator: what an administrator should know now, with advice.
 *
 * alert.def is the table. Every alerts.interval each alert gives a value and the threshold it may not exceed; rates and times are
 * those of the last ALERTS_WINDOW_S. It fires after ALERTS_LOOKS bad looks in a row, and is over after as many good ones;
 * both are one line of the log (event=alert), and all are on the board (BOARD_ALERTS).
 * Depends: base, config, jansson.   Threads: one.   Owns: what it saw before.
 */
#ifndef CORE_HUB_METRICS_ALERTS_H
#define CORE_HUB_METRICS_ALERTS_H

#include <jansson.h>

#include "core/hub/metrics/metrics_snapshot.h"
#include "core/hub/status/status_board.h"

enum {
    ALERTS_LOOKS = 2,
    ALERTS_WINDOW_S = 300,
    ALERTS_FAILURES = 5,        /* of a feed in a row */
    ALERTS_MESSAGES_LEAST = 20, /* in the window, to speak of one in a hundred */
    ALERTS_LIMITED_LEAST = 3,   /* of them, to speak of a limit that is met too often */
};
#define ALERTS_DISK_USED   0.95
#define ALERTS_COUNTS_USED 0.9

struct alerts;
/* board is borrowed. NULL: no memory. */
struct alerts *alerts_new(struct status_board *board);
void alerts_free(struct alerts **a);
/* Whether interval_s has passed since the last look. */
bool alerts_are_due(const struct alerts *a, uint64_t interval_s);
void alerts_look(struct alerts *a, const struct metrics_snapshot *s);

#endif
