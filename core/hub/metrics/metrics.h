/*
 * metrics - the answer of GET /metrics: the numbers of gillnetd and the hub for Prometheus.
 *
 * All names begin with gillnet_. The names of the source document (requirement 152) follow on
 * request. gillnet-metrics(7) describes all of them. Rows are bounded: one or a few for each list,
 * feed, peer, route, symbol and alert.
 * Reading order of the room: metrics_snapshot (the input), prom (the format), metrics_mail,
 * metrics_lists, metrics_hub, metrics; then alert.def, alerts_evaluate, alerts.
 * To add a number of gillnetd: a row in core/telemetry/stats.def; metrics_mail.c exports it as
 * gillnet_NAME with the unit of Prometheus: eom_us becomes gillnet_eom_seconds_total. Describe it
 * in gillnet-metrics(7).
 * To add a number of a list: a row in list_families and its value in list_number (metrics_lists.c).
 * To add an alert: a row in alert.def, its function in alerts_evaluate.c, its rule in
 * contrib/prometheus/gillnet.rules.yml, and an example in test_alerts.c.
 * Depends: base, config, list, jansson.   Threads: as said.   Owns: the times of feeds.
 */
#ifndef CORE_HUB_METRICS_METRICS_H
#define CORE_HUB_METRICS_METRICS_H

#include "core/base/buf.h"
#include "core/hub/metrics/metrics_snapshot.h"
#include "core/hub/status/status_board.h"

enum { METRICS_FEEDS_MAX = 256, METRICS_BYTES_MAX = 8 << 20 };

struct metrics;
/* board is borrowed. NULL: no memory. */
struct metrics *metrics_new(struct status_board *board);
void metrics_free(struct metrics **m);
/* Counts the times of updates of feeds. Cheap: one thread calls it each second. */
void metrics_tick(struct metrics *m);
/* Appends all metrics. Any thread. */
void metrics_render(struct metrics *m, const struct metrics_snapshot *s,
                    bool has_source_names, struct buf *ret);

#endif
