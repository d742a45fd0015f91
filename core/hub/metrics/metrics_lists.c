/* metrics_lists - lists, feeds and peers. */

#include "core/hub/metrics/metrics_internal.h"

#define MS    1e-3
#define PLAIN 1.0

/* ---- lists ---- */

static const struct {
    const char *name;
    enum prom_type type;
    const char *help;
} list_families[] = {
    {"gillnet_list_entries", PROM_GAUGE, "entries that stand"},
    {"gillnet_list_revoked", PROM_GAUGE, "revoked entries"},
    {"gillnet_list_levels", PROM_GAUGE, "levels of the index"},
    {"gillnet_list_filter_fill_ratio", PROM_GAUGE,
     "share of the filters' bits that are set"},
    {"gillnet_list_error_ratio", PROM_GAUGE,
     "share of foreign values that the filters let through, estimated"},
    {"gillnet_list_error_target_ratio", PROM_GAUGE,
     "the share that they are sized for"},
    {"gillnet_list_age_seconds", PROM_GAUGE, "time since the last change"},
    {"gillnet_list_max_age_seconds", PROM_GAUGE,
     "age from which the list is too old; 0: never"},
    {"gillnet_list_filter_bytes", PROM_GAUGE, "size of the filters"},
    {"gillnet_list_index_bytes", PROM_GAUGE, "size of the index on disk"},
    {"gillnet_list_log_bytes", PROM_GAUGE, "size of the log on disk"},
    {"gillnet_list_fault", PROM_GAUGE,
     "1: some of its files are damaged or cannot be read"},
    {"gillnet_list_confirmed_total", PROM_COUNTER,
     "keys of mail that the list confirmed"},
    {"gillnet_list_false_positives_total", PROM_COUNTER,
     "keys of mail for which only its filter said perhaps"},
};

static double list_number(const struct metrics_snapshot *s,
                          const struct metrics_snapshot_list *l, size_t family)
{
    uint64_t since_s = l->stat.updated_s;
    const uint64_t *hits = l->hits.number;
    const double numbers[] = {
        (double)l->stat.entries,
        (double)l->stat.revoked,
        l->stat.levels,
        l->stat.fill,
        l->stat.error_now,
        l->error_target,
        s->now_s > since_s ? (double)(s->now_s - since_s) : 0,
        (double)l->max_age_s,
        (double)l->stat.filter_bytes,
        (double)l->stat.index_bytes,
        (double)l->stat.log_bytes,
        l->has_fault,
        l->has_hits ? (double)hits[LOOKUP_STATS_CONFIRMED] : 0,
        l->has_hits ? (double)hits[LOOKUP_STATS_FALSE] : 0,
    };
    _Static_assert(LENGTH(numbers) == LENGTH(list_families), "in the same order");

    return numbers[family];
}

void metrics_add_lists(struct prom *p, const struct metrics_snapshot *s)
{
    for (size_t f = 0; f < LENGTH(list_families); f++) {
        prom_family(p, list_families[f].name, list_families[f].type,
                    list_families[f].help);
        for (size_t i = 0; i < s->nlists; i++) {
            prom_row(p, list_number(s, &s->lists[i], f), "list", s->lists[i].name,
                     PROM_END);
        }
    }
    prom_alone(p, "gillnet_peer_lists_entries", PROM_GAUGE,
               "entries that stand on the lists of peers", (double)s->peer_entries);
}

/* ---- rows of the board ---- */

double metrics_number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);

    return json_is_true(v) ? 1 : json_number_value(v);
}

const char *metrics_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text != NULL ? text : "";
}

void metrics_add_fields(struct prom *p, const json_t *rows, const char *label,
                        const char *named, const struct metrics_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++, f++) {
        json_t *row = NULL;
        size_t at = 0;

        prom_family(p, f->name, f->type, f->help);
        json_array_foreach(rows, at, row)
        {
            if (json_object_get(row, f->key) != NULL) {
                prom_row(p, metrics_number(row, f->key) * f->scale, label,
                         metrics_text(row, named), PROM_END);
            }
        }
    }
}

/* Refused objects or updates of each row, by reason. */
static void add_refused(struct prom *p, const json_t *rows, const char *label)
{
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(rows, i, row)
    {
        const char *reason = NULL;
        json_t *n = NULL;

        json_object_foreach(json_object_get(row, "refused"), reason, n)
        {
            prom_row(p, json_number_value(n), label, metrics_text(row, "name"),
                     "reason", reason, PROM_END);
        }
    }
}

/* ---- feeds ---- */

static void add_states(struct prom *p, const json_t *rows)
{
    json_t *row = NULL;
    size_t i = 0;

    prom_family(p, "gillnet_feed_state", PROM_GAUGE,
                "1 for the state that the feed is in");
    json_array_foreach(rows, i, row)
    {
        prom_row(p, 1, "feed", metrics_text(row, "name"), "state",
                 metrics_text(row, "state"), PROM_END);
    }
}

void metrics_add_new_entries(struct prom *p, const struct metrics_snapshot *s,
                             const char *name)
{
    const struct metrics_field added = {
        name, PROM_COUNTER, "entries that came new with a feed", "added_total", PLAIN};

    metrics_add_fields(p, s->section[STATUS_BOARD_FEEDS], "source", "name", &added, 1);
}

void metrics_add_feeds(struct prom *p, const struct metrics_snapshot *s)
{
    static const struct metrics_field fields[] = {
        {"gillnet_feed_entries", PROM_GAUGE, "entries of the version that serves",
         "entries", PLAIN},
        {"gillnet_feed_added", PROM_GAUGE, "entries new in that version", "added",
         PLAIN},
        {"gillnet_feed_removed", PROM_GAUGE, "entries removed by that version",
         "removed", PLAIN},
        {"gillnet_feed_excluded", PROM_GAUGE,
         "entries of the last body that may not be taken", "excluded", PLAIN},
        {"gillnet_feed_asked_time_seconds", PROM_GAUGE, "Unix time of the last request",
         "asked_s", PLAIN},
        {"gillnet_feed_good_time_seconds", PROM_GAUGE,
         "Unix time of the last good update; 0: never", "good_s", PLAIN},
        {"gillnet_feed_changed_time_seconds", PROM_GAUGE,
         "Unix time of the version that serves", "changed_s", PLAIN},
        {"gillnet_feed_next_time_seconds", PROM_GAUGE, "Unix time of the next update",
         "next_s", PLAIN},
        {"gillnet_feed_failures", PROM_GAUGE, "failed tries since the last good one",
         "failures", PLAIN},
        {"gillnet_feed_download_bytes", PROM_GAUGE, "size of the last download",
         "bytes", PLAIN},
        {"gillnet_feed_fetch_seconds", PROM_GAUGE, "time of the last download",
         "fetch_ms", MS},
        {"gillnet_feed_check_seconds", PROM_GAUGE, "time of the last check", "check_ms",
         MS},
        {"gillnet_feed_import_seconds", PROM_GAUGE, "time of the last import",
         "import_ms", MS},
        {"gillnet_feed_pinned", PROM_GAUGE, "1: rolled back, updates are not applied",
         "pinned", PLAIN},
    };
    const json_t *rows = s->section[STATUS_BOARD_FEEDS];

    metrics_add_new_entries(p, s, "gillnet_new_threats_added_total");
    metrics_add_fields(p, rows, "feed", "name", fields, LENGTH(fields));
    add_states(p, rows);
    prom_family(p, "gillnet_feed_refused_total", PROM_COUNTER,
                "updates that were refused");
    add_refused(p, rows, "feed");
    prom_family(p, "gillnet_feed_silent_after_seconds", PROM_GAUGE,
                "time without anything good after which its entries go; 0: they stay");
    for (size_t i = 0; i < s->config->nfeeds; i++) {
        const struct config_feed *f = &s->config->feeds[i];

        prom_row(p, f->enabled ? (double)f->silent_after_s : 0, "feed", f->name,
                 PROM_END);
    }
}

/* ---- peers ---- */

/* Other servers of the ring that are active. The caller's. */
static json_t *active_peers(const json_t *rows)
{
    json_t *active = json_array();
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(rows, i, row)
    {
        if (!json_is_true(json_object_get(row, "self")) &&
            strcmp(metrics_text(row, "state"), "active") == 0) {
            (void)json_array_append(active, row);
        }
    }
    return active;
}

void metrics_add_peers(struct prom *p, const struct metrics_snapshot *s)
{
    static const struct metrics_field peers[] = {
        {"gillnet_peer_called", PROM_GAUGE, "1: this server calls it", "called", PLAIN},
        {"gillnet_peer_connected", PROM_GAUGE, "1: it answers", "connected", PLAIN},
        {"gillnet_peer_answered_time_seconds", PROM_GAUGE,
         "Unix time of its last answer; 0: never", "answered_ms", MS},
        {"gillnet_peer_seen_time_seconds", PROM_GAUGE,
         "Unix time of the newest that it said; 0: never", "seen_ms", MS},
        {"gillnet_peer_lag_seconds", PROM_GAUGE, "age of the newest that it said",
         "lag_s", PLAIN},
        {"gillnet_peer_stale", PROM_GAUGE, "1: nothing new of it for minutes",
         "is_stale", PLAIN},
        {"gillnet_peer_distrusted", PROM_GAUGE,
         "1: it signed two histories and is distrusted", "is_distrusted", PLAIN},
        {"gillnet_peer_received_bytes_total", PROM_COUNTER, "bytes fetched from it",
         "bytes_in", PLAIN},
        {"gillnet_peer_sent_bytes_total", PROM_COUNTER, "bytes that it fetched here",
         "bytes_out", PLAIN},
        {"gillnet_peer_objects_total", PROM_COUNTER, "objects fetched from it",
         "objects", PLAIN},
        {"gillnet_peer_round_seconds", PROM_GAUGE, "time of the last round with it",
         "round_ms", MS},
        {"gillnet_peer_records", PROM_GAUGE, "records of it in use", "records", PLAIN},
        {"gillnet_peer_stored_bytes", PROM_GAUGE, "its streams on disk", "stored_bytes",
         PLAIN},
        {"gillnet_peer_quota", PROM_GAUGE, "records that ten minutes of it may have",
         "quota", PLAIN},
        {"gillnet_peer_quota_used", PROM_GAUGE, "records of its newest ten minutes",
         "quota_used", PLAIN},
    };
    static const struct metrics_field followed[] = {
        {"gillnet_subscription_entries", PROM_GAUGE, "entries of its lists", "entries",
         PLAIN},
        {"gillnet_subscription_refused", PROM_GAUGE, "of these, no entries here",
         "refused", PLAIN},
        {"gillnet_subscription_published_time_seconds", PROM_GAUGE,
         "Unix time of its newest publication", "heads_ms", MS},
        {"gillnet_subscription_asked_time_seconds", PROM_GAUGE,
         "Unix time of the last request", "asked_ms", MS},
    };
    json_t *rows = active_peers(s->section[STATUS_BOARD_PEERS]);
    const json_t *expires = json_object_get(s->section[STATUS_BOARD_RING], "expires_s");

    metrics_add_fields(p, rows, "peer", "name", peers, LENGTH(peers));
    prom_family(p, "gillnet_peer_refused_total", PROM_COUNTER,
                "objects of a peer that were refused");
    add_refused(p, rows, "peer");
    if (expires != NULL) {
        prom_alone(p, "gillnet_ring_expires_time_seconds", PROM_GAUGE,
                   "Unix time at which the ring's manifest ends",
                   json_number_value(expires));
    }
    metrics_add_fields(p, s->section[STATUS_BOARD_SUBSCRIPTIONS], "subscription",
                       "subscription", followed, LENGTH(followed));
    json_decref(rows);
}
