/* metrics_shared - the store that the servers of the ring share. */
#include "core/hub/metrics/metrics_internal.h"

#define PLAIN 1.0

/* ---- the whole and its parts ---- */

static void add_states(struct prom *p, const json_t *store)
{
    static const char *const states[] = {"no_ring", "begins", "up",
                                         "partly",  "down",   "full"};

    prom_family(p, "gillnet_shared_state", PROM_GAUGE,
                "1 for the state that the store is in");
    for (size_t i = 0; json_is_object(store) && i < LENGTH(states); i++) {
        prom_row(p, strcmp(metrics_text(store, "state"), states[i]) == 0, "state",
                 states[i], PROM_END);
    }
}

/* A family without a label for each field; without the part it has no row. */
static void add_part(struct prom *p, const json_t *part, const struct metrics_field *f,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        prom_family(p, f[i].name, f[i].type, f[i].help);
        if (json_object_get(part, f[i].key) != NULL) {
            prom_row(p, metrics_number(part, f[i].key) * f[i].scale, PROM_END);
        }
    }
}

static void add_counts(struct prom *p, const json_t *counts)
{
    static const struct metrics_field fields[] = {
        {"gillnet_shared_lag_seconds", PROM_GAUGE,
         "age of the oldest increment that is not in the store", "lag_s", PLAIN},
        {"gillnet_shared_cells_behind", PROM_GAUGE,
         "cells of the store that lack counts of this server", "cells_behind", PLAIN},
        {"gillnet_shared_spool_bytes", PROM_GAUGE, "log of counts for the store",
         "spool_bytes", PLAIN},
        {"gillnet_shared_spool_limit_bytes", PROM_GAUGE, "store.spool", "spool_limit",
         PLAIN},
        {"gillnet_shared_updates_total", PROM_COUNTER,
         "increments of a key in a bucket that the store added", "updates", PLAIN},
        {"gillnet_shared_batches_total", PROM_COUNTER, "batches of them", "batches",
         PLAIN},
        {"gillnet_shared_batches_repeated_total", PROM_COUNTER,
         "batches that a failover lost, or whose answer was lost", "batches_repeated",
         PLAIN},
        {"gillnet_shared_updates_lost_total", PROM_COUNTER,
         "increments dropped because store.spool was full", "updates_lost", PLAIN},
    };

    add_part(p, counts, fields, LENGTH(fields));
}

static void add_view(struct prom *p, const json_t *view)
{
    static const struct metrics_field fields[] = {
        {"gillnet_shared_view_time_seconds", PROM_GAUGE,
         "Unix time at which the store last confirmed its totals; 0: never",
         "answered_s", PLAIN},
        {"gillnet_shared_totals_total", PROM_COUNTER, "totals heard of the store",
         "heard", PLAIN},
        {"gillnet_shared_hot_keys_named_total", PROM_COUNTER,
         "hot keys told to the other servers", "hot_named", PLAIN},
        {"gillnet_shared_hot_keys_read_total", PROM_COUNTER,
         "hot keys that other servers told", "hot_read", PLAIN},
    };

    add_part(p, view, fields, LENGTH(fields));
}

static void add_lists(struct prom *p, const json_t *lists, const json_t *lines)
{
    static const struct metrics_field objects[] = {
        {"gillnet_shared_objects_put_total", PROM_COUNTER,
         "parts of objects of lists, reports and votes put in the store", "put", PLAIN},
        {"gillnet_shared_objects_applied_total", PROM_COUNTER,
         "objects of others taken from the store", "applied", PLAIN},
        {"gillnet_shared_objects_refused_total", PROM_COUNTER,
         "objects of others that were refused", "refused", PLAIN},
        {"gillnet_shared_objects_missing_total", PROM_COUNTER,
         "objects that the store named and did not have", "missing", PLAIN},
    };
    static const struct metrics_field asked[] = {
        {"gillnet_shared_lines_total", PROM_COUNTER,
         "filter lines that messages asked for", "lines", PLAIN},
        {"gillnet_shared_lines_cached_total", PROM_COUNTER, "of these, found here",
         "cached", PLAIN},
        {"gillnet_shared_lines_late_total", PROM_COUNTER,
         "of these, not here within store.deadline", "late", PLAIN},
        {"gillnet_shared_lines_lost_total", PROM_COUNTER,
         "of these, absent or damaged in the store", "lost", PLAIN},
    };

    add_part(p, lists, objects, LENGTH(objects));
    add_part(p, lines, asked, LENGTH(asked));
}

/* ---- servers ---- */

static void add_up(struct prom *p, const json_t *rows)
{
    json_t *row = NULL;
    size_t i = 0;

    prom_family(p, "gillnet_shared_server_up", PROM_GAUGE, "1: it answers");
    json_array_foreach(rows, i, row)
    {
        prom_row(p, strcmp(metrics_text(row, "fault"), "none") == 0, "server",
                 metrics_text(row, "address"), "role", metrics_text(row, "role"),
                 PROM_END);
    }
}

void metrics_add_shared(struct prom *p, const struct metrics_snapshot *s)
{
    static const struct metrics_field fields[] = {
        {"gillnet_shared_server_answered_time_seconds", PROM_GAUGE,
         "Unix time of its last answer; 0: never", "answered_s", PLAIN},
        {"gillnet_shared_server_memory_bytes", PROM_GAUGE, "memory of its data",
         "memory_bytes", PLAIN},
        {"gillnet_shared_server_memory_limit_bytes", PROM_GAUGE,
         "its maxmemory; 0: none", "memory_limit", PLAIN},
        {"gillnet_shared_server_replicas", PROM_GAUGE, "replicas that follow it",
         "replicas", PLAIN},
        {"gillnet_shared_server_evicted_total", PROM_COUNTER,
         "keys that it threw away for want of memory", "evicted", PLAIN},
    };
    static const struct metrics_field traffic[] = {
        {"gillnet_shared_received_bytes_total", PROM_COUNTER, "bytes from the store",
         "bytes_in", PLAIN},
        {"gillnet_shared_sent_bytes_total", PROM_COUNTER, "bytes to the store",
         "bytes_out", PLAIN},
    };
    const json_t *store = s->section[STATUS_BOARD_STORE];
    const json_t *servers = json_object_get(store, "servers");

    add_states(p, store);
    add_part(p, store, traffic, LENGTH(traffic));
    add_counts(p, json_object_get(store, "counts"));
    add_view(p, json_object_get(store, "view"));
    add_lists(p, json_object_get(store, "lists"), json_object_get(store, "lines"));
    add_up(p, servers);
    metrics_add_fields(p, servers, "server", "address", fields, LENGTH(fields));
}
