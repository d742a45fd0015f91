/* api_status - the status of the hub, its lists and gillnetd. */

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/hub/api/api_handlers.h"
#include "core/message/feature/feature_json.h"
#include "core/telemetry/stats.h"

enum { US_PER_S = 1000000 };

/* ---- GET /v1/whoami ---- */

void api_v1_whoami(struct api_call *call)
{
    const char *const proofs[] = {
        [API_UNPROVEN] = "none", [API_BY_TOKEN] = "token", [API_BY_PROXY] = "proxy"};

    api_answer_json(call, json_pack("{s:o, s:s, s:s}", "name",
                                    json_text(slice_str(call->who.name)), "role",
                                    api_role_name(call->who.role), "proof",
                                    proofs[call->who.proof]));
}

/* ---- gillnetd, by its page of numbers ---- */

struct daemon {
    struct stats_view stats;
    bool has_stats;
    bool is_running; /* stats_is_alive */
};

static void look_at_daemon(const struct config *config, struct daemon *ret)
{
    char path[FILE_PATH_MAX];
    uint64_t now_s = clock_wall_us() / US_PER_S;

    ret->has_stats =
        file_path(path, "%s/%s", config->state_dir, STATE_STATS_FILE) == ERR_OK &&
        stats_read(path, &ret->stats, NULL) == ERR_OK;
    ret->is_running = ret->has_stats && stats_is_alive(&ret->stats, now_s);
}

static json_t *numbers_json(const struct stats_view *s)
{
    json_t *o = json_object();

    for (unsigned i = 0; i < STAT_COUNT; i++) {
        (void)json_object_set_new(o, stats_name((enum stat_id)i),
                                  json_integer((json_int_t)s->value[i]));
    }
    return o;
}

static json_t *daemon_json(const struct daemon *d)
{
    json_t *faults = json_array();

    for (unsigned i = 0; d->has_stats && i < d->stats.nfaults; i++) {
        (void)json_array_append_new(faults, json_string(d->stats.fault[i]));
    }
    return json_pack("{s:b, s:o, s:o}", "running", (int)d->is_running, "stats",
                     d->has_stats ? numbers_json(&d->stats) : json_object(), "faults",
                     faults);
}

void api_v1_stats(struct api_call *call)
{
    struct daemon d;

    look_at_daemon(call->config, &d);
    api_answer_json(call,
                    json_pack("{s:s, s:I, s:o, s:o}", "version", GILLNET_VERSION,
                              "time", (json_int_t)(clock_wall_us() / US_PER_S),
                              "gillnetd", daemon_json(&d), "hub",
                              status_board_get(call->api->board, STATUS_BOARD_HUB)));
}

/* ---- the board ---- */

static void answer_section(struct api_call *call, const char *name,
                           enum status_board_section s)
{
    struct buf *b = &call->answer.body;

    call->answer.status = 200;
    buf_printf(b, "{\"%s\":", name);
    status_board_add(call->api->board, s, b);
    buf_add_str(b, "}\n");
}

void api_v1_alerts(struct api_call *call)
{
    answer_section(call, "alerts", STATUS_BOARD_ALERTS);
}

void api_v1_progress(struct api_call *call)
{
    answer_section(call, "tasks", STATUS_BOARD_TASKS);
}

/* ---- others' ---- */

/* Reads the parameter names. all: also the names of the source document. */
static bool read_names(struct api_call *call, bool *retall)
{
    struct slice rest = call->request.query;
    struct slice name;
    char value[16] = "gillnet";
    bool is_bad = false;

    while (http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
    }
    *retall = strcmp(value, "all") == 0;
    return !is_bad && (*retall || strcmp(value, "gillnet") == 0);
}

void api_metrics(struct api_call *call)
{
    const struct api_hooks *h = &call->api->hooks;
    bool has_source_names = false;

    if (h->metrics == NULL) {
        api_refuse(call, 404, "there are no metrics here");
        return;
    }
    if (!read_names(call, &has_source_names)) {
        api_refuse(call, 400, "names is gillnet or all");
        return;
    }
    call->answer.status = 200;
    h->metrics(h->context, has_source_names, &call->answer.body);
}

/* ---- health ---- */

void api_healthz(struct api_call *call)
{
    call->answer.status = 200;
    buf_add_str(&call->answer.body, "{\"status\":\"ok\"}\n");
}

static void add_reason(struct buf *b, const char *text)
{
    if (b->p[b->n - 1] != '[') {
        buf_add_char(b, ',');
    }
    api_add_text(b, slice_str(text));
}

void api_readyz(struct api_call *call)
{
    struct buf *b = &call->answer.body;
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);
    char trouble[ERRINFO_TEXT_MAX];
    struct daemon d;

    look_at_daemon(call->config, &d);
    list_watcher_trouble(call->api->lists, trouble);
    buf_add_str(b, "{\"status\":\"unready\",\"reasons\":[");
    if (trouble[0] != '\0') {
        add_reason(b, trouble);
    } else if (listset_is_degraded(view->set)) {
        add_reason(b, "a list cannot be read as it should: gillnet doctor");
    }
    if (!d.is_running) {
        add_reason(b, "gillnetd is not running, or its numbers cannot be read");
    }
    list_watcher_release(call->api->lists, &view);
    if (b->p[b->n - 1] == '[') {
        call->answer.status = 200;
        buf_clear(b);
        buf_add_str(b, "{\"status\":\"ready\",\"reasons\":[]}\n");
    } else {
        call->answer.status = 503;
        buf_add_str(b, "]}\n");
    }
}

/* ---- GET /stats: as the source document has it ---- */

static json_t *filters_json(const struct listset *set)
{
    uint64_t entries = 0;
    uint64_t bytes = 0;
    double error = 0;

    for (size_t i = 0; i < listset_total(set); i++) {
        struct list_stat s;

        list_reader_stat(listset_reader(set, i), &s);
        entries += s.entries;
        bytes += s.filter_bytes;
        error = 1 - (1 - error) * (1 - s.error_now);
    }
    return json_pack("{s:I, s:I, s:I, s:f}", "lists", (json_int_t)listset_total(set),
                     "entries", (json_int_t)entries, "size_bytes", (json_int_t)bytes,
                     "estimated_error", error);
}

/* Sums over all lists of the look-ups for mail. */
static json_t *hits_json(const struct list_watcher_view *view)
{
    struct lookup_stats_counts sum = {.since_s = 0};
    double rate = 0;

    for (size_t i = 0; view->hits != NULL && i < listset_count(view->set); i++) {
        struct lookup_stats_counts c;
        struct slice name = slice_str(list_reader_name(listset_reader(view->set, i)));

        if (lookup_stats_view_find(view->hits, name, LOOKUP_STATS_WHOLE, &c)) {
            for (unsigned n = 0; n < LOOKUP_STATS_NUMBERS; n++) {
                sum.number[n] += c.number[n];
            }
        }
    }
    rate = lookup_stats_observed_error(&sum);
    return json_pack("{s:I, s:I, s:I, s:I, s:f}", "tested",
                     (json_int_t)sum.number[LOOKUP_STATS_TESTED], "hits",
                     (json_int_t)sum.number[LOOKUP_STATS_FILTER], "confirmed",
                     (json_int_t)sum.number[LOOKUP_STATS_CONFIRMED], "false_positives",
                     (json_int_t)sum.number[LOOKUP_STATS_FALSE], "false_positive_rate",
                     rate < 0 ? 0.0 : rate);
}

static json_t *service_json(struct api *a)
{
    struct api_numbers n;
    uint64_t requests = 0;

    api_numbers(a, &n);
    for (unsigned i = 0; i < n.nroutes; i++) {
        for (unsigned c = 0; c < API_STATUS_CLASSES; c++) {
            requests += n.route[i].requests[c];
        }
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "version", GILLNET_VERSION,
                     "uptime_s",
                     (json_int_t)((clock_mono_us() - a->start_us) / US_PER_S),
                     "requests", (json_int_t)requests, "values", (json_int_t)n.values,
                     "connections", (json_int_t)n.open);
}

void api_stats(struct api_call *call)
{
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);

    api_answer_json(call, json_pack("{s:o, s:o, s:o}", "filter",
                                    filters_json(view->set), "service",
                                    service_json(call->api), "mail", hits_json(view)));
    list_watcher_release(call->api->lists, &view);
}
