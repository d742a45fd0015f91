/* redis_node - one server: calls and answers in one order, and the end of a connection. */
#include <openssl/err.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/hub/redis/redis_internal.h"
#include "core/hub/socket/socket_io.h"

enum {
    READ_STEP = 16 * 1024, /* bytes asked of the kernel at once */
    READ_TURN = 64,        /* such steps before others have their turn */
    OUT_BYTES =
        256 * 1024, /* of commands that are sent in one go, and one command more */
    BACK_OFF_MS =
        100, /* after the first failure; doubled up to BACK_OFF_DOUBLED times */
    BACK_OFF_DOUBLED = 6
};

/* ---- the end of a connection ---- */

void redis_node_close_socket(struct redis_node *n)
{
    const int error = errno;

    if (n->reads != NULL) {
        event_free(n->reads);
        n->reads = NULL;
    }
    if (n->writes != NULL) {
        event_free(n->writes);
        n->writes = NULL;
    }
    fd_close(&n->fd);
    errno = error;
}

static void cut_connection(struct redis_node *n)
{
    SSL_free(n->ssl);
    n->ssl = NULL;
    ERR_clear_error();
    redis_node_close_socket(n);
    if (n->lookup != NULL && n->state != REDIS_NODE_LOOKUP) {
        redis_lookup_drop(
            &n->lookup); /* a lookup that still runs serves the next try */
    }
    buf_fini(&n->out);
    n->nout = 0;
    resp_fini(&n->reply);
    n->state = REDIS_NODE_IDLE;
}

static uint64_t back_off_us(unsigned nfailures)
{
    const unsigned doubled =
        nfailures < BACK_OFF_DOUBLED ? nfailures : BACK_OFF_DOUBLED;
    const uint64_t most = ((uint64_t)BACK_OFF_MS << doubled) * REDIS_US_PER_MS;
    uint64_t any = 0;

    random_bytes(&any, sizeof(any));
    return most / 2 + any % (most / 2); /* so that hosts do not come back all at once */
}

void redis_node_fail(struct redis_node *n, enum redis_fault fault)
{
    struct open_calls lost = TAILQ_HEAD_INITIALIZER(lost);
    struct redis *r = n->client;

    TAILQ_CONCAT(&lost, &n->sent, in_queue);
    TAILQ_CONCAT(&lost, &n->waiting, in_queue);
    cut_connection(n);
    n->retry_us = clock_mono_us() + back_off_us(n->nfailures);
    n->nfailures++;
    r->nchanges++;
    n->fault = fault;
    memcpy(n->why, r->why[fault], sizeof(n->why));
    r->wants_refresh = true;
    while (!TAILQ_EMPTY(&lost)) {
        struct open_call *call = TAILQ_FIRST(&lost);

        TAILQ_REMOVE(&lost, call, in_queue);
        redis_take_loss(r, call, fault);
    }
}

/* ---- sending ---- */

/* Puts calls that wait behind the bytes that are sent. */
static void fill_out(struct redis_node *n)
{
    const struct slice asking = SLICE_LIT("*1\r\n$6\r\nASKING\r\n");

    while (!TAILQ_EMPTY(&n->waiting) && n->out.n < OUT_BYTES && !buf_failed(&n->out)) {
        struct open_call *call = TAILQ_FIRST(&n->waiting);

        if (call->is_asking) {
            buf_add(&n->out, asking);
        }
        buf_add(&n->out, buf_slice(&call->bytes));
        call->skips = call->is_asking;
        call->is_asking = false;
        if (TAILQ_EMPTY(&n->sent)) {
            n->progress_us = clock_mono_us();
        }
        TAILQ_REMOVE(&n->waiting, call, in_queue);
        TAILQ_INSERT_TAIL(&n->sent, call, in_queue);
        call->is_sent = true;
    }
}

void redis_node_send(struct redis_node *n)
{
    enum socket_result result = SOCKET_OK;

    do {
        if (n->nout == n->out.n) {
            buf_clear(&n->out);
            n->nout = 0;
            if (n->state == REDIS_NODE_READY) {
                fill_out(n);
            }
        }
        while (n->nout < n->out.n && result == SOCKET_OK) {
            size_t sent = 0;

            result = socket_transmit(n->fd, n->ssl,
                                     slice_from(buf_slice(&n->out), n->nout), &sent);
            n->nout += sent;
            n->client->traffic.out += sent;
        }
    } while (result == SOCKET_OK && n->out.n > 0);
    if (buf_failed(&n->out) || result == SOCKET_END) {
        redis_note(n->client, REDIS_FAULT_CLOSED, "%s:%u ended the connection", n->host,
                   n->port);
        redis_node_fail(n, REDIS_FAULT_CLOSED);
    } else if (result != SOCKET_OK) {
        (void)event_add(n->writes, NULL);
    }
}

/* ---- receiving ---- */

/* A reply is whole. */
static void take_one(struct redis_node *n)
{
    struct open_call *call = TAILQ_FIRST(&n->sent);

    if (n->reply.nodes[0].kind == RESP_PUSH) {
        return;
    }
    n->progress_us = clock_mono_us();
    if (n->state == REDIS_NODE_HELLO) {
        redis_connect_hello(n);
    } else if (call == NULL) {
        redis_note(n->client, REDIS_FAULT_PROTOCOL, "%s:%u sent a reply to nothing",
                   n->host, n->port);
        redis_node_fail(n, REDIS_FAULT_PROTOCOL);
    } else if (call->skips) {
        call->skips = false; /* when ASKING failed, so does the command */
    } else {
        n->nfailures = 0;
        n->fault = REDIS_FAULT_NONE;
        n->answered_us = n->progress_us;
        TAILQ_REMOVE(&n->sent, call, in_queue);
        redis_take_reply(n, call, &n->reply);
    }
}

static void take_received(struct redis_node *n, struct slice bytes)
{
    while (bytes.n > 0 && n->fd >= 0) {
        const enum resp_status status = resp_feed(&n->reply, &bytes);

        if (status == RESP_FAULT) {
            redis_note(n->client, REDIS_FAULT_PROTOCOL, "%s:%u sent %s", n->host,
                       n->port, n->reply.fault);
            redis_node_fail(n, REDIS_FAULT_PROTOCOL);
        } else if (status == RESP_DONE) {
            take_one(n);
        }
    }
}

static void on_end(struct redis_node *n)
{
    if (n->state == REDIS_NODE_READY && TAILQ_EMPTY(&n->sent) &&
        TAILQ_EMPTY(&n->waiting)) {
        cut_connection(n); /* an idle one: no failure */
        n->client->wants_refresh = true;
        return;
    }
    redis_note(n->client, REDIS_FAULT_CLOSED, "%s:%u ended the connection", n->host,
               n->port);
    redis_node_fail(n, REDIS_FAULT_CLOSED);
}

static void read_some(struct redis_node *n)
{
    static char bytes[READ_STEP];
    enum socket_result result = SOCKET_OK;

    for (unsigned i = 0; i < READ_TURN && result == SOCKET_OK && n->fd >= 0; i++) {
        size_t got = 0;

        result = socket_receive(n->fd, n->ssl, bytes, sizeof(bytes), &got);
        n->client->traffic.in += got;
        if (result == SOCKET_OK) {
            take_received(n, slice_of(bytes, got));
        } else if (result == SOCKET_END) {
            on_end(n);
        }
    }
    if (n->fd >= 0 && result == SOCKET_WRITES) {
        (void)event_add(n->writes, NULL);
    } else if (n->fd >= 0 && result == SOCKET_OK) {
        event_active(n->reads, EV_READ,
                     0); /* TLS may hold bytes that the kernel does not */
    }
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct redis_node *n = context;

    (void)fd;
    (void)what;
    if (n->state == REDIS_NODE_HANDSHAKE) {
        redis_connect_step(n);
    } else if (n->state != REDIS_NODE_CONNECTING) {
        read_some(n);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    struct redis_node *n = context;

    (void)fd;
    (void)what;
    if (n->state == REDIS_NODE_CONNECTING || n->state == REDIS_NODE_HANDSHAKE) {
        redis_connect_step(n);
    } else {
        redis_node_send(n);
    }
}

bool redis_node_watch(struct redis_node *n)
{
    n->reads = event_new(n->client->base, n->fd, EV_READ | EV_PERSIST, on_readable, n);
    n->writes = event_new(n->client->base, n->fd, EV_WRITE, on_writable, n);
    return n->reads != NULL && n->writes != NULL && event_add(n->reads, NULL) == 0 &&
           event_add(n->writes, NULL) == 0;
}

/* ---- for the client ---- */

struct redis_node *redis_node_get(struct redis *r, struct slice host, unsigned port)
{
    struct redis_node *n = NULL;

    for (size_t i = 0; i < r->nnodes; i++) {
        if (r->nodes[i]->port == port && slice_eq(slice_str(r->nodes[i]->host), host) &&
            !redis_node_is_sentinel(r->nodes[i])) {
            return r->nodes[i];
        }
    }
    n = r->nnodes < REDIS_NODES_MAX && host.n < sizeof(n->host) ? calloc(1, sizeof(*n))
                                                                : NULL;
    if (n == NULL) {
        return NULL;
    }
    n->client = r;
    memcpy(n->host, host.p, host.n);
    n->port = port;
    n->fd = -1;
    TAILQ_INIT(&n->waiting);
    TAILQ_INIT(&n->sent);
    r->nodes[r->nnodes++] = n;
    return n;
}

void redis_node_free(struct redis_node *n)
{
    cut_connection(n);
    redis_lookup_drop(&n->lookup);
    free(n);
}

bool redis_node_is_open(const struct redis_node *n, uint64_t now_us)
{
    return n->state != REDIS_NODE_IDLE || now_us >= n->retry_us;
}

void redis_node_add(struct redis_node *n, struct open_call *call)
{
    call->node = n;
    TAILQ_INSERT_TAIL(&n->waiting, call, in_queue);
    if (n->state == REDIS_NODE_READY) {
        (void)event_add(n->writes, NULL); /* several calls are sent at once */
    } else if (n->state == REDIS_NODE_IDLE) {
        redis_connect_begin(n);
    }
}

void redis_node_tick(struct redis_node *n, uint64_t now_us)
{
    const bool is_ready = n->state == REDIS_NODE_READY;
    const uint64_t most = is_ready ? n->client->answer_us : n->client->connect_us;

    if (n->state == REDIS_NODE_LOOKUP) {
        redis_connect_step(n);
    }
    if (n->state != REDIS_NODE_IDLE && now_us > n->progress_us + most &&
        (!is_ready || !TAILQ_EMPTY(&n->sent))) {
        const enum redis_fault fault = redis_connect_late_fault(n);

        redis_note(n->client, fault, "%s:%u does not answer in time", n->host, n->port);
        redis_node_fail(n, fault);
    }
}
