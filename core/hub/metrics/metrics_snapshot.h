/*
 * metrics_snapshot - the status of this server at one moment, for metrics and alerts.
 *
 * From gillnetd's pages (stats.h, history.h), the lists as the hub has them open, the board, the
 * API's numbers and the file system. A part that cannot be read is left out, and its has_ field is
 * false.
 * Depends: base, config, list, jansson.   Threads: a surveyor is any thread's; a survey is one's.
 */
#ifndef CORE_HUB_METRICS_METRICS_SNAPSHOT_H
#define CORE_HUB_METRICS_METRICS_SNAPSHOT_H

#include <jansson.h>

#include "core/hub/api/api.h"
#include "core/hub/status/list_watcher.h"
#include "core/hub/status/status_board.h"
#include "core/list/list.h"
#include "core/list/lookup_stats.h"
#include "core/telemetry/history.h"
#include "core/telemetry/stats.h"

/* One local list. */
struct metrics_snapshot_list {
    char name[LIST_NAME_MAX + 1];
    bool has_fault;
    bool is_old; /* its last change is older than max_age_s */
    struct list_stat stat;
    double error_target;
    uint64_t max_age_s; /* 0: none */
    bool has_hits;
    struct lookup_stats_counts hits;
};

struct metrics_snapshot {
    uint64_t now_s;
    struct config *config;
    bool has_stats; /* gillnetd has run here */
    bool is_running;
    struct stats_view stats;
    bool has_history;
    struct history_view history;
    size_t nlists;
    struct metrics_snapshot_list *lists;
    uint64_t peer_entries; /* on the lists of peers */
    bool has_api;
    struct api_numbers api;
    uint64_t disk_bytes; /* of the state folder's file system; 0: not known */
    uint64_t disk_free_bytes;
    json_t *section[STATUS_BOARD_SECTIONS]; /* NULL: no memory */
};

struct metrics_collector;
/* board is borrowed. NULL: no memory. */
struct metrics_collector *metrics_collector_new(const struct config *config,
                                                struct status_board *board);
void metrics_collector_free(struct metrics_collector **s);
/* Sets another configuration. */
void metrics_collector_renew(struct metrics_collector *s, const struct config *config);
/* Sets lists and API as sources, borrowed. NULL removes one; free it only while no snapshot is
 * taken. */
void metrics_collector_set(struct metrics_collector *s, struct list_watcher *lists,
                           const struct api *api);

/* Takes a snapshot. NULL: no memory. */
struct metrics_snapshot *metrics_snapshot_take(struct metrics_collector *s);
void metrics_snapshot_free(struct metrics_snapshot **s);

#endif
