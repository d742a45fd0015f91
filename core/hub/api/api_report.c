/* api_report - reports by clients: new ones, and undo. gillnetd keeps them. While it
 * does not run, they wait in its spool. */
#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/campaign/campaign_read.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_list_change.h"
#include "core/message/feature/feature_json.h"
#include "core/report/report_json.h"
#include "core/report/report_seal.h"

enum {
    US_PER_S = 1000000,
    ID_MAX = 64,
    STATE_MAX = 64,
    FILE_MODE = 0640,
    SPOOL_MODE = 02770
};

/* A report on its way. */
struct reporting {
    struct api_call *call;
    struct scan_request line;
    char reporter[REPORT_NAME_MAX];
    char kind[8];
    char id[ID_MAX];
    struct slice body;    /* the message, or the values one a line */
    json_t *answer;       /* of gillnetd; NULL: it waits in the spool */
    bool keeps_lists;     /* its reporter takes nothing off the lists */
    char kept_id[ID_MAX]; /* "": it waits in the spool */
    struct api_strings revoked;
};

/* ---- gillnetd, or its spool ---- */

static enum err seal(const struct reporting *r, struct scan_request *line,
                     struct slice body, char room[REPORT_SEAL_HEX + 1],
                     struct errinfo *reterr)
{
    struct keyring keys;
    enum err e = keyring_load_or_create(r->call->config->state_dir, &keys, reterr);

    line->bytes = body.n;
    if (e == ERR_OK && !report_seal(&keys, line, body, room)) {
        e = errinfo_nomem(reterr, "report");
    }
    explicit_bzero(&keys, sizeof(keys));
    line->seal = e == ERR_OK ? slice_str(room) : SLICE_NONE;
    return e;
}

static enum err ask_gillnetd(const struct reporting *r, struct scan_request *line,
                             struct slice body, json_t **ret, struct errinfo *reterr)
{
    const struct api_hooks *h = &r->call->api->hooks;
    char room[REPORT_SEAL_HEX + 1];
    struct buf text;

    if (h->report == NULL) {
        return errinfo_set(reterr, ERR_NOT_FOUND, "report", 0, "gillnetd is not asked");
    }
    buf_init(&text, r->call->answer.body.max);
    enum err e = seal(r, line, body, room, reterr);
    THEN(e, h->report(h->context, line, body, &text, reterr));
    if (e == ERR_OK) {
        *ret = json_loadb(text.p, text.n, 0, NULL);
        e = *ret != NULL ? ERR_OK
                         : errinfo_set(reterr, ERR_IO, "report", 0,
                                       "the answer of gillnetd is not understood");
    }
    buf_fini(&text);
    return e;
}

/* The folder may be missing where gillnetd never ran. */
static enum err spool_dir(const struct reporting *r, char ret[FILE_PATH_MAX],
                          struct errinfo *reterr)
{
    const char *const below[] = {"", "/spool", r->kind};
    enum err e =
        path_make(ret, reterr, "%s/" STATE_REPORTS_DIR, r->call->config->state_dir);

    for (size_t i = 0; e == ERR_OK && i < LENGTH(below); i++) {
        size_t n = strlen(ret);
        (void)snprintf(ret + n, FILE_PATH_MAX - n, "%s%s", i == 2 ? "/" : "", below[i]);
        e = access(ret, F_OK) == 0 ? ERR_OK : file_make_dir(ret, SPOOL_MODE, reterr);
    }
    return e;
}

/* The file appears under its name when it is whole and on the disk. */
static enum err spool_bytes(const struct reporting *r, struct slice bytes,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    char name[CASE_ID_SIZE];
    enum err e = spool_dir(r, dir, reterr);

    THEN(e, path_make(path, reterr, "%s/api-%s", dir,
                      case_id_print(case_id_next(clock_wall_us() / US_PER_S), name)));
    THEN(e, file_write_atomic(path, bytes, FILE_MODE, reterr));
    return e;
}

static enum err spool(struct reporting *r, struct errinfo *reterr)
{
    char room[REPORT_SEAL_HEX + 1];
    struct buf whole;
    enum err e = seal(r, &r->line, r->body, room, reterr);

    buf_init(&whole, (size_t)API_MESSAGE_MAX + (size_t)4 * SCAN_REQUEST_MAX);
    scan_request_print(&r->line, &whole);
    buf_add(&whole, r->body);
    if (e == ERR_OK && buf_failed(&whole)) {
        e = errinfo_nomem(reterr, "report");
    }
    THEN(e, spool_bytes(r, buf_slice(&whole), reterr));
    buf_fini(&whole);
    return e;
}

/* Errors of a gillnetd that does not run, or cannot keep reports now. */
static bool is_absent(enum err e)
{
    return e == ERR_NOT_FOUND || e == ERR_TIMEOUT || e == ERR_LOCKED ||
           e == ERR_NOMEM || e == ERR_IO || e == ERR_DENIED;
}

/* False: refused. A message of ham needs gillnetd, which names the entries to revoke. */
static bool keep_report(struct reporting *r)
{
    struct errinfo why = {.text = ""};
    bool is_ham = strcmp(r->kind, "ham") == 0;
    enum err e = ask_gillnetd(r, &r->line, r->body, &r->answer, &why);

    if (is_absent(e) && (!is_ham || r->line.is_values)) {
        e = spool(r, &why);
    }
    if (e != ERR_OK) {
        api_refuse_change(r->call, is_absent(e) ? ERR_LOCKED : e, &why);
        return false;
    }
    atomic_fetch_add_explicit(is_ham ? &r->call->api->reports_ham
                                     : &r->call->api->reports_spam,
                              1, memory_order_relaxed);
    return true;
}

/* ---- lists ---- */

/* Several lists may hold a value. */
static bool has_value(const struct api_strings *values, struct slice value)
{
    size_t i = 0;

    while (i < values->n && !slice_eq(values->v[i], value)) {
        i++;
    }
    return i < values->n;
}

/* The listed values of a message of ham, which gillnetd named, as "TYPE:VALUE". */
static void find_listed(struct reporting *r)
{
    const json_t *rows = json_object_get(r->answer, "listed");
    struct arena *arena = r->call->arena;

    r->revoked.v = arena_array(arena, json_array_size(rows) + 1, sizeof(*r->revoked.v));
    for (size_t i = 0; r->revoked.v != NULL && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        json_t *both =
            json_sprintf("%s:%s", json_string_value(json_object_get(row, "type")),
                         json_string_value(json_object_get(row, "value")));
        struct slice value = arena_copy(
            arena, slice_of(json_string_value(both), json_string_length(both)));
        struct errinfo why;

        json_decref(both);
        /* values that only their lists can read, such as hashes of URLs, are left to /v1/revoke */
        if (value.n > 0 && !has_value(&r->revoked, value) &&
            api_change_check(arena, &value, 1, &why)) {
            r->revoked.v[r->revoked.n++] = value;
        }
    }
}

/* Notes the changed entries with the report, so that undo adds them again. */
static void note_changed(struct reporting *r, const json_t *rows)
{
    const char *id = json_string_value(json_object_get(r->answer, "id"));
    struct scan_request line = {.say = SLICE_LIT("changed"), .nids = 1};
    struct errinfo why = {.text = ""};
    json_t *small = json_array();
    json_t *noted = NULL;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        (void)json_array_append_new(small,
                                    json_pack("{s:O, s:O, s:O, s:O}", "list",
                                              json_object_get(row, "list"), "type",
                                              json_object_get(row, "type"), "value",
                                              json_object_get(row, "entry"), "status",
                                              json_object_get(row, "status")));
    }
    char *text = json_dumps(small, JSON_COMPACT);
    line.id[0] = slice_str(id);
    if (text == NULL ||
        ask_gillnetd(r, &line, slice_str(text), &noted, &why) != ERR_OK) {
        log_errinfo("report", &why);
    }
    json_decref(noted);
    json_decref(small);
    free(text);
}

/* ---- POST /v1/report ---- */

static void answer_report(struct reporting *r, json_t *rows)
{
    json_t *answer = r->answer;

    if (answer == NULL) {
        answer = json_pack("{s:n, s:s, s:[], s:s}", "id", "kind", r->kind, "changed",
                           "detail",
                           "gillnetd does not answer; the report waits in its spool");
    }
    (void)json_object_del(answer, "listed");
    (void)json_array_extend(json_object_get(answer, "changed"), rows);
    r->answer = NULL;
    api_answer_json(r->call, answer);
    if (r->call->answer.status == 200) {
        r->call->answer.status = 202;
    }
}

/* What the report is about. */
static struct slice object_of(const struct reporting *r)
{
    return r->line.campaign.n > 0                  ? r->line.campaign
           : r->line.nids > 0                      ? r->line.id[0]
           : r->line.is_values && r->revoked.n > 0 ? r->revoked.v[0]
                                                   : SLICE_LIT("message");
}

static void note_report(const struct reporting *r, size_t nchanged)
{
    char after[STATE_MAX];
    const struct slice id = slice_str(r->kept_id);

    (void)snprintf(after, sizeof(after), "%s, %zu revoked", r->kind, nchanged);
    api_note(r->call,
             &(struct change){.kind = r->line.campaign.n > 0 ? CHANGE_campaign_mark
                                                             : CHANGE_report,
                              .object = object_of(r),
                              .after = slice_str(after),
                              .values = &id,
                              .nvalues = id.n > 0});
}

static void report_it(struct reporting *r)
{
    struct errinfo why = {.text = ""};
    struct api_change c = api_change_of(r->call);
    enum err e = ERR_OK;

    if (keep_report(r)) {
        const char *id = json_string_value(json_object_get(r->answer, "id"));
        (void)snprintf(r->kept_id, sizeof(r->kept_id), "%s", id != NULL ? id : "");
        if (!r->line.is_values && !r->keeps_lists) {
            find_listed(r);
        }
        if (strcmp(r->kind, "ham") == 0 && r->revoked.n > 0) {
            e = api_change_revoke(&c, SLICE_NONE, r->revoked.v, r->revoked.n, &why);
        }
        if (json_array_size(c.rows) > 0 && r->answer != NULL) {
            note_changed(r, c.rows);
        }
        if (e == ERR_OK) {
            answer_report(r, c.rows);
        } else { /* the client tries again: the report is kept once */
            api_refuse_change(r->call, e, &why);
        }
    }
    if (r->call->who.role != API_NONE) { /* users have the log of reports */
        note_report(r, json_array_size(c.rows));
    }
    json_decref(c.rows);
    json_decref(r->answer);
}

static bool is_kind(struct api_call *call, struct slice kind)
{
    if (slice_eq(kind, SLICE_LIT("spam")) || slice_eq(kind, SLICE_LIT("ham"))) {
        return true;
    }
    api_refuse(call, 422, "\"kind\" is spam or ham");
    return false;
}

void api_report_message(struct api_call *call, const struct api_opinion *opinion)
{
    struct reporting r = {
        .call = call,
        .line = {.say = opinion->is_spam ? SLICE_LIT("spam") : SLICE_LIT("ham"),
                 .way = slice_str(opinion->way),
                 .reporter = slice_str(opinion->reporter),
                 .id = {slice_str(opinion->id)},
                 .nids = 1},
        .body = call->body,
        .keeps_lists = strcmp(opinion->reporter, REPORT_ADMINISTRATOR) != 0};

    (void)snprintf(r.kind, sizeof(r.kind), "%.*s", SLICE_ARGS(r.line.say));
    report_it(&r);
}

void api_name_reporter(const struct api_call *call, char ret[REPORT_NAME_MAX])
{
    const struct api_who *who = &call->who;

    (void)snprintf(ret, REPORT_NAME_MAX, "%s%s", who->role == API_ADMIN ? "" : "api:",
                   who->role == API_ADMIN ? REPORT_ADMINISTRATOR : who->name);
}

static void name_reporter(struct reporting *r)
{
    api_name_reporter(r->call, r->reporter);
    r->line.reporter = slice_str(r->reporter);
}

/* Reads the query. False: refused. */
static bool read_query(struct reporting *r)
{
    struct slice rest = r->call->request.query;
    char value[ID_MAX];
    struct slice name;
    bool is_bad = false;

    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        if (slice_eq(name, SLICE_LIT("kind")) && strlen(value) < sizeof(r->kind)) {
            (void)snprintf(r->kind, sizeof(r->kind), "%.*s", (int)sizeof(r->kind) - 1,
                           value);
        } else if (slice_eq(name, SLICE_LIT("id")) && *value != '\0') {
            (void)snprintf(r->id, sizeof(r->id), "%s", value);
            r->line.id[0] = slice_str(r->id);
            r->line.nids = 1;
        } else {
            is_bad = true;
        }
    }
    if (is_bad) {
        api_refuse(r->call, 422,
                   "the query of a message's report is ?kind=spam or ?kind=ham, and "
                   "&id= for its case id or queue id");
    }
    return !is_bad;
}

static void report_message(struct reporting *r)
{
    if (read_query(r) && is_kind(r->call, slice_str(r->kind))) {
        r->line.say = slice_str(r->kind);
        r->body = r->call->body;
        report_it(r);
    }
}

static void report_values(struct reporting *r)
{
    struct api_call *call = r->call;
    struct api_strings values = {.most = call->config->api.values};
    struct slice kind = SLICE_NONE;
    struct errinfo why = {.text = ""};
    struct buf lines;
    const struct api_member members[] = {{"kind", API_MEMBER_STRING, true, &kind},
                                         {"values", API_MEMBER_STRINGS, true, &values}};

    if (!api_read_body(call, members, LENGTH(members)) || !is_kind(call, kind)) {
        return;
    }
    if (!api_change_check(call->arena, values.v, values.n, &why)) {
        api_refuse_change(call, ERR_RANGE, &why);
        return;
    }
    (void)snprintf(r->kind, sizeof(r->kind), "%.*s", SLICE_ARGS(kind));
    buf_init(&lines, API_MESSAGE_MAX);
    for (size_t i = 0; i < values.n; i++) {
        buf_add(&lines, values.v[i]);
        buf_add_char(&lines, '\n');
    }
    r->line.say = slice_str(r->kind);
    r->line.is_values = true;
    r->body = buf_slice(&lines);
    r->revoked = values;
    report_it(r);
    buf_fini(&lines);
}

void api_v1_report(struct api_call *call)
{
    struct reporting r = {.call = call, .line = {.way = SLICE_LIT("api")}};

    name_reporter(&r);
    if (http_type_is(call->request.type, "application/json")) {
        report_values(&r);
    } else {
        report_message(&r);
    }
}

/* ---- POST /v1/campaigns/mark ---- */

void api_v1_campaigns_mark(struct api_call *call)
{
    struct slice id = SLICE_NONE;
    struct slice kind = SLICE_NONE;
    struct reporting r = {.call = call, .line = {.way = SLICE_LIT("campaign")}};
    const struct api_member members[] = {{"id", API_MEMBER_STRING, true, &id},
                                         {"kind", API_MEMBER_STRING, true, &kind}};

    if (!api_read_body(call, members, LENGTH(members)) || !is_kind(call, kind)) {
        return;
    }
    uint64_t number = 0;
    if (!campaign_id_read(id, &number)) {
        api_refuse(call, 422, "\"id\" is no id of a campaign");
        return;
    }
    name_reporter(&r);
    (void)snprintf(r.kind, sizeof(r.kind), "%.*s", SLICE_ARGS(kind));
    r.line.say = slice_str(r.kind);
    r.line.campaign = id;
    report_it(&r);
}

/* ---- POST /v1/reports/undo ---- */

/* Adds the entries that the report revoked. */
static enum err restore(struct api_change *c, const json_t *rows,
                        struct errinfo *reterr)
{
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *list = json_string_value(json_object_get(row, "list"));
        json_t *both =
            json_sprintf("%s:%s", json_string_value(json_object_get(row, "type")),
                         json_string_value(json_object_get(row, "value")));
        struct slice value =
            slice_of(json_string_value(both), json_string_length(both));
        e = api_change_add(c, slice_str(list), &value, 1, reterr);
        json_decref(both);
    }
    return e;
}

/* gillnetd's answer to a request that it refuses has no code. */
static bool is_unknown(const struct api_call *call, struct slice id)
{
    json_t *rows = NULL;
    uint64_t number = 0;

    if (!case_id_read(id, &number)) {
        return false;
    }
    const struct report_wanted wanted = {
        .state_dir = call->config->state_dir, .id = number, .most = 1};
    enum err e = report_list_json(&wanted, &rows, NULL);
    bool is = e == ERR_OK && json_array_size(rows) == 0;

    json_decref(rows);
    return is;
}

void api_undo_report(struct api_call *call, struct slice id)
{
    struct errinfo why = {.text = ""};
    struct reporting r = {.call = call, .line = {.say = SLICE_LIT("undo"), .nids = 1}};
    struct api_change c = api_change_of(call);

    name_reporter(&r);
    r.line.id[0] = id;
    enum err e = ask_gillnetd(&r, &r.line, SLICE_NONE, &r.answer, &why);

    THEN(e, restore(&c, json_object_get(r.answer, "restore"), &why));
    if (e == ERR_OK) {
        api_answer_json(call, json_pack("{s:O, s:b, s:O}", "id",
                                        json_object_get(r.answer, "id"), "undone", 1,
                                        "changed", c.rows));
    } else if (!is_absent(e) && is_unknown(call, id)) {
        api_refuse(call, 404,
                   "there is no report with this id; GET /v1/reports shows those there "
                   "are");
    } else {
        api_refuse_change(call, is_absent(e) ? ERR_LOCKED : e, &why);
    }
    json_decref(c.rows);
    json_decref(r.answer);
    api_note(call, &(struct change){.kind = CHANGE_report_undo, .object = id});
}

void api_v1_reports_undo(struct api_call *call)
{
    struct slice id = SLICE_NONE;
    const struct api_member members[] = {{"id", API_MEMBER_STRING, true, &id}};

    if (api_read_body(call, members, LENGTH(members))) {
        api_undo_report(call, id);
    }
}
