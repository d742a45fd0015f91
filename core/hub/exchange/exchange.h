/*
 * exchange - fetches missing objects from peers, round after round: heads, wants, objects.
 *
 * The hub calls the peers named in hub.connect. If the key is empty, or names no active member with
 * an address, it calls every member that has one. A round with one peer requests its heads after
 * the version seen last; the peer holds the request until something changes. Then the hub fetches
 * the objects that sync wants, up to EXCHANGE_FETCHES at once, and never one stream from two peers
 * at the same time. Every object is offered to sync, which decides. Refusals are counted, and
 * logged once an hour for each peer and reason. The pause grows after each failure: a peer cannot
 * be reached, or sends objects that no honest peer could hold. Newer manifests and digest keys are
 * fetched on the way. Every EXCHANGE_LOOK_S seconds one peer that is not called, each in turn, is
 * requested for its manifest, so that the called ones cannot hide a new one.
 * Reading order of the room: node, tls, peer_client; exchange_round, exchange_fetch, exchange;
 * peer_request, peer_server and its files; count_publisher; record_publisher with vote_publisher
 * and summary_publisher.
 * To add a request between peers: its path in peer_request.c, its answer in peer_server_reply.c,
 * and a call in exchange_ask (exchange_round.c).
 * Depends: base, config, ring.   Threads: one.   Owns: its client.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_EXCHANGE_H
#define CORE_HUB_EXCHANGE_EXCHANGE_H

#include <event2/event.h>

#include "core/config/config.h"
#include "core/hub/exchange/node.h"

enum {
    EXCHANGE_FETCHES = 3,
    EXCHANGE_WANTS = 64,     /* asked of sync at once */
    EXCHANGE_GAP_MS = 500,   /* between rounds with one peer */
    EXCHANGE_DEFER_MS = 100, /* while another peer sends the same stream */
    EXCHANGE_WHOLE_S = 300,  /* all heads, not only changed ones */
    EXCHANGE_SKIP_S = 60,    /* a refused stream is not fetched again */
    EXCHANGE_LOOK_S = 60,    /* between two calls of exchange_look */
    EXCHANGE_ASK_S = 60      /* see exchange_may_publish */
};

struct exchange_hooks {
    void *context;
    void (*changed)(void *context);  /* sync holds more than before */
    void (*manifest)(void *context); /* a newer one is in force: see exchange_renew */
    void (*ring_key)(void *context); /* a key was put into the keyring */
};

struct exchange_peer {
    struct object_id origin;
    bool is_called; /* it has an address, and we may call it */
    bool is_connected;
    uint64_t answered_ms; /* wall clock; 0: never */
    uint64_t heads;       /* in its last whole answer */
    uint64_t wants;       /* still to be fetched in this round */
    uint64_t bytes_in;
    uint64_t objects;
    uint64_t refused[SYNC_RESULTS];
    uint64_t failures;
    uint64_t round_ms;      /* the last one took */
    char last_failure[128]; /* "" : none */
    char last_refusal[192];
};

struct exchange;
enum err exchange_new(struct event_base *base, struct node *node,
                      const struct exchange_hooks *hooks, bool is_once,
                      struct exchange **ret, struct errinfo *reterr);
void exchange_free(struct exchange **x);
/* Call this after the ring was opened or closed, and after a change of manifest, keys or
 * configuration. It makes peers and connections from the current state; with a closed ring there
 * are none. Do not call it from a hook. */
enum err exchange_renew(struct exchange *x, const struct config *config,
                        struct errinfo *reterr);

/* Who may have newer objects of this server than itself. */
struct exchange_sources {
    unsigned called;
    unsigned asked; /* of these: they told all that they have */
    unsigned open;  /* neither that, nor a failure */
};
/* True if each called peer and each of the others sent its heads or cannot be reached, or if
 * EXCHANGE_ASK_S has passed. Until then this server may not know its own newest objects. */
bool exchange_may_publish(const struct exchange *x, struct exchange_sources others);
/* An object of that stream is on its way from a peer. */
bool exchange_is_fetching(const struct exchange *x, const struct stream_key *stream);
/* True if a round with every peer is over (is_once). *retfailed: rounds that failed. */
bool exchange_is_done(const struct exchange *x, unsigned *retfailed);
/* NULL: not a member that is known here. */
const struct exchange_peer *exchange_peer(const struct exchange *x,
                                          const struct object_id *origin);

#endif
