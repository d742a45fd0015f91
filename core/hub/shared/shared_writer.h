/*
 * shared_writer - decisions about logging, sending and repeating this server's counts.
 *
 * It connects gillnetd's counts (shared_pending.h), the log (shared_log.h) and the positions of the
 * store's cells (shared_positions.h). Calls to the store go out through a port, and answers come
 * back in any order, late or never. The caller has the clocks. So tests/unit/shared drives the same
 * code with a model of a store that fails over, loses answers and goes back in time.
 * Depends: base, log, pending, positions.   Threads: one.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_WRITER_H
#define CORE_HUB_SHARED_SHARED_WRITER_H

#include "core/hub/shared/shared_log.h"
#include "core/hub/shared/shared_pending.h"

enum {
    SHARED_ASK_S = 60,             /* between questions where all cells stand */
    SHARED_BUCKET_SENT_S = 86400,  /* age up to which a bucket counts in its own hash */
    SHARED_DAY_SENT_S = 14 * 86400 /* and in that of its day */
};

/* A batch of one cell. It is added if the cell's position for `inc` is `expected`, which then
 * becomes `number`. */
struct shared_batch {
    uint64_t inc;
    uint64_t expected;
    uint64_t number;
    uint64_t start_s; /* its bucket */
    bool is_old;      /* counts in its day alone */
    const struct run_record
        *v; /* amounts: at most SHARED_AMOUNT_MAX; a key may stand twice */
    size_t n;
};

/* Calls to the store. The caller answers each call that returns true once, by shared_writer_told,
 * _added or _lost. False: not now. */
struct shared_port {
    void *context;
    bool (*ask)(void *context, unsigned cell, uint64_t inc);
    /* The batch is the port's until it returns. */
    bool (*add)(void *context, unsigned cell, const struct shared_batch *batch);
};

struct shared_writer_options {
    struct shared_log_options log;
    uint64_t spool; /* bytes of the log */
    struct shared_port port;
};

struct shared_writer;
enum err shared_writer_new(const struct shared_writer_options *options,
                           struct shared_writer **ret, struct errinfo *reterr);
void shared_writer_free(struct shared_writer **w); /* accepts NULL */

void shared_writer_set_spool(struct shared_writer *w, uint64_t spool);

struct shared_now {
    uint64_t wall_s;
    uint64_t mono_us;
};
/* Takes counts of gillnetd. After a failure pass the same report again. */
enum err shared_writer_report(struct shared_writer *w, const struct shared_report *r,
                              struct shared_now now, struct errinfo *reterr);
/* Call it each second. all: logs every waiting increment. Returns the first failure of the disk. */
enum err shared_writer_tick(struct shared_writer *w, struct shared_now now, bool all,
                            struct errinfo *reterr);
/* The positions may be lower after a failover: asks all cells at the next tick. */
void shared_writer_doubt(struct shared_writer *w);

/* ---- answers; inc: of the call ---- */

/* newest: the newest incarnation of this server that the cell has; 0: none. position: of inc. */
void shared_writer_told(struct shared_writer *w, unsigned cell, uint64_t inc,
                        uint64_t newest, uint64_t position);
/* After a batch up to `number` the cell has `position`. Returns true if the batch was added. */
bool shared_writer_added(struct shared_writer *w, unsigned cell, uint64_t inc,
                         uint64_t number, uint64_t position);
/* No answer, or an unusable one; is_batch: to a batch. */
void shared_writer_lost(struct shared_writer *w, unsigned cell, uint64_t inc,
                        bool is_batch);

/* ---- reading ---- */

/* Returns the logged count of a key in a bucket. False: unknown. The second function also takes the
 * store's total of the key. */
bool shared_writer_own(const struct shared_writer *w, uint64_t start_s, uint64_t key,
                       uint64_t *ret);
bool shared_writer_learn(struct shared_writer *w, uint64_t start_s, uint64_t key,
                         uint64_t total, uint64_t *retown);

uint64_t shared_writer_inc(const struct shared_writer *w);
/* As in shared_counts.h. */
bool shared_writer_position(const struct shared_writer *w, unsigned cell,
                            uint64_t *ret);
uint64_t shared_writer_bucket(const struct shared_writer *w, size_t k);

/* Records of a bucket in the log, in order: at most `most` records after the number `after`. */
struct shared_reading {
    uint64_t start_s;
    uint64_t after;
    size_t most;
    void (*fn)(void *context, uint64_t number, const struct run_record *v, size_t n);
    void *context;
};
enum err shared_writer_read(struct shared_writer *w, const struct shared_reading *r,
                            bool *retall, struct errinfo *reterr);

struct shared_writer_status {
    bool is_asking; /* positions are not known yet: nothing is sent */
    uint64_t inc;
    uint64_t last;
    uint64_t log_bytes;
    uint64_t
        since_us; /* clock_mono_us since which the oldest increment is not in the store */
    uint64_t waiting;  /* cells that lack records */
    uint64_t repeated; /* batches that were lost, or whose answer was */
    uint64_t
        dropped; /* pairs that never came to the store: the log was full, or too old */
    uint64_t incarnations; /* that began because the log was an old copy, or lost */
};
void shared_writer_status(const struct shared_writer *w,
                          struct shared_writer_status *ret);

#endif
