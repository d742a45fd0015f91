/* alerts_evaluate - each alert's value and threshold. Missing data never fires an alert. */
#include <math.h>

#include "core/config/config.h"
#include "core/hub/metrics/alerts_internal.h"
#include "core/hub/metrics/metrics_internal.h"
#include "core/message/feature/feature.h"

#define PPB 1e9
#define US  1e6

static double stat_now(const struct alerts_case *c, enum stat_id id)
{
    return (double)c->now->stats.value[id];
}

static double stat_rise(const struct alerts_case *c, enum stat_id id)
{
    return (double)c->rise->value[id];
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* Counts a subject, and adds its name while there is room. */
static void add_subject(struct alerts_sight *ret, const char *name)
{
    size_t n = strlen(ret->subjects);
    const char *comma = n > 0 ? ", " : "";

    ret->value++;
    if (n + strlen(comma) + strlen(name) < sizeof(ret->subjects)) {
        (void)snprintf(ret->subjects + n, sizeof(ret->subjects) - n, "%s%s", comma,
                       name);
    }
}

/* ---- numbers that are 0 while all is well ---- */

#define ALERT_IS(look, number)                                               \
    void alert_##look(const struct alerts_case *c, struct alerts_sight *ret) \
    {                                                                        \
        ret->value = number;                                                 \
    }
ALERT_IS(store_lost, (double)c->rise->store_lost)
ALERT_IS(down, c->now->has_stats && !c->now->is_running)
ALERT_IS(unread, stat_rise(c, STAT_messages_unread))
ALERT_IS(sessions_refused, stat_rise(c, STAT_sessions_refused))
ALERT_IS(log_dropped, stat_rise(c, STAT_log_dropped))
ALERT_IS(reload_refused, stat_rise(c, STAT_reloads_failed))
ALERT_IS(filter_alarm, stat_now(c, STAT_filter_alarms))
ALERT_IS(counts_volatile, stat_now(c, STAT_count_volatile))
ALERT_IS(account, stat_now(c, STAT_accounts_above))
ALERT_IS(clock_jumped, stat_now(c, STAT_count_clock_suspended))
/* where none was ever there, files are not to be read */
ALERT_IS(reader,
         stat_now(c, STAT_files_read) > 0 ? stat_rise(c, STAT_files_unasked) : 0)
ALERT_IS(emergency, stat_now(c, STAT_emergency))
ALERT_IS(damage, stat_rise(c, STAT_scrub_errors) + stat_now(c, STAT_count_damaged_runs))

/* ---- gillnetd ---- */

void alert_errors(const struct alerts_case *c, struct alerts_sight *ret)
{
    ret->value = share(stat_rise(c, STAT_on_error) + stat_rise(c, STAT_deadline),
                       stat_rise(c, STAT_messages));
    ret->threshold = c->now->config->alerts.errors;
}

void alert_limits(const struct alerts_case *c, struct alerts_sight *ret)
{
    double messages = stat_rise(c, STAT_messages);

    ret->threshold = c->now->config->alerts.limits;
    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
        double met = stat_rise(c, (enum stat_id)(STAT_limit_message_bytes + bit));
        if (*limit_key(bit) != '\0' && met >= ALERTS_LIMITED_LEAST &&
            share(met, messages) > ret->value) {
            ret->value = share(met, messages);
            (void)snprintf(ret->subjects, sizeof(ret->subjects), "%s", limit_key(bit));
        }
    }
}

/* The time below which 99 of 100 lie, as Prometheus estimates it: evenly spread in each range. */
static double p99(const struct history_times *t)
{
    double rank = 0.99 * (double)t->n;
    double below = 0;

    for (size_t i = 0; i < HISTORY_TIMES - 1; i++) {
        double in = (double)t->count[i];
        double start = i > 0 ? history_time_us[i - 1] : 0;

        if (in > 0 && below + in >= rank) {
            return start + (history_time_us[i] - start) * (rank - below) / in;
        }
        below += in;
    }
    return history_time_us[HISTORY_TIMES - 2];
}

void alert_latency(const struct alerts_case *c, struct alerts_sight *ret)
{
    const struct history_times *t = &c->rise->message;

    ret->value = t->n >= ALERTS_MESSAGES_LEAST ? p99(t) / US : 0;
    ret->threshold = (double)c->now->config->alerts.latency_us / US;
}

void alert_memory(const struct alerts_case *c, struct alerts_sight *ret)
{
    ret->value = c->now->is_running ? share(stat_now(c, STAT_memory_bytes),
                                            stat_now(c, STAT_memory_limit_bytes))
                                    : 0;
    ret->threshold = c->now->config->alerts.memory;
}

static double hub_number(const struct alerts_case *c, const char *name)
{
    return metrics_number(c->now->section[STATUS_BOARD_HUB], name);
}

void alert_config_differs(const struct alerts_case *c, struct alerts_sight *ret)
{
    double ours = hub_number(c, "config_id");
    double its = stat_now(c, STAT_config_id);

    ret->value = c->now->is_running && ours > 0 && its > 0 && ours != its;
}

void alert_restart_needed(const struct alerts_case *c, struct alerts_sight *ret)
{
    ret->value = hub_number(c, "config_restart_keys") +
                 (c->now->is_running ? stat_now(c, STAT_config_restart_keys) : 0);
}

/* ---- lists ---- */

void alert_false_positives(const struct alerts_case *c, struct alerts_sight *ret)
{
    ret->value = stat_now(c, STAT_filter_error_ppb) / PPB;
    ret->threshold = c->now->config->alerts.false_positives;
}

void alert_list_fault(const struct alerts_case *c, struct alerts_sight *ret)
{
    for (size_t i = 0; i < c->now->nlists; i++) {
        if (c->now->lists[i].has_fault) {
            add_subject(ret, c->now->lists[i].name);
        }
    }
    ret->value = fmax(ret->value, stat_now(c, STAT_lists_failed));
}

void alert_list_old(const struct alerts_case *c, struct alerts_sight *ret)
{
    for (size_t i = 0; i < c->now->nlists; i++) {
        if (c->now->lists[i].is_old) {
            add_subject(ret, c->now->lists[i].name);
        }
    }
}

/* ---- feeds and peers ---- */

typedef bool is_bad_fn(const struct metrics_snapshot *s, const json_t *row);

/* The rows of a section of the board for which is_bad holds. */
static void add_bad_rows(const struct alerts_case *c, enum status_board_section section,
                         is_bad_fn *is_bad, struct alerts_sight *ret)
{
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(c->now->section[section], i, row)
    {
        if (is_bad(c->now, row)) {
            add_subject(ret, metrics_text(row, "name"));
        }
    }
}

static bool is_refused(const struct metrics_snapshot *s, const json_t *row)
{
    (void)s;
    return strcmp(metrics_text(row, "state"), "refused") == 0;
}

static bool is_failing(const struct metrics_snapshot *s, const json_t *row)
{
    (void)s;
    return metrics_number(row, "failures") >= ALERTS_FAILURES;
}

/* Requests were made, in this run or before, but none was ever successful. */
static bool was_asked_in_vain(const json_t *row)
{
    return metrics_number(row, "good_s") <= 0 &&
           (metrics_number(row, "asked_s") > 0 || metrics_number(row, "failures") > 0);
}

static bool is_silent(const struct metrics_snapshot *s, const json_t *row)
{
    double good_s = metrics_number(row, "good_s");

    for (size_t i = 0; i < s->config->nfeeds; i++) {
        const struct config_feed *f = &s->config->feeds[i];

        if (strcmp(f->name, metrics_text(row, "name")) == 0) {
            bool is_late = f->silent_after_s > 0 && good_s > 0 &&
                           (double)s->now_s - good_s > (double)f->silent_after_s / 2;
            return f->enabled && (is_late || was_asked_in_vain(row));
        }
    }
    return false;
}

static bool is_active_peer(const json_t *row)
{
    return metrics_number(row, "self") == 0 &&
           strcmp(metrics_text(row, "state"), "active") == 0;
}

static bool is_lost(const struct metrics_snapshot *s, const json_t *row)
{
    bool is_unheard =
        metrics_number(row, "called") != 0 && metrics_number(row, "connected") == 0;

    (void)s;
    return is_active_peer(row) && (is_unheard || metrics_number(row, "is_stale") != 0);
}

static bool is_distrusted(const struct metrics_snapshot *s, const json_t *row)
{
    (void)s;
    return is_active_peer(row) && metrics_number(row, "is_distrusted") != 0;
}

#define ALERT_ROWS(look, section, is_bad)                                    \
    void alert_##look(const struct alerts_case *c, struct alerts_sight *ret) \
    {                                                                        \
        add_bad_rows(c, STATUS_BOARD_##section, is_bad, ret);                \
    }
ALERT_ROWS(feed_refused, FEEDS, is_refused)
ALERT_ROWS(feed_failing, FEEDS, is_failing)
ALERT_ROWS(feed_silent, FEEDS, is_silent)
ALERT_ROWS(peer_lost, PEERS, is_lost)
ALERT_ROWS(peer_distrusted, PEERS, is_distrusted)

/* ---- the store of the ring ---- */

static const json_t *store_of(const struct alerts_case *c)
{
    return c->now->section[STATUS_BOARD_STORE];
}

static bool is_state(const struct alerts_case *c, const char *state)
{
    return strcmp(metrics_text(store_of(c), "state"), state) == 0;
}

void alert_store_down(const struct alerts_case *c, struct alerts_sight *ret)
{
    json_t *row = NULL;
    size_t i = 0;

    if (!is_state(c, "down") && !is_state(c, "partly") && !is_state(c, "no_ring")) {
        return;
    }
    json_array_foreach(json_object_get(store_of(c), "servers"), i, row)
    {
        if (strcmp(metrics_text(row, "fault"), "none") != 0) {
            add_subject(ret, metrics_text(row, "address"));
        }
    }
    ret->value = fmax(ret->value, 1);
}

void alert_store_full(const struct alerts_case *c, struct alerts_sight *ret)
{
    json_t *row = NULL;
    size_t i = 0;

    ret->value = is_state(c, "full");
    json_array_foreach(json_object_get(store_of(c), "servers"), i, row)
    {
        ret->value = fmax(ret->value, share(metrics_number(row, "memory_bytes"),
                                            metrics_number(row, "memory_limit")));
    }
    ret->threshold = ALERTS_STORE_USED;
}

void alert_store_spool(const struct alerts_case *c, struct alerts_sight *ret)
{
    const json_t *counts = json_object_get(store_of(c), "counts");

    ret->value = share(metrics_number(counts, "spool_bytes"),
                       metrics_number(counts, "spool_limit"));
    ret->threshold = ALERTS_STORE_USED;
}

/* ---- counts and disk ---- */

void alert_noise(const struct alerts_case *c, struct alerts_sight *ret)
{
    static const enum stat_id windows[] = {
        STAT_count_noise_10m_ppb, STAT_count_noise_1h_ppb, STAT_count_noise_1d_ppb,
        STAT_count_noise_14d_ppb};

    for (size_t i = 0; i < LENGTH(windows); i++) {
        ret->value = fmax(ret->value, stat_now(c, windows[i]) / PPB);
    }
    ret->threshold = c->now->config->count.noise_floor;
}

void alert_counts_full(const struct alerts_case *c, struct alerts_sight *ret)
{
    ret->value =
        fmax(share(stat_now(c, STAT_count_doorkeeper_entries),
                   stat_now(c, STAT_count_doorkeeper_capacity)),
             share(stat_now(c, STAT_count_cells_used), stat_now(c, STAT_count_cells)));
    ret->threshold = ALERTS_COUNTS_USED;
}

void alert_disk_full(const struct alerts_case *c, struct alerts_sight *ret)
{
    double whole = (double)c->now->disk_bytes;

    ret->value = share(whole - (double)c->now->disk_free_bytes, whole);
    ret->threshold = ALERTS_DISK_USED;
}
