/*
 * restore - a backup put in the place of a state folder: all of it, verified, or nothing.
 *
 * Unpacks into STATE.restore beside it, compares every sum, has what is in the files checked, syncs, and exchanges the two
 * folders in one step. What was there is moved to STATE.before-TIME, never removed. As root the files belong to whom statedir.h
 * gives them.
 * STATE/peers/restored tells the hub that its state is an older one: sync.h.
 * Depends: base, contents, bundle.   Threads: one.   Owns: STATE.restore while it runs.   ADR 0039.
 */
#ifndef CORE_BACKUP_RESTORE_H
#define CORE_BACKUP_RESTORE_H

#include "core/backup/bundle.h"

struct restore_options {
    const char *state_dir;
    int fd; /* of the backup */
    const char *name;
    bool force; /* a folder that is not empty is moved aside */
    bundle_progress_fn *progress;
    /* Looks into all files of what was unpacked, by the rooms that they are of; what it refuses is never put in place. NULL:
     * the sums are enough. */
    enum err (*check)(void *context, const char *state_dir, struct errinfo *reterr);
    void *context;
};

struct restore_result {
    struct contents
        contents; /* of contents_init; contents_fini is due in either case */
    char former[FILE_PATH_MAX]; /* where what was there lies now; empty: nothing was */
    bool has_peers;
};

/* ERR_LOCKED: a gillnet program works on the folder. ERR_EXISTS: it is not empty. After a failure, or a kill, the folder is as it
 * was (or, at the very end, the restored one). */
enum err restore_run(const struct restore_options *o, struct restore_result *ret,
                     struct errinfo *reterr);

#endif
