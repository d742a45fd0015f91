/* api_tuning - the settings of the state folder: those in force, changes, and undo. */
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/verdict/journal/tuning_values.h"

enum { WORDS_MAX = 64 << 10, ERRORS_SHOWN = 5, VERSION_MAX = 40, DECIMAL = 10 };
#define VERSION_TEXT "version %llu"

/* ---- GET /v1/tuning ---- */

/* Lists that have entries and are not in the configuration. */
static void add_other_lists(const struct api_call *call, const struct config *c,
                            json_t *values)
{
    json_t *lists = json_object_get(values, "lists");
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);

    for (size_t i = 0; i < listset_count(view->set); i++) {
        const char *name = list_reader_name(listset_reader(view->set, i));

        if (!config_list_is_named(c, slice_str(name))) {
            (void)json_array_append_new(lists,
                                        tuning_list_json(&c->list_default, name));
        }
    }
    list_watcher_release(call->api->lists, &view);
}

/* Of the configuration of now: that of the call may be older than the last change. */
void api_v1_tuning(struct api_call *call)
{
    struct config *c = api_config(call->api);
    json_t *answer = tuning_json(c);
    json_t *values = tuning_values_json(c);

    if (answer != NULL && values != NULL) {
        add_other_lists(call, c, values);
        (void)json_object_update(answer, values);
    }
    json_decref(values);
    config_release(&c);
    api_answer_json(call, answer);
}

/* ---- changes ---- */

static unsigned status_of(enum err e)
{
    switch (e) {
    case ERR_EXISTS:
        return 409;
    case ERR_NOT_FOUND:
        return 404;
    case ERR_LOCKED:
    case ERR_NOMEM:
    case ERR_NOSPACE:
        return 503;
    case ERR_IO:
    case ERR_DENIED:
        return 500;
    default:
        return 422;
    }
}

static void refuse_tuning(struct api_call *call, enum err e,
                          const struct config_errors *errors)
{
    char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
    struct buf text;

    buf_init(&text, WORDS_MAX);
    for (size_t i = 0; i < errors->n && i < ERRORS_SHOWN; i++) {
        buf_printf(&text, "%s%s", i > 0 ? "; " : "",
                   errinfo_format(&errors->v[i], line, sizeof(line)));
    }
    api_refuse(call, status_of(e), "%.*s", SLICE_ARGS(buf_slice(&text)));
    call->answer.retry_s = call->answer.status == 503 ? 1 : 0;
    buf_fini(&text);
}

static const char *reload_name(enum tuning_reload r)
{
    return r == TUNING_RELOADED      ? "reloaded"
           : r == TUNING_NOT_RUNNING ? "not running"
                                     : "unknown";
}

/* The change for the log of changes. */
static void note_tuning(const struct api_call *call, const struct tuning_request *q,
                        const struct tuning_result *r)
{
    char before[VERSION_MAX];
    char after[VERSION_MAX];

    (void)snprintf(before, sizeof(before), VERSION_TEXT,
                   (unsigned long long)q->version);
    (void)snprintf(after, sizeof(after), VERSION_TEXT, (unsigned long long)r->version);
    api_note(call,
             &(struct change){.kind = q->is_undo ? CHANGE_tuning_undo : CHANGE_tuning,
                              .object = SLICE_LIT("tuning"),
                              .before = change_state(slice_str(before)),
                              .after = change_state(slice_str(after)),
                              .reason = slice_str(q->why),
                              .values = q->settings,
                              .nvalues = q->nsettings < CHANGES_VALUES_MAX
                                             ? q->nsettings
                                             : CHANGES_VALUES_MAX,
                              .count = q->nsettings});
}

static void apply(struct api_call *call, struct tuning_request *q, struct slice why)
{
    const struct slice text = arena_copy(call->arena, why);
    struct tuning_result result;
    struct config_errors errors;
    struct buf words;

    if (slice_find(why, '\0') < why.n || text.p == NULL) {
        api_refuse(call, 422, "\"why\" is no text");
        return;
    }
    q->config_file = call->config->file;
    q->types = call->api->hooks.types;
    q->state_dir = call->config->state_dir;
    q->who = call->who.name;
    q->why = text.p;
    q->reload = tuning_reload_programs;
    q->context = call->config;
    buf_init(&words, WORDS_MAX);
    enum err e = tuning_apply(q, &result, &words, &errors);
    if (e == ERR_OK) {
        api_answer_json(call, json_pack("{s:I, s:I, s:s, s:s%}", "version",
                                        (json_int_t)result.version, "of_version",
                                        (json_int_t)result.of_version, "reload",
                                        reload_name(result.reload), "words",
                                        words.n > 0 ? words.p : "", words.n));
    } else {
        refuse_tuning(call, e, &errors);
    }
    note_tuning(call, q, &result);
    config_errors_free(&errors);
    buf_fini(&words);
}

void api_undo_tuning(struct api_call *call, struct slice version)
{
    struct tuning_request q = {.has_version = true, .is_undo = true};
    const struct slice prefix = SLICE_LIT("version ");

    if (!slice_has_prefix(version, prefix) ||
        !slice_to_u64(slice_from(version, prefix.n), DECIMAL, INT64_MAX, &q.version)) {
        api_refuse(call, 422, "this is no change of settings");
        return;
    }
    apply(call, &q, SLICE_LIT(""));
}

void api_v1_tuning_set(struct api_call *call)
{
    struct api_strings settings = {.most = TUNING_SETTINGS_MAX};
    struct tuning_request q = {.has_version = true};
    struct slice why = SLICE_LIT("");
    const struct api_member members[] = {
        {"settings", API_MEMBER_STRINGS, true, &settings},
        {"version", API_MEMBER_NUMBER, true, &q.version},
        {"why", API_MEMBER_STRING, false, &why}};

    if (!api_read_body(call, members, LENGTH(members))) {
        return;
    }
    if (settings.n == 0) {
        api_refuse(call, 422, "\"settings\" is empty");
        return;
    }
    q.settings = settings.v;
    q.nsettings = settings.n;
    apply(call, &q, why);
}

void api_v1_tuning_undo(struct api_call *call)
{
    struct tuning_request q = {.has_version = true, .is_undo = true};
    struct slice why = SLICE_LIT("");
    const struct api_member members[] = {
        {"version", API_MEMBER_NUMBER, true, &q.version},
        {"why", API_MEMBER_STRING, false, &why}};

    if (!api_read_body(call, members, LENGTH(members))) {
        return;
    }
    apply(call, &q, why);
}
