#include "core/hub/exchange/peer_server.h"

#include <event2/util.h>
#include <netdb.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/exchange/peer_server_internal.h"

enum { BACKLOG = 128 };

/* ---- rows of peers ---- */

struct peer_server_peer *peer_server_peer_row(struct peer_server *s,
                                              const struct object_id *origin,
                                              unsigned *retindex)
{
    for (unsigned i = 0; i < s->npeers; i++) {
        if (memcmp(s->peers[i].origin.b, origin->b, OBJECT_ID_BYTES) == 0) {
            *retindex = i;
            return &s->peers[i];
        }
    }
    if (s->npeers == MANIFEST_MEMBERS_MAX) {
        return NULL;
    }
    *retindex = s->npeers;
    s->peers[s->npeers] = (struct peer_server_peer){.origin = *origin};
    return &s->peers[s->npeers++];
}

const struct peer_server_peer *peer_server_peer(const struct peer_server *s,
                                                const struct object_id *origin)
{
    for (unsigned i = 0; i < s->npeers; i++) {
        if (memcmp(s->peers[i].origin.b, origin->b, OBJECT_ID_BYTES) == 0) {
            return &s->peers[i];
        }
    }
    return NULL;
}

const struct peer_server_stats *peer_server_stats(const struct peer_server *s)
{
    return &s->stats;
}

void peer_server_set_rate(struct peer_server *s, uint64_t bytes_per_s)
{
    s->o.bytes_per_s = bytes_per_s;
}

/* ---- connections ---- */

/* Makes room: of those whose handshake is not done the oldest gives way. */
static bool has_room(struct peer_server *s)
{
    struct conn *oldest = NULL;
    unsigned strangers = 0;

    for (unsigned i = 0; i < s->stats.open; i++) {
        struct conn *c = s->conns[i];

        if (c->state == CONN_HANDSHAKE || c->is_join) {
            strangers++;
            if (oldest == NULL || c->since_us < oldest->since_us) {
                oldest = c;
            }
        }
    }
    if (strangers < PEER_SERVER_STRANGERS_MAX &&
        s->stats.open < PEER_SERVER_CONNS_MAX) {
        return true;
    }
    if (oldest == NULL) {
        return false;
    }
    s->stats.evicted++;
    conn_close(oldest);
    return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from, int from_len, void *context)
{
    struct peer_server *s = context;

    (void)listener;
    s->stats.accepted++;
    if (s->tls == NULL || !rate_limit_admit(s->limit, from, clock_mono_us()) ||
        !has_room(s)) {
        s->stats.refused_address++;
        evutil_closesocket(fd);
        return;
    }
    conn_open(s, fd, from, from_len);
}

/* Without descriptors libevent would spin: rest until the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
    static struct clock_pace pace;
    int error = EVUTIL_SOCKET_ERROR();

    (void)context;
    if (clock_take_turn(&pace, 60 * 1000000ULL)) {
        log_error("event=accept error=\"%s\": peers cannot connect; raise LimitNOFILE",
                  evutil_socket_error_to_string(error));
    }
    (void)evconnlistener_disable(listener);
}

void peer_server_drop_all(struct peer_server *s)
{
    while (s->stats.open > 0) {
        conn_close(s->conns[s->stats.open - 1]);
    }
}

void peer_server_wake(struct peer_server *s)
{
    uint64_t now = clock_mono_us();

    for (unsigned i = 0; i < s->stats.open; i++) {
        conn_wake(s->conns[i], now);
    }
}

void peer_server_tick(struct peer_server *s)
{
    uint64_t now = clock_mono_us();

    for (unsigned i = s->stats.open; i > 0; i--) {
        struct conn *c = s->conns[i - 1];

        if (c->state == CONN_HELD) {
            conn_wake(c, now);
        } else if (c->deadline_us <= now) {
            s->stats.timeouts++;
            conn_close(c); /* puts the last one in its place, which was looked at */
        }
    }
    for (size_t i = 0; i < LENGTH(s->listeners); i++) {
        if (s->listeners[i] != NULL) {
            (void)evconnlistener_enable(s->listeners[i]);
        }
    }
}

/* ---- up and down ---- */

enum err peer_server_new(const struct peer_server_options *options,
                         struct peer_server **ret, struct errinfo *reterr)
{
    struct peer_server *s = calloc(1, sizeof(*s));

    if (s != NULL) {
        s->limit = rate_limit_new();
    }
    if (s == NULL || s->limit == NULL) {
        free(s);
        return errinfo_set(reterr, ERR_NOMEM, "server", 0, "out of memory");
    }
    s->o = *options;
    s->pins = (struct tls_pins){.node = options->node, .may_join = options->may_join};
    *ret = s;
    return ERR_OK;
}

void peer_server_unlisten(struct peer_server *s)
{
    for (size_t i = 0; i < LENGTH(s->listeners); i++) {
        if (s->listeners[i] != NULL) {
            evconnlistener_free(s->listeners[i]);
            s->listeners[i] = NULL;
        }
    }
}

void peer_server_free(struct peer_server **s)
{
    if (*s == NULL) {
        return;
    }
    peer_server_unlisten(*s);
    peer_server_drop_all(*s);
    SSL_CTX_free((*s)->tls);
    rate_limit_free(&(*s)->limit);
    free(*s);
    *s = NULL;
}

bool peer_server_is_listening(const struct peer_server *s)
{
    return s->listeners[0] != NULL;
}

static struct evconnlistener *bind_to(struct peer_server *s, const struct sockaddr *to,
                                      socklen_t len)
{
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    struct evconnlistener *l =
        evconnlistener_new_bind(s->o.base, on_accept, s, flags, BACKLOG, to, (int)len);

    if (l != NULL) {
        evconnlistener_set_error_cb(l, on_accept_error);
    }
    return l;
}

static enum err bind_all(struct peer_server *s, unsigned port)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    /* [::] takes IPv4 too unless the system says otherwise (net.ipv6.bindv6only); then the second is needed */
    s->listeners[0] = bind_to(s, (const struct sockaddr *)&in6, sizeof(in6));
    s->listeners[1] = bind_to(s, (const struct sockaddr *)&in, sizeof(in));
    if (s->listeners[0] == NULL) {
        s->listeners[0] = s->listeners[1];
        s->listeners[1] = NULL;
    }
    return s->listeners[0] != NULL ? ERR_OK : ERR_IO;
}

enum err peer_server_listen(struct peer_server *s, const char *address, bool is_lenient,
                            struct errinfo *reterr)
{
    char host[HTTP_ADDRESS_MAX];
    char service[8];
    unsigned port = 0;
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int e = 0;

    if (!http_address_split(slice_str(address), host, &port)) {
        return errinfo_set(reterr, ERR_SYNTAX, address, 0,
                           "this is no HOST:PORT to listen on; correct hub.listen");
    }
    (void)snprintf(service, sizeof(service), "%u", port);
    e = getaddrinfo(host, service, &hints, &found);
    if (e == 0) {
        s->listeners[0] = bind_to(s, found->ai_addr, found->ai_addrlen);
        e = s->listeners[0] != NULL ? 0 : errno;
        freeaddrinfo(found);
    } else {
        e = EADDRNOTAVAIL;
    }
    if (e == EADDRNOTAVAIL && is_lenient && bind_all(s, port) == ERR_OK) {
        return ERR_OK;
    }
    return e == 0 ? ERR_OK
                  : errinfo_set(reterr, err_of_errno(e), address, 0,
                                "cannot listen there: %s; correct hub.listen, or stop "
                                "what has the port",
                                strerrordesc_np(e));
}

enum err peer_server_renew(struct peer_server *s, struct errinfo *reterr)
{
    SSL_CTX *fresh = NULL;
    enum err e = tls_server_new(s->o.node->dir, &s->pins, &fresh, reterr);

    if (e != ERR_OK) {
        return e;
    }
    SSL_CTX_free(s->tls);
    s->tls = fresh;
    for (unsigned i = s->stats.open; i > 0; i--) {
        struct conn *c = s->conns[i - 1];

        if (c->state != CONN_HANDSHAKE && !c->is_join) {
            const struct manifest_member *m =
                manifest_find(&s->o.node->manifest, &c->origin);

            if (m == NULL || m->state != MEMBER_ACTIVE) {
                conn_close(c);
            }
        }
    }
    peer_server_wake(s);
    return ERR_OK;
}
