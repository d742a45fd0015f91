/* api_conn - one connection to the API: requests one after the other, each within its time and memory. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>

#include "core/base/clock.h"
#include "core/hub/api/api_internal.h"
#include "core/hub/exchange/peer_request.h"

enum {
    READ_STEP = 16 * 1024, /* bytes asked of the kernel at once, at least */
    STEP_MAX = 1 << 20,
    TURN_REQUESTS = 16,     /* of one connection before others have their turn */
    KEPT_BYTES = 64 * 1024, /* of a buffer between requests */
    DRAIN_MAX = 4 << 20     /* bytes thrown away after a refusal */
};

/* ---- memory, time ---- */

/* What its buffers hold goes to the sum of all. */
static void count_memory(struct api_conn *c)
{
    size_t now = c->in.size + c->out.size;

    if (now > c->counted) {
        atomic_fetch_add_explicit(&c->thread->api->memory, now - c->counted,
                                  memory_order_relaxed);
    } else if (now < c->counted) {
        atomic_fetch_sub_explicit(&c->thread->api->memory, c->counted - now,
                                  memory_order_relaxed);
    }
    c->counted = now;
}

static void set_deadline(struct api_conn *c, uint64_t seconds)
{
    c->deadline_us = clock_mono_us() + seconds * 1000000;
}

static void wait_for_head(struct api_conn *c)
{
    c->state = API_CONN_HEAD;
    c->has_begun = false;
    c->needed = 0;
    set_deadline(c, API_IDLE_S);
}

void api_conn_close(struct api_conn *c)
{
    struct api_thread *t = c->thread;

    t->conns[c->at] = t->conns[--t->nconns];
    t->conns[c->at]->at = c->at;
    atomic_store_explicit(&t->open, t->nconns, memory_order_relaxed);
    if (c->work != NULL) {
        c->work->conn = NULL; /* its answer goes nowhere */
    }
    (void)event_del(&c->reads);
    (void)event_del(&c->writes);
    if (c->ssl != NULL) {
        (void)SSL_shutdown(c->ssl);
        SSL_free(c->ssl);
        ERR_clear_error();
    }
    (void)close(c->fd);
    buf_fini(&c->in);
    buf_fini(&c->out);
    count_memory(c);
    free(c);
}

/* ---- answers ---- */

/* Sends what waits; what the kernel does not take now is sent when it can. */
static void flush(struct api_conn *c)
{
    enum api_io r = API_IO_OK;

    while (c->sent < c->out.n && r == API_IO_OK) {
        size_t n = 0;

        r = api_transmit(c, slice_from(buf_slice(&c->out), c->sent), &n);
        c->sent += n;
    }
    if (r == API_IO_END) {
        c->is_dead = true;
    } else if (r == API_IO_WAIT) {
        (void)event_add(&c->writes, NULL);
    } else {
        c->sent = 0;
        buf_clear(&c->out);
        if (c->out.size > KEPT_BYTES) {
            buf_fini(&c->out);
        }
    }
    if (c->out.size > KEPT_BYTES || c->counted > KEPT_BYTES) {
        count_memory(c);
    }
}

/* The client may still be sending what was refused: closing at once would take the answer from it. */
static void drain(struct api_conn *c)
{
    c->state = API_CONN_DRAIN;
    buf_fini(&c->in);
    c->taken = 0;
    count_memory(c);
    set_deadline(c, API_DRAIN_S);
    c->is_dead = c->ssl != NULL || c->has_ended || shutdown(c->fd, SHUT_WR) != 0;
}

/* Goes on when the answer is out whole. */
static void after_sending(struct api_conn *c)
{
    if (c->is_dead || c->out.n > 0) {
        return;
    }
    if (c->closes) {
        drain(c);
    } else {
        wait_for_head(c);
    }
}

/* Sends head and body of a call's answer. */
static void send_answer(struct api_conn *c, struct api_call *call)
{
    struct api_thread *t = c->thread;
    struct api_answer *a = &call->answer;
    struct slice body = a->fixed.n > 0 ? a->fixed : buf_slice(&a->body);

    a->closes = a->closes || c->closes || !call->request.keeps_alive;
    c->closes = a->closes;
    buf_clear(&t->head);
    api_print_head(call, &t->head);
    buf_add(&c->out, buf_slice(&t->head));
    if (!call->request.is_head && a->status != 304) {
        buf_add(&c->out, body);
    }
    if (buf_failed(&c->out) || buf_failed(&t->head)) {
        c->is_dead = true;
        return;
    }
    atomic_fetch_add_explicit(&t->bytes_out, c->out.n - c->sent, memory_order_relaxed);
    c->state = API_CONN_SENDING;
    flush(c);
    set_deadline(c, API_SEND_S + c->out.n / API_SEND_RATE);
    after_sending(c);
}

/* ---- requests ---- */

/* What is used up goes; what is left begins the buffer. */
static void compact(struct api_conn *c)
{
    size_t left = c->in.n - c->taken;

    if (left == 0 && c->in.size > KEPT_BYTES) {
        buf_fini(&c->in);
        count_memory(c);
    } else if (c->taken > 0) {
        memmove(c->in.p, c->in.p + c->taken, left);
        c->in.n = left;
    }
    c->taken = 0;
}

static void name_client(const struct api_conn *c, char *dst, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";

    if (c->is_unix) {
        (void)snprintf(dst, size, "unix");
        return;
    }
    if (c->from.ss_family == AF_INET) {
        const struct sockaddr_in *in =
            (const struct sockaddr_in *)(const void *)&c->from;

        (void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
    } else if (c->from.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in =
            (const struct sockaddr_in6 *)(const void *)&c->from;

        (void)inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
    }
    (void)snprintf(dst, size, "%s", host);
}

/* Whether an address that is not local asks too often. */
static bool is_limited(struct api_conn *c, unsigned *retretry_s)
{
    struct api_thread *t = c->thread;
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

/* How long this loop has been at the events it woke up for. */
static uint64_t lag_us(struct api_thread *t)
{
    struct timeval cached;
    struct timeval now;

    if (event_base_gettimeofday_cached(t->base, &cached) != 0 ||
        evutil_gettimeofday(&now, NULL) != 0) {
        return 0;
    }
    int64_t us = (int64_t)(now.tv_sec - cached.tv_sec) * 1000000 +
                 (int64_t)(now.tv_usec - cached.tv_usec);
    return us > 0 ? (uint64_t)us : 0; /* the clock may have been set */
}

static void begin_call(struct api_conn *c, struct api_call *call)
{
    struct api_thread *t = c->thread;

    *call = (struct api_call){.api = t->api,
                              .config = t->config,
                              .arena = t->arena,
                              .ask = t->ask,
                              .begun_us = clock_mono_us()};
    buf_init(&call->answer.body, API_ANSWER_MAX);
    name_client(c, call->from, sizeof(call->from));
}

/* An answer that ends the connection, before there is a whole request. */
static void refuse_head(struct api_conn *c, struct api_call *call, unsigned status,
                        const char *why)
{
    c->closes = true;
    api_refuse(call, status, "%s", why);
    api_count(c->thread, call);
    send_answer(c, call);
}

/* To a worker, with its bytes. False: there was no place, and that is the answer. */
static bool hand_over(struct api_conn *c, struct api_call *call)
{
    struct api_work *w = calloc(1, sizeof(*w));
    struct slice left = slice_from(buf_slice(&c->in), c->taken + c->needed);
    struct buf rest;

    if (w == NULL) {
        api_refuse(call, 503, "out of memory");
        return false;
    }
    w->call = *call;
    w->call.config = config_acquire(call->config);
    w->conn = c;
    w->home = c->thread;
    w->bytes = c->in; /* the request points into it */
    buf_init(&rest, c->in.max);
    buf_add(&rest, left);
    if (buf_failed(&rest) || !api_pool_put(c->thread->api->pool, w)) {
        config_release(&w->call.config);
        buf_fini(&rest);
        free(w);
        atomic_fetch_add_explicit(&c->thread->shed, 1, memory_order_relaxed);
        api_refuse(call, 503, "too many of these are under way: try again");
        call->answer.retry_s = 1;
        return false;
    }
    c->in = rest;
    c->taken = 0;
    c->needed = 0;
    c->work = w;
    c->state = API_CONN_WORK;
    c->deadline_us = UINT64_MAX; /* its work is bounded */
    count_memory(c);
    return true;
}

/* Head and body are whole. */
static void answer(struct api_conn *c, struct api_call *call, struct slice head)
{
    unsigned retry_s = 0;
    bool waits = false;

    c->has_asked = true;
    call->body = slice_of(head.p + head.n, c->needed - head.n);
    if (is_limited(c, &retry_s)) {
        api_refuse(call, 429, "too many requests of this address");
        call->answer.retry_s = retry_s;
    } else {
        api_dispatch(call, c->is_local, c->is_unix, lag_us(c->thread), &waits);
    }
    if (waits && hand_over(c, call)) {
        return;
    }
    c->taken += c->needed;
    c->needed = 0;
    api_count(c->thread, call);
    send_answer(c, call);
}

/* The head is here: says what the body may be. False: the request is refused, or its body is still to come. */
static bool admit_body(struct api_conn *c, struct api_call *call, struct slice head)
{
    struct api_thread *t = c->thread;
    size_t here = c->in.n - c->taken;
    uint64_t most = api_body_max(t->config, &call->request);

    if (call->request.length > most) {
        refuse_head(c, call, 413, "the body is too long");
        return false;
    }
    c->needed = head.n + (size_t)call->request.length;
    if (here >= c->needed) {
        return true;
    }
    if (c->needed > KEPT_BYTES &&
        atomic_load_explicit(&t->api->memory, memory_order_relaxed) + c->needed >
            API_MEMORY_MAX) {
        call->answer.retry_s = 1;
        refuse_head(c, call, 503, "too much is under way: try again");
        return false;
    }
    c->state = API_CONN_BODY;
    set_deadline(c, API_BODY_S + call->request.length / API_BODY_RATE);
    if (call->request.expects && here == head.n) {
        buf_add(&c->out, SLICE_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
        flush(c);
    }
    return false;
}

/* Takes one request of the buffer. False: there is none, or the connection has other things to do. */
static bool take_request(struct api_conn *c)
{
    struct slice here = slice_from(buf_slice(&c->in), c->taken);
    struct api_call call;
    const char *why = "the head of the request is too long";

    if (c->is_dead || (c->state != API_CONN_HEAD && c->state != API_CONN_BODY) ||
        here.n == 0 || (c->state == API_CONN_BODY && here.n < c->needed)) {
        return false;
    }
    struct slice head = slice_head(here, API_HEAD_MAX);

    head = slice_head(head, http_head_length(head));
    if (head.n == 0 && here.n < API_HEAD_MAX) {
        if (!c->has_begun) {
            c->has_begun = true;
            set_deadline(c, API_HEAD_S);
        }
        return false;
    }
    begin_call(c, &call);
    unsigned status = head.n == 0 ? 431 : api_request_parse(head, &call.request, &why);

    if (status != 0) {
        refuse_head(c, &call, status, why);
    } else if (admit_body(c, &call, head)) {
        answer(c, &call, head);
    }
    if (c->state != API_CONN_WORK) {
        buf_fini(&call.answer.body);
    }
    arena_reset(c->thread->arena);
    return true;
}

/* As many as there are, up to one turn. */
static void take_requests(struct api_conn *c)
{
    unsigned turns = 0;

    while (turns < TURN_REQUESTS && take_request(c)) {
        turns++;
    }
    c->has_more = turns == TURN_REQUESTS;
}

/* ---- events ---- */

static bool wants_bytes(const struct api_conn *c)
{
    return c->state == API_CONN_HEAD || c->state == API_CONN_BODY ||
           c->state == API_CONN_DRAIN;
}

/* After each event: the connection ends, or waits for the right things. */
static void settle(struct api_conn *c)
{
    bool is_open = c->state == API_CONN_HEAD || c->state == API_CONN_BODY;

    if (c->is_dead || (c->has_ended && is_open && !c->has_more)) {
        api_conn_close(c);
        return;
    }
    if (!wants_bytes(c)) {
        if (c->is_reading) { /* one at a time: the kernel keeps the rest */
            (void)event_del(&c->reads);
            c->is_reading = false;
        }
        return;
    }
    if (!c->is_reading) {
        (void)event_add(&c->reads, NULL);
        c->is_reading = true;
    }
    if (c->has_more || (c->ssl != NULL && SSL_pending(c->ssl) > 0)) {
        event_active(&c->reads, EV_READ, 0);
    }
}

static void throw_away(struct api_conn *c)
{
    char p[READ_STEP];
    size_t n = 0;
    enum api_io r = api_receive(c, p, sizeof(p), &n);

    c->drained += n;
    c->is_dead = r == API_IO_END || c->drained > DRAIN_MAX;
}

/* What came goes behind what is there; what nothing asks for yet is left with the kernel. */
static void fill(struct api_conn *c)
{
    enum api_io r = API_IO_OK;

    compact(c);
    while (r == API_IO_OK) {
        size_t before = c->in.n;
        size_t left = c->needed > before ? c->needed - before : 0;
        size_t step = left < READ_STEP ? READ_STEP : left < STEP_MAX ? left : STEP_MAX;
        size_t n = 0;
        char *p = before < API_HEAD_MAX || left > 0 ? buf_extend(&c->in, step) : NULL;

        if (p == NULL) {
            c->is_dead = buf_failed(&c->in);
            break;
        }
        r = api_receive(c, p, step, &n);
        c->in.n = before + n;
        atomic_fetch_add_explicit(&c->thread->bytes_in, n, memory_order_relaxed);
        if (n < step && c->ssl == NULL) {
            break; /* that was all */
        }
    }
    c->has_ended = c->has_ended || r == API_IO_END;
    if (c->in.size > KEPT_BYTES) {
        count_memory(c);
    }
}

static void on_read(evutil_socket_t fd, short what, void *context)
{
    struct api_conn *c = context;

    (void)fd;
    (void)what;
    if (c->state == API_CONN_DRAIN) {
        throw_away(c);
    } else if (wants_bytes(c)) {
        if (!c->has_more) {
            fill(c);
        }
        take_requests(c);
    }
    settle(c);
}

static void on_write(evutil_socket_t fd, short what, void *context)
{
    struct api_conn *c = context;

    flush(c);
    if (c->state == API_CONN_SENDING) {
        after_sending(c);
    }
    on_read(fd, what, context); /* TLS may have waited to write before it reads */
}

void api_conn_answered(struct api_conn *c, struct api_work *w)
{
    c->work = NULL;
    send_answer(c, &w->call);
    take_requests(c);
    settle(c);
}

void api_conn_tick(struct api_conn *c, uint64_t now_us)
{
    if (now_us < c->deadline_us) {
        return;
    }
    if (c->has_begun || c->state != API_CONN_HEAD) {
        atomic_fetch_add_explicit(&c->thread->timeouts, 1, memory_order_relaxed);
    }
    api_conn_close(c);
}

static bool is_loopback(const struct sockaddr_storage *from)
{
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)from;

        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(const void *)from;

        return IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
    }
    return false;
}

void api_conn_open(struct api_thread *t, int fd, const struct sockaddr *from,
                   int from_len, bool is_unix)
{
    struct api_conn *c = calloc(1, sizeof(*c));
    int one = 1;

    if (c != NULL && t->api->tls != NULL && !is_unix) {
        c->ssl = SSL_new(t->api->tls);
    }
    if (c == NULL || (t->api->tls != NULL && !is_unix &&
                      (c->ssl == NULL || SSL_set_fd(c->ssl, fd) != 1))) {
        if (c != NULL) {
            SSL_free(c->ssl);
        }
        free(c);
        (void)close(fd);
        return;
    }
    if (c->ssl != NULL) {
        SSL_set_accept_state(c->ssl);
    }
    if (!is_unix) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        memcpy(&c->from, from,
               (size_t)from_len < sizeof(c->from) ? (size_t)from_len : sizeof(c->from));
    }
    c->thread = t;
    c->fd = fd;
    c->is_unix = is_unix;
    c->is_local = is_unix || is_loopback(&c->from);
    c->at = t->nconns;
    t->conns[t->nconns++] = c;
    atomic_store_explicit(&t->open, t->nconns, memory_order_relaxed);
    buf_init(&c->in, API_MEMORY_MAX);
    buf_init(&c->out, API_ANSWER_MAX + 2 * API_HEAD_MAX);
    (void)event_assign(&c->reads, t->base, fd, EV_READ | EV_PERSIST, on_read, c);
    (void)event_assign(&c->writes, t->base, fd, EV_WRITE, on_write, c);
    wait_for_head(c);
    set_deadline(c, API_HEAD_S); /* the handshake, and who says nothing at all */
    settle(c);
}
