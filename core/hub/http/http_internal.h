/*
 * http_internal - shared by the files of the server; nobody else includes it.
 */
#ifndef CORE_HUB_HTTP_HTTP_INTERNAL_H
#define CORE_HUB_HTTP_HTTP_INTERNAL_H

#include <event2/event_struct.h>
#include <event2/listener.h>
#include <stdalign.h>

#include "core/hub/http/http_server.h"

enum http_state {
    HTTP_CONN_HANDSHAKE,
    HTTP_CONN_HEAD, /* between requests, or a head is coming in */
    HTTP_CONN_BODY,
    HTTP_CONN_HELD, /* the owner answers later */
    HTTP_CONN_SENDING,
    HTTP_CONN_DRAIN /* refused: what still comes is thrown away */
};

struct http_conn {
    struct http_server *server;
    unsigned at; /* in server->conns */
    int fd;
    SSL *ssl; /* NULL: plain */
    struct event reads;
    struct event writes;
    enum http_state state;
    bool is_unix;
    bool is_local;
    bool is_known;   /* no stranger */
    bool is_watched; /* held, and reading goes on */
    bool is_head;    /* the request is HEAD: its answer has no body */
    bool has_begun;  /* bytes of the next head are here */
    bool has_ended;  /* the client will send no more */
    bool closes;     /* after the answer */
    bool has_more;   /* requests, after this turn */
    bool is_reading; /* its event waits for bytes */
    bool is_busy;    /* its event is being handled */
    bool is_dead;    /* to be closed when the event is done with */
    struct sockaddr_storage from;
    struct buf in;
    size_t taken;  /* bytes of in that are used up */
    size_t needed; /* of in, until head and body are whole */
    struct buf out;
    struct buf body; /* of a long answer, after out */
    size_t sent;     /* bytes of out and body */
    size_t pending;  /* bytes that server->pending has of it */
    size_t counted;  /* bytes of memory that the sum has of it */
    size_t drained;
    uint64_t since_us;
    uint64_t deadline_us;
    alignas(max_align_t) char state_bytes[]; /* the owner's */
};

struct http_server {
    struct http_server_options o;
    SSL_CTX *tls;
    struct evconnlistener *listeners[HTTP_LISTENERS_MAX];
    unsigned nlisteners;
    struct http_conn **conns;
    unsigned nconns;
    size_t pending;
    /* read from any thread */
    _Atomic uint64_t accepted;
    _Atomic uint64_t refused;
    _Atomic uint64_t evicted;
    _Atomic uint64_t timeouts;
    _Atomic uint64_t bytes_in;
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t open;
};

/* Only the server's thread writes these. */
static inline void http_count(_Atomic uint64_t *number, uint64_t n)
{
    atomic_fetch_add_explicit(number, n, memory_order_relaxed);
}

/* Bytes there are now, or room for them. HTTP_IO_WAIT: none, its events say when. */
enum http_io { HTTP_IO_OK, HTTP_IO_WAIT, HTTP_IO_END };
enum http_io http_handshake(struct http_conn *c);
enum http_io http_receive(struct http_conn *c, char *p, size_t size, size_t *retn);
enum http_io http_transmit(struct http_conn *c, struct slice bytes, size_t *retn);

/* Takes fd. */
void http_conn_open(struct http_server *s, int fd, const struct sockaddr *from,
                    int from_len);
/* Deadlines. */
void http_conn_tick(struct http_conn *c, uint64_t now_us);

#endif
