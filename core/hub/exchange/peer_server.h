/*
 * peer_server - the HTTPS server that peers fetch from.
 *
 * Bounded everywhere: connections in all, of strangers (the oldest gives way), of one peer; handshakes by
 * address; heads, bodies; time for each step; bytes and requests a second of one peer; bytes of answers that wait
 * to be sent. A request for heads that knows the newest is held until something changes or HOLD_S passed.
 * Depends: base, peer, libevent.   Threads: one.   Owns: its sockets.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_SERVER_H
#define CORE_HUB_EXCHANGE_PEER_SERVER_H

#include <event2/event.h>

#include "core/hub/exchange/node.h"
#include "core/hub/exchange/peer_request.h"

enum {
    PEER_SERVER_CONNS_MAX = 1024,
    PEER_SERVER_STRANGERS_MAX = 128, /* connections whose handshake is not done */
    PEER_SERVER_PEER_CONNS = 4,
    PEER_SERVER_PROXY_CONNS = 512, /* of a proxy that shows this server's own key */
    PEER_SERVER_HANDSHAKE_S = 5,
    PEER_SERVER_HEAD_S = 5,  /* from a request's first byte to its last */
    PEER_SERVER_IDLE_S = 75, /* between requests */
    PEER_SERVER_HOLD_S = 25,
    PEER_SERVER_SEND_S = 30,             /* for an answer, and */
    PEER_SERVER_SEND_RATE = 64 * 1024,   /* bytes a second that a reader must take */
    PEER_SERVER_PENDING_MAX = 512 << 20, /* bytes of answers that wait */
    PEER_SERVER_CHAIN_BYTES = 4 << 20    /* of one answer, or one object */
};

struct peer_server_stats {
    uint64_t accepted;
    uint64_t refused_address; /* too many from there */
    uint64_t refused_handshake;
    uint64_t evicted; /* strangers that gave way */
    uint64_t timeouts;
    uint64_t requests;
    uint64_t refused_requests; /* malformed, too large, too many */
    uint64_t bytes_out;
    unsigned open;
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
/* HOST:PORT; is_lenient: where this machine does not have the address, all of its addresses at the port. */
enum err peer_server_listen(struct peer_server *s, const char *address, bool is_lenient,
                            struct errinfo *reterr);
bool peer_server_is_listening(const struct peer_server *s);
void peer_server_unlisten(struct peer_server *s);
/* Certificate and key were read or changed: takes them for new connections, and drops connections of members that are
 * none any more. */
enum err peer_server_renew(struct peer_server *s, struct errinfo *reterr);
/* Every connection is closed. */
void peer_server_drop_all(struct peer_server *s);
/* Something may have changed: held requests are looked at. */
void peer_server_wake(struct peer_server *s);
/* About once a second: deadlines. */
void peer_server_tick(struct peer_server *s);
void peer_server_set_rate(struct peer_server *s, uint64_t bytes_per_s);

const struct peer_server_stats *peer_server_stats(const struct peer_server *s);
const struct peer_server_peer *peer_server_peer(const struct peer_server *s,
                                                const struct object_id *origin);

#endif
