/* api_quarantine - held mail, which gillnet-queue lists, shows, releases and deletes. */

#include "core/base/log.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/quarantine/held.h"
#include "core/report/report.h"

enum { RCPT_MAX = 1024 };

/* The status for a refusal of gillnet-queue. */
static unsigned status_of_queue(enum err e, const struct errinfo *why)
{
    const struct slice text = slice_str(why->text);

    if (e != ERR_SYNTAX || slice_has_prefix(text, SLICE_LIT("queue: "))) {
        return e == ERR_TIMEOUT ? 504 : 503;
    }
    return slice_has_prefix(text, SLICE_LIT("request: ")) ? 422 : 404;
}

/* Asks gillnet-queue; the whole answer stands in ret. False: refused. */
static bool ask_queue(struct api_call *call, const char *line, struct buf *ret)
{
    const struct api_hooks *h = &call->api->hooks;
    struct errinfo why = {.text = ""};

    if (h->queue == NULL) {
        api_refuse(call, 404, "held mail is not offered here");
        return false;
    }
    enum err e = h->queue(h->context, slice_str(line), ret, &why);
    if (e != ERR_OK) {
        api_refuse(call, status_of_queue(e, &why), "%s",
                   why.text[0] != '\0' ? why.text : err_text(e));
        call->answer.retry_s = call->answer.status == 503 ? 5 : 0;
    }
    return e == ERR_OK;
}

json_t *api_held_rows(struct api_call *call)
{
    struct buf answer;
    json_t *rows = NULL;

    buf_init(&answer, QUARANTINE_LIST_BYTES);
    if (ask_queue(call, "list", &answer)) {
        rows = held_rows(buf_slice(&answer));
        if (rows == NULL) {
            api_refuse(call, 503, "out of memory");
        }
    }
    buf_fini(&answer);
    return rows;
}

bool api_change_held(struct api_call *call, const char *word, const char *id)
{
    char line[QUARANTINE_LINE_MAX];
    struct buf answer;

    (void)snprintf(line, sizeof(line), "%s %s", word, id);
    buf_init(&answer, QUARANTINE_LIST_BYTES);
    const bool is_done = ask_queue(call, line, &answer);
    buf_fini(&answer);
    return is_done;
}

/* A call of its own, because the report has an answer of its own. */
bool api_report_held(struct api_call *call, const struct api_opinion *opinion)
{
    char line[QUARANTINE_LINE_MAX];
    struct api_call report = *call;
    struct buf answer;
    bool is_kept = false;

    (void)snprintf(line, sizeof(line), "show %s", opinion->id);
    buf_init(&answer, QUARANTINE_MESSAGE_BYTES);
    buf_init(&report.answer.body, call->answer.body.max);
    if (ask_queue(&report, line, &answer)) {
        report.body = buf_slice(&answer);
        (void)slice_cut(&report.body, '\n');
        report.request.path = slice_str(call->route->path); /* no token in the log */
        api_report_message(&report, opinion);
        is_kept = report.answer.status == 202;
    }
    if (!is_kept) {
        log_warn("event=quarantine id=%s error=\"not reported as %s: status %u\"",
                 opinion->id, opinion->is_spam ? "spam" : "ham", report.answer.status);
    }
    buf_fini(&report.answer.body);
    buf_fini(&answer);
    return is_kept;
}

/* ---- GET /v1/quarantine ---- */

struct held_wanted {
    bool all;
    char rcpt[RCPT_MAX];
};

static bool read_wanted(struct api_call *call, struct held_wanted *ret)
{
    struct slice rest = call->request.query;
    struct slice name;
    char value[RCPT_MAX];
    bool is_bad = false;

    *ret = (struct held_wanted){.rcpt = ""};
    while (http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        if (slice_eq(name, SLICE_LIT("rcpt"))) {
            (void)snprintf(ret->rcpt, sizeof(ret->rcpt), "%s", value);
        } else if (strcmp(value, "1") == 0) {
            ret->all = true;
        } else {
            is_bad = true;
            break;
        }
    }
    if (is_bad) {
        api_refuse(call, 422, "the query is rcpt=ADDRESS and all=1");
    }
    return !is_bad;
}

void api_v1_quarantine(struct api_call *call)
{
    struct held_wanted w;
    json_t *rows = read_wanted(call, &w) ? api_held_rows(call) : NULL;
    json_t *wanted = json_array();

    if (rows == NULL) {
        json_decref(wanted);
        return; /* said */
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);

        if ((w.all || held_is_gillnets(row)) &&
            (w.rcpt[0] == '\0' || held_has_recipient(row, w.rcpt))) {
            if (!call->config->journal.subjects) {
                (void)json_object_del(row, "subject");
            }
            (void)json_array_append(wanted, row);
        }
    }
    json_decref(rows);
    api_answer_json(call, json_pack("{s:o}", "held", wanted));
}

/* ---- POST /v1/quarantine/release, delete ---- */

static bool read_id(struct api_call *call, char ret[QUARANTINE_ID_MAX + 1])
{
    struct slice id = SLICE_NONE;
    const struct api_member members[] = {{"id", API_MEMBER_STRING, true, &id}};

    if (!api_read_body(call, members, 1)) {
        return false;
    }
    if (!quarantine_is_id(id)) {
        api_refuse(call, 422, "id: this is no queue id");
        return false;
    }
    (void)snprintf(ret, QUARANTINE_ID_MAX + 1, "%.*s", SLICE_ARGS(id));
    return true;
}

void api_v1_quarantine_release(struct api_call *call)
{
    char id[QUARANTINE_ID_MAX + 1];
    char reporter[REPORT_NAME_MAX];

    if (!read_id(call, id)) {
        return;
    }
    api_name_reporter(call, reporter);
    const struct api_opinion ham = {
        .reporter = reporter, .way = "quarantine", .id = id};
    const bool is_reported = api_report_held(call, &ham);
    if (api_change_held(call, "release", id)) {
        api_answer_json(call, json_pack("{s:s, s:s, s:b}", "id", id, "state",
                                        "released", "reported", (int)is_reported));
    }
    api_audit(call, "quarantine-release", 1);
}

void api_v1_quarantine_delete(struct api_call *call)
{
    char id[QUARANTINE_ID_MAX + 1];

    if (!read_id(call, id)) {
        return;
    }
    if (api_change_held(call, "delete", id)) {
        api_answer_json(call, json_pack("{s:s, s:s}", "id", id, "state", "deleted"));
    }
    api_audit(call, "quarantine-delete", 1);
}
