/*
 * peerlist_whole - the whole of a list that a peer shares, at once.
 */
#ifndef TESTS_UNIT_SYNC_PEERLIST_WHOLE_H
#define TESTS_UNIT_SYNC_PEERLIST_WHOLE_H

#include "core/ring/sync/peerlist_internal.h"

static inline enum err peerlist_snap(struct peerlists *p, const struct stream_key *k,
                                     struct buf *ret, uint64_t *retrecords,
                                     struct errinfo *reterr)
{
    struct peerlist_snap *x = NULL;
    if (p->pinned && p->wait) {
        p->wait(p->wait_context); /* one at a time */
    }
    enum err e = peerlist_snap_begin(p, k, &x, reterr);
    if (x) {
        e = peerlist_snap_run(x, ret, retrecords, reterr);
    }
    peerlist_snap_end(p, &x);
    return e;
}

#endif
