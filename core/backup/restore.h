/*
 * restore - a backup put in the place of a state folder: all of it, verified, or nothing.
 *
 * Unpacks into STATE.restore beside it, compares every sum, has the contents of the files checked,
 * syncs, and exchanges the two folders in one step. The former folder is moved to
 * STATE.before-TIME, never removed. When root restores, statedir.h chooses the owners of the files.
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
    bool force; /* replace a folder that is not empty */
    bundle_progress_fn *progress;
    /* Checks the unpacked files by their formats; an error keeps the restored folder from its
     * place. NULL: the sums are enough. */
    enum err (*check)(void *context, const char *state_dir, struct errinfo *reterr);
    void *context;
};

struct restore_result {
    struct contents
        contents; /* of contents_init; the caller calls contents_fini in any case */
    char former[FILE_PATH_MAX]; /* path of the former folder; empty: there was none */
    bool has_peers;
};

/* ERR_LOCKED: a gillnet program works on the folder. ERR_EXISTS: it is not empty. After a failure,
 * or a kill, the folder is as it was (or, at the very end, the restored one). */
enum err restore_run(const struct restore_options *o, struct restore_result *ret,
                     struct errinfo *reterr);

#endif
