/*
 * shared_log - the numbered records of this server's counts, durable before the store sees them.
 *
 * STATE/peers/shared/ORIGIN/START-INC-KEY.stream (core/count/stream.h): the records of one bucket.
 * Their numbers rise through all files of an incarnation. The records show which counts of a bucket
 * were published, so that a restart repeats no count. They are sent again when the store lost them.
 *
 * STATE/peers/shared/ORIGIN/state is text:
 *
 *   gillnet-shared 1
 *   inc HEX      the incarnation
 *   last N       records up to N may have been removed
 *   from START   buckets up to START are no longer published
 *   sure N       above N the store may have other records with the same numbers; 2^64 - 1: none
 *
 * Files of another incarnation than that of `state` are removed. Without `state` all are removed.
 * Depends: base, count, positions.   Threads: one.   Owns: the folder.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_LOG_H
#define CORE_HUB_SHARED_SHARED_LOG_H

#include "core/hub/shared/shared_positions.h"
#include "core/store/run.h"

struct shared_log;
struct shared_log_options {
    const char *dir; /* STATE/peers/shared, made if it is missing */
    uint8_t origin[RUN_ORIGIN_BYTES];
    uint32_t key_id; /* of the digest key of appended records */
};
/* Fills *positions, which the caller must positions_fini in any case. */
enum err shared_log_open(const struct shared_log_options *options,
                         struct shared_positions *positions, struct shared_log **ret,
                         struct errinfo *reterr);
void shared_log_close(struct shared_log **l); /* accepts NULL */

/* 0: no incarnation has begun. */
uint64_t shared_log_inc(const struct shared_log *l);
/* Returns the last bucket up to which buckets must no longer be published; 0: none. */
uint64_t shared_log_from(const struct shared_log *l);
/* Begins an incarnation, with an empty log. */
enum err shared_log_begin(struct shared_log *l, uint64_t inc, uint64_t from_s,
                          struct errinfo *reterr);

/* Marks records above `sure` as unsure. Call it before the first append while positions are not
 * known. The mark is durable, so that a restart does not take those numbers for known ones. */
enum err shared_log_doubt(struct shared_log *l, uint64_t sure, struct errinfo *reterr);
/* Removes the mark. Call it when positions are known, before the first batch. */
enum err shared_log_trust(struct shared_log *l, struct errinfo *reterr);
bool shared_log_is_doubted(const struct shared_log *l);

/* Appends a record without a sync. record has number and bucket, and gets the rest; keys rise. A
 * failure leaves the log unchanged. */
enum err shared_log_append(struct shared_log *l, struct shared_record *record,
                           const struct run_record *v, size_t n,
                           struct errinfo *reterr);
/* Makes appended records durable. */
enum err shared_log_sync(struct shared_log *l, struct errinfo *reterr);

/* The pairs of a record, keys rising; valid until the next call for this log. */
enum err shared_log_read(struct shared_log *l, const struct shared_record *record,
                         const struct run_record **ret, size_t *retn,
                         struct errinfo *reterr);
/* Passes the pairs of all records of a bucket that were made with the current digest key. */
typedef bool shared_log_fn(void *context, const struct run_record *v, size_t n);
enum err shared_log_each(struct shared_log *l, uint64_t start_s, shared_log_fn *fn,
                         void *context, struct errinfo *reterr);

uint64_t shared_log_bytes(const struct shared_log *l);
/* The bucket of the k-th file, oldest first; 0: there is none. */
uint64_t shared_log_bucket(const struct shared_log *l, size_t k);
/* Removes a bucket's files. If is_over, this and older buckets are never published again. last: the
 * newest number ever given. */
enum err shared_log_remove(struct shared_log *l, uint64_t start_s, bool is_over,
                           uint64_t last, struct errinfo *reterr);

#endif
