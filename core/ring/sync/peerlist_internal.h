/*
 * peerlist_internal - the inside of peerlist: folders, open lists, and which stream is in them.
 *
 * Depends: base, list.   Threads: one.
 */
#ifndef CORE_RING_SYNC_PEERLIST_INTERNAL_H
#define CORE_RING_SYNC_PEERLIST_INTERNAL_H

#include "core/base/file.h"
#include "core/list/mirror.h"
#include "core/ring/sync/peerlist.h"

enum { PEERLIST_HOUR_S = 3600, PEERLIST_EXPIRY_MAX_H = (int)(UINT32_MAX / 3600) };

/* A list that is open. */
struct held {
    struct object_id origin;
    char list[OBJECT_NAME_BYTES + 1];
    struct list_writer *w; /* NULL: free */
    uint64_t used;         /* when, by peerlists.clock */
    unsigned changes;      /* since its log was measured */
};

struct peerlists {
    char dir[FILE_PATH_MAX];
    const struct keyring *keys;
    const char *renew; /* name of a list's folder while it is made anew, in ORIGIN */
    const char
        *drop; /* begin of the name of an origin's folder that is being removed */
    struct held held[PEERLIST_OPEN_MAX];
    uint64_t clock;
    const struct held *pinned; /* a snapshot of it is being made; NULL: none */
    peerlist_wait_fn *wait;
    void *wait_context;
    struct digest *guarded;
    size_t nguarded;
};

/* Which stream a list or filter is of. */
struct owner {
    bool is_there;
    uint64_t inc;
    uint32_t ring_key;
};
bool owner_is(const struct owner *o, const struct stream_key *k);
enum err owner_read(const struct peerlists *p, const struct stream_key *k,
                    struct owner *ret, struct errinfo *reterr);
enum err owner_write(const struct peerlists *p, const struct stream_key *k,
                     struct errinfo *reterr);
/* ERR_RANGE: the stream is older than the one held. ERR_LIMIT: one list more than an origin may have. */
enum err owner_may_become(const struct peerlists *p, const struct owner *o,
                          const struct stream_key *k, struct errinfo *reterr);

/* DIR/ORIGIN */
enum err origin_path(const struct peerlists *p, const struct object_id *origin,
                     char ret[FILE_PATH_MAX], struct errinfo *reterr);
/* The open list of k; it is made where there is none, anew where its digests are of another key. */
enum err held_open(struct peerlists *p, const struct stream_key *k, struct held **ret,
                   struct errinfo *reterr);
/* The open list of k. ERR_NOT_FOUND: another stream is held. */
enum err held_of(struct peerlists *p, const struct stream_key *k, struct held **ret,
                 struct errinfo *reterr);
/* Before h is changed or closed. */
void held_settle(const struct peerlists *p, const struct held *h);
void held_close(struct held *h);
/* Makes a list whose log outgrew it anew. */
enum err held_renew(struct peerlists *p, struct held *h, const char *name,
                    struct errinfo *reterr);

#endif
