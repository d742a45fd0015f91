/* peer_server_conn - the peers' part of the HTTP server: members and strangers, requests, held
 * requests. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/exchange/peer_server_internal.h"

/* ---- answers ---- */

static void print_fields(const struct peer_server_answer *a, char *dst, size_t size)
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
static void send_answer(struct http_conn *c, struct peer_server_answer *a, bool closes)
{
    struct peer_server *s = c->context;
    const struct peer_conn *p = (void *)c->owners;
    char fields[256];
    unsigned at = 0;
    size_t n;

    print_fields(a, fields, sizeof(fields));
    n = http_conn_send(c, &(struct http_answer){.status = a->status,
                                                .type = "application/octet-stream",
                                                .fields = slice_str(fields),
                                                .body = &a->body,
                                                .closes = closes});
    if (!p->is_join && peer_server_peer_row(s, &p->asker, &at) != NULL) {
        s->peers[at].bytes_out += n;
        s->bytes[at].tokens -= (double)n;
    }
}

static void send_status(struct http_conn *c, unsigned status, uint64_t manifest,
                        bool closes)
{
    struct peer_server_answer a = {.status = status, .manifest = manifest};

    buf_init(&a.body, 1);
    send_answer(c, &a, closes);
}

/* ---- held requests ---- */

void peer_conn_wake(struct http_conn *c, uint64_t now_us)
{
    struct peer_server *s = c->context;
    struct peer_conn *p = (void *)c->owners;
    const struct node *r = s->o.node;
    const struct peer_server_asker asker = {.who = &p->asker};
    const char *why = NULL;
    bool is_newest = r->is_open && sync_version(r->sync) == p->request.from;
    bool is_same = is_newest && r->epoch == p->epoch;
    struct peer_server_answer a;

    if (!p->is_held || (is_same && now_us < p->hold_until_us)) {
        return;
    }
    s->stats.held--;
    p->is_held = false;
    if (!is_same && p->is_proxy && r->is_open &&
        node_member_of_key(r, p->key, &why) == NULL) {
        send_status(c, 403, 0, false); /* dropped while it waited */
    } else if (is_newest) { /* it waited long enough, or there is a new manifest */
        send_status(c, 304, r->manifest.version, false);
    } else {
        serve_request(s, &p->request, SLICE_NONE, &asker, &a);
        send_answer(c, &a, false);
    }
}

/* Limits the requests that a proxy holds for one member, as connections of a member are limited. */
static void bound_held(struct peer_server *s, struct http_conn *newest)
{
    const struct peer_conn *new = (void *)newest->owners;
    struct http_conn *oldest = NULL;
    struct peer_conn *old = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < s->http->nconns; i++) {
        struct http_conn *c = s->http->conns[i];
        struct peer_conn *p = (void *)c->owners;

        if (p != new && p->is_held &&
            p->is_proxy &&memcmp(p->asker.b, new->asker.b, OBJECT_ID_BYTES) == 0) {
            n++;
            if (old == NULL || p->hold_until_us < old->hold_until_us) {
                oldest = c;
                old = p;
            }
        }
    }
    if (n >= PEER_SERVER_PEER_CONNS && oldest != NULL) {
        old->hold_until_us = 0;
        peer_conn_wake(oldest, clock_mono_us());
    }
}

static void hold(struct http_conn *c)
{
    struct peer_server *s = c->context;
    struct peer_conn *p = (void *)c->owners;

    http_conn_hold(c, true);
    p->is_held = true;
    p->epoch = s->o.node->epoch;
    p->hold_until_us = clock_mono_us() + PEER_SERVER_HOLD_S * 1000000ULL;
    s->stats.held++;
    if (p->is_proxy) {
        bound_held(s, c);
    }
}

/* ---- requests ---- */

/* The member may have been dropped, or its key revoked, since the handshake. */
static bool is_still_member(const struct http_conn *c, const struct node *r,
                            struct peer_conn *p)
{
    uint8_t key[OBJECT_KEY_BYTES];
    const char *why = NULL;

    if (p->is_join || !r->is_open || p->epoch == r->epoch) {
        return true;
    }
    p->epoch = r->epoch;
    return tls_peer_key(c->ssl, key) && node_member_of_key(r, key, &why) != NULL;
}

static unsigned on_head(struct http_conn *c, struct slice head,
                        struct http_request *ret, uint64_t *retmost,
                        const char **retwhy)
{
    struct peer_server *s = c->context;
    struct peer_conn *p = (void *)c->owners;
    unsigned status = 0;

    *retwhy = "";
    *retmost = PEER_BODY_MAX;
    if (!is_still_member(c, s->o.node, p)) {
        return HTTP_NO_ANSWER;
    }
    status = peer_request_parse(head, ret, &p->request);
    if (status == 0 && p->is_proxy) {
        p->has_key = tls_key_of_text(ret->field, p->key);
    }
    return status == 0 && p->is_join != (p->request.route == ROUTE_JOIN) ? 403 : status;
}

static void on_refuse(struct http_conn *c, const struct http_request *request,
                      unsigned status, const char *why, unsigned retry_s)
{
    struct peer_server *s = c->context;

    (void)request;
    (void)why;
    (void)retry_s;
    s->stats.refused_requests++;
    send_status(c, status, 0, true);
}

/* Finds the member whose request a proxy passes on. False: there is no such member. */
static bool name_asker(struct peer_server *s, struct peer_conn *p)
{
    const char *why = NULL;
    const struct manifest_member *m = NULL;
    struct peer_server_peer *row = NULL;
    unsigned at = 0;

    p->asker = p->origin;
    if (!p->is_proxy || !s->o.node->is_open) {
        return true; /* a closed node answers nobody */
    }
    if (p->is_join) {
        return p->has_key;
    }
    m = p->has_key ? node_member_of_key(s->o.node, p->key, &why) : NULL;
    row = m != NULL ? peer_server_peer_row(s, &m->origin, &at) : NULL;
    if (row == NULL) {
        return false;
    }
    row->seen_ms = clock_wall_us() / 1000;
    p->asker = m->origin;
    return true;
}

static void on_answer(struct http_conn *c, const struct http_request *request,
                      struct slice body)
{
    struct peer_server *s = c->context;
    struct peer_conn *p = (void *)c->owners;
    struct peer_server_asker asker = {.who = p->is_join ? NULL : &p->asker};
    struct peer_server_answer a;

    (void)request;
    s->stats.requests++;
    if (!name_asker(s, p)) {
        s->stats.refused_requests++;
        send_status(c, 403, 0,
                    false); /* a proxy's connection stays: it has other clients */
        return;
    }
    memcpy(asker.key, p->key, sizeof(asker.key));
    serve_request(s, &p->request, body, &asker, &a);
    if (a.is_held) {
        buf_fini(&a.body);
        hold(c);
    } else {
        send_answer(c, &a, false);
    }
}

/* ---- begin and end ---- */

static bool on_admit(void *context, const struct sockaddr *from)
{
    const struct peer_server *s = context;

    return s->has_tls && rate_limit_admit(s->limit, from, clock_mono_us());
}

static void on_handshake_failed(void *context)
{
    static struct clock_pace pace;
    struct peer_server *s = context;

    s->stats.refused_handshake++;
    if (s->pins.why[0] != '\0' && clock_take_turn(&pace, 60 * 1000000ULL)) {
        log_warn("event=handshake result=refused reason=\"%s\"", s->pins.why);
    }
    s->pins.why[0] = '\0';
}

/* Closes the oldest of a peer's connections but the newest: one that is lost looks like an idle
 * one. */
static void bound_peer(struct peer_server *s, struct http_conn *newest)
{
    const struct peer_conn *new = (void *)newest->owners;
    struct http_conn *oldest = NULL;

    for (unsigned i = 0; i < s->http->nconns; i++) {
        struct http_conn *c = s->http->conns[i];
        const struct peer_conn *p = (void *)c->owners;

        if (c != newest && p->is_member &&
            memcmp(p->origin.b, new->origin.b, OBJECT_ID_BYTES) == 0 &&
            (oldest == NULL || c->since_us < oldest->since_us)) {
            oldest = c;
        }
    }
    if (oldest != NULL) {
        http_conn_close(oldest);
    }
}

/* The handshake is done, and the pins held. */
static bool on_greet(struct http_conn *c)
{
    struct peer_server *s = c->context;
    struct peer_conn *p = (void *)c->owners;
    const char *why = NULL;
    const struct manifest_member *m = NULL;
    struct peer_server_peer *row = NULL;
    unsigned at = 0;

    if (!tls_peer_key(c->ssl, p->key)) {
        return false;
    }
    m = node_member_of_key(s->o.node, p->key, &why);
    p->is_proxy = m != NULL &&
                  memcmp(m->origin.b, s->o.node->self.origin.b, OBJECT_ID_BYTES) == 0;
    p->is_join = tls_is_join(c->ssl);
    if (p->is_join) {
        return true;
    }
    row = m != NULL ? peer_server_peer_row(s, &m->origin, &at) : NULL;
    if (row == NULL) {
        return false;
    }
    p->is_member = true;
    p->origin = m->origin;
    p->asker = m->origin;
    p->epoch = s->o.node->epoch;
    row->conns++;
    row->seen_ms = clock_wall_us() / 1000;
    c->is_known = true;
    rate_limit_know(s->limit, (const struct sockaddr *)&c->from, clock_mono_us());
    if (row->conns > (p->is_proxy ? PEER_SERVER_PROXY_CONNS : PEER_SERVER_PEER_CONNS)) {
        bound_peer(s, c);
    }
    return true;
}

static void on_closed(struct http_conn *c)
{
    struct peer_server *s = c->context;
    const struct peer_conn *p = (void *)c->owners;
    unsigned at = 0;

    if (p->is_member && peer_server_peer_row(s, &p->origin, &at) != NULL) {
        s->peers[at].conns--;
    }
    s->stats.held -= p->is_held ? 1 : 0;
}

const struct http_hooks peer_conn_hooks = {.admit = on_admit,
                                           .greet = on_greet,
                                           .handshake_failed = on_handshake_failed,
                                           .head = on_head,
                                           .refuse = on_refuse,
                                           .answer = on_answer,
                                           .closed = on_closed};
