#include "core/hub/redis/redis.h"

#include <openssl/crypto.h>

#include "core/base/clock.h"
#include "core/base/secret_file.h"
#include "core/hub/redis/redis_internal.h"
#include "core/hub/socket/socket_io.h"

enum { CONNECT_MS = 2000, ANSWER_MS = 2000, DEADLINE_MS = 10000, MS_PER_S = 1000 };

/* ---- faults ---- */

const char *redis_fault_name(enum redis_fault fault)
{
    static const char *const names[REDIS_FAULTS] = {
        [REDIS_FAULT_NONE] = "none",         [REDIS_FAULT_NAME] = "name",
        [REDIS_FAULT_CONNECT] = "connect",   [REDIS_FAULT_TLS] = "tls",
        [REDIS_FAULT_LOGIN] = "login",       [REDIS_FAULT_PROTOCOL] = "protocol",
        [REDIS_FAULT_TIMEOUT] = "timeout",   [REDIS_FAULT_CLOSED] = "closed",
        [REDIS_FAULT_TOPOLOGY] = "topology",
    };

    return (unsigned)fault < REDIS_FAULTS ? names[fault] : "unknown";
}

void redis_note(struct redis *r, enum redis_fault fault, const char *format, ...)
{
    char *text = r->why[fault];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, REDIS_TEXT_MAX, format, args);
    va_end(args);
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
}

void redis_note_error(const struct redis_node *n, enum redis_fault fault,
                      struct slice error)
{
    const struct slice shown = slice_head(error, REDIS_TEXT_MAX);

    redis_note(n->client, fault, "%s:%u: %.*s", n->host, n->port, SLICE_ARGS(shown));
}

/* ---- the life of a call ---- */

static struct open_calls *queue_of(struct open_call *call, struct redis *r)
{
    return call->node == NULL ? &r->parked
           : call->is_sent    ? &call->node->sent
                              : &call->node->waiting;
}

static void give_answer(struct redis *r, const struct open_call *call,
                        enum redis_fault fault, const struct resp *reply)
{
    const struct redis_answer answer = {
        .fault = fault,
        .may_be_done = fault != REDIS_FAULT_NONE && (call->is_sent || call->was_lost),
        .reply = reply,
        .why = r->why[fault]};

    call->answer(call->context, &answer);
}

/* Of a call that is in no queue. */
static void end_call(struct redis *r, struct open_call *call, enum redis_fault fault,
                     const struct resp *reply)
{
    if (call->answer != NULL && call != r->refresh) {
        TAILQ_REMOVE(&r->by_age, call, in_age);
    }
    if (call->bound != NULL) {
        call->bound->nbound--;
    }
    r->ncalls--;
    r->nbytes -= call->bytes.n;
    if (call->answer != NULL) {
        give_answer(r, call, fault, reply);
    }
    if (call == r->refresh) {
        r->refresh = NULL;
    }
    buf_fini(&call->bytes);
    free(call);
}

void redis_park(struct redis *r, struct open_call *call)
{
    call->node = NULL;
    call->is_sent = false;
    call->is_asking = false;
    TAILQ_INSERT_TAIL(&r->parked, call, in_queue);
}

static void dispatch_to(struct redis *r, struct open_call *call, struct redis_node *n)
{
    if (n != NULL && redis_node_is_open(n, clock_mono_us())) {
        redis_node_add(n, call);
    } else {
        r->wants_refresh = r->wants_refresh || n == NULL;
        redis_park(r, call);
    }
}

void redis_dispatch_parked(struct redis *r)
{
    struct open_calls all = TAILQ_HEAD_INITIALIZER(all);

    TAILQ_CONCAT(&all, &r->parked, in_queue);
    while (!TAILQ_EMPTY(&all)) {
        struct open_call *call = TAILQ_FIRST(&all);

        TAILQ_REMOVE(&all, call, in_queue);
        dispatch_to(r, call,
                    call->bound != NULL ? call->bound : redis_map_node(r, call->slot));
    }
}

void redis_take_loss(struct redis *r, struct open_call *call, enum redis_fault fault)
{
    const bool may_be_sent_again = call->may_repeat || !call->is_sent;

    call->fault = fault;
    call->was_lost = call->was_lost || call->is_sent;
    if (call->answer != NULL && call != r->refresh && may_be_sent_again) {
        redis_park(r, call);
    } else {
        end_call(r, call, fault, NULL);
    }
}

/* ---- answers ---- */

/* "MOVED 3999 10.0.0.1:6379": the slot's server, and what the map says from now on. False: it has
 * another form. */
static bool follow(struct redis_node *from, struct open_call *call, struct slice error)
{
    enum { DECIMAL = 10 };
    struct redis *r = from->client;
    const bool is_ask = slice_has_prefix(error, SLICE_LIT("ASK "));
    struct redis_node *to = NULL;
    struct slice host = SLICE_NONE;
    unsigned port = 0;
    uint64_t slot = 0;

    (void)slice_cut(&error, ' ');
    if (!slice_to_u64(slice_cut(&error, ' '), DECIMAL, REDIS_SLOTS - 1, &slot) ||
        !redis_address_split(error, &host, &port) || port == 0) {
        return false;
    }
    to = redis_node_get(r, host.n > 0 ? host : slice_str(from->host), port);
    call->slot = (int)slot;
    call->fault = REDIS_FAULT_TOPOLOGY;
    redis_note(r, REDIS_FAULT_TOPOLOGY, "the servers refer to each other for slot %d",
               call->slot);
    call->nmoves++;
    if (to != NULL && !is_ask) {
        redis_map_set(r, call->slot, to);
        r->wants_refresh = true;
    }
    if (to == NULL || call->nmoves > REDIS_MOVES_MAX) {
        redis_park(r, call);
    } else {
        call->is_sent = false;
        call->is_asking = is_ask;
        dispatch_to(r, call, to);
    }
    return true;
}

/* An error that says: nothing was done, and it may be otherwise soon. */
static bool is_passing(struct slice error)
{
    static const char *const codes[] = {"TRYAGAIN ", "CLUSTERDOWN ", "MASTERDOWN ",
                                        "LOADING ", "READONLY "};

    for (size_t i = 0; i < LENGTH(codes); i++) {
        if (slice_has_prefix(error, slice_str(codes[i]))) {
            return true;
        }
    }
    return false;
}

/* Whether the answer only sends the call elsewhere, or says that it may be tried again. */
static bool is_sent_on(struct redis_node *n, struct open_call *call, struct slice error)
{
    struct redis *r = n->client;

    if (is_passing(error)) {
        call->fault = REDIS_FAULT_TOPOLOGY;
        redis_note_error(n, call->fault, error);
        r->wants_refresh = true;
        redis_park(r, call);
        return true;
    }
    return r->kind == REDIS_CLUSTER &&
           (slice_has_prefix(error, SLICE_LIT("MOVED ")) ||
            slice_has_prefix(error, SLICE_LIT("ASK "))) &&
           follow(n, call, error);
}

void redis_take_reply(struct redis_node *n, struct open_call *call,
                      const struct resp *reply)
{
    const bool is_error = reply->nodes[0].kind == RESP_ERROR;

    if (call->answer == NULL || call->bound != NULL || !is_error ||
        !is_sent_on(n, call, resp_text(reply, 0))) {
        end_call(n->client, call, REDIS_FAULT_NONE, reply);
    }
}

/* ---- time ---- */

static void expire(struct redis *r, struct open_call *call)
{
    if (call->is_sent) { /* its answer must still be told from those of others */
        redis_note(r, REDIS_FAULT_TIMEOUT, "%s:%u does not answer in time",
                   call->node->host, call->node->port);
        TAILQ_REMOVE(&r->by_age, call, in_age);
        give_answer(r, call, REDIS_FAULT_TIMEOUT, NULL);
        call->answer = NULL;
        return;
    }
    enum redis_fault fault = call->fault;
    if (fault == REDIS_FAULT_NONE && call->node == NULL) {
        fault = r->refresh_fault != REDIS_FAULT_NONE ? r->refresh_fault
                                                     : REDIS_FAULT_TOPOLOGY;
    } else if (fault == REDIS_FAULT_NONE) {
        fault = REDIS_FAULT_TIMEOUT;
    }
    TAILQ_REMOVE(queue_of(call, r), call, in_queue);
    end_call(r, call, fault, NULL);
}

/* Servers that the map no longer has. */
static void drop_former_nodes(struct redis *r)
{
    for (size_t i = r->nnodes; i-- > 0;) {
        struct redis_node *n = r->nodes[i];

        if (!n->is_seed && !n->is_master && n->nbound == 0 &&
            TAILQ_EMPTY(&n->waiting) && TAILQ_EMPTY(&n->sent)) {
            redis_node_free(n);
            r->nodes[i] = r->nodes[--r->nnodes];
        }
    }
}

static void on_redis_tick(evutil_socket_t fd, short what, void *context)
{
    struct redis *r = context;
    const uint64_t now_us = clock_mono_us();

    (void)fd;
    (void)what;
    while (!TAILQ_EMPTY(&r->by_age) && TAILQ_FIRST(&r->by_age)->deadline_us <= now_us) {
        expire(r, TAILQ_FIRST(&r->by_age));
    }
    for (size_t i = 0; i < r->nnodes; i++) {
        redis_node_tick(r->nodes[i], now_us);
    }
    drop_former_nodes(r);
    redis_map_tick(r, now_us);
    redis_dispatch_parked(r);
}

/* ---- calls ---- */

/* NULL: *rete says why. */
static struct open_call *open_call(struct redis *r, const struct redis_call *call,
                                   enum err *rete)
{
    struct open_call *c = NULL;

    *rete = ERR_LIMIT;
    if (r->ncalls >= REDIS_CALLS_MAX || r->nbytes >= REDIS_BYTES_MAX || r->is_closing) {
        return NULL;
    }
    c = calloc(1, sizeof(*c));
    if (c == NULL) {
        *rete = ERR_NOMEM;
        return NULL;
    }
    buf_init(&c->bytes, REDIS_BYTES_MAX - r->nbytes);
    resp_add_command(&c->bytes, call->args, call->nargs);
    if (buf_failed(&c->bytes)) {
        buf_fini(&c->bytes);
        free(c);
        return NULL;
    }
    c->answer = call->answer;
    c->context = call->context;
    c->may_repeat = call->may_repeat;
    c->slot = call->key.p != NULL ? (int)redis_slot(call->key) : REDIS_ANY_SLOT;
    c->deadline_us = clock_mono_us() + r->deadline_us;
    r->ncalls++;
    r->nbytes += c->bytes.n;
    return c;
}

enum err redis_call(struct redis *r, const struct redis_call *call)
{
    enum err e = ERR_OK;
    struct open_call *c = open_call(r, call, &e);

    if (c == NULL) {
        return e;
    }
    TAILQ_INSERT_TAIL(&r->by_age, c, in_age);
    dispatch_to(r, c, redis_map_node(r, c->slot));
    return ERR_OK;
}

uint64_t redis_changes(const struct redis *r)
{
    return r->nchanges;
}

/* As open_call, for one server. */
static struct open_call *open_bound_call(struct redis *r, struct redis_node *n,
                                         const struct redis_call *call, enum err *rete)
{
    struct open_call *c = open_call(r, call, rete);

    if (c != NULL) {
        c->bound = n;
        n->nbound++;
    }
    return c;
}

enum err redis_refresh(struct redis *r, struct redis_node *n,
                       const struct redis_call *call)
{
    enum err e = ERR_OK;
    struct open_call *c = open_bound_call(r, n, call, &e);

    if (c == NULL) {
        return e;
    }
    r->refresh = c;
    redis_node_add(n, c);
    return ERR_OK;
}

enum err redis_call_server(struct redis *r, size_t k, const struct redis_call *call)
{
    enum err e = ERR_OK;
    struct open_call *c = NULL;

    if (k >= r->nnodes) {
        return ERR_NOT_FOUND;
    }
    c = open_bound_call(r, r->nodes[k], call, &e);
    if (c == NULL) {
        return e;
    }
    TAILQ_INSERT_TAIL(&r->by_age, c, in_age);
    dispatch_to(r, c, c->bound);
    return ERR_OK;
}

bool redis_server(const struct redis *r, size_t k, struct redis_server *ret)
{
    const struct redis_node *n = k < r->nnodes ? r->nodes[k] : NULL;

    if (n == NULL) {
        return false;
    }
    *ret = (struct redis_server){.is_sentinel = redis_node_is_sentinel(n),
                                 .is_master = n->is_master,
                                 .fault = n->fault,
                                 .why = n->why,
                                 .answered_us = n->answered_us};
    if (n->host[0] == '/') {
        (void)snprintf(ret->address, sizeof(ret->address), "%s", n->host);
    } else {
        (void)snprintf(ret->address, sizeof(ret->address),
                       strchr(n->host, ':') != NULL ? "[%s]:%u" : "%s:%u", n->host,
                       n->port);
    }
    return true;
}

struct redis_traffic redis_traffic(const struct redis *r)
{
    return r->traffic;
}

/* ---- options ---- */

static enum err copy_text(char ret[REDIS_TEXT_MAX], const char *text, const char *what,
                          struct errinfo *reterr)
{
    if (text != NULL && strlen(text) >= REDIS_TEXT_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, what, 0, "has more than %d bytes",
                           (int)REDIS_TEXT_MAX - 1);
    }
    (void)snprintf(ret, REDIS_TEXT_MAX, "%s", text != NULL ? text : "");
    return ERR_OK;
}

static enum err read_login(struct redis_secret *s, const struct redis_login *login,
                           struct errinfo *reterr)
{
    const bool has_user = login->user != NULL && *login->user != '\0';
    enum err e = copy_text(s->user, has_user ? login->user : "default", "user", reterr);

    if (e == ERR_OK && login->password_file != NULL) {
        e = secret_read_line(login->password_file, s->password, sizeof(s->password),
                             reterr);
    }
    return e;
}

static enum err add_servers(struct redis *r, const struct redis_options *o,
                            struct errinfo *reterr)
{
    const size_t most = o->kind == REDIS_SINGLE ? 1 : REDIS_SERVERS_MAX;

    if (o->nservers == 0 || o->nservers > most) {
        return errinfo_set(reterr, ERR_RANGE, "servers", 0, "must have 1 to %zu", most);
    }
    for (size_t i = 0; i < o->nservers; i++) {
        struct slice host = SLICE_NONE;
        unsigned port = 0;
        struct redis_node *n = NULL;

        if (!redis_address_split(slice_str(o->servers[i]), &host, &port) ||
            host.n == 0) {
            return errinfo_set(reterr, ERR_SYNTAX, o->servers[i], 0,
                               "must be HOST:PORT, [IPV6]:PORT or /PATH");
        }
        n = redis_node_get(r, host, port);
        if (n == NULL) {
            return errinfo_nomem(reterr, o->servers[i]);
        }
        n->is_seed = true;
    }
    if (o->kind == REDIS_SINGLE) {
        redis_map_set(r, 0, r->nodes[0]);
    }
    return ERR_OK;
}

static enum err set_tls(struct redis *r, const struct redis_options *o,
                        struct errinfo *reterr)
{
    r->tls = socket_tls_new(TLS_client_method(), TLS1_2_VERSION);
    if (r->tls == NULL) {
        return errinfo_nomem(reterr, "TLS");
    }
    SSL_CTX_set_verify(r->tls, SSL_VERIFY_PEER, NULL);
    if (o->ca_file != NULL
            ? SSL_CTX_load_verify_locations(r->tls, o->ca_file, NULL) != 1
            : SSL_CTX_set_default_verify_paths(r->tls) != 1) {
        return errinfo_set(reterr, ERR_SYNTAX, o->ca_file != NULL ? o->ca_file : "TLS",
                           0, "has no certificates of authorities that can be read");
    }
    if (o->cert_file != NULL &&
        (SSL_CTX_use_certificate_chain_file(r->tls, o->cert_file) != 1 ||
         o->key_file == NULL ||
         SSL_CTX_use_PrivateKey_file(r->tls, o->key_file, SSL_FILETYPE_PEM) != 1)) {
        return errinfo_set(reterr, ERR_SYNTAX, o->cert_file, 0,
                           "certificate and key cannot be read, or do not fit");
    }
    return ERR_OK;
}

static uint64_t us_of(unsigned ms, unsigned otherwise)
{
    return (uint64_t)(ms != 0 ? ms : otherwise) * REDIS_US_PER_MS;
}

static enum err start_tick(struct redis *r, struct errinfo *reterr)
{
    const struct timeval every = {.tv_usec =
                                      (suseconds_t)REDIS_TICK_MS * REDIS_US_PER_MS};

    r->tick = event_new(r->base, -1, EV_PERSIST, on_redis_tick, r);
    return r->tick != NULL && event_add(r->tick, &every) == 0
               ? ERR_OK
               : errinfo_nomem(reterr, "redis");
}

enum err redis_new(struct event_base *base, const struct redis_options *options,
                   struct redis **ret, struct errinfo *reterr)
{
    struct redis *r = calloc(1, sizeof(*r));
    enum err e = ERR_OK;

    if (r == NULL) {
        return errinfo_nomem(reterr, "redis");
    }
    r->base = base;
    r->kind = options->kind;
    r->connect_us = us_of(options->connect_ms, CONNECT_MS);
    r->answer_us = us_of(options->answer_ms, ANSWER_MS);
    r->deadline_us = us_of(options->deadline_ms, DEADLINE_MS);
    TAILQ_INIT(&r->by_age);
    TAILQ_INIT(&r->parked);
    redis_note(r, REDIS_FAULT_TOPOLOGY, "no server is known to have the key");
    redis_note(r, REDIS_FAULT_TIMEOUT, "no connection in time");
    redis_note(r, REDIS_FAULT_CLOSED, "the client ends");
    e = copy_text(r->master, options->master, "master", reterr);
    THEN(e, copy_text(r->name, options->name, "name", reterr));
    THEN(e, read_login(&r->login, &options->login, reterr));
    THEN(e, read_login(&r->sentinel_login, &options->sentinel_login, reterr));
    THEN(e, options->has_tls ? set_tls(r, options, reterr) : ERR_OK);
    THEN(e, add_servers(r, options, reterr));
    THEN(e, start_tick(r, reterr));
    if (e != ERR_OK) {
        redis_free(&r);
        return e;
    }
    redis_map_tick(r, clock_mono_us());
    *ret = r;
    return ERR_OK;
}

/* Calls that nobody waits for. */
static void free_queue(struct redis *r, struct open_calls *queue)
{
    while (!TAILQ_EMPTY(queue)) {
        struct open_call *call = TAILQ_FIRST(queue);

        TAILQ_REMOVE(queue, call, in_queue);
        call->answer = NULL;
        end_call(r, call, REDIS_FAULT_CLOSED, NULL);
    }
}

void redis_free(struct redis **pr)
{
    struct redis *r = *pr;

    if (r == NULL) {
        return;
    }
    r->is_closing = true;
    redis_note(r, REDIS_FAULT_CLOSED, "the client ends");
    while (!TAILQ_EMPTY(&r->by_age)) {
        struct open_call *call = TAILQ_FIRST(&r->by_age);

        TAILQ_REMOVE(queue_of(call, r), call, in_queue);
        end_call(r, call, REDIS_FAULT_CLOSED, NULL);
    }
    for (size_t i = 0; i < r->nnodes; i++) {
        free_queue(r, &r->nodes[i]->waiting);
        free_queue(r, &r->nodes[i]->sent);
        redis_node_free(r->nodes[i]);
    }
    if (r->tick != NULL) {
        event_free(r->tick);
    }
    SSL_CTX_free(r->tls);
    OPENSSL_cleanse(r, sizeof(*r));
    free(r);
    *pr = NULL;
}
