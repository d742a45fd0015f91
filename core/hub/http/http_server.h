/*
 * http_server - the HTTP server of the hub, for the API's clients (hub/api) and the peers
 * (hub/exchange). It knows neither: their differences are in struct http_hooks and struct
 * http_server_options.
 *
 * A server belongs to one event loop. The API starts one for each of its threads, the peers have
 * one on the hub's loop. A connection takes one request after the other. Everything has a limit:
 * connections, strangers among them, the bytes of a head and a body, the memory of all connections,
 * and the time for each step. A malformed request is refused, and its connection is closed.
 *
 * Files, in reading order: http_syntax (tokens, lines, numbers, addresses), http_request (a head
 * and its fields), http_answer (the head of an answer), http_server (listeners, limits on
 * connections, deadlines), http_conn (one connection from its handshake to its end), rate_limit
 * (token buckets by address).
 *
 * An example of a change: a handler needs the field User-Agent. Add a slice to struct http_request,
 * a row to the table `fields` of http_request.c, and a check to the unit test of http_request.
 *
 * Depends: base, libevent, OpenSSL.   Threads: the loop's, except http_server_numbers.   Owns: its
 * sockets.   ADR 0034, 0042.
 */
#ifndef CORE_HUB_HTTP_HTTP_SERVER_H
#define CORE_HUB_HTTP_HTTP_SERVER_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/hub/http/http_request.h"

enum {
    HTTP_HEAD_S = 5, /* for a handshake, and for a head from its first byte */
    HTTP_BODY_RATE = 256 * 1024,    /* bytes a second that a body must come with */
    HTTP_IDLE_S = 75,               /* between requests */
    HTTP_SEND_S = 30,               /* for an answer, and */
    HTTP_SEND_RATE = 64 * 1024,     /* bytes a second that a client must read */
    HTTP_STREAM_BYTES = 256 * 1024, /* of a stream that wait for the client */
    HTTP_DRAIN_S = 2, /* after a refusal, of bytes that the client still sends */
    HTTP_MEMORY_MAX = 256 << 20, /* bytes of requests and answers, of all connections */
    HTTP_LISTENERS_MAX = 32
};

struct http_conn;

/* http_hooks.head: the connection is closed without an answer. */
#define HTTP_NO_ANSWER 1U

/* The owner's part. NULL is allowed where it says so. A hook that is called with a connection may
 * call http_conn_send, http_conn_hold and http_conn_close with this or any other connection. */
struct http_hooks {
    /* NULL: every address may connect. */
    bool (*admit)(void *context, const struct sockaddr *from);
    /* The handshake is done; false: close. NULL: true. A connection is a stranger until it has
     * asked, or, if knows_by_greeting, until this hook sets is_known. */
    bool (*greet)(struct http_conn *c);
    /* A handshake failed. NULL: ignored. */
    void (*handshake_failed)(void *context);
    /* Reads a head. 0: *ret is filled, and *retmost is the limit for the body. Otherwise
     * HTTP_NO_ANSWER or the status of the refusal with its reason. It is called a second time if
     * the body comes later. */
    unsigned (*head)(struct http_conn *c, struct slice head, struct http_request *ret,
                     uint64_t *retmost, const char **retwhy);
    /* Sends a refusal. The request has the parts that were read. retry_s is for Retry-After, or
     * 0. */
    void (*refuse)(struct http_conn *c, const struct http_request *request,
                   unsigned status, const char *why, unsigned retry_s);
    /* A request is here. Calls http_conn_send now, or http_conn_hold now and http_conn_send
     * later. */
    void (*answer)(struct http_conn *c, const struct http_request *request,
                   struct slice body);
    /* The connection ends. NULL: ignored. */
    void (*closed)(struct http_conn *c);
};

struct http_server_options {
    struct event_base *base;
    const struct http_hooks *hooks;
    void *context;
    const char *clients;     /* in messages: "peers" */
    size_t conn_bytes;       /* of the owner's state of a connection */
    unsigned most;           /* connections */
    unsigned most_strangers; /* among them */
    bool knows_by_greeting;  /* and a connection that is known is never evicted */
    unsigned body_s; /* for a body, and one second more for each HTTP_BODY_RATE bytes */
    _Atomic uint64_t *memory; /* shared by several servers */
};

struct http_server {
    struct http_server_options o;
    struct http_conn **conns; /* closing one puts the last in its place */
    unsigned nconns;
    size_t pending; /* bytes of answers that wait to be sent */
    /* for the server alone */
    SSL_CTX *tls;
    struct evconnlistener *listeners[HTTP_LISTENERS_MAX];
    unsigned nlisteners;
    _Atomic uint64_t accepted; /* these are read from any thread */
    _Atomic uint64_t refused;
    _Atomic uint64_t evicted;
    _Atomic uint64_t timeouts;
    _Atomic uint64_t bytes_in;
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t open;
};

enum err http_server_new(const struct http_server_options *options,
                         struct http_server **ret);
void http_server_free(struct http_server **s); /* accepts NULL */
/* Closes all connections. */
void http_server_drop(struct http_server *s);
/* For TCP connections from now on; NULL: plain text. The server takes a reference. */
void http_server_set_tls(struct http_server *s, SSL_CTX *tls);
/* Accepts on a listening socket, which it takes. */
enum err http_server_listen(struct http_server *s, int fd);
void http_server_unlisten(struct http_server *s);
/* Deadlines; to be called about once a second or more often. */
void http_server_tick(struct http_server *s);
/* How long the loop has been busy with the events of this turn. */
uint64_t http_server_lag_us(const struct http_server *s);
struct http_server_numbers {
    uint64_t accepted;
    uint64_t refused;  /* not admitted, or no room */
    uint64_t evicted;  /* strangers or idle ones, for newer connections */
    uint64_t timeouts; /* too slow; an idle connection that ends does not count */
    uint64_t bytes_in; /* without TLS, as the next */
    uint64_t bytes_out;
    uint64_t open;
};
/* Adds to *ret. From any thread. */
void http_server_numbers(const struct http_server *s, struct http_server_numbers *ret);

/* ---- a listening socket ---- */

enum http_bind {
    HTTP_BIND_SHARED = 1, /* one of several sockets at this address */
    HTTP_BIND_V6_ONLY = 2 /* an IPv6 address does not take IPv4 */
};
/* Addresses of "HOST:PORT". ERR_SYNTAX: malformed. ERR_NOT_FOUND: the host has no address. */
enum err http_address_find(const char *address, struct addrinfo **ret,
                           unsigned *retport);
/* -1: errno says why. */
int http_listen(const struct sockaddr *to, socklen_t len, unsigned flags);
/* A context for servers: TLS of this version or newer, HTTP/1.1. NULL: no memory. */
SSL_CTX *http_tls_new(int version);

/* ---- one connection ---- */

struct http_answer {
    unsigned status;
    const char *type;    /* Content-Type */
    struct slice fields; /* more of them, each with its line end */
    struct slice fixed;  /* the body, which lives as long as the program, or */
    struct buf *body;    /* the body, which is taken; NULL: none */
    bool closes;         /* the connection, afterwards */
};
/* Returns the bytes that will be sent. */
size_t http_conn_send(struct http_conn *c, const struct http_answer *answer);
/* Sends the head of an answer that has no end: http_conn_stream_add sends its body, piece by piece.
 * Bytes that the client sends from now on are dropped. The connection ends with http_conn_close,
 * with the client, or when the client is slow: HTTP_STREAM_BYTES wait, or one piece waits for
 * HTTP_SEND_S. Only for a GET. */
void http_conn_stream(struct http_conn *c, const struct http_answer *answer);
/* False: the connection was closed. Not to be called by a hook. */
bool http_conn_stream_add(struct http_conn *c, struct slice piece);
/* The answer to the request at hand comes later. is_watched: a client that goes away meanwhile ends
 * the connection. */
void http_conn_hold(struct http_conn *c, bool is_watched);
/* Takes the bytes of the request at hand, so that its slices stay valid. False: no memory. For the
 * hook `answer`. */
bool http_conn_keep(struct http_conn *c, struct buf *ret);
void http_conn_close(struct http_conn *c);

/* "Not Found" for 404. */
const char *http_reason(unsigned status);
/* Adds a line to the fields of an answer; value NULL: nothing. */
void http_add_field(struct buf *b, const char *name, const char *value);

enum http_state {
    HTTP_CONN_HANDSHAKE,
    HTTP_CONN_HEAD, /* between requests, or a head is coming in */
    HTTP_CONN_BODY,
    HTTP_CONN_HELD, /* the owner answers later */
    HTTP_CONN_SENDING,
    HTTP_CONN_STREAM, /* an answer that has no end */
    HTTP_CONN_DRAIN   /* refused: bytes that still come are dropped */
};

struct http_conn {
    void *context; /* of the options; this and the next are for the owner */
    SSL *ssl;      /* NULL: plain */
    struct sockaddr_storage from; /* AF_UNSPEC: a Unix socket */
    bool is_local;                /* a Unix socket or loopback */
    bool is_known;                /* no stranger; the hook `greet` may set it */
    uint64_t since_us;
    /* for the server alone */
    struct http_server *server;
    unsigned at; /* in server->conns */
    int fd;
    struct event reads;
    struct event writes;
    enum http_state state;
    bool is_watched; /* held, and reading goes on */
    bool is_head;    /* the request is HEAD: its answer has no body */
    bool has_begun;  /* bytes of the next head are here */
    bool has_ended;  /* the client sent its last byte */
    bool closes;     /* after the answer */
    bool has_more;   /* requests, after this turn */
    bool is_reading; /* its event waits for bytes */
    bool is_busy;    /* its event is being handled */
    bool is_dead;    /* to be closed when the event is done with */
    struct buf in;
    size_t taken;  /* bytes of in that are used up */
    size_t needed; /* of in, until head and body are whole */
    struct buf out;
    struct buf body; /* of a long answer, after out */
    size_t sent;     /* bytes of out and body */
    size_t pending;  /* bytes that server->pending has of it */
    size_t counted;  /* bytes of memory that the sum has of it */
    size_t drained;
    uint64_t deadline_us;
    alignas(max_align_t) char owners[]; /* conn_bytes, zero at first */
};

#endif
