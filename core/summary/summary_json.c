#include "core/summary/summary_json.h"

static void set_count(json_t *to, const char *name, uint64_t n)
{
    (void)json_object_set_new(to, name, json_integer((json_int_t)n));
}

static json_t *numbers_json(const uint64_t number[HISTORY_NUMBERS])
{
    json_t *o = json_object();

    for (unsigned n = 0; n < SUMMARY_NUMBERS; n++) {
        set_count(o, history_number_name((enum history_number)n), number[n]);
    }
    return o;
}

static json_t *feeds_json(const struct headline *h)
{
    if (!h->has_feeds) {
        return json_null();
    }
    uint64_t age_s = h->at_s > h->feed_good_s ? h->at_s - h->feed_good_s : 0;

    return json_pack(
        "{s:I, s:o}", "oldest_good_s", (json_int_t)h->feed_good_s, "oldest_age_s",
        h->feed_good_s > 0 ? json_integer((json_int_t)age_s) : json_null());
}

json_t *headline_json(const struct headline *h)
{
    json_t *alerts = json_array();

    for (unsigned i = 0; i < h->nalerts; i++) {
        if (h->alert[i][0] != '\0') {
            (void)json_array_append_new(alerts, json_string(h->alert[i]));
        }
    }
    return json_pack(
        "{s:I, s:s, s:I, s:o, s:o, s:I, s:o, s:s}", "at", (json_int_t)h->at_s, "state",
        headline_state_name(headline_state(h)), "needs", (json_int_t)h->needs, "alerts",
        alerts, "today", numbers_json(h->today), "refused",
        (json_int_t)headline_refused(h), "feeds", feeds_json(h), "version", h->version);
}

json_t *buckets_json(const struct history_bucket *v, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *row = numbers_json(v[i].number);
        set_count(row, "at", v[i].at_s);
        (void)json_array_append_new(array, row);
    }
    return array;
}

/* ---- servers ---- */

static bool is_missing(const struct server *s)
{
    return s->state != SERVER_CURRENT;
}

/* How current the summary of a server is. */
static json_t *server_json(const struct server *s)
{
    bool has_age = s->state == SERVER_CURRENT || s->state == SERVER_STALE;

    return json_pack(
        "{s:s, s:b, s:s, s:o, s:s}", "name", s->name, "self", s->is_self ? 1 : 0,
        "summary", server_state_name(s->state), "age_s",
        has_age ? json_integer((json_int_t)s->age_s) : json_null(), "why", s->why);
}

struct gathering {
    json_t *servers;
    json_t *missing;
    uint64_t total[HISTORY_NUMBERS];
};

static bool add_server(void *context, const struct server *s,
                       const struct period_view *view)
{
    struct gathering *g = context;
    json_t *row = server_json(s);
    bool has_headline = s->state == SERVER_CURRENT || s->state == SERVER_STALE;

    (void)view;
    (void)json_object_set_new(row, "headline",
                              has_headline ? headline_json(&s->headline) : json_null());
    (void)json_array_append_new(g->servers, row);
    if (is_missing(s)) {
        (void)json_array_append_new(g->missing, json_string(s->name));
    }
    for (unsigned n = 0; !is_missing(s) && n < HISTORY_NUMBERS; n++) {
        g->total[n] += s->headline.today[n];
    }
    return true;
}

enum err servers_json(const struct servers_ask *ask, json_t **ret,
                      struct errinfo *reterr)
{
    struct gathering g = {.servers = json_array(), .missing = json_array()};
    enum err e = servers_each(ask, add_server, &g, reterr);

    if (e != ERR_OK) {
        json_decref(g.servers);
        json_decref(g.missing);
        return e;
    }
    *ret = json_pack("{s:o, s:o, s:o}", "servers", g.servers, "total",
                     numbers_json(g.total), "missing", g.missing);
    return *ret != NULL ? ERR_OK : errinfo_nomem(reterr, "servers");
}

/* ---- history ---- */

struct adding {
    struct slice name; /* "all", or that of a server; "": this one */
    bool is_all;
    bool is_found;
    struct period_view sum;
    json_t *servers;
    json_t *missing;
};

static bool add_view(void *context, const struct server *s,
                     const struct period_view *view)
{
    struct adding *a = context;

    bool is_named = a->name.n == 0 ? s->is_self : slice_eq(a->name, slice_str(s->name));

    if (!a->is_all && !is_named) {
        return true;
    }
    a->is_found = true;
    (void)json_array_append_new(a->servers, server_json(s));
    if (is_missing(s)) {
        (void)json_array_append_new(a->missing, json_string(s->name));
    }
    for (size_t i = 0; i < view->n && !(a->is_all && is_missing(s)); i++) {
        for (unsigned n = 0; n < HISTORY_NUMBERS; n++) {
            a->sum.bucket[i].number[n] += view->bucket[i].number[n];
        }
    }
    return true;
}

static enum err make_history(struct adding *a, const struct servers_ask *ask,
                             json_t **ret, struct errinfo *reterr)
{
    if (!a->is_found) {
        return errinfo_set(reterr, ERR_NOT_FOUND, "server", 0,
                           "no server of this owner has this name");
    }
    *ret = json_pack("{s:s, s:I, s:o, s:O, s:O}", "period", period_name(ask->period),
                     "bucket_s", (json_int_t)period_bucket_s(ask->period), "buckets",
                     buckets_json(a->sum.bucket, a->sum.n), "servers", a->servers,
                     "missing", a->missing);
    return *ret != NULL ? ERR_OK : errinfo_nomem(reterr, "history");
}

enum err servers_history_json(const struct servers_ask *ask, struct slice server,
                              json_t **ret, struct errinfo *reterr)
{
    struct adding *a = calloc(1, sizeof(*a));

    if (a == NULL) {
        return errinfo_nomem(reterr, "history");
    }
    a->name = server;
    a->is_all = slice_eq(server, SLICE_LIT("all"));
    a->servers = json_array();
    a->missing = json_array();
    period_view_init(&a->sum, ask->period, ask->now_s);
    enum err e = servers_each(ask, add_view, a, reterr);
    THEN(e, make_history(a, ask, ret, reterr));
    json_decref(a->servers);
    json_decref(a->missing);
    free(a);
    return e;
}
