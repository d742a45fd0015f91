/*
 * runset_internal - the set's insides, for the modules that list, ask and look after runs.
 *
 * Not for other rooms.
 */
#ifndef CORE_COUNT_RUNSET_INTERNAL_H
#define CORE_COUNT_RUNSET_INTERNAL_H

#include <pthread.h>

#include "core/count/runset.h"

enum {
    RUNSET_FILES_OPEN = 512, /* of the others the file is opened for each question */
    RUNSET_BUCKETS_OPEN =
        192, /* of these, of buckets: merged runs soon replace those of peers */
    RUNSET_MERGE_MAX = 1024 /* runs in one merge: 4 KiB of memory each */
};

/* A file that may be in several lists, one after the other. */
struct runset_entry {
    struct run_id id;
    struct run *run; /* NULL: it cannot be read */
    enum err why;    /* then */
    bool is_open;    /* its file is, and counts among RUNSET_FILES_OPEN */
    uint64_t inode;
    uint64_t bytes;
    size_t refs; /* of lists; guarded by runset.lock */
};

struct runset_item {
    struct runset_entry *entry;
    bool is_in_day; /* the run of its day has it */
};

/* The files at one moment; constant. */
struct runset_list {
    size_t refs; /* guarded by runset.lock */
    size_t n;
    struct runset_item v[]; /* by length, begin, origin, key, incarnation */
};

struct runset {
    pthread_mutex_t lock;   /* guards: now, all refs */
    pthread_mutex_t change; /* held while the list is replaced; taken before lock */
    struct runset_list *now;
    uint64_t lost_blocks; /* damaged ones that merges left out; atomic (a figure) */
    char dir[];
};

/* Where a run's counts go; both beyond their arrays when it is of no window. */
struct runset_place {
    uint64_t bucket;
    uint64_t day;
};
struct runset_place runset_place_of(const struct runset_item *item, uint64_t now);
bool runset_place_is_none(struct runset_place p);
void count_history_take(struct count_history *h, struct runset_place p, uint64_t count);
/* All was taken: sets first and last. */
void count_history_end(struct count_history *h);
/* The one of keys that was made with digest key id; NULL: none. */
const uint64_t *runset_key_for(const uint64_t *keys, const uint32_t *key_ids,
                               unsigned nkeys, uint32_t id);

/* The order of lists: length, begin, origin, digest key, incarnation. */
int runset_id_cmp(const struct run_id *x, const struct run_id *y);

/* Cuts `least` to `most` digits of base, in lower case, and behind them `end` (NUL: nothing) off
 * s. */
bool runset_cut_number(struct slice *s, unsigned base, size_t least, size_t most,
                       char end, uint64_t *ret);

/* NULL: not in the list. */
const struct runset_item *runset_find_item(const struct runset_list *list,
                                           const struct run_id *id);
struct runset_entry *runset_find(const struct runset_list *list,
                                 const struct run_id *id);

struct runset_list *runset_pin(struct runset *s);
void runset_unpin(struct runset *s, struct runset_list **pinned);

/* The files as they are now replace the list. With change held. */
enum err runset_reload(struct runset *s, runset_damage_fn *on_damage, void *context,
                       struct errinfo *reterr);
void runset_log_damage(void *context, const struct errinfo *why);
/* The run of the day that the run of that id would be merged into; NULL: none. */
const struct runset_entry *runset_day_of(const struct runset_list *list,
                                         const struct run_id *id);

#endif
