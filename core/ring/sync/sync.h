/*
 * sync - the state of all streams that this server holds, and the only place that decides what enters it.
 *
 * Knows no sockets and no threads: who drives it hands objects in and takes wants out, so that a test
 * drives the real thing over a network of its own. In STATE/peers:
 *   table/            cursors, positions of our own streams, proofs (core/store/table.h)
 *   objects/          signed objects as they came: ORIGIN/STREAM/SEQ
 *   counts/           decoded count streams, for gillnetd: ORIGIN/START-INC-KEY.stream while open
 *                     (core/count/stream.h), runs/ once closed (core/store/run.h)
 *   own/              the same of our own, for us
 *   lists/ORIGIN/     what each origin lists, as a state folder of its own (core/list/list.h)
 *   origins           names, caps, weights of the members, for gillnetd (core/store/origins.h)
 *   restored          this folder was put back from a back-up (sync_restored.c)
 * Order, for each object: length and form; manifest and key; signature; chain; hash of the payload; bounded
 * unpacking; records; quota; root; the object durable as a file; the cursor durable in the table; applied.
 * After a crash at any point what is held is what the origin signed.
 * Depends: base, list, count, store.   Threads: one.   Owns: the folder.   ADR 0032, notes of invariants there.
 */
#ifndef CORE_RING_SYNC_SYNC_H
#define CORE_RING_SYNC_SYNC_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/ring/stream/heads.h"
#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"
#include "core/ring/trust/identity.h"
#include "core/ring/trust/manifest.h"

enum {
    SYNC_INTERVAL_S = 5, /* between exchanges */
    SYNC_GRACE_S = 60,   /* after its end a bucket is closed */
    SYNC_SKEW_S = 120,   /* by which an object may come from the future */
    SYNC_KEEP_S = 7200,  /* objects of a closed stream are kept */
    SYNC_INCS_MAX = 64,  /* incarnations of one origin in one bucket */
    SYNC_BURST =
        4, /* times the mean rate of its quota that an origin may have in one bucket */
    SYNC_CANARIES = 10000
};

enum sync_result {
    SYNC_APPLIED,
    SYNC_DUPLICATE, /* known; nothing changed */
    SYNC_GAP,       /* something before it is missing: see sync_wants */
    SYNC_FORK,      /* the origin signed two histories: proof kept, origin set aside */
    SYNC_OLD,       /* its time is over, or a rollback */
    SYNC_FUTURE,    /* from beyond SYNC_SKEW_S */
    SYNC_QUOTA,     /* more than the origin may have */
    SYNC_UNKNOWN,   /* ring, origin or key is not in the manifest */
    SYNC_REVOKED,   /* dropped member or revoked key, or set aside */
    SYNC_SIGNATURE,
    SYNC_PAYLOAD,   /* hash, packing or records are wrong */
    SYNC_ROOT,      /* what it says the stream holds is not so */
    SYNC_FILTER,    /* a filter that takes too much for listed (canaries, fill) */
    SYNC_MALFORMED, /* form of the header */
    SYNC_VERSION,   /* of a later version: passed over */
    SYNC_TROUBLE,   /* ours: disk or memory; try again */
    SYNC_RESULTS
};
const char *sync_result_name(enum sync_result r);

struct sync_options {
    const char *state_dir;
    const struct identity *self; /* borrowed */
    const struct keyring *keys;  /* borrowed; the writers' key is that of our streams */
    const struct manifest *manifest; /* copied */
};

struct sync;
/* Takes STATE/peers/LOCK, finishes what a crash broke off. */
enum err sync_open(const struct sync_options *options, struct sync **ret,
                   struct errinfo *reterr);
void sync_close(struct sync **s);
/* What members and keys that are no longer trusted have brought is gone when it returns. */
enum err sync_set_manifest(struct sync *s, const struct manifest *m,
                           struct errinfo *reterr);

/* ---- receiving ---- */

/* Header and payload (a SNAP also without). reterr: which rule, which field, for one line of log. */
enum sync_result sync_offer(struct sync *s, struct slice object,
                            struct errinfo *reterr);

enum want_kind { WANT_CHAIN, WANT_SNAP };
struct want {
    enum want_kind kind;
    struct stream_key stream;
    uint64_t from; /* CHAIN: first and last seq */
    uint64_t to;
    struct hash256 hash; /* SNAP */
};
/* To be called first with each answer of heads: takes its heartbeats and proofs (a PROOF is three entries of that
 * section: its header and the two headers that it shows). fn (may be NULL) is told each result. Returns how many were new. */
typedef void sync_heard_fn(void *context, enum sync_result r,
                           const struct errinfo *why);
size_t sync_hear(struct sync *s, const struct heads *heads, sync_heard_fn *fn,
                 void *context);

/* What of these heads of a peer we lack and would take: lists, then buckets, newest first. What was refused for its
 * origin's fault is wanted again a minute later. */
size_t sync_wants(struct sync *s, const struct heads *heads, struct want *ret,
                  size_t most);

/* ---- serving ---- */

/* Rises with every change of a head, heartbeat or proof; of another process it has another upper half: an `after` that is
 * not of this one is answered with all. */
uint64_t sync_version(const struct sync *s);
/* Appends the answer to "heads after version" (heads_print). */
enum err sync_heads(struct sync *s, uint64_t after, struct buf *ret);
/* Objects seq from..to of a stream one after the other (a SNAP without payload), as many as fit max_bytes, at least one.
 * ERR_NOT_FOUND: `from` cannot be had any more, see SNAP. */
enum err sync_chain(struct sync *s, const struct object_id *stream, uint64_t from,
                    uint64_t to, size_t max_bytes, struct buf *ret);
/* Whether that stream has come as far as seq here: what is told of objects up to it never changes. */
bool sync_reaches(const struct sync *s, const struct object_id *stream, uint64_t seq);
/* A SNAP with its payload, made again from what we hold. */
enum err sync_snap(struct sync *s, const struct object_id *stream, uint64_t seq,
                   struct buf *ret, struct errinfo *reterr);

/* ---- our own streams: signed and durable before any peer can see them ---- */

/* False: peers hold more of our own streams than we remember (a restored disk); they are taken back first and a new
 * incarnation begins. To be asked with the first heads of a peer. */
bool sync_knows_itself(struct sync *s, const struct heads *heads);
/* totals: how often each key was counted in the bucket by now, only those that changed need be given, keys rising. Publishes
 * the difference to what was published. */
enum err sync_publish_counts(struct sync *s, uint64_t start_s,
                             const struct count_record *totals, size_t n,
                             struct errinfo *reterr);
/* Nothing comes any more for that bucket. */
enum err sync_close_counts(struct sync *s, uint64_t start_s, struct errinfo *reterr);
/* Steps of a list, sorted by digest. */
enum err sync_publish_list(struct sync *s, const char *list,
                           const struct list_record *v, size_t n,
                           struct errinfo *reterr);
/* The stream of ours that the next steps of that list (the next filter) go on with; false: a new one will begin, with
 * all that the list has. */
bool sync_own_stream(const struct sync *s, uint16_t kind, const char *list,
                     struct stream_key *ret);
/* The ring key of the digests that are published of lists and filters from now on; another one than before begins a
 * stream anew. 0, as at first: goes on as it is, and the first key here for what is new. */
void sync_use_list_key(struct sync *s, uint32_t id);
/* All members have that key, or will. */
bool sync_is_ring_key(const struct sync *s, uint32_t id);
/* Where lists are kept, for who compares them with what was published (share.h). */
struct peerlists;
struct peerlists *sync_lists(struct sync *s);
/* A new generation of a filter. */
enum err sync_publish_member(struct sync *s, const char *list, bool is_revoked,
                             struct slice file, struct errinfo *reterr);

/* From now on merging of days and SNAPs of lists are the work of a thread of this sync; sync_tick takes what it made.
 * Without, all is done at once. */
void sync_work_behind(struct sync *s);
/* A SNAP of our list is being made: its next steps would wait for that, so they are better published a moment later. */
bool sync_is_busy_with(const struct sync *s, const char *list);

/* Expiry, merging of days, heartbeats, closing of overdue streams: to be called about once a second. */
enum err sync_tick(struct sync *s, struct errinfo *reterr);

/* ---- to be seen ---- */

struct sync_origin_stat {
    struct object_id origin;
    uint64_t streams;
    uint64_t records; /* ever applied */
    uint64_t bytes;   /* stored */
    uint64_t applied; /* objects */
    uint64_t refused[SYNC_RESULTS];
    uint64_t quota;      /* records that a bucket may have */
    uint64_t quota_used; /* of the newest bucket */
    uint64_t seen_ms;    /* of the newest heartbeat or object */
    char name[OBJECT_NAME_BYTES + 1];
    bool is_stale;     /* none for 3 minutes */
    bool is_set_aside; /* forked */
};
size_t sync_stat(struct sync *s, struct sync_origin_stat *ret, size_t most);

#endif
