/*
 * list_publisher_internal - state shared by the files of list_publisher.
 *
 * Depends: base, config, list, sync.   Threads: one.
 */
#ifndef CORE_RING_SYNC_LIST_PUBLISHER_INTERNAL_H
#define CORE_RING_SYNC_LIST_PUBLISHER_INTERNAL_H

#include "core/base/arena.h"
#include "core/base/file.h"
#include "core/list/changes_poll.h"
#include "core/list/mirror.h"
#include "core/ring/sync/list_publisher.h"
#include "core/ring/sync/peerlist.h"

/* A list that is shared, or was. */
struct shared_list {
    char name[LIST_NAME_MAX + 1];
    bool is_ours; /* the list exists and is shared */
    bool wants_entries;
    bool wants_filters;
    struct list_reader *reader; /* NULL: not opened */
    struct list_cursor seen;
    uint32_t foreign_key; /* key of its digests that the ring does not have; 0: none */
    /* entries */
    bool is_compared; /* its log after position has all changes */
    bool is_again;    /* an entry was removed and is to be added again */
    uint64_t compare_s;
    struct list_position position;
    /* filters */
    bool is_dirty; /* changed since the last one */
    bool has_published[2];
    uint64_t filter_s; /* not before */
};

struct list_publisher {
    struct sync *sync;
    const struct keyring *keys;
    char state_dir[FILE_PATH_MAX];
    char mirror_dir[FILE_PATH_MAX];
    struct arena *arena;
    struct config *config; /* whose protected names are guarded */
    uint32_t guard_key;
    uint64_t now_s;
    bool has_mirrors; /* published lists are in list[] */
    size_t n;
    struct shared_list list[LIST_PUBLISHER_LISTS_MAX];
    struct list_record *step; /* LIST_PUBLISHER_STEPS_MAX */
    size_t nsteps;
    struct digest *changed;
    size_t nchanged;
};

/* The step to publish for one digest, from local (status 0: not listed) and published entry.
 * has_one_owner: the ring is of kind own, so that a revocation concerns the entries of all. */
enum list_publisher_step {
    LIST_PUBLISHER_STEP_NONE,
    LIST_PUBLISHER_STEP_ONE,
    LIST_PUBLISHER_STEP_AGAIN /* removed now, added again with another type or expiry */
};
enum list_publisher_step list_publisher_step_make(const struct mirror_entry *own,
                                                  const struct list_record *held,
                                                  bool has_one_owner, uint64_t now_s,
                                                  struct list_record *ret);
/* Publishes filters of the list, or empty ones if it no longer shares them. */
enum err list_publisher_filters(struct list_publisher *x, struct shared_list *l,
                                struct errinfo *reterr);
/* Gives peerlists the names that no filter of a peer may hold. */
enum err list_publisher_guard(struct list_publisher *x, const struct config *config,
                              struct errinfo *reterr);

#endif
