/* api_write - requests that change something: reports, revoked and allowed values, updates of
 * feeds. One at a time. */

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_list_change.h"
#include "core/hub/api/api_reported.h"
#include "core/hub/api/api_spool.h"
#include "core/message/feature/feature_json.h"

enum { US_PER_S = 1000000 };

void api_audit(const struct api_call *call, const char *what, size_t n)
{
    char path[LOG_STR_MAX];

    log_info("event=api write=%s values=%zu result=%u who=%s from=%s path=%s", what, n,
             call->answer.status, call->who.name, call->from,
             log_str(path, call->request.path));
}

static unsigned status_of(enum err e)
{
    switch (e) {
    case ERR_NOT_FOUND:
        return 404;
    case ERR_LOCKED:
    case ERR_NOMEM:
    case ERR_NOSPACE:
    case ERR_TIMEOUT:
        return 503;
    case ERR_SYNTAX:
    case ERR_RANGE:
    case ERR_UNSUPPORTED:
        return 422;
    default:
        return 500;
    }
}

static void refuse_change(struct api_call *call, enum err e, const struct errinfo *why)
{
    api_refuse(call, status_of(e), "%s",
               why->text[0] != '\0' ? why->text : err_text(e));
    call->answer.retry_s = call->answer.status == 503 ? 1 : 0;
}

static struct api_change change_of(struct api_call *call)
{
    return (struct api_change){.lists = call->api->lists,
                               .config = call->config,
                               .arena = call->arena,
                               .ask = call->ask,
                               .stop = &call->api->stops,
                               .who = call->who.name,
                               .rows = json_array()};
}

/* idle: the text of the answer if nothing was changed. */
static void answer_changes(struct api_call *call, unsigned status, enum err e,
                           const struct errinfo *why, const char *idle, json_t *rows)
{
    if (e != ERR_OK) {
        json_decref(rows);
        refuse_change(call, e, why);
        return;
    }
    const char *detail = json_array_size(rows) == 0 ? idle : NULL;

    api_answer_json(call, json_pack("{s:o, s:s*}", "changed", rows, "detail", detail));
    if (call->answer.status == 200) {
        call->answer.status = status;
    }
}

/* ---- POST /v1/revoke, /v1/allow ---- */

static bool read_values(struct api_call *call, struct api_strings *values,
                        struct slice *list)
{
    const struct api_member members[] = {{"values", API_MEMBER_STRINGS, true, values},
                                         {"list", API_MEMBER_STRING, false, list}};

    *values = (struct api_strings){.most = call->config->api.values};
    *list = SLICE_NONE;
    if (!api_read_body(call, members, LENGTH(members))) {
        return false;
    }
    if (list->p != NULL && !list_name_is_valid(*list)) {
        api_refuse(call, 422, "\"list\" is no name of a list");
        return false;
    }
    return true;
}

/* A mistyped name would make a list that stays. */
static bool is_there(struct api_call *call, struct slice list)
{
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);
    bool found = config_list_find(call->config, list)->name != NULL;

    for (size_t i = 0; !found && i < listset_count(view->set); i++) {
        found =
            slice_eq(list, slice_str(list_reader_name(listset_reader(view->set, i))));
    }
    list_watcher_release(call->api->lists, &view);
    if (!found) {
        api_refuse(call, 404, "there is no list of this name");
    }
    return found;
}

void api_v1_revoke(struct api_call *call)
{
    struct api_strings values;
    struct slice list;
    struct errinfo why = {.text = ""};

    if (!read_values(call, &values, &list) || (list.n > 0 && !is_there(call, list))) {
        return;
    }
    struct api_change c = change_of(call);
    enum err e = api_change_revoke(&c, list, values.v, values.n, &why);

    answer_changes(call, 200, e, &why,
                   "nothing was changed: no list holds these values", c.rows);
    api_audit(call, "revoke", values.n);
}

void api_v1_allow(struct api_call *call)
{
    struct api_strings values;
    struct slice list;
    struct errinfo why = {.text = ""};

    if (!read_values(call, &values, &list)) {
        return;
    }
    if (list.n == 0) {
        list = slice_str(call->config->api.allow_list);
    }
    if (!config_list_find(call->config, list)->is_allow) {
        api_refuse(call, 422,
                   "the list \"%.*s\" is not of category allow in the configuration: "
                   "lists = ( { name = \"%.*s\"; category = \"allow\"; } );",
                   SLICE_ARGS(list), SLICE_ARGS(list));
        return;
    }
    struct api_change c = change_of(call);
    enum err e = api_change_add(&c, list, values.v, values.n, &why);

    answer_changes(call, 200, e, &why,
                   "nothing was changed: the list holds them already", c.rows);
    api_audit(call, "allow", values.n);
}

/* ---- POST /v1/report ---- */

/* Whether a feature of the type belongs to this message alone. Names, networks, programs and habits
 * occur in other mail too. */
static bool is_its_own(const char *type)
{
    const struct feature_info *info = feature_info_by_name(slice_str(type));

    switch (info != NULL ? (int)info->type : 0) {
    case FEATURE_url_exact:
    case FEATURE_url_template:
    case FEATURE_text_address:
    case FEATURE_phone:
    case FEATURE_wallet:
    case FEATURE_body:
    case FEATURE_attachment:
    case FEATURE_html_structure:
    case FEATURE_link_set:
    case FEATURE_text:
        return true;
    default:
        return info != NULL && (info->lookup == FEATURE_LOOKUP_URL ||
                                info->lookup == FEATURE_LOOKUP_ADDRESS);
    }
}

/* "TYPE:VALUE" of a row about a listed feature. NONE: a report does not revoke it, or out of
 * memory. */
static struct slice listed_value(struct arena *arena, const json_t *row)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    const char *type = json_string_value(json_object_get(row, "type"));
    const char *value = json_string_value(json_object_get(row, "value"));

    if (status == NULL || strcmp(status, list_answer_name(LIST_CONFIRMED)) != 0 ||
        type == NULL || value == NULL || !is_its_own(type)) {
        return SLICE_NONE;
    }
    json_t *both = json_sprintf("%s:%s", type, value);
    struct slice copy =
        arena_copy(arena, slice_of(json_string_value(both), json_string_length(both)));

    json_decref(both);
    return copy;
}

/* True if values has value: several lists may hold it. */
static bool has(const struct api_strings *values, struct slice value)
{
    size_t i = 0;

    while (i < values->n && !slice_eq(values->v[i], value)) {
        i++;
    }
    return i < values->n;
}

/* A new check of the message by gillnetd; NULL: refused. */
static json_t *check_again(struct api_call *call)
{
    const struct api_envelope nobody = {.nrcpt = 0};

    if (!api_judge(call, &nobody)) {
        return NULL;
    }
    struct slice text = buf_slice(&call->answer.body);
    json_t *said = json_loadb(text.p, text.n, 0, NULL);

    buf_clear(&call->answer.body);
    if (said == NULL) {
        api_refuse(call, 503, "the answer of gillnetd is not understood");
    }
    return said;
}

/* The same for a report that does not need it: without gillnetd it is kept, and not counted. */
static json_t *try_check(const struct api_call *call)
{
    const struct api_hooks *h = &call->api->hooks;
    const struct api_envelope nobody = {.nrcpt = 0};
    struct errinfo why = {.text = ""};
    struct buf body;
    json_t *said = NULL;

    buf_init(&body, call->answer.body.max);
    if (h->scan != NULL &&
        h->scan(h->context, call->body, &nobody, &body, &why) == ERR_OK) {
        said = json_loadb(body.p, body.n, 0, NULL);
    } else if (h->scan != NULL) {
        log_errinfo("report", &why);
    }
    buf_fini(&body);
    return said;
}

/* The listed values of the message itself, by that check. False: refused. */
static bool listed_values(struct api_call *call, const json_t *said,
                          struct api_strings *ret)
{
    const json_t *rows = json_object_get(said, "lists");

    ret->v = arena_array(call->arena, json_array_size(rows), sizeof(*ret->v));
    for (size_t i = 0; ret->v != NULL && i < json_array_size(rows); i++) {
        struct slice value = listed_value(call->arena, json_array_get(rows, i));
        struct errinfo why;

        /* values that only their lists can read, such as hashes of URLs, are left to /v1/revoke */
        if (value.n > 0 && !has(ret, value) &&
            api_change_check(call->arena, &value, 1, &why)) {
            ret->v[ret->n++] = value;
        }
    }
    if (arena_is_full(call->arena)) {
        api_refuse(call, 503, "out of memory");
    }
    return !arena_is_full(call->arena);
}

static json_t *texts(const struct api_strings *values)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < values->n; i++) {
        (void)json_array_append_new(rows, json_text(values->v[i]));
    }
    return rows;
}

/* A report of a message has its hash and its listed values. NULL: no memory. */
static json_t *message_line(const struct api_call *call,
                            const struct api_strings *listed)
{
    struct sha256 sum;
    char hex[SHA256_HEX + 1];

    if (sha256_init(&sum) != ERR_OK) {
        return NULL;
    }
    sha256_add(&sum, call->body);
    sha256_final_hex(&sum, hex);
    return json_pack("{s:s, s:I, s:o}", "message_sha256", hex, "message_bytes",
                     (json_int_t)call->body.n, "values", texts(listed));
}

/* Takes line. */
static enum err spool(const struct api_call *call, struct slice kind, json_t *line,
                      struct errinfo *reterr)
{
    json_t *head = json_pack(
        "{s:I, s:s, s:s, s:s%}", "time", (json_int_t)(clock_wall_us() / US_PER_S),
        "who", call->who.name, "from", call->from, "kind", kind.p, kind.n);
    enum err e = ERR_NOMEM;

    if (head != NULL && line != NULL && json_object_update(head, line) == 0) {
        e = api_spool_add(call->config->state_dir, head, reterr);
    }
    if (e == ERR_OK) {
        atomic_fetch_add_explicit(slice_eq(kind, SLICE_LIT("ham"))
                                      ? &call->api->reports_ham
                                      : &call->api->reports_spam,
                                  1, memory_order_relaxed);
    }
    json_decref(line);
    json_decref(head);
    return e;
}

/* Reads the query. False: refused. */
static bool read_kind(struct api_call *call, char *ret, size_t size)
{
    struct slice rest = call->request.query;
    struct slice name;
    bool is_bad = false;

    ret[0] = '\0';
    while (http_query_next(&rest, &name, ret, size, &is_bad)) {
        if (!slice_eq(name, SLICE_LIT("kind"))) {
            is_bad = true;
            break;
        }
    }
    if (is_bad) {
        api_refuse(call, 422,
                   "the query of a message's report is ?kind=spam or ?kind=ham");
    }
    return !is_bad;
}

static bool is_kind(struct api_call *call, struct slice kind)
{
    if (slice_eq(kind, SLICE_LIT("spam")) || slice_eq(kind, SLICE_LIT("ham"))) {
        return true;
    }
    api_refuse(call, 422, "\"kind\" is spam or ham");
    return false;
}

/* Stores the report. For ham it also revokes the values on all lists. Takes line. */
static void act(struct api_call *call, struct slice kind,
                const struct api_strings *values, json_t *line)
{
    struct api_change c = change_of(call);
    struct errinfo why = {.text = ""};
    bool is_ham = slice_eq(kind, SLICE_LIT("ham"));
    enum err e = spool(call, kind, line, &why);

    if (e == ERR_OK && is_ham) {
        e = api_change_revoke(&c, SLICE_NONE, values->v, values->n, &why);
        /* a spooled report that failed is handled at the next start */
        call->api->has_open_reports = call->api->has_open_reports || e != ERR_OK;
    }
    if (e == ERR_OK && !call->api->has_open_reports) {
        (void)api_spool_done(call->config->state_dir, NULL);
    }
    answer_changes(
        call, 202, e, &why,
        is_ham ? "the report is kept; nothing was changed: no list holds what it "
                 "names"
               : "the report is kept; nothing was changed: a report of spam "
                 "lists nothing",
        c.rows);
    api_audit(call, is_ham ? "ham" : "spam", values->n);
}

void api_report_message(struct api_call *call, bool is_spam)
{
    struct api_strings listed = {.n = 0};
    struct slice kind = is_spam ? SLICE_LIT("spam") : SLICE_LIT("ham");
    json_t *said = is_spam ? try_check(call) : check_again(call);

    if (is_spam || (said != NULL && listed_values(call, said, &listed))) {
        act(call, kind, &listed, message_line(call, &listed));
    }
    if (said != NULL && call->answer.status == 202) {
        api_reported_features(call->config, json_object_get(said, "features"), is_spam,
                              call->arena);
    }
    json_decref(said);
}

static void report_message(struct api_call *call)
{
    char text[8];

    if (read_kind(call, text, sizeof(text)) && is_kind(call, slice_str(text))) {
        api_report_message(call, strcmp(text, "spam") == 0);
    }
}

static void report_values(struct api_call *call)
{
    struct api_strings values = {.most = call->config->api.values};
    struct slice kind = SLICE_NONE;
    struct errinfo why = {.text = ""};
    const struct api_member members[] = {{"kind", API_MEMBER_STRING, true, &kind},
                                         {"values", API_MEMBER_STRINGS, true, &values}};

    if (!api_read_body(call, members, LENGTH(members)) || !is_kind(call, kind)) {
        return;
    }
    if (!api_change_check(call->arena, values.v, values.n, &why)) {
        refuse_change(call, ERR_RANGE, &why);
        return;
    }
    act(call, kind, &values, json_pack("{s:o}", "values", texts(&values)));
    if (call->answer.status == 202) {
        api_reported_values(call->config, values.v, values.n,
                            slice_eq(kind, SLICE_LIT("spam")), call->arena);
    }
}

void api_v1_report(struct api_call *call)
{
    if (http_type_is(call->request.type, "application/json")) {
        report_values(call);
    } else {
        report_message(call);
    }
}

/* ---- reports of a former run ---- */

struct replay {
    struct api_change change;
    unsigned reports;
    unsigned failed;
};

static void act_again(void *context, const json_t *line)
{
    struct replay *r = context;
    const char *kind = json_string_value(json_object_get(line, "kind"));
    const json_t *values = json_object_get(line, "values");
    size_t n = json_array_size(values);
    struct slice *v = arena_array(r->change.arena, n, sizeof(*v));
    struct errinfo why = {.text = ""};
    const char *who = json_string_value(json_object_get(line, "who"));

    if (kind == NULL || strcmp(kind, "ham") != 0 || n == 0 || v == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *s = json_array_get(values, i);

        v[i] = slice_of(json_string_value(s), json_string_length(s));
    }
    r->change.who = who != NULL ? who : "report";
    r->reports++;
    if (api_change_revoke(&r->change, SLICE_NONE, v, n, &why) != ERR_OK) {
        r->failed++;
        log_errinfo("report", &why);
    }
    arena_reset(r->change.arena);
}

void api_write_resume(struct api *a, struct arena *arena, struct query *ask)
{
    struct config *config = api_config(a);
    struct replay r = {.change = {.lists = a->lists,
                                  .config = config,
                                  .arena = arena,
                                  .ask = ask,
                                  .stop = &a->stops,
                                  .rows = json_array()}};
    struct errinfo why = {.text = ""};

    enum err e = api_spool_each_open(config->state_dir, act_again, &r, &why);

    a->has_open_reports = r.failed > 0;
    if (e == ERR_OK && r.reports > 0 && r.failed == 0) {
        e = api_spool_done(config->state_dir, &why);
    }
    if (e != ERR_OK) {
        log_errinfo("report", &why);
    }
    if (r.reports > 0) {
        log_info("event=api write=ham reports=%u failed=%u: left by the former run",
                 r.reports, r.failed);
    }
    json_decref(r.change.rows);
    arena_reset(arena);
    config_release(&config);
}

/* ---- POST /v1/feeds/update, /v1/feeds/rollback ---- */

static void ask_feed(struct api_call *call, bool rolls_back)
{
    const struct api_hooks *h = &call->api->hooks;
    struct slice feed = SLICE_NONE;
    struct errinfo why = {.text = ""};
    const struct api_member members[] = {{"feed", API_MEMBER_STRING, true, &feed}};

    if (!api_read_body(call, members, 1)) {
        return;
    }
    struct slice name = arena_copy(call->arena, feed);

    if (h->feed == NULL || !list_name_is_valid(feed) || name.p == NULL) {
        api_refuse(call, 404, "there is no such feed");
        return;
    }
    enum err e = h->feed(h->context, name.p, rolls_back, &why);

    if (e != ERR_OK) {
        refuse_change(call, e, &why);
    } else {
        api_answer_json(call,
                        json_pack("{s:s, s:s}", "feed", name.p, "state", "queued"));
        call->answer.status = 202;
    }
    api_audit(call, rolls_back ? "feed-rollback" : "feed-update", 1);
}

void api_v1_feed_update(struct api_call *call)
{
    ask_feed(call, false);
}

void api_v1_feed_rollback(struct api_call *call)
{
    ask_feed(call, true);
}
