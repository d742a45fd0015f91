/* metrics_mail - gillnetd's numbers. */
#include <math.h>

#include "core/hub/metrics/metrics_internal.h"
#include "core/list/rating.h"

#define PPB  1e9
#define US   1e6
#define NS   1e9
#define BYTE 8
enum { METRIC_NAME_MAX = 80 };

static double stat_now(const struct metrics_snapshot *s, enum stat_id id)
{
    return (double)s->stats.value[id];
}

/* ---- the statistics page ---- */

/* Numbers that are rows of one family; the rest are each a family of its own. */
static const struct grouped {
    enum stat_id id;
    const char *family;
    const char *help;
    const char *label;
    const char *value;
    double divisor;
} grouped[] = {
#define ACTION(name)                                                                 \
    {                                                                                \
        STAT_action_##name, "gillnet_actions_total", "messages by action", "action", \
            #name, 1                                                                 \
    }
    ACTION(accept), ACTION(header),  ACTION(quarantine), ACTION(defer),
    ACTION(reject), ACTION(discard),
#undef ACTION
#define CELLS(name)                                                           \
    {                                                                         \
        STAT_count_cells_over_##name, "gillnet_count_cells_over_threshold",   \
            "cells of the counts above 20, from a sample", "window", #name, 1 \
    }
    CELLS(1h),      CELLS(1d),       CELLS(14d),
#undef CELLS
#define NOISE(name)                                                                    \
    {                                                                                  \
        STAT_count_noise_##name##_ppb, "gillnet_count_noise_ratio",                    \
            "share of keys never counted that would read as counted", "window", #name, \
            PPB                                                                        \
    }
    NOISE(10m),     NOISE(1h),       NOISE(1d),          NOISE(14d),
#undef NOISE
#define LIMIT(name, kind, key, help)                            \
    {STAT_limit_##name,                                         \
     "gillnet_limit_met_total",                                 \
     "messages that met a limit, by limit; several may be met", \
     "limit",                                                   \
     #name,                                                     \
     1},
#include "core/message/feature/limit.def"
#undef LIMIT
};

static const struct grouped *group_of(enum stat_id id)
{
    for (size_t i = 0; i < LENGTH(grouped); i++) {
        if (grouped[i].id == id) {
            return &grouped[i];
        }
    }
    return NULL;
}

/* Prometheus wants seconds, bytes and shares, and says so in the name. */
static const struct unit {
    const char *ours;
    const char *theirs;
    double divisor;
} units[] = {
    {"_us", "_seconds", US},
    {"_ppb", "_ratio", PPB},
    {"_bits", "_bytes", BYTE},
    {"_time", "_time_seconds", 1},
    {"count_oldest", "count_oldest_time_seconds", 1},
    {"", "", 1},
};

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* gillnet_ and the name, with the unit that Prometheus wants; numbers of all lists together do not
 * take the names of those of each list. */
static double name_of(enum stat_id id, char name[METRIC_NAME_MAX])
{
    static const char lists[] = "list_";
    const char *ours = stats_name(id);
    const char *end = stats_is_counter(id) ? "_total" : "";
    bool is_lists = strncmp(ours, lists, sizeof(lists) - 1) == 0;
    const struct unit *u = units;

    while (!ends_in(ours, u->ours)) {
        u++;
    }
    ours += is_lists ? sizeof(lists) - 1 : 0;
    (void)snprintf(name, METRIC_NAME_MAX, "gillnet_%s%.*s%s%s",
                   is_lists ? "lists_" : "", (int)(strlen(ours) - strlen(u->ours)),
                   ours, u->theirs, end);
    return u->divisor;
}

static void add_stat(struct prom *p, const struct metrics_snapshot *s, enum stat_id id)
{
    char name[METRIC_NAME_MAX];
    double divisor = name_of(id, name);

    prom_alone(p, name, stats_is_counter(id) ? PROM_COUNTER : PROM_GAUGE,
               stats_help(id), stat_now(s, id) / divisor);
}

static void add_grouped(struct prom *p, const struct metrics_snapshot *s,
                        const struct grouped *g)
{
    bool is_counter = stats_is_counter(g->id);

    if (p->name == NULL || strcmp(p->name, g->family) != 0) {
        prom_family(p, g->family, is_counter ? PROM_COUNTER : PROM_GAUGE, g->help);
    }
    prom_row(p, stat_now(s, g->id) / g->divisor, g->label, g->value, PROM_END);
}

static void add_stats(struct prom *p, const struct metrics_snapshot *s)
{
    for (unsigned i = 0; i < STAT_COUNT; i++) {
        const struct grouped *g = group_of((enum stat_id)i);

        if (g != NULL) {
            add_grouped(p, s, g);
        } else if (i != STAT_pid) {
            add_stat(p, s, (enum stat_id)i);
        }
    }
    prom_alone(p, "gillnet_count_noise_limit_ratio", PROM_GAUGE,
               "count.noise_floor: a window with more noise is not used for verdicts",
               s->config->count.noise_floor);
    prom_alone(p, "gillnet_faults", PROM_GAUGE, "faults that gillnet stat names",
               s->stats.nfaults);
}

/* ---- history ---- */

static void add_times(struct prom *p, const struct history_times *t, const char *label,
                      const char *value)
{
    double end[HISTORY_TIMES - 1];

    for (size_t i = 0; i < HISTORY_TIMES - 1; i++) {
        end[i] = history_time_us[i] / US;
    }
    prom_histogram(p,
                   &(struct prom_ranges){.n = HISTORY_TIMES,
                                         .end = end,
                                         .count = t->count,
                                         .sum = (double)t->sum_ns / NS},
                   label, value);
}

static void add_url_checks(struct prom *p, const char *via,
                           const uint64_t n[RATING_COUNT])
{
    for (unsigned i = 0; i < RATING_COUNT; i++) {
        if (rating_is_given((enum rating)i)) {
            prom_row(p, (double)n[i], "status", rating_name((enum rating)i), "via", via,
                     PROM_END);
        }
    }
}

/* URLs of mail, and URLs from clients of the API. */
static void add_all_url_checks(struct prom *p, const struct metrics_snapshot *s,
                               const char *name)
{
    if (!s->has_history && !s->has_api) {
        return;
    }
    prom_family(p, name, PROM_COUNTER,
                "URLs looked up, of messages and for clients of the API, by rating");
    if (s->has_history) {
        add_url_checks(p, "mail", s->history.url_checks);
    }
    if (s->has_api) {
        add_url_checks(p, "api", s->api.url_checks);
    }
}

static void add_url_times(struct prom *p, const struct history_view *h,
                          const char *name)
{
    prom_family(p, name, PROM_HISTOGRAM, "time to look up one URL of a message");
    add_times(p, &h->time[HISTORY_URL], NULL, NULL);
}

static void add_history(struct prom *p, const struct history_view *h)
{
    add_url_times(p, h, "gillnet_url_check_duration_seconds");
    prom_family(p, "gillnet_stage_duration_seconds", PROM_HISTOGRAM,
                "time of one message by stage; message: from its end to the answer");
    for (unsigned i = 0; i < HISTORY_STAGES; i++) {
        if (i != HISTORY_URL) {
            add_times(p, &h->time[i], "stage",
                      history_stage_name((enum history_stage)i));
        }
    }
    prom_family(p, "gillnet_symbol_hits_total", PROM_COUNTER,
                "messages in which a symbol was found");
    for (size_t i = 0; i < h->nsymbols; i++) {
        prom_row(p, (double)h->symbol[i].total, "symbol", h->symbol[i].name, PROM_END);
    }
}

/* ---- sums ---- */

/* Memory of the filters of all lists and of the counts. */
static void add_store_memory(struct prom *p, const struct metrics_snapshot *s,
                             const char *name)
{
    prom_alone(p, name, PROM_GAUGE, "memory of filters and counts",
               stat_now(s, STAT_filter_bits) / BYTE +
                   stat_now(s, STAT_count_memory_bytes));
}

static void add_blocked(struct prom *p, const struct metrics_snapshot *s,
                        const char *name)
{
    prom_alone(p, name, PROM_COUNTER,
               "messages that were put on hold, rejected or discarded",
               stat_now(s, STAT_action_quarantine) + stat_now(s, STAT_action_reject) +
                   stat_now(s, STAT_action_discard));
}

/* Requirement 129: of the messages since the start. */
static void add_answered(struct prom *p, const struct metrics_snapshot *s)
{
    double messages = stat_now(s, STAT_messages);
    double bad = stat_now(s, STAT_on_error) + stat_now(s, STAT_deadline);

    prom_alone(
        p, "gillnet_answers_ok_ratio", PROM_GAUGE,
        "share of messages since the start that were answered in time and without "
        "a fault of gillnet",
        messages > 0 && bad < messages ? 1 - bad / messages : messages <= 0);
}

void metrics_add_mail(struct prom *p, const struct metrics_snapshot *s)
{
    add_all_url_checks(p, s, "gillnet_url_checks_total");
    if (s->has_history) {
        add_history(p, &s->history);
    }
    if (s->has_stats) {
        prom_alone(p, "gillnet_gillnetd_up", PROM_GAUGE, "1: gillnetd is at work",
                   s->is_running);
        add_answered(p, s);
        add_store_memory(p, s, "gillnet_store_memory_bytes");
        add_blocked(p, s, "gillnet_messages_blocked_total");
        add_stats(p, s);
    }
}

void metrics_add_mail_source(struct prom *p, const struct metrics_snapshot *s)
{
    add_all_url_checks(p, s, "spam_url_checks_total");
    if (s->has_history) {
        add_url_times(p, &s->history, "spam_url_check_duration_seconds");
    }
    if (s->has_stats) {
        prom_alone(p, "bloom_filter_hits_total", PROM_COUNTER,
                   stats_help(STAT_filter_hits), stat_now(s, STAT_filter_hits));
        prom_alone(p, "bloom_filter_size_bits", PROM_GAUGE,
                   stats_help(STAT_filter_bits), stat_now(s, STAT_filter_bits));
        prom_alone(p, "bloom_filter_false_positive_rate", PROM_GAUGE,
                   stats_help(STAT_filter_error_ppb),
                   stat_now(s, STAT_filter_error_ppb) / PPB);
        add_store_memory(p, s, "store_memory_bytes");
        add_blocked(p, s, "messages_blocked_total");
    }
}
