#include "core/hub/api/api.h"

#include <event2/util.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_internal.h"
#include "core/hub/http/http_syntax.h"
#include "core/list/query.h"

enum { BACKLOG = 1024, TICK_MS = 250, CALL_ARENA = 64 << 20, LISTENERS_MAX = 32 };

/* ---- connections come ---- */

/* Makes room: who has not asked anything whole yet gives way, the one that ends first. */
static bool has_room(struct api_thread *t)
{
    struct api_conn *first = NULL;

    if (t->nconns < t->most_conns) {
        return true;
    }
    for (unsigned i = 0; i < t->nconns; i++) {
        struct api_conn *c = t->conns[i];
        bool may_go = c->state == API_CONN_HEAD || c->state == API_CONN_DRAIN ||
                      (c->state == API_CONN_BODY && !c->has_asked);

        if (may_go && (first == NULL || c->has_asked < first->has_asked ||
                       (c->has_asked == first->has_asked &&
                        c->deadline_us < first->deadline_us))) {
            first = c;
        }
    }
    if (first == NULL) {
        return false;
    }
    atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
    api_conn_close(first);
    return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from, int from_len, void *context)
{
    struct api_thread *t = context;
    struct sockaddr_storage own = {.ss_family = AF_UNSPEC};
    socklen_t n = sizeof(own);

    atomic_fetch_add_explicit(&t->accepted, 1, memory_order_relaxed);
    if (!has_room(t) || getsockname(evconnlistener_get_fd(listener),
                                    (struct sockaddr *)&own, &n) != 0) {
        atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
        evutil_closesocket(fd);
        return;
    }
    api_conn_open(t, fd, from, from_len, own.ss_family == AF_UNIX);
}

/* Without descriptors libevent would spin: rest until the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
    static struct clock_pace pace;
    int error = EVUTIL_SOCKET_ERROR();

    (void)context;
    if (clock_take_turn(&pace, 60 * 1000000ULL)) {
        log_error("event=accept error=\"%s\": clients of the API cannot connect; raise "
                  "LimitNOFILE",
                  evutil_socket_error_to_string(error));
    }
    (void)evconnlistener_disable(listener);
}

/* ---- listening ---- */

static enum err add_listener(struct api_thread *t, int fd)
{
    struct evconnlistener *l = evconnlistener_new(
        t->base, on_accept, t, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);

    if (l == NULL) {
        (void)close(fd);
        return ERR_NOMEM;
    }
    evconnlistener_set_error_cb(l, on_accept_error);
    t->listeners[t->nlisteners++] = l;
    return ERR_OK;
}

/* A listening socket of that address, of which each thread has one. */
static int listen_tcp(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
        (at->ai_family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) != 0) ||
        bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int error = errno;

        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Another process of this user could take a share of our connections: the first of us binds alone. */
static bool is_taken(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    bool taken = fd >= 0 &&
                 setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
                 bind(fd, at->ai_addr, at->ai_addrlen) != 0;
    int error = errno;

    if (fd >= 0) {
        (void)close(fd);
    }
    errno = error;
    return taken;
}

static enum err open_tcp(struct api *a, const char *address, struct errinfo *reterr)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *at = NULL;
    char host[HTTP_ADDRESS_MAX];
    char service[16];
    unsigned port = 0;
    enum err e = ERR_OK;

    if (!http_address_split(slice_str(address), host, &port)) {
        return errinfo_set(reterr, ERR_SYNTAX, address, 0, "not of the form HOST:PORT");
    }
    (void)snprintf(service, sizeof(service), "%u", port);
    if (getaddrinfo(host, service, &hints, &at) != 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, address, 0,
                           "the host of api.listen has no address");
    }
    if (is_taken(at)) {
        e = errinfo_errno(reterr, address, "the API cannot listen there");
    }
    for (unsigned i = 0; e == ERR_OK && i < a->nthreads; i++) {
        int fd = listen_tcp(at);

        e = fd >= 0 ? add_listener(&a->threads[i], fd)
                    : errinfo_errno(reterr, address, "the API cannot listen there");
    }
    freeaddrinfo(at);
    return e;
}

static enum err open_unix(struct api *a, const char *path, struct errinfo *reterr)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct stat st;
    int fd = -1;
    enum err e = ERR_OK;

    if (strlen(path) >= sizeof(un.sun_path)) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "the path of a socket is too long");
    }
    memcpy(un.sun_path, path, strlen(path));
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
        (void)unlink(
            path); /* of a former hub: the control socket keeps two from running */
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0117); /* 0660 from the first moment on */
    int bound = fd >= 0 ? bind(fd, (struct sockaddr *)&un, sizeof(un)) : -1;

    (void)umask(mask);
    if (bound != 0 || listen(fd, BACKLOG) != 0) {
        e = errinfo_errno(reterr, path, "the API cannot listen there");
    }
    for (unsigned i = 0; e == ERR_OK && i < a->nthreads; i++) {
        int copy = dup(fd);

        e = copy >= 0 ? add_listener(&a->threads[i], copy)
                      : errinfo_errno(reterr, path, "the API cannot listen there");
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return e;
}

static void say_open(const struct api *a, const char *address)
{
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    bool is_here = is_unix || strncmp(address, "127.", 4) == 0 ||
                   strncmp(address, "[::1]:", 6) == 0 ||
                   strncmp(address, "localhost:", 10) == 0;

    log_info("event=api listen=%s tls=%s", address,
             a->tls != NULL && !is_unix ? "yes" : "no");
    if (a->tls == NULL && !is_here) {
        log_warn(
            "event=api listen=%s: tokens and answers cross the network in clear "
            "text; set api.certificate and api.key, or put a proxy with TLS before "
            "it",
            address);
    }
}

static void open_listeners(struct api *a)
{
    for (size_t i = 0; i < a->config->api.listen.n && i < LISTENERS_MAX; i++) {
        const char *address = a->config->api.listen.v[i];
        struct errinfo why = {.text = ""};
        enum err e = strncmp(address, "unix:", 5) == 0 ? open_unix(a, address + 5, &why)
                                                       : open_tcp(a, address, &why);

        if (e != ERR_OK) {
            log_errinfo("api", &why);
        } else {
            say_open(a, address);
        }
    }
}

static enum err make_tls(struct api *a, struct errinfo *reterr)
{
    const struct config_api *c = &a->config->api;

    if (c->certificate[0] == '\0') {
        return ERR_OK;
    }
    a->tls = SSL_CTX_new(TLS_server_method());
    if (a->tls == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory");
    }
    SSL_CTX_set_options(a->tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(a->tls, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    if (SSL_CTX_set_min_proto_version(a->tls, TLS1_2_VERSION) != 1 ||
        SSL_CTX_use_certificate_chain_file(a->tls, c->certificate) != 1) {
        return errinfo_set(reterr, ERR_SYNTAX, c->certificate, 0,
                           "api.certificate cannot be read as a chain in PEM");
    }
    return SSL_CTX_use_PrivateKey_file(a->tls, c->key, SSL_FILETYPE_PEM) == 1 &&
                   SSL_CTX_check_private_key(a->tls) == 1
               ? ERR_OK
               : errinfo_set(
                     reterr, ERR_KEY, c->key, 0,
                     "api.key cannot be read, or is not that of api.certificate");
}

/* ---- threads ---- */

struct config *api_config(struct api *a)
{
    (void)pthread_mutex_lock(&a->mutex);
    struct config *c = config_acquire(a->config);

    (void)pthread_mutex_unlock(&a->mutex);
    return c;
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
    struct api_thread *t = context;
    uint64_t now_us = clock_mono_us();

    (void)fd;
    (void)what;
    for (unsigned i = t->nconns; i > 0; i--) {
        api_conn_tick(t->conns[i - 1], now_us);
    }
    for (unsigned i = 0; i < t->nlisteners; i++) {
        (void)evconnlistener_enable(t->listeners[i]);
    }
    if (t->generation != atomic_load(&t->api->generation)) {
        t->generation = atomic_load(&t->api->generation);
        config_release(&t->config);
        t->config = api_config(t->api);
    }
    api_tokens_look(t->api->tokens, t->config->api.tokens_file);
}

void api_thread_return(struct api_thread *t, struct api_work *w)
{
    uint64_t one = 1;

    (void)pthread_mutex_lock(&t->mutex);
    w->next = t->back;
    t->back = w;
    (void)pthread_mutex_unlock(&t->mutex);
    (void)!write(t->wake_fd, &one, sizeof(one));
}

static void on_wake(evutil_socket_t fd, short what, void *context)
{
    struct api_thread *t = context;
    uint64_t count;

    (void)what;
    (void)!read(fd, &count, sizeof(count));
    if (atomic_load(&t->api->stops)) {
        (void)event_base_loopbreak(t->base);
        return;
    }
    (void)pthread_mutex_lock(&t->mutex);
    struct api_work *w = t->back;

    t->back = NULL;
    (void)pthread_mutex_unlock(&t->mutex);
    while (w != NULL) {
        struct api_work *next = w->next;

        api_count(t, &w->call);
        if (w->conn != NULL) {
            api_conn_answered(w->conn, w);
        }
        api_work_free(w);
        w = next;
    }
}

static void *run(void *context)
{
    struct api_thread *t = context;

    (void)event_base_dispatch(t->base);
    return NULL;
}

static enum err thread_init(struct api *a, struct api_thread *t)
{
    static const struct timeval tick = {0, TICK_MS * 1000L};
    struct event_config *config = event_config_new();
    unsigned most = a->config->api.connections / a->nthreads;

    t->api = a;
    t->most_conns = most > 0 ? most : 1;
    t->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    t->conns = calloc(t->most_conns, sizeof(struct api_conn *));
    t->listeners = calloc(LISTENERS_MAX, sizeof(struct evconnlistener *));
    t->arena = arena_new(CALL_ARENA);
    t->ask = query_new();
    t->config = config_acquire(a->config);
    buf_init(&t->head, API_HEAD_MAX);
    if (config != NULL) { /* its own thread alone uses it */
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        t->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    if (t->base != NULL && t->wake_fd >= 0) {
        t->wake = event_new(t->base, t->wake_fd, EV_READ | EV_PERSIST, on_wake, t);
        t->tick = event_new(t->base, -1, EV_PERSIST, on_tick, t);
    }
    return pthread_mutex_init(&t->mutex, NULL) == 0 && t->conns != NULL &&
                   t->listeners != NULL && t->arena != NULL && t->ask != NULL &&
                   t->wake != NULL && t->tick != NULL &&
                   event_add(t->wake, NULL) == 0 && event_add(t->tick, &tick) == 0
               ? ERR_OK
               : ERR_NOMEM;
}

static void thread_fini(struct api_thread *t)
{
    while (t->nconns > 0) {
        api_conn_close(t->conns[t->nconns - 1]);
    }
    for (unsigned i = 0; i < t->nlisteners; i++) {
        evconnlistener_free(t->listeners[i]);
    }
    while (t->back != NULL) {
        struct api_work *w = t->back;

        t->back = w->next;
        api_work_free(w);
    }
    if (t->tick != NULL) {
        event_free(t->tick);
    }
    if (t->wake != NULL) {
        event_free(t->wake);
    }
    if (t->base != NULL) {
        event_base_free(t->base);
    }
    if (t->api != NULL && t->wake_fd >= 0) {
        (void)close(t->wake_fd);
    }
    free(t->conns);
    free(t->listeners);
    arena_free(&t->arena);
    query_free(&t->ask);
    buf_fini(&t->head);
    config_release(&t->config);
}

static unsigned threads_wanted(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1 ? 1 : cores > API_THREADS_MAX ? API_THREADS_MAX : (unsigned)cores;
}

static enum err start(struct api *a, struct errinfo *reterr)
{
    enum err e = make_tls(a, reterr);

    a->nthreads = threads_wanted();
    for (unsigned i = 0; e == ERR_OK && i < a->nthreads; i++) {
        e = thread_init(a, &a->threads[i]);
    }
    THEN(e, api_pool_new(a, &a->pool));
    if (e == ERR_OK) {
        api_tokens_look(a->tokens, a->config->api.tokens_file);
        open_listeners(a);
    }
    for (unsigned i = 0; e == ERR_OK && i < a->nthreads; i++) {
        struct api_thread *t = &a->threads[i];

        t->is_started = pthread_create(&t->thread, NULL, run, t) == 0;
        e = t->is_started ? ERR_OK : ERR_NOMEM;
    }
    return e == ERR_NOMEM ? errinfo_set(reterr, e, "", 0,
                                        "the threads of the API cannot be started")
                          : e;
}

enum err api_new(const struct api_options *options, struct api **ret,
                 struct errinfo *reterr)
{
    struct api *a = calloc(1, sizeof(*a));

    if (a == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory");
    }
    a->board = options->board;
    a->lists = options->lists;
    a->hooks = options->hooks;
    a->start_us = clock_mono_us();
    a->config = config_acquire(options->config);
    a->tokens = api_tokens_new();
    a->limit = rate_limit_new();
    (void)pthread_mutex_init(&a->mutex, NULL);
    enum err e = a->tokens != NULL && a->limit != NULL
                     ? start(a, reterr)
                     : errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory");

    if (e != ERR_OK) {
        api_free(&a);
    }
    *ret = a;
    return e;
}

static void remove_sockets(const struct config *config)
{
    for (size_t i = 0; i < config->api.listen.n; i++) {
        if (strncmp(config->api.listen.v[i], "unix:", 5) == 0) {
            (void)unlink(config->api.listen.v[i] + 5);
        }
    }
}

void api_free(struct api **a)
{
    struct api *x = *a;
    uint64_t one = 1;

    if (x == NULL) {
        return;
    }
    atomic_store(&x->stops, true);
    for (unsigned i = 0; i < x->nthreads; i++) {
        if (x->threads[i].is_started) {
            (void)!write(x->threads[i].wake_fd, &one, sizeof(one));
            (void)pthread_join(x->threads[i].thread, NULL);
        }
    }
    api_pool_free(&x->pool);
    for (unsigned i = 0; i < x->nthreads; i++) {
        thread_fini(&x->threads[i]);
    }
    remove_sockets(x->config);
    SSL_CTX_free(x->tls);
    api_tokens_free(&x->tokens);
    rate_limit_free(&x->limit);
    config_release(&x->config);
    (void)pthread_mutex_destroy(&x->mutex);
    free(x);
    *a = NULL;
}

void api_renew(struct api *a, const struct config *config)
{
    (void)pthread_mutex_lock(&a->mutex);
    struct config *old = a->config;

    a->config = config_acquire(config);
    (void)pthread_mutex_unlock(&a->mutex);
    config_release(&old);
    atomic_fetch_add(&a->generation, 1);
}
