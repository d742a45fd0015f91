/*
 * remote_internal - what the files of remote share; not for other modules.
 *
 * The thread that refreshes holds the lock for writing while it changes data that others read; it
 * reads without the lock.
 */
#ifndef CORE_COUNT_REMOTE_INTERNAL_H
#define CORE_COUNT_REMOTE_INTERNAL_H

#include <pthread.h>

#include "core/base/file.h"
#include "core/count/merged_runs.h"
#include "core/count/remote.h"
#include "core/count/runset_internal.h"
#include "core/count/stream.h"
#include "core/filter/tally.h"

/* How a file or folder was when it was looked at last. */
struct remote_sign {
    bool is_there;
    uint64_t inode;
    uint64_t size;
    struct timespec changed;
};

/* An open stream. */
struct remote_stream {
    struct run_id id;
    struct pair_log_place reader;
    struct tally counts;
    bool is_open;       /* reader is */
    bool was_anew;      /* it was damaged once, and read again */
    bool is_unreadable; /* it cannot be read on, and that was said */
    bool is_seen;       /* in the folder, by the last look */
    bool has_run;
};

/* A run that the sketch has. */
struct remote_fed {
    struct run_id id;
    uint64_t inode;
    uint64_t total;
    bool is_in_day;
};

/* A merged run, and the runs that it replaces. */
struct remote_merged {
    struct merged_runs_name name;
    struct merged_run *merged;
    uint64_t inode;
    const struct runset_item *
        *item;     /* for each source its run in list; NULL: the run is missing */
    size_t nitems; /* sources whose run exists */
    bool was_bad;  /* a block is damaged, and it was said; atomic */
};

struct remote_pairs {
    struct run_record *v;
    size_t n;
    size_t room;
    bool is_over; /* more than may be, or no memory */
};

struct remote {
    char state_dir[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    char runs_dir[FILE_PATH_MAX];
    struct keyring keys;
    pthread_rwlock_t lock;

    struct origins origins;
    struct runset *runset; /* NULL: none yet */
    struct runset_list
        *list; /* of runset, pinned; the next four are of it. NULL: none yet */
    struct remote_merged *merged; /* of buckets that several peers have counts of */
    size_t nmerged;
    const struct runset_item *
        *loose; /* the runs in no merged run; NULL: no memory, then all runs are read */
    size_t nloose;
    struct remote_stream *streams[REMOTE_STREAMS_MAX];
    size_t nstreams;
    uint64_t
        nunreadable; /* files that were left out for their number; atomic (a figure) */

    /* of who refreshes: */
    bool is_loaded;
    bool wants_rebuild;
    bool is_said;     /* that too many streams are there */
    bool is_trouble;  /* with the runs, and it was said */
    bool is_foreign;  /* origins cannot be read, and it was said */
    bool has_changed; /* of the origins, the streams or the runs */
    uint64_t now;     /* of the last look */
    struct remote_sign dir_sign;
    struct remote_sign origins_sign;
    struct remote_sign runs_sign;
    struct remote_sign merged_sign;
    struct remote_sign folder_sign[ORIGINS_MAX]; /* in the order of origins */
    struct remote_pairs pairs;
    struct remote_fed *fed; /* in the order of runs */
    size_t nfed;
};

/* Whether path is not as *sign says, or changed so lately that another change would not show; *sign
 * is as it is now. */
bool remote_has_changed(const char *path, struct remote_sign *sign);
bool remote_has_say(const struct remote *r, const uint8_t origin[RUN_ORIGIN_BYTES]);
/* Says what cannot be used. */
void remote_complain(const char *path, const struct errinfo *why);

/* ---- streams (remote_stream.c) ---- */

struct remote_stream *remote_stream_of(const struct remote *r,
                                       const struct run_id *id); /* NULL: none */
/* Which there are; those gone are left for remote_drop_streams. */
void remote_list_streams(struct remote *r);
/* Marks those whose run is there; those that are gone without one ask for a rebuild. With lock. */
void remote_mark_closed(struct remote *r);
/* Those that are gone, or whose run was fed. */
void remote_drop_streams(struct remote *r);
void remote_read_streams(struct remote *r, remote_fn *fn, void *context);

/* ---- runs (remote_run.c) ---- */

void remote_refresh_runs(struct remote *r); /* with lock */
void remote_feed_runs(struct remote *r, remote_fn *fn, void *context);

/* ---- merged runs (remote_merged.c) ---- */

/* Lists the merged runs and the runs that they contain. With lock, after remote_refresh_runs. */
void remote_refresh_merged(struct remote *r);
void remote_close_merged(struct remote *r);
/* Adds what runs have of a key, through merged runs if there are any; keys as in remote_ask. */
struct remote_question {
    const uint64_t *keys;
    const uint32_t *key_ids;
    unsigned nkeys;
    uint64_t now;
};
void remote_ask_runs(struct remote *r, const struct remote_question *q,
                     struct count_breakdown *io);

#endif
