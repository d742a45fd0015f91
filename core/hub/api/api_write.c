/* api_write - requests that change something: revoked and allowed values, updates of feeds. One at
 * a time. */

#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_list_change.h"

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

void api_refuse_change(struct api_call *call, enum err e, const struct errinfo *why)
{
    api_refuse(call, status_of(e), "%s",
               why->text[0] != '\0' ? why->text : err_text(e));
    call->answer.retry_s = call->answer.status == 503 ? 1 : 0;
}

struct api_change api_change_of(struct api_call *call)
{
    return (struct api_change){.lists = call->api->lists,
                               .config = call->config,
                               .arena = call->arena,
                               .ask = call->ask,
                               .stop = &call->api->stops,
                               .who = call->who.name,
                               .rows = json_array()};
}

void api_answer_changes(struct api_call *call, enum err e, const struct errinfo *why,
                        const char *idle, json_t *rows)
{
    if (e != ERR_OK) {
        api_refuse_change(call, e, why);
        return;
    }
    const char *detail = json_array_size(rows) == 0 ? idle : NULL;

    api_answer_json(call, json_pack("{s:O, s:s*}", "changed", rows, "detail", detail));
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

bool api_list_is_there(struct api_call *call, struct slice list)
{
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);
    bool found = config_list_find(call->config, list)->name != NULL;

    for (size_t i = 0; !found && i < listset_count(view->set); i++) {
        found =
            slice_eq(list, slice_str(list_reader_name(listset_reader(view->set, i))));
    }
    list_watcher_release(call->api->lists, &view);
    if (!found) {
        api_refuse(call, 404,
                   "there is no list of this name; gillnet list add --create NAME "
                   "VALUE makes one");
    }
    return found;
}

void api_v1_revoke(struct api_call *call)
{
    struct api_strings values = {.n = 0};
    struct slice list = SLICE_NONE;
    struct errinfo why = {.text = ""};

    if (!read_values(call, &values, &list) ||
        (list.n > 0 && !api_list_is_there(call, list))) {
        return;
    }
    struct api_change c = api_change_of(call);
    enum err e = api_change_revoke(&c, list, values.v, values.n, &why);

    api_answer_changes(call, e, &why, "nothing was changed: no list holds these values",
                       c.rows);
    api_note_rows(call, &c, CHANGE_list_revoke, values.n);
    json_decref(c.rows);
}

void api_v1_allow(struct api_call *call)
{
    struct api_strings values = {.n = 0};
    struct slice list = SLICE_NONE;
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
    struct api_change c = api_change_of(call);
    enum err e = api_change_add(&c, list, values.v, values.n, &why);

    api_answer_changes(call, e, &why,
                       "nothing was changed: the list holds them already", c.rows);
    api_note_rows(call, &c, CHANGE_list_add, values.n);
    json_decref(c.rows);
}

/* ---- a change of lists that is taken back ---- */

void api_undo_values(struct api_call *call, enum change_undo undo, struct slice list,
                     const json_t *values)
{
    const bool is_revoke = undo == CHANGE_LIST_REVOKE;
    const size_t n = json_array_size(values);
    struct slice *v = arena_array(call->arena, n, sizeof(*v));
    struct errinfo why = {.text = ""};

    if (v == NULL || !list_name_is_valid(list)) {
        api_refuse(call, 422, "this is no change of a list");
        return;
    }
    if (!api_list_is_there(call, list)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(values, i);
        v[i] = slice_of(json_string_value(one), json_string_length(one));
    }
    struct api_change c = api_change_of(call);
    enum err e = is_revoke ? api_change_revoke(&c, list, v, n, &why)
                           : api_change_add(&c, list, v, n, &why);

    api_answer_changes(call, e, &why, "nothing was changed", c.rows);
    api_note_rows(call, &c, is_revoke ? CHANGE_list_revoke : CHANGE_list_add, n);
    json_decref(c.rows);
}

/* ---- POST /v1/feeds/update, /v1/feeds/rollback ---- */

void api_ask_feed(struct api_call *call, struct slice feed, bool rolls_back)
{
    const struct api_hooks *h = &call->api->hooks;
    struct errinfo why = {.text = ""};
    struct slice name = arena_copy(call->arena, feed);

    if (h->feed == NULL || !list_name_is_valid(feed) || name.p == NULL) {
        api_refuse(call, 404, "there is no such feed");
        return;
    }
    enum err e = h->feed(h->context, name.p, rolls_back, &why);

    if (e != ERR_OK) {
        api_refuse_change(call, e, &why);
    } else {
        api_answer_json(call,
                        json_pack("{s:s, s:s}", "feed", name.p, "state", "queued"));
        call->answer.status = 202;
    }
    api_note(call, &(struct change){.kind = rolls_back ? CHANGE_feed_rollback
                                                       : CHANGE_feed_update,
                                    .object = feed});
}

static void read_feed(struct api_call *call, bool rolls_back)
{
    struct slice feed = SLICE_NONE;
    const struct api_member members[] = {{"feed", API_MEMBER_STRING, true, &feed}};

    if (api_read_body(call, members, 1)) {
        api_ask_feed(call, feed, rolls_back);
    }
}

void api_v1_feed_update(struct api_call *call)
{
    read_feed(call, false);
}

void api_v1_feed_rollback(struct api_call *call)
{
    read_feed(call, true);
}
