/*
 * sync_internal - what sync keeps in memory, for the modules that receive, store, serve and publish.
 *
 * Not for other rooms.   ADR 0032.
 */
#ifndef CORE_RING_SYNC_SYNC_INTERNAL_H
#define CORE_RING_SYNC_SYNC_INTERNAL_H

#include "core/base/file.h"
#include "core/count/bucket_clock.h"
#include "core/count/stream.h"
#include "core/ring/stream/root.h"
#include "core/ring/sync/sync.h"
#include "core/ring/sync/sync_content.h"
#include "core/store/background_job.h"
#include "core/store/table.h"

enum {
    SYNC_HEARTBEAT_S = 30,
    SYNC_LIFE_S = 180,       /* after which an origin without heartbeat is stale */
    SYNC_HOLD_S = 145 * 600, /* from its begin a bucket is kept whole, to be served */
    SYNC_ACCEPT_S = 14 * 86400 + 600, /* and taken in at all */
    SYNC_RETRY_S =
        60, /* what was refused for its origin's fault is wanted again after */
    SYNC_REFUSALS = 256,     /* remembered */
    SYNC_STREAMS_MAX = 4096, /* held of one origin */
    SYNC_OBJECTS_MAX = 4096, /* in one COUNT stream */
    SYNC_WRITERS_MAX = 64,   /* .stream files held open */
    SYNC_HISTORY =
        7 * 144, /* buckets that the usual rate of an origin is learnt from */
    SYNC_HISTORY_MIN = 144, /* and fewest */
    SYNC_QUOTA_MIN = 65536, /* records a bucket may have however quiet its origin was */
    SYNC_PROOF_BYTES = 2 * OBJECT_HEADER_BYTES,
    SYNC_COUNT_PART = 1 << 20, /* records of one DELTA of ours */
    SYNC_LIST_PART = 500000,
    SYNC_DIR_MODE = 02750,
    SYNC_FILE_MODE = 0640
};
#define SYNC_TOTAL_MAX (UINT64_C(1) << 60) /* counts of one stream */
#define SYNC_BYTES_MAX (UINT64_C(8) << 30) /* objects stored of one origin */
#define SYNC_TABLE_MAX (UINT64_C(4) << 30)

/* A stream that is held. What lies above the line is its cursor in the table. */
struct stream {
    struct stream_key key;
    struct object_id id;
    uint16_t flags;  /* OBJECT_CLOSED */
    bool is_left;    /* of ours, but peers knew more of it: never to be continued */
    uint64_t key_id; /* that signs it, from its begin to its end */
    uint64_t seq;    /* 0: nothing is there yet */
    struct hash256 hash;
    struct root root;
    uint64_t from; /* objects from..seq are on disk */
    uint64_t snap_seq;
    struct hash256 snap;
    uint64_t records; /* COUNT: of all objects */
    uint64_t total;
    uint64_t bytes;      /* of the objects on disk */
    uint64_t snap_bytes; /* of these, up to the newest SNAP */
    uint64_t changed_ms;
    uint64_t applied; /* at least */
    uint64_t own_seq; /* of ours: signed by this installation as it remembers itself */
    /* ------ */
    bool is_begun_here;  /* COUNT of ours, by this process */
    bool is_signed_here; /* by this process: nobody can have more of it */
    bool wants_snap;     /* LIST: its SNAP is to be made when there is time */
    uint64_t version;
    struct stream_writer *writer; /* COUNT, open: its file; NULL: not opened now */
    uint64_t written;             /* last seq in that file, when writer was opened */
    uint64_t used;                /* for closing the file used least */
    struct origin *origin;
    struct stream *next;      /* same slot */
    struct stream *of_origin; /* next of the same origin */
};

/* A member of the manifest. */
struct origin {
    struct object_id id;
    char name[OBJECT_NAME_BYTES + 1];
    enum member_state state;
    struct stream *streams;
    size_t nstreams;
    uint64_t bytes;
    bool is_aside;
    uint8_t proof[SYNC_PROOF_BYTES]; /* then */
    uint8_t proof_header
        [OBJECT_HEADER_BYTES]; /* of ours, to tell of it; signed when first told */
    bool has_proof_header;
    uint64_t proof_version;
    uint8_t heartbeat[OBJECT_HEADER_BYTES];
    uint64_t heartbeat_ms; /* created; 0: none */
    uint64_t heartbeat_seq;
    uint64_t heartbeat_version;
    uint64_t expires_ms;
    uint64_t object_ms; /* newest object's creation */
    uint32_t history[SYNC_HISTORY];
    uint64_t usual;    /* records a bucket that this makes; UINT64_MAX: not known yet */
    uint32_t nhistory; /* in use */
    uint32_t at;       /* the next to be replaced */
    uint64_t records;
    uint64_t applied;
    uint64_t refused[SYNC_RESULTS];
};

struct refusal {
    struct object_id stream;
    uint64_t until_ms;
};

/* What was published of a bucket. */
struct published {
    bool is_known;
    uint64_t start_s;
    struct content counts;
};
enum { SYNC_PUBLISHED_MAX = 4 };

/* What takes long, done by a thread of its own where that was asked for; what it makes is taken by sync_tick. */
enum work_kind { WORK_NONE, WORK_DAYS, WORK_SNAP };
struct work {
    struct background_job behind;
    bool has_thread; /* false: done at once */
    void (*before)(
        void *context); /* for tests: called by the thread before each work */
    void *before_context;
    enum work_kind kind;
    /* The thread's own until it is idle. */
    enum err result;
    struct errinfo why;
    char runs[FILE_PATH_MAX]; /* DAYS */
    uint64_t first_day;
    uint64_t bucket;
    bool expires;
    struct peerlist_snap *snap; /* SNAP */
    struct buf whole;           /* a header, or room for it, and the payload */
    uint64_t records;
    struct hash256 hash;
    /* The owner's. */
    struct object_id stream;
    uint64_t seq; /* of the SNAP */
    bool is_own;  /* to be signed; else a peer's, whose header is here */
};

/* The SNAP that was last made for a peer, so that who asks for it again and again makes no work; or that it cannot be
 * made. */
struct made_snap {
    struct object_id stream;
    uint64_t seq; /* 0: none */
    struct buf bytes;
    bool is_bad;
    uint64_t until_ms; /* is_bad: then it is tried again */
};
enum { SYNC_MADE_MAX = 16 << 20 };

struct peerlists;
struct sync {
    char state_dir[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX]; /* STATE/peers */
    const struct identity *self;
    const struct keyring *keys;
    uint32_t list_key; /* of digests of our lists that are published; 0: see there */
    struct manifest manifest;
    struct filelock lock;
    struct table *table;
    struct peerlists *lists;
    struct work work;
    struct made_snap made;
    struct stream **slots;
    size_t nslots; /* a power of two */
    size_t nstreams;
    size_t nwriters;
    uint64_t uses;
    struct origin **origins;
    unsigned norigins;
    uint64_t version;
    uint64_t inc;     /* of our COUNT streams: of this process */
    uint64_t nsigned; /* objects that we ever published */
    uint64_t opened_ms;
    uint64_t
        counts_from_s; /* of older buckets peers have what there is: a restored disk */
    bool is_adopting;  /* what is offered is ours, signed before a crash */
    struct refusal refusals[SYNC_REFUSALS];
    unsigned next_refusal;
    struct published published[SYNC_PUBLISHED_MAX];
    /* tick */
    uint64_t next_heartbeat_ms;
    struct bucket_clock
        period;            /* nothing expires while a step of the clock is on trial */
    uint64_t cared_bucket; /* when days were last merged */
    uint64_t
        sheets_at_s; /* buckets up to this one have their sheets; UINT64_MAX: all */
    uint64_t trimmed_ms;
};

/* An object on its way in, or out. */
struct offer {
    struct slice header;
    struct slice payload; /* as sent */
    bool has_payload;
    bool is_own;      /* signed by us just now */
    bool is_verified; /* its origin signed it */
    bool is_same;     /* a SNAP of what is held: nothing to apply */
    struct object o;
    struct hash256 hash;
    struct origin *origin;
    struct stream *stream;        /* NULL: a new one */
    struct buf raw;               /* unpacked, of a DELTA */
    struct slice records;         /* bytes of the records */
    struct payload_reader reader; /* at their begin */
    struct root root;             /* of the stream after it */
    const struct hash256 *sum;    /* of the payload, where it is known */
};

#endif
