/*
 * sync - the streams that this server holds, and the only code that decides which objects enter.
 *
 * It knows no sockets and no threads. The caller hands objects in and takes wants out, so a test
 * drives the same code over a network of its own. Files in STATE/peers:
 *
 *   table/         cursors, distrust proofs, quotas (core/store/table.h)
 *   objects/       signed objects as they came: ORIGIN/STREAM/SEQ
 *   counts/        decoded count streams, for gillnetd: ORIGIN/START-INC-KEY.stream while open
 *                  (core/count/stream.h), runs/ once closed (core/store/run.h)
 *   own/           the same of this server's own streams
 *   lists/ORIGIN/  the lists of each origin, as a state folder of its own (core/list/list.h)
 *   origins        names, caps, weights of the members, for gillnetd (core/store/origins.h)
 *   restored       this folder was restored from a backup (sync_restored.c)
 *
 * Order of the checks of an object: length and form; manifest and key; signature; chain; hash of
 * the payload; bounded unpacking; records; quota; root. Then it becomes durable as a file, then the
 * cursor in the table, then it is applied. After a crash at any point this server holds nothing
 * that the origin did not sign.
 *
 * Files, in reading order: sync_receive (the checks), sync_store (objects as files), sync_stream
 * (cursors), sync_count and sync_list (content by kind), sync_serve (answers and wants),
 * sync_publish and sync_publish_list (own streams), sync_tick and sync_work (time, slow work),
 * sync_trust, sync_proof, sync_quota (limits of an origin), sync_restored, sync_stat, sync (open
 * and close). On top: list_publisher (own lists into steps). Below: peerlist (lists of origins).
 * The way of an entry to another server: the list's log (core/list), list_publisher, a signed DELTA
 * (core/ring/stream), exchange (core/hub) to the peer, take_object with its checks, peerlist, and
 * the mirror of the list there (core/list/mirror.h), which gillnetd opens. Sequence numbers, the
 * hash of the former object and incarnations keep an old copy of an entry from coming back.
 * To add a check of an object: a value of enum sync_result with its name in sync.c and, if the
 * origin is at fault, its row in is_for_good; the check in its place in take_object; a lie in
 * tests/unit/sync/test_sync_liar.c.
 * Depends: base, list, count, store.   Threads: one.   Owns: the folder.   ADR 0032 and its
 * invariants; 0058.
 */
#ifndef CORE_RING_SYNC_SYNC_H
#define CORE_RING_SYNC_SYNC_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/ring/stream/heads.h"
#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"
#include "core/ring/trust/manifest.h"
#include "core/ring/trust/peer_identity.h"

enum {
    SYNC_INTERVAL_S = 5, /* between exchanges */
    SYNC_GRACE_S = 60,   /* from the end of a bucket until it is closed */
    SYNC_SKEW_S = 120,   /* that the clock of an origin may be ahead */
    SYNC_KEEP_S = 7200,  /* time that objects of a closed stream are kept */
    SYNC_INCS_MAX = 64,  /* incarnations of one origin in one bucket */
    SYNC_BURST = 4,      /* times the mean rate of its quota, allowed in one bucket */
    SYNC_CANARIES = 10000
};

enum sync_result {
    SYNC_APPLIED,
    SYNC_DUPLICATE, /* known; nothing changed */
    SYNC_GAP,       /* an earlier object is missing: see sync_wants */
    SYNC_FORK,    /* the origin signed two histories: proof stored, origin distrusted */
    SYNC_OLD,     /* too old, or a rollback */
    SYNC_FUTURE,  /* later than SYNC_SKEW_S from now */
    SYNC_QUOTA,   /* more than the origin may have */
    SYNC_UNKNOWN, /* ring, origin or key is not in the manifest */
    SYNC_REVOKED, /* dropped or distrusted member, or revoked key */
    SYNC_SIGNATURE,
    SYNC_PAYLOAD,   /* hash, packing or records are wrong */
    SYNC_ROOT,      /* the root is not that of the content */
    SYNC_FILTER,    /* a filter that matches too much (canaries, fill) */
    SYNC_MALFORMED, /* form of the header */
    SYNC_VERSION,   /* of a later version: ignored */
    SYNC_TROUBLE,   /* local disk or memory; try again */
    SYNC_RESULTS
};
const char *sync_result_name(enum sync_result r);

struct sync_options {
    const char *state_dir;
    const struct identity *self;     /* borrowed */
    const struct keyring *keys;      /* borrowed; own streams use the writers' key */
    const struct manifest *manifest; /* copied */
    /* In a ring of one owner counts go through a store that all members share: those of peers are
     * removed here, and neither wanted nor accepted, so that none is counted twice. */
    bool has_store;
};

struct sync;
/* Takes STATE/peers/LOCK and finishes the work that a crash interrupted. */
enum err sync_open(const struct sync_options *options, struct sync **ret,
                   struct errinfo *reterr);
void sync_close(struct sync **s);
/* Removes the objects of members and keys that m no longer trusts. */
enum err sync_set_manifest(struct sync *s, const struct manifest *m,
                           struct errinfo *reterr);

/* ---- receiving ---- */

/* Offers header and payload (a SNAP also without). reterr: rule and field, for one line of log. */
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
/* Handles heartbeats and proofs of an answer; call it before sync_wants. (A PROOF is three entries
 * of that section: its header and the two headers in its payload.) Calls fn, which may be NULL,
 * with each result. Returns the number of new ones. */
typedef void sync_heard_fn(void *context, enum sync_result r,
                           const struct errinfo *why);
size_t sync_hear(struct sync *s, const struct heads *heads, sync_heard_fn *fn,
                 void *context);

/* Objects of these heads that are missing here and would be accepted: lists, then buckets, newest
 * first. An object that was refused for its origin's fault is wanted again a minute later. */
size_t sync_wants(struct sync *s, const struct heads *heads, struct want *ret,
                  size_t most);

/* ---- serving ---- */

/* Rises with every change of a head, heartbeat or proof. Each process has another upper half: a
 * version of another process is answered with everything. */
uint64_t sync_version(const struct sync *s);
/* Appends the answer to "heads after version" (heads_print). */
enum err sync_heads(struct sync *s, uint64_t after, struct buf *ret);
/* The heads of the own lists and filters that go on, lists first, the own heartbeat, and proofs.
 * Heartbeats and proofs point into s until its next change. Free with heads_fini. */
enum err sync_own_heads(struct sync *s, struct heads *ret);
/* Appends objects seq from..to of a stream (a SNAP without payload): as many as fit max_bytes, at
 * least one. ERR_NOT_FOUND: `from` was removed, take the SNAP. */
enum err sync_chain(struct sync *s, const struct object_id *stream, uint64_t from,
                    uint64_t to, size_t max_bytes, struct buf *ret);
/* The header of a stored object. ERR_NOT_FOUND: it was removed. */
enum err sync_header(const struct sync *s, const struct object_id *stream, uint64_t seq,
                     struct object *ret);
/* Whether the stream has reached seq here; answers about objects up to seq never change then. */
bool sync_reaches(const struct sync *s, const struct object_id *stream, uint64_t seq);
/* Appends a SNAP with its payload, made again from the stored content. */
enum err sync_snap(struct sync *s, const struct object_id *stream, uint64_t seq,
                   struct buf *ret, struct errinfo *reterr);

/* ---- own streams: signed and durable before a peer can see them ---- */

/* False: peers hold more of the own streams than this server (a restored disk). Their objects are
 * fetched first, and a new incarnation begins. Call it with the first heads of a peer. */
bool sync_knows_itself(struct sync *s, const struct heads *heads);
/* Publishes the counts of a bucket that are not published yet. totals: counts up to now, keys
 * rising, at least of the keys that changed. */
enum err sync_publish_counts(struct sync *s, uint64_t start_s,
                             const struct count_record *totals, size_t n,
                             struct errinfo *reterr);
/* Ends the streams of that bucket. */
enum err sync_close_counts(struct sync *s, uint64_t start_s, struct errinfo *reterr);
/* Publishes steps of a list, sorted by digest. */
enum err sync_publish_list(struct sync *s, const char *list,
                           const struct list_record *v, size_t n,
                           struct errinfo *reterr);
/* The own stream that the next steps of that list (the next filter) continue. False: they begin a
 * new one, with the whole list. */
bool sync_own_stream(const struct sync *s, uint16_t kind, const char *list,
                     struct stream_key *ret);
/* Sets the digest key of digests in lists and filters that are published next; another key begins a
 * new stream. 0, the default: streams keep their key, and new ones use the writers' key. */
void sync_use_list_key(struct sync *s, uint32_t id);
/* The manifest has that digest key. */
bool sync_is_ring_key(const struct sync *s, uint32_t id);
/* The ring's servers have one owner. */
bool sync_has_one_owner(const struct sync *s);
/* The folder of lists, for list_publisher. */
struct peerlists;
struct peerlists *sync_lists(struct sync *s);
/* Publishes a new generation of a filter. */
enum err sync_publish_member(struct sync *s, const char *list, bool is_revoked,
                             struct slice file, struct errinfo *reterr);

/* Moves merging of days and SNAPs of lists to a thread of this sync; sync_tick takes the results.
 * Without it both happen at once. */
void sync_work_behind(struct sync *s);
/* A SNAP of the own list is being made: its next steps would wait, so publish them later. */
bool sync_is_busy_with(const struct sync *s, const char *list);

/* Expiry, merging of days, heartbeats, closing of overdue streams. Call it about once a second. */
enum err sync_tick(struct sync *s, struct errinfo *reterr);

/* ---- statistics ---- */

struct sync_origin_stat {
    struct object_id origin;
    uint64_t streams;
    uint64_t records; /* ever applied */
    uint64_t bytes;   /* stored */
    uint64_t applied; /* objects */
    uint64_t refused[SYNC_RESULTS];
    uint64_t quota;      /* records allowed in a bucket */
    uint64_t quota_used; /* of the newest bucket */
    uint64_t seen_ms;    /* of the newest heartbeat or object */
    char name[OBJECT_NAME_BYTES + 1];
    bool is_stale;      /* no heartbeat for 3 minutes */
    bool is_distrusted; /* distrusted: it forked */
};
size_t sync_stat(struct sync *s, struct sync_origin_stat *ret, size_t most);

#endif
