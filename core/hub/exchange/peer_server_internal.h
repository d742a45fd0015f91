/*
 * peer_server_internal - what server, its connections and its answers share.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_SERVER_INTERNAL_H
#define CORE_HUB_EXCHANGE_PEER_SERVER_INTERNAL_H

#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/hub/exchange/peer_server.h"
#include "core/hub/exchange/tls.h"
#include "core/hub/http/rate_limit.h"

enum conn_state {
    CONN_HANDSHAKE,
    CONN_IDLE, /* between requests, or a head is coming in */
    CONN_BODY, /* the head is read, its body is not whole */
    CONN_HELD, /* a request for heads that waits for news */
    CONN_SENDING
};

struct conn {
    struct peer_server *server;
    struct bufferevent *bev;
    struct sockaddr_storage from;
    enum conn_state state;
    bool is_join;   /* a stranger with an invitation: may join, nothing else */
    bool has_begun; /* of the next head something is here */
    bool
        is_proxy; /* its key is this server's own: a proxy before it, which says who asks */
    bool has_key;                  /* of a proxy: the request names a key */
    struct object_id origin;       /* whose key it showed */
    struct object_id asker;        /* whose request it is */
    uint8_t key[OBJECT_KEY_BYTES]; /* of who asks */
    struct http_request request;
    uint64_t epoch; /* of the ring, when the member was last looked at */
    uint64_t deadline_us;
    uint64_t since_us;
    size_t pending; /* bytes of the answer */
};

struct peer_server {
    struct peer_server_options o;
    struct tls_pins pins;
    SSL_CTX *tls; /* NULL: no certificate yet */
    struct evconnlistener *listeners[2];
    struct rate_limit *limit;
    struct conn *conns[PEER_SERVER_CONNS_MAX]; /* the first stats.open */
    struct peer_server_peer peers[MANIFEST_MEMBERS_MAX];
    struct bucket bytes[MANIFEST_MEMBERS_MAX];
    struct bucket requests[MANIFEST_MEMBERS_MAX];
    unsigned npeers;
    size_t pending; /* bytes of answers that wait */
    struct peer_server_stats stats;
};

/* The bufferevent is taken over, or freed on failure. */
void conn_open(struct peer_server *s, int fd, const struct sockaddr *from,
               int from_len);
void conn_close(struct conn *c);
/* A held request is answered when there is news, or its time is over. */
void conn_wake(struct conn *c, uint64_t now_us);

struct peer_server_answer {
    unsigned status;
    struct buf body;   /* taken over by who sends it */
    unsigned retry_s;  /* 429, 503 */
    bool is_immutable; /* may be kept for ever */
    bool is_held;      /* nothing yet: wait */
    uint64_t manifest; /* version; 0: none */
};
/* who: the member; NULL: a stranger who may join, and showed this key. */
struct peer_server_asker {
    const struct object_id *who;
    uint8_t key[OBJECT_KEY_BYTES];
};
void serve_request(struct peer_server *s, const struct http_request *request,
                   struct slice body, const struct peer_server_asker *asker,
                   struct peer_server_answer *ret);
/* The row of a member, made when there is none; NULL: the table is full. */
struct peer_server_peer *peer_server_peer_row(struct peer_server *s,
                                              const struct object_id *origin,
                                              unsigned *retindex);

#endif
