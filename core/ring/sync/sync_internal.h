/*
 * sync_internal - sync's state in memory, for the modules that receive, store, serve and publish.
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
#include "core/store/background_job.h"
#include "core/store/run.h"
#include "core/store/table.h"

enum {
    SYNC_HEARTBEAT_S = 30,
    SYNC_LIFE_S = 180,       /* after which an origin without heartbeat is stale */
    SYNC_HOLD_S = 145 * 600, /* from its begin a bucket is stored whole, for peers */
    SYNC_ACCEPT_S = 14 * 86400 + 600, /* from its begin a bucket is accepted */
    SYNC_RETRY_S =
        60, /* until an object refused for its origin's fault is wanted again */
    SYNC_REFUSALS = 256,     /* remembered */
    SYNC_STREAMS_MAX = 4096, /* held of one origin */
    SYNC_OBJECTS_MAX = 4096, /* in one COUNT stream */
    SYNC_WRITERS_MAX = 64,   /* .stream files held open */
    SYNC_HISTORY =
        7 * 144, /* buckets from which the usual rate of an origin is learnt */
    SYNC_HISTORY_MIN = 144, /* and fewest */
    SYNC_QUOTA_MIN = 65536, /* records a bucket may have however quiet its origin was */
    SYNC_PROOF_BYTES = 2 * OBJECT_HEADER_BYTES,
    SYNC_COUNT_PART = 1 << 20, /* records of one own DELTA */
    SYNC_LIST_PART = 500000,
    SYNC_DIR_MODE = 02750,
    SYNC_FILE_MODE = 0640
};
#define SYNC_TOTAL_MAX (UINT64_C(1) << 60) /* counts of one stream */
#define SYNC_BYTES_MAX (UINT64_C(8) << 30) /* objects stored of one origin */
#define SYNC_TABLE_MAX (UINT64_C(4) << 30)

/* The counts of a COUNT stream, collected from its parts (sync_content.c). */
struct content {
    struct run_record *v;
    size_t n;
    size_t room;
    bool failed; /* no memory: records are missing */
};
void content_reserve(struct content *c, size_t n);
void content_add(struct content *c, uint64_t key, uint64_t count);
/* Puts keys in rising order by merging sorted parts, and adds up the counts of one key. */
enum err content_sort(struct content *c, struct errinfo *reterr);
void content_fini(struct content *c);

/* A stream. The fields above the line are its cursor in the table. */
struct stream {
    struct stream_key key;
    struct object_id id;
    uint16_t flags;  /* OBJECT_CLOSED */
    bool is_left;    /* own, but peers had more of it: never continued */
    uint64_t key_id; /* of the key that signs all its objects */
    uint64_t seq;    /* 0: no object yet */
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
    uint64_t own_seq; /* own: seq that this installation remembers signing */
    /* ------ */
    bool is_begun_here;  /* own COUNT, of this process */
    bool is_signed_here; /* by this process: no peer can have more of it */
    bool wants_snap;     /* LIST: its SNAP is made when there is time */
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
    bool is_distrusted;
    uint8_t proof[SYNC_PROOF_BYTES];           /* if is_distrusted */
    uint8_t proof_header[OBJECT_HEADER_BYTES]; /* signed here when it is first sent */
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

/* Published counts of a bucket. */
struct published {
    bool is_known;
    uint64_t start_s;
    struct content counts;
};
enum { SYNC_PUBLISHED_MAX = 4 };

/* Slow work, done by a thread if sync_work_behind was called; sync_tick takes the result. */
enum work_kind { WORK_NONE, WORK_DAYS, WORK_SNAP };
struct work {
    struct background_job behind;
    bool has_thread; /* false: done at once */
    void (*before)(
        void *context); /* for tests: called by the thread before each work */
    void *before_context;
    enum work_kind kind;
    /* Used by the thread until it is idle. */
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
    /* Used by the owner. */
    struct object_id stream;
    uint64_t seq; /* of the SNAP */
    bool is_own;  /* own, to be signed; else a peer's with its header */
};

/* The last SNAP that was made for a peer, or the failure: repeated requests cost nothing. */
struct made_snap {
    struct object_id stream;
    uint64_t seq; /* 0: none */
    struct buf bytes;
    bool is_bad;
    uint64_t until_ms; /* is_bad: time of the next try */
};
enum { SYNC_MADE_MAX = 16 << 20 };

struct peerlists;
struct sync {
    char state_dir[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX]; /* STATE/peers */
    const struct identity *self;
    const struct keyring *keys;
    uint32_t list_key; /* of digests in published lists; 0: sync_use_list_key */
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
    uint64_t inc;     /* of own COUNT streams: of this process */
    uint64_t nsigned; /* objects that were ever published here */
    uint64_t opened_ms;
    uint64_t counts_from_s; /* restored disk: older buckets are not published */
    bool has_store;         /* sync_options */
    bool is_adopting;       /* the offered object is own, signed before a crash */
    struct refusal refusals[SYNC_REFUSALS];
    unsigned next_refusal;
    struct published published[SYNC_PUBLISHED_MAX];
    /* tick */
    uint64_t next_heartbeat_ms;
    struct bucket_clock
        period;            /* nothing expires while a step of the clock is on trial */
    uint64_t cared_bucket; /* bucket when days were last merged */
    uint64_t merged_at_s;  /* buckets up to it have merged runs; UINT64_MAX: all */
    uint64_t trimmed_ms;
};

/* An object that is received or published. */
struct offer {
    struct slice header;
    struct slice payload; /* as sent */
    bool has_payload;
    bool is_own;      /* signed here just now */
    bool is_verified; /* its origin signed it */
    bool is_same;     /* a SNAP of the stored content: nothing to apply */
    struct object o;
    struct hash256 hash;
    struct origin *origin;
    struct stream *stream;        /* NULL: a new one */
    struct buf raw;               /* unpacked, of a DELTA */
    struct slice records;         /* bytes of the records */
    struct payload_reader reader; /* at their begin */
    struct root root;             /* of the stream after it */
    const struct hash256 *sum;    /* of the payload; NULL: not known */
};

#endif
