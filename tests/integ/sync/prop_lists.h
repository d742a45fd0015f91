/*
 * prop_lists - a list and a filter of each server of a simulated ring, and the copies that the
 * others hold.
 *
 * A server lists some of ITEMS digests, revokes some of them, and lets some expire. Its steps are
 * those of share (core/ring/sync/list_publisher_internal.h). One server of the ring also shares a filter. Copies are
 * read as gillnetd reads them, not through sync.
 * Depends: prop_model.   Threads: one.
 */
#ifndef TESTS_INTEG_SYNC_PROP_LISTS_H
#define TESTS_INTEG_SYNC_PROP_LISTS_H

#include "core/list/mirror.h"

#include "tests/integ/sync/prop_model.h"

enum { ITEMS = 24, FILTER_BYTES_MAX = 1 << 13 };

/* A server's own list and filter. */
struct listing {
    struct mirror_entry v[ITEMS]; /* status 0: nothing */
    bool is_told;
    uint64_t generation; /* of its filter; 0: none */
    char file[FILTER_BYTES_MAX];
    size_t nfile;
    bool is_filter_told;
};

/* Adds, removes or revokes some entries. */
void prop_list_change(struct listing *l, uint64_t now_s);
/* Makes a new filter, of other digests. */
void prop_filter_change(const struct syncnode *node, struct listing *l);

/* Publishes what is new. */
enum err prop_list_publish(struct syncnode *node, struct listing *l, uint64_t now_s,
                           struct errinfo *reterr);
enum err prop_filter_publish(struct syncnode *node, struct listing *l,
                             struct errinfo *reterr);

/* Reads the copy that `at` holds of the list of `of`. False: it has no copy. */
bool prop_list_read(const struct syncnode *at, const struct syncnode *of,
                    struct mirror_entry ret[ITEMS]);
/* The bytes of the filter of k that `at` holds; none: empty. */
void prop_filter_read(struct syncnode *at, const struct stream_key *k, struct buf *ret);
/* Whether `at` has a folder for the list of `of`. */
bool prop_list_is_there(const struct syncnode *at, const struct syncnode *of);

/* Fails unless v, the copy of server i, equals the list of server o: listed entries are equal,
 * revoked ones are revoked or absent, and there are no others. */
void prop_list_check(const struct listing *l, const struct mirror_entry v[ITEMS],
                     uint64_t now_s, unsigned i, unsigned o);
/* The root of such a list. */
void prop_list_root(const struct object_id *ring, const struct mirror_entry v[ITEMS],
                    struct hash256 *ret);

#endif
