#include "core/hub/http/http_server.h"

#include <event2/util.h>
#include <netinet/in.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/http/http_internal.h"
#include "core/hub/http/http_syntax.h"
#include "core/hub/socket/socket_io.h"

enum { BACKLOG = 1024 };

/* ---- connections come ---- */

static bool may_go(const struct http_conn *c)
{
    return !c->is_known ||
           (!c->server->o.knows_by_greeting &&
            (c->state == HTTP_CONN_HEAD || c->state == HTTP_CONN_DRAIN));
}

/* Strangers before others, the oldest first; of the others the one whose time ends first. */
static bool goes_before(const struct http_conn *a, const struct http_conn *b)
{
    if (a->is_known != b->is_known) {
        return b->is_known;
    }
    return a->is_known ? a->deadline_us < b->deadline_us : a->since_us < b->since_us;
}

/* Evicts a connection if there are too many. */
static bool has_room_for_conn(struct http_server *s)
{
    struct http_conn *first = NULL;
    unsigned strangers = 0;

    if (s->nconns < s->o.most && s->nconns < s->o.most_strangers) {
        return true;
    }
    for (unsigned i = 0; i < s->nconns; i++) {
        struct http_conn *c = s->conns[i];

        strangers += c->is_known ? 0 : 1;
        if (may_go(c) && (first == NULL || goes_before(c, first))) {
            first = c;
        }
    }
    if (s->nconns < s->o.most && strangers < s->o.most_strangers) {
        return true;
    }
    if (first == NULL) {
        return false;
    }
    http_count(&s->evicted, 1);
    http_conn_close(first);
    return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from, int from_len, void *context)
{
    struct http_server *s = context;

    (void)listener;
    http_count(&s->accepted, 1);
    if ((s->o.hooks->admit != NULL && !s->o.hooks->admit(s->o.context, from)) ||
        !has_room_for_conn(s)) {
        http_count(&s->refused, 1);
        evutil_closesocket(fd);
        return;
    }
    http_conn_open(s, fd, from, from_len);
}

/* Without descriptors libevent would spin: rest until the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
    static struct clock_pace pace;
    const struct http_server *s = context;
    int error = EVUTIL_SOCKET_ERROR();

    if (clock_take_turn(&pace, 60 * 1000000ULL)) {
        log_error("event=accept error=\"%s\": %s cannot connect; raise LimitNOFILE",
                  evutil_socket_error_to_string(error), s->o.clients);
    }
    (void)evconnlistener_disable(listener);
}

/* ---- listening ---- */

enum err http_address_find(const char *address, struct addrinfo **ret,
                           unsigned *retport)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    char host[HTTP_ADDRESS_MAX];
    char service[16];

    if (!http_address_split(slice_str(address), host, retport)) {
        return ERR_SYNTAX;
    }
    (void)snprintf(service, sizeof(service), "%u", *retport);
    return getaddrinfo(host, service, &hints, ret) == 0 ? ERR_OK : ERR_NOT_FOUND;
}

int http_listen(const struct sockaddr *to, socklen_t len, unsigned flags)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        ((flags & HTTP_BIND_SHARED) != 0 &&
         setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) != 0) ||
        ((flags & HTTP_BIND_V6_ONLY) != 0 && to->sa_family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) != 0) ||
        bind(fd, to, len) != 0 || listen(fd, BACKLOG) != 0) {
        int error = errno;

        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

enum err http_server_listen(struct http_server *s, int fd)
{
    struct evconnlistener *l =
        s->nlisteners < HTTP_LISTENERS_MAX
            ? evconnlistener_new(s->o.base, on_accept, s,
                                 LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd)
            : NULL;

    if (l == NULL) {
        (void)close(fd);
        return ERR_NOMEM;
    }
    evconnlistener_set_error_cb(l, on_accept_error);
    s->listeners[s->nlisteners++] = l;
    return ERR_OK;
}

void http_server_unlisten(struct http_server *s)
{
    while (s->nlisteners > 0) {
        evconnlistener_free(s->listeners[--s->nlisteners]);
    }
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *outlen,
                           const unsigned char *in, unsigned inlen, void *context)
{
    static const unsigned char ours[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    unsigned char *chosen = NULL;

    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&chosen, outlen, ours, sizeof(ours), in, inlen) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

SSL_CTX *http_tls_new(int version)
{
    SSL_CTX *tls = socket_tls_new(TLS_server_method(), version);

    if (tls != NULL) {
        SSL_CTX_set_alpn_select_cb(tls, choose_protocol, NULL);
    }
    return tls;
}

void http_server_set_tls(struct http_server *s, SSL_CTX *tls)
{
    if (tls != NULL) {
        (void)SSL_CTX_up_ref(tls);
    }
    SSL_CTX_free(s->tls);
    s->tls = tls;
}

/* ---- up and down ---- */

enum err http_server_new(const struct http_server_options *options,
                         struct http_server **ret)
{
    struct http_server *s = calloc(1, sizeof(*s));

    *ret = s;
    if (s == NULL) {
        return ERR_NOMEM;
    }
    s->o = *options;
    s->conns = calloc(s->o.most, sizeof(struct http_conn *));
    return s->conns != NULL ? ERR_OK : ERR_NOMEM;
}

void http_server_drop(struct http_server *s)
{
    for (unsigned i = s->nconns; i > 0; i--) {
        http_conn_close(s->conns[i - 1]);
    }
}

void http_server_free(struct http_server **s)
{
    struct http_server *x = *s;

    if (x == NULL) {
        return;
    }
    http_server_drop(x);
    http_server_unlisten(x);
    SSL_CTX_free(x->tls);
    free(x->conns);
    free(x);
    *s = NULL;
}

void http_server_tick(struct http_server *s)
{
    uint64_t now_us = clock_mono_us();

    for (unsigned i = s->nconns; i > 0; i--) {
        http_conn_tick(s->conns[i - 1], now_us);
    }
    for (unsigned i = 0; i < s->nlisteners; i++) {
        (void)evconnlistener_enable(s->listeners[i]);
    }
}

uint64_t http_server_lag_us(const struct http_server *s)
{
    struct timeval cached;
    struct timeval now;

    if (event_base_gettimeofday_cached(s->o.base, &cached) != 0 ||
        evutil_gettimeofday(&now, NULL) != 0) {
        return 0;
    }
    int64_t us = (int64_t)(now.tv_sec - cached.tv_sec) * 1000000 +
                 (int64_t)(now.tv_usec - cached.tv_usec);
    return us > 0 ? (uint64_t)us : 0; /* the clock may have been set */
}

void http_server_numbers(const struct http_server *s, struct http_server_numbers *ret)
{
    ret->accepted += atomic_load_explicit(&s->accepted, memory_order_relaxed);
    ret->refused += atomic_load_explicit(&s->refused, memory_order_relaxed);
    ret->evicted += atomic_load_explicit(&s->evicted, memory_order_relaxed);
    ret->timeouts += atomic_load_explicit(&s->timeouts, memory_order_relaxed);
    ret->bytes_in += atomic_load_explicit(&s->bytes_in, memory_order_relaxed);
    ret->bytes_out += atomic_load_explicit(&s->bytes_out, memory_order_relaxed);
    ret->open += atomic_load_explicit(&s->open, memory_order_relaxed);
}
