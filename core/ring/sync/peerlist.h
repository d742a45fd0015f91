/*
 * peerlist - what each origin lists, as files: a state folder of its own for each (core/list/list.h).
 *
 * DIR/ORIGIN/lists/NAME is a list of steps (core/list/mirror.h) and may hold filters of that origin
 * (core/list/peer_filter.h); beside it NAME.entries, NAME.spam and NAME.revoked say which stream is
 * in it. Whatever an origin says touches its own folder alone: it can take back only what it
 * listed itself, and dropping it is removing the folder. Of several incarnations of a list the newest counts:
 * the first object of another one replaces all there was.
 * Depends: base, list, payload.   Threads: one.   Owns: DIR, under a lock that the caller holds; open lists.
 * ADR 0035.
 */
#ifndef CORE_RING_SYNC_PEERLIST_H
#define CORE_RING_SYNC_PEERLIST_H

#include "core/base/keyring.h"
#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"

enum {
    PEERLIST_ENTRIES_MAX = 8 * 1024 * 1024, /* of one list */
    PEERLIST_LISTS_MAX = 16,                /* of one origin */
    PEERLIST_OPEN_MAX = 64,                 /* lists held open at once */
    PEERLIST_LOG_SLACK =
        64 << 20 /* bytes of log over what its entries need: a list that
                                     changed more is made anew */
};

struct peerlists;
/* Finishes what a crash broke off. dir is made. keys are borrowed and may gain keys meanwhile. */
enum err peerlists_open(const char *dir, const struct keyring *keys,
                        struct peerlists **ret, struct errinfo *reterr);
/* As peerlists_open, for subscriptions, whose origins are other ones in the same dir: both may be open at once, each from
 * its own thread, and neither touches what the other has in work. */
enum err peerlists_open_subscribed(const char *dir, const struct keyring *keys,
                                   struct peerlists **ret, struct errinfo *reterr);
void peerlists_close(struct peerlists **p); /* accepts NULL */
/* Digests of names that no peer may list, under the writers' key; a filter that takes more of them than
 * chance does is refused. Copied. */
enum err peerlists_guard(struct peerlists *p, const struct digest *v, size_t n);

/* ---- LIST ---- */

/* Before anything is durable: o and its records (fresh from payload_reader_init) fit what is held. ERR_RANGE:
 * a record whose state before, type or expiry is not what is held, an older incarnation. ERR_LIMIT: more entries or lists than an origin may have. ERR_KEY: no such ring key. */
enum err peerlist_check(struct peerlists *p, const struct object *o,
                        const struct payload_reader *records, struct errinfo *reterr);
/* Durable when it returns ERR_OK, and seen by gillnetd. Idempotent: after a crash it is done again, in order.
 * name: of the origin. A SNAP replaces. */
enum err peerlist_apply(struct peerlists *p, const struct object *o, const char *name,
                        const struct payload_reader *records, struct errinfo *reterr);
/* The whole stream as a SNAP's payload, in three steps, of which the second may be another thread's: of the list as it is when it begins. Until it is
 * ended the list stays as it is: who would change or close it calls `wait` before, which returns when the second
 * step is over. One at a time. */
struct peerlist_snap;
typedef void peerlist_wait_fn(void *context);
void peerlists_wait_by(struct peerlists *p, peerlist_wait_fn *wait, void *context);
enum err peerlist_snap_begin(struct peerlists *p, const struct stream_key *k,
                             struct peerlist_snap **ret, struct errinfo *reterr);
enum err peerlist_snap_run(struct peerlist_snap *x, struct buf *ret,
                           uint64_t *retrecords, struct errinfo *reterr);
void peerlist_snap_end(struct peerlists *p,
                       struct peerlist_snap **x); /* accepts NULL */
/* What is held of digest in the list of k: the state after, type and expiry of *io. */
enum err peerlist_get(struct peerlists *p, const struct stream_key *k,
                      struct list_record *io, struct errinfo *reterr);

/* What comes of k (whatever its kind) from its begin is the whole again; until then what is held stays. */
enum err peerlist_forget(struct peerlists *p, const struct stream_key *k,
                         struct errinfo *reterr);

/* A walk of the list of k in order of digest, until it is next changed; each entry as a record of a SNAP. */
struct mirror_iter;
struct mirror_entry;
enum err peerlist_walk(struct peerlists *p, const struct stream_key *k,
                       struct mirror_iter **ret, struct errinfo *reterr);
struct list_record peerlist_record(const struct mirror_entry *entry);

/* ---- MEMBER, MEMBER_REVOKED ---- */

/* Whether it is a filter that an honest peer can have made (core/list/peer_filter.h). ERR_CORRUPT, ERR_KEY, ERR_LIMIT. */
enum err peermember_check(struct peerlists *p, const struct object *o,
                          struct slice file, struct errinfo *reterr);
/* In the place of the one before. As peerlist_apply. */
enum err peermember_apply(struct peerlists *p, const struct object *o,
                          struct slice file, struct errinfo *reterr);
/* The very bytes. */
enum err peermember_snap(struct peerlists *p, const struct stream_key *k,
                         struct buf *ret, struct errinfo *reterr);

/* When the filter of k that is held was made (seconds since 1970), and how many entries it has. ERR_NOT_FOUND: none is. */
enum err peermember_peek(struct peerlists *p, const struct stream_key *k,
                         uint64_t *retcreated_s, uint64_t *retentries,
                         struct errinfo *reterr);

/* ---- the end ---- */

/* Removes all that an origin said: nothing of it is seen any more when it returns. */
enum err peerlists_drop(struct peerlists *p, const struct object_id *origin,
                        struct errinfo *reterr);

#endif
