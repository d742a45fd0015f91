/*
 * merged_runs - one file for each closed bucket of the last day, with the counts of all peers; made
 * by the hub.
 *
 * STATE/peers/counts/merged/START-LEN-KEYID.merged beside the runs of STATE/peers/counts/runs that
 * they are copies of. An exact answer reads one block of each file instead of one block of each run
 * of each peer. Merged runs are a cache: if one is missing, damaged or stale, the runs are read. So
 * they can be deleted at any time.
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
    MERGED_RUNS_LEAST = 2, /* fewer runs of a bucket are not merged */
    MERGED_RUNS_MAX = 1024 /* in the folder; more are not looked at */
};

/* The parts of a file name. */
struct merged_runs_name {
    uint64_t start_s;
    uint32_t len_s;
    uint32_t key_id;
};
enum err merged_runs_path(const char *dir, const struct merged_runs_name *name,
                          char ret[FILE_PATH_MAX]);
bool merged_runs_name_parse(struct slice name, struct merged_runs_name *ret);

/* ---- the hub ---- */

/* Makes the merged runs of the first bucket after *io_start_s whose merged run is missing or stale,
 * and sets *io_start_s to that bucket. UINT64_MAX: all are up to date, and expired files were
 * removed. dir: STATE/peers/counts. now: the running bucket. The first call passes 0. */
enum err merged_runs_make_next(const char *dir, uint64_t now, uint64_t *io_start_s,
                               struct errinfo *reterr);
/* Removes the merged runs that contain origin. */
enum err merged_runs_drop(const char *dir, const uint8_t origin[RUN_ORIGIN_BYTES],
                          struct errinfo *reterr);

#endif
