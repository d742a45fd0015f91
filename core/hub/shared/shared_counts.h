/*
 * shared_counts - the counts of this server on their way into the shared store.
 *
 * Increments of gillnetd (core/count/follow.h) wait in memory for some seconds, become a numbered
 * record of the log (shared_log.h), and then go to the store, cell by cell, in batches. The store
 * adds a batch only if the cell's position is the number that the batch follows (shared_scripts.h).
 * So each increment is added once, also after the loss of an answer, a server or this process. A
 * total in the store may be too low for a while; it is never too high.
 *
 * Names in the store begin with the prefix and the cell, 2 hexadecimal digits:
 *
 *   g{1f}                      a hash, the anchor of the cell, with the fields:
 *     ORIGIN INCARNATION       16 and 8 bytes (big endian), of a server: the last number added
 *     t:START, d:START         of a ten-minute bucket, of a day: "PARTS:NONCE"
 *     nt:START, nd:START       its number of counters
 *   g{1f}t:START:NONCE:PART    a hash (also with d): field: the 8 bytes of a key (big endian),
 *                              value: its count; it also has the empty field
 *
 * The last two bytes of a key, modulo PARTS, are its part.
 * Depends: base, count, store, redis, shared.   Threads: that of the event loop.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_COUNTS_H
#define CORE_HUB_SHARED_SHARED_COUNTS_H

#include "core/hub/shared/shared.h"
#include "core/store/run.h"

enum {
    SHARED_DAY_S = 86400,
    SHARED_WHO_BYTES = 24,            /* origin and incarnation */
    SHARED_BUCKET_KEEP_S = 25 * 3600, /* from a bucket's end until the store drops it */
    SHARED_DAY_KEEP_S = 15 * SHARED_DAY_S /* from a day's end */
};

/* Totals of the store at the moment when this server's batch was added, own counts included. own:
 * the count of key in this bucket that this server has logged, increments under way included. */
typedef void shared_heard_fn(void *context, uint64_t start_s, uint64_t key,
                             uint64_t own, uint64_t bucket_total, uint64_t day_total);

struct shared_counts_options {
    struct shared *shared; /* borrowed: its connection and its names */
    const char *state_dir;
    const struct keyring *keys; /* borrowed */
    const struct object_id *origin;
    uint64_t spool;       /* bytes of the log */
    uint64_t bucket_keys; /* different keys in ten minutes, planned for all servers, */
    uint64_t day_keys;    /* and in a day; 0: unknown */
    shared_heard_fn *heard; /* or NULL */
    void *context;
};

struct shared_counts;
/* Reads the log. ERR_CORRUPT and others: a file of the log is unusable. */
enum err shared_counts_new(const struct shared_counts_options *options,
                           struct shared_counts **ret, struct errinfo *reterr);
/* Answers of the store that come later are ignored. Accepts NULL. */
void shared_counts_free(struct shared_counts **c);
/* Sets another store.spool. */
void shared_counts_set_spool(struct shared_counts *c, uint64_t spool);
/* Call it several times a second. Takes gillnetd's counts, logs increments that are due, and sends
 * records. */
void shared_counts_tick(struct shared_counts *c);
/* Logs and syncs all counts of gillnetd until now. Call it before the log is closed or copied. */
void shared_counts_flush(struct shared_counts *c);

/* Takes counts from the caller, as shared_counts_tick takes them from gillnetd. */
struct shared_report;
enum err shared_counts_report(struct shared_counts *c, const struct shared_report *r,
                              struct errinfo *reterr);

/* Returns the count of a key in a bucket that this server has logged, increments under way
 * included. False: unknown. */
bool shared_counts_own(const struct shared_counts *c, uint64_t start_s, uint64_t key,
                       uint64_t *ret);

/* ---- for gillnet store verify and repair ---- */

/* Returns the field of this server in an anchor. */
void shared_counts_who(const struct shared_counts *c, uint8_t ret[SHARED_WHO_BYTES]);
/* Returns the last record of a cell that the store acknowledged. False: not known now. */
bool shared_counts_position(const struct shared_counts *c, unsigned cell,
                            uint64_t *ret);
/* Returns the k-th bucket of the log, oldest first; 0: none. A bucket may come twice. */
uint64_t shared_counts_bucket(const struct shared_counts *c, size_t k);
/* Reads records of the log. *retall: these were the last ones. */
struct shared_reading;
enum err shared_counts_read(struct shared_counts *c, const struct shared_reading *r,
                            bool *retall, struct errinfo *reterr);
/* Asks all cells for their positions; missing records are sent again. */
void shared_counts_doubt(struct shared_counts *c);

enum shared_counts_state {
    SHARED_COUNTS_ASKING, /* what the store has of this server, before anything is sent */
    SHARED_COUNTS_SENDING, /* all is well */
    SHARED_COUNTS_WAITING, /* the store does not answer */
    SHARED_COUNTS_REFUSED /* it answers, and takes nothing: out of memory, read-only, rights */
};
const char *shared_counts_state_name(enum shared_counts_state state);

struct shared_counts_status {
    enum shared_counts_state state;
    char why[REDIS_TEXT_MAX]; /* WAITING, REFUSED: the last fault */
    uint64_t inc;             /* our incarnation */
    uint64_t last;            /* number of the newest record */
    uint64_t log_bytes;
    uint64_t log_max;
    uint64_t lag_s; /* age of the oldest increment that is not in the store; 0: none */
    uint64_t waiting;  /* cells with records that are not in the store */
    uint64_t sent;     /* pairs of key and bucket that were added, since the start, */
    uint64_t batches;  /* batches that added them */
    uint64_t repeated; /* batches that a failover lost or whose answer was lost */
    uint64_t dropped;  /* pairs that the log had to drop before they were sent */
    uint64_t incarnations; /* that had to begin since the start */
    uint64_t answered_us;  /* clock_mono_us of the last good answer; 0: none */
};
void shared_counts_status(const struct shared_counts *c,
                          struct shared_counts_status *ret);

#endif
