/*
 * shared_pending - increments of this server that wait for their record in the log.
 *
 * It keeps two counts for each key of a bucket: the logged count, and the count of gillnetd. The
 * difference is logged when one of these holds for the key's cell: a key's increments matter to the
 * others at once (SHARED_URGENT_*), the oldest waits for SHARED_HOLD_US, there are many keys, or
 * the bucket is complete. So most keys of a cell go together, and share a batch's fixed bytes.
 * No input or output: tests/unit/shared drives it. Depends: base, filter.   Threads: one.
 * Owns: its tables.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_PENDING_H
#define CORE_HUB_SHARED_SHARED_PENDING_H

#include "core/hub/shared/shared.h"
#include "core/store/run.h"

enum {
    SHARED_BUCKETS_MAX = 32,   /* more than follow reports in one look */
    SHARED_BATCH_PAIRS = 1024, /* of one cell in a record and in a batch */
    SHARED_AMOUNT_MAX = 65535, /* of one pair; the rest goes with the next record */
    SHARED_CELL_FULL = 512,    /* keys at which a cell is logged at once */
    SHARED_HOLD_US = 5000000,  /* that an increment waits at most */
    SHARED_URGENT_TOTAL = 10,  /* a total that rules may soon ask for, */
    SHARED_URGENT_SHARE = 16   /* raised by 1 / SHARED_URGENT_SHARE of it */
};

struct shared_pending;
struct shared_pending *shared_pending_new(void); /* NULL: no memory */
void shared_pending_free(struct shared_pending **p);

bool shared_pending_has(const struct shared_pending *p, uint64_t start_s);
/* Begins a new bucket. Pass its logged counts to shared_pending_restore afterwards. If there is no
 * room, the oldest bucket is dropped: *retlost is the number of its keys that were not logged. */
bool shared_pending_open(struct shared_pending *p, uint64_t start_s, uint64_t *retlost);
bool shared_pending_restore(struct shared_pending *p, uint64_t start_s,
                            const struct run_record *logged, size_t n);
/* gillnetd's counts of keys of an open bucket, up to now (follow_fn). */
struct shared_report {
    uint64_t start_s;
    const struct run_record *totals;
    size_t n;
    bool is_complete;
};
/* False: no memory; pass the same report again. */
bool shared_pending_report(struct shared_pending *p, const struct shared_report *r,
                           uint64_t now_us);
/* Takes the store's total of a key. */
void shared_pending_learn(struct shared_pending *p, uint64_t start_s, uint64_t key,
                          uint64_t total);

/* Returns the next record that is due, keys rising, valid until the next call. Call
 * shared_pending_logged once it is in the log; else it stays due. all: every waiting increment is
 * due. False: no record is due. */
struct shared_due {
    uint64_t start_s;
    const struct run_record *v;
    size_t n;
};
bool shared_pending_due(struct shared_pending *p, uint64_t now_us, bool all,
                        struct shared_due *ret);
void shared_pending_logged(struct shared_pending *p);

/* Returns the logged count of a key. False: no such bucket. */
bool shared_pending_own(const struct shared_pending *p, uint64_t start_s, uint64_t key,
                        uint64_t *ret);
/* Returns a complete bucket without waiting increments; 0: no such bucket from *at on. */
uint64_t shared_pending_complete(const struct shared_pending *p, size_t *at);
/* Drops a bucket. Returns the number of its keys that were not logged. */
uint64_t shared_pending_close(struct shared_pending *p, uint64_t start_s);
/* Drops all buckets up to this one in the same way. */
uint64_t shared_pending_close_until(struct shared_pending *p, uint64_t start_s);
/* Returns the clock_mono_us since which the oldest increment waits; 0: none waits. */
uint64_t shared_pending_since(const struct shared_pending *p);

#endif
