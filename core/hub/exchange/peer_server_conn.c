/* peer_server_conn - one connection to the server: handshake, requests one after the other, an end in time. */
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/exchange/peer_server_internal.h"

enum { INPUT_MAX = HTTP_HEAD_MAX + HTTP_BODY_MAX };

static void read_on(struct conn *c);

static void set_deadline(struct conn *c, uint64_t seconds)
{
    c->deadline_us = clock_mono_us() + seconds * 1000000;
}

void conn_close(struct conn *c)
{
    struct peer_server *s = c->server;
    unsigned at = 0;

    for (unsigned i = 0; i < s->stats.open; i++) {
        if (s->conns[i] == c) {
            s->conns[i] = s->conns[--s->stats.open];
            break;
        }
    }
    if (c->state != CONN_HANDSHAKE && !c->is_join &&
        peer_server_peer_row(s, &c->origin, &at) != NULL && s->peers[at].conns > 0) {
        s->peers[at].conns--;
    }
    if (c->state == CONN_HELD) {
        s->stats.held--;
    }
    s->pending -= c->pending;
    bufferevent_free(c->bev); /* socket and TLS with it */
    free(c);
    ERR_clear_error();
}

static void free_body(const void *p, size_t n, void *context)
{
    (void)p;
    (void)n;
    free(context);
}

static void fields_of(const struct peer_server_answer *a, char *dst, size_t size)
{
    char retry[48] = "";

    if (a->retry_s > 0) {
        (void)snprintf(retry, sizeof(retry), "Retry-After: %u\r\n", a->retry_s);
    }
    (void)snprintf(dst, size, "Gillnet-Manifest: %llu\r\nCache-Control: %s\r\n%s",
                   (unsigned long long)a->manifest,
                   a->is_immutable ? "public, max-age=1209600, immutable" : "no-store",
                   retry);
}

/* Takes the body. */
static void send_answer(struct conn *c, struct peer_server_answer *a)
{
    struct peer_server *s = c->server;
    struct evbuffer *out = bufferevent_get_output(c->bev);
    struct buf head;
    char fields[256];
    size_t n = a->body.n;
    unsigned at = 0;

    fields_of(a, fields, sizeof(fields));
    buf_init(&head, 1024);
    http_print_head(a->status, n, fields, c->request.keeps_alive, &head);
    c->state = CONN_SENDING;
    c->pending = head.n + n;
    s->pending += c->pending;
    s->stats.bytes_out += c->pending;
    set_deadline(c, PEER_SERVER_SEND_S + c->pending / PEER_SERVER_SEND_RATE);
    if (!c->is_join && peer_server_peer_row(s, &c->asker, &at) != NULL) {
        s->peers[at].bytes_out += c->pending;
        s->bytes[at].tokens -= (double)c->pending;
    }
    if (evbuffer_add(out, head.p, head.n) != 0 ||
        (n > 0 &&
         evbuffer_add_reference(out, a->body.p, n, free_body, a->body.p) != 0)) {
        buf_fini(&a->body);
        c->request.keeps_alive = false;
        bufferevent_trigger_event(c->bev, BEV_EVENT_ERROR, BEV_TRIG_DEFER_CALLBACKS);
    } else if (n == 0) {
        buf_fini(&a->body);
    }
    buf_fini(&head);
}

static void refuse(struct conn *c, unsigned status)
{
    struct peer_server_answer a = {.status = status};

    c->server->stats.refused_requests++;
    c->request.keeps_alive = false;
    buf_init(&a.body, 1);
    send_answer(c, &a);
}

/* Of a proxy's request: whether somebody asks who may, and who. */
static bool name_asker(struct conn *c)
{
    struct peer_server *s = c->server;
    const char *why = NULL;
    const struct manifest_member *m = NULL;
    struct peer_server_peer *row = NULL;
    unsigned at = 0;

    c->asker = c->origin;
    if (!c->is_proxy || !s->o.node->is_open) {
        return true; /* what is closed answers nobody */
    }
    if (c->is_join) {
        return c->has_key;
    }
    m = c->has_key ? node_member_of_key(s->o.node, c->key, &why) : NULL;
    row = m != NULL ? peer_server_peer_row(s, &m->origin, &at) : NULL;
    if (row == NULL) {
        return false;
    }
    row->seen_ms = clock_wall_us() / 1000;
    c->asker = m->origin;
    return true;
}

/* A member's connections are few; its requests that a proxy lets wait are so too. */
static void bound_held(struct peer_server *s, const struct conn *newest)
{
    struct conn *oldest = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < s->stats.open; i++) {
        struct conn *c = s->conns[i];

        if (c != newest && c->state == CONN_HELD && c->is_proxy &&
            memcmp(c->asker.b, newest->asker.b, OBJECT_ID_BYTES) == 0) {
            n++;
            oldest =
                oldest == NULL || c->deadline_us < oldest->deadline_us ? c : oldest;
        }
    }
    if (n >= PEER_SERVER_PEER_CONNS && oldest != NULL) {
        oldest->deadline_us = 0;
        conn_wake(oldest, clock_mono_us());
    }
}

static void answer(struct conn *c, struct slice body)
{
    struct peer_server_asker asker = {.who = c->is_join ? NULL : &c->asker};
    struct peer_server_answer a;

    c->server->stats.requests++;
    if (!name_asker(c)) {
        /* the proxy's connection stays: whom it lets in must not cost it handshakes */
        c->server->stats.refused_requests++;
        a = (struct peer_server_answer){.status = 403};
        buf_init(&a.body, 1);
        send_answer(c, &a);
        return;
    }
    memcpy(asker.key, c->key, sizeof(asker.key));
    serve_request(c->server, &c->request, body, &asker, &a);
    if (a.is_held) {
        buf_fini(&a.body);
        c->state = CONN_HELD;
        c->epoch = c->server->o.node->epoch;
        c->server->stats.held++;
        set_deadline(c, PEER_SERVER_HOLD_S);
        if (c->is_proxy) {
            bound_held(c->server, c);
        }
        return;
    }
    send_answer(c, &a);
}

void conn_wake(struct conn *c, uint64_t now_us)
{
    struct peer_server *s = c->server;
    const struct node *r = s->o.node;
    const struct peer_server_asker asker = {.who = &c->asker};
    const char *why = NULL;
    struct peer_server_answer a = {.status = 304};

    if (c->state != CONN_HELD) {
        return;
    }
    if (r->is_open && r->epoch == c->epoch &&
        sync_version(r->sync) == c->request.from) {
        if (now_us < c->deadline_us) {
            return;
        }
        s->stats.held--;
        a.manifest = r->manifest.version;
        buf_init(&a.body, 1);
        send_answer(c, &a);
        return;
    }
    s->stats.held--;
    c->state = CONN_IDLE;
    if (c->is_proxy && r->is_open && node_member_of_key(r, c->key, &why) == NULL) {
        a.status = 403; /* dropped while it waited */
        buf_init(&a.body, 1);
        send_answer(c, &a);
        return;
    }
    if (r->is_open && sync_version(r->sync) == c->request.from) { /* a new manifest */
        a.manifest = r->manifest.version;
        buf_init(&a.body, 1);
        send_answer(c, &a);
        return;
    }
    serve_request(s, &c->request, SLICE_NONE, &asker, &a);
    send_answer(c, &a);
}

/* The member may have been dropped, or its key revoked, since the handshake. */
static bool is_still_member(struct conn *c)
{
    const struct node *r = c->server->o.node;
    uint8_t key[OBJECT_KEY_BYTES];
    const char *why = NULL;

    if (c->is_join || !r->is_open || c->epoch == r->epoch) {
        return true;
    }
    c->epoch = r->epoch;
    return tls_peer_key(bufferevent_openssl_get_ssl(c->bev), key) &&
           node_member_of_key(r, key, &why) != NULL;
}

/* A head is whole, or can never be. False: there is more to come. */
static bool take_head(struct conn *c, struct evbuffer *in)
{
    size_t here = evbuffer_get_length(in);
    size_t look = here < HTTP_HEAD_MAX ? here : HTTP_HEAD_MAX;
    const char *p =
        look > 0 ? (const char *)evbuffer_pullup(in, (ev_ssize_t)look) : NULL;
    struct slice bytes = slice_of(p, p != NULL ? look : 0);
    size_t n = http_head_length(bytes);
    unsigned status = 0;

    if (n == 0 && here < HTTP_HEAD_MAX) {
        if (here > 0 && !c->has_begun) {
            c->has_begun = true;
            set_deadline(c, PEER_SERVER_HEAD_S);
        }
        return false;
    }
    c->has_begun = false;
    c->request = (struct http_request){.route = ROUTE_HEADS};
    status = n == 0 ? 431 : http_parse(slice_head(bytes, n), &c->request);
    if (status == 0 && c->is_proxy) {
        c->has_key = tls_key_of_text(c->request.client, c->key);
    }
    c->request.client = SLICE_NONE;
    (void)evbuffer_drain(in, n == 0 ? here : n);
    if (status == 0 && c->is_join != (c->request.route == ROUTE_JOIN)) {
        status = 403;
    }
    if (status != 0) {
        refuse(c, status);
        return true;
    }
    c->state = CONN_BODY;
    set_deadline(c, PEER_SERVER_HEAD_S);
    return true;
}

static bool take_body(struct conn *c, struct evbuffer *in)
{
    size_t n = c->request.body;
    const char *p = NULL;

    if (evbuffer_get_length(in) < n) {
        return false;
    }
    p = n > 0 ? (const char *)evbuffer_pullup(in, (ev_ssize_t)n) : NULL;
    answer(c, slice_of(p, p != NULL ? n : 0));
    (void)evbuffer_drain(in, n);
    return true;
}

/* One request at a time; what comes behind it waits in the (bounded) input. */
static void read_on(struct conn *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    bool goes_on = true;

    while (goes_on) {
        if (c->state == CONN_IDLE) {
            goes_on = take_head(c, in);
        } else if (c->state == CONN_BODY) {
            goes_on = take_body(c, in);
        } else {
            goes_on = false;
        }
    }
}

static void on_read(struct bufferevent *bev, void *context)
{
    struct conn *c = context;

    (void)bev;
    if (!is_still_member(c)) {
        conn_close(c);
        return;
    }
    read_on(c);
}

static void on_sent(struct bufferevent *bev, void *context)
{
    struct conn *c = context;

    if (c->state != CONN_SENDING ||
        evbuffer_get_length(bufferevent_get_output(bev)) > 0) {
        return;
    }
    c->server->pending -= c->pending;
    c->pending = 0;
    if (!c->request.keeps_alive) {
        conn_close(c);
        return;
    }
    c->state = CONN_IDLE;
    set_deadline(c, PEER_SERVER_IDLE_S);
    read_on(c);
}

/* The oldest of a peer's connections gives way to its newest: a lost one is not told from an idle one. */
static void bound_peer(struct peer_server *s, const struct conn *newest)
{
    struct conn *oldest = NULL;

    for (unsigned i = 0; i < s->stats.open; i++) {
        struct conn *c = s->conns[i];

        if (c != newest && c->state != CONN_HANDSHAKE && !c->is_join &&
            memcmp(c->origin.b, newest->origin.b, OBJECT_ID_BYTES) == 0 &&
            (oldest == NULL || c->since_us < oldest->since_us)) {
            oldest = c;
        }
    }
    if (oldest != NULL) {
        conn_close(oldest);
    }
}

/* The handshake is done, and the pins held. */
static void greet(struct conn *c)
{
    struct peer_server *s = c->server;
    const SSL *ssl = bufferevent_openssl_get_ssl(c->bev);
    const char *why = NULL;
    const struct manifest_member *m = NULL;
    struct peer_server_peer *row = NULL;
    unsigned at = 0;

    if (!tls_peer_key(ssl, c->key)) {
        conn_close(c);
        return;
    }
    m = node_member_of_key(s->o.node, c->key, &why);
    c->is_proxy = m != NULL &&
                  memcmp(m->origin.b, s->o.node->self.origin.b, OBJECT_ID_BYTES) == 0;
    c->is_join = tls_is_join(ssl);
    set_deadline(c, PEER_SERVER_HEAD_S);
    if (c->is_join) {
        c->state = CONN_IDLE;
        return;
    }
    row = m != NULL ? peer_server_peer_row(s, &m->origin, &at) : NULL;
    if (row == NULL) {
        conn_close(c);
        return;
    }
    c->origin = m->origin;
    c->asker = m->origin;
    c->epoch = s->o.node->epoch;
    c->state = CONN_IDLE;
    row->conns++;
    row->seen_ms = clock_wall_us() / 1000;
    rate_limit_know(s->limit, (const struct sockaddr *)&c->from, clock_mono_us());
    if (row->conns > (c->is_proxy ? PEER_SERVER_PROXY_CONNS : PEER_SERVER_PEER_CONNS)) {
        bound_peer(s, c);
    }
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    struct conn *c = context;
    struct peer_server *s = c->server;

    if ((what & BEV_EVENT_CONNECTED) != 0) {
        greet(c);
        return;
    }
    while (bufferevent_get_openssl_error(bev) != 0) {
    }
    if (c->state == CONN_HANDSHAKE) {
        s->stats.refused_handshake++;
        if (s->pins.why[0] != '\0') {
            static struct clock_pace pace;

            if (clock_take_turn(&pace, 60 * 1000000ULL)) {
                log_warn("event=handshake result=refused reason=\"%s\"", s->pins.why);
            }
            s->pins.why[0] = '\0';
        }
    }
    conn_close(c);
}

void conn_open(struct peer_server *s, int fd, const struct sockaddr *from, int from_len)
{
    struct conn *c = calloc(1, sizeof(*c));
    SSL *ssl = c != NULL ? SSL_new(s->tls) : NULL;
    int one = 1;

    if (ssl != NULL) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        c->bev = bufferevent_openssl_socket_new(
            s->o.base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    }
    if (c == NULL || c->bev == NULL) {
        SSL_free(ssl);
        free(c);
        evutil_closesocket(fd);
        return;
    }
    c->server = s;
    c->since_us = clock_mono_us();
    memcpy(&c->from, from,
           (size_t)from_len < sizeof(c->from) ? (size_t)from_len : sizeof(c->from));
    set_deadline(c, PEER_SERVER_HANDSHAKE_S);
    s->conns[s->stats.open++] = c;
    bufferevent_openssl_set_allow_dirty_shutdown(c->bev, 1);
    bufferevent_setwatermark(c->bev, EV_READ, 0, INPUT_MAX);
    bufferevent_setcb(c->bev, on_read, on_sent, on_event, c);
    (void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}
