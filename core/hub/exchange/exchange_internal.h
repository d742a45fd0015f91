/*
 * exchange_internal - the state of an exchange and of its peers.
 */
#ifndef CORE_HUB_EXCHANGE_EXCHANGE_INTERNAL_H
#define CORE_HUB_EXCHANGE_EXCHANGE_INTERNAL_H

#include "core/hub/exchange/exchange.h"
#include "core/hub/exchange/peer_client.h"
#include "core/hub/http/http_syntax.h"

enum {
    PATH_MAX_HERE = 160, /* of a request */
    SKIPPED_MAX = 256,
    DEFERS_MAX = 100,
    /* every head, every heartbeat, and their framing */
    HEADS_ANSWER_MAX =
        HEADS_MAX * HEAD_BYTES + HEARTBEATS_MAX * OBJECT_HEADER_BYTES + 64
};

struct peer;
struct fetch {
    struct peer *peer;
    struct client_call *call; /* NULL: idle */
    struct want want;
};

struct peer {
    struct exchange *x;
    char name[OBJECT_NAME_BYTES + 1];
    char address[MANIFEST_ADDRESS_MAX + 1];
    struct tls_pins pins;
    struct event *timer; /* the next step of the round, or the next round */
    struct client_call *call;
    struct fetch fetches[EXCHANGE_FETCHES];
    unsigned nfetches; /* under way */
    struct buf bytes;  /* of heads */
    struct heads heads;
    bool has_heads; /* a round is under way */
    struct want wants[EXCHANGE_WANTS];
    size_t nwants;
    size_t next_want;
    uint64_t after; /* version of heads seen whole */
    uint64_t whole_us;
    uint64_t begun_us;
    unsigned failures; /* in a row */
    unsigned defers;
    /* of the round */
    bool has_progress;
    bool is_deferred; /* a stream was left to another peer */
    bool is_failing;
    bool is_unheard; /* nothing came that could be called an answer */
    bool is_blamed;
    bool is_troubled;
    bool misses; /* something that its heads name could not be had */
    unsigned retry_s;
    char why[128];
    /* since the start */
    bool has_asked; /* one whole round was made */
    bool has_failed;
    bool is_done;       /* once */
    bool is_idle;       /* it could be called, and is not */
    uint64_t looked_us; /* clock_mono_us of the last exchange_look; 0: none */
    uint64_t manifest_seen;
    uint64_t manifest_refused;
    uint32_t ring_key; /* asked for last */
    uint64_t ring_key_us;
    uint64_t logged_until_us[SYNC_RESULTS];
    struct exchange_peer stat;
};

struct skipped {
    struct object_id id;
    uint64_t until_us;
};

struct exchange {
    struct event_base *base;
    struct node *node;
    struct exchange_hooks hooks;
    bool is_once;
    struct peer_client *client;
    struct peer *peers[MANIFEST_MEMBERS_MAX];
    unsigned npeers;
    struct skipped skipped[SKIPPED_MAX];
    size_t next_skipped;
    uint64_t begun_us;
    struct event *look; /* runs exchange_look for a peer that is not called */
    char unknown[512];  /* names of hub.connect that were logged */
};

/* ---- exchange_round ---- */

void exchange_begin(struct peer *p);
/* A whole round was made; the next one begins after rest_ms. */
void exchange_end(struct peer *p, unsigned rest_ms);
/* The round ends here; the next one comes after a wait (retry_s 0: longer with each failure). */
void exchange_fail(struct peer *p, const char *what, const char *why, unsigned retry_s);
void exchange_rest(struct peer *p, unsigned ms);
void exchange_forget(struct peer *p); /* the heads and wants of the round */
/* r: size and callbacks of the request. */
enum err exchange_call(struct peer *p, const char *path, struct peer_client_request r,
                       struct client_call **ret);
/* Requests a newer manifest or a missing digest key. False: neither is needed. */
bool exchange_ask(struct peer *p);

/* Requests the manifest of a peer that is not called. */
void exchange_look(struct peer *p);

/* ---- exchange_fetch ---- */

/* Fetches the next wants of p->heads. Ends the round when there are none. */
void exchange_fetch(struct peer *p);
/* Counts a refusal; logs it once an hour for each reason. o is NULL for a heartbeat or a proof. */
void exchange_refused(struct peer *p, enum sync_result r, const struct object *o,
                      const struct errinfo *why);

#endif
