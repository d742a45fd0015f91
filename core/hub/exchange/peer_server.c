#include "core/hub/exchange/peer_server.h"

#include <netinet/in.h>

#include "core/base/clock.h"
#include "core/hub/exchange/peer_server_internal.h"

/* ---- rows of peers ---- */

/* npeers: it has no row. */
static unsigned find_peer_row(const struct peer_server *s,
                              const struct object_id *origin)
{
    unsigned i = 0;

    while (i < s->npeers &&
           memcmp(s->peers[i].origin.b, origin->b, OBJECT_ID_BYTES) != 0) {
        i++;
    }
    return i;
}

struct peer_server_peer *peer_server_peer_row(struct peer_server *s,
                                              const struct object_id *origin,
                                              unsigned *retindex)
{
    unsigned i = find_peer_row(s, origin);

    *retindex = i;
    if (i == MANIFEST_MEMBERS_MAX) {
        return NULL;
    }
    if (i == s->npeers) {
        s->peers[s->npeers++] = (struct peer_server_peer){.origin = *origin};
    }
    return &s->peers[i];
}

const struct peer_server_peer *peer_server_peer(const struct peer_server *s,
                                                const struct object_id *origin)
{
    unsigned i = find_peer_row(s, origin);

    return i < s->npeers ? &s->peers[i] : NULL;
}

const struct peer_server_stats *peer_server_stats(struct peer_server *s)
{
    s->stats.http = (struct http_server_numbers){0};
    http_server_numbers(s->http, &s->stats.http);
    return &s->stats;
}

void peer_server_set_rate(struct peer_server *s, uint64_t bytes_per_s)
{
    s->o.bytes_per_s = bytes_per_s;
}

/* ---- connections ---- */

void peer_server_drop_all(struct peer_server *s)
{
    http_server_drop(s->http);
}

void peer_server_wake(struct peer_server *s)
{
    uint64_t now_us = clock_mono_us();

    for (unsigned i = 0; i < s->http->nconns; i++) {
        peer_conn_wake(s->http->conns[i], now_us);
    }
}

void peer_server_tick(struct peer_server *s)
{
    peer_server_wake(s);
    http_server_tick(s->http);
}

/* ---- up and down ---- */

enum err peer_server_new(const struct peer_server_options *options,
                         struct peer_server **ret, struct errinfo *reterr)
{
    struct peer_server *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, "server", 0, "out of memory");
    }
    s->o = *options;
    s->pins = (struct tls_pins){.node = options->node, .may_join = options->may_join};
    s->limit = rate_limit_new();
    if (http_server_new(
            &(struct http_server_options){.base = options->base,
                                          .hooks = &peer_conn_hooks,
                                          .context = s,
                                          .clients = "peers",
                                          .conn_bytes = sizeof(struct peer_conn),
                                          .most = PEER_SERVER_CONNS_MAX,
                                          .most_strangers = PEER_SERVER_STRANGERS_MAX,
                                          .knows_by_greeting = true,
                                          .body_s = PEER_SERVER_BODY_S,
                                          .memory = &s->memory},
            &s->http) != ERR_OK ||
        s->limit == NULL) {
        peer_server_free(&s);
        return errinfo_set(reterr, ERR_NOMEM, "server", 0, "out of memory");
    }
    *ret = s;
    return ERR_OK;
}

void peer_server_unlisten(struct peer_server *s)
{
    http_server_unlisten(s->http);
    s->is_listening = false;
}

void peer_server_free(struct peer_server **s)
{
    if (*s == NULL) {
        return;
    }
    http_server_free(&(*s)->http);
    rate_limit_free(&(*s)->limit);
    free(*s);
    *s = NULL;
}

bool peer_server_is_listening(const struct peer_server *s)
{
    return s->is_listening;
}

/* 0, or errno. */
static int listen_to(struct peer_server *s, const struct sockaddr *to, socklen_t len)
{
    int fd = http_listen(to, len, 0);

    if (fd < 0) {
        return errno;
    }
    if (http_server_listen(s->http, fd) != ERR_OK) {
        return ENOMEM;
    }
    s->is_listening = true;
    return 0;
}

static void listen_to_all(struct peer_server *s, unsigned port)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    /* [::] takes IPv4 too unless the system says otherwise (net.ipv6.bindv6only); then the second
     * is needed */
    (void)listen_to(s, (const struct sockaddr *)&in6, sizeof(in6));
    (void)listen_to(s, (const struct sockaddr *)&in, sizeof(in));
}

enum err peer_server_listen(struct peer_server *s, const char *address, bool is_lenient,
                            struct errinfo *reterr)
{
    struct addrinfo *found = NULL;
    unsigned port = 0;
    int error = EADDRNOTAVAIL;

    switch (http_address_find(address, &found, &port)) {
    case ERR_SYNTAX:
        return errinfo_set(reterr, ERR_SYNTAX, address, 0,
                           "this is no HOST:PORT to listen on; correct hub.listen");
    case ERR_OK:
        error = listen_to(s, found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
        break;
    default:
        break;
    }
    if (error == EADDRNOTAVAIL && is_lenient) {
        listen_to_all(s, port);
    }
    return s->is_listening ? ERR_OK
                           : errinfo_set(reterr, err_of_errno(error), address, 0,
                                         "cannot listen there: %s; correct hub.listen, "
                                         "or stop what has the port",
                                         strerrordesc_np(error));
}

enum err peer_server_renew(struct peer_server *s, struct errinfo *reterr)
{
    SSL_CTX *fresh = NULL;
    enum err e = tls_server_new(s->o.node->dir, &s->pins, &fresh, reterr);

    if (e != ERR_OK) {
        return e;
    }
    http_server_set_tls(s->http, fresh);
    SSL_CTX_free(fresh);
    s->has_tls = true;
    for (unsigned i = s->http->nconns; i > 0; i--) {
        struct http_conn *c = s->http->conns[i - 1];
        const struct peer_conn *p = (void *)c->owners;
        const struct manifest_member *m =
            p->is_member ? manifest_find(&s->o.node->manifest, &p->origin) : NULL;

        if (p->is_member && (m == NULL || m->state != MEMBER_ACTIVE)) {
            http_conn_close(c);
        }
    }
    peer_server_wake(s);
    return ERR_OK;
}
