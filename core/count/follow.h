/*
 * follow - reports the growing counts of this server to their publisher; it only reads
 * STATE/counts.
 *
 * Reads the journals of gillnetd and the runs that they become. For each bucket it keeps the count
 * of each key over all incarnations of gillnetd, and reports the keys whose count changed. Reported
 * counts are on the disk: a journal is synced before it is read. Imported counts and counts under
 * an older digest key are not reported. After a start, the last FOLLOW_BUCKETS buckets are reported
 * again from their beginning.
 * Depends: base, store, live, runset.   Threads: one.   Owns: its sums of open buckets.   ADR 0033.
 */
#ifndef CORE_COUNT_FOLLOW_H
#define CORE_COUNT_FOLLOW_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/store/run.h"

enum {
    FOLLOW_BUCKETS = 24, /* before the running one: four hours */
    FOLLOW_GRACE_S = 60, /* after its end a bucket may be complete */
    FOLLOW_JOURNALS_MAX = 256,
    FOLLOW_RUNS_MAX = 1024 /* of these buckets */
};

struct follow;

/* The files need not exist yet. */
enum err follow_open(const char *state_dir, const struct keyring *keys,
                     struct follow **ret, struct errinfo *reterr);
void follow_close(struct follow **f);

/* totals: the keys whose count changed since the last report, in rising order. is_complete: the
 * bucket is complete (n may be 0); passed once. If fn fails, the next look reports the same changes
 * again, with the new ones. */
typedef enum err follow_fn(void *context, uint64_t start_s,
                           const struct run_record *totals, size_t n, bool is_complete);
/* Looks once, oldest bucket first. Returns the first error of the disk or of fn (fn keeps its own
 * text) after it has looked at the other buckets too. ERR_NOT_FOUND: gillnetd has not counted here
 * yet. */
enum err follow_look(struct follow *f, uint64_t now_s, follow_fn *fn, void *context,
                     struct errinfo *reterr);

#endif
