/*
 * peerlist_internal - folders, open lists, and the streams in them; private to peerlist.
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
    uint64_t used;         /* time of the last use, by peerlists.clock */
    unsigned changes;      /* since its log was measured */
};

struct peerlists {
    char dir[FILE_PATH_MAX];
    const struct keyring *keys;
    const char *renew; /* name of a list's folder in ORIGIN while it is rewritten */
    const char *drop;  /* prefix of an origin's folder while it is removed */
    struct held held[PEERLIST_OPEN_MAX];
    uint64_t clock;
    const struct held *pinned; /* whose snapshot is being made; NULL: none */
    peerlist_wait_fn *wait;
    void *wait_context;
    struct digest *guarded;
    size_t nguarded;
};

/* The stream of a list or filter. */
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
/* ERR_RANGE: k is older than the stream in o. ERR_LIMIT: the origin has as many lists as it may. */
enum err owner_may_become(const struct peerlists *p, const struct owner *o,
                          const struct stream_key *k, struct errinfo *reterr);

/* DIR/ORIGIN */
enum err origin_path(const struct peerlists *p, const struct object_id *origin,
                     char ret[FILE_PATH_MAX], struct errinfo *reterr);
/* Opens the list of k. Creates it if it is missing or its digests are of another key. */
enum err held_open(struct peerlists *p, const struct stream_key *k, struct held **ret,
                   struct errinfo *reterr);
/* Opens the list of k. ERR_NOT_FOUND: the folder has another stream. */
enum err held_of(struct peerlists *p, const struct stream_key *k, struct held **ret,
                 struct errinfo *reterr);
/* Waits for a snapshot of h; call it before h is changed or closed. */
void held_settle(const struct peerlists *p, const struct held *h);
void held_close(struct held *h);
/* Rewrites the list if its log is much longer than its entries need. */
enum err held_renew(struct peerlists *p, struct held *h, const char *name,
                    struct errinfo *reterr);

#endif
