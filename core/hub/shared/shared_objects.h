/*
 * shared_objects - lists, filters and reports of the ring's servers travel through the store.
 *
 * The objects are those of the ring (object.h), signed by their origin. sync checks each object, so
 * the store can only delay or withhold them. Each server puts in its own streams:
 *
 *   g{o:ORIGIN}STREAM       a stream of Redis: the objects of the chain; an entry SEQ-PART has one
 *                           part of OBJECTS_PART_BYTES in its field "b"; a SNAP is its header alone
 *   g{o:ORIGIN}STREAM:SEQ   the same for one SNAP with its payload
 *   g{o:ORIGIN}heads        the newest complete objects there (heads_print), the heartbeat, proofs
 *   g{objects}              a stream with an entry for each change of such heads: the origin
 *
 * A server puts objects first, then heads, then the entry of the change. A script appends only
 * after the entry that the server expects to be last, so repeating changes nothing. The answer
 * shows which entries the store lost, and the server puts them in again. A server checks this after
 * a fault, OBJECTS_CHECK_SOON_S after each change, and every OBJECTS_CHECK_S. Other servers read
 * the changes each second. They read all heads at the start, when the store lost changes, and every
 * OBJECTS_WHOLE_S.
 *
 * After a restore from a backup the store is one more source of the server's own newest objects.
 * The server puts and publishes nothing before it has read its own heads.
 * Counts, manifests and digest keys do not travel this way. A stream that the ring's connections
 * fetch is left to them. Keys of a server that is gone expire.
 * Depends: base, redis, exchange, stream, sync, trust.   Threads: that of the event loop.
 * ADR 0081.
 */
#ifndef CORE_HUB_SHARED_SHARED_OBJECTS_H
#define CORE_HUB_SHARED_SHARED_OBJECTS_H

#include "core/hub/exchange/exchange.h"
#include "core/hub/shared/shared.h"

enum {
    OBJECTS_PART_BYTES =
        64 * 1024, /* small: other calls wait behind it; part of the format */
    OBJECTS_STREAMS_MAX = 128,      /* of one origin */
    OBJECTS_HEADS_MAX = 512 * 1024, /* bytes of one origin's heads */
    OBJECTS_FETCHES = 4,            /* at once; the last one is for chains */
    OBJECTS_CHECK_SOON_S = 5,
    OBJECTS_CHECK_S = 60,
    OBJECTS_WHOLE_S = 120,
    OBJECTS_SKIP_S = 60,   /* a stream with a refused object is not fetched again */
    OBJECTS_MISSED_S = 5,  /* the same with a missing one */
    OBJECTS_SPOILT_S = 60, /* a spoilt stream is put in again once in that time */
    OBJECTS_LIFE_S = 15 * 24 * 3600 /* of keys after their server last looked at them */
};

struct shared_objects;
/* shared is borrowed. exchange may be NULL. */
enum err shared_objects_new(struct shared *shared, const struct exchange *exchange,
                            struct shared_objects **ret, struct errinfo *reterr);
/* Call it after the client of the store was freed. Accepts NULL. */
void shared_objects_free(struct shared_objects **o);
/* Call it each second while the node is open. */
void shared_objects_tick(struct shared_objects *o);
/* The node closes. */
void shared_objects_pause(struct shared_objects *o);

/* The store as a source of this server's own newest objects. NULL: no source. */
struct exchange_sources shared_objects_source(const struct shared_objects *o);

struct shared_objects_status {
    bool is_current; /* all own objects are in the store, and the heads say so */
    uint64_t put;    /* parts */
    uint64_t put_bytes;
    uint64_t put_again; /* streams that the store had lost or spoilt */
    uint64_t applied;   /* objects of others */
    uint64_t got_bytes;
    uint64_t missing; /* objects that heads named and the store did not have */
    uint64_t refused[SYNC_RESULTS];
    uint64_t faults;        /* calls without an answer, or with an error */
    uint64_t fetches;       /* under way */
    uint64_t heard_ms;      /* wall clock of the last answer; 0: never */
    char last_refusal[192]; /* "": none */
    char last_fault[192];   /* "": the last call was answered */
};
void shared_objects_status(const struct shared_objects *o,
                           struct shared_objects_status *ret);

#endif
