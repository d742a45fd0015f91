/* api_explain - why one message got its verdict, and what can be done about it. */
#include "core/base/clock.h"
#include "core/base/keyring.h"
#include "core/base/log.h"
#include "core/campaign/campaign_read.h"
#include "core/explain/explained.h"
#include "core/explain/explained_find.h"
#include "core/hub/api/api_handlers.h"
#include "core/verdict/journal/message_tail.h"

enum {
    ID_MAX = 1000,      /* a Message-ID is a line of a header */
    SEARCH_US = 2000000 /* in a journal that may have gigabytes */
};

/* A message that is being explained. */
struct explaining {
    struct api_call *call;
    struct explain_lists lists;
    json_t *answer;
    uint64_t case_id;
    struct slice queue_id;                    /* of the arena */
    struct campaign_item items[RECORD_ITEMS]; /* its keys */
    size_t nitems;
};

static void explain_found(void *context, const struct record *r,
                          const struct journal_names *names)
{
    struct explaining *x = context;
    const struct explained e = {.record = r, .names = names};

    x->answer = explained_json(&x->lists, &e);
    x->case_id = r->case_id;
    x->queue_id = arena_copy(x->call->arena, r->queue_id);
    for (size_t i = 0; i < r->nitems; i++) {
        x->items[x->nitems++] = (struct campaign_item){.digest = r->item[i].digest,
                                                       .type = r->item[i].type};
    }
}

/* ---- where it is ---- */

/* False: refused. */
static bool read_id(struct api_call *call, char ret[ID_MAX])
{
    struct slice rest = call->request.query;
    struct slice name;
    bool is_bad = false;
    unsigned n = 0;

    while (!is_bad && http_query_next(&rest, &name, ret, ID_MAX, &is_bad)) {
        is_bad = n++ > 0 || *ret == '\0';
    }
    if (is_bad || n != 1) {
        api_refuse(call, 422,
                   "the query is ?id= and a case id, a queue id or a "
                   "Message-ID");
        return false;
    }
    return true;
}

static bool note_number(void *context, const struct message_view *v)
{
    uint64_t *number = context;

    *number = v->number;
    return false;
}

/* The number of the newest message of that id, of those that the hub keeps; 0: none. */
static uint64_t newest_number(struct api_call *call, const char *id,
                              const struct keyring *keys)
{
    char text[ID_MAX + 8];
    struct message_query *query = NULL;
    struct message_searched searched;
    uint64_t number = 0;

    (void)snprintf(text, sizeof(text), "id:\"%s\"", id);
    if (call->config->journal.messages == 0 || strchr(id, '"') != NULL ||
        message_query_parse(slice_str(text), clock_wall_us(), &query, NULL) != ERR_OK) {
        return 0;
    }
    message_query_set_keys(query, keys);
    const struct message_search search = {
        .query = query, .fn = note_number, .context = &number};
    message_tail_search(call->api->messages, &search, &searched);
    message_query_free(&query);
    return number;
}

/* Fills x->answer. */
static enum err find_message(struct explaining *x, const char *id,
                             struct errinfo *reterr)
{
    const char *dir = x->call->config->state_dir;
    struct journal_numbers numbers;
    struct keyring keys = {.n = 0};
    bool is_found = false;

    if (keyring_load(dir, &keys, reterr) != ERR_OK) {
        keys.n = 0; /* no Message-ID is found */
    }
    struct explained_search s = {.state_dir = dir,
                                 .id = slice_str(id),
                                 .keys = &keys,
                                 .number = newest_number(x->call, id, &keys),
                                 .until_us = clock_mono_us() + SEARCH_US,
                                 .fn = explain_found,
                                 .context = x};
    enum err e = explained_find(&s, &numbers, &is_found, reterr);
    if (e == ERR_OK && !is_found && s.number != 0) { /* its file was just removed */
        s.number = 0;
        e = explained_find(&s, &numbers, &is_found, reterr);
    }
    explicit_bzero(&keys, sizeof(keys));
    return e;
}

/* ---- what belongs to it ---- */

/* The last one that holds. */
static const char *opinion_of(const json_t *reports)
{
    const char *kind = NULL;

    for (size_t i = 0; i < json_array_size(reports); i++) {
        const json_t *row = json_array_get(reports, i);
        if (!json_is_true(json_object_get(row, "undone"))) {
            kind = json_string_value(json_object_get(row, "kind"));
        }
    }
    return kind;
}

static void add_related(struct explaining *x)
{
    json_t *o = x->answer;
    json_t *reports = api_reports_about(x->call, x->case_id, x->queue_id);
    const char *opinion = opinion_of(reports);
    const char *wanted = json_string_value(json_object_get(o, "wanted"));
    const bool may_be_held = wanted != NULL && strcmp(wanted, "quarantine") == 0;

    if (opinion != NULL) {
        (void)json_object_set_new(o, "reported", json_string(opinion));
    }
    (void)json_object_set_new(o, "reports", reports);
    (void)json_object_set_new(o, "campaign",
                              api_campaign_of(x->call, x->items, x->nitems));
    (void)json_object_set_new(o, "held",
                              may_be_held && x->queue_id.p != NULL
                                  ? api_is_held(x->call, x->queue_id.p)
                                  : json_false());
}

static void answer_explained(struct explaining *x, enum err e,
                             const struct errinfo *why)
{
    struct api_call *call = x->call;

    if (x->answer != NULL) {
        add_related(x);
        api_answer_json(call, x->answer);
    } else if (e == ERR_TIMEOUT) {
        api_refuse(call, 504, "%s", why->text);
    } else if (e != ERR_OK && e != ERR_NOT_FOUND) {
        api_refuse(call, 503, "the journal cannot be read: %s", why->text);
    } else {
        api_refuse(
            call, 404,
            "the journal has no message of this case id, queue id or Message-ID");
    }
}

void api_v1_explain(struct api_call *call)
{
    struct errinfo why = {.text = ""};
    char id[ID_MAX];

    if (!read_id(call, id)) {
        return;
    }
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);
    struct explaining x = {
        .call = call,
        .lists = {.config = call->config, .lists = &view->ask, .batch = call->ask}};
    enum err e = find_message(&x, id, &why);
    list_watcher_release(call->api->lists, &view);
    answer_explained(&x, e, &why);
}
