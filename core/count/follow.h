/*
 * follow - what this server counts, as it grows, told to who publishes it; nothing in STATE/counts is touched.
 *
 * Reads gillnetd's journals and the runs that they become. For each bucket it knows the whole count of each
 * key over all of gillnetd's incarnations, and tells those that changed. What is told is on the disk: a
 * journal is synced before it is read on. Counts of gillnetd's own origin and the writers' digest key only;
 * imported ones are not ours to tell.
 * After a start the buckets of the last FOLLOW_BUCKETS are told once more from the begin.
 * Depends: base, store, live, runset.   Threads: one.   Owns: what it remembers of open buckets.   ADR 0033.
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

/* No files are needed to be there yet. */
enum err follow_open(const char *state_dir, const struct keyring *keys,
                     struct follow **ret, struct errinfo *reterr);
void follow_close(struct follow **f);

/* totals: of keys whose count changed since they were told, keys rising. is_complete: nothing comes any more for this
 * bucket (n may be 0 then); said once. Not ERR_OK: the same is told again with the next look, and what is new with it. */
typedef enum err follow_fn(void *context, uint64_t start_s,
                           const struct run_record *totals, size_t n, bool is_complete);
/* Looks once, oldest bucket first. The first error of the disk or of fn (whose text is fn's to keep) is returned; the other buckets are looked at all
 * the same. ERR_NOT_FOUND: gillnetd has not counted here yet. */
enum err follow_look(struct follow *f, uint64_t now_s, follow_fn *fn, void *context,
                     struct errinfo *reterr);

#endif
