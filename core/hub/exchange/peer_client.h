/*
 * peer_client - HTTPS requests to peers: libcurl's multi interface on the program's event loop.
 *
 * Each answer is bounded in bytes and time; keys are pinned (tls.h). Redirects, proxies, cookies
 * and every other scheme are off. All calls of a client end when it is freed.
 * Depends: base, libevent, libcurl.   Threads: one.   Owns: connections and calls.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_PEER_CLIENT_H
#define CORE_HUB_EXCHANGE_PEER_CLIENT_H

#include <event2/event.h>

#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/hub/exchange/tls.h"

struct peer_client;
/* key_dir: folder of cert.pem and signing.key; NULL: requests have no client certificate. */
enum err peer_client_new(struct event_base *base, const char *key_dir,
                         struct peer_client **ret, struct errinfo *reterr);
void peer_client_free(struct peer_client **c);

struct peer_client_answer {
    unsigned status;   /* 0: none came; why says what happened */
    struct slice body; /* until the callback returns */
    uint64_t manifest; /* Gillnet-Manifest; 0: none */
    unsigned retry_s;  /* Retry-After; 0: none */
    uint64_t time_ms;
    const char *why;
};
typedef void peer_client_done_fn(void *context,
                                 const struct peer_client_answer *answer);
/* Looks at the first bytes (at least CLIENT_LOOK of them) and says how long the whole may be. */
typedef size_t peer_client_look_fn(void *context, struct slice begin);
enum { PEER_CLIENT_LOOK = OBJECT_HEADER_BYTES };

struct peer_client_request {
    const char *url;
    const char *connect_to; /* HOST:PORT in the place of the URL's; NULL: the URL's */
    struct tls_pins *pins;  /* borrowed until done; NULL: no TLS of the ring */
    struct slice post;      /* copied; empty: GET */
    size_t max_bytes;
    unsigned timeout_s;        /* for the whole; a stalled one ends after STALL_S */
    peer_client_look_fn *look; /* may be NULL */
    peer_client_done_fn *done;
    void *context;
};
enum {
    PEER_CLIENT_CONNECT_S = 10,
    PEER_CLIENT_PROBE_S = 2,  /* of silence: is the other side there? */
    PEER_CLIENT_LOST_S = 10,  /* without a sign from the other side's kernel */
    PEER_CLIENT_STALL_S = 40, /* longer than a request for heads is held */
    PEER_CLIENT_HOST_CONNS = 3
};

struct client_call;
/* *retcall is good until done was called. */
enum err peer_client_start(struct peer_client *c,
                           const struct peer_client_request *request,
                           struct client_call **retcall, struct errinfo *reterr);
/* done is not called. Accepts NULL; nulls the pointer. */
void peer_client_cancel(struct client_call **call);

#endif
