/*
 * follow_internal - state of the follower, for its two files; not for other modules.
 */
#ifndef CORE_COUNT_FOLLOW_INTERNAL_H
#define CORE_COUNT_FOLLOW_INTERNAL_H

#include "core/base/file.h"
#include "core/count/follow.h"
#include "core/count/live_format.h"
#include "core/count/runset.h"
#include "core/filter/tally.h"

enum { FOLLOW_KEPT_MAX = FOLLOW_BUCKETS + 4 };

/* Counts of one incarnation in a bucket, from its journal, then from its run. */
struct follow_source {
    uint64_t inc;
    struct tally counts;
    struct pair_log_place place; /* in the journal; inode 0: not opened yet */
    bool is_bad;                 /* the journal is damaged from `place` on */
    bool has_run;                /* which has all */
};

struct follow_bucket {
    uint64_t start_s;
    struct follow_source *sources;
    size_t nsources;
    uint64_t *changed; /* keys, some twice */
    size_t nchanged;
    size_t changed_room;
    bool is_complete; /* and said */
};

struct follow {
    char dir[FILE_PATH_MAX];
    char runs[FILE_PATH_MAX];
    uint8_t origin[RUN_ORIGIN_BYTES];
    uint32_t key_id;
    struct follow_bucket v[FOLLOW_KEPT_MAX]; /* by start_s */
    size_t n;
    /* what the folders have, of this look */
    struct live_name files[FOLLOW_JOURNALS_MAX];
    size_t nfiles;
    struct run_id ids[FOLLOW_RUNS_MAX];
    size_t nids;
    uint64_t oldest_s; /* that is looked at */
    uint64_t newest_s;
};

/* NULL: no memory. */
struct follow_source *follow_source(struct follow_bucket *b, uint64_t inc);
/* The source's count of key is at least `count` now. False: no memory. */
bool follow_raise(struct follow_bucket *b, struct follow_source *s, uint64_t key,
                  uint64_t count);

/* Reads on in the journal. One that is gone is none. */
enum err follow_read_journal(const struct follow *f, struct follow_bucket *b,
                             const struct live_name *name, struct errinfo *reterr);
/* Reads the run, once. */
enum err follow_read_run(const struct follow *f, struct follow_bucket *b,
                         const struct run_id *id, struct errinfo *reterr);

#endif
