/*
 * shared_objects_internal - for the files of shared_objects alone.
 *
 * shared_objects.c has the calls and the turns, shared_objects_put.c the steps that put own objects
 * into the store, shared_objects_append.c the calls of these steps, shared_objects_get.c the
 * objects of others.
 */
#ifndef CORE_HUB_SHARED_SHARED_OBJECTS_INTERNAL_H
#define CORE_HUB_SHARED_SHARED_OBJECTS_INTERNAL_H

#include "core/hub/shared/shared_objects.h"

enum { OBJECTS_SKIPPED_MAX = 256, OBJECTS_PLACE_TEXT = 48, OBJECTS_US_PER_S = 1000000 };

/* The id of an entry, "SEQ-PART". */
struct objects_place {
    uint64_t seq; /* 0: no entry */
    uint64_t part;
};

/* An active member, or this server. */
struct objects_member {
    struct object_id origin;
    char name[OBJECT_NAME_BYTES + 1];
    bool is_due;    /* its heads are to be read */
    bool is_asking; /* they are on their way */
    bool was_heard;
    bool has_failed;
    uint64_t again_us; /* time when is_due is set; 0: never */
};

/* A want on its way. */
struct objects_fetch {
    struct shared_objects *o;
    bool is_used;
    struct want want;
    struct object_id id;
    struct objects_place next; /* the part that must come next */
    struct buf bytes;          /* of the object, so far */
    size_t length;             /* of the whole object */
    bool has_progress;
};

struct objects_skipped {
    struct object_id id;
    uint64_t until_us;
};

/* A stream of this server, and its state in the store. */
struct objects_own {
    struct head head; /* as sync has it */
    struct object_id id;
    bool is_there;    /* in sync's last heads */
    bool knows_chain; /* first and last are what the store has */
    struct objects_place first;
    struct objects_place last;
    bool is_whole;       /* last is the end of an object */
    bool knows_snap;     /* snap_last is what the store has of the SNAP of head */
    uint64_t snap_of;    /* the SNAP that is being put, or was */
    uint64_t snap_parts; /* of it */
    struct objects_place snap_last;
    bool has_snap;    /* it is complete */
    uint64_t trimmed; /* first.seq at the last trim */
    struct head told;
    bool has_told;
    uint64_t old_snap; /* to be removed; 0: none */
    uint64_t
        again_us; /* it was spoilt: until then it is put in again no more than once */
    uint64_t rest_us; /* it was spoilt again: until then it is left alone */
};

/* Bytes on their way into the store. */
struct objects_load {
    struct object_id id;
    uint64_t seq; /* of the object at `begin`; 0: nothing is loaded */
    uint64_t part;
    size_t begin;
    size_t length;
    struct buf bytes;
};

struct objects_put {
    bool is_busy;   /* one call at a time: order is what makes it safe */
    bool is_append; /* the call brings parts */
    uint64_t wait_us;
    uint64_t version; /* of sync, when the own heads were taken; 0: never */
    struct objects_own own[OBJECTS_STREAMS_MAX];
    size_t nown;
    struct objects_load chain;
    struct objects_load snap;
    struct buf heads; /* as they were written last */
    size_t compared;  /* bytes of them before the heartbeat */
    bool is_written;
    bool wants_notice; /* the change is not in g{objects} yet */
    uint64_t heads_us; /* when they are written again */
    uint64_t check_us; /* when the store is compared again */
};

struct shared_objects {
    struct shared *shared;
    const struct exchange *exchange;
    struct shared_objects_status stat;
    uint64_t logged_until_us[SYNC_RESULTS];
    uint64_t fault_until_us; /* no line about faults before */
    bool is_lost;            /* such a line was written */
    bool is_open;
    uint64_t turn; /* rises when the node closes: answers to older calls mean nothing */
    uint64_t begun_us;
    uint64_t epoch; /* of the node, when members were taken */
    struct objects_member *members;
    size_t nmembers;
    struct objects_place notice; /* the last change read; seq 0: not known */
    bool is_polling;
    uint64_t whole_us; /* when all heads are read again */
    struct objects_fetch fetches[OBJECTS_FETCHES];
    struct objects_skipped skipped[OBJECTS_SKIPPED_MAX];
    size_t next_skipped;
    struct objects_put put;
};

/* ---- shared_objects.c ---- */

typedef void objects_take_fn(struct shared_objects *o, const struct object_id *origin,
                             void *what, const struct resp *reply, struct slice error);
struct objects_request {
    const struct shared_name *key;
    const struct slice *args; /* with the key */
    size_t nargs;
    objects_take_fn *take;
    const struct object_id *origin; /* these are for take */
    void *what;
};
/* Calls the store. take is called once, if the node is still open then. reply NULL: a fault, or the
 * error of a command. False: take will not be called. */
bool objects_ask(struct shared_objects *o, const struct objects_request *request);
struct shared_name objects_name(const struct shared_objects *o,
                                const struct object_id *origin, const char *rest);
/* Returns the name of a chain; seq > 0: of that SNAP. */
struct shared_name objects_stream_name(const struct shared_objects *o,
                                       const struct object_id *origin,
                                       const struct object_id *stream, uint64_t seq);
bool objects_place_parse(struct slice id, struct objects_place *ret);
/* Counts a refusal; logs it once an hour for each reason. what: "heads", "object". */
void objects_refused(struct shared_objects *o, const struct object_id *origin,
                     const char *what, enum sync_result r, const struct errinfo *why);
struct objects_member *objects_member(struct shared_objects *o,
                                      const struct object_id *origin);
bool objects_is_self(const struct shared_objects *o, const struct object_id *origin);
struct sync *objects_sync(const struct shared_objects *o);
const struct object_id *objects_self(const struct shared_objects *o);
/* Monotonic, in microseconds. */
uint64_t objects_soon(unsigned seconds);
/* The store may have lost entries, or not have done a call: compares all of it again. */
void objects_doubt(struct shared_objects *o);

/* ---- shared_objects_put.c ---- */

/* Does the next step, unless one is under way. */
void objects_put_step(struct shared_objects *o);
void objects_put_reset(struct objects_put *p);
/* Takes the own heads that the store had. Streams that do not continue are removed there. */
void objects_put_note(struct shared_objects *o, const struct heads *heads);
/* Compares the store at the next step. */
void objects_put_check(struct objects_put *p);

/* ---- shared_objects_append.c ---- */

/* Loads the next objects of a chain, or a SNAP, from that place on. False: they are not here. */
bool objects_load(struct shared_objects *o, struct objects_load *l,
                  const struct objects_own *w, bool is_snap, struct objects_place from);
void objects_load_drop(struct objects_load *l);
/* Returns the number of parts that the object has in its key; 0: this server has no such object. */
uint64_t objects_parts_there(struct shared_objects *o, const struct objects_own *w,
                             uint64_t seq, bool is_snap);
/* Appends the next parts of l, as many as fit one call, after *last. *last becomes the place of the
 * newest part. l NULL: only asks for the places. snap: its seq, or 0 for the chain. */
void objects_append(struct shared_objects *o, struct objects_own *w,
                    struct objects_load *l, uint64_t snap, struct objects_place *last);
/* The key holds other data than this server put there: puts all parts in again. If they are spoilt
 * again within OBJECTS_SPOILT_S, the stream rests for that time. */
void objects_put_again(struct shared_objects *o, struct objects_own *w, uint64_t snap);
/* Makes the one call that may be under way. False: not made; do the step again. */
bool objects_put_call(struct shared_objects *o, const struct shared_name *key,
                      const struct slice *args, size_t nargs, objects_take_fn *take,
                      void *what);
void objects_put_remove(struct shared_objects *o, const struct shared_name *key);
/* The answer to a removal. */
objects_take_fn objects_put_removed;
/* Waits: after a fault until the next turn; after an error, such as a full store, longer. */
void objects_put_wait(struct shared_objects *o, struct slice error);
/* True if the error means that the key holds data that this server did not put there. */
bool objects_is_spoilt(struct slice error);

/* ---- shared_objects_get.c ---- */

/* Reads the heads of members that are due. */
void objects_look(struct shared_objects *o);
void objects_fetches_reset(struct shared_objects *o);

#endif
