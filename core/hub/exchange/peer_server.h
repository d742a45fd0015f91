/*
 * peer_server - the HTTPS server that peers fetch from: hub/http with keys of members instead of
 * tokens.
 *
 * Beside the limits of http_server.h it limits the connections and held requests of one peer,
 * handshakes by address, bytes and requests a second of one peer, and the bytes of answers that
 * wait to be sent. A request for heads from a peer that has the newest is held until they change or
 * PEER_SERVER_HOLD_S passed.
 *
 * Files, in reading order: peer_request (paths), peer_server (listening, rows of peers),
 * peer_server_conn (a connection), peer_server_reply (answers).
 * Depends: base, http, the ring's rooms, libevent.   Threads: one.   Owns: its sockets.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_SERVER_H
#define CORE_HUB_EXCHANGE_PEER_SERVER_H

#include "core/hub/exchange/node.h"
#include "core/hub/http/http_server.h"

enum {
    PEER_SERVER_CONNS_MAX = 1024,
    PEER_SERVER_STRANGERS_MAX = 128, /* connections that did not show a member's key */
    PEER_SERVER_PEER_CONNS = 4,
    PEER_SERVER_PROXY_CONNS = 512, /* of a proxy that shows this server's own key */
    PEER_SERVER_BODY_S = 5,        /* for the body of a join */
    PEER_SERVER_HOLD_S = 25,
    PEER_SERVER_PENDING_MAX = 512 << 20, /* bytes of answers that wait */
    PEER_SERVER_CHAIN_BYTES = 4 << 20    /* of one answer, or one object */
};

struct peer_server_stats {
    struct http_server_numbers http;
    uint64_t refused_handshake;
    uint64_t requests;
    uint64_t refused_requests; /* malformed, too large, too many */
    unsigned held;
};

struct peer_server_peer {
    struct object_id origin;
    uint64_t bytes_out;
    uint64_t requests;
    uint64_t seen_ms; /* wall clock; 0: never */
    unsigned conns;
};

struct peer_server;
struct peer_server_options {
    struct event_base *base;
    struct node *node; /* borrowed; may be closed at times: then 503 */
    uint64_t bytes_per_s;
    bool (*may_join)(const struct node *);
    /* Answers POST /v1/join of a stranger who showed this key. */
    enum err (*join)(void *context, const uint8_t key[OBJECT_KEY_BYTES],
                     struct slice request, struct buf *ret, struct errinfo *reterr);
    /* Text of a digest key for a member. ERR_NOT_FOUND. */
    enum err (*ring_key)(void *context, uint32_t id, struct buf *ret);
    void *context;
};
/* Listens on nothing yet. */
enum err peer_server_new(const struct peer_server_options *options,
                         struct peer_server **ret, struct errinfo *reterr);
void peer_server_free(struct peer_server **s);
/* HOST:PORT. is_lenient: if this machine does not have the address, listens on all of its addresses
 * at the port. */
enum err peer_server_listen(struct peer_server *s, const char *address, bool is_lenient,
                            struct errinfo *reterr);
bool peer_server_is_listening(const struct peer_server *s);
void peer_server_unlisten(struct peer_server *s);
/* Reads certificate and key for new connections, and closes the connections of servers that are no
 * members now. */
enum err peer_server_renew(struct peer_server *s, struct errinfo *reterr);
/* Closes all connections. */
void peer_server_drop_all(struct peer_server *s);
/* Answers the held requests for which there is news. */
void peer_server_wake(struct peer_server *s);
/* Deadlines; to be called about once a second. */
void peer_server_tick(struct peer_server *s);
void peer_server_set_rate(struct peer_server *s, uint64_t bytes_per_s);

const struct peer_server_stats *peer_server_stats(struct peer_server *s);
const struct peer_server_peer *peer_server_peer(const struct peer_server *s,
                                                const struct object_id *origin);

#endif
