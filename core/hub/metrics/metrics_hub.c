/* metrics_hub - the HTTP API, alerts, the hub itself and its process. */
#include <sys/resource.h>

#include "core/base/dir_walk.h"
#include "core/base/footprint.h"
#include "core/base/version.h"
#include "core/hub/metrics/metrics_internal.h"

#define US 1e6

/* ---- the API ---- */

static bool was_asked(const struct api_route_numbers *r)
{
    uint64_t n = 0;

    for (unsigned c = 0; c < API_STATUS_CLASSES; c++) {
        n += r->requests[c];
    }
    return n > 0;
}

static void add_routes(struct prom *p, const struct api_numbers *n)
{
    static const char *const classes[API_STATUS_CLASSES] = {"other", "1xx", "2xx",
                                                            "3xx",   "4xx", "5xx"};

    prom_family(p, "gillnet_api_requests_total", PROM_COUNTER,
                "requests by route and class of the answer's status");
    for (unsigned i = 0; i < n->nroutes; i++) {
        for (unsigned c = 0; c < API_STATUS_CLASSES; c++) {
            if (n->route[i].requests[c] > 0) {
                prom_row(p, (double)n->route[i].requests[c], "route", n->route[i].path,
                         "code", classes[c], PROM_END);
            }
        }
    }
    prom_family(p, "gillnet_api_request_duration_seconds", PROM_HISTOGRAM,
                "time of requests by route");
    for (unsigned i = 0; i < n->nroutes; i++) {
        if (!was_asked(&n->route[i])) {
            continue;
        }
        prom_histogram(
            p,
            &(struct prom_ranges){.n = API_LATENCY_BUCKETS,
                                  .end = api_latency_le_s,
                                  .count = n->route[i].latency,
                                  .sum = (double)n->route[i].latency_us / US},
            "route", n->route[i].path);
    }
}

static void add_api(struct prom *p, const struct api_numbers *n)
{
    const struct {
        const char *name;
        enum prom_type type;
        const char *help;
        uint64_t value;
    } rows[] = {
        {"gillnet_api_connections_total", PROM_COUNTER, "connections accepted",
         n->connections},
        {"gillnet_api_connections_open", PROM_GAUGE, "connections open now", n->open},
        {"gillnet_api_connections_refused_total", PROM_COUNTER,
         "connections refused because there were too many", n->refused},
        {"gillnet_api_limited_total", PROM_COUNTER,
         "requests refused because one address sent too many", n->limited},
        {"gillnet_api_shed_total", PROM_COUNTER,
         "requests refused because there was too much to do", n->shed},
        {"gillnet_api_timeouts_total", PROM_COUNTER,
         "connections ended because they were too slow", n->timeouts},
        {"gillnet_api_values_total", PROM_COUNTER, "values looked up", n->values},
        {"gillnet_api_received_bytes_total", PROM_COUNTER, "bytes of requests",
         n->bytes_in},
        {"gillnet_api_sent_bytes_total", PROM_COUNTER, "bytes of answers",
         n->bytes_out},
        {"gillnet_false_positive_reports_total", PROM_COUNTER,
         "reports that something good was listed", n->reports_ham},
        {"gillnet_spam_reports_total", PROM_COUNTER, "reports of spam",
         n->reports_spam},
    };

    add_routes(p, n);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        prom_alone(p, rows[i].name, rows[i].type, rows[i].help, (double)rows[i].value);
    }
}

/* ---- alerts ---- */

static void add_alerts(struct prom *p, const json_t *rows)
{
    json_t *row = NULL;
    size_t i = 0;

    prom_family(p, "gillnet_alert_firing", PROM_GAUGE,
                "1: the built-in alert fires; GET /v1/alerts says more");
    json_array_foreach(rows, i, row)
    {
        prom_row(p, metrics_number(row, "firing"), "alert", metrics_text(row, "name"),
                 "severity", metrics_text(row, "severity"), PROM_END);
    }
}

/* ---- the hub ---- */

static void add_numbers(struct prom *p, const json_t *numbers)
{
    static const struct {
        const char *key;
        const char *name;
        enum prom_type type;
        const char *help;
    } known[] = {
        {"uptime", "gillnet_hub_uptime_seconds", PROM_GAUGE,
         "time since the hub's start"},
        {"connections", "gillnet_hub_connections_total", PROM_COUNTER,
         "connections of peers accepted"},
        {"connections_open", "gillnet_hub_connections_open", PROM_GAUGE,
         "connections of peers open now"},
        {"connections_refused", "gillnet_hub_connections_refused_total", PROM_COUNTER,
         "connections refused: too many of one address"},
        {"connections_evicted", "gillnet_hub_connections_evicted_total", PROM_COUNTER,
         "connections that gave way to newer ones"},
        {"handshakes_refused", "gillnet_hub_handshakes_refused_total", PROM_COUNTER,
         "TLS handshakes refused"},
        {"requests", "gillnet_hub_requests_total", PROM_COUNTER, "requests of peers"},
        {"requests_refused", "gillnet_hub_requests_refused_total", PROM_COUNTER,
         "requests of peers refused"},
        {"requests_held", "gillnet_hub_requests_held_total", PROM_COUNTER,
         "requests of peers held until there was something new"},
        {"timeouts", "gillnet_hub_timeouts_total", PROM_COUNTER,
         "connections of peers ended because they were too slow"},
        {"config_id", "gillnet_hub_config_id", PROM_GAUGE,
         "names the configuration that the hub runs; gillnet_config_id is gillnetd's"},
        {"config_restart_keys", "gillnet_hub_config_restart_keys", PROM_GAUGE,
         "keys that have another value in the file than the hub runs with until it is "
         "restarted"},
        {"bytes_out", "gillnet_hub_sent_bytes_total", PROM_COUNTER,
         "bytes sent to peers"},
        {"counts_published", "gillnet_hub_counts_published_total", PROM_COUNTER,
         "objects of counts published"},
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        if (json_object_get(numbers, known[i].key) != NULL) {
            prom_alone(p, known[i].name, known[i].type, known[i].help,
                       metrics_number(numbers, known[i].key));
        }
    }
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / US;
}

static unsigned open_files(void)
{
    struct dir_walk w = dir_walk_begin("/proc/self/fd", DIR_NEEDED);
    unsigned n = 0;

    while (dir_walk_next(&w)) {
        n++;
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return n > 0 ? n - 1 : 0; /* without the folder itself */
}

static void add_process(struct prom *p, const char *cpu, const char *memory,
                        const char *files)
{
    struct rusage u = {.ru_utime = {0, 0}};

    (void)getrusage(RUSAGE_SELF, &u);
    prom_alone(p, cpu, PROM_COUNTER, "processor time of the hub",
               seconds(&u.ru_utime) + seconds(&u.ru_stime));
    prom_alone(p, memory, PROM_GAUGE, "memory of the hub", (double)footprint_bytes());
    prom_alone(p, files, PROM_GAUGE, "files that the hub has open", open_files());
}

void metrics_add_hub_source(struct prom *p, const struct metrics_snapshot *s)
{
    if (s->has_api) {
        prom_alone(p, "false_positive_reports_total", PROM_COUNTER,
                   "reports that something good was listed",
                   (double)s->api.reports_ham);
    }
    add_process(p, "process_cpu_seconds_total", "process_resident_memory_bytes",
                "process_open_fds");
}

void metrics_add_hub(struct prom *p, const struct metrics_snapshot *s)
{
    prom_family(p, "gillnet_build_info", PROM_GAUGE, "the version of the hub");
    prom_row(p, 1, "version", GILLNET_VERSION, PROM_END);
    if (s->disk_bytes > 0) {
        prom_alone(p, "gillnet_state_size_bytes", PROM_GAUGE,
                   "size of the file system of state_dir", (double)s->disk_bytes);
        prom_alone(p, "gillnet_state_free_bytes", PROM_GAUGE,
                   "what is free of it for gillnet", (double)s->disk_free_bytes);
    }
    if (s->has_api) {
        add_api(p, &s->api);
    }
    add_alerts(p, s->section[STATUS_BOARD_ALERTS]);
    add_numbers(p, s->section[STATUS_BOARD_HUB]);
    add_process(p, "gillnet_process_cpu_seconds_total",
                "gillnet_process_resident_memory_bytes", "gillnet_process_open_fds");
}
