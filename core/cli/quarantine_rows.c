/* quarantine_rows - held messages as gillnet-queue and the journal know them. */
#include <sysexits.h>

#include "core/base/case_id.h"
#include "core/cli/journal_commands.h"
#include "core/cli/print.h"
#include "core/cli/quarantine_commands.h"
#include "core/cli/services.h"
#include "core/quarantine/queue/queue.h"

enum { US_PER_S = 1000000 };

static enum err ask_helper(const struct config *config, const char *request,
                           struct buf *ret, struct errinfo *reterr)
{
    const char *path = config->quarantine.socket;
    enum err e = control_ask(path, request, ret, reterr);

    if (e == ERR_NOT_FOUND) {
        e = errinfo_set(reterr, e, path, 0,
                        "gillnet-queue does not listen there; run as root, or "
                        "systemctl enable --now gillnet-queue.socket");
    } else if (e == ERR_DENIED) {
        e = errinfo_set(reterr, e, path, 0,
                        "this user has no right to held mail; run as root");
    }
    return e;
}

static enum err ask_queue(const struct config *config, const char *request,
                          struct buf *ret, struct errinfo *reterr)
{
    struct queue q;
    enum err e = ERR_OK;

    if (geteuid() != 0) {
        return ask_helper(config, request, ret, reterr);
    }
    e = queue_find(config, &q, reterr);
    if (e == ERR_OK) {
        (void)queue_serve(&q, slice_str(request), ret);
    }
    return e;
}

int quarantine_ask(struct cli *cli, const char *request, struct buf *ret)
{
    struct errinfo why = {.text = ""};
    enum err e = ask_queue(cli->config, request, ret, &why);

    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    struct slice rest = buf_slice(ret);
    struct slice first = slice_cut(&rest, '\n');

    if (slice_eq(first, SLICE_LIT("ok"))) {
        return 0;
    }
    (void)slice_cut(&first, ' ');
    return cli_error(EX_UNAVAILABLE, "%.*s", SLICE_ARGS(slice_head(first, 500)));
}

/* ---- what the journal knows ---- */

/* The row of that message, if it arrived at about the time of the record: ids are used again. */
static json_t *row_of_record(const json_t *by_id, const struct record *r)
{
    char id[QUARANTINE_ID_MAX + 1];

    if (!quarantine_is_id(r->queue_id)) {
        return NULL;
    }
    (void)snprintf(id, sizeof(id), "%.*s", SLICE_ARGS(r->queue_id));
    json_t *row = json_object_get(by_id, id);
    const uint64_t arrived = held_number(row, "time_s");
    const uint64_t judged = r->time_us / US_PER_S;

    return arrived <= judged + QUARANTINE_JOURNAL_S &&
                   judged <= arrived + QUARANTINE_JOURNAL_S
               ? row
               : NULL;
}

static bool note_record(void *context, const struct record *r,
                        const struct journal_names *names)
{
    const json_t *by_id = context;
    json_t *row = r->kind == RECORD_MESSAGE ? row_of_record(by_id, r) : NULL;
    char id[CASE_ID_SIZE];

    (void)names;
    if (row != NULL) {
        (void)json_object_set_new(row, "gillnet",
                                  json_boolean(r->done == ACTION_QUARANTINE));
        (void)json_object_set_new(row, "outgoing", json_boolean(r->is_outgoing));
        (void)json_object_set_new(row, "case",
                                  json_string(case_id_print(r->case_id, id)));
        (void)json_object_set_new(row, "score", json_real(r->score));
    }
    return true;
}

static void ask_journal(struct cli *cli, const json_t *rows)
{
    json_t *by_id = json_object();
    struct journal_numbers numbers;
    struct journal_query q = {
        .state_dir = cli->config->state_dir, .fn = note_record, .context = by_id};
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const uint64_t time_s = held_number(row, "time_s");

        first = time_s < first ? time_s : first;
        (void)json_object_set(by_id, held_text(row, "id"), row);
    }
    if (json_object_size(by_id) > 0) {
        q.since_us = first > QUARANTINE_JOURNAL_S
                         ? (first - QUARANTINE_JOURNAL_S) * US_PER_S
                         : 0;
        /* without a journal the header has to do */
        (void)journal_read(&q, &numbers, NULL);
    }
    json_decref(by_id);
}

int quarantine_rows(struct cli *cli, json_t **ret)
{
    struct buf answer;

    buf_init(&answer, QUARANTINE_LIST_BYTES);
    int status = quarantine_ask(cli, "list", &answer);
    if (status == 0) {
        *ret = held_rows(buf_slice(&answer));
        if (*ret == NULL) {
            status = cli_nomem();
        } else {
            ask_journal(cli, *ret);
        }
    }
    buf_fini(&answer);
    return status;
}
