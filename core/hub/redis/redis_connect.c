/* redis_connect - the way to a server: lookup, connection, TLS, login. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/hub/redis/redis_internal.h"
#include "core/hub/socket/socket_io.h"

/* ---- addresses ---- */

bool redis_host_is_plain(struct slice host)
{
    for (size_t i = 0; i < host.n; i++) {
        const char c = host.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
              (c >= 'a' && c <= 'z') || (c != '\0' && strchr("-._:%", c) != NULL))) {
            return false;
        }
    }
    return host.n > 0 && host.n < REDIS_TEXT_MAX;
}

bool redis_address_split(struct slice address, struct slice *rethost, unsigned *retport)
{
    enum { DECIMAL = 10 };
    struct slice host;
    uint64_t port = 0;
    size_t end = address.n;

    if (address.n > 0 && address.p[0] == '/') {
        *rethost = address;
        *retport = 0;
        return address.n < sizeof(((struct sockaddr_un *)NULL)->sun_path) &&
               slice_find(address, '\0') == address.n;
    }
    while (end > 0 && address.p[end - 1] != ':') {
        end--;
    }
    host = slice_head(address, end > 0 ? end - 1 : 0);
    if (host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
        host = slice_of(host.p + 1, host.n - 2);
    }
    if (end == 0 || (host.n > 0 && !redis_host_is_plain(host)) ||
        !slice_to_u64(slice_from(address, end), DECIMAL, UINT16_MAX, &port) ||
        port == 0) {
        return false;
    }
    *rethost = host;
    *retport = (unsigned)port;
    return true;
}

static bool is_unix(const struct redis_node *n)
{
    return n->host[0] == '/';
}

/* ---- login ---- */

bool redis_node_is_sentinel(const struct redis_node *n)
{
    return n->client->kind == REDIS_SENTINEL && n->is_seed;
}

static void say_hello(struct redis_node *n)
{
    const struct redis_secret *login =
        redis_node_is_sentinel(n) ? &n->client->sentinel_login : &n->client->login;
    const struct slice args[] = {SLICE_LIT("HELLO"), SLICE_LIT("3"), SLICE_LIT("AUTH"),
                                 slice_str(login->user), slice_str(login->password)};

    n->state = REDIS_NODE_HELLO;
    resp_add_command(&n->out, args, *login->password != '\0' ? LENGTH(args) : 2);
    redis_node_send(n);
}

static bool is_login_fault(struct slice error)
{
    static const char *const codes[] = {"NOAUTH", "WRONGPASS", "NOPERM", "DENIED",
                                        "ERR AUTH"};

    for (size_t i = 0; i < LENGTH(codes); i++) {
        if (slice_has_prefix(error, slice_str(codes[i]))) {
            return true;
        }
    }
    return false;
}

void redis_connect_hello(struct redis_node *n)
{
    static const char *const modes[] = {[REDIS_SINGLE] = "standalone",
                                        [REDIS_SENTINEL] = "standalone",
                                        [REDIS_CLUSTER] = "cluster"};
    struct redis *r = n->client;
    const char *want = redis_node_is_sentinel(n) ? "sentinel" : modes[r->kind];
    const struct slice error = resp_text(&n->reply, 0);
    enum redis_fault fault = REDIS_FAULT_NONE;

    if (n->reply.nodes[0].kind != RESP_MAP) {
        fault = is_login_fault(error) ? REDIS_FAULT_LOGIN : REDIS_FAULT_PROTOCOL;
        redis_note(r, fault, "%s:%u refuses HELLO: %.*s", n->host, n->port,
                   (int)(error.n < REDIS_TEXT_MAX ? error.n : REDIS_TEXT_MAX), error.p);
    } else {
        const size_t mode_at = resp_value(&n->reply, 0, "mode");
        const size_t role_at = resp_value(&n->reply, 0, "role");
        const struct slice mode = resp_text(&n->reply, mode_at);

        if (mode_at == 0 || !slice_eq(mode, slice_str(want))) {
            fault = REDIS_FAULT_TOPOLOGY;
            redis_note(r, fault, "%s:%u is not of the kind \"%s\"", n->host, n->port,
                       want);
        } else if (r->kind == REDIS_SENTINEL && !redis_node_is_sentinel(n) &&
                   (role_at == 0 ||
                    !slice_eq(resp_text(&n->reply, role_at), SLICE_LIT("master")))) {
            fault = REDIS_FAULT_TOPOLOGY;
            redis_note(r, fault, "%s:%u is no master", n->host, n->port);
        }
    }
    if (fault != REDIS_FAULT_NONE) {
        redis_node_fail(n, fault);
        return;
    }
    n->state = REDIS_NODE_READY;
    (void)event_add(n->writes, NULL);
}

/* ---- connecting ---- */

static void shake_hands(struct redis_node *n)
{
    const enum socket_result result = socket_handshake(n->ssl);
    const long verified = SSL_get_verify_result(n->ssl);

    if (result == SOCKET_OK) {
        say_hello(n);
    } else if (result == SOCKET_WRITES) {
        (void)event_add(n->writes, NULL);
    } else if (result == SOCKET_END) {
        redis_note(n->client, REDIS_FAULT_TLS, "%s:%u: TLS failed: %s", n->host,
                   n->port,
                   verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                                         : "no handshake");
        redis_node_fail(n, REDIS_FAULT_TLS);
    }
}

/* The certificate must have this name or address. */
static bool set_name(SSL *ssl, char *name)
{
    struct in6_addr any;

    if (inet_pton(AF_INET, name, &any) == 1 || inet_pton(AF_INET6, name, &any) == 1) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    }
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static void begin_talk(struct redis_node *n)
{
    char *name = *n->client->name != '\0' ? n->client->name : n->host;

    if (n->client->tls == NULL || is_unix(n)) {
        say_hello(n);
        return;
    }
    n->state = REDIS_NODE_HANDSHAKE;
    n->ssl = SSL_new(n->client->tls);
    if (n->ssl == NULL || SSL_set_fd(n->ssl, n->fd) != 1 || !set_name(n->ssl, name)) {
        redis_note(n->client, REDIS_FAULT_TLS, "no memory for TLS");
        redis_node_fail(n, REDIS_FAULT_TLS);
        return;
    }
    SSL_set_connect_state(n->ssl);
    shake_hands(n);
}

/* False: errno says why. */
static bool open_socket(struct redis_node *n, const struct sockaddr *to, socklen_t len)
{
    const int on = 1;

    n->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (n->fd < 0) {
        return false;
    }
    if (to->sa_family != AF_UNIX) {
        (void)setsockopt(n->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    if (connect(n->fd, to, len) != 0 && errno != EINPROGRESS) {
        return false;
    }
    if (!redis_node_watch(n)) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

static void connect_next(struct redis_node *n)
{
    struct errinfo info;

    n->state = REDIS_NODE_CONNECTING;
    redis_node_close_socket(n);
    while (n->next_address != NULL) {
        const struct addrinfo *to = n->next_address;

        n->next_address = to->ai_next;
        if (open_socket(n, to->ai_addr, to->ai_addrlen)) {
            return;
        }
        redis_node_close_socket(n);
    }
    (void)errinfo_errno(&info, n->host, "no connection");
    redis_note(n->client, REDIS_FAULT_CONNECT, "%s:%u: %s", n->host, n->port,
               info.text);
    redis_node_fail(n, REDIS_FAULT_CONNECT);
}

static void end_connecting(struct redis_node *n)
{
    int error = 0;
    socklen_t len = sizeof(error);

    if (getsockopt(n->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0) {
        error = errno;
    }
    if (error == 0) {
        begin_talk(n);
        return;
    }
    errno = error;
    connect_next(n);
}

static void connect_unix(struct redis_node *n)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct errinfo info;

    n->state = REDIS_NODE_CONNECTING;
    n->next_address = NULL;
    memcpy(to.sun_path, n->host, strnlen(n->host, sizeof(to.sun_path) - 1));
    if (!open_socket(n, (const struct sockaddr *)&to, sizeof(to))) {
        (void)errinfo_errno(&info, n->host, "no connection");
        redis_note(n->client, REDIS_FAULT_CONNECT, "%s: %s", n->host, info.text);
        redis_node_fail(n, REDIS_FAULT_CONNECT);
    }
}

static void end_lookup(struct redis_node *n)
{
    const char *why = "no memory";

    if (n->lookup != NULL && !redis_lookup_is_done(n->lookup, &n->next_address, &why)) {
        return; /* the tick asks again */
    }
    if (n->lookup == NULL || n->next_address == NULL) {
        redis_lookup_drop(&n->lookup);
        redis_note(n->client, REDIS_FAULT_NAME, "%s: %s", n->host, why);
        redis_node_fail(n, REDIS_FAULT_NAME);
        return;
    }
    connect_next(n);
}

void redis_connect_begin(struct redis_node *n)
{
    buf_init(&n->out, SIZE_MAX); /* REDIS_BYTES_MAX bounds the calls */
    resp_init(&n->reply);
    n->progress_us = clock_mono_us();
    if (is_unix(n)) {
        connect_unix(n);
        return;
    }
    n->state = REDIS_NODE_LOOKUP;
    n->next_address = NULL;
    if (n->lookup == NULL) {
        n->lookup = redis_lookup_new(n->host, n->port);
    }
    end_lookup(n);
}

enum redis_fault redis_connect_late_fault(const struct redis_node *n)
{
    switch (n->state) {
    case REDIS_NODE_LOOKUP:
        return REDIS_FAULT_NAME;
    case REDIS_NODE_CONNECTING:
        return REDIS_FAULT_CONNECT;
    case REDIS_NODE_HANDSHAKE:
        return REDIS_FAULT_TLS;
    default:
        return REDIS_FAULT_TIMEOUT;
    }
}

void redis_connect_step(struct redis_node *n)
{
    switch (n->state) {
    case REDIS_NODE_LOOKUP:
        end_lookup(n);
        break;
    case REDIS_NODE_CONNECTING:
        end_connecting(n);
        break;
    default:
        shake_hands(n);
        break;
    }
}
