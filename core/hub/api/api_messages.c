/* api_messages - the newest judged messages: a search page by page, and a tail of those to come. */
#include "core/base/clock.h"
#include "core/base/keyring.h"
#include "core/base/log.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_history.h"
#include "core/message/feature/feature_json.h"
#include "core/verdict/journal/message_tail.h"

enum {
    LIMIT_DEFAULT = 100,
    LIMIT_MOST = 1000,
    HEX = 16,
    DECIMAL = 10,
    US_PER_S = 1000000
};

/* The parameters of a request. */
struct wanted {
    struct message_query *query;
    uint64_t limit;
    uint64_t before; /* 0: from the newest on */
};

/* ---- the query ---- */

/* Message-IDs are in the journal as digests. */
static void set_keys(const struct config *config, struct message_query *q)
{
    struct errinfo why = {.text = ""};
    struct keyring keys;

    if (keyring_load(config->state_dir, &keys, &why) == ERR_OK) {
        message_query_set_keys(q, &keys);
    } else {
        log_errinfo("messages", &why);
    }
    explicit_bzero(&keys, sizeof(keys));
}

static bool parse_query(struct api_call *call, const char *text, struct wanted *ret)
{
    struct errinfo why = {.text = ""};

    if (message_query_parse(slice_str(text), clock_wall_us(), &ret->query, &why) !=
        ERR_OK) {
        api_refuse(call, 422, "q: %s", why.text);
        return false;
    }
    set_keys(call->config, ret->query);
    return true;
}

/* One parameter. False: its value is none. */
static bool read_parameter(struct slice name, const char *value, char *q,
                           struct wanted *ret)
{
    const struct slice v = slice_str(value);

    if (slice_eq(name, SLICE_LIT("q"))) {
        (void)snprintf(q, MESSAGE_QUERY_TEXT_MAX + 1, "%s", value);
        return true;
    }
    if (slice_eq(name, SLICE_LIT("limit"))) {
        return slice_to_u64(v, DECIMAL, LIMIT_MOST, &ret->limit) && ret->limit > 0;
    }
    return slice_has_prefix(v, SLICE_LIT("m")) &&
           slice_to_u64(slice_from(v, 1), HEX, UINT64_MAX, &ret->before) &&
           ret->before > 0;
}

/* False: it was refused. */
static bool read_wanted(struct api_call *call, struct wanted *ret)
{
    struct slice rest = call->request.query;
    char q[MESSAGE_QUERY_TEXT_MAX + 1] = "";
    char value[MESSAGE_QUERY_TEXT_MAX + 1];
    struct slice name;
    bool is_bad = false;

    *ret = (struct wanted){.limit = LIMIT_DEFAULT};
    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        is_bad = !read_parameter(name, value, q, ret);
    }
    if (is_bad) {
        api_refuse(
            call, 422,
            "q has at most %d bytes, limit is 1 to %d, and before is the next of "
            "an earlier answer",
            MESSAGE_QUERY_TEXT_MAX, LIMIT_MOST);
        return false;
    }
    if (call->config->journal.messages == 0) {
        api_refuse(call, 404, "journal.messages is 0: no messages are kept for this");
        return false;
    }
    return parse_query(call, q, ret);
}

/* ---- GET /v1/messages ---- */

struct page {
    json_t *rows;
    uint64_t limit;
};

/* The row with its place, which before= takes. */
static json_t *placed_row(const struct message_view *v)
{
    json_t *row = message_row_json(&v->row);

    (void)json_object_set_new(row, "place",
                              json_sprintf("m%llx", (unsigned long long)v->number));
    return row;
}

static bool add_to_page(void *context, const struct message_view *v)
{
    struct page *p = context;

    (void)json_array_append_new(p->rows, placed_row(v));
    return json_array_size(p->rows) < p->limit;
}

void api_v1_messages(struct api_call *call)
{
    struct message_searched found;
    struct wanted wanted;

    if (!read_wanted(call, &wanted)) {
        return;
    }
    struct page page = {json_array(), wanted.limit};
    const struct message_search search = {.query = wanted.query,
                                          .before = wanted.before,
                                          .fn = add_to_page,
                                          .context = &page};
    message_tail_search(call->api->messages, &search, &found);
    message_query_free(&wanted.query);
    json_t *next = found.has_more
                       ? json_sprintf("m%llx", (unsigned long long)found.last)
                       : json_null();
    api_answer_json(call, json_pack("{s:o, s:o, s:I, s:b, s:o}", "messages", page.rows,
                                    "next", next, "searched", (json_int_t)found.rows,
                                    "complete", (int)found.is_whole, "thresholds",
                                    api_thresholds_json(call->config)));
}

/* ---- GET /v1/messages/live ---- */

struct api_live {
    struct api *api;
    struct http_conn *conn;
    struct message_query *query;
    struct api_who who;
    uint64_t after;    /* number of the last row that was looked at */
    uint64_t since_us; /* the last piece, and */
    uint64_t begun_us; /* the first */
};

void api_v1_messages_live(struct api_call *call)
{
    struct api *a = call->api;
    struct wanted wanted;

    if (!read_wanted(call, &wanted)) {
        return;
    }
    call->answer.status = 200;
    if (call->request.is_head) {
        message_query_free(&wanted.query);
        return;
    }
    struct api_live *l = calloc(1, sizeof(*l));
    if (l == NULL || atomic_fetch_add(&a->nlive, 1) >= API_LIVE_MAX) {
        if (l != NULL) {
            atomic_fetch_sub(&a->nlive, 1);
        }
        free(l);
        message_query_free(&wanted.query);
        api_refuse(call, 503, "%d clients follow the messages already", API_LIVE_MAX);
        call->answer.retry_s = API_LIVE_RETRY_S;
        return;
    }
    l->api = a;
    l->query = wanted.query;
    l->who = call->who;
    l->after = message_tail_newest(a->messages);
    l->begun_us = clock_mono_us();
    l->since_us = l->begun_us;
    call->answer.live = l;
}

void api_live_free(struct api_live **l)
{
    if (*l != NULL) {
        atomic_fetch_sub(&(*l)->api->nlive, 1);
        message_query_free(&(*l)->query);
        free(*l);
        *l = NULL;
    }
}

void api_live_begin(struct api_thread *t, struct http_conn *c, struct api_live *l)
{
    l->conn = c;
    t->live[t->nlive++] = l;
}

void api_live_end(struct api_thread *t, const struct http_conn *c)
{
    for (unsigned i = 0; i < t->nlive; i++) {
        if (t->live[i]->conn == c) {
            api_live_free(&t->live[i]);
            t->live[i] = t->live[--t->nlive];
            return;
        }
    }
}

/* An event with one message. */
static bool add_event(void *context, const struct message_view *v)
{
    struct buf *b = context;
    json_t *row = placed_row(v);
    char *text = row != NULL ? json_dumps(row, JSON_LINE) : NULL;

    if (text != NULL) {
        buf_printf(b, "id: m%llx\ndata: ", (unsigned long long)v->number);
        buf_add_str(b, text);
        buf_add_str(b, "\n\n");
    }
    free(text);
    json_decref(row);
    return b->n < API_LIVE_PIECE;
}

/* Adds the messages since the last look, up to a bound. The next look adds the rest. */
static void add_new(struct api_live *l, struct buf *ret)
{
    struct message_searched found;
    const struct message_search search = {.query = l->query,
                                          .after = l->after,
                                          .oldest_first = true,
                                          .most = API_LIVE_ROWS,
                                          .fn = add_event,
                                          .context = ret};

    if (l->after == UINT64_MAX) { /* the ring was not filled */
        l->after = message_tail_newest(l->api->messages);
    } else if (message_tail_try(l->api->messages, &search, &found) && found.rows > 0) {
        l->after = found.last;
    }
}

/* Whether the client still has its role. */
static bool still_may(const struct api_live *l, const struct config *config)
{
    return l->who.proof == API_BY_PROXY
               ? api_proxy_role(config, slice_str(l->who.name)) == l->who.role
               : api_tokens_have(l->api->tokens, &l->who);
}

static void look_at_client(struct api_live *l, const struct config *config,
                           uint64_t now_us)
{
    struct buf piece;

    if (!still_may(l, config) ||
        now_us - l->begun_us > (uint64_t)API_LIVE_S * US_PER_S) {
        http_conn_close(l->conn);
        return;
    }
    buf_init(&piece, HTTP_STREAM_BYTES);
    add_new(l, &piece);
    if (piece.n == 0 && now_us - l->since_us > (uint64_t)API_LIVE_BEAT_S * US_PER_S) {
        buf_add_str(&piece, ":\n\n"); /* a comment: the connection lives */
    }
    if (piece.n > 0) {
        l->since_us = now_us;
        (void)http_conn_stream_add(l->conn, buf_slice(&piece)); /* l may be gone */
    }
    buf_fini(&piece);
}

void api_live_look(struct api_thread *t)
{
    const uint64_t now_us = clock_mono_us();

    for (unsigned i = t->nlive; i > 0; i--) {
        /* which may end it: the last takes its place */
        look_at_client(t->live[i - 1], t->config, now_us);
    }
}
