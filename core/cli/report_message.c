#include "core/cli/report_message.h"

#include <sysexits.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/base/user.h"
#include "core/campaign/campaign_report.h"
#include "core/cli/change_note.h"
#include "core/cli/messages.h"
#include "core/cli/print.h"
#include "core/cli/report_lists.h"
#include "core/cli/services.h"
#include "core/report/report_json.h"
#include "core/report/report_read.h"
#include "core/telemetry/control_client.h"
#include "core/verdict/journal/journal_items.h"
#include "core/verdict/journal/journal_read.h"

enum {
    US_PER_S = 1000000,
    ASK_S = 60,
    ANSWER_MAX = 4 << 20,
    LOCK_TRIES = 50, /* gillnetd starts or ends */
    LOCK_WAIT_US = 100000,
    TEACH_ROUNDS = 1000
};

/* ---- who speaks ---- */

/* As gillnetd does for its own user and root. */
static const char *speaker(const struct cli *cli, const char *given,
                           char room[USER_NAME_BYTES])
{
    if (given != NULL) {
        return given;
    }
    return cli_is_administrator(cli) ? REPORT_ADMINISTRATOR
                                     : user_name(geteuid(), room);
}

/* ---- queue ids ---- */

struct search {
    struct slice queue_id;
    uint64_t case_id;
};

static bool is_found(void *context, const struct record *r,
                     const struct journal_names *names)
{
    struct search *s = context;

    (void)names;
    if (slice_eq(r->queue_id, s->queue_id)) {
        s->case_id = r->case_id;
    }
    return s->case_id == 0;
}

/* The case id of a message that the journal has by this queue id; empty: it has none. */
static const char *case_of_queue_id(const struct cli *cli, const char *id,
                                    char room[CASE_ID_SIZE])
{
    struct journal_numbers numbers;
    struct search s = {.queue_id = slice_str(id)};
    const struct journal_query q = {.state_dir = cli->config->state_dir,
                                    .newest_first = true,
                                    .fn = is_found,
                                    .context = &s};

    (void)journal_read(&q, &numbers, NULL);
    return s.case_id != 0 ? case_id_print(s.case_id, room) : "";
}

/* ---- gillnetd ---- */

static enum err ask_gillnetd(const struct cli *cli, const struct scan_request *line,
                             struct slice bytes, json_t **ret, struct errinfo *reterr)
{
    const char *path = cli->config->control_socket;
    struct buf request;
    struct buf answer;

    buf_init(&request, (size_t)4 * SCAN_REQUEST_MAX);
    buf_init(&answer, ANSWER_MAX);
    scan_request_print(line, &request);
    enum err e =
        buf_failed(&request)
            ? errinfo_nomem(reterr, path)
            : control_client_ask(path, slice_head(buf_slice(&request), request.n - 1),
                                 bytes, clock_mono_us() + (uint64_t)ASK_S * US_PER_S,
                                 &answer, reterr);
    if (e == ERR_OK) {
        struct slice rest = buf_slice(&answer);
        (void)slice_cut(&rest, '\n');
        *ret = json_loadb(rest.p, rest.n, 0, NULL);
        e = *ret != NULL ? ERR_OK
                         : errinfo_set(reterr, ERR_SYNTAX, path, 0,
                                       "no answer about a report; are gillnet and "
                                       "gillnetd of one version?");
    }
    buf_fini(&request);
    buf_fini(&answer);
    return e;
}

/* ---- the state folder ---- */

static enum err open_own(struct reporting *r, struct errinfo *reterr)
{
    const struct cli *cli = r->cli;
    const struct reports_options options = {.state_dir = cli->config->state_dir,
                                            .keys = &cli->keys,
                                            .keep_s = cli->config->reports.keep_s,
                                            .config = cli->config};
    enum err e = reports_open(&options, &r->own, reterr);

    for (unsigned i = 0; e == ERR_LOCKED && i < LOCK_TRIES; i++) {
        if (control_listens(cli->config->control_socket)) {
            return ERR_OK; /* gillnetd came up */
        }
        usleep(LOCK_WAIT_US);
        e = reports_open(&options, &r->own, reterr);
    }
    if (e == ERR_OK) {
        r->lists = list_manager_new(cli->config->state_dir, &cli->keys);
        e = r->lists != NULL ? list_manager_refresh(r->lists, cli->config, reterr)
                             : errinfo_nomem(reterr, "");
    }
    return e;
}

int reporting_begin(struct cli *cli, struct reporting *ret)
{
    struct errinfo why = {.code = ERR_OK};
    int status = cli_config(cli);

    *ret = (struct reporting){.cli = cli};
    if (status != 0 || control_listens(cli->config->control_socket)) {
        return status;
    }
    status = cli_keys(cli, true);
    return status == 0 ? cli_status(open_own(ret, &why), &why) : status;
}

/* gillnetd does it at its start, if the model cannot be had here. */
static void teach_here(struct reporting *r)
{
    const struct config *config = r->cli->config;
    const struct learner_options options = {.prior = config->model.prior};
    struct learner *learner = NULL;

    if (config->model.enabled &&
        learner_open(config->state_dir, &options, &learner, NULL) == ERR_OK) {
        for (unsigned i = 0; i < TEACH_ROUNDS && !reports_teach(r->own, learner); i++) {
        }
        (void)reports_teach(r->own, NULL);
    }
    learner_close(&learner);
}

void reporting_end(struct reporting *r)
{
    if (r->own != NULL) {
        teach_here(r);
    }
    list_manager_free(&r->lists);
    reports_close(&r->own);
}

static enum err read_here(struct reporting *r, struct slice bytes, struct report *v,
                          struct arena *arena, json_t **retlisted)
{
    struct cli *cli = r->cli;
    const struct report_naming how = {&cli->keys, cli->config};
    struct extract_limits limits;
    struct featureset *features = NULL;

    messages_limits(cli, &limits);
    enum err e = report_read(&how, arena, &limits, bytes, v, &features);
    if (e == ERR_OK && !v->is_spam) {
        const struct listset *lists = list_manager_acquire(r->lists);
        *retlisted = report_listed_json(lists, features, arena);
        list_manager_release(r->lists, &lists);
    }
    if (v->case_id == 0) {
        (void)case_id_read(report_case_of(bytes), &v->case_id);
    }
    return e;
}

static enum err keep_here(struct reporting *r, const struct scan_request *line,
                          struct slice bytes, struct report *v, json_t **ret,
                          struct errinfo *reterr)
{
    struct arena *arena = arena_new(r->cli->config->limits.memory);
    struct reports_outcome outcome;
    json_t *listed = NULL;
    enum err e = arena != NULL ? ERR_OK : ERR_NOMEM;

    v->time_s = clock_wall_us() / US_PER_S;
    v->id = case_id_next(v->time_s);
    v->is_spam = slice_eq(line->say, SLICE_LIT("spam"));
    v->reporter = line->reporter;
    v->way = line->way;
    for (size_t i = 0; i < line->nids; i++) {
        if (!case_id_read(line->id[i], &v->case_id)) {
            v->queue_id = line->id[i];
        }
    }
    if (line->campaign.n > 0) {
        THEN(e,
             campaign_add_items(r->cli->config->state_dir, line->campaign, v, reterr));
    }
    THEN(e, bytes.n > 0 ? read_here(r, bytes, v, arena, &listed) : ERR_OK);
    if (e == ERR_OK && bytes.n == 0 && line->campaign.n == 0) {
        journal_add_items(r->cli->config->state_dir, &r->cli->keys.ring[0], v);
    }
    e = e == ERR_NOMEM ? errinfo_nomem(reterr, "report") : e;
    THEN(e, reports_give(r->own, v, &outcome, reterr));
    if (e == ERR_OK) {
        *ret = report_outcome_json(v, &outcome);
        if (listed != NULL) {
            (void)json_object_set(*ret, "listed", listed);
        }
    }
    json_decref(listed);
    arena_free(&arena);
    return e;
}

static enum err say_here(struct reporting *r, const struct scan_request *line,
                         struct slice bytes, json_t **ret, struct errinfo *reterr)
{
    struct report *v = calloc(1, sizeof(*v));
    enum err e = v != NULL ? keep_here(r, line, bytes, v, ret, reterr)
                           : errinfo_nomem(reterr, "report");

    free(v);
    return e;
}

/* ---- saying ---- */

/* Takes listed values off their lists, and notes that with the report. */
static int take_back(struct reporting *r, json_t *answer)
{
    struct errinfo why = {.code = ERR_OK};
    json_t *changed = json_array();
    uint64_t id = 0;
    const json_t *listed = json_object_get(answer, "listed");
    int status = report_lists_change(r->cli, listed, true, changed);

    (void)json_array_extend(json_object_get(answer, "changed"), changed);
    (void)json_object_del(answer, "listed");
    char *text =
        json_array_size(changed) > 0 ? json_dumps(changed, JSON_COMPACT) : NULL;
    struct slice bytes = slice_str(text);
    if (text != NULL && r->own != NULL &&
        case_id_read(slice_str(json_text_of(answer, "id")), &id)) {
        THEN(status, cli_status(reports_note_changed(r->own, id, bytes, &why), &why));
    } else if (text != NULL) {
        const struct scan_request line = {.bytes = bytes.n,
                                          .say = SLICE_LIT("changed"),
                                          .id = {slice_str(json_text_of(answer, "id"))},
                                          .nids = 1};
        json_t *noted = NULL;
        THEN(status,
             cli_status(ask_gillnetd(r->cli, &line, bytes, &noted, &why), &why));
        json_decref(noted);
    }
    free(text);
    json_decref(changed);
    return status;
}

/* ids: of a message that the journal has by its queue id the case id, too. */
static void add_ids(const struct cli *cli, const struct cli_values *ids,
                    struct scan_request *line, char room[CASE_ID_SIZE])
{
    uint64_t id = 0;

    for (size_t i = 0; i < ids->n && line->nids + 1 < SCAN_REQUEST_IDS; i++) {
        line->id[line->nids++] = slice_str(ids->v[i]);
        const char *found = case_id_read(slice_str(ids->v[i]), &id)
                                ? ""
                                : case_of_queue_id(cli, ids->v[i], room);
        if (*found != '\0') {
            line->id[line->nids++] = slice_str(found);
        }
    }
}

/* Those of users are in the log of reports alone. */
static void note_report(const struct reporting *r, const struct report_request *request,
                        const json_t *answer)
{
    const struct slice id = slice_str(json_text_of(answer, "id"));
    const bool is_of_campaign = request->campaign != NULL;
    const char *object = is_of_campaign       ? request->campaign
                         : request->ids.n > 0 ? request->ids.v[0]
                                              : "message";

    if (cli_is_administrator(r->cli) && id.n > 0) {
        cli_note(r->cli,
                 &(struct change){.kind = is_of_campaign ? CHANGE_campaign_mark
                                                         : CHANGE_report,
                                  .object = slice_str(object),
                                  .after = slice_str(request->is_spam ? "spam" : "ham"),
                                  .values = &id,
                                  .nvalues = 1});
    }
}

int reporting_say(struct reporting *r, const struct report_request *request,
                  struct slice bytes, json_t **ret)
{
    struct errinfo why = {.code = ERR_OK};
    char login[USER_NAME_BYTES];
    char room[CASE_ID_SIZE];
    struct scan_request line = {.bytes = bytes.n,
                                .say = request->is_spam ? SLICE_LIT("spam")
                                                        : SLICE_LIT("ham"),
                                .reporter = slice_str(request->reporter),
                                .way = slice_str(request->way),
                                .campaign = slice_str(request->campaign)};

    *ret = NULL;
    add_ids(r->cli, &request->ids, &line, room);
    if (r->own != NULL) {
        line.reporter = slice_str(speaker(r->cli, request->reporter, login));
    }
    enum err e = r->own != NULL ? say_here(r, &line, bytes, ret, &why)
                                : ask_gillnetd(r->cli, &line, bytes, ret, &why);
    int status = cli_status(e, &why);

    if (status == 0) {
        note_report(r, request, *ret);
    }
    if (status == 0 && json_array_size(json_object_get(*ret, "listed")) > 0) {
        status = take_back(r, *ret);
    }
    (void)json_object_del(*ret, "listed");
    return status;
}

static enum err undo_here(struct reporting *r, const char *id, const char *who,
                          json_t **ret, struct errinfo *reterr)
{
    struct buf changed;
    uint64_t number = 0;
    json_t *rows = json_array();

    buf_init(&changed, (size_t)16 * REPORT_CHANGED_MAX);
    (void)case_id_read(slice_str(id), &number);
    enum err e = reports_undo(r->own, number, slice_str(who), &changed, reterr);
    struct slice lines = buf_slice(&changed);
    while (lines.p != NULL) {
        struct slice line = slice_cut(&lines, '\n');
        json_t *some = json_loadb(line.p != NULL ? line.p : "", line.n, 0, NULL);
        (void)json_array_extend(rows, some);
        json_decref(some);
    }
    *ret = json_pack("{s:s, s:b, s:o}", "id", id, "undone", 1, "restore", rows);
    buf_fini(&changed);
    return e;
}

int reporting_undo(struct reporting *r, const char *id, const char *reporter,
                   json_t **ret)
{
    struct errinfo why = {.code = ERR_OK};
    char login[USER_NAME_BYTES];
    json_t *changed = json_array();
    const struct scan_request line = {.say = SLICE_LIT("undo"),
                                      .reporter = slice_str(reporter),
                                      .id = {slice_str(id)},
                                      .nids = 1};

    *ret = NULL;
    enum err e = r->own != NULL
                     ? undo_here(r, id, speaker(r->cli, reporter, login), ret, &why)
                     : ask_gillnetd(r->cli, &line, SLICE_NONE, ret, &why);
    int status = cli_status(e, &why);

    if (status == 0) {
        status = report_lists_change(r->cli, json_object_get(*ret, "restore"), false,
                                     changed);
    }
    if (status == 0 && cli_is_administrator(r->cli)) {
        cli_note(r->cli,
                 &(struct change){.kind = CHANGE_report_undo, .object = slice_str(id)});
    }
    (void)json_object_del(*ret, "restore");
    (void)json_object_set(*ret, "changed", changed);
    json_decref(changed);
    return status;
}

int cli_report_message(struct cli *cli, const struct report_request *request,
                       struct slice bytes, json_t **ret)
{
    struct reporting r;
    json_t *answer = NULL;
    int status = reporting_begin(cli, &r);

    THEN(status, reporting_say(&r, request, bytes, &answer));
    reporting_end(&r);
    if (ret != NULL) {
        *ret = answer;
    } else {
        json_decref(answer);
    }
    return status;
}
