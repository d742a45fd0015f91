/* api_quarantine - held mail, which gillnet-queue lists, shows, releases and deletes. */

#include "core/base/log.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/message/feature/feature_json.h"
#include "core/quarantine/held.h"
#include "core/report/report.h"

enum {
    RCPT_MAX = 1024,
    DECODE_MAX = 4096,
    API_HELD_IDS = 50,       /* of one request: each costs some processes of the MTA */
    API_HELD_SHOWN = 1 << 16 /* bytes of a message */
};

/* The status for a refusal of gillnet-queue. */
static unsigned status_of_queue(enum err e, const struct errinfo *why)
{
    const struct slice text = slice_str(why->text);

    if (e != ERR_SYNTAX || slice_has_prefix(text, SLICE_LIT("queue: "))) {
        return e == ERR_TIMEOUT ? 504 : 503;
    }
    return slice_has_prefix(text, SLICE_LIT("request: ")) ? 422 : 404;
}

/* Asks gillnet-queue; the whole answer stands in ret. Returns 200, or the status of a refusal. */
static unsigned ask_queue_for(const struct api_call *call, const char *line,
                              struct buf *ret, struct errinfo *reterr)
{
    const struct api_hooks *h = &call->api->hooks;

    if (h->queue == NULL) {
        (void)errinfo_set(reterr, ERR_NOT_FOUND, "", 0,
                          "held mail is not offered here");
        return 404;
    }
    enum err e = h->queue(h->context, slice_str(line), ret, reterr);
    if (e != ERR_OK && reterr->text[0] == '\0') {
        (void)errinfo_set(reterr, e, "", 0, "%s", err_text(e));
    }
    return e == ERR_OK ? 200 : status_of_queue(e, reterr);
}

/* True: status is that of success. */
static bool is_well_or_refused(struct api_call *call, unsigned status,
                               const struct errinfo *why)
{
    if (status != 200) {
        api_refuse(call, status, "%s", why->text);
        call->answer.retry_s = status == 503 ? 5 : 0;
    }
    return status == 200;
}

/* False: refused. */
static bool ask_queue(struct api_call *call, const char *line, struct buf *ret)
{
    struct errinfo why = {.text = ""};

    return is_well_or_refused(call, ask_queue_for(call, line, ret, &why), &why);
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

static unsigned change_held(const struct api_call *call, const char *word,
                            const char *id, struct errinfo *reterr)
{
    char line[QUARANTINE_LINE_MAX];
    struct buf answer;

    (void)snprintf(line, sizeof(line), "%s %s", word, id);
    buf_init(&answer, QUARANTINE_LIST_BYTES);
    const unsigned status = ask_queue_for(call, line, &answer, reterr);
    buf_fini(&answer);
    return status;
}

bool api_change_held(struct api_call *call, const char *word, const char *id)
{
    struct errinfo why = {.text = ""};

    return is_well_or_refused(call, change_held(call, word, id, &why), &why);
}

/* A call of its own, because the report has an answer of its own. */
json_t *api_report_held(struct api_call *call, const struct api_opinion *opinion)
{
    char line[QUARANTINE_LINE_MAX];
    struct api_call report = *call;
    struct buf answer;
    json_t *kept = NULL;

    (void)snprintf(line, sizeof(line), "show %s", opinion->id);
    buf_init(&answer, QUARANTINE_MESSAGE_BYTES);
    buf_init(&report.answer.body, call->answer.body.max);
    if (ask_queue(&report, line, &answer)) {
        report.body = buf_slice(&answer);
        (void)slice_cut(&report.body, '\n');
        report.request.path = slice_str(call->route->path); /* no token in the log */
        api_report_message(&report, opinion);
        if (report.answer.status == 202) {
            kept = json_loadb(report.answer.body.p, report.answer.body.n, 0, NULL);
        }
    }
    if (kept == NULL) {
        log_warn("event=quarantine id=%s error=\"not reported as %s: status %u\"",
                 opinion->id, opinion->is_spam ? "spam" : "ham", report.answer.status);
    }
    buf_fini(&report.answer.body);
    buf_fini(&answer);
    return kept;
}

json_t *api_is_held(struct api_call *call, const char *id)
{
    char line[QUARANTINE_LINE_MAX];
    struct errinfo why = {.text = ""};
    struct buf answer;

    if (!quarantine_is_id(slice_str(id))) {
        return json_false();
    }
    (void)snprintf(line, sizeof(line), "show %s", id);
    buf_init(&answer, QUARANTINE_MESSAGE_BYTES);
    const unsigned status = ask_queue_for(call, line, &answer, &why);
    buf_fini(&answer);
    return status == 200                                     ? json_true()
           : status == 404 && call->api->hooks.queue != NULL ? json_false()
                                                             : json_null();
}

/* ---- GET /v1/quarantine ---- */

static const char *const held_sorts[] = {"time_s", "sender",  "bytes", "score",
                                         "nrcpt",  "subject", NULL};
static const char *const held_words[] = {"id",         "sender",  "from",   "subject",
                                         "decoded",    "symbols", "reason", "case",
                                         "recipients", NULL};
static const char *const held_key[] = {"id", NULL};
static const char *const held_own[] = {"all", "rcpt", NULL};
static const struct api_table held_table = {
    .sorts = held_sorts, .words = held_words, .key = held_key, .own = held_own};

struct held_wanted {
    bool all;
    char rcpt[RCPT_MAX];
};

/* The parameters that are not those of a table. False: refused. */
static bool read_wanted(struct api_call *call, struct held_wanted *ret)
{
    struct slice rest = call->request.query;
    struct slice name;
    char value[API_ROWS_CURSOR_MAX + 1];
    bool is_bad = false;

    *ret = (struct held_wanted){.rcpt = ""};
    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        if (slice_eq(name, SLICE_LIT("rcpt"))) {
            is_bad = strlen(value) >= sizeof(ret->rcpt);
            (void)snprintf(ret->rcpt, sizeof(ret->rcpt), "%.*s",
                           (int)sizeof(ret->rcpt) - 1, value);
        } else if (slice_eq(name, SLICE_LIT("all"))) {
            ret->all = strcmp(value, "1") == 0;
            is_bad = !ret->all;
        }
    }
    if (is_bad) {
        api_refuse(call, 422, "the query is rcpt=ADDRESS and all=1");
    }
    return !is_bad;
}

/* What the header says, for people. */
static void add_decoded(json_t *row)
{
    struct buf b;

    buf_init(&b, DECODE_MAX);
    held_add_decoded(&b, held_text(row, "subject"));
    (void)json_object_set_new(row, "decoded", json_text(buf_slice(&b)));
    buf_fini(&b);
}

void api_v1_quarantine(struct api_call *call)
{
    struct held_wanted w;
    struct api_rows_query q;

    if (!read_wanted(call, &w) || !api_table_query(call, &held_table, &q)) {
        return;
    }
    json_t *rows = api_held_rows(call);
    json_t *wanted = json_array();
    if (rows == NULL) {
        json_decref(wanted);
        api_rows_fini(&q);
        return; /* said */
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);

        if ((w.all || held_is_gillnets(row)) &&
            (w.rcpt[0] == '\0' || held_has_recipient(row, w.rcpt))) {
            if (!call->config->journal.subjects) {
                (void)json_object_del(row, "subject");
            } else {
                add_decoded(row);
            }
            (void)json_array_append(wanted, row);
        }
    }
    json_decref(rows);
    api_answer_json(call, api_table_page("held", wanted, &held_table, &q));
}

/* ---- GET /v1/quarantine/message ---- */

/* False: refused. */
static bool read_asked_id(struct api_call *call, char ret[QUARANTINE_ID_MAX + 1])
{
    struct slice rest = call->request.query;
    char value[QUARANTINE_ID_MAX + 1];
    struct slice name;
    bool is_bad = false;
    unsigned n = 0;

    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        is_bad = n++ > 0 || !quarantine_is_id(slice_str(value));
        (void)snprintf(ret, QUARANTINE_ID_MAX + 1, "%s", value);
    }
    if (is_bad || n != 1) {
        api_refuse(call, 422, "the query is ?id= and a queue id");
        return false;
    }
    return true;
}

void api_v1_quarantine_message(struct api_call *call)
{
    char id[QUARANTINE_ID_MAX + 1];
    char line[QUARANTINE_LINE_MAX];
    struct buf answer;

    if (!read_asked_id(call, id)) {
        return;
    }
    (void)snprintf(line, sizeof(line), "show %s", id);
    buf_init(&answer, QUARANTINE_MESSAGE_BYTES);
    if (ask_queue(call, line, &answer)) {
        struct slice message = buf_slice(&answer);
        (void)slice_cut(&message, '\n');
        api_answer_json(call, json_pack("{s:s, s:I, s:o, s:b}", "id", id, "bytes",
                                        (json_int_t)message.n, "text",
                                        json_text(slice_head(message, API_HELD_SHOWN)),
                                        "cut", (int)(message.n > API_HELD_SHOWN)));
    }
    buf_fini(&answer);
}

/* ---- POST /v1/quarantine/release, delete ---- */

/* The ids of a request: one as "id", or several as "ids". */
struct held_ids {
    bool is_one;
    struct api_strings v;
};

/* False: refused. */
static bool read_ids(struct api_call *call, struct held_ids *ret)
{
    struct slice id = SLICE_NONE;
    const struct api_member members[] = {{"id", API_MEMBER_STRING, false, &id},
                                         {"ids", API_MEMBER_STRINGS, false, &ret->v}};
    bool ok = true;

    *ret = (struct held_ids){.v = {.most = API_HELD_IDS}};
    if (!api_read_body(call, members, LENGTH(members))) {
        return false;
    }
    ret->is_one = id.p != NULL;
    if (ret->is_one == (ret->v.n > 0)) {
        api_refuse(call, 422,
                   "the body has one \"id\", or \"ids\" with 1 to %d of them",
                   API_HELD_IDS);
        return false;
    }
    if (ret->is_one) {
        ret->v.v = arena_array(call->arena, 1, sizeof(*ret->v.v));
        if (ret->v.v == NULL) {
            api_refuse(call, 503, "out of memory");
            return false;
        }
        ret->v.v[ret->v.n++] = id;
    }
    for (size_t i = 0; ok && i < ret->v.n; i++) {
        ok = quarantine_is_id(ret->v.v[i]);
    }
    if (!ok) {
        api_refuse(call, 422, "id: this is no queue id");
    }
    return ok;
}

/* What was done with one message. */
struct held_done {
    unsigned status; /* 200, or that of the refusal */
    json_t *row;
};

static struct held_done release_one(struct api_call *call, const char *id)
{
    char reporter[REPORT_NAME_MAX];
    struct errinfo why = {.text = ""};

    api_name_reporter(call, reporter);
    const struct api_opinion ham = {
        .reporter = reporter, .way = "quarantine", .id = id};
    json_t *report = api_report_held(call, &ham);
    const unsigned status = change_held(call, "release", id, &why);

    return (struct held_done){
        status, json_pack("{s:s, s:s, s:b, s:o*, s:s*}", "id", id, "state",
                          status == 200 ? "released" : "failed", "reported",
                          (int)(report != NULL), "report", report, "detail",
                          status == 200 ? NULL : why.text)};
}

static struct held_done delete_one(struct api_call *call, const char *id)
{
    struct errinfo why = {.text = ""};
    const unsigned status = change_held(call, "delete", id, &why);

    return (struct held_done){status,
                              json_pack("{s:s, s:s, s:s*}", "id", id, "state",
                                        status == 200 ? "deleted" : "failed", "detail",
                                        status == 200 ? NULL : why.text)};
}

/* How all held messages of a request are changed. */
struct held_change {
    enum change_kind kind;
    struct held_done (*make)(struct api_call *call, const char *id);
};

/* Of one message, its refusal is that of the request. */
static void answer_one(struct api_call *call, const struct held_done *done)
{
    if (done->status == 200) {
        api_answer_json(call, json_incref(done->row));
        return;
    }
    api_refuse(call, done->status, "%s", held_text(done->row, "detail"));
    call->answer.retry_s = done->status == 503 ? 5 : 0;
}

static void note_held(const struct api_call *call, enum change_kind kind,
                      const json_t *row)
{
    const bool is_reported = json_is_true(json_object_get(row, "reported"));

    api_note(call, &(struct change){
                       .kind = kind,
                       .object = slice_str(held_text(row, "id")),
                       .after = kind != CHANGE_held_release ? SLICE_NONE
                                : is_reported ? SLICE_LIT("released, reported as ham")
                                              : SLICE_LIT("released")});
}

/* One that failed is in the answer alone. */
static void answer_many(struct api_call *call, enum change_kind kind, json_t *rows)
{
    api_answer_json(call, json_pack("{s:O}", "results", rows));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(held_text(row, "state"), "failed") != 0) {
            note_held(call, kind, row);
        }
    }
}

static void change_each(struct api_call *call, const struct held_change *change)
{
    struct held_ids ids;
    struct held_done done = {.row = NULL};

    if (!read_ids(call, &ids)) {
        return;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < ids.v.n; i++) {
        char id[QUARANTINE_ID_MAX + 1];
        (void)snprintf(id, sizeof(id), "%.*s", SLICE_ARGS(ids.v.v[i]));
        done = change->make(call, id);
        (void)json_array_append_new(rows, done.row);
    }
    if (ids.is_one && done.row != NULL) {
        answer_one(call, &done);
        note_held(call, change->kind, done.row);
    } else {
        answer_many(call, change->kind, rows);
    }
    json_decref(rows);
}

void api_v1_quarantine_release(struct api_call *call)
{
    change_each(call, &(struct held_change){CHANGE_held_release, release_one});
}

void api_v1_quarantine_delete(struct api_call *call)
{
    change_each(call, &(struct held_change){CHANGE_held_delete, delete_one});
}
