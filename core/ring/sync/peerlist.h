/*
 * peerlist - lists of each origin, as files: each origin has a state folder of its own
 * (core/list/list.h).
 *
 * DIR/ORIGIN/lists/NAME is a list of steps (core/list/mirror.h) and may have filters of that origin
 * (core/list/peer_filter.h); beside it NAME.entries, NAME.spam and NAME.revoked name the stream in
 * it. The objects of an origin change its own folder alone: an origin can revoke only its own
 * entries, and dropping it removes the folder. Of several incarnations of a list the newest counts:
 * the first object of another one replaces everything.
 * Depends: base, list, payload.   Threads: one.   Owns: DIR, under a lock that the caller holds;
 * open lists.   ADR 0035.
 */
#ifndef CORE_RING_SYNC_PEERLIST_H
#define CORE_RING_SYNC_PEERLIST_H

#include "core/base/keyring.h"
#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"

enum {
    PEERLIST_ENTRIES_MAX = 8 * 1024 * 1024, /* of one list */
    PEERLIST_LISTS_MAX = 18, /* of one origin: 16 that it shares, votes, its summary */
    PEERLIST_OPEN_MAX = 64,  /* lists held open at once */
    /* bytes of log beyond those of its entries; with more a list is rewritten */
    PEERLIST_LOG_SLACK = 64 << 20
};

struct peerlists;
/* Creates dir, finishes the work that a crash interrupted. keys are borrowed and may grow. */
enum err peerlists_open(const char *dir, const struct keyring *keys,
                        struct peerlists **ret, struct errinfo *reterr);
/* The same for subscriptions, which have other origins in the same dir. Both may be open at once,
 * each in its own thread, because each has its own names for unfinished work. */
enum err peerlists_open_subscribed(const char *dir, const struct keyring *keys,
                                   struct peerlists **ret, struct errinfo *reterr);
void peerlists_close(struct peerlists **p); /* accepts NULL */
/* Copies digests of names that no peer may list, under the writers' key. A filter that holds more
 * of them than chance allows is refused. */
enum err peerlists_guard(struct peerlists *p, const struct digest *v, size_t n);

/* ---- LIST ---- */

/* Checks, before anything is durable, that o and its records (fresh from payload_reader_init) fit
 * the list. ERR_RANGE: a record has another state before, type or expiry than the list, or the
 * incarnation is older. ERR_LIMIT: more entries or lists than an origin may have. ERR_KEY: no such
 * digest key. */
enum err peerlist_check(struct peerlists *p, const struct object *o,
                        const struct payload_reader *records, struct errinfo *reterr);
/* Durable when it returns ERR_OK, and visible to gillnetd. Idempotent: after a crash the caller
 * repeats it, in order. A SNAP replaces the list. `name` is that of the origin. */
enum err peerlist_apply(struct peerlists *p, const struct object *o, const char *name,
                        const struct payload_reader *records, struct errinfo *reterr);
/* Makes the payload of a SNAP, the whole stream, in three steps; the second may run in another
 * thread and sees the list as it was in the first. A change or close of the list in between calls
 * `wait` before, which returns after the second step. One at a time. */
struct peerlist_snap;
typedef void peerlist_wait_fn(void *context);
void peerlists_wait_by(struct peerlists *p, peerlist_wait_fn *wait, void *context);
enum err peerlist_snap_begin(struct peerlists *p, const struct stream_key *k,
                             struct peerlist_snap **ret, struct errinfo *reterr);
enum err peerlist_snap_run(struct peerlist_snap *x, struct buf *ret,
                           uint64_t *retrecords, struct errinfo *reterr);
void peerlist_snap_end(struct peerlists *p,
                       struct peerlist_snap **x); /* accepts NULL */
/* Looks up a digest in the list of k: sets the state after, type and expiry of *io. */
enum err peerlist_get(struct peerlists *p, const struct stream_key *k,
                      struct list_record *io, struct errinfo *reterr);

/* The next object of k, of any kind, must be its whole again; until then the old content stays. */
enum err peerlist_forget(struct peerlists *p, const struct stream_key *k,
                         struct errinfo *reterr);

/* Walks the list of k in order of digest, until its next change. peerlist_record makes an entry a
 * record of a SNAP. */
struct mirror_iter;
struct mirror_entry;
enum err peerlist_walk(struct peerlists *p, const struct stream_key *k,
                       struct mirror_iter **ret, struct errinfo *reterr);
struct list_record peerlist_record(const struct mirror_entry *entry);

/* ---- MEMBER, MEMBER_REVOKED ---- */

/* Checks that an honest peer can have made the filter (core/list/peer_filter.h). ERR_CORRUPT,
 * ERR_KEY, ERR_LIMIT. */
enum err peermember_check(struct peerlists *p, const struct object *o,
                          struct slice file, struct errinfo *reterr);
/* Replaces the filter; else as peerlist_apply. */
enum err peermember_apply(struct peerlists *p, const struct object *o,
                          struct slice file, struct errinfo *reterr);
/* The bytes as they came. */
enum err peermember_snap(struct peerlists *p, const struct stream_key *k,
                         struct buf *ret, struct errinfo *reterr);

/* Time (seconds since 1970) and number of entries of the filter of k. ERR_NOT_FOUND. */
enum err peermember_peek(struct peerlists *p, const struct stream_key *k,
                         uint64_t *retcreated_s, uint64_t *retentries,
                         struct errinfo *reterr);

/* ---- the end ---- */

/* Removes the folder of an origin: it is invisible when the function returns. */
enum err peerlists_drop(struct peerlists *p, const struct object_id *origin,
                        struct errinfo *reterr);

#endif
