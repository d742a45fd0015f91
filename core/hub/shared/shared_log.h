/*
 * shared_log - the numbered records of this server's counts, durable before the store sees them.
 *
 * STATE/peers/shared/ORIGIN/START-INC-KEY.stream (core/count/stream.h): the records of one bucket;
 * their numbers rise through all files of an incarnation. They say what was published of a bucket,
 * so that nothing of it is published twice, and they are sent again when the store lost them.
 * STATE/peers/shared/ORIGIN/state, text: "gillnet-shared 1", "inc HEX", "last N" (records up to it
 * may have been removed), "from START" (buckets up to it are not published any more), "sure N"
 * (above it the store may have other records under the same numbers; 2^64 - 1: it has none).
 * Files of another incarnation than this file's are removed, and all where it is missing.
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
    uint32_t key_id; /* of the digest key of what is appended */
};
/* Fills *positions, which the caller must positions_fini in any case. */
enum err shared_log_open(const struct shared_log_options *options,
                         struct shared_positions *positions, struct shared_log **ret,
                         struct errinfo *reterr);
void shared_log_close(struct shared_log **l); /* accepts NULL */

/* 0: no incarnation has begun. */
uint64_t shared_log_inc(const struct shared_log *l);
/* Buckets up to this one must not be published any more; 0: none. */
uint64_t shared_log_from(const struct shared_log *l);
/* Begins an incarnation, with an empty log. */
enum err shared_log_begin(struct shared_log *l, uint64_t inc, uint64_t from_s,
                          struct errinfo *reterr);

/* Call this before the first append while the store was not asked yet what it has: durable, so that
 * a restart does not take those numbers for known ones. */
enum err shared_log_doubt(struct shared_log *l, uint64_t sure, struct errinfo *reterr);
/* The store was asked: call this before anything is sent. */
enum err shared_log_trust(struct shared_log *l, struct errinfo *reterr);
bool shared_log_is_doubted(const struct shared_log *l);

/* Appends a record, not synced: record has number and bucket, and gets the rest; keys rise. A
 * failure leaves the log as it was. */
enum err shared_log_append(struct shared_log *l, struct shared_record *record,
                           const struct run_record *v, size_t n,
                           struct errinfo *reterr);
/* Makes durable what was appended. */
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
/* Removes a bucket's files. It is not published again, nor are older ones, if is_over; last: the
 * newest number ever given. */
enum err shared_log_remove(struct shared_log *l, uint64_t start_s, bool is_over,
                           uint64_t last, struct errinfo *reterr);

#endif
