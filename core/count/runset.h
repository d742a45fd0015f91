/*
 * runset - the runs of a folder: exact counts of the last 14 days.
 *
 * Runs of COUNT_BUCKET_S seconds for the last COUNT_BUCKETS buckets, and of whole days (UTC) for
 * the last COUNT_DAYS days, made by merging. A bucket may have several (one per incarnation, and
 * per origin); they add up. A damaged run is left out, alone, and named; the others serve.
 * Depends: base, store.   Threads: any may ask while one changes the set (a lock inside; a run in
 * use stays mapped).   Owns: the open runs.   ADR 0025.
 */
#ifndef CORE_COUNT_RUNSET_H
#define CORE_COUNT_RUNSET_H

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/slice.h"
#include "core/store/run.h"

enum {
    COUNT_BUCKET_S = 600,
    COUNT_DAY_S = 86400,
    COUNT_DAY_BUCKETS = COUNT_DAY_S / COUNT_BUCKET_S,
    COUNT_BUCKETS = 144, /* sealed ones that are kept */
    COUNT_DAYS = 14,     /* whole ones that are kept */
    RUNSET_RUNS_MAX = 65536
};

/* Our own origin in runs is derived from the node's key for this (keyring_derive, number 0). */
#define COUNT_ORIGIN_PURPOSE "origin of counts"

/* The exact counts of one key. [0] is now, [i] is i buckets or days ago; a day counts the whole UTC
 * day, day[0] today so far. Runs only: the caller adds the running table to [0] of both. */
struct count_history {
    uint64_t now; /* number of bucket[0]: unix time / COUNT_BUCKET_S */
    uint64_t bucket[COUNT_BUCKETS + 1];
    uint64_t day[COUNT_DAYS + 1];
    uint64_t first_s;  /* begin of the oldest bucket (or day) with a count; 0: none */
    uint64_t last_s;   /* end of the newest one; 0: none */
    unsigned ndamaged; /* runs that could not be read: the counts may be too low */
};

struct runset;

/* Opens every run in dir, which is made if needed. A run that cannot be read is left out and told
 * to on_damage (may be NULL), which gets its name and why. */
typedef void runset_damage_fn(void *context, const struct errinfo *why);
enum err runset_open(const char *dir, runset_damage_fn *on_damage, void *context,
                     struct runset **ret, struct errinfo *reterr);
void runset_close(struct runset **s);
/* Reads the folder again: adds new files, drops missing ones. */
enum err runset_refresh(struct runset *s, struct errinfo *reterr);

/* The file name of a run, without its folder, and back: false when it is no name of a run. */
enum err runset_name(const struct run_id *id, char ret[FILE_PATH_MAX]);
bool runset_name_parse(struct slice name, struct run_id *ret);
enum err runset_path(const char *dir, const struct run_id *id, char ret[FILE_PATH_MAX],
                     struct errinfo *reterr);

/* keys[i] is the key under digest key key_ids[i]; each run is asked for the one it was made
 * with. */
void runset_history(struct runset *s, const uint64_t *keys, const uint32_t *key_ids,
                    unsigned nkeys, uint64_t now, struct count_history *ret);
/* Adds what a running table has of the bucket that begins at start_s . */
void count_history_add(struct count_history *h, uint64_t start_s, uint64_t count);
/* Sums of a history with the running bucket in it: 10 min, 1 h, 1 d, 14 d (window order of
 * count.h). */
void count_history_windows(const struct count_history *h, uint64_t ret[4]);

/* The number in a range of time: the 10-minute buckets of the last day, whole UTC days before it.
 * The range grows to the next edge of what is kept, and *from_s and *to_s become these edges. */
uint64_t count_history_range(const struct count_history *h, uint64_t *from_s,
                             uint64_t *to_s);

/* The runs of len_s seconds that begin in [first_s, end_s), oldest first; fn gets each open run.
 * Stops at the first false. */
typedef bool runset_each_fn(void *context, const struct run *run);
void runset_each(struct runset *s, uint32_t len_s, uint64_t first_s, uint64_t end_s,
                 runset_each_fn *fn, void *context);

/* Merges each whole day before `today` that has runs of buckets and no run of the day (per origin
 * and digest key). */
enum err runset_merge_days(struct runset *s, uint64_t today, struct errinfo *reterr);
/* Deletes runs that no window needs at bucket `now`: buckets older than COUNT_BUCKETS whose day has
 * its run, days older than COUNT_DAYS. A run of the future stays. */
enum err runset_expire(struct runset *s, uint64_t now, struct errinfo *reterr);

struct runset_stat {
    size_t nbuckets; /* runs */
    size_t ndays;
    size_t ndamaged;
    uint64_t bytes;
    uint64_t oldest_s;
    uint64_t newest_s; /* begin of the newest bucket; 0: none */
};
void runset_stat(struct runset *s, struct runset_stat *ret);

#endif
