/*
 * peer_request - the head of a request of the few that peers make, read strictly; and the head of an answer.
 *
 * Understood is what gillnet-hub and a plain cache send: HTTP/1.1 or 1.0, one request after the other. What two
 * readers could take for two things (folded fields, bare line ends, several lengths, transfer codings) is refused.
 * Depends: base, peer.   Threads: pure.   Allocates: nothing.   Source: RFC 9112.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_REQUEST_H
#define CORE_HUB_EXCHANGE_PEER_REQUEST_H

#include "core/base/buf.h"
#include "core/base/slice.h"
#include "core/hub/http/http_syntax.h"
#include "core/ring/stream/object.h"

#define HTTP_CLIENT_FIELD "Gillnet-Client-Cert"

enum {
    HTTP_HEAD_MAX = 8192, /* bytes of a request's head */
    HTTP_FIELDS_MAX = 64,
    HTTP_BODY_MAX = 65536 /* of a POST */
};

enum http_route {
    ROUTE_HEADS,    /* GET /v1/heads?after=N */
    ROUTE_CHAIN,    /* GET /v1/chain/STREAM/FROM-TO */
    ROUTE_SNAP,     /* GET /v1/snap/STREAM/SEQ */
    ROUTE_MANIFEST, /* GET /v1/manifest */
    ROUTE_RING_KEY, /* GET /v1/ringkey/ID */
    ROUTE_MEMBER,   /* GET /v1/member: whether the asker is one */
    ROUTE_JOIN      /* POST /v1/join */
};

struct http_request {
    enum http_route route;
    bool keeps_alive;
    size_t body;             /* bytes that follow the head; POST alone has any */
    struct object_id stream; /* CHAIN, SNAP */
    uint64_t from;           /* HEADS: after; CHAIN: from; SNAP: seq; RING_KEY: id */
    uint64_t to;             /* CHAIN */
    struct slice
        client; /* value of Gillnet-Client-Cert, borrowed of the head; n 0: none */
};

/* head: of http_head_length bytes. 0: *ret is filled; else the status of the refusal (400 and up), after which
 * the connection is to be closed. */
unsigned http_parse(struct slice head, struct http_request *ret);

/* The head of an answer. fields: more of them, each with its line end, or "". */
void http_print_head(unsigned status, size_t body_bytes, const char *fields,
                     bool keeps_alive, struct buf *ret);

#endif
