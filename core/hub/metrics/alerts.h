/*
 * alerts - the built-in alerts, each with advice for the administrator.
 *
 * alert.def is the table. Every alerts.interval each alert is evaluated to a value and a threshold.
 * Rates and times are those of the last ALERTS_WINDOW_S. An alert fires after ALERTS_LOOKS values
 * above the threshold in a row, and ends after ALERTS_LOOKS other ones. Both are logged
 * (event=alert). The board has all alerts (STATUS_BOARD_ALERTS).
 * Depends: base, config, jansson.   Threads: one.   Owns: the former samples.
 */
#ifndef CORE_HUB_METRICS_ALERTS_H
#define CORE_HUB_METRICS_ALERTS_H

#include <jansson.h>

#include "core/hub/metrics/metrics_snapshot.h"
#include "core/hub/status/status_board.h"

enum {
    ALERTS_LOOKS = 2,
    ALERTS_WINDOW_S = 300,
    ALERTS_FAILURES = 5,        /* failures of a feed in a row */
    ALERTS_MESSAGES_LEAST = 20, /* fewest messages in the window for a percentile */
    ALERTS_LIMITED_LEAST = 3,   /* fewest messages that met a limit */
};
#define ALERTS_DISK_USED   0.95
#define ALERTS_COUNTS_USED 0.9
#define ALERTS_STORE_USED  0.9

struct alerts;
/* board is borrowed. NULL: no memory. */
struct alerts *alerts_new(struct status_board *board);
void alerts_free(struct alerts **a);
/* Whether interval_s has passed since the last look. */
bool alerts_are_due(const struct alerts *a, uint64_t interval_s);
void alerts_look(struct alerts *a, const struct metrics_snapshot *s);

#endif
