/*
 * shared_counts - the counts of this server on their way into the shared store.
 *
 * What gillnetd counted (core/count/follow.h) waits in memory for some seconds, becomes a numbered
 * record of the log (shared_log.h), and then goes to the store, cell by cell, in batches. The store
 * adds a batch only if it stands at the number that the batch follows (shared_scripts.h), so each
 * increment is added once, whatever happens to an answer, a server or this process. A total in the
 * store may be too low for a while; it is never too high.
 * Names in the store, with the prefix and the cell, 2 hexadecimal digits: hash "g{1f}", the anchor:
 * a field for each incarnation of a server, 16 bytes of its origin and 8 of the incarnation (big
 * endian): the last number that was added. Field "t:START" of a ten-minute bucket, "d:START" of a
 * day: "PARTS:NONCE". Field "nt:START", "nd:START": its counters. Hashes "g{1f}t:START:NONCE:PART"
 * (and d): field: the 8 bytes of a key (big endian), value: its count; part: the last two bytes of
 * the key modulo PARTS. Each also has the empty field.
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

/* Totals of the store, our own counts included, at the moment when our batch was added. own: what
 * this server has logged of key in this bucket, under way included. */
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
/* Reads the log. ERR_CORRUPT and others: a file of it. */
enum err shared_counts_new(const struct shared_counts_options *options,
                           struct shared_counts **ret, struct errinfo *reterr);
/* Answers of the store that come later are ignored. Accepts NULL. */
void shared_counts_free(struct shared_counts **c);
/* Another store.spool. */
void shared_counts_set_spool(struct shared_counts *c, uint64_t spool);
/* Several times a second: takes what gillnetd counted, logs what is due, and sends. */
void shared_counts_tick(struct shared_counts *c);
/* Before the log is closed or copied: all that gillnetd counted until now is logged and synced. */
void shared_counts_flush(struct shared_counts *c);

/* The same as a look at gillnetd's counts, for callers with counts of their own. */
struct shared_report;
enum err shared_counts_report(struct shared_counts *c, const struct shared_report *r,
                              struct errinfo *reterr);

/* What this server has logged of a key in a bucket, under way included; false: unknown. */
bool shared_counts_own(const struct shared_counts *c, uint64_t start_s, uint64_t key,
                       uint64_t *ret);

/* ---- for gillnet store verify and repair ---- */

/* The field of this server in an anchor. */
void shared_counts_who(const struct shared_counts *c, uint8_t ret[SHARED_WHO_BYTES]);
/* The last record of a cell that the store acknowledged; false: it is not known now. */
bool shared_counts_position(const struct shared_counts *c, unsigned cell,
                            uint64_t *ret);
/* The k-th bucket of the log, oldest first, one may come twice; 0: there is none. */
uint64_t shared_counts_bucket(const struct shared_counts *c, size_t k);
/* Reads records of the log. *retall: these were all. */
struct shared_reading;
enum err shared_counts_read(struct shared_counts *c, const struct shared_reading *r,
                            bool *retall, struct errinfo *reterr);
/* Asks all cells how far they are; what they lack is sent again. */
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
    uint64_t batches;  /* in so many batches */
    uint64_t repeated; /* batches that a failover lost or whose answer was lost */
    uint64_t dropped;  /* pairs that the log had to drop before they were sent */
    uint64_t incarnations; /* that had to begin since the start */
    uint64_t answered_us;  /* clock_mono_us of the last good answer; 0: none */
};
void shared_counts_status(const struct shared_counts *c,
                          struct shared_counts_status *ret);

#endif
