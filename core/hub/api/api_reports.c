/* api_reports - what people said about messages: the list, and the reports about one message. */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_handlers.h"
#include "core/report/report_json.h"

enum {
    US_PER_S = 1000000,
    LIST_MOST = 10000,
    ABOUT_MOST = 100 /* about one message */
};

static const char *const report_sorts[] = {"time", "reporter", "kind", "way", NULL};
static const char *const report_words[] = {"id",   "kind",     "reporter", "way",
                                           "case", "queue_id", NULL};
static const char *const report_key[] = {"id", NULL};
static const char *const report_own[] = {"since", NULL};
static const struct api_table report_table = {
    .sorts = report_sorts, .words = report_words, .key = report_key, .own = report_own};

/* False: refused. */
static bool read_since(struct api_call *call, uint64_t *ret)
{
    struct slice rest = call->request.query;
    char value[API_ROWS_CURSOR_MAX + 1];
    struct slice name;
    bool is_bad = false;

    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        is_bad = slice_eq(name, SLICE_LIT("since")) &&
                 !slice_to_u64(slice_str(value), 10, UINT64_MAX, ret);
    }
    if (is_bad) {
        api_refuse(call, 422, "\"since\" is a time in seconds since 1970");
    }
    return !is_bad;
}

/* Adds the trust of each reporter as it is now. */
static void add_trust(struct api_call *call, json_t *rows)
{
    struct errinfo why = {.text = ""};
    struct votes *votes = NULL;

    if (!api_votes(call, &votes, &why)) {
        log_errinfo("reports", &why);
    }
    report_trust_json(rows, votes, clock_wall_us() / US_PER_S);
    if (votes != NULL) {
        reports_follower_release(call->api->reports);
    }
}

json_t *api_reports_about(struct api_call *call, uint64_t case_id,
                          struct slice queue_id)
{
    struct errinfo why = {.text = ""};
    const struct report_wanted wanted = {.state_dir = call->config->state_dir,
                                         .case_id = case_id,
                                         .queue_id = queue_id,
                                         .most = ABOUT_MOST};
    json_t *rows = NULL;

    if (report_list_json(&wanted, &rows, &why) != ERR_OK) {
        log_errinfo("reports", &why);
    }
    add_trust(call, rows);
    return rows;
}

void api_v1_reports(struct api_call *call)
{
    struct errinfo why = {.text = ""};
    struct report_wanted wanted = {.state_dir = call->config->state_dir,
                                   .most = LIST_MOST};
    struct api_rows_query q;
    json_t *rows = NULL;

    if (!read_since(call, &wanted.since_s) ||
        !api_table_query(call, &report_table, &q)) {
        return;
    }
    enum err e = report_list_json(&wanted, &rows, &why);
    if (e != ERR_OK) {
        json_decref(rows);
        api_rows_fini(&q);
        api_refuse_change(call, e, &why);
        return;
    }
    json_t *answer = api_table_page("reports", rows, &report_table, &q);
    add_trust(call, json_object_get(answer, "reports"));
    api_answer_json(call, answer);
}
