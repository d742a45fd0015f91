#include "core/hub/api/api.h"

#include <sys/eventfd.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_internal.h"
#include "core/hub/api/own_session.h"
#include "core/list/query.h"
#include "core/verdict/journal/message_tail.h"
#include "core/verdict/journal/worth_tail.h"

enum { BACKLOG = 1024, TICK_MS = 250, CALL_ARENA = 64 << 20, FIELDS_MAX = 8192 };

/* ---- listening ---- */

/* Another process of this user could take a share of our connections: the first of us binds
 * alone. */
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
    struct addrinfo *at = NULL;
    unsigned port = 0;
    enum err e = http_address_find(address, &at, &port);

    if (e != ERR_OK) {
        return errinfo_set(reterr, e, address, 0,
                           e == ERR_SYNTAX ? "not of the form HOST:PORT"
                                           : "the host of api.listen has no address");
    }
    if (is_taken(at)) {
        e = errinfo_errno(reterr, address, "the API cannot listen there");
    }
    for (unsigned i = 0; e == ERR_OK && i < a->nthreads; i++) {
        int fd = http_listen(at->ai_addr, at->ai_addrlen,
                             HTTP_BIND_SHARED | HTTP_BIND_V6_ONLY);

        e = fd >= 0 ? http_server_listen(a->threads[i].server, fd)
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

        e = copy >= 0 ? http_server_listen(a->threads[i].server, copy)
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
    for (size_t i = 0; i < a->config->api.listen.n && i < HTTP_LISTENERS_MAX; i++) {
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
    a->tls = http_tls_new(TLS1_2_VERSION);
    if (a->tls == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory");
    }
    if (SSL_CTX_use_certificate_chain_file(a->tls, c->certificate) != 1) {
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

    (void)fd;
    (void)what;
    http_server_tick(t->server);
    if (t->generation != atomic_load(&t->api->generation)) {
        t->generation = atomic_load(&t->api->generation);
        config_release(&t->config);
        t->config = api_config(t->api);
    }
    api_tokens_look(t->api->tokens, t->config->api.tokens_file);
    api_live_look(t);
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
        api_conn_answered(w);
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
    most = most > 0 ? most : 1;
    t->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    t->arena = arena_new(CALL_ARENA);
    t->ask = query_new();
    t->config = config_acquire(a->config);
    buf_init(&t->fields, FIELDS_MAX);
    if (config != NULL) { /* its own thread alone uses it */
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        t->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    if (t->base != NULL && t->wake_fd >= 0 &&
        http_server_new(
            &(struct http_server_options){.base = t->base,
                                          .hooks = &api_conn_hooks,
                                          .context = t,
                                          .clients = "clients of the API",
                                          .conn_bytes = sizeof(struct api_work *),
                                          .most = most,
                                          .most_strangers = most,
                                          .body_s = API_BODY_S,
                                          .memory = &a->memory},
            &t->server) == ERR_OK) {
        http_server_set_tls(t->server, a->tls);
        t->wake = event_new(t->base, t->wake_fd, EV_READ | EV_PERSIST, on_wake, t);
        t->tick = event_new(t->base, -1, EV_PERSIST, on_tick, t);
    }
    return pthread_mutex_init(&t->mutex, NULL) == 0 && t->arena != NULL &&
                   t->ask != NULL && t->wake != NULL && t->tick != NULL &&
                   event_add(t->wake, NULL) == 0 && event_add(t->tick, &tick) == 0
               ? ERR_OK
               : ERR_NOMEM;
}

static void thread_fini(struct api_thread *t)
{
    while (t->back != NULL) {
        struct api_work *w = t->back;

        t->back = w->next;
        api_work_free(w);
    }
    http_server_free(&t->server);
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
    arena_free(&t->arena);
    query_free(&t->ask);
    buf_fini(&t->fields);
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
    a->reports = reports_follower_new();
    THEN(e, a->reports != NULL ? ERR_OK : errinfo_nomem(reterr, "reports"));
    THEN(e, message_tail_new(a->config->state_dir, a->config->journal.messages,
                             &a->messages, reterr));
    THEN(e, worth_tail_new(a->config->state_dir, &a->worth, reterr));
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
    a->own = own_sessions_new();
    (void)pthread_mutex_init(&a->mutex, NULL);
    enum err e = a->tokens != NULL && a->limit != NULL && a->own != NULL
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
        if (x->threads[i].server != NULL) {
            http_server_drop(x->threads[i].server);
        }
    }
    api_pool_free(&x->pool);
    reports_follower_free(&x->reports);
    message_tail_free(&x->messages);
    worth_tail_free(&x->worth);
    for (unsigned i = 0; i < x->nthreads; i++) {
        thread_fini(&x->threads[i]);
    }
    remove_sockets(x->config);
    SSL_CTX_free(x->tls);
    api_tokens_free(&x->tokens);
    rate_limit_free(&x->limit);
    own_sessions_free(&x->own);
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
    message_tail_set_rows(a->messages, config->journal.messages);
    atomic_fetch_add(&a->generation, 1);
}
