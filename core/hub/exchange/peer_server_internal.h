/*
 * peer_server_internal - shared by the server, its connections and its answers.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_SERVER_INTERNAL_H
#define CORE_HUB_EXCHANGE_PEER_SERVER_INTERNAL_H

#include "core/hub/exchange/peer_request.h"
#include "core/hub/exchange/peer_server.h"
#include "core/hub/exchange/tls.h"
#include "core/hub/http/rate_limit.h"

/* The state of a connection. */
struct peer_conn {
    bool is_member; /* it showed a member's key, and counts in its row */
    bool is_join;   /* a stranger with an invitation: it may join and nothing else */
    bool is_proxy;  /* it showed this server's own key: a proxy, which names the peer */
    bool has_key;   /* of a proxy: the request names a key */
    bool is_held;
    struct object_id origin;       /* of the key that it showed */
    struct object_id asker;        /* of the request */
    uint8_t key[OBJECT_KEY_BYTES]; /* of the asker */
    struct peer_request request;
    uint64_t epoch; /* of the ring, when the member was last looked at */
    uint64_t hold_until_us;
};

struct peer_server {
    struct peer_server_options o;
    struct tls_pins pins;
    struct http_server *http;
    bool has_tls; /* there is a certificate */
    bool is_listening;
    struct rate_limit *limit;
    _Atomic uint64_t memory;
    struct peer_server_peer peers[MANIFEST_MEMBERS_MAX];
    struct bucket bytes[MANIFEST_MEMBERS_MAX];
    struct bucket requests[MANIFEST_MEMBERS_MAX];
    unsigned npeers;
    struct peer_server_stats stats;
};

extern const struct http_hooks peer_conn_hooks;
/* Answers a held request if there is news, or it waited long enough. */
void peer_conn_wake(struct http_conn *c, uint64_t now_us);

struct peer_server_answer {
    unsigned status;
    struct buf body;   /* the sender takes it */
    unsigned retry_s;  /* 429, 503 */
    bool is_immutable; /* may be kept for ever */
    bool is_held;      /* nothing yet: wait */
    uint64_t manifest; /* version; 0: none */
};
/* who: the member. NULL: a stranger that may join and showed this key. */
struct peer_server_asker {
    const struct object_id *who;
    uint8_t key[OBJECT_KEY_BYTES];
};
void serve_request(struct peer_server *s, const struct peer_request *request,
                   struct slice body, const struct peer_server_asker *asker,
                   struct peer_server_answer *ret);
/* The row of a member, made when there is none; NULL: the table is full. */
struct peer_server_peer *peer_server_peer_row(struct peer_server *s,
                                              const struct object_id *origin,
                                              unsigned *retindex);

#endif
