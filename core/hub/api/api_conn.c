/* api_conn - the part of the HTTP server that is the API's: calls, limits by address, work for the
 * pool. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "core/base/clock.h"
#include "core/base/user.h"
#include "core/config/unit.h"
#include "core/hub/api/api_internal.h"

static struct api_work **work_of(struct http_conn *c)
{
    return (void *)c->owners;
}

static void name_client(const struct http_conn *c, char *dst, socklen_t size)
{
    const void *from = &c->from;

    if (c->from.ss_family == AF_UNSPEC) {
        (void)snprintf(dst, size, "unix");
    } else if (c->from.ss_family == AF_INET) {
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)from)->sin_addr, dst,
                        size);
    } else {
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)from)->sin6_addr, dst,
                        size);
    }
}

/* Who opened the Unix socket; "": unknown, or hidden by our user namespace. */
static void name_peer(const struct http_conn *c, char dst[USER_NAME_BYTES])
{
    struct ucred peer;
    socklen_t n = sizeof(peer);

    *dst = '\0';
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
        peer.uid != USER_OVERFLOW) {
        (void)user_name(peer.uid, dst);
    }
}

/* Whether two texts are one address, in whichever form. */
static bool is_same_address(const char *one, const char *other)
{
    struct ipnet a;
    struct ipnet b;
    const char *why = NULL;

    return unit_network(one, &a, &why) && unit_network(other, &b, &why) &&
           memcmp(a.addr, b.addr, sizeof(a.addr)) == 0;
}

/* Whether the connection is of a proxy that names its users (api.proxies). */
static bool is_of_proxy(const struct http_conn *c, const struct config *config,
                        const char *from)
{
    const struct config_strings *proxies = &config->api.proxies;
    const bool is_unix = c->from.ss_family == AF_UNSPEC;
    char login[USER_NAME_BYTES] = "";
    char name[USER_NAME_BYTES + 8];
    bool is = false;

    if (proxies->n > 0 && is_unix) {
        name_peer(c, login);
    }
    (void)snprintf(name, sizeof(name), "unix:%s", login);
    for (size_t i = 0; !is && i < proxies->n; i++) {
        is = is_unix ? strcmp(proxies->v[i], name) == 0
                     : is_same_address(proxies->v[i], from);
    }
    return is;
}

static void begin_call(struct http_conn *c, const struct http_request *request,
                       struct api_call *call)
{
    struct api_thread *t = c->context;

    *call = (struct api_call){.api = t->api,
                              .request = *request,
                              .config = t->config,
                              .arena = t->arena,
                              .ask = t->ask,
                              .begun_us = clock_mono_us()};
    buf_init(&call->answer.body, API_ANSWER_MAX);
    name_client(c, call->from, sizeof(call->from));
    call->is_of_proxy = is_of_proxy(c, t->config, call->from);
}

/* Sends head and body of a call's answer. */
static void send_answer(struct api_thread *t, struct http_conn *c,
                        struct api_call *call)
{
    struct api_answer *a = &call->answer;

    buf_clear(&t->fields);
    api_print_fields(call, &t->fields);
    if (buf_failed(&t->fields)) {
        http_conn_close(c);
    } else {
        (void)http_conn_send(c, &(struct http_answer){.status = a->status,
                                                      .type = a->type,
                                                      .fields = buf_slice(&t->fields),
                                                      .fixed = a->fixed,
                                                      .body = &a->body});
    }
}

/* Sends the head alone; the body comes in pieces. */
static void begin_live(struct api_thread *t, struct http_conn *c, struct api_call *call)
{
    buf_clear(&t->fields);
    api_print_fields(call, &t->fields);
    buf_add_str(&t->fields, "X-Accel-Buffering: no\r\n"); /* of nginx before us */
    http_conn_stream(c, &(struct http_answer){.status = call->answer.status,
                                              .type = call->answer.type,
                                              .fields = buf_slice(&t->fields)});
    api_live_begin(t, c, call->answer.live);
}

/* True if an address that is not local sends too many requests. */
static bool is_limited(struct api_thread *t, const struct http_conn *c,
                       unsigned *retretry_s)
{
    const struct bucket_rate rate = {.per_s = t->config->api.requests_per_s,
                                     .burst = 2.0 * t->config->api.requests_per_s};

    if (c->is_local) {
        return false;
    }
    (void)pthread_mutex_lock(&t->api->mutex);
    bool has = rate_limit_take(t->api->limit, (const struct sockaddr *)&c->from, &rate,
                               clock_mono_us(), retretry_s);

    (void)pthread_mutex_unlock(&t->api->mutex);
    if (!has) {
        atomic_fetch_add_explicit(&t->limited, 1, memory_order_relaxed);
    }
    return !has;
}

/* Gives the call to a worker, with the bytes of its request. False: the answer says that there was
 * no room. */
static bool hand_over(struct api_thread *t, struct http_conn *c, struct api_call *call)
{
    struct api_work *w = calloc(1, sizeof(*w));

    if (w == NULL || !http_conn_keep(c, &w->bytes)) {
        free(w);
        api_refuse(call, 503, "out of memory");
        return false;
    }
    w->call = *call;
    w->call.config = config_acquire(call->config);
    w->conn = c;
    w->home = t;
    w->call.is_gone = &w->is_gone;
    if (!api_pool_put(t->api->pool, w)) {
        config_release(&w->call.config);
        buf_fini(&w->bytes);
        free(w);
        atomic_fetch_add_explicit(&t->shed, 1, memory_order_relaxed);
        api_refuse(call, 503, "too many of these are under way: try again");
        call->answer.retry_s = 1;
        return false;
    }
    *work_of(c) = w;
    /* its work has limits of its own; a replay also ends when its client goes */
    http_conn_hold(c, w->call.kind == API_REPLAY || w->call.kind == API_SAMPLE);
    return true;
}

static unsigned on_head(struct http_conn *c, struct slice head,
                        struct http_request *ret, uint64_t *retmost,
                        const char **retwhy)
{
    static const struct http_rules rules = {
        .unknown_method = 501, .transfer_coding = 411, .field = {"gillnet-user", 12}};
    struct api_thread *t = c->context;
    unsigned status = http_request_parse(head, &rules, ret, retwhy);

    *retmost = status == 0 ? api_body_max(t->config, ret) : 0;
    return status;
}

static void on_refuse(struct http_conn *c, const struct http_request *request,
                      unsigned status, const char *why, unsigned retry_s)
{
    struct api_thread *t = c->context;
    struct api_call call;

    begin_call(c, request, &call);
    api_refuse(&call, status, "%s", why);
    call.answer.retry_s = retry_s;
    api_count(t, &call);
    send_answer(t, c, &call);
    buf_fini(&call.answer.body);
}

static void on_answer(struct http_conn *c, const struct http_request *request,
                      struct slice body)
{
    struct api_thread *t = c->context;
    struct api_call call;
    unsigned retry_s = 0;
    bool waits = false;

    begin_call(c, request, &call);
    call.body = body;
    if (is_limited(t, c, &retry_s)) {
        api_refuse(&call, 429, "too many requests of this address");
        call.answer.retry_s = retry_s;
    } else {
        api_dispatch(&call, c->is_local, c->from.ss_family == AF_UNSPEC,
                     http_server_lag_us(t->server), &waits);
    }
    if (call.answer.live != NULL) {
        api_count(t, &call);
        begin_live(t, c, &call);
    } else if (!waits || !hand_over(t, c, &call)) {
        api_count(t, &call);
        send_answer(t, c, &call);
        buf_fini(&call.answer.body);
    }
    arena_reset(t->arena);
}

static void on_closed(struct http_conn *c)
{
    if (*work_of(c) != NULL) {
        (*work_of(c))->conn = NULL; /* its answer goes nowhere */
        atomic_store(&(*work_of(c))->is_gone, true);
    }
    api_live_end(c->context, c);
}

const struct http_hooks api_conn_hooks = {
    .head = on_head, .refuse = on_refuse, .answer = on_answer, .closed = on_closed};

void api_conn_answered(struct api_work *w)
{
    if (w->conn != NULL) {
        *work_of(w->conn) = NULL;
        send_answer(w->home, w->conn, &w->call);
    }
}
