/* http_conn - one connection: handshake, requests one after the other, each within its time and
 * memory. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>

#include "core/base/clock.h"
#include "core/hub/http/http_internal.h"
#include "core/hub/http/http_syntax.h"
#include "core/hub/socket/socket_io.h"

enum {
    READ_STEP = 16 * 1024, /* bytes asked of the kernel at once, at least */
    STEP_MAX = 1 << 20,
    TURN_REQUESTS = 16,     /* of one connection before others have their turn */
    KEPT_BYTES = 64 * 1024, /* of a buffer between requests */
    DRAIN_MAX = 4 << 20     /* bytes thrown away after a refusal */
};

/* Takes care that the writes event comes when the step needs it; reads always come. */
static enum socket_result watch_writes(struct http_conn *c, enum socket_result r)
{
    if (r == SOCKET_WRITES) {
        (void)event_add(&c->writes, NULL);
    }
    return r;
}

/* ---- memory, time ---- */

/* Adds the size of the buffers to the sum of all connections. */
static void count_memory(struct http_conn *c)
{
    size_t now = c->in.size + c->out.size + c->body.size;

    http_count(c->server->o.memory, now - c->counted); /* modulo 2^64 */
    c->counted = now;
}

static void set_deadline(struct http_conn *c, uint64_t seconds)
{
    c->deadline_us = clock_mono_us() + seconds * 1000000;
}

static void wait_for_head(struct http_conn *c)
{
    c->state = HTTP_CONN_HEAD;
    c->has_begun = false;
    c->needed = 0;
    set_deadline(c, HTTP_IDLE_S);
}

void http_conn_close(struct http_conn *c)
{
    struct http_server *s = c->server;

    if (c->is_busy) {
        c->is_dead = true;
        return;
    }
    if (s->o.hooks->closed != NULL) {
        s->o.hooks->closed(c);
    }
    s->conns[c->at] = s->conns[--s->nconns];
    s->conns[c->at]->at = c->at;
    atomic_store_explicit(&s->open, s->nconns, memory_order_relaxed);
    s->pending -= c->pending;
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
    buf_fini(&c->body);
    count_memory(c);
    free(c);
}

/* ---- answers ---- */

/* Sends what the kernel takes now; the writes event sends the rest. */
static void send_waiting(struct http_conn *c)
{
    size_t all = c->out.n + c->body.n;
    enum socket_result r = SOCKET_OK;

    while (c->sent < all && r == SOCKET_OK) {
        struct slice next = c->sent < c->out.n
                                ? slice_from(buf_slice(&c->out), c->sent)
                                : slice_from(buf_slice(&c->body), c->sent - c->out.n);
        size_t n = 0;

        r = socket_transmit(c->fd, c->ssl, next, &n);
        c->sent += n;
    }
    if (r == SOCKET_END) {
        c->is_dead = true;
    } else if (r != SOCKET_OK) {
        (void)event_add(&c->writes, NULL);
    } else {
        c->server->pending -= c->pending;
        c->pending = 0;
        c->sent = 0;
        buf_clear(&c->out);
        buf_fini(&c->body);
        if (c->out.size > KEPT_BYTES) {
            buf_fini(&c->out);
        }
    }
    if (c->out.size + c->body.size > KEPT_BYTES || c->counted > KEPT_BYTES) {
        count_memory(c);
    }
}

/* Ends the connection after a refusal. The client may still be sending: closing at once would
 * destroy the answer. */
static void drain(struct http_conn *c)
{
    c->state = HTTP_CONN_DRAIN;
    buf_fini(&c->in);
    c->taken = 0;
    count_memory(c);
    set_deadline(c, HTTP_DRAIN_S);
    c->is_dead = c->ssl != NULL || c->has_ended || shutdown(c->fd, SHUT_WR) != 0;
}

static void after_sending(struct http_conn *c)
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

/* Puts head and body behind the bytes that wait; a long body is taken instead of copied. */
static void add_answer(struct http_conn *c, const struct http_answer *a)
{
    struct slice body = a->fixed.n > 0    ? a->fixed
                        : a->body != NULL ? buf_slice(a->body)
                                          : SLICE_NONE;

    bool is_sent = !c->is_head && a->status != 304;

    http_add_head(&c->out, a, body.n, c->closes);
    if (is_sent && a->fixed.n == 0 && body.n > KEPT_BYTES) {
        c->body = *a->body;
        *a->body = (struct buf){.max = 0};
    } else if (is_sent) {
        buf_add(&c->out, body);
    }
    if (a->body != NULL) {
        buf_fini(a->body);
    }
}

size_t http_conn_send(struct http_conn *c, const struct http_answer *a)
{
    size_t before = c->out.n;

    c->closes = c->closes || a->closes;
    add_answer(c, a);
    c->pending = c->out.n - before + c->body.n;
    c->server->pending += c->pending;
    size_t n = c->pending;

    c->state = HTTP_CONN_SENDING;
    if (buf_failed(&c->out)) {
        c->is_dead = true;
    } else {
        http_count(&c->server->bytes_out, n);
        send_waiting(c);
        set_deadline(c, HTTP_SEND_S + n / HTTP_SEND_RATE);
        after_sending(c);
    }
    if (!c->is_busy) { /* its own event takes the next request */
        c->has_more = true;
        event_active(&c->reads, EV_READ, 0);
    }
    return n;
}

/* Waiting bytes must go within HTTP_SEND_S. */
static void send_stream(struct http_conn *c, bool was_empty)
{
    if (was_empty) {
        set_deadline(c, HTTP_SEND_S);
    }
    send_waiting(c);
    if (c->out.n == 0) {
        c->deadline_us = UINT64_MAX;
    }
}

void http_conn_stream(struct http_conn *c, const struct http_answer *a)
{
    const size_t before = c->out.n;

    c->closes = true;
    http_add_head(&c->out, a, HTTP_NO_LENGTH, true);
    c->pending = c->out.n - before;
    c->server->pending += c->pending;
    c->state = HTTP_CONN_STREAM;
    c->is_dead = c->is_dead || buf_failed(&c->out);
    if (!c->is_dead) {
        http_count(&c->server->bytes_out, c->pending);
        send_stream(c, true);
    }
}

bool http_conn_stream_add(struct http_conn *c, struct slice piece)
{
    const bool was_empty = c->out.n == 0;
    const bool is_slow = piece.n > HTTP_STREAM_BYTES - c->out.n;

    if (is_slow) {
        http_count(&c->server->timeouts, 1);
        c->is_dead = true;
    } else {
        buf_add(&c->out, piece);
        c->pending += piece.n;
        c->server->pending += piece.n;
        http_count(&c->server->bytes_out, piece.n);
        c->is_dead = c->is_dead || buf_failed(&c->out);
    }
    if (!c->is_dead) {
        send_stream(c, was_empty);
    }
    if (c->is_dead) {
        http_conn_close(c);
        return false;
    }
    return true;
}

void http_conn_hold(struct http_conn *c, bool is_watched)
{
    c->state = HTTP_CONN_HELD;
    c->is_watched = is_watched;
    c->deadline_us = UINT64_MAX;
}

bool http_conn_keep(struct http_conn *c, struct buf *ret)
{
    struct buf rest;

    buf_init(&rest, c->in.max);
    buf_add(&rest, slice_from(buf_slice(&c->in), c->taken));
    if (buf_failed(&rest)) {
        return false;
    }
    *ret = c->in;
    c->in = rest;
    c->taken = 0;
    count_memory(c);
    return true;
}

/* ---- requests ---- */

/* Drops the bytes that are used up; the others begin the buffer. */
static void compact(struct http_conn *c)
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

/* An answer that ends the connection, before there is a whole request. */
static void refuse_request(struct http_conn *c, const struct http_request *r,
                           unsigned status, const char *why, unsigned retry_s)
{
    c->closes = true;
    c->is_head = r->is_head;
    c->server->o.hooks->refuse(c, r, status, why, retry_s);
}

/* Head and body are whole. */
static void hand_to_owner(struct http_conn *c, const struct http_request *r,
                          struct slice head)
{
    struct slice body = slice_of(head.p + head.n, c->needed - head.n);

    c->is_known = c->is_known || !c->server->o.knows_by_greeting;
    c->is_head = r->is_head;
    c->closes = c->closes || !r->keeps_alive;
    c->taken += c->needed;
    c->needed = 0;
    c->server->o.hooks->answer(c, r, body);
}

/* The head is here: finds out how long the body is. False: the request was refused, or its body is
 * still to come. */
static bool admit_body(struct http_conn *c, const struct http_request *r, size_t head_n,
                       uint64_t most)
{
    const struct http_server *s = c->server;
    size_t here = c->in.n - c->taken;

    if (r->length > most) {
        refuse_request(c, r, 413, "the body is too long", 0);
        return false;
    }
    c->needed = head_n + (size_t)r->length;
    if (here >= c->needed) {
        return true;
    }
    if (c->needed > KEPT_BYTES &&
        atomic_load_explicit(s->o.memory, memory_order_relaxed) + c->needed >
            HTTP_MEMORY_MAX) {
        refuse_request(c, r, 503, "too much is under way: try again", 1);
        return false;
    }
    c->state = HTTP_CONN_BODY;
    set_deadline(c, s->o.body_s + r->length / HTTP_BODY_RATE);
    if (r->expects && here == head_n) {
        buf_add(&c->out, SLICE_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
        send_waiting(c);
    }
    return false;
}

/* Takes one request of the buffer. False: there is none, or the connection has other things to
 * do. */
static bool take_request(struct http_conn *c)
{
    struct slice here = slice_from(buf_slice(&c->in), c->taken);
    struct http_request r = {.method = HTTP_GET};
    const char *why = "the head of the request is too long";
    uint64_t most = 0;

    if (c->is_dead || (c->state != HTTP_CONN_HEAD && c->state != HTTP_CONN_BODY) ||
        here.n == 0 || (c->state == HTTP_CONN_BODY && here.n < c->needed)) {
        return false;
    }
    struct slice head = slice_head(here, HTTP_HEAD_MAX);

    head = slice_head(head, http_head_length(head));
    if (head.n == 0 && here.n < HTTP_HEAD_MAX) {
        if (!c->has_begun) {
            c->has_begun = true;
            set_deadline(c, HTTP_HEAD_S);
        }
        return false;
    }
    unsigned status =
        head.n == 0 ? 431 : c->server->o.hooks->head(c, head, &r, &most, &why);

    if (status == HTTP_NO_ANSWER) {
        c->is_dead = true;
    } else if (status != 0) {
        refuse_request(c, &r, status, why, 0);
    } else if (admit_body(c, &r, head.n, most)) {
        hand_to_owner(c, &r, head);
    }
    return true;
}

/* As many as there are, up to one turn. */
static void take_requests(struct http_conn *c)
{
    unsigned turns = 0;

    while (turns < TURN_REQUESTS && take_request(c)) {
        turns++;
    }
    c->has_more = turns == TURN_REQUESTS;
}

/* ---- events ---- */

static bool wants_bytes(const struct http_conn *c)
{
    return c->state == HTTP_CONN_HANDSHAKE || c->state == HTTP_CONN_HEAD ||
           c->state == HTTP_CONN_BODY || c->state == HTTP_CONN_DRAIN ||
           c->state == HTTP_CONN_STREAM ||
           (c->state == HTTP_CONN_HELD && c->is_watched &&
            c->in.n - c->taken < HTTP_HEAD_MAX);
}

/* After each event: the connection ends, or waits for the right things. */
static void settle_conn(struct http_conn *c)
{
    if (c->is_dead || (c->has_ended && wants_bytes(c) && !c->has_more)) {
        http_conn_close(c);
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

static void shake(struct http_conn *c)
{
    const struct http_hooks *hooks = c->server->o.hooks;
    enum socket_result r = watch_writes(c, socket_handshake(c->ssl));

    if (r == SOCKET_OK) {
        c->state = HTTP_CONN_HEAD;
        c->is_dead = hooks->greet != NULL && !hooks->greet(c);
    } else if (r == SOCKET_END) {
        c->is_dead = true;
        if (hooks->handshake_failed != NULL) {
            hooks->handshake_failed(c->server->o.context);
        }
    }
}

static void throw_away(struct http_conn *c)
{
    char p[READ_STEP];
    size_t n = 0;
    enum socket_result r =
        watch_writes(c, socket_receive(c->fd, c->ssl, p, sizeof(p), &n));

    c->drained += n;
    c->is_dead = c->is_dead || r == SOCKET_END || c->drained > DRAIN_MAX;
}

/* Reads the bytes that somebody asks for; the kernel keeps the others. */
static void read_bytes(struct http_conn *c)
{
    enum socket_result r = SOCKET_OK;

    compact(c);
    while (r == SOCKET_OK) {
        size_t before = c->in.n;
        size_t left = c->needed > before ? c->needed - before : 0;
        size_t step = left < READ_STEP ? READ_STEP : left < STEP_MAX ? left : STEP_MAX;
        size_t n = 0;
        char *p = before < HTTP_HEAD_MAX || left > 0 ? buf_extend(&c->in, step) : NULL;

        if (p == NULL) {
            c->is_dead = buf_failed(&c->in);
            break;
        }
        r = watch_writes(c, socket_receive(c->fd, c->ssl, p, step, &n));
        c->in.n = before + n;
        http_count(&c->server->bytes_in, n);
        if (n < step && c->ssl == NULL) {
            break; /* that was all */
        }
    }
    c->has_ended = c->has_ended || r == SOCKET_END;
    if (c->in.size > KEPT_BYTES) {
        count_memory(c);
    }
}

static void on_read(evutil_socket_t fd, short what, void *context)
{
    struct http_conn *c = context;

    (void)fd;
    (void)what;
    c->is_busy = true;
    if (c->state == HTTP_CONN_HANDSHAKE) {
        shake(c);
    }
    if (c->state == HTTP_CONN_DRAIN || c->state == HTTP_CONN_STREAM) {
        throw_away(c);
    } else if (wants_bytes(c) && c->state != HTTP_CONN_HANDSHAKE && !c->is_dead) {
        if (!c->has_more) {
            read_bytes(c);
        }
        take_requests(c);
    }
    c->is_busy = false;
    settle_conn(c);
}

static void on_write(evutil_socket_t fd, short what, void *context)
{
    struct http_conn *c = context;

    send_waiting(c);
    if (c->state == HTTP_CONN_SENDING) {
        after_sending(c);
    } else if (c->state == HTTP_CONN_STREAM && c->out.n == 0) {
        c->deadline_us = UINT64_MAX;
    }
    on_read(fd, what, context); /* TLS may have waited to write before it reads */
}

void http_conn_tick(struct http_conn *c, uint64_t now_us)
{
    if (now_us < c->deadline_us) {
        return;
    }
    if (c->has_begun || c->state != HTTP_CONN_HEAD) {
        http_count(&c->server->timeouts, 1);
    }
    http_conn_close(c);
}

/* ---- a connection comes ---- */

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

/* NULL: no memory. */
static struct http_conn *conn_new(struct http_server *s, int fd, bool has_tls)
{
    struct http_conn *c = calloc(1, sizeof(*c) + s->o.conn_bytes);

    if (c != NULL && has_tls) {
        c->ssl = SSL_new(s->tls);
        if (c->ssl == NULL || SSL_set_fd(c->ssl, fd) != 1) {
            SSL_free(c->ssl);
            free(c);
            return NULL;
        }
        SSL_set_accept_state(c->ssl);
    }
    return c;
}

void http_conn_open(struct http_server *s, int fd, const struct sockaddr *from,
                    int from_len)
{
    bool is_unix = from->sa_family == AF_UNIX;
    struct http_conn *c = conn_new(s, fd, s->tls != NULL && !is_unix);
    int one = 1;

    if (c == NULL) {
        (void)close(fd);
        return;
    }
    if (!is_unix) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        memcpy(&c->from, from,
               (size_t)from_len < sizeof(c->from) ? (size_t)from_len : sizeof(c->from));
    }
    c->server = s;
    c->context = s->o.context;
    c->fd = fd;
    c->is_local = is_unix || is_loopback(&c->from);
    c->at = s->nconns;
    s->conns[s->nconns++] = c;
    atomic_store_explicit(&s->open, s->nconns, memory_order_relaxed);
    buf_init(&c->in, HTTP_MEMORY_MAX);
    buf_init(&c->out, HTTP_MEMORY_MAX);
    (void)event_assign(&c->reads, s->o.base, fd, EV_READ | EV_PERSIST, on_read, c);
    (void)event_assign(&c->writes, s->o.base, fd, EV_WRITE, on_write, c);
    wait_for_head(c);
    c->state = c->ssl != NULL ? HTTP_CONN_HANDSHAKE : HTTP_CONN_HEAD;
    c->since_us = clock_mono_us();
    set_deadline(c, HTTP_HEAD_S); /* handshake and first byte */
    settle_conn(c);
}
