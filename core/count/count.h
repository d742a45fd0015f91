/*
 * count - how often keys were counted in the last 10 minutes, hour, day and 14 days.
 *
 * gillnetd counts the keys of each message in buckets of 10 minutes. The running table (live.h) and
 * the runs of ended buckets (runset.h) are exact. The sketch (totals.h) answers at once, never too
 * low, with the counts of peers (remote.h) in it. Only gillnetd counts (a lock in counts/);
 * commands ask gillnetd, or read the files (count_view). A thread journals every 5 s (each second
 * where servers share a store), ends buckets, writes runs, merges days, deletes expired runs,
 * rebuilds the sketch after the start and reads the canaries every minute.
 * Files in reading order:
 *   count, count_open, count_tick, count_rebuild   the facade, its start, its thread, the sketch's
 *                                                  past
 *   bucket_clock                                   the running bucket
 *   live, live_file, live_journal, live_recover    the running table; pair_log has its journal's
 *                                                  form
 *   runset, runset_history, runset_maintain        runs of 14 days
 *   totals*, contribution, spill                   the sketch
 *   stream, remote*, merged_runs, count_peers      counts of peers; breakdown has each server's
 *                                                  part
 *   shared_totals, shared_part, count_shared       counts of the servers that share a store
 *   distinct_log                                   members of distinct counts, for the same
 *   follow, follow_read                            own counts, reported for publishing
 *   message, count_protocol, count_json            a message; the control socket; JSON
 *   size, traffic                                  planning
 * To add a window: add it to enum count_window, count_window_name, count_history_windows, size.c
 * and COUNT_PART_WINDOWS; in the sketch to enum totals_window, totals_windows_of and the columns of
 * cells.h.
 * Depends: base, config, feature, filter, store.   Threads: counting and reading from any.
 * Decisions: ADR 0029.
 */
#ifndef CORE_COUNT_COUNT_H
#define CORE_COUNT_COUNT_H

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/count/breakdown.h"
#include "core/count/remote.h"
#include "core/count/runset.h"

/* A window is never shorter than its name: the running bucket (or day) is counted in addition. */
enum count_window { COUNT_10M, COUNT_1H, COUNT_1D, COUNT_14D, COUNT_WINDOWS };
const char *count_window_name(unsigned w); /* "10m", ... */

enum {
    COUNT_CANARIES = 1000,
    COUNT_CELL_THRESHOLD = 20 /* of cells that are counted; requirement 71 */
};

struct count_value {
    uint64_t w[COUNT_WINDOWS];
};

/* One key of a batch. */
struct count_item {
    struct digest digest[KEYRING_MAX]; /* under each digest key, writers' first */
    uint64_t amount;                   /* 0: only read */
    struct count_value value;          /* out: amount included; at least the truth */
};

struct count_options {
    const char *state_dir;
    const struct keyring *keys;
    uint64_t messages_per_day; /* the size (core/count/size.h) */
    bool has_store;  /* servers share one: its totals count, and the journal is quick */
    bool has_thread; /* false: count_start comes later, or count_tick is called */
    bool
        is_brief; /* a command: the clock is accepted, and no run is merged or deleted */
};

struct count;

/* ERR_LOCKED: another process counts there. ERR_KEY, ERR_UNSUPPORTED: counts of another ring or
 * version are there; the text says what to do. A disk that refuses does not fail: see
 * count_stat. */
enum err count_open(const struct count_options *options, struct count **ret,
                    struct errinfo *reterr);
/* Starts the thread of counts that were opened without; from here on the statistics page says that
 * there is counting. */
enum err count_start(struct count *c, struct errinfo *reterr);
/* Writes no run: the running table stays on disk, and the next start recovers it. */
void count_close(struct count **c);

/* Adds and reads n keys in one call. Items with one key may all get the sum of their amounts. While
 * the sketch is rebuilt, the runs answer. */
void count_batch(struct count *c, struct count_item *items, size_t n);

/* The exact counts of this server, the running bucket included. */
void count_exact(struct count *c, const struct digest digest[KEYRING_MAX],
                 struct count_history *ret);

/* The same, with the count of each peer (remote.h); for decisions that do harm. [0] is the answer
 * of count_exact. Without memory ret is empty (n 0). Free with count_breakdown_fini. */
void count_exact_shares(struct count *c, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret);

/* Whether the window may be used for verdicts: the share of canaries that it answers for is within
 * bound. */
bool count_window_is_sound(const struct count *c, enum count_window w, double bound);

struct count_stat {
    uint64_t now; /* bucket */
    uint64_t live_keys;
    uint64_t live_slots;
    struct runset_stat runs;
    uint64_t doorkeeper_entries;
    uint64_t doorkeeper_capacity;
    uint64_t cell_lines_used;
    uint64_t cell_lines;
    uint64_t overflowed;
    uint64_t cells_over_1h; /* cells above COUNT_CELL_THRESHOLD, from a sample */
    uint64_t cells_over_1d;
    uint64_t cells_over_14d;
    uint64_t memory_bytes;
    double noise
        [COUNT_WINDOWS]; /* share of canaries that read above 0 (of 14 d: above 1) */
    bool is_noise_known; /* they were read since the start */
    unsigned nready;     /* shards of the sketch that are rebuilt */
    unsigned nshards;
    uint64_t rebuild_us;     /* how long the rebuild took; 0: not over */
    bool is_volatile;        /* the disk refuses: nothing counted now is kept */
    bool is_clock_suspended; /* the clock jumped: nothing expires until it is proved */
    uint64_t messages_per_day;
    uint64_t nlost;            /* amounts that no memory could be had for */
    struct remote_stat remote; /* of peers */
};
void count_stat(struct count *c, struct count_stat *ret);

/* Does the work of the thread once; for tests that set the clock. The first one rebuilds
 * the sketch whole. */
void count_tick(struct count *c);

/* ---- whoever counts ---- */

/* How many people called a value spam and good in a time, and whether their word clears it of
 * former judgements. */
struct count_called {
    uint64_t spam;
    uint64_t good;
    bool is_cleared;
};
typedef void count_called_fn(void *context, const struct digest digest[KEYRING_MAX],
                             uint64_t from_s, uint64_t to_s, struct count_called *ret);

/* What counting a message needs (message.h): gillnetd's own counts, or a connection to it. */
struct count_port {
    void *context;
    /* as count_batch, count_exact, count_window_is_sound */
    void (*batch)(void *context, struct count_item *items, size_t n);
    void (*exact)(void *context, const struct digest digest[KEYRING_MAX],
                  struct count_history *ret);
    bool (*is_sound)(void *context, enum count_window w, double bound);
    /* as count_exact_shares; NULL: there are no peers */
    void (*shares)(void *context, const struct digest digest[KEYRING_MAX],
                   struct count_breakdown *ret);
    /* Takes a member of a distinct count that is new here today (distinct_log.h); NULL: nobody
     * wants them. */
    void (*member)(void *context, const struct digest *key, const struct digest *number,
                   const struct digest *pair);
    count_called_fn *called; /* core/report; NULL: nothing is known of people */
    void *called_context;
};
/* The port of open counts. */
struct count_port count_port_of(struct count *c);

/* ---- another process's look: runs and the running table on disk, nothing changed ---- */

struct count_view;
/* has_store: as in struct count_options. ERR_NOT_FOUND: nothing was counted yet. */
enum err count_view_open(const char *state_dir, const struct keyring *keys,
                         bool has_store, struct count_view **ret,
                         struct errinfo *reterr);
void count_view_close(struct count_view **v);
void count_view_exact(struct count_view *v, const struct digest digest[KEYRING_MAX],
                      struct count_history *ret);
/* As count_exact_shares. */
void count_view_shares(struct count_view *v, const struct digest digest[KEYRING_MAX],
                       struct count_breakdown *ret);

#endif
