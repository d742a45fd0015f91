/*
 * peer_request - a request of a peer: the head of hub/http, and the path of one of the few things
 * that peers fetch.
 *
 * Depends: base, http, stream.   Threads: pure.   Allocates: nothing.   Source: RFC 9112.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_REQUEST_H
#define CORE_HUB_EXCHANGE_PEER_REQUEST_H

#include "core/hub/http/http_request.h"
#include "core/ring/stream/object.h"

#define PEER_CLIENT_FIELD "Gillnet-Client-Cert"

enum { PEER_BODY_MAX = 65536 /* bytes of a POST's body */ };

enum peer_route {
    ROUTE_HEADS,    /* GET /v1/heads?after=N */
    ROUTE_CHAIN,    /* GET /v1/chain/STREAM/FROM-TO */
    ROUTE_SNAP,     /* GET /v1/snap/STREAM/SEQ */
    ROUTE_MANIFEST, /* GET /v1/manifest */
    ROUTE_RING_KEY, /* GET /v1/ringkey/ID */
    ROUTE_MEMBER,   /* GET /v1/member: 200 if the client is a member */
    ROUTE_JOIN      /* POST /v1/join */
};

struct peer_request {
    enum peer_route route;
    struct object_id stream; /* CHAIN, SNAP */
    uint64_t from;           /* HEADS: after; CHAIN: from; SNAP: seq; RING_KEY: id */
    uint64_t to;             /* CHAIN */
};

/* head: of http_head_length bytes. 0: both are filled, and rethttp->field is the value of
 * Gillnet-Client-Cert. Otherwise the status of the refusal (400 or higher), after which the
 * connection must be closed. */
unsigned peer_request_parse(struct slice head, struct http_request *rethttp,
                            struct peer_request *ret);

#endif
