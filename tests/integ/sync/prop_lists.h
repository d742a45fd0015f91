/*
 * prop_lists - a list and a filter of each server of a simulated ring: what it lists, and what the others hold of it.
 *
 * A server lists some of ITEMS digests, takes some of them back, lets some expire; its steps are those that share makes
 * (core/ring/sync/list_publisher_internal.h). One server of the ring shares a filter too. What was published is
 * read back as gillnetd reads it, not through sync.
 * Depends: prop_model.   Threads: one.
 */
#ifndef TESTS_INTEG_SYNC_PROP_LISTS_H
#define TESTS_INTEG_SYNC_PROP_LISTS_H

#include "core/list/mirror.h"

#include "tests/integ/sync/prop_model.h"

enum { ITEMS = 24, FILTER_BYTES_MAX = 1 << 13 };

/* What a server lists itself. */
struct listing {
    struct mirror_entry v[ITEMS]; /* status 0: nothing */
    bool is_told;
    uint64_t generation; /* of its filter; 0: none */
    char file[FILTER_BYTES_MAX];
    size_t nfile;
    bool is_filter_told;
};

/* Some entries come, go or are taken back. */
void prop_list_change(struct listing *l, uint64_t now_s);
/* The filter is made anew, of other digests. */
void prop_filter_change(const struct syncnode *node, struct listing *l);

/* Publishes what is new. */
enum err prop_list_publish(struct syncnode *node, struct listing *l, uint64_t now_s,
                           struct errinfo *reterr);
enum err prop_filter_publish(struct syncnode *node, struct listing *l,
                             struct errinfo *reterr);

/* What `at` holds of the list of `of`. False: nothing. */
bool prop_list_read(const struct syncnode *at, const struct syncnode *of,
                    struct mirror_entry ret[ITEMS]);
/* The bytes of the filter of k that `at` holds; none: empty. */
void prop_filter_read(struct syncnode *at, const struct stream_key *k, struct buf *ret);
/* Whether `at` has a folder for what `of` lists. */
bool prop_list_is_there(const struct syncnode *at, const struct syncnode *of);

/* Fails unless v, which server i holds of server o, is what o lists: entries as they are; taken back, or never told
 * of; no others. */
void prop_list_check(const struct listing *l, const struct mirror_entry v[ITEMS],
                     uint64_t now_s, unsigned i, unsigned o);
/* The root of such a list. */
void prop_list_root(const struct object_id *ring, const struct mirror_entry v[ITEMS],
                    struct hash256 *ret);

#endif
