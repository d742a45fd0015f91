/* api_route - the table of routes, and the checks before a handler runs. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/page.h"

#define JSON_TYPE "application/json"

enum { QUERY_NAME_SHOWN = 64 };

const struct api_route api_routes[] = {
#define API_ROUTE(path, method, role, rank, body, kind, type, query, handler) \
    {path,       HTTP_##method, API_##role, API_##rank, API_BODY_##body,      \
     API_##kind, type,          query,      handler},
#include "core/hub/api/api_route.def"
#undef API_ROUTE
};
const unsigned api_nroutes = LENGTH(api_routes);
_Static_assert(LENGTH(api_routes) < API_ROUTES_MAX, "one more is for all others");

const double api_latency_le_s[API_LATENCY_BUCKETS - 1] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5};

bool api_path_token(const char *pattern, struct slice path, struct slice *rettoken)
{
    const struct slice whole = slice_str(pattern);
    const struct slice before = slice_head(whole, slice_find(whole, '{'));
    const struct slice after = slice_from(whole, slice_find(whole, '}') + 1);

    if (before.n == whole.n || path.n <= before.n + after.n ||
        !slice_has_prefix(path, before) ||
        !slice_eq(slice_from(path, path.n - after.n), after)) {
        return false;
    }
    *rettoken = slice_of(path.p + before.n, path.n - before.n - after.n);
    return slice_find(*rettoken, '/') == rettoken->n;
}

static bool is_path_of(const struct api_route *route, struct slice path)
{
    struct slice token;

    return slice_eq(path, slice_str(route->path)) ||
           api_path_token(route->path, path, &token);
}

/* The route; NULL: none, and *retallow names the methods of this path, or is "". */
static const struct api_route *find_route(const struct http_request *r, char *retallow,
                                          size_t size)
{
    const struct api_route *found = NULL;

    retallow[0] = '\0';
    for (unsigned i = 0; i < api_nroutes; i++) {
        const struct api_route *route = &api_routes[i];

        if (!is_path_of(route, r->path)) {
            continue;
        }
        found = route->method == r->method ? route : found;
        (void)snprintf(retallow, size, "%s",
                       route->method == HTTP_GET ? "GET, HEAD, OPTIONS"
                                                 : "POST, OPTIONS");
    }
    return found;
}

uint64_t api_body_max(const struct config *config, const struct http_request *request)
{
    for (unsigned i = 0; i < api_nroutes; i++) {
        const struct api_route *route = &api_routes[i];

        if (route->body >= API_BODY_MESSAGE &&
            slice_eq(request->path, slice_str(route->path)) &&
            !http_type_is(request->type, JSON_TYPE)) {
            return config->limits.message_bytes < API_MESSAGE_MAX
                       ? config->limits.message_bytes
                       : API_MESSAGE_MAX;
        }
    }
    return config->api.body_bytes;
}

/* ---- the page ---- */

static void answer_page(struct api_call *call, const struct page_file *file)
{
    struct api_answer *a = &call->answer;

    a->status = slice_find_slice(call->request.match, slice_str(file->etag)) <
                        call->request.match.n
                    ? 304
                    : 200;
    a->type = file->type;
    a->etag = file->etag;
    a->policy = PAGE_POLICY;
    a->fixed = file->bytes;
}

/* ---- checks ---- */

static bool has_right_type(const struct api_call *call)
{
    struct slice type = call->request.type;
    bool is_json = http_type_is(type, JSON_TYPE);
    bool is_message = http_type_is(type, "message/rfc822") ||
                      http_type_is(type, "application/octet-stream");

    switch (call->route->body) {
    case API_BODY_JSON:
        return is_json;
    case API_BODY_MESSAGE:
        return is_message;
    case API_BODY_EITHER:
        return is_json || is_message;
    case API_BODY_NONE:
        break;
    }
    return true;
}

/* Whether names, a blank between them, have this one. */
static bool has_name(const char *names, struct slice name)
{
    struct slice rest = slice_str(names);

    while (rest.n > 0) {
        if (slice_eq(slice_cut(&rest, ' '), name)) {
            return true;
        }
    }
    return false;
}

/* Whether the path takes every parameter of the query. A mistyped one must not be ignored. */
static bool has_right_query(struct api_call *call)
{
    struct slice rest = call->request.query;

    while (rest.n > 0) {
        struct slice pair = slice_cut(&rest, '&');
        struct slice name = slice_cut(&pair, '=');

        if (!has_name(call->route->query, name)) {
            api_refuse(call, 400, "this path takes no parameter \"%.*s\"%s%s",
                       SLICE_ARGS(slice_head(name, QUERY_NAME_SHOWN)),
                       call->route->query[0] == '\0' ? "" : "; it takes ",
                       call->route->query);
            return false;
        }
    }
    return true;
}

/* Whether the role of the one who asks is enough. */
static bool has_role(const struct api_call *call)
{
    return call->who.role >= call->route->role &&
           (call->route->role != API_MESSAGES || call->who.proof != API_UNPROVEN);
}

bool api_is_proven(struct api_call *call)
{
    if (call->who.proof != API_UNPROVEN) {
        return true;
    }
    api_refuse(call, 401,
               "a token with the role %s is needed: Authorization: Bearer; "
               "api.local_role does not count here, because the answer shows settings "
               "of a user",
               api_role_name(call->route->role));
    return false;
}

/* The client whom a proxy of api.proxies names. False: refused. */
static bool take_proxy_user(struct api_call *call)
{
    const struct slice name = call->request.field;

    if (!call->is_of_proxy) {
        static struct clock_pace pace;

        if (clock_take_turn(&pace, 60 * 1000000ULL)) {
            log_warn(
                "event=api result=refused from=%s: Gillnet-User, but this is none of "
                "api.proxies%s",
                call->from,
                strcmp(call->from, "unix") == 0
                    ? "; under systemd unix:LOGIN needs the drop-in "
                      "gillnet-hub-proxy.conf, see gillnet-api(7)"
                    : "");
        }
        api_refuse(call, 403, "the field Gillnet-User is taken from api.proxies alone");
        return false;
    }
    if (name.n > API_USER_NAME_MAX) {
        api_refuse(call, 403, "the name in Gillnet-User is too long");
        return false;
    }
    call->who = (struct api_who){.role = api_proxy_role(call->config, name),
                                 .proof = API_BY_PROXY};
    (void)snprintf(call->who.name, sizeof(call->who.name), "%.*s", SLICE_ARGS(name));
    if (call->who.role >= call->route->role) {
        return true;
    }
    api_refuse(call, 403, "the role %s is needed, and this user has %s",
               api_role_name(call->route->role), api_role_name(call->who.role));
    return false;
}

/* Whether the one who asks has the role. */
static bool may_ask(struct api_call *call, bool is_local, bool is_unix)
{
    if (call->request.field.n > 0) {
        return take_proxy_user(call);
    }
    is_local = is_local && !call->is_of_proxy; /* its clients are somewhere else */
    if (call->request.authorization.n > 0) {
        api_tokens_look(call->api->tokens, call->config->api.tokens_file);
    }
    bool is_known = api_who(call->api->tokens, call->config, &call->request, is_local,
                            is_unix, &call->who);

    if (call->route->role == API_NONE) {
        return true;
    }
    if (is_known && has_role(call)) {
        return true;
    }
    if (!is_known) {
        static struct clock_pace pace;

        if (clock_take_turn(&pace, 60 * 1000000ULL)) {
            log_warn("event=api result=refused from=%s: a token that is not in %s",
                     call->from, call->config->api.tokens_file);
        }
        api_refuse(call, 401, "this token is not known");
    } else if (call->request.authorization.n == 0) {
        api_refuse(call, 401,
                   "a token with the role %s is needed: Authorization: Bearer%s",
                   api_role_name(call->route->role),
                   is_local && call->who.role == API_NONE &&
                           call->config->api.local_role != API_NONE
                       ? " (a proxy passed this on, so it does not count as local)"
                       : "");
    } else {
        api_refuse(call, 403, "the role %s is needed, and this token has %s",
                   api_role_name(call->route->role), api_role_name(call->who.role));
    }
    return false;
}

static bool is_too_late(const struct api_call *call, uint64_t lag_us)
{
    enum api_rank rank = call->route->rank;

    return (rank == API_OPTIONAL && lag_us > API_LAG_OPTIONAL_US) ||
           (rank == API_LOOKUP && lag_us > API_LAG_CHECK_US);
}

static void refuse_path(struct api_call *call, const char *allow)
{
    struct api_answer *a = &call->answer;

    if (call->request.method == HTTP_OPTIONS && allow[0] != '\0') {
        a->status = 204;
    } else if (allow[0] != '\0') {
        api_refuse(call, 405, "this path has no such method");
    } else {
        api_refuse(call, 404, "there is nothing at this path");
    }
    a->allow = allow[0] == '\0'  ? NULL
               : allow[0] == 'G' ? "GET, HEAD, OPTIONS"
                                 : "POST, OPTIONS";
}

static bool may_begin(struct api_call *call, bool is_local, bool is_unix,
                      uint64_t lag_us)
{
    struct http_request request = call->request;

    if (call->route->handler == api_link_page) { /* webmail, too, leads there */
        request.site = SLICE_NONE;
    }
    const char *foreign = api_foreign(call->config, &request, is_unix);

    if (foreign != NULL) {
        api_refuse(call, 403, "%s", foreign);
    } else if (!may_ask(call, is_local, is_unix) || !has_right_query(call)) {
        /* said */
    } else if (!has_right_type(call)) {
        api_refuse(call, 415, "send %s as Content-Type",
                   call->route->body == API_BODY_MESSAGE ? "message/rfc822"
                                                         : JSON_TYPE);
    } else if (!http_accepts(call->request.accept, slice_str(call->route->type))) {
        api_refuse(call, 406, "the answer would be %s", call->route->type);
    } else if (is_too_late(call, lag_us)) {
        api_refuse(call, 503, "too much is to be done: try again");
        call->answer.retry_s = 1;
    } else {
        return true;
    }
    return false;
}

void api_dispatch(struct api_call *call, bool is_local, bool is_unix, uint64_t lag_us,
                  bool *retwaits)
{
    char allow[32];
    const struct page_file *file = NULL;

    *retwaits = false;
    call->route = find_route(&call->request, allow, sizeof(allow));
    if (call->route == NULL) {
        char path[64];

        (void)snprintf(path, sizeof(path), "%.*s", SLICE_ARGS(call->request.path));
        file = call->request.method == HTTP_GET ? page_find(path) : NULL;
        if (file == NULL) {
            refuse_path(call, allow);
        } else {
            answer_page(call, file);
        }
        return;
    }
    if (!may_begin(call, is_local, is_unix, lag_us)) {
        return;
    }
    call->answer.type = call->route->type;
    call->kind = call->route->kind;
    if (call->kind == API_INLINE) {
        call->route->handler(call);
    }
    *retwaits = call->kind != API_INLINE;
}

/* ---- numbers ---- */

void api_count(struct api_thread *t, const struct api_call *call)
{
    size_t at = call->route != NULL ? (size_t)(call->route - api_routes) : api_nroutes;
    uint64_t us = clock_mono_us() - call->begun_us;
    struct api_cell *cell = &t->cell[at];
    unsigned bucket = 0;

    while (bucket < API_LATENCY_BUCKETS - 1 &&
           (double)us > api_latency_le_s[bucket] * 1e6) {
        bucket++;
    }
    atomic_fetch_add_explicit(
        &cell->requests[call->answer.status / 100 % API_STATUS_CLASSES], 1,
        memory_order_relaxed);
    atomic_fetch_add_explicit(&cell->latency[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&cell->latency_us, us, memory_order_relaxed);
    if (call->answer.status == 503) {
        atomic_fetch_add_explicit(&t->shed, 1, memory_order_relaxed);
    }
}

static uint64_t load_number(const _Atomic uint64_t *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

static void add_cell(const struct api_cell *cell, struct api_route_numbers *ret)
{
    for (unsigned i = 0; i < API_STATUS_CLASSES; i++) {
        ret->requests[i] += load_number(&cell->requests[i]);
    }
    for (unsigned i = 0; i < API_LATENCY_BUCKETS; i++) {
        ret->latency[i] += load_number(&cell->latency[i]);
    }
    ret->latency_us += load_number(&cell->latency_us);
}

static void add_thread(const struct api_thread *t, struct api_numbers *ret)
{
    struct http_server_numbers n = {0};

    for (unsigned i = 0; i <= api_nroutes; i++) {
        add_cell(&t->cell[i], &ret->route[i]);
    }
    http_server_numbers(t->server, &n);
    ret->connections += n.accepted;
    ret->open += n.open;
    ret->refused += n.refused + n.evicted;
    ret->limited += atomic_load_explicit(&t->limited, memory_order_relaxed);
    ret->shed += atomic_load_explicit(&t->shed, memory_order_relaxed);
    ret->timeouts += n.timeouts;
    ret->bytes_in += n.bytes_in;
    ret->bytes_out += n.bytes_out;
}

void api_numbers(const struct api *a, struct api_numbers *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->nroutes = api_nroutes + 1;
    for (unsigned i = 0; i <= api_nroutes; i++) {
        ret->route[i].path = i < api_nroutes ? api_routes[i].path : "other";
    }
    for (unsigned i = 0; i < a->nthreads; i++) {
        add_thread(&a->threads[i], ret);
    }
    ret->values = load_number(&a->values);
    for (unsigned i = 0; i < RATING_COUNT; i++) {
        ret->url_checks[i] = load_number(&a->url_checks[i]);
    }
    ret->reports_ham = load_number(&a->reports_ham);
    ret->reports_spam = load_number(&a->reports_spam);
}
