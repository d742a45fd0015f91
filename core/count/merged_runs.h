/*
 * merged_runs - what peers counted in the closed buckets of the last day, bucket by bucket in one file: made by the hub.
 *
 * STATE/peers/counts/merged/START-LEN-KEYID.merged beside the runs of STATE/peers/counts/runs that they are copies of. An
 * exact answer reads a block of each instead of one of each run of each peer. They are never the truth: where one is
 * missing, damaged or of other runs than are there, these are asked. So they may go at any time.
 * Depends: base, store, runset.   Threads: one.   Owns: nothing.   ADR 0033.
 */
#ifndef CORE_COUNT_MERGED_RUNS_H
#define CORE_COUNT_MERGED_RUNS_H

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/slice.h"
#include "core/store/merged_run.h"

#define MERGED_RUNS_FOLDER "merged" /* below STATE/peers/counts */
enum {
    MERGED_RUNS_LEAST = 2, /* runs that are worth a merged run */
    MERGED_RUNS_MAX = 1024 /* in the folder; more are not looked at */
};

/* What the name of a merged run says. */
struct merged_runs_name {
    uint64_t start_s;
    uint32_t len_s;
    uint32_t key_id;
};
enum err merged_runs_path(const char *dir, const struct merged_runs_name *name,
                          char ret[FILE_PATH_MAX]);
bool merged_runs_name_parse(struct slice name, struct merged_runs_name *ret);

/* ---- the hub ---- */

/* dir: STATE/peers/counts. Makes the merged runs of the first bucket after *io_start_s (first: 0) whose runs are others than
 * its merged run has, and sets that; UINT64_MAX: there is none, what is over is removed. now: the running bucket. */
enum err merged_runs_make_next(const char *dir, uint64_t now, uint64_t *io_start_s,
                               struct errinfo *reterr);
/* Removes those that origin is in. */
enum err merged_runs_drop(const char *dir, const uint8_t origin[RUN_ORIGIN_BYTES],
                          struct errinfo *reterr);

#endif
