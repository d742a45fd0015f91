#include "milter/report_request.h"

#include <sys/socket.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/user.h"
#include "core/campaign/campaign_report.h"
#include "core/message/feature/feature_json.h"
#include "core/message/feature/feature_value.h"
#include "core/report/report_json.h"
#include "core/report/report_read.h"
#include "core/report/report_seal.h"
#include "core/verdict/journal/journal_items.h"
#include "core/verdict/verdict.h"

#include "milter/arenapool.h"
#include "milter/file_reader.h"
#include "milter/service.h"

enum {
    US_PER_S = 1000000,
    NOBODY = 65534,    /* of users that a namespace hides */
    LOCKED_TRIES = 30, /* a command has the reports */
    LOCKED_WAIT_US = 100000,
    WHO_MAX = 2 * REPORT_NAME_MAX
};

/* A report on its way. */
struct keeping {
    const struct scan_request *line;
    struct config *config;
    struct report_naming how;
    struct arena *arena;
    struct report *report;
    json_t *listed; /* NULL: none */
};

/* ---- reading ---- */

static enum err read_values(struct keeping *k, struct slice bytes,
                            struct errinfo *reterr)
{
    struct digest all;

    digest_make(&k->how.keys->ring[0], FEATURE_NONE, bytes, &all);
    k->report->message = report_digest(&all);
    while (bytes.p != NULL) {
        struct slice value = slice_trim(slice_cut(&bytes, '\n'));
        struct value_features features;
        if (value.n == 0) {
            continue;
        }
        enum err e = value_features_of(value, k->arena, &features, reterr);
        if (e != ERR_OK) {
            return e;
        }
        for (size_t i = 0; i < features.n; i++) {
            (void)report_add_item(&k->how, (uint16_t)features.v[i].type,
                                  features.v[i].text, k->report);
        }
    }
    return ERR_OK;
}

static void find_listed(struct keeping *k, struct featureset *features)
{
    const struct listset *lists = list_manager_acquire(service_lists());

    k->listed = report_listed_json(lists, features, k->arena);
    list_manager_release(service_lists(), &lists);
}

static enum err read_message(struct keeping *k, struct slice bytes)
{
    struct extract_limits limits;
    struct featureset *features = NULL;
    struct slice id = report_case_of(bytes);

    verdict_extract_limits(k->config, &limits);
    file_reader_offer(&limits);
    service_imprint(&limits.imprint);
    limits.imprint.learner = NULL;
    enum err e = report_read(&k->how, k->arena, &limits, bytes, k->report, &features);
    if (e == ERR_OK && !k->report->is_spam) {
        find_listed(k, features);
    }
    if (k->report->case_id == 0) {
        (void)case_id_read(id, &k->report->case_id);
    }
    return e;
}

static void read_ids(struct keeping *k)
{
    for (size_t i = 0; i < k->line->nids; i++) {
        uint64_t id = 0;
        if (case_id_read(k->line->id[i], &id)) {
            k->report->case_id = id;
        } else {
            k->report->queue_id = k->line->id[i];
        }
    }
}

static enum err read_request(struct keeping *k, struct slice bytes,
                             struct errinfo *reterr)
{
    enum err e = ERR_OK;

    read_ids(k);
    if (k->line->campaign.n > 0) {
        e = campaign_add_items(k->config->state_dir, k->line->campaign, k->report,
                               reterr);
    } else if (bytes.n == 0 && k->line->nids == 0) {
        e = errinfo_set(reterr, ERR_SYNTAX, "report", 0,
                        "there is neither a message nor an id");
    } else if (bytes.n == 0) {
        journal_add_items(k->config->state_dir, &k->how.keys->ring[0], k->report);
    } else if (k->line->is_values) {
        e = read_values(k, bytes, reterr);
    } else if (read_message(k, bytes) != ERR_OK) {
        e = errinfo_nomem(reterr, "report");
    }
    return e;
}

/* ---- keeping ---- */

static void log_report(const struct report *r, const struct reports_outcome *o)
{
    char id[CASE_ID_SIZE];
    char reporter[LOG_STR_MAX];
    char way[LOG_STR_MAX];

    log_info("event=report id=%s kind=%s reporter=%s way=%s votes=%zu standing=%s%s%s",
             case_id_print(o->id, id), r->is_spam ? "spam" : "ham",
             log_str(reporter, r->reporter), log_str(way, r->way), o->votes,
             standing_name(o->after), o->is_again ? " again=1" : "",
             o->is_counted ? "" : " uncounted=1");
}

static json_t *keep_report(struct keeping *k, struct slice bytes,
                           struct errinfo *reterr)
{
    struct reports_outcome outcome;
    const struct keyring *keys;
    struct reports *reports = service_reports(&keys);
    enum err e = read_request(k, bytes, reterr);

    THEN(e, reports_give(reports, k->report, &outcome, reterr));
    if (e != ERR_OK) {
        return NULL;
    }
    log_report(k->report, &outcome);
    json_t *answer = report_outcome_json(k->report, &outcome);

    if (answer == NULL) {
        (void)errinfo_nomem(reterr, "report");
    } else if (k->listed != NULL) {
        (void)json_object_set(answer, "listed", k->listed);
    }
    return answer;
}

json_t *report_keep(const struct scan_request *line, struct slice reporter,
                    struct slice bytes, struct errinfo *reterr)
{
    uint64_t generation;
    struct keeping k = {.line = line, .config = service_config(&generation)};
    size_t cap_bytes = (size_t)k.config->limits.memory;
    uint64_t now_s = clock_wall_us() / US_PER_S;
    json_t *answer = NULL;
    bool is_ready = service_reports(&k.how.keys) != NULL;

    k.how.config = k.config;
    k.report = calloc(1, sizeof(*k.report));
    k.arena = arenapool_take(cap_bytes);
    if (!is_ready) {
        (void)errinfo_set(reterr, ERR_UNSUPPORTED, "report", 0,
                          "reports cannot be kept; `gillnet stat` names the fault");
    } else if (k.report == NULL || k.arena == NULL) {
        (void)errinfo_nomem(reterr, "report");
    } else {
        k.report->id = case_id_next(now_s);
        k.report->time_s = now_s;
        k.report->is_spam = slice_eq(line->say, SLICE_LIT("spam"));
        k.report->reporter = reporter;
        k.report->way = line->way.n > 0 ? line->way : SLICE_LIT("socket");
        answer = keep_report(&k, bytes, reterr);
    }
    json_decref(k.listed);
    free(k.report);
    arenapool_give(&k.arena, cap_bytes);
    config_release(&k.config);
    return answer;
}

/* ---- requests ---- */

/* Writes the name of the reporter. True: root, gillnetd's user, or a request that is sealed. */
static bool name_speaker(const struct scan_request *line, struct slice bytes, int fd,
                         char ret[WHO_MAX])
{
    struct ucred peer = {.uid = NOBODY};
    socklen_t size = sizeof(peer);
    const struct keyring *keys;
    char login[USER_NAME_BYTES];
    struct slice given = slice_head(line->reporter, REPORT_NAME_MAX);

    (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    bool is_trusted =
        peer.uid == 0 || peer.uid == geteuid() ||
        (service_reports(&keys) != NULL && report_is_sealed(keys, line, bytes));
    if (is_trusted) {
        (void)snprintf(
            ret, WHO_MAX, "%.*s",
            SLICE_ARGS(given.n > 0 ? given : SLICE_LIT(REPORT_ADMINISTRATOR)));
        return true;
    }
    (void)snprintf(ret, WHO_MAX, "%s%s%.*s",
                   peer.uid == NOBODY ? "user" : user_name(peer.uid, login),
                   given.n > 0 ? "/" : "", SLICE_ARGS(given));
    return false;
}

static bool one_id(const struct scan_request *line, uint64_t *ret,
                   struct errinfo *reterr)
{
    if (line->nids == 1 && case_id_read(line->id[0], ret)) {
        return true;
    }
    (void)errinfo_set(reterr, ERR_SYNTAX, "report", 0, "give one id of a report");
    return false;
}

/* The entries of lists that this report revoked; the client adds them. */
static json_t *changed_rows(struct slice lines)
{
    json_t *rows = json_array();

    while (lines.p != NULL) {
        struct slice line = slice_cut(&lines, '\n');
        json_t *some = line.n > 0 ? json_loadb(line.p, line.n, 0, NULL) : NULL;
        if (json_is_array(some)) {
            (void)json_array_extend(rows, some);
        }
        json_decref(some);
    }
    return rows;
}

static json_t *undo(const struct scan_request *line, const char *who,
                    struct errinfo *reterr)
{
    const struct keyring *keys;
    struct buf changed;
    char text[CASE_ID_SIZE];
    uint64_t id = 0;
    json_t *answer = NULL;

    if (!one_id(line, &id, reterr)) {
        return NULL;
    }
    buf_init(&changed, (size_t)16 * REPORT_CHANGED_MAX);
    if (reports_undo(service_reports(&keys), id, slice_str(who), &changed, reterr) ==
        ERR_OK) {
        answer = json_pack("{s:s, s:b, s:o}", "id", case_id_print(id, text), "undone",
                           1, "restore", changed_rows(buf_slice(&changed)));
        log_info("event=report id=%s kind=undo", text);
    }
    buf_fini(&changed);
    return answer;
}

static json_t *note_changed(const struct scan_request *line, struct slice bytes,
                            struct errinfo *reterr)
{
    const struct keyring *keys;
    char text[CASE_ID_SIZE];
    uint64_t id = 0;
    json_t *rows = json_loadb(bytes.p, bytes.n, 0, NULL);
    bool is_array = json_is_array(rows);

    json_decref(rows);
    if (!is_array) {
        (void)errinfo_set(reterr, ERR_SYNTAX, "report", 0, "a JSON array must follow");
        return NULL;
    }
    if (!one_id(line, &id, reterr) ||
        reports_note_changed(service_reports(&keys), id, bytes, reterr) != ERR_OK) {
        return NULL;
    }
    return json_pack("{s:s}", "id", case_id_print(id, text));
}

static json_t *answer_request(const struct scan_request *line, struct slice bytes,
                              int fd, struct errinfo *reterr)
{
    const struct keyring *keys;
    char who[WHO_MAX];
    bool is_trusted = name_speaker(line, bytes, fd, who);

    if (slice_eq(line->say, SLICE_LIT("spam")) ||
        slice_eq(line->say, SLICE_LIT("ham"))) {
        return report_keep(line, slice_str(who), bytes, reterr);
    }
    if (service_reports(&keys) == NULL) {
        (void)errinfo_set(reterr, ERR_UNSUPPORTED, "report", 0, "reports are not kept");
    } else if (slice_eq(line->say, SLICE_LIT("undo"))) {
        return undo(line, who, reterr);
    } else if (!slice_eq(line->say, SLICE_LIT("changed"))) {
        (void)errinfo_set(reterr, ERR_SYNTAX, "report", 0,
                          "say= is spam, ham, undo or changed");
    } else if (!is_trusted) {
        (void)errinfo_set(reterr, ERR_DENIED, "report", 0,
                          "only the administrator and the hub change lists");
    } else {
        return note_changed(line, bytes, reterr);
    }
    return NULL;
}

char *report_answer(const struct scan_request *line, struct slice bytes, int fd,
                    struct errinfo *reterr)
{
    json_t *object = answer_request(line, bytes, fd, reterr);
    char *text = object != NULL ? json_dumps(object, JSON_LINE) : NULL;

    if (object != NULL && text == NULL) {
        (void)errinfo_nomem(reterr, "report");
    }
    json_decref(object);
    return text;
}

enum err report_open(const struct config *config, const struct keyring *keys,
                     struct reports **ret, struct errinfo *reterr)
{
    const struct reports_options options = {.state_dir = config->state_dir,
                                            .keys = keys,
                                            .keep_s = config->reports.keep_s,
                                            .config = config};
    enum err e = reports_open(&options, ret, reterr);

    for (unsigned i = 0; e == ERR_LOCKED && i < LOCKED_TRIES; i++) {
        usleep(LOCKED_WAIT_US);
        e = reports_open(&options, ret, reterr);
    }
    return e;
}
