/* api_changes - the log of changes: requests note what they change; the list; undo. */

#include "core/base/log.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_list_change.h"
#include "core/telemetry/changes_read.h"

enum { LIMIT_DEFAULT = 100, DECIMAL = 10, VALUE_MAX = CHANGES_WORDS_MAX + 1 };

/* ---- noting ---- */

static void log_write(const struct api_call *call, const struct change *c,
                      struct slice who)
{
    char path[LOG_STR_MAX];
    char name[LOG_STR_MAX];

    log_info("event=api write=%s values=%zu result=%u who=%s from=%s path=%s",
             change_kind_name(c->kind), c->nvalues, call->answer.status,
             log_str(name, who), call->from, log_str(path, call->request.path));
}

void api_note(const struct api_call *call, const struct change *c)
{
    const bool is_of_page =
        slice_eq_nocase(call->request.site, SLICE_LIT("same-origin"));
    struct errinfo why = {.text = ""};
    struct change note = *c;

    note.who = c->who.n > 0 ? c->who : slice_str(call->who.name);
    note.way = c->way.n > 0 ? c->way : slice_str(is_of_page ? "page" : "api");
    note.undoes = call->undoes;
    log_write(call, &note, note.who);
    if (call->answer.status / 100 == 2 &&
        changes_note(call->config->state_dir, &note, &why) != ERR_OK) {
        log_errinfo("changes", &why);
    }
}

/* Rows that go into one note: of one list, and all listed before or none. */
static bool is_alike(const json_t *a, const json_t *b)
{
    return strcmp(json_string_value(json_object_get(a, "list")),
                  json_string_value(json_object_get(b, "list"))) == 0 &&
           json_is_true(json_object_get(a, "was_listed")) ==
               json_is_true(json_object_get(b, "was_listed"));
}

/* "TYPE:VALUE" of a row, in the arena. */
static struct slice typed_value(const struct api_call *call, const json_t *row)
{
    json_t *text =
        json_sprintf("%s:%s", json_string_value(json_object_get(row, "type")),
                     json_string_value(json_object_get(row, "entry")));
    const struct slice value = arena_copy(
        call->arena, slice_of(json_string_value(text), json_string_length(text)));

    json_decref(text);
    return value;
}

/* Notes the rows that are like the one at `from`, and marks them. */
static void note_group(const struct api_call *call, const struct api_change *made,
                       size_t from, bool *is_noted, enum change_kind kind)
{
    const json_t *rows = made->rows;
    const json_t *first = json_array_get(rows, from);
    const bool was_listed = json_is_true(json_object_get(first, "was_listed"));
    struct slice values[CHANGES_VALUES_MAX];

    struct change c = {.kind = kind,
                       .reason = made->reason,
                       .object =
                           slice_str(json_string_value(json_object_get(first, "list"))),
                       .values = values};

    c.result = was_listed == (c.kind == CHANGE_list_revoke) ? SLICE_NONE
               : was_listed                                 ? SLICE_LIT("listed before")
                            : SLICE_LIT(CHANGE_NOT_LISTED);
    for (size_t i = from; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        if (is_noted[i] || !is_alike(first, row)) {
            continue;
        }
        is_noted[i] = true;
        c.count++;
        if (c.nvalues < CHANGES_VALUES_MAX) {
            values[c.nvalues++] = typed_value(call, row);
        }
    }
    api_note(call, &c);
}

void api_note_rows(const struct api_call *call, const struct api_change *made,
                   enum change_kind kind, size_t n)
{
    const size_t nrows =
        call->answer.status / 100 == 2 ? json_array_size(made->rows) : 0;
    bool *is_noted = arena_array(call->arena, nrows, sizeof(*is_noted));

    if (nrows == 0 || is_noted == NULL) {
        api_note(call, &(struct change){.kind = kind,
                                        .reason = made->reason,
                                        .result = SLICE_LIT("nothing changed"),
                                        .count = n});
        return;
    }
    memset(is_noted, 0, nrows * sizeof(*is_noted));
    for (size_t i = 0; i < nrows; i++) {
        if (!is_noted[i]) {
            note_group(call, made, i, is_noted, kind);
        }
    }
}

/* ---- GET /v1/changes ---- */

/* False: it was refused. */
static bool read_wanted(struct api_call *call, char words[VALUE_MAX],
                        struct changes_query *ret)
{
    struct slice rest = call->request.query;
    char value[VALUE_MAX];
    struct slice name;
    uint64_t limit = LIMIT_DEFAULT;
    bool is_bad = false;

    *ret = (struct changes_query){.state_dir = call->config->state_dir};
    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        const struct slice v = slice_str(value);

        if (slice_eq(name, SLICE_LIT("q"))) {
            (void)snprintf(words, VALUE_MAX, "%s", value);
            ret->words = slice_str(words);
        } else if (slice_eq(name, SLICE_LIT("limit"))) {
            is_bad = !slice_to_u64(v, DECIMAL, CHANGES_ROWS_MAX, &limit) || limit == 0;
        } else {
            is_bad = !change_id_read(v, &ret->before);
        }
    }
    ret->limit = limit;
    if (is_bad) {
        api_refuse(call, 422,
                   "q has at most %d bytes, limit is 1 to %d, and before is the next "
                   "of an earlier answer",
                   CHANGES_WORDS_MAX, CHANGES_ROWS_MAX);
    }
    return !is_bad;
}

void api_v1_changes(struct api_call *call)
{
    char words[VALUE_MAX] = "";
    char id[CHANGE_ID_SIZE];
    struct changes_query q;
    struct errinfo why = {.text = ""};
    json_t *rows = NULL;
    uint64_t next = 0;

    if (!read_wanted(call, words, &q)) {
        return;
    }
    if (changes_read(&q, &rows, &next, &why) != ERR_OK) {
        api_refuse(call, 503, "the log of changes cannot be read: %s", why.text);
        return;
    }
    api_answer_json(call, json_pack("{s:o, s:o}", "changes", rows, "next",
                                    next != 0 ? json_string(change_id_print(next, id))
                                              : json_null()));
}

/* ---- POST /v1/changes/undo ---- */

static struct slice text_in(const json_t *row, const char *name)
{
    return slice_str(json_string_value(json_object_get(row, name)));
}

/* The settings of a user as they were, unless somebody changed them since. */
static void undo_user(struct api_call *call, const json_t *row)
{
    char tidied[USER_NAME_MAX + 1];
    struct slice before = text_in(row, "before");
    struct slice words[CHANGES_STATE_MAX / 2 + 1];
    struct user_change u = {.name = tidied,
                            .does_clear = true,
                            .was = text_in(row, "after"),
                            .words = words};

    if (user_name_tidy(text_in(row, "object"), tidied) != NULL) {
        api_refuse(call, 422, "this is no change of a user");
        return;
    }
    while (before.n > 0 && u.nwords < LENGTH(words)) {
        words[u.nwords++] = slice_cut(&before, ' ');
    }
    api_set_user(call, &u);
}

static void undo_row(struct api_call *call, const json_t *row)
{
    const json_t *values = json_object_get(row, "values");
    const char *why = NULL;
    const enum change_undo undo = changes_undo_of(row, &why);
    const struct slice object = text_in(row, "object");

    switch (undo) {
    case CHANGE_STAYS:
        api_refuse(call, 422, "the change cannot be undone: %s", why);
        break;
    case CHANGE_LIST_ADD:
    case CHANGE_LIST_REVOKE:
        api_undo_values(call, undo, object, values);
        break;
    case CHANGE_FEED_UPDATE:
        api_ask_feed(call, object, false);
        break;
    case CHANGE_REPORT_UNDO:
        api_undo_report(call, slice_str(json_string_value(json_array_get(values, 0))));
        break;
    case CHANGE_USER_SET:
        undo_user(call, row);
        break;
    case CHANGE_TUNING_UNDO:
        api_undo_tuning(call, text_in(row, "after"));
        break;
    }
}

void api_v1_changes_undo(struct api_call *call)
{
    struct slice id = SLICE_NONE;
    struct errinfo why = {.text = ""};
    json_t *row = NULL;
    const struct api_member members[] = {{"id", API_MEMBER_STRING, true, &id}};

    if (!api_is_proven(call) || !api_read_body(call, members, 1)) {
        return;
    }
    enum err e = changes_find(call->config->state_dir, id, &row, &why);

    if (e != ERR_OK) {
        api_refuse(call, e == ERR_NOT_FOUND ? 404 : 503, "%s", why.text);
        return;
    }
    call->undoes = id;
    undo_row(call, row);
    json_decref(row);
}
