/*
 * exchange - fetches what peers have and this server lacks: heads, wants, objects; over and over.
 *
 * Whom hub.connect names is called, or who has an address: also while none whom it names is a member that can be.
 * One round with each peer that is called: heads after the version seen last (held there until something
 * changes), then the objects that sync wants, up to FETCHES at once, no stream from two peers at the same time; what came is
 * offered to sync, which decides. Refusals are counted, and logged once for each peer and reason an hour. A peer that
 * cannot be reached, or hands out what no honest one could hold, is left alone for longer and longer.
 * Newer manifests and digest keys that it names are fetched on the way; one of those that are not called is asked for its
 * manifest now and then, so that those who are cannot keep a new one back.
 * Depends: base, config, peer.   Threads: one.   Owns: its client.   ADR 0034.
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
    EXCHANGE_LOOK_S =
        60,             /* one of those that are not called is asked for its manifest */
    EXCHANGE_ASK_S = 60 /* for peers' word on our own streams, before we publish */
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
/* The ring was opened, or manifest, keys or configuration changed: peers are those of now, connections are new. With a closed
 * ring: none. Not to be called from a hook. */
enum err exchange_renew(struct exchange *x, const struct config *config,
                        struct errinfo *reterr);

/* Those whom we call said what they have of our own streams, or cannot be reached, or it took too long. */
bool exchange_may_publish(const struct exchange *x);
/* once: every peer was asked, *retfailed of them in vain. */
bool exchange_is_done(const struct exchange *x, unsigned *retfailed);
/* NULL: not a member that is known here. */
const struct exchange_peer *exchange_peer(const struct exchange *x,
                                          const struct object_id *origin);

#endif
