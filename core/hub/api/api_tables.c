/* api_tables - lists, rules, feeds and peers as tables that are given page by page. */

#include "core/base/clock.h"
#include "core/hub/api/api_handlers.h"
#include "core/verdict/journal/worth_tail.h"

enum { US_PER_S = 1000000 };

bool api_table_query(struct api_call *call, const struct api_table *t,
                     struct api_rows_query *ret)
{
    struct errinfo why = {.text = ""};

    if (api_rows_read(call->request.query, t, ret, &why) == ERR_OK) {
        return true;
    }
    api_refuse(call, 400, "%s", why.text);
    return false;
}

json_t *api_table_page(const char *name, json_t *all, const struct api_table *t,
                       struct api_rows_query *q)
{
    struct api_rows page;
    json_t *answer = NULL;

    if (all != NULL && api_rows_page(all, t, q, &page) == ERR_OK) {
        answer = json_pack("{s:o, s:I, s:I, s:o}", name, page.rows, "total",
                           (json_int_t)json_array_size(all), "found",
                           (json_int_t)page.found, "next", page.next);
    }
    json_decref(all);
    api_rows_fini(q);
    return answer;
}

static bool is_true(const json_t *row, const char *name)
{
    return json_is_true(json_object_get(row, name));
}

/* ---- worth of lists and rules ---- */

#define WORTH_SORTS                                                      \
    "hits_today", "hits_7d", "hits", "scored", "alone", "reported_spam", \
        "reported_ham", "last_hit_s", "useless"

/* The numbers, for one answer. */
struct counted {
    struct worth_tail *tail;
    const struct worth *worth;
    uint64_t today;
    bool is_whole;
};

static struct counted counted_acquire(const struct api_call *call)
{
    struct counted c = {.tail = call->api->worth,
                        .today = clock_wall_us() / US_PER_S / WORTH_DAY_S};

    c.worth = worth_tail_acquire(c.tail, &c.is_whole);
    return c;
}

/* Ends the use of the numbers, and adds how much mail they are of. */
static void counted_release(const struct counted *c, json_t *answer)
{
    (void)json_object_set_new(answer, "counted",
                              worth_totals_json(c->worth, c->today, c->is_whole));
    worth_tail_release(c->tail);
}

static json_t *list_worth(const struct counted *c, const struct listset *set, size_t i)
{
    struct worth_numbers n;

    worth_of_list(c->worth, slice_str(list_reader_name(listset_reader(set, i))),
                  slice_str(listset_origin(set, i)), c->today, &n);
    return worth_json(&n);
}

/* ---- lists ---- */

static const char *const list_sorts[] = {"name",    "category",  "weight",
                                         "entries", "revoked",   "updated_s",
                                         "fault",   WORTH_SORTS, NULL};
static const char *const list_words[] = {"name", "origin", "category", "fault", NULL};
static const char *const list_key[] = {"name", "origin", NULL};
static const struct api_table list_table = {
    .sorts = list_sorts, .words = list_words, .key = list_key};

static const char *null_if_empty(const char *s)
{
    return s != NULL && s[0] != '\0' ? s : NULL;
}

static json_t *list_json(const struct listset *set, size_t i)
{
    const struct list_reader *r = listset_reader(set, i);
    const struct config_list *c = listset_config(set, i);
    struct list_stat s;

    list_reader_stat(r, &s);
    return json_pack(
        "{s:s, s:s?, s:s, s:f, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I, "
        "s:I, s:s?}",
        "name", list_reader_name(r), "origin", null_if_empty(listset_origin(set, i)),
        "category", c->category != NULL ? c->category : "", "weight",
        c->weight * listset_weight(set, i), "shadow", (int)c->shadow, "entries",
        (json_int_t)s.entries, "revoked", (json_int_t)s.revoked, "levels",
        (json_int_t)s.levels, "updated_s", (json_int_t)s.updated_s, "fill", s.fill,
        "error_now", s.error_now, "error_target", s.error_target, "filter_bytes",
        (json_int_t)s.filter_bytes, "index_bytes", (json_int_t)s.index_bytes,
        "log_bytes", (json_int_t)s.log_bytes, "max_age_s", (json_int_t)c->max_age_s,
        "fault", list_reader_fault(r));
}

/* The cheap fields of a row, and its index: enough to filter and to sort. */
static json_t *list_sketch(const struct listset *set, size_t i)
{
    const struct list_reader *r = listset_reader(set, i);
    const struct config_list *c = listset_config(set, i);
    uint64_t entries = 0;
    uint64_t revoked = 0;

    list_reader_totals(r, &entries, &revoked);
    return json_pack(
        "{s:s, s:s?, s:s, s:f, s:I, s:I, s:I, s:s?, s:I}", "name", list_reader_name(r),
        "origin", null_if_empty(listset_origin(set, i)), "category",
        c->category != NULL ? c->category : "", "weight",
        c->weight * listset_weight(set, i), "entries", (json_int_t)entries, "revoked",
        (json_int_t)revoked, "updated_s", (json_int_t)list_reader_changed_s(r), "fault",
        list_reader_fault(r), "at", (json_int_t)i);
}

/* Adds the number that the rows are sorted by, if it is one of their worth. */
static void sketch_worth(const struct counted *c, const struct listset *set, size_t i,
                         const char *sort, json_t *row)
{
    if (*sort != '\0' && json_object_get(row, sort) == NULL) {
        json_t *numbers = list_worth(c, set, i);

        (void)json_object_set(row, sort, json_object_get(numbers, sort));
        json_decref(numbers);
    }
}

/* Replaces the sketches by full rows, which needs a look at the filters. */
static void fill_lists(const struct counted *c, const struct listset *set, json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *place = json_object_get(json_array_get(rows, i), "at");
        const size_t at = (size_t)json_integer_value(place);
        json_t *row = list_json(set, at);
        json_t *numbers = list_worth(c, set, at);

        (void)json_object_update(row, numbers);
        json_decref(numbers);
        (void)json_array_set_new(rows, i, row);
    }
}

static json_t *lists_json(const struct counted *c, const struct listset *set,
                          struct api_rows_query *q)
{
    json_t *all = json_array();
    json_int_t entries = 0;
    json_int_t faults = 0;

    for (size_t i = 0; i < listset_total(set); i++) {
        json_t *row = list_sketch(set, i);

        sketch_worth(c, set, i, q->sort, row);
        entries += json_integer_value(json_object_get(row, "entries"));
        faults += json_is_string(json_object_get(row, "fault"));
        (void)json_array_append_new(all, row);
    }
    json_t *answer = api_table_page("lists", all, &list_table, q);
    fill_lists(c, set, json_object_get(answer, "lists"));
    (void)json_object_set_new(
        answer, "sums", json_pack("{s:I, s:I}", "entries", entries, "faults", faults));
    return answer;
}

void api_v1_lists(struct api_call *call)
{
    struct api_rows_query q;

    if (!api_table_query(call, &list_table, &q)) {
        return;
    }
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);
    const struct counted c = counted_acquire(call);
    json_t *answer = lists_json(&c, view->set, &q);

    counted_release(&c, answer);
    list_watcher_release(call->api->lists, &view);
    api_answer_json(call, answer);
}

/* ---- rules ---- */

static const char *const rule_sorts[] = {"rule",  "state",     "score",
                                         "group", WORTH_SORTS, NULL};
static const char *const rule_words[] = {"rule",  "symbol", "description",
                                         "group", "state",  NULL};
static const char *const rule_key[] = {"rule", NULL};
static const struct api_table rule_table = {
    .sorts = rule_sorts, .words = rule_words, .key = rule_key};

void api_v1_rules(struct api_call *call)
{
    struct api_rows_query q;

    if (!api_table_query(call, &rule_table, &q)) {
        return;
    }
    const struct counted c = counted_acquire(call);
    json_t *all = json_array();

    for (size_t i = 0; i < call->config->nrules; i++) {
        (void)json_array_append_new(
            all, worth_rule_json(c.worth, &call->config->rules[i], c.today));
    }
    json_t *answer = api_table_page("rules", all, &rule_table, &q);

    counted_release(&c, answer);
    api_answer_json(call, answer);
}

/* ---- feeds ---- */

static const char *const feed_sorts[] = {"name",   "state",     "entries", "failures",
                                         "good_s", "changed_s", "next_s",  NULL};
static const char *const feed_words[] = {"name",  "list",    "url",
                                         "state", "trouble", NULL};
static const char *const feed_key[] = {"name", NULL};
static const struct api_table feed_table = {
    .sorts = feed_sorts, .words = feed_words, .key = feed_key};

void api_v1_feeds(struct api_call *call)
{
    struct api_rows_query q;
    json_int_t enabled = 0;
    json_int_t well = 0;
    size_t i = 0;
    json_t *row = NULL;

    if (!api_table_query(call, &feed_table, &q)) {
        return;
    }
    json_t *all = status_board_get(call->api->board, STATUS_BOARD_FEEDS);
    json_array_foreach(all, i, row)
    {
        enabled += is_true(row, "enabled");
        well += is_true(row, "well");
    }
    json_t *answer = api_table_page("feeds", all, &feed_table, &q);
    (void)json_object_set_new(
        answer, "sums", json_pack("{s:I, s:I}", "enabled", enabled, "well", well));
    api_answer_json(call, answer);
}

/* ---- peers ---- */

static const char *const peer_sorts[] = {"name",     "state",     "lag_s",
                                         "bytes_in", "bytes_out", NULL};
static const char *const peer_words[] = {"name", "address", "state", "last_failure",
                                         NULL};
static const char *const peer_key[] = {"name", "origin", NULL};
static const struct api_table peer_table = {
    .sorts = peer_sorts, .words = peer_words, .key = peer_key};

void api_v1_peers(struct api_call *call)
{
    struct api_rows_query q;
    json_int_t others = 0;
    json_int_t connected = 0;
    size_t i = 0;
    json_t *row = NULL;

    if (!api_table_query(call, &peer_table, &q)) {
        return;
    }
    json_t *all = status_board_get(call->api->board, STATUS_BOARD_PEERS);
    json_array_foreach(all, i, row)
    {
        const char *state = json_string_value(json_object_get(row, "state"));
        bool is_other =
            !is_true(row, "self") && state != NULL && strcmp(state, "active") == 0;

        others += is_other;
        connected += is_other && is_true(row, "connected");
    }
    json_t *answer = api_table_page("peers", all, &peer_table, &q);
    (void)json_object_set_new(
        answer, "sums",
        json_pack("{s:I, s:I}", "others", others, "connected", connected));
    (void)json_object_set_new(answer, "ring",
                              status_board_get(call->api->board, STATUS_BOARD_RING));
    (void)json_object_set_new(answer, "store",
                              status_board_get(call->api->board, STATUS_BOARD_STORE));
    (void)json_object_set_new(
        answer, "subscriptions",
        status_board_get(call->api->board, STATUS_BOARD_SUBSCRIPTIONS));
    api_answer_json(call, answer);
}
